"""A command's results at the base and on the tree of a change, put side by side."""

from collections.abc import Iterable, Sequence

from orchestrator.checks.bench import Bench
from orchestrator.checks.change import Change
from orchestrator.checks.comparison import ResultComparison
from orchestrator.checks.touched import Classified, touched
from orchestrator.git.trees import changed_paths, files_in
from orchestrator.project.files import is_test_file
from orchestrator.project.runners.suite import Suite, suite_of
from state.records.commands import CommandRun


async def compared_on(
    change: Change, bench: Bench, now: CommandRun, runs: Iterable[CommandRun] = ()
) -> ResultComparison:
    """Compare a command on both trees. `runs` are all that ran on the tree.

    Raises:
        GitError: one of them cannot be put into a folder.
    """
    changed = await changed_paths(change.repository, change.base, change.tree)
    async with bench.scratch(change.base) as scratch:
        there = suite_of(now.command, scratch.folder)
        by = [_classified(there, changed)]
    async with bench.scratch(change.tree) as scratch:
        here = suite_of(now.command, scratch.folder)
        by.append(_classified(here, changed))
    at_base, in_tree = [await files_in(change.repository, one) for one in (change.base, change.tree)]
    return ResultComparison(
        command=now.command,
        there=there,
        here=here,
        before=change.before(now.command),
        now=now,
        touched=touched(by, changed, at_base, in_tree),
        elsewhere=tuple(name for one in runs if one.command != now.command for name in one.count.tests),
    )


def _classified(suite: Suite, changed: Sequence[str]) -> Classified:
    """Classify changed paths, while the suite's folder holds its tree.

    If no row knows the runner, files of tests are known by their usual names.
    """
    unknown = not suite.test_runs and suite.runs_tests is None
    tests = filter(is_test_file, changed) if unknown else suite.test_files(changed)
    return Classified(
        tests=frozenset(tests),
        deciders=frozenset(suite.deciders(changed)),
        manifests=frozenset(suite.manifests(changed)),
    )
