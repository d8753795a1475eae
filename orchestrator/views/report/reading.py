"""Reads a run for a report: its events without messages, and its work from git."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from orchestrator.views.descriptions.describe import describe
from orchestrator.views.html.fitting import LIMITS, ReportLimits
from orchestrator.views.models.story import RunStory
from orchestrator.views.models.summary import RunState, summary_of
from orchestrator.views.models.work import WorkChanges, read_work, recorded_work, within
from orchestrator.views.report.building import report_of
from orchestrator.views.report.contents import IndexRow, ReportContents
from orchestrator.views.words import short
from state.errors import UsageError
from state.journal.events import Stored
from state.journal.store import JournalReader, is_active
from state.journal.view import RunView


class RunRead:
    """A run that was read once, from which reports of several sizes can be made."""

    def __init__(
        self, story: RunStory, run_id: str, standing: RunState, works: tuple[WorkChanges, ...]
    ) -> None:
        self._story = story
        self._run_id = run_id
        self._standing = standing
        self._works = works

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
            self._story,
            self._run_id,
            self._standing,
            within(self._works, limits.diff_bytes),
            partial(index_of, self._story.view, self._story.history.notable, limits.events),
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
    now = view.clock.last_at or datetime.now(UTC)  # the standing does not depend on it
    asked = partial(is_active, folder) if active is None else lambda: bool(active)
    standing = summary_of(view, folder.name, is_active=asked, now=now).standing
    repository = repository_of(view, folder) if view.started else None
    if repository and repository.is_dir():
        works = await read_work(view, repository, most_bytes=LIMITS.diff_bytes, redact=redact)
    else:
        gone = "the repository is gone"
        works = tuple(replace(work, problem=gone) for work in recorded_work(view))
    return RunRead(story, folder.name, standing, works)


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
