"""What changed product files import, against what their users have.

That is the language's own modules, the project's, and the dependencies of its manifests, without those for
developers. Only imports count that the base did not have, and that are made in every case.
"""

import re
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import PurePosixPath
from posixpath import normpath
from typing import NamedTuple

from agents.concurrency import aside
from orchestrator.checks.change import Change
from orchestrator.checks.objecting import imported
from orchestrator.checks.of_product.product import is_product, own_names, sources_of, texts_of
from orchestrator.git.trees import contents_at, files_in
from orchestrator.project.build_files.given import (
    Given,
    given_by,
    kind_of,
    known,
    modules_of,
    standard,
    words_of,
)
from orchestrator.project.functions.imports import imports_of
from orchestrator.project.functions.languages import language_of
from state.records.objections import Objection

_KIND = {"javascript": "node", "typescript": "node", "tsx": "node"}
_LEAST = 3  # letters of a name
_MOST_READ, _MOST_NAMED = 600, 10  # sources of the base, to see what it imports already; objections
# Deeper than at the top a folder with one of the first names may be the product's.
_OF_TEST_FOLDERS = re.compile(r"(?:test|specs?|(?:.*?/)??(?:tests|__tests__|__mocks__|conftest))(?=/|$)")
_FOR_TESTS = frozenset({"test", "tests", "testing", "mock", "mocks", "fake"})  # words in a path
_FOR_DEVELOPERS = "which the manifest lists for developers alone"
_UNNAMED = "which no manifest names"
_OF_TESTS = "which serves tests alone"


class Stranger(NamedTuple):
    """An import that users may not have, and why. `root` is the part of the name that decides."""

    path: str
    line: int
    name: str
    root: str
    why: str


class Project(NamedTuple):
    """What decides whether users have a module: the paths of a tree, its manifests and settings.

    `given` is by kind, and `own` are the names of its folders and sources.
    """

    paths: Collection[str]
    texts: Mapping[str, str]
    given: Mapping[str, Given | None]
    own: frozenset[str]


async def objections_to(change: Change) -> tuple[Objection, ...]:
    """Return the new imports of the work that its users may not have."""
    before, after = await sources_of(change)
    if not after:
        return ()
    every = await files_in(change.repository, change.own_tree)
    aliases = re.compile(known("patterns")["aliases"])
    read = await texts_of(change, lambda path: bool(kind_of(path) or aliases.search(path)))
    project = await aside(partial(_project, every, read), "the manifests of the work")
    found = await aside(partial(strangers_in, after, project), "the imports of the work")
    if not found:
        return ()
    suffixes = {PurePosixPath(one.path).suffix for one in found}
    others = [one for one in await files_in(change.repository, change.base) if is_product(one)]
    others = [one for one in others if PurePosixPath(one).suffix in suffixes][:_MOST_READ]
    base = {**await contents_at(change.repository, change.base, others), **before}
    usual = await aside(partial(strangers_in, base, project), "the imports of the base")
    roots, habits = {one.root for one in usual}, {one.why for one in usual} - {_OF_TESTS}
    left = [one for one in found if one.root not in roots and one.why not in habits]
    return tuple(imported(one.path, one.line, one.name, one.why) for one in left[:_MOST_NAMED])


def _project(paths: Collection[str], texts: Mapping[str, str]) -> Project:
    return Project(paths, texts, {kind: given_by(kind, texts) for kind in _ASKED}, own_names(paths))


def strangers_in(sources: Mapping[str, bytes], project: Project) -> list[Stranger]:
    """Return the imports of sources that users may not have, if the manifests can say so for certain.

    Left out are sources for tests, files at the top that no package has, and those named for what they
    import: only who has that loads them.
    """
    found = list[Stranger]()
    for path, content in sources.items():
        language, stem = language_of(path), PurePosixPath(path).stem
        kind = _KIND.get(language.name, language.name) if language else ""
        given = project.given.get(kind)
        package = project.texts.get("package.json", "") if kind == "node" and "/" not in path else ""
        is_beside = '"files"' in package and stem not in package
        if given is None or is_beside or not _FOR_TESTS.isdisjoint(re.split(r"\W+|_", path.lower())):
            continue
        loaded = [*imports_of(path, content)]
        roots = {re.split(r"[./]", name)[0].lower() for name, _ in loaded} - standard(kind)
        if any(len(root) >= _LEAST and root in stem.lower() for root in roots):
            continue
        for name, line in loaded:
            if tests := _leads_to_tests(name, path, kind, project):
                found.append(Stranger(path, line, name, tests, _OF_TESTS))
            elif (root := re.match(known("roots")[kind], name)) and (
                why := _ASKED[kind](root[0] if kind in {"python", "node"} else name, given, project)
            ):
                found.append(Stranger(path, line, name, root[0], why))
    return found


def _leads_to_tests(name: str, path: str, kind: str, project: Project) -> str:
    """Return the folder of tests in the repository to which the name of a module leads, or ""."""
    dots, place = len(name) - len(name.lstrip(".")), ""
    if kind == "python":
        above = PurePosixPath(path).parts[:-dots] if dots else ()
        place = "/".join((*above, *name.lstrip(".").split(".")))
    elif kind == "node" and dots:
        place = normpath(PurePosixPath(path).parent / name)
    head = found[0] if (found := _OF_TEST_FOLDERS.match(place)) else ""
    beginnings = (f"{head}/", f"src/{head}/", f"{head}.py")
    return head if any(one.startswith(beginnings) for one in project.paths) else ""


def _python(module: str, given: Given, project: Project) -> str:
    name = module.lower()
    listed = {re.sub(r"[-.\[\]]", "_", one) for one in (*given.users, *given.developers)}
    if name in standard("python") | project.own or any(one.startswith(f"{name}_") for one in listed):
        return ""
    there, waiting = set[str](), list(given.users)
    while waiting:
        if (one := waiting.pop()) not in there:
            there.add(one)
            waiting.extend(words_of("brings", one))
    is_elsewhere = any(not kind_of(path) and name in text.lower() for path, text in project.texts.items())
    if is_elsewhere or any(name in modules_of(one) for one in there):
        return ""
    if any(name in modules_of(one) for one in given.developers):
        return _FOR_DEVELOPERS
    return _UNNAMED if given.users <= known("brings").keys() else ""


def _node(package: str, given: Given, project: Project) -> str:
    first = package.partition("/")[0]
    is_name = re.fullmatch(r"@[\w-]+/[\w.-]+|[a-z][\w.-]*", package)
    if not is_name or package in standard("node") or first.lstrip("@") in words_of("others", "hosts"):
        return ""
    typed = f"@types/{package.lstrip('@').replace('/', '__')}"
    own = re.compile(rf'"name"\s*:\s*"{re.escape(package)}"')
    alias = re.compile(rf"[\"'`/]{re.escape(first)}[\"'`/*]")
    if {package, typed} & given.users or any(
        (own if path.endswith("package.json") else alias).search(text) for path, text in project.texts.items()
    ):
        return ""
    if package in given.developers:
        return "" if words_of("others", "bundlers") & given.developers else _FOR_DEVELOPERS
    return "" if typed in given.developers or first.lower() in project.own else _UNNAMED


def _go(name: str, given: Given, project: Project) -> str:
    own = [one for text in project.texts.values() for one in re.findall(r"(?m)^module\s+(\S+)", text)]
    if "." not in name.partition("/")[0] or _is_below(name, own):
        return ""
    if _is_below(name.lower(), words_of("others", "of_tests")):
        return _OF_TESTS
    return "" if _is_below(name, given.users) else _UNNAMED


def _is_below(name: str, modules: Collection[str]) -> bool:
    return any(name == one or name.startswith(f"{one}/") for one in modules)


def _rust(name: str, given: Given, project: Project) -> str:
    users, developers = ({one.replace("-", "_") for one in each} for each in given)
    return _FOR_DEVELOPERS if name in developers - users - project.own else ""


def _ruby(name: str, given: Given, project: Project) -> str:
    root = name.partition("/")[0].lower()
    plain, short = re.sub(r"[-_/]", "", name).lower(), re.sub(r"[-_]", "", root)
    users, developers = ({re.sub(r"[-_]", "", one).lower() for one in each} for each in given)
    is_given = any(plain.startswith(one) or one.startswith(short) for one in users)
    if is_given or root in standard("ruby") | project.own:
        return ""
    return _FOR_DEVELOPERS if {plain, short} & developers else ""


_ASKED = {"python": _python, "node": _node, "go": _go, "rust": _rust, "ruby": _ruby}
