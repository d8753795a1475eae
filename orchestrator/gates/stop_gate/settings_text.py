"""The stop gate in the text of Claude Code's settings: its command, putting it in, and taking it out.

The value of `hooks` is written anew, and every other byte stays: numbers, escapes, layout. `ValueError`: the
text cannot be changed safely, with the reason.
"""

import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

EVENT = "Stop"
_HOOKS = "hooks"
_SPACE = re.compile(r"[ \t\r\n]*")
_FIRST_INDENT = re.compile(r"\s*\{[ \t\r]*\n(?:[ \t\r]*\n)*([ \t]+)")
_DECODER = json.JSONDecoder()
TIMEOUT_S = 200  # the gate ends by itself long before: 6 s, and the time of each step that was switched on
_MODULE = "orchestrator.cli"
SHARED = "--shared"  # two scopes may have the gate: this one is silent if the other took the stop
_STEERING = "--power-steering"
_NAMED = r"orchestrator[.][a-z]"  # each of our launchers names the module that it starts
_HEAD_BYTES = 4096  # a launcher is a small text, Debian's `sq` a large binary
# Runs our sq if it is on PATH. Does nothing if there is none, or another program of that name.
_GUARD = (
    's=$(command -v sq) && [ -x "$s" ] && head -c {head} "$s" 2>/dev/null | LC_ALL=C grep -q "{named}"'
    ' && exec "$s" {words}; exit 0'
)
_ANY_GUARD = re.compile(
    r"s=\$\(command -v sq\) && [^\n;]*orchestrator[^\n;]*"
    r' && exec "\$s" hook stop((?: --[a-z][a-z-]*)*); exit 0'
)
_FLAG = re.compile(r"--[a-z][a-z-]*(?:=[\w.-]*)?")
_MODULE_WORD = re.compile(r"orchestrator(?:\.\w+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledHook:
    """Our hook in settings: its entry, its command, and the numbers of its group and of its place there."""

    entry: Mapping[str, object]
    command: str
    group: int
    place: int


def parsed(text: str) -> object:
    """The value of a whole text, as Claude Code reads it: {} if it is blank, and no NaN and no comments."""
    try:
        return json.loads(text, parse_constant=_no_constant) if text.strip() else {}
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def gates_in(settings: object) -> Iterator[InstalledHook]:
    """Our hooks, in their order. Entries that do not have the form of hooks are ignored."""
    for group, found in enumerate(_list(_object(_object(settings).get(_HOOKS)).get(EVENT))):
        for place, entry in enumerate(_list(_object(found).get(_HOOKS))):
            hook = _object(entry)
            command = hook.get("command")
            if isinstance(command, str) and hook.get("type") == "command" and is_ours(command):
                yield InstalledHook(entry=hook, command=command, group=group, place=place)


def with_gate(text: str, entry: Mapping[str, object]) -> str:
    """Settings with our hook exactly once: in the place of an older one, else after all others."""
    settings = parsed(text)
    if not isinstance(settings, dict):
        raise ValueError("it holds no JSON object")  # noqa: TRY004  one error for everything
    hooks = settings.get(_HOOKS, {})
    if not isinstance(hooks, dict) or not all(isinstance(groups, list) for groups in hooks.values()):
        raise ValueError("`hooks` in it is no object of events with lists")
    there = list(gates_in(settings))
    if len(there) == 1 and {**there[0].entry, **entry} == there[0].entry:
        return text
    groups = hooks.setdefault(EVENT, [])
    if there:
        groups[there[0].group][_HOOKS][there[0].place] = {**there[0].entry, **entry}
    else:
        groups.append({_HOOKS: [dict(entry)]})
    for extra in reversed(there[1:]):
        _take_out(groups, extra)
    return _with_hooks(text if text.strip() else "{}\n", hooks)


def without_gate(text: str, before: object = None) -> str:
    """Settings without our hooks. Containers that this empties go too, unless they were there `before`."""
    settings = parsed(text)
    there = list(gates_in(settings))
    if not there:
        return text
    hooks = _object(_object(settings)[_HOOKS])
    for found in reversed(there):
        _take_out(_list(hooks[EVENT]), found)
    old = _object(before)
    if not hooks[EVENT] and EVENT not in _object(old.get(_HOOKS)):
        del hooks[EVENT]
    return _with_hooks(text, hooks if hooks or _HOOKS in old else None)


def _take_out(groups: list[object], found: InstalledHook) -> None:
    """Remove a hook, and its group if nothing else is in it."""
    hooks = _list(_object(groups[found.group])[_HOOKS])
    del hooks[found.place]
    if not hooks:
        del groups[found.group]


def _with_hooks(text: str, hooks: Mapping[str, object] | None) -> str:
    """Return the text of an object with this value of `hooks`, or without it."""
    members, end = _members(text)
    ours = [number for number, (key, *_) in enumerate(members) if key == _HOOKS]
    for _, _, value, after in [members[number] for number in ours]:
        json.loads(text[value:after], object_pairs_hook=_once_each)
    if len(ours) > 1:
        raise ValueError("the key 'hooks' is there more than once")
    indent = found[1] if (found := _FIRST_INDENT.match(text)) else "  "
    is_on_lines = "\n" in text.strip() or not members
    line_end = "\r\n" if "\r\n" in text else "\n"
    written = json.dumps(hooks, ensure_ascii=False, allow_nan=False, indent=indent if is_on_lines else None)
    written = written.replace("\n", line_end + indent)
    if ours and hooks is not None:
        _, _, value, after = members[ours[0]]
        return f"{text[:value]}{written}{text[after:]}"
    if ours and ours[0]:
        return text[: members[ours[0] - 1][3]] + text[members[ours[0]][3] :]
    if ours:
        after = members[1][1] if len(members) > 1 else end - 1
        return text[: members[0][1] if len(members) > 1 else text.index("{") + 1] + text[after:]
    member = f'"{_HOOKS}": {written}'
    if members:
        after = members[-1][3]
        return f"{text[:after]},{line_end + indent if is_on_lines else ' '}{member}{text[after:]}"
    return f"{{{line_end}{indent}{member}{line_end}}}{text[end:]}"


def _members(text: str) -> tuple[list[tuple[str, int, int, int]], int]:
    """The members of a text's object: key, start, start of the value, and end. And the end of the object."""
    members = []
    at = _after_space(text, _after_space(text, 0) + 1)
    while text[at] != "}":
        key, after = _DECODER.raw_decode(text, at)
        value = _after_space(text, _after_space(text, after) + 1)  # behind the colon
        end = _DECODER.raw_decode(text, value)[1]
        members.append((key, at, value, end))
        at = _after_space(text, end)
        if text[at] == ",":
            at = _after_space(text, at + 1)
    return members, at + 1


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _once_each(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError("a key in `hooks` is there more than once")
    return found


def _no_constant(word: str) -> object:
    raise ValueError(f"{word} is no value of JSON")


def _object(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def absolute_command(sq: Sequence[str], *, power_steering: bool = False) -> str:
    """The command for one machine's settings. `sq` are the words that start sq, quoted here for sh."""
    return shlex.join([*sq, *_words(power_steering=power_steering)])


def guarded_command(*, power_steering: bool = False) -> str:
    """The command for shared settings: it does nothing if sq is missing or another program."""
    words = " ".join([*_words(power_steering=power_steering), SHARED])
    return _GUARD.format(head=_HEAD_BYTES, named=_NAMED, words=words)


def entry_of(command: str) -> dict[str, object]:
    """The hook's entry in settings. `timeout` is in seconds."""
    return {"type": "command", "command": command, "timeout": TIMEOUT_S}


def is_ours(command: str) -> bool:
    """Whether a command is only the stop gate, of this version of sq or another."""
    return _ANY_GUARD.fullmatch(command.strip()) is not None or program_of(command) is not None


def program_of(command: str) -> str | None:
    """The program that our command starts. None if it is the one on PATH, or the command is not ours."""
    match _split(command):
        case [program, "hook", "stop", *flags] if program.rpartition("/")[2] == "sq":
            pass
        case [program, "-I", "-m", module, "hook", "stop", *flags] if _MODULE_WORD.fullmatch(module):
            pass
        case _:
            return None
    return program if all(map(_FLAG.fullmatch, flags)) else None


def has_power_steering(command: str) -> bool:
    """Whether our command switches power steering on."""
    guard = _ANY_GUARD.fullmatch(command.strip())
    return _STEERING in (guard[1].split() if guard else _split(command))


def this_sq(argv0: str, executable: str) -> list[str]:
    """The words that start the sq that runs now, from any folder.

    This is the console script if there is one: the one that was called, or the one beside Python. A checkout
    has none, and its `bin/sq` may first have to make an environment. Then it is Python itself, isolated, so
    that a user's package called `state` does not replace ours.
    """
    for script in (Path(argv0).resolve(), Path(executable).with_name("sq")):
        if script.name == "sq" and is_our_launcher(script):
            return [str(script)]
    return [executable, "-I", "-m", _MODULE]


def is_our_launcher(path: Path) -> bool:
    """Whether a file is executable and its first bytes show that it is ours."""
    try:
        with path.open("rb") as file:
            return os.access(path, os.X_OK) and re.search(_NAMED.encode(), file.read(_HEAD_BYTES)) is not None
    except OSError:
        return False


def sq_on_path(environ: Mapping[str, str]) -> bool:
    """Whether the guarded command finds our sq."""
    from shutil import which

    found = which("sq", path=environ.get("PATH", os.defpath))
    return found is not None and is_our_launcher(Path(found))


def _words(*, power_steering: bool) -> list[str]:
    return ["hook", "stop", *([_STEERING] if power_steering else [])]


def _split(command: str) -> list[str]:
    """The words of a simple command. Empty, or with an operator in it, if sh would run more."""
    if "\n" in command.strip():
        return []
    words = shlex.shlex(command, posix=True, punctuation_chars=True)
    words.whitespace_split, words.commenters = True, ""
    try:
        return list(words)
    except ValueError:  # a quote that is not closed
        return []
