"""Manifests and lock files: the dependencies that they name, and the parts that decide how tests are run.

A file is data of an agent: one that cannot be read is named, and nothing in it is run or expanded.
"""

import ast
import configparser
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatch
from functools import cache
from pathlib import PurePosixPath
from typing import Any
from xml.etree import ElementTree as ET

import msgspec

from orchestrator.project.build_files.yaml_text import read_yaml
from state.decoding import table_beside
from state.records.work import WorkFacts

_PYTHON = re.compile(
    r"(?:pyproject\.toml|setup\.(?:cfg|py)|Pipfile.*|.*requirements.*|(?:uv|poetry|pdm)\.lock)"
)
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?(.*)", re.DOTALL)
_THIRD_PARTY = frozenset({"node_modules", "vendor", "third_party", "site-packages", ".venv"})
_LONGEST = 20_000_000  # characters of a lock file


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A row. The head of `dependencies.yaml` describes the fields."""

    form: str
    tables: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    own: str = ""
    lock: bool = False


@cache
def _rows() -> dict[str, Manifest]:
    return msgspec.convert(table_beside(__file__, "dependencies.yaml"), dict[str, Manifest])


def manifest_of(path: str) -> Manifest | None:
    """Return the row of a file, or None if it names no dependencies, or is not the project's own."""
    place = PurePosixPath(path)
    if not _THIRD_PARTY.isdisjoint(place.parts[:-1]):
        return None
    return next((row for glob, row in _rows().items() if fnmatch(place.name, glob)), None)


def dependency_changes(before: Mapping[str, str], after: Mapping[str, str]) -> WorkFacts:
    """Return how the dependencies in these files differ: texts by path, as they were and as they are.

    Those in lock files alone are there with all that they need themselves.
    """
    unread: dict[str, None] = {}
    old, new = _all(before, unread), _all(after, unread)
    known = {*old, *new, *_all(before, unread, lock=True)}
    return WorkFacts(
        added=tuple(sorted(new.keys() - old.keys())),
        removed=tuple(sorted(old.keys() - new.keys())),
        changed=tuple(sorted(name for name in old.keys() & new.keys() if old[name] != new[name])),
        locked=tuple(sorted(_all(after, unread, lock=True).keys() - known)),
        unread=tuple(unread),
    )


def _all(texts: Mapping[str, str], unread: dict[str, None], *, lock: bool = False) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for path, text in texts.items():
        row = manifest_of(path)
        if row is None or row.lock is not lock:
            continue
        try:
            for _, name, version in dependencies_in(path, text):
                found.setdefault(name, []).append(version)
        except ValueError:
            unread[path] = None
    return {name: " ".join(sorted(versions)) for name, versions in found.items()}


def dependencies_in(path: str, text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the dependencies in a file: the keys above each, its name, the rest of its requirement.

    Keys are joined with dots, as in `.project.dependencies`. In a text that is no table they are "".

    Raises:
        ValueError: it cannot be read.
    """
    row = manifest_of(path)
    if row is None:
        return
    if len(text) > _LONGEST:
        raise ValueError(f"{path} is too long")
    python = _PYTHON.fullmatch(PurePosixPath(path).name) is not None
    try:
        found = list(_FORMS.get(row.form, _of_data)(row, text))
    except (SyntaxError, ET.ParseError, configparser.Error, RecursionError, MemoryError) as error:
        raise ValueError(f"{path} could not be read: {error}") from error
    for keys, name, version in found:
        plain = re.sub(r"[-_.]+", "-", name).lower() if python else name
        if plain and plain not in {"python", "php"} and not plain.startswith("ext-"):
            yield keys, plain, " ".join(version.split())


_Placed = Iterator[tuple[str, str, str]]


def _of_text(row: Manifest, text: str) -> _Placed:
    for pattern in row.patterns:
        for match in re.finditer(pattern, text, re.MULTILINE):
            yield "", match["name"], match.groupdict().get("version") or ""


def _of_data(row: Manifest, text: str) -> _Placed:
    data = _READERS[row.form](text)
    for keys, table in _each(data, row.tables):
        for name, value in table.items() if isinstance(table, dict) else ():
            yield from ((keys, *one) for one in _of_table(str(name), value))
    for keys, node in _each(data, row.lists):
        for one in node.splitlines() if isinstance(node, str) else node if isinstance(node, list) else ():
            if isinstance(one, str) and (match := _REQUIREMENT.match(one)):
                yield keys, match[1], match[2]
    for keys, node in _each(data, row.records):
        for one in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            yield from ((keys, *each) for each in _of_record(one, row.own))


def _of_table(name: str, value: object) -> Iterator[tuple[str, str]]:
    """Yield an entry of a table. In lock files of npm only folders of other packages count."""
    if "node_modules/" in name:
        name = name.rsplit("node_modules/", maxsplit=1)[1]
    elif isinstance(value, dict) and (not name or ("/" in name and not name.startswith("@"))):
        return
    if isinstance(value, dict):
        if value.get("link"):
            return
        name = str(value.get("package", value.get("id", name)))
        value = value.get("version", value.get("git", value.get("path", "")))
    yield name, str(value)


def _of_record(one: object, own: str) -> Iterator[tuple[str, str]]:
    if isinstance(one, str):  # in a catalogue of Gradle
        name, _, version = one.rpartition(":")
        yield name, version
    if not isinstance(one, dict):
        return
    source = one.get("source")
    is_own = isinstance(source, dict) and not {*own.split("|")}.isdisjoint(source)
    if not is_own and not (own == "no source" and source is None):
        group = f"{one['group']}:" if "group" in one else ""
        yield str(one.get("module", f"{group}{one.get('name', '')}")), str(one.get("version", ""))


def _of_xml(row: Manifest, text: str) -> _Placed:
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("it declares entities")
    for element in ET.fromstring(text).iter():  # noqa: S314  without declarations nothing is expanded
        tag = str(element.tag).rpartition("}")[2]
        if tag not in row.records:
            continue
        inside = {str(one.tag).rpartition("}")[2]: (one.text or "").strip() for one in element}
        facts = {**inside, **element.attrib}
        name = next((facts[key] for key in ("Include", "Update", "id", "artifactId") if key in facts), "")
        group = facts.get("groupId", "org.apache.maven.plugins" if tag == "plugin" else "")
        yield "", f"{group}:{name}" if group else name, facts.get("Version", facts.get("version", ""))


def _each(data: object, paths: tuple[str, ...]) -> Iterator[tuple[str, object]]:
    for path in paths:
        yield from _at(data, path.split("."))


def _at(node: object, path: list[str], above: str = "") -> Iterator[tuple[str, object]]:
    """Yield the values at a path of keys, after the keys. One may hold a dot: `options.extras_require`."""
    if not path:
        yield above, node
    elif isinstance(node, dict):
        for key in node if path[0] == "*" else [path[0]] if path[0] in node else []:
            yield from _at(node[key], path[1:], f"{above}.{key}")
        if (joined := ".".join(path[:2])) in node and joined != path[0]:
            yield from _at(node[joined], path[2:], f"{above}.{joined}")


def _ini(text: str) -> object:
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    return {section: dict(parser.items(section)) for section in parser.sections()}


def _python(text: str) -> object:
    """Return the literal arguments of the calls in a source. Others cannot be read."""
    found: dict[str, object] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.keyword) and node.arg and node.arg.endswith(("_requires", "_require")):
            found[node.arg] = ast.literal_eval(node.value)
    return found


_READERS: Mapping[str, Callable[[str], object]] = {
    "toml": tomllib.loads,
    "json": json.loads,
    "yaml": read_yaml,
    "ini": _ini,
    "python": _python,
}
_FORMS: Mapping[str, Callable[[Manifest, str], _Placed]] = {
    "text": _of_text,
    "xml": _of_xml,
}


_PRODUCT_KEYS = frozenset({
    "name", "version", "description", "keywords", "homepage", "bugs", "license", "author", "authors",
    "contributors", "repository", "private", "type", "main", "module", "browser", "types", "typings",
    "exports", "bin", "files", "engines", "os", "cpu", "workspaces", "packageManager", "dependencies",
    "devDependencies", "peerDependencies", "optionalDependencies", "bundledDependencies", "overrides",
    "resolutions", "require", "require-dev", "autoload", "autoload-dev", "repositories",
    "minimum-stability", "prefer-stable",
})  # fmt: skip
_HEADER = re.compile(r"\s*\[+\s*([^\]]+?)\s*\]+\s*(?:#.*)?$")
_OF_TESTS = re.compile(
    r"tool\.(?!poetry|uv\b|pdm\.(?!scripts)|setuptools|flit|maturin|scikit-build|hatch\.(?:build|metadata|version))"
    r"|.*pytest11|tool:pytest|pytest|tox\b|testenv|coverage|unittest|envs?\.|lib$|tests?$|bench$|profile\."
)
_SWITCH = re.compile(r"\s*(?:autotests|test|doctest|harness)\s*=")  # of Cargo


def with_base_parts(path: str, base: str, now: str) -> str:
    """Return a manifest with the parts of the base that decide how tests are run, and else as it is now.

    It is returned as it is if nothing is known of its kind or if one of the two cannot be read.
    """
    match PurePosixPath(path).name:
        case "package.json" | "composer.json":
            return _json(base, now)
        case "pyproject.toml" | "Cargo.toml" | "setup.cfg" | "tox.ini" | "hatch.toml":
            return _sections(base, now)
    return now


def _json(base: str, now: str) -> str:
    try:
        before, after = json.loads(base or "{}"), json.loads(now)
    except (ValueError, RecursionError):
        return now
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return now
    merged = {key: value for key, value in after.items() if key in _PRODUCT_KEYS}
    merged |= {key: value for key, value in before.items() if key not in _PRODUCT_KEYS}
    merged["scripts"] = _scripts(before.get("scripts"), after.get("scripts"))
    return now if merged == {"scripts": {}, **after} else json.dumps(merged, indent=2)


def _scripts(before: Any, after: Any) -> dict[str, Any]:  # noqa: ANN401  whatever stands there
    """Return the scripts of the base, and new ones that none of them runs by itself."""
    kept = dict(before) if isinstance(before, dict) else {}
    added = after if isinstance(after, dict) else {}
    hooks = {f"{when}{name}" for name in kept for when in ("pre", "post", "pre-", "post-")}
    return {**{name: line for name, line in added.items() if name not in hooks}, **kept}


def _sections(base: str, now: str) -> str:
    theirs = {line for _, lines in _split(base) for line in lines}
    product = [
        line
        for name, lines in _split(now)
        for line in lines
        if not _OF_TESTS.match(name) and (not _SWITCH.match(line) or line in theirs)
    ]
    of_tests = [line for name, lines in _split(base) for line in lines if _OF_TESTS.match(name)]
    now_of_tests = [line for name, lines in _split(now) for line in lines if _OF_TESTS.match(name)]
    same = [line for line in of_tests if line.strip()] == [line for line in now_of_tests if line.strip()]
    if same and len(product) + len(now_of_tests) == len(now.splitlines()):
        return now
    return "\n".join([*product, *of_tests, ""])


def _split(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each section and its lines with the header. The first name is ""."""
    name, lines = "", list[str]()
    for line in text.splitlines():
        if header := _HEADER.match(line):
            yield name, lines
            name, lines = header[1].replace('"', "").replace("'", ""), []
        lines.append(line)
    yield name, lines
