"""What one attempt at a task leaves to the next: made of its Worker's reports and of what sq saw itself.

And where the next one begins.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from agents.signals import TASK_STUCK
from agents.worker import signal_of
from state.records import Finding, HandOver
from state.view import RunView, TaskView

_KEPT = 4_000  # characters of what a Worker says of its work: the newest


class Start(StrEnum):
    """What the workspace holds as another attempt begins."""

    FORMER = "former"  # the work of the attempt before
    MERGED = "merged"  # the newest merged work, which has that in it
    OVER = "over"  # the newest merged work alone
    BOTH = "both"  # the two of them, merged


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """What an attempt is told of the one before; `commit` is the work that was sent back, if any."""

    notes: HandOver | None = None
    findings: tuple[Finding, ...] = ()
    start: Start = Start.FORMER
    commit: str = ""


NOTHING_BEFORE = Before()


def before_of(task: TaskView) -> Before:
    """What the attempt that begins is told."""
    start = Start.FORMER
    if task.rebuilt:
        base, content = task.rebuilt
        alone = Start.MERGED if task.is_in_merged_work else Start.OVER
        start = alone if content == base else Start.BOTH
    return Before(notes=task.hand_over, findings=task.findings, start=start, commit=task.commit)


def hand_over_of(view: RunView, task: TaskView, verified: str) -> HandOver | None:
    """The notes that the newest attempt at a task leaves; None where there was none.

    One that did not come to anything hands on what it was given.

    Args:
        view: the run.
        task: whose newest attempt is over.
        verified: how the tests stand that sq ran on what the attempt left; empty: it ran none.
    """
    if not task.calls:
        return task.hand_over
    reports = [signal_of(view.calls[id_]) for id_ in task.calls]
    nothing: tuple[str, dict[str, Any]] = ("", {})
    name, last = next((report for report in reversed(reports) if report[0]), nothing)
    claimed = last.get("tests") or last.get("test_status") or ""
    return HandOver(
        done=_newest(said.get("summary") or said.get("done") or "" for _, said in reports),
        tests=verified or (f"sq has not looked; the session before says: {claimed}" if claimed else ""),
        next_step=last.get("next_step", ""),
        blockers=(last["reason"],) if name == TASK_STUCK else tuple(last.get("blockers", ())),
        notes=_newest(said.get("notes", "") for _, said in reports),
        decisions=tuple(_decisions(view, task)),
        ended=task.last_end,
    )


def _decisions(view: RunView, task: TaskView) -> list[str]:
    answered = [ask.answered for ask in view.asks.values() if ask.asked.call_id in task.calls]
    return [f"{one.question} → {one.text}" for answers in answered if answers for one in answers.answers]


def _newest(said: Iterable[str]) -> str:
    """What was said, once each, in order; where it is long, its end."""
    text = "\n".join(dict.fromkeys(words.strip() for words in said if words.strip()))
    return text if len(text) <= _KEPT else f"…{text[-_KEPT:]}"
