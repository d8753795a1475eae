"""The steps of a set-up, each by a copy of an earlier result or by its command, and the user's own list.

Inside the sandbox only the run's base has the network and credentials. A worktree without any other file
shows the base's files for a moment. In that moment the steps are done, with the network, the registries'
credentials and writable caches. Then it shows its own files again, and only the steps that depend on changed
files are done once more: downloads apart, and the build without network. sq's note on a worktree says which
steps are done. It lies beside the index, where no agent of a sandbox can write.
"""

import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import anyio
from anyio import to_thread

from orchestrator.git.seeding import ignored_in
from orchestrator.git.trees import contents_at, files_in
from orchestrator.git.workspace import holds_more, remove_others, show_content, tree_of
from orchestrator.project.readiness.environment import environment_of
from orchestrator.project.readiness.kept import copied, downloads_of, kept_folder, remove_all, wheels_of
from orchestrator.project.readiness.plan import SetUpPlan, plan_without_ignored
from orchestrator.project.readiness.registries import private_addresses
from orchestrator.project.readiness.steps import VENV, SetUpStep, apart, copy_manifests, manifests_in
from orchestrator.project.runners.row import OfflineInstall
from orchestrator.run.places.shared import keep_made, put_kept
from orchestrator.run.ports import Reach
from orchestrator.run.record import Trial
from state.paths import remove_scratch_folder, scratch_folder
from state.records.commands import CommandRun
from state.safe_paths import write_inside
from state.secrets import without_secrets
from state.words import listed

_LARGEST = 50_000_000  # bytes of a lock file
_PIP = f"{VENV}/bin/python -m pip"
_NOT_COMPILED = {"PIP_NO_COMPILE": "0"}  # pip takes the value for the opposite of what the name says


@dataclass(slots=True)
class Results:
    """The results of a set-up so far.

    `made` are the paths that the steps made, `again` those that were copied instead. `not_again` says which
    changed steps could not be done again and why. `keys` are those of the steps that were tried, `apart` of
    those that downloaded apart. `sealed`: the user's list ran without network, on changed files. `failed`: a
    step did before.
    """

    runs: list[CommandRun] = field(default_factory=list)
    made: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    not_again: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    apart: list[str] = field(default_factory=list)
    sealed: bool = False
    failed: bool = False


async def plan_for(run: Trial, folder: Path) -> SetUpPlan:
    """Return the set-up that follows from the files of a worktree, nothing if the user switched that off."""
    if not run.settings.sets_up_by_itself:
        return SetUpPlan()
    return await plan_without_ignored(
        folder,
        checkout=run.repository,
        include=run.settings.worktree_include,
        environ=without_secrets(run.environ),
    )


async def ready_environment(run: Trial, folder: Path) -> dict[str, str]:
    """Return the variables that commands in a worktree need beside those of sq's own environment.

    The worktree's own environment is first on the PATH, and its code is found before that of the checkout.
    """
    environ = without_secrets(run.environ)
    look = partial(environment_of, folder, checkout=run.repository, environ=environ)
    found = await to_thread.run_sync(look)
    if any(downloads_of(kept_folder(run.folder)).glob("*")):
        for step in (await plan_for(run, folder)).steps:
            row, into = apart(step), downloads_of(kept_folder(run.folder)) / step.key
            if row.lasting and into.is_dir():
                found.update(row.variables_for(into, building=True))
    return found


async def run_steps(
    run: Trial, plan: SetUpPlan, folder: Path, into: Results, *, index: Path, keeps: bool
) -> None:
    """Do each step as at the base, with the network and credentials if its command has to be run.

    `index` names the files that the worktree shows now. `keeps`: they are those of the base and no agent was
    there, so that other places get what the commands make.
    """
    environment = await ready_environment(run, folder)
    for step in plan.steps:
        into.keys.append(step.key)
        if (paths := await put_kept(run, step, folder)) is not None:
            into.again += paths
            continue
        variables = {**environment, **(_NOT_COMPILED if keeps else {})}
        made = await _run_step(run, step, folder, variables, into, reach=Reach.ONLINE, index=index)
        if keeps and into.runs[-1].passed:
            await keep_made(run, step, folder, made)
            if run.commands.sandboxed:
                await _collect_wheels(run, step, folder, environment)


async def run_steps_apart(
    run: Trial, steps: Sequence[SetUpStep], folder: Path, into: Results, *, tree: str
) -> None:
    """Do steps whose files an agent may have changed: the downloads in an empty folder, the rest sealed.

    One that failed on the same `tree` before is not run again.
    """
    for step in steps:
        into.keys.append(step.key)
        if (paths := await put_kept(run, step, folder)) is not None:
            into.again += paths
            continue
        row = apart(step)
        if row.why_not:
            into.not_again.append(f"`{step.command}` ({step.why}) is not run again: {row.why_not}")
            continue
        if private := await _private_addresses(run, row, folder):
            why = f"files that a task changed lead to this machine or its network: {listed(sorted(private))}"
            into.not_again.append(f"`{step.command}` ({step.why}) is not run again: {why}")
            continue
        if (tree, step.key) in run.scratch.failed:
            into.failed = True
            into.not_again.append(f"`{step.command}` ({step.why}) is not run again: it failed on this tree")
            continue
        into.apart.append(step.key)
        before = len(into.runs)
        await _run_apart(run, step, row, folder, into)
        if not all(one.passed for one in into.runs[before:]):
            run.scratch.failed.add((tree, step.key))


async def run_listed(
    run: Trial, folder: Path, *, reach: Reach, environment: Mapping[str, str] | None = None
) -> list[CommandRun]:
    """Run the user's commands in order, up to the first that fails."""
    runs: list[CommandRun] = []
    for command in run.settings.worktree_setup:
        runs.append(await run.commands.contained(command, folder, environment, reach=reach))
        if not runs[-1].passed:
            break
    return runs


async def _run_apart(run: Trial, step: SetUpStep, row: OfflineInstall, folder: Path, into: Results) -> None:
    kept = kept_folder(run.folder)
    downloads = downloads_of(kept) / step.key
    if not downloads.is_dir():
        downloads.mkdir(mode=0o700, parents=True)
        done = await _download(run, row, folder, downloads) if row.download else None
        into.runs += [done] if done else []
        if done and not done.passed:
            await remove_scratch_folder(downloads)
            return
    if not row.build:
        return
    async with scratch_folder() as temporary:
        own = temporary / "downloads"  # a tool writes into its cache, and this one is read by others too
        if not await to_thread.run_sync(copied, downloads, own):
            into.not_again.append(
                f"`{step.command}` ({step.why}) is not run again: its downloads cannot be read"
            )
            return
        variables = {
            **await ready_environment(run, folder),
            **row.variables_for(own, building=True),
            **_links(kept, own, row),
        }
        build = replace(step, command=row.build)
        await _run_step(run, build, folder, variables, into, reach=Reach.SEALED, writable=[own])


async def _private_addresses(run: Trial, row: OfflineInstall, folder: Path) -> set[str]:
    """Return the hosts of this machine or its network that a worktree's manifests newly name."""
    texts = await to_thread.run_sync(lambda: [content for _, content in manifests_in(row, folder)])
    if not (found := private_addresses(b"\n".join(texts).decode(errors="replace"))):
        return found
    base = await base_tree(run)
    paths = [one for one in await files_in(run.repository, base) if one.rpartition("/")[2] in row.manifests]
    before = (await contents_at(run.repository, base, paths, largest=_LARGEST)).values()
    return found - private_addresses(b"\n".join(before).decode(errors="replace"))


async def _download(run: Trial, row: OfflineInstall, folder: Path, downloads: Path) -> CommandRun:
    async with scratch_folder() as scratch:
        await to_thread.run_sync(copy_manifests, row, folder, scratch)
        variables = {
            **row.variables_for(downloads, building=False),
            **_links(kept_folder(run.folder), downloads, row),
        }
        return await run.commands.contained(
            row.download, scratch, variables, writable=[downloads], reach=Reach.DOWNLOADS
        )


def _links(kept: Path, downloads: Path, row: OfflineInstall) -> dict[str, str]:
    """Return the variable with which pip finds the downloads, and the packages that the base needed."""
    if "PIP_FIND_LINKS" not in row.offline:
        return {}
    folders = [downloads, *sorted(wheels_of(kept).glob("*"))]
    return {"PIP_FIND_LINKS": " ".join(one.as_uri() for one in folders)}


async def _collect_wheels(run: Trial, step: SetUpStep, folder: Path, environment: Mapping[str, str]) -> None:
    """Keep the packages that pip installed at the base, and those of its build, as wheels."""
    wheels = wheels_of(kept_folder(run.folder)) / step.key
    if step.program != "python3" or wheels.is_dir():
        return
    wheels.mkdir(mode=0o700, parents=True)
    root = f"cd {step.why.rpartition('/')[0] or '.'} && "
    collect = (
        f'{root}{_PIP} freeze --all --exclude-editable > "$SQ_WHEELS/list.txt" && '
        f'{_PIP} wheel --quiet --no-deps --wheel-dir "$SQ_WHEELS" -r "$SQ_WHEELS/list.txt"'
    )
    variables = {**environment, "SQ_WHEELS": str(wheels)}
    await run.commands.contained(collect, folder, variables, writable=[wheels], reach=Reach.ONLINE)


async def _run_step(
    run: Trial,
    step: SetUpStep,
    folder: Path,
    environment: Mapping[str, str],
    into: Results,
    *,
    reach: Reach,
    index: Path | None = None,
    writable: Sequence[Path] = (),
) -> tuple[str, ...]:
    """Run a step's command, and return the ignored files that it made.

    If it fails, they are removed, because partial results would be taken for complete.
    """
    before = await ignored_in(folder, index)
    done = await run.commands.contained(step.command, folder, environment, writable=writable, reach=reach)
    into.runs.append(done)
    after = await ignored_in(folder, index)
    made = tuple(path for path, mark in after.items() if before.get(path) != mark)
    if done.passed:
        into.made += made
        return made
    await to_thread.run_sync(remove_all, folder, made)
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Worktree:
    """A worktree that is set up.

    `tree` are its own files. `index` is an index file of sq's, which `take_index` brings up to the files that
    are there. `done` are the keys of steps that were done there before. `fresh`: it may show the base, if it
    has no file beside its own. `disposable`: other files in it may be removed for that, because no work is
    among them.
    """

    folder: Path
    index: Path
    tree: str
    take_index: Callable[[], Awaitable[str]]
    done: frozenset[str] = frozenset()
    fresh: bool = False
    disposable: bool = False


async def base_tree(run: Trial) -> str:
    """Return the tree that the run began with. Without worktrees it is the checkout as the user left it."""
    return await tree_of(run.repository, run.view.checkout.own_base or run.started.base_commit)


@asynccontextmanager
async def as_base(run: Trial, at: Worktree) -> AsyncIterator[bool]:
    """Show the base in a worktree while the block runs, and yield whether it holds exactly that."""
    if not at.fresh:
        yield False
        return
    base = await base_tree(run)
    await at.take_index()
    try:
        await show_content(at.folder, at.index, base)
        if at.disposable:
            await remove_others(at.folder, at.index)
        exactly = not await holds_more(at.folder, at.index)
        if not exactly:
            await show_content(at.folder, at.index, at.tree)
        yield exactly
    finally:
        with anyio.CancelScope(shield=True):
            await at.take_index()
            await show_content(at.folder, at.index, at.tree)


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """sq's note on a worktree: `state` says whether its set-up is done, and for which key.

    `keys` are those of the steps that were done, `apart` of those whose downloads were made apart. `made` are
    the paths that the steps made there.
    """

    state: str = ""
    keys: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    made: tuple[str, ...] = ()


def read_note(marker: Path) -> Noted:
    """Return the note, an empty one if there is none."""
    lines = marker.read_text("utf-8").splitlines() if marker.exists() else []
    state, keys, apart, made = [*lines, "", "", "", ""][:4]
    paths = tuple(json.loads(made or "[]"))
    return Noted(state=state, keys=tuple(keys.split()), apart=tuple(apart.split()), made=paths)


def write_note(marker: Path, noted: Noted) -> None:
    """Write the note, whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    text = f"{noted.state}\n{' '.join(noted.keys)}\n{' '.join(noted.apart)}\n{json.dumps(noted.made)}\n"
    write_inside(marker.parent, marker.name, text.encode())


def is_lost(kept: Path, folder: Path, noted: Noted) -> bool:
    """Whether something is gone: downloads, which the run's end removes, or what the steps made."""
    return any(not (downloads_of(kept) / key).is_dir() for key in noted.apart) or any(
        not os.path.lexists(folder / path) for path in noted.made
    )
