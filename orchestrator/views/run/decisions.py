"""The decisions ledger as lines: each question of a Worker, its answer, grounds, model and cost."""

from collections.abc import Iterator

from orchestrator.views.models.decisions import Decision
from orchestrator.views.words import local_time


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
