"""What the users of a project are given beside it: its dependencies, without those for developers."""

import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import PurePosixPath
from typing import NamedTuple, cast

from orchestrator.project.build_files.manifests import dependencies_in, manifest_of
from state.decoding import table_beside


class Given(NamedTuple):
    """The names of dependencies for users, and for developers alone.

    A name with `[]` stands for more parts of one, which may bring anything.
    """

    users: frozenset[str]
    developers: frozenset[str]


@cache
def known(table: str) -> Mapping[str, str]:
    """Return a table of `modules.yaml`."""
    return cast("Mapping[str, str]", table_beside(__file__, "modules.yaml")[table])


@cache
def words_of(table: str, name: str) -> frozenset[str]:
    """Return the words in a row of a table in small letters, none if it has no such row."""
    return frozenset(known(table).get(name, "").lower().split())


def kind_of(path: str) -> str:
    """Return the kind of project that a manifest belongs to, or ""."""
    name = PurePosixPath(path).name
    found = (kind for kind, pattern in known("kinds").items() if re.fullmatch(pattern, name))
    return next(found, "") if manifest_of(path) else ""


def given_by(kind: str, texts: Mapping[str, str]) -> Given | None:
    """Return what the manifests of a kind give, by path, or None if none says it, or one cannot be read."""
    users, developers, says = set[str](), set[str](), False
    paths = [path for path in texts if kind_of(path) == kind]
    is_gem = any(path.endswith(".gemspec") for path in paths)  # its users read that alone
    for path in paths:
        own = path if "requirements" in path else ""
        apart = bool(_has("developers", own)) or (is_gem and not path.endswith(".gemspec"))
        try:
            found = list(_placed(path, texts[path]))
        except ValueError:
            return None
        if kind == "python" and not apart:
            extras = re.findall(known("patterns")["extras"], texts[path])
            users |= {f"{re.sub(r'[-_.]+', '-', one).lower()}[]" for one in extras}
            if _has("elsewhere", texts[path]):
                return None
        says = says or kind != "python" or (not apart and bool(own or _has("complete", texts[path])))
        for keys, name in found:
            of_developers = apart or _has("developers", keys) or keys.startswith(".workspace")
            (developers if of_developers else users).add(name)
    return Given(frozenset(users), frozenset(developers - users)) if says else None


def _has(pattern: str, text: str) -> re.Match[str] | None:
    return re.search(known("patterns")[pattern], text, re.MULTILINE)


def _placed(path: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield what stands above or beside each dependency (keys, a group, its line), and its name."""
    if kind_of(path) != "ruby":
        yield from ((keys, name) for keys, name, _ in dependencies_in(path, text))
        return
    group = ""
    for line in text.splitlines():
        group = line if _has("group", line) else "" if line.strip() == "end" else group
        yield from ((f"{group} {line.replace(name, '')}", name) for _, name, _ in dependencies_in(path, line))


def modules_of(distribution: str) -> frozenset[str]:
    """Return the modules of a distribution of Python, in small letters, by the table or its name."""
    return words_of("modules", distribution) or frozenset({re.sub(r"[-.]", "_", distribution)})


def standard(kind: str) -> frozenset[str]:
    """Return the modules that a language has by itself, in small letters."""
    return words_of("standard", kind) | (sys.stdlib_module_names if kind == "python" else frozenset())
