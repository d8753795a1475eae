"""A Worker's questions, through the real AskUserQuestion of the real CLI, answered by the Developer model."""

import pytest
from language.scripted import (
    Rehearse,
    answer,
    answers,
    asks,
    call,
    completes,
    question,
    says,
    whole_run,
    writes,
)

from orchestrator.views.models.decisions import decision_lines, decisions_of
from state.journal.events import (
    CallEnded,
    CallStarted,
    MessageReceived,
    QuestionsAnswered,
    QuestionsAsked,
    QuestionsFailed,
    TaskMerged,
)
from state.outcome import Outcome
from state.records.calls import CallEnd
from state.roles import Role

CHECKED = {"verify": ("true",)}


COLOR, SIZE = (
    question("Which colour?", "red", "blue"),
    question("Which sizes?", "small", "large", several=True),
)


@pytest.mark.late
@pytest.mark.claude
def test_each_question_of_a_call_gets_its_own_answer_from_a_model_that_has_the_context(
    rehearse: Rehearse,
) -> None:
    done = rehearse(
        whole_run(
            worker=[
                {**asks(COLOR, SIZE), "text": "I wonder about colours."},
                writes(
                    "notes.txt",
                    "blue\n",
                    expect={
                        "tool_results_contain": ['"Which colour?"="blue"', '"Which sizes?"="small, large"']
                    },
                ),
                completes(),
            ],
            developer=[
                answers(
                    answer("Which colour?", "blue"),
                    answer("Which sizes?", "small", "large"),
                    expect={
                        "prompt_contains": [
                            "Create notes.txt",
                            "Which colour?",
                            "- red: take red",
                            "I wonder about colours.",
                        ],
                        "anywhere_contains": ["You do not judge whether the"],
                        "model": "haiku",
                    },
                )
            ],
        ),
        **CHECKED,
    )
    given = done.of(QuestionsAnswered)[0]
    assert [one.labels for one in given.answers] == [("blue",), ("small", "large")]
    assert "Which colour? → blue" in done.output
    told = [one.message.text for one in done.of(MessageReceived) if "The spec says so" in one.message.text]
    assert len(told) == 1
    assert ".." not in told[0]
    assert done.view.context.decisions == ["Which colour? → blue", "Which sizes? → small, large"]


def test_an_answer_outside_the_options_is_sent_back_to_the_developer_with_what_is_wrong(
    rehearse: Rehearse,
) -> None:
    done = rehearse(
        whole_run(
            worker=[asks(COLOR), writes("notes.txt", "red\n"), completes()],
            developer=[
                answers(
                    answer("Which colour?", "red"), when=["cannot be used", "'green' is none of the options"]
                ),
                answers(answer("Which colour?", "green")),
            ],
        ),
        **CHECKED,
    )
    assert done.of(QuestionsAnswered)[0].answers[0].labels == ("red",)


@pytest.mark.late
def test_free_text_is_an_answer_where_no_option_fits(rehearse: Rehearse) -> None:
    marked = "neither, use none (free text, none of the options)"
    done = rehearse(
        whole_run(
            worker=[
                asks(COLOR),
                writes("notes.txt", "x\n", expect={"tool_results_contain": [marked]}),
                completes(),
            ],
            developer=[answers(answer("Which colour?", words="neither, use none"))],
        ),
        **CHECKED,
    )
    assert any(marked in line for line in decision_lines(decisions_of(done.view)))


def test_a_developer_whose_answers_stay_unusable_fails_the_run_with_the_question_named(
    rehearse: Rehearse,
) -> None:
    done = rehearse(
        whole_run(worker=[asks(COLOR)], developer=[answers(answer("Which colour?", "green"))]),
        **CHECKED,
        ends=Outcome.FAILED,
    )
    assert "Which colour?" in done.view.ended.cause
    assert "'green' is none of the options" in done.view.ended.cause
    assert done.of(TaskMerged) == []
    ends = [event.end for event in done.of(CallEnded)]
    assert ends.count(CallEnd.UNUSABLE) == 2
    assert ends[-1] is CallEnd.UNANSWERED


def test_a_developer_that_cannot_be_reached_fails_the_run_with_the_cause(rehearse: Rehearse) -> None:
    done = rehearse(whole_run(worker=[asks(COLOR)]), **CHECKED, ends=Outcome.FAILED)
    assert "api error" in done.of(QuestionsFailed)[0].cause
    assert "question could not be answered" in done.view.ended.cause


@pytest.mark.late
def test_a_second_different_question_is_no_rejection_of_the_first_answer(rehearse: Rehearse) -> None:
    done = rehearse(
        whole_run(
            worker=[asks(COLOR), asks(SIZE), writes("notes.txt", "x\n"), completes()],
            developer=[
                answers(answer("Which sizes?", "small"), when="Which sizes?\n"),
                answers(answer("Which colour?", "red"), when="Which colour?\n"),
            ],
        ),
        **CHECKED,
    )
    assert len(done.of(QuestionsAsked)) == 2


@pytest.mark.late
@pytest.mark.claude
def test_two_calls_in_one_message_are_each_answered(rehearse: Rehearse) -> None:
    both = says(call("AskUserQuestion", questions=[COLOR]), call("AskUserQuestion", questions=[SIZE]))
    rehearse(
        whole_run(
            worker=[
                both,
                writes(
                    "notes.txt",
                    "x\n",
                    expect={"tool_results_contain": ['"Which colour?"="red"', '"Which sizes?"="large"']},
                ),
                completes(),
            ],
            developer=[
                answers(answer("Which sizes?", "large"), when="## Question 1\n\nWhich sizes?"),
                answers(answer("Which colour?", "red"), when="## Question 1\n\nWhich colour?"),
            ],
        ),
        **CHECKED,
    )


@pytest.mark.claude
@pytest.mark.late
def test_each_role_is_given_exactly_its_own_tools(rehearse: Rehearse) -> None:
    """What is offered to the model is read from its requests, not from our own list."""
    offered = {"tools_offered": ["Bash", "AskUserQuestion", "mcp__sq__task_complete"]}
    rehearse(
        whole_run(
            worker=[writes("notes.txt", "x\n", expect=offered), completes()],
            **{
                "reviewer/notes/*": [
                    {
                        "tools": [
                            call("Write", file_path="{workspace}/evil.txt", content="x"),
                            call("mcp__sq__task_complete", summary="", tests=""),
                        ]
                    },
                    {
                        **says(call("mcp__sq__report_review", passed=True, issues=[])),
                        "expect": {
                            "tool_results_contain": [
                                "No such tool available: Write",
                                "No such tool available: mcp__sq__task_complete",
                            ]
                        },
                    },
                ]
            },
        ),
        **CHECKED,
    )


def test_an_api_error_that_looks_like_success_is_a_failure_with_its_status(rehearse: Rehearse) -> None:
    """The CLI reports it as `subtype: success`."""
    callers = whole_run()
    del callers["worker/notes/1"]  # the gateway answers with status 400
    done = rehearse(callers, **CHECKED, ends=Outcome.FAILED)
    ended = next(
        event for event in done.of(CallEnded)
        if event.call_id == next(c.call_id for c in done.of(CallStarted) if c.role is Role.WORKER)
    )  # fmt: skip
    assert (ended.end, ended.api_status) == (CallEnd.API_ERROR, 400)
    assert "400" in done.view.ended.cause
