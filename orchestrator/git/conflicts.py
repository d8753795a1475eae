"""Conflicts of a merge: two additions at one place are united, and left-over markers are found.

If both sides only added lines at one place, both additions stay whole, also if both begin with the same line.
Git treats that as a conflict, for instance if two tasks append to one file of tests. The verification decides
whether the result is right. A file with any other conflict is left as it is. Markers are distinguished from
intended lines of that form.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from agents.process.sandbox.repository import MARKED_INDEX
from orchestrator.git.command import git
from orchestrator.git.locks import git_dir, in_worktree
from orchestrator.git.trees import changed_paths
from state.errors import GitError

_MARKER = 43  # characters of a marker: longer than any line of this form in files
_OURS, _BASE, _SPLIT, _THEIRS = (sign * _MARKER for sign in (b"<", b"|", b"=", b">"))
_FILES = {"100644", "100755"}
_LARGEST = 4 << 20
# In these files two additions at one place would break the format, or their order matters.
_FORMS = {
    *(
        ".json",
        ".jsonc",
        ".json5",
        ".lock",
        ".lockb",
        ".yaml",
        ".yml",
        ".xml",
        ".plist",
        ".pbxproj",
        ".svg",
        ".ipynb",
    ),
    *(".csproj", ".sln", ".patch", ".diff"),
}
# In these files two parts that begin with the same heading are meant to be one.
_SECTIONED = {"", ".md", ".rst", ".adoc", ".txt", ".toml", ".ini", ".cfg", ".conf", ".properties"}
_IMPORT = re.compile(rb"\s*(?:import|from|use|using|#include|require|package)\b")
_DEFINED = re.compile(
    rb"^([ \t]*)(?:(?:export|default|public|private|protected|static|pub|async|abstract|final)\s+)*"
    rb"(?:def|class|func|function|fn|fun|sub|struct|enum|interface|trait|type|module|const|let|var)\s+(\w+)"
)
_MARKER_LINE = re.compile(r"(<{7,}|>{7,})(\s|$)|\|{7,} \S")
_DIVIDER = "=" * 7


@dataclass(frozen=True, slots=True)
class _Conflict:
    """One place of a file that both sides changed, as lines with their ends."""

    ours: list[bytes]
    base: list[bytes]
    theirs: list[bytes]

    def is_two_additions(self, *, sectioned: bool) -> bool:
        """Whether both sides only added lines, and not the same name twice.

        `sectioned`: nor the same heading, by which two sections are meant to be one.
        """
        twice = bool(_names_in(self.ours) & _names_in(self.theirs))
        same = sectioned and _first(self.ours) == _first(self.theirs)
        return not (self.base or twice or same)


async def unite(folder: Path) -> tuple[str, ...]:
    """Unite and stage the files of a merge in which both sides only added lines at the same places.

    Returns:
        The paths of these files.
    """
    united = []
    for path, stages in (await unmerged_paths(folder)).items():
        both_files = (
            set(stages) == {"1", "2", "3"}
            and len({*stages.values()} & _FILES) == len({*stages.values()}) == 1
        )
        if not both_files or Path(path).suffix.lower() in _FORMS or (folder / path).is_symlink():
            continue
        text = await _united(folder, path)
        if text is not None:
            (folder / path).write_bytes(text)
            await in_worktree(folder, "add", "--", f":(literal){path}")
            united.append(path)
    return tuple(united)


async def unmerged_paths(folder: Path) -> dict[str, dict[str, str]]:
    """Return the paths that git could not merge, with the mode of each of their stages.

    Without those that a session has marked as resolved in an index of its own.
    """
    found = await _unmerged_in(folder, {})
    marked = git_dir(folder) / MARKED_INDEX
    if not (found and marked.is_file()):
        return found
    try:
        left = await _unmerged_in(folder, {"GIT_INDEX_FILE": str(marked)})
    except GitError:  # it is no index
        return found
    return {path: stages for path, stages in found.items() if path in left}


async def _unmerged_in(folder: Path, environment: Mapping[str, str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    listed = await git(folder, "ls-files", "--unmerged", "-z", environment=environment)
    for entry in listed.split("\0"):
        facts, _, path = entry.partition("\t")
        if path:
            mode, _, stage = facts.split(" ")
            found.setdefault(path, {})[stage] = mode
    return found


async def _united(folder: Path, path: str) -> bytes | None:
    """Return the text of a file with both additions, or None if it has another conflict."""
    told = await git(folder, "checkout-index", "--stage=all", "--temp", "-z", "--", path)
    base, ours, theirs = (folder / name for name in told.partition("\t")[0].split(" "))
    try:
        if any(b"\0" in one.read_bytes() or one.stat().st_size > _LARGEST for one in (base, ours, theirs)):
            return None
        await _merge_into(folder, ours, base, theirs)
        return _joined(ours.read_bytes(), sectioned=Path(path).suffix.lower() in _SECTIONED)
    finally:
        for one in (base, ours, theirs):
            one.unlink(missing_ok=True)


async def _merge_into(folder: Path, ours: Path, base: Path, theirs: Path) -> None:
    """Let git write the merge of three files into the first, with its conflicts marked."""
    try:
        await git(
            folder, "merge-file", "--diff3", f"--marker-size={_MARKER}", str(ours), str(base), str(theirs)
        )
    except GitError:  # the exit code is the number of conflicts
        return


def _joined(text: bytes, *, sectioned: bool) -> bytes | None:
    """Return the text with both additions at each place, or None without any or with another conflict."""
    lines: list[bytes] = []
    conflicts = 0
    for part in _parts(text.splitlines(keepends=True)):
        if isinstance(part, _Conflict):
            if not part.is_two_additions(sectioned=sectioned):
                return None
            conflicts += 1
            theirs = _without_shared_imports(part)
            lines += [*_ended(part.ours), *_between(lines, part), *theirs]
        else:
            lines.append(part)
    return b"".join(lines) if conflicts else None


def _parts(lines: list[bytes]) -> Iterator[bytes | _Conflict]:
    """Yield the lines of a marked merge, with each conflict in place of its lines."""
    sections: dict[bytes, list[bytes]] = {}
    current: list[bytes] | None = None
    for line in lines:
        marker = line[:_MARKER]
        if marker in {_OURS, _BASE, _SPLIT}:
            current = sections[marker] = []
        elif marker == _THEIRS:
            yield _Conflict(sections.get(_OURS, []), sections.get(_BASE, []), sections.get(_SPLIT, []))
            sections, current = {}, None
        elif current is None:
            yield line
        else:
            current.append(line)


def _without_shared_imports(conflict: _Conflict) -> list[bytes]:
    """Return the second addition without the imports at its beginning that the first one begins with too."""
    pairs = zip(conflict.ours, conflict.theirs, strict=False)
    shared = takewhile(lambda pair: pair[0] == pair[1] and bool(_IMPORT.match(pair[0])), pairs)
    return conflict.theirs[len(list(shared)) :]


def _between(before: list[bytes], conflict: _Conflict) -> list[bytes]:
    """Return the blank lines between two additions, if both have some before them and none of their own."""
    if (
        not conflict.ours
        or not conflict.theirs
        or not (conflict.ours[-1].strip() and conflict.theirs[0].strip())
    ):
        return []
    blank: list[bytes] = []
    for line in reversed(before):
        if line.strip():
            break
        blank.append(line)
    return blank


def _ended(lines: list[bytes]) -> list[bytes]:
    """Return the lines with a line end after the last one."""
    return [*lines[:-1], lines[-1] + b"\n"] if lines and not lines[-1].endswith(b"\n") else lines


def _first(lines: list[bytes]) -> bytes:
    """Return the first line that is not blank."""
    return next((line.strip() for line in lines if line.strip()), b"")


def _names_in(lines: list[bytes]) -> set[bytes]:
    """Return the names that lines define, from the definitions with the least indentation."""
    found = [named for line in lines if (named := _DEFINED.match(line))]
    least = min((len(named.group(1)) for named in found), default=0)
    return {named.group(2) for named in found if len(named.group(1)) == least}


async def marked_files(
    folder: Path, tree: str, *, sides: tuple[str, str], base: str, in_conflict: Collection[str]
) -> tuple[str, ...]:
    """Return the files of a tree with conflict markers that come from neither side.

    Args:
        folder: the worktree whose content it is.
        tree: the tree. The worktree itself is not read, because a session may still change it.
        sides: the two commits that are merged.
        base: their merge base.
        in_conflict: paths that git could not merge. In other files a line of `=======` is a heading.
    """
    ours, theirs = [set(await changed_paths(folder, side, tree)) for side in sides]
    marked = []
    for path in sorted(ours & theirs):
        found = await _markers_in(folder, tree, path, dividers=path in in_conflict)
        if found and _are_new(found, *[await _markers_in(folder, commit, path) for commit in (*sides, base)]):
            marked.append(path)
    return tuple(marked)


def _are_new(found: Counter[str], ours: Counter[str], theirs: Counter[str], base: Counter[str]) -> bool:
    """Whether there are more markers than a merge of both sides has."""
    return any(
        count > max(ours[line], theirs[line], ours[line] + theirs[line] - base[line])
        for line, count in found.items()
    )


async def _markers_in(folder: Path, tree: str, path: str, *, dividers: bool = True) -> Counter[str]:
    try:
        text = await git(folder, "cat-file", "blob", f"{tree}:{path}")
    except GitError:  # it is missing, or not a file
        text = ""
    return _markers(text.replace("\0", ""), dividers=dividers)  # UTF-16 becomes readable enough


def _markers(text: str, *, dividers: bool) -> Counter[str]:
    """Count the lines that are conflict markers, with `dividers` also the `=======` between two sides."""
    lines = (line.rstrip("\r") for line in text.split("\n"))
    return Counter(line for line in lines if _MARKER_LINE.match(line) or (dividers and line == _DIVIDER))
