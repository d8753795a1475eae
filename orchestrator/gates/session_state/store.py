"""The stored state of a session between its stops: blocks in a row, the last checks, an off switch.

The format, validation, recovery and return codes are seed 001's. Reading, changing and writing are one step
under the file's lock, so that concurrent hooks lose no count.
"""

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from orchestrator.gates.session_state.diagnostics import (
    Diagnostics,
    SteeringSettings,
    safe_name,
    steering_folder,
    time_of,
    utc_text,
)
from orchestrator.gates.session_state.records import (
    CheckResults,
    StateCode,
    SteeringState,
    invalid_reason,
    parsed,
)
from state.atomic_files import (
    LOCK_WAIT_S,
    DamagedFileError,
    LockTimeoutError,
    WriteFailedError,
    encoded,
    locked,
    overwrite_file,
    read_json,
    replace_file,
    write_errors,
    write_json,
)

FOR_GOOD = datetime(9999, 1, 1, tzinfo=UTC)  # switched off until it is switched on again

_MOST_LOGGED = 2000  # characters of a damaged state in the log


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedState:
    """The result of reading. With a `reason` the file was damaged, and its original is now at `kept_as`.

    `state` is then the default one. Without `kept_as` the original could not be moved and stays in its place,
    and nothing is stored until it can be moved.
    """

    state: SteeringState
    code: StateCode = StateCode.OK
    reason: str = ""
    kept_as: Path | None = None
    found: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """The result of a change. `stored`: `state` is in the file now. With code 4 it may be either."""

    state: SteeringState
    code: StateCode = StateCode.OK
    stored: bool = True
    retry_count: int = 0
    error: str = ""


class SteeringStore:
    """The state of one session, in a folder of sessions (seed 001). A bad file or disk raises no error."""

    def __init__(
        self,
        folder: Path,
        session_id: str,
        *,
        retry_delays: Sequence[float] | None = None,
        environ: Mapping[str, str] | None = None,
        lock_wait_s: float = LOCK_WAIT_S,
    ) -> None:
        """Name the session. Nothing is read or made yet.

        Args:
            folder: holds a folder for each session (see `of_project`).
            session_id: any text. An unsafe one gets a safe name.
            retry_delays: seconds before further tries, doubling after the last. None: the environment's.
            environ: the environment, if not the process's.
            lock_wait_s: seconds to wait for another process that changes the state.
        """
        self._settings = SteeringSettings.of(os.environ if environ is None else environ)
        if retry_delays is not None:
            self._settings = replace(self._settings, retry_delays=tuple(retry_delays))
        self._verify = self._settings.verify_writes
        self._lock_wait_s = lock_wait_s
        self.session_id = session_id or safe_name(session_id)
        self.root = folder.absolute()
        self.file = self.root / safe_name(session_id) / "state.json"
        self._for_all = self.root / ".disabled.json"  # no session's name begins like this
        self.diagnostics = Diagnostics.within(
            self._settings.diagnostic_log_dir or self.file.parent,
            session_id=self.session_id,
            debug=self._settings.debug,
        )

    @classmethod
    def of_project(cls, project: Path, session_id: str, *, environ: Mapping[str, str] | None = None) -> Self:
        """The store that a project's hooks use: in SQ_PS_STATE_DIR, or below `.claude/runtime/`."""
        settings = SteeringSettings.of(os.environ if environ is None else environ)
        return cls(steering_folder(project, settings), session_id, environ=environ)

    def load(self) -> LoadedState:
        """Read the state: the default one if there is none, or if the file is damaged, which is set aside."""
        found = self._look()
        if found.reason:
            with suppress(LockTimeoutError, WriteFailedError), self._locked():
                found = self._recover()
        self._log(
            "state_load",
            success=not found.reason,
            load_success=found.reason not in {"unreadable", "no_file", "invalid_json"},
            validation_passed=not found.reason,
            counter_value=found.state.consecutive_blocks,
            code=int(found.code),
        )
        return found

    @contextmanager
    def alone(self, *, tries: int | None = None) -> Iterator[None]:
        """Keep other hooks of this session from counting, so that a limit is read and kept in one step.

        `tries`: how often making the folder is tried. None: as often as a write.

        Raises:
            LockTimeoutError: other hooks held the lock for too long.
            WriteFailedError: the session's folder cannot be made.
        """
        with self._locked(self.file.with_name("stop"), tries):
            yield

    def count_block(self, prompt_id: str) -> Saved:
        """Count one more blocked stop, in the row and for this prompt of the user."""
        return self._change(lambda state: state.blocked(prompt_id))

    def count_held(self, prompt_id: str) -> Saved:
        """Count one more stop that a step other than power steering held, for this prompt of the user."""
        return self._change(lambda state: state.held(prompt_id))

    def clear_blocks(self) -> Saved:
        """End the row of blocks and of failures, since the stop was allowed. The prompt's own count stays."""
        return self._change(lambda state: replace(state, consecutive_blocks=0, failure_sets=()))

    def record_check(
        self, results: CheckResults, failures: Iterable[str], unmet: Mapping[str, str] | None = None
    ) -> Saved:
        """Keep a check's results.

        `failures` are the ids that hold the session, to notice when the same ones repeat. `unmet` has by id
        why each was open, for the judge's next look.
        """
        failed, reasons, at = tuple(failures), dict(unmet or {}), datetime.now(UTC)
        return self._change(lambda state: state.checked(results, failed, reasons, at))

    def disable(self, until: datetime, *, everywhere: bool = False) -> Saved:
        """Switch steering off until a time, for this session or the folder. A past time switches it on."""
        text = utc_text(until)
        if not everywhere:
            return self._change(lambda state: replace(state, disabled_until=text))
        try:
            write_json(self._for_all, {"disabled_until": text}, sync=self._settings.sync)
        except (LockTimeoutError, WriteFailedError) as error:
            self._log("disable", success=False, error=str(error), code=int(StateCode.SAVE_FAILED))
            state = self._look().state
            return Saved(state=state, code=StateCode.SAVE_FAILED, stored=False, error=str(error))
        return Saved(state=self._look().state)

    def disabled_until(self) -> datetime | None:
        """Until when steering is off for this session, by its own mark or the folder's. None if it is on."""
        marks: list[object] = [self._look().state.disabled_until]
        with suppress(DamagedFileError):
            marks.append((read_json(self._for_all) or {}).get("disabled_until"))
        times = []
        for mark in marks:
            with suppress(ValueError):
                times.append(time_of(mark))
        return max((one for one in times if one > datetime.now(UTC)), default=None)

    def default(self) -> SteeringState:
        """The state of a session of which nothing is known."""
        return SteeringState(session_id=self.session_id)

    def _look(self) -> LoadedState:
        """Read the file and change nothing. `code` and `reason` are set if it is damaged."""
        try:
            found = read_json(self.file)
        except DamagedFileError as error:
            reason = "state_not_dict" if error.reason == "not_object" else error.reason
            return self._no_good(reason, error.found)
        if found is None:
            return LoadedState(state=self.default())
        if reason := invalid_reason(found):
            return self._no_good(reason, found)
        try:
            return LoadedState(state=parsed(found))
        except ValueError:
            return self._no_good("invalid_field", found)

    def _no_good(self, reason: str, found: object) -> LoadedState:
        return LoadedState(state=self.default(), code=StateCode.VALIDATION_FAILED, reason=reason, found=found)

    def _recover(self) -> LoadedState:
        """Keep a damaged file under another name and store the default state. Under the lock.

        Raises:
            WriteFailedError: it cannot be renamed, so it stays where it is.
        """
        found = self._look()
        if not found.reason:  # another process has recovered it
            return found
        self._log(
            "validation",
            success=False,
            validation_failed=True,
            reason=found.reason,
            corrupted_state=_short(found.found),
            code=int(found.code),
        )
        if found.reason == "unreadable":  # an error of the disk says nothing about the file
            raise WriteFailedError(f"{self.file} cannot be read now and is left as it is")
        kept = _keep_aside(self.file)
        self._store(found.state, before=None)
        counter = found.state.consecutive_blocks
        self._log("state_reset", reason="corruption_detected", counter_reset_to=counter, kept_as=kept.name)
        return replace(found, kept_as=kept)

    def _change(self, change: Callable[[SteeringState], SteeringState]) -> Saved:
        """Read, change and write under the lock."""
        try:
            with self._locked():
                found = self._recover()
                return self._store(change(found.state), before=found.state.consecutive_blocks)
        except (LockTimeoutError, WriteFailedError) as error:
            self._log("state_save", success=False, save_success=False, error=str(error), code=1)
            state = change(self._look().state)
            return Saved(state=state, code=StateCode.SAVE_FAILED, stored=False, error=str(error))

    def _store(self, state: SteeringState, *, before: int | None) -> Saved:
        """Write, and retry with a new file each time, but not after EIO on fsync. Under the lock."""
        data = encoded(asdict(state))
        error = ""
        retry = 0
        for retry in range(self._settings.max_retries + 1):
            if retry:
                time.sleep(self._settings.delay(retry - 1))
            try:
                replace_file(self.file, data, sync=self._settings.sync, verify=self._verify)
            except WriteFailedError as failure:
                error = str(failure)
                self._log_failure(failure, retry)
                if failure.final:
                    break
                continue
            self._log(
                "state_save",
                counter_before=before,
                counter_after=state.consecutive_blocks,
                save_success=True,
                verification_success=self._verify or None,
                retry_count=retry,
                code=0,
            )
            if retry:
                self._log("state_save_retry", retry_count=retry, code=0)
            return Saved(state=state, retry_count=retry)
        return self._last_resort(state, data, retry, error)

    def _last_resort(self, state: SteeringState, data: bytes, retries: int, error: str) -> Saved:
        """Write into the file itself, after all tries failed (code 4). A crash could tear it."""
        exhausted = StateCode.RETRIES_EXHAUSTED
        self._log("state_save_retry", success=False, retry_count=retries, error=error, code=int(exhausted))
        stored = True
        try:
            overwrite_file(self.file, data)
        except WriteFailedError as failure:
            stored, error = False, f"{error}; {failure}"
        self._log("state_save", success=stored, save_success=stored, method="in_place", code=int(exhausted))
        return Saved(state=state, code=exhausted, stored=stored, retry_count=retries, error=error)

    def _log_failure(self, failure: WriteFailedError, retry: int) -> None:
        if failure.mismatch:
            told: dict[str, object] = {"verification_success": False, "reason": "data_mismatch"}
            operation, code = "verification_read", StateCode.VERIFICATION_FAILED
        else:
            told = {"save_success": False, "error": str(failure)}
            operation, code = "state_save", StateCode.SAVE_FAILED
        self._log(operation, success=False, **told, retry_count=retry, code=int(code))

    @contextmanager
    def _locked(self, path: Path | None = None, tries: int | None = None) -> Iterator[None]:
        """Hold the lock of the state, or of `path`. Making its folder is retried like a write."""
        last = self._settings.max_retries if tries is None else tries - 1
        with ExitStack() as held:
            for retry in range(last + 1):
                if retry:
                    time.sleep(self._settings.delay(retry - 1))
                try:
                    held.enter_context(
                        locked(path or self.file, wait_s=self._lock_wait_s, sync=self._settings.sync)
                    )
                    break
                except WriteFailedError as error:
                    self._log("state_lock", success=False, error=str(error), retry_count=retry, code=1)
                    if error.final or retry == last:
                        raise
            yield

    def _log(self, operation: str, *, success: bool = True, **details: object) -> None:
        self.diagnostics.log(operation, success=success, file_path=str(self.file), **details)


def _short(found: object) -> object:
    """A damaged state for the log, cut if it is long."""
    try:
        text = json.dumps(found)
    except (ValueError, RecursionError):
        return "nested too deeply"
    return found if len(text) <= _MOST_LOGGED else text[:_MOST_LOGGED]


def _keep_aside(path: Path) -> Path:
    """Rename a damaged file to `NAME.corrupt`, in place of an older one, and return that path.

    Raises:
        WriteFailedError: it cannot be renamed and stays where it was.
    """
    aside = path.with_name(f"{path.name}.corrupt")
    with write_errors(f"{path} cannot be renamed to {aside.name}"):
        if aside.is_dir() or (path.is_dir() and os.path.lexists(aside)):  # sq removes no folder
            aside = aside.with_name(f"{aside.name}-{time.time_ns()}")
        return path.replace(aside)
