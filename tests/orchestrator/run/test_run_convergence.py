"""Reviews come to an end: what changed is reviewed again, disputes are heard, and taste holds nobody up for ever."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from language.scripted import (
    Done,
    Rehearse,
    completes,
    finds,
    id_of,
    issue,
    passes,
    plans,
    rules,
    signals,
    whole_run,
    writes,
)

from agents.session.tools import REPORT_REVIEW
from state.journal import events as e
from state.journal.events import Stored
from state.journal.events.tasks import Stage
from state.journal.store import Journal
from state.outcome import Outcome
from state.records.reviews import FindingState
from state.roles import Role

CHECKED = {"verify": ("true",)}
Found = Mapping[str, Any]
WRONG = issue(
    "notes.txt", 1, "The line says the wrong thing.", "Say the right one.", kind="incorrect-behavior"
)
EVIDENCE = "The spec asks for a line of text, and any text is one."


def disputes(*found: Found, evidence: str = EVIDENCE, **expect: Any) -> dict[str, Any]:
    """A reply that claims completion with evidence against these findings."""
    said = [{"id": id_of(one), "evidence": evidence} for one in found]
    return signals(
        "task_complete", summary="Nothing to do.", disputes=said, **({"expect": expect} if expect else {})
    )


def reviews(done: Done, task: str = "notes") -> list[e.ReviewRecorded]:
    return [one for one in done.of(e.ReviewRecorded) if one.task_id == task]


def attempts(count: int) -> dict[str, Any]:
    return {
        f"worker/notes/{n}": [writes("notes.txt", f"Try {n}.\n"), completes()] for n in range(1, count + 1)
    }


def test_a_reviewer_that_finds_a_new_trifle_each_round_ends_as_complete_with_the_trifles_told(
    rehearse: Rehearse,
) -> None:
    trifles = ["The file has an odd name.", "The line could be longer.", "A full stop would be nice."]
    found = [issue("notes.txt", 1, words, "Change it.", kind="pattern-violation") for words in trifles]
    callers = {
        f"reviewer/notes/{n}": [finds(one, fixed=found[: n - 1])] for n, one in enumerate(found, start=1)
    }
    done = rehearse(whole_run(**attempts(3), **callers), **CHECKED)
    first, second = reviews(done)
    assert (first.passed, second.passed) == (False, True)
    assert "suggestion: notes.txt:1 (pattern-violation): The line could be longer." in done.output
    assert "below the bar of review round 2" in done.output
    assert done.view.tasks["notes"].attempt == 2
    assert {one.state for one in second.findings} == {FindingState.FIXED, FindingState.WONT_FIX}


@pytest.mark.slow
def test_a_reviewer_that_insists_on_something_wrong_ends_as_stuck_when_the_revisions_are_used_up(
    rehearse: Rehearse,
) -> None:
    insists = rules("open", WRONG, why="It still says the wrong thing.")
    done = rehearse(
        whole_run(**attempts(3), reviewer=[finds(WRONG)], **{"reviewer/notes/*": [insists]}),
        effort="low",
        **CHECKED,
        ends=Outcome.STUCK,
    )
    assert "2 revisions are used up" in done.view.tasks["notes"].end.reason
    assert [one.passed for one in reviews(done)] == [False] * 3
    assert {one.id for review in reviews(done) for one in review.findings} == {id_of(WRONG)}


@pytest.mark.late
def test_a_dispute_that_the_reviewer_accepts_ends_as_complete_without_a_change(rehearse: Rehearse) -> None:
    asked = {"prompt_contains": [EVIDENCE, f"[{id_of(WRONG)}]", "The builder says that it is wrong"]}
    callers = {
        "reviewer/notes/1": [finds(WRONG)],
        "worker/notes/2": [disputes(WRONG, prompt_contains=[f"[{id_of(WRONG)}] **notes.txt:1**"])],
        "reviewer/notes/2": [rules("won't fix", WRONG, why="Right: any text will do.", expect=asked)],
    }
    done = rehearse(whole_run(**callers), **CHECKED)
    first, second = reviews(done)
    assert (first.commit, first.passed, second.passed) == (second.commit, False, True)
    (finding,) = second.findings
    assert (finding.state, finding.note) == (FindingState.WONT_FIX, "Right: any text will do.")
    assert done.of(e.CompletionRefused) == []


@pytest.mark.slow
def test_a_dispute_that_nobody_answers_holds_nobody_up_and_is_told(rehearse: Rehearse) -> None:
    callers = {
        "reviewer/notes/1": [finds(WRONG)],
        "worker/notes/2": [disputes(WRONG)],
        "reviewer/notes/2": [passes(), passes()],  # asked once for a ruling
    }
    done = rehearse(whole_run(**callers), **CHECKED)
    assert "disputed: notes.txt:1: The line says the wrong thing. (the worker: The spec asks" in done.output


@pytest.mark.slow
def test_a_dispute_that_is_rejected_goes_back_with_the_reviewers_words(rehearse: Rehearse) -> None:
    why = "The spec names the text: look at its second line."
    callers = {
        "reviewer/notes/1": [finds(WRONG)],
        "worker/notes/2": [disputes(WRONG)],
        "reviewer/notes/2": [rules("open", WRONG, why=why)],
        "worker/notes/3": [
            writes("notes.txt", "The right thing.\n", expect={"prompt_contains": [why]}),
            completes(),
        ],
        "reviewer/notes/3": [rules("fixed", WRONG)],
    }
    done = rehearse(whole_run(**callers), **CHECKED)
    assert [one.passed for one in reviews(done)] == [False, False, True]


@pytest.mark.slow
def test_a_claim_without_a_change_has_to_dispute_every_finding_and_is_told_which_are_left(
    rehearse: Rehearse,
) -> None:
    other = issue("notes.txt", 2, "There is no second line.", "Add one.", kind="spec-mismatch")
    unknown = issue("nowhere.txt", 1, "Nobody said this.", "Ignore it.")
    told = {"prompt_contains": ["Nothing has changed since the review", f"evidence against {id_of(other)}."]}
    callers = {
        "reviewer/notes/1": [finds(WRONG, other)],
        "worker/notes/2": [disputes(WRONG, unknown), {**disputes(other), "expect": told}],
        "reviewer/notes/2": [passes(), passes()],
    }
    done = rehearse(whole_run(**callers), **CHECKED)
    assert len(done.of(e.CompletionRefused)) == 1
    assert [one.state for one in reviews(done)[-1].findings] == [FindingState.DISPUTED] * 2


@pytest.mark.late
def test_a_second_review_is_shown_what_changed_since_the_first_and_the_findings_so_far(
    rehearse: Rehearse,
) -> None:
    again = {
        "prompt_contains": [
            "Changes since the last round",
            "-First.\n+Second.",
            "## The whole change",
            f"[{id_of(WRONG)}] **notes.txt:1** (incorrect-behavior): The line says the wrong thing.",
            "Do not look for new trifles",
            "This file has not changed since the last round",
        ]
    }
    left = issue("also.txt", 1, "It is unclear.", "Make it clear.", kind="incorrect-behavior")
    more = writes("also.txt", "Left as it is.\n")
    callers = {
        "worker/notes/1": [writes("notes.txt", "First.\n"), more, completes()],
        "reviewer/notes/1": [{**finds(WRONG, left), "expect": {"prompt_lacks": ["Earlier rounds"]}}],
        "worker/notes/2": [writes("notes.txt", "Second.\n"), completes()],
        "reviewer/notes/2": [rules("fixed", WRONG, left, expect=again)],
    }
    done = rehearse(whole_run(**callers), **CHECKED)
    assert [one.state for one in reviews(done)[-1].findings] == [FindingState.FIXED, FindingState.FIXED]
    second = [one.prompt for one in done.of(e.CallStarted) if one.role is Role.REVIEWER][1]
    assert second.count("This file has not changed since the last round") == 1


@pytest.mark.slow
def test_a_second_final_review_is_shown_what_changed_and_hears_no_new_trifle(rehearse: Rehearse) -> None:
    trifle = issue("notes.txt", 1, "The words are plain.", "Use finer ones.", kind="pattern-violation")
    again = {
        "prompt_contains": ["Changes since the last round", "-First.\n+Second."],
        "prompt_lacks": [f"[{id_of(WRONG)}]"],  # the task's own review has settled it
    }
    callers = {
        "worker/notes/1": [writes("notes.txt", "First.\n"), completes()],
        "reviewer/final/1": [finds(WRONG)],
        "worker/notes/2": [writes("notes.txt", "Second.\n"), completes()],
        # The task's own review is a first round again, but knows what the final review found.
        "reviewer/notes/2": [
            rules(
                "fixed",
                WRONG,
                expect={
                    "prompt_contains": [f"[{id_of(WRONG)}]", "Only this fix is under review"],
                    "prompt_lacks": ["since the last round"],
                },
            )
        ],
        "reviewer/final/2": [{**finds(trifle), "expect": again}],
    }
    done = rehearse(whole_run(**callers), effort="high", **CHECKED)
    assert [one.passed for one in reviews(done, "")] == [False, True]
    assert {one.state for one in done.view.whole.findings} == {FindingState.FIXED, FindingState.WONT_FIX}


@pytest.mark.slow
def test_a_finding_of_the_final_review_can_be_disputed_without_a_change(rehearse: Rehearse) -> None:
    callers = {
        "reviewer/final/1": [finds(WRONG)],
        "worker/notes/2": [disputes(WRONG)],
        "reviewer/notes/2": [passes(), passes()],  # asked once for a ruling
        "reviewer/final/2": [
            rules("won't fix", WRONG, expect={"prompt_contains": [EVIDENCE, "the same commit"]})
        ],
    }
    done = rehearse(whole_run(**callers), effort="high", **CHECKED)
    first, second = reviews(done, "")
    assert (first.commit, first.passed, second.passed) == (second.commit, False, True)


@pytest.mark.slow
def test_an_issue_of_two_tasks_is_one_finding_of_the_whole(rehearse: Rehearse) -> None:
    shared = issue("nowhere.txt", 1, "Nobody says what this is.", "Say it.", kind="spec-mismatch")
    callers = {
        **whole_run(),
        "planner/plan/1": [plans("one", "two")],
        **{
            f"worker/{id_}/{n}": [writes(f"{id_}.txt", f"{n}\n"), completes()]
            for id_ in ("one", "two")
            for n in (1, 2)
        },
        "reviewer/one/1": [passes()],
        "reviewer/two/1": [passes()],
        "reviewer/*/2": [rules("fixed", shared)],
        "reviewer/final/1": [finds(shared)],
        "reviewer/final/2": [passes()],
    }
    done = rehearse(callers, **CHECKED)
    first, second = reviews(done, "")
    assert [one.task_id for one in first.issues] == ["one", "two"]
    assert [one.id for one in first.findings] == [id_of(shared)]
    assert [one.state for one in second.findings] == [FindingState.FIXED]


class _Meddles(Journal):
    """Writes into the worktree of the task as its first review is reported."""

    def append(self, *events: e.Event) -> list[Stored]:
        reported = any(
            isinstance(event, e.SignalReceived) and event.name == REPORT_REVIEW for event in events
        )
        begun = [stored.event for stored in self.read() if isinstance(stored.event, e.TaskStarted)]
        again = any(isinstance(stored.event, e.ReviewUnusable) for stored in self.read())
        if reported and begun and not again:
            (Path(begun[0].worktree) / "meddled.txt").write_text("Not the Worker's.\n")
        return super().append(*events)


@pytest.mark.late
def test_a_report_on_a_workspace_that_changed_meanwhile_is_not_used_and_asked_for_anew(
    rehearse: Rehearse, repository: Path, shell: Callable[..., str]
) -> None:
    anew = passes(prompt_contains=["did not look at the commit that sq verified", "look again"])
    done = rehearse(whole_run(**{"reviewer/notes/*": [passes(), anew]}), open_journal=_Meddles, **CHECKED)
    (unusable,) = done.of(e.ReviewUnusable)
    assert "did not hold commit" in unusable.problem
    assert done.view.tasks["notes"].stage is Stage.MERGED
    assert "meddled.txt" not in shell(repository, "git", "ls-tree", "--name-only", "main")
