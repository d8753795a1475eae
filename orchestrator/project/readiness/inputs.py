"""Everything that a step of a set-up reads, as its key: manifests, settings, scripts, programs, the machine.

What runs while a package is installed may read any file. Counted are the scripts that manifests name for it,
and the files that these name in turn: by a path, or as a module beside them.
"""

import hashlib
import os
import platform
import re
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import accumulate
from pathlib import Path

import msgspec

from orchestrator.project.build_files.packages import MANIFEST, scripts_of
from orchestrator.project.files import MANIFESTS, Shown, belongs_to_tests, matches
from orchestrator.project.readiness.steps import SetUpStep
from state.decoding import table_beside
from state.safe_paths import files_inside, read_inside

BUILT = re.compile(r"maturin|mesonpy|scikit_build_core|setuptools_rust|ext_modules|Extension\(|cffi_modules")
_RUN = re.compile(r"\b(?:npm|pnpm|yarn|bun)(?: run)? ([\w:.-]+)")
_IMPORTED = re.compile(r"(?:from\s|import\s|build-backend\s*=)\s*[\"']?([\w.]+)")
_BUILD = re.compile(r"\[+(?:build-system|tool\.(?:setuptools|poetry\]|[\w-]+\.build))")
_BACKEND_PATH = re.compile(r"backend-path\s*=\s*\[\s*[\"']([^\"']+)")
_PATH = re.compile(r"[\w@-]*[./][\w./@-]*")
_DEEPEST, _MOST = 2, 200


@cache
def _lists() -> dict[str, tuple[str, ...]]:
    return msgspec.convert(table_beside(__file__, "inputs.yaml"), dict[str, tuple[str, ...]])


def is_below(name: str, paths: Collection[str]) -> bool:
    """Whether a path is one of these, or in one of these folders."""
    return any(one in paths for one in accumulate(name.split("/"), "{}/{}".format))


def key_of_inputs(
    shown: Shown, part: str, step: SetUpStep, environ: Mapping[str, str], ignored: Collection[str] = ()
) -> str:
    """Return a step's key with everything that its command reads, in its folder `part` of a worktree.

    `ignored` are files and folders that do not count.
    """
    found = hashlib.sha256(step.key.encode())
    here = shown.part(part) if part else shown
    scripts = {"python": _of_python, "node": _of_node}.get(step.ecosystem, lambda _: iter(()))(here)
    names = {*shown.named(*_lists()["settings"], deepest=_DEEPEST)}.union(
        str(Path(part, one)) for one in scripts
    )
    for folder in (Path(place, one) for place in {"", part} for one in _lists()["folders"]):
        names.update(str(folder / name) for name in files_inside(shown.folder / folder, most=_MOST))
    for name in sorted(one for one in names if not is_below(one, ignored)):
        with suppress(OSError):
            content = read_inside(shown.folder, name)
            found.update(f"\0{name} {len(content)}\0".encode() + content)
    for fact in (platform.system(), platform.machine(), *_facts(environ)):
        found.update(f"\0{fact}".encode())
    return found.hexdigest()[:32]


def _facts(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the tools' variables, and a mark of the version of each interpreter, none of which is run."""
    ours = _lists()["variables"]
    yield from sorted(f"{name}={value}" for name, value in environ.items() if name.upper().startswith(ours))
    for name in _lists()["programs"]:
        if program := shutil.which(name, path=environ.get("PATH", os.defpath)):
            yield mark_of(program)


def mark_of(file: str | Path | None) -> str:
    """Return a mark of a file's version, without reading it: its path, its size and its time."""
    if file is None:
        return "none"
    real = Path(os.path.realpath(file))
    try:
        facts = real.stat()
    except OSError:
        return str(real)
    return f"{real} {facts.st_size} {facts.st_mtime_ns}"


def _of_node(here: Shown) -> Iterator[str]:
    for manifest in (name for name in here.files if f"/{name}".endswith(f"/{MANIFEST}")):
        folder, scripts = os.path.dirname(manifest), scripts_of(here.folder / manifest)  # noqa: PTH120
        due = [scripts[name] for name in _lists()["at_install"] if name in scripts]
        texts = [*due, *(scripts.get(name, "") for text in due for name in _RUN.findall(text))]
        texts += [one for one in _lists()["builds"] if here.has(f"{folder}/{one}".lstrip("/"))]
        yield from _closure(here, folder, "\n".join(texts))


def _of_python(here: Shown) -> Iterator[str]:
    yield from (one for one in here.files if matches(one, _lists()["requirements"]))
    for name in (one for one in here.named(*MANIFESTS, deepest=_DEEPEST) if not belongs_to_tests(one)):
        yield name
        folder, text = os.path.dirname(name), here.text(name)  # noqa: PTH120
        if BUILT.search(text):
            yield from (one for one in here.files if matches(one, _lists()["sources"]))
        if name.endswith(".toml"):
            text = "".join(one for one in re.split(r"^(?=\[)", text, flags=re.MULTILINE) if _BUILD.match(one))
        for place in ("", *_BACKEND_PATH.findall(text)) if not name.endswith(".cfg") else ():
            yield from _closure(here, f"{folder}/{place}", text)


def _closure(here: Shown, folder: str, text: str) -> Iterator[str]:
    """Yield the files that a text names, and those that they name, but nothing that a package imports."""
    seen, waiting = set[str](), [(folder, text)]
    while waiting and len(seen) < _MOST:
        beside, told = waiting.pop()
        words = {*_PATH.findall(told), *(one.replace(".", "/") for one in _IMPORTED.findall(told))}
        paths = {
            os.path.normpath(f"{at}/{one}{end}".lstrip("/"))
            for at in (folder, beside)
            for one in words
            for end in _lists()["ends"]
        }
        for name in sorted(paths & here.files - seen):
            if not name.endswith(_lists()["documents"]):
                seen.add(name)
                inner = os.path.dirname(name)  # noqa: PTH120
                if not here.has(f"{inner}/__init__.py".lstrip("/")):
                    waiting.append((inner, here.text(name)))
    yield from seen
