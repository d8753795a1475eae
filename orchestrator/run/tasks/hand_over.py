"""The hand-over from one attempt at a task to the next: its Worker's reports and sq's own observations.

It also says where the next one begins.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from agents.roles.worker import signal_of
from agents.session.tools import TASK_STUCK
from state.journal.events.calls import CallView
from state.journal.events.tasks import TaskView
from state.journal.view import RunView
from state.records.reviews import Finding
from state.records.work import HandOver
from state.words import baseline_words, decision_with_reason

_KEPT = 4_000  # characters of a Worker's words about its work, the newest ones


class AttemptStart(StrEnum):
    """The content of the workspace when another attempt begins."""

    FORMER = "former"  # the work of the attempt before
    MERGED = "merged"  # the newest merged work, which contains the former work
    OVER = "over"  # the newest merged work alone
    BOTH = "both"  # the two of them, merged


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """An attempt's information about the previous one. `commit` is the work that was sent back, if any."""

    notes: HandOver | None = None
    findings: tuple[Finding, ...] = ()
    start: AttemptStart = AttemptStart.FORMER
    commit: str = ""


NOTHING_BEFORE = Before()


def before_of(task: TaskView) -> Before:
    """Return the information for the attempt that begins."""
    start = AttemptStart.FORMER
    if task.next.rebuilt:
        base, content = task.next.rebuilt
        alone = AttemptStart.MERGED if task.is_in_merged_work else AttemptStart.OVER
        start = alone if content == base else AttemptStart.BOTH
    return Before(
        notes=task.next.hand_over, findings=task.review.findings, start=start, commit=task.claim.commit
    )


def hand_over_of(view: RunView, task: TaskView, verified: str) -> HandOver | None:
    """Return the notes of the newest attempt at a task, or None if there was none.

    An attempt without results hands on the notes that it was given.

    Args:
        task: the task whose newest attempt is over.
        verified: sq's test results on the attempt's work, or "" if sq ran none.
    """
    since = tuple(_since(view, task))
    if not task.open.calls:
        return task.next.hand_over and replace(
            task.next.hand_over, since=(*task.next.hand_over.since, *since)
        )
    reports = [signal_of(view.calls[id_]) for id_ in task.open.calls]
    nothing: tuple[str, dict[str, Any]] = ("", {})
    name, last = next((report for report in reversed(reports) if report[0]), nothing)
    claimed = last.get("tests") or last.get("test_status") or ""
    blockers = (last["reason"],) if name == TASK_STUCK else tuple(last.get("blockers", ()))
    return HandOver(
        attempt=task.attempt,
        done=_by_turn(
            [_done(view.calls[id_], said) for id_, (_, said) in zip(task.open.calls, reports, strict=True)]
        ),
        tests=f"sq ran these on the work as that attempt left it:\n{verified}"
        if verified
        else (f"sq has not looked. It says: {claimed}" if claimed else ""),
        next_step=last.get("next_step", ""),
        blockers=tuple(words for words in blockers if words not in task.end.of_attempt),
        notes=_by_turn([said.get("notes", "") for _, said in reports]),
        decisions=tuple(_decisions(view, task)),
        ended=task.end.of_attempt,
        since=since,
    )


def _done(call: CallView, said: Mapping[str, Any]) -> str:
    """Return a turn's work from its report. For a report in text form, return the words before it."""
    reported = str(said.get("summary") or said.get("done") or "")
    if reported or call.report or not said:
        return reported
    return "\n".join(call.last_text.strip().splitlines()[:-1]).strip()


def _since(view: RunView, task: TaskView) -> list[str]:
    """Return the known changes since an attempt ended, if the user asked for another one."""
    resumed = view.process.resumed
    if not (task.next.retried and resumed):
        return []
    changed = []
    if resumed.verify is not None:
        commands = ", ".join(f"`{command}`" for command in resumed.verify) or "none"
        changed.append(f"These commands verify the work from now on: {commands}.")
    if view.baseline and view.baseline.seq > view.process.resumed_seq:
        changed.append("sq ran the commands again on the commit that the run began with:")
        changed += [f"- {baseline_words(check)}" for check in view.baseline.checks.values()]
    return ["The user asked for another attempt.", *(changed or ["sq knows of no other change."])]


def _decisions(view: RunView, task: TaskView) -> list[str]:
    asks = [ask for ask in view.asks.values() if ask.asked.call_id in task.open.calls]
    return [decision_with_reason(answer) for ask in asks for answer in ask.held]


def _by_turn(said: Sequence[str]) -> str:
    """Return the words of an attempt's turns, each once and with its turn. A long text keeps its end."""
    turns = {words.strip(): number for number, words in enumerate(said, 1) if words.strip()}
    if len(turns) == 1:
        text = next(iter(turns))
    else:
        text = "\n".join(f"In turn {number}: {words}" for words, number in turns.items())
    return text if len(text) <= _KEPT else f"…{text[-_KEPT:]}"
