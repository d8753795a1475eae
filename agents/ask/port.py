"""One structured answer from a model: a prompt and a schema in, validated JSON out.

This is the port. One contract suite tests its three backends: the Anthropic API (`agents.ask.api`, with a
key), the same from a process that needs one answer (`agents.ask.light`), and the Claude CLI
(`agents.ask.cli`, with a login). None retries or outlives its deadline. The requests to the API and the
reading of its answers, which the first two share, are here.
"""

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from agents.caller import Caller
from state import loopback
from state.records.calls import CallEnd, CallResult, Usage
from state.settings.records import CHARACTERS_PER_TOKEN, Model

MAX_ANSWER_TOKENS = 4_000
_SHOWN = 500  # characters shown of a text that is no answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request. `schema` is the JSON schema of the answer, an object.

    `shared` comes before the prompt and is the same to the byte in several requests, so that the API caches
    it. `on_begun` is called when the model begins to answer, because the cache exists from then on.
    """

    caller: Caller
    model: Model
    system: str
    prompt: str
    shared: str = ""
    on_begun: Callable[[], None] | None = None
    schema: Mapping[str, Any]
    deadline_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(CallResult):
    """The answer to a request. `answer` is set only if `end` is completed, `text` only if it is unusable."""

    answer: dict[str, Any] | None = None


def room_of(model: Model) -> int:
    """Return the characters that a prompt for this model may have, less its answer and some slack."""
    return max(0, model.context * 9 // 10 - MAX_ANSWER_TOKENS) * CHARACTERS_PER_TOKEN


class Asker(Protocol):
    """Asks a model once. Failures of the model or the API never raise. They are in the reply."""

    async def ask(self, ask: Ask) -> Reply:
        """Return the model's answer, or why there is none."""
        ...


def error_words(body: object) -> str:
    """Return the kind and the message of an error of the API, or "" if the body is something else."""
    match body:
        case {"error": {"type": kind, "message": message}}:
            return f"{kind}: {message}"
        case _:
            return ""


def late(ask: Ask, began: float) -> Reply:
    """Return the reply for an answer that did not come in time. `began` is by the monotonic clock."""
    return Reply(
        end=CallEnd.TIMED_OUT,
        detail=f"no answer within {ask.deadline_s:.0f} s",
        seconds=time.monotonic() - began,
    )


def to_api(ask: Ask) -> dict[str, Any]:
    """Return the request to the Messages API, as JSON."""
    prompt = {"type": "text", "text": ask.prompt}
    shared = {"type": "text", "text": ask.shared, "cache_control": {"type": "ephemeral"}}
    return {
        "model": ask.model.id,
        "max_tokens": MAX_ANSWER_TOKENS,
        "system": ask.system,
        "messages": [{"role": "user", "content": [shared, prompt] if ask.shared else [prompt]}],
        "output_config": {
            "format": {"type": "json_schema", "schema": dict(ask.schema)},
            **({"effort": ask.model.effort} if ask.model.effort else {}),
        },
    }


def from_api(ask: Ask, text: str, stop_reason: str | None, usage: Usage, *, began: float) -> Reply:
    """Return the reply for a message of the API. `text` holds its blocks of text together."""
    answer = _json_object(text)
    end = CallEnd.COMPLETED
    if stop_reason == "refusal":
        end = CallEnd.REFUSED
    elif stop_reason == "max_tokens":
        end = CallEnd.TRUNCATED
    elif answer is None:
        end = CallEnd.UNUSABLE
    return Reply(
        end=end,
        answer=answer if end is CallEnd.COMPLETED else None,
        text=text if end is CallEnd.UNUSABLE else "",
        detail="" if end is CallEnd.COMPLETED else f"the model said: {text[:_SHOWN]}",
        cost_usd=ask.model.cost(usage),
        usage=usage,
        seconds=time.monotonic() - began,
    )


def seconds_of(retry_after: str | None) -> float | None:
    """Return the header's seconds. The API does not use its other form, a date."""
    try:
        seconds = float(retry_after or "nan")
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) else None


def is_here(url: str) -> bool:
    """Whether it is an address of this machine (as the gateway's is), never reached by the user's proxy."""
    return urlsplit(url).hostname in loopback.NAMES


def _json_object(text: str) -> dict[str, Any] | None:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):  # the second: deeply nested brackets
        return None
    return data if isinstance(data, dict) else None
