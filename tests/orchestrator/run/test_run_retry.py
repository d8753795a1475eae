"""`resume --retry`: an ended task goes on where it ended; nothing that was finished is done or paid for again."""

from collections.abc import Callable
from pathlib import Path

import pytest
from language.many_tasks import SPEC
from language.scripted import (
    Done,
    Rehearse,
    call,
    completes,
    finds,
    issue,
    passes,
    plans,
    rules,
    says,
    signals,
    whole_run,
    writes,
)
from language.stopping import stopping_after

from state.errors import JournalError, UsageError
from state.journal import events as e
from state.journal.events.tasks import Stage
from state.outcome import Outcome
from state.roles import Role

Resume = Callable[..., Done]
STUCK = signals("task_stuck", reason="the port is taken", notes="Port 8080 is not ours.")
SILENT = [{"text": "I would rather not."}, {"text": "No."}]


def callers_of_two(**callers: object) -> dict[str, object]:
    """Two tasks, `second` after `first`."""
    return {
        "planner/analysis/1": [signals("report_analysis", spec_findings=[], project_type="notes", stack=[])],
        "planner/plan/1": [plans("first", "second", second=["first"])],
        "worker/first/1": [writes("first.txt", "1\n"), completes()],
        "worker/second/1": [writes("second.txt", "2\n"), completes()],
        "reviewer/*": [passes()],
        **callers,
    }


def asked_after(done: Done, before: int) -> list[str]:
    """The callers that the model was asked in after so many requests."""
    return [line.caller for line in done.ledger[before:]]


def test_a_retry_that_was_recorded_before_a_kill_is_not_asked_for_again(
    rehearse: Rehearse, resume: Resume
) -> None:
    callers = whole_run(worker=[STUCK], **{"worker/notes/2": [writes("notes.txt", "1\n"), completes()]})
    done = rehearse(callers, verify=("true",), ends=Outcome.STUCK)
    with pytest.raises(JournalError):
        resume(done, open_journal=stopping_after(e.RunResumed), retry=("notes",))
    last = resume(done, retry=("notes",), kept=True)  # as `--keep` begins it again
    assert [one.retry for one in last.of(e.RunResumed)] == [("notes",), ()]


@pytest.mark.late
def test_a_stuck_task_is_tried_again_with_what_it_left_and_what_is_merged_is_not_paid_twice(
    rehearse: Rehearse, resume: Resume, repository: Path, shell: Callable[..., str]
) -> None:
    stuck = [writes("second.txt", "half\n"), STUCK]
    again = [
        writes(
            "second.txt", "2\n", expect={"prompt_contains": ["Port 8080 is not ours.", "the port is taken"]}
        ),
        completes(),
    ]
    callers = callers_of_two(**{"worker/second/1": stuck, "worker/second/2": again})
    done = rehearse(callers, spec=SPEC, verify=("true",), ends=Outcome.STUCK)
    assert "sq resume" in done.output
    assert "--retry second" in done.output
    asked = len(done.ledger)
    told = resume(done, ends=Outcome.STUCK)
    assert asked_after(told, asked) == []
    ended = resume(done, retry=("second",))
    callers_asked = set(asked_after(ended, asked))
    assert callers_asked == {"worker/second/2", "reviewer/second/2", "reviewer/final/1"}
    assert shell(repository, "git", "show", "main:second.txt") == "2"
    assert ended.of(e.TaskMerged)[0] == done.of(e.TaskMerged)[0]


@pytest.mark.late
def test_a_review_that_never_came_is_asked_for_again_and_the_accepted_work_is_not_built_again(
    rehearse: Rehearse, resume: Resume
) -> None:
    done = rehearse(
        callers_of_two(**{"reviewer/first/1": [*SILENT, passes()]}),
        spec=SPEC,
        verify=("true",),
        ends=Outcome.STUCK,
    )
    assert done.view.tasks["first"].stage is Stage.UNVERIFIED
    asked = len(done.ledger)
    ended = resume(done, retry=("first",))
    assert "worker/first/1" not in asked_after(ended, asked)
    workers = [one for one in ended.of(e.CallStarted) if one.role is Role.WORKER and one.task_id == "first"]
    assert len(workers) == 1


@pytest.mark.slow
def test_a_command_that_did_not_answer_is_run_again_without_asking_the_worker(
    rehearse: Rehearse, resume: Resume, repository: Path
) -> None:
    busy = repository.parent / "busy"
    occupies = [says(call("Bash", command=f"touch {busy}")), writes("first.txt", "1\n"), completes()]
    done = rehearse(
        callers_of_two(**{"worker/first/1": occupies}),
        spec=SPEC,
        verify=(f"test ! -e {busy} || sleep 60",),
        settings={"sandbox": "off", "limits.verify_s": "2"},
        ends=Outcome.STUCK,
    )
    assert done.view.tasks["first"].stage is Stage.UNVERIFIED, done.output
    asked = len(done.ledger)
    busy.unlink()
    ended = resume(done, retry=("first",))
    assert "worker/first/1" not in asked_after(ended, asked)


@pytest.mark.slow
def test_revisions_that_were_used_up_are_allowed_anew(rehearse: Rehearse, resume: Resume) -> None:
    wrong = issue("notes.txt", 1, "It says the wrong thing.", "Say the right one.", kind="spec-mismatch")
    callers = whole_run(
        worker=[writes("notes.txt", "wrong\n"), completes()],
        **{
            "worker/notes/2": [writes("notes.txt", "still wrong\n"), completes()],
            "worker/notes/3": [writes("notes.txt", "not yet\n"), completes()],
            "worker/notes/4": [writes("notes.txt", "right\n"), completes()],
            "reviewer/notes/4": [rules("fixed", wrong)],
            "reviewer/notes/*": [finds(wrong)],
        },
    )
    done = rehearse(callers, verify=("true",), effort="low", ends=Outcome.STUCK)
    ended = resume(done, retry=("notes",))
    assert ended.view.tasks["notes"].attempt == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "says"),
    [
        ("third", "the run has no such task. Its tasks are: first, second"),
        ("first", "that task is merged, so there is nothing to try again. Could be: second"),
    ],
)
def test_only_tasks_that_ended_unmerged_can_be_tried_again(
    rehearse: Rehearse, resume: Resume, task: str, says: str
) -> None:
    done = rehearse(
        callers_of_two(**{"worker/second/1": [STUCK]}), spec=SPEC, verify=("true",), ends=Outcome.STUCK
    )
    with pytest.raises(UsageError, match=says):
        resume(done, retry=(task,))
    with pytest.raises(UsageError, match="--retry"):
        resume(done, retry=("second", task))
