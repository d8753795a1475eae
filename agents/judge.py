"""The Judge: answers one question about a session, from what happened in it.

All questions of one look share one byte-identical beginning, system text, schema and session, which the API
caches; only the question's own words follow.
"""

import re
from enum import StrEnum
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import prompts
from agents.ask import Ask
from agents.connection import Lane
from state.settings import Model

_FIRST_WORDS = re.compile(r"\s*(NOT SATISFIED|SATISFIED)(?![A-Za-z])")


class Finding(StrEnum):
    """What the Judge says to a question."""

    SATISFIED = "satisfied"
    NOT_SATISFIED = "not_satisfied"
    NOT_APPLICABLE = "not_applicable"
    CANNOT_TELL = "cannot_tell"


class Judgement(BaseModel):
    """One answer of the Judge."""

    model_config = ConfigDict(extra="forbid")

    verdict: Finding
    reason: str = Field(description="Why, in one or two sentences that name what was seen.")
    quote: str = Field(description="The words of the session that decide it; empty where none do.")


class Asked(Protocol):
    """What the Judge is asked: a consideration."""

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def kind(self) -> str: ...  # noqa: D102


def system_prompt() -> str:
    """What every Judge is told."""
    return prompts.render("judge_system")


def shared_part(session: str) -> str:
    """What stands before every question about this session."""
    return prompts.render("judge_session", session=session)


def judge_ask(
    consideration: Asked, *, model: Model, lane: Lane, shared: str, before: str = "", deadline_s: float
) -> Ask:
    """The call that asks one question.

    Args:
        consideration: the question; its kind picks the prompt.
        model: the Judge's.
        lane: whose traffic it is.
        shared: `shared_part` of the session, the same for all questions.
        before: why it was not satisfied the last time; empty where it was, or was not asked.
        deadline_s: after which the question has no answer.
    """
    return Ask(
        lane=lane,
        model=model,
        system=system_prompt(),
        shared=shared,
        prompt=prompts.render(f"judge_{consideration.kind}", consideration=consideration, before=before),
        schema=_SCHEMA,
        deadline_s=deadline_s,
    )


def read_judgement(data: dict[str, Any] | None) -> Judgement | str:
    """The judgement, or why the reply cannot be used."""
    try:
        return Judgement.model_validate(data or {})
    except ValidationError as error:
        first = error.errors()[0]
        return f"the reply has the wrong shape: {'.'.join(map(str, first['loc']))}: {first['msg']}"


def judgement_in_text(text: str) -> Judgement | None:
    """A judgement in free text: it counts only if the first word is exactly SATISFIED or NOT SATISFIED."""
    found = _FIRST_WORDS.match(text)
    if found is None:
        return None
    verdict = Finding.SATISFIED if found[1] == "SATISFIED" else Finding.NOT_SATISFIED
    return Judgement(verdict=verdict, reason=text[found.end() :].strip(" :.-\n"), quote="")


_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "verdict": {"type": "string", "enum": [str(finding) for finding in Finding]},
        "reason": {"type": "string"},
        "quote": {"type": "string"},
    },
    "required": ["verdict", "reason", "quote"],
    "additionalProperties": False,
}
