"""The files by which a project instructs coding agents, as a commit has them: CLAUDE.md and AGENTS.md.

A CLAUDE.md imports others by `@path`, as Claude Code reads it. Links and imports are followed inside the
repository alone.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from posixpath import dirname, join, normpath

from orchestrator.git.trees import contents_at, files_in, landing, links_in
from state.journal.events import InstructionsRead

_NAMES = ("CLAUDE.md", "AGENTS.md")
_DEEPEST = 5  # imports of imports
_MOST = 40_000  # characters of all texts that agents are given
_CODE = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_IMPORT = re.compile(r"(?<!\S)@([^\s@]*[^\s@.,;:!?)\"'])")


Texts = list[tuple[tuple[str, ...], str]]  # each text once, with the paths of its files


def is_instruction(path: str) -> bool:
    """Whether a path is that of an instruction file by its name."""
    return PurePosixPath(path).name in _NAMES


async def instructions_at(repository: Path, commit: str) -> tuple[Texts, InstructionsRead]:
    """Return the texts of the instruction files of a commit and of files of its repository that they import.

    Those of outer folders are first. The event names the files, and what is missing.
    """
    own = sorted(filter(is_instruction, await files_in(repository, commit)), key=_rank)
    links, read, wanted = await links_in(repository, commit) if own else {}, dict[str, str](), own
    for _ in range(_DEEPEST + 1):
        places = {place for path in wanted if (place := _place(path, links))} - read.keys()
        new = await contents_at(repository, commit, places) if places else {}
        read |= {path: text.decode("utf-8-sig", "replace").strip() for path, text in new.items()}
        wanted = [target for path in new for target in imports(path, read[path])]
    found, remarks = dict[str, dict[str, None]](), dict[str, None]()

    def add(path: str, depth: int = 0) -> None:
        place = _place(path, links)
        text = read.get(place or "")
        if place is None:
            remarks[f"{path} is not read: it leads out of the repository"] = None
        elif depth > _DEEPEST:
            remarks[f"{path} is not read: more than {_DEEPEST} imports lead to it"] = None
        elif text is None and PurePosixPath(path).suffix:  # else a name with an @
            remarks[f"{path} is not read: the commit has no such file of at most 1 MB"] = None
        elif text:
            is_known = text in found
            found.setdefault(text, {}).update({path: None, place: None})
            if not is_known and (depth or PurePosixPath(place).name == _NAMES[0]):
                for target in imports(place, text):
                    add(target, depth + 1)

    for path in own:
        add(path)
    return _fitting(found, list(remarks))


def imports(path: str, text: str) -> Iterator[str]:
    """Yield the paths that a text at `path` imports, from the root of the repository if they lie in it."""
    for found in _IMPORT.finditer(_CODE.sub("", text)):
        yield found[1] if found[1][0] == "~" else normpath(join(dirname(path), found[1]))


def _place(path: str, links: Mapping[str, str]) -> str | None:
    return None if path.startswith(("/", "~")) else landing(path, links)


def _fitting(found: Mapping[str, dict[str, None]], remarks: list[str]) -> tuple[Texts, InstructionsRead]:
    """Return the texts up to the bound. One of the outermost folder is cut, others are only named."""
    texts, left = Texts(), _MOST
    for text, names in found.items():
        paths = tuple(names)
        if len(text) > left and (not left or "/" in paths[0]):
            remarks.append(f"{paths[0]} is named only: its text does not fit")
            continue
        if len(text) > left:
            remarks.append(f"{paths[0]} is cut: its last {len(text) - left} characters are missing")
        texts.append((paths, text[:left]))
        left -= len(texts[-1][1])
    files = tuple(path for paths, _ in texts for path in paths)
    return texts, InstructionsRead(files=files, remarks=tuple(remarks))


def _rank(path: str) -> tuple[int, str, int]:
    place = PurePosixPath(path)
    return len(place.parts), str(place.parent), _NAMES.index(place.name)
