"""The work on one submission: fetch, `sq run` or `sq resume` as a process, checkpoints, push, report.

Nothing of a host is a step that the engine remembers: whoever takes over has another disk. So the whole of
the work is one step, and the checkpoint in git says how far it came.
"""

import shutil
import sqlite3
import time
import traceback
from contextlib import suppress
from typing import Any

import structlog
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt

from orchestrator.fleet.checkpoint import CONTENT, Checkpoints, restore
from orchestrator.fleet.host import OWN_SPEC, SCENARIO, Host, MovedError, SqProcess, credentials_problem
from orchestrator.fleet.records import Progress, Report, Submission, UnitState
from orchestrator.fleet.transport import (
    ClaimLostError,
    GitServer,
    RemoteAwayError,
    UnfitHostError,
    Workplace,
    clone,
    files_at,
    git_line,
    journal_ref,
    run_git,
    spec_ref,
)
from state.errors import GitError, SqError
from state.journal.fold.fold import fold
from state.journal.store import JournalReader, has_begun
from state.journal.view import RunView
from state.outcome import EXIT_CODES, Outcome
from state.settings.sources import REPOSITORY_FILE

log = structlog.get_logger(__name__)

_LEAST_DISK = 4 * 2**20  # bytes. Below, no run is worked on
_CLAIMS = 3  # tries to begin on top of the newest checkpoint
_POISONED = 3  # workers that died at a run without any progress of it
_STARTS = 3  # of sq for one claim, if something kills it
_PATIENCE_S = 600.0
_SAVED = 3600.0  # how long finished work waits for a git server
_LOST_S = 45.0  # within which a worker that was taken over ends
_LONGEST = 600  # characters of a cause
_OUTCOMES = {code: outcome for outcome, code in EXIT_CODES.items()}


def work(host: Host, asked: Submission, _before: dict[str, Any]) -> dict[str, Any]:
    """Work on a submission to an end, and return the report as JSON values. What it cost is settled.

    Raises:
        MovedError: the worker is to stop, and another one goes on.
        UnfitHostError: nothing can be worked on here.
    """
    if problem := host.policy.refusal(asked):
        return Report(outcome=Outcome.USAGE, problem=problem, host=host.name).as_data()
    if problem := host.patiently(lambda: host.reserve(asked)):
        return Report(outcome=Outcome.LIMIT, problem=problem, host=host.name).as_data()
    progress = host.patiently(lambda: host.ledger.claim(asked.id, host.executor))
    report = _attempted(host, UnitAttempt(host, asked, progress))

    def settled() -> None:
        host.ledger.settle(asked.id, report.cost_usd)
        host.ledger.note(asked.id, phase=report.outcome.value, cost_usd=report.cost_usd, run=report.run)

    host.patiently(settled)
    return report.as_data()


def _attempted(host: Host, attempt: "UnitAttempt") -> Report:
    """Return the report of an attempt, whatever happened in it."""
    try:
        return attempt.run()
    except (MovedError, UnfitHostError):
        raise
    except ClaimLostError as error:
        if host.draining.wait(_LOST_S):
            raise MovedError(str(error)) from error
        others = "and no worker of this fleet has. Somebody else writes to refs/sq-fleet"
        return attempt.failed(f"{error}, {others}")
    except (SqError, OSError) as error:
        if shutil.disk_usage(host.root).free < _LEAST_DISK:
            raise UnfitHostError(f"the disk is full: {error}") from error
        if host.draining.is_set():
            raise MovedError(str(error)) from error
        return attempt.failed(str(error))
    except Exception:  # a defect of sq's must not lose a submission
        lines = traceback.format_exc(limit=-3).strip().splitlines()
        log.exception("fleet.unexpected")
        return attempt.failed(f"unexpected: {lines[-1]}, in {lines[-3].strip()}")


class UnitAttempt:
    """One worker's work on a submission, whose claim is noted."""

    def __init__(self, host: Host, submission: Submission, progress: Progress) -> None:
        self._host, self._asked, self._progress = host, submission, progress
        self._began = self._saved_at = time.monotonic()
        self._place = Workplace(host.root / "work" / f"{submission.id}-{progress.claims}")
        self._sq = SqProcess(host, self._place)
        stopped = host.draining.is_set
        self._remote = GitServer(submission.repository, patience_s=_PATIENCE_S, stopped=stopped)
        self._once = GitServer(submission.repository, patience_s=0.0)
        self._redact = host.redactor_for(self._place.repository)
        self._pushed = ""
        self._merged = self._calls = 0

    def run(self) -> Report:
        """Fetch, work, push, and return the report.

        Raises:
            MovedError: the worker is to stop, and the run is pushed.
            ClaimLostError: another one has begun to work on it.
            UnfitHostError: nothing can be worked on here.
        """
        if shutil.disk_usage(self._host.root).free < _LEAST_DISK:
            raise UnfitHostError(f"the disk is full: {self._host.root}")
        shutil.rmtree(self._place.root, ignore_errors=True)
        self._place.root.mkdir(mode=0o700, parents=True)
        self._note(phase="fetching")
        asked, folder = self._asked, self._place.repository
        clone(self._remote, self._host.root / "mirrors", folder, branch=asked.branch, base=asked.base)
        run = self._claimed()
        if view := self._view():
            self._merged, self._calls = _counts(view)
        report = self._refused() or self._worked(run)
        self._place.remove()
        return report

    def failed(self, problem: str) -> Report:
        """Return the report of work that could not go on, with what it has cost so far."""
        kept = f" What is not pushed lies in {self._place.root}" if self._place.run_folder else ""
        return self._report(Outcome.FAILED, self._redact(problem) + kept, is_pushed=False)

    # --- before ---------------------------------------------------------------------------------------------

    def _claimed(self) -> str:
        """Take the run up on top of its newest checkpoint, push the claim, and return the id of the run."""
        last_push = retry_if_exception_type(ClaimLostError)  # of the worker before, which was under way
        return Retrying(retry=last_push, stop=stop_after_attempt(_CLAIMS), reraise=True)(self._claim)

    def _claim(self) -> str:
        run = self._taken_up()
        commit = self._checkpoints.claim(f"Claim {self._progress.claims} by {self._host.executor}")
        self._remote.push(self._place.repository, [(journal_ref(self._asked.id), self._pushed, commit)])
        self._pushed = self._checkpoints.last = commit
        return run

    def _taken_up(self) -> str:
        """Fetch what was submitted and the newest checkpoint, restore its run, and return the id of that."""
        asked, folder = self._asked, self._place.repository
        refs = self._remote.refs(spec_ref(asked.id), journal_ref(asked.id))
        if spec_ref(asked.id) not in refs:
            raise SqError(f"the repository has no {spec_ref(asked.id)} any more. Submit the spec again")
        self._remote.fetch(folder, *(f"+{ref}:{ref}" for ref in refs))
        for name, data in files_at(folder, refs[spec_ref(asked.id)], OWN_SPEC, SCENARIO).items():
            (self._place.root / name).write_bytes(data)
        self._pushed = refs.get(journal_ref(asked.id), "")
        for tried_before in (self._place.state, self._place.home):
            shutil.rmtree(tried_before, ignore_errors=True)
        run_git(folder, "worktree", "prune")
        self._checkpoints = Checkpoints(
            place=self._place, base=asked.base, branch=asked.branch, redact=self._redact
        )
        if not self._pushed:
            return ""
        run = restore(files_at(folder, self._pushed, *CONTENT), self._place)
        self._checkpoints.go_on_from(self._pushed, run)
        return run

    def _refused(self) -> Report | None:
        if self._progress.deaths >= _POISONED:
            died = f"{self._progress.deaths} workers died at this run without any progress of it"
            return self._report(Outcome.FAILED, f"{died}, so it is not begun again by itself")
        configuration = self._place.repository / REPOSITORY_FILE
        settings = configuration.read_bytes() if configuration.is_file() else b""
        if problem := self._host.policy.refusal_of_settings(settings):
            return self._report(Outcome.USAGE, problem)
        return None

    # --- meanwhile ------------------------------------------------------------------------------------------

    def _worked(self, run: str) -> Report:
        """Run sq until it ends, push the work, and say how it ended. sq is started again if it was killed."""
        if not self._is_rehearsed and (problem := credentials_problem(self._host.environ)):
            raise UnfitHostError(problem)
        self._note(phase="working", run=run)
        for start in range(1, _STARTS + 1):
            code = self._sq.run(self._command(), self._look)
            if self._sq.stopped and code not in _OUTCOMES:  # it did not end in time, and its journal has all
                code = Outcome.INTERRUPTED.exit_code
            if code in _OUTCOMES and (code != Outcome.INTERRUPTED.exit_code or self._sq.stopped):
                return self._handed_in(code)
            log.warning("fleet.run.killed", id=self._asked.id, exit_code=code, start=start)
        words = self._sq.last_words(self._redact)
        raise SqError(f"sq was killed {_STARTS} times (exit code {code}). {words}")

    @property
    def _is_rehearsed(self) -> bool:
        return (self._place.root / SCENARIO).exists()

    def _command(self) -> list[str]:
        folder = self._place.run_folder
        options = ["--state-dir", str(self._place.state), "--quiet", "--plain"]
        sandbox = ["--sandbox", self._host.policy.sandbox]
        if folder:
            return ["resume", folder.name, *options, *sandbox]
        asked = self._asked
        limits = ["--budget", f"{asked.budget_usd:.2f}"] if asked.budget_usd else []
        rehearsal = ["--rehearse", str(self._place.root / SCENARIO)] if self._is_rehearsed else []
        spec = ["--spec", str(self._place.root / OWN_SPEC)]
        return ["run", *spec, "--effort", asked.effort, "--no-merge", *limits, *rehearsal, *options, *sandbox]

    def _look(self) -> str:
        """Note the progress, push a checkpoint if it is time, and return why the run has to stop, or ""."""
        if self._host.draining.is_set():
            return "moved"
        if self._asked.deadline_s and time.monotonic() - self._began > self._asked.deadline_s:
            return "deadline"
        if self._is_cancelled():
            return "cancelled"
        grown = self._noted()
        late = time.monotonic() - self._saved_at > self._host.checkpoint_s
        if self._place.run_folder and (grown or late or not self._checkpoints.has_run):
            self._save()
            self._saved_at = time.monotonic()
        return ""

    def _is_cancelled(self) -> bool:
        try:
            found = self._host.engine.units([self._asked.id])
        except Exception as error:  # noqa: BLE001  the database is away, and the run goes on
            log.warning("fleet.database.away", error=type(error).__name__)
            return False
        return bool(found) and found[0].state is UnitState.CANCELLED

    def _noted(self) -> bool:
        """Note the progress of the run, and return whether it has merged anything since the last look."""
        view = self._view()
        if view is None or not view.started:
            return False
        merged, calls = _counts(view)
        grown, moved = merged > self._merged, calls > self._calls
        if grown or moved:
            spent = {"cost_usd": view.cost_usd, "merged": merged, "tasks": len(view.tasks)}
            self._note(run=view.started.run_id, deaths=0, **spent)
        self._merged, self._calls = merged, calls
        return grown

    def _view(self) -> RunView | None:
        """Return how the run stands, or None: it has no event yet, or its journal cannot be read now."""
        folder = self._place.run_folder
        with suppress(SqError, sqlite3.Error):
            if folder and has_begun(folder):
                with JournalReader(folder) as journal:
                    return fold(journal.read_for_views())
        return None

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

    def _handed_in(self, code: int) -> Report:
        """Push the last checkpoint, and the work if the run has ended. Say how it ended."""
        view = self._view()
        ended = view.ended if view else None
        if not ended and shutil.disk_usage(self._host.root).free < _LEAST_DISK:
            raise UnfitHostError(f"the disk is full, and sq ended with code {code}")
        self._note(phase="handing in")
        if self._sq.stopped == "moved" and not ended:
            self._save_at_last("Put down", "")
            self._place.remove()
            raise MovedError("put down")
        branch = f"refs/heads/sq/{view.started.run_id}" if view and view.started else ""
        self._save_at_last("The end" if ended else "Stopped", branch)
        if ended:
            return self._report(ended.outcome, self._redact(ended.cause)[:_LONGEST])
        if self._sq.stopped == "deadline":
            return self._report(Outcome.LIMIT, f"the deadline of {self._asked.deadline_s:.0f} s has passed")
        return self._report(_OUTCOMES[code], self._sq.last_words(self._redact) if code else "")

    def _save_at_last(self, message: str, branch: str) -> None:
        """Push the last state of the run, however long the server is away: it is paid work.

        Raises:
            RemoteAwayError: the server stays away. The work lies in the folder of this claim.
        """
        commit = self._checkpoints.take(message) or self._checkpoints.last
        moves = [(journal_ref(self._asked.id), self._pushed, commit)]
        server = GitServer(self._asked.repository, patience_s=_SAVED)
        if branch and (new := self._commit_of(branch)):
            moves.append((branch, server.refs(branch).get(branch, ""), new))
        server.push(self._place.repository, moves)
        self._pushed = commit

    def _commit_of(self, branch: str) -> str:
        """Return the commit of the work, or "" without any."""
        with suppress(GitError):
            found = git_line(self._place.repository, "rev-parse", "--verify", "--quiet", branch)
            return found if found != self._asked.base else ""
        return ""

    def _report(self, outcome: Outcome, problem: str, *, is_pushed: bool = True) -> Report:
        view = self._view()
        run = view.started.run_id if view and view.started else self._progress.run
        commit = self._commit_of(f"refs/heads/sq/{run}") if run and is_pushed else ""
        offered = commit and self._asked.pull_request and outcome in {Outcome.COMPLETE, Outcome.UNVERIFIED}
        return Report(
            outcome=outcome,
            run=run,
            commit=commit,
            cost_usd=max(view.cost_usd if view else 0.0, self._progress.cost_usd),
            host=self._host.name,
            problem=problem,
            pull_request=self._sq.pull_request(run, self._asked.branch, self._redact) if offered else "",
        )


def _counts(view: RunView) -> tuple[int, int]:
    """Return how many tasks are merged, and how many calls have ended."""
    merged = sum(task.stage.value == "merged" for task in view.tasks.values())
    return merged, sum(call.end is not None for call in view.calls.values())


STEPS = (("work", work),)
