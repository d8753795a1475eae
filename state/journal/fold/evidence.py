"""Commands of the project: the baseline, set-up, verification and proofs, under way and ended."""

from typing import assert_never

from state.journal import events as e
from state.journal.events import Stored
from state.journal.view import BaselineView, CommandsView, RunView


def apply(view: RunView, event: e.EvidenceEvent, stored: Stored) -> None:
    """Add an event of the project's commands to the view of its run."""
    under_way, evidence = view.evidence.commands, view.evidence
    match event:
        case e.BaselineStarted():
            under_way["baseline"] = CommandsView("baseline", "", event.commands, stored.at)
        case e.BaselineTaken():
            under_way.pop("baseline", None)
            _take_baseline(view, event, stored)
        case e.SetUpStarted():
            purpose = "wait for another set-up" if event.waits else "set-up"
            under_way[f"set-up {event.folder}"] = CommandsView(purpose, event.task_id, event.steps, stored.at)
        case e.WorkspaceSetUp():
            under_way.pop(f"set-up {event.folder}", None)
            evidence.not_again |= dict.fromkeys(event.not_again)
            failed = (f"the set-up `{one.command}` failed" for one in event.runs if not one.passed)
            evidence.not_set_up |= dict.fromkeys((*event.left_out, *failed))
        case e.VerificationStarted():
            begun = CommandsView("verification", event.task_id, event.commands, stored.at)
            under_way[f"verification {event.task_id}"] = begun
        case e.VerificationFinished():
            under_way.pop(f"verification {event.task_id}", None)
            evidence.verifications[event.tree], evidence.verified_at[event.tree] = event, stored.seq
        case e.ProofsTaken():
            evidence.proofs[event.task_id, event.tree] = event
            evidence.proved_at[event.task_id, event.tree] = stored.seq
        case _:
            assert_never(event)


def _take_baseline(view: RunView, event: e.BaselineTaken, stored: Stored) -> None:
    """Record a new baseline. A baseline of commands from the analysis adds to the one before."""
    before = view.baseline if event.of_analysis else BaselineView()
    view.baseline = BaselineView(
        checks={**before.checks, **{check.run.command: check for check in event.checks}},
        tree=event.tree,
        seq=stored.seq,
        notes=(*before.notes, *event.notes),
        not_run=(*before.not_run, *event.not_run),
        exports=before.exports or event.exports,
    )
