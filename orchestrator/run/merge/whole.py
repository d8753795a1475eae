"""The finished work as a whole: its size, the packages that it adds, and the user's commits merged with it.

The size is stored with each merge, for a time when its commits are gone. The user's commits during the run
are merged in the integration worktree, only if git can and the result passes the verification. The user's
branch can then be fast-forwarded. Otherwise the work stays on sq's branch, and the run says so.
"""

import json
import re
from fnmatch import fnmatch
from pathlib import PurePosixPath
from urllib.parse import quote

import anyio
import structlog

from orchestrator.checks.results.verdict import CommandVerdict
from orchestrator.git.messages import commit_message
from orchestrator.git.trees import contents_at, sizes
from orchestrator.project.build_files.manifests import dependencies_in, manifest_of
from orchestrator.project.readiness.registries import About, registry_rows
from orchestrator.run.evidence.proof import take_proofs
from orchestrator.run.evidence.summary import results
from orchestrator.run.evidence.verification import verify
from orchestrator.run.record import Run
from orchestrator.run.review.ownership import own_paths
from state.errors import GitError, SqError
from state.journal.events import DependenciesAdded, WorkCaughtUp, WorkMeasured
from state.journal.events.tasks import ClaimView, TaskView
from state.records.commands import AddedPackage
from state.records.plan import Task

log = structlog.get_logger(__name__)

_FILES_KEPT = 300
_GOOD = frozenset({CommandVerdict.PASSED, CommandVerdict.NO_EVIDENCE})


async def catch_up(run: Run) -> None:
    """Bring the finished work onto the user's newest commit, or leave it unchanged."""
    if not (run.settings.worktrees and run.settings.merge):
        return
    head = run.view.whole.commit
    news = await run.integration.users_news(head)
    if not news:
        return
    whole = TaskView(Task(id="work", title="The finished work", description=""), claim=ClaimView(commit=head))
    state = await run.integration.begin_merge(whole, news)
    if state.is_clean:
        finished = await verify(run, task_id="", folder=state.folder, tree=state.tree)
        if all(one.verdict in _GOOD for one in results(run, finished)):
            run_id = run.started.run_id
            about = "The user's newest commits and the finished work together."
            message = commit_message(f"Merge: the work of run {run_id}", about, run_id=run_id)
            commit = await run.integration.conclude_merge(whole, news, state.tree, message)
            await run.integration.advance(commit, head)
            run.record(WorkCaughtUp(onto=news, commit=commit, tree=state.tree))
            await take_proofs(run, finished, task_id="", base=run.view.baseline.tree)
            return
    await run.integration.undo_merge(whole, head)


async def measured(
    run: Run, task_id: str, base: str, commit: str, paths: list[str] | None = None
) -> list[WorkMeasured]:
    """Return the size of a change, or nothing if git cannot say it. `paths`: only of these.

    A size is for people only, so work is not held up by it.
    """
    try:
        files = await sizes(run.repository, base, commit)
    except GitError as error:
        log.warning("work.unmeasured", task_id=task_id, error=str(error))
        return []
    own = [one for one in files if paths is None or one.path in paths]
    return [
        WorkMeasured(
            task_id=task_id,
            base=base,
            commit=commit,
            files=tuple(own[:_FILES_KEPT]),
            added=sum(one.added or 0 for one in own),
            removed=sum(one.removed or 0 for one in own),
            left_out=max(0, len(own) - _FILES_KEPT),
        )
    ]


async def measure_whole(run: Run) -> None:
    """Record the size of everything merged, before commits of the user are merged into it."""
    view = run.view
    before = view.whole.measured.get("", [])
    if view.whole.tree != view.whole.merged_tree or (before and before[-1].commit == view.whole.commit):
        return
    base = view.checkout.own_base or run.started.base_commit
    run.record(*await measured(run, "", base, view.whole.commit, await own_paths(run)))


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
            for _, name, wanted in dependencies_in(path, text.decode("utf-8", "replace")):
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
