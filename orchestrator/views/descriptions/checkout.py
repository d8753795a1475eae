"""The user's checkout in words: their own work, and where the finished work went."""

from typing import assert_never

from orchestrator.views.descriptions.description import Tone, Words
from orchestrator.views.words import git_sentence
from state.journal import events as e
from state.journal.view import RunView


def checkout_words(view: RunView, event: e.CheckoutEvent) -> list[Words]:
    """Return the words of an event of the user's checkout."""
    match event:
        case e.UsersWorkKept():
            return _kept_aside(view, event)
        case e.UsersWorkRestored():
            return _restored(event)
        case e.WorkRescued():
            text = f"its unfinished work is taken out of the checkout and kept as {event.ref}"
            return [Words(kind="checkout", subject=event.task_id, text=text)]
        case e.GitFolderChanged():
            return [Words(kind="checkout", text=git_sentence(event.paths), tone=Tone.WARN)]
        case e.WorkCaughtUp():
            return _told(f"the finished work is merged with your new commits ({event.onto[:10]})")
        case e.DeliveryStarted():
            at = event.commit[:10]
            return _told(f"the last step: {event.branch} moves to {at} if the checkout allows it")
        case e.WorkDelivered():
            at = event.commit[:10]
            return _told(f"{event.branch} was moved forward to {at}, which is the finished work")
        case e.WorkLeft():
            where = view.started.repository if view.started else "the checkout"
            return _told(
                f"the finished work is in {where}, neither staged nor committed, and kept too as {event.ref}"
            )
        case e.WorkKept():
            take = f"Take it: git merge {event.branch}"
            text = f"the work is on branch {event.branch} ({event.commit[:10]}): {event.reason}. {take}"
            is_work = not (view.started and event.commit == view.started.base_commit)
            return [Words(kind="checkout", text=text, is_told=is_work)]
        case _:
            assert_never(event)


def _told(text: str) -> list[Words]:
    return [Words(kind="checkout", text=text)]


def _kept_aside(view: RunView, event: e.UsersWorkKept) -> list[Words]:
    copied = f"{len(event.paths)} uncommitted path(s) of yours are copied, kept as {event.ref}"
    is_told = bool(event.paths) and not (view.started and view.started.edit_dirty)
    found = [Words(kind="checkout", text=copied, is_told=is_told)]
    if event.not_kept:
        found += _told(f"{event.not_kept}: agents' file tools leave them alone, nothing else is checked")
    return found


def _restored(event: e.UsersWorkRestored) -> list[Words]:
    lines = []
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
    found = _told(f"put back as you had it: {', '.join(event.paths)}") if event.paths else []
    if event.overwritten:
        text = f"the run's version of {', '.join(event.overwritten)} is kept as {event.ref}"
        found.append(Words(kind="checkout", text=text, is_detail=True))
    return [*found, *(Words(kind="checkout", text=line) for line in lines)]
