"""Errors of the API by their code: the rows of `api_errors.yaml`."""

from datetime import datetime
from enum import StrEnum
from functools import cache

import msgspec

from state.decoding import table_beside


class Answer(StrEnum):
    """What sq does about an error: wait until next month begins, ask again in a while, or end the run."""

    MONTH = "month"
    AGAIN = "again"
    END = "end"


class CodedError(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row. `says` is for people: what it is, and what lets the run go on. `{agent}` is the agent's name."""

    answer: Answer
    says: str
    source: str


@cache
def api_errors() -> dict[str, CodedError]:
    """Return the rows by code."""
    return msgspec.convert(table_beside(__file__, "api_errors.yaml"), dict[str, CodedError])


def answer_to(code: str) -> Answer | None:
    """Return what sq does about an error of this code, or None if its status decides."""
    return api_errors()[code].answer if code in api_errors() else None


def named_wait(code: str, now: datetime) -> float | None:
    """Return the seconds from `now` (UTC) that an error of this code lasts, or None if it names no time."""
    if answer_to(code) is not Answer.MONTH:
        return None
    year, month = divmod(now.month, 12)
    first = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return (first.replace(year=now.year + year, month=month + 1) - now).total_seconds()


def told(code: str, detail: str, agent: str) -> str:
    """Return an error that sq knows in words for people, with its code and what to do."""
    says = api_errors()[code].says.replace("{agent}", agent)
    return f"{says} ({code}), then `sq resume`: {detail}"
