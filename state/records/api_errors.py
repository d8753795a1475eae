"""Errors of the API by their code, `error.details.error_code`, which says more than the status beside it.

The codes and what they mean are those of the API's reference, as the `anthropic` client 2.11 has them
(`anthropic/types/shared/*_error.py`), and of https://platform.claude.com/docs/en/api/errors. An unknown code
counts as its status alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Answer(StrEnum):
    """What sq does about an error: wait until next month begins, ask again in a while, or end the run."""

    MONTH = "wait for the month"
    AGAIN = "ask again"
    END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodedError:
    """An error with a code. `words` say to people what it is, and what lets the run go on."""

    answer: Answer
    words: str


def _end(words: str) -> CodedError:
    return CodedError(answer=Answer.END, words=words)


def _again(words: str) -> CodedError:
    return CodedError(answer=Answer.AGAIN, words=words)


API_ERRORS: Mapping[str, CodedError] = {
    "enforced_spend_limit_reached": CodedError(  # comes without retry-after
        answer=Answer.MONTH,
        words="the organization has reached the monthly spend cap of its tier, until the first of next month "
        "(UTC). A higher tier lifts it",
    ),
    "contract_spend_limit_reached": _end(
        "the organization has reached the spend limit of its contract. Raise it"
    ),
    "linked_organization_spend_limit_reached": _end(
        "the linked organization has reached its spend limit or has no credit. Raise or add it there"
    ),
    "linked_organization_billing_unavailable": _end(
        "the linked organization cannot be billed. Mend that there"
    ),
    "organization_on_hold": _end("Anthropic has disabled the organization. Its owner can appeal"),
    "organization_type_not_supported": _end("the API is not open to this type of organization"),
    "claude_code_version_too_old": _end(
        "the model or the organization asks for a newer Claude Code. Update Claude Code"
    ),
    "claude_code_key_creator_not_member": _end(
        "the user who made this key of the Claude Code workspace is no member any more. Make another key"
    ),
    "cmek_key_disabled": _end("the workspace's encryption key is disabled. Enable it"),
    "cmek_key_network_blocked": _end(
        "the key management service blocks the workspace's encryption key. Let it through"
    ),
    "sandbox_egress_restricted": _end("the API does not answer inside this sandbox. Run sq outside it"),
    "cmek_key_unreachable": _again("the workspace's encryption key cannot be reached"),
    "cmek_context_unavailable": _again("the workspace's encryption settings cannot be read"),
    "ramp_limit_exceeded": _again("the usage grows faster than the organization's ramp limit"),
}


def named_wait(code: str, now: datetime) -> float | None:
    """Return the seconds from `now` (UTC) that an error of this code lasts, or None if it names no time."""
    error = API_ERRORS.get(code)
    if error is None or error.answer is not Answer.MONTH:
        return None
    year, month = divmod(now.month, 12)
    first = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return (first.replace(year=now.year + year, month=month + 1) - now).total_seconds()


def told(code: str, detail: str) -> str:
    """Return an error in words for people, with its code if sq knows it."""
    error = API_ERRORS.get(code)
    return f"{error.words} ({code}), then `sq resume`: {detail}" if error else detail
