"""A command that passed in the checkout, on a clean copy of the same files.

Ignored files in the checkout may have been changed so that it passes.
"""

from orchestrator.checks.answers import Answers
from orchestrator.checks.bench import Bench
from orchestrator.checks.change import Change
from orchestrator.checks.comparison import ResultComparison
from orchestrator.checks.running import run_on
from orchestrator.checks.verdict import CommandVerdict, judged


def applies(change: Change, bench: Bench, compared: ResultComparison, _: Answers) -> bool:
    """Whether the whole was verified in the checkout, by a command that can run on its files alone."""
    return change.is_final and not bench.has_places and change.baseline.notices_a_canary(compared.command)


async def ask(change: Change, bench: Bench, compared: ResultComparison, _: Answers) -> Answers:
    """Return the command if it fails there, and did not at the base."""
    done = await run_on(bench, compared, change.tree, [])
    check = change.baseline.checks.get(compared.command)
    fails = judged(check, done).verdict is CommandVerdict.FAILED
    return Answers(only_here=(compared.command,) if fails else ())
