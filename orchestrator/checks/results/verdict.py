"""The meaning of a command's result for the work, compared with its result on the base: plain functions.

product.md, section 12: tests that failed before may fail after, and those that passed have to pass.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from state.records.commands import (
    BaselineCheck,
    BaselineOutcome,
    CommandRun,
    Complaint,
    TestReruns,
    TestState,
)
from state.words import listed, names_of

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_COMPLAINT = re.compile(r"fail|error|not ok|✗|✖|panic|exception", re.IGNORECASE)
_LIMIT = re.compile(
    r"tim(?:ed|e)[ _-]?out|deadline|interrupted|cancell?ed|took too long|too slow"
    r"|exceeded\b.*\b(?:m?s|seconds?)\b",
    re.IGNORECASE,
)
_DROPPED = frozenset({
    BaselineOutcome.MISSING, BaselineOutcome.TOO_LONG, BaselineOutcome.NEVER_ENDS,
    BaselineOutcome.UNREADABLE,
})  # fmt: skip


class CommandVerdict(StrEnum):
    """The worth of one command's result."""

    PASSED = "passed"
    FAILED = "failed"
    NO_EVIDENCE = "no evidence"
    UNANSWERED = "unanswered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A command's result and the reason for its verdict.

    `failing` are the tests that speak against the work. `known` failed at the base already and `flaky` have
    changing results, so neither counts against it. `complaints` are the new ones of a check, and `reruns`
    those of its failing tests.
    """

    run: CommandRun
    verdict: CommandVerdict
    why: str = ""
    failing: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    complaints: tuple[Complaint, ...] = ()
    reruns: tuple[TestReruns, ...] = ()


def judged(base: BaselineCheck | None, run: CommandRun, *, flaky: Collection[str] = ()) -> Judged:
    """Return the meaning of a command's result on a tree.

    Args:
        base: its result on the base, or None if it was not run there.
        run: its result now.
        flaky: failed tests whose results change.
    """
    if run.broken:
        return _broken(base, run)
    if run.exit_code is None or run.missing:
        return _unanswered(base, run)
    if run.nothing_yet or run.count.says_none:
        return _nothing_ran(base, run)
    if run.complaints is not None and (checked := _checked(base, run, run.complaints)):
        return checked
    before = base.run.count.tests if base else {}
    failed = names_of(run.count, TestState.FAILED)
    known = tuple(name for name in failed if before.get(name) is TestState.FAILED)
    new = tuple(name for name in failed if name not in known and name not in flaky)
    unsteady = tuple(name for name in failed if name in flaky)
    if new:
        return Judged(run=run, verdict=CommandVerdict.FAILED, failing=new, known=known, flaky=unsteady)
    if known and base and base.outcome is BaselineOutcome.BROKEN:
        why = f"{listed(known)} could not be loaded before any change, and still cannot"
        return Judged(run=run, verdict=CommandVerdict.NO_EVIDENCE, why=why)
    if run.exit_code == 0 or failed:
        return Judged(run=run, verdict=CommandVerdict.PASSED, known=known, flaky=unsteady)
    if base and base.outcome is BaselineOutcome.FAILS and _same_failure(base, run):
        why = "it failed before any change in the same way, and its tests are not known by name"
        return Judged(run=run, verdict=CommandVerdict.NO_EVIDENCE, why=why)
    return Judged(run=run, verdict=CommandVerdict.FAILED)


def judged_all(
    base: Mapping[str, BaselineCheck],
    runs: Iterable[CommandRun],
    *,
    flaky: Collection[str] = (),
    reruns: Iterable[TestReruns] = (),
) -> list[Judged]:
    """Return the meaning of each command's result on a tree, with the further runs of its failing tests."""
    again = list(reruns)
    found = [judged(base.get(done.command), done, flaky=flaky) for done in runs]
    return [replace(one, reruns=tuple(each for each in again if each.test in one.failing)) for one in found]


def has_failed(results: Iterable[Judged]) -> bool:
    """Whether a command speaks against the work."""
    return any(one.verdict is CommandVerdict.FAILED for one in results)


def suspects(base: BaselineCheck | None, run: CommandRun) -> tuple[str, ...]:
    """Return the tests that passed at the base and fail now. Each is run once more alone."""
    before = base.run.count.tests if base else {}
    failed = names_of(run.count, TestState.FAILED)
    return tuple(name for name in failed if before.get(name) is TestState.PASSED)


def met_a_limit(run: CommandRun) -> bool:
    """Whether a failing command speaks of a time limit or an interruption, on a machine that was busy."""
    return run.use.is_crowded and bool(_LIMIT.search(f"{run.failing_part}\n{run.output_tail}"))


def usable(base: BaselineCheck | None) -> bool:
    """Whether a command can give a result at all, judged by its result on the base."""
    return base is None or base.outcome not in _DROPPED


def executed_a_test(
    one: Judged, *, notices: bool, asked: bool = False, chosen: bool = False, no_code: bool = False
) -> bool:
    """Whether a command that passed proves anything.

    One whose tests cannot be counted counts by its exit code if it notices a canary or the work. If there was
    no code to take out, the user's own does so too, and each one beside documents alone.

    Args:
        one: its result.
        notices: it noticed a planted test on the same tree, or the work and a small change in it.
        asked: it was asked with the work taken out.
        chosen: the user named it in place of the repository's.
        no_code: the work changes documents alone.
    """
    if one.verdict is not CommandVerdict.PASSED:
        return False
    ran = one.run.count.ran
    if ran is not None:
        return chosen or ran > 0
    return notices or (not asked and (chosen or no_code))


def noticed_before(check: BaselineCheck | None) -> bool:
    """Whether a command has to notice a planted test now: it did at the base, or had nothing to run there."""
    if check is None or check.outcome is BaselineOutcome.NOTHING_YET:
        return True
    return bool(check.canary and check.canary.caught)


def _checked(base: BaselineCheck | None, run: CommandRun, complaints: tuple[Complaint, ...]) -> Judged | None:
    """Return the meaning of a check's complaints, or None if its exit code decides."""
    if base is None and run.exit_code:
        why = "the repository did not ask for this check before the work"
        return Judged(run=run, verdict=CommandVerdict.NO_EVIDENCE, why=why)
    exit_before = base.run.exit_code if base else 0
    new = new_complaints((base.run.complaints if base else None) or (), complaints)
    if new and (run.exit_code or exit_before):
        return Judged(run=run, verdict=CommandVerdict.FAILED, complaints=new)
    if run.exit_code and complaints and exit_before and run.exit_code <= exit_before:
        return Judged(run=run, verdict=CommandVerdict.PASSED)
    return None


def new_complaints(before: Sequence[Complaint], now: Sequence[Complaint]) -> tuple[Complaint, ...]:
    """Return the complaints that were not there before.

    One is old if its file had one of the same rule and words, numbers aside, or if it moved together with its
    line. Each old complaint stands for one only.
    """
    left, fresh = list(before), list(now)
    for same in (
        lambda one: (one.file, one.rule, _words(one), one.digest),
        lambda one: (one.file, one.rule, _words(one)),
        lambda one: (one.rule, _words(one), one.digest),
    ):
        places: dict[tuple[str, ...], list[Complaint]] = {}
        for one in left:
            places.setdefault(same(one), []).append(one)
        fresh = [one for one in fresh if not (places.get(same(one)) and places[same(one)].pop())]
        left = [one for kept in places.values() for one in kept]
    return tuple(fresh)


def _words(one: Complaint) -> str:
    return _NUMBER.sub("#", one.message)


def _broken(base: BaselineCheck | None, run: CommandRun) -> Judged:
    """Return the meaning of a runner that stopped. As at the base, it shows nothing about the work."""
    if base and base.outcome is BaselineOutcome.BROKEN:
        if _plain(base.run.broken) == _plain(run.broken):
            why = f"it could not run before any change either: {run.broken}"
            return Judged(run=run, verdict=CommandVerdict.NO_EVIDENCE, why=why)
        why = f"it could not run before for another reason, and now stops too: {run.broken}"
    else:
        why = f"its runner stopped: {run.broken}"
    return Judged(run=run, verdict=CommandVerdict.FAILED, why=why)


def _unanswered(base: BaselineCheck | None, run: CommandRun) -> Judged:
    if run.missing and base and base.outcome in {BaselineOutcome.PASSES, BaselineOutcome.FAILS}:
        why = f"it could run before the change, and now lacks {run.missing}"
        return Judged(run=run, verdict=CommandVerdict.FAILED, why=why)
    if run.missing and not (base and base.chosen):
        why = f"{run.missing} is not on this machine"
        return Judged(run=run, verdict=CommandVerdict.NO_EVIDENCE, why=why)
    why = run.problem or f"{run.missing} is not on this machine"
    return Judged(run=run, verdict=CommandVerdict.UNANSWERED, why=why)


def _nothing_ran(base: BaselineCheck | None, run: CommandRun) -> Judged:
    why = run.nothing_yet or "it says that it ran no test"
    ran_before = base is not None and base.outcome is BaselineOutcome.PASSES
    if run.exit_code and ran_before and base and not base.run.count.tests:
        return Judged(run=run, verdict=CommandVerdict.FAILED, why=why)  # no other check would notice
    return Judged(run=run, verdict=CommandVerdict.NO_EVIDENCE, why=why)


def _same_failure(base: BaselineCheck, now: CommandRun) -> bool:
    """Whether a command fails as at the base, with the same exit code.

    A command that the user named has to pass, so any other output is a new failure, which its Worker
    receives. For a command that sq found itself, only a new complaint counts as a new failure.
    """
    if base.run.exit_code != now.exit_code:
        return False
    before = [_plain(line) for line in _shown(base.run).splitlines()]
    lines = _shown(now).splitlines()
    if base.chosen:
        return [_plain(line) for line in lines] == before
    return all(_plain(line) in before for line in lines if _COMPLAINT.search(line))


def _shown(done: CommandRun) -> str:
    return done.failing_part or done.output_tail


def _plain(line: str) -> str:
    return _NUMBER.sub("#", line).strip()
