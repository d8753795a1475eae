"""Two runs side by side: their headlines, figures and criteria."""

from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.views.html.amounts import money, number
from orchestrator.views.models.criteria import counted
from orchestrator.views.report.contents import ReportContents
from orchestrator.views.words import duration
from state.records.reviews import FindingState
from state.words import question_key

NONE = "–"  # noqa: RUF001  there is nothing on this side


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One thing in both runs. `before` and `now` are a dash where a run does not have it."""

    name: str
    before: str
    now: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A run beside an earlier one. `criteria` are known by their words, `commands` by their text."""

    run_id: str
    earlier: str
    figures: tuple[Pair, ...]
    criteria: tuple[Pair, ...]
    commands: tuple[Pair, ...]


def compared(report: ReportContents, earlier: ReportContents) -> Comparison:
    """Return both runs side by side."""
    return Comparison(
        run_id=report.run_id,
        earlier=earlier.run_id,
        figures=tuple(
            Pair(name=name, before=before, now=now)
            for (name, before), (_, now) in zip(_figures(earlier), _figures(report), strict=True)
        ),
        criteria=_pairs(_criteria(earlier), _criteria(report)),
        commands=_pairs(_commands(earlier), _commands(report)),
    )


def _figures(report: ReportContents) -> Iterator[tuple[str, str]]:
    head, merged = report.headline, sum(part.stage == "merged" for part in report.tasks)
    standings = ", ".join(f"{count} {standing}" for standing, count in counted(report.criteria).items())
    states = [row.finding.state for row in report.findings]
    yield "outcome", head.word + ("" if head.exit_code is None else f" (exit code {head.exit_code})")
    yield "criteria", standings or NONE
    yield "tasks merged", f"{merged} of {len(report.tasks)}"
    yield "things to look at", number(len(report.attention))
    yield "decisions", number(len(report.decisions))
    yield "open findings", number(states.count(FindingState.OPEN))
    yield "cost", money(report.spending.cost_usd) + ("+" if report.spending.at_least else "")
    yield "time", duration(report.times.seconds)
    yield "finished commit", report.commits.commit[:10] or NONE
    yield "spec (sha256)", report.spec.sha256[:12] or NONE


def _criteria(report: ReportContents) -> dict[str, tuple[str, str]]:
    return {question_key(row.text): (row.text, str(row.standing)) for row in report.criteria}


def _commands(report: ReportContents) -> dict[str, tuple[str, str]]:
    found = {}
    for one in report.commands:
        tests = "tests unknown" if one.passed_tests is None else f"{number(one.passed_tests)} tests"
        found[one.command] = (one.command, f"{'passed' if one.passed else 'failed'}, {tests}")
    return found


def _pairs(before: dict[str, tuple[str, str]], now: dict[str, tuple[str, str]]) -> tuple[Pair, ...]:
    none = ("", NONE)
    return tuple(
        Pair(
            name=(now.get(key) or before[key])[0], before=before.get(key, none)[1], now=now.get(key, none)[1]
        )
        for key in dict.fromkeys([*now, *before])
    )
