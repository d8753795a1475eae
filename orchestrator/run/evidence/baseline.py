"""baseline: the verification commands are run once on the untouched commit, before any request to a model.

The result of a command there decides how its later results count (product.md, section 12).
"""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from orchestrator.checks.asking import asks
from orchestrator.checks.bench import ScratchWorktree
from orchestrator.checks.change import Change
from orchestrator.checks.results.baseline import checks_on, sources_of, with_canary, words_of
from orchestrator.checks.results.environment import fingerprint_of
from orchestrator.checks.results.output import cause_of
from orchestrator.checks.results.running import run_counted, run_plainly
from orchestrator.git.command import git
from orchestrator.git.repository import named
from orchestrator.git.workspace import tree_of
from orchestrator.project.configured_checks import may_be_run
from orchestrator.project.detection import by_languages
from orchestrator.project.files import matches
from orchestrator.project.readiness.checkout import ALONE, Place, causes
from orchestrator.project.readiness.environment import exports_of
from orchestrator.project.readiness.plan import deciding_names
from orchestrator.project.runners.suite import Suite, suite_of
from orchestrator.run.evidence.change import baseline_of
from orchestrator.run.purpose import run_for
from orchestrator.run.record import Run, Trial
from state.journal.events import BaselineStarted, BaselineTaken, RunEnded
from state.outcome import Outcome
from state.records.commands import BaselineCheck, BaselineOutcome, CommandRun, TestState
from state.words import listed, names_of

_SCRIPT = re.compile(r"(?<!\S)(?!-)(?:\./)?([\w./-]+\.\w+)(?!\S)")
_SHELL = re.compile(r"[;|<>`$\n]|(?<!&)&(?!&)")  # characters that join a command with others, except `&&`
_ANALYSIS = "the analysis"
_PLACES_TRIED, _TRIED_AGAIN_S = 3, 120.0  # failing commands that are run at another path too, if so quick


async def take_baseline(run: Run) -> RunEnded | None:
    """As `baseline_on`, of the tree that the run begins with."""
    if run.settings.worktrees:
        return await baseline_on(run, await tree_of(run.repository, run.started.base_commit))
    return await baseline_on(run, await run.places.snapshot(run.repository))


async def baseline_on(run: Trial, tree: str) -> RunEnded | None:
    """Run the commands on the base and record their results.

    Returns:
        The end of the run if a command that the user named lacks its program, else None.

    Raises:
        GitError: the base cannot be put into a folder.
        SetUpError: the user's own set-up commands fail.
    """
    bench, change = run.bench, Change(repository=run.repository, base=tree, tree=tree)
    async with bench.place(run.repository, tree) as scratch:
        sources, left_out = sources_of(baseline_of(run), scratch.folder)
        kept = await _kept(run, scratch, sources)
        due = {command: source for command, source in sources.items() if command not in kept}
        ran = {check.run.command: check for check in await _checks(run, scratch, due)}
        rewritten = await _rewritten(run, scratch) if due else []
        suites = {command: suite_of(command, scratch.folder) for command in due}
        others = _other_commands(run, [*kept.values(), *ran.values()], scratch.folder, sources)
    ran = {
        command: await with_canary(change, bench, check, suites[command]) for command, check in ran.items()
    }
    found = kept | ran
    checks = [found[command] for command in dict.fromkeys((*sources, *kept))]
    lacking = await _lacking(run, scratch, ran.values())
    run.record(
        BaselineTaken(
            tree=tree,
            environment=await fingerprint_of(bench, run.repository, scratch, sources),
            checks=tuple(checks),
            kept=tuple(kept),
            notes=(
                *lacking,
                *_notes(run, checks),
                *left_out,
                *others,
                *([_no_work(rewritten)] if rewritten else []),
            ),
            rewritten=tuple(rewritten),
            exports=exports_of(scratch.environment, scratch.folder),
            left_out=left_out,
        )
    )
    return _cannot_begin(checks) or _cannot_verify(checks, lacking)


def _other_commands(
    run: Trial, checks: Sequence[BaselineCheck], folder: Path, asked: Iterable[str]
) -> list[str]:
    """Return a note with commands that may do, if those that the project names run no test here."""
    if run.settings.verify or any(one.run.count.ran for one in checks):
        return []
    others = [one for one in by_languages(folder) if one not in asked]
    return others and [
        "the files of the project show other commands that may run its tests: "
        + " or ".join(f"--verify {shlex.quote(one)}" for one in others)
    ]


async def take_baseline_of_analysis(run: Trial) -> None:
    """Do the same for the commands that the analysis named, beside those that the repository shows.

    Only checks, and commands that the table of runners knows as test runs, alone or joined by `&&`, are run.
    All others that a model names are not. A command that runs no test beyond the others is left out again.
    """
    named = run.view.plan.analysis.verification_commands if run.view.plan.analysis else ()
    named = tuple(one for one in named if one not in run.view.baseline.checks)
    if run.settings.verify or not named or run.view.baseline.of_analysis:
        return
    tree, others = run.view.baseline.tree, list(run.view.baseline.checks.values())
    bench, change = run.bench, Change(repository=run.repository, base=tree, tree=tree)
    async with bench.place(run.repository, tree) as scratch:
        suites = [suite_of(check.run.command, scratch.folder) for check in others]
        asked = {command: suite_of(command, scratch.folder) for command in named}
        known = {
            command: _ANALYSIS
            for command, suite in asked.items()
            if _is_known_alone(suite) and words_of(suite) not in map(words_of, suites)
        }
        checks = await _checks(run, scratch, known)
    more = [check for check in checks if _runs_more(check, others)]
    not_run = tuple(command for command, suite in asked.items() if not _is_known_alone(suite))
    notes = [
        f"`{check.run.command}`, which the analysis names, is left out: it runs no test beyond the others"
        for check in checks
        if check not in more
    ]
    taken = [await with_canary(change, bench, check, asked[check.run.command]) for check in more]
    if taken or notes or not_run:
        run.record(
            BaselineTaken(
                tree=tree,
                environment=await fingerprint_of(bench, run.repository, scratch, known),
                checks=tuple(taken),
                notes=(*notes, *filter(None, (_note(run, check) for check in taken))),
                of_analysis=True,
                not_run=not_run,
            )
        )


def _is_known_alone(suite: Suite) -> bool:
    """Whether a command is only test runs, joined by `&&`, and `cd`, or a check. Its recipes may do more."""
    typed = [one for one in suite.runs if not one.through and one.simple.name != "cd"]
    if _SHELL.search(suite.command):
        return False
    return may_be_run(suite) or (bool(suite.runs_tests) and all(one.runs_tests for one in typed))


def _runs_more(check: BaselineCheck, others: Sequence[BaselineCheck]) -> bool:
    """Whether a command runs tests that the others do not. True if there are no others."""
    if not others:
        return True
    if check.run.complaints is not None:
        return True
    known = {name for other in others for name in other.run.count.tests}
    return bool(set(check.run.count.tests) - known)


async def _kept(run: Trial, scratch: ScratchWorktree, sources: Mapping[str, str]) -> dict[str, BaselineCheck]:
    """Return the commands that need not run again: an earlier process ran them in the same environment.

    A result without a passing test is asked for again. What it lacked may be there now.
    """
    before, bench = run.view.baseline, run.bench
    return {
        command: check
        for command, check in before.checks.items()
        if before.tree == scratch.tree
        and check.source == sources.get(command, _ANALYSIS)
        and (check.outcome is BaselineOutcome.PASSES or check.run.count.passed)
        and check.environment == await fingerprint_of(bench, run.repository, scratch, [command])
    }


async def _checks(run: Trial, scratch: ScratchWorktree, sources: Mapping[str, str]) -> list[BaselineCheck]:
    if not sources:
        return []
    run.record(BaselineStarted(tree=scratch.tree, commands=tuple(sources)))
    run_for("baseline")
    return await checks_on(run.bench, run.repository, scratch, sources)


def _notes(run: Trial, checks: list[BaselineCheck]) -> list[str]:
    """Return notes on the commands for a person, before anything is built."""
    notes = [note for check in checks if (note := _note(run, check))]
    if not checks:
        notes.append(
            "nothing to verify with: no command was given and the repository shows none. sq looks again "
            "after each task. Name one with --verify"
        )
    return notes


async def _rewritten(run: Trial, scratch: ScratchWorktree) -> list[str]:
    """Return the files of the base that the commands have changed.

    Those that the spec names are left out, and manifests and lock files, which a task may have to change.
    """
    if not run.settings.worktrees:
        return []
    changed = (await git(scratch.folder, "ls-files", "--modified", "-z")).split("\0")
    names = deciding_names()
    return [
        path
        for path in dict.fromkeys(changed)
        if path and Path(path).name not in run.view.spec_words and not matches(path, names)
    ]


def _no_work(paths: Sequence[str]) -> str:
    return f"the tests rewrite {named(paths)}, which git tracks: such changes are no work and in no commit"


async def _lacking(run: Trial, scratch: ScratchWorktree, checks: Iterable[BaselineCheck]) -> list[str]:
    """Return a note on each thing of the checkout that worktrees lack and a failing command names."""
    if not run.settings.worktrees:
        return []
    failing = [check.run for check in checks if check.run.exit_code != 0]
    text = "\n".join(
        f"{done.missing}\n{done.problem}\n{done.failing_part}\n{done.output_tail}" for done in failing
    )
    at = Place(root=run.repository, folder=scratch.folder, environ=run.environ)
    found = await causes(at, text) if failing else []
    found = found or [
        line for done in failing[:_PLACES_TRIED] if (line := await _by_its_path(run, scratch.tree, done))
    ]
    return [f"your checkout may be green: {one}" for one in found]


async def _by_its_path(run: Trial, tree: str, failed: CommandRun) -> str:
    """Return that a failing command passes in a copy elsewhere, called as the checkout is, or ""."""
    if failed.exit_code is None or failed.timed_out or failed.missing or failed.seconds > _TRIED_AGAIN_S:
        return ""
    asks("does it fail at another path too?")
    names = list(names_of(failed.count, TestState.FAILED))
    async with run.bench.place(run.repository, tree) as scratch:
        copy = await run_plainly(run.commands, scratch, failed.command, name=run.repository.name)
        if copy.exit_code or (await run_counted(run.commands, scratch, failed.command)).exit_code == 0:
            return ""
    what = listed(names) if names else f"`{failed.command}`"
    return (
        f"{what} fails in sq's worktree and passes in a copy of it at another path, so the path of the "
        f"worktree makes the difference ({scratch.folder}): `worktrees = false` runs everything in your "
        "checkout itself"
    )


def _note(run: Trial, check: BaselineCheck) -> str:
    notes = (_note_of_outcome(run, check), _note_of_tests(run, check), _note_of_sandbox(check))
    return "; ".join(filter(None, (*notes, _note_of_counting(check))))


def _note_of_tests(run: Trial, check: BaselineCheck) -> str:
    done = check.run
    if check.outcome is not BaselineOutcome.FAILS or not done.count.tests:
        return ""
    if not (done.passes_no_test or run.view.evidence.not_set_up):
        return ""
    none = ", and no test passes" if done.passes_no_test else ""
    return f"`{done.command}` fails before any change{none} ({cause_of(done)}){_remedy(run)}"


def _note_of_sandbox(check: BaselineCheck) -> str:
    """Return what the sandbox seems to have kept from a command, and the setting that opens it."""
    if not check.run.walled or check.outcome is BaselineOutcome.NOTHING_YET:
        return ""
    return f"`{check.run.command}` runs in the sandbox and seems to lack {check.run.walled}"


def _note_of_outcome(run: Trial, check: BaselineCheck) -> str:
    command, done = f"`{check.run.command}` ({check.source})", check.run
    match check.outcome:
        case BaselineOutcome.MISSING:
            return f"{command} is left out: {lack_of(done)}{_remedy(run)}"
        case BaselineOutcome.BROKEN:
            return (
                f"{command} could not run: {done.broken}{_remedy(run)}. It is run again after the work: if "
                "it stops in the same way, it shows nothing and the run ends with code 5 at best"
            )
        case BaselineOutcome.TOO_LONG | BaselineOutcome.NEVER_ENDS:
            return f"{command} {_why_not_again(check)}"
        case BaselineOutcome.UNREADABLE:
            return (
                f"{command} is left out: it fails before any change, with no complaint that sq can read "
                f"({cause_of(done)}){_remedy(run)}"
            )
        case BaselineOutcome.FAILS if done.complaints:
            return f"{command} complains before any change already: new complaints count"
        case BaselineOutcome.NOTHING_YET:
            files = _SCRIPT.findall(done.command) if check.chosen else []
            gone = [one for one in files if not (run.repository / one).exists()]
            why = f"file not found: {named(gone)}" if gone else done.nothing_yet or "it ran no test"
            return f"{command} has nothing to run yet: {why}. It is due from the first task on"
        case BaselineOutcome.FAILS if not done.count.tests:
            return (
                f"{command} fails before any change ({cause_of(done)}), and its tests are not known by name: "
                "it has to pass after the work, else it vouches for nothing and the run ends with code 5 "
                "at best"
            )
        case _:
            pass
    if check.canary and check.canary.is_impossible:
        return f"{command}: sq cannot check that it notices a failing test: {check.canary.problem}"
    if check.canary and check.canary.caught is False:
        return f"{command} does not pick up a new test beside the others: its exit code counts, and no more"
    return ""


def _why_not_again(check: BaselineCheck) -> str:
    problem = check.run.problem
    if check.outcome is BaselineOutcome.NEVER_ENDS:
        return f"is left out, because it never ends: {problem}"
    return (
        f"takes too long: it {problem} and is not run again. Raise limits.verify_s, or name a quicker "
        "command with --verify"
    )


def _note_of_counting(check: BaselineCheck) -> str:
    """Return how a command counts whose tests sq cannot count, and which end a run can reach with it."""
    passes = check.outcome is BaselineOutcome.PASSES and check.run.complaints is None
    if not passes or check.run.count.ran is not None or (check.canary and check.canary.caught):
        return ""
    return (
        f"sq cannot count the tests of `{check.run.command}`: if it fails with the work taken out and with a "
        "small change in the work, its exit code counts and the run can end with code 0, and else with code 5"
    )


def _remedy(run: Trial) -> str:
    """Return the parts of the set-up that could not be done, from which a command's failure may follow."""
    return "".join(f". {one}" for one in run.view.evidence.not_set_up)


def lack_of(done: CommandRun) -> str:
    """Return in words which program a command needs that is not on this machine."""
    return f"{done.missing} is not on this machine" if done.missing else done.problem


def _cannot_begin(checks: list[BaselineCheck]) -> RunEnded | None:
    """Return the end of a run whose user named a command that this machine cannot run."""
    lacking = [one for one in checks if one.chosen and one.outcome is BaselineOutcome.MISSING]
    if not lacking:
        return None
    told = "; ".join(f"`{one.run.command}`: {lack_of(one.run)}" for one in lacking)
    cause = (
        f"a command of --verify cannot run here, so nothing could be verified: {told}. Install what it "
        "needs, or name another command. A tool of the project's own environment is "
        "installed by a command in `worktree.setup`"
    )
    return RunEnded(outcome=Outcome.USAGE, cause=cause, resumable=True)


def _cannot_verify(checks: Sequence[BaselineCheck], lacking: Sequence[str]) -> RunEnded | None:
    """Return the end of a run whose commands all lack an environment that the checkout has."""
    missing = [one for one in lacking if ALONE in one]
    if not missing or any(one.outcome is BaselineOutcome.PASSES or one.run.count.passed for one in checks):
        return None
    cause = f"nothing could verify the work, so none was begun: {missing[0]}. Begin again with one of them"
    return RunEnded(outcome=Outcome.USAGE, cause=cause)
