"""Ten evaluations whose Workers ask (seed 004, SC-001 and SC-002), and what happens to answers that do not please.

Every question that reaches sq is answered by the Developer model, whose request is looked at; none gets the
first option. Every later request of the Worker's session holds the whole history.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from language.scripted import (
    BLUE,
    COLOUR,
    Done,
    Rehearse,
    answer,
    answers,
    asks,
    call,
    completes,
    plans,
    question,
    says,
    signals,
    whole_run,
    writes,
)

from orchestrator.views.models.decisions import decision_lines, decisions_of
from state.journal import events as e
from state.outcome import Outcome
from state.roles import Role

CHECKED = {"verify": ("true",)}
Reply = dict[str, Any]


SHADE = question("Which shade?", "light", "dark")
SIZES = question("Which sizes?", "small", "large", "huge", several=True)
NAME = question("What is it called?", "notes", "list")
DARK = answer("Which shade?", "dark")


@dataclass(frozen=True)
class Evaluation:
    """A Worker that asks, what the Developer says, and the words with which the answers reach the Worker."""

    worker: Sequence[Reply]
    developer: Sequence[Reply]
    answered: int
    reached: str


def writing(*words: str) -> list[Reply]:
    """The end of a task: the file, in a request that holds the answers, then the claim, with all of it."""
    return [
        writes("notes.txt", "done\n", expect={"anywhere_contains": list(words)}),
        completes(anywhere_contains=list(words)),
    ]


EVALUATIONS = {
    "one question": Evaluation(
        [asks(COLOUR), *writing('"Which colour?"="blue"')],
        [answers(BLUE, expect={"prompt_contains": ["Which colour?", "- red: take red", "Create notes.txt"]})],
        1,
        "blue",
    ),
    "several questions": Evaluation(
        [asks(COLOUR, SHADE), *writing('"Which colour?"="blue"', '"Which shade?"="dark"')],
        [answers(BLUE, DARK, expect={"prompt_contains": ["Question 1", "Question 2"]})],
        2,
        "dark",
    ),
    "several choices": Evaluation(
        [asks(SIZES), *writing('"Which sizes?"="large, huge"')],
        [
            answers(
                answer("Which sizes?", "large", "huge"), expect={"prompt_contains": "several may be chosen"}
            )
        ],
        1,
        "large, huge",
    ),
    "free text": Evaluation(
        [asks(NAME), *writing('"What is it called?"="the ledger (free text, none of the options)"')],
        [answers(answer("What is it called?", words="the ledger"))],
        1,
        "the ledger",
    ),
    "two calls in one message": Evaluation(
        [
            says(call("AskUserQuestion", questions=[COLOUR]), call("AskUserQuestion", questions=[SHADE])),
            *writing('"Which colour?"="blue"', '"Which shade?"="dark"'),
        ],
        [
            answers(BLUE, when="## Question 1\n\nWhich colour?"),
            answers(DARK, when="## Question 1\n\nWhich shade?"),
        ],
        2,
        "dark",
    ),
    "a question after an answer": Evaluation(
        [
            asks(COLOUR),
            asks(SHADE, expect={"anywhere_contains": ['"Which colour?"="blue"']}),
            *writing('"Which colour?"="blue"', '"Which shade?"="dark"'),
        ],
        [
            answers(BLUE, when="## Question 1\n\nWhich colour?"),
            # The Developer sees the answer before this one among the newest messages.
            answers(
                DARK,
                when="## Question 1\n\nWhich shade?",
                expect={"prompt_contains": '"Which colour?"="blue"'},
            ),
        ],
        2,
        "dark",
    ),
    "an empty question": Evaluation(
        [
            asks(question(" ", "a", "b")),
            asks(COLOUR, expect={"tool_results_contain": "a question is empty"}),
            *writing('"Which colour?"="blue"'),
        ],
        [answers(BLUE)],
        1,
        "blue",
    ),
    "a wrong shape and then right": Evaluation(
        [
            asks({"question": "Which colour?", "options": "red or blue"}),
            asks(COLOUR, expect={"tool_results_contain": "InputValidationError"}),
            *writing('"Which colour?"="blue"'),
        ],
        [answers(BLUE)],
        1,
        "blue",
    ),
    "the same again": Evaluation(
        [
            {**asks(COLOUR), "text": "A long story. " * 5},
            *[says(call("Glob", pattern=f"*{number}")) for number in range(6)],
            asks(question("which  colour", "red", "blue")),
            *writing('"which  colour"="red"'),
        ],
        [
            answers(
                answer("which  colour", "red"),
                when=["The Worker asks again", "Which colour?: blue"],
                expect={"prompt_contains": ["A long story.", "# Build one task"]},  # the whole history
            ),
            answers(BLUE),
        ],
        2,
        "red",
    ),
    "in plain words": Evaluation(
        [
            {"text": "I looked around.\n\nShould the file end with a **newline**?"},
            writes(
                "notes.txt",
                "done\n",
                expect={"prompt_contains": ["Yes, with one.", "AskUserQuestion next time"]},
            ),
            completes(anywhere_contains=["Yes, with one."]),
        ],
        [
            answers(
                answer("Should the file end with a **newline**?", words="Yes, with one."),
                expect={"prompt_contains": "No options: answer in words."},
            )
        ],
        1,
        "Yes, with one.",
    ),
}


def developer_calls(done: Done) -> list[e.CallStarted]:
    return [started for started in done.of(e.CallStarted) if started.role is Role.DEVELOPER]


IN_EVERY_TEST_RUN = {"several questions", "the same again"}
READ_BY_CLAUDE = "a wrong shape and then right"  # Claude Code refuses the shape before sq sees the question


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=[
                *([] if name in IN_EVERY_TEST_RUN else [pytest.mark.slow]),
                *([pytest.mark.claude] if name == READ_BY_CLAUDE else []),
            ],
        )
        for name in EVALUATIONS
    ],
)
def test_every_question_is_answered_by_the_developer_model_and_later_requests_hold_the_history(
    rehearse: Rehearse, name: str
) -> None:
    evaluation = EVALUATIONS[name]
    done = rehearse(
        whole_run(worker=evaluation.worker, developer=evaluation.developer),
        **CHECKED,
    )
    given = [one for event in done.of(e.QuestionsAnswered) for one in event.answers]
    assert len(given) == evaluation.answered
    assert evaluation.reached in [one.text for one in given]
    assert developer_calls(done)
    # One session from the first request to the last: what was said is in every later one.
    assert len({started.session_id for started in done.of(e.CallStarted) if started.role is Role.WORKER}) == 1
    assert not [event for event in done.of(e.QuestionsFailed) if event.final]


TEN = [question(f"Which part {number}?", "left", "right") for number in range(10)]


@pytest.mark.late
def test_ten_questions_of_one_session_are_each_answered(rehearse: Rehearse) -> None:
    asked = [asks(*TEN[start : start + 4]) for start in (0, 4, 8)]
    given = [
        answers(
            *[answer(one["question"], "right") for one in TEN[start : start + 4]],
            when=f"## Question 1\n\nWhich part {start}?",
        )
        for start in (0, 4, 8)
    ]
    last = writes("notes.txt", "x\n", expect={"anywhere_contains": '"Which part 9?"="right"'})
    done = rehearse(whole_run(worker=[*asked, last, completes()], developer=given), **CHECKED)
    answered = [one.question for event in done.of(e.QuestionsAnswered) for one in event.answers]
    assert answered == [one["question"] for one in TEN]


CONTINUE = question("Should I continue?", "Yes (Recommended)", "No")
YES = answers(answer("Should I continue?", "yes"), expect={"prompt_lacks": "The Worker asks again"})


@pytest.mark.late
def test_the_same_question_after_its_answer_was_acted_on_gets_its_answer_each_time(
    rehearse: Rehearse,
) -> None:
    worker = [
        step for number in range(3) for step in (writes("notes.txt", f"line {number}\n"), asks(CONTINUE))
    ]
    callers = whole_run(worker=[*worker, completes()], developer=[YES])
    done = rehearse(callers, **CHECKED)
    texts = [one.text for event in done.of(e.QuestionsAnswered) for one in event.answers]
    assert texts == ["Yes (Recommended)"] * 3
    assert not any(asked.rejects for asked in done.of(e.QuestionsAsked))


@pytest.mark.late
def test_a_worker_that_says_that_it_does_not_accept_an_answer_gets_another_one_which_alone_is_an_assumption(
    rehearse: Rehearse,
) -> None:
    worker = [
        asks(COLOUR),
        {**asks(SHADE), "text": "I do not accept that answer: the wall is blue already."},
        *writing('"Which shade?"="dark"'),
    ]
    developer = [
        answers(DARK, when=["The Worker asks again", "Which colour?: blue", "the wall is blue already"]),
        answers(BLUE),
    ]
    done = rehearse(whole_run(worker=worker, developer=developer), **CHECKED)
    assert done.view.context.decisions == ["Which shade? → dark"]
    assumed = done.output.split("assumptions made:")[1]
    assert "Which shade? → dark" in assumed
    assert "Which colour?" not in assumed
    assert "the Worker did not accept this answer" in "\n".join(decision_lines(decisions_of(done.view)))


@pytest.mark.late
def test_a_question_in_plain_words_that_cannot_be_answered_is_no_end_of_the_task(rehearse: Rehearse) -> None:
    worker = [
        {"text": "Should the file end with a newline?"},
        writes("notes.txt", "done\n", expect={"prompt_contains": ["could not be answered", "`notes`"]}),
        completes(),
    ]
    callers = whole_run(worker=worker, developer=[{"text": "I cannot say."}])
    done = rehearse(callers, **CHECKED)
    assert [failed.final for failed in done.of(e.QuestionsFailed)] == [False]


def test_an_answer_that_is_rejected_twice_ends_the_task_with_question_and_both_answers(
    rehearse: Rehearse,
) -> None:
    worker = [asks(COLOUR), asks(COLOUR), asks(COLOUR)]
    developer = [answers(answer("Which colour?", "red"), when="The Worker asks again"), answers(BLUE)]
    done = rehearse(
        whole_run(worker=worker, developer=developer),
        **CHECKED,
        ends=Outcome.FAILED,
    )
    reason = done.view.tasks["notes"].end.reason
    assert all(words in reason for words in ("Which colour?", "'blue'", "'red'"))
    assert done.view.context.decisions == []
    assert "assumptions made" not in done.output
    assert "answered from the spec" not in done.output
    assert len(developer_calls(done)) == 2
    assert len(done.of(e.QuestionsAsked)) == 3


def test_a_question_that_cannot_be_undone_is_parked_where_that_was_asked_for(rehearse: Rehearse) -> None:
    risky = answers(answer("Which colour?", "blue", reversible=False, basis="judgement"))
    callers = whole_run(
        planner=[plans("risky", "notes")], **{"worker/risky/1": [asks(COLOUR)], "developer/risky/1": [risky]}
    )
    done = rehearse(callers, verify=("true",), settings={"questions": "park"}, ends=Outcome.STUCK)
    assert "task risky waits for a person's answer: Which colour?" in done.view.ended.cause
    assert done.view.tasks["notes"].merged_commit
    assert done.of(e.QuestionsAnswered) == []


@pytest.mark.parametrize(
    ("given", "questions"),
    [
        ({"reversible": False, "basis": "spec", "evidence": "a line of text"}, "park"),
        pytest.param({"reversible": True, "basis": "judgement"}, "park", marks=pytest.mark.slow),
        pytest.param({"reversible": False, "basis": "judgement"}, "answer", marks=pytest.mark.slow),
    ],
    ids=["the spec covers it", "it can be undone", "nothing is to be parked"],
)
def test_any_other_question_is_answered_and_the_assumption_recorded(
    rehearse: Rehearse, given: dict[str, Any], questions: str
) -> None:
    callers = whole_run(
        worker=[asks(COLOUR), *writing('"Which colour?"="blue"')],
        developer=[answers(answer("Which colour?", "blue", confidence="low", **given))],
    )
    done = rehearse(callers, verify=("true",), settings={"questions": questions})
    (answered,) = done.of(e.QuestionsAnswered)
    assert (answered.answers[0].reversible, answered.answers[0].basis) == (
        given["reversible"],
        given["basis"],
    )
    assert ("not easy to undo" in done.output) is not given["reversible"]


def two_tasks_that_ask(basis: str) -> Mapping[str, Any]:
    again = question("Which  COLOUR?", "red", "blue")
    return whole_run(
        planner=[plans("first", "second")],
        **{
            "worker/first/1": [asks(COLOUR), writes("a.txt", "x"), completes()],
            "worker/second/1": [asks(again), writes("b.txt", "x"), completes()],
            "developer/*/1": [
                answers(answer("Which colour?", "blue", basis=basis), when="Which colour?"),
                answers(answer("Which  COLOUR?", "red", basis=basis)),
            ],
            "reviewer/*/1": [signals("report_review", passed=True, issues=[])],
        },
    )


@pytest.mark.late
def test_the_same_question_in_another_task_gets_the_recorded_answer(rehearse: Rehearse) -> None:
    done = rehearse(two_tasks_that_ask("spec"), **CHECKED)
    assert len(developer_calls(done)) == 1
    first, second = done.of(e.QuestionsAnswered)  # of tasks side by side: either may come first
    assert second.reused_from == first.ask_id
    assert {one.answers[0].question for one in (first, second)} == {"Which colour?", "Which  COLOUR?"}
    assert second.answers[0].text == first.answers[0].text


@pytest.mark.late
def test_an_answer_that_rests_on_its_session_is_not_reused(rehearse: Rehearse) -> None:
    done = rehearse(two_tasks_that_ask("session"), **CHECKED)
    assert len(developer_calls(done)) == 2
    # Both questions are the first tool call of their session, which the model gave the same id.
    assert len({ask_id.partition("/")[2] for ask_id in done.view.asks}) == 1
    assert {row.task_id for row in decisions_of(done.view) if row.answer} == {"first", "second"}


def test_plain_questions_are_capped_and_turns_that_ask_nothing_cost_no_call(rehearse: Rehearse) -> None:
    done_ = {"done": "a line", "test_status": "", "next_step": "", "blockers": []}
    worker = [
        *[{"text": f"Is {number} right?"} for number in range(5)],
        writes("notes.txt", "x\n", text="I asked: why? Now I know."),
        signals("iteration_done", **done_),
        completes(),
    ]
    developer = [
        answers(answer(f"Is {number} right?", words="It is."), when=f"## Question 1\n\nIs {number} right?")
        for number in range(5)
    ]
    done = rehearse(
        whole_run(worker=worker, developer=developer),
        effort="low",
        **CHECKED,
        ends=Outcome.STUCK,  # five turns that changed nothing
    )
    assert len(developer_calls(done)) == 3


@pytest.mark.late
@pytest.mark.parametrize("window", [pytest.param(0, marks=pytest.mark.slow), 2])
def test_the_developer_sees_as_many_messages_as_the_setting_says(rehearse: Rehearse, window: int) -> None:
    looks = [says(call("Glob", pattern=f"marker-{number}")) for number in range(8)]
    shown = f"The newest {window} messages"
    callers = whole_run(
        worker=[*looks, asks(COLOUR), *writing('"Which colour?"="blue"')],
        developer=[answers(BLUE, expect={"prompt_contains": shown, "prompt_lacks": "marker-0"})],
    )
    rehearse(callers, verify=("true",), settings={"context_window": str(window)})


@pytest.mark.late
def test_the_developers_model_is_that_of_its_own_setting_first(rehearse: Rehearse) -> None:
    callers = whole_run(
        worker=[asks(COLOUR), *writing('"Which colour?"="blue"')],
        developer=[answers(BLUE, expect={"model": "claude-opus-5-5"})],
    )
    settings = {"developer_qa_model": "opus", "models.developer": "sonnet"}
    rehearse(callers, verify=("true",), settings=settings)


def guided(*pieces: str) -> list[Reply]:
    return [
        {"structured": {"guidance": piece}, "when": f"round {number}"} for number, piece in enumerate(pieces)
    ]


@pytest.mark.late
def test_at_a_checkpoint_the_developer_looks_and_its_guidance_is_in_the_next_prompt(
    rehearse: Rehearse,
) -> None:
    told = {"done": "a line", "test_status": "", "next_step": "", "blockers": []}
    worker = [
        writes("notes.txt", "round 0\n"),
        signals("iteration_done", **told),
        writes(
            "notes.txt", "round 1\n", expect={"prompt_contains": ["From the Developer", "Keep it short."]}
        ),
        signals("iteration_done", **told),
        {**completes(prompt_lacks=["From the Developer"])},
    ]
    callers = whole_run(worker=worker, developer=guided("Keep it short.", "")[::-1])
    done = rehearse(callers, effort="max", **CHECKED)
    assert [given.guidance for given in done.of(e.GuidanceGiven)] == ["Keep it short.", ""]
    assert "guidance by the Developer: Keep it short." in done.output


@pytest.mark.slow
def test_guidance_that_does_not_come_holds_nobody_up(rehearse: Rehearse) -> None:
    told = {"done": "a line", "test_status": "", "next_step": "", "blockers": []}
    worker = [writes("notes.txt", "x\n"), signals("iteration_done", **told), completes()]
    callers = whole_run(worker=worker, developer=[{"text": "All is well."}])
    done = rehearse(callers, effort="max", **CHECKED)
    assert done.of(e.GuidanceGiven)[0].problem


@pytest.mark.late
def test_low_effort_has_no_checkpoints(rehearse: Rehearse) -> None:
    told = {"done": "a line", "test_status": "", "next_step": "", "blockers": []}
    worker = [writes("notes.txt", "x\n"), *[signals("iteration_done", **told) for _ in range(4)], completes()]
    done = rehearse(whole_run(worker=worker), effort="low", **CHECKED)
    assert developer_calls(done) == []
    assert done.of(e.CheckpointReviewed) == []


def direct(worker: Sequence[Reply], **callers: Any) -> Mapping[str, Any]:
    return {
        "worker/spec/1": worker,
        "reviewer/*/1": [signals("report_review", passed=True, issues=[])],
        **callers,
    }


def test_the_direct_workflow_is_one_worker_with_the_spec_and_its_questions_are_answered(
    rehearse: Rehearse,
) -> None:
    worker = [
        asks(COLOUR, expect={"prompt_contains": "Create notes.txt"}),
        *writing('"Which colour?"="blue"'),
    ]
    callers = direct(worker, **{"developer/spec/1": [answers(BLUE)]})
    done = rehearse(callers, verify=("true",), settings={"workflow": "direct"})
    assert {started.role for started in done.of(e.CallStarted)} == {
        Role.WORKER,
        Role.DEVELOPER,
        Role.REVIEWER,
    }
    assert len([started for started in done.of(e.CallStarted) if started.role is Role.WORKER]) == 1


PLAN = signals("submit_implementation_plan", plan="Write one line into notes.txt.")


@pytest.mark.late
def test_a_worker_that_plans_first_writes_nothing_then_implements_its_plan_in_the_same_session(
    rehearse: Rehearse,
) -> None:
    worker = [
        asks(COLOUR, expect={"prompt_contains": ["First a plan", "Create notes.txt"]}),
        writes("notes.txt", "too early\n"),
        says(call("Bash", command="echo x > notes.txt")),
        {**PLAN, "expect": {"tool_results_contain": "has to wait"}},
        writes(
            "notes.txt",
            "blue\n",
            expect={
                "prompt_contains": ["Now implement it", "Write one line into notes.txt."],
                "anywhere_contains": ['"Which colour?"="blue"', "First a plan"],
            },
        ),
        completes(),
    ]
    callers = direct(worker, **{"developer/spec/1": [answers(BLUE)]})
    done = rehearse(callers, verify=("grep -x blue notes.txt",), settings={"workflow": "plan-then-implement"})
    assert [event.tool for event in done.of(e.ActionRefused)] == ["Write", "Bash"]
    calls = [started for started in done.of(e.CallStarted) if started.role is Role.WORKER]
    assert [started.planning for started in calls] == [True, False]
    assert len({started.session_id for started in calls}) == 1


@pytest.mark.late
def test_a_plan_that_is_not_handed_over_is_asked_for_again(rehearse: Rehearse) -> None:
    worker = [
        {"text": "My plan is to write a line."},
        {**PLAN, "expect": {"prompt_contains": "The plan is missing"}},
        writes("notes.txt", "blue\n"),
        completes(),
    ]
    rehearse(direct(worker), verify=("true",), settings={"workflow": "plan-then-implement"})


@pytest.mark.late
def test_a_planning_worker_whose_process_dies_goes_on_planning_after_a_resume(
    rehearse: Rehearse, resume: Callable[..., Done]
) -> None:
    worker = [
        says(call("Glob", pattern="*")),
        {**PLAN, "misbehave": {"status": 401, "times": 1}},
        writes("notes.txt", "blue\n"),
        completes(),
    ]
    failed = rehearse(
        direct(worker), verify=("true",), settings={"workflow": "plan-then-implement"}, ends=Outcome.FAILED
    )
    assert resume(failed).outcome is Outcome.COMPLETE
