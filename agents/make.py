"""Makes the platform of a run, with the sandboxes of its sessions."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from agents.access import Connection, ForwardConnection
from agents.asker import make_asker
from agents.backend import Platform, one_per_processor
from agents.claude_code.agent import NAMES, ClaudeCode, SessionTelemetry
from agents.claude_code.cli_settings import CommandSandbox
from agents.claude_code.executable import Launch
from agents.login import config_folder
from agents.process.containment import Containment
from agents.process.sandbox.needs import Needs
from agents.process.sandbox.policy import SandboxPolicy
from agents.process.sandbox.repository import git_folders
from agents.session.port import ChooseAgent
from agents.session.sandbox import SandboxWalls
from state.roles import Role
from state.secrets import secret_names
from state.settings.integrations import Telemetry
from state.settings.records import Settings


def make_platform(
    connection: Connection,
    *,
    cli: Path,
    run_folder: Path,
    containment: Containment,
    settings: Settings,
    sandbox_policy: SandboxPolicy,
    environ: Mapping[str, str],
    hidden: tuple[Path, ...],
    guarded: frozenset[str] = frozenset(),
    choose: ChooseAgent | None = None,
) -> Platform:
    """Return the platform of a run, and write Claude Code's launcher into the run's folder."""
    starts = one_per_processor()
    telemetry = _telemetry(connection, settings.integrations.telemetry, run_folder.name)
    launch, asker = make_asker(
        connection,
        cli=cli,
        folder=run_folder,
        containment=containment,
        environ=environ,
        starts=starts,
        keeps=NAMES if telemetry else frozenset(),
    )
    sandboxes = SessionSandboxes(sandbox_policy=sandbox_policy, launch=launch, containment=containment)
    agent = ClaudeCode(
        connection=connection,
        launch=launch,
        environ=environ,
        hidden=hidden,
        sandboxes=sandboxes,
        telemetry=telemetry,
        in_worktrees=settings.worktrees,
    )
    return Platform(
        agents={role: choose(role, agent) if choose else agent for role in Role},
        settings=settings,
        asker=asker,
        containment=containment,
        hidden=hidden,
        guarded=guarded,
        sandboxed=sandboxes.hold_sessions,
        online=sandboxes.open_hosts,
        starts=starts,
    )


def _telemetry(connection: Connection, telemetry: Telemetry, run_id: str) -> SessionTelemetry | None:
    """Return the telemetry of sessions. A collector that wants headers is reached by the gateway alone."""
    if not telemetry.otlp:
        return None
    if isinstance(connection, ForwardConnection):
        return SessionTelemetry(run_id=run_id)
    return None if telemetry.headers else SessionTelemetry(run_id=run_id, address=telemetry.traces_url)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSandboxes:
    """As `Sandboxes`, within the run's sandbox policy."""

    sandbox_policy: SandboxPolicy
    launch: Launch
    containment: Containment

    @property
    def hold_sessions(self) -> bool:
        return self.sandbox_policy.around_sessions or self.sandbox_policy.around_bash

    @property
    def open_hosts(self) -> bool:
        return self.sandbox_policy.around_sessions and self.sandbox_policy.outside.hosts is not None

    def walls(self, needs: Needs) -> SandboxWalls | None:
        """As `Sandboxes`. PATH is that of sq's own environment if the session has none."""
        if not self.sandbox_policy.around_sessions:
            return None
        path = needs.path or self.sandbox_policy.environ.get("PATH", os.defpath)
        return SandboxWalls(
            sandbox_policy=self.sandbox_policy,
            needs=replace(needs, path=path, readable=(*needs.readable, *self.sandbox_policy.context)),
            cli=self.launch.cli,
            containment=self.containment,
            drop_env=self.launch.dropped,
        )

    def of_commands(
        self, workspace: Path, environment: Mapping[str, str], temporary: Path | None
    ) -> CommandSandbox | None:
        if not self.sandbox_policy.around_bash:
            return None
        environ = {**self.sandbox_policy.environ, **environment}
        kept = config_folder({**environ, "HOME": str(self.sandbox_policy.home)})
        others = [folder for folder in self.sandbox_policy.kept_out if not workspace.is_relative_to(folder)]
        git, context = git_folders(workspace), self.sandbox_policy.context
        return CommandSandbox(
            home=self.sandbox_policy.home,
            unreadable=(kept, *others),
            readable=(workspace, git.common, git.own, *context) if git else (workspace, *context),
            writable=(temporary,) if temporary else (),
            unwritable=(git.common, git.own, *context) if git else context,
            secrets=tuple(secret_names(environ)),
        )
