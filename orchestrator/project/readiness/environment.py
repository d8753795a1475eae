"""The variables that commands need in a worktree, and the packages of the `python3` on the PATH.

The worktree's own programs and code come first. If a project is installed from the user's checkout
(`pip install -e .`), tests in a worktree import the checkout's code (lesson 94). The worktree's folders are
put into PYTHONPATH, which comes before the entries of an installation.

Packages are read from the interpreter's folders, and nothing of them is imported. An interpreter in a folder
where an agent works is not run: sq's own one reads the files of its environment.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.project.files import MANIFESTS, Shown, look
from orchestrator.project.readiness.steps import VENV, below
from state.safe_paths import read_inside

_LIMIT_S = 20
_LONGEST = 1 << 16
# Runs in the user's interpreter, whatever its version: plain and short.
_SCRIPT = r"""
import ast, json, os, re, sys
names, places = [], []
given = sys.argv[1:]
def text_of(path):  # whose folder anybody may have written: no link is followed, no pipe waited for
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), errors="replace") as file:
        return file.read(1 << 20)
folders = given or sys.path
for folder in given:
    for entry in sorted(os.listdir(folder)):
        if entry.endswith(".pth"):
            for line in map(str.strip, text_of(os.path.join(folder, entry)).splitlines()):
                if line and not line.startswith(("#", "import ", "import\t")):
                    folders = folders + [os.path.join(folder, line)]
for folder in folders:
    try:
        entries = os.listdir(folder)
    except OSError:
        continue
    if "site-packages" not in folder and "dist-packages" not in folder:
        places.append(folder)
    for entry in entries:
        if entry.endswith((".dist-info", ".egg-info", ".egg-link")):
            names.append(re.split(r"-\d|\.(?:dist-info|egg-info|egg-link)$", entry)[0])
        found = os.path.join(folder, entry)
        try:
            if entry.endswith(".dist-info"):
                url = json.loads(text_of(os.path.join(found, "direct_url.json")))
                if url.get("dir_info", {}).get("editable") and url["url"].startswith("file://"):
                    from urllib.parse import unquote, urlsplit
                    places.append("root:" + unquote(urlsplit(url["url"]).path))
            elif entry.startswith("__editable__") and entry.endswith("_finder.py"):
                mapping = re.search(r"^MAPPING[^=]*=\s*(\{.*\})\s*$", text_of(found), re.MULTILINE)
                for name, path in ast.literal_eval(mapping.group(1)).items() if mapping else ():
                    if os.path.basename(path) == name or os.path.basename(path) == name + ".py":
                        places.append(os.path.dirname(path))
        except (OSError, ValueError, KeyError, SyntaxError):
            continue
version = list(sys.version_info[:3])
told = {"version": version, "prefix": sys.prefix, "names": names, "places": places, "folders": folders}
print(json.dumps(told))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """A Python: its installed packages, by normalized name, and the outside folders of its code.

    `roots` are the folders of projects that are installed in editable form, `places` those with their code.
    `folders` are all that it looks for packages in.
    """

    path: str
    version: str
    prefix: Path
    names: frozenset[str]
    roots: tuple[Path, ...]
    places: tuple[Path, ...]
    folders: tuple[str, ...] = ()

    def packages(self) -> tuple[str, ...]:
        """Return a mark of each of its folders, which changes when a package comes, goes or is made again.

        Caches and hidden names are left out: any process makes them.
        """
        return tuple(map(_mark_of, self.folders))


def _mark_of(folder: str) -> str:
    """Return a mark of the names in a folder, and of the times of its files and its records of packages."""
    try:
        with os.scandir(folder) as found:
            facts = sorted(
                (
                    one.name,
                    one.stat(follow_symlinks=False).st_mtime_ns
                    if one.name.endswith("-info") or not one.is_dir()
                    else 0,
                )
                for one in found
                if not one.name.startswith((".", "__pycache__"))
            )
    except OSError:
        return ""
    return hashlib.sha256(repr(facts).encode("utf-8", "surrogateescape")).hexdigest()[:16]


_known: dict[tuple[str, ...], tuple[Interpreter, tuple[str, ...]]] = {}  # a start takes 0.2 s


def look_into_python(
    environ: Mapping[str, str], path: str, *, not_run_in: Sequence[Path]
) -> Interpreter | None:
    """Return the contents of the first `python3` of `path`, or None if none answers.

    `not_run_in`: folders where agents work. Of an interpreter there, only files are read.
    """
    program = shutil.which("python3", path=path)
    if program is None:
        return None
    if any(_is_inside(program, folder) for folder in not_run_in):
        return _read(program, environ)
    kept = {name: value for name, value in environ.items() if name not in {"PYTHONPATH", "PYTHONHOME"}}
    kept["PATH"] = path
    asked = program, *(f"{name}={value}" for name, value in sorted(kept.items()))
    known = _known.get(asked)
    if known and known[0].packages() == known[1]:
        return known[0]
    if found := _told(program, [program, "-c", _SCRIPT], kept):
        _known[asked] = found, found.packages()
    return found


def _is_inside(program: str, folder: Path) -> bool:
    if not Path(program).is_absolute():
        return True
    names = (program, os.path.realpath(program), os.path.realpath(Path(program).parent) + "/python3")
    return any(Path(name).is_relative_to(one) for name in names for one in (folder, folder.resolve()))


def _read(program: str, environ: Mapping[str, str]) -> Interpreter | None:
    """Return the contents of a virtual environment without its interpreter, or None if it is none."""
    prefix = Path(program).parent.parent
    try:
        settings = read_inside(prefix, "pyvenv.cfg", limit=_LONGEST).decode(errors="replace")
    except OSError:
        return None
    version = re.search(r"^version(?:_info)? *= *(\d+(?:\.\d+)*)", settings, re.MULTILINE)
    folders = [str(path) for path in sorted(prefix.glob("lib/python3*/site-packages")) if path.is_dir()]
    if not (version and folders):
        return None
    kept = {name: value for name, value in environ.items() if not name.startswith("PYTHON")}
    found = _told(program, [sys.executable, "-I", "-S", "-c", _SCRIPT, *folders], kept)
    return found and replace(found, version=version[1], prefix=Path(os.path.realpath(prefix)))


def _told(program: str, command: Sequence[str], environ: Mapping[str, str]) -> Interpreter | None:
    try:
        done = subprocess.run(
            command,
            cwd=tempfile.gettempdir(),
            env=environ,
            capture_output=True,
            timeout=_LIMIT_S,
            check=True,
        )
        said = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    roots = [Path(place.removeprefix("root:")) for place in said["places"] if place.startswith("root:")]
    return Interpreter(
        path=program,
        version=".".join(map(str, said["version"])),
        prefix=Path(os.path.realpath(said["prefix"])),
        names=frozenset(map(normalized, said["names"])),
        roots=tuple(Path(os.path.realpath(root)) for root in roots),
        places=tuple(
            Path(os.path.realpath(place))
            for place in said["places"]
            if place and not place.startswith("root:")
        ),
        folders=tuple(said["folders"]),
    )


def normalized(name: str) -> str:
    """Return the name of a distribution in the form shared by all its spellings."""
    return name.lower().replace("_", "-").replace(".", "-")


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
        found["PATH"] = os.pathsep.join([*(str(venv / "bin") for venv in own), found.get("PATH", os.defpath)])
        found["VIRTUAL_ENV"] = str(own[0])
    projects = [
        part for part in parts if shown.has(*(f"{part}/{name}" if part else name for name in MANIFESTS))
    ]
    if projects:
        python = look_into_python(environ, found.get("PATH", os.defpath), not_run_in=[folder, checkout])
        first = list(_code_first(shown, projects, python, checkout))
        if first:
            found["PYTHONPATH"] = os.pathsep.join([*first, *filter(None, [found.get("PYTHONPATH")])])
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
            exports.append(f'{name}="{os.pathsep.join(inside)}{rest}"')
    return tuple(exports)


def _code_first(
    shown: Shown, projects: Sequence[str], python: Interpreter | None, checkout: Path
) -> Iterator[str]:
    """Yield the folders of the worktree with code that no installation of its own leads to, each once."""
    folder, seen = shown.folder, set[Path]()
    installed = python.roots if python and python.prefix.is_relative_to(folder) else ()
    own = [root for root in installed if root.is_relative_to(folder)]
    sources = [
        folder / part / "src" for part in projects if shown.ending(".py", under=below(part, ("src/",))[0])
    ]
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
