"""Lines of a task: checks of a claim, its commit, guidance, its end."""

from dataclasses import replace
from typing import assert_never

from orchestrator.views.words import short
from state.journal import events as e
from state.journal.view import RunView
from state.roles import Role
from state.verdicts import NO_ANSWER, CheckResult, Source
from state.words import alike, checks_named, without_ids

_FEEDBACK_SHOWN = 6  # lines of a refusal, which is whole in the journal
_LONGEST = 400  # characters of such a line, which may name several tests


def lines(view: RunView, event: e.TaskEvent) -> list[str]:
    """The lines that an event of a task adds to the story."""
    match event:
        case e.ChecksDecided():
            return _checks_decided(view, event)
        case e.CompletionRefused():
            return _completion_refused(event)
        case e.TaskCommitted():
            return _committed(event)
        case e.GuidanceGiven():
            return _guidance_given(event)
        case e.TaskStuck():
            return _stuck(event)
        case e.TaskFailed():
            return _failed(event)
        case e.TaskUnverified():
            return _unverified(event)
        case (
            e.TaskStarted()
            | e.HandedOver()
            | e.AttemptStarted()
            | e.IterationMeasured()
            | e.GateDecided()
            | e.CompletionAccepted()
        ):
            return []
        case _:
            assert_never(event)


def _checks_decided(view: RunView, event: e.ChecksDecided) -> list[str]:
    unmet = [result for result in event.results if not result.satisfied]
    open_ = sum(result.source is Source.NOT_CHECKED for result in event.results)
    counts = f"{len(event.results)} checks, {len(unmet)} not met, {open_} not checked"
    unmet_alike = alike(unmet, lambda one: (one.blocker, without_ids(one.reason)))
    calls = view.calls_of(Role.JUDGE, event.task_id, event.attempt)
    outage = any(call.failed for call in calls if call.started.iteration == event.iteration)
    not_made = (
        replace(one, reason=_known(one.reason) if outage else one.reason)
        for one in event.results
        if one.source is Source.NOT_CHECKED
    )
    for_one_reason = [
        group for group in alike(not_made, lambda one: without_ids(one.reason)) if len(group) > 1
    ]
    return [
        f"{event.task_id}: power steering: {counts}",
        *(f"    {_severity(group[0])} {_for_one_reason(group)}" for group in unmet_alike),
        *(f"    not checked: {_for_one_reason(group)}" for group in for_one_reason),
    ]


def _known(reason: str) -> str:
    """A reason without the words of the judge's outage, which the line of its call has shown."""
    return NO_ANSWER if reason.startswith(NO_ANSWER) else reason


def _for_one_reason(group: list[CheckResult]) -> str:
    return f"{checks_named(one.consideration_id for one in group)}: {group[0].reason}"


def _severity(result: CheckResult) -> str:
    return "blocker" if result.blocker else "warning"


def _completion_refused(event: e.CompletionRefused) -> list[str]:
    first, *further = [line for line in event.for_people.splitlines() if line.strip()] or [""]
    return [
        f"{event.task_id}: completion not accepted: {short(first, _LONGEST)}",
        *(f"    {short(line, _LONGEST)}" for line in further[:_FEEDBACK_SHOWN]),
    ]


def _committed(event: e.TaskCommitted) -> list[str]:
    return [f"{event.task_id}: committed as {event.commit[:10]}"]


def _guidance_given(event: e.GuidanceGiven) -> list[str]:
    if event.problem:
        return [f"{event.task_id}: no guidance at this checkpoint: {short(event.problem)}"]
    return [f"{event.task_id}: guidance by the Developer: {event.guidance}"] if event.guidance else []


def _stuck(event: e.TaskStuck) -> list[str]:
    return [f"{event.task_id}: stuck: {short(event.reason, 300)}"]


def _failed(event: e.TaskFailed) -> list[str]:
    return [f"{event.task_id}: failed: {short(event.cause, 300)}"]


def _unverified(event: e.TaskUnverified) -> list[str]:
    return [f"{event.task_id}: could not be verified: {short(event.reason, 300)}"]
