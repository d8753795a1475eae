"""The commands that vouch for a tree, and descriptions of their results for Workers, reviewers and people."""

import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from agents.process.frozen import is_living
from orchestrator.checks.objecting import CANARY, WITHOUT_WORK
from orchestrator.project.checks import configured_checks
from orchestrator.project.detection import detect
from orchestrator.project.runners.suite import suite_of
from orchestrator.project.shell import only_installs
from orchestrator.run.evidence.verdict import CommandVerdict, Judged, executed_a_test, judged, usable
from orchestrator.run.record import Run
from prompts.marking import data, line
from state.hidden import without_codes
from state.journal.events import ProofsTaken, VerificationFinished
from state.journal.events.tasks import TaskView
from state.journal.view import RunView
from state.records.commands import (
    BaselineCheck,
    BaselineOutcome,
    CommandRun,
    Complaint,
    TestState,
)
from state.records.objections import Weight
from state.words import baseline_words, count_words, listed, names_of

_TAIL = 1_200  # characters of an output that are shown to a reviewer
_TAIL_OF_PASSED = 400
_COMPLAINTS_SHOWN = 4_000  # characters
CUT = "[the beginning is left out]"
_LONGEST_CAUSE = 200  # characters
_NAMED_ERROR = re.compile(r"\b\w*(?:error|exception|panic|undefined)\w*(?:\[\w+\])?\s*:\s*\S", re.IGNORECASE)
_SUMS_UP = re.compile(
    r"could not compile|previous error|build failed|complete log of this run", re.IGNORECASE
)
_UNREACHED = re.compile(r"getaddrinfo|could not resolve|name resolution", re.IGNORECASE)
_COMPLAINT = re.compile(r"fail|error|not ok|panic|exception", re.IGNORECASE)
_PROGRAM = re.compile(r"[\w.-]+")
_GROUND = re.compile(r"(?:/[^\s:'\"()/]+)*/verify\.\d+/")


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


def readable(output: str, limit: int) -> str:
    """Return the end of an output for an agent: whole lines, no terminal codes, paths of the workspace.

    A cut output begins with a mark. sq runs the commands on a copy of the workspace, whose folder means
    nothing to an agent.
    """
    plain = _GROUND.sub("", without_codes(output)).replace("\r", "").strip()
    if len(plain) <= limit:
        return plain
    end = plain[-limit:]
    return f"{CUT}\n" + (end.partition("\n")[2] or end)


def cause_of(done: CommandRun) -> str:
    """Return why a command failed, in a line: its problem, else its exit code and its newest complaint."""
    if done.problem:
        return done.problem
    part = done.failing_part or done.output_tail
    whole = readable(part, len(part)).splitlines()
    newest = [line for line in reversed(whole) if not _SUMS_UP.search(line)]
    complaints = (
        line for sign in (_NAMED_ERROR, _UNREACHED, _COMPLAINT) for line in newest if sign.search(line)
    )
    last = next(complaints, newest[0] if newest else "").strip()
    return f"exit code {done.exit_code}" + (f": {last[:_LONGEST_CAUSE]}" if last else "")


def unanswered(results: Iterable[Judged]) -> str:
    """Return which commands could not answer, and why, or "" if all did."""
    silent = [one for one in results if one.verdict is CommandVerdict.UNANSWERED]
    return "; ".join(f"`{one.run.command}` {one.why}" for one in silent)


def has_failed(results: Iterable[Judged]) -> bool:
    """Whether a command speaks against the work."""
    return any(one.verdict is CommandVerdict.FAILED for one in results)


def noticed_before(check: BaselineCheck | None) -> bool:
    """Whether a command has to notice a planted test now: it did at the base, or had nothing to run there."""
    if check is None or check.outcome is BaselineOutcome.NOTHING_YET:
        return True
    return bool(check.canary and check.canary.caught)


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
            view.settings,
            notices=command in noticing,
            asked=command in asked,
            no_code=no_code,
        )
    ]


def asked_without_work(proofs: ProofsTaken | None) -> set[str]:
    """Return the commands that were asked with the work taken out, also those without an answer."""
    if proofs is None:
        return set()
    answered = {one.command for one in proofs.proofs if one.check == WITHOUT_WORK}
    return answered | {one.subject for one in proofs.of(WITHOUT_WORK)}


def commands_for(run: Run, folder: Path, tree: str = "") -> tuple[str, ...]:
    """Return the commands that vouch for a folder, without those that give no result on this machine.

    These are the user's, or else those of the baseline, which the repository shows or the analysis named, and
    those that the folder itself shows. If its `tree` is given, the folder is read once for it. A folder in
    which a session works is not read: it shows what it showed before.
    """
    baseline = run.view.baseline.checks
    if run.settings.verify:
        given = dict.fromkeys((*run.settings.verify, *run.settings.verify_also))
        return tuple(command for command in given if usable(baseline.get(command)))
    found = dict.fromkeys(
        [
            *(
                command
                for command, check in baseline.items()
                if check.run.count.ran or not check.run.nothing_yet
            ),
            *_shown_by(folder, tree),
        ]
    )
    return tuple(command for command in found if usable(baseline.get(command)))


_shown: dict[Path, tuple[str, tuple[str, ...]]] = {}  # by folder: the tree that it held, and the commands


def _shown_by(folder: Path, tree: str) -> tuple[str, ...]:
    known = _shown.get(folder)
    if not is_living(folder) and not (tree and known and known[0] == tree):
        known = _shown[folder] = (tree, tuple(shown_commands(folder)[0]))
    return known[1] if known else ()


def shown_commands(folder: Path) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the commands that a folder shows with their sources, and why checks are left out."""
    tests = {_runnable_here(one.command, folder): one.source for one in detect(folder)}
    checks = configured_checks(folder, tuple(tests))
    return tests | checks.commands, checks.left_out


def _runnable_here(command: str, folder: Path) -> str:
    """Return the lines of a recipe in place of a command whose program is not on this machine.

    A script may lead to another such program: then those of the recipe below it. Lines that only install are
    left out, because the set-up has done that, with the network.
    """
    runs = [one for one in suite_of(command, folder).runs if one.through]
    programs = {one for run in runs for row in run.through for call in row.called for one in call.programs}
    found = command
    for depth in range(max((len(one.lines) for one in runs), default=0)):
        lines, below = (
            dict.fromkeys(one.lines[at].strip() for one in runs if len(one.lines) > at)
            for at in (depth, depth + 1)
        )
        named = [one for line in lines for one in _PROGRAM.findall(line) if one in programs]
        lacks = named and not any(_is_here(one, folder) for one in named)
        if lacks and below and not any("\n" in one for one in below):
            found = " && ".join([one for one in below if not only_installs(one)] or below)
    return found


def _is_here(program: str, folder: Path) -> bool:
    return bool(shutil.which(program)) or (folder / "node_modules/.bin" / program).exists()


def results(run: Run, finished: VerificationFinished) -> list[Judged]:
    """Return the meaning of each command's result on a tree, compared with its result on the base."""
    found = [
        judged(run.view.baseline.checks.get(done.command), done, flaky=finished.flaky)
        for done in finished.runs
    ]
    return [
        replace(one, reruns=tuple(each for each in finished.reruns if each.test in one.failing))
        for one in found
    ]


def commands_on(run: Run, task: TaskView, tree: str = "") -> tuple[str, ...]:
    """Return the commands that sq runs when the task is claimed to be complete. `tree` is its worktree's."""
    return commands_for(run, Path(task.place.worktree), tree)


def seen_of(run: Run, task: TaskView) -> str:
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
