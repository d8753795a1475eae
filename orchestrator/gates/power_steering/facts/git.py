"""Finds commits, pushes and pull requests, as far as the output of commands shows that they were made."""

import re
from collections.abc import Iterator, Sequence

from orchestrator.gates.power_steering.facts.facts import GitAction, HubAction, RunOutcome
from orchestrator.project.shell import Simple, simple_commands

_COMMITTED = re.compile(r"^\[(.+?)(?: \(root-commit\))? ([0-9a-f]{7,40})\] ", re.MULTILINE)
_PUSHED = re.compile(
    r"^ *[*+=\-!]? *(\[[^\]]+\]|[0-9a-f]{4,40}\.{2,3}[0-9a-f]{4,40}) +\S+ +-> +(\S+)", re.MULTILINE
)
_GIT_TAKES_A_VALUE = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace"})
_BRANCH = re.compile(
    r"^(?:Switched to (?:a new )?branch '([^']+)'|On branch (\S+)|## (\S+?)(?:\.\.\.|$))", re.MULTILINE
)
_CHECK_FAILED = frozenset({"fail", "failure", "cancel", "cancelled", "timed_out", "startup_failure"})
_CHECK_PENDING = frozenset({"pending", "queued", "in_progress", "waiting"})
_CHECK_PASSED = frozenset({"pass", "success"})
_NOT_STARTED = (126, 127)  # the shell's own exit codes
_CELLS = re.compile(r"\t| {2,}")  # a terminal gets columns
_PENDING_EXIT = 8  # of `gh pr checks`


def git_actions_of(
    command: str, output: str, exit_code: int | None, *, order: int, turn: int, branch: str = ""
) -> Iterator[GitAction]:
    """Yield the commits and pushes of a command line. `branch` is the one it started on, if known."""
    ran = simple_commands(command)
    moves = any(_git(simple)[:1] in (["checkout"], ["switch"]) for simple in ran)
    for simple in ran:
        words = _git(simple)
        succeeded = exit_code == 0 and simple.decides
        match words[:1]:
            case ["commit"]:
                made = _COMMITTED.findall(output)
                for on, sha in made:
                    yield GitAction(kind="commit", branch=on, sha=sha, order=order, turn=turn)
                if not made and succeeded and "--dry-run" not in words:  # a quiet one
                    yield GitAction(kind="commit", branch="" if moves else branch, order=order, turn=turn)
            case ["push"]:
                told = _PUSHED.findall(output)
                for sign, to in told:
                    if "reject" not in sign and sign != "[up to date]":
                        yield GitAction(kind="push", branch=to, order=order, turn=turn)
                if not told and succeeded and "Everything up-to-date" not in output:
                    yield GitAction(kind="push", branch=_push_target(words), order=order, turn=turn)
            case _:
                pass


def branch_told(command: str, output: str) -> str:
    """Return the branch that is checked out after the command line, or "" if the output does not name it."""
    if "git" not in command or not any(_git(simple) for simple in simple_commands(command)):
        return ""
    return next((name for found in reversed(_BRANCH.findall(output)) for name in found if name), "")


def hub_actions_of(
    command: str, output: str, exit_code: int | None, *, order: int, turn: int
) -> Iterator[HubAction]:
    """Yield the `gh pr` and `gh run` calls of a command line."""
    for simple in simple_commands(command):
        kind = simple.plain[:2]
        if simple.name != "gh" or len(kind) < 2 or kind[0] not in {"pr", "run"}:  # noqa: PLR2004  pr create
            continue
        outcome, pending = _outcome(kind, output, exit_code if simple.decides or exit_code else None)
        yield HubAction(
            kind=" ".join(kind),
            exit_code=exit_code,
            output=output,
            order=order,
            turn=turn,
            outcome=outcome,
            is_pending=pending,
        )


def _outcome(kind: Sequence[str], output: str, exit_code: int | None) -> tuple[RunOutcome, bool]:
    """Return the outcome in the output, and whether it reports that checks still run."""
    if kind[0] == "pr" and kind[1] != "checks":
        return RunOutcome.UNKNOWN, False
    rows = [_CELLS.split(row.strip()) for row in output.splitlines() if _CELLS.search(row.strip())]
    if tuple(kind[:2]) == ("run", "list"):
        rows = rows[:1]  # the newest
    if tuple(kind[:2]) == ("run", "watch") and exit_code and exit_code not in _NOT_STARTED:
        return RunOutcome.FAILED, False
    cells = {cell.strip().lower() for row in rows for cell in row}
    if cells & _CHECK_FAILED:
        return RunOutcome.FAILED, False
    if cells & _CHECK_PENDING or exit_code == _PENDING_EXIT:
        return RunOutcome.UNKNOWN, True
    if kind[1] == "checks" and rows and exit_code and exit_code not in _NOT_STARTED:
        return RunOutcome.FAILED, False
    watched = kind[1] in {"checks", "watch"} and exit_code == 0
    return RunOutcome.PASSED if cells & _CHECK_PASSED or watched else RunOutcome.UNKNOWN, False


def _git(simple: Simple) -> list[str]:
    """Return the words from git's subcommand on, or [] for another program."""
    words = list(simple.words[1:]) if simple.name == "git" else []
    while words and words[0].startswith("-"):
        words = words[2 if words[0] in _GIT_TAKES_A_VALUE else 1 :]
    return words


def _push_target(words: Sequence[str]) -> str:
    plain = [word for word in words[1:] if not word.startswith("-")]
    return plain[1].rsplit(":", maxsplit=1)[-1].removeprefix("refs/heads/") if len(plain) > 1 else ""
