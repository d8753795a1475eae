"""How long the steps of this run take, as far as it has seen them: what landing needs to begin in time."""

from datetime import timedelta

from state.journal import events as e
from state.journal.events import Stored
from state.journal.events.run import PaceView


def note_pace(pace: PaceView, stored: Stored) -> None:  # noqa: C901, PLR0912  one case an event
    """Add the time of one more event, of which the longest of each step counts, in seconds."""
    begun, at = pace.begun, stored.at

    def took(step: str) -> float:
        since = begun.pop(step, None)
        return (at - since).total_seconds() if since else 0.0

    match stored.event:
        case e.RunResumed(verify=verify):
            begun.clear()  # the time between two processes belongs to no step
            if verify is not None:  # other commands have other times
                pace.verify_s = pace.claim_s = pace.merge_s = 0.0
        case e.BaselineTaken(checks=checks):
            pace.verify_s = max(pace.verify_s, sum(check.run.seconds for check in checks))
        case e.VerificationStarted(task_id=task_id):
            begun[f"verify {task_id}"] = begun[f"claim {task_id}"] = at
        case e.VerificationFinished(task_id=task_id):
            pace.verify_s = max(pace.verify_s, took(f"verify {task_id}"))
        case e.CompletionAccepted(task_id=task_id):
            pace.claim_s = max(pace.claim_s, took(f"claim {task_id}"))
            begun[f"review {task_id}"] = at
        case e.CompletionRefused(task_id=task_id) | e.AttemptStarted(task_id=task_id):
            begun.pop(f"claim {task_id}", None)
        case e.ReviewRecorded(task_id=task_id) if task_id:
            pace.review_s = max(pace.review_s, took(f"review {task_id}"))
        case e.TurnAwaited(task_id=task_id):
            begun[f"wait {task_id}"] = at
        case e.TurnTaken(task_id=task_id):
            waited_s = timedelta(seconds=took(f"wait {task_id}"))  # which belongs to no step
            begun.update({name: begun[name] + waited_s for name in _steps_of(task_id) & begun.keys()})
        case e.MergeStarted(task_id=task_id):
            begun[f"merge {task_id}"] = at
        case e.MergeBuilt(task_id=task_id):
            begun[f"move {task_id}"] = at
        case e.TaskMerged(task_id=task_id):
            pace.merge_s = max(pace.merge_s, took(f"merge {task_id}"))
            pace.move_s = max(pace.move_s, took(f"move {task_id}"))
        case e.CallStarted(call_id=call_id):
            begun[call_id] = at
        case e.CallEnded(call_id=call_id):
            pace.exchange_s = max(pace.exchange_s, took(call_id))
        case _:
            pass


def _steps_of(task_id: str) -> set[str]:
    """Return the names of a task's steps in which commands run."""
    return {f"{step} {task_id}" for step in ("verify", "claim", "merge")}
