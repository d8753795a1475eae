"""The packages that the finished work adds, with their versions and the licences that registries state."""

import json
import re
from fnmatch import fnmatch
from pathlib import PurePosixPath
from urllib.parse import quote

import anyio

from orchestrator.git.trees import contents_at
from orchestrator.project.build_files.dependencies import dependencies_in, manifest_of
from orchestrator.project.readiness.registries import About, registry_rows
from orchestrator.run.record import Run
from state.errors import SqError
from state.journal.events import DependenciesAdded
from state.records.hosts import AddedPackage

_MOST, _LIMIT_S = 60, 60.0
_LARGEST = 20_000_000  # bytes of a lock file
_LONGEST = 200  # characters of a licence


async def record_added(run: Run) -> None:
    """Record the packages that the merged work names and its base does not, if there are some."""
    proofs = run.view.evidence.proofs.get(("", run.view.whole.tree))
    facts = proofs.facts if proofs else None
    names = {*facts.added, *facts.locked} if facts else set()
    if facts is None or not names:
        return
    manifests = [path for path in facts.paths if manifest_of(path)]
    texts = await contents_at(run.repository, run.view.whole.tree, manifests, largest=_LARGEST)
    found: dict[tuple[str, str], str] = {}
    for path, text in sorted(
        texts.items(), key=lambda one: _is_lock(one[0])
    ):  # a lock file knows the version
        try:
            for name, wanted in dependencies_in(path, text.decode("utf-8", "replace")):
                if name in names and (exact := re.search(r"\d[\w.+-]*", wanted)):
                    found[_ecosystem(path), name] = exact[0]
        except ValueError:
            continue
    packages: list[AddedPackage] = []
    with anyio.move_on_after(_LIMIT_S):
        for (ecosystem, name), version in sorted(found.items())[:_MOST]:
            licence = await _licence(run, ecosystem, name, version)
            packages.append(AddedPackage(ecosystem=ecosystem, name=name, version=version, licence=licence))
    run.record(DependenciesAdded(packages=tuple(packages), more=len(names) - len(packages)))


def _is_lock(path: str) -> bool:
    row = manifest_of(path)
    return row is not None and row.lock


def _ecosystem(path: str) -> str:
    last = PurePosixPath(path).name
    rows = registry_rows().ecosystems.items()
    return next((name for name, row in rows if any(fnmatch(last, one) for one in row.files)), "")


async def _licence(run: Run, ecosystem: str, name: str, version: str) -> str:
    row = registry_rows().ecosystems.get(ecosystem)
    if row is None or row.about is None:
        return ""
    path = row.about.path.format(name=quote(name, safe="@"), version=quote(version, safe=""))
    try:
        told = json.loads(await run.commands.read_registry(row.about.host, path) or b"{}")
    except (OSError, ValueError, RecursionError, SqError):
        return ""
    return _first(told, row.about)


def _first(told: object, about: About) -> str:
    """Return the first text that a registry's answer has at one of the places of a licence."""
    for place in about.licence:
        node = told
        for key in place.split("."):
            if isinstance(node, list):
                node = node[int(key)] if key.isdecimal() and int(key) < len(node) else None
            else:
                node = node.get(key) if isinstance(node, dict) else None
        if isinstance(node, str) and node.strip():
            return " ".join(node.split())[:_LONGEST]
    return ""
