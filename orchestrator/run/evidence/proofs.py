"""proofs: what a verification that passed is worth, asked of the tests themselves, each in a clean ground.

Tests as they were: those of the base that the work changed or removed are run on the new code. Red before
green: those that the work adds or changes are run on the base's code. The canary: does the command still
notice a test that fails? (product.md, section 12)
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from agents.runners.suite import Suite, suite_of
from orchestrator.git.scratch import files_in, pieced_together
from orchestrator.git.workspace import changed_paths
from orchestrator.run.evidence.canaries import make_canary, try_canary
from orchestrator.run.evidence.changes import Touched, classified, lost_tests, touched, with_expectations
from orchestrator.run.evidence.counted import moved, run_counted, run_only
from orchestrator.run.evidence.files_of_tests import is_of, of_files
from orchestrator.run.evidence.grounds import ground_for
from orchestrator.run.evidence.inline import inline_among, with_tests_of
from orchestrator.run.evidence.judged import Judged, Standing
from orchestrator.run.evidence.verification import results
from orchestrator.run.record import Run
from state.events import ProofsTaken, VerificationFinished
from state.records import (
    CanaryResult,
    CommandRun,
    TestChange,
    TestChangeKind,
    TestState,
)
from state.words import listed, names_of


@dataclass(slots=True, kw_only=True)
class _Found:
    changes: list[TestChange] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)
    canaries: list[CanaryResult] = field(default_factory=list)
    untold: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """One command on one tree, beside the base: `before` is its result there, if it is known."""

    command: str
    base: str
    tree: str
    there: Suite
    here: Suite
    before: CommandRun | None
    now: CommandRun
    touched: Touched

    @property
    def suites(self) -> list[Suite]:
        """The command as the base shows it, then as the tree does."""
        return [self.there, self.here]


async def take_proofs(run: Run, finished: VerificationFinished, *, task_id: str, base: str) -> ProofsTaken:
    """Put the questions to each command that passed on a tree, and record the answers.

    Args:
        run: the run.
        finished: what the commands said of the tree.
        task_id: whose work it is; empty for the merged whole.
        base: the tree that the work began with.
    """
    tree = finished.tree
    known = run.view.proofs.get((task_id, tree))
    if known and run.view.proved_at[task_id, tree] > run.view.resumed_seq:
        return known
    found, before = _Found(), run.command_seconds
    judged = results(run, finished)
    found.changes += _lost(run, base, judged)
    for one in judged:
        if one.standing in {Standing.PASSED, Standing.NO_EVIDENCE}:
            subject = await _subject(run, one.run, base, tree)
            await _ask(run, subject, found, whole=not task_id)
    proofs = ProofsTaken(
        task_id=task_id,
        tree=tree,
        changes=with_expectations(
            _once(found.changes), run.view.tests_that_change, reviewed=run.view.plan_reviewed
        ),
        unproven=tuple(dict.fromkeys(found.unproven)),
        canaries=tuple(found.canaries),
        untold=tuple(dict.fromkeys(found.untold)),
        seconds=run.command_seconds - before,
    )
    run.record(proofs)
    return proofs


def _lost(run: Run, base: str, judged: Sequence[Judged]) -> list[TestChange]:
    """The tests of the base that no command runs any more; a test may be run by another command now."""
    before: dict[str, TestState] = {}
    after: dict[str, TestState] = {}
    for one in judged:
        count = one.run.count
        after |= count.tests
        earlier = _at_base(run, base, one.run.command)
        if earlier and (count.tests or count.says_none or one.run.nothing_yet):  # else unknown now
            before |= earlier.count.tests
    return lost_tests(before, after)


def _at_base(run: Run, base: str, command: str) -> CommandRun | None:
    """What a command said of the tree that the work began with; of the run's base where that is not known."""
    verified = run.view.verifications.get(base)
    done = next((one for one in verified.runs if one.command == command), None) if verified else None
    if done is None and command in run.view.baseline:
        return run.view.baseline[command].run
    return done


async def _subject(run: Run, now: CommandRun, base: str, tree: str) -> _Subject:
    repository = run.repository
    changed = await changed_paths(repository, base, tree)
    async with ground_for(run, base) as ground:
        there = suite_of(now.command, ground.folder)
        by = [classified(there, changed)]
    async with ground_for(run, tree) as ground:
        here = suite_of(now.command, ground.folder)
        by.append(classified(here, changed))
    sorted_ = touched(by, changed, await files_in(repository, base), await files_in(repository, tree))
    before = _at_base(run, base, now.command)
    return _Subject(
        command=now.command,
        base=base,
        tree=tree,
        there=there,
        here=here,
        before=before,
        now=now,
        touched=sorted_,
    )


async def _ask(run: Run, subject: _Subject, found: _Found, *, whole: bool) -> None:
    if not whole:
        await _as_they_were(run, subject, found)
        await _red_before_green(run, subject, found)
    if whole or subject.touched.decides:
        await _canary(run, subject, found)


# --- tests as they were -----------------------------------------------------------------------------------


async def _as_they_were(run: Run, subject: _Subject, found: _Found) -> None:
    """Run the base's tests that the work touched on the new code; each that passed at the base has to."""
    paths = subject.touched.as_it_was
    if not paths:
        return
    inline = await inline_among(run.repository, subject.base, list(subject.touched.held))
    whole = [path for path in paths if path not in inline]
    mixed = await pieced_together(run.repository, subject.tree, of=subject.base, paths=whole)
    mixed = await with_tests_of(run.repository, mixed, of=subject.base, paths=inline)
    if mixed == subject.tree:
        return
    files = list(subject.touched.held)
    if subject.touched.data or subject.touched.configuration or inline:
        files = []  # what they decide is not known by file
    now = await _run_on(run, subject, mixed, files)
    if now.exit_code == 0 and not names_of(now.count, TestState.FAILED) and not now.count.says_none:
        lost = (
            lost_tests(subject.before.count.tests if subject.before else {}, now.count.tests)
            if not files
            else []
        )
        found.changes += [one for one in lost if one.kind is TestChangeKind.SKIPPED]
        return
    control = await _run_on(run, subject, subject.base, files)
    contradicted = [
        name
        for name in names_of(control.count, TestState.PASSED)
        if now.count.tests.get(name) is not TestState.PASSED
    ]
    if control.count.tests and (now.count.tests or now.exit_code):
        again = await _run_on(run, subject, mixed, files) if contradicted else now
        found.changes += [_failing(subject, name, now) for name in _no_longer(contradicted, again)]
    elif control.exit_code == 0 and now.exit_code != 0:
        found.changes += [
            TestChange(test="", path=path, kind=TestChangeKind.FAILS, detail=_end_of(now)) for path in paths
        ]
    elif control.exit_code != 0:
        found.untold.append(
            f"whether the work passes {listed(paths)} as at the base: `{subject.command}` cannot tell"
        )


def _no_longer(names: Sequence[str], now: CommandRun) -> list[str]:
    """Those of the tests that did not pass now."""
    return [name for name in names if now.count.tests.get(name) is not TestState.PASSED]


def _failing(subject: _Subject, name: str, now: CommandRun) -> TestChange:
    path = next((path for path in subject.touched.held if is_of(name, path)), "")
    return TestChange(test=name, path=path, kind=TestChangeKind.FAILS, detail=_end_of(now))


async def _run_on(run: Run, subject: _Subject, tree: str, files: Sequence[str]) -> CommandRun:
    """Run the test files on a tree, all tests where none are named or the runner takes no files."""
    async with ground_for(run, tree) as ground:
        there = [file for file in files if (ground.folder / file).is_file()]
        elsewhere = [moved(one, ground.folder) for one in subject.suites]
        suites = [suite_of(subject.command, ground.folder), *elsewhere]
        done = await run_only(run, ground, suites, there) if there else None
        return done or await run_counted(run, ground, subject.command)


# --- red before green -------------------------------------------------------------------------------------


async def _red_before_green(run: Run, subject: _Subject, found: _Found) -> None:
    """Run the tests that the work adds or changes on the base's code: one of them has to fail there."""
    now = await files_in(run.repository, subject.tree)
    files = [path for path in (*subject.touched.held, *subject.touched.new) if path in now]
    if not files or not subject.touched.code:
        return
    inline = await inline_among(run.repository, subject.tree, files)
    with_data = [*files, *subject.touched.data, *subject.touched.configuration]
    separate = [path for path in with_data if path not in inline]
    mixed = await pieced_together(run.repository, subject.base, of=subject.tree, paths=separate)
    mixed = await with_tests_of(run.repository, mixed, of=subject.tree, paths=inline)
    done = await _run_on(run, subject, mixed, [] if inline else files)
    before = subject.before.count.tests if subject.before else {}
    failed = [
        name for name in names_of(done.count, TestState.FAILED) if before.get(name) is not TestState.FAILED
    ]
    if failed or (done.exit_code != 0 and not done.count.tests) or done.exit_code is None:
        return
    if done.exit_code != 0 and not names_of(done.count, TestState.FAILED):
        return
    added = [name for name in of_files(subject.now.count.tests, files) if name not in before]
    found.unproven += added or files


# --- the canary -------------------------------------------------------------------------------------------


async def _canary(run: Run, subject: _Subject, found: _Found) -> None:
    """Whether the command notices a failing test on the tree; not asked where it did not at the base."""
    check = run.view.baseline.get(subject.command)
    if check and check.canary and check.canary.caught is not True:
        return
    before = subject.before.count if subject.before else subject.now.count
    canary = make_canary([(subject.here, subject.now.count), (subject.there, before)])
    if canary is None:
        if check and check.canary:
            found.untold.append(
                f"whether `{subject.command}` still notices a failing test: none can be made any more"
            )
            found.canaries.append(CanaryResult(command=subject.command, problem="no test could be made"))
        return
    result = await try_canary(run, subject.command, subject.tree, canary, [subject.here], subject.now.count)
    found.canaries.append(result)


def _end_of(done: CommandRun) -> str:
    return done.output_tail.strip()[-1_500:]


def _once(changes: Sequence[TestChange]) -> list[TestChange]:
    """Each test once, what it fails with before the fact that it is gone."""
    found: dict[str, TestChange] = {}
    for change in sorted(changes, key=lambda one: one.kind is not TestChangeKind.FAILS):
        found.setdefault(change.name, change)
    return list(found.values())
