"""Data files that belong together: the keys of translations and of other files of one form, and migrations.

What a work adds to one of them the others have too, if they had all of its keys before. A migration can be
taken back where every other one can.
"""

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache, partial
from itertools import permutations
from pathlib import PurePosixPath
from typing import Any

from agents.concurrency import aside
from orchestrator.checks.change import Change
from orchestrator.checks.objecting import lacks_a_key, lacks_a_way_back
from orchestrator.git.trees import changed_paths, contents_at, files_in
from orchestrator.project.build_files.yaml_text import read_yaml
from orchestrator.project.files import belongs_to_tests, third_party
from state.decoding import table_beside
from state.records.objections import Objection

_MOST_FILES, _MOST_NAMED = 400, 10
_LEAST, _LEAST_OF_ONE_FORM = 2, 4  # keys, and files; files
_Read = Callable[[str], object]
_DATA: dict[str, _Read] = {
    **dict.fromkeys((".json", ".arb"), json.loads),
    **dict.fromkeys((".yaml", ".yml"), read_yaml),
    ".toml": tomllib.loads,
}
_Keys = frozenset[str]


@cache
def _table() -> Any:  # noqa: ANN401  as the file has it
    return table_beside(__file__, "siblings.yaml")


@cache
def _words(kind: str) -> frozenset[str]:
    return frozenset(_table()[kind].split())


def _search(kind: str, text: str) -> re.Match[str] | None:
    return re.search(_table()["patterns"][kind], text)


async def objections_to(change: Change) -> tuple[Objection, ...]:
    """Return what speaks against the data files that the work changed, and the migrations that it added."""
    every = await files_in(change.repository, change.own_tree)
    changed = await changed_paths(change.repository, change.base, change.own_tree)
    touched = {one for path in changed for one in families(path)}
    looked = [path for path in every if not touched.isdisjoint(families(path))] if touched else []
    looked = [*changed, *looked] if len(looked) <= _MOST_FILES else []
    before = await contents_at(change.repository, change.base, looked)
    after = await contents_at(change.repository, change.own_tree, looked)
    asked = () if _words("services") & {*every} else changed
    found = await aside(partial(unlike, before, after, asked, change.spec), "the data files of the work")
    one_way = map(lacks_a_way_back, without_a_way_back(before, after))
    return (*(lacks_a_key(*one) for one in found[:_MOST_NAMED]), *one_way)


def families(path: str) -> dict[str, str]:
    """Return what the paths of a data file's siblings have in common, each with what it has in place of `*`.

    In those of translations `*` stands for a language.
    """
    place = PurePosixPath(path)
    if place.suffix == ".sql":
        return {f"{place.parent}/migrations": place.stem}
    if place.suffix not in {*_DATA, *_table()["keys"]} or third_party(path) or _search("tools", place.stem):
        return {}
    found = {
        f"{path[: one.start()]}<*>{path[one.end() :]}": one[1] or one[2]
        for one in re.finditer(_table()["patterns"]["language"], path)
        if (one[1] or one[2])[:2] in _words("languages")
    }
    names = {f"{place.stem}<*>": "", "*": place.stem}
    if found or place.suffix == ".php":  # a source that is no translation
        return found
    return {str(place.with_name(f"{name}{place.suffix}")): own for name, own in names.items()}


def unlike(
    before: Mapping[str, bytes], after: Mapping[str, bytes], changed: Collection[str], spec: str = ""
) -> list[tuple[str, str, str]]:
    """Return the keys that a file lacks now: its path, the key, and a file of its family that has it.

    Files that are no translations count if they all had the same keys, and the spec names none of them. Those
    of tests may each have a form of their own, so that only a key counts which was forgotten in one.
    """
    members = defaultdict[str, dict[str, str]](dict)
    for path in after:
        for family, own in families(path).items():
            members[family][path] = own
    found: dict[tuple[str, str], str] = {}
    for family, names in members.items():
        if len(names) < _LEAST or {*names}.isdisjoint(changed):
            continue
        olds = {path: keys_in(path, before[path], own) for path, own in names.items() if path in before}
        news = {path: keys_in(path, after[path], own) for path, own in names.items()}
        is_text, of_tests = "<*>" in family, any(map(belongs_to_tests, names))
        if not is_text and not _is_of_one_form(olds):
            continue
        had = frozenset[str]().union(*olds.values())
        for path, key, other in _behind(olds, news):
            lacking = sum(key not in one for one in news.values())
            counts = is_text or not of_tests or (lacking == 1 and key not in had)
            is_new_text = is_text and path not in before
            means_one = _names(spec, path, is_text) is not _names(spec, other, is_text)
            if counts and (is_new_text or not means_one):
                found.setdefault((path, key), other)
    return [(path, key, other) for (path, key), other in sorted(found.items())]


def _behind(olds: Mapping[str, _Keys], news: Mapping[str, _Keys]) -> Iterator[tuple[str, str, str]]:
    """Yield what files lack that had, before, all keys of the one that has it, and what new ones lack."""
    both = [path for path in olds if len(olds[path]) >= _LEAST and news[path]]
    for path, other in permutations(both, 2):
        if olds[other] <= olds[path]:
            kept = frozenset[str]() if olds[other] == olds[path] else olds[path]
            yield from ((path, key, other) for key in news[other] - news[path] - kept)
    if len(both) < _LEAST or len({olds[path] for path in both}) > 1:
        return
    usual = olds[both[0]] & news[both[0]]
    for path in news:
        if path not in olds and news[path] and not _search("region", path):
            yield from ((path, key, both[0]) for key in usual - news[path])


def _is_of_one_form(olds: Mapping[str, _Keys]) -> bool:
    of_settings = any({*re.split(r"[._/-]", path.lower())} & _words("overlays") for path in olds)
    return len(olds) >= _LEAST_OF_ONE_FORM and len({*olds.values()}) == 1 and not of_settings


def _names(spec: str, path: str, is_text: bool) -> bool:
    """Whether a spec names a file: a translation by its name with the suffix, or by its language."""
    place, called = PurePosixPath(path), _table()["called"]
    names = [re.escape(place.name if is_text else place.stem)]
    names += [called[own[:2]] for own in families(path).values() if is_text and own[:2] in called]
    return re.search(rf"(?<![\w-])(?:{'|'.join(names)})(?![\w-])", spec) is not None


def keys_in(path: str, content: bytes, own: str = "") -> _Keys:
    """Return the keys of a data file, joined with dots, none if it cannot be read or is a list.

    Notes for people and the forms of a plural do not count, nor does a language (`own`) above all others.
    """
    text, suffix = content.decode("utf-8-sig", "replace"), PurePosixPath(path).suffix
    if pattern := _table()["keys"].get(suffix):
        found = [one.strip('"\n') for one in re.findall(pattern, text)]
    else:
        try:
            data = _DATA[suffix](text) if suffix in _DATA else None
        except (ValueError, RecursionError):
            return frozenset()
        found = _flat(data.get(own, data) if isinstance(data, dict) and len(data) == 1 else data)
    plain = {re.sub(_table()["patterns"]["plural"], "", one) for one in found}
    return frozenset(one for one in plain if one and one[0] not in "@$_#")


def _flat(data: object) -> list[str]:
    found, waiting = list[str](), [("", data)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict) and (value or not name):
            waiting.extend((f"{name}.{key}" if name else str(key), inner) for key, inner in value.items())
        else:
            found.append(name)
    return found


def without_a_way_back(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[str]:
    """Return the new migrations without a way back, in folders in which each one of the base has it."""
    there = defaultdict[PurePosixPath, list[bool]](list)
    for path in before:
        there[PurePosixPath(path).parent] += _ways_back(path, before)
    new = [path for path in after if path not in before and False in _ways_back(path, after)]
    return [path for path in new if (has := there[PurePosixPath(path).parent]) and all(has)]


def _ways_back(path: str, every: Mapping[str, bytes]) -> list[bool]:
    """Return whether a migration can be taken back, or nothing if a file is none."""
    if path.endswith(".up.sql"):
        return [f"{path.removesuffix('.up.sql')}.down.sql" in every]
    text = every[path].decode("utf-8", "replace") if path.endswith(".sql") else ""
    return [_search("down", text) is not None] if _search("up", text) else []
