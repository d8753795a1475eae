"""The work on one submission: fetch, `sq run` or `sq resume` as a process, checkpoints, push, report.

Nothing of a host is a step that the engine remembers: whoever takes over has another disk. So the whole of
the work is one step, and the checkpoint in git says how far it came.
"""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog

from agents.api_key import read_key
from agents.process.containment import Containment, contained
from orchestrator.fleet.checkpoint import Checkpoints, Workplace, remove
from orchestrator.fleet.ledger import FleetLedger
from orchestrator.fleet.policy import OWN_SPEC, SCENARIO, WorkerPolicy
from orchestrator.fleet.port import Engine
from orchestrator.fleet.records import Progress, Report, Submission, UnitState
from orchestrator.fleet.transport import (
    ClaimLostError,
    DiskFullError,
    GitServer,
    RemoteAwayError,
    clone,
    files_at,
    git_line,
    journal_ref,
    run_git,
    spec_ref,
)
from state.errors import GitError, SqError, UsageError
from state.journal.fold.fold import fold
from state.journal.store import JournalReader
from state.journal.view import RunView
from state.outcome import EXIT_CODES, Outcome
from state.redaction.places import known_in, known_in_files
from state.redaction.redactor import Redactor, redactor
from state.settings.sources import REPOSITORY_FILE

log = structlog.get_logger(__name__)

CHECKPOINT_S = 60.0
_TICK_S, _LOOK_S = 0.2, 1.0
_LEAST_DISK = 4 * 2**20  # bytes. Below, no run is worked on
_CLAIMS = 3  # tries to begin on top of the newest checkpoint
_POISONED = 3  # workers that died at a run without any progress of it
_STARTS = 3  # of sq for one claim, if something kills it
_GRACE_S = 45.0  # for a run to store its state, after which its process tree is killed
_PATIENCE_S = 600.0
_SAVED = 3600.0  # how long finished work waits for a git server
_LONGEST = 600  # characters of a cause
_OUTCOMES = {code: outcome for outcome, code in EXIT_CODES.items()}
OWN_PROGRAM = (sys.executable, "-I", sys.argv[0])  # sq, as this process was started
_NOT_FOR_RUNS = ("SQ_FLEET_DATABASE",)


class MovedError(SqError):
    """The run was put down and pushed, so that another worker goes on with it."""


@dataclass(kw_only=True)
class Host:
    """What the work on a submission needs of its worker.

    `draining` and `lost` are set by it, and never unset.
    """

    executor: str
    name: str
    root: Path
    policy: WorkerPolicy
    engine: Engine
    ledger: FleetLedger
    containment: Containment
    sq: tuple[str, ...]
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    checkpoint_s: float = CHECKPOINT_S
    draining: threading.Event = field(default_factory=threading.Event)
    lost: threading.Event = field(default_factory=threading.Event)

    def redactor_for(self, checkout: Path) -> Redactor:
        """Return what takes the secrets of this host out of texts."""
        key: dict[str, str] = {}
        with suppress(UsageError):
            found = read_key(self.environ)
            key = dict(found.variables) if found else {}
        home = Path(self.environ.get("HOME") or Path.home())
        database = {name: self.environ[name] for name in _NOT_FOR_RUNS if name in self.environ}
        known = [*known_in_files(home, checkout), *known_in(database)]
        return redactor({**self.environ, **key}, known)


def admit(host: Host, submission: Submission, before: dict[str, Any]) -> dict[str, Any]:
    """Check a submission against the worker's rules, and reserve its budget.

    A report if it does not begin.
    """
    del before
    if problem := host.policy.refusal(submission):
        return _ended(Report(outcome=Outcome.USAGE, problem=problem, host=host.name))
    left = host.ledger.reserve(submission.id, submission.pool, submission.budget_usd)
    if left is not None:
        problem = (
            f"the budget {submission.pool} of the fleet has ${left:.2f} left, and this run may cost "
            f"${submission.budget_usd:.2f}. Raise it (`sq fleet budget {submission.pool} USD`), then "
            f"`sq fleet retry {submission.id}`"
        )
        return _ended(Report(outcome=Outcome.LIMIT, problem=problem, host=host.name))
    return {}


def work(host: Host, submission: Submission, before: dict[str, Any]) -> dict[str, Any]:
    """Work on a submission to an end, unless it has a report already.

    Raises:
        MovedError: the worker is to stop, and another one goes on.
        ClaimLostError: another one has already begun to.
    """
    if "report" in before:
        return before
    try:
        report = UnitAttempt(host, submission).run()
    except (MovedError, ClaimLostError, DiskFullError):
        raise
    except (SqError, OSError) as error:
        if shutil.disk_usage(host.root).free < _LEAST_DISK:
            raise DiskFullError(f"the disk is full: {error}") from error
        if host.draining.is_set() or host.lost.is_set():
            raise MovedError(str(error)) from error
        problem = host.redactor_for(Path("/"))(str(error))
        report = Report(outcome=Outcome.FAILED, problem=problem, host=host.name)
    host.ledger.settle(submission.id, report.cost_usd)
    host.ledger.note(submission.id, phase=report.outcome.value, cost_usd=report.cost_usd, run=report.run)
    return _ended(report)


def _ended(report: Report) -> dict[str, Any]:
    return {"report": report.as_data()}


def finish(host: Host, submission: Submission, before: dict[str, Any]) -> dict[str, Any]:
    """Return the report as the result of the whole, the money settled."""
    report: dict[str, Any] = before["report"]
    host.ledger.settle(submission.id, report["cost_usd"])
    return report


class UnitAttempt:
    """One worker's work on a submission."""

    def __init__(self, host: Host, submission: Submission) -> None:
        self._host, self._asked = host, submission
        self._began = time.monotonic()
        self._remote = GitServer(submission.repository, patience_s=_PATIENCE_S, stopped=self._is_over)
        self._once = GitServer(submission.repository, patience_s=0.0)
        self._pushed = ""
        self._merged = self._calls = 0
        self._signalled = ""
        self._overtime = False

    def run(self) -> Report:
        """Fetch, work, push, and return the report."""
        if shutil.disk_usage(self._host.root).free < _LEAST_DISK:
            raise DiskFullError(f"the disk is full: {self._host.root}")
        standing = self._host.ledger.claim(self._asked.id, self._host.executor)
        self._place = Workplace(self._host.root / "work" / f"{self._asked.id}-{standing.claims}")
        shutil.rmtree(self._place.root, ignore_errors=True)
        self._place.root.mkdir(mode=0o700, parents=True)
        self._note(phase="fetching")
        asked, folder = self._asked, self._place.repository
        clone(self._remote, self._host.root / "mirrors", folder, branch=asked.branch, base=asked.base)
        for tries in range(1, _CLAIMS + 1):
            run = self._taken_up()
            try:
                self._push_claim(standing)
                break
            except ClaimLostError:  # a last push of the worker before was under way
                if tries == _CLAIMS:
                    raise
        if view := self._view():
            self._merged = sum(task.stage.value == "merged" for task in view.tasks.values())
            self._calls = sum(call.end is not None for call in view.calls.values())
        if standing.deaths >= _POISONED:
            return self._report(Outcome.FAILED, _poisoned(standing.deaths))
        if problem := self._host.policy.refusal_of_settings(self._configuration()):
            return self._report(Outcome.USAGE, problem)
        self._note(phase="working", run=run)
        code = self._work()
        return self._hand_in(code)

    # --- before ---------------------------------------------------------------------------------------------

    def _taken_up(self) -> str:
        """Fetch what was submitted and the newest checkpoint, restore its run, and return the id of that."""
        asked, folder = self._asked, self._place.repository
        refs = self._remote.refs(spec_ref(asked.id), journal_ref(asked.id))
        if spec_ref(asked.id) not in refs:
            raise SqError(f"the repository has no {spec_ref(asked.id)} any more. Submit the spec again")
        self._remote.fetch(folder, *(f"+{ref}:{ref}" for ref in refs))
        for name, data in files_at(folder, refs[spec_ref(asked.id)]).items():
            (self._place.root / Path(name).name).write_bytes(data)
        self._pushed = refs.get(journal_ref(asked.id), "")
        for tried_before in (self._place.state, self._place.home):
            shutil.rmtree(tried_before, ignore_errors=True)
        run_git(folder, "worktree", "prune")
        redact = self._host.redactor_for(folder)
        self._checkpoints = Checkpoints(
            place=self._place, base=asked.base, branch=asked.branch, redact=redact
        )
        return self._checkpoints.restore(self._pushed) if self._pushed else ""

    def _configuration(self) -> bytes:
        try:
            return run_git(self._place.repository, "show", f"{self._asked.base}:{REPOSITORY_FILE}")
        except GitError:
            return b""

    def _push_claim(self, standing: Progress) -> None:
        commit = self._checkpoints.claim(f"Claim {standing.claims} by {self._host.executor}")
        self._remote.push(self._place.repository, [(journal_ref(self._asked.id), self._pushed, commit)])
        self._pushed = self._checkpoints.last = commit

    # --- meanwhile ------------------------------------------------------------------------------------------

    def _work(self) -> int:
        """Run sq until it ends, and return its exit code. It is started again if something killed it."""
        for start in range(1, _STARTS + 1):
            code = self._one_process()
            if self._signalled and code not in _OUTCOMES:  # it did not end in time, and its journal has all
                return Outcome.INTERRUPTED.exit_code
            if code in _OUTCOMES and (code != Outcome.INTERRUPTED.exit_code or self._signalled):
                return code
            log.warning("fleet.run.killed", id=self._asked.id, exit_code=code, start=start)
        raise SqError(f"sq was killed {_STARTS} times (exit code {code}). {self._words()}")

    def _command(self) -> list[str]:
        folder = self._place.run_folder
        options = ["--state-dir", str(self._place.state), "--quiet", "--plain"]
        sandbox = ["--sandbox", self._host.policy.sandbox]
        if folder:
            return ["resume", folder.name, *options, *sandbox]
        asked, scenario = self._asked, self._place.root / SCENARIO
        limits = ["--budget", f"{asked.budget_usd:.2f}"] if asked.budget_usd else []
        rehearsal = ["--rehearse", str(scenario)] if scenario.exists() else []
        spec = ["--spec", str(self._place.root / OWN_SPEC)]
        return ["run", *spec, "--effort", asked.effort, "--no-merge", *limits, *rehearsal, *options, *sandbox]

    def _one_process(self) -> int:
        environ = {name: value for name, value in self._host.environ.items() if name not in _NOT_FOR_RUNS}
        environ |= {"XDG_STATE_HOME": str(self._place.home)}
        command = contained([*self._host.sq, *self._command()], self._host.containment)
        with (self._place.root / "sq.out").open("ab") as out:
            child = subprocess.Popen(
                command,
                cwd=self._place.repository,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        try:
            return self._attend(child)
        finally:
            child.terminate()  # the supervisor ends all of the tree, if it has not ended
            child.wait()

    def _attend(self, child: subprocess.Popen[bytes]) -> int:
        """Wait for the end of a process, with checkpoints, and end it if it has to stop."""
        saved_at, looked_at, killed_at = time.monotonic(), 0.0, float("inf")
        while child.poll() is None:
            time.sleep(_TICK_S)
            now = time.monotonic()
            if now - looked_at < _LOOK_S and not self._host.draining.is_set():
                continue
            looked_at = now
            if not self._signalled and (reason := self._stop_reason()):
                self._signalled, killed_at = reason, now + _GRACE_S
                self._ask_to_stop(child)
            if now > killed_at:
                child.terminate()
            grown = self._look()
            if (
                self._place.run_folder
                and not self._signalled
                and (grown or now - saved_at > self._host.checkpoint_s or not self._checkpoints.has_run)
            ):
                self._save()
                saved_at = now
        code = child.returncode
        return code if code >= 0 else 128 - code

    def _ask_to_stop(self, child: subprocess.Popen[bytes]) -> None:
        """Ask sq itself, which then has more time than its supervisor would give it."""
        asked = child.pid
        for _ in range(2 if self._host.containment is Containment.NAMESPACES else 1):
            with suppress(OSError, IndexError, ValueError):
                asked = int(Path(f"/proc/{asked}/task/{asked}/children").read_text("ascii").split()[0])
        with suppress(ProcessLookupError):
            os.kill(asked, signal.SIGTERM)

    def _is_over(self) -> bool:
        return self._host.draining.is_set() or self._host.lost.is_set()

    def _stop_reason(self) -> str:
        """Return why the run has to be put down now, or ""."""
        if self._is_over():
            return "moved"
        if self._asked.deadline_s and time.monotonic() - self._began > self._asked.deadline_s:
            self._overtime = True
            return "deadline"
        return "cancelled" if self._is_cancelled() else ""

    def _is_cancelled(self) -> bool:
        try:
            found = self._host.engine.units([self._asked.id])
        except Exception as error:  # noqa: BLE001  the database is away, and the run goes on
            log.warning("fleet.database.away", error=type(error).__name__)
            return False
        return bool(found) and found[0].state is UnitState.CANCELLED

    def _look(self) -> bool:
        """Note the progress of the run, and return whether it has merged anything since the last look."""
        view = self._view()
        if view is None or not view.started:
            return False
        merged = sum(task.stage.value == "merged" for task in view.tasks.values())
        calls = sum(call.end is not None for call in view.calls.values())
        grown, moved = merged > self._merged, calls > self._calls
        if grown or moved:
            spent = {"cost_usd": view.cost_usd, "merged": merged, "tasks": len(view.tasks)}
            self._note(run=view.started.run_id, deaths=0, **spent)
        self._merged, self._calls = merged, calls
        return grown

    def _view(self) -> RunView | None:
        folder = self._place.run_folder
        if folder is None:
            return None
        with JournalReader(folder) as journal:
            return fold(journal.read_for_views())

    def _note(self, **values: Any) -> None:  # noqa: ANN401  columns
        try:
            self._host.ledger.note(self._asked.id, **values)
        except Exception as error:  # noqa: BLE001  the database is away, and the run goes on
            log.warning("fleet.database.away", error=type(error).__name__)

    def _save(self) -> None:
        """Take a checkpoint and push it. A server that is away is tried again the next time."""
        commit = self._checkpoints.take("A checkpoint")
        if commit:
            with suppress(RemoteAwayError, GitError):
                self._once.push(self._place.repository, [(journal_ref(self._asked.id), self._pushed, commit)])
                self._pushed = commit

    # --- after ----------------------------------------------------------------------------------------------

    def _hand_in(self, code: int) -> Report:
        """Push the last checkpoint, and the work if the run has ended. Say how it ended."""
        view = self._view()
        ended = view is not None and view.ended is not None
        if not ended and shutil.disk_usage(self._host.root).free < _LEAST_DISK:
            raise DiskFullError(f"the disk is full, and sq ended with code {code}")
        if self._signalled == "moved" and not ended:
            self._save_at_last("Put down", "")
            raise MovedError("put down")
        branch = f"refs/heads/sq/{view.started.run_id}" if view and view.started else ""
        self._save_at_last("The end" if ended else "Stopped", branch)
        outcome, problem = _OUTCOMES.get(code, Outcome.FAILED), self._words() if code else ""
        if view and view.ended:
            outcome, problem = view.ended.outcome, self._checkpoints.redact(view.ended.cause)[:_LONGEST]
        elif self._overtime:
            outcome, problem = Outcome.LIMIT, f"the deadline of {self._asked.deadline_s:.0f} s has passed"
        report = self._report(outcome, problem)
        remove(self._place)
        return report

    def _save_at_last(self, message: str, branch: str) -> None:
        """Push the last state of the run, however long the server is away: it is paid work.

        Raises:
            RemoteAwayError: the server stays away. The work lies in the folder of this claim.
        """
        commit = self._checkpoints.take(message) or self._checkpoints.last
        moves = [(journal_ref(self._asked.id), self._pushed, commit)]
        folder = self._place.repository
        with suppress(GitError):
            new = git_line(folder, "rev-parse", "--verify", "--quiet", branch) if branch else ""
            if new and new != self._asked.base:
                moves.append((branch, self._remote.refs(branch).get(branch, ""), new))
        GitServer(self._asked.repository, patience_s=_SAVED, stopped=self._host.lost.is_set).push(
            folder, moves
        )
        self._pushed = commit

    def _report(self, outcome: Outcome, problem: str) -> Report:
        view = self._view()
        run = view.started.run_id if view and view.started else ""
        commit = ""
        if run:
            with suppress(GitError):
                found = git_line(
                    self._place.repository, "rev-parse", "--verify", "--quiet", f"refs/heads/sq/{run}"
                )
                commit = found if found != self._asked.base else ""
        return Report(
            outcome=outcome,
            run=run,
            commit=commit,
            cost_usd=view.cost_usd if view else 0.0,
            host=self._host.name,
            problem=problem,
            pull_request=self._offered(run, outcome) if commit and self._asked.pull_request else "",
        )

    def _offered(self, run: str, outcome: Outcome) -> str:
        """Hand the work over as a pull request, and return its address or why there is none."""
        if outcome not in {Outcome.COMPLETE, Outcome.UNVERIFIED}:
            return ""
        options = ["pr", run, "--state-dir", str(self._place.state), "--base", self._asked.branch]
        done = subprocess.run(
            [*self._host.sq, *options],
            cwd=self._place.repository,
            env={**self._host.environ, "XDG_STATE_HOME": str(self._place.home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
        said = (done.stdout or done.stderr).strip().splitlines()
        return (
            said[0].rpartition(": ")[2] if said and not done.returncode else f"none: {' '.join(said)[-300:]}"
        )

    def _words(self) -> str:
        """Return the last lines that sq printed, without secrets."""
        with suppress(OSError):
            lines = (
                (self._place.root / "sq.out").read_text("utf-8", errors="replace").strip().splitlines()[-3:]
            )
            return self._checkpoints.redact(" | ".join(lines))[-_LONGEST:]
        return ""


def _poisoned(deaths: int) -> str:
    return f"{deaths} workers died at this run without any progress of it, so it is not begun again by itself"


Act = Callable[[Host, Submission, dict[str, Any]], dict[str, Any]]
STEPS: tuple[tuple[str, Act], ...] = (("admit", admit), ("work", work), ("finish", finish))
