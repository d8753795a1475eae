"""A run read for its report (events without messages, work from git), and the report's text in a format.

The HTML is one file: no script, nothing to load, the same bytes for the same contents.
"""

import os
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache, partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import msgspec

from orchestrator.git.pinned import recorded_git
from orchestrator.git.pinned_config import trusting
from orchestrator.views.descriptions.describe import describe
from orchestrator.views.html.environment import environment, style
from orchestrator.views.html.sections import (
    LIMITS,
    MOST_BYTES,
    SMALLER,
    ReportLimits,
    answered,
    decided_for,
    gaps_in,
    grouped,
    merged_commits,
)
from orchestrator.views.models.criteria import counted
from orchestrator.views.models.spend import by_role
from orchestrator.views.models.summary import RunState, summary_of
from orchestrator.views.models.work import WorkChanges, read_work, recorded_work, within
from orchestrator.views.report.building import report_of
from orchestrator.views.report.contents import IndexRow, ReportContents
from orchestrator.views.report.data import data, in_toto, junit, sarif, summary
from orchestrator.views.report.markdown import Comparison, compared, job_summary, markdown, pull_request
from orchestrator.views.run.story import RunStory
from orchestrator.views.screen import as_json
from orchestrator.views.words import short
from state.errors import UsageError
from state.journal.events import Stored
from state.journal.store import JournalReader, is_active
from state.journal.view import RunView
from state.redaction.redactor import known_in_git, redactor

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclass(frozen=True, slots=True)
class RunRead:
    """A run that was read once, from which reports of several sizes can be made."""

    story: RunStory
    run_id: str
    state: RunState
    works: tuple[WorkChanges, ...]

    def report(
        self, version: str, *, limits: ReportLimits = LIMITS, with_paths: bool = False
    ) -> ReportContents:
        """Return the contents of a report.

        Args:
            version: of the sq that writes it.
            limits: its size. Patches of the work were read for the usual one.
            with_paths: leave paths of the machine in the texts.
        """
        return report_of(
            self.story,
            self.run_id,
            self.state,
            within(self.works, limits.diff_bytes),
            partial(index_of, self.story.view, self.story.history.notable, limits.events),
            limits=limits,
            version=version,
            with_paths=with_paths,
        )


async def read_run(
    folder: Path, *, redact: Callable[[str], str] = str, active: bool | None = None
) -> RunRead:
    """Read the run in a folder.

    Args:
        folder: the run's.
        redact: takes known secrets out of the patches. The journal has none.
        active: whether a process works on the run. None: if a process writes its journal.

    Raises:
        UsageError: there is no journal.
        JournalError: it is damaged.
    """
    story = RunStory()
    with JournalReader(folder) as journal:
        story.add_all(journal.read_for_views())
    view = story.view
    now = view.clock.last_at or datetime.now(UTC)  # the state does not depend on it
    asked = partial(is_active, folder) if active is None else lambda: bool(active)
    state = summary_of(view, folder.name, is_active=asked, now=now).state
    repository = repository_of(view, folder) if view.started else None
    if repository and repository.is_dir():
        works = await read_work(view, repository, most_bytes=LIMITS.diff_bytes, redact=redact)
    else:
        gone = "the repository is gone"
        works = tuple(replace(work, problem=gone) for work in recorded_work(view))
    return RunRead(story, folder.name, state, works)


async def read_for_report(folder: Path) -> RunRead:
    """Read a run for its report, with the git settings that it recorded, and without known secrets.

    Raises:
        UsageError: as `read_run`.
    """
    redact = redactor(os.environ, known_in_git(Path.cwd())).known
    with trusting(recorded_git(folder)):
        return await read_run(folder, redact=redact)


def repository_of(view: RunView, folder: Path) -> Path:
    """Return the checkout of a run. That of a round of `sq follow` is gone afterwards: its repository stays.

    Raises:
        UsageError: the run was killed before it began.
    """
    if view.started is None:
        raise UsageError(f"run {folder.name} was killed before it began, so there is no work of it")
    checkout, around = Path(view.started.repository), folder.parents[2]
    is_gone = view.plan.origin.follows and not checkout.is_dir()
    return around if is_gone and (around / ".git").exists() else checkout


_SHOWN = 160  # characters of a row of the index


def index_of(
    view: RunView, events: Iterable[Stored], most: int, needed: Collection[int]
) -> tuple[tuple[IndexRow, ...], int]:
    """Return the rows of the index, and how many events are left out.

    Args:
        view: the run at its end.
        events: its events without messages.
        most: of the rows. The first and the last events are kept, and all that are needed.
        needed: places of events that the report refers to.
    """
    every = list(events)
    if len(every) > most:
        half = most // 2
        kept = {stored.seq for stored in (*every[:half], *every[len(every) - half :])} | set(needed)
        shown = [stored for stored in every if stored.seq in kept]
    else:
        shown = every
    return tuple(_row(view, stored) for stored in shown), len(every) - len(shown)


def _row(view: RunView, stored: Stored) -> IndexRow:
    described = describe(view, stored)
    found = [one for one in described if one.words.is_told] or described
    return IndexRow(
        seq=stored.seq,
        at=stored.at,
        name=type(stored.event).__name__,
        task_id=view.task_of(stored.event),
        text=short(found[0].words.line, _SHOWN) if found else "",
    )


class Format(StrEnum):
    """The formats of a report."""

    HTML = "html"
    MARKDOWN = "md"
    PULL_REQUEST = "pr"
    SUMMARY = "summary"
    JUNIT = "junit"
    SARIF = "sarif"
    IN_TOTO = "intoto"
    JSON = "json"


COMPARING = frozenset({Format.HTML, Format.MARKDOWN, Format.JSON})


def rendered(
    run: RunRead, format_: Format, *, version: str, with_paths: bool = False, earlier: RunRead | None = None
) -> str:
    """Return the text of a report.

    Args:
        version: of the sq that writes it.
        with_paths: leave paths of the machine in the texts.
        earlier: another run, to be shown beside it in the formats of `COMPARING`.

    Raises:
        UsageError: the format needs finished work, and there is none.
    """
    if format_ is Format.HTML:
        return _web(run, version, earlier, with_paths=with_paths)
    report = run.report(version, with_paths=with_paths)
    beside = compared(report, earlier.report(version, with_paths=with_paths)) if earlier else None
    match format_:
        case Format.MARKDOWN:
            return markdown(report, beside)
        case Format.PULL_REQUEST:
            return pull_request(report)
        case Format.SUMMARY:
            return job_summary(report)
        case Format.JUNIT:
            return junit(report)
        case Format.SARIF:
            return _line(sarif(report, version))
        case Format.IN_TOTO:
            return _line(in_toto(report))
        case Format.JSON:
            return _line(_with(data(report, version), beside))


def ending(report: ReportContents, version: str) -> str:
    """Return the text of `summary.json`."""
    return _line(summary(report, version))


def _web(run: RunRead, version: str, earlier: RunRead | None, *, with_paths: bool) -> str:
    """Return the HTML, with shorter texts, lists and diffs if it would be too large."""
    for limits in (LIMITS, *SMALLER):
        report = run.report(version, limits=limits, with_paths=with_paths)
        beside = None
        if earlier:
            beside = compared(report, earlier.report(version, limits=limits, with_paths=with_paths))
        text = web(report, version=version, beside=beside, smaller=limits is not LIMITS)
        if len(text.encode(errors="replace")) <= MOST_BYTES:
            break
    return text


def _with(found: dict[str, object], beside: Comparison | None) -> dict[str, object]:
    return {**found, "compared": msgspec.to_builtins(beside)} if beside else found


def _line(value: object) -> str:
    return f"{as_json(value)}\n"


def web(
    report: ReportContents, *, version: str, beside: Comparison | None = None, smaller: bool = False
) -> str:
    """Return the report as HTML.

    Args:
        version: of the sq that writes it.
        beside: an earlier run, to be shown beside it.
        smaller: its contents were cut, because they did not fit.
    """
    return (
        _engine()
        .get_template("report.html.j2")
        .render(
            report=report,
            version=version,
            smaller=smaller,
            beside=beside,
            most_bytes=MOST_BYTES,
            base_style=style("base.css"),
            own_style=style("sections.css"),
            counts=counted(report.criteria),
            answered=answered(report.decisions),
            gaps=gaps_in(report.attention),
            groups=grouped(report.attention),
            by_role=by_role(report.spending),
            merged_commits=merged_commits(work for part in report.tasks for work in part.work),
            decided=decided_for(report.criteria, report.decisions),
        )
    )


def load_templates() -> None:
    """Compile the report's templates, which takes longer than to fill them."""
    engine = _engine()
    for name in engine.list_templates(extensions=["j2"]):
        engine.get_template(name)


@cache
def _engine() -> "Environment":
    made = environment(Path(__file__).parent)
    made.filters |= {"shell": quote}
    return made
