"""The recipes of a justfile and the tasks of a Taskfile."""

import re

from orchestrator.project.detection.targets import Target, ways_of
from orchestrator.project.detection.ways import Way
from orchestrator.project.detection.yaml_text import Node, read_yaml, table, texts
from orchestrator.project.files import Shown

_JUST = ("justfile", ".justfile", "Justfile")
_RECIPE = re.compile(r"^@?([A-Za-z_][\w-]*)((?:\s+[^:=\n]*(?:=\s*\S+)?)*?)\s*:(?!=)\s*(.*)$")
_TASK = ("Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml", "Taskfile.dist.yml")


def just_ways(shown: Shown) -> list[Way]:
    """Return the recipes of the justfile that verify, without those that need an argument."""
    name = shown.first(*_JUST)
    targets: dict[str, Target] = {}
    current = ""
    for line in shown.text(name).splitlines() if name else ():
        if line[:1].isspace() and current:
            had = targets[current]
            targets[current] = Target(before=had.before, lines=(*had.lines, line.strip(" \t@-")))
        elif found := _RECIPE.match(line):
            needs = [word for word in found.group(2).split() if "=" not in word and not word.startswith("*")]
            current = "" if needs else found.group(1)
            if current:
                targets[current] = Target(before=tuple(re.findall(r"[\w-]+", found.group(3).split("#")[0])))
        elif line.strip() and not line.startswith("#"):
            current = ""
    return ways_of("just", name, targets)


def task_ways(shown: Shown) -> list[Way]:
    """Return the tasks of the Taskfile that verify."""
    name = shown.first(*_TASK)
    if not name:
        return []
    tasks = table(table(read_yaml(shown.text(name))).get("tasks"))
    return ways_of("task", name, {task: _target(node) for task, node in tasks.items()})


def _target(node: Node) -> Target:
    if not isinstance(node, dict):
        return Target(lines=tuple(texts(node)))
    steps = [node["cmds"] if "cmds" in node else node.get("cmd", "")]
    flat = [step for one in steps for step in (one if isinstance(one, list) else [one])]
    lines = [
        text for step in flat for text in texts(table(step).get("cmd") if isinstance(step, dict) else step)
    ]
    called = [text for step in (*flat, *_listed(node.get("deps"))) for text in texts(table(step).get("task"))]
    return Target(before=(*texts(node.get("deps")), *called), lines=tuple(lines))


def _listed(node: Node | None) -> list[Node]:
    return node if isinstance(node, list) else []
