"""One gate per stop: settings of several scopes may each start a hook, and only the first one acts.

A hook from shared settings has `--shared` in its command. The same input from the same kind of settings is a
new stop. From the other kind it is a stop that was already taken.
"""

import hashlib
from enum import StrEnum

from orchestrator.gates.session_state.store import SteeringStore
from orchestrator.gates.stop_gate.stop import Stop
from state.atomic_files import (
    DamagedFileError,
    LockTimeoutError,
    WriteFailedError,
    encoded,
    read_json,
    replace_file,
)

_FILE = "stop.json"  # in the session's folder


class RemainingSteps(StrEnum):
    """Which steps are left for this hook."""

    ALL = "all"
    STEERING = "steering"  # the first hook was installed without it
    NONE = "none"


def part_of(stop: Stop, store: SteeringStore) -> RemainingSteps:
    """Take this stop, or the part that another hook has left. Take all of it if that cannot be stored."""
    file = store.file.with_name(_FILE)
    key = hashlib.sha256(repr(_named(stop)).encode("utf-8", "surrogatepass")).hexdigest()
    me = "shared" if stop.is_shared else "own"
    try:
        with store.alone(tries=1):
            taken = _read(store)
            others = taken.get("by") if taken.get("stop") == key else None
            is_new = not isinstance(others, list) or me in others
            by = [me] if is_new or not isinstance(others, list) else [*others, me]
            steered = not is_new and taken.get("steering") is True
            now = {"stop": key, "by": by, "steering": steered or stop.with_steering}
            replace_file(file, encoded(now), sync=False, verify=False)
    except (LockTimeoutError, WriteFailedError):
        return RemainingSteps.ALL
    if is_new:
        return RemainingSteps.ALL
    return RemainingSteps.STEERING if stop.with_steering and not steered else RemainingSteps.NONE


def _named(stop: Stop) -> tuple[object, ...]:
    """Equal for all hooks of one stop."""
    return (
        stop.claude_session,
        stop.prompt_id,
        stop.stop_hook_active,
        stop.last_assistant_message,
        str(stop.transcript_path),
    )


def _read(store: SteeringStore) -> dict[str, object]:
    try:
        return read_json(store.file.with_name(_FILE)) or {}
    except DamagedFileError:
        return {}
