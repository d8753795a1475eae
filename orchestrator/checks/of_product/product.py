"""The sources of a work that its users get: neither tests nor what only those who build the project run."""

import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import PurePosixPath

from orchestrator.checks.change import Change
from orchestrator.checks.touched import is_test_data
from orchestrator.git.trees import changed_paths, contents_at, files_in
from orchestrator.project.files import belongs_to_tests, is_test_file, third_party, written_here
from orchestrator.project.functions.languages import language_of
from state.decoding import table_beside

_OWN_NEEDS = re.compile(rb"^# /// script|^#!.*\buv run", re.MULTILINE)  # a script that names what it needs


@cache
def _beside() -> tuple[frozenset[str], re.Pattern[str]]:
    table = table_beside(__file__, "product.yaml")
    return frozenset(table["folders"].split()), re.compile(table["names"], re.IGNORECASE)


def is_product(path: str) -> bool:
    """Whether a source belongs to what users get, as far as its name and its folders say."""
    if language_of(path) is None or belongs_to_tests(path) or is_test_file(path) or is_test_data(path):
        return False
    place, (folders, names) = PurePosixPath(path), _beside()
    beside = any(part.lower() in folders or part.startswith(".") for part in place.parts[:-1])
    return not (third_party(path) or beside or names.fullmatch(place.name))


def own_names(paths: Iterable[str]) -> frozenset[str]:
    """Return the names of the folders and sources of a project that are no tests, in small letters."""
    places = [PurePosixPath(one) for one in paths if not (belongs_to_tests(one) or third_party(one))]
    parts = (part for one in places for part in (*one.parts[:-1], one.name.partition(".")[0]))
    return frozenset(part.lower() for part in parts)


async def texts_of(change: Change, wanted: Callable[[str], bool]) -> dict[str, str]:
    """Return the wanted files of a work that are no tests and no examples. A large one is not readable."""
    every = [path for path in await files_in(change.repository, change.own_tree) if wanted(path)]
    paths = [path for path in every if not (belongs_to_tests(path) or third_party(path) or "example" in path)]
    texts = await contents_at(change.repository, change.own_tree, paths)
    return {path: texts.get(path, b"{").decode("utf-8-sig", "replace") for path in paths}


async def sources_of(change: Change) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Return the product's sources that the work changed, as they were and as they are, none generated."""
    changed = await changed_paths(change.repository, change.base, change.own_tree)
    paths = [path for path in changed if is_product(path)]
    sides = [await contents_at(change.repository, one, paths) for one in (change.base, change.own_tree)]
    before, after = written_here(*sides)
    return before, {path: one for path, one in after.items() if not _OWN_NEEDS.search(one[:2_000])}
