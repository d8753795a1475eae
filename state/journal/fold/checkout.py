"""The user's checkout: their own work kept and put back, and the finished work on its way to it."""

from typing import assert_never

from state.journal import events as e
from state.journal.view import RunView


def apply(view: RunView, event: e.CheckoutEvent) -> None:  # noqa: C901  one case an event
    """Add an event of the user's checkout to the view of its run."""
    match event:
        case e.UsersWorkKept():
            view.checkout.users_work = event
            if event.base:
                view.whole.commit = view.checkout.own_base = event.base
        case e.UsersWorkRestored():
            view.checkout.left_tree = event.tree
            if event.task_id and view.tasks[event.task_id].open.trees:
                view.tasks[event.task_id].open.trees[-1] = event.tree
        case e.WorkCaughtUp():
            view.whole.commit, view.whole.tree = event.commit, event.tree
        case e.WorkDelivered():
            view.checkout.delivered = event
        case e.WorkLeft():
            view.checkout.left = event
        case e.WorkKept():
            view.checkout.kept = event
        case e.GitFolderChanged():
            view.checkout.changed_git = event.paths
        case e.WorkRescued() | e.DeliveryStarted():
            pass
        case _:
            assert_never(event)
