"""Whether a loop moves, measured on content: trees, errors, failures; never on words or counts of events."""

import re
from collections.abc import Iterable, Sequence

from state.records import Message, MessageKind

MAX_REFUSALS = 5  # blocks of the completion gates in a row
SAME_FAILURE = 3  # the same failures that often
_ERROR_KEPT = 300  # characters of an error by which it is recognised
_VARIES = re.compile(r"0x[0-9a-fA-F]+|\d+(\.\d+)?|/tmp/\S+")


def standing_still(trees: Sequence[str], threshold: int) -> bool:
    """Whether the tree has been the same at the end of the last `threshold` iterations and one before."""
    newest = trees[-(threshold + 1) :]
    return len(newest) > threshold and len(set(newest)) == 1


def same_error(errors: Sequence[str], threshold: int) -> str:
    """The error with which each of the last `threshold` iterations ended; empty where they did not."""
    newest = errors[-threshold:]
    return newest[0] if len(newest) == threshold and len(set(newest)) == 1 else ""


def last_error(history: Iterable[Message]) -> str:
    """The error that the newest tool result of an iteration is, numbers and addresses aside; else empty.

    `history` ends with the iteration's messages; its prompt is where they begin.
    """
    results: list[Message] = []
    for message in history:
        if message.kind is MessageKind.PROMPT:
            results = []
        elif message.kind is MessageKind.TOOL_RESULT:
            results.append(message)
    # The last result is that of the signal with which the iteration ends.
    work = results[:-1] if len(results) > 1 else results
    if not work or not work[-1].is_error:
        return ""
    return _VARIES.sub("#", work[-1].text.strip())[:_ERROR_KEPT]


def refused_too_often(fingerprints: Sequence[str]) -> str:
    """Why a claim that keeps being refused is given up; empty while it is not.

    `fingerprints` tell the refusals of one attempt apart, oldest first: equal ones are the same failures.
    """
    if len(fingerprints) >= SAME_FAILURE and len(set(fingerprints[-SAME_FAILURE:])) == 1:
        return f"completion was refused {SAME_FAILURE} times for the same reason"
    if len(fingerprints) >= MAX_REFUSALS:
        return f"completion was refused {MAX_REFUSALS} times in a row"
    return ""
