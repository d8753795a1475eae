"""The one door through which sq reads what an agent can still change.

Each git command that touches an agent's worktree or an index runs in a sandbox. It shows the worktree, and of
the repository refs and objects, read-only, and settings of sq's own without credentials. So a process that
exchanges folders for links meanwhile leads git to nothing: what it could lead to is not there. While git
reads, the processes of the session stand still (`agents.process.frozen`). New objects go to a quarantine, and
are taken over once sq has looked at them (`orchestrator.run.places.quarantine`).

A sandbox that only reads lives as long as the session, and runs one command after the other. A command that
writes files into the worktree gets one of its own.
"""

import os
import shlex
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
from anyio import to_thread
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from agents.process.frozen import frozen, is_living
from agents.process.sandbox.bubblewrap import bubblewrapped
from agents.process.sandbox.looking import asking, interpreter
from agents.process.sandbox.needs import Needs
from agents.process.sandbox.plan import Access, Mount, SandboxPlan, reading, writing
from agents.process.sandbox.policy import SandboxPolicy
from agents.process.sandbox.repository import alternate_folders, without_credentials
from agents.process.to_end import run_to_end
from orchestrator.git.command import words_of
from orchestrator.git.pinned_config import TrustedGit
from orchestrator.run.places.quarantine import take_over
from state.secrets import without_secrets

# These may write files of the worktree, or the state of a merge.
_WRITES = frozenset({"reset", "clean", "merge", "checkout", "checkout-index", "merge-file", "restore", "rm"})
_STAGES = frozenset({"add", "update-index", "read-tree", "write-tree"})  # these write the index
_OF_THE_INDEX = frozenset({"update-index", "write-tree"})  # these read no file of the worktree
_SHOWN = ("objects", "refs", "packed-refs", "HEAD", "shallow", "reftable")  # of a repository's git folder
_NO_PACKS = ("-c", "core.bigFileThreshold=2047m")  # objects one by one, so that each can be looked at
_INSIDE = "sq-driver.inside"
_DRIVER = "sq-driver"
_SERVE = (
    'cd "$1" || exit 1; while read -r n; do ( . "./$n.sh" ) <"$n.in" >"$n.out" 2>"$n.err"; echo "$n $?"; done'
)
_WORDS_KEPT = 500


@dataclass(frozen=True, slots=True)
class _Access:
    """Whether a command writes into the worktree, its own git folder, and the folder of the index file."""

    worktree: bool = False
    own: bool = False
    index: bool = False


@dataclass(slots=True, eq=False)
class _Server:
    """A sandbox that lives, and runs one command at a time."""

    process: Process
    variables: Mapping[str, str]
    answers: BufferedByteReceiveStream
    number: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxDoor:
    """The door of one run. `scratch` is a folder of sq's own for its sandboxes.

    `drivers` are the paths that the user's filters and merge drivers name. `filters`: there are some.
    """

    trusted: TrustedGit
    sandbox_policy: SandboxPolicy
    scratch: Path
    drivers: Sequence[Path] = ()
    filters: bool = False
    _servers: dict[Path, _Server] = field(default_factory=dict)
    _turns: dict[Path, anyio.Lock] = field(default_factory=dict)

    async def run(
        self, place: Path, command: Sequence[str], environment: Mapping[str, str], stdin: bytes
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a git command inside, and take over the objects that it made.

        Raises:
            GitError: what it made is not taken over.
            OSError: the sandbox cannot be made.
        """
        quarantine, common = self.quarantine(place), self.trusted.common / "objects"
        is_nested = environment.get("GIT_WORK_TREE") != str(place)
        variables = dict(environment)
        if not is_nested:
            variables["GIT_OBJECT_DIRECTORY"] = str(quarantine)
            variables["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = _quoted(common)
        words = [command[0], *_NO_PACKS, *command[1:]]
        index = Path(variables.get("GIT_INDEX_FILE", ""))
        asked = [*words_of(command[1:])]
        writes = asked[0] in _WRITES or "-u" in asked
        stages = writes or (asked[0] in _STAGES and "GIT_INDEX_FILE" not in variables)
        own_index = not stages and index.parent in {Path(), self.index_folder(place)}
        async with self._turns.setdefault(place, anyio.Lock()):  # one at a time has the quarantine
            with nullcontext() if asked[0] in _OF_THE_INDEX else frozen(place):
                if own_index and not is_nested and is_living(place):
                    done = await self._served(place, words, variables, stdin)
                else:
                    access = _Access(worktree=writes, own=stages, index=writes or asked[0] in _STAGES)
                    done = await self._alone(place, words, variables, stdin, access)
            if any(len(one) == 2 or one == "pack" for one in os.listdir(quarantine)):  # noqa: PLR2004, PTH208
                await to_thread.run_sync(take_over, quarantine, common)
        return done

    async def told(
        self, question: str, place: Path, words: Sequence[str], given: bytes, *, writes: Sequence[Path]
    ) -> bytes:
        """Return an answer of `agents.process.sandbox.inside` about a place. It may write `writes`.

        Raises:
            OSError: it cannot be answered.
        """
        access = _Access(worktree=place in writes)
        more = [*interpreter(), *writing(_made(one) for one in writes if one != place)]
        plan = await to_thread.run_sync(lambda: self._plan(place, access, more))
        command = bubblewrapped(asking(question, str(place), *words), plan)
        with frozen(place):
            done = await run_to_end(command, given, without_secrets(self.sandbox_policy.environ))
        if done.returncode:
            raise OSError((done.stderr or done.stdout).decode(errors="replace").strip()[-_WORDS_KEPT:])
        return done.stdout

    def index_folder(self, place: Path) -> Path:
        """Return the folder of the index files in which git stages a place's content."""
        return _made(self.trusted.folder / "sq-index" / place.name)

    def quarantine(self, place: Path) -> Path:
        """Return the folder of the new objects of a place, before sq has looked at them."""
        folder = self.trusted.folder / "sq-quarantine" / place.name
        _made(folder / "info")
        return _made(folder / "pack").parent

    async def close(self) -> None:
        """End the sandboxes that live."""
        for place in list(self._servers):
            await self._end(place)

    # --- sandboxes ------------------------------------------------------------------------------------------

    async def _alone(
        self,
        place: Path,
        command: Sequence[str],
        variables: Mapping[str, str],
        stdin: bytes,
        access: _Access,
    ) -> subprocess.CompletedProcess[bytes]:
        index = variables.get("GIT_INDEX_FILE", "")
        more = (writing if access.index else reading)([Path(index).parent] if index else [])
        plan = await to_thread.run_sync(lambda: self._plan(place, access, more))
        return await run_to_end(bubblewrapped(command, plan), stdin, variables)

    async def _served(
        self, place: Path, command: Sequence[str], variables: Mapping[str, str], stdin: bytes
    ) -> subprocess.CompletedProcess[bytes]:
        await self._end_others()
        server = self._servers.get(place) or await self._start(place, variables)
        try:
            return await self._asked(place, server, command, variables, stdin)
        except BaseException:  # its command may still run
            with anyio.CancelScope(shield=True):
                await self._end(place)
            raise

    async def _asked(
        self,
        place: Path,
        server: _Server,
        command: Sequence[str],
        variables: Mapping[str, str],
        stdin: bytes,
    ) -> subprocess.CompletedProcess[bytes]:
        server.number += 1
        name, folder = str(server.number), self._talk(place)
        changed = {key: value for key, value in variables.items() if server.variables.get(key) != value}
        gone = [key for key in server.variables if key not in variables]
        lines = [f"export {shlex.quote(f'{key}={value}')}" for key, value in changed.items()]
        lines += [f"unset {shlex.quote(key)}" for key in gone]
        (folder / f"{name}.sh").write_bytes(os.fsencode("\n".join([*lines, f"exec {shlex.join(command)}\n"])))
        (folder / f"{name}.in").write_bytes(stdin)
        assert server.process.stdin  # noqa: S101  it was opened with a pipe
        try:
            await server.process.stdin.send(f"{name}\n".encode())
            told = await server.answers.receive_until(b"\n", 100)
            out, err = (folder / f"{name}.out").read_bytes(), (folder / f"{name}.err").read_bytes()
        except (anyio.BrokenResourceError, anyio.EndOfStream, anyio.IncompleteRead) as error:
            raise OSError(f"the sandbox in which git reads {place} has ended") from error
        finally:
            for part in ("sh", "in", "out", "err"):
                (folder / f"{name}.{part}").unlink(missing_ok=True)
        return subprocess.CompletedProcess(command, int(told.split()[-1]), out, err)

    async def _start(self, place: Path, variables: Mapping[str, str]) -> _Server:
        plan = await to_thread.run_sync(lambda: self._plan(place, _Access(), ()))
        words = ["/bin/sh", "-c", _SERVE, "sq", str(self._talk(place))]
        process = await anyio.open_process(
            bubblewrapped(words, plan), stderr=subprocess.DEVNULL, env=variables, start_new_session=True
        )
        assert process.stdout  # noqa: S101  it was opened with a pipe
        server = _Server(process, dict(variables), BufferedByteReceiveStream(process.stdout))
        self._servers[place] = server
        return server

    async def _end_others(self) -> None:
        for place in [one for one in self._servers if not is_living(one)]:
            if not self._turns[place].locked():  # else a command still runs there
                await self._end(place)

    async def _end(self, place: Path) -> None:
        server = self._servers.pop(place, None)
        if server is None:
            return
        with anyio.CancelScope(shield=True):
            if server.process.returncode is None:
                server.process.kill()
            await server.process.aclose()

    def _talk(self, place: Path) -> Path:
        return _made(self.scratch / place.name / "talk")

    # --- what it shows --------------------------------------------------------------------------------------

    def _plan(self, place: Path, access: _Access, more: Iterable[Mount]) -> SandboxPlan:
        trusted, scratch = self.trusted, _made(self.scratch / place.name)  # two may be made at once
        needs = Needs(
            workspace=trusted.folder,
            scratch=scratch,
            path=self.sandbox_policy.environ.get("PATH", ""),
            writes=False,
            readable=self.drivers,
        )
        plan = self.sandbox_policy.plan(needs)
        own, common = trusted.git_dir(place), trusted.common
        mounts = (
            *plan.mounts,
            *(writing if access.worktree else reading)([place]),
            *([Mount(target=common, access=Access.EMPTY)] if own == common else []),
            *reading(common / name for name in _SHOWN if os.path.lexists(common / name)),
            *reading(alternate_folders(common / "objects")),
            *(writing if self.filters else reading)(one for one in [common / "lfs"] if one.is_dir()),
            *((writing if access.own else reading)([own]) if own != common else ()),
            *(self._of_the_checkout() if own == common else ()),
            *self._submodules(scratch),
            *self._settings(scratch),
            *more,
            *writing([self.quarantine(place), self.index_folder(place), self._talk(place)]),
        )
        return replace(plan, mounts=mounts, workspace=place, own_processes=True, control_groups=())

    def _of_the_checkout(self) -> Iterator[Mount]:
        """Yield the index of a checkout that is an agent's place itself."""
        common = self.trusted.common
        named = [common / "index", common / "info", *sorted(common.glob("sharedindex.*"))]
        return (Mount(target=one) for one in named if one.exists())

    def _submodules(self, scratch: Path) -> Iterator[Mount]:
        """Yield the git folders of submodules, without their settings."""
        modules = self.trusted.common / "modules"
        if modules.is_dir():
            yield Mount(target=modules)
            for config in sorted(modules.glob("**/config")):
                yield Mount(target=config, access=Access.EMPTY, source=scratch / "nothing")

    def _settings(self, scratch: Path) -> Iterator[Mount]:
        """Yield sq's settings of git without credentials, and what the user's named before the run began."""
        folder = self.trusted.folder
        yield Mount(target=folder)
        for name in ("config", "nested-config"):
            cleaned = without_credentials(folder / name, scratch / f"git-{name}")
            if cleaned:
                yield Mount(target=folder / name, source=cleaned)
        if (driver := folder / _DRIVER).exists():
            inside = scratch / _INSIDE  # they run in this sandbox already
            inside.write_text('#!/bin/sh\ncommand=$(cat <&3)\nexec /bin/sh -c "$command" 3<&-\n')
            inside.chmod(0o700)
            yield Mount(target=driver, source=inside)
        yield from reading(_attributes_of_the_user(self.sandbox_policy))


def _quoted(folder: Path) -> str:
    """Return a folder as an entry of a list in which a colon separates."""
    text = str(folder).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"' if ":" in text or '"' in text else str(folder)


def _made(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _attributes_of_the_user(sandbox_policy: SandboxPolicy) -> Iterator[Path]:
    named = sandbox_policy.environ.get("XDG_CONFIG_HOME", "")
    config = Path(named) if named.startswith("/") else sandbox_policy.home / ".config"
    return (one for one in [config / "git" / "attributes"] if one.is_file())
