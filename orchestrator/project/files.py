"""The files of a project: their names, the beginnings of those that matter, globs, and which hold tests.

Names and folders show tests here. A row of the table knows better which files its runner takes. These are for
runners that no row knows, and for sessions whose project is not read.
"""

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import Path, PurePosixPath

from state.safe_paths import files_inside, is_text, read_inside

MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg")  # of Python projects
# Folders whose content is third-party, generated, or an example of a project.
_SKIPPED = {
    *(
        "node_modules",
        "bower_components",
        "vendor",
        "third_party",
        "site-packages",
        "venv",
        "env",
        "virtualenv",
    ),
    *("__pycache__", "build", "dist", "target", "out", "_build", "deps", "Pods", "coverage", "htmlcov"),
    *("examples", "example", "samples", "fixtures", "testdata", "test_data", "templates", "docs"),
}
_THIRD_PARTY = frozenset({"node_modules", "vendor", "third_party", "site-packages"})
_GENERATED = re.compile(
    rb"@generated\b|\bcode generated\b.*\bdo not edit\b|\bautomatically generated\b", re.IGNORECASE
)
_HEAD = 1_000  # bytes of a file in which a generator says so
_HIDDEN_SHOWN = {".github", ".gitlab"}
_MOST_FILES = 20_000
_DEEPEST = 8
_MOST_READ = 1 << 18  # characters of one file: manifests are shorter, and a long file must not delay a run
_NOISE = frozenset({
    ".git", "node_modules", "vendor", "target", "build", "dist", "_build", "deps", ".venv", "venv", ".tox",
    ".nox", "__pycache__", ".eggs", "site-packages", ".gradle", ".hypothesis", ".pytest_cache",
    ".mypy_cache", "bin", "obj",
})  # fmt: skip
_MOST_WALKED = 50_000
_WILD = re.compile(r"[*?\[]")
_NAME = re.compile(
    r"^(?:tests?|specs?)(?:[._-]|$)|[._-](?:tests?|specs?)(?:[._-]|$)|^Tests?[A-Z]|[a-z0-9](?:Tests?|Spec)(?:\.|$)"
)
_OTHER_NAME = re.compile(r"^conftest\.|[a-z]IT\.|[._-]t\.|\.t$")
_FOLDERS = frozenset({"test", "tests", "spec", "specs", "__tests__", "t"})
_OTHER_FOLDERS = frozenset(
    {"testing", "fixtures", "testdata", "__mocks__", "e2e", "cypress", "features"} | _FOLDERS - {"t"}
)
_BESIDE = re.compile(
    r"(?:^|/)(?:fixtures?|helpers?|support|data|testdata|mocks?|__mocks__|snapshots?|__snapshots__|golden)(?:[./]|$)"
)
_NO_CODE = re.compile(
    r"\.(?:json|ya?ml|toml|ini|cfg|txt|md|rst|adoc|csv|tsv|xml|html?|css|svg|png|jpe?g|gif|snap|lock|log|out|golden)$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The files of a folder, by path relative to it with `/`. Links to folders are not followed."""

    folder: Path
    files: frozenset[str]

    def has(self, *names: str) -> bool:
        """Whether one of these files exists."""
        return any(name in self.files for name in names)

    def first(self, *names: str) -> str:
        """Return the first of these files that exists, or ""."""
        return next((name for name in names if name in self.files), "")

    def text(self, name: str) -> str:
        """Return the beginning of a file as text, or "" if it cannot be read or a link leads out."""
        if name not in self.files:
            return ""
        try:
            return read_inside(self.folder, name, limit=_MOST_READ).decode("utf-8-sig", errors="replace")
        except OSError:
            return ""

    def ending(self, *ends: str, under: str = "") -> list[str]:
        """Return the files whose name ends in this way, sorted. `under` is a folder with its `/`."""
        return sorted(name for name in self.files if name.endswith(ends) and name.startswith(under))

    def part(self, path: str) -> "Shown":
        """Return the files of a folder in this one."""
        prefix = f"{path}/"
        inside = frozenset(name.removeprefix(prefix) for name in self.files if name.startswith(prefix))
        return Shown(folder=self.folder / path, files=inside)

    def named(self, *names: str, deepest: int) -> list[str]:
        """Return the files of these names or globs that lie in this folder or in one not too deep in it."""
        plain = {name for name in names if not _WILD.search(name)}
        globs = [name for name in names if _WILD.search(name) and "/" not in name]
        lasts = ((path, path.rpartition("/")[2]) for path in self.files if path.count("/") <= deepest)
        return [path for path, name in lasts if name in plain or matches(name, globs)]

    def folders_with(self, *names: str, deepest: int) -> list[str]:
        """Return the folders in this one that hold a file of one of these names, outer ones first."""
        found = {path.rpartition("/")[0] for path in self.named(*names, deepest=deepest)} - {""}
        return sorted(found, key=lambda path: (path.count("/"), path))


def look(folder: Path) -> Shown:
    """Return the files of a folder, outer ones first, up to a limit."""
    files: set[str] = set()
    waiting = deque([("", 0)])
    while waiting and len(files) < _MOST_FILES:
        prefix, depth = waiting.popleft()
        for name, is_folder in _entries(folder / prefix):
            if not is_folder:
                files.add(prefix + name)
            elif depth < _DEEPEST and _is_entered(name):
                waiting.append((f"{prefix}{name}/", depth + 1))
    return Shown(folder=folder, files=frozenset(files))


def _entries(folder: Path) -> list[tuple[str, bool]]:
    """Return the names of the folders and files in a folder, and whether each is a folder."""
    try:
        with os.scandir(folder) as found:
            kinds = [(one.name, one.is_dir(follow_symlinks=False), one) for one in found if is_text(one.name)]
            return sorted((name, is_folder) for name, is_folder, one in kinds if is_folder or _is_file(one))
    except OSError:
        return []


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link that leads to itself
        return False


def _is_entered(name: str) -> bool:
    return name in _HIDDEN_SHOWN or not (name.startswith(".") or name in _SKIPPED)


def matches(path: str, globs: Iterable[str]) -> bool:
    """Whether a relative path matches one of the globs.

    A glob without a slash is compared with the name, at any depth. A glob with a slash is compared with the
    whole path. `**` stands for any number of folders.
    """
    return any(_pattern(glob).fullmatch(path) is not None for glob in globs)


def walked(folder: Path) -> Iterator[str]:
    """Yield the relative paths of the project's files, sorted, without files that tools made or fetched."""
    return files_inside(folder, skipped=_NOISE, most=_MOST_WALKED)


@lru_cache(maxsize=2048)
def _pattern(glob: str) -> re.Pattern[str]:
    text = glob.removeprefix("/")
    anchored = "/" in glob
    parts = re.split(r"(\*\*/|/\*\*$|\*\*|\*|\?|\[[^\]]*\])", text)
    translated = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    pattern = "".join(
        translated.get(part) or (part if part.startswith("[") and part.endswith("]") else re.escape(part))
        for part in parts
    )
    return re.compile(pattern if anchored else rf"(?:.*/)?{pattern}")


def is_test_file(path: str) -> bool:
    """Whether a relative path looks like a file of tests: by its name, or by its folder if it is code."""
    place = PurePosixPath(path)
    if place.name.startswith(("_", ".")) or _NO_CODE.search(place.name) or _BESIDE.search(path):
        return False
    return bool(_NAME.search(place.name)) or not _FOLDERS.isdisjoint(place.parts[:-1])


def is_code(path: str, content: bytes) -> bool:
    """Whether a file is code, a script or a build file: no data, document, picture or setting."""
    place = PurePosixPath(path)
    if b"\0" in content or _NO_CODE.search(place.name.lower()):
        return False
    is_build_file = "makefile" in place.name.lower() or place.name.lower() == "justfile"
    return is_build_file or content.startswith(b"#!") or (bool(place.suffix) and place.name[0] != ".")


def belongs_to_tests(path: str) -> bool:
    """Whether a file holds tests, or is of their kind: a fixture, a helper, a configuration."""
    place = PurePosixPath(path)
    if not _OTHER_FOLDERS.isdisjoint(part.lower() for part in place.parts[:-1]):
        return True
    names = (place.name, place.name.lower())
    return bool(place.suffix) and any(_NAME.search(one) or _OTHER_NAME.search(one) for one in names)


def third_party(path: str) -> bool:
    """Whether a file lies in a folder of packages that others wrote."""
    return not _THIRD_PARTY.isdisjoint(PurePosixPath(path).parts[:-1])


def written_here(
    before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Return the files of two trees without those of third parties and those that were generated before."""
    made = {path for path, content in before.items() if _GENERATED.search(content[:_HEAD])}
    made |= {path for path in (*before, *after) if third_party(path)}
    kept = [{path: one for path, one in each.items() if path not in made} for each in (before, after)]
    return kept[0], kept[1]


def changed_lines(old: bytes, new: bytes) -> Iterator[tuple[bytes, list[int]]]:
    """Yield each content with its lines, from 1, that the other lacks."""
    one, other = old.splitlines(), new.splitlines()
    codes = [
        each for each in SequenceMatcher(None, one, other, autojunk=False).get_opcodes() if each[0] != "equal"
    ]
    yield old, [line + 1 for each in codes for line in range(each[1], each[2])]
    yield new, [line + 1 for each in codes for line in range(each[3], each[4])]
