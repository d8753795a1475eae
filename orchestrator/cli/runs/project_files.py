"""What agents have of files: instructions and MCP servers of the base, files for worktrees, other folders."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import prompts
from agents.process.sandbox.choice import Choice
from orchestrator.git.seeding import INCLUDE_FILE, patterns_in, refuse_not_ignored
from orchestrator.git.trees import text_at
from orchestrator.project.agent_files import instructions_at, servers_at
from orchestrator.project.readiness.checkout import siblings_named
from orchestrator.run.record import Run
from state.errors import UsageError
from state.settings.config import ResolvedConfig
from state.settings.records import Sandbox, Settings

_VERSIONS = (".tool-versions", ".python-version", ".ruby-version", ".node-version", ".java-version")


async def give_files(run: Run) -> None:
    """Give agents the project's instructions and servers, and commands the folders beside the checkout."""
    await _give_to_agents(run)
    await _show_beside(run)


async def _give_to_agents(run: Run) -> None:
    """Give agents the instructions of the base, which are recorded once, and Workers its named MCP servers.

    All are told which other folders they may read.

    Without worktrees the instructions are those of the checkout as the run found it.
    """
    base = run.view.plan.origin.instructed_at or run.started.base_commit
    texts, read = await instructions_at(run.repository, run.view.checkout.own_base or base)
    parts = [prompts.render("instructions", texts=texts, remarks=read.remarks)] if texts else []
    if run.settings.context:
        parts.insert(0, prompts.render("context", folders=run.settings.context))
    words = "\n\n".join(parts)
    servers = await servers_at(run.repository, base, run.settings.worker_mcp)
    run.platform = replace(run.platform, instructions=run.recorder.for_model(words), servers=servers)
    if texts and run.view.context.instructions is None:
        run.record(read)


async def _show_beside(run: Run) -> None:
    """Let commands read what the base's manifests and `worktree.include_beside` name beside the checkout.

    Shims read their versions from files in the folders above it.
    """
    found = await siblings_named(run.repository, run.started.base_commit) if run.settings.worktrees else {}
    above = [os.path.relpath(folder, run.repository) for folder in run.repository.parents]
    shims = (
        [f"{folder}/{name}" for folder in (*above, "~") for name in _VERSIONS]
        if run.settings.worktrees
        else []
    )
    named = {str(Path(one).expanduser()) for one in (*found, *run.settings.worktree_beside, *shims)}
    run.commands.beside = {one: os.path.realpath(run.repository / one) for one in named}


async def refuse_servers(
    settings: Settings, choice: Choice, repository: Path, base: str, mode: Sandbox | None = None
) -> None:
    """Refuse MCP servers that the base has not, or that no sandbox holds, unless the run was to have none.

    Raises:
        UsageError: says why, and the remedy.
    """
    await servers_at(repository, base, settings.worker_mcp)
    is_held = choice.held.level == Sandbox.WHOLE or (mode or settings.sandbox.mode) is Sandbox.OFF
    if settings.worker_mcp and not is_held:
        raise UsageError(
            f"worker.mcp: the servers would run outside a sandbox here ({choice.held.line}). Leave them out, "
            "or accept that with --sandbox off"
        )


async def with_included(
    config: ResolvedConfig, settings: Settings, repository: Path, base: str, state: Path
) -> Settings:
    """Return the settings with the patterns of the base's `.worktreeinclude`, unless others are set.

    Raises:
        UsageError: others are set, and name files that git does not ignore.
    """
    if config.values["worktree.include"].source == "default":
        patterns = patterns_in(await text_at(repository, base, INCLUDE_FILE))
        return replace(settings, worktree_include=patterns, included_by_file=bool(patterns))
    if settings.worktrees:
        await refuse_not_ignored(repository, settings.worktree_include, state=state)
    return settings


def context_folders(
    given: Iterable[str], folder: Path, repository: Path, environ: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the folders of `--context`, absolute and without links.

    Args:
        given: as they were typed, relative to `folder`, or to the repository if nothing is there.
        folder: where sq was called.
        repository: the run's.
        environ: of sq, for the home.

    Raises:
        UsageError: one is missing, or would show what agents may not see. It says what to name instead.
    """
    home = Path(environ.get("HOME") or Path.home()).resolve()
    found = []
    for one in given:
        path = (folder / Path(one).expanduser()).resolve()
        path = path if path.exists() else (repository / Path(one).expanduser()).resolve()
        if not path.is_dir():
            raise UsageError(f"--context {one}: there is no such folder. Name one that agents may read")
        if path.is_relative_to(repository.resolve()):
            raise UsageError(f"--context {one}: it is inside the repository, which agents see anyway")
        if repository.resolve().is_relative_to(path):
            raise UsageError(f"--context {one}: it holds the repository itself. Name a folder beside it")
        if home.is_relative_to(path):
            raise UsageError(
                f"--context {one}: it holds your home folder, with your keys. Name one checkout in it"
            )
        found.append(str(path))
    return tuple(dict.fromkeys(found))
