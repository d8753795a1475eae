"""JavaScript and TypeScript: the test script of a package or of its workspaces, with its package manager."""

import json
import re
from fnmatch import fnmatch

from orchestrator.project.detection.ways import Way
from orchestrator.project.detection.yaml_text import read_yaml, table, texts
from orchestrator.project.files import Shown

MANIFEST = "package.json"
_LOCKS = {
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "bun.lock": "bun",
    "bun.lockb": "bun",
    "package-lock.json": "npm",
}
_TEST = {"npm": "npm test", "pnpm": "pnpm test", "yarn": "yarn test", "bun": "bun run test"}
_WORKSPACES = {
    "npm": "npm test --workspaces --if-present",
    "pnpm": "pnpm --recursive --if-present test",
    "yarn": "yarn workspaces run test",
    "yarn berry": "yarn workspaces foreach --all run test",
    "bun": "bun run --filter '*' test",
}
_CALL = re.compile(r"(?:npm|pnpm|yarn|bun)\s+(?:run\s+|run-script\s+)?([\w:.\-]+)")
_WATCHES = re.compile(r"react-scripts\s+test(?!.*--watchAll=false)")
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_DEEPEST = 4  # scripts that scripts run


def manager_of(shown: Shown) -> str:
    """Return the package manager that a package's manifest names, else the one of its lock file."""
    named = _manifest(shown.text(MANIFEST)).get("packageManager")
    if isinstance(named, str) and (name := named.partition("@")[0]) in _TEST:
        return name
    return next((manager for lock, manager in _LOCKS.items() if shown.has(lock)), "npm")


def package_ways(shown: Shown) -> list[Way]:
    """Return the test script of the package, else that of its workspaces."""
    manager, scripts = manager_of(shown), scripts_of(shown, MANIFEST)
    if is_usable(scripts.get("test", "")):
        lines = script_lines("test", scripts)
        before = "CI=true " if any(_WATCHES.search(line) for line in lines) else ""
        return [
            Way(command=before + _TEST[manager], source=MANIFEST, lines=lines, own=True, one_language=True)
        ]
    tested = [name for name in _workspaces(shown) if is_usable(scripts_of(shown, name).get("test", ""))]
    if not tested:
        return []
    if manager == "yarn" and shown.has(".yarnrc.yml"):
        manager = "yarn berry"
    lines = tuple(line for name in tested for line in script_lines("test", scripts_of(shown, name)))
    return [
        Way(
            command=_WORKSPACES[manager],
            source=f"{MANIFEST}, workspaces",
            lines=lines,
            own=True,
            one_language=True,
        )
    ]


def deno_ways(shown: Shown) -> list[Way]:
    """Return the test task of a Deno project, else Deno's own runner if there are tests."""
    name = shown.first("deno.json", "deno.jsonc")
    if not name:
        return []
    tasks = _manifest(_COMMENT.sub(lambda found: found.group(1) or "", shown.text(name))).get("tasks")
    task = tasks.get("test") if isinstance(tasks, dict) else None
    line = task.get("command") if isinstance(task, dict) else task
    if isinstance(line, str) and line.strip():
        return [Way(command="deno task test", source=name, lines=(line,), own=True, one_language=True)]
    if shown.ending("_test.ts", "_test.js", ".test.ts", "_test.tsx", ".test.js"):
        return [Way(command="deno test", source=name)]
    return []


def scripts_of(shown: Shown, name: str) -> dict[str, str]:
    """Return the scripts of a manifest that are texts."""
    scripts = _manifest(shown.text(name)).get("scripts")
    pairs = scripts.items() if isinstance(scripts, dict) else ()
    return {key: value for key, value in pairs if isinstance(value, str)}


def is_usable(script: str) -> bool:
    """Whether a test script is more than the one that `npm init` writes."""
    return bool(script.strip()) and "no test specified" not in script


def script_lines(name: str, scripts: dict[str, str]) -> tuple[str, ...]:
    """Return the lines of a script, with those of the scripts that it calls."""
    waiting, seen = [name], list[str]()
    for _ in range(_DEEPEST):
        waiting = [one for one in waiting if one in scripts and one not in seen]
        seen += dict.fromkeys(waiting)
        waiting = [called for one in waiting for called in _CALL.findall(scripts[one])]
    return tuple(scripts[one] for one in seen)


def _workspaces(shown: Shown) -> list[str]:
    """Return the manifests of the workspaces that the root names."""
    named = _manifest(shown.text(MANIFEST)).get("workspaces")
    if isinstance(named, dict):
        named = named.get("packages")
    patterns = [one for one in named if isinstance(one, str)] if isinstance(named, list) else []
    patterns += texts(table(read_yaml(shown.text("pnpm-workspace.yaml"))).get("packages"))
    manifests = shown.ending(f"/{MANIFEST}")
    wanted = [pattern.removeprefix("./").rstrip("/") for pattern in patterns if not pattern.startswith("!")]
    return [
        name for name in manifests if any(fnmatch(name.removesuffix(f"/{MANIFEST}"), one) for one in wanted)
    ]


def _manifest(text: str) -> dict[str, object]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
