"""How much a command of the project may use before it is ended, by what it used at the base.

A limit of wall time would be met sooner on a loaded machine, so processor time counts where it can be had.
The time on the wall is the last resort, for commands that wait or of which nothing is known.
"""

from orchestrator.project.runners.endless import WAITS, is_waiting
from state.records.commands import CommandRun, CommandUse
from state.settings.records import Limits

_TIMES_CPU = 5  # more tests, and a loaded machine, on which the same work takes up to twice as much
_TIMES_WALL = 10
_TIMES_SILENCE = 2
_TIMES_CROWDED = 5  # for a command that is busy and had to wait for a processor
_WAITS_S = 15.0  # of silence after such a line
_BRIEF_S = 1.0  # of processor time: such a command is over before it slows another one down


def exceeded(
    limits: Limits, base: CommandRun | None, processors: float, used: CommandUse, said: str = ""
) -> str:
    """Return which limit a command is beyond, with its figures and its setting, "" for none.

    `base` is its run at the base, None if that says nothing. `said` is the end of its output.
    """
    if base is None and used.silent_s >= _WAITS_S and (waits := is_waiting(said)):
        return f"{WAITS}: it prints `{waits}` and waits. `CI=1` or `--run` in the command may end it"
    if base is None:
        return _without_base(limits.verify_s, processors, used)
    rules = [("did not end within", used.seconds, _TIMES_WALL, base.seconds, "verify_s")]
    if used.cpu_s is not None and base.use.cpu_s is not None:
        rules += [
            ("used processors for", used.cpu_s, _TIMES_CPU, base.use.cpu_s, "verify_s"),
            ("was silent and idle for", used.silent_s, _TIMES_SILENCE, base.use.silence_s, "silence_s"),
        ]
    for told, seconds, times, at_base, least in rules:
        most = max(times * at_base, getattr(limits, least))
        if seconds >= most:
            why = f"{times} times the {at_base:.1f} s at the base, at least `limits.{least}`"
            return f"{told} {seconds:.1f} s (its limit is {most:.1f} s: {why})"
    return ""


def _without_base(verify_s: float, processors: float, used: CommandUse) -> str:
    had = used.cpu_s if used.is_crowded and not used.silent_s else None
    waits = had is not None and had < verify_s * processors  # which it had alone
    most, where = (_TIMES_CROWDED * verify_s, " on a busy machine") if waits else (verify_s, "")
    return f"did not end within {most:g} s{where} (`limits.verify_s`)" if used.seconds >= most else ""


def share_of(base: CommandRun | None, processors: float) -> float:
    """Return how many processors a command counts when turns are given: 0 for one that is over at once."""
    if base is None or base.use.processors is None:
        return processors
    return 0.0 if (base.use.cpu_s or 0.0) < _BRIEF_S else min(base.use.processors, processors)
