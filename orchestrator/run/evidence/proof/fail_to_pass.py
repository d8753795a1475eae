"""Red before green: a test that passes without the work does not prove it."""

from dataclasses import dataclass

from orchestrator.git.scratch import files_in, pieced_together
from orchestrator.run.evidence.changes import unnumbered
from orchestrator.run.evidence.comparison import ResultComparison, run_on
from orchestrator.run.evidence.files_of_tests import of_files
from orchestrator.run.evidence.inline import inline_among, with_tests_of
from orchestrator.run.evidence.summary import cause_of
from orchestrator.run.record import Run
from state.records.commands import TestState
from state.words import names_of


@dataclass(frozen=True, slots=True)
class Red:
    """The results of the work's tests on the base's code.

    `unproven` are those that pass there, if none fails: tests, or their files if names are unknown. `proven`:
    one fails there. `untold` names the checks without an answer, for instance because no test ran.
    """

    unproven: tuple[str, ...] = ()
    proven: bool = False
    untold: tuple[str, ...] = ()


async def red_before_green(run: Run, subject: ResultComparison) -> Red:
    """Run the tests that the work adds or changes on the base's code, where one of them has to fail."""
    now = await files_in(run.repository, subject.tree)
    files = [path for path in (*subject.touched.held, *subject.touched.new) if path in now]
    if not files or not subject.touched.code:
        return Red()
    inline = await inline_among(run.repository, subject.tree, files)
    with_data = [*files, *subject.touched.data, *subject.touched.configuration]
    separate = [path for path in with_data if path not in inline]
    mixed = await pieced_together(run.repository, subject.base, of=subject.tree, paths=separate)
    mixed = await with_tests_of(run.repository, mixed, of=subject.tree, paths=inline)
    done = await run_on(run, subject, mixed, [] if inline else files)
    before = subject.before.count.tests if subject.before else {}
    failed = names_of(done.count, TestState.FAILED)
    if any(before.get(name) is not TestState.FAILED for name in failed):
        return Red(proven=True)
    if done.exit_code != 0 and not failed:
        told = f"fails on the code before the change and names no failing test ({cause_of(done)})"
        return Red(untold=(_unknown(subject, told),))
    if not subject.now.count.tests and done.exit_code == 0:  # nothing names the tests
        return Red(tuple(files))
    former = {unnumbered(name) for name in before}
    added = [
        name
        for name in of_files(subject.now.count.tests, files)
        if name not in before and unnumbered(name) not in former
    ]
    if not added:
        held = tuple(path for path in files if path in subject.touched.held)
        return Red(held) if done.exit_code == 0 else Red()
    if not done.count.tests:
        return Red(tuple(added) if done.exit_code == 0 else ())
    passing = tuple(name for name in added if done.count.tests.get(name) is TestState.PASSED)
    if passing:
        return Red(passing)
    return Red(untold=(_unknown(subject, "does not run them on the code before the change"),))


def _unknown(subject: ResultComparison, why: str) -> str:
    read = "Read the new tests to see whether they need the change"
    return f"which of the new tests show the change: `{subject.command}` {why}. {read}"
