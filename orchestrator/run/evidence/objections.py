"""The objections to the work of a run: how they are weighed there, and those to the merged whole."""

from collections.abc import Iterable, Iterator, Sequence

from orchestrator.checks import objecting
from orchestrator.checks.of_tests.announced import unannounced
from orchestrator.checks.outcome import Policy, gaps
from orchestrator.checks.results.verdict import CommandVerdict, Judged, judged_all
from orchestrator.run.evidence.summary import asked_without_work, evidence_of
from state.journal.events.tasks import TaskView
from state.journal.view import RunView
from state.records.commands import BaselineOutcome
from state.records.objections import STRENGTH, Objection, Weight
from state.settings.records import Effort
from state.words import sentence_of

_OTHER_COMMANDS = "Name the commands that show this work with --verify, or mend this one at the base."
_LEAST_STRENGTH = 0.5  # of the small changes that were tried
_UNUSED = {
    BaselineOutcome.TOO_LONG: "took too long at the base and was not run again: raise limits.verify_s",
    BaselineOutcome.NEVER_ENDS: "never ends and was not run: ",
}


def policy_of(effort: Effort) -> Policy:
    """Return how much an effort asks of a work."""
    of_tests = {objecting.CODE_BEFORE, STRENGTH}
    demands_tests = frozenset(of_tests if effort.block_unproven_tests else ())
    return Policy(
        heard_notes=demands_tests,
        told_along=frozenset({STRENGTH, objecting.SAME_INPUTS}) - demands_tests,
        least_strength=_LEAST_STRENGTH if effort.block_unproven_tests else 0,
        needed=frozenset({objecting.WITHOUT_WORK} if effort.block_unasked_work else ()),
    )


def gaps_of_whole(view: RunView, policy: Policy) -> list[Objection]:
    """Return the objections that keep the merged whole from code 0."""
    proofs = view.evidence.proofs.get(("", view.whole.tree))
    results = whole_results(view)
    objections = [*(proofs.objections if proofs else ()), *_of_commands(view, results)]
    of_tasks = [
        found
        for id_, task in view.tasks.items()
        if (found := view.evidence.proofs.get((id_, task.claim.committed_tree)))
    ]
    is_shown = all(one.proven for one in of_tasks if asked_without_work(one))
    speaking = [
        *(proofs.proofs if proofs else ()),
        *(one for each in of_tasks if is_shown for one in each.proofs),
    ]
    open_ = gaps(objections, speaking, policy)
    if not (open_ or evidence_of(view, results, proofs)):
        ran = "; ".join(
            f"`{one.run.command}` {one.why or 'executed no test that sq could count'}" for one in results
        )
        words = f"there was nothing to verify with{f' ({ran})' if ran else ''}: give commands with --verify"
        return [_unverified("", words)]
    return open_


def whole_results(view: RunView) -> list[Judged]:
    """Return each command's result on the merged whole."""
    verified = view.evidence.verifications.get(view.whole.tree)
    if verified is None:
        return []
    return judged_all(view.baseline.checks, verified.runs, flaky=verified.flaky)


def _of_commands(view: RunView, results: list[Judged]) -> Iterator[Objection]:
    """Yield the objections of the commands on the whole, and of those that could not be run."""
    for one in results:
        command, before = one.run.command, view.baseline.checks.get(one.run.command)
        if one.verdict in {CommandVerdict.FAILED, CommandVerdict.UNANSWERED}:
            yield _unverified(command, f"the merged work does not pass `{command}`")
        elif one.verdict is CommandVerdict.NO_EVIDENCE and before and before.outcome.is_red:
            yield _unverified(command, f"`{command}` vouches for nothing: {one.why}", _OTHER_COMMANDS)
    for command, check in view.baseline.checks.items():
        if check.chosen and (why := _UNUSED.get(check.outcome)):
            problem = check.run.problem if check.outcome is BaselineOutcome.NEVER_ENDS else ""
            yield _unverified(command, f"`{command}` {why}{problem}")


def _unverified(command: str, words: str, remedy: str = "") -> Objection:
    return Objection(
        check=objecting.COMMANDS, weight=Weight.UNVERIFIED, subject=command, words=words, remedy=remedy
    )


def gap_words(alike: Sequence[Objection]) -> str:
    """Return equal objections as a cause of the end."""
    told = sentence_of(alike)
    if alike[0].weight is Weight.UNKNOWN:
        return f"sq could not check {told}. A test that fails on the code before shows it too"
    return f"{told} (--merge-unverified takes it nevertheless)" if alike[0].weight is Weight.ONCE else told


def way_on(heard: Iterable[Objection]) -> str:
    """Return what a Worker can do that hears these once and has a reason for its work."""
    if any(one.weight is Weight.ONCE for one in heard):
        return (
            "If one of these has to stay as it is, claim completion again, say why in `notes`, and quote the "
            "line of the spec that asks for it. The reviewer then rules on changed tests. The run can then "
            "only end unverified, and the user's branch does not move."
        )
    return "Or claim completion again if there is a reason. The reviewer will look at it."


def changes_of(view: RunView, task: TaskView) -> list[Objection]:
    """Return the changed tests of a task's committed work that nothing announces."""
    proofs = view.evidence.proofs.get((task.task.id, task.claim.committed_tree))
    return unannounced(proofs.objections) if proofs else []


def ruling_words(view: RunView, name: str) -> str:
    """Return in words how reviewers ruled on a changed test. A refusal outweighs the others."""
    rulings = [ruling for task in view.tasks.values() for ruling in task.review.rulings]
    rulings += view.whole.reviews[-1].tests if view.whole.reviews else ()
    ruled = [one for one in rulings if one.test == name and one.ruled]
    if not ruled:
        return "no reviewer ruled on it"
    last = next((one for one in ruled if not one.accepted), ruled[-1])
    return f"the reviewer {'accepts' if last.accepted else 'refuses'}: {last.why}"
