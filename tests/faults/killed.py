"""A run that is killed right after its n-th stored transaction: the fault comes in as another journal."""

import os
import signal
from pathlib import Path
from typing import Any

from language.scripted_agent import played as played_claude

from orchestrator.cli.runs.compose import run_again, run_new
from orchestrator.cli.runs.request import RunEnvironment, RunRequest
from orchestrator.run.machine import work_until_stopped
from state.journal.events import Event, Stored
from state.journal.store import Journal
from state.settings.sources import Flags

ALONE, GROUP = "alone", "group"


class KillingJournal(Journal):
    """Ends its process by SIGKILL after so many appends: itself alone, or its whole process group."""

    def __init__(self, run_folder: Path, *, kill_after: int, how: str, **rest: Any) -> None:
        super().__init__(run_folder, **rest)
        self._left = kill_after
        self._how = how

    def append(self, *events: Event) -> list[Stored]:
        stored = super().append(*events)
        self._left -= 1
        if self._left == 0:
            if self._how == GROUP:
                os.killpg(0, signal.SIGKILL)
            os.kill(os.getpid(), signal.SIGKILL)
        return stored


def _environment(
    environ: dict[str, str], kill_after: int, how: str, *, played: bool = False
) -> RunEnvironment:
    os.environ.clear()
    os.environ.update(environ)
    os.setsid()  # a process group of its own, as a terminal's job has
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 1)

    def open_journal(run_folder: Path, **rest: Any) -> Journal:
        return KillingJournal(run_folder, kill_after=kill_after, how=how, **rest)

    return RunEnvironment(
        open_journal=open_journal, environ=environ, choose=played_claude if played else None
    )


def run(
    environ: dict[str, str],
    folder: str,
    scenario: str,
    kill_after: int,
    how: str,
    spec: str = "",
    flags: Flags | None = None,
    *,
    played: bool = False,
) -> None:
    """Begin the run; `kill_after` 0 lets it end. `played`: without Claude Code's process."""
    request = RunRequest(
        spec=Path(spec or f"{folder}/quality-test.md"),
        folder=Path(folder),
        rehearse=Path(scenario),
        flags=flags or {},
    )
    environment = _environment(environ, kill_after, how, played=played)
    os._exit(run_new(request, environment, work=work_until_stopped).exit_code)


def resume(
    environ: dict[str, str], run_folder: str, kill_after: int = 0, how: str = ALONE, *, played: bool = False
) -> None:
    """Go on with a run."""
    environment = _environment(environ, kill_after, how, played=played)
    os._exit(run_again(Path(run_folder), environment, work=work_until_stopped).exit_code)
