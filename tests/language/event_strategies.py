"""Hypothesis strategies for events: any event there is, and the events of a run as sq could have written it."""

import types
from collections import Counter, deque
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial
from itertools import count
from typing import Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from language.beginnings import call_started, run_started
from state.journal import events as e
from state.journal.events import Stored
from state.outcome import Outcome
from state.records.calls import CallEnd, Message, MessageKind
from state.records.commands import CommandRun
from state.records.plan import Analysis, Criterion, Task
from state.records.questions import Answer, Question, QuestionOption
from state.records.reviews import CriterionVerdict, Finding, FindingState, JudgedBy, ReviewIssue
from state.records.work import ChangeKind, FileChange, HandOver
from state.roles import Role
from state.settings.presets import RETRY_LIMITS
from state.verdicts import Verdict

_INT64 = st.integers(-(2**63), 2**63 - 1)
_BEGAN = datetime(2026, 1, 31, 14, 25, 1, tzinfo=UTC)


def of_type(hint):
    """Values of a type as events use them: plain ones, enums, tuples, optionals and records of those."""
    if is_dataclass(hint):
        hints = get_type_hints(hint)
        return st.builds(hint, **{field.name: of_type(hints[field.name]) for field in fields(hint)})
    if get_origin(hint) is tuple and get_args(hint)[-1] is not ...:
        return st.tuples(*map(of_type, get_args(hint)))
    if get_origin(hint) is tuple:
        return st.lists(of_type(get_args(hint)[0]), max_size=3).map(tuple)
    if get_origin(hint) is dict:
        return st.dictionaries(*map(of_type, get_args(hint)), max_size=3)
    if get_origin(hint) in {Union, types.UnionType}:
        return st.one_of(*map(of_type, get_args(hint)))
    if get_origin(hint) is Literal:
        return st.sampled_from(get_args(hint))
    if issubclass(hint, StrEnum):
        return st.sampled_from(list(hint))
    plain = {
        str: st.text(),
        int: _INT64,
        float: st.floats(allow_nan=False, allow_infinity=False),
        bool: st.booleans(),
        type(None): st.none(),
        datetime: st.datetimes(timezones=st.just(UTC)),
    }
    return plain[hint]


def stored(events):
    """Events as a journal numbers and dates them."""
    return [Stored(seq, _BEGAN + timedelta(seconds=seq), event) for seq, event in enumerate(events, start=1)]


def task(id_, *needed):
    return Task(id=id_, title=f"Task {id_}", description="Do it.", dependencies=needed)


@st.composite
def legal_runs(draw):
    """The events of a run from its start, in an order in which sq writes them; cut anywhere.

    Independent tasks are worked on at the same time: their events stand between each other's.
    """
    writer = _Writer(draw)
    writer.run()
    return stored(writer.events)


CRITERION = Criterion(id="c-1", text="it works", task_ids=("t1",), quote="works", spec_lines=(1, 2))
ISSUE = ReviewIssue(task_id="t1", file="a.py", description="unused", suggestion="remove it")
FOUND = Finding(id="f1", issue=ISSUE)
CHANGE = FileChange(path="a.py", added=1, removed=0, kind=ChangeKind.ADDED)
_GOOD_ENDS = [CallEnd.COMPLETED, CallEnd.SIGNALLED]
_ATTEMPTS = 3  # that a task gets, and again as many when it is retried


class _Writer:
    """Writes one run, choosing at every fork. What is said at once is stored at once."""

    def __init__(self, draw):
        self.draw = draw
        self.said = []  # by one task, or by the run as a whole
        self.events = []
        self.numbers = count(1)
        self.head = "c0"
        self.tasks = []
        self.attempts = Counter()
        self.merged = set()
        self.sent_back = set()  # by the final review, and not yet built again
        self.retries = {}  # task that ended unmerged → how it goes on when it is tried again

    def maybe(self):
        return self.draw(st.booleans())

    def times(self, most):
        return range(self.draw(st.integers(0, most)))

    def new(self, prefix):
        return f"{prefix}{next(self.numbers)}"

    def say(self, *events):
        self.said.append(events)

    def store(self):
        """What was said so far, with the stops in between."""
        for events in self.said:
            self.events.extend(map(self.placed, events))
            if not self.draw(st.integers(0, 19)):
                stopped = [e.RunInterrupted(by="SIGTERM")] if self.maybe() else []
                self.events.extend([*stopped, e.RunResumed()])
        self.said = []

    def placed(self, event):
        """An event as it is said where the run's branch stands now."""
        if isinstance(event, e.TaskStarted):
            return replace(event, base_commit=self.head)
        if isinstance(event, e.TaskReopened) and event.base:
            return replace(event, base=self.head, start=event.start or self.head)
        if hasattr(event, "onto"):
            event = replace(event, onto=self.head)
        if isinstance(event, e.TaskMerged):
            self.head = event.commit
        return event

    def side_by_side(self, *lives):
        """Tasks at the same time, of which one is merged at a time."""
        self.store()
        callers = [self.apart(life) for life in lives]
        merging = None
        while any(callers):
            able = [
                number
                for number, caller in enumerate(callers)
                if caller and (merging in {None, number} or not isinstance(caller[0][0], e.MergeStarted))
            ]
            number = self.draw(st.sampled_from(able)) if len(able) > 1 else able[0]
            events = callers[number].popleft()
            if isinstance(events[0], e.MergeStarted):
                merging = number
            elif isinstance(events[0], e.TaskMerged | e.MergeFailed):
                merging = None
            self.said.append(events)
        self.store()

    def apart(self, life):
        """What one task says."""
        self.said, before = [], self.said
        life()
        self.said, caller = before, self.said
        return deque(caller)

    def run(self):
        self.say(run_started())
        if self.maybe():
            self.set_up("", "/w/integration")
        self.call(Role.PLANNER, "analysis", 1, ends=_GOOD_ENDS)
        if self.maybe():
            self.say(
                e.AnalysisProposed(analysis=Analysis()), e.AnalysisRejected(problems=("no such command",))
            )
        self.say(e.RepositoryAnalyzed(analysis=Analysis(patterns=("one module a subject",))))
        for _ in self.times(2):
            self.say(e.PlanRejected(problems=("the plan has no tasks",)))
        others = [each for each in (task("t2"), task("t3", "t1")) if self.maybe()]
        self.tasks = [task("t1"), *others]
        proposed = {"tasks": tuple(self.tasks), "criteria": (CRITERION,)}
        if self.maybe():
            self.say(e.PlanProposed(**proposed))
            self.say(e.PlanRejected(problems=("too much",)))
        self.say(e.PlanAccepted(**proposed))
        self.side_by_side(*(partial(self.begin, each.id) for each in self.tasks if not each.dependencies))
        self.end()
        if self.retries and self.maybe():
            retried, self.retries = self.retries, {}
            self.say(e.RunResumed(retry=tuple(retried)))
            self.side_by_side(*retried.values())
            self.end()

    def end(self):
        if self.all_merged and not self.final_review(may_send_back=True):
            roots = [each for each in self.tasks if each.id in self.sent_back and not self.waits(each)]
            self.side_by_side(*(partial(self.begin, each.id) for each in roots))
            if self.all_merged:
                self.final_review(may_send_back=False)
        self.say(
            e.WorkDelivered(branch="main", commit=self.head)
            if self.maybe()
            else e.WorkKept(branch="sq/r-1", commit=self.head, reason="dirty")
        )
        self.say(e.RunEnded(outcome=self.draw(st.sampled_from(Outcome)), cause=""))
        self.store()

    @property
    def all_merged(self):
        return self.merged == {each.id for each in self.tasks}

    def waits(self, one):
        return any(needed not in self.merged for needed in one.dependencies)

    def call(self, role, task_id, attempt, iteration=1, *, subject="", ends=tuple(CallEnd)):
        """One exchange; returns its id."""
        call_id = self.new("c-")
        self.say(
            call_started(
                call_id,
                role,
                task_id,
                attempt=attempt,
                iteration=iteration,
                session_id=self.new("s-"),
                subject=subject,
                allowed_usd=self.draw(st.sampled_from([0.0, 2.5])),
            )
        )
        if self.maybe():
            self.say(e.CallRetried(call_id=call_id, end=CallEnd.API_ERROR, detail="", wait_s=1, cost_usd=0.5))
        if self.maybe():
            self.say(e.CallInterrupted(call_id=call_id, cost_usd=0.25))
        if self.maybe():
            self.say(
                e.CallResumed(call_id=call_id, session_id=self.new("s-"), prompt="Go on.", allowed_usd=1.5)
            )
        for _ in self.times(2):
            kind = self.draw(st.sampled_from(MessageKind))
            self.say(e.MessageReceived(call_id=call_id, message=Message(kind=kind, text=self.new("word "))))
        if role is Role.WORKER and self.maybe():
            self.ask(call_id, task_id, attempt)
        if self.maybe():
            self.say(e.ActionRefused(call_id=call_id, tool="Bash", reason="pushing is refused"))
        if self.maybe():
            self.say(e.SignalReceived(call_id=call_id, name="task_complete", payload="{}"))
        end = self.draw(st.sampled_from(ends))
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

    def set_up(self, id_, folder):
        self.say(e.WorkspaceSetUp(task_id=id_, folder=folder, copied=(".env",), runs=(_ran("make env"),)))

    def begin(self, id_, last=0):
        """A task from its start, or built again on newer work; `last` is the attempt after which it is stuck."""
        self.sent_back.discard(id_)
        self.say(e.TaskStarted(task_id=id_, branch=f"b/{id_}", worktree=f"/w/{id_}", base_commit=""))
        if self.maybe():
            self.set_up(id_, f"/w/{id_}")
        self.build(id_, last or self.attempts[id_] + _ATTEMPTS)

    def build(self, id_, last):
        work = self.attempt(id_)
        if work:
            self.review_and_merge(id_, last, *work)
            return
        stuck = e.TaskStuck(task_id=id_, reason="nothing changes")
        self.say(stuck if self.maybe() else e.TaskFailed(task_id=id_, cause="the process died"))
        self.retries[id_] = partial(self.build, id_, last + _ATTEMPTS)

    def review_and_merge(self, id_, last, tree, commit):
        match self.review(id_, commit, last=self.attempts[id_] >= last):
            case e.TaskReopened():
                self.build(id_, last)
            case e.TaskStuck():
                self.retries[id_] = partial(self.build, id_, last + _ATTEMPTS)
            case e.TaskUnverified():
                self.retries[id_] = partial(self.review_and_merge, id_, last + _ATTEMPTS, tree, commit)
            case e.ReviewRecorded():
                self.merge(id_, last, tree, commit)

    def attempt(self, id_):
        """The tree and the commit, where its claim came to stand."""
        self.attempts[id_] += 1
        number = self.attempts[id_]
        if number > 1:
            notes = HandOver(done=self.new("done "), next_step="the tests", blockers=("no network",))
            self.say(e.HandedOver(task_id=id_, attempt=number - 1, notes=notes))
        session, tree = self.new("s-"), self.new("tree")
        self.say(e.AttemptStarted(task_id=id_, attempt=number, session_id=session, tree=tree))
        for iteration in range(1, self.draw(st.integers(1, 3)) + 1):
            self.call(Role.WORKER, id_, number, iteration)
            tree = self.new("tree") if self.maybe() else tree
            self.say(e.IterationMeasured(task_id=id_, attempt=number, iteration=iteration, tree=tree))
            if self.maybe():
                self.decide(id_, number, iteration, tree, Verdict.BLOCK)
            if not self.draw(st.integers(0, 3)):
                self.look_in_between(id_, number, iteration, tree)
        if not self.draw(st.integers(0, 3)):
            return None
        self.verify(id_, tree)
        self.decide(id_, number, iteration, tree, Verdict.ALLOW)
        commit = self.new("commit")
        self.say(e.TaskCommitted(task_id=id_, attempt=number, commit=commit, tree=tree))
        return tree, commit

    def verify(self, id_, tree):
        self.say(e.VerificationStarted(task_id=id_, tree=tree, commands=("make test",)))
        self.say(e.VerificationFinished(task_id=id_, tree=tree, runs=(_ran("make test"),)))

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

    def look_in_between(self, id_, attempt, iteration, tree):
        self.call(Role.REVIEWER, id_, attempt, subject=f"checkpoint {iteration}")
        place = {"task_id": id_, "attempt": attempt, "iteration": iteration, "tree": tree}
        if self.maybe():
            self.say(e.CheckpointReviewed(**place, problem="no JSON"))
        else:
            self.say(e.CheckpointReviewed(**place, issues=(ISSUE,), findings=(self.finding(),)))

    def finding(self):
        return Finding(id=self.new("f"), issue=ISSUE, state=self.draw(st.sampled_from(FindingState)))

    def review(self, id_, commit, *, last):
        """The last event of a task's review, which says how it goes on."""
        attempt = self.attempts[id_]
        place = {"task_id": id_, "attempt": attempt, "commit": commit}
        unusable = self.times(RETRY_LIMITS.unusable_reports)
        for _ in unusable:
            self.call(Role.REVIEWER, id_, attempt)
            self.say(e.ReviewUnusable(**place, problem="no JSON", issue=ISSUE))
        if len(unusable) == RETRY_LIMITS.unusable_reports:
            end = e.TaskUnverified(task_id=id_, reason="the reviewer did not report usably")
            self.say(end)
            return end
        self.call(Role.REVIEWER, id_, attempt)
        if self.maybe():
            passed = e.ReviewRecorded(**place, passed=True, issues=(), findings=(self.finding(),))
            self.say(passed)
            return passed
        failed = e.ReviewRecorded(**place, passed=False, issues=(ISSUE,), findings=(self.finding(),))
        then = e.TaskReopened(task_id=id_, issues=(ISSUE,), findings=(FOUND,), by="the review")
        if last:
            then = e.TaskStuck(task_id=id_, reason="all revisions are used up")
        self.say(failed, then)
        return then

    def merge(self, id_, last, tree, commit):
        place = {"task_id": id_, "commit": commit, "onto": ""}
        self.say(e.MergeStarted(**place))
        if self.maybe():
            self.say(e.MergeConflicted(**place, paths=("a.py",)))
            for number in self.times(2):
                self.call(Role.RESOLVER, id_, self.attempts[id_], number + 1, subject="merge")
                self.say(e.ResolutionRefused(**place, reason="a.py holds markers of a conflict"))
            tree = self.new("tree")
        self.verify(id_, tree)
        if self.maybe():
            self.merge_as(id_, tree)
            return
        failed = e.MergeFailed(**place, reason="the merged work does not pass")
        if self.attempts[id_] < last:
            self.say(
                failed,
                e.TaskReopened(
                    task_id=id_,
                    issues=(ISSUE,),
                    findings=(FOUND,),
                    by="the merge",
                    base="newest",
                    start=commit,
                ),
            )
            self.begin(id_, last)
        else:
            self.say(failed, e.TaskStuck(task_id=id_, reason="it cannot be merged"))
            self.retries[id_] = partial(self.merge, id_, last + _ATTEMPTS, tree, commit)

    def merge_as(self, id_, tree):
        done = {"task_id": id_, "commit": self.new("c"), "tree": tree, "onto": ""}
        self.say(e.MergeBuilt(**done))
        measured = e.WorkMeasured(
            task_id=id_, base=self.head, commit=done["commit"], files=(CHANGE,), added=1, removed=0
        )
        self.say(e.TaskMerged(**done), *([measured] if self.maybe() else []))
        self.merged.add(id_)
        for each in self.tasks:
            begun = each.id in self.attempts and each.id not in self.sent_back
            if id_ in each.dependencies and not begun:
                self.begin(each.id)

    def final_review(self, *, may_send_back):
        """Whether it found nothing."""
        self.call(Role.REVIEWER, "", 1, ends=_GOOD_ENDS)
        place = {"task_id": "", "attempt": 1, "commit": self.head}
        if self.maybe():
            self.say(e.ReviewUnusable(**place, problem="no JSON", issue=ISSUE))
        if self.maybe():
            judged = e.CriterionJudged(
                criterion_id="c-1",
                verdict=self.draw(st.sampled_from(CriterionVerdict)),
                by=JudgedBy.REVIEWER,
                commit=self.head,
                tree=self.new("tree"),
            )
            self.say(e.ReviewRecorded(**place, passed=True, issues=()), *([judged] if self.maybe() else []))
            return True
        self.sent_back = {each.id for each in self.tasks if self.maybe()} if may_send_back else set()
        self.merged -= self.sent_back
        again = [
            e.TaskReopened(
                task_id=id_, issues=(ISSUE,), findings=(FOUND,), by="the final review", base="newest"
            )
            for id_ in sorted(self.sent_back)
        ]
        self.say(e.ReviewRecorded(**place, passed=False, issues=(ISSUE,), findings=(self.finding(),)), *again)
        return False


def _ran(command):
    return CommandRun(command=command, exit_code=0, seconds=0.1, output_tail="")
