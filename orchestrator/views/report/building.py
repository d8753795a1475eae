"""Builds the contents of a report from a run's story. It reads no clock: same events, same report.

A reader gets the commands to check the run with, and where its work is. One table leads from its state to
the words, exit code and checks of every output.
"""

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePath
from shlex import quote
from typing import TypeVar

from orchestrator.views.descriptions.description import Tone
from orchestrator.views.html.sections import (
    ReportLimits,
    attempt_of,
    clipper,
    each_text,
    path_remover,
    task_part,
)
from orchestrator.views.models.criteria import (
    CommandFacts,
    CriterionRow,
    criteria_of,
    facts_of,
    verified_seq,
)
from orchestrator.views.models.decisions import decisions_of, spec_questions
from orchestrator.views.models.history import RunFacts
from orchestrator.views.models.points import attention, findings_by_state, found_before
from orchestrator.views.models.spend import past_run_of, spending
from orchestrator.views.models.summary import RunState, TaskRow
from orchestrator.views.models.tasks import task_rows
from orchestrator.views.models.timeline import end_of, timeline
from orchestrator.views.models.work import Attempt, TaskPart, WorkChanges
from orchestrator.views.report.contents import (
    UNVERIFIED,
    CheckCommands,
    CheckState,
    Commits,
    Headline,
    Index,
    IndexRow,
    ReportContents,
    Spec,
    Times,
)
from orchestrator.views.report.making import made_of
from state.journal import events as e
from state.journal.view import RunView
from state.outcome import MEANINGS, Outcome

_SUBJECT = 120  # characters
_T = TypeVar("_T")
MakesIndex = Callable[[Collection[int]], tuple[tuple[IndexRow, ...], int]]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def report_of(
    story: RunFacts,
    run_id: str,
    state: RunState,
    works: tuple[WorkChanges, ...],
    index: MakesIndex,
    *,
    limits: ReportLimits,
    version: str,
    with_paths: bool = False,
) -> ReportContents:
    """Return the contents of a report.

    Args:
        story: the run, without messages.
        state: whether a process works on it.
        works: the changes of its merges.
        index: returns its rows, which hold these places of events, and the number of events left out.
        limits: the size of the report.
        version: of the sq that writes it.
        with_paths: leave paths of the machine in the texts.
    """
    view, cut = story.view, _Cut(limits.rows, run_id)
    now = view.clock.last_at or _EPOCH
    criteria = criteria_of(view)
    commands = facts_of(view)
    rows = {row.id: row for row in task_rows(story, now, active=state is RunState.ACTIVE)}
    report = ReportContents(
        run_id=run_id,
        headline=headline_of(view, state, criteria),
        spec=_spec(story, cut),
        commits=commits_of(story),
        times=_times(story),
        check=check_of(story, commands),
        criteria=cut.first(criteria, "criteria"),
        commands=cut.first(commands, "commands"),
        attention=cut.first(attention(story, criteria), "points to look at"),
        decisions=cut.first(decisions_of(view), "decisions"),
        findings=cut.first(findings_by_state(story), "findings"),
        tasks=cut.first([_task(story, row, works, cut, now, state) for row in rows.values()], "tasks"),
        spending=spending(view),
        timeline=timeline(story, now),
        made=cut.first(made_of(story.history.notable, version), "facts on the making"),
        index=Index(rows=(), left_out=()),
    )
    report = _with_index(report, index, cut)
    clipped = each_text(report, clipper(limits.text, f"`sq logs {run_id}` has all"))
    return clipped if with_paths else each_text(clipped, path_remover(view.started))


class _Cut:
    """Cuts long lists and remembers a sentence for each."""

    def __init__(self, most: int, run_id: str) -> None:
        self.most = most
        self.sentences: list[str] = []
        self._all = f"`sq status {run_id}` and `sq logs {run_id}` have all"

    def first(self, rows: Iterable[_T], name: str) -> tuple[_T, ...]:
        every = tuple(rows)
        if len(every) <= self.most:
            return every
        self.sentences.append(f"{self.most:,} of {len(every):,} {name} are shown: {self._all}")
        return every[: self.most]


def _with_index(report: ReportContents, index: MakesIndex, cut: _Cut) -> ReportContents:
    rows, missing = index(set(_seqs(report)))
    sentences = list(cut.sentences)
    if missing:
        sentences.append(f"{missing:,} events are left out of the index: `sq logs {report.run_id}` has all")
    return replace(report, index=Index(rows=rows, left_out=tuple(sentences)))


def _seqs(report: ReportContents) -> Iterator[int]:
    """Yield each event that a statement of the report rests on."""
    yield from (row.seq for row in report.criteria)
    yield from (point.seq for point in report.attention)
    yield from (decision.seq for decision in report.decisions)
    yield from (one.seq for one in report.spec.questions)
    yield from (row.seq for row in report.findings)
    yield from (fact.seq for fact in report.made)
    for task in report.tasks:
        yield task.seq
        yield from (reason.seq for reason in task.why)
        for attempt in task.attempts:
            yield attempt.seq
            yield from (step.seq for step in attempt.steps)
    yield from (report.check.verified_seq, report.commits.place_seq, report.times.seq)


def _task(
    story: RunFacts,
    row: TaskRow,
    works: tuple[WorkChanges, ...],
    cut: _Cut,
    now: datetime,
    state: RunState,
) -> TaskPart:
    attempts = tuple(attempt_of(story.view, one) for one in story.history.attempts.get(row.id, ()))
    kept = [_with_fewer_steps(one, cut) for one in cut.first(attempts, f"attempts at {row.id}")]
    return task_part(story, row, kept, works, now, active=state is RunState.ACTIVE)


def _with_fewer_steps(attempt: Attempt, cut: _Cut) -> Attempt:
    steps = cut.first(attempt.steps, f"steps of attempt {attempt.number}")
    return replace(attempt, steps=steps)


def _spec(story: RunFacts, cut: _Cut) -> Spec:
    view = story.view
    if view.started is None:
        return Spec(name="", subject="", sha256="", spec_lines=())
    text = view.started.spec_text
    first = next((line.strip("# \t") for line in text.splitlines() if line.strip("# \t")), "")
    return Spec(
        name=PurePath(view.started.spec_name).name,
        subject=first[:_SUBJECT],
        sha256=hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest(),
        spec_lines=tuple(line.rstrip("\r") for line in text.removesuffix("\n").split("\n")),
        issue=view.plan.origin.issue,
        follows=view.plan.origin.follows,
        is_checked=bool(view.plan.before.check.seq),
        questions=spec_questions(view),
        found_before=cut.first(found_before(story), "findings before the work"),
    )


def _times(story: RunFacts) -> Times:
    """Return the times of a run until its end."""
    clock, until = story.view.clock, end_of(story)
    return Times(
        began_at=clock.started_at,
        until=until,
        seconds=(until - clock.started_at).total_seconds() if until and clock.started_at else 0.0,
        processes=1 + story.view.process.resumptions,
        seq=clock.ended_seq if story.view.ended else 0,
        past=past_run_of(story.view),
    )


_JOINED = re.compile(r"[;|&\n]|^\s*cd\s")
_OF_ANALYSIS = "the analysis"  # `BaselineCheck.source` of a command that only an agent has named


def commits_of(story: RunFacts) -> Commits:
    """Return where a run began and where its work is."""
    view = story.view
    place, place_seq = _place(story)
    measured = view.whole.measured.get("", [])
    newest = measured[-1] if measured else None
    return Commits(
        branch=(view.started.base_branch or "") if view.started else "",
        base=view.started.base_commit if view.started else "",
        commit=view.whole.commit if view.whole.tree else "",
        tree=view.whole.tree,
        place=place,
        place_seq=place_seq,
        added=newest.added if newest else None,
        removed=newest.removed if newest else None,
        files=len(newest.files) + newest.left_out if newest else None,
    )


def check_of(story: RunFacts, commands: tuple[CommandFacts, ...]) -> CheckCommands:
    """Return how to check the finished work: in a new worktree beside the checkout, after the set-up.

    A command that only an agent has named is not part of the line to copy, because it would run outside the
    sandbox.
    """
    view = story.view
    trusted = [one.command for one in commands if not _only_an_agent(view, one.command)]
    others = tuple(one.command for one in commands if _only_an_agent(view, one.command))
    if not view.whole.tree:
        note = "there is no finished work to check"
        return CheckCommands(command="", named_by_agents=(), note=note, verified_seq=0)
    go = [] if view.checkout.left else _in_a_worktree(story)
    go += [f"export {one}" for one in view.baseline.exports]
    note = "" if commands else "no command verified the finished work"
    if view.checkout.left:
        note = "the work is in your checkout, uncommitted: run it there"
    return CheckCommands(
        command=" && ".join([*go, *map(_apart, trusted)]),
        named_by_agents=others,
        note=note,
        verified_seq=verified_seq(view),
    )


def _in_a_worktree(story: RunFacts) -> list[str]:
    """Return the commands that make a worktree of the finished work ready, as sq did it first."""
    commit = story.view.whole.commit[:12]
    place = quote(f"../check-{commit}")
    events = [one.event for one in story.history.notable if isinstance(one.event, e.WorkspaceSetUp)]
    runs = next((one.runs for one in events if one.runs), ())
    steps = [_apart(run.command) for run in runs if run.passed]
    copy = _copying(story, place) if any(one.copied for one in events) else []
    return [f"git worktree add --detach {place} {quote(commit)}", *copy, f"cd {place}", *steps]


def _copying(story: RunFacts, place: str) -> list[str]:
    """Return the command that copies the files of `worktree.include` from the checkout."""
    patterns = story.view.settings.worktree_include if story.view.settings else ()
    listed = " ".join(
        ("git ls-files -z --others --ignored", *(f"--exclude={quote(one)}" for one in patterns))
    )
    return [f"{listed} | tar --null -T - -cf - | tar -xf - -C {place}"] if patterns else []


def _apart(command: str) -> str:
    """Return a command that changes neither the folder nor the meaning of the commands beside it."""
    return f"( {command} )" if _JOINED.search(command) else command


def _only_an_agent(view: RunView, command: str) -> bool:
    check = view.baseline.checks.get(command)
    if check is None:
        return command not in (view.settings.verify if view.settings else ())
    return not check.chosen and check.source == _OF_ANALYSIS


def _place(story: RunFacts) -> tuple[str, int]:
    """Return the sentence on the finished work's place, and its event."""
    for stored in reversed(story.history.notable):
        match stored.event:
            case e.WorkDelivered() as event:
                return f"your branch {event.branch} was moved to it", stored.seq
            case e.WorkLeft() as event:
                return f"it is in your checkout, uncommitted, and kept as {event.ref}", stored.seq
            case e.WorkKept() as event if story.view.whole.tree:
                return f"it is on the branch {event.branch}, because {event.reason}", stored.seq
            case e.WorkKept() as event:
                return f"your branch did not move: {event.reason}", stored.seq
    return "", 0


_TONES = {
    Outcome.COMPLETE: (Tone.GOOD, CheckState.SUCCESS),
    Outcome.FAILED: (Tone.BAD, CheckState.FAILURE),
    Outcome.USAGE: (Tone.BAD, CheckState.FAILURE),
    Outcome.STUCK: (Tone.BAD, CheckState.FAILURE),
    Outcome.LIMIT: (Tone.WARN, CheckState.NEUTRAL),
    Outcome.UNVERIFIED: (Tone.WARN, CheckState.ACTION_REQUIRED),
    Outcome.INTERRUPTED: (Tone.WARN, CheckState.CANCELLED),
}
_OTHERS = {
    RunState.ACTIVE: ("Under way", "the run goes on, this is its state so far", CheckState.PENDING),
    RunState.INTERRUPTED: ("Interrupted", MEANINGS[Outcome.INTERRUPTED], CheckState.CANCELLED),
    RunState.KILLED: (
        "Killed",
        "its process is gone without an end, `sq resume` goes on",
        CheckState.FAILURE,
    ),
    RunState.NEVER_BEGAN: (
        "Never began",
        "its process was killed before its first event",
        CheckState.FAILURE,
    ),
}


def headline_of(view: RunView, state: RunState, rows: tuple[CriterionRow, ...]) -> Headline:
    """Return the headline of a run.

    Args:
        view: the fold of its events.
        state: whether a process works on it.
        rows: its criteria.
    """
    rehearsal = bool(view.started and view.started.rehearsal)
    if view.ended is None:
        word, sentence, check = _OTHERS[state]
        code = Outcome.INTERRUPTED.exit_code if state is RunState.INTERRUPTED else None
        tone = Tone.CALM if state is RunState.ACTIVE else Tone.WARN
        why = f"stopped by {view.process.interrupted_by}" if view.process.interrupted_by else ""
        return Headline(
            word=word, sentence=sentence, why=why, exit_code=code, tone=tone, check=check, rehearsal=rehearsal
        )
    outcome = view.ended.outcome
    if outcome is Outcome.COMPLETE and view.settings and (view.settings.dry_run or view.settings.check_only):
        is_plan = view.settings.dry_run
        sentence = "a dry run: this is the plan" if is_plan else "the spec was read for faults"
        return Headline(
            word="Planned only" if is_plan else "Checked only",
            sentence=f"{sentence}, and nothing was built",
            outcome=outcome,
            exit_code=outcome.exit_code,
            tone=Tone.CALM,
            check=CheckState.NEUTRAL,
            rehearsal=rehearsal,
        )
    return _ended_with(view.ended.cause, outcome, rows, rehearsal=rehearsal)


def _ended_with(cause: str, outcome: Outcome, rows: tuple[CriterionRow, ...], *, rehearsal: bool) -> Headline:
    tone, check = _TONES[outcome]
    complete = outcome is Outcome.COMPLETE
    seen = sum(row.state.is_seen for row in rows)
    all_seen = bool(rows) and seen == len(rows)
    if complete and (rehearsal or not all_seen):
        tone = Tone.WARN
    if complete and rows and not all_seen:
        cause = f"sq has seen what shows {seen} of {len(rows)} criteria. The others are a reviewer's word"
    draft = not complete or rehearsal
    return Headline(
        word=outcome.value.capitalize(),
        sentence=MEANINGS[outcome],
        why=cause,
        outcome=outcome,
        exit_code=outcome.exit_code,
        tone=tone,
        check=CheckState.NEUTRAL if complete and rehearsal else check,
        title_prefix="[rehearsal] " if complete and rehearsal else UNVERIFIED if draft else "",
        draft=draft,
        rehearsal=rehearsal,
        all_seen=complete and all_seen and not rehearsal,
    )
