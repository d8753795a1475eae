"""Proofs of a run: the worth of a passed verification, asked of the checks, and recorded."""

from orchestrator.checks.answers import Answers
from orchestrator.checks.order import answers_about
from orchestrator.run.evidence.bench import bench_of, change_of
from orchestrator.run.evidence.summary import results
from orchestrator.run.purpose import PROOFS, run_for
from orchestrator.run.record import Run
from state.journal.events import ProofsTaken, VerificationFinished


async def take_proofs(run: Run, finished: VerificationFinished, *, task_id: str, base: str) -> ProofsTaken:
    """As `TakeProofs`."""
    run_for(PROOFS, task_id)
    tree = finished.tree
    known = run.view.evidence.proofs.get((task_id, tree))
    if known and _holds(run, task_id, tree):
        return known
    change = change_of(run, task_id=task_id, base=base, tree=tree)
    same = None if task_id else _of_the_same(run, base, tree)
    found = await answers_about(
        change, bench_of(run), results(run, finished), lasting=_lasting(same) if same else None
    )
    proofs = ProofsTaken(
        task_id=task_id,
        tree=tree,
        base=base,
        changes=found.changes,
        unproven=tuple(dict.fromkeys(found.unproven)),
        failed_before=found.failed_before,
        canaries=found.canaries,
        untold=tuple(dict.fromkeys(found.untold)),
        only_here=found.only_here,
        without_work=found.without_work,
        facts=found.facts,
        broken=found.broken,
        marks=tuple(dict.fromkeys(found.marks)),
        unlike=found.unlike,
        stubs=found.stubs,
        only_prose=found.only_prose,
    )
    run.record(proofs)
    return proofs


def _lasting(known: ProofsTaken) -> Answers:
    return Answers(
        changes=known.changes,
        without_work=known.without_work,
        marks=known.marks,
        unlike=known.unlike,
        stubs=known.stubs,
    )


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
