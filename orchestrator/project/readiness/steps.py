"""Steps of a set-up, by the table's tools.

A lock file says which tool it asks for. For manifests that an agent has changed, a tool downloads in a folder
that holds them alone, with the network and without the packages' scripts. Then it builds in the worktree
without network. Some tools run the project's code in order to download, and cannot do that.
"""

import hashlib
import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path

from orchestrator.project.build_files.packages import MANIFEST, depends, manager_of
from orchestrator.project.files import Shown, look, matches
from orchestrator.project.runners.row import OfflineInstall, SetUpTool, Table
from orchestrator.project.runners.table import usual_table
from state.safe_paths import read_inside

VENV = ".venv"  # the folder of the environment that a Python project gets


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUpStep:
    """A command that makes a worktree ready for one ecosystem.

    `tool` is its row of the table, `program` has to be installed for it, and `why` is the file that asks for
    it. `key` changes with everything that the result depends on. `wants` are the packages that a Python
    project and its build require, None if only a script knows them.
    """

    command: str
    ecosystem: str
    program: str
    why: str
    tool: str = ""
    key: str = ""
    wants: tuple[str, ...] | None = None

    @property
    def locked(self) -> bool:
        """Whether a lock file decides what the step makes, whenever it is done."""
        tool = usual_table().tools.get(self.tool)
        return bool(tool and matches(self.why, tool.locks))

    def __str__(self) -> str:
        """Return the form shown to people."""
        return f"{self.command} ({self.why})"


def key_of(shown: Shown, files: tuple[str, ...], *more: str) -> str:
    """Return a fingerprint of these files, whole, and of some texts."""
    found = hashlib.sha256()
    for name in (one for one in files if shown.has(one)):
        found.update(f"\0{name}\0".encode())
        try:
            found.update(read_inside(shown.folder, name))
        except OSError:
            continue
    for text in more:
        found.update(f"\0{text}".encode())
    return found.hexdigest()[:32]


def at(part: str, command: str) -> str:
    """Return a command for a folder, to be run from the root. "" is the root itself."""
    return f"cd {shlex.quote(part)} && {command}" if part else command


def below(part: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return paths in a folder as paths from the root."""
    return tuple(f"{part}/{name}" if part else name for name in names)


_NODE, _PYTHON = "node", "python"  # ecosystems with steps that may need no lock file
_OPEN_ENDED = "only setup.py, which is code, knows what the project requires"


def locked_steps(shown: Shown, part: str, table: Table) -> Iterator[SetUpStep]:
    """Yield the steps for one folder (`part`, "" is the root) of the worktree, without those of Python."""
    here = shown.part(part) if part else shown
    for ecosystem in table.ecosystems:
        if ecosystem in {_NODE, _PYTHON}:
            continue
        if tool := tool_of(here, ecosystem, table):
            yield _step(here, part, tool, tool.command, (here.first(*tool.locks), *tool.files))
        elif found := _unlocked(here, ecosystem, table):
            tool, manifests = found
            yield _step(here, part, tool, tool.unlocked, (*manifests, *tool.files))
    yield from _packages(here, part, table)


def tool_of(here: Shown, ecosystem: str, table: Table) -> SetUpTool | None:
    """Return the first tool of an ecosystem that a folder has a lock file of."""
    tools = (tool for tool in table.tools.values() if tool.ecosystem == ecosystem)
    return next((tool for tool in tools if _asks(here, tool)), None)


def _unlocked(here: Shown, ecosystem: str, table: Table) -> tuple[SetUpTool, list[str]] | None:
    """Return the first tool of an ecosystem whose manifest requires something, and all such manifests.

    A library often has no committed lock file. Its manifest has to be in the folder itself.
    """
    for tool in table.tools.values():
        if tool.ecosystem != ecosystem or tool.requires is None:
            continue
        name, pattern = tool.requires
        manifests = [name, *here.ending(f"/{name}")]
        if here.has(name) and any(re.search(pattern, here.text(one)) for one in manifests):
            return tool, manifests
    return None


def _asks(here: Shown, tool: SetUpTool) -> bool:
    if not here.has(*tool.locks) or (tool.unless and (here.folder / tool.unless).exists()):
        return False
    return not tool.contains or re.search(tool.contains[1], here.text(tool.contains[0])) is not None


def _step(here: Shown, part: str, tool: SetUpTool, command: str, files: tuple[str, ...]) -> SetUpStep:
    return SetUpStep(
        command=at(part, f"{{ {command}; }}" if part and "||" in command else command),
        ecosystem=tool.ecosystem,
        tool=tool.name,
        program=tool.program or tool.name,
        why=below(part, (here.first(*files),))[0],
        key=key_of(here, files, command),
    )


def _packages(here: Shown, part: str, table: Table) -> Iterator[SetUpStep]:
    """Yield the step for JavaScript packages, which may have no lock file."""
    manifests = [MANIFEST, *here.ending(f"/{MANIFEST}")]
    if not here.has(MANIFEST) or not any(depends(here.folder / name) for name in manifests):
        return
    tool = table.tools[manager_of(here.folder)]
    lock = here.first(*tool.locks)
    if tool.name == "yarn" and lock and (here.has(".yarnrc.yml") or "__metadata:" in here.text(lock)):
        tool = table.tools["yarn berry"]
    command = tool.command if lock else tool.unlocked
    yield _step(here, part, tool, command, (*([lock] if lock else []), *manifests, *tool.files))


def apart(step: SetUpStep) -> OfflineInstall:
    """Return how the tool of a step works apart, with its commands."""
    tool = usual_table().tools.get(step.tool, SetUpTool(name="", ecosystem=""))
    row = tool.apart
    if tool.name == "python3" and not step.wants:
        row = replace(row, download="", why_not=_OPEN_ENDED if step.wants is None else "")
    if tool.name == "uv" and step.wants:
        build = ' && uv pip install --quiet --no-build --target "$SQ_DOWNLOADS/.build" {wants}'
        row = replace(row, download=row.download + build)
    words = {"command": step.command, "wants": shlex.join(step.wants or ())}
    return replace(row, download=row.download.format(**words), build=row.build.format(**words))


def offline_variables() -> dict[str, str]:
    """Return the variables that make all tools work without network, from their caches."""
    return {
        name: value
        for tool in usual_table().tools.values()
        for name, value in tool.apart.offline.items()
        if "{" not in value and name != "GOFLAGS"
    }


def copy_manifests(row: OfflineInstall, worktree: Path, scratch: Path) -> None:
    """Copy the manifests of a worktree into an empty folder, and make the files that have to exist."""
    for name, content in manifests_in(row, worktree):
        (scratch / name).parent.mkdir(parents=True, exist_ok=True)
        (scratch / name).write_bytes(content)
    for name in look(worktree).files:
        if any(fnmatch(name.rpartition("/")[2], pattern) for pattern in row.empty):
            (scratch / name).parent.mkdir(parents=True, exist_ok=True)
            (scratch / name).touch()


def manifests_in(row: OfflineInstall, worktree: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the manifests of a worktree, with their content."""
    for name in look(worktree).files:
        if name.rpartition("/")[2] in row.manifests:
            with suppress(OSError):  # a link that leads out of the worktree
                yield name, read_inside(worktree, name)
