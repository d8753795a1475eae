"""Composes a run of its parts."""

from collections.abc import Mapping
from pathlib import Path

from agents.backend import Platform
from agents.process.sandbox.boundary import Boundary
from orchestrator.run.commands import ProjectCommands
from orchestrator.run.evidence.grounds import ground_for
from orchestrator.run.evidence.proof.take import take_proofs
from orchestrator.run.evidence.verification import verify
from orchestrator.run.places.checkout import Checkout
from orchestrator.run.places.worktrees import Worktrees
from orchestrator.run.record import Evidence, Record, Run


def composed(
    recorder: Record,
    folder: Path,
    platform: Platform,
    workspaces: Worktrees | Checkout,
    boundary: Boundary,
    environ: Mapping[str, str],
) -> Run:
    """Return a run that works in `workspaces`, with its commands inside `boundary`.

    `folder` is the run's own, `environ` the environment of sq.
    """
    commands = ProjectCommands(
        environ=environ,
        folder=folder,
        settings=recorder.view.settings or platform.settings,
        containment=platform.containment,
        boundary=boundary,
    )
    return Run(
        recorder=recorder,
        folder=folder,
        platform=platform,
        places=workspaces,
        integration=workspaces,
        commands=commands,
        evidence=Evidence(ground_for=ground_for, verify=verify, take_proofs=take_proofs),
        environ=environ,
    )
