"""Proofs of a run: the worth of a passed verification, asked of the checks, and recorded."""

from dataclasses import replace

from orchestrator.checks.objecting import CANARY, LASTING, WITHOUT_WORK
from orchestrator.run.evidence.change import change_of
from orchestrator.run.evidence.summary import results
from orchestrator.run.purpose import PROOFS, run_for
from orchestrator.run.record import Trial
from state.journal.events import ProofsTaken, VerificationFinished
from state.journal.view import RunView
from state.records.objections import Objection, Weight


async def take_proofs(run: Trial, finished: VerificationFinished, *, task_id: str, base: str) -> ProofsTaken:
    """Ask the checks about each command that passed on a tree, and record their answers.

    Args:
        run: the run.
        finished: the commands' results on the tree.
        task_id: the task of this work, or "" for the merged whole.
        base: the tree that the work began with.
    """
    run_for(PROOFS, task_id)
    tree = finished.tree
    known = run.view.evidence.proofs.get((task_id, tree))
    if known and _holds(run, task_id, tree):
        return known
    change = change_of(run, task_id=task_id, base=base, tree=tree)
    same = None if task_id else _of_the_same(run, base, tree)
    found = await run.answers_about(change, run.bench, results(run, finished), again=same is not None)
    objections = tuple(_without_spared(run.view, task_id, one) for one in found.objections)
    answers = found.proofs
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


def _without_spared(view: RunView, task_id: str, objection: Objection) -> Objection:
    """Return an objection as a note if the spec wants no test for the work that no test needs.

    Of the whole, each task without such a test has to have its line.
    """
    if objection.check != WITHOUT_WORK or objection.weight is not Weight.ONCE:
        return objection
    if task_id:
        lines = [view.tasks[task_id].task.without_tests]
    else:
        of_tasks = [
            view.evidence.proofs.get((id_, task.claim.committed_tree)) for id_, task in view.tasks.items()
        ]
        lines = [
            one.because
            for proofs in of_tasks
            for one in (proofs.of(WITHOUT_WORK) if proofs else ())
            if one.weight is not Weight.UNKNOWN
        ]
    if not lines or not all(lines):
        return objection
    return replace(objection, weight=Weight.NOTE, because=lines[0])


def _with_those_of_the_task(task: ProofsTaken, whole: tuple[Objection, ...]) -> tuple[Objection, ...]:
    """Return the objections to the whole, with those to the lone task that is the whole."""
    stay = [
        one
        for one in task.objections
        if one.check in LASTING and (one.weight is not Weight.UNKNOWN or one.check == WITHOUT_WORK)
    ]
    known = {one.id for one in stay}
    return (*stay, *(one for one in whole if one.id not in known))


def _of_the_same(run: Trial, base: str, tree: str) -> ProofsTaken | None:
    """Return the proofs of a lone task if its work is the whole: the same tree, begun with the same base."""
    if len(run.view.tasks) != 1:
        return None
    for (task_id, one), proofs in run.view.evidence.proofs.items():
        if task_id and one == tree and proofs.base == base and _holds(run, task_id, one):
            return proofs
    return None


def _holds(run: Trial, task_id: str, tree: str) -> bool:
    """Whether proofs are about the newest verification of their tree. Another environment has a newer one."""
    evidence = run.view.evidence
    return evidence.proved_at[task_id, tree] > evidence.verified_at.get(tree, 0)
