"""The variables that commands need in a worktree: its own programs and its own code come first.

If a project is installed from the user's checkout (`pip install -e .`), tests in a worktree import the
checkout's code (lesson 94). The worktree's folders are put into PYTHONPATH, which comes before the
entries of an installation.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from orchestrator.project.files import MANIFESTS, Shown, look
from orchestrator.project.readiness.interpreter import Interpreter, look_into_python
from orchestrator.project.readiness.steps import VENV

# Lists of folders that programs search. An entry in the checkout leads to the checkout's code.
_LISTS = ("PATH", "PYTHONPATH", "NODE_PATH", "RUBYLIB", "PERL5LIB", "CLASSPATH", "GOWORK")
_DEEPEST = 2
_UNSAFE = re.compile(r"[^\w./+@ -]")


def environment_of(folder: Path, *, checkout: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that commands in a worktree need beside those of `environ`, which they replace.

    Args:
        folder: the worktree.
        checkout: the user's checkout.
        environ: the environment of sq itself.
    """
    folder, checkout = Path(os.path.realpath(folder)), Path(os.path.realpath(checkout))
    found = {name: _moved(environ[name], checkout, folder) for name in _LISTS if environ.get(name)}
    shown = look(folder)
    parts = ["", *shown.folders_with(*MANIFESTS, deepest=_DEEPEST)]
    own = [folder / part / VENV for part in parts if (folder / part / VENV / "bin" / "python").exists()]
    if own:
        found["PATH"] = _joined([*(str(venv / "bin") for venv in own), found.get("PATH", os.defpath)])
        found["VIRTUAL_ENV"] = str(own[0])
    projects = [
        part for part in parts if shown.has(*(f"{part}/{name}" if part else name for name in MANIFESTS))
    ]
    if projects:
        python = look_into_python(environ, found.get("PATH", os.defpath), not_run_in=[folder, checkout])
        first = list(_code_first(shown, projects, python, checkout))
        if first:
            found["PYTHONPATH"] = _joined([*first, *filter(None, [found.get("PYTHONPATH")])])
    return {name: value for name, value in found.items() if value != environ.get(name)}


def exports_of(variables: Mapping[str, str], folder: Path) -> tuple[str, ...]:
    """Return these variables as a shell exports them in any copy of the worktree, without outside folders."""
    folder, exports = Path(os.path.realpath(folder)), []
    for name, value in variables.items():
        inside = [
            str(Path("$PWD", Path(entry).relative_to(folder)))
            for entry in value.split(os.pathsep)
            if Path(entry).is_relative_to(folder) and not _UNSAFE.search(entry)
        ]
        if inside:
            rest = f"${{{name}:+:${name}}}" if name in _LISTS else ""
            exports.append(f'{name}="{_joined(inside)}{rest}"')
    return tuple(exports)


def _code_first(
    shown: Shown, projects: Sequence[str], python: Interpreter | None, checkout: Path
) -> Iterator[str]:
    """Yield the folders of the worktree with code that no installation of its own leads to, each once."""
    folder, seen = shown.folder, set[Path]()
    if python and python.prefix.is_relative_to(folder):
        own = [root for root in python.roots if root.is_relative_to(folder)]
    else:
        own = []
    sources = [folder / part / "src" for part in projects if shown.ending(".py", under=_under(part, "src"))]
    for place in (*_places_in(python, checkout, folder), *(one for one in sources if one.parent not in own)):
        if place not in seen and place.is_dir():
            seen.add(place)
            yield str(place)


def _places_in(python: Interpreter | None, checkout: Path, folder: Path) -> Iterator[Path]:
    """Yield the worktree's folders for the code that an interpreter takes from the checkout."""
    if python is None:
        return
    for root in python.roots:
        if root.is_relative_to(checkout):
            here = folder / root.relative_to(checkout)
            yield here / "src" if any((here / "src").glob("*")) else here
    for place in python.places:
        if place.is_relative_to(checkout) and not place.is_relative_to(python.prefix):
            yield folder / place.relative_to(checkout)


def _moved(value: str, checkout: Path, folder: Path) -> str:
    """Return a list of folders with those of the checkout replaced by the worktree's, if it has them."""
    entries = []
    for entry in value.split(os.pathsep):
        path = Path(entry)
        here = folder / path.relative_to(checkout) if entry and path.is_relative_to(checkout) else path
        entries.append(str(here) if here != path and here.exists() else entry)
    return os.pathsep.join(entries)


def _joined(entries: Sequence[str]) -> str:
    return os.pathsep.join(entries)


def _under(part: str, name: str) -> str:
    return f"{part}/{name}/" if part else f"{name}/"
