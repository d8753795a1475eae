"""The faults of a spec that the Planner finds before the work, the answers to them, and what they decide."""

from dataclasses import dataclass
from enum import StrEnum

MOST_OPTIONS, FEWEST_OPTIONS = 4, 2
MOST_QUOTED = 5  # lines of the spec


class FaultKind(StrEnum):
    """The kinds of faults that a spec is read for."""

    CONTRADICTION = "contradiction"
    TWO_MEANINGS = "two meanings"
    ASSUMPTION = "unstated assumption"
    EDGE_CASE = "missing edge case"
    UNPROVABLE = "unprovable"
    AGAINST_REPOSITORY = "against the repository"
    ALREADY_THERE = "already there"
    NO_DEPENDENCY = "no such dependency"


class Decider(StrEnum):
    """Who decided a question about the spec: a person, the Developer, or the Planner, who recommends."""

    PERSON = "person"
    DEVELOPER = "developer"
    RECOMMENDED = "recommended"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecAnswer:
    """An answer from a file beside the spec. `quote` are the lines of the spec that it is about."""

    kind: FaultKind
    quote: str
    question: str
    answer: str
    by: Decider = Decider.PERSON


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecFinding:
    """A fault of the spec, as a question with options, one of which is `recommended`.

    `lines` are numbers of lines of the spec, from 1, and `quote` is the text of those with words. sq gives
    the `id` (q-1, q-2, …). `decides`: other answers lead to other work.
    """

    kind: FaultKind
    lines: tuple[int, ...]
    question: str
    why: str
    options: tuple[str, ...]
    recommended: str
    decides: bool = True
    id: str = ""
    quote: str = ""

    @property
    def place(self) -> str:
        """Its lines in words."""
        return f"line{'' if len(self.lines) == 1 else 's'} {', '.join(map(str, self.lines))}"

    def answered(self, answer: str, by: Decider) -> SpecAnswer:
        return SpecAnswer(kind=self.kind, quote=self.quote, question=self.question, answer=answer, by=by)


def plain(line: str) -> str:
    """Return a line without white space and list signs at its ends, for comparison."""
    return " ".join(line.split()).lstrip("-*+#> ").strip()


def quoted(quote: str) -> frozenset[str]:
    """Return the lines of a quote, for comparison."""
    return frozenset(filter(None, map(plain, quote.splitlines())))


def in_a_line(quote: str) -> str:
    return " / ".join(quote.splitlines())


def problems_in(findings: tuple[SpecFinding, ...], spec: str) -> list[str]:
    """Return what is wrong with findings as a Planner reports them, a sentence each, numbered from 1."""
    last = len(spec.splitlines())
    problems = []
    for number, one in enumerate(findings, start=1):
        wrong = []
        if not one.lines or any(not 1 <= line <= last for line in one.lines):
            wrong.append(f"`lines` has to name lines of the spec, which has {last}")
        elif not plain(one.quote):
            wrong.append("`lines` has to name a line with words")
        if not FEWEST_OPTIONS <= len(one.options) <= MOST_OPTIONS or len({*one.options}) < len(one.options):
            wrong.append(f"`options` has to hold {FEWEST_OPTIONS} to {MOST_OPTIONS} different options")
        if one.recommended not in one.options:
            wrong.append("`recommended` has to be one of `options`, word for word")
        problems += [f"finding {number}: {each}" for each in wrong]
    return problems
