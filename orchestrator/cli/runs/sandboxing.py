"""How the agents of a run are held: the choice of a sandbox, and the boundary that makes its plans."""

import sys
from functools import partial
from pathlib import Path

from anyio import to_thread

from agents.access import (
    Credentials,
)
from agents.process.containment import Containment
from agents.process.sandbox.choice import Choice, choose_sandbox
from agents.process.sandbox.control_groups import ControlGroups
from agents.process.sandbox.policy import SandboxPolicy
from agents.session.claude_code import find_cli
from orchestrator.cli.runs.request import RunEnvironment
from orchestrator.project.readiness.steps import kept_folder
from state.settings.records import Sandbox, Settings


async def choose(
    mode: Sandbox, settings: Settings, credentials: Credentials, surroundings: RunEnvironment
) -> Choice:
    """Return the sandbox that holds here.

    Raises:
        UsageError: one that was named does not hold.
    """
    look = partial(
        choose_sandbox,
        mode,
        containment=surroundings.containment,
        login=credentials is Credentials.CLI_LOGIN,
        gateway=settings.gateway or credentials is not Credentials.API_KEY,
        environ=surroundings.environ,
    )
    return await to_thread.run_sync(look)


def boundary_of(
    choice: Choice,
    settings: Settings,
    surroundings: RunEnvironment,
    repository: Path,
    run_folder: Path,
    groups: ControlGroups,
) -> SandboxPolicy:
    """Return the boundary of a run. It shows its checkout and sq's state only where they are needed."""
    home = Path(surroundings.environ.get("HOME") or Path.home())
    return SandboxPolicy(
        choice=choice,
        environ=surroundings.environ,
        own_processes=surroundings.containment is not Containment.NAMESPACES,
        home=home,
        programs=(find_cli(), Path(sys.executable)),
        kept_out=(repository, run_folder.parents[1]),
        shared=(kept_folder(run_folder),),
        ceilings=settings.sandbox.limits,
        groups=groups,
    )
