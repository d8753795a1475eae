"""How much a command of the project may use before it is ended, by what it used at the base.

A limit of wall time would be met sooner on a loaded machine, so processor time counts where it can be had.
The time on the wall is the last resort, for commands that wait or of which nothing is known.
"""

from dataclasses import dataclass, field

from agents.process.usage import Usage, processors
from state.records.commands import CommandRun
from state.settings.records import Limits

TIMES_CPU = 5  # more tests, and a loaded machine, on which the same work takes up to twice the processor time
TIMES_WALL = 10
_TIMES_SILENCE = 2
_TIMES_CROWDED = 5  # for a command that is busy and had to wait for a processor
_BRIEF_S = 1.0  # of processor time: such a command disturbs nobody, and would only wait


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLimits:
    """The limits of one command. `base` is its run at the base, None if that says nothing."""

    limits: Limits
    base: CommandRun | None = None
    processors: float = field(default_factory=processors)

    def exceeded(self, used: Usage) -> str:
        """Return which limit a command is beyond, with its figures and its setting, "" for none."""
        base, rules = self.base, []
        if base is None:
            return self._without_base(used)
        if used.cpu_s is not None and base.use.cpu_s is not None:
            quiet = base.use.silence_s or 0.0
            rules = [
                ("used processors for", used.cpu_s, TIMES_CPU, base.use.cpu_s, "verify_s"),
                ("neither printed nor computed for", used.silent_s, _TIMES_SILENCE, quiet, "silence_s"),
            ]
        for told, seconds, times, at_base, least in (
            *rules,
            ("did not end within", used.seconds, TIMES_WALL, base.seconds, "verify_s"),
        ):
            most = max(times * at_base, getattr(self.limits, least))
            if seconds >= most:
                why = f"{times} times the {at_base:.1f} s at the base, at least `limits.{least}`"
                return f"{told} {seconds:.1f} s (its limit is {most:.1f} s: {why})"
        return ""

    def _without_base(self, used: Usage) -> str:
        had = used.cpu_s if used.is_crowded and not used.silent_s else None
        waits = had is not None and had < self.limits.verify_s * self.processors  # which it had alone
        most = self.limits.verify_s * (_TIMES_CROWDED if waits else 1)
        where = " on a busy machine" if waits else ""
        return f"did not end within {most:g} s{where} (`limits.verify_s`)" if used.seconds >= most else ""


def share_of(base: CommandRun | None, processors: float) -> float:
    """Return how many processors a command counts when turns are given: 0 for one that is over at once."""
    if base is None or base.use.processors is None:
        return processors
    return 0.0 if (base.use.cpu_s or 0.0) < _BRIEF_S else min(base.use.processors, processors)
