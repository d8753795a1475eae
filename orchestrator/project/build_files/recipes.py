"""Reads a Makefile, a justfile, a Taskfile and a Rakefile: their targets, and the lines that a call runs."""

import re
import shlex
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.project.build_files.step import BuildFile, ShellStep, Target, first_file, text_of
from orchestrator.project.build_files.yaml_text import Node, as_table, read_yaml, texts
from orchestrator.project.shell import Simple

_FILES = ("GNUmakefile", "makefile", "Makefile")  # in the order in which make looks for them
_VALUES = ("-C", "--directory", "-f", "--file", "--makefile", "-j", "--jobs", "-l", "-I", "-o", "-W")
_ASSIGNED = re.compile(r"(?:export\s+|override\s+)*([\w.-]+)\s*(\?|\+|::?|!)?=\s*(.*)")
_RULE = re.compile(r"([^\s:=#][^:=#]*?)\s*::?(?!=)\s*([^;]*)(?:;(.*))?")
_INCLUDE = re.compile(r"[-s]?include\s+(\S.*)")
_USED = re.compile(r"\$\(([\w.-]+)\)|\$\{([\w.-]+)\}")
_CALL = re.compile(
    r"\$[({](?:shell|wildcard|patsubst|subst|addprefix|foreach|if|filter|filter-out|sort)\b[^()]*(?:\([^()]*\)[^()]*)*[)}]"
)
_DEEPEST = 12  # files in files, and variables in the values of variables
_LONGEST = 2_000  # characters of one line with its variables replaced


@dataclass(slots=True)
class _Makefile:
    variables: dict[str, str] = field(default_factory=lambda: {"MAKE": "make", "SHELL": "/bin/sh"})
    needs: dict[str, list[str]] = field(default_factory=dict)
    recipes: dict[str, list[str]] = field(default_factory=dict)
    first: str = ""


def makefile_in(folder: Path, names: Sequence[str] = _FILES, given: Sequence[str] = ()) -> BuildFile | None:
    """Return the Makefile of a folder, or None if there is none. `given` are words of a call: `A=B`."""
    path = first_file(folder, names)
    if path is None:
        return None
    text = text_of(path)
    made = _read(path, text, _Makefile())
    if "CMAKE generated file" in text[:200]:
        made.recipes.setdefault("test", ["ctest"])
    for word in given:
        if (assigned := _ASSIGNED.fullmatch(word)) is not None:
            made.variables[assigned[1]] = assigned[3]
    targets = {
        goal: Target(
            before=tuple(made.needs.get(goal, ())),
            lines=tuple(_recipe_line(line, goal, made) for line in lines),
        )
        for goal, lines in made.recipes.items()
    }
    return BuildFile(path=path, targets=targets, first=made.variables.get(".DEFAULT_GOAL", made.first))


def make_steps(simple: Simple, folder: Path) -> list[ShellStep] | None:
    """Return the lines that a call of make runs, in order, or None if the makefile or a target is missing."""
    folder = folder / (simple.option("-C", "--directory") or "")
    named = simple.option("-f", "--file", "--makefile")
    words = simple.positional(_VALUES)
    made = makefile_in(folder, [named] if named else _FILES, words)
    if made is None:
        return None
    return made.steps([word for word in words if "=" not in word] or [made.first], folder)


def _read(path: Path, text: str, made: _Makefile, depth: int = 0) -> _Makefile:
    targets: list[str] = []
    for line in re.sub(r"\\\r?\n[ \t]*", " ", text).splitlines():
        if line.startswith("\t"):
            for target in targets:
                made.recipes[target].append(line.strip())
            continue
        line = line.strip()  # noqa: PLW2901  the rest of this loop means the same line
        if not line or line.startswith("#"):
            continue
        if (included := _INCLUDE.fullmatch(line)) and depth < _DEEPEST:
            for name in _expanded(included[1].split(" #")[0], made).split():
                _read(path, text_of(path.parent / name), made, depth + 1)
        elif assigned := _ASSIGNED.fullmatch(line):
            _assign(assigned[1], assigned[2] or "", assigned[3], made)
            targets = []
        elif rule := _RULE.fullmatch(line):
            targets = _expanded(rule[1], made).split()
            _add_rule(targets, rule, made)
        else:
            targets = targets if line.startswith(("if", "else", "endif")) else []
    return made


def _assign(name: str, sign: str, value: str, made: _Makefile) -> None:
    value = re.sub(r"\s+#.*", "", value)
    if sign == "+":
        made.variables[name] = f"{made.variables.get(name, '')} {value}".strip()
    elif sign != "?" or name not in made.variables:
        made.variables[name] = value


def _add_rule(targets: Sequence[str], rule: re.Match[str], made: _Makefile) -> None:
    told = "" if "=" in rule[2] else rule[2].split("#", maxsplit=1)[0]  # else a variable of these targets
    needs = [need for need in _expanded(told, made).split() if need != "|"]
    for target in targets:
        made.needs.setdefault(target, []).extend(needs)
        made.recipes.setdefault(target, [])
        if rule[3]:
            made.recipes[target].append(rule[3].strip())
        if not made.first and not target.startswith(".") and "%" not in target:
            made.first = target


def _recipe_line(line: str, goal: str, made: _Makefile) -> str:
    return _expanded(line.lstrip("@-+ ").replace("$@", goal), made).replace("$$", "$")


def _expanded(text: str, made: _Makefile) -> str:
    """Return the text with make's variables filled in. Calls of make's functions become empty."""
    for _ in range(_DEEPEST):
        text = _CALL.sub("", text)
        replaced = _USED.sub(lambda used: made.variables.get(used[1] or used[2], ""), text)[:_LONGEST]
        if replaced == text:
            break
        text = replaced
    return text


_JUST = ("justfile", "Justfile", ".justfile", "JUSTFILE")
_JUST_VALUES = ("-f", "--justfile", "-d", "--working-directory", "--set", "--shell")
_RECIPE = re.compile(r"@?(?P<name>[A-Za-z_][\w-]*)(?P<parameters>[^:\n]*?)\s*:(?!=)\s*(?P<needs>[^#\n]*)")
_VARIABLE = re.compile(r"(?:export\s+)?([\w-]+)\s*:=\s*[\"']?(.*?)[\"']?\s*")
_ALIAS = re.compile(r"alias\s+([\w-]+)\s*:=\s*([\w-]+)")
# Tables of tasks: the program, and the files that may hold its table.
TASKS = {
    "task": ("Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml", "Taskfile.dist.yml"),
    "mise": ("mise.toml", ".mise.toml", "mise/config.toml", ".mise/config.toml", ".config/mise.toml"),
    "pixi": ("pixi.toml", "pyproject.toml"),
    "moon": ("moon.yml", "moon.yaml"),
    "nx": ("project.json",),
}
_TASK_LINES = ("cmds", "cmd", "run", "command", "commands", "script")
_TASK_NEEDS = ("deps", "depends", "depends-on", "depends_on", "dependsOn")
_TASK_VALUES = (
    "-d",
    "--dir",
    "-t",
    "--taskfile",
    "-C",
    "--concurrency",
    "-o",
    "--output",
    "-e",
    "--environment",
)
_RAKEFILES = ("Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb")
_RAKE_TESTS = re.compile(r"(?:Rake::TestTask|Minitest::TestTask)\.(?:new|create)(?:[ (]+[:\"'](\w+))?")
_RAKE_SPECS = re.compile(r"RSpec::Core::RakeTask\.new(?:[ (]+[:\"'](\w+))?")
_RAKE_TASK = re.compile(
    r"^[ \t]*(?:multi)?task[ (]+(?:[:\"']?(\w+)[\"']?(?::\s*|\s*=>\s*)(\[[^\]]*\]|%[iw]\[[^\]]*\]|"
    r"[:\"']\w+[\"']?)|[:\"'](\w+))",
    re.MULTILINE,
)
_RAKE_SHELL = re.compile(r"^[ \t]+(?:sh|system)[ (]+[\"']([^\"'\n]+)", re.MULTILINE)


def justfile_in(folder: Path, named: str | None = None, *, called_bare: bool = False) -> BuildFile | None:
    """Return the justfile of a folder, or None. `called_bare`: without recipes that need an argument."""
    path = first_file(folder, [named] if named else _JUST)
    if path is None:
        return None
    text = re.sub(r"\\\n[ \t]*", " ", text_of(path))
    lines = text.split("\n")
    variables = {found[1]: found[2] for found in map(_VARIABLE.fullmatch, lines) if found}
    targets: dict[str, Target] = {}
    for part in re.split(r"\n(?=[^\s#\[}])", f"\n{text}"):
        head, *body = part.strip("\n").split("\n")
        found = _RECIPE.fullmatch(head.split("#", maxsplit=1)[0].rstrip())
        if not found or head.startswith("alias ") or (called_bare and _needs_arguments(found["parameters"])):
            continue
        told = _shell_lines([line.strip() for line in body if line[:1].isspace() and line.strip()])
        needs = re.findall(r"(?<![\w(-])\(?([A-Za-z_][\w-]*)", found["needs"].replace("&&", " "))
        targets[found["name"]] = Target(
            before=tuple(needs), lines=tuple(_filled(line, variables) for line in told)
        )
    first = next(iter(targets), "")
    aliases = {
        found[1]: targets[found[2]] for found in map(_ALIAS.fullmatch, lines) if found and found[2] in targets
    }
    return BuildFile(path=path, targets={**aliases, **targets}, first=first)


def just_steps(simple: Simple, folder: Path) -> list[ShellStep] | None:
    """Return the lines that a call of just runs, in order, or None if the justfile or a recipe is missing."""
    made = justfile_in(folder, simple.option("-f", "--justfile"))
    if made is None:
        return None
    words = [word for word in simple.positional(_JUST_VALUES) if "=" not in word]
    return made.steps([words[0] if words else made.first], made.path.parent, whole=True)


def taskfile_in(folder: Path, named: str | None = None, *, program: str = "task") -> BuildFile | None:
    """Return the table of tasks of a program in a folder, or None if there is none."""
    path = first_file(folder, [named] if named else TASKS[program])
    if path is None:
        return None
    try:
        table = as_table(tomllib.loads(text_of(path)) if path.suffix == ".toml" else read_yaml(text_of(path)))
    except ValueError:
        table = {}
    if path.name == "pyproject.toml":
        table = as_table(as_table(table.get("tool")).get(program))
    features = (as_table(as_table(one).get("tasks")) for one in as_table(table.get("feature")).values())
    tasks = {name: node for one in features for name, node in one.items()}
    tasks |= as_table(table.get("tasks") or table.get("targets"))
    return BuildFile(path=path, targets={name: _task(node) for name, node in tasks.items()}, first="default")


def task_steps(simple: Simple, folder: Path) -> list[ShellStep] | None:
    """Return the lines that a call of task runs, in order, or None if the Taskfile or a task is missing."""
    folder = folder / (simple.option("-d", "--dir") or "")
    program = simple.name if simple.name in TASKS else "task"
    made = taskfile_in(folder, simple.option("-t", "--taskfile"), program=program)
    words = [word for word in simple.positional(_TASK_VALUES) if "=" not in word]
    if program != "task":  # `mise run test`, `nx run app:test`
        words = [word.rpartition(":")[2] for word in words[1:2]]
        if program == "pixi" and words and not (made and words[0] in made.targets):  # a program
            line = shlex.join(simple.words[simple.words.index(words[0]) :])
            return [ShellStep(line=line, folder=folder, passes="")]
    return made.steps(words or [made.first], folder, whole=True) if made else None


def _needs_arguments(parameters: str) -> bool:
    return any("=" not in word and not word.startswith("*") for word in parameters.split())


def _shell_lines(lines: list[str]) -> list[str]:
    if lines and lines[0].startswith("#!"):  # a script of its own
        return ["\n".join(lines[1:])] if re.search(r"\b(?:ba|z|da)?sh\b", lines[0]) else []
    return [line.lstrip("@-") for line in lines if not line.startswith("#")]


def _filled(line: str, variables: dict[str, str]) -> str:
    return re.sub(r"\{\{\s*([\w-]*)[^}]*\}\}", lambda used: variables.get(used[1], ""), line)


def _task(node: Node) -> Target:
    if not isinstance(node, dict):
        return Target(lines=tuple(texts(node)))
    node = node | as_table(node.get("options"))
    steps = [node[key] for key in _TASK_LINES if key in node]
    flat = [step for one in steps for step in (one if isinstance(one, list) else [one])]
    lines = [
        text for step in flat for text in texts(as_table(step).get("cmd") if isinstance(step, dict) else step)
    ]
    deps = next((node[key] for key in _TASK_NEEDS if key in node), None)
    called = [*flat, *(deps if isinstance(deps, list) else [])]
    before = (*texts(deps), *(text for step in called for text in texts(as_table(step).get("task"))))
    return Target(before=before, lines=tuple(lines))


def rake_steps(simple: Simple, folder: Path) -> list[ShellStep] | None:
    """Return the commands that a call of rake runs, or None if the Rakefile or a task in it is missing."""
    path = next((folder / name for name in _RAKEFILES if (folder / name).is_file()), None)
    if path is None:
        return None
    text = text_of(path)
    front = "bundle exec " if (folder / "Gemfile").is_file() else ""
    goals = [word for word in simple.positional(("-f", "-C", "-I", "-r")) if "=" not in word] or ["default"]
    steps: list[ShellStep] = []
    known = [_rake(goal, text, folder, front, steps, set()) for goal in goals]
    return steps if all(known) else None


def _rake(goal: str, text: str, folder: Path, front: str, steps: list[ShellStep], seen: set[str]) -> bool:
    if goal in seen:
        return True
    seen.add(goal)
    if goal in {found[1] or "test" for found in _RAKE_TESTS.finditer(text)}:
        steps.append(
            ShellStep(line=f"{front}minitest", folder=folder, choose=f"{front}rake {goal} TEST={{files}}")
        )
        return True
    if goal in {found[1] or "spec" for found in _RAKE_SPECS.finditer(text)}:
        steps.append(ShellStep(line=f"{front}rspec", folder=folder))
        return True
    known = False
    for found in _RAKE_TASK.finditer(text):
        if (found[1] or found[3]) == goal:
            needs = re.findall(r"\w+", re.sub(r"^%[iw]", "", found[2] or ""))
            followed = [_rake(need, text, folder, front, steps, seen) for need in needs]
            known = all(followed)
            body = text[found.end() : (text.find("\nend", found.end()) + 1) or found.end()].split(
                "\ntask", maxsplit=1
            )[0]
            steps.extend(
                ShellStep(line=call[1], folder=folder)
                for call in _RAKE_SHELL.finditer(body)
                if "do" in body[:80]
            )
    return known
