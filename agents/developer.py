"""The Developer: answers a Worker's questions with a model that has the context, and guides at checkpoints.

It answers; it judges no completion and drives no work (one prompt for all of that answered "complete" to open
questions elsewhere).
"""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import prompts
from agents.ask import Ask, room_of
from agents.connection import Lane
from agents.platform import Platform
from state.records import Answer, Basis, Confidence, Message, Question, QuestionOption, Role, Task

_LEAST_SHOWN = 500  # characters of a message that is cut because nothing more fits


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Answer(_Strict):
    question: str = Field(description="The question's text, as it was asked.")
    labels: list[str] = Field(description="Chosen labels, exactly as written; empty where none fits.")
    free_text: str = Field(description="The answer in words, where labels is empty; else an empty string.")
    reason: str = Field(description="Why, in one sentence.")
    basis: Basis = Field(
        default=Basis.JUDGEMENT,
        description="What decides it: the spec, the code, the session so far, or your judgement.",
    )
    evidence: str = Field(default="", description="The words of the basis that say so, quoted or named.")
    reversible: bool = Field(description="Whether the decision is easy to undo.")
    confidence: Confidence = Field(default=Confidence.MEDIUM, description="How sure you are.")


class _Answers(_Strict):
    answers: list[_Answer]


class _Guidance(_Strict):
    guidance: str = Field(description="One piece of guidance for the Worker; empty where none is needed.")


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
    rejected: Sequence[Answer] = (),
    problem: str = "",
    deadline_s: float,
) -> Ask:
    """The call that asks for one answer per question.

    Args:
        platform: reaches the model.
        questions: what the Worker asks.
        spec: the whole of it.
        task: the Worker's.
        attempt: at that task.
        history: of the Worker's session, oldest first; its beginning is cut where it does not fit the model.
        rejected: answers that the Worker did not accept, for it asks the same again.
        problem: why the last reply could not be used.
        deadline_s: for all tries together.
    """
    model = platform.models[Role.DEVELOPER]
    facts = {"questions": questions, "spec": spec, "task": task, "problem": problem, "rejected": rejected}
    without = prompts.render("developer_answer", history=(), **facts)
    fitting = fitted(history, room_of(model) - len(without))
    return Ask(
        lane=Lane(role=Role.DEVELOPER, task=task.id, attempt=attempt),
        model=model,
        system=system_prompt(),
        prompt=prompts.render("developer_answer", history=fitting, **facts),
        schema=_strict(_Answers.model_json_schema()),
        deadline_s=deadline_s,
    )


def guidance_ask(
    platform: Platform,
    *,
    spec: str,
    task: Task,
    attempt: int,
    changes: str,
    history: Sequence[Message],
    deadline_s: float,
) -> Ask:
    """The call that asks for one piece of guidance at a checkpoint. `changes`: the work so far as a diff."""
    model = platform.models[Role.DEVELOPER]
    facts = {"spec": spec, "task": task, "changes": changes}
    without = prompts.render("developer_guidance", history=(), **facts)
    fitting = fitted(history, room_of(model) - len(without))
    return Ask(
        lane=Lane(role=Role.DEVELOPER, task=task.id, attempt=attempt),
        model=model,
        system=system_prompt(),
        prompt=prompts.render("developer_guidance", history=fitting, **facts),
        schema=_strict(_Guidance.model_json_schema()),
        deadline_s=deadline_s,
    )


def fitted(history: Sequence[Message], room: int) -> list[Message]:
    """The newest messages that fit into `room` characters, whole; the last one that fits in part is cut."""
    kept: list[Message] = []
    for message in reversed(history):
        if len(message.text) > room:
            if room >= _LEAST_SHOWN:
                text = f"[the beginning is left out] …{message.text[-room:]}"
                kept.append(
                    Message(kind=message.kind, text=text, tool=message.tool, is_error=message.is_error)
                )
            break
        kept.append(message)
        room -= len(message.text)
    return kept[::-1]


def read_guidance(data: dict[str, Any] | None) -> tuple[str] | str:
    """The guidance in a tuple, or why the reply cannot be used."""
    try:
        return (_Guidance.model_validate(data or {}).guidance.strip(),)
    except ValidationError as error:
        return _shape_problem(error)


def read_answers(data: dict[str, Any] | None, questions: Sequence[Question]) -> tuple[Answer, ...] | str:
    """One checked answer per question, in order, or why the reply cannot be used.

    Where a question has options, the answer is one of its labels (several for multiSelect) or a free text
    marked as such; a label that was not offered is refused, not guessed at.
    """
    try:
        given = _Answers.model_validate(data or {}).answers
    except ValidationError as error:
        return _shape_problem(error)
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
                basis=answer.basis,
                evidence=answer.evidence,
                reversible=answer.reversible,
                confidence=answer.confidence,
            )
        )
    return tuple(answers)


def _shape_problem(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"the reply has the wrong shape: {'.'.join(map(str, first['loc']))}: {first['msg']}"


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
