"""When a question rejects the answers before it, as a plain function of the view."""

from datetime import UTC, datetime

import pytest
from language.beginnings import call_started
from language.tables import rows

from orchestrator.run.asking.rejections import refuses, rejection_by
from state.journal import events as e
from state.journal.events import Stored
from state.journal.fold.fold import fold
from state.records.calls import Message, MessageKind
from state.records.plan import Task
from state.records.questions import Answer, GivenAnswer, Question

AT = datetime(2026, 1, 1, tzinfo=UTC)
BEGUN = (
    e.PlanAccepted(tasks=(Task(id="t1", title="", description=""),), criteria=()),
    e.TaskStarted(task_id="t1", branch="b", worktree="/w/t1", base_commit="c0"),
    e.AttemptStarted(task_id="t1", attempt=1, session_id="s", tree="tree"),
    call_started(),
)
NAME, OTHER = Question(text="Which name?"), Question(text="Which colour?")


def answered(ask_id, question=NAME, tree="tree", rejects=()):
    return (
        e.QuestionsAsked(
            ask_id=ask_id, call_id="c1", task_id="t1", questions=(question,), tree=tree, rejects=rejects
        ),
        e.QuestionsAnswered(
            ask_id=ask_id, answers=(Answer(question=question.text, free_text=f"a {ask_id}"),), model="m"
        ),
    )


def says(text):
    return e.MessageReceived(call_id="c1", message=Message(kind=MessageKind.TEXT, text=text))


RESULT = e.MessageReceived(call_id="c1", message=Message(kind=MessageKind.TOOL_RESULT, text="answered"))


def rejected(*events, question=NAME, tree="tree"):
    stored = [Stored(seq, AT, event) for seq, event in enumerate((*BEGUN, *events), start=1)]
    view = fold(stored)
    rejection = rejection_by(view, view.tasks["t1"], (question,), call_id="c1", tree=tree)
    return [answer.text for _, answer in rejection.answers], bool(rejection.more_than(1))


def test_the_same_question_again_rejects_its_answer_and_the_third_time_for_good():
    assert rejected(*answered("q1")) == (["a q1"], False)
    assert rejected(*answered("q1"), question=Question(text="which  name")) == (["a q1"], False)
    assert rejected(*answered("q1"), *answered("q2")) == (["a q1", "a q2"], True)


@pytest.mark.parametrize(
    "events",
    [
        answered("q1", OTHER),
        answered("q1", tree="before"),  # the answer was acted on
        (*answered("q1"), e.RunResumed()),
        (*answered("q1"), e.CallResumed(call_id="c1", session_id="s", prompt="p")),
        (says("I do not accept that answer."), *answered("q1", OTHER), RESULT),  # said before
        (*answered("q1", OTHER), RESULT, says("I accept that answer. Now the name.")),
        (),
    ],
    ids=[
        "another question",
        "the work moved",
        "a resumed run",
        "a new process",
        "old words",
        "accepted",
        "none",
    ],
)
def test_anything_else_rejects_nothing(events):
    assert rejected(*events) == ([], False)


def test_a_worker_that_says_so_rejects_the_newest_answer_whatever_it_asks_next():
    refusal = (*answered("q1", OTHER), RESULT, says("I do not accept that answer."))
    assert rejected(*refusal) == (["a q1"], False)
    again = answered("q2", rejects=(GivenAnswer(ask_id="q1", question=OTHER.text),))
    third = Question(text="Then which size?")
    assert rejected(*refusal, *again, RESULT, says("I can't accept this."), question=third) == (
        ["a q1", "a q2"],
        True,
    )


@pytest.mark.parametrize(*rows(__file__, "texts"))
def test_words_that_do_not_accept_an_answer_are_known(text, does):
    assert refuses(text) is does
