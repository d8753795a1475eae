"""The sandbox policy of a run: makes the plan for each session and for each command that sq runs."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from agents.process.sandbox.choice import Choice, SandboxLevel
from agents.process.sandbox.control_groups import ControlGroups
from agents.process.sandbox.needs import GatewaySocket, Needs, Network, Outside
from agents.process.sandbox.plan import Access, Mount, SandboxPlan, at_both, reading, writing
from agents.process.sandbox.repository import git_folders, git_mounts
from agents.process.sandbox.system_calls import filter_program
from agents.process.sandbox.toolchains import (
    caches,
    credentials_in,
    own_caches,
    own_locks,
    registry_credentials,
    system_mounts,
    toolchain_mounts,
    toolchains,
)
from state.settings.records import SandboxLimits

_SOCKETS = (
    *(
        "SSH_AUTH_SOCK",
        "SSH_AGENT_PID",
        "GPG_AGENT_INFO",
        "GNOME_KEYRING_CONTROL",
        "DBUS_SESSION_BUS_ADDRESS",
    ),
    *("XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DOCKER_HOST", "TMUX", "PULSE_SERVER"),
)
_GIT = ".gitconfig"
_NOBODY = {"user.name": "A Person", "user.email": "person@localhost"}
_ASKING_S = 5.0
_USUAL = {  # the usual files of a home, with plausible content
    ".bash_history": "ls\ncd src\ngit status\ngit pull\n",
    ".bash_logout": "clear\n",
    ".bashrc": "HISTSIZE=1000\nalias ll='ls -l'\n",
    ".cache/motd.legal-displayed": "",
    ".config/user-dirs.locale": "en_US\n",
    _GIT: "[pull]\n\trebase = false\n",
    ".local/share/recently-used.xbel": "",
    ".profile": '[ -f "$HOME/.bashrc" ] && . "$HOME/.bashrc"\n',
    ".ssh/known_hosts": "",
}
_CALLS = "calls"  # in a scratch folder
_FOLDERS = (
    *("TMPDIR", "TMP", "TEMP", "GOCACHE"),
    *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxPolicy:
    """The sandbox of a run, and all that its plans have in common.

    `programs` are sq's own that have to run inside: Claude Code, the interpreter. `kept_out` are folders of
    which nothing may be shown unless a process needs it: the user's checkout, sq's own state. `shared` are
    folders that every process may read, if they exist, and `context` those that sessions may. `outside` is
    what they reach beside the model.
    `warn` hears of a ceiling that is near.
    """

    choice: Choice
    environ: Mapping[str, str]
    own_processes: bool
    home: Path = field(default_factory=Path.home)
    programs: tuple[Path, ...] = ()
    kept_out: tuple[Path, ...] = ()
    shared: tuple[Path, ...] = ()
    context: tuple[Path, ...] = ()
    ceilings: SandboxLimits = field(default_factory=SandboxLimits)
    warn: Callable[[str], None] = field(default=lambda _near: None, compare=False)
    groups: ControlGroups = field(default_factory=ControlGroups)
    outside: Outside = field(default_factory=Outside)

    @property
    def around_sessions(self) -> bool:
        """Whether Claude Code itself runs in the sandbox."""
        return self.choice.level is SandboxLevel.WHOLE

    @property
    def around_bash(self) -> bool:
        """Whether Claude Code's own sandbox holds the commands of its Bash tool."""
        return self.choice.level is SandboxLevel.COMMANDS

    @property
    def around_commands(self) -> bool:
        """Whether commands that sq runs on an agent's work are sandboxed."""
        return self.choice.level is not SandboxLevel.OFF and bool(self.choice.program)

    def plan(self, needs: Needs) -> SandboxPlan:
        """Return the plan for a process. Copies its git folder, and makes folders in `scratch`. Blocks."""
        stand_in = _prepared(needs, _who_commits(self.home))
        is_session, outside = needs.network is Network.GATEWAY, self.outside
        online = outside.hosts is not None and needs.network in {Network.GATEWAY, Network.HOSTS}
        for place, folder in outside.seeds.items() if online and is_session else ():
            shutil.copytree(
                folder, needs.scratch / "tmp" / place, copy_function=os.symlink, dirs_exist_ok=True
            )
        mounts = (
            *system_mounts(stand_in),
            *_homes(self.home, needs.scratch),
            *(filled := self._caches(needs)),
            *own_locks(filled, needs.scratch),
            *credentials_in(filled, stand_in),
            *(tools := [*self._toolchains(needs)]),
            *credentials_in(tools, stand_in, needs.path),
            *(reading(registry_credentials(self.home)) if needs.with_credentials else ()),
            *(writing if needs.writes else reading)([needs.workspace]),
            *reading((*self.shared, *needs.readable, *(outside.readable if online else ()))),
            *(Mount(target=target, source=source) for target, source in needs.beside.items()),
            *writing(needs.writable),
            *(git := [*_git(needs)]),
            *own_locks(git, needs.scratch),
            *(Mount(target=folder, access=Access.EMPTY) for folder in needs.hidden if _shown(folder, needs)),
        )
        plan = SandboxPlan(
            workspace=needs.workspace,
            mounts=mounts,
            network=needs.network,
            sockets=self._sockets(needs, online=online),
            variables={**outside.variables, **(outside.of_sessions if is_session else {})} if online else {},
            own_processes=self.own_processes,
            ceilings=self.ceilings,
            warn=self.warn,
            control_groups=self.groups.folders,
            memory=self.groups.memory_each,
            program=self.choice.program,
            filter=needs.scratch / _CALLS,
        )
        return _without_lost_variables(plan, self.environ)

    def _caches(self, needs: Needs) -> list[Mount]:
        fills = needs.with_credentials
        own = own_caches(self.home, self._store, writes=fills)
        return [*(writing if fills else reading)(caches(self.home, self.environ, writes=fills)), *own]

    @property
    def _store(self) -> Path:
        named = self.environ.get("XDG_CACHE_HOME", "")
        return (Path(named) if named.startswith("/") else self.home / ".cache") / "sq" / "packages"

    def _sockets(self, needs: Needs, *, online: bool) -> tuple[GatewaySocket, ...]:
        hosts, gateway = self.outside.hosts if online else None, needs.gateway
        serves = needs.network in {Network.NONE, Network.GATEWAY}  # tools that download get no service
        found = (gateway if needs.network is Network.GATEWAY else None, hosts)
        return (*filter(None, found), *(self.outside.services if serves else ()))

    def _toolchains(self, needs: Needs) -> Iterator[Mount]:
        """Yield the toolchains. A worktree's own environment stays writable, one in the checkout does not."""
        named = [value for name in toolchains().named_by if (value := self.environ.get(name))]
        never = [*self.kept_out, needs.workspace]
        found = toolchain_mounts(needs.path, home=self.home, programs=self.programs, named=named, never=never)
        own = needs.workspace not in self.kept_out
        return (one for one in found if not (own and one.target.is_relative_to(needs.workspace)))


def no_sandbox_policy(environ: Mapping[str, str]) -> SandboxPolicy:
    """Return the policy of a run without a sandbox."""
    return SandboxPolicy(
        choice=Choice(level=SandboxLevel.OFF, reason="none"), environ=environ, own_processes=False
    )


@lru_cache
def _who_commits(home: Path) -> str:
    """Return git's settings for tests that commit: the user's name, address and first branch, or others."""
    asked = ["git", "config", "--global", "--get-regexp", r"^(user\.(name|email)|init\.defaultbranch)$"]
    environ = {**os.environ, "HOME": str(home)}
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            asked, env=environ, capture_output=True, text=True, timeout=_ASKING_S, check=False
        )
        told = dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)
        lines = {key.partition("."): value for key, value in {**_NOBODY, **told}.items()}.items()
        quoted = ((one, json.dumps(value, ensure_ascii=False)) for one, value in lines)
        return "".join(f"[{section}]\n\t{name} = {value}\n" for (section, _, name), value in quoted)
    return ""


def _prepared(needs: Needs, identity: str) -> Path:
    scratch = needs.scratch
    for folder in (scratch / "home", scratch / "tmp", *needs.writable):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    usual = _USUAL if needs.lived_in else {}
    for name, text in {**usual, _GIT: usual.get(_GIT, "") + identity}.items():
        file = scratch / "home" / name
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.write_text(text)
    stand_in = scratch / "nothing"
    stand_in.touch(0o400)
    (scratch / _CALLS).write_bytes(filter_program())
    return stand_in


def _homes(home: Path, scratch: Path) -> Iterator[Mount]:
    yield Mount(target=Path("/tmp"), access=Access.WRITE, source=scratch / "tmp")  # noqa: S108  the one inside
    for mount in at_both(home, Access.WRITE):
        yield Mount(target=mount.target, access=Access.WRITE, source=scratch / "home")


def _shown(folder: Path, needs: Needs) -> bool:
    return any(folder.is_relative_to(one) for one in (needs.workspace, *needs.readable, *needs.writable))


def _git(needs: Needs) -> Iterator[Mount]:
    found = git_folders(needs.workspace)
    return git_mounts(found, needs.scratch, writes=needs.writes) if found else iter(())


def _without_lost_variables(plan: SandboxPlan, environ: Mapping[str, str]) -> SandboxPlan:
    """Drop the variables that name sockets, and those of folders that the plan does not show."""
    lost = [
        name
        for name in _FOLDERS
        if (value := environ.get(name)) and plan.reaches(Path(value)) is not Access.WRITE
    ]
    return replace(plan, dropped=(*_SOCKETS, *lost))
