"""The work between two trees: the functions that it changed."""

from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

from agents.concurrency import aside, aside_or
from orchestrator.checks.bench import Bench
from orchestrator.checks.change import Change
from orchestrator.checks.comparison import ResultComparison, Work
from orchestrator.git.trees import contents_at, links_in
from orchestrator.project.build_files.builds import is_built
from orchestrator.project.files import third_party, written_here
from orchestrator.project.functions.emptying import types_with_a_default
from orchestrator.project.functions.functions import changed_functions
from orchestrator.project.functions.languages import language_of
from state.safe_paths import files_inside, read_inside

_THE_WORK = "the sources of the work"
_LARGEST = 1_000_000  # bytes of a source that is read


async def work_between(change: Change, bench: Bench, compared: ResultComparison) -> Work:
    """Return the changed functions of the product: not those of tests, or generated or third-party files.

    A committed build counts: tests may load it in place of its source.
    """
    touched = compared.touched
    inline = [path for path in (*touched.held, *touched.new) if (one := language_of(path)) and one.tests]
    links = await links_in(change.repository, change.tree)  # the target of one is no code
    every = dict.fromkeys((*touched.code, *touched.manifests, *inline)).keys() - links.keys()
    paths = [path for path in sorted(every) if language_of(path)]
    before = await contents_at(change.repository, change.base, paths)
    after = await contents_at(change.repository, change.tree, paths)
    built = [path for path in after if is_built(path) and not third_party(path)]
    olds, news = written_here(before, after)
    before = olds | {path: before[path] for path in built if path in before}
    after = news | {path: after[path] for path in built}
    changes = await aside(partial(changed_functions, before, after), _THE_WORK)
    defaults = await _defaults(bench, change.tree, {one.function.file for one in changes})
    return Work(tree=change.tree, sources=after, changes=tuple(changes), defaults=defaults)


async def _defaults(bench: Bench, tree: str, files: Iterable[str]) -> frozenset[str]:
    """Return the types of the project that say they have a default value, in a language where that counts."""
    found_languages = (language_of(file) for file in files)
    languages = {one.name: one for one in found_languages if one and one.types.known}
    if not languages:
        return frozenset()

    def found_in(folder: Path) -> frozenset[str]:
        found = frozenset[str]()
        for file in files_inside(folder):
            for language in languages.values():
                if file.endswith(tuple(language.suffixes)):
                    with suppress(OSError):
                        found |= types_with_a_default(read_inside(folder, file, largest=_LARGEST), language)
        return found

    async with bench.scratch(tree) as scratch:  # with what its set-up made
        return await aside_or(frozenset(), partial(found_in, scratch.folder), _THE_WORK)
