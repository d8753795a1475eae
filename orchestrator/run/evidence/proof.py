"""Proofs of a run: the worth of a passed verification, asked of the checks, and recorded."""

from orchestrator.checks.objecting import CANARY, LASTING, WITHOUT_WORK, objections_to
from orchestrator.checks.order import answers_about
from orchestrator.run.evidence.bench import bench_of, change_of
from orchestrator.run.evidence.objections import without_spared
from orchestrator.run.evidence.summary import results
from orchestrator.run.purpose import PROOFS, run_for
from orchestrator.run.record import Run
from state.journal.events import ProofsTaken, VerificationFinished
from state.records.objections import Objection, Weight


async def take_proofs(run: Run, finished: VerificationFinished, *, task_id: str, base: str) -> ProofsTaken:
    """As `TakeProofs`."""
    run_for(PROOFS, task_id)
    tree = finished.tree
    known = run.view.evidence.proofs.get((task_id, tree))
    if known and _holds(run, task_id, tree):
        return known
    change = change_of(run, task_id=task_id, base=base, tree=tree)
    same = None if task_id else _of_the_same(run, base, tree)
    found = await answers_about(change, bench_of(run), results(run, finished), again=same is not None)
    objections, answers = objections_to(found, run.view.baseline.checks)
    objections = tuple(without_spared(run.view, task_id, one) for one in objections)
    if same:
        objections = _with_those_of_the_task(same, objections)
        answers = (*(one for one in same.proofs if one.check != CANARY), *answers)
    all_taken_out = any(one.needed is not None and not one.partly for one in found.without_work)
    proofs = ProofsTaken(
        task_id=task_id,
        tree=tree,
        base=base,
        objections=objections,
        proofs=answers,
        facts=found.facts,
        only_prose=found.only_prose,
        all_taken_out=all_taken_out or bool(same and same.all_taken_out),
    )
    run.record(proofs)
    return proofs


def _with_those_of_the_task(task: ProofsTaken, whole: tuple[Objection, ...]) -> tuple[Objection, ...]:
    """Return the objections to the whole, with those to the lone task that is the whole."""
    stay = [
        one
        for one in task.objections
        if one.check in LASTING and (one.weight is not Weight.UNKNOWN or one.check == WITHOUT_WORK)
    ]
    known = {one.id for one in stay}
    return (*stay, *(one for one in whole if one.id not in known))


def _of_the_same(run: Run, base: str, tree: str) -> ProofsTaken | None:
    """Return the proofs of a lone task if its work is the whole: the same tree, begun with the same base."""
    if len(run.view.tasks) != 1:
        return None
    for (task_id, one), proofs in run.view.evidence.proofs.items():
        if task_id and one == tree and proofs.base == base and _holds(run, task_id, one):
            return proofs
    return None


def _holds(run: Run, task_id: str, tree: str) -> bool:
    """Whether proofs are about the newest verification of their tree. Another environment has a newer one."""
    evidence = run.view.evidence
    return evidence.proved_at[task_id, tree] > evidence.verified_at.get(tree, 0)
