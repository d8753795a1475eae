"""The composition root: from what was typed to a `Run` that can be worked on, and its outcome.

The SDKs are imported here, before any task group opens: inside a coroutine their seconds of import would
stop every reader.
"""

import os
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import anyio
import structlog

from agents.claude_code import find_cli
from agents.concurrency import task_group
from agents.connection import (
    Connection,
    Credentials,
    RehearsalConnection,
    find_connection,
    find_credentials,
)
from agents.gateway.scenario import load_scenario
from agents.gateway.server import serve_scenario
from agents.platform import make_platform
from agents.process import Containment, detect_containment
from orchestrator.cli.logging import log_to
from orchestrator.cli.spec_file import read_spec
from orchestrator.cli.version import sq_version
from orchestrator.git.command import git_version
from orchestrator.git.repository import Repository, base_commit, find_repository, ignore_locally, uncommitted
from orchestrator.run.machine import StopRequest, work_until_stopped
from orchestrator.run.record import Limits, Run
from orchestrator.views.console import Mode, present
from state.errors import UsageError
from state.events import RunResumed, RunStarted
from state.fold import fold
from state.journal import Journal, JournalReader
from state.outcome import Outcome
from state.paths import StateFolder, worktree_root
from state.presets import effort_named, model_named
from state.secrets import redactor

log = structlog.get_logger(__name__)

SCENARIO = "scenario.yaml"
LEDGER = "rehearsal.jsonl"
_LAST_LINES_S = 5  # how long the display may take to show the last events
OpenJournal = Callable[..., Journal]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What `sq run` was asked."""

    spec: Path
    folder: Path
    effort: str = "medium"
    verify: tuple[str, ...] = ()
    rehearse: Path | None = None
    state_dir: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What a run is given from outside; a test's fault injection comes in here, as another journal."""

    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    open_journal: OpenJournal = Journal
    mode: Mode = Mode.PLAIN

    @cached_property
    def containment(self) -> Containment:
        """How process trees are ended here; looked at once."""
        return detect_containment(self.environ)


def run_new(request: RunRequest, surroundings: Surroundings) -> Outcome:
    """Begin a run and work on it until it has an outcome.

    Raises:
        UsageError: something that was asked cannot be done as it is; nothing was started.
    """
    spec_text = read_spec(request.spec)
    effort_named(request.effort)
    if request.rehearse:
        load_scenario(request.rehearse)
    find_cli()
    if git_version() is None:
        raise UsageError("git was not found on PATH, and sq works on git branches. Install git")
    _import_sdks()
    return anyio.run(_new, request, spec_text, surroundings)


def run_again(run_folder: Path, surroundings: Surroundings) -> Outcome:
    """Go on with a run from its journal; one that has ended is told again and keeps its outcome.

    Raises:
        UsageError: it is being worked on, or what it stands on is gone.
    """
    with JournalReader(run_folder) as journal:
        view = fold(journal.read())
        if view.ended:  # nothing to go on with: told again, with the same outcome
            anyio.run(_show, journal, surroundings.mode, view.last_seq - 1)
            return view.ended.outcome
    find_cli()
    _import_sdks()
    return anyio.run(_again, run_folder, surroundings)


def _import_sdks() -> None:
    import anthropic  # noqa: F401
    import claude_agent_sdk  # noqa: F401


async def _new(request: RunRequest, spec_text: str, surroundings: Surroundings) -> Outcome:
    repository = await find_repository(request.folder)
    state = StateFolder(request.state_dir or repository.root / ".sq")
    not_dirt = [request.spec, state.root, *([request.rehearse] if request.rehearse else [])]
    base = await base_commit(repository, not_dirt=not_dirt)
    rehearsed = request.rehearse is not None
    credentials = (
        Credentials.REHEARSAL if rehearsed else find_credentials(surroundings.environ, cli=find_cli())
    )
    run_id, run_folder = state.new_run()
    await ignore_locally(repository, state.root)
    if request.rehearse:
        shutil.copyfile(request.rehearse, run_folder / SCENARIO)
    started = RunStarted(
        run_id=run_id,
        spec_name=str(request.spec),
        spec_text=spec_text,
        repository=str(repository.root),
        worktrees=str(worktree_root(repository.root, run_id)),
        base_commit=base,
        base_branch=repository.branch,
        effort=request.effort,
        verify=request.verify,
        rehearsal=str(request.rehearse) if request.rehearse else None,
        credentials=credentials,
        containment=surroundings.containment,
        sq_version=sq_version(),
        notes=await _notes(repository, not_dirt),
    )
    with surroundings.open_journal(run_folder, redact=redactor(surroundings.environ)) as journal:
        journal.append(started)
        return await _drive(journal, started, run_folder, surroundings, shown_from=0)


async def _again(run_folder: Path, surroundings: Surroundings) -> Outcome:
    with surroundings.open_journal(run_folder, redact=redactor(surroundings.environ)) as journal:
        view = fold(journal.read())
        if view.started is None:
            raise UsageError(f"run {run_folder.name} was killed before it began; begin it anew")
        if not Path(view.started.repository).is_dir():
            raise UsageError(f"the repository of this run, {view.started.repository}, is gone")
        journal.append(RunResumed(containment=surroundings.containment))
        return await _drive(journal, view.started, run_folder, surroundings, shown_from=view.last_seq)


async def _notes(repository: Repository, not_dirt: list[Path]) -> tuple[str, ...]:
    notes = []
    if repository.branch is None:
        notes.append("HEAD is detached: the finished work stays on a branch of sq's")
    if repository.head is None:
        notes.append("the repository has no commit yet: the run starts from an empty one")
    elif left := await uncommitted(repository, not_dirt=not_dirt):
        notes.append(f"{len(left)} uncommitted change(s) in the checkout are not part of this run")
    notes.append("the commands that agents run are not sandboxed; refusals and the check of the diff hold")
    return tuple(notes)


async def _drive(
    journal: Journal, started: RunStarted, run_folder: Path, surroundings: Surroundings, *, shown_from: int
) -> Outcome:
    """Work on a run while it is shown and signals are heard; events up to `shown_from` are not shown."""
    async with AsyncExitStack() as stack:
        stack.enter_context(log_to(run_folder / "sq.log", redact=redactor(surroundings.environ)))
        connection = await stack.enter_async_context(_connected(started, run_folder, surroundings))
        run = _run(journal, started, run_folder, surroundings, connection)
        stop, shown = StopRequest(), anyio.Event()
        async with task_group() as tasks:
            tasks.start_soon(_heed_signals, stop)
            tasks.start_soon(_show, journal, surroundings.mode, shown_from, shown)
            try:
                outcome = await work_until_stopped(run, stop)
                with anyio.move_on_after(_LAST_LINES_S):
                    await shown.wait()
            finally:
                tasks.cancel_scope.cancel()
    return outcome


async def _show(
    journal: Journal | JournalReader, mode: Mode, after: int, shown: anyio.Event | None = None
) -> None:
    view = fold(stored for stored in journal.read() if stored.seq <= after)
    try:
        await present(journal, mode, after=after, view=view)
    except BrokenPipeError:  # whoever watched has gone (`sq run … | head`); the run goes on
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if shown:
        shown.set()


def _run(
    journal: Journal,
    started: RunStarted,
    run_folder: Path,
    surroundings: Surroundings,
    connection: Connection,
) -> Run:
    effort = effort_named(started.effort)
    state_root = run_folder.parents[1]
    platform = make_platform(
        connection,
        cli=find_cli(),
        run_folder=run_folder,
        containment=surroundings.containment,
        models={role: model_named(alias) for role, alias in effort.models.items()},
        environ=surroundings.environ,
        hidden=(state_root,),
    )
    rehearsal = [Path(started.rehearsal)] if started.rehearsal else []
    return Run(
        journal=journal,
        folder=run_folder,
        platform=platform,
        effort=effort,
        limits=Limits(),
        environ=surroundings.environ,
        not_dirt=[Path(started.spec_name), state_root, *rehearsal],
    )


@asynccontextmanager
async def _connected(
    started: RunStarted, run_folder: Path, surroundings: Surroundings
) -> AsyncIterator[Connection]:
    config_dir = run_folder / "claude"
    config_dir.mkdir(mode=0o700, exist_ok=True)
    if started.rehearsal is None:
        yield find_connection(surroundings.environ, cli=find_cli(), config_dir=config_dir)
        return
    scenario = load_scenario(run_folder / SCENARIO)
    async with serve_scenario(scenario, run_id=started.run_id, ledger=run_folder / LEDGER) as gateway:
        yield RehearsalConnection(gateway=gateway, config_dir=config_dir)


async def _heed_signals(stop: StopRequest) -> None:
    """The first Ctrl-C or SIGTERM ends the run in order; the second ends the process at once."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async for number in signals:
            if stop.reason:
                os._exit(Outcome.INTERRUPTED.exit_code)  # containment ends every process of the run
            stop.ask(signal.Signals(number).name)
