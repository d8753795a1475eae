"""Reads the recipes of a justfile, the tasks of a Taskfile and a Rakefile, and the lines that a call runs."""

import re
from pathlib import Path

from orchestrator.project.build_files.step import BuildFile, ShellStep, Target, first_file, text_of
from orchestrator.project.build_files.yaml_text import Node, as_table, read_yaml, texts
from orchestrator.project.shell import Simple

_JUST = ("justfile", "Justfile", ".justfile", "JUSTFILE")
_JUST_VALUES = ("-f", "--justfile", "-d", "--working-directory", "--set", "--shell")
_RECIPE = re.compile(r"@?(?P<name>[A-Za-z_][\w-]*)(?P<parameters>[^:\n]*?)\s*:(?!=)\s*(?P<needs>[^#\n]*)")
_VARIABLE = re.compile(r"(?:export\s+)?([\w-]+)\s*:=\s*[\"']?(.*?)[\"']?\s*")
_ALIAS = re.compile(r"alias\s+([\w-]+)\s*:=\s*([\w-]+)")
_TASK = ("Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml", "Taskfile.dist.yml")
_TASK_VALUES = ("-d", "--dir", "-t", "--taskfile", "-C", "--concurrency", "-o", "--output")
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


def taskfile_in(folder: Path, named: str | None = None) -> BuildFile | None:
    """Return the Taskfile of a folder, or None if there is none."""
    path = first_file(folder, [named] if named else _TASK)
    if path is None:
        return None
    tasks = as_table(as_table(read_yaml(text_of(path))).get("tasks"))
    return BuildFile(path=path, targets={name: _task(node) for name, node in tasks.items()}, first="default")


def task_steps(simple: Simple, folder: Path) -> list[ShellStep] | None:
    """Return the lines that a call of task runs, in order, or None if the Taskfile or a task is missing."""
    folder = folder / (simple.option("-d", "--dir") or "")
    made = taskfile_in(folder, simple.option("-t", "--taskfile"))
    words = [word for word in simple.positional(_TASK_VALUES) if "=" not in word]
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
    steps = [node["cmds"] if "cmds" in node else node.get("cmd", "")]
    flat = [step for one in steps for step in (one if isinstance(one, list) else [one])]
    lines = [
        text for step in flat for text in texts(as_table(step).get("cmd") if isinstance(step, dict) else step)
    ]
    deps = node.get("deps")
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
