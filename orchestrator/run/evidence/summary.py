"""The results of a run's commands in words, for Workers, reviewers and people."""

from collections.abc import Iterable, Sequence

from orchestrator.checks.objecting import CANARY, WITHOUT_WORK
from orchestrator.checks.results.output import cause_of, readable
from orchestrator.checks.results.verdict import CommandVerdict, Judged, executed_a_test, judged_all
from orchestrator.run.record import Trial
from prompts.marking import data, line
from state.journal.events import ProofsTaken, VerificationFinished
from state.journal.events.tasks import TaskView
from state.journal.view import RunView
from state.records.commands import BaselineOutcome, Complaint, TestState
from state.records.objections import Weight
from state.words import baseline_words, count_words, listed, names_of

_TAIL = 1_200  # characters of an output that are shown to a reviewer
_TAIL_OF_PASSED = 400
_COMPLAINTS_SHOWN = 4_000  # characters


def summary(results: Sequence[Judged]) -> str:
    """Return the results that sq saw, for reviewers and people."""
    if not results:
        return "There is nothing to verify with: no command was given and the repository shows none."
    return "\n".join(f"- `{line(one.run.command)}`: {line(said(one))}" for one in results)


def with_output(results: Sequence[Judged]) -> str:
    """Return the results as in `summary`, each command with the end of its output."""
    parts = []
    for one in results:
        tail = readable(
            one.run.output_tail, _TAIL if one.verdict is not CommandVerdict.PASSED else _TAIL_OF_PASSED
        )
        shown = f"\n\n{data(tail, 'the end of its output')}" if tail else ""
        parts.append(f"`{line(one.run.command)}`: {line(said(one))}.{shown}")
    return "\n\n".join(parts) or summary(results)


def said(one: Judged) -> str:
    """Return one command's result in a line."""
    counted = count_words(one.run.count)
    if one.complaints:
        return f"{complaint_count(one.complaints)}: {listed(each.words for each in one.complaints)}"
    if one.verdict is CommandVerdict.PASSED and one.run.complaints is not None:
        return "passed" if one.run.exit_code == 0 else f"no new complaint, {len(one.run.complaints)} old"
    if one.verdict is CommandVerdict.PASSED:
        words = "passed" if one.run.exit_code == 0 else "fails only in tests that do not count"
        words += f", {counted}"
        words += f", failing as at the base: {listed(one.known)}" if one.known else ""
        return words + (f", flaky: {listed(one.flaky)}" if one.flaky else "")
    if one.why:
        return f"{one.verdict}: {one.why}"
    if one.failing:
        return f"failed in {listed(one.failing)}, {counted}"
    return one.run.problem or f"failed with exit code {one.run.exit_code}, {counted}"


def complaint_count(complaints: Sequence[Complaint]) -> str:
    """Return how many new complaints there are."""
    return f"{len(complaints)} new complaint{'' if len(complaints) == 1 else 's'}"


def failures(results: Sequence[Judged]) -> str:
    """Return the failures for people, a line for each command: its failing tests, else its complaint."""
    return "\n".join(
        f"`{one.run.command}` "
        + (
            f"fails in {listed(one.failing)}"
            if one.failing
            else f"has {said(one)}"
            if one.complaints
            else f"failed: {one.why or cause_of(one.run)}"
        )
        for one in results
        if one.verdict is CommandVerdict.FAILED
    )


def feedback(results: Sequence[Judged]) -> str:
    """Return the failures, with the output, for the agent that has to fix them."""
    return "\n\n".join(_feedback(one) for one in results if one.verdict is CommandVerdict.FAILED)


def _feedback(one: Judged) -> str:
    if one.complaints:
        told = f"`{one.run.command}` has {complaint_count(one.complaints)} since your change"
        lines = "\n".join(each.words for each in one.complaints)
        return f"{line(told)}:\n\n{data(readable(lines, len(lines))[:_COMPLAINTS_SHOWN], 'the complaints')}"
    told = f"`{one.run.command}` failed with exit code {one.run.exit_code}"
    if one.failing:
        told = f"`{one.run.command}` fails in tests that must not fail: {listed(one.failing)}"
    if one.why:
        told += f" ({one.why})"
    if one.known:
        told += f". These failed before your change and do not count: {listed(one.known)}"
    if one.reruns:
        told += f". sq ran these again: {'; '.join(each.words for each in one.reruns)}"
    part = "the failing part of its output" if one.run.failing_part else "the end of its output"
    whole = one.run.failing_part or one.run.output_tail
    return f"{line(told)}. Here is {part}:\n\n{data(readable(whole, len(whole)), part)}"


def unanswered(results: Iterable[Judged]) -> str:
    """Return which commands could not answer, and why, or "" if all did."""
    silent = [one for one in results if one.verdict is CommandVerdict.UNANSWERED]
    return "; ".join(f"`{one.run.command}` {one.why}" for one in silent)


def failing_before(view: RunView) -> list[tuple[str, str]]:
    """Return the commands that failed at the base, each with its failing tests if they are known."""
    found = []
    for command, check in view.baseline.checks.items():
        if check.outcome is BaselineOutcome.BROKEN:
            continue
        failed = names_of(check.run.count, TestState.FAILED)
        if failed:
            found.append((command, listed(failed)))
        elif check.outcome is BaselineOutcome.FAILS:
            old = f"{len(check.run.complaints)} old complaints" if check.run.complaints else ""
            found.append((command, old or "as a whole, its tests are not known by name"))
    return found


def broken_before(view: RunView) -> list[tuple[str, str]]:
    """Return the commands that could not run at the base, each with the reason."""
    return [
        (command, check.run.broken)
        for command, check in view.baseline.checks.items()
        if check.outcome is BaselineOutcome.BROKEN
    ]


def evidence_of(view: RunView, results: Sequence[Judged], proofs: ProofsTaken | None) -> list[Judged]:
    """Return the commands that passed on the merged whole and prove something."""
    if view.settings is None:
        return [one for one in results if one.verdict is CommandVerdict.PASSED]
    objections, answers = (proofs.objections, proofs.proofs) if proofs else ((), ())
    lost = {one.subject for one in objections if one.check == CANARY and one.weight is Weight.BLOCKS}
    noticing = {one.command for one in answers if one.check == CANARY or one.by_exit_code}
    asked, no_code = asked_without_work(proofs), bool(proofs and proofs.only_prose)
    return [
        one
        for one in results
        if (command := one.run.command) not in lost
        and executed_a_test(
            one,
            notices=command in noticing,
            asked=command in asked,
            chosen=command in view.settings.verify,
            no_code=no_code,
        )
    ]


def asked_without_work(proofs: ProofsTaken | None) -> set[str]:
    """Return the commands that were asked with the work taken out, also those without an answer."""
    if proofs is None:
        return set()
    answered = {one.command for one in proofs.proofs if one.check == WITHOUT_WORK}
    return answered | {one.subject for one in proofs.objections if one.check == WITHOUT_WORK}


def results(run: Trial, finished: VerificationFinished) -> list[Judged]:
    """Return the meaning of each command's result on a tree, compared with its result on the base."""
    checks = run.view.baseline.checks
    return judged_all(checks, finished.runs, flaky=finished.flaky, reruns=finished.reruns)


def seen_of(run: Trial, task: TaskView) -> str:
    """Return the newest results on this task's work, or before any those on the untouched commit."""
    verifications = run.view.evidence.verifications
    newest = next((tree for tree in reversed(task.open.trees) if tree in verifications), "")
    if newest:
        newer = "" if newest == task.open.trees[-1] else " The workspace has changed since."
        where = (
            "the work that this attempt began with" if newest == task.open.trees[0] else "this task's work"
        )
        return f"On {where}.{newer}\n\n{with_output(results(run, verifications[newest]))}"
    lines = [f"- {baseline_words(check)}" for check in run.view.baseline.checks.values()]
    return "\n".join(["On the commit that the run began with:", *lines]) if lines else ""
