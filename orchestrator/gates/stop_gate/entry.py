"""The hook's entry, `sq hook stop`: reads a stop from stdin, answers on stdout, and exits with 0."""

import _signal  # type: ignore[import-not-found]  # `signal` would be imported, which takes longer
import gc
import os
import sys

from orchestrator.gates.stop_gate import probe

TYPE_CHECKING = False  # typing would be imported
if TYPE_CHECKING:
    from typing import NoReturn

    from orchestrator.gates.stop_gate.stop import Steps

_MOST_INPUT = 10_000_000  # bytes
_LONGEST = 1_000  # characters of a failure's message
_BEFORE_S = 6.0  # until the gate's own deadline is set: for the input, and for signs in long files
_NOTE_S = 2.0  # a note is not worth a longer wait
_OURS = "SQ_AGENT"  # agents.access: a Claude Code that sq itself started


def main() -> None:
    """Answer one stop: read the input from stdin, write nothing or one JSON object, and exit with 0."""
    _signal.signal(_signal.SIGALRM, lambda *_: _tell("the stop gate had no answer, so the session may stop"))
    _signal.setitimer(_signal.ITIMER_REAL, _BEFORE_S)
    given = _read()
    if os.environ.get(_OURS):
        return
    if isinstance(given, str):
        _note(given)
        return
    steering = "--power-steering" in sys.argv
    try:
        if probe.runs_on(given):
            return
        if not steering and probe.only_lacks_a_key(given):
            os.write(1, b'{"systemMessage": "%s"}\n' % probe.NO_KEY.encode())
        elif steering or probe.may_apply(given):
            _through_the_gate(given, steering)
    except Exception as error:  # noqa: BLE001  an error of ours is reported and traps no session
        _tell(f"the stop gate failed, so the session may stop: {type(error).__name__}: {error}")


def _through_the_gate(given: dict[str, object], steering: bool) -> None:
    """Answer, and end the process even if a thread still hangs."""
    gc.disable()  # the process is too short for it
    from orchestrator.gates.stop_gate.stop import Mouth, answer, refused, stop_of, watch

    if problem := refused(given, os.environ):
        _tell(problem)
    is_shared = "--shared" in sys.argv
    stop = stop_of(given, os.environ, with_steering=steering, is_shared=is_shared)
    mouth = Mouth()
    watch(stop, mouth)
    mouth.say(answer(stop, _steps))
    os._exit(0)


def _steps() -> "Steps":
    from orchestrator.gates.stop_gate.order import STEPS

    return STEPS.items()


def _tell(message: str) -> "NoReturn":
    import json

    try:
        os.write(1, json.dumps({"systemMessage": message[:_LONGEST]}).encode() + b"\n")
    finally:
        os._exit(0)


def _read() -> dict[str, object] | str:
    """Return the input, or a message about its error."""
    try:
        data = sys.stdin.buffer.read(_MOST_INPUT + 1)
        if len(data) > _MOST_INPUT:
            return "the hook's input is larger than 10 MB"
        given = probe.parse_json(data)
    except (OSError, ValueError, AttributeError, RecursionError) as error:  # AttributeError: stdin is closed
        return f"the hook's input is no JSON: {error}"
    return given if isinstance(given, dict) else "the hook's input is no JSON object"


def _note(problem: str) -> None:
    """Log a stop whose input could not be read."""
    import signal
    from contextlib import suppress
    from pathlib import Path

    from orchestrator.gates.session_state.diagnostics import (
        Diagnostics,
        SteeringSettings,
        safe_name,
        steering_folder,
    )

    signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
    signal.setitimer(signal.ITIMER_REAL, _NOTE_S)
    with suppress(Exception):
        project = Path(probe.project_of({}))
        folder = steering_folder(project, SteeringSettings.of(os.environ)) / safe_name("")
        Diagnostics.within(folder, session_id="").log("stop_input", success=False, error=problem)
    signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    main()
