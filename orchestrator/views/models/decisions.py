"""The decisions of a run, and as lines: each question of a Worker, its answer, grounds, model and cost."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from orchestrator.views.words import DECIDERS, local_time
from state.journal.events.before import SpecCheckView
from state.journal.events.questions import AskView
from state.journal.view import SPEC, RunView, spec_answer
from state.records.questions import Answer, Basis, Question, QuestionOption
from state.records.spec_check import Decider, SpecFinding


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One question and its answer. `problem`: why it has no answer. `cost_usd` is that of its call.

    `again`: it rejects an earlier answer. `rejected`: this answer was rejected later. `reused_from`: the call
    that gave this answer first. `seq` is the place of the question in the journal.
    """

    at: datetime
    task_id: str
    question: Question
    answer: Answer | None
    model: str
    cost_usd: float
    again: bool
    rejected: bool
    plain: bool
    reused_from: str
    parked: bool
    problem: str
    seq: int = 0

    @property
    def is_yours(self) -> bool:
        """Whether a person decided."""
        return self.answer is not None and self.answer.basis is Basis.PERSON


def decisions_of(view: RunView) -> list[Decision]:
    """Return the questions of Workers, and those about the spec that no person decided, in their order."""
    return [*_before_the_work(view), *(decision for ask in view.asks.values() for decision in _of(view, ask))]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecQuestion:
    """A question about the spec before the work, and who decided it ("": nobody yet) with which answer."""

    finding: SpecFinding
    answer: str
    by: str
    seq: int

    @property
    def is_yours(self) -> bool:
        """Whether a person decided."""
        return self.by == DECIDERS[Decider.PERSON]


def spec_questions(view: RunView) -> tuple[SpecQuestion, ...]:
    """Return the questions about the spec."""
    return tuple(_spec_question(view.plan.before.check, one) for one in view.plan.before.check.findings)


def _spec_question(check: SpecCheckView, finding: SpecFinding) -> SpecQuestion:
    if decided := check.decided.get(finding.id):
        by = DECIDERS[decided.event.by]
        return SpecQuestion(finding=finding, answer=decided.event.answer, by=by, seq=decided.seq)
    if given := check.answer_to(finding):
        seq = check.answers_at[0] if check.answers_at else 0
        return SpecQuestion(finding=finding, answer=given.answer, by=DECIDERS[given.by], seq=seq)
    return SpecQuestion(finding=finding, answer="", by="", seq=check.seq)


def _before_the_work(view: RunView) -> Iterator[Decision]:
    """Yield the questions about the spec that the recommended options decided."""
    check = view.plan.before.check
    for one in check.findings:
        decided = check.decided.get(one.id)
        if decided is None or decided.event.by is not Decider.RECOMMENDED:
            continue
        options = tuple(QuestionOption(label=option) for option in one.options)
        yield Decision(
            at=decided.at,
            task_id=SPEC,
            question=Question(text=f"{one.question} ({one.place})", options=options),
            answer=spec_answer(check, one.id),
            model=DECIDERS[Decider.RECOMMENDED],
            cost_usd=0.0,
            again=False,
            rejected=False,
            plain=False,
            reused_from="",
            parked=False,
            problem="",
            seq=decided.seq,
        )


def _of(view: RunView, ask: AskView) -> Iterator[Decision]:
    given = ask.answered.answers if ask.answered else ask.parked.answers if ask.parked else ()
    by = view.calls.get(ask.answered.by) if ask.answered else None
    for number, question in enumerate(ask.asked.questions):
        yield Decision(
            at=ask.at or datetime.min,  # noqa: DTZ901  the fold fills it
            task_id=ask.asked.task_id,
            question=question,
            answer=ask.given.get(question.text) or (given[number] if number < len(given) else None),
            model=ask.answered.model if ask.answered else "",
            cost_usd=by.cost_usd if by and ask.answered and not ask.answered.reused else 0.0,
            again=question.text in ask.asked.again,
            rejected=question.text in ask.rejected,
            plain=ask.asked.plain,
            reused_from=ask.answered.reused_from if ask.answered else "",
            parked=ask.parked is not None and ask.answered is None and question.text not in ask.given,
            problem=ask.failed.cause if ask.failed else "",
            seq=ask.seq,
        )


def decision_lines(decisions: list[Decision]) -> list[str]:
    """The ledger for people."""
    if not decisions:
        return ["no question was asked in this run"]
    return [line for decision in decisions for line in _lines(decision)]


def _lines(decision: Decision) -> Iterator[str]:
    options = " / ".join(option.label for option in decision.question.options)
    how = [*(["asked again"] if decision.again else []), *(["in plain words"] if decision.plain else [])]
    asked = f" ({', '.join(how)})" if how else ""
    yield f"{local_time(decision.at)}  {decision.task_id}: {decision.question.text}{asked}" + (
        f" [{options}]" if options else ""
    )
    answer = decision.answer
    if answer is None:
        yield f"    not answered: {decision.problem or 'the answer has not come yet'}"
        return
    if decision.parked:
        yield f"    parked for a person. The Developer would have said: {answer.marked}"
    elif answer.basis is Basis.PERSON:
        yield f"    {answer.marked} (a person)"
    elif decision.reused_from:
        yield f"    {answer.marked}, as the same question was answered before"
    else:
        yield f"    {answer.marked} ({decision.model}, ${decision.cost_usd:.4f})"
    if decision.rejected:
        yield "    the Worker did not accept this answer"
    undo = "easy to undo" if answer.reversible else "not easy to undo"
    yield f"    basis: {answer.basis}, confidence {answer.confidence}, {undo}"
    grounds = {"why": answer.reason, "evidence": answer.evidence}
    yield from (f"    {name}: {text}" for name, text in grounds.items() if text)
