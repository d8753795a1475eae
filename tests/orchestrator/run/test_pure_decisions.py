"""The plain functions that decide: whose issue it is, whether a loop moves, which task is next, what verifies."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.checks.results.output import CUT, cause_of, readable
from orchestrator.checks.results.verdict import judged
from orchestrator.run.evidence.summary import feedback, summary
from orchestrator.run.plan.spec_check import meant
from orchestrator.run.review.findings import as_findings, fingerprint
from orchestrator.run.review.revise import assign
from orchestrator.run.tasks.progress import is_review_due, is_stalled, refused_too_often
from state.journal.events import CheckpointReviewed
from state.journal.events.tasks import AttemptView, TaskView
from state.records.commands import CommandRun
from state.records.plan import Task
from state.records.reviews import ReviewIssue
from state.records.spec_check import Decider, FaultKind, SpecAnswer, SpecFinding
from state.settings.presets import RETRY_LIMITS, effort_named
from state.words import matched

# --- what a line of a person means -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("2", "zero"),
        ("q-2 1", "an error"),
        ("2 2", "zero"),
        ("3 cases, all of them", "3 cases, all of them"),
        ("3 1", None),
        ("q-3 1", None),
        ("7", None),
    ],
)
def test_two_numbers_are_never_words_so_a_question_that_is_not_open_is_not_answered(line, answer):
    asked = SpecFinding(
        kind=FaultKind.EDGE_CASE,
        lines=(1,),
        question="What?",
        why="",
        options=("an error", "zero"),
        recommended="zero",
        id="q-2",
    )
    said = meant(line, [asked])
    assert (said if isinstance(said, str) else said.answer) == (answer or said)
    assert isinstance(said, str) is (answer is None)


def test_each_answer_about_a_line_settles_one_question_and_each_question_has_one_answer():
    def asks(question):
        return SpecAnswer(
            kind=FaultKind.TWO_MEANINGS, quote="- A text.", question=question, answer="", by=Decider.PERSON
        )

    language, size, which = asks("Which language is it?"), asks("Which size has it?"), asks("Which language?")
    assert matched([language], [size, which]) == [None, language]
    assert matched([size, language], [which]) == [language]
    assert matched([language], [replace(which, quote="Else.")]) == [None]


# --- whose issue it is ----------------------------------------------------------------------------------

CHANGED = {"t1": ["src/a.py", "src/shared.py"], "t2": ["src/b.py", "src/shared.py"], "t3": ["a.py"]}


def issue(file, task_id=""):
    return ReviewIssue(task_id=task_id, file=file, description="unused", suggestion="remove it")


def owners(*issues):
    return [each.issue.task_id for each in assign(as_findings(*issues), CHANGED)]


def test_an_issue_belongs_to_the_task_it_names_whatever_its_file():
    assert owners(issue("src/b.py", "t1"), issue("unknown", "t3")) == ["t1", "t3"]


@pytest.mark.parametrize("named", ["", "t9", "everything"])
def test_an_issue_that_names_no_task_belongs_to_those_that_changed_its_file(named):
    assert owners(issue("src/a.py", named)) == ["t1"]
    assert owners(issue("src/shared.py", named)) == ["t1", "t2"]


@pytest.mark.parametrize("file", ["./src/b.py", "src//b.py", "/home/me/worktrees/run/src/b.py"])
def test_a_file_is_recognised_however_the_reviewer_wrote_its_path(file):
    assert owners(issue(file)) == ["t2"]


def test_of_two_files_with_the_same_end_the_longer_one_is_meant():
    assert owners(issue("/home/me/worktrees/run/src/a.py")) == ["t1"]
    assert owners(issue("/home/me/worktrees/run/a.py")) == ["t3"]


@pytest.mark.parametrize("file", ["unknown", "README.md", "", "b.py", "src"])
def test_an_issue_about_a_file_that_no_task_changed_belongs_to_all(file):
    assert owners(issue(file)) == ["t1", "t2", "t3"]


def test_an_assigned_issue_says_what_the_reviewer_said():
    found = issue("src/a.py")
    (assigned,) = assign(as_findings(found), CHANGED)
    assert assigned.issue == replace(found, task_id="t1")
    assert assigned.id == fingerprint(found)


@given(st.lists(st.tuples(st.sampled_from(["src/a.py", "x", "/w/a.py"]), st.sampled_from(["", "t1", "t9"]))))
def test_every_issue_gets_an_owner_and_every_owner_is_a_task(issues):
    assigned = assign(as_findings(*[issue(file, named) for file, named in issues]), CHANGED)
    assert len(assigned) >= len(issues)
    assert {each.issue.task_id for each in assigned} <= set(CHANGED)


# --- whether a loop moves --------------------------------------------------------------


@pytest.mark.parametrize("threshold", [2, 3, 4, 5])
def test_a_tree_that_stays_the_same_for_the_threshold_stands_still_and_not_before(threshold):
    assert not is_stalled(["a"] * threshold, threshold)
    assert is_stalled(["a"] * (threshold + 1), threshold)
    assert is_stalled([*"xyz", *["a"] * (threshold + 1)], threshold)


def test_editing_the_same_uncommitted_file_again_is_movement():
    trees = [f"tree-of-edit-{number}" for number in range(50)]
    assert not any(is_stalled(trees[:end], 2) for end in range(51))


def test_the_newest_iterations_count_and_one_change_among_them_is_movement():
    assert not is_stalled(["a", "a", "a", "a", "b"], 3)
    assert not is_stalled(["a", "b", "a", "a"], 3)
    assert is_stalled(["b", "a", "a", "a", "a"], 3)


@pytest.mark.parametrize("trees", [[], ["a"], ["a", "a"]])
def test_a_loop_that_has_hardly_begun_does_not_stand_still(trees):
    assert not is_stalled(trees, 2)


def test_the_same_failures_three_times_are_enough():
    assert refused_too_often(["x"] * RETRY_LIMITS.same_refusal)
    assert refused_too_often(["y", "x", "x", "x"])
    assert not refused_too_often(["x"] * (RETRY_LIMITS.same_refusal - 1))
    assert not refused_too_often(["x", "x", "y", "x"])


def test_five_refusals_in_a_row_are_enough_whatever_they_are():
    different = [str(number) for number in range(RETRY_LIMITS.refusals)]
    assert (RETRY_LIMITS.same_refusal, RETRY_LIMITS.refusals) == (3, 5)
    assert "5 times" in refused_too_often(different)
    assert refused_too_often(different[:-1]) == ""
    assert refused_too_often([]) == ""


# --- when there is a checkpoint ---------------------------------------------------------


def under_way(*trees, looked_at=()):
    """A task whose attempt began with the first of these trees; each other one was left by an iteration."""
    task = TaskView(Task(id="t1", title="", description=""), open=AttemptView(trees=list(trees)))
    task.open.calls = [f"c{number}" for number in range(1, len(trees))]
    task.open.checkpoints = [
        CheckpointReviewed(task_id="t1", attempt=1, iteration=iteration, tree=trees[iteration])
        for iteration in looked_at
    ]
    return task


@pytest.mark.parametrize(("preset", "every"), [("low", 0), ("medium", 5), ("high", 3), ("max", 1)])
def test_a_reviewer_looks_after_each_so_many_iterations_of_an_attempt(preset, every):
    due = [
        number
        for number in range(1, 12)
        if is_review_due(effort_named(preset), under_way(*map(str, range(number + 1))))
    ]
    assert due == ([number for number in range(1, 12) if number % every == 0] if every else [])


def test_a_reviewer_looks_once_and_only_at_something_new():
    effort = effort_named("max")
    assert not is_review_due(effort, under_way("a", "b", looked_at=(1,)))
    assert not is_review_due(effort, under_way("a", "a"))
    assert not is_review_due(effort, under_way("a", "b", "b", looked_at=(1,)))
    assert is_review_due(effort, under_way("a", "b", "c", looked_at=(1,)))
    assert is_review_due(effort, under_way("a", "b", "a", looked_at=(1,)))


# --- what verification says -------------------------------------------------------------------------------


def ran(command, exit_code, **more):
    return CommandRun(
        command=command, exit_code=exit_code, seconds=1.25, output_tail="E assert 1 == 2\n", **more
    )


def finished(*runs):
    return [judged(None, one) for one in runs]


def test_a_summary_says_what_sq_saw_of_every_command():
    late = ran("make slow", None, problem="did not end within 600 s")
    lines = summary(finished(ran("make test", 0), ran("make lint", 2), late)).splitlines()
    assert lines == [
        "- `make test`: passed, number of tests unknown",
        "- `make lint`: failed with exit code 2, number of tests unknown",
        "- `make slow`: unanswered: did not end within 600 s",
    ]


def test_nothing_to_verify_with_is_said_and_is_no_pass():
    told = summary(finished())
    assert "nothing to verify" in told
    assert "passed" not in told


def test_an_output_is_shown_in_whole_lines_without_terminal_codes_and_with_paths_of_the_workspace():
    coloured = "\x1b[90mfirst line\x1b[39m\n\x1b]8;;http://x\x07FAIL\x1b]8;;\x07 /tmp/r/verify.2/test/a.js:3\r\nend\n"
    assert readable(coloured, 100) == "first line\nFAIL test/a.js:3\nend"
    assert readable(coloured, 25) == f"{CUT}\nFAIL test/a.js:3\nend"
    assert readable("x" * 50, 10) == f"{CUT}\n{'x' * 10}"


@pytest.mark.parametrize(
    ("output", "problem", "cause"),
    [
        ("E   ImportError: cannot import name 'add'\n=== 1 error in 0.1s ===\n", "", "ImportError: cannot"),
        ("src/lib.rs:3\nerror[E0425]: cannot find value\n\nsee above\n", "", "error[E0425]: cannot"),
        (
            "npm error request failed, reason: getaddrinfo x.test\nnpm error A complete log of this run: 0.log\n",
            "",
            "request failed, reason: getaddrinfo",
        ),
        ("1 test\nFAILED\nbye\n", "", "exit code 2: FAILED"),
        ("bye\n\n", "", "exit code 2: bye"),
        ("", "", "exit code 2"),
        ("bye", "did not end within 600 s", "did not end within 600 s"),
    ],
)
def test_the_cause_of_a_failure_is_its_problem_or_the_newest_error_of_its_output(output, problem, cause):
    done = CommandRun(command="x", exit_code=2, seconds=1, output_tail=output, problem=problem)
    assert cause in cause_of(done)
    assert len(cause_of(done)) < 250


def test_feedback_holds_the_output_of_what_failed_and_nothing_of_what_passed():
    told = feedback(finished(ran("make test", 0), ran("make lint", 2)))
    assert "`make lint` failed with exit code 2" in told
    assert "E assert 1 == 2" in told
    assert "make test" not in told
