"""The results of `sq clean`, or what it could remove, as lines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orchestrator.git.artifacts import Artifact
from orchestrator.git.cleaning import Cleaned


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCleaned:
    """The result for one run. `state` is its removed state folder, "" if it stays or there was none.

    `note` is for the user, `refused` says why nothing was tried, `skipped` why it was left aside.
    `next_command` would remove it.
    """

    run_id: str
    standing: str
    cleaned: tuple[Cleaned, ...] = ()
    state: str = ""
    note: str = ""
    refused: str = ""
    skipped: str = ""
    next_command: str = ""

    @property
    def is_refused(self) -> bool:
        """Whether a request was not fulfilled."""
        return bool(self.refused) or any(not one.removed for one in self.cleaned)


def cleaned_lines(runs: Sequence[RunCleaned]) -> list[str]:
    """The result for each run and its holdings."""
    return [line for run in runs for line in _lines(run)]


def holding_text(holding: Artifact) -> str:
    """A holding of a run in a few words, and whether it has work that exists nowhere else."""
    why = holding.blocked or holding.unmerged
    return f"{holding.kind} {holding.name}" + (f" ({why})" if why else "")


def _lines(run: RunCleaned) -> Iterator[str]:
    if run.skipped:
        yield f"run {run.run_id} is left as it is: {run.skipped}"
    elif run.refused:
        yield f"run {run.run_id} is not removed: {run.refused}"
    else:
        some = any(one.removed for one in run.cleaned)
        part = "not everything could be removed" if some else "nothing was removed"
        yield f"run {run.run_id}: {part if run.is_refused else 'removed'}"
    if run.note:
        yield f"    {run.note}"
    for one in run.cleaned:
        what = f"{one.holding.kind} {one.holding.name}"
        yield f"    kept: {what}: {one.problem}" if one.problem else f"    removed: {what}"
        if one.rescued:
            yield f"        its work is kept: git branch NAME {one.rescued}"
    if run.state:
        yield f"    removed: state {run.state}"
    if run.next_command:
        yield f"    → {run.next_command}"
