"""What a step of a set-up made at the base, in the other places of the run: put there, and tried.

A virtual environment is tried by its own interpreter, in the sandbox and without network: it has to be that
of the new place and to find the project's code there. If not, the command runs as if nothing were kept.
"""

import shlex
from collections.abc import Sequence
from pathlib import Path

from anyio import to_thread

from orchestrator.project.readiness.kept import ENVIRONMENT, Product, keep, kept_folder, put, remove_all
from orchestrator.project.readiness.steps import SetUpStep
from orchestrator.run.record import Run
from state.safe_paths import remove_tree

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


async def put_kept(run: Run, step: SetUpStep, folder: Path) -> tuple[str, ...] | None:
    """Put what a step made at the base into a place. Return its paths, or None if its command has to run."""
    seals = {**run.view.evidence.seals, **run.scratch.seals}
    kept, seal = kept_folder(run.folder), seals.get(step.key, "")
    found = await to_thread.run_sync(put, kept, step.key, seal, folder)
    if found is None:
        return None
    if await _works(run, found, folder):
        return found.paths
    await to_thread.run_sync(remove_tree, kept / step.key)
    await to_thread.run_sync(remove_all, folder, found.paths)
    return None


async def keep_made(run: Run, step: SetUpStep, folder: Path, made: Sequence[str]) -> None:
    """Keep what a step's command made in a place that shows the base, for the other places of the run."""
    if step.ecosystem == "python" and step.tool not in _QUICK_TOOLS:
        for path in _environments(folder, made):  # by a relative path, so that no file names the place
            await run.commands.contained(f"{path}/bin/python -m compileall -q {path}/lib", folder)
    seal = await to_thread.run_sync(keep, kept_folder(run.folder), step.key, folder, made)
    if seal:
        run.scratch.seals[step.key] = seal


async def _works(run: Run, found: Product, folder: Path) -> bool:
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
