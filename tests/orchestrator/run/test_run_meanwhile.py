"""What the user commits during a run: merged and verified before the last step, or left to them."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from language.scripted import Done, Rehearse, completes, criterion, judges, met, plans, whole_run, writes

from orchestrator.views.models.criteria import CriterionState, criteria_of
from state.errors import JournalError
from state.journal import events as e
from state.journal.events import Event, Stored
from state.journal.store import Journal
from state.outcome import Outcome
from state.paths import StateFolder
from state.records.reviews import JudgedBy

Shell = Callable[..., str]
Commits = Callable[..., Done]


class Meanwhile(Journal):
    """A journal whose user commits a file the moment the first task is committed.

    `is_full`: nothing can be stored any more when the criteria are judged on the work with that commit.
    """

    is_full = False

    def __init__(self, run_folder: Path, *, checkout: Path, name: str, text: str, **rest: Any) -> None:
        super().__init__(run_folder, **rest)
        self._checkout, self._name, self._text = checkout, name, text

    def append(self, *events: Event) -> list[Stored]:
        if self.is_full and any(
            isinstance(one, e.CriterionJudged) and one.by is JudgedBy.RULE for one in events
        ):
            raise JournalError("the disk is full")
        stored = super().append(*events)
        if any(isinstance(event, e.TaskCommitted) for event in events):
            (self._checkout / self._name).write_text(self._text)
            for command in (["add", self._name], ["commit", "--quiet", "-m", "Meanwhile"]):
                subprocess.run(["git", "-C", str(self._checkout), *command], check=True)
        return stored


@pytest.fixture
def committing(rehearse: Rehearse, repository: Path) -> Commits:
    """A run of one task that writes `notes.txt`, during which the user commits a file."""

    def run(name: str, text: str, *, verify: str = "true", **callers: Any) -> Done:
        def journal(folder: Path, **rest: Any) -> Journal:
            return Meanwhile(folder, checkout=repository, name=name, text=text, **rest)

        return rehearse(whole_run(**callers), verify=(verify,), open_journal=journal, ends=None)

    return run


@pytest.mark.late
def test_what_was_committed_meanwhile_is_merged_and_verified_and_the_branch_moves_forward(
    committing: Commits, repository: Path, shell: Shell
) -> None:
    users = "mine.txt"
    done = committing(users, "mine\n")
    assert done.outcome is Outcome.COMPLETE, done.output
    [caught_up] = done.of(e.WorkCaughtUp)
    assert shell(repository, "git", "rev-parse", "main") == caught_up.commit
    assert shell(repository, "git", "rev-parse", "main^1") == caught_up.onto
    assert shell(repository, "git", "ls-tree", "--name-only", "main").split() == ["mine.txt", "notes.txt"]
    assert done.view.evidence.verifications[caught_up.tree].runs[0].passed
    assert shell(repository, "git", "status", "--porcelain") == ""


@pytest.mark.slow
def test_what_conflicts_with_what_was_committed_meanwhile_stays_on_sqs_branch(
    committing: Commits, repository: Path, shell: Shell
) -> None:
    done = committing("notes.txt", "Another line.\n")
    assert done.outcome is Outcome.COMPLETE
    [kept] = done.of(e.WorkKept)
    assert "main has moved on" in kept.reason
    assert shell(repository, "git", "show", f"{kept.branch}:notes.txt") == "A line."
    assert shell(repository, "git", "show", "main:notes.txt") == "Another line."
    assert shell(repository, "git", "status", "--porcelain") == ""


@pytest.mark.slow
def test_what_fails_together_with_what_was_committed_meanwhile_stays_on_sqs_branch(
    committing: Commits, repository: Path, shell: Shell
) -> None:
    done = committing("mine.txt", "mine\n", verify="test ! -e mine.txt")
    assert done.outcome is Outcome.COMPLETE, done.output
    [kept] = done.of(e.WorkKept)
    assert "main has moved on" in kept.reason
    assert shell(repository, "git", "log", "-1", "--format=%s", "main") == "Meanwhile"


CODE = "def kept():\n    return 'A line.'\n"
TEST = (
    "import unittest\n\nimport notes\n\n\nclass T(unittest.TestCase):\n    def test_kept(self):\n"
    "        self.assertEqual(notes.kept(), 'A line.')\n"
)
JUDGED = {
    "planner/plan/1": [
        plans("notes", criteria=[criterion("Notes are kept", "notes"), criterion("They have words", "notes")])
    ],
    "worker/notes/1": [writes("notes.py", CODE), writes("test_a.py", TEST), completes()],
    "reviewer/notes/1": [judges(met("c-1", ("test", "test_a.T.test_kept")), met("c-2"))],
}


def assert_judged_again(done: Done) -> None:
    assert done.outcome is Outcome.COMPLETE, done.output
    rows = criteria_of(done.view)
    assert [(row.state, row.by, row.tree) for row in rows] == [
        (CriterionState.TESTED, JudgedBy.RULE, done.view.whole.tree),
        (CriterionState.NOT_CHECKED, JudgedBy.RULE, done.view.whole.tree),
    ]
    [size] = done.view.whole.measured[""]
    assert [file.path for file in size.files] == ["notes.py", "test_a.py"]


@pytest.mark.late
def test_criteria_are_judged_by_their_evidence_again_on_the_work_with_the_users_commits(
    committing: Commits,
) -> None:
    """No reviewer has read that tree: a criterion whose proof does not hold there is not checked any more."""
    assert_judged_again(committing("mine.txt", "mine\n", verify="python3 -m unittest", **JUDGED))


@pytest.mark.late
def test_a_run_that_was_stopped_before_it_judged_again_does_so_when_it_is_resumed(
    committing: Commits, repository: Path, resume: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Meanwhile, "is_full", True)
    with pytest.raises(JournalError):
        committing("mine.txt", "mine\n", verify="python3 -m unittest", **JUDGED)
    stopped = Done(Outcome.FAILED, StateFolder(repository / ".sq").find(None), [], "")
    assert_judged_again(resume(stopped))
