"""What happens before the work, in words: the questions about the spec, the forecast, the approval."""

from math import inf
from typing import assert_never

from orchestrator.views.descriptions.description import PLANNER, SQ, Quote, Tone, Words, below
from orchestrator.views.words import DECIDERS, duration, forecast_lines, listed_options
from state.journal import events as e
from state.journal.view import RunView
from state.records.spec_check import SpecFinding, in_a_line
from state.words import fit_words


def before_words(view: RunView, event: e.BeforeEvent) -> list[Words]:
    """Return the words of an event from before the work."""
    run_id = view.started.run_id if view.started else ""
    match event:
        case e.AnswersFound():
            return _answers(event)
        case e.SpecChecked():
            return _checked(view, event)
        case e.SpecQuestionsShown():
            text = (
                "type the number of a question and then that of an option, or words, as in `1 2`. An empty "
                f"line, or waiting until {event.until.astimezone():%H:%M:%S}, takes the recommended options"
            )
            return [Words(kind="spec check", text=text, tone=Tone.WARN)]
        case e.SpecQuestionDecided():
            found = next(one for one in view.plan.before.check.findings if one.id == event.finding_id)
            text = f"{event.finding_id} decided by {DECIDERS[event.by]}"
            quote = Quote(who=PLANNER, texts=(f"{found.question} → {event.answer}",))
            return [Words(kind="spec check", subject="spec", text=text, quotes=(quote,))]
        case e.PlanGiven():
            text = f"{len(event.tasks)} task(s) by {event.file}: no Planner is asked"
            return [Words(kind="plan", subject="plan", text=text)]
        case e.ForecastMade():
            now = view.clock.last_at
            fit = fit_words(event.forecast.fit, now) if event.forecast.fit and now else []
            lines = [*forecast_lines(event.forecast), *(fit or _too_short(view, event))]
            return [Words(kind="forecast", text=line) for line in lines]
        case e.ApprovalAwaited():
            until = f"{event.until.astimezone():%Y-%m-%d %H:%M}"
            text = f"until {until} the plan waits for you: sq plan {run_id}, then sq approve {run_id}"
            return [Words(kind="approval", text=text, tone=Tone.WARN)]
        case e.PlanApproved():
            return [Words(kind="approval", text=f"the plan was approved by {event.by}", tone=Tone.GOOD)]
        case _:
            assert_never(event)


def _too_short(view: RunView, event: e.ForecastMade) -> list[str]:
    """Return that half of such runs take longer than there is time, if so."""
    until, now = view.process.deadline, view.clock.last_at
    left_s = (until - now).total_seconds() if until and now else inf
    if left_s >= event.forecast.seconds_p50:
        return []
    return [
        f"the deadline leaves {duration(left_s)}, half of such runs take longer: what is done then is kept"
    ]


def _answers(event: e.AnswersFound) -> list[Words]:
    many = len(event.answers)
    text = f"{many} answer{'' if many == 1 else 's'} read from {event.file}"
    found = [Words(kind="spec check", subject="spec", text=text)]
    if event.stale:
        stale = below(SQ, [f"its line is gone from the spec: {one}" for one in event.stale])
        text = f"{len(event.stale)} answer(s) in {event.file} belong to another version of the spec"
        found.append(Words(kind="spec check", subject="spec", text=text, tone=Tone.WARN, quotes=stale))
    return found


def _checked(view: RunView, event: e.SpecChecked) -> list[Words]:
    if not event.findings:
        return [Words(kind="spec check", subject="spec", text="read for faults, none was found")]
    new = [one for one in event.findings if view.plan.before.check.answer_to(one) is None]
    before = len(event.findings) - len(new)
    answered = f", {before} of them answered already" if before else ""
    text = f"{len(event.findings)} question(s) before the work{answered}"
    lines = [line for one in new for line in finding_lines(one)]
    return [Words(kind="spec check", subject="spec", text=text, tone=Tone.WARN, quotes=below(PLANNER, lines))]


def finding_lines(finding: SpecFinding) -> list[str]:
    """Return a question about the spec in lines, with its options."""
    weight = "" if finding.decides else ", any answer will do"
    return [
        f"{finding.id} ({finding.kind}, {finding.place}{weight}): {finding.question}",
        f"    the spec: {in_a_line(finding.quote)}",
        f"    why: {finding.why}",
        *(f"    {line}" for line in listed_options(finding.options, finding.recommended)),
    ]


def before_lines(view: RunView) -> list[str]:
    """Return in lines what a run has settled before its work, and what is open of it."""
    before, run_id = view.plan.before, view.started.run_id if view.started else ""
    lines = []
    if before.check.seq:
        decided = len(before.check.findings) - len(before.check.open)
        lines.append(f"questions about the spec: {len(before.check.findings)}, decided: {decided}")
        lines += [line for one in before.check.open for line in finding_lines(one)]
    if before.approved:
        lines.append(f"the plan was approved by {before.approved.by}")
    elif before.awaited and view.ended is None:
        lines.append(f"the plan waits for you: sq plan {run_id}, then sq approve {run_id}")
    return lines
