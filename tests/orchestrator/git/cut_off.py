"""One operation on the worktrees of a run, in a process that is killed in the middle of it.

`git` is then a script before the real one: it kills whoever calls it, before or after the nth command that changes
something.
"""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import anyio

from orchestrator.run.places.worktrees import Worktrees
from state.journal.codec import decode, encode
from state.journal.events.tasks import ClaimView, PlaceView, TaskView
from state.journal.view import RunView
from state.records.plan import Task

_GIT = """#!/bin/sh
changes=
for word in "$@"; do
    case $word in update-ref|symbolic-ref|reset|clean|merge|commit-tree|worktree|add|write-tree) changes=yes ;; esac
done
if [ $changes ]; then
    count=$(($(cat "$COUNT") + 1)); echo $count >"$COUNT"
    if [ $count = "$KILL_AT" ]; then
        [ "$KILL_WHEN" = before ] || "$GIT" "$@" >/dev/null 2>&1
        kill -9 $PPID
        exit 1
    fi
fi
exec "$GIT" "$@"
"""


def cut_off(folder: Path, work, task: TaskView, operation: str, *, at: int, when: str) -> bool:
    """Whether the operation was killed; False: it came to its end, since it has fewer steps."""
    folder.mkdir(exist_ok=True)
    shim, count = folder / "git", folder / "count"
    shim.write_text(_GIT)
    shim.chmod(0o755)
    count.write_text("0")
    told = {
        "operation": operation,
        "onto": work.view.whole.commit,
        "started": encode(work.places.started),
        "place": asdict(task.place),
        "claim": asdict(task.claim),
        "attempt": task.attempt,
        "id": task.task.id,
    }
    environment = {
        **os.environ,
        "GIT": shutil.which("git") or "git",
        "COUNT": str(count),
        "KILL_AT": str(at),
        "KILL_WHEN": when,
        "PATH": f"{folder}:{os.environ['PATH']}",
        "PYTHONPATH": str(Path(__file__).parent),
    }
    command = [sys.executable, "-c", "import cut_off; cut_off.work()", json.dumps(told)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in {0, -9}, done.stderr
    return done.returncode == -9


def work() -> None:
    """What the process does."""
    told = json.loads(sys.argv[1])
    places = Worktrees(started=decode(*told["started"]))
    task = TaskView(
        Task(id=told["id"], title=f"Task {told['id']}", description=""),
        attempt=told["attempt"],
        place=PlaceView(**told["place"]),
        claim=ClaimView(**told["claim"]),
    )
    anyio.run(_operate, places, task, told["operation"], told["onto"])


async def _operate(places: Worktrees, task: TaskView, operation: str, onto: str) -> None:
    match operation:
        case "merge":
            state = await places.begin_merge(task, onto)
            await places.conclude_merge(task, onto, state.tree, "Merge")
        case "begin":
            await places.begin_merge(task, onto)
        case "conclude":
            state = await places.merge_state(task, onto)
            await places.conclude_merge(task, onto, state.tree, "Merge")
        case "undo":
            await places.undo_merge(task, onto)
        case "rebuild":
            await places.rebuild(RunView().tasks, RunView().whole, task, base=onto, start=onto)
        case "show":
            await places.show_commit(task)
