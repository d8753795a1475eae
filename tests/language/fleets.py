"""A fleet on this machine: workers as processes with homes of their own, a git server that logs, a database."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil
import yaml

from benchmarks.rehearsed import agreeing, calls, commit, git, reports
from language.played_sq import PLAYED_SQ
from language.programs import ran
from orchestrator.fleet.dbos_engine import DbosEngine
from orchestrator.fleet.host import OWN_SPEC, SCENARIO
from orchestrator.fleet.ledger import FleetLedger
from orchestrator.fleet.records import Submission, Unit
from orchestrator.fleet.transport import GitServer, content_hash, offer

WAIT_S = 90.0
TASK = "notes"
SPEC = b"# Notes\n\nCreate notes.txt with a line of text.\n"
# Each update of a ref, with who pushed it: name, old, new, the worker's name.
_HOOK = """#!/bin/sh
test -e "$GIT_DIR/away" && exit 1
echo "$1 $2 $3 ${FLEET_WORKER:-nobody} $(date +%s.%N)" >>"$GIT_DIR/pushes"
"""


def scenario(
    *, work_s: float = 0.0, tasks: Sequence[str] = (TASK,), content: str = "A note.", **extra: Any
) -> bytes:
    """The words of a model that writes a file for each task, which takes a command `work_s` seconds."""
    callers = agreeing(*tasks)
    for task in tasks:
        slowly = [calls("Bash", command=f"sleep {work_s}")] if work_s else []
        write = calls("Write", file_path=f"{{workspace}}/{task}.txt", content=f"{content}\n")
        callers[f"worker/{task}/*"] = [
            write,
            *slowly,
            reports("task_complete", summary="Done.", tests="All pass."),
        ]
    return yaml.safe_dump({"scenario": 1, "callers": {**callers, **extra}}).encode()


@dataclass(frozen=True, kw_only=True)
class Push:
    """One update of a ref of the server."""

    ref: str
    old: str
    new: str
    worker: str
    at: float


@dataclass(kw_only=True)
class WorkerProcess:
    """A worker with a home of its own."""

    name: str
    process: subprocess.Popen[bytes]
    home: Path
    log: Path

    def tree(self) -> list[psutil.Process]:
        """The worker and all below it."""
        with suppress(psutil.NoSuchProcess):
            own = psutil.Process(self.process.pid)
            return [own, *own.children(recursive=True)]
        return []

    def kill(self) -> None:
        """Kill the worker alone, as the kernel does without memory. Its runs have to end with it."""
        self.process.kill()
        self.process.wait()

    def freeze(self) -> None:
        """Stop the whole host."""
        for one in self.tree():
            with suppress(psutil.NoSuchProcess):
                one.suspend()

    def thaw(self) -> None:
        """Let the host go on."""
        for one in self.tree():
            with suppress(psutil.NoSuchProcess):
                one.resume()

    def end(self, number: int = signal.SIGTERM, *, within_s: float = WAIT_S) -> int:
        """Ask the worker to end, and return its exit code."""
        self.process.send_signal(number)
        return self.process.wait(within_s)

    @property
    def said(self) -> str:
        return self.log.read_text("utf-8", errors="replace")


@dataclass(kw_only=True)
class FleetHere:
    """A context manager that leaves no process behind."""

    folder: Path
    url: str
    workers: list[WorkerProcess] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.server = self.folder / "server.git"
        project = self.folder / "project"
        project.mkdir(parents=True)
        (project / "sq.toml").write_text(f'verify = ["test -s {TASK}.txt"]\n', "utf-8")
        self.base = commit(project)
        git(project, "clone", "--quiet", "--bare", str(project), str(self.server))
        hook = self.server / "hooks" / "update"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(_HOOK)
        hook.chmod(0o755)
        self.engine = DbosEngine(self.url)
        self.ledger = FleetLedger(self.engine.database)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self.workers:
            worker.thaw()
            if worker.process.poll() is None:
                worker.kill()
        self.engine.close()

    def environment(self, home: Path, **more: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SQ_", "XDG_"))}
        home.mkdir(parents=True, exist_ok=True)
        return {**kept, "HOME": str(home), "SQ_FLEET_DATABASE": self.url, **more}

    def worker(self, name: str, *options: str, **more: str) -> WorkerProcess:
        """Start a worker."""
        number = sum(one.name == name for one in self.workers)
        home = self.folder / f"{name}-{number}"
        command = [*PLAYED_SQ, "fleet", "worker", "--name", name, "--repository", "*", *options]
        log = self.folder / f"{name}-{number}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=self.environment(home, FLEET_WORKER=name, **more),
                cwd=self.folder,
                start_new_session=True,
            )
        made = WorkerProcess(name=name, process=process, home=home, log=log)
        self.workers.append(made)
        return made

    def sq(self, *arguments: str, code: int = 0, **more: str) -> str:
        """What a command prints. Another exit code fails."""
        done = ran(
            [*PLAYED_SQ, "fleet", *arguments],
            env=self.environment(self.folder / "user", **more),
            cwd=self.folder,
            timeout=WAIT_S,
        )
        assert done.returncode == code, f"{arguments}: code {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout + (done.stderr if code else "")

    def json(self, *arguments: str, code: int = 0) -> Any:
        return json.loads(self.sq(*arguments, "--json", code=code))

    def submission(self, words: bytes, **about: Any) -> Submission:
        files = {OWN_SPEC: SPEC, SCENARIO: words}
        usual = {"effort": "low", "budget_usd": 5.0, "title": "Notes", "branch": "main", "base": self.base}
        made = Submission(repository=str(self.server), spec=content_hash(files), **{**usual, **about})
        scratch = self.folder / "scratch" / f"{made.id}-{time.monotonic_ns()}"
        scratch.mkdir(parents=True)
        offer(GitServer(str(self.server), patience_s=10.0), made.id, files, scratch)
        return made

    def submit(self, words: bytes, **about: Any) -> str:
        """Submit a run, as `sq fleet submit` does, and return its id."""
        made = self.submission(words, **about)
        self.engine.submit(made)
        return made.id

    def unit(self, id_: str) -> Unit:
        return self.engine.units([id_])[0]

    def until(self, met: Callable[[], object], *, within_s: float = WAIT_S, step_s: float = 0.05) -> float:
        """Wait until something is met, and return the seconds. Fails with what the workers said."""
        began = time.monotonic()
        while not met():
            if time.monotonic() - began > within_s:
                said = "\n".join(f"--- {one.name}\n{one.said[-3000:]}" for one in self.workers)
                raise AssertionError(f"not within {within_s} s\n{self.states()}\n{said}")
            time.sleep(step_s)
        return time.monotonic() - began

    def until_ended(self, *ids: str, within_s: float = WAIT_S) -> list[Unit]:
        """Wait until submissions have ended, and return them."""
        self.until(
            lambda: all(one.exit_code is not None for one in self.engine.units(ids)), within_s=within_s
        )
        return [self.unit(id_) for id_ in ids]

    def until_phase(self, id_: str, *phases: str, worker: str = "", within_s: float = WAIT_S) -> float:
        """Wait until a worker says that a submission is in a phase."""

        def there() -> bool:
            found = self.ledger.progress([id_]).get(id_)
            return bool(found and found.phase in phases and found.executor.startswith(worker))

        return self.until(there, within_s=within_s)

    def states(self) -> str:
        return "\n".join(f"{one.id} {one.state} {one.executor} {one.report}" for one in self.engine.units())

    def pushes(self, id_: str = "") -> list[Push]:
        """What was pushed so far, oldest first."""
        file = self.server / "pushes"
        lines = file.read_text("utf-8").splitlines() if file.exists() else []
        found = [
            Push(ref=ref, old=old, new=new, worker=worker, at=float(at))
            for ref, old, new, worker, at in (line.split() for line in lines)
        ]
        return [one for one in found if id_ in one.ref]

    def branches(self) -> dict[str, str]:
        """The branches of runs on the server."""
        words = ("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/sq")
        return dict(line.split() for line in git(self.server, *words).splitlines())
