"""The Developer: answers a Worker's questions with a model that has the context. It answers, nothing else."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import prompts
from agents.ask import Ask
from agents.connection import Lane
from agents.platform import Platform
from state.records import Answer, Message, Question, QuestionOption, Role, Task

CONTEXT_WINDOW = 10  # newest messages of the Worker's session that the Developer sees (seed 004, FR-004)


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")

    question: str = Field(description="The question's text, as it was asked.")
    labels: list[str] = Field(description="Chosen labels, exactly as written; empty where none fits.")
    free_text: str = Field(description="The answer in words, where labels is empty; else an empty string.")
    reason: str = Field(description="Why, in one sentence.")
    reversible: bool = Field(description="Whether the decision is easy to undo.")


class _Answers(BaseModel):
    model_config = ConfigDict(extra="forbid")

    answers: list[_Answer]


def system_prompt() -> str:
    """What every Developer is told."""
    return prompts.render("developer_system")


def questions_in(arguments: object) -> tuple[Question, ...] | str:
    """The questions of an AskUserQuestion call, or what is wrong with it."""
    listed = arguments.get("questions") if isinstance(arguments, dict) else None
    if not isinstance(listed, list) or not listed:
        return "the call holds no questions: pass a list of 1 to 4"
    questions = []
    for item in listed:
        text = str(item.get("question") or "") if isinstance(item, dict) else ""
        if not text.strip():
            return "a question is empty: say what you need to know"
        options = item.get("options")
        questions.append(
            Question(
                text=text,  # as it is: the CLI finds the answer by it
                header=str(item.get("header") or ""),
                options=tuple(
                    QuestionOption(label=str(one["label"]), description=str(one.get("description") or ""))
                    for one in (options if isinstance(options, list) else [])
                    if isinstance(one, dict) and one.get("label")
                ),
                multi_select=item.get("multiSelect") is True,
            )
        )
    return tuple(questions)


def developer_ask(
    platform: Platform,
    *,
    questions: Sequence[Question],
    spec: str,
    task: Task,
    attempt: int,
    history: Sequence[Message],
    problem: str,
    deadline_s: float,
) -> Ask:
    """The call that asks for one answer per question. `problem`: why the last answer could not be used."""
    return Ask(
        lane=Lane(role=Role.DEVELOPER, task=task.id, attempt=attempt),
        model=platform.models[Role.DEVELOPER],
        system=system_prompt(),
        prompt=prompts.render(
            "developer_answer", questions=questions, spec=spec, task=task, history=history, problem=problem
        ),
        schema=_strict(_Answers.model_json_schema()),
        deadline_s=deadline_s,
    )


def read_answers(data: dict[str, Any] | None, questions: Sequence[Question]) -> tuple[Answer, ...] | str:
    """One checked answer per question, in order, or why the reply cannot be used.

    Where a question has options, the answer is one of its labels (several for multiSelect) or a free text
    marked as such; a label that was not offered is refused, not guessed at.
    """
    try:
        given = _Answers.model_validate(data or {}).answers
    except ValidationError as error:
        first = error.errors()[0]
        return f"the reply has the wrong shape: {'.'.join(map(str, first['loc']))}: {first['msg']}"
    if len(given) != len(questions):
        return f"{len(questions)} question(s) were asked and {len(given)} answered: answer each one, in order"
    answers = []
    for question, answer in zip(questions, _in_order(given, questions), strict=True):
        others = {other.text.strip() for other in questions} - {question.text.strip()}
        if answer.question.strip() in others:
            return f"{question.text!r}: the answer names {answer.question!r} instead; answer each once"
        if problem := _problem_of(question, answer):
            return f"{question.text!r}: {problem}"
        answers.append(
            Answer(
                question=question.text,
                labels=tuple(answer.labels),
                free_text="" if answer.labels else answer.free_text.strip(),
                reason=answer.reason,
                reversible=answer.reversible,
            )
        )
    return tuple(answers)


def _in_order(given: Sequence[_Answer], questions: Sequence[Question]) -> Sequence[_Answer]:
    """The answers in the order of the questions that they name; as they came where they name others."""
    named = {answer.question.strip(): answer for answer in given}
    asked = [question.text.strip() for question in questions]
    return [named[text] for text in asked] if set(asked) == set(named) and len(named) == len(given) else given


def _problem_of(question: Question, answer: _Answer) -> str:
    offered = [option.label for option in question.options]
    if unknown := [label for label in answer.labels if label not in offered]:
        return f"{unknown[0]!r} is none of the options ({', '.join(offered) or 'there are none'})"
    if len(answer.labels) > 1 and not question.multi_select:
        return "only one option may be chosen"
    if not answer.labels and not answer.free_text.strip():
        return "neither a label nor a free text"
    return ""


def _strict(schema: dict[str, Any]) -> dict[str, Any]:
    """Pydantic's schema without titles, which cost tokens and say nothing."""
    schema.pop("title", None)
    for value in schema.values():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                _strict(part)
    return schema
