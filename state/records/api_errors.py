"""Errors of the API by their code, `error.details.error_code`, which says more than the status beside it.

The codes and what they mean are those of the API's reference, as the `anthropic` client 2.11 has them
(`anthropic/types/shared/*_error.py`), and of https://platform.claude.com/docs/en/api/errors. An unknown code
counts as its status alone.
"""

from datetime import datetime
from enum import StrEnum


class Answer(StrEnum):
    """What sq does about an error: wait until next month begins, ask again in a while, or end the run."""

    MONTH = "wait for the month"
    AGAIN = "ask again"
    END = "end"


# Each code with the answer, and the words for people: what it is, and what lets the run go on.
API_ERRORS = {
    "enforced_spend_limit_reached": (
        Answer.MONTH,
        "the organization's monthly spend cap of its tier is reached (UTC)",
    ),
    "contract_spend_limit_reached": (Answer.END, "raise the spend limit of the organization's contract"),
    "linked_organization_spend_limit_reached": (
        Answer.END,
        "the linked organization's spend limit is reached",
    ),
    "linked_organization_billing_unavailable": (Answer.END, "the linked organization cannot be billed"),
    "organization_on_hold": (Answer.END, "Anthropic has disabled the organization: its owner can appeal"),
    "organization_type_not_supported": (Answer.END, "the API is not open to this type of organization"),
    "claude_code_version_too_old": (Answer.END, "update Claude Code"),
    "claude_code_key_creator_not_member": (
        Answer.END,
        "make another key: this one's maker is no member any more",
    ),
    "cmek_key_disabled": (Answer.END, "enable the workspace's encryption key"),
    "cmek_key_network_blocked": (Answer.END, "let the API reach the workspace's encryption key"),
    "sandbox_egress_restricted": (
        Answer.END,
        "run sq outside this sandbox, to which the API does not answer",
    ),
    "cmek_key_unreachable": (Answer.AGAIN, "the workspace's encryption key cannot be reached"),
    "cmek_context_unavailable": (Answer.AGAIN, "the workspace's encryption settings cannot be read"),
    "ramp_limit_exceeded": (Answer.AGAIN, "the usage grows faster than the organization's ramp limit"),
}


def answer_to(code: str) -> Answer | None:
    """Return what sq does about an error of this code, or None if its status decides."""
    return API_ERRORS[code][0] if code in API_ERRORS else None


def named_wait(code: str, now: datetime) -> float | None:
    """Return the seconds from `now` (UTC) that an error of this code lasts, or None if it names no time."""
    if answer_to(code) is not Answer.MONTH:
        return None
    year, month = divmod(now.month, 12)
    first = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return (first.replace(year=now.year + year, month=month + 1) - now).total_seconds()


def told(code: str, detail: str) -> str:
    """Return an error that sq knows in words for people, with its code and what to do."""
    return f"{API_ERRORS[code][1]} ({code}), then `sq resume`: {detail}"
