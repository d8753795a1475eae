"""Parses a shell command line into the single commands that it runs, without their wrappers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

NOT_STARTED = (126, 127)  # a shell's exit codes for a command that is missing or not executable
_LONGEST = 100_000  # characters of a command line that are parsed
_NESTED = 3  # `sh -c` inside `sh -c`
_HEREDOC = re.compile(r"(?<!<)<<-?[ \t]*(['\"]?)([A-Za-z_]\w*)\1([^\n]*)\n")
_MOST = 50  # here-documents of a line, and wrappers around a command, that are parsed
_TOKEN = re.compile(
    r"(?P<comment>(?<![^\s;|&(])#[^\n]*)"
    r"|(?P<word>(?:'[^']*'|\"(?:\\.|[^\"\\])*+\"|\\.|\$\([^()'\"]*+\)|\d*[<>]&\d*-?|&>>?|[^\s;|&()'\"\\])++)"
    r"|(?P<link>\|\||&&|\|&?|;|&|\n|\(|\))|(?P<rest>.)",
    re.DOTALL,
)
_QUOTED = re.compile(r"'([^']*)'|\"((?:\\.|[^\"\\])*+)\"|\\(.)", re.DOTALL)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_REDIRECTION = re.compile(r"(?:\d*|&)(>>?|<<?<?)(.*)", re.DOTALL)
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*")
_KEYWORDS = frozenset({"!", "if", "then", "else", "elif", "do", "while", "until", "{", "time"})
_PIPES = ("|", "|&")
# Commands that run another one, with those of their options that take a value.
_WRAPPERS = {
    "env": "-u -C", "sudo": "-u -g", "nohup": "", "exec": "", "command": "", "nice": "-n", "ionice": "-c -n",
    "stdbuf": "", "timeout": "-k -s", "gtimeout": "-k -s", "xvfb-run": "", "npx": "-p --package", "bunx": "",
    "uvx": "--from --with --python", "pipx run": "", "uv run": "--with --extra --group --python -p --package",
    "poetry run": "", "pipenv run": "", "pdm run": "", "rye run": "", "hatch run": "", "pixi run": "-e",
    "conda run": "-n -p", "bundle exec": "", "pnpm exec": "", "pnpm dlx": "", "yarn exec": "", "yarn dlx": "",
    "npm exec": "", "mise exec": "", "coverage run": "--source --omit --rcfile", "strace": "-o",
}  # fmt: skip
_TAKE_A_WORD = frozenset({"timeout", "gtimeout"})
_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Simple:
    """One command without its wrappers and assignments.

    `writes`: the files that its output goes to. `appends`: those of them that keep their content. `decides`:
    if the whole line ended with 0, so did this command. `is_last`: the line's exit code is its own.
    """

    words: tuple[str, ...]
    writes: tuple[str, ...] = ()
    appends: frozenset[str] = frozenset()
    decides: bool = True
    is_last: bool = True

    @property
    def name(self) -> str:
        """The program's name without its folder."""
        return _base(self.words[0]) if self.words else ""

    @property
    def plain(self) -> tuple[str, ...]:
        """The words after the program that are not options."""
        return tuple(word for word in self.words[1:] if not word.startswith("-"))

    def positional(self, values: Sequence[str]) -> list[str]:
        """Return the words that are neither options nor values of the options in `values`."""
        kept: list[str] = []
        skip = False
        for word in self.words[1:]:
            if skip:
                skip = False
            elif word == "--":
                continue
            elif word.startswith("-"):
                skip = word in values
            else:
                kept.append(word)
        return kept

    def option(self, *names: str) -> str | None:
        """Return the value of the first of the options `names` that is given, as `--body x` or `--body=x`."""
        return next(self.options(*names), None)

    def options(self, *names: str) -> Iterator[str]:
        """Yield the values of all options `names` that are given, in order."""
        for word, following in zip(self.words, [*self.words[1:], ""], strict=True):
            if word in names:
                yield following
            elif word.startswith(tuple(f"{name}=" for name in names)):
                yield word.split("=", maxsplit=1)[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heredoc:
    """Lines given to a command. `line` is the part of the command line that refers to them."""

    line: str
    body: str


def heredocs(command: str) -> tuple[Heredoc, ...]:
    """Return the here-documents of a command line."""
    return _parted(command)[1]


@lru_cache(maxsize=4096)
def simple_commands(command: str) -> tuple[Simple, ...]:
    """Return the single commands of a line, in order, also of `sh -c '…'`, but not text in here-documents."""
    return tuple(_simple(_parted(command)[0], depth=0))


def _parted(command: str) -> tuple[str, tuple[Heredoc, ...]]:
    """Return a command line without its here-documents, and these."""
    command = command[:_LONGEST]
    kept: list[str] = []
    found: list[Heredoc] = []
    position = 0
    for _ in range(_MOST):
        if not (mark := _HEREDOC.search(command, position)):
            break
        kept.append(command[position : mark.end()])
        position = mark.end()
        if end := re.compile(rf"^[ \t]*{mark[2]}[ \t]*$", re.MULTILINE).search(command, position):
            line = command[command.rfind("\n", 0, mark.start()) + 1 : mark.end(3)]
            found.append(Heredoc(line=line, body=command[position : end.start()]))
            position = end.end()
    return "".join([*kept, command[position:]]), tuple(found)


def _simple(command: str, *, depth: int) -> Iterator[Simple]:
    parts = _split(command)
    pipefail = any(raw[:1] == ["set"] and "pipefail" in raw for raw, _ in parts)
    # A pipe passes on the exit code of its last command, `&&` that of a failure. Other links hide it.
    passed_on = {"&&", *_PIPES} if pipefail else {"&&"}
    hidden = max((number for number, (_, link) in enumerate(parts[:-1]) if link not in passed_on), default=-1)
    for number, (raw, link) in enumerate(parts):
        told, redirected = _without_redirections(raw)
        words = _unwrapped(told)
        shows = link != "&" and raw[0] != "!"
        one = Simple(
            words=tuple(words),
            writes=tuple(path for path, _ in redirected),
            appends=frozenset(path for path, keeps in redirected if keeps),
            decides=number > hidden and shows,
            is_last=number == len(parts) - 1 and shows,
        )
        script = _script(words) if depth < _NESTED else None
        if script is None:
            yield from [one] if words or redirected else []
            continue
        for inner in _simple(script, depth=depth + 1):
            yield replace(inner, decides=one.decides and inner.decides, is_last=one.is_last and inner.is_last)


def _split(command: str) -> list[tuple[list[str], str]]:
    """Return the words of each command, still quoted, and the operator that links it to the next one."""
    parts: list[tuple[list[str], str]] = []
    words: list[str] = []
    for token in _TOKEN.finditer(command):
        if word := token["word"]:
            words.append(word)
        elif (link := token["link"]) and words:
            parts.append((words, link))
            words = []
        elif link and parts and link in {"&&", "||", *_PIPES}:  # after a bracket, or a line's end
            parts[-1] = (parts[-1][0], link)
    if words:
        parts.append((words, ""))
    if parts and parts[-1][1] != "&":
        parts[-1] = (parts[-1][0], "")
    return parts


def _without_redirections(raw: Sequence[str]) -> tuple[list[str], list[tuple[str, bool]]]:
    """Return the words, unquoted, and the files that are written, each with whether it keeps its content."""
    kept: list[str] = []
    writes: list[tuple[str, bool]] = []
    sign = ""  # its file is the next word
    for word in raw:
        found = _REDIRECTION.fullmatch(word)
        if sign or (found and found[2] and not found[2].startswith("&")):
            how = sign or (found[1] if found else "")
            if ">" in how:
                writes.append((_unquoted(word if sign or not found else found[2]), how == ">>"))
            sign = ""
        elif found:
            sign = "" if found[2] else found[1]
        else:
            kept.append(_unquoted(word))
    return kept, [each for each in writes if not each[0].startswith("/dev/")]


def _unquoted(word: str) -> str:
    return _QUOTED.sub(lambda found: found[1] or found[2] or found[3] or "", word)


def _unwrapped(words: list[str]) -> list[str]:
    """Return the actual command, without keywords, assignments, `timeout 60`, `uv run` and such."""
    for _ in range(_MOST):
        if not words:
            break
        name = _base(words[0])
        two = " ".join([name, *words[1:2]])
        if words[0] in _KEYWORDS or _ASSIGNMENT.match(words[0]):
            words = words[1:]
        elif two in _WRAPPERS:
            words = _after_options(words[2:], _WRAPPERS[two])
            if two == "coverage run" and words and words[0] != "python":
                words = ["python", *words]
        elif name in _WRAPPERS:
            words = _after_options(words[1:], _WRAPPERS[name])[name in _TAKE_A_WORD :]
        elif _PYTHON.fullmatch(name) and "-m" in words[: _module_at(words) + 1]:
            words = words[_module_at(words) + 1 :]
        else:
            return words
    return words


_INSTALLS = frozenset({
    "uv sync", "uv lock", "pip install", "pip3 install", "poetry install", "pdm install", "pdm sync",
    "pipenv install", "pipenv sync", "hatch env", "npm ci", "npm install", "npm i", "pnpm install", "pnpm i",
    "yarn install", "bun install", "bundle install", "composer install", "mix deps.get", "cargo fetch",
})  # fmt: skip


def only_installs(line: str) -> bool:
    """Whether all commands of a line install what the project depends on, and do nothing else."""
    found = [" ".join(one.words[:2]) for one in simple_commands(line) if one.words]
    return bool(found) and all(one in _INSTALLS or one == "yarn" for one in found)


def _module_at(words: Sequence[str]) -> int:
    """Return the place of `-m` among the interpreter's own options."""
    position = 1
    while position < len(words) and words[position].startswith("-") and words[position] != "-m":
        position += 2 if words[position] in {"-X", "-W"} else 1
    return position


def _after_options(words: list[str], with_value: str) -> list[str]:
    while words and words[0].startswith("-") and words[0] != "-m":
        words = words[2 if words[0] in with_value.split() else 1 :]
    return ["python", *words] if words[:1] == ["-m"] else words


def _script(words: Sequence[str]) -> str | None:
    """Return the script that `sh -c` runs."""
    if not words or _base(words[0]) not in _SHELLS:
        return None
    for word, following in pairwise(words[1:]):
        if re.fullmatch(r"-\w*c", word):
            return following
    return None


def _base(path: str) -> str:
    return path.rsplit("/", maxsplit=1)[-1]
