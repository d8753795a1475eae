"""The messages of sq's commits: words of agents that act nowhere, and trailers that say what each is for."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.git.command import commit_style, git
from state.errors import GitError, UsageError
from state.hidden import inert

RUN, CRITERIA = "Sq-Run", "Sq-Criteria"
_TITLE_KEPT = 200
_CONVENTIONAL = re.compile(r"conventional[ -]commit", re.IGNORECASE)
_FIELD, _RECORD = "\x1f", "\x1e"


def commit_message(title: str, about: str, *, run_id: str, criteria: Iterable[str] = ()) -> str:
    """Return a message: a title, which may be an agent's, a sentence of sq's, and the trailers."""
    named = ", ".join(criteria)
    trailers = [f"{RUN}: {run_id}", *([f"{CRITERIA}: {named}"] if named else [])]
    named_so = commit_style.get().title.replace("{title}", inert(title)[:_TITLE_KEPT] or "Work")
    return "\n\n".join((named_so, about, "\n".join(trailers)))


def merge_title(title: str, conventions: Sequence[str]) -> str:
    """Return the title of a merge, in the form that the conventions name which the analysis found."""
    return f"chore: merge {title}" if any(map(_CONVENTIONAL.search, conventions)) else f"Merge: {title}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedCommit:
    """A commit of a run, as its trailers say."""

    commit: str
    title: str
    run_id: str
    criteria: tuple[str, ...]


async def traced_commits(repository: Path, ref: str) -> list[TracedCommit]:
    """Return the commits of runs that a ref reaches, the newest first. The state of the runs is not needed.

    Raises:
        UsageError: the ref names no commit.
    """
    of_trailers = "%x1f".join(f"%(trailers:key={key},valueonly,separator=%x2C)" for key in (RUN, CRITERIA))
    form = f"--format=%H%x1f%s%x1f{of_trailers}%x1e"
    try:
        told = await git(repository, "log", form, f"--grep=^{RUN}: ", "--end-of-options", ref, "--")
    except GitError as error:
        raise UsageError(
            f"--from-commits {ref}: {error}. Name a branch, a tag, a commit or a range"
        ) from error
    rows = (record.strip("\n").split(_FIELD) for record in told.split(_RECORD) if record.strip())
    return [
        TracedCommit(
            commit=commit,
            title=title,
            run_id=run_id.strip(),
            criteria=tuple(one.strip() for one in criteria.split(",") if one.strip()),
        )
        for commit, title, run_id, criteria in rows
        if run_id.strip()
    ]
