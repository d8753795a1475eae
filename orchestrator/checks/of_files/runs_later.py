"""Files of the work that run later, or lead out of the repository.

An editor, a shell, git, an agent or a service starts or obeys files for their name alone, where somebody
takes the work (`orchestrator/project/runs_later.yaml`). So each is a doubt, unless the spec names it, and
there is a plan, which says what a line asks for.
(product.md, section 10)
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from pathlib import PurePosixPath

from agents.concurrency import aside_or
from orchestrator.checks.change import Change
from orchestrator.git.trees import changed_paths, contents_at, files_in, known_as, landing, links_in
from orchestrator.project.runs_later import runs_later
from state.records.plan import ConstraintKind

_LARGEST_LOOKED_AT = 100_000_000  # bytes of a file of which some lines count


async def files_of(change: Change) -> tuple[str, ...]:
    """Return the work's files that run later, as `files_that_run_later` finds them."""
    repository, base, tree = change.repository, change.base, change.own_tree
    changed = await changed_paths(repository, base, tree)
    now = await links_in(repository, tree)
    before = await links_in(repository, base)
    every = await files_in(repository, tree)
    named = [path for path in changed if "\N{REPLACEMENT CHARACTER}" not in path]  # others may be two files
    looked = [path for path in named if (row := runs_later(path)) and row.file.holds]
    olds, news = [
        await contents_at(repository, one, looked, largest=_LARGEST_LOOKED_AT) for one in (base, tree)
    ]
    added = {
        path: set(news[path].decode(errors="replace").splitlines())
        - set(olds.get(path, b"").decode(errors="replace").splitlines())
        for path in news
    }
    kept = [one.quote for one in change.criteria if one.stays or one.constraint is ConstraintKind.UNTOUCHED]
    asking = change.spec if change.criteria else ""  # without a plan nothing says what a line asks for
    found = partial(files_that_run_later, asking, changed, before, now, every=every, added=added, kept=kept)
    return await aside_or(("files whose names cannot be read",), found, "the names of the work's files")


_MOST_LATER = 1_000


def files_that_run_later(
    spec: str,
    changed: Collection[str],
    before: Mapping[str, str],
    now: Mapping[str, str],
    *,
    every: Collection[str] = (),
    added: Mapping[str, Collection[str]] | None = None,
    kept: Collection[str] = (),
) -> tuple[str, ...]:
    """Return the changed files that run later, and new links that lead out, as `path → target`.

    Those that `spec` names are left out. A git repository whose parts are files of the tree counts by its
    HEAD: git runs the programs of its settings there.

    Args:
        spec: the user's words.
        changed: the paths that differ.
        before: the links of the base.
        now: the links of the tree.
        every: all paths of the tree. Only new links give one of them a new name.
        added: the new lines of the changed files of which only some lines count.
        kept: the lines of the spec by which something stays as it is, as a plan reads them.
    """
    there = set(changed) & set(every)
    found = [
        path if name == path else f"{path} (by a link it is {name})"
        for name, path in _named(changed, before, now, every).items()
        if (row := runs_later(name))
        and not names(spec, name, row.terms, kept)
        and (not row.file.holds or _has_line(row.file.holds, path, there, added or {}))
    ]
    found += _repositories(changed, every)
    for path in now:
        stood = before.get(path) == now[path] and leads_out(path, before)
        if leads_out(path, now) and not stood and not names(spec, path, (), kept):
            found.append(f"{path} → {now[path]}")
    more = [f"{len(found) - _MOST_LATER} more"] if len(found) > _MOST_LATER else []
    return (*found[:_MOST_LATER], *more)


def _has_line(holds: str, path: str, there: Collection[str], added: Mapping[str, Collection[str]]) -> bool:
    """Whether a file has a new line of these. One that cannot be read under its name counts as if it had."""
    if path not in added:
        return path in there
    return any(re.search(holds, one) for one in added[path])


def _named(
    changed: Iterable[str], before: Mapping[str, str], now: Mapping[str, str], every: Iterable[str]
) -> dict[str, str]:
    """Return the changed paths, and those of all that links give a new name, by each of their names."""
    found = {name: path for path in changed for name in known_as(path, now)}
    for path in every if before != now else ():
        for name in set(known_as(path, now)) - set(known_as(path, before)):
            found.setdefault(name, path)
    return found


def _repositories(changed: Collection[str], every: Collection[str]) -> Iterator[str]:
    """Yield the HEAD of each changed folder that git takes for a repository without a worktree."""
    paths = dict.fromkeys((*changed, *every))
    heads = {path: path[: -len("/head")].lower() for path in paths if path.lower().endswith("/head")}
    parts: dict[str, set[str]] = {folder: set() for folder in heads.values()}
    touched = set[str]()
    for path in paths if heads else ():
        lower = path.lower()
        for slash in (at for at, one in enumerate(lower) if one == "/"):
            if (found := parts.get(lower[:slash])) is not None:
                found.add(lower[slash + 1 :].partition("/")[0])
    for path in changed if heads else ():
        touched.update(path.lower()[:at] for at, one in enumerate(path) if one == "/")
    for path, folder in heads.items():
        if folder in touched and (parts[folder] >= {"objects", "refs"} or "commondir" in parts[folder]):
            yield path


def names(spec: str, path: str, terms: Iterable[str], kept: Iterable[str] = ()) -> bool:
    """Whether a spec names a file: it has its path, its name, a folder of it or a term.

    Not if one of the lines `kept` has, by which it stays as it is.
    """
    place = PurePosixPath(path)
    hidden = [part for part in place.parts[:-1] if part.startswith(".")]
    name = [place.name] if re.search(r"[.-]", place.name) else []
    words = "|".join(re.escape(one.lower()) for one in (path, *name, *hidden, *terms))
    asked = re.compile(rf"(?<![\w.-])(?:{words})(?![\w-])")
    return bool(asked.search(spec.lower())) and not any(asked.search(one.lower()) for one in kept)


def leads_out(path: str, links: Mapping[str, str]) -> bool:
    """Whether a path of a tree leads out of it or into its git folder, through the links of the tree."""
    return landing(path, links) is None
