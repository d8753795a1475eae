"""Lines of the user's checkout: their own work, and where the finished work went."""

from typing import assert_never

from state.journal import events as e
from state.journal.view import RunView


def lines(view: RunView, event: e.CheckoutEvent) -> list[str]:
    """The lines that an event of the user's checkout adds to the story."""
    match event:
        case e.UsersWorkKept():
            return _users_work_kept(view, event)
        case e.UsersWorkRestored():
            return _users_work_restored(event)
        case e.WorkRescued():
            return _rescued(event)
        case e.GitFolderChanged():
            return git_lines(view)
        case e.WorkCaughtUp():
            return _caught_up(event)
        case e.DeliveryStarted():
            return _delivery_started(event)
        case e.WorkDelivered():
            return _delivered(event)
        case e.WorkLeft():
            return _left(view, event)
        case e.WorkKept():
            return _kept(view, event)
        case _:
            assert_never(event)


def git_lines(view: RunView) -> list[str]:
    """Name the files that changed by which git runs programs."""
    if not view.checkout.changed_git:
        return []
    paths = ", ".join(view.checkout.changed_git)
    sentence = (
        "sq uses its copies from the run's start, and your git will use them: look at them before you run it"
    )
    return [f"git's files changed during the run, by an agent or by you: {paths}. {sentence}"]


def _users_work_kept(view: RunView, event: e.UsersWorkKept) -> list[str]:
    lines = []
    if event.paths and not (view.started and view.started.edit_dirty):
        lines.append(f"{len(event.paths)} uncommitted path(s) of yours are copied, kept as {event.ref}")
    if event.not_kept:
        lines.append(f"{event.not_kept}: agents' file tools leave them alone, nothing else is checked")
    return lines


def _users_work_restored(event: e.UsersWorkRestored) -> list[str]:
    lines = []
    if event.paths:
        lines.append(f"put back as you had it: {', '.join(event.paths)}")
    if event.overwritten:
        lines.append(f"    the run's version of {', '.join(event.overwritten)} is kept as {event.ref}")
    if event.heads:
        lines.append(
            f"an agent had moved HEAD: it is where you had it, and its commits are kept as {event.ref}"
        )
    if event.indexes:
        lines.append(f"the index is as you had it, and later staged changes are kept as {event.ref}")
    if event.elsewhere:
        lines.append(
            f"HEAD was moved in {', '.join(event.elsewhere)}, by no agent: it stays, and the index too"
        )
    if event.ignored:
        lines.append(
            f"ignored files put back: {', '.join(event.ignored)}, the run's version of them: {event.replaced}"
        )
    if event.problem:
        lines.append(f"your uncommitted work could not be put back: {event.problem}")
    return lines


def _rescued(event: e.WorkRescued) -> list[str]:
    return [f"{event.task_id}: its unfinished work is taken out of the checkout and kept as {event.ref}"]


def _caught_up(event: e.WorkCaughtUp) -> list[str]:
    return [f"the finished work is merged with your new commits ({event.onto[:10]})"]


def _delivery_started(event: e.DeliveryStarted) -> list[str]:
    return [f"the last step: {event.branch} moves to {event.commit[:10]} if the checkout allows it"]


def _delivered(event: e.WorkDelivered) -> list[str]:
    return [f"{event.branch} was moved forward to {event.commit[:10]}, which is the finished work"]


def _left(view: RunView, event: e.WorkLeft) -> list[str]:
    where = view.started.repository if view.started else "the checkout"
    return [f"the finished work is in {where}, neither staged nor committed, and kept too as {event.ref}"]


def _kept(view: RunView, event: e.WorkKept) -> list[str]:
    if view.started and event.commit == view.started.base_commit:
        return []
    take = f"Take it: git merge {event.branch}"
    return [f"the work is on branch {event.branch} ({event.commit[:10]}): {event.reason}. {take}"]
