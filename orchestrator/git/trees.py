"""Trees of a repository: their content, trees made of others, and how two differ by their bytes.

Nothing that an agent or a user can write decides what a diff shows (see `compared`).
"""

import re
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestrator.git.command import compared, git, git_bytes, told_by_objects

_STAT = ("--stat-width=500", "--stat-name-width=400", "--stat-graph-width=20")
_SECTION = re.compile(r"^(?=diff --)", re.MULTILINE)
_HEADER = re.compile(r"diff --(?:git|cc|combined) (.*)")
_LINK = "120000"
_REPOSITORY = "160000"  # the mode of a repository in a tree, which is no file
_FILE, _GONE = "100644", "0" * 40
_MOST_LINKS = 40


async def changed_paths(folder: Path, base: str, tree: str) -> list[str]:
    """Return the paths that differ between two trees or commits."""
    names = await compared(folder, "diff", "--name-only", "--no-renames", "-z", of=(base, tree))
    return [name for name in names.decode(errors="replace").split("\0") if name]


async def diff_text(
    folder: Path, base: str, commit: str, *, limit: int, paths: Sequence[str] | None = None
) -> str:
    """Return the change for a reviewer: the files, then their diffs, of about `limit` characters at most.

    Files that do not fit, and binary ones, are named with their bytes. Of very many the rest is counted.
    `paths`: only of these.
    """
    if paths is not None and not paths:
        return "Nothing has changed."
    stat = await compared(folder, "diff", "--stat", *_STAT, of=(base, commit), paths=paths or ())
    diff = await compared(folder, "diff", "--patch", of=(base, commit), paths=paths or ())
    *files, together = _text(stat).split("\n")
    listed = "\n".join([*_first(files, limit), together])
    return f"```\n{listed}\n```\n\n```diff\n{_cut(_text(diff), limit)}\n```"


def shown_once(diff: str, before: str) -> str:
    """Return a change (`diff_text`) without the files whose diffs stand in `before`, which are named."""
    head, *sections = _SECTION.split(diff.removesuffix("\n```"))
    if not sections:
        return diff
    kept = [
        f"[… {_named(one)}: its diff stands above]\n" if one.strip() in before else one for one in sections
    ]
    return "".join([head, *kept]).rstrip("\n") + "\n```"


async def resolution_text(folder: Path, commit: str, *, limit: int) -> str:
    """Return the parts of a merge commit from neither side, as a combined diff as in `diff_text`."""
    diff = _text(await compared(folder, "show", "--format=", "--cc", of=(commit,)))
    if not diff.strip():
        return "The resolution takes each place from one of the two sides."
    return f"```diff\n{_cut(diff, limit).strip()}\n```"


def _text(output: bytes) -> str:
    return output.decode(errors="replace").rstrip("\n")


def _cut(diff: str, limit: int) -> str:
    """Return a diff with as many files as fit, short ones first, and the others by name and size."""
    if len(diff) <= limit:
        return diff
    sections = [one for one in _SECTION.split(diff) if one]
    left, shown = limit, set[int]()
    for number in sorted(range(len(sections)), key=lambda one: len(sections[one])):
        if len(sections[number]) <= left:
            shown.add(number)
            left -= len(sections[number])
    told = [section for number, section in enumerate(sections) if number in shown]
    others = [section for number, section in enumerate(sections) if number not in shown]
    named = [
        f"[… {_named(one)}: its diff of {len(one.encode())} bytes is left out: read the file itself]"
        for one in others
    ]
    return "\n".join(["".join([*told, others[0][:left]]).rstrip("\n"), *_first(named, limit)])


def _first(lines: Sequence[str], limit: int) -> list[str]:
    """Return the first lines, of about `limit` characters, and how many there are more."""
    number = sum(length <= limit for length in accumulate(len(line) + 1 for line in lines))
    more = len(lines) - number
    return [*lines[:number], *([f"[… {more} more files are not named here: look for them]"] if more else [])]


def _named(section: str) -> str:
    found = _HEADER.match(section)
    return found[1] if found else section.partition("\n")[0]


async def pieced_together(repository: Path, tree: str, *, of: str, paths: Collection[str]) -> str:
    """Return the tree `tree` with these paths as in the tree `of`, or missing if they are missing there."""
    entries = await _entries(repository, of, paths)
    lines = [f"{entries.get(path, f'0 {_GONE}')}\t{path}" for path in paths]
    return await _changed(repository, tree, lines)


async def with_files(repository: Path, tree: str, files: Mapping[str, str]) -> str:
    """Return the tree `tree` with these files added, given as path and text."""
    lines = []
    for path, text in files.items():
        blob = await git(repository, "hash-object", "-w", "--stdin", stdin=text)
        lines.append(f"{_FILE} {blob}\t{path}")
    return await _changed(repository, tree, lines)


async def with_contents(repository: Path, tree: str, files: Mapping[str, bytes]) -> str:
    """Return the tree `tree` with the content of these files of it replaced. Each keeps its mode."""
    entries = await _entries(repository, tree, files)
    lines = []
    for path, content in files.items():
        blob = (await git_bytes(repository, "hash-object", "-w", "--stdin", stdin=content)).decode().strip()
        lines.append(f"{entries.get(path, _FILE).split(' ')[0]} {blob}\t{path}")
    return await _changed(repository, tree, lines)


async def contents_at(
    repository: Path, tree: str, paths: Collection[str], *, largest: int = 1_000_000
) -> dict[str, bytes]:
    """Return the content of each of these files that a tree has, of at most `largest` bytes."""
    listed = await told_by_objects(repository, "ls-tree", "-r", "-z", "-l", "--full-tree", tree)
    objects = {}
    wanted = set(paths)
    for entry in listed.split(b"\0"):
        facts, _, name = entry.partition(b"\t")
        path = name.decode("utf-8", "surrogateescape")
        if path in wanted and facts.split()[1] == b"blob" and int(facts.split()[3]) <= largest:
            objects[path] = facts.split()[2]
    asked = b"".join(name + b"\n" for name in objects.values())
    told = await git_bytes(repository, "cat-file", "--batch", stdin=asked) if objects else b""
    found, at = {}, 0
    for path in objects:  # each answer is `NAME blob SIZE`, the bytes, and the end of a line
        begins = told.index(b"\n", at) + 1
        ends = begins + int(told[at:begins].split()[-1])
        found[path], at = told[begins:ends], ends + 1
    return found


async def text_at(repository: Path, tree: str, path: str) -> str:
    """Return the text of a file in a tree, with the end of its last line, or "" if it is missing."""
    mode, _, name = (await _entries(repository, tree, [path])).get(path, "").partition(" ")
    if not name or mode == _REPOSITORY:
        return ""
    return await git(repository, "cat-file", "blob", name) + "\n"


async def files_in(repository: Path, tree: str) -> list[str]:
    """Return the paths of all files in a tree."""
    return list(await _entries(repository, tree))


async def links_in(repository: Path, tree: str) -> dict[str, str]:
    """Return the symbolic links in a tree, each with its target."""
    entries = await _entries(repository, tree)
    if not (links := [path for path, facts in entries.items() if facts.startswith(_LINK)]):
        return {}
    targets = await contents_at(repository, tree, links)
    return {path: targets.get(path, b"/").decode(errors="replace") for path in links}


def landing(path: str, links: Mapping[str, str]) -> str | None:
    """Return where a path of a tree leads by the tree's links, or None: out of it, or into its git folder."""
    place: list[str] = []
    waiting, followed = deque(path.split("/")), 0
    while waiting and followed <= _MOST_LINKS:
        part = waiting.popleft()
        if part == "..":
            if not place:
                return None
            place.pop()
        elif part not in {"", "."}:
            place.append(part)
            if (target := links.get("/".join(place))) is not None:
                if target.startswith("/"):
                    return None
                place.pop()
                waiting.extendleft(reversed(target.split("/")))
                followed += 1
    return None if place[:1] != [] and place[0].lower() == ".git" else "/".join(place)


async def renamed_files(repository: Path, base: str, tree: str) -> dict[str, str]:
    """Return the files that a tree has under another path than `base`, judged by content: old → new."""
    form = ("--name-status", "--diff-filter=R", "-M", "-z")
    told = await compared(repository, "diff", *form, of=(base, tree))
    parts = [part for part in told.decode(errors="replace").split("\0") if part]
    return {old: new for _, old, new in zip(parts[::3], parts[1::3], parts[2::3], strict=True)}


async def _entries(repository: Path, tree: str, paths: Collection[str] | None = None) -> dict[str, str]:
    """Return the mode and the object of each file in a tree, or of each of these paths that is one."""
    found = {}
    listed = await told_by_objects(repository, "ls-tree", "-r", "-z", "--full-tree", tree)
    for entry in listed.decode(errors="replace").split("\0"):
        facts, _, path = entry.partition("\t")
        if path and (paths is None or path in paths):
            mode, _, name = facts.split(" ")
            found[path] = f"{mode} {name}"
    return found


async def _changed(repository: Path, tree: str, lines: list[str]) -> str:
    with TemporaryDirectory(prefix="sq-") as temporary:
        environment = {"GIT_INDEX_FILE": str(Path(temporary) / "index")}
        await git(repository, "read-tree", tree, environment=environment)
        stdin = "".join(f"{line}\0" for line in lines)
        await git(repository, "update-index", "-z", "--index-info", stdin=stdin, environment=environment)
        return await git(repository, "write-tree", environment=environment)
