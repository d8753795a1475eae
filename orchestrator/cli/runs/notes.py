"""Notes for people before a run begins: its first lines."""

import os
from pathlib import Path

from agents.api_key import REMEDY, VISIBLE, ApiKey
from agents.process.sandbox.choice import Choice
from orchestrator.gates.power_steering.considerations import load_considerations
from orchestrator.git.pinned import left_out_programs
from orchestrator.git.pinned_config import TrustedGit
from orchestrator.git.repository import Repository, uncommitted
from orchestrator.views.run.ending import NETWORK_IS_OPEN
from state.secrets import without_secrets
from state.settings.records import CommandNetwork, Settings, Steering


async def notes_for(
    repository: Repository,
    trusted: TrustedGit,
    settings: Settings,
    not_dirt: list[Path],
    *,
    edit_dirty: bool = False,
) -> tuple[str, ...]:
    """The notes of a run that is about to begin, one line each."""
    left = await uncommitted(repository, not_dirt=not_dirt) if repository.head else []
    notes = [_where(repository, settings, clean=not left)]
    if repository.head is None:
        notes.append("the repository has no commit yet: the run starts from an empty one")
    if left and settings.worktrees:
        notes.append(f"{len(left)} uncommitted change(s) in the checkout are not part of this run")
    if left and not settings.worktrees:
        words = "agents may change them" if edit_dirty else "they stay as they are, agents work around them"
        notes.append(f"{len(left)} uncommitted change(s) in the checkout: {words}")
    if settings.effort.power_steering is not Steering.NONE:
        problems = load_considerations(repository.root).problems
        notes += [f"left out of power steering: {problem}" for problem in problems]
    if settings.worktrees and settings.sets_up_by_itself:
        notes += await _set_up(repository.root, settings)
    return (*notes, *_left_out(trusted))


def open_network(settings: Settings, choice: Choice) -> list[str]:
    """Return a line if commands in the sandbox have the network."""
    sandboxed = choice.held.commands and settings.sandbox.network is CommandNetwork.FULL
    return [NETWORK_IS_OPEN] if sandboxed else []


def how_exposed(key: ApiKey | None, settings: Settings, *, hidden: bool) -> str:
    """Return how the commands of agents could read the user's API key, and the remedy, or "".

    `hidden`: a PID namespace hides sq and its shell from agents.
    """
    if key is None:
        return ""
    if not settings.gateway:
        return "the gateway is off: agents have the API key in their environment"
    if key.exposed and not hidden:
        return f"{VISIBLE}. To keep it from them: {REMEDY}"
    return ""


def _left_out(trusted: TrustedGit) -> list[str]:
    """The drivers of git that a run does not use."""
    return [
        f"git: sq does not use {name}, because it runs a program of the tree, which agents can write: name "
        "one outside by its absolute path"
        for name in left_out_programs(trusted)
    ]


async def _set_up(root: Path, settings: Settings) -> list[str]:
    """How worktrees will be made ready, by the files of the checkout."""
    from orchestrator.project.readiness.plan import plan_without_ignored

    plan = await plan_without_ignored(
        root, checkout=root, include=settings.worktree_include, environ=without_secrets(os.environ)
    )
    return [f"set-up: {line}" for line in (*map(str, plan.steps), *plan.left_out)]


def _where(repository: Repository, settings: Settings, *, clean: bool) -> str:
    if settings.dry_run:
        return "a dry run: it ends with the plan, and nothing is built"
    if not settings.worktrees:
        return "the work happens in this checkout, and nothing is staged or committed there"
    if not settings.merge:
        return "the finished work stays on a branch of sq's, as --no-merge asks"
    if repository.branch is None:
        return "HEAD is detached: the finished work stays on a branch of sq's"
    now = "" if clean else ". It is not clean now: as it is, the work stays on a branch of sq's"
    return f"at the end {repository.branch} is moved to the finished work, if the checkout is clean then{now}"
