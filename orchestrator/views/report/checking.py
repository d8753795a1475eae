"""How a reader checks a run: where its work is, and the commands to run there."""

import re
from shlex import quote

from orchestrator.views.models.evidence import CommandFacts
from orchestrator.views.models.history import RunFacts
from orchestrator.views.report.contents import CheckCommands, Commits
from state.journal import events as e
from state.journal.view import RunView

_JOINED = re.compile(r"[;|&\n]|^\s*cd\s")
_OF_ANALYSIS = "the analysis"  # `BaselineCheck.source` of a command that only an agent has named


def commits_of(story: RunFacts) -> Commits:
    """Return where a run began and where its work is."""
    view = story.view
    place, place_seq = _place(story)
    measured = view.whole.measured.get("", [])
    newest = measured[-1] if measured else None
    return Commits(
        branch=(view.started.base_branch or "") if view.started else "",
        base=view.started.base_commit if view.started else "",
        commit=view.whole.commit if view.whole.tree else "",
        tree=view.whole.tree,
        place=place,
        place_seq=place_seq,
        added=newest.added if newest else None,
        removed=newest.removed if newest else None,
        files=len(newest.files) + newest.left_out if newest else None,
    )


def check_of(story: RunFacts, commands: tuple[CommandFacts, ...]) -> CheckCommands:
    """Return how to check the finished work: in a new worktree beside the checkout, after the set-up.

    A command that only an agent has named is not part of the line to copy, because it would run outside the
    sandbox.
    """
    view = story.view
    verified = view.evidence.verified_at.get(view.whole.tree, 0) if view.whole.tree else 0
    trusted = [one.command for one in commands if not _only_an_agent(view, one.command)]
    others = tuple(one.command for one in commands if _only_an_agent(view, one.command))
    if not view.whole.tree:
        note = "there is no finished work to check"
        return CheckCommands(command="", named_by_agents=(), note=note, verified_seq=0)
    go = [] if view.checkout.left else _in_a_worktree(story)
    go += [f"export {one}" for one in view.baseline.exports]
    note = "" if commands else "no command verified the finished work"
    if view.checkout.left:
        note = "the work is in your checkout, uncommitted: run it there"
    return CheckCommands(
        command=" && ".join([*go, *map(_apart, trusted)]),
        named_by_agents=others,
        note=note,
        verified_seq=verified,
    )


def _in_a_worktree(story: RunFacts) -> list[str]:
    """Return the commands that make a worktree of the finished work ready, as sq did it first."""
    commit = story.view.whole.commit[:12]
    place = quote(f"../check-{commit}")
    events = (stored.event for stored in story.history.notable)
    runs = next((one.runs for one in events if isinstance(one, e.WorkspaceSetUp) and one.runs), ())
    steps = [_apart(run.command) for run in runs if run.passed]
    return [f"git worktree add --detach {place} {quote(commit)}", f"cd {place}", *steps]


def _apart(command: str) -> str:
    """Return a command that changes neither the folder nor the meaning of the commands beside it."""
    return f"( {command} )" if _JOINED.search(command) else command


def _only_an_agent(view: RunView, command: str) -> bool:
    check = view.baseline.checks.get(command)
    if check is None:
        return command not in (view.settings.verify if view.settings else ())
    return not check.chosen and check.source == _OF_ANALYSIS


def _place(story: RunFacts) -> tuple[str, int]:
    """Return the sentence on the finished work's place, and its event."""
    for stored in reversed(story.history.notable):
        match stored.event:
            case e.WorkDelivered() as event:
                return f"your branch {event.branch} was moved to it", stored.seq
            case e.WorkLeft() as event:
                return f"it is in your checkout, uncommitted, and kept as {event.ref}", stored.seq
            case e.WorkKept() as event if story.view.whole.tree:
                return f"it is on the branch {event.branch}, because {event.reason}", stored.seq
            case e.WorkKept() as event:
                return f"your branch did not move: {event.reason}", stored.seq
    return "", 0
