"""The tests that the work adds or changes, on the code of the base: one of them has to fail there."""

from collections.abc import Iterable

from orchestrator.checks.answers import Answers
from orchestrator.checks.bench import Bench
from orchestrator.checks.change import Change
from orchestrator.checks.comparison import ResultComparison
from orchestrator.checks.inline import inline_among, with_tests_of
from orchestrator.checks.names_of_tests import of_files, unnumbered
from orchestrator.checks.objecting import CODE_BEFORE, unknown, unproven
from orchestrator.checks.results.output import cause_of
from orchestrator.checks.results.running import run_on
from orchestrator.git.trees import files_in, pieced_together
from state.records.commands import TestState
from state.records.objections import Objection, Proof
from state.words import names_of


def applies(change: Change, _: Bench, compared: ResultComparison, known: Answers) -> bool:
    """Whether it is asked: not of works that were asked, and not if each new test failed without the work."""
    return not (change.was_asked or compared.command in known.shown)


async def ask(change: Change, bench: Bench, compared: ResultComparison, _: Answers) -> Answers:
    """Run the tests that the work adds or changes on the base's code, where one of them has to fail."""
    now = await files_in(change.repository, change.tree)
    files = [path for path in (*compared.touched.held, *compared.touched.new) if path in now]
    if not files or not compared.touched.code:
        return Answers()
    if not of_files(compared.now.count.tests, files) and of_files(compared.elsewhere, files):
        return Answers()  # another command runs them
    inline = await inline_among(change.repository, change.tree, files)
    with_data = [*files, *compared.touched.data, *compared.touched.configuration]
    separate = [path for path in with_data if path not in inline]
    mixed = await pieced_together(change.repository, change.base, of=change.tree, paths=separate)
    mixed = await with_tests_of(change.repository, mixed, of=change.tree, paths=inline)
    done = await run_on(bench, compared, mixed, [] if inline else files)
    before = compared.before.count.tests if compared.before else {}
    failed = names_of(done.count, TestState.FAILED)
    if new := tuple(name for name in failed if before.get(name) is not TestState.FAILED):
        return Answers(proofs=(Proof(check=CODE_BEFORE, command=compared.command, tests=new),))
    if done.exit_code != 0 and not failed:
        told = f"fails on the code before the change and names no failing test ({cause_of(done)})"
        return Answers(objections=(_unknown(compared, told),))
    if not compared.now.count.tests and done.exit_code == 0:  # nothing names the tests
        return _unproven(files)
    former = {unnumbered(name) for name in before}
    added = [
        name
        for name in of_files(compared.now.count.tests, files)
        if name not in before and unnumbered(name) not in former
    ]
    if not added:
        held = tuple(path for path in files if path in compared.touched.held)
        return _unproven(held) if done.exit_code == 0 else Answers()
    if not done.count.tests:
        return _unproven(added if done.exit_code == 0 else ())
    passing = tuple(name for name in added if done.count.tests.get(name) is TestState.PASSED)
    if passing:
        return _unproven(passing)
    return Answers(objections=(_unknown(compared, "does not run them on the code before the change"),))


def _unproven(tests: Iterable[str]) -> Answers:
    return Answers(objections=tuple(map(unproven, tests)))


def _unknown(compared: ResultComparison, why: str) -> Objection:
    read = "Read the new tests to see whether they need the change"
    told = f"which of the new tests show the change: `{compared.command}` {why}. {read}"
    return unknown(CODE_BEFORE, compared.command, told)
