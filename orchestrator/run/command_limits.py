"""How much a command of the project may use before it is ended, by what it used at the base."""

from dataclasses import dataclass, field

from agents.process.usage import Usage, processors
from state.records.commands import CommandRun
from state.settings.records import Limits

TIMES_CPU = 5  # more tests, and a loaded machine, on which the same work takes up to twice the processor time
TIMES_WALL = 10
_TIMES_SILENCE = 2
_TIMES_CROWDED = 5  # of `limits.verify_s`, for a command that is busy and had to wait for a processor

_BRIEF_S = 1.0  # of processor time: such a command disturbs nobody, and would only wait


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLimits:
    """The limits of one command. `base` is its run at the base, None if that says nothing."""

    limits: Limits
    base: CommandRun | None = None
    processors: float = field(default_factory=processors)

    def exceeded(self, used: Usage) -> str:
        """Return which limit a command is beyond, with its figures and its setting, "" for none.

        A limit of wall time would be met sooner on a loaded machine, so processor time counts where it can be
        had. A time of the wall is only the last resort, for commands that wait or of which nothing is known.
        """
        return self._by_base(used, self.base) if self.base else self._unknown(used)

    def _unknown(self, used: Usage) -> str:
        least = self.limits.verify_s
        had = used.cpu_s if used.is_crowded and not used.silent_s else None
        waits = had is not None and had < least * self.processors  # less than it could have had alone
        if used.seconds < (_TIMES_CROWDED * least if waits else least):
            return ""
        if not waits:
            return f"did not end within {least:g} s (`limits.verify_s`)"
        return (
            f"did not end within {used.seconds:.0f} s on a busy machine, where it had {used.cpu_s:.0f} s of "
            "processor time (`limits.verify_s`)"
        )

    def _by_base(self, used: Usage, base: CommandRun) -> str:
        least = self.limits.verify_s
        if used.cpu_s is not None and base.cpu_s is not None:
            most = max(TIMES_CPU * base.cpu_s, least)
            if used.cpu_s >= most:
                return (
                    f"used {used.cpu_s:.1f} s of processor time (limit {most:.1f} s: {TIMES_CPU} times the "
                    f"{base.cpu_s:.1f} s at the base, at least `limits.verify_s`)"
                )
            quiet = base.silence_s or 0.0
            most = max(_TIMES_SILENCE * quiet, self.limits.silence_s)
            if used.silent_s >= most:
                return (
                    f"printed nothing and used no processor for {used.silent_s:.1f} s (limit {most:.1f} s: "
                    f"{_TIMES_SILENCE} times the longest such {quiet:.1f} s at the base, at least "
                    "`limits.silence_s`)"
                )
        most = max(TIMES_WALL * base.seconds, least)
        if used.seconds < most:
            return ""
        times = f"{TIMES_WALL} times the {base.seconds:.1f} s at the base"
        return f"did not end within {most:.1f} s ({times}, at least `limits.verify_s`)"


def share_of(base: CommandRun | None, processors: float) -> float:
    """Return how many processors a command counts when turns are given: 0 for one that is over at once."""
    if base is None or base.processors is None:
        return processors
    return 0.0 if (base.cpu_s or 0.0) < _BRIEF_S else min(base.processors, processors)
