"""Hand-over: what an attempt leaves is stored, and read by the next one, after a resume too."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from language.many_tasks import EDITORS, VERIFY, WORDS, callers_of
from language.scripted import (
    BLUE,
    COLOUR,
    Done,
    Rehearse,
    answers,
    asks,
    call,
    completes,
    finds,
    issue,
    rules,
    says,
    signals,
    whole_run,
    writes,
)

from state.errors import JournalError
from state.journal import events as e
from state.journal.events import Stored
from state.journal.store import Journal
from state.outcome import Outcome
from state.paths import StateFolder
from state.roles import Role

Resume = Callable[..., Done]
FORMER = "The workspace holds the work of the attempt before"
WRONG = issue("notes.txt", 1, "It says the wrong thing.", "Say the right one.", kind="incorrect-behavior")
FIRST = [
    asks(COLOUR),
    writes("notes.txt", "wrong\n"),
    signals("iteration_done", done="A wrong line.", next_step="finish", notes="The cache is cold."),
    signals("task_complete", summary="Blue it is.", notes="Mornings are slow."),
]
READ = [
    "Hand-over from the attempt before",
    "sent back by the review of attempt 1 with 1 issue",
    "In turn 1: A wrong line.\nIn turn 2: Blue it is.",
    "`true`: passed",
    "In turn 1: The cache is cold.\nIn turn 2: Mornings are slow.",
    "Which colour? → blue",
    FORMER,
]


def sent_back(**callers: Any) -> dict[str, Any]:
    """The callers of a run whose first attempt is sent back, and whose second one expects to be told of it."""
    second = writes("notes.txt", "right\n", expect={"prompt_contains": READ})
    return whole_run(
        worker=FIRST,
        developer=[answers(BLUE)],
        reviewer=[finds(WRONG)],
        **{"reviewer/notes/2": [rules("fixed", WRONG)], "worker/notes/2": [second, completes()]},
        **callers,
    )


def first_prompt(done: Done, task: str, attempt: int) -> str:
    return next(
        one.prompt
        for one in done.of(e.CallStarted)
        if (one.role, one.task_id, one.attempt) == (Role.WORKER, task, attempt)
    )


def test_the_next_attempt_is_told_what_was_done_how_tests_stood_what_was_learned_and_decided(
    rehearse: Rehearse,
) -> None:
    done = rehearse(sent_back(), verify=("true",))
    (handed,) = done.of(e.HandedOver)
    assert handed.attempt == 1
    kinds = [type(stored.event) for stored in done.stored]
    assert kinds[kinds.index(e.HandedOver) + 1] is e.AttemptStarted
    assert "Hand-over" not in first_prompt(done, "notes", 1)


class _StopsBeforeTheSecondAttempt(Journal):
    """Its disk is full as the first prompt of a second attempt is to be stored."""

    def append(self, *events: e.Event) -> list[Stored]:
        if any(
            isinstance(one, e.CallStarted) and (one.role, one.attempt) == (Role.WORKER, 2) for one in events
        ):
            raise JournalError("the disk is full")
        return super().append(*events)


@pytest.mark.slow
def test_what_was_handed_over_is_read_after_a_resume(
    rehearse: Rehearse, resume: Resume, repository: Path
) -> None:
    with pytest.raises(JournalError):
        rehearse(sent_back(), verify=("true",), open_journal=_StopsBeforeTheSecondAttempt)
    done = resume(Done(Outcome.FAILED, StateFolder(repository / ".sq").find(None), [], ""))
    assert len(done.of(e.HandedOver)) == 1


class _StopsInTheSecondTurn(Journal):
    """Its disk is full as the first message of a Worker's second turn is to be stored."""

    def append(self, *events: e.Event) -> list[Stored]:
        turns = [one for one in self.read() if isinstance(one.event, e.CallStarted)]
        in_second = bool(turns) and turns[-1].event.role is Role.WORKER and turns[-1].event.iteration == 2
        if in_second and any(isinstance(one, e.MessageReceived) for one in events):
            raise JournalError("the disk is full")
        return super().append(*events)


def test_a_session_whose_record_is_lost_begins_anew_with_its_first_instruction(
    rehearse: Rehearse, resume: Resume, repository: Path
) -> None:
    with pytest.raises(JournalError):
        rehearse(
            whole_run(worker=FIRST, developer=[answers(BLUE)]),
            verify=("true",),
            open_journal=_StopsInTheSecondTurn,
        )
    folder = StateFolder(repository / ".sq").find(None)
    shutil.rmtree(folder / "claude")
    done = resume(Done(Outcome.FAILED, folder, [], ""))
    resumed = [one.prompt for one in done.of(e.CallResumed)]
    words = ("This conversation begins anew", "# Build one task", "# Go on")
    assert [all(each in prompt for each in words) for prompt in resumed] == [True]


def test_a_session_that_has_its_instruction_goes_on_without_it_and_the_run_says_where(
    rehearse: Rehearse, resume: Resume, repository: Path
) -> None:
    with pytest.raises(JournalError):
        rehearse(
            whole_run(worker=FIRST, developer=[answers(BLUE)]),
            verify=("true",),
            open_journal=_StopsInTheSecondTurn,
        )
    done = resume(Done(Outcome.FAILED, StateFolder(repository / ".sq").find(None), [], ""))
    (resumed,) = [one.prompt for one in done.of(e.CallResumed)]
    assert "You have it above. It begins with this line:\n\n> # Go on" in resumed
    assert "from: notes building (attempt 1, iteration 2), 0 of 1 tasks merged" in done.output


@pytest.mark.slow
def test_an_attempt_without_a_word_hands_over_what_sq_saw(rehearse: Rehearse) -> None:
    first = [writes("notes.txt", "wrong\n"), {"text": "TASK_COMPLETE"}]
    read = {
        "prompt_contains": ["sent back by", "`true`: passed"],
        "prompt_lacks": ["The work that it reports"],
    }
    second = [writes("notes.txt", "right\n", expect=read), completes()]
    callers = {
        "worker/notes/1": first,
        "worker/notes/2": second,
        "reviewer/notes/1": [finds(WRONG)],
        "reviewer/notes/2": [rules("fixed", WRONG)],
    }
    rehearse(whole_run(**callers), verify=("true",))


@pytest.mark.slow
def test_a_task_that_the_final_review_sends_back_is_told_that_its_work_is_in_the_merged_work(
    rehearse: Rehearse,
) -> None:
    read = {
        "prompt_contains": [
            "sent back by the final review",
            "The newest merged work, with the work of the attempt",
        ],
        "prompt_lacks": [FORMER],
    }
    callers = {
        "reviewer/final/1": [finds(WRONG)],
        "reviewer/notes/2": [rules("fixed", WRONG)],
        "worker/notes/2": [writes("notes.txt", "right\n", expect=read), completes()],
    }
    done = rehearse(whole_run(**callers), effort="high", verify=("true",))
    assert f"commit {done.of(e.TaskCommitted)[0].commit}" in first_prompt(done, "notes", 2)


@pytest.fixture
def words(repository: Path, shell: Callable[..., str]) -> Path:
    """A repository with a line of words that tasks add to."""
    (repository / WORDS).write_text("ant\n")
    shell(repository, "git", "add", WORDS)
    shell(repository, "git", "commit", "--quiet", "-m", "Words")
    return repository


@pytest.mark.slow
def test_a_task_that_is_built_anew_after_a_conflict_is_told_where_its_former_work_is(
    rehearse: Rehearse, words: Path
) -> None:
    again = [
        says(
            call("Bash", command=f"echo ant {' '.join(EDITORS)} > {WORDS}"),
            expect={"prompt_contains": ["sent back by the merge", "git show"], "prompt_lacks": [FORMER]},
        ),
        completes(),
    ]
    gives_up = signals("conflict_stuck", reason="one wants red, the other blue")
    callers = {**callers_of(*EDITORS), "resolver/*": [gives_up], "worker/eel/2": again, "worker/fox/2": again}
    done = rehearse(callers, spec="# Words\n", verify=(VERIFY,), settings={"max_parallel": "2"})
    (failed,) = done.of(e.MergeFailed)
    assert f"`git show {failed.commit}`" in first_prompt(done, failed.task_id, 2)
