"""Shared parts of the commands of `sq promise`: find the promises, and check them on the present tree."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.gates.promises.promise import Promise
    from orchestrator.gates.promises.store import PromiseStore


def store_of(project: Path | None) -> "PromiseStore":
    """The promises of `project`, else of CLAUDE_PROJECT_DIR, else of this folder."""
    from orchestrator.gates.promises.store import PromiseStore

    named = os.environ.get("CLAUDE_PROJECT_DIR", "")
    if project is None and named and os.path.isdir(named):  # noqa: PTH112  raises for no path
        project = Path(named)
    return PromiseStore.of_project(project or Path.cwd())


def checkable(store: "PromiseStore", promise_id: str) -> "Promise":
    """The promise, if it can still be checked.

    Raises:
        SqError: it has ended, or was changed after it was made.
    """
    from state.errors import SqError

    promise = store.get(promise_id)
    promise.refuse_ended()
    if promise.is_altered:
        raise SqError(
            f"{promise.id} was changed after it was made, so nothing can show that it is kept. "
            f'End it with: sq promise cancel {promise.id} --reason "…", and make a new one'
        )
    return promise


def checked(store: "PromiseStore", promise: "Promise", numbers: Sequence[int], *, close: bool) -> "Promise":
    """Run the promise's checks and store it with their evidence, closed if `close` and all are met."""
    import anyio

    from orchestrator.gates.promises.evidence import evidence_now

    found = anyio.run(evidence_now, store.home, promise, numbers)

    def change(now: "Promise") -> "Promise":
        now.refuse_ended()
        now = now.with_evidence(found)
        return now.closed() if close and not now.unproven(found[numbers[-1]].tree) else now

    return store.change(promise.id, change)


def unproven_now(store: "PromiseStore", promise: "Promise") -> dict[int, str]:
    """The criteria that are not known to be met now: their numbers, each with the cause."""
    import anyio

    from orchestrator.gates.promises.evidence import unproven
    from orchestrator.gates.promises.tree import present_tree

    async def look() -> dict[int, str]:
        missing = await unproven(store.home, promise, await present_tree(store.home))
        return {one.number: one.why for one in missing}

    return anyio.run(look)
