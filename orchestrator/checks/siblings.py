"""Data files that belong together: the keys of translations and of other files of one form, and migrations.

What a work adds to one of them the others have too, if they had all of its keys before. A migration can be
taken back where every other one can.
"""

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from agents.concurrency import aside
from orchestrator.checks.change import Change
from orchestrator.checks.objecting import lacks_a_key, lacks_a_way_back
from orchestrator.git.trees import changed_paths, contents_at, files_in
from orchestrator.project.build_files.yaml_text import read_yaml
from orchestrator.project.files import belongs_to_tests, third_party
from state.decoding import table_beside
from state.records.objections import Objection

_MOST_FILES, _MOST_NAMED = 400, 10
_LEAST_KEYS, _LEAST_OF_ONE_FORM = 2, 4
_DEEP = 3  # folders above a file of which one may name the language: `de/LC_MESSAGES/app.po`
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


class Family(NamedTuple):
    """What the paths of files that belong together share, with `*` where they differ."""

    form: str
    is_text: bool


async def objections_to(change: Change) -> tuple[Objection, ...]:
    """Return what speaks against the data files that the work changed, and the migrations that it added."""
    every = await files_in(change.repository, change.own_tree)
    changed = await changed_paths(change.repository, change.base, change.own_tree)
    looked = related(every, changed)
    before = await contents_at(change.repository, change.base, looked)
    after = await contents_at(change.repository, change.own_tree, looked)
    asked = () if _words("services") & {*every} else changed
    found = await aside(partial(unlike, before, after, asked, change.spec), "the data files of the work")
    one_way = map(lacks_a_way_back, without_a_way_back(before, after))
    return (*(lacks_a_key(*one) for one in found[:_MOST_NAMED]), *one_way)


def related(every: Iterable[str], changed: Collection[str]) -> list[str]:
    """Return the files of all families and folders of migrations in which one changed, if not too many."""
    touched: set[object] = {one for path in changed for one in families(path)}
    touched |= {PurePosixPath(path).parent for path in changed if path.endswith(".sql")}
    found = [
        path
        for path in every
        if not touched.isdisjoint(families(path))
        or (path.endswith(".sql") and PurePosixPath(path).parent in touched)
    ]
    return list(dict.fromkeys((*found, *changed))) if len(found) <= _MOST_FILES else []


def families(path: str) -> dict[Family, str]:
    """Return the families to which a data file may belong, each with what the file has in place of `*`."""
    place = PurePosixPath(path)
    of_data = place.suffix in _DATA or place.suffix in _table()["keys"]
    if not of_data or third_party(path) or _search("tools", place.name):
        return {}
    found, stem, folder = dict[Family, str](), place.stem, place.parent
    named = _search("in a name", stem)
    if _is_language(stem):
        found[Family(f"{folder}/*{place.suffix}", is_text=True)] = stem
    elif named and _is_language(named[2]):
        found[Family(f"{folder}/{named[1]}*{place.suffix}", is_text=True)] = named[2]
    else:
        found[Family(f"{folder}/{stem}*{place.suffix}", is_text=True)] = ""
        found[Family(f"{folder}/*{place.suffix}", is_text=False)] = stem
    for at in range(max(0, len(place.parts) - 1 - _DEEP), len(place.parts) - 1):
        if _is_language(place.parts[at]):
            form = "/".join((*place.parts[:at], "*", *place.parts[at + 1 :]))
            found[Family(form, is_text=True)] = place.parts[at]
    return found


def _is_language(name: str) -> bool:
    match = _search("language", name)
    return bool(match and match[1] in _words("languages"))


def unlike(
    before: Mapping[str, bytes], after: Mapping[str, bytes], changed: Collection[str], spec: str = ""
) -> list[tuple[str, str, str]]:
    """Return the keys that a file lacks now: its path, the key, and a file of its family that has it."""
    members = defaultdict[Family, dict[str, str]](dict)
    for path in after:
        for family, own in families(path).items():
            members[family][path] = own
    found: dict[tuple[str, str], str] = {}
    for family, names in members.items():
        if len(names) > 1 and not {*names}.isdisjoint(changed):
            olds = {path: keys_in(path, before[path], own) for path, own in names.items() if path in before}
            news = {path: keys_in(path, after[path], own) for path, own in names.items()}
            alone = {
                path for path, own in names.items() if _is_alone(spec, own or path, always=not family.is_text)
            }
            for path, key, other in (_behind if family.is_text else _apart)(olds, news):
                if not alone & {path, other}:
                    found.setdefault((path, key), other)
    return [(path, key, other) for (path, key), other in sorted(found.items())]


def _behind(olds: Mapping[str, _Keys], news: Mapping[str, _Keys]) -> Iterator[tuple[str, str, str]]:
    """Yield what translations lack that had, before, all keys of the one that has it."""
    both = [path for path in olds if len(olds[path]) >= _LEAST_KEYS and news[path]]
    for path in both:
        for other in both:
            if olds[path] <= olds[other]:
                yield from ((other, key, path) for key in news[path] - olds[path] - news[other] - olds[other])
            if olds[path] == olds[other]:
                yield from ((path, key, other) for key in (olds[path] - news[path]) & news[other])
    if len(both) > 1 and len({olds[path] for path in both}) == 1:
        whole = olds[both[0]] & news[both[0]]
        for path in news:
            if path not in olds and news[path] and not _search("region", path):
                yield from ((path, key, both[0]) for key in whole - news[path])


def _apart(olds: Mapping[str, _Keys], news: Mapping[str, _Keys]) -> Iterator[tuple[str, str, str]]:
    """Yield the keys in which one file differs from all others of its form, which all had the same before.

    Files of tests may each have a form of their own: there only a key counts that was forgotten in one.
    """
    both = [path for path in olds if olds[path] and news[path]]
    of_settings = any({*re.split(r"[._/-]", path.lower())} & _words("overlays") for path in both)
    if len(both) < _LEAST_OF_ONE_FORM or len({olds[path] for path in both}) > 1 or of_settings:
        return
    for key in sorted(olds[both[0]].union(*(news[path] for path in both))):
        having = [path for path in both if key in news[path]]
        lacking = [path for path in both if path not in having]
        forgotten = len(lacking) == 1 and key not in olds[both[0]]
        if forgotten or (1 in {len(having), len(lacking)} and not any(map(belongs_to_tests, both))):
            yield lacking[0], key, having[0]


def _is_alone(spec: str, name: str, *, always: bool) -> bool:
    """Whether a line of the spec says that only this file is meant. `always`: it need only name it."""
    stem = re.compile(rf"(?<![\w-]){re.escape(PurePosixPath(name).stem)}(?![\w-])")
    lines = [line for line in spec.splitlines() if stem.search(line)]
    return any(always or _search("alone", line) for line in lines)


def keys_in(path: str, content: bytes, own: str = "") -> _Keys:
    """Return the keys of a data file, joined with dots, none if it cannot be read or is a list.

    Notes for people and the forms of a plural do not count, nor does a language (`own`) above all others.
    """
    text, suffix = content.decode("utf-8-sig", "replace"), PurePosixPath(path).suffix
    if pattern := _table()["keys"].get(suffix):
        found = {one.strip('"\n') for one in re.findall(pattern, text)}
    else:
        try:
            data = _DATA[suffix](text)
        except (ValueError, RecursionError):
            return frozenset()
        data = data.get(own, data) if isinstance(data, dict) and len(data) == 1 else data
        found = {*_flat(data)} if isinstance(data, dict) else set()
    plain = {re.sub(_table()["patterns"]["plural"], "", one) for one in found}
    return frozenset(one for one in plain if one and one[0] not in "@$_#")


def _flat(data: Mapping[object, object]) -> Iterator[str]:
    waiting: list[tuple[str, object]] = [(str(key), value) for key, value in data.items()]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict) and value:
            waiting.extend((f"{name}.{key}", inner) for key, inner in value.items())
        else:
            yield name


def without_a_way_back(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[str]:
    """Return the new migrations without a way back, in folders in which each one of the base has it."""
    folders = defaultdict[PurePosixPath, list[bool]](list)
    for path in before:
        if (has := _has_a_way_back(path, before)) is not None:
            folders[PurePosixPath(path).parent].append(has)
    new = [path for path in after if path not in before and _has_a_way_back(path, after) is False]
    return [path for path in new if all(folders.get(PurePosixPath(path).parent, [False]))]


def _has_a_way_back(path: str, every: Mapping[str, bytes]) -> bool | None:
    if path.endswith(".up.sql"):
        return f"{path.removesuffix('.up.sql')}.down.sql" in every
    text = every[path].decode("utf-8", "replace") if path.endswith(".sql") else ""
    return _search("down", text) is not None if _search("up", text) else None
