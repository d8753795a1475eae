"""What a resumed run may be given: tasks to try again, and other models."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from agents.session.permissions import rule_names
from orchestrator.cli.runs.request import RunEnvironment
from state.errors import UsageError
from state.journal.events.tasks import UNMERGED_ENDS
from state.journal.view import RunView
from state.roles import Role
from state.settings.config import load_config
from state.settings.records import Effort, Model, split_effort


def check_retries(view: RunView, task_ids: tuple[str, ...]) -> None:
    """Raise `UsageError` for tasks that have not ended unmerged, since they cannot be tried again.

    Raises:
        UsageError: with the state of the task, and the tasks that could be tried again.
    """
    ended = [id_ for id_, task in view.tasks.items() if task.stage in UNMERGED_ENDS]
    could_be = f"Could be: {', '.join(ended)}" if ended else "No task of this run has ended unmerged"
    for id_ in task_ids:
        if id_ not in view.tasks:
            known = ", ".join(view.tasks) or "none"
            raise UsageError(f"--retry {id_}: the run has no such task. Its tasks are: {known}")
        if id_ not in ended:
            stage = view.tasks[id_].stage
            raise UsageError(
                f"--retry {id_}: that task is {stage}, so there is nothing to try again. {could_be}"
            )


def models_now(
    repository: Path, surroundings: RunEnvironment, asked: Mapping[str, str], effort: Effort
) -> dict[Role, Model]:
    """Return the new models for a resumed run, with today's prices and the effort that its preset gives.

    Raises:
        UsageError: a role or a model is unknown.
    """
    if not asked:
        return {}
    flags = {f"models.{role}": (f"--model {role}", name) for role, name in asked.items()}
    settings = load_config(repository, surroundings.environ, flags=flags, rules=rule_names()).settings
    return {
        Role(role): replace(
            settings.models[Role(role)],
            effort=split_effort(name)[1] or split_effort(effort.models.get(Role(role), ""))[1],
        )
        for role, name in asked.items()
    }
