"""A run's events as spans: a fold without input or output. The same events give the same spans and ids.

A trace has the run, below it its tasks, below them their attempts and other conversations, merges and
commands, and below a conversation its calls. A Worker's conversation is its attempt. A call that goes on in
another process is another span with a link to the one before. A span holds no prompt and no word of an agent
but the ids of tasks.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from orchestrator.telemetry import conventions as c
from orchestrator.telemetry.span_tracker import RUN_KEY, Attributes, Key, Span, SpanTracker
from orchestrator.views.descriptions.description import AGAIN, CONFLICT, GATE, RETRY, STEERING
from state.hidden import visible
from state.ids import FINAL, conversation_key, span_id
from state.journal import events as e
from state.journal.events import Event, Stored
from state.outcome import Outcome
from state.records.calls import CallEnd, Usage
from state.records.commands import CommandRun
from state.roles import ROLES, Role
from state.settings.records import split_effort

LOST = "process ended"  # the error of a call whose process was killed


def task_key(task_id: str) -> Key:
    """Return the key of a task's span."""
    return ("task", task_id)


def conversation_of(event: e.CallStarted) -> Key:
    """Return the key of the conversation that a call belongs to, as its session's caller names it."""
    about = event.task_id or (FINAL if event.role is Role.REVIEWER else "")
    apart = event.subject if event.role is Role.REVIEWER else ""
    return conversation_key(event.role, f"{about}.{apart}" if apart else about, event.attempt)


def conversation_attributes(role: Role, task_id: str, attempt: int, session_id: str) -> Attributes:
    return {
        c.OPERATION: c.INVOKE_AGENT,
        c.AGENT: str(role),
        c.PROVIDER: c.ANTHROPIC,
        c.CONVERSATION: session_id,
        c.ROLE: str(role),
        c.TASK_ID: task_id,
        c.ATTEMPT: attempt,
    }


class Calls:
    """The calls of a run. `cost_usd` is that of all which ended, with their failed tries."""

    def __init__(self, board: SpanTracker) -> None:
        self.cost_usd = 0.0
        self._board = board
        self._started: dict[str, e.CallStarted] = {}
        self._lost: set[str] = set()

    def apply(self, event: e.CallEvent, at: datetime) -> list[Span]:
        """Take an event of a call, and return the span that ends with it."""
        if isinstance(event, e.CallStarted):
            self._start(event, at)
            return []
        started = self._started.get(event.call_id)
        if started is None:
            return []
        key = ("call", event.call_id)
        self._see(started, at)
        match event:
            case e.CallRetried(end=end, wait_s=wait_s, cost_usd=cost_usd):
                self.cost_usd += cost_usd
                if call := self._board.get(key):
                    call.note(RETRY, at, {c.END: str(end), c.WAIT: wait_s})
            case e.CallInterrupted(cost_usd=cost_usd, usage=usage):
                self.cost_usd += cost_usd
                return self._board.close(key, at, str(CallEnd.INTERRUPTED), _spent(cost_usd, usage))
            case e.CallResumed(session_id=session_id):
                return self._resume(started, session_id, at)
            case e.CallEnded():
                return self._end(event, at)
            case _:
                pass
        return []

    def lose(self) -> None:
        """The process of all open calls has ended. They are closed once another process goes on with them."""
        self._lost = {id_ for id_ in self._started if ("call", id_) in self._board}

    def _see(self, started: e.CallStarted, at: datetime) -> None:
        for key in (("call", started.call_id), conversation_of(started)):
            if found := self._board.get(key):
                found.seen_at = at if started.call_id not in self._lost else found.seen_at

    def _start(self, event: e.CallStarted, at: datetime, links: tuple[str, ...] = ()) -> None:
        self._started[event.call_id] = event
        has_session = ROLES[event.role].has_session
        conversation = conversation_of(event)
        if has_session:
            self._board.open(
                conversation,
                at,
                f"invoke_agent {event.role}",
                parent=task_key(event.task_id),
                attributes=conversation_attributes(
                    event.role, event.task_id, event.attempt, event.session_id
                ),
            )
        asker = conversation_key(Role.WORKER, event.task_id, event.attempt)
        parent = conversation if has_session else asker if asker in self._board else task_key(event.task_id)
        model, effort = split_effort(event.model)
        self._board.open(
            ("call", event.call_id),
            at,
            f"{'exchange' if has_session else 'chat'} {event.role}",
            parent=parent,
            attributes={
                **({} if has_session else {c.OPERATION: c.CHAT}),
                c.PROVIDER: c.ANTHROPIC,
                c.REQUEST_MODEL: model,
                **({c.MODEL_EFFORT: effort} if effort else {}),
                c.CONVERSATION: event.session_id,
                c.CALL_ID: event.call_id,
                c.ROLE: str(event.role),
                c.TASK_ID: event.task_id,
                c.ATTEMPT: event.attempt,
                c.ITERATION: event.iteration,
            },
            asks_model=not has_session,
            links=links,
        )

    def _resume(self, started: e.CallStarted, session_id: str, at: datetime) -> list[Span]:
        key = ("call", started.call_id)
        call = self._board.get(key)
        if call and started.call_id not in self._lost:  # another try in the same process
            call.note(AGAIN, at, {c.CONVERSATION: session_id})
            return []
        self._lost.discard(started.call_id)
        closed = self._board.close(key, error=LOST)
        self._start(started, at, links=(self._board.id_of(key),))
        return closed

    def _end(self, event: e.CallEnded, at: datetime) -> list[Span]:
        self.cost_usd += event.cost_usd
        key = ("call", event.call_id)
        attributes = {**_spent(event.cost_usd, event.usage), c.END: str(event.end), c.TURNS: event.turns}
        error = "" if event.end.is_good else str(event.end)
        if error:
            attributes = {**attributes, c.ERROR_TYPE: error.replace(" ", "_")}
        lost = event.call_id in self._lost
        self._lost.discard(event.call_id)
        return self._board.close(key, None if lost else at, error, attributes)


def _spent(cost_usd: float, usage: Usage) -> Attributes:
    return {
        c.COST: cost_usd,
        c.INPUT_TOKENS: usage.input_tokens,
        c.OUTPUT_TOKENS: usage.output_tokens,
        c.CACHE_READ_TOKENS: usage.cache_read_tokens,
        c.CACHE_WRITE_TOKENS: usage.cache_write_tokens,
    }


_INSIDE, _AROUND = ("call", "merge", "conversation"), ("task", "run")  # parts, from the inside


class SpanFold:
    """The spans of the run `run_id`. `apply` takes its events in order."""

    def __init__(self, run_id: str) -> None:
        self._board = SpanTracker(run_id)
        self._calls = Calls(self._board)
        self._work = TaskWork(self._board)

    def apply(self, stored: Stored) -> list[Span]:
        """Take the next event, and return the spans that end with it."""
        event = stored.event
        self._board.newest = stored.at
        match event:
            case e.RunStarted():
                self._started(event, stored)
                return []
            case e.RunResumed():
                return self._resumed(stored)
            case e.RunEnded():
                return self._ended(event, stored)
            case e.LimitReached():
                self._note("limit", stored)
                return []
            case e.RunInterrupted(by=by):
                self._note("interrupted", stored, signal=by)
                return []
            case _ if isinstance(event, e.CallEvent):
                return self._calls.apply(event, stored.at)
            case _ if isinstance(event, e.EvidenceEvent):
                return command_spans(self._board, event, stored)
            case _:
                return self._work.apply(event, stored.at)

    def rest(self) -> list[Span]:
        """Return the spans that are still open, each as far as the events go, and close them."""
        inside = [span for part in _INSIDE for span in self._board.close_all(part)]
        newest = self._board.newest
        return [*inside, *(span for part in _AROUND for span in self._board.close_all(part, at=newest))]

    def _started(self, event: e.RunStarted, stored: Stored) -> None:
        self._board.open(
            RUN_KEY,
            stored.at,
            "invoke_workflow sq",
            parent=None,
            attributes={
                c.OPERATION: c.INVOKE_WORKFLOW,
                c.AGENT: "sq",
                c.RUN_ID: event.run_id,
                c.EFFORT: event.settings.effort.name,
                c.VERSION: event.sq_version,
                c.REHEARSAL: event.rehearsal is not None,
            },
        )

    def _resumed(self, stored: Stored) -> list[Span]:
        """Go on with an open span of the run, or open another one that has a link to the one before."""
        before = (self._board.id_of(RUN_KEY),) if RUN_KEY not in self._board else ()
        attributes = {c.OPERATION: c.INVOKE_WORKFLOW, c.AGENT: "sq", c.RUN_ID: self._board.run_id}
        self._board.open(
            RUN_KEY, stored.at, "invoke_workflow sq", parent=None, attributes=attributes, links=before
        )
        self._note("resumed", stored)
        self._calls.lose()
        return []

    def _ended(self, event: e.RunEnded, stored: Stored) -> list[Span]:
        spans = [span for part in _INSIDE for span in self._board.close_all(part)]
        spans += self._board.close_all("task", at=stored.at)
        error = "" if event.outcome is Outcome.COMPLETE else str(event.outcome)
        attributes: Attributes = {
            c.OUTCOME: str(event.outcome),
            c.EXIT_CODE: event.outcome.exit_code,
            c.COST: self._calls.cost_usd,
            c.TASKS: len(self._work.tasks),
            c.MERGED: len(self._work.merged),
        }
        return [*spans, *self._board.close(RUN_KEY, stored.at, error, attributes)]

    def _note(self, name: str, stored: Stored, **attributes: str) -> None:
        if run := self._board.get(RUN_KEY):
            run.note(name, stored.at, {f"sq.{key}": value for key, value in attributes.items()})


def spans_in(run_id: str, events: Iterable[Stored], *, unfinished: bool = False) -> list[Span]:
    """Return the spans that end with these events, and with `unfinished` also those that are still open."""
    fold = SpanFold(run_id)
    spans = [span for stored in events for span in fold.apply(stored)]
    return [*spans, *(fold.rest() if unfinished else ())]


_KEPT = 200  # characters of a command


def command_spans(board: SpanTracker, event: e.EvidenceEvent, stored: Stored) -> list[Span]:
    """Return a span for each command whose result this event holds. They ran one after the other."""
    match event:
        case e.BaselineTaken(checks=checks, tree=tree, of_analysis=of_analysis, kept=kept):
            board.words |= set() if of_analysis else {check.run.command for check in checks}
            ran = [check.run for check in checks if check.run.command not in kept]
            return _in_a_row(board, ran, stored, "baseline", "", tree)
        case e.VerificationFinished(runs=runs, task_id=task_id, tree=tree):
            return _in_a_row(board, list(runs), stored, "verification", task_id, tree)
        case e.WorkspaceSetUp(runs=runs, task_id=task_id):
            return _in_a_row(board, list(runs), stored, "set-up", task_id, "")
        case _:
            return []


def _in_a_row(
    board: SpanTracker, runs: list[CommandRun], stored: Stored, purpose: str, task_id: str, tree: str
) -> list[Span]:
    spans, ended = [], stored.at
    for number in range(len(runs), 0, -1):
        run = runs[number - 1]
        began = ended - timedelta(seconds=run.seconds)
        spans.append(_span(board, run, (began, ended), (purpose, task_id, tree), (stored.seq, number)))
        ended = began
    return spans[::-1]


def _span(
    board: SpanTracker,
    run: CommandRun,
    when: tuple[datetime, datetime],
    about: tuple[str, str, str],
    place: tuple[int, int],
) -> Span:
    purpose, task_id, tree = about
    # A command that only an agent named is one of its words.
    words = visible(run.command)[:_KEPT] if run.command in board.words or purpose == "set-up" else ""
    code = {} if run.exit_code is None else {c.COMMAND_EXIT_CODE: run.exit_code}
    error = "" if run.passed else "timed out" if run.timed_out else "failed"
    return Span(
        trace_id=board.trace_id,
        span_id=span_id(board.run_id, "command", *map(str, place)),
        parent_id=board.nearest(board.attempts.get(task_id), task_key(task_id)),
        name=purpose,
        began=when[0],
        ended=when[1],
        attributes={
            c.PURPOSE: purpose,
            c.TASK_ID: task_id,
            **({c.COMMAND: words} if words else {}),
            **({c.TREE: tree} if tree else {}),
            **code,
        },
        error=error,
    )


_ENDS: dict[type, str] = {e.TaskStuck: "stuck", e.TaskFailed: "failed", e.TaskUnverified: "unverified"}


class TaskWork:
    """The tasks of a run. `tasks` are all their ids, `merged` those that are part of the merged work."""

    def __init__(self, board: SpanTracker) -> None:
        self.tasks: set[str] = set()
        self.merged: set[str] = set()
        self._board = board

    def apply(self, event: Event, at: datetime) -> list[Span]:  # noqa: C901  one case an event
        """Take an event, and return the spans that end with it."""
        match event:
            case e.PlanAccepted(tasks=tasks):
                self.tasks = {task.id for task in tasks}
            case e.TaskStarted(task_id=task_id):
                self._open_task(task_id, at)
            case e.AttemptStarted():
                return self._attempt(event, at)
            case e.GateDecided(gate=gate, verdict=verdict):
                self._moment(event, at, GATE, {c.GATE: gate, c.VERDICT: str(verdict)})
            case e.ChecksDecided(results=results):
                unmet = sum(not one.satisfied for one in results)
                self._moment(event, at, STEERING, {c.FINDINGS: unmet})
            case e.CompletionAccepted(task_id=task_id, attempt=attempt):
                return self._board.close(conversation_key(Role.WORKER, task_id, attempt), at)
            case e.ReviewRecorded():
                return self._review(event, at)
            case e.TaskReopened(task_id=task_id):
                self.merged.discard(task_id)
                self._open_task(task_id, at)
            case _ if isinstance(event, e.MergeEvent):
                return self._merge(event, at)
            case e.TaskStuck() | e.TaskFailed() | e.TaskUnverified():
                end = _ENDS[type(event)]
                return self._end_task(event.task_id, at, end, end)
            case _:
                pass
        return []

    def _merge(self, event: e.MergeEvent, at: datetime) -> list[Span]:
        key = _merge_key(event.task_id)
        match event:
            case e.MergeStarted(task_id=task_id):
                self._open_task(task_id, at)
                parent = task_key(task_id)
                self._board.open(key, at, "merge", parent=parent, attributes={c.TASK_ID: task_id})
            case e.MergeConflicted(paths=paths):
                if merge := self._board.get(key):
                    merge.note(CONFLICT, at, {c.CONFLICTS: len(paths)})
            case e.MergeFailed():
                return self._board.close(key, at, "not merged")
            case e.TaskMerged(task_id=task_id, commit=commit):
                self.merged.add(task_id)
                merged = self._board.close(key, at, attributes={c.COMMIT: commit})
                return [*merged, *self._end_task(task_id, at, "merged", "")]
            case _:
                pass
        return []

    def _open_task(self, task_id: str, at: datetime) -> None:
        self._board.open(task_key(task_id), at, "task", parent=None, attributes={c.TASK_ID: task_id})

    def _attempt(self, event: e.AttemptStarted, at: datetime) -> list[Span]:
        self._open_task(event.task_id, at)
        before = self._board.close_all("conversation", str(Role.WORKER), event.task_id)
        key = conversation_key(Role.WORKER, event.task_id, event.attempt)
        self._board.attempts[event.task_id] = key
        self._board.open(
            key,
            at,
            "invoke_agent worker",
            parent=task_key(event.task_id),
            attributes=conversation_attributes(Role.WORKER, event.task_id, event.attempt, event.session_id),
        )
        return before

    def _moment(
        self,
        event: e.GateDecided | e.ChecksDecided,
        at: datetime,
        name: str,
        attributes: dict[str, str | int],
    ) -> None:
        if attempt := self._board.get(conversation_key(Role.WORKER, event.task_id, event.attempt)):
            attempt.note(name, at, {c.ITERATION: event.iteration, **attributes})

    def _review(self, event: e.ReviewRecorded, at: datetime) -> list[Span]:
        key = conversation_key(Role.REVIEWER, event.task_id or FINAL, event.attempt)
        attributes: Attributes = {
            c.PASSED: event.passed,
            c.FINDINGS: len(event.issues),
            c.COMMIT: event.commit,
        }
        return self._board.close(key, at, attributes=attributes)

    def _end_task(self, task_id: str, at: datetime, outcome: str, error: str) -> list[Span]:
        spans = self._board.close(_merge_key(task_id), at, error)
        for role in (Role.WORKER, Role.REVIEWER, Role.RESOLVER):
            spans += self._board.close_all("conversation", str(role), task_id, error=error)
        return [*spans, *self._board.close(task_key(task_id), at, error, {c.OUTCOME: outcome})]


def _merge_key(task_id: str) -> Key:
    return ("merge", task_id)
