"""The packages of the `python3` on the PATH, read from its folders. Nothing of them is imported.

An interpreter in a folder where an agent works is not run: sq's own one reads the files of its environment.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

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
print(json.dumps({"version": version, "prefix": sys.prefix, "names": names, "places": places}))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """A Python: its installed packages, by normalized name, and the outside folders of its code.

    `roots` are the folders of projects that are installed in editable form, `places` those with their code.
    """

    path: str
    version: str
    prefix: Path
    names: frozenset[str]
    roots: tuple[Path, ...]
    places: tuple[Path, ...]


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
    return _told(program, [program, "-c", _SCRIPT], {**kept, "PATH": path})


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
    )


def normalized(name: str) -> str:
    """Return the name of a distribution in the form shared by all its spellings."""
    return name.lower().replace("_", "-").replace(".", "-")
