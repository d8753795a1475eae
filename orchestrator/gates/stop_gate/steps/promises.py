"""The step of completion promises: a session does not stop while one of its own is open.

The session's words do not count, nor does a result that was written into the file by hand. Promises of other
sessions are left alone. Damaged files are reported to people. Commands are not run here, since a
stop must be quick: they count if `sq promise verify` has run them on the present tree.
"""

from typing import TYPE_CHECKING

from orchestrator.gates.stop_gate import probe
from orchestrator.gates.stop_gate.stop import StepResult, Stop

if TYPE_CHECKING:  # imported only when there is a promise: most stops have none
    from collections.abc import Sequence

    from orchestrator.gates.promises import DamagedPromiseError, Promise, PromiseStore, StoredPromises

TREE_S = 5.0  # to hash the tree. A larger one is left to `sq promise verify`

_MOST_NOTED = 3
_MOST_NAMED = 5
_MOST_CRITERIA = 10
_TOO_LARGE = "the tree is too large to be looked at here"


def applies(stop: Stop) -> bool:
    """Whether there is any file of a promise in the checkout that the session works in."""
    return probe.has_promises(str(stop.project))


def check(stop: Stop) -> StepResult:
    """Block while a promise of this session is open, and report damaged files."""
    from orchestrator.gates.promises import PromiseStore, State
    from state.errors import SqError

    store = PromiseStore.of_project(stop.project)
    found = store.all()
    notes = _notes(found, stop.session_id)
    mine = [one for one in found.promises if one.state is State.OPEN and one.belongs_to(stop.session_id)]
    if not mine:
        return StepResult(note="\n".join(notes))
    try:
        missing = _missing(store, mine[:_MOST_NAMED])
    except (SqError, OSError, ValueError) as error:
        notes.append(f"the promises of this session could not be checked: {error}")
        return StepResult(note="\n".join(notes))
    lines = ["This session has made promises that are still open.", ""]
    for promise, left in zip(mine, missing, strict=False):
        lines += [*_lines(promise, left), ""]
    if len(mine) > _MOST_NAMED:
        lines += [f"{len(mine) - _MOST_NAMED} more: sq promise list", ""]
    lines.append("Do the missing work, then run the commands. Words prove nothing, only checks do.")
    return StepResult(blocks=True, reason="\n".join(lines), note="\n".join(notes))


def _missing(store: "PromiseStore", promises: "Sequence[Promise]") -> "list[dict[int, str]]":
    """The unproven criteria of each promise on the present tree."""
    import anyio

    from orchestrator.gates.promise_evidence import present_tree, unproven

    async def look() -> list[dict[int, str]]:
        with anyio.move_on_after(TREE_S):
            tree = await present_tree(store.home)
            return [await unproven(store.home, promise, tree) for promise in promises]
        return [dict.fromkeys(range(1, len(promise.criteria) + 1), _TOO_LARGE) for promise in promises]

    return anyio.run(look)


def _lines(promise: "Promise", missing: "dict[int, str]") -> list[str]:
    lines = [f"{promise.id}: {_short(promise.text)}"]
    if promise.is_altered:
        return [
            *lines,
            "  changed after it was made, so nothing can show that it is kept. Inform the user, and run:",
            f'  sq promise cancel {promise.id} --reason "…"',
        ]
    for number, why in list(missing.items())[:_MOST_CRITERIA]:
        criterion = promise.criteria[number - 1]
        lines.append(f"  {number}. {_short(criterion.text)} ({criterion.kind}): {_short(why)}")
    if len(missing) > _MOST_CRITERIA:
        lines.append(f"  and {len(missing) - _MOST_CRITERIA} more criteria")
    if not missing:
        lines.append("  every criterion is met on this tree, and it only has to be closed")
    return [*lines, f"  run: sq promise verify {promise.id}"]


def _notes(found: "StoredPromises", session_id: str) -> list[str]:
    notes = [_damage(one, session_id) for one in found.damaged[:_MOST_NOTED]]
    if len(found.damaged) > _MOST_NOTED:
        notes.append(f"{len(found.damaged) - _MOST_NOTED} more files of promises cannot be read")
    return notes


def _damage(damaged: "DamagedPromiseError", session_id: str) -> str:
    whose = "of this session " if session_id and damaged.owner == session_id else ""
    return f"a promise {whose}cannot be read and holds no session: {_short(str(damaged))}"


def _short(text: str) -> str:
    """An agent's text as part of one line, without control characters."""
    from state.truncation import smart_truncate

    return smart_truncate("".join(each if each.isprintable() else "?" for each in " ".join(text.split())))
