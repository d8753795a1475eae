"""Beads sync: the issue tracker in `.beads/` has to be synced before a session stops."""

from orchestrator.gates.stop_gate.stop import ALLOWED, StepResult, Stop

_DEADLINE_S = 2.0
_SHOWN = 3


def applies(stop: Stop) -> bool:
    """Whether the project has a tracker."""
    return (stop.project / ".beads").is_dir()


def check(stop: Stop) -> StepResult:
    """Hold the session while git sees changes in the tracker's folder. Ignored files do not count."""
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
    if done.returncode or not changed:
        return ALLOWED
    named = ", ".join(changed[:_SHOWN])
    reason = f"The issue tracker has changes that are not synced ({named}). Run `bd sync`."
    return StepResult(blocks=True, reason=reason)
