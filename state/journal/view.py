"""The current state of a run, put together from the records of its nouns (`state.journal.events`).

Only `state.journal.fold` fills them. All decisions and all displays read from here.
"""

from dataclasses import dataclass, field

from state.journal.events.before import SpecAnswerView
from state.journal.events.calls import CallView, SpendDiffered, ToolServersListed
from state.journal.events.checkout import CheckoutView
from state.journal.events.evidence import BaselineView, EvidenceView
from state.journal.events.people import PeopleView, WordSaid
from state.journal.events.plan import PlanView
from state.journal.events.questions import AskView
from state.journal.events.run import (
    ClockView,
    InstructionsRead,
    NoticeSent,
    ProcessView,
    RunEnded,
    RunStarted,
)
from state.journal.events.tasks import Stage, TaskView, WholeView
from state.records.questions import Answer, Basis, Confidence, Question
from state.records.reviews import ReviewIssue
from state.records.spec_check import Decider
from state.roles import Role
from state.settings.records import Confinement, Settings
from state.words import question_key

SPEC = "the spec"  # the subject of decisions before the work. No task has such an id


def spec_answer(held: SpecAnswerView) -> Answer:
    """Return an answer about the spec as one to a question."""
    given, finding = held.given, held.finding
    is_option, is_person = bool(finding and given.answer in finding.options), given.by is Decider.PERSON
    return Answer(
        question=given.question,
        labels=(given.answer,) if is_option else (),
        free_text="" if is_option else given.answer,
        reason="decided by a person before the work"
        if is_person
        else held.why or (finding.why if finding else ""),
        basis=Basis.PERSON if is_person else Basis.JUDGEMENT,
        confidence=Confidence.HIGH if is_person else Confidence.MEDIUM,
    )


@dataclass(slots=True)
class Context:
    """The seed's OrchestratorContext (002): empty at the start, filled by events.

    `instructions` and `servers` are those of the project that agents have. `people`: what they said to the
    run.
    """

    discoveries: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)
    review_issues: list[ReviewIssue] = field(default_factory=list)
    instructions: InstructionsRead | None = None
    servers: ToolServersListed | None = None
    people: PeopleView = field(default_factory=PeopleView)


@dataclass(slots=True)
class RunView:
    """A run as its events describe it. `settings`: those in effect now."""

    started: RunStarted | None = None
    ended: RunEnded | None = None
    settings: Settings | None = None
    clock: ClockView = field(default_factory=ClockView)
    process: ProcessView = field(default_factory=ProcessView)
    baseline: BaselineView = field(default_factory=BaselineView)
    plan: PlanView = field(default_factory=PlanView)
    evidence: EvidenceView = field(default_factory=EvidenceView)
    tasks: dict[str, TaskView] = field(default_factory=dict)
    calls: dict[str, CallView] = field(default_factory=dict)
    asks: dict[str, AskView] = field(default_factory=dict)
    whole: WholeView = field(default_factory=WholeView)
    checkout: CheckoutView = field(default_factory=CheckoutView)
    differences: list[SpendDiffered] = field(default_factory=list)
    notices: dict[tuple[int, str], NoticeSent] = field(default_factory=dict)  # by their event and target
    context: Context = field(default_factory=Context)

    @property
    def agent(self) -> str:
        """The name of the agent that works in sessions."""
        return (self.started.confined if self.started else Confinement()).agent

    def calls_of(
        self, role: Role, task_id: str, attempt: int | None = None, subject: str = ""
    ) -> list[CallView]:
        """Return the calls of a role for a task about one subject, oldest first."""
        return [
            call
            for call in self.calls.values()
            if call.started.role is role
            and call.started.task_id == task_id
            and (attempt is None or call.started.attempt == attempt)
            and call.started.subject == subject
        ]

    def criteria_of(self, task_id: str) -> list[str]:
        """Return the ids of the criteria that a task meets, according to the plan."""
        return [one.id for one in self.plan.criteria if task_id in one.task_ids]

    def decided(self, task_id: str = "") -> list[tuple[str, Answer]]:
        """Return the answers that hold, with the task that asked: the newest one to each question of a task.

        Those about the spec, which were given before the work, come first. `task_id`: only of this task.
        """
        newest: dict[tuple[str, str], Answer] = {}
        for ask in self.asks.values():
            if task_id in {"", ask.asked.task_id}:
                for answer in ask.held:
                    newest[ask.asked.task_id, question_key(answer.question)] = answer
        before = [] if task_id else [(SPEC, spec_answer(one)) for one in self.plan.before.check.held]
        return [*before, *((task, answer) for (task, _), answer in newest.items())]

    @property
    def spec_words(self) -> str:
        """The spec, with the answers that belong to it: those before the work, and those of a person."""
        spec = self.started.spec_text if self.started else ""
        own = [one for task, one in self.decided() if task == SPEC or one.basis is Basis.PERSON]
        return "\n".join([spec, *(" ".join(filter(None, (*one.labels, one.free_text))) for one in own)])

    @property
    def parked_questions(self) -> dict[str, tuple[AskView, Question]]:
        """The questions that were left to people, by name: `q1` is the first that was ever parked."""
        parked = [(ask, question) for ask in self.asks.values() for question in ask.for_people]
        return {f"q{number}": one for number, one in enumerate(parked, 1)}

    @property
    def waiting_questions(self) -> dict[str, tuple[AskView, Question]]:
        """The questions that wait for a person, by name."""
        return {
            name: (ask, question)
            for name, (ask, question) in self.parked_questions.items()
            if ask.is_waiting
            and question.text not in ask.given
            and (task := self.tasks.get(ask.asked.task_id))
            and task.open.waits == ask.asked.ask_id
        }

    def is_claimed(self, task_id: str) -> bool:
        """Whether a task's claim has no answer yet: it is checked, its check was cut off, or it waits."""
        task = self.tasks.get(task_id)
        return bool(
            task and task.stage is Stage.BUILDING and (task.open.claimed_at or self.is_checked(task_id))
        )

    def is_checked(self, task_id: str) -> bool:
        """Whether sq checks a task's claim, or its check was cut off."""
        begun = f"claim {task_id}" in self.clock.pace.begun
        return begun and task_id in self.tasks and self.tasks[task_id].stage is Stage.BUILDING

    @property
    def unheard_words(self) -> list[WordSaid]:
        """The words of people that no prompt of any agent holds."""
        heard = {word_id for call in self.calls.values() for word_id in call.words}
        return [word for word in self.context.people.said if word.word_id not in heard]

    def task_of(self, event: object) -> str:
        """Return the task that an event is about, or "" for the whole, a plan or an analysis."""
        task_id = getattr(event, "task_id", None)
        if task_id is None and (call_id := getattr(event, "call_id", None)):
            task_id = self.calls[call_id].started.task_id if call_id in self.calls else ""
        if task_id is None and (ask_id := getattr(event, "ask_id", None)):
            task_id = self.asks[ask_id].asked.task_id if ask_id in self.asks else ""
        return task_id if task_id in self.tasks else ""

    @property
    def root(self) -> str:
        """The folder below which the run works, its worktrees' or the checkout. Empty before its start."""
        return (self.started.worktrees or self.started.repository) if self.started else ""

    @property
    def cost_usd(self) -> float:
        """The cost of all calls so far, aborted ones included."""
        return sum(call.cost_usd for call in self.calls.values())
