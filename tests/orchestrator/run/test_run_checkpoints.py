"""Checkpoints: a Reviewer looks at work under way, its findings are in the same session's next prompt, no more."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from language.scripted import Done, Rehearse, completes, finds, issue, passes, signals, whole_run, writes

from agents.roles.reviewer import normalize_issue
from orchestrator.run.review.findings import fingerprint
from state.errors import JournalError
from state.journal import events as e
from state.journal.events import Stored
from state.journal.store import Journal
from state.outcome import Outcome
from state.paths import StateFolder
from state.records.reviews import FindingState
from state.roles import Role

Resume = Callable[..., Done]
EACH: dict[str, Any] = {"verify": ("true",), "effort": "max"}  # a checkpoint after each iteration
FOUND = issue("notes.txt", 1, "The line has no end.", "End it.", kind="missing-error-handling")
ID = fingerprint(normalize_issue(FOUND))
NOTHING = {"structured": {"guidance": ""}}
AT_CHECKPOINT = "reviewer/notes.checkpoint-1/1"


def goes_on(**expect: Any) -> dict[str, Any]:
    told = {"done": "a line", "next_step": "the next line"}
    return signals("iteration_done", **told, **({"expect": expect} if expect else {}))


def one_checkpoint(*next_replies: dict[str, Any]) -> list[dict[str, Any]]:
    """A Worker that writes, goes on, and does this."""
    return [writes("notes.txt", "A line"), goes_on(), *next_replies]


def requests(done: Done, caller: str) -> int:
    return sum(line.caller == caller for line in done.ledger)


@pytest.mark.late
def test_what_a_checkpoint_finds_is_in_the_next_prompt_of_the_same_session_and_known_to_the_review(
    rehearse: Rehearse,
) -> None:
    told = [
        "From a reviewer",
        f"[{ID}] **notes.txt:1** (missing-error-handling): The line has no end.",
        "Go on",
    ]
    asked = {"prompt_contains": ["work under way", "+A line"], "prompt_lacks": ["Results of sq's own checks"]}
    callers = {
        "worker/notes/1": one_checkpoint(
            writes("notes.txt", "A line.\n", expect={"prompt_contains": [*told, "From the Developer"]}),
            completes(),
        ),
        AT_CHECKPOINT: [{**finds(FOUND), "expect": asked}],
        "developer/notes/1": [{"structured": {"guidance": "Keep it short."}}],
        "reviewer/notes/1": [passes(prompt_contains=[f"[{ID}]"], prompt_lacks=["since commit"])],
    }
    done = rehearse(whole_run(**callers), **EACH)
    workers = [one for one in done.of(e.CallStarted) if one.role is Role.WORKER]
    assert [one.iteration for one in workers] == [1, 2]
    assert len({one.session_id for one in workers}) == 1
    (looked,) = done.of(e.CheckpointReviewed)
    assert [(one.id, one.state, one.round) for one in looked.findings] == [(ID, FindingState.OPEN, 1)]
    assert done.of(e.TaskReopened) == []
    kinds = [type(stored.event) for stored in done.stored]
    assert kinds.index(e.CheckpointReviewed) < kinds.index(e.GuidanceGiven)
    (reviewed,) = [one for one in done.of(e.ReviewRecorded) if one.task_id == "notes"]
    assert [(one.id, one.state) for one in reviewed.findings] == [(ID, FindingState.FIXED)]
    assert "notes: reviewed at a checkpoint, 1 issue(s)" in done.output


@pytest.mark.slow
def test_a_refused_claim_is_told_together_with_what_the_checkpoint_found(
    rehearse: Rehearse, repository: Path
) -> None:
    told = ["Completion was not accepted", "From a reviewer", f"[{ID}]"]
    callers = {
        "worker/notes/1": [
            writes("notes.txt", "A line"),
            completes(),
            writes("ok", "", expect={"prompt_contains": told}),
            completes(),
        ],
        AT_CHECKPOINT: [finds(FOUND)],
        "developer/notes/1": [NOTHING],
    }
    rehearse(whole_run(**callers), verify=("! test -e notes.txt || test -e ok",), effort="max")


@pytest.mark.slow
def test_a_checkpoint_without_a_usable_report_is_not_asked_again_and_holds_nobody_up(
    rehearse: Rehearse,
) -> None:
    callers = {
        "worker/notes/1": one_checkpoint(completes(prompt_lacks=["From a reviewer"])),
        AT_CHECKPOINT: [{"text": "Looks good to me!"}],
        "developer/notes/1": [NOTHING],
    }
    done = rehearse(whole_run(**callers), **EACH)
    (looked,) = done.of(e.CheckpointReviewed)
    assert looked.problem == "the reviewer ended its turn without a report"
    assert requests(done, AT_CHECKPOINT) == 1
    assert "no usable review at this checkpoint" in done.output


@pytest.mark.slow
def test_where_nothing_is_new_no_reviewer_looks(rehearse: Rehearse) -> None:
    callers = {
        "worker/notes/1": one_checkpoint(goes_on(), completes()),
        AT_CHECKPOINT: [passes()],
        "developer/notes/1": [NOTHING],
    }
    done = rehearse(whole_run(**callers), **EACH)
    assert [one.iteration for one in done.of(e.CheckpointReviewed)] == [1]


def stops_at(kind: type[e.Event], *, stored: bool) -> type[Journal]:
    """A journal whose disk is full when the first event of a kind comes; `stored`: right after it."""

    class Stops(Journal):
        full = False

        def append(self, *events: e.Event) -> list[Stored]:
            found = any(isinstance(event, kind) for event in events)
            if self.full or (found and not stored):
                raise JournalError("the disk is full")
            Stops.full = found
            return super().append(*events)

    return Stops


@pytest.mark.late
@pytest.mark.parametrize(
    "stored",
    [False, pytest.param(True, marks=pytest.mark.slow)],
    ids=["before it is stored", "after it is stored"],
)
def test_a_checkpoint_is_not_paid_for_twice_when_the_run_ends_at_it(
    rehearse: Rehearse, resume: Resume, repository: Path, stored: bool
) -> None:
    callers = {
        "worker/notes/1": one_checkpoint(
            writes("notes.txt", "A line.\n", expect={"prompt_contains": ["From a reviewer", f"[{ID}]"]}),
            completes(),
        ),
        AT_CHECKPOINT: [finds(FOUND)],
        "developer/notes/1": [NOTHING],
    }
    with pytest.raises(JournalError):
        rehearse(whole_run(**callers), open_journal=stops_at(e.CheckpointReviewed, stored=stored), **EACH)
    folder = StateFolder(repository / ".sq").find(None)
    done = resume(Done(Outcome.FAILED, folder, [], ""))
    assert len(done.of(e.CheckpointReviewed)) == 1
    assert requests(done, AT_CHECKPOINT) == 1
