"""Beads sync: what a session changed in the issue tracker `.beads/` has to be stored before it stops.

Others write there too, such as a daemon or another session. Their changes hold no session. Up to bd 0.50
`bd sync` stores them. Later versions have Dolt and no such command (gastownhall/beads #2442).
"""

from typing import TYPE_CHECKING

from orchestrator.gates.stop_gate.stop import ALLOWED, StepResult, Stop

_DEADLINE_S = 2.0
_SHOWN = 3
_PROGRAMS = frozenset({"bd", "br", "beads"})
_READING = frozenset(
    {
        "ready",
        "list",
        "show",
        "status",
        "stats",
        "blocked",
        "prime",
        "version",
        "help",
        "doctor",
        "info",
        "search",
    }
    | {
        "count",
        "stale",
        "graph",
        "where",
        "onboard",
        "export",
        "sync",
        "dolt",
        "diff",
        "history",
        "query",
        "--help",
    }
)

if TYPE_CHECKING:
    from orchestrator.gates.power_steering.facts import Facts


def applies(stop: Stop) -> bool:
    """Whether the project has a tracker."""
    return (stop.project / ".beads").is_dir()


def check(stop: Stop) -> StepResult:
    """Hold a session that wrote to the tracker while git sees changes there. Ignored files do not count."""
    import subprocess

    from orchestrator.git.held import held_git

    command = ["git", "-C", str(stop.project), "status", "--porcelain", "--ignore-submodules=dirty", "--"]
    environ = {name: value for name, value in stop.environ.items() if not name.startswith("GIT_")}
    try:
        with held_git(stop.project) as held:
            done = subprocess.run(
                [*command, ".beads"],
                env={**environ, **held},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_DEADLINE_S,
                check=False,
            )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return StepResult(note=f"could not check whether the beads are synced: {error}")
    changed = [line[3:] for line in done.stdout.decode("utf-8", "replace").splitlines() if line.strip()]
    if done.returncode or not changed or not _has_written(stop.session.facts):
        return ALLOWED
    named = ", ".join(changed[:_SHOWN])
    reason = f"The issue tracker has changes of this session that are not committed ({named}). {_to_do(stop)}"
    return StepResult(blocks=True, reason=reason)


def _has_written(facts: "Facts") -> bool:
    """Whether the session itself changed the tracker, by its program or by its files."""
    from orchestrator.project.shell import simple_commands

    if any(".beads/" in one.path for one in facts.edits):
        return True
    called = (simple for one in facts.commands for simple in simple_commands(one.line))
    return any(
        one.name in _PROGRAMS and not _READING.issuperset(one.plain[:1] or ("help",)) for one in called
    )


def _to_do(stop: Stop) -> str:
    """Return the commands that store the changes, by the version of the tracker that the folder shows."""
    folder = stop.project / ".beads"
    if (folder / "dolt").is_dir() or (folder / "embeddeddolt").is_dir():
        return "Commit `.beads`, and run `bd dolt push` if it has a remote (`bd dolt remote list`)."
    if any(folder.glob("*.db")):
        return "Run `bd sync`."
    return "Commit `.beads`."
