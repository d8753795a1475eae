"""The run as a whole in words: its start, plan and ends, questions, what people said, the user's checkout."""

from typing import assert_never

from orchestrator.views.descriptions.description import (
    DEVELOPER,
    PERSON,
    PLANNER,
    REVIEWER,
    SQ,
    WORKER,
    Place,
    Quote,
    Tone,
    Words,
    below,
    suggested,
)
from orchestrator.views.words import (
    git_sentence,
    host_words,
    merge_words,
    package_words,
    plan_lines,
    short,
)
from state.journal import events as e
from state.journal.view import RunView
from state.outcome import MEANINGS, Outcome
from state.records.questions import Answer

REHEARSAL = "The model is a script: this is a rehearsal."
_REASON = 300  # characters of a reason in a line


def run_words(view: RunView, event: e.RunEvent) -> list[Words]:  # noqa: C901  one case an event
    """Return the words of an event of the run as a whole."""
    run_id = view.started.run_id if view.started else ""
    match event:
        case e.RunStarted():
            return _started(event)
        case e.RunResumed():
            again = f", and tries again: {', '.join(event.retry)}" if event.retry else ""
            kept = ": its process was killed, and --keep began another" if event.kept else ""
            is_played = bool(view.started and view.started.rehearsal)
            rehearsal = [Words(kind="run", text=REHEARSAL)] if is_played else []
            return [*rehearsal, Words(kind="run", text=f"run {run_id} goes on{again}{kept}")]
        case e.RunInterrupted():
            text = f"interrupted ({event.by}): the state is saved. Go on with: sq resume {run_id}"
            return [Words(kind="run", text=text, tone=Tone.WARN)]
        case e.LimitReached() | e.LimitNear():
            return [Words(kind="limit", text=f"limit: {event.cause}", tone=Tone.WARN)]
        case e.LandingStarted():
            until = f"{event.until.astimezone():%Y-%m-%d %H:%M:%S}"
            text = f"landing ({event.cause}): no task is begun, verified work is merged until {until}"
            return [Words(kind="limit", text=text, tone=Tone.WARN, until=event.until)]
        case e.RunEnded():
            why = event.cause or MEANINGS[event.outcome]
            tone = Tone.GOOD if event.outcome is Outcome.COMPLETE else Tone.BAD
            text = f"{event.outcome} (exit code {event.outcome.exit_code}): {why}"
            return [Words(kind="run", text=text, tone=tone)]
        case e.NoticeSent():
            text = f"the notice `{event.kind}` to {event.to} was {'' if event.ok else 'not '}sent"
            problem = Quote(who=SQ, texts=(event.problem,), most=_REASON)
            return [Words(kind="notice", text=text, quotes=(problem,), is_told=not event.ok)]
        case e.DependenciesAdded():
            return [Words(kind="hosts", text=line) for line in package_words(event.packages, event.more)]
        case e.InstructionsRead():
            return [Words(kind="run", text=line) for line in event.lines]
        case e.HostsUsed():
            return [
                Words(kind="hosts", text=text, tone=Tone.WARN if one.refusals else Tone.CALM)
                for one in event.hosts
                for text in host_words(one)
            ]
        case _:
            assert_never(event)


def _handed_over(event: e.PullRequestMade) -> Words:
    did = "opened" if event.is_new else "brought up to date"
    draft = ", a draft" if event.draft else ""
    text = f"pull request {event.repository}#{event.number} {did}{draft}: {event.url}"
    return Words(kind="pull request", text=text, tone=Tone.GOOD)


def _started(event: e.RunStarted) -> list[Words]:
    model = f"The model is real, reached by {event.credentials}."
    if event.rehearsal:
        model = f"{REHEARSAL} {event.confined.agent} is real, no model is asked and nothing is charged."
    branch = event.base_branch or "a detached HEAD"
    where = f"on {branch} at {event.base_commit[:10]}"
    how = f"effort {event.settings.effort.name}, contained by {event.confined.containment}"
    about = f"run {event.run_id}: {event.spec_name} in {event.repository} ({where}, {how})"
    return [Words(kind="run", text=one) for one in (model, about, *(f"note: {note}" for note in event.notes))]


def plan_words(event: e.PlanEvent) -> Words:
    """Return the words of an event of the analysis or the plan."""
    match event:
        case e.SpecTaken():
            origin = f"the text of {event.issue}" if event.issue else "what a review asks for"
            return Words(kind="plan", subject="spec", text=origin, is_told=False)
        case e.AnalysisProposed():
            return Words(kind="analysis", subject="analysis", text="proposed", is_told=False)
        case e.AnalysisRejected():
            text = "the analysis goes back to the planner:"
            return Words(kind="analysis", text=text, tone=Tone.WARN, quotes=below(REVIEWER, event.problems))
        case e.RepositoryAnalyzed(analysis=found):
            text = (
                f"skipped, {event.skipped}"
                if event.skipped
                else f"{found.project_type} ({', '.join(found.stack)})"
            )
            return Words(kind="analysis", subject="analysis", text=text)
        case e.PlanProposed():
            return Words(
                kind="plan", subject="plan", text=f"{len(event.tasks)} task(s) proposed", is_told=False
            )
        case e.PlanRejected():
            quotes = (*below(SQ, event.problems), *suggested(event.suggestions))
            return Words(
                kind="plan", subject="plan", text="sent back to the planner", tone=Tone.WARN, quotes=quotes
            )
        case e.PlanAccepted():
            return _accepted(event)
        case _:
            assert_never(event)


def _accepted(event: e.PlanAccepted) -> Words:
    unplaced = [
        f"{one.id} is not in the spec in these words: {short(one.quote or one.text)}"
        for one in event.criteria
        if not one.is_placed
    ]
    tasks = [line.removeprefix("    ") for line in plan_lines(event.tasks)]
    return Words(
        kind="plan",
        subject="plan",
        text=f"{len(event.tasks)} task(s), {len(event.criteria)} criteria covered",
        quotes=(*below(PLANNER, tasks), *below(SQ, unplaced), *suggested(event.suggestions)),
    )


def question_words(view: RunView, event: e.QuestionEvent) -> list[Words]:
    task_id = view.asks[event.ask_id].asked.task_id
    match event:
        case e.QuestionsAsked():
            return _asked(event)
        case e.QuestionsAnswered():
            again = ", as before the interruption" if event.reused else ""
            again = ", as the same question before" if event.reused_from else again
            text = f"answer by the Developer ({event.model}{again})"
            return [
                Words(kind="answer", subject=task_id, text=text, quotes=_answered(answer))
                for answer in event.answers
            ]
        case e.QuestionsFailed():
            text = f"question not answered: {event.cause}"
            return [Words(kind="no answer", text=text, tone=Tone.WARN)]
        case e.QuestionsParked():
            would = "; ".join(filter(None, (answer.text for answer in event.answers)))
            said = f" (the Developer would have said: {would})" if would else ""
            asked = Quote(who=WORKER, texts=(f"{event.question}{said}",))
            text = f"question parked for a person. {_how_to_answer(view, event.ask_id)}"
            return [Words(kind="parked", subject=task_id, text=text, tone=Tone.BAD, quotes=(asked,))]
        case _:
            assert_never(event)


def _how_to_answer(view: RunView, ask_id: str) -> str:
    """Return the command that answers each question of a parked call, with its name."""
    run_id = view.started.run_id if view.started else ""
    names = [name for name, (ask, _) in view.parked_questions.items() if ask.asked.ask_id == ask_id]
    return "; ".join(f'Answer {name}: sq answer {run_id} {name} "…"' for name in names)


def _asked(event: e.QuestionsAsked) -> list[Words]:
    found = []
    for question in event.questions:
        options = " / ".join(option.label for option in question.options)
        asked = question.text + (f" [{options}]" if options else "")
        text = "question, asked again" if question.text in event.again else "question"
        quote = Quote(who=WORKER, texts=(asked,))
        found.append(Words(kind="question", subject=event.task_id, text=text, quotes=(quote,)))
    return found


def _answered(answer: Answer) -> tuple[Quote, ...]:
    why = f" ({answer.reason})" if answer.reason else ""
    undo = "easy to undo" if answer.reversible else "not easy to undo"
    grounds = f"basis: {answer.basis}, {undo}\n{answer.evidence}".strip()
    return (
        Quote(who=DEVELOPER, texts=(f"{answer.marked}{why}",)),
        Quote(who=DEVELOPER, texts=(grounds,), place=Place.MORE, title="its basis"),
    )


def checkout_words(view: RunView, event: e.CheckoutEvent) -> list[Words]:  # noqa: C901  one case an event
    """Return the words of an event of the user's checkout."""
    match event:
        case e.UsersWorkKept():
            return _kept_aside(view, event)
        case e.UsersWorkRestored():
            return _restored(event)
        case e.WorkRescued(claimed=True):
            text = f"it was claimed and is not verified: the work is on {event.ref}"
            return [Words(kind="task", subject=event.task_id, text=text, tone=Tone.WARN)]
        case e.WorkRescued():
            text = f"its unfinished work is taken out of the checkout and kept as {event.ref}"
            return [Words(kind="checkout", subject=event.task_id, text=text)]
        case e.GitFolderChanged():
            return [Words(kind="checkout", text=git_sentence(event.paths), tone=Tone.WARN)]
        case e.WorkCaughtUp():
            return _told(f"the finished work is merged with your new commits ({event.onto[:10]})")
        case e.DeliveryStarted():
            at = event.commit[:10]
            return _told(f"the last step: {event.branch} moves to {at} if the checkout allows it")
        case e.WorkDelivered():
            at = event.commit[:10]
            return _told(f"{event.branch} was moved forward to {at}, which is the finished work")
        case e.WorkLeft():
            where = view.started.repository if view.started else "the checkout"
            return _told(
                f"the finished work is in {where}, neither staged nor committed, and kept too as {event.ref}"
            )
        case e.WorkKept():
            take = f"Take it: git {merge_words(event.branch, event.reason)}"
            text = f"the work is on branch {event.branch} ({event.commit[:10]}): {event.reason}. {take}"
            is_work = not (view.started and event.commit == view.started.base_commit)
            return [Words(kind="checkout", text=text, is_told=is_work)]
        case e.PullRequestMade():
            return [_handed_over(event)]
        case _:
            assert_never(event)


def _told(text: str) -> list[Words]:
    return [Words(kind="checkout", text=text)]


def _kept_aside(view: RunView, event: e.UsersWorkKept) -> list[Words]:
    copied = f"{len(event.paths)} uncommitted path(s) of yours are copied, kept as {event.ref}"
    is_told = bool(event.paths) and not (view.started and view.started.edit_dirty)
    found = [Words(kind="checkout", text=copied, is_told=is_told)]
    if event.not_kept:
        found += _told(f"{event.not_kept}: agents' file tools leave them alone, nothing else is checked")
    return found


def _restored(event: e.UsersWorkRestored) -> list[Words]:
    lines = []
    if event.heads:
        lines.append(
            f"an agent had moved HEAD: it is where you had it, and its commits are kept as {event.ref}"
        )
    if event.indexes:
        lines.append(f"the index is as you had it, and later staged changes are kept as {event.ref}")
    if event.elsewhere:
        lines.append(
            f"HEAD was moved in {', '.join(event.elsewhere)}, by no agent: it stays, and the index too"
        )
    if event.ignored:
        lines.append(
            f"ignored files put back: {', '.join(event.ignored)}, the run's version of them: {event.replaced}"
        )
    if event.problem:
        lines.append(f"your uncommitted work could not be put back: {event.problem}")
    found = _told(f"put back as you had it: {', '.join(event.paths)}") if event.paths else []
    if event.overwritten:
        text = f"the run's version of {', '.join(event.overwritten)} is kept as {event.ref}"
        found.append(Words(kind="checkout", text=text, is_detail=True))
    return [*found, *(Words(kind="checkout", text=line) for line in lines)]


def people_words(view: RunView, event: e.PeopleEvent) -> Words:
    """Return the words of an event of a person."""
    run_id = view.started.run_id if view.started else ""
    match event:
        case e.WordSaid():
            text = f"{event.by} says to {event.task_id or 'all'}"
            return Words(kind="said", text=text, quotes=(_spoken(event.text),))
        case e.PersonAnswered():
            ask = view.asks[event.ask_id]
            quotes = (_spoken(event.answer.question), _spoken(event.answer.text))
            text = f"{event.by} answers the parked question"
            return Words(kind="answer", text=text, subject=ask.asked.task_id, quotes=quotes, tone=Tone.GOOD)
        case e.RunPaused():
            text = f"{event.by} pauses the run before its next exchange. Go on with: sq continue {run_id}"
            return Words(kind="pause", text=text, tone=Tone.WARN)
        case e.RunContinued():
            return Words(kind="pause", text=f"{event.by} lets the run go on")
        case e.WordRefused():
            text = f"nothing was done with what {event.by} said ({event.reason})"
            quote = Quote(who=PERSON, texts=(event.text,)) if event.text else Quote(who=SQ, texts=("",))
            return Words(kind="said", text=text, tone=Tone.WARN, quotes=(quote,))
        case _:
            assert_never(event)


def _spoken(text: str) -> Quote:
    return Quote(who=PERSON, texts=(text,))
