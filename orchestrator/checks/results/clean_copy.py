"""A command that passed in the checkout, on a clean copy of the same files.

Ignored files in the checkout may have been changed so that it passes.
"""

from orchestrator.checks.answers import Answers
from orchestrator.checks.bench import Bench
from orchestrator.checks.change import Change
from orchestrator.checks.comparison import ResultComparison
from orchestrator.checks.objecting import CLEAN_COPY, only_here, unknown
from orchestrator.checks.results.running import run_on
from orchestrator.checks.results.verdict import CommandVerdict, judged


def applies(change: Change, bench: Bench, compared: ResultComparison, _: Answers) -> bool:
    """Whether the whole was verified in the checkout, by a command that can run on its files alone."""
    return change.is_final and not bench.has_places and change.baseline.notices_a_canary(compared.command)


async def ask(change: Change, bench: Bench, compared: ResultComparison, _: Answers) -> Answers:
    """Return that the command fails there, and did not at the base."""
    command = compared.command
    found = judged(change.baseline.checks.get(command), await run_on(bench, compared, change.tree, []))
    if found.verdict is CommandVerdict.UNANSWERED:
        told = f"whether `{command}` passes on a clean copy: {found.why}"
        return Answers(objections=(unknown(CLEAN_COPY, command, told),))
    fails = found.verdict is CommandVerdict.FAILED
    return Answers(objections=(only_here(command),) if fails else ())
