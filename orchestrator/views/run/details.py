"""The runs of a state folder as a table, and one run in full: tasks, questions, checks, the next command."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePath
from shlex import quote

from orchestrator.views.descriptions.before import before_lines
from orchestrator.views.models.criteria import CommandFacts, CriterionRow, criteria_of, facts_of
from orchestrator.views.models.decisions import Decision, decisions_of
from orchestrator.views.models.running import commands_words
from orchestrator.views.models.spend import RoleSpending, cost_line, spending, spending_lines, spending_of
from orchestrator.views.models.summary import RunState, RunSummary, stage_word, summary_of, waiting_lines
from orchestrator.views.run.ending import (
    confinement_lines,
    git_lines,
    lacking_lines,
    retry_command,
    strength_lines,
    unchecked_lines,
    unheard_lines,
    where_lines,
)
from orchestrator.views.words import (
    columns,
    duration,
    evidence_line,
    issue_lines,
    local_time,
    merge_words,
    said,
    short,
)
from state.errors import JournalError, UsageError
from state.journal.events import VerificationFinished
from state.journal.events.tasks import Stage, TaskView
from state.journal.fold.fold import apply
from state.journal.store import JournalReader, is_active, journal_file
from state.journal.view import RunView
from state.outcome import MEANINGS, Outcome
from state.paths import StateFolder
from state.records.commands import BaselineCheck
from state.records.questions import Basis
from state.records.reviews import Finding, FindingState, ReviewIssue
from state.words import baseline_words, count_words

_SET_ASIDE = {FindingState.DISPUTED, FindingState.WONT_FIX}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDetails:
    """A task. `issues` are the open ones, `findings` all, `reason` says why it cannot go on.

    `state` is its stage in words, `commands` which of sq's commands runs for it, or was cut off.
    """

    id: str
    title: str
    stage: Stage
    attempt: int
    iteration: int
    issues: tuple[ReviewIssue, ...]
    findings: tuple[Finding, ...]
    reason: str
    branch: str
    worktree: str
    commit: str
    state: str = ""
    commands: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceDetails:
    """The results of the project's own commands in a run. `commands`: the newest ones of the merged work.

    `before` says in lines what was settled before the work: the questions about the spec, forecast, approval.
    """

    baseline: tuple[BaselineCheck, ...]
    baseline_notes: tuple[str, ...]
    verifications: tuple[VerificationFinished, ...]
    merged_tree: str
    unchecked: tuple[str, ...]
    criteria: tuple[CriterionRow, ...]
    commands: tuple[CommandFacts, ...]
    before: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDetails(EvidenceDetails):
    """Everything that `sq status RUN` shows, with its evidence."""

    summary: RunSummary
    exit_code: int | None
    cause: str
    repository: str
    base: str
    effort: str
    resumptions: int
    notes: tuple[str, ...]
    tasks: tuple[TaskDetails, ...]
    questions: tuple[Decision, ...]
    where: tuple[str, ...]
    confined: tuple[str, ...]
    cost: str
    roles: tuple[RoleSpending, ...]
    next_command: str
    waiting: tuple[str, ...] = ()


def details_of(
    view: RunView, summary: RunSummary, *, options: str = "", answered: Collection[str] = ()
) -> RunDetails:
    """A run in full. `options` is as for `summary_of`."""
    started, ended, active = view.started, view.ended, summary.state is RunState.ACTIVE
    return RunDetails(
        summary=summary,
        exit_code=ended.outcome.exit_code if ended else None,
        cause=_cause(view),
        repository=started.repository if started else "",
        base=f"{started.base_branch or 'a detached HEAD'} at {started.base_commit[:10]}" if started else "",
        effort=started.settings.effort.name if started else "",
        resumptions=view.process.resumptions,
        notes=started.notes if started else (),
        tasks=tuple(_task(view, id_, task, active=active) for id_, task in view.tasks.items()),
        questions=tuple(decisions_of(view)),
        baseline=tuple(view.baseline.checks.values()),
        baseline_notes=view.baseline.notes,
        verifications=tuple(view.evidence.verifications.values()),
        merged_tree=view.whole.tree,
        unchecked=(*strength_lines(view), *unchecked_lines(view), *unheard_lines(view)),
        criteria=criteria_of(view),
        commands=facts_of(view),
        before=(*spending(view).outlook, *before_lines(view)),
        where=(*where_lines(view), *git_lines(view)),
        confined=(*confinement_lines(view), *lacking_lines(view)),
        cost=cost_line(view),
        roles=spending_of(view),
        next_command=_next_command(view, summary, options),
        waiting=(*_deadline(view), *waiting_lines(view, answered)),
    )


def _deadline(view: RunView) -> Iterator[str]:
    """Yield when the time of a run that has not ended is over."""
    if view.process.deadline and not view.ended:
        yield f"deadline: {local_time(view.process.deadline)}"


def detail_lines(details: RunDetails) -> list[str]:
    """A run as lines, for a person who comes back to it."""
    return [
        *_head(details),
        *details.before,
        *details.waiting,
        *_task_lines(details.tasks),
        *_criterion_lines(details.criteria),
        *_question_lines(details.questions),
        *_baseline_lines(details),
        *_verification_lines(details),
        *details.unchecked,
        *details.where,
        *details.confined,
        details.cost,
        *spending_lines(details.roles),
        f"next: {details.next_command}",
    ]


def _cause(view: RunView) -> str:
    if view.ended:
        return view.ended.cause or MEANINGS[view.ended.outcome]
    return f"stopped by {view.process.interrupted_by}" if view.process.interrupted_by else ""


def _task(view: RunView, task_id: str, task: TaskView, *, active: bool) -> TaskDetails:
    return TaskDetails(
        id=task_id,
        title=task.task.title,
        stage=task.stage,
        attempt=task.attempt,
        iteration=task.iteration,
        issues=task.review.issues,
        findings=task.review.findings,
        reason=task.end.reason,
        branch=task.place.branch,
        worktree=task.place.worktree,
        commit=task.claim.commit,
        state=stage_word(view, task_id),
        commands=commands_words(view, task_id, active=active),
    )


def _next_command(view: RunView, summary: RunSummary, options: str) -> str:
    logs = f"sq logs {summary.run_id}{options}"
    if summary.next_command:
        return summary.next_command
    if summary.state is RunState.ACTIVE:
        return f"{logs} --follow"
    started = view.started
    if summary.outcome is not Outcome.COMPLETE and (again := retry_command(view)):
        return f"{again}{options}"
    if started and view.checkout.delivered:
        span = f"{started.base_commit[:10]}..{view.checkout.delivered.commit[:10]}"
        return f"git -C {quote(started.repository)} log --stat {span}"
    if started and view.checkout.kept and view.whole.tree and summary.outcome is Outcome.COMPLETE:
        kept = view.checkout.kept
        return f"git -C {quote(started.repository)} {merge_words(kept.branch, kept.reason)}"
    return logs


def _head(details: RunDetails) -> Iterator[str]:
    summary = details.summary
    yield f"run {summary.run_id}: {summary.spec_name or 'nothing is known of it'}"
    code = f" (exit code {details.exit_code})" if details.exit_code is not None else ""
    yield f"state: {state_text(summary)}{code}" + (f": {details.cause}" if details.cause else "")
    if summary.started_at:
        again = f", resumed {details.resumptions} time(s)" if details.resumptions else ""
        yield f"started: {local_time(summary.started_at)}, lasted {duration(summary.seconds)}{again}"
        yield f"repository: {details.repository}, from {details.base}, effort {details.effort}"
    yield from (f"note: {note}" for note in details.notes)


def _task_lines(tasks: tuple[TaskDetails, ...]) -> Iterator[str]:
    if not tasks:
        yield "tasks: there is no accepted plan"
        return
    yield "tasks:"
    header = ("task", "title", "stage", "attempt", "iteration", "open issues")
    rows = [
        (task.id, task.title, task.state, str(task.attempt), str(task.iteration), str(len(task.issues)))
        for task in tasks
    ]
    yield from columns(header, rows, indent="  ")
    for task in tasks:
        if task.commands:
            yield f"  {task.id}: {task.commands}"
        if task.reason:
            yield f"  {task.id}: {task.stage}: {task.reason}"
        if task.issues:
            yield f"  {task.id}: open issues"
            yield from (line for issue in task.issues for line in issue_lines(issue))
        for one in task.findings:
            if one.state in _SET_ASIDE:
                about = f"{one.issue.location} ({one.issue.type}): {one.issue.description}"
                yield f"  {task.id}: {one.state}: {about}" + (f" ({one.note})" if one.note else "")


def _criterion_lines(criteria: tuple[CriterionRow, ...]) -> Iterator[str]:
    if criteria:
        yield "criteria of the spec:"
    for row in criteria:
        place = row.place or "not in the spec in these words"
        yield f"  {row.id} {row.state}: {row.text} ({place}; {', '.join(row.tasks)})"
        if row.note:
            yield f"    {row.note}"
        yield from (f"    {evidence_line(one)}" for one in row.evidence)
        if row.words and row.proof is None:
            yield f"    {row.by}: {row.words}"


def _question_lines(questions: tuple[Decision, ...]) -> Iterator[str]:
    if questions:
        yield "questions:"
    for asked in questions:
        options = " / ".join(option.label for option in asked.question.options)
        yield f"  {asked.task_id}: {asked.question.text}" + (f" [{options}]" if options else "")
        if asked.answer and not asked.parked:
            why = f" ({asked.answer.reason})" if asked.answer.reason else ""
            who = "a person" if asked.answer.basis is Basis.PERSON else asked.model
            yield f"    {who} answers: {asked.answer.text}{why}"
        else:
            yield f"    not answered: {asked.problem or 'the answer has not come yet'}"


def _baseline_lines(details: RunDetails) -> Iterator[str]:
    if details.baseline or details.baseline_notes:
        yield "baseline, before any change:"
    yield from (f"  {baseline_words(check)}" for check in details.baseline)
    yield from (f"  {note}" for note in details.baseline_notes)


def _verification_lines(details: RunDetails) -> Iterator[str]:
    if details.verifications:
        yield "verification, by sq itself:"
    for verified in details.verifications:
        merged = ", the merged work" if verified.tree == details.merged_tree else ""
        subject = f"  {verified.task_id or 'the whole'} (tree {verified.tree[:10]}{merged})"
        if not verified.runs:
            yield f"{subject}: nothing to verify with"
        for done in verified.runs:
            counted = count_words(done.count)
            yield f"{subject}: `{done.command}` {said(done)}, {counted} ({done.seconds:.1f} s)"


class RunList:
    """The runs of a state folder in short. The journal of a run is read further only once it has grown."""

    def __init__(self, state: StateFolder, options: str) -> None:
        """Begin with no run read. `options` are for commands to find a run again."""
        self._state, self._options = state, options
        self._known: dict[str, tuple[RunView, list[int]]] = {}

    def all(self) -> list[RunSummary]:
        """Return all runs, newest first."""
        return [self.summary(run_id) for run_id in reversed(self._state.run_ids())]

    def summary(self, run_id: str) -> RunSummary:
        """Return a run in short. A damaged one does not hide the others."""
        folder = self._state.runs / run_id
        try:
            view = self._view(folder)
        except (JournalError, UsageError) as error:
            return RunSummary(run_id=run_id, state=RunState.UNREADABLE, problem=str(error))
        active, now = partial(is_active, folder), datetime.now(UTC)
        return summary_of(view, run_id, is_active=active, now=now, options=self._options)

    def _view(self, folder: Path) -> RunView:
        file = journal_file(folder)
        stamp: list[int] = []
        for one in (file, file.with_name(f"{file.name}-wal")):
            with suppress(FileNotFoundError):
                status = one.stat()
                stamp += [status.st_mtime_ns, status.st_size]
        view, before = self._known.get(folder.name, (RunView(), None))
        if stamp != before:
            with JournalReader(folder) as journal:
                for stored in journal.read_for_views(view.clock.last_seq):
                    apply(view, stored)
            self._known[folder.name] = (view, stamp)
        return view


_SPEC_SHOWN = 32  # characters of a spec's file name


def overview_lines(summaries: Sequence[RunSummary]) -> list[str]:
    """The runs as a table, in the order given."""
    header = ("run", "spec", "state", "merged", "cost", "started", "duration")
    return columns(header, [_row(summary) for summary in summaries])


def state_text(summary: RunSummary) -> str:
    """The state of a run, with the command that resumes it if there is one."""
    match summary.state:
        case RunState.ENDED:
            return str(summary.outcome)
        case RunState.ACTIVE:
            return f"active: {summary.doing}"
        case RunState.INTERRUPTED | RunState.KILLED:
            return f"{summary.state}: {summary.next_command}"
        case RunState.UNREADABLE:
            return f"{summary.state}: {short(summary.problem)}"
        case RunState.NEVER_BEGAN:
            return summary.state


def _listed_state(summary: RunSummary) -> str:
    """Return the state of a run in the list: an active one names the tasks that wait itself."""
    needs = summary.waiting and summary.state is not RunState.ACTIVE
    return f"{state_text(summary)}, waits for you ({summary.waiting})" if needs else state_text(summary)


def _row(summary: RunSummary) -> tuple[str, ...]:
    if summary.started_at is None:
        return (summary.run_id, "", state_text(summary), "", "", "", "")
    return (
        summary.run_id,
        short(PurePath(summary.spec_name).name, _SPEC_SHOWN),
        _listed_state(summary),
        f"{summary.tasks_merged}/{summary.tasks_total}",
        f"${summary.cost_usd:.2f}" + (" rehearsed" if summary.rehearsal else ""),
        local_time(summary.started_at),
        duration(summary.seconds),
    )
