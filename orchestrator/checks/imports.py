"""What changed product files import, against what their users have.

That is the language's own modules, the project's, and the dependencies of its manifests, without those for
developers. Only imports count that the base did not have, and that are made in every case.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import PurePosixPath
from posixpath import normpath
from typing import NamedTuple

from agents.concurrency import aside
from orchestrator.checks.change import Change
from orchestrator.checks.objecting import imported
from orchestrator.checks.product import is_product, own_names, sources_of
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
from orchestrator.project.files import belongs_to_tests, third_party
from orchestrator.project.functions.imports import imports_of
from orchestrator.project.functions.languages import language_of
from state.records.objections import Objection

_KIND = {"javascript": "node", "typescript": "node", "tsx": "node"}
_LEAST = 3  # letters of a name
_MOST_READ, _MOST_NAMED = 600, 10  # sources of the base, to see what it imports already; objections
_TEST_FOLDERS = frozenset({"tests", "__tests__", "__mocks__", "conftest"})
_AT_THE_TOP = frozenset({"test", "spec", "specs"})  # deeper a folder of this name may be the product's
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


@dataclass(frozen=True, kw_only=True)
class Project:
    """What decides whether users have a module: the paths of a tree, its manifests and settings."""

    paths: Collection[str] = ()
    texts: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def given(self) -> Mapping[str, Given | None]:
        """What users are given, by kind."""
        return {kind: given_by(kind, self.texts) for kind in _ASKED}

    @cached_property
    def own(self) -> frozenset[str]:
        """The names of its folders and sources."""
        return own_names(self.paths)


async def objections_to(change: Change) -> tuple[Objection, ...]:
    """Return the new imports of the work that its users may not have."""
    before, after = await sources_of(change)
    every = await files_in(change.repository, change.own_tree) if after else []
    kept = [path for path in every if not (belongs_to_tests(path) or third_party(path) or "example" in path)]
    kept = [path for path in kept if kind_of(path) or re.search(known("aliases")[""], path)]
    texts = await contents_at(change.repository, change.own_tree, kept)
    read = {path: texts.get(path, b"{").decode("utf-8-sig", "replace") for path in kept}
    project = Project(paths=every, texts=read)
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
    return tuple(imported(f"{one.path}:{one.line}", one.name, one.why) for one in left[:_MOST_NAMED])


def strangers_in(sources: Mapping[str, bytes], project: Project) -> list[Stranger]:
    """Return the imports of sources that users may not have.

    Left out are sources for tests, files at the top that no package has, and those named for what they
    import: only who has that loads them.
    """
    found = list[Stranger]()
    for path, content in sources.items():
        kind, stem = _kind(path), PurePosixPath(path).stem
        package = project.texts.get("package.json", "") if kind == "node" and "/" not in path else ""
        is_beside = '"files"' in package and stem not in package
        if is_beside or not _FOR_TESTS.isdisjoint(re.split(r"\W+|_", path.lower())):
            continue
        roots = {re.split(r"[./]", name)[0].lower() for name, _ in imports_of(path, content)}
        roots -= {"", *standard(kind)}
        if not any(len(root) >= _LEAST and root in stem.lower() for root in roots):
            found += strangers(path, content, project)
    return found


def _kind(path: str) -> str:
    language = language_of(path)
    return _KIND.get(language.name, language.name) if language else ""


def strangers(path: str, content: bytes, project: Project) -> Iterator[Stranger]:
    """Yield the imports of a source that users may not have, if its manifests can say so for certain."""
    kind = _kind(path)
    given = project.given.get(kind)
    for name, line in imports_of(path, content) if given else ():
        root = _leads_to_tests(name, path, kind, project)
        why = _OF_TESTS if root else ""
        if not root and not name.startswith(".") and given:
            root, why = _ASKED[kind](name, given, project)
        if why:
            yield Stranger(path, line, name, root, why)


def _leads_to_tests(name: str, path: str, kind: str, project: Project) -> str:
    """Return the folder of tests in the repository to which the name of a module leads, or ""."""
    dots = len(name) - len(name.lstrip("."))
    place = name
    if kind == "python":
        above = PurePosixPath(path).parts[:-dots] if dots else ()
        place = "/".join((*above, *name.lstrip(".").split(".")))
    elif kind == "node":
        place = normpath(PurePosixPath(path).parent / name) if dots else ""
    parts = place.split("/")
    at = [nth for nth, one in enumerate(parts) if one in _TEST_FOLDERS or (not nth and one in _AT_THE_TOP)]
    head = "/".join(parts[: at[0] + 1]) if at and kind in {"python", "node"} else ""
    heads = (f"{head}/", f"src/{head}/", f"{head}.py" if head.endswith("conftest") else f"{head}/")
    return head if head and any(one.startswith(heads) for one in project.paths) else ""


_Said = tuple[str, str]  # the part of the name that decides, and why users may not have it, or ""


def _python(name: str, given: Given, project: Project) -> _Said:
    root = name.partition(".")[0]
    module = root.lower()
    listed = {re.sub(r"[-.\[\]]", "_", one) for one in (*given.users, *given.developers)}
    if module in standard("python") | project.own or any(one.startswith(f"{module}_") for one in listed):
        return root, ""
    there, waiting = set[str](), list(given.users)
    while waiting:
        if (one := waiting.pop()) not in there:
            there.add(one)
            waiting.extend(words_of("brings", one))
    by_table = {one for one in known("modules") if module in modules_of(one)} | {module.replace("_", "-")}
    if by_table & there or any(module in modules_of(one) for one in there):
        return root, ""
    unclear = {one for one in given.users if one not in known("brings")}
    unclear |= {path for path, text in project.texts.items() if not kind_of(path) and module in text.lower()}
    if any(one in by_table or module in modules_of(one) for one in given.developers):
        plain = {re.sub(r"[-_.\[\]]", "", one) for one in unclear}
        short = module.replace("_", "")
        return root, "" if any(one in short or short in one for one in plain) else _FOR_DEVELOPERS
    return root, "" if unclear else _UNNAMED


def _node(name: str, given: Given, project: Project) -> _Said:
    root = "/".join(name.split("/")[: 2 if name.startswith("@") else 1])
    first = root.partition("/")[0]
    is_name = re.fullmatch(r"@[\w-]+/[\w.-]+|[a-z][\w.-]*", root)
    if not is_name or root in standard("node") or first.lstrip("@") in words_of("hosts"):
        return root, ""
    typed = f"@types/{root.lstrip('@').replace('/', '__')}"
    alias = re.compile(rf"[\"'`/]{re.escape(first)}[\"'`/*]")
    others = [text for path, text in project.texts.items() if not path.endswith("package.json")]
    names = [text for path, text in project.texts.items() if path.endswith("package.json")]
    is_own = any(re.search(rf'"name"\s*:\s*"{re.escape(root)}"', text) for text in names)
    if {root, typed} & given.users or is_own or any(map(alias.search, others)):
        return root, ""
    if root in given.developers:
        return root, "" if words_of("bundlers") & given.developers else _FOR_DEVELOPERS
    return root, "" if typed in given.developers or first.lower() in project.own else _UNNAMED


def _go(name: str, given: Given, project: Project) -> _Said:
    own = [one for text in project.texts.values() for one in re.findall(r"(?m)^module\s+(\S+)", text)]
    if "." not in name.partition("/")[0] or _is_below(name, own):
        return name, ""
    if of_tests := [one for one in words_of("of_tests") if _is_below(name.lower(), [one])]:
        return of_tests[0], _OF_TESTS
    return name, "" if _is_below(name, given.users) else _UNNAMED


def _is_below(name: str, modules: Collection[str]) -> bool:
    return any(name == one or name.startswith(f"{one}/") for one in modules)


def _rust(name: str, given: Given, project: Project) -> _Said:
    users, developers = ({one.replace("-", "_") for one in each} for each in given)
    return name, _FOR_DEVELOPERS if name in developers - users - project.own else ""


def _ruby(name: str, given: Given, project: Project) -> _Said:
    root = name.partition("/")[0]
    if root.lower() in standard("ruby") | project.own:
        return root, ""
    plain, short = (re.sub(r"[-_/]", "", one).lower() for one in (name, root))
    users, developers = ({re.sub(r"[-_]", "", one).lower() for one in each} for each in given)
    if any(plain.startswith(one) or one.startswith(short) for one in users):
        return root, ""
    return root, _FOR_DEVELOPERS if {plain, short} & developers else ""


_ASKED = {"python": _python, "node": _node, "go": _go, "rust": _rust, "ruby": _ruby}
