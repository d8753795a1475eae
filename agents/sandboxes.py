"""The sandboxes of a run's sessions: around Claude Code itself, or around the commands of its Bash tool."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from agents.backend import Claude
from agents.process.containment import Containment
from agents.process.sandbox.needs import Needs
from agents.process.sandbox.policy import SandboxPolicy
from agents.process.sandbox.repository import git_folders
from agents.session.cli_settings import CommandSandbox
from agents.session.sandbox import SandboxWalls
from state.secrets import secret_names


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSandboxes:
    """As `Sandboxes`, within the run's boundary."""

    boundary: SandboxPolicy
    claude: Claude
    containment: Containment

    @property
    def hold_sessions(self) -> bool:
        """As `Sandboxes`."""
        return self.boundary.around_sessions or self.boundary.around_bash

    def walls(self, needs: Needs) -> SandboxWalls | None:
        """As `Sandboxes`. PATH is that of sq's own environment if the session has none."""
        if not self.boundary.around_sessions:
            return None
        path = needs.path or self.boundary.environ.get("PATH", os.defpath)
        return SandboxWalls(
            boundary=self.boundary,
            needs=replace(needs, path=path),
            cli=self.claude.cli,
            containment=self.containment,
            drop_env=self.claude.dropped,
        )

    def of_commands(
        self, workspace: Path, environment: Mapping[str, str], temporary: Path | None
    ) -> CommandSandbox | None:
        """As `Sandboxes`."""
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
