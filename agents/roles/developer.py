"""The Developer: answers a Worker's questions with a model that has the context, and guides at checkpoints.

It only answers. It does not judge completion or drive the work, since one prompt for all of that answered
"complete" to open questions elsewhere.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import prompts
from agents.ask.port import Ask, room_of
from agents.backend import Platform
from agents.caller import Caller
from state.records.calls import Message, MessageKind
from state.records.plan import Task
from state.records.questions import Answer, Basis, Confidence, Question, QuestionOption, label_meant
from state.records.spec_check import SpecFinding
from state.roles import Role
from state.settings.records import Model
from state.words import question_key

_LEAST_SHOWN = 500  # characters of a message that is cut to fit


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Answer(_Strict):
    question: str = Field(description="The question's text, as it was asked.")
    labels: list[str] = Field(description="Chosen labels, exactly as written. Empty if none fits.")
    free_text: str = Field(description="The answer in words if labels is empty, else an empty string.")
    reason: str = Field(description="Why, in one sentence.")
    basis: Literal[Basis.SPEC, Basis.CODE, Basis.SESSION, Basis.JUDGEMENT] = Field(
        default=Basis.JUDGEMENT,
        description="The basis of the answer: the spec, the code, the session so far, or your judgement.",
    )
    evidence: str = Field(default="", description="The words of the basis that say so, quoted or named.")
    reversible: bool = Field(description="Whether the decision is easy to undo.")
    confidence: Confidence = Field(default=Confidence.MEDIUM, description="How sure you are.")


class _Answers(_Strict):
    answers: list[_Answer]


class _Guidance(_Strict):
    guidance: str = Field(description="One piece of guidance for the Worker. Empty if none is needed.")


def system_prompt() -> str:
    return prompts.render("developer_system")


def questions_in(arguments: object) -> tuple[Question, ...] | str:
    """Return the questions of an AskUserQuestion call, or the problem with it."""
    listed = arguments.get("questions") if isinstance(arguments, dict) else None
    if not isinstance(listed, list) or not listed:
        return "the call holds no questions: pass a list of 1 to 4"
    questions = []
    for item in listed:
        text = str(item.get("question") or "") if isinstance(item, dict) else ""
        if not text.strip():
            return "a question is empty: write down your question"
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
    verification: Sequence[str] = (),
    seen: str = "",
    conventions: str = "",
    code: Mapping[str, str] | None = None,
    decisions: Sequence[str] = (),
    rejected: Sequence[Answer] = (),
    problem: str = "",
    deadline_s: float,
) -> Ask:
    """Return the request for one answer per question.

    Args:
        platform: reaches the model.
        questions: the Worker's.
        spec: the whole of it.
        task: the Worker's.
        attempt: at that task.
        history: of the Worker's session, oldest first. Its beginning is cut if it does not fit the model.
        verification: the commands that sq runs on the task's work.
        seen: the results of these commands so far, "" if there are none.
        conventions: known facts about the repository.
        code: beginnings of files that they name.
        decisions: the answers that apply in the run so far.
        rejected: answers that the Worker did not accept, as it asks the same again.
        problem: why the last reply could not be used.
        deadline_s: for all tries together.
    """
    model = platform.models[Role.DEVELOPER]
    history = history if rejected else [_without_instruction(message, spec) for message in history]
    facts = {
        "questions": questions, "spec": spec, "task": task, "problem": problem, "rejected": rejected,
        "verification": verification, "seen": seen, "conventions": conventions, "code": code or {},
        "decisions": decisions,
    }  # fmt: skip
    return Ask(
        caller=Caller(role=Role.DEVELOPER, task=task.id, attempt=attempt),
        model=model,
        system=system_prompt(),
        prompt=_with_history("developer_answer", history, model, facts),
        schema=answers_schema(questions),
        deadline_s=deadline_s,
    )


def contradictions_ask(
    platform: Platform, *, findings: Sequence[SpecFinding], spec: str, conventions: str, deadline_s: float
) -> Ask:
    """Return the request to decide contradictions of the spec, by the model of the Workers.

    A Planner's model may be the smallest one, and everything that is built stands on this decision.
    """
    facts = {"contradictions": findings, "spec": spec, "conventions": conventions}
    return Ask(
        caller=Caller(role=Role.DEVELOPER, task="analysis", attempt=1),
        model=platform.models[Role.WORKER],
        system=system_prompt(),
        prompt=prompts.render("developer_contradiction", **facts),
        schema=answers_schema([as_question(one) for one in findings]),
        deadline_s=deadline_s,
    )


def as_question(finding: SpecFinding) -> Question:
    """Return a question about the spec in the form of a Worker's."""
    options = tuple(QuestionOption(label=label) for label in finding.options)
    return Question(text=finding.question, options=options)


def _without_instruction(message: Message, spec: str) -> Message:
    """Replace a prompt that holds the spec by a note, because the request shows the spec already."""
    if message.kind is MessageKind.PROMPT and spec and spec in message.text:
        return replace(message, text="(the Worker's first instruction: its task and the spec, as above)")
    return message


def guidance_ask(
    platform: Platform,
    *,
    spec: str,
    task: Task,
    attempt: int,
    changes: str,
    history: Sequence[Message],
    verification: Sequence[str] = (),
    seen: str = "",
    deadline_s: float,
) -> Ask:
    """Return the request for one piece of guidance at a checkpoint.

    `changes` is the work so far as a diff. The other arguments are those of `developer_ask`.
    """
    model = platform.models[Role.DEVELOPER]
    history = [_without_instruction(message, spec) for message in history]
    facts = {"spec": spec, "task": task, "changes": changes, "verification": verification, "seen": seen}
    return Ask(
        caller=Caller(role=Role.DEVELOPER, task=task.id, attempt=attempt),
        model=model,
        system=system_prompt(),
        prompt=_with_history("developer_guidance", history, model, facts),
        schema=_strict(_Guidance.model_json_schema()),
        deadline_s=deadline_s,
    )


def _with_history(
    template: str, history: Sequence[Message], model: Model, facts: Mapping[str, object]
) -> str:
    """Return the prompt with the history, or with as much of it as the model has room for."""
    prompt = prompts.render(template, history=history, **facts)
    if len(prompt) <= room_of(model):
        return prompt
    room = room_of(model) - len(prompts.render(template, history=(), **facts))
    return prompts.render(template, history=fitted(history, room), **facts)


def fitted(history: Sequence[Message], room: int) -> list[Message]:
    """Return the newest messages that fit into `room` characters. The oldest of them may be cut."""
    kept: list[Message] = []
    for message in reversed(history):
        if len(message.text) > room:
            if room >= _LEAST_SHOWN:
                kept.append(replace(message, text=f"[the beginning is left out] …{message.text[-room:]}"))
            break
        kept.append(message)
        room -= len(message.text)
    return kept[::-1]


def read_guidance(data: dict[str, Any] | None) -> tuple[str] | str:
    """Return the guidance in a tuple, or why the reply cannot be used."""
    try:
        return (_Guidance.model_validate(data or {}).guidance.strip(),)
    except ValidationError as error:
        return _shape_problem(error)


def answers_schema(questions: Sequence[Question]) -> dict[str, Any]:
    """Return the JSON schema of the Developer's reply. It lists the labels of each question's options."""
    schema = deepcopy(_answers_schema())
    shape = schema["$defs"].pop("_Answer")
    items = [_answer_schema(shape, question) for question in questions]
    schema["properties"]["answers"]["items"] = items[0] if len(items) == 1 else {"anyOf": items}
    return schema


@cache
def _answers_schema() -> dict[str, Any]:
    return _strict(_Answers.model_json_schema())


def _answer_schema(shape: dict[str, Any], question: Question) -> dict[str, Any]:
    own = deepcopy(shape)
    own["properties"]["question"]["const"] = question.text
    if question.options:
        own["properties"]["labels"]["items"]["enum"] = [option.label for option in question.options]
    return own


def read_answers(data: dict[str, Any] | None, questions: Sequence[Question]) -> tuple[Answer, ...] | str:
    """Return one valid answer per question, in order, or why the reply cannot be used.

    If a question has options, the answer is one of its labels (several for multiSelect) or a free text marked
    as such. A differently spelled reply means the label that fits it alone. Among several, an
    answer to a question that was not asked makes the reply unusable. The one answer to one question counts.
    """
    try:
        given = _Answers.model_validate(data or {}).answers
    except ValidationError as error:
        return _shape_problem(error)
    if len(given) != len(questions):
        return f"{len(questions)} question(s) were asked and {len(given)} answered: answer each one, in order"
    ordered = _in_order(given, questions)
    if isinstance(ordered, str):
        return ordered
    answers = []
    for question, answer in zip(questions, ordered, strict=True):
        checked = _checked(question, answer)
        if isinstance(checked, str):
            return f"{question.text!r}: {checked}"
        answers.append(checked)
    return tuple(answers)


def _shape_problem(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"the reply has the wrong shape: {'.'.join(map(str, first['loc']))}: {first['msg']}"


def _in_order(given: Sequence[_Answer], questions: Sequence[Question]) -> Sequence[_Answer] | str:
    """Return the answers in the order of the questions that they name, or the problem with one of them."""
    if len(questions) == 1:
        return given
    named = {question_key(answer.question): answer for answer in given}
    asked = [question_key(question.text) for question in questions]
    if strange := [answer.question for answer in given if question_key(answer.question) not in asked]:
        texts = "; ".join(repr(question.text) for question in questions)
        return f"{strange[0]!r} was not asked. Repeat the text of the question that you answer: {texts}"
    if missing := [one.text for one, key in zip(questions, asked, strict=True) if key not in named]:
        return f"{missing[0]!r} has no answer, and another question has two: answer each one once"
    return [named[key] for key in asked] if len(set(asked)) == len(asked) else given


def _checked(question: Question, answer: _Answer) -> Answer | str:
    """Return the answer with the labels that it means, or why it cannot be used."""
    free_text = answer.free_text.strip()
    if not answer.labels and not free_text:
        return "neither a label nor a free text"
    labels = [label_meant(said, question.options) for said in answer.labels]
    if unknown := [said for said, label in zip(answer.labels, labels, strict=True) if label is None]:
        offered = ", ".join(option.label for option in question.options) or "there are none"
        return f"{unknown[0]!r} is none of the options ({offered})"
    chosen = tuple(dict.fromkeys(label for label in labels if label is not None))
    if not chosen and (meant := label_meant(free_text, question.options)) is not None:
        chosen = (meant,)
    if len(chosen) > 1 and not question.multi_select:
        return "only one option may be chosen"
    return Answer(
        question=question.text,
        labels=chosen,
        free_text="" if chosen else free_text,
        beside_options=bool(question.options) and not chosen,
        reason=answer.reason,
        basis=answer.basis,
        evidence=answer.evidence,
        reversible=answer.reversible,
        confidence=answer.confidence,
    )


def _strict(schema: dict[str, Any]) -> dict[str, Any]:
    """Return Pydantic's schema without titles, which cost tokens and carry no information."""
    schema.pop("title", None)
    for value in schema.values():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                _strict(part)
    return schema
