"""The common base of a run's roles: the connection, Claude Code's launcher, the models, one `Asker`."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from agents.access import Connection, Lane
from agents.ask.api import ApiAsker
from agents.ask.cli import CliAsker
from agents.ask.port import Asker
from agents.process.containment import Containment
from agents.process.launcher import write_launcher
from agents.process.sandbox.boundary import Boundary, Needs
from agents.process.sandbox.plan import Network
from agents.process.sandbox.repository import git_folders
from agents.session.cli_settings import CommandSandbox
from agents.session.exchange import SessionSpec
from agents.session.permissions import REFLOG_NAME, Policy
from agents.session.tools import SignalTool
from agents.session.walls import Walls
from state.roles import ROLES, Role
from state.secrets import secret_names
from state.settings.records import Model, Settings

SANDBOXES = "sandboxes"  # in a run's folder: the scratch folders of sandboxed processes, while they last


def _one_per_processor() -> anyio.CapacityLimiter:
    return anyio.CapacityLimiter(os.cpu_count() or 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claude:
    """How Claude Code is started in a run.

    `launcher` starts it without a sandbox. `dropped` are variables that it does not get. `folder` holds what
    sessions keep while they last.
    """

    cli: Path
    launcher: Path
    dropped: frozenset[str]
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """`hidden` are folders that no agent may see: sq's own state. No file tool may write `guarded` paths.

    `starts` is held while a Claude Code process starts. A start takes a processor for a while, so that many
    sessions that begin at once are started in turn.
    """

    connection: Connection
    claude: Claude
    settings: Settings
    asker: Asker
    containment: Containment
    hidden: tuple[Path, ...]
    boundary: Boundary
    guarded: frozenset[str] = frozenset()
    starts: anyio.CapacityLimiter = field(default_factory=_one_per_processor)

    @property
    def models(self) -> Mapping[Role, Model]:
        """The model of each role."""
        return self.settings.models

    def session(
        self,
        lane: Lane,
        *,
        workspace: Path,
        system: str,
        signals: tuple[SignalTool, ...],
        session_id: str,
        resume: bool,
        cost_before_usd: float,
        temporary: Path | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> SessionSpec:
        """Return the spec of a session of this lane's role, which gets the role's built-in tools.

        `temporary` is a folder of its own for a role that writes. The session may write there and in the
        workspace, and not elsewhere. Without it, the session only reads. `variables` are environment
        variables for commands in the workspace.
        """
        environment = {**(variables or {}), **self.connection.session_environment(lane)}
        config_dir = self._config_dir(session_id)
        if config_dir:
            environment["CLAUDE_CONFIG_DIR"] = str(config_dir)
        if temporary:
            environment["TMPDIR"] = str(temporary)
            if not self.settings.worktrees:
                environment["GIT_REFLOG_ACTION"] = REFLOG_NAME
        return SessionSpec(
            role=lane.role,
            workspace=workspace,
            model=self.models.get(lane.role) or self.models[Role.WORKER],  # an older run names no resolver
            system=system,
            policy=self._policy(lane.role, workspace, temporary),
            signals=signals,
            session_id=session_id,
            resume=resume,
            cost_before_usd=cost_before_usd,
            environment=environment,
            launcher=self.claude.launcher,
            walls=self._walls(workspace, session_id, environment, temporary),
            command_sandbox=self._command_sandbox(workspace, environment, temporary),
            max_turns=self.settings.limits.max_turns,
            idle_limit_s=self.settings.limits.idle_s,
            connect_limit_s=self.settings.limits.connect_s,
        )

    def _policy(self, role: Role, workspace: Path, temporary: Path | None) -> Policy:
        return Policy(
            tools=ROLES[role].tools,
            readable=(workspace,),
            writable=(workspace, temporary) if temporary else (),
            hidden=self.hidden,
            protected=self.settings.protected,
            allowed=self.settings.allowed,
            guarded=self.guarded,
            role=role,
        )

    def _config_dir(self, session_id: str) -> Path | None:
        """Return the CLI's configuration folder for a session. No session reads or writes that of another."""
        shared = self.connection.config_dir
        return shared / (session_id or "new") if shared else None

    def _walls(
        self, workspace: Path, session_id: str, environment: Mapping[str, str], temporary: Path | None
    ) -> Walls | None:
        if not self.boundary.around_sessions:
            return None
        config_dir = self._config_dir(session_id)
        needs = Needs(
            workspace=workspace,
            scratch=self.claude.folder / (session_id or "new"),
            path=environment.get("PATH") or self.boundary.environ.get("PATH", os.defpath),
            writes=temporary is not None,
            writable=[folder for folder in (temporary, config_dir) if folder],
            hidden=self.hidden,
            network=Network.GATEWAY,
            gateway=self.connection.gateway_socket,
        )
        return Walls(
            boundary=self.boundary,
            needs=needs,
            cli=self.claude.cli,
            containment=self.containment,
            drop_env=self.claude.dropped,
        )

    def _command_sandbox(
        self, workspace: Path, environment: Mapping[str, str], temporary: Path | None
    ) -> CommandSandbox | None:
        if not self.boundary.around_bash:
            return None
        environ = {**self.boundary.environ, **environment}
        kept = Path(environ.get("CLAUDE_CONFIG_DIR") or self.boundary.home / ".claude")
        others = [folder for folder in self.boundary.kept_out if not workspace.is_relative_to(folder)]
        git = git_folders(workspace)
        return CommandSandbox(
            home=self.boundary.home,
            unreadable=(kept, *others),
            readable=(workspace, git.common, git.own) if git else (workspace,),
            writable=(temporary,) if temporary else (),
            unwritable=(git.common, git.own) if git else (),
            secrets=tuple(secret_names(environ)),
        )

    def has_transcript(self, session_id: str, environ: Mapping[str, str]) -> bool:
        """Whether the CLI has kept a conversation of this id, so that it can be resumed."""
        folder = self._config_dir(session_id)
        if folder is None:
            folder = Path(environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
        return any((folder / "projects").glob(f"*/{session_id}.jsonl"))


def make_platform(
    connection: Connection,
    *,
    cli: Path,
    run_folder: Path,
    containment: Containment,
    settings: Settings,
    boundary: Boundary,
    environ: Mapping[str, str],
    hidden: tuple[Path, ...],
    guarded: frozenset[str] = frozenset(),
) -> Platform:
    """Return the platform of a run, and write the launcher into the run's folder."""
    starts = _one_per_processor()
    claude, asker = make_asker(
        connection, cli=cli, folder=run_folder, containment=containment, environ=environ, starts=starts
    )
    return Platform(
        connection=connection,
        claude=claude,
        settings=settings,
        asker=asker,
        containment=containment,
        hidden=hidden,
        boundary=boundary,
        guarded=guarded,
        starts=starts,
    )


def make_asker(
    connection: Connection,
    *,
    cli: Path,
    folder: Path,
    containment: Containment,
    environ: Mapping[str, str],
    starts: anyio.CapacityLimiter | None = None,
) -> tuple[Claude, Asker]:
    """Write Claude Code's launcher into `folder`, and return it with the `Asker`: the API, else the CLI.

    `starts`, if given, is held while a process starts.
    """
    passed_on = connection.session_environment(Lane(role=Role.WORKER, task="", attempt=0))
    inside_claude = [name for name in environ if name.startswith(("CLAUDE_CODE_", "CLAUDE_SESSION", "SQ_"))]
    dropped = frozenset({*secret_names(environ), *inside_claude} - set(passed_on))
    launcher = write_launcher(folder / "launcher", cli, containment, drop_env=dropped)
    claude = Claude(cli=cli, launcher=launcher, dropped=dropped, folder=folder / SANDBOXES)
    if connection.api_access(Lane(role=Role.DEVELOPER, task="", attempt=0)):
        return claude, ApiAsker(connection)
    return claude, CliAsker(connection, launcher=launcher, workspace=folder, starts=starts)
