"""Strength: how many small changes in the work's own lines its tests notice.

The work has passed, and needs its tests. Which of its cases they decide is seen by changing it: a condition
negated, a bound shifted, a statement dropped. A change that no test notices may change nothing that a user
sees, so its builder hears of it once. (product.md, section 17 "Strength")
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby

from agents.concurrency import aside
from orchestrator.checks.answers import Answers, answers_of
from orchestrator.checks.bench import Bench
from orchestrator.checks.change import Change
from orchestrator.checks.comparison import ResultComparison, Work
from orchestrator.checks.names_of_tests import files_of
from orchestrator.checks.objecting import strength
from orchestrator.checks.results.running import run_on
from orchestrator.checks.work import work_between
from orchestrator.git.trees import contents_at, files_in, with_contents
from orchestrator.project.files import changed_lines
from orchestrator.project.functions.functions import Function
from orchestrator.project.functions.small_changes import SmallChange, small_changes
from state.records.commands import CommandRun, TestState
from state.words import names_of

_MOST = 12
_SHARE, _LEAST_S = 0.5, 3.0  # of the command's own time, for all changes together


def applies(_: Change, _bench: Bench, compared: ResultComparison, known: Answers) -> bool:
    """Whether tests that sq knows by name were seen to need the work."""
    return bool(compared.now.count.tests and _needing(compared, known))


async def ask(change: Change, bench: Bench, compared: ResultComparison, known: Answers) -> Answers:
    """Return which small changes of the work its tests notice, and which they do not."""
    work = await work_between(change, bench, compared)
    before = await contents_at(change.repository, change.base, list(work.sources))
    changes = await aside(partial(_chosen, before, work), "the sources of the work")
    files = await _concerned(change, compared, known)
    ends = bench.commands.seconds + max(_LEAST_S, _SHARE * compared.now.seconds)
    noticed, missed = list[str](), list[str]()
    for one in changes:
        if not bench.has_time or bench.commands.seconds >= ends:
            break
        tree = await with_contents(change.repository, change.tree, {one.file: one.content})
        found = _is_noticed(compared, await run_on(bench, compared, tree, files))
        if found is not None:
            (noticed if found else missed).append(one.words)
    return answers_of(strength(compared.command, noticed, missed))


def _needing(compared: ResultComparison, known: Answers) -> list[str]:
    """Return the tests of the command that fail without the work."""
    answers = [one for one in known.without_work if one.command == compared.command and one.needed]
    return list(dict.fromkeys(name for one in answers for name in one.failing))


async def _concerned(change: Change, compared: ResultComparison, known: Answers) -> list[str]:
    """Return the files of tests that the work touched, and those that need it."""
    touched = [*compared.touched.new, *compared.touched.held]
    every = compared.here.test_files(sorted(await files_in(change.repository, change.tree)))
    return list(dict.fromkeys([*touched, *files_of(_needing(compared, known), list(every))]))


def _chosen(before: Mapping[str, bytes], work: Work) -> list[SmallChange]:
    """Return changes of each function in turn, and in each one of every operator before a second of one."""
    of_each = [_of_function(before, work, one.function) for one in work.changes]
    turns = max(map(len, of_each), default=0)
    return [one[turn] for turn in range(turns) for one in of_each if turn < len(one)][:_MOST]


def _of_function(before: Mapping[str, bytes], work: Work, function: Function) -> list[SmallChange]:
    content = work.sources[function.file]
    _, (_, lines) = changed_lines(before.get(function.file, b""), content)
    own = frozenset(lines) & frozenset(range(function.line, function.last_line + 1))
    found = sorted(small_changes(function.file, content, own), key=lambda one: one.operator)
    alike = [list(group) for _, group in groupby(found, key=lambda one: one.operator)]
    turns = max(map(len, alike), default=0)
    return [group[turn] for turn in range(turns) for group in alike if turn < len(group)]


def _is_noticed(compared: ResultComparison, done: CommandRun) -> bool | None:
    """Whether a test that passed fails, or never ends. None if no test ran: the change may not compile."""
    passed: Sequence[str] = names_of(compared.now.count, TestState.PASSED)
    if done.timed_out or any(done.count.tests.get(name) is TestState.FAILED for name in passed):
        return True
    return None if done.exit_code or not done.count.ran else False
