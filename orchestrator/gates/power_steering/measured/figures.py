"""The figures of power steering on labelled sessions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import sqrt
from statistics import NormalDist

from orchestrator.gates.power_steering.considerations import Severity

_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """`count` of `total`, with the interval of the true share at 95 % confidence (Wilson)."""

    count: int
    total: int

    @property
    def share(self) -> float:
        """The share from 0 to 1. It is 0 if `total` is 0."""
        return self.count / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The bounds of the interval, 0 and 1 if `total` is 0."""
        if not self.total:
            return 0.0, 1.0
        z = NormalDist().inv_cdf((1 + _CONFIDENCE) / 2)
        middle = self.share + z * z / (2 * self.total)
        spread = z * sqrt(self.share * (1 - self.share) / self.total + (z / (2 * self.total)) ** 2)
        scale = 1 + z * z / self.total
        return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Counts of one consideration in all sessions: `asked` = `decided` + `abstained`.

    `wrong`: of those decided, the answers that contradict the label.
    """

    id: str
    severity: Severity
    asked: int
    decided: int
    abstained: int
    wrong: int
    false_blocks: Share
    misses: Share
    visible_misses: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The figures of some sessions. `wrong` has the errors on each session, by its name.

    `announced_held`: of the sessions that end by announcing the agent's own next step, those that are held.
    `agreement`: of the judge's answers, those that the labels confirm. `disagreements` are the others.
    `not_answered`: how often the judge was asked and gave no answer.
    """

    sessions: int
    rows: tuple[Row, ...]
    false_blocks: Share
    misses: Share
    visible_misses: Share
    announced_held: Share
    types: Share
    pairs: Share
    agreement: Share
    not_answered: int
    disagreements: tuple[str, ...]
    sources: Mapping[str, int]
    seconds: float
    cost_usd: float
    wrong: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def check_false_blocks(self) -> Share:
        """Met blockers that were called unmet."""
        return _sum(row.false_blocks for row in self.rows if row.severity is Severity.BLOCKER)

    @property
    def check_misses(self) -> Share:
        """Unmet considerations that were not found."""
        return _sum(row.misses for row in self.rows)

    @property
    def check_visible_misses(self) -> Share:
        """Unmet considerations that were not found, though rules could see them."""
        return _sum(row.visible_misses for row in self.rows)


def _sum(shares: Iterable[Share]) -> Share:
    all_ = list(shares)
    return Share(count=sum(one.count for one in all_), total=sum(one.total for one in all_))
