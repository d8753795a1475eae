"""One structured answer from a model: a prompt and a schema in, checked JSON out.

The port. Two backends stand behind it, held to it by one contract suite: the Anthropic API (`ask_api`, with
a key) and the Claude CLI (`ask_cli`, with a login). Neither retries nor outlives its deadline.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from agents.connection import Lane
from state.records import CallEnd, Usage
from state.settings import CHARACTERS_PER_TOKEN, Model

MAX_ANSWER_TOKENS = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What is asked. `schema` is the JSON schema of the answer, an object.

    `shared` stands before the prompt, the same to the byte in several asks, so that the API caches it.
    `on_begun` is called when the model begins to answer: from then on the cache is there.
    """

    lane: Lane
    model: Model
    system: str
    prompt: str
    shared: str = ""
    on_begun: Callable[[], None] | None = None
    schema: Mapping[str, Any]
    deadline_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back. `answer` is there only where `end` is completed; `text` where it is unusable.

    `retry_after_s`: the API named this time until it can be asked again.
    """

    end: CallEnd
    answer: dict[str, Any] | None = None
    text: str = ""
    detail: str = ""
    api_status: int | None = None
    retry_after_s: float | None = None
    cost_usd: float = 0.0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0


def room_of(model: Model) -> int:
    """The characters that a prompt for this model may have, its answer and some slack taken off."""
    return max(0, model.context * 9 // 10 - MAX_ANSWER_TOKENS) * CHARACTERS_PER_TOKEN


class Asker(Protocol):
    """Asks a model once. Never raises for what the model or the API does: that is in the reply."""

    async def ask(self, ask: Ask) -> Reply:
        """The model's answer, or why there is none."""
        ...


def late(ask: Ask, began: float) -> Reply:
    """The reply that did not come in time; `began` by the monotonic clock."""
    return Reply(
        end=CallEnd.TIMED_OUT,
        detail=f"no answer within {ask.deadline_s:.0f} s",
        seconds=time.monotonic() - began,
    )
