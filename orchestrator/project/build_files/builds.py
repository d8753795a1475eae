"""The project's own command that builds what is committed beside its source, such as `dist`."""

from pathlib import Path, PurePosixPath

from orchestrator.project.build_files.packages import MANIFEST, manager_of, scripts_of
from orchestrator.project.build_files.recipes import justfile_in, makefile_in, taskfile_in

_NAMES = ("build", "compile", "dist", "bundle", "generate", "gen")  # the first that exists is taken
_BUILT = frozenset({"dist", "build", "out", "compiled", "bundle", "generated", "gen", "__generated__"})


def is_built(path: str) -> bool:
    """Whether a relative path lies in a folder of what builds make."""
    return not _BUILT.isdisjoint(PurePosixPath(path).parts[:-1])


def build_command(folder: Path) -> str:
    """Return the command of a folder that builds the project, or "" if it names none."""
    scripts = scripts_of(folder / MANIFEST)
    for name in _NAMES:
        if name in scripts:
            return f"{manager_of(folder)} run {name}"
    files = {"make": makefile_in(folder), "just": justfile_in(folder), "task": taskfile_in(folder)}
    named = (
        f"{program} {name}"
        for name in _NAMES
        for program, made in files.items()
        if made and name in made.targets
    )
    return next(named, "")
