"""What a step of a set-up made at the base, in other places of the run and in later runs: put there, tried.

A virtual environment is tried by its own interpreter, in the sandbox and without network: it has to be that
of the new place and to find the project's code there. If not, the command runs as if nothing were kept.
"""

import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import structlog
from anyio import to_thread

from orchestrator.project.readiness.kept import (
    ENVIRONMENT,
    Product,
    keep,
    kept_folder,
    lasting_folder,
    lasting_seal,
    let_last,
    put,
    remove_all,
)
from orchestrator.project.readiness.steps import SetUpStep
from orchestrator.run.record import Trial
from state.paths import remove_scratch_folder
from state.safe_paths import remove_tree

log = structlog.get_logger(__name__)
_QUICK_TOOLS = {"uv"}  # which leave it to the first import to compile
# Runs in an environment of the project, whatever its version: plain and short.
TRIAL = r"""
import importlib.util, os, sys
prefix, old, new = map(os.path.realpath, sys.argv[1:])
old = os.devnull if old == new else old
def below(path, folder):
    return os.path.realpath(path).startswith(folder + os.sep)
assert os.path.realpath(sys.prefix) == prefix, sys.prefix
assert not [one for one in sys.path if below(one, old)], sys.path
names, mapped = set(), {}
for folder in sys.path:
    if os.path.isdir(folder) and below(folder, new) and not below(folder, prefix):
        names.update(one.split(".")[0] for one in os.listdir(folder) if one.endswith(".py") or "." not in one)
for finder in sys.meta_path:
    mapped.update(getattr(sys.modules.get(getattr(finder, "__module__", "")), "MAPPING", {}))
for name in names.union(mapped):
    spec = importlib.util.find_spec(name) if name.isidentifier() and name[:2] != "__" else None
    places = [spec.origin or "", *(spec.submodule_search_locations or ())] if spec else []
    assert not [one for one in places if below(one, old)], places
    assert not below(mapped.get(name, ""), new) or [one for one in places if below(one, new)], name
"""


async def put_kept(run: Trial, step: SetUpStep, folder: Path) -> tuple[str, ...] | None:
    """Put what a step made at the base into a place. Return its paths, or None if its command has to run."""
    kept, seals = kept_folder(run.folder), {**run.view.evidence.seals, **run.scratch.seals}
    seal = seals.get(step.key, "")
    if step.locked and not (kept / step.key).is_dir():
        kept = lasting_folder(run.folder.parents[1])
        seal = seal or await to_thread.run_sync(lasting_seal, kept, step.key)
    found = await to_thread.run_sync(put, kept, step.key, seal, folder)
    if found is None:
        return None
    if await _works(run, found, folder):
        run.scratch.seals[step.key] = seal
        return found.paths
    await to_thread.run_sync(remove_tree, kept / step.key)
    await to_thread.run_sync(remove_all, folder, found.paths)
    return None


async def keep_made(run: Trial, step: SetUpStep, folder: Path, made: Sequence[str]) -> None:
    """Keep what a step's command made in a place that shows the base, for the other places of the run."""
    if step.ecosystem == "python" and step.tool not in _QUICK_TOOLS:
        for path in _environments(folder, made):  # by a relative path, so that no file names the place
            await run.commands.contained(f"{path}/bin/python -m compileall -q {path}/lib", folder)
    keeps = partial(keep, lasts=step.locked)
    seal = await to_thread.run_sync(keeps, kept_folder(run.folder), step.key, folder, made)
    if seal:
        run.scratch.seals[step.key] = seal


async def leave_for_later(run: Trial) -> None:
    """Leave what lasts to later runs, and remove the rest of what this run kept."""
    kept = kept_folder(run.folder)
    try:
        await to_thread.run_sync(let_last, kept, lasting_folder(run.folder.parents[1]))
    except OSError as error:
        log.warning("set_up.leave.failed", error=str(error))
    await remove_scratch_folder(kept)


async def _works(run: Trial, found: Product, folder: Path) -> bool:
    """Whether the environments of a kept result work in the place that they were put into."""
    for path in _environments(folder, found.paths):
        python, words = f"{path}/bin/python", (str(folder / path), found.made_in, str(folder))
        trial = f"{python} -I -c {shlex.quote(TRIAL)} {shlex.join(words)}"
        done = await run.commands.contained(trial, folder, brief=True)
        if not done.passed:
            return False
    return True


def _environments(folder: Path, paths: Sequence[str]) -> list[str]:
    return [shlex.quote(path) for path in paths if (folder / path / ENVIRONMENT).is_file()]
