"""`sq decisions`: what a run decided for its user, with the grounds."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from language.beginnings import call_started

from orchestrator.cli.main import cli
from state.journal import events as e
from state.journal.store import Journal
from state.paths import StateFolder
from state.records.calls import CallEnd
from state.records.plan import Task
from state.records.questions import Answer, Basis, Confidence, Question, QuestionOption
from state.roles import Role

COLOUR = Question(text="Which colour?", options=(QuestionOption(label="red"), QuestionOption(label="blue")))
BLUE = Answer(
    question="Which colour?",
    labels=("blue",),
    reason="It is calmer.",
    basis=Basis.SPEC,
    evidence="a calm page",
    reversible=False,
    confidence=Confidence.HIGH,
)


def call(id_: str, role: Role) -> e.CallStarted:
    return call_started(id_, role, "t")


def asked(ask_id: str, *again: str, plain: bool = False) -> e.QuestionsAsked:
    return e.QuestionsAsked(
        ask_id=ask_id, call_id="w", task_id="t", questions=(COLOUR,), again=again, plain=plain
    )


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = StateFolder(tmp_path / "state")
    _, run_folder = folder.new_run()
    task = Task(id="t", title="T", description="Do it.")
    with Journal(run_folder) as journal:
        journal.append(
            e.PlanAccepted(tasks=(task,), criteria=()),
            call("w", Role.WORKER),
            asked("a1"),
            call("d1", Role.DEVELOPER),
            e.CallEnded(call_id="d1", end=CallEnd.COMPLETED, cost_usd=0.25),
            e.QuestionsAnswered(ask_id="a1", answers=(BLUE,), model="haiku", by="d1"),
            asked("a2", "Which colour?"),
            e.QuestionsFailed(ask_id="a2", cause="rejected twice"),
            asked("a3", plain=True),
            e.QuestionsParked(ask_id="a3", question="Which colour?", answers=(BLUE,)),
            asked("a4"),
            e.QuestionsAnswered(
                ask_id="a4", answers=(BLUE,), model="haiku", by="d1", reused=True, reused_from="a1"
            ),
        )
    return folder.root


def decisions(state: Path, *arguments: str) -> Result:
    return CliRunner().invoke(
        cli, ["decisions", "--state-dir", str(state), *arguments], standalone_mode=False
    )


def test_each_question_is_shown_with_its_answer_and_what_that_rests_on(state: Path) -> None:
    shown = decisions(state).output
    for words in (
        "t: Which colour? [red / blue]",
        "blue (haiku, $0.2500)",
        "basis: spec, confidence high, not easy to undo",
        "why: It is calmer.",
        "evidence: a calm page",
        "(asked again)",
        "not answered: rejected twice",
        "(in plain words)",
        "parked for a person. The Developer would have said: blue",
        "blue, as the same question was answered before",
    ):
        assert words in shown


def test_as_json_each_question_is_a_line_with_its_answer_and_grounds(state: Path) -> None:
    lines = [json.loads(line) for line in decisions(state, "--json").output.splitlines()]
    assert [line["answer"] and line["answer"]["labels"] for line in lines] == [
        ["blue"],
        None,
        ["blue"],
        ["blue"],
    ]
    assert [line["cost_usd"] for line in lines] == [0.25, 0, 0, 0]  # what was reused was paid for once
    assert lines[0]["answer"]["basis"] == "spec"
    assert {line["taskId"] for line in lines} == {"t"}
    assert [line["parked"] for line in lines] == [False, False, True, False]


def test_a_run_without_questions_says_so(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path / "other")
    _, run_folder = folder.new_run()
    with Journal(run_folder) as journal:
        journal.append(e.RunInterrupted(by="SIGINT"))
    assert "no question was asked" in decisions(folder.root).output
