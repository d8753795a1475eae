"""A command that takes half as long again with the work, compared with the base at the same time.

Where commands take long, questions about them are left out: a work must not win by that. A busy machine slows
both. (product.md, section 12)
"""

from orchestrator.checks.answers import Answers, answers_of
from orchestrator.checks.bench import Bench
from orchestrator.checks.change import Change
from orchestrator.checks.comparison import ResultComparison
from orchestrator.checks.objecting import slowed
from orchestrator.checks.results.running import run_on

_MORE, _LEAST_S = 1.5, 10.0


def applies(_: Change, _bench: Bench, compared: ResultComparison, _known: Answers) -> bool:
    """Whether it took that much longer than at the base, which passed too."""
    before, now = compared.before, compared.now
    return bool(before and before.passed and now.passed and _is_slower(now.seconds, before.seconds))


async def ask(change: Change, bench: Bench, compared: ResultComparison, _: Answers) -> Answers:
    """Return that the work slowed a command, if the base is faster now too."""
    again = await run_on(bench, compared, change.base, (), again=True)
    if not (again.passed and _is_slower(compared.now.seconds, again.seconds)):
        return Answers()
    return answers_of([slowed(compared.command, again.seconds, compared.now.seconds)])


def _is_slower(now_s: float, before_s: float) -> bool:
    return now_s > _MORE * before_s and now_s - before_s > _LEAST_S
