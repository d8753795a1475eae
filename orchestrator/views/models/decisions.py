"""The decisions of a run, and as lines: each question of a Worker, its answer, grounds, model and cost."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from orchestrator.views.words import DECIDERS, local_time
from state.journal.events.before import SpecAnswerView
from state.journal.events.questions import AskView
from state.journal.view import SPEC, RunView, spec_answer
from state.records.questions import Answer, Basis, Question, QuestionOption
from state.records.spec_check import SpecFinding


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
    cost_usd: float = 0.0
    again: bool = False
    rejected: bool = False
    plain: bool = False
    reused_from: str = ""
    parked: bool = False
    problem: str = ""
    seq: int = 0

    @property
    def is_yours(self) -> bool:
        """Whether a person decided."""
        return self.answer is not None and self.answer.basis is Basis.PERSON


def decisions_of(view: RunView) -> list[Decision]:
    """Return the answers about the spec, and then the questions of Workers, in their order."""
    return [*_before_the_work(view), *(decision for ask in view.asks.values() for decision in _of(view, ask))]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecQuestion:
    """A question about the spec before the work, and who decided it ("": nobody yet) with which answer."""

    finding: SpecFinding
    answer: str
    by: str
    seq: int


def spec_questions(view: RunView) -> tuple[SpecQuestion, ...]:
    """Return the questions about the spec."""
    check = view.plan.before.check
    known = {one.finding: one for one in check.held}
    return tuple(_spec_question(one, known.get(one), check.seq) for one in check.findings)


def _spec_question(finding: SpecFinding, held: SpecAnswerView | None, seq: int) -> SpecQuestion:
    if held is None:
        return SpecQuestion(finding=finding, answer="", by="", seq=seq)
    by = DECIDERS[held.given.by]
    return SpecQuestion(finding=finding, answer=held.given.answer, by=by, seq=held.seq)


def _before_the_work(view: RunView) -> Iterator[Decision]:
    """Yield the answers about the spec, those to questions that the Planner did not raise again too."""
    for one in view.plan.before.check.held:
        options = one.finding.options if one.finding else ()
        place = f" ({one.finding.place})" if one.finding else ""
        yield Decision(
            at=one.at,
            task_id=SPEC,
            question=Question(
                text=one.given.question + place, options=tuple(QuestionOption(label=each) for each in options)
            ),
            answer=spec_answer(one),
            model=DECIDERS[one.given.by],
            seq=one.seq,
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
