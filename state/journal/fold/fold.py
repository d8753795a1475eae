"""The fold itself: `fold(events)` makes a view, `fold(more, view)` a later one without changing `view`.

The writer of a run keeps one view current with `apply`. Nouns whose events touch few parts of it are here.
"""

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import replace
from datetime import datetime, timedelta
from typing import assert_never

from state.journal import events as e
from state.journal.events import Stored
from state.journal.events.before import SpecAnswerView
from state.journal.events.evidence import WAITS, BaselineView, CommandsView
from state.journal.events.questions import AskView
from state.journal.events.tasks import ENDED_STAGES, TaskView
from state.journal.fold import calls
from state.journal.fold.pace import note_pace
from state.journal.fold.tasks import apply_merge, apply_review, apply_task, reopen_at_limit, retry
from state.journal.view import RunView, spec_answer
from state.records.plan import Plan
from state.words import decision_line, matched


def apply(view: RunView, stored: Stored) -> None:  # noqa: C901  one case a noun
    """Add one more event to a view."""
    pass_time(view, stored)
    event = stored.event
    note_pace(view.clock.pace, stored)
    match event:
        case _ if isinstance(event, e.RunEvent):
            _apply_run(view, event, stored)
        case _ if isinstance(event, e.CallEvent):
            calls.apply(view, event, stored)
        case _ if isinstance(event, e.BeforeEvent):
            _before(view, event, stored)
        case _ if isinstance(event, e.PlanEvent):
            _plan(view, event)
        case _ if isinstance(event, e.EvidenceEvent):
            _evidence(view, event, stored)
        case _ if isinstance(event, e.TaskEvent):
            apply_task(view, event, stored)
        case _ if isinstance(event, e.ReviewEvent):
            apply_review(view, event, stored)
        case _ if isinstance(event, e.MergeEvent):
            apply_merge(view, event)
        case _ if isinstance(event, e.QuestionEvent):
            _question(view, event, stored)
        case _ if isinstance(event, e.PeopleEvent):
            _people(view, event)
        case _ if isinstance(event, e.CheckoutEvent):
            _checkout(view, event)
        case _:
            assert_never(event)


def fold(events: Iterable[Stored], start: RunView | None = None) -> RunView:
    """Return the view after these events. They continue from `start`, which is not changed."""
    view = deepcopy(start) if start else RunView()
    for stored in events:
        apply(view, stored)
    return view


def _plan(view: RunView, event: e.PlanEvent) -> None:
    """Add an event of the analysis or the plan to the view of its run."""
    plan = view.plan
    match event:
        case e.SpecTaken():
            plan.origin = event
        case e.AnalysisProposed():
            plan.proposed_analysis, plan.unusable = event.analysis, 0
        case e.AnalysisRejected():
            plan.proposed_analysis = None
            plan.analysis_rejections.append(event)
        case e.RepositoryAnalyzed():
            plan.analysis = event.analysis
            view.context.discoveries.extend(event.analysis.patterns)
        case e.PlanProposed():
            plan.proposed = Plan(
                tasks=event.tasks,
                criteria=event.criteria,
                tests_that_change=event.tests_that_change,
                readings=event.readings,
            )
            plan.unusable = 0
        case e.PlanRejected():
            plan.proposed = None
            plan.rejections.append(event)
        case e.PlanAccepted():
            plan.criteria, plan.tests_that_change = event.criteria, event.tests_that_change
            plan.readings = event.readings
            plan.reviewed, plan.suggestions = event.reviewed, event.suggestions
            view.tasks = {task.id: TaskView(task) for task in event.tasks}
        case _:
            assert_never(event)


def _before(view: RunView, event: e.BeforeEvent, stored: Stored) -> None:
    """Add an event from before the work to the view of its run."""
    before = view.plan.before
    match event:
        case e.AnswersFound():
            before.check.answers = event
            before.check.held = [
                SpecAnswerView(given=one, seq=stored.seq, at=stored.at) for one in event.answers
            ]
            view.context.decisions.extend(f"{one.question} → {one.answer}" for one in event.answers)
        case e.SpecChecked():
            before.check.findings, before.check.seq, before.check.at = event.findings, stored.seq, stored.at
            asked = matched(event.findings, [one.given for one in before.check.held])
            before.check.held = [
                replace(held, finding=one) for held, one in zip(before.check.held, asked, strict=True)
            ]
        case e.SpecQuestionsShown():
            before.check.shown = event
        case e.SpecQuestionDecided():
            finding = next(one for one in before.check.findings if one.id == event.finding_id)
            given = finding.answered(event.answer, event.by)
            held = SpecAnswerView(given=given, seq=stored.seq, at=stored.at, finding=finding, why=event.why)
            before.check.held.append(held)
            view.context.decisions.append(decision_line(spec_answer(held)))
        case e.PlanGiven():
            before.plan = event
        case e.ForecastMade():
            before.forecast = event.forecast
        case e.ApprovalAwaited():
            before.awaited = event
        case e.PlanApproved():
            before.approved = event
        case _:
            assert_never(event)


def _evidence(view: RunView, event: e.EvidenceEvent, stored: Stored) -> None:  # noqa: C901, PLR0912  one case an event
    """Add an event of the project's commands to the view of its run."""
    under_way, evidence = view.evidence.commands, view.evidence
    match event:
        case e.BaselineStarted():
            under_way["baseline"] = CommandsView("baseline", "", event.commands, stored.at)
        case e.BaselineTaken():
            under_way.pop("baseline", None)
            _take_baseline(view, event, stored)
        case e.SetUpStarted():
            purpose = "wait for another set-up" if event.waits else "set-up"
            under_way[f"set-up {event.folder}"] = CommandsView(purpose, event.task_id, event.steps, stored.at)
        case e.WorkspaceSetUp():
            under_way.pop(f"set-up {event.folder}", None)
            evidence.not_again |= dict.fromkeys(event.not_again)
            evidence.seals |= {key: seal for key, _, seal in (one.partition(" ") for one in event.seals)}
            failed = (f"the set-up `{one.command}` failed" for one in event.runs if not one.passed)
            evidence.not_set_up |= dict.fromkeys((*event.left_out, *failed))
        case e.WorkGiven():
            view.whole.commit, view.whole.tree = event.commit, event.tree
        case e.VerificationStarted():
            begun = CommandsView("verification", event.task_id, event.commands, stored.at)
            under_way[f"verification {event.task_id}"] = begun
        case e.VerificationFinished():
            under_way.pop(f"verification {event.task_id}", None)
            evidence.verifications[event.tree], evidence.verified_at[event.tree] = event, stored.seq
        case e.ProofsTaken():
            evidence.proofs[event.task_id, event.tree] = event
            evidence.proved_at[event.task_id, event.tree] = stored.seq
        case e.TurnAwaited():
            under_way[f"turn {event.turn}"] = CommandsView(WAITS, event.task_id, (event.command,), stored.at)
        case e.TurnTaken():
            under_way.pop(f"turn {event.turn}", None)
        case e.CommandStarted():
            begun = CommandsView(event.purpose, event.task_id, (event.command,), stored.at, event)
            for key in [key for key, one in under_way.items() if one.is_cut and one.task_id == event.task_id]:
                del under_way[key]
            under_way[f"command {event.number}"] = begun
        case e.CommandEnded():
            one = under_way.pop(f"command {event.number}", None)
            if one and event.cut_off:
                under_way[f"command {event.number}"] = replace(one, started=None, is_cut=True)
            elif one:
                evidence.took.setdefault(one.commands[0], event.seconds)
        case _:
            assert_never(event)


def _take_baseline(view: RunView, event: e.BaselineTaken, stored: Stored) -> None:
    """Record a new baseline. A baseline of commands from the analysis adds to the one before.

    One of which everything was kept has been asked for them already.
    """
    earlier = view.baseline
    before = earlier if event.of_analysis else BaselineView()
    if earlier.of_analysis and earlier.checks.keys() <= set(event.kept):
        before = BaselineView(not_run=earlier.not_run, of_analysis=True)
    view.baseline = BaselineView(
        checks={**before.checks, **{check.run.command: check for check in event.checks}},
        tree=event.tree,
        seq=stored.seq,
        notes=(*before.notes, *event.notes),
        not_run=(*before.not_run, *event.not_run),
        exports=before.exports or event.exports,
        left_out=(*before.left_out, *event.left_out),
        rewritten=tuple(dict.fromkeys((*earlier.rewritten, *event.rewritten))),
        of_analysis=event.of_analysis or before.of_analysis,
    )


def _question(view: RunView, event: e.QuestionEvent, stored: Stored) -> None:
    """Add an event of a question to the view of its run."""
    match event:
        case e.QuestionsAsked():
            view.asks[event.ask_id] = AskView(event, stored.seq, at=stored.at)
            for given in event.rejects:
                view.asks[given.ask_id].rejected.add(given.question)
            if event.rejects:
                held = (answer for ask in view.asks.values() for answer in ask.held)
                view.context.decisions = [decision_line(answer) for answer in held]
        case e.QuestionsAnswered():
            view.asks[event.ask_id].answered = event
            view.context.decisions.extend(map(decision_line, event.answers))
        case e.QuestionsFailed():
            view.asks[event.ask_id].failed = event
            view.context.errors.append(f"question: {event.cause}")
        case e.QuestionsParked():
            ask = view.asks[event.ask_id]
            ask.parked = event
            if (task := view.tasks.get(ask.asked.task_id)) and ask.asked.call_id in task.open.calls:
                task.open.waits = event.ask_id
        case _:
            assert_never(event)


def _people(view: RunView, event: e.PeopleEvent) -> None:
    """Add an event of a person to the view of its run."""
    people = view.context.people
    people.taken.add(event.word_id)
    match event:
        case e.WordSaid():
            people.said.append(event)
            if view.tasks and all(task.stage in ENDED_STAGES for task in view.tasks.values()):
                people.late.add(event.word_id)
        case e.RunPaused():
            people.paused = event
        case e.RunContinued():
            people.paused = None
        case e.PersonAnswered():
            _answered(view, event)
        case e.WordRefused():
            pass
        case _:
            assert_never(event)


def _answered(view: RunView, event: e.PersonAnswered) -> None:
    """Add a person's answer. When the last question of its call is answered, its task goes on."""
    ask = view.asks[event.ask_id]
    ask.given[event.answer.question] = event.answer
    if ask.is_waiting:
        return
    own = {answer.question: answer for answer in (ask.parked.answers if ask.parked else ())} | ask.given
    answers = tuple(own[question.text] for question in ask.asked.questions if question.text in own)
    ask.answered = e.QuestionsAnswered(ask_id=event.ask_id, answers=answers, model="")
    view.context.decisions.extend(map(decision_line, answers))
    if task := view.tasks.get(ask.asked.task_id):
        task.open.waits = ""
    view.checkout.left = view.checkout.kept = None  # the work goes on


def _checkout(view: RunView, event: e.CheckoutEvent) -> None:  # noqa: C901, PLR0912  one case an event
    """Add an event of the user's checkout to the view of its run."""
    match event:
        case e.UsersWorkKept():
            view.checkout.users_work = event
            if event.base:
                view.whole.commit = view.checkout.own_base = event.base
        case e.UsersWorkRestored():
            view.checkout.left_tree = event.tree
            if event.task_id and view.tasks[event.task_id].open.trees:
                view.tasks[event.task_id].open.trees[-1] = event.tree
        case e.WorkCaughtUp():
            view.whole.commit, view.whole.tree = event.commit, event.tree
        case e.WorkDelivered():
            view.checkout.delivered = event
        case e.WorkLeft():
            view.checkout.left = event
        case e.WorkKept():
            view.checkout.kept = event
        case e.GitFolderChanged():
            view.checkout.changed_git = event.paths
        case e.PullRequestMade():
            view.checkout.pull_request = event
        case e.WorkRescued(claimed=True) if task := view.tasks.get(event.task_id):
            task.claim.handed_over = event.ref
        case e.WorkRescued() | e.DeliveryStarted():
            pass
        case _:
            assert_never(event)


def pass_time(view: RunView, stored: Stored) -> None:
    """Record the time and place of one more event. Time between processes or after the end does not count."""
    clock = view.clock
    if isinstance(stored.event, e.RunResumed):
        calls.stop_clocks(view)
        view.evidence.commands = {}
    elif clock.last_at and not (clock.waits or view.ended):
        clock.worked_s += (stored.at - clock.last_at).total_seconds()
    clock.last_seq, clock.last_at = stored.seq, stored.at
    before, waited = view.plan.before, clock.waits
    if isinstance(stored.event, e.ApprovalAwaited | e.SpecQuestionsShown):
        clock.waits = True
    elif isinstance(stored.event, e.RunResumed):
        clock.waits = before.awaited is not None and before.approved is None
    elif isinstance(stored.event, e.PlanApproved | e.SpecQuestionDecided | e.RunEnded):
        clock.waits = False
    if clock.waits is not waited:
        view.process.deadline = _deadline(view, stored)


def _apply_run(view: RunView, event: e.RunEvent, stored: Stored) -> None:
    """Add an event of the run as a whole to its view."""
    match event:
        case e.RunStarted():
            view.started, view.clock.started_at = event, stored.at
            view.whole.commit, view.settings = event.base_commit, event.settings
            view.process.deadline = _deadline(view, stored)
        case e.RunResumed():
            _resumed(view, event, stored)
        case e.RunInterrupted():
            view.process.interrupted_by = event.by
        case e.LimitReached():
            view.process.limit, view.process.is_late = event.cause, event.late
        case e.LandingStarted():
            view.process.limit, view.process.landing = event.cause, event
        case e.RunEnded():
            view.ended, view.clock.ended_seq = event, stored.seq
        case e.NoticeSent():
            view.notices[event.of_seq, event.to] = event
        case e.InstructionsRead():
            view.context.instructions = event
        case _ if isinstance(event, e.RunNote):
            pass
        case _:
            assert_never(event)


def _deadline(view: RunView, stored: Stored) -> datetime | None:
    """Return when the time of the process is over as of this event, by the settings.

    While a person is waited for, `limits.run_s` does not run.
    """
    if view.settings is None:
        return None
    limits = view.settings.limits
    found = [datetime.fromisoformat(limits.deadline)] if limits.deadline else []
    if limits.run_s is not None and not view.clock.waits:
        found.append(stored.at + timedelta(seconds=max(0.0, limits.run_s - view.clock.worked_s)))
    return min(found, default=None)


def _resumed(view: RunView, event: e.RunResumed, stored: Stored) -> None:
    calls.resume(view, killed=not (view.process.interrupted_by or view.ended))
    landed = view.process.landing is not None or view.process.is_late
    view.process = replace(
        view.process,
        resumptions=view.process.resumptions + 1,
        resumed=event,
        resumed_seq=stored.seq,
        interrupted_by="",
        limit="",
        landing=None,
        is_late=False,
        quiet_until=None,
        judge_answers=False,
        judge_refused="",
        budget_usd=event.budget_usd or view.process.budget_usd,
        max_iterations=event.max_iterations or view.process.max_iterations,
    )
    if view.settings:
        if event.verify not in {None, view.settings.verify}:
            view.process.verify_changed = (stored.seq, stored.at)
        view.settings = replace(
            view.settings,
            verify=view.settings.verify if event.verify is None else event.verify,
            models={**view.settings.models, **event.models},
            questions=event.questions or view.settings.questions,
            max_parallel=event.max_parallel or view.settings.max_parallel,
            sandbox=replace(view.settings.sandbox, mode=event.sandbox_mode or view.settings.sandbox.mode),
            limits=view.settings.limits
            if event.deadline is None
            else replace(view.settings.limits, deadline=event.deadline),
        )
    reopens = view.ended is not None and (view.ended.resumable or bool(event.retry))
    again = view.ended and event.verify  # the finished work is verified again
    if reopens or landed or again:
        view.checkout.delivered = view.checkout.left = view.checkout.kept = None
    if reopens:
        view.clock.earlier_s, view.clock.worked_s = view.clock.all_s, 0.0
        reopen_at_limit(view)
        calls.reopen_failed(view)
    for task_id in event.retry:
        retry(view.tasks[task_id])
    view.ended = None
    view.process.deadline = _deadline(view, stored)
