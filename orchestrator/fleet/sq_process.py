"""sq at work on a run, as a process of its own that is looked at while it lives."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from agents.process.containment import Containment, contained
from orchestrator.fleet.host import Host
from orchestrator.fleet.workplace import Workplace
from state.redaction.redactor import Redact

OWN_PROGRAM = (sys.executable, "-I", sys.argv[0])  # sq, as this process was started
_TICK_S, _LOOK_S = 0.2, 1.0
_GRACE_S = 45.0  # for a run to store its state, after which its process tree is killed
_PR_S = 600.0
_LINES, _LONGEST = 3, 600  # of what it printed


class SqProcess:
    """The commands of sq in the folder of one claim."""

    def __init__(self, host: Host, place: Workplace) -> None:
        self._host, self._place = host, place
        self.stopped = ""  # why it was asked to stop
        environment = host.environment(place.home)
        self._usual: Any = {"cwd": place.repository, "env": environment, "stdin": subprocess.DEVNULL}

    def run(self, arguments: Sequence[str], look: Callable[[], str]) -> int:
        """Run sq to its end, and return its exit code.

        `look` is called each second. It returns why sq has to stop, or "".
        """
        command = contained([*self._host.sq, *arguments], self._host.containment)
        with (self._place.root / "sq.out").open("ab") as out:
            child = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True, **self._usual)
        try:
            self._attend(child, look)
        finally:
            child.terminate()  # the supervisor ends all of the tree, if it has not ended
            child.wait()
        return child.returncode if child.returncode >= 0 else 128 - child.returncode

    def _attend(self, child: subprocess.Popen[bytes], look: Callable[[], str]) -> None:
        looked_at, killed_at = 0.0, float("inf")
        while child.poll() is None:
            time.sleep(_TICK_S)
            now = time.monotonic()
            if now > killed_at:
                child.terminate()
            if self.stopped or (now - looked_at < _LOOK_S and not self._host.draining.is_set()):
                continue
            looked_at = now
            if reason := look():
                self.stopped, killed_at = reason, now + _GRACE_S
                self._ask_to_stop(child)

    def _ask_to_stop(self, child: subprocess.Popen[bytes]) -> None:
        """Ask sq itself, which then has more time than its supervisor would give it."""
        asked = child.pid
        for _ in range(2 if self._host.containment is Containment.NAMESPACES else 1):
            with suppress(OSError, IndexError, ValueError):
                asked = int(Path(f"/proc/{asked}/task/{asked}/children").read_text("ascii").split()[0])
        with suppress(ProcessLookupError):
            os.kill(asked, signal.SIGTERM)

    def pull_request(self, run: str, base: str, redact: Redact) -> str:
        """Hand the work over as a pull request, and return its address or why there is none."""
        options = ("--no-push", "--state-dir", str(self._place.state), "--base", base)
        command = [*self._host.sq, "pr", run, *options]
        try:
            done: subprocess.CompletedProcess[str] = subprocess.run(
                command, capture_output=True, text=True, timeout=_PR_S, check=False, **self._usual
            )
        except subprocess.TimeoutExpired:
            return f"none: the service did not answer within {_PR_S:.0f} s"
        said = (done.stdout or done.stderr).strip().splitlines()
        if said and not done.returncode:
            return said[0].rpartition(": ")[2]
        return f"none: {redact(' '.join(said))[-_LONGEST:]}"

    def last_words(self, redact: Redact) -> str:
        """Return the last lines that sq printed, without secrets."""
        with suppress(OSError):
            printed = (self._place.root / "sq.out").read_text("utf-8", errors="replace")
            return redact(" | ".join(printed.strip().splitlines()[-_LINES:]))[-_LONGEST:]
        return ""
