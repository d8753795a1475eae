"""Finds how the tests of a command ended: by its exit code, else by the summary in its output."""

from collections.abc import Container

from orchestrator.gates.power_steering.facts.checks import is_test_run, may_run_tests, passes_on, way_of
from orchestrator.gates.power_steering.facts.records import RunOutcome
from orchestrator.gates.power_steering.facts.summaries import counted_of, ran_none, summary_of
from orchestrator.project.shell import simple_commands

_SPELLED = 4  # characters: a shorter line may stand in a command by chance
_NOT_STARTED = (126, 127)  # the shell's own exit codes: nothing was tested


def outcome_of(
    command: str, exit_code: int | None, output: str, known: Container[tuple[str, ...]] = ()
) -> RunOutcome | None:
    """Return how the tests in the command line ended, or None if it runs none.

    The exit code decides unless something hides it (`| tail`, `|| true`, `; echo done`). Then the summary
    decides. A command that may run anything runs tests if its output counts them. `known`: ways (`way_of`)
    that have been seen to run tests.
    """
    every = simple_commands(command)
    runs = [simple for simple in every if is_test_run(simple) or way_of(simple) in known]
    told = _without_own_words(command, output)
    if not runs:
        counted = counted_of(told) if any(may_run_tests(simple) for simple in every) else RunOutcome.UNKNOWN
        return None if counted is RunOutcome.UNKNOWN else counted
    if exit_code in _NOT_STARTED:
        return RunOutcome.UNKNOWN
    if exit_code == 0 and all(run.decides for run in runs):
        return RunOutcome.UNKNOWN if ran_none(told) else RunOutcome.PASSED
    if exit_code and len(runs) == 1 and runs[0].is_last:
        return RunOutcome.FAILED
    summary = summary_of(told)
    if summary is RunOutcome.UNKNOWN and exit_code and (all(run.decides for run in runs) or passes_on(every)):
        return RunOutcome.FAILED  # they failed, or something after them
    return summary


def _without_own_words(command: str, output: str) -> str:
    """Return the output without lines that the command itself spells out, such as those of an `echo`."""
    return "\n".join(
        line for line in output.splitlines() if len(line.strip()) < _SPELLED or line.strip() not in command
    )
