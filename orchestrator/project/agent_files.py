"""Files by which a project speaks to coding agents, as a commit has them: CLAUDE.md, AGENTS.md, .mcp.json.

A CLAUDE.md imports others by `@path`, as agents read it. Links and imports are followed inside the
repository alone. Of the MCP servers those count that `worker.mcp` names. The agent puts variables in place
of `${NAME}` and `${NAME:-default}`. Where a name is that of a secret, sq puts the default there before.
Servers do not get the key with which the session asks its model.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from posixpath import dirname, join, normpath
from typing import Any

from agents.api_key import KEY, TOKEN
from agents.login import OAUTH
from agents.session.permissions import SIGNAL_PREFIX, server_prefix
from orchestrator.git.trees import contents_at, files_in, landing, links_in, text_at
from state.errors import UsageError
from state.journal.events import InstructionsRead
from state.secrets import secret_names

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


FILE = ".mcp.json"
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_KEYS = dict.fromkeys((KEY, TOKEN, OAUTH), "")


async def servers_at(repository: Path, commit: str, names: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Return the named servers of a commit, each with its configuration.

    Raises:
        UsageError: the file is no such one, or a name is unknown or that of sq's own server. Names the known.
    """
    where = f"{FILE} of commit {commit[:10]}"
    text = await text_at(repository, commit, FILE) if names else ""
    try:
        servers = json.loads(_VARIABLE.sub(_default_of_secret, text) or "{}").get("mcpServers", {})
        known = {name: _without_keys(dict(server)) for name, server in servers.items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise UsageError(f"worker.mcp: {where} cannot be read: {error}") from error
    for name in names:
        if name not in known:
            raise UsageError(
                f"worker.mcp: {where} has no server {name}. Known are {', '.join(known) or 'none'}"
            )
        if server_prefix(name).startswith(SIGNAL_PREFIX):
            raise UsageError(f"worker.mcp: {name} is the name of sq's own tools. Rename it in {FILE}")
    return {name: known[name] for name in names}


def _default_of_secret(found: re.Match[str]) -> str:
    return found[2] or "" if secret_names({found[1]: ""}) else found[0]


def _without_keys(server: dict[str, Any]) -> dict[str, Any]:
    return {**server, "env": {**_KEYS, **(server.get("env") or {})}} if "command" in server else server
