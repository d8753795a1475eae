"""Steps of a set-up: their inputs, the folders that they make once in a run, and those of the table's tools.

The kept copy of a command's result is taken before any agent works there, so an agent's changes in its
worktree never get into another one.

A lock file says which tool it asks for. For manifests that an agent has changed, a tool downloads in a folder
that holds them alone, with the network and without the packages' scripts. Then it builds in the worktree
without network. Some tools run the project's code in order to download, and cannot do that.
"""

import hashlib
import os
import re
import shlex
import stat
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path

from orchestrator.project.build_files.packages import MANIFEST, depends, manager_of
from orchestrator.project.files import Shown, look
from orchestrator.project.runners.row import OfflineInstall, SetUpTool, Table
from orchestrator.project.runners.table import usual_table
from state.safe_paths import parent_inside, read_inside, remove_inside, remove_tree, write_inside

VENV = ".venv"  # the folder of the environment that a Python project gets
_DRAFT, _SPARE, _MADE_IN = ".draft", ".spare", "made-in"
_LONGEST_SCRIPT = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUpStep:
    """A command that makes a worktree ready for one ecosystem.

    `tool` is its row of the table, `program` has to be installed for it, and `why` is the file that asks for
    it. `portable` are folders that are the same at any path. They are made once and copied. Those that are
    `bound` name it in their programs, and packages of the worktree itself need the command again. `makes` are
    folders that hold absolute paths, and that are removed again if the command fails. `key` changes with
    everything that the result depends on. `wants` are the packages that a Python project and its build
    require, None if only a script knows them.
    """

    command: str
    ecosystem: str
    program: str
    why: str
    tool: str = ""
    portable: tuple[str, ...] = ()
    bound: bool = False
    makes: tuple[str, ...] = ()
    key: str = ""
    wants: tuple[str, ...] | None = None

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


def kept_folder(run_folder: Path) -> Path:
    """Return the folder of a run in which such results are kept."""
    return run_folder / "ready"


def downloads_of(kept: Path) -> Path:
    """Return the folder with the downloads of steps that an agent changed, a folder a key."""
    return kept / "downloads"


def wheels_of(kept: Path) -> Path:
    """Return the folder with the wheels of packages that the base needed, a folder a key."""
    return kept / "wheels"


def copy_kept(kept: Path, step: SetUpStep, folder: Path) -> bool:
    """Put a step's earlier result into a worktree, in place of its current content.

    Returns:
        Whether it is there now. If not, the command has to be run.
    """
    source = kept / step.key
    if not step.portable or not source.is_dir():
        return False
    for number, path in enumerate(step.portable):
        if (source / str(number)).is_dir() and not _put(source / str(number), folder, path):
            return False
        if step.bound and not _names_anew(source, number, folder, path):
            return False
    remove_tree(spare_of(source))
    return True


def without_spare(kept: Path) -> list[Path]:
    """Return the kept results of which there is no spare copy, which a worktree gets without copying."""
    found = [one.parent for one in kept.glob(f"*/{_MADE_IN}") if not one.parent.suffix]
    return [one for one in found if not spare_of(one).exists()]


def spare_of(source: Path) -> Path:
    """Return the place of the spare copy of a kept result."""
    return source.with_name(f"{source.name}{_SPARE}")


def _names_anew(source: Path, number: int, folder: Path, path: str) -> bool:
    """Let the programs of a copied environment name the worktree that it lies in now. Whether all do."""
    with suppress(OSError):
        before = (source / _MADE_IN).read_bytes()
        for program in (source / str(number) / "bin").iterdir():
            facts = program.lstat()
            content = program.read_bytes() if stat.S_ISREG(facts.st_mode) else b""
            if before in content[:_LONGEST_SCRIPT]:
                new = content.replace(before, os.fsencode(folder))
                write_inside(folder, f"{path}/bin/{program.name}", new, mode=stat.S_IMODE(facts.st_mode))
        return True
    return False


def has_own_code(kept: Path, step: SetUpStep) -> bool:
    """Whether a kept environment has packages that are installed from a folder, as editable ones are."""
    found = (kept / step.key).glob("*/lib/*/site-packages/*/direct_url.json")
    return any(b'"dir_info"' in file.read_bytes() for file in found)


def _put(source: Path, folder: Path, path: str) -> bool:
    """Copy a folder into a worktree, in place of the current one. No link in the worktree is followed."""
    try:
        remove_inside(folder, path)
        with parent_inside(folder, path) as (parent, name):
            with suppress(OSError):  # there is none yet, or on another file system
                os.rename(spare_of(source.parent) / source.name, name, dst_dir_fd=parent)
                return True
            by_descriptor = Path(f"/proc/self/fd/{parent}")
            where = by_descriptor if by_descriptor.is_dir() else (folder / path).parent
            return copied(source, where / name, keeps=(parent,))
    except OSError:
        return False


def keep(kept: Path, step: SetUpStep, folder: Path) -> None:
    """Keep a step's result in a worktree, if it is the same at any path.

    It is not if it has a link that is absolute or leads out of the worktree, as `npm link` makes them. Those
    of an environment lead to its interpreter.
    """
    made = [folder / path for path in step.portable]
    if not step.portable or not made[0].is_dir() or any(_leads_out(path, folder, step) for path in made):
        return
    draft = kept / f"{step.key}{_DRAFT}"
    remove_tree(draft)
    draft.mkdir(parents=True)
    (draft / _MADE_IN).write_bytes(os.fsencode(folder))
    if all(copied(path, draft / str(number)) for number, path in enumerate(made) if path.is_dir()):
        remove_tree(kept / step.key)
        draft.rename(kept / step.key)
    else:
        remove_tree(draft)


def copied(source: Path, target: Path, *, keeps: Sequence[int] = ()) -> bool:
    """Copy a folder with its links, holes and times, sharing blocks if possible. Whether all is there."""
    for options in (("-a", "--reflink=auto"), ("-a",)):
        try:
            subprocess.run(
                ["cp", *options, "--", str(source), str(target)],
                capture_output=True,
                check=True,
                pass_fds=keeps,
            )
        except (OSError, subprocess.CalledProcessError):
            remove_tree(target)
        else:
            return True
    return False


def _leads_out(path: Path, folder: Path, step: SetUpStep) -> bool:
    """Whether a link in a folder is absolute or leads out. In a bound one an absolute one may not lead in."""
    root = folder.resolve()
    for link in _links(path):
        absolute, inside = link.readlink().is_absolute(), link.resolve().is_relative_to(root)
        if absolute and inside if step.bound else absolute or not inside:
            return True
    return path.is_symlink()


def _links(path: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(path):
        for name in (*folders, *files):
            if os.path.islink(found := os.path.join(parent, name)):  # noqa: PTH114, PTH118  there are many
                yield Path(found)


_NODE, _PYTHON = "node", "python"  # ecosystems with steps that may need no lock file
_OPEN_ENDED = "only setup.py, which is code, knows what the project requires"


def locked_steps(shown: Shown, part: str, table: Table) -> Iterator[SetUpStep]:
    """Yield the steps for one folder (`part`, "" is the root) of the worktree, without those of Python."""
    here = shown.part(part) if part else shown
    for ecosystem in table.ecosystems:
        if ecosystem not in {_NODE, _PYTHON} and (tool := tool_of(here, ecosystem, table)):
            yield _step(here, part, tool, tool.command, (here.first(*tool.locks), *tool.files))
    yield from _packages(here, part, table)


def tool_of(here: Shown, ecosystem: str, table: Table) -> SetUpTool | None:
    """Return the first tool of an ecosystem that a folder has a lock file of."""
    tools = (tool for tool in table.tools.values() if tool.ecosystem == ecosystem)
    return next((tool for tool in tools if _asks(here, tool)), None)


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
        portable=below(part, tool.portable),
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
