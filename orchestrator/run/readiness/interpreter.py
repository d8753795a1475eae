"""The packages of the `python3` on the PATH, read from its folders. Nothing of them is imported."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_LIMIT_S = 20
# Runs in the user's interpreter, whatever its version: plain and short.
_SCRIPT = r"""
import ast, json, os, re, sys
names, places = [], []
for folder in sys.path:
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
                with open(os.path.join(found, "direct_url.json")) as file:
                    url = json.load(file)
                if url.get("dir_info", {}).get("editable") and url["url"].startswith("file://"):
                    from urllib.parse import unquote, urlsplit
                    places.append("root:" + unquote(urlsplit(url["url"]).path))
            elif entry.startswith("__editable__") and entry.endswith("_finder.py"):
                with open(found) as file:
                    text = file.read()
                mapping = re.search(r"^MAPPING[^=]*=\s*(\{.*\})\s*$", text, re.MULTILINE)
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


def look_into_python(environ: Mapping[str, str], path: str) -> Interpreter | None:
    """Return the contents of the first `python3` of `path`, or None if none answers."""
    program = shutil.which("python3", path=path)
    if program is None:
        return None
    kept = {name: value for name, value in environ.items() if name not in {"PYTHONPATH", "PYTHONHOME"}}
    try:
        done = subprocess.run(
            [program, "-c", _SCRIPT],
            cwd=tempfile.gettempdir(),
            env={**kept, "PATH": path},
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
