"""Hypothesis strategies for events: any event there is, and the events of a run as sq could have written it."""

import types
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import count
from typing import Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from state import events as e
from state.journal import Stored
from state.outcome import Outcome
from state.records import (
    Analysis,
    Answer,
    CallEnd,
    CommandRun,
    Criterion,
    Message,
    MessageKind,
    Question,
    QuestionOption,
    ReviewIssue,
    Role,
    Task,
)
from state.verdicts import Verdict

_INT64 = st.integers(-(2**63), 2**63 - 1)
_BEGAN = datetime(2026, 1, 31, 14, 25, 1, tzinfo=UTC)


def of_type(hint):
    """Values of a type as events use them: plain ones, enums, tuples, optionals and records of those."""
    if is_dataclass(hint):
        hints = get_type_hints(hint)
        return st.builds(hint, **{field.name: of_type(hints[field.name]) for field in fields(hint)})
    if get_origin(hint) is tuple:
        return st.lists(of_type(get_args(hint)[0]), max_size=3).map(tuple)
    if get_origin(hint) is dict:
        return st.dictionaries(*map(of_type, get_args(hint)), max_size=3)
    if get_origin(hint) in {Union, types.UnionType}:
        return st.one_of(*map(of_type, get_args(hint)))
    if issubclass(hint, StrEnum):
        return st.sampled_from(list(hint))
    plain = {
        str: st.text(),
        int: _INT64,
        float: st.floats(allow_nan=False, allow_infinity=False),
        bool: st.booleans(),
        type(None): st.none(),
    }
    return plain[hint]


def stored(events):
    """Events as a journal numbers and dates them."""
    return [Stored(seq, _BEGAN + timedelta(seconds=seq), event) for seq, event in enumerate(events, start=1)]


def task(id_, *needed):
    return Task(id=id_, title=f"Task {id_}", description="Do it.", dependencies=needed)


def started(run_id="r-1"):
    return e.RunStarted(
        run_id=run_id,
        spec_name="spec.md",
        spec_text="# Spec",
        repository="/repository",
        worktrees="/worktrees",
        base_commit="c0",
        base_branch="main",
        effort="medium",
        verify=(),
        rehearsal=None,
        credentials="rehearsal",
        containment="supervisor",
        sq_version="0",
    )


@st.composite
def legal_runs(draw):
    """The events of a run from its start, in an order in which sq writes them; cut anywhere."""
    writer = _Writer(draw)
    writer.run()
    return stored(writer.events)


class _Writer:
    """Writes one run, choosing at every fork."""

    def __init__(self, draw):
        self.draw = draw
        self.events = []
        self.numbers = count(1)

    def maybe(self):
        return self.draw(st.booleans())

    def times(self, most):
        return range(self.draw(st.integers(0, most)))

    def new(self, prefix):
        return f"{prefix}{next(self.numbers)}"

    def say(self, *events):
        self.events.extend(events)
        if not self.draw(st.integers(0, 19)):
            self.events.extend([e.RunInterrupted(by="SIGTERM"), e.RunResumed(containment="supervisor")])

    def run(self):
        self.say(started())
        self.call(Role.PLANNER, "analysis", 1)
        if self.maybe():
            self.say(
                e.AnalysisProposed(analysis=Analysis()), e.AnalysisRejected(problems=("no such command",))
            )
        self.say(e.RepositoryAnalyzed(analysis=Analysis(patterns=("one module a subject",))))
        for _ in self.times(2):
            self.say(e.PlanRejected(problems=("the plan has no tasks",)))
        tasks = [task("t1"), *([task("t2", "t1")] if self.maybe() else [])]
        criteria = (Criterion(text="it works", task_ids=("t1",)),)
        if self.maybe():
            self.say(e.PlanProposed(tasks=tuple(tasks), criteria=criteria))
            self.say(e.PlanRejected(problems=("too much",)))
        self.say(e.PlanAccepted(tasks=tuple(tasks), criteria=criteria))
        if all(self.task(each.id) for each in tasks):
            self.final_review(tasks)
        self.say(
            e.WorkDelivered(branch="main", commit="c9")
            if self.maybe()
            else e.WorkKept(branch="sq/r-1", commit="c9", reason="dirty")
        )
        self.say(e.RunEnded(outcome=self.draw(st.sampled_from(Outcome)), cause=""))

    def call(self, role, task_id, attempt, iteration=1):
        """One exchange; returns its id."""
        call_id = self.new("c-")
        self.say(
            e.CallStarted(
                call_id=call_id,
                role=role,
                task_id=task_id,
                attempt=attempt,
                iteration=iteration,
                session_id=self.new("s-"),
                model="haiku",
                prompt="Go.",
            )
        )
        if self.maybe():
            self.say(e.CallRetried(call_id=call_id, end=CallEnd.API_ERROR, detail="", wait_s=1, cost_usd=0.5))
        if self.maybe():
            self.say(e.CallInterrupted(call_id=call_id, cost_usd=0.25))
        if self.maybe():
            self.say(e.CallResumed(call_id=call_id, session_id=self.new("s-"), prompt="Go on."))
        for _ in self.times(2):
            kind = self.draw(st.sampled_from(MessageKind))
            self.say(e.MessageReceived(call_id=call_id, message=Message(kind=kind, text=self.new("word "))))
        if role is Role.WORKER and self.maybe():
            self.ask(call_id, task_id, attempt)
        if self.maybe():
            self.say(e.ActionRefused(call_id=call_id, tool="Bash", reason="pushing is refused"))
        if self.maybe():
            self.say(e.SignalReceived(call_id=call_id, name="task_complete", payload="{}"))
        end = self.draw(st.sampled_from(CallEnd))
        self.say(e.CallEnded(call_id=call_id, end=end, cost_usd=self.draw(st.floats(0, 10))))
        return call_id

    def ask(self, call_id, task_id, attempt):
        ask_id = self.new("ask-")
        question = Question(text="Which?", options=(QuestionOption(label="A"), QuestionOption(label="B")))
        self.say(e.QuestionsAsked(ask_id=ask_id, call_id=call_id, task_id=task_id, questions=(question,)))
        self.call(Role.DEVELOPER, task_id, attempt)
        if self.maybe():
            answer = Answer(question="Which?", labels=("A",))
            self.say(e.QuestionsAnswered(ask_id=ask_id, answers=(answer,), model="haiku"))
        else:
            self.say(e.QuestionsFailed(ask_id=ask_id, cause="no answer within 60 s"))

    def task(self, id_):
        """Whether the task was merged."""
        self.say(e.TaskStarted(task_id=id_, branch=f"b/{id_}", worktree=f"/w/{id_}", base_commit="c0"))
        for attempt in (1, 2):
            tree, commit = self.attempt(id_, attempt)
            if not tree:
                ends = [
                    e.TaskStuck(task_id=id_, reason="nothing changes"),
                    e.TaskFailed(task_id=id_, cause="the process died"),
                    e.TaskUnverified(task_id=id_, reason="no answer"),
                ]
                self.say(self.draw(st.sampled_from(ends)))
                return False
            if self.review(id_, attempt, commit, last=attempt > 1):
                self.say(e.TaskMerged(task_id=id_, commit=commit, tree=tree))
                return True
        return False

    def attempt(self, id_, number):
        session, tree = self.new("s-"), self.new("tree")
        self.say(e.AttemptStarted(task_id=id_, attempt=number, session_id=session, tree=tree))
        for iteration in range(1, self.draw(st.integers(1, 3)) + 1):
            self.call(Role.WORKER, id_, number, iteration)
            tree = self.new("tree") if self.maybe() else tree
            self.say(e.IterationMeasured(task_id=id_, attempt=number, iteration=iteration, tree=tree))
            if self.maybe():
                self.decide(id_, number, iteration, tree, Verdict.BLOCK)
        if self.maybe():
            return "", ""
        runs = (CommandRun(command="make test", exit_code=0, seconds=0.1, output_tail=""),)
        self.say(e.VerificationStarted(task_id=id_, tree=tree, commands=("make test",)))
        self.say(e.VerificationFinished(task_id=id_, tree=tree, runs=runs))
        self.decide(id_, number, iteration, tree, Verdict.ALLOW)
        commit = self.new("commit")
        self.say(e.TaskCommitted(task_id=id_, attempt=number, commit=commit, tree=tree))
        return tree, commit

    def decide(self, id_, attempt, iteration, tree, verdict):
        place = {"task_id": id_, "attempt": attempt}
        decided = e.GateDecided(
            **place, iteration=iteration, gate="verification", verdict=verdict, reason="", tree=tree
        )
        if verdict is Verdict.ALLOW:
            self.say(decided, e.CompletionAccepted(**place, tree=tree))
        else:
            self.say(
                decided,
                e.CompletionRefused(**place, iteration=iteration, feedback="red", fingerprint="f1"),
            )

    def review(self, id_, attempt, commit, *, last):
        self.call(Role.REVIEWER, id_, attempt)
        issue = ReviewIssue(task_id=id_, file="a.py", description="unused", suggestion="remove it")
        place = {"task_id": id_, "attempt": attempt, "commit": commit}
        if self.maybe():
            self.say(e.ReviewUnusable(**place, problem="no JSON", issue=issue))
        if last or self.maybe():
            self.say(e.ReviewRecorded(**place, passed=True, issues=()))
            return True
        self.say(
            e.ReviewRecorded(**place, passed=False, issues=(issue,)),
            e.TaskReopened(task_id=id_, issues=(issue,), by="the review"),
        )
        return False

    def final_review(self, tasks):
        if self.maybe():
            self.review("", 1, "c9", last=True)
            return
        issue = ReviewIssue(task_id="t1", file="a.py", description="missing", suggestion="add it")
        self.say(e.ReviewRecorded(task_id="", attempt=1, commit="c9", passed=False, issues=(issue,)))
        self.say(*(e.TaskReopened(task_id=each.id, issues=(issue,), by="the final review") for each in tasks))
