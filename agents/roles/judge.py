"""The Judge: gives a judgement on a question about a session, or on several in one call.

All calls about one state of a session share a byte-identical beginning (system text, schema and session),
which the API caches. Only the words of the questions follow.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import prompts
from agents.ask.port import Ask, Reply
from agents.caller import Caller
from state.settings.records import Model

AskJudge = Callable[[Ask], Awaitable[Reply]]
_FIRST_WORDS = re.compile(r"\s*(NOT SATISFIED|SATISFIED)(?=[\s:;,.!\u2013\u2014]|-(?!\w)|\Z)")


class JudgeFinding(StrEnum):
    """The Judge's verdict on a question."""

    SATISFIED = "satisfied"
    NOT_SATISFIED = "not_satisfied"
    NOT_APPLICABLE = "not_applicable"
    CANNOT_TELL = "cannot_tell"


class Judgement(BaseModel):
    """One judgement of the Judge."""

    model_config = ConfigDict(extra="forbid")

    verdict: JudgeFinding
    reason: str = Field(description="Why, in one or two sentences that name the facts seen.")
    quote: str = Field(description="The words of the session that decide it. Empty if none do.")


class Asked(Protocol):
    """A question for the Judge: a consideration."""

    @property
    def id(self) -> str: ...
    @property
    def kind(self) -> str: ...


def system_prompt() -> str:
    return prompts.render("judge_system")


def shared_part(session: str) -> str:
    """Return the text in front of every question about this session."""
    return prompts.render("judge_session", session=session)


def judge_ask(
    considerations: Sequence[Asked],
    *,
    model: Model,
    caller: Caller,
    shared: str,
    before: Mapping[str, str],
    deadline_s: float,
) -> Ask:
    """Return the request for a judgement on one question, or on a group of them.

    Args:
        considerations: the questions. The kind of each selects its words. The reply to one is for
            `read_judgement`, to several for `read_judgements`.
        model: the Judge's.
        caller: the caller of the request.
        shared: `shared_part` of the session, the same for all calls.
        before: by id, why the last judgement on a question was no.
        deadline_s: after which there is no answer.
    """
    asked = {one.id: _words_of(one, before.get(one.id, "")) for one in considerations}
    alone = len(asked) == 1
    return Ask(
        caller=caller,
        model=model,
        system=system_prompt(),
        shared=shared,
        prompt=next(iter(asked.values())) if alone else prompts.render("judge_questions", asked=asked),
        schema=_SCHEMA if alone else _GROUP_SCHEMA,
        deadline_s=deadline_s,
    )


def read_judgement(data: dict[str, Any] | None) -> Judgement | str:
    """Return the judgement, or why the reply cannot be used."""
    try:
        return Judgement.model_validate(data or {})
    except ValidationError as error:
        first = error.errors()[0]
        return f"the reply has the wrong shape: {'.'.join(map(str, first['loc']))}: {first['msg']}"


def read_judgements(data: dict[str, Any] | None, ids: Sequence[str]) -> dict[str, Judgement | str]:
    """Return the judgement on each of `ids`, or why there is none. Judgements on other ids are ignored."""
    given: dict[str, list[dict[str, Any]]] = {id_: [] for id_ in ids}
    judgements = (data or {}).get("judgements")
    for one in judgements if isinstance(judgements, list) else []:
        if isinstance(one, dict) and str(one.get("id")) in given:
            given[str(one["id"])].append({name: value for name, value in one.items() if name != "id"})
    return {id_: _only(found) for id_, found in given.items()}


def judgement_in_text(text: str) -> Judgement | None:
    """Return a judgement from free text, if its first words are exactly SATISFIED or NOT SATISFIED."""
    found = _FIRST_WORDS.match(text)
    if found is None:
        return None
    verdict = JudgeFinding.SATISFIED if found[1] == "SATISFIED" else JudgeFinding.NOT_SATISFIED
    return Judgement(verdict=verdict, reason=text[found.end() :].strip(" :.-\n"), quote="")


def _words_of(consideration: Asked, before: str) -> str:
    return prompts.render(f"judge_{consideration.kind}", consideration=consideration, before=before)


def _only(found: Sequence[dict[str, Any]]) -> Judgement | str:
    if len(found) == 1:
        return read_judgement(found[0])
    return f"the judge gave {len(found)} judgements on it" if found else "the judge gave no judgement on it"


_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "verdict": {"type": "string", "enum": [str(finding) for finding in JudgeFinding]},
        "reason": {"type": "string"},
        "quote": {"type": "string"},
    },
    "required": ["verdict", "reason", "quote"],
    "additionalProperties": False,
}
# Looser than the schema above: a schema refuses a reply whole, and one bad judgement must not cost the others
# of its group. Each is validated alone when it is read.
_GROUP_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "judgements": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "verdict": {"type": "string", "description": f"One of: {', '.join(JudgeFinding)}"},
                    "reason": {"type": "string"},
                    "quote": {"type": "string"},
                },
                "required": ["id", "verdict", "reason", "quote"],
            },
        }
    },
    "required": ["judgements"],
    "additionalProperties": False,
}
