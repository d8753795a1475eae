"""Whether a loop makes progress: by trees, errors and failures. And when checkpoints are due (seed 004)."""

import re
from collections.abc import Iterable, Sequence

from state.journal.events.tasks import TaskView
from state.records.calls import Message, MessageKind
from state.settings.presets import RETRY_LIMITS
from state.settings.records import Effort

_ERROR_KEPT = 300  # characters of an error that are compared
_VARIES = re.compile(r"0x[0-9a-fA-F]+|\d+(\.\d+)?|/tmp/\S+")


def is_stalled(trees: Sequence[str], threshold: int) -> bool:
    """Whether the tree has been the same at the end of the last `threshold` iterations and one before."""
    newest = trees[-(threshold + 1) :]
    return len(newest) > threshold and len(set(newest)) == 1


def same_error(errors: Sequence[str], threshold: int) -> str:
    """Return the error with which each of the last `threshold` iterations ended, or "" if they differ."""
    newest = errors[-threshold:]
    return newest[0] if len(newest) == threshold and len(set(newest)) == 1 else ""


def last_error(history: Iterable[Message]) -> str:
    """Return the newest tool result of an iteration if it is an error, without numbers and addresses, or "".

    `history` ends with the iteration's messages, which begin at its prompt.
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
    """Return why a claim that keeps being refused is given up, or "" if it is not.

    `fingerprints` are those of the refusals of one attempt, oldest first. Equal ones mean the same failure.
    """
    last = fingerprints[-RETRY_LIMITS.same_refusal :]
    if len(last) == RETRY_LIMITS.same_refusal and len(set(last)) == 1:
        return f"completion was refused {RETRY_LIMITS.same_refusal} times for the same reason"
    if len(fingerprints) >= RETRY_LIMITS.refusals:
        return f"completion was refused {RETRY_LIMITS.refusals} times in a row"
    return ""


def is_checkpoint(effort: Effort, task: TaskView) -> bool:
    """Whether the Developer's look at the progress is due after the iteration that has just ended."""
    looked = any(one.iteration == task.iteration for one in task.open.guidance)
    return _is_time(effort, task) and not looked


def is_review_due(effort: Effort, task: TaskView) -> bool:
    """Whether a Reviewer's look is due after the iteration that has just ended.

    It is due only if the tree has changed since the last look, or since the beginning of the attempt.
    """
    seen = task.open.checkpoints[-1].tree if task.open.checkpoints else task.open.trees[0]
    looked = any(one.iteration == task.iteration for one in task.open.checkpoints)
    return _is_time(effort, task) and not looked and task.open.trees[-1] != seen


def _is_time(effort: Effort, task: TaskView) -> bool:
    every = effort.checkpoint_every
    return bool(every) and task.iteration % every == 0
