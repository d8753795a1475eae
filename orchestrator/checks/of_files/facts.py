"""Facts that sq computes from the files of a work: dependencies, public names, paths."""

from dataclasses import replace
from pathlib import Path

from agents.concurrency import aside_or
from orchestrator.git.trees import changed_paths, contents_at, known_as, links_in
from orchestrator.project.build_files.manifests import dependency_changes, manifest_of
from orchestrator.project.files import belongs_to_tests, written_here
from orchestrator.project.functions.languages import language_of
from orchestrator.project.functions.public import NameChanges, name_changes
from state.records.work import WorkFacts

_LARGEST_LOCK = 20_000_000  # bytes of a lock file


async def facts_between(repository: Path, base: str, tree: str) -> WorkFacts:
    """Return how the files of two trees differ in dependencies and in public names, those of tests aside.

    Raises:
        GitError: one of the trees cannot be read.
    """
    changed = await changed_paths(repository, base, tree)
    manifests = [path for path in changed if manifest_of(path)]
    sources = [path for path in changed if language_of(path) and not belongs_to_tests(path)]
    texts = [await contents_at(repository, one, manifests, largest=_LARGEST_LOCK) for one in (base, tree)]
    contents = [await contents_at(repository, one, sources) for one in (base, tree)]
    named = ({path: _text(one) for path, one in each.items()} for each in texts)
    sides = written_here(*contents)
    without = WorkFacts(unread=tuple(manifests)), NameChanges(unread=tuple(sources))
    links = {**await links_in(repository, base), **await links_in(repository, tree)}
    by_any_name = dict.fromkeys(one for path in changed for one in known_as(path, links))
    found = await aside_or(without[0], lambda: dependency_changes(*named), "the manifests of the work")
    public = await aside_or(without[1], lambda: name_changes(*sides), "the sources of the work")
    return replace(
        found,
        names_added=public.added,
        names_removed=public.removed,
        names_changed=public.changed,
        unread=(*found.unread, *public.unread),
        paths=tuple(by_any_name),
    )


def _text(content: bytes) -> str:
    return content.decode("utf-8-sig", "replace")
