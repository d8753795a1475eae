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
from pathlib import Path

import anyio
import structlog

from agents.claude_code import find_cli
from agents.connection import Connection, Credentials, RehearsalConnection, find_connection
from agents.gateway.scenario import load_scenario
from agents.gateway.server import Gateway, serve_scenario
from agents.platform import make_platform
from agents.process import detect_containment
from orchestrator.cli.logging import log_to
from orchestrator.cli.version import sq_version
from orchestrator.git.command import git_version
from orchestrator.git.repository import Repository, base_commit, find_repository, ignore_locally, uncommitted
from orchestrator.run.machine import StopRequest, work_until_stopped
from orchestrator.run.record import Limits, Run
from orchestrator.views.console import Mode, present
from state.errors import UsageError
from state.events import RunResumed, RunStarted
from state.fold import RunView, fold
from state.journal import Journal
from state.outcome import Outcome
from state.paths import StateFolder, worktree_root
from state.presets import effort_named, model_named
from state.secrets import redactor

log = structlog.get_logger(__name__)

SCENARIO = "scenario.yaml"
LEDGER = "rehearsal.jsonl"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a run is given from outside; a test's fault injection comes in here, as another journal."""

    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    open_journal: OpenJournal = Journal
    mode: Mode = Mode.PLAIN


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
    """Go on with a run from its journal.

    Raises:
        UsageError: it has ended, is being worked on, or what it stands on is gone.
    """
    find_cli()
    _import_sdks()
    return anyio.run(_again, run_folder, surroundings)


def read_spec(path: Path) -> str:
    """The text of a spec.

    Raises:
        UsageError: missing, a folder, empty, binary or not UTF-8; names the file.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"--spec {path}: there is no such file") from None
    except OSError as error:
        raise UsageError(f"--spec {path}: cannot be read: {error.strerror}") from error
    if b"\0" in data:
        raise UsageError(f"--spec {path}: this is a binary file; a spec is Markdown text")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"--spec {path}: not UTF-8 (byte {error.start} is {data[error.start]:#04x}); save it as UTF-8"
        ) from error
    if not text.strip():
        raise UsageError(f"--spec {path}: the file is empty; write down what should be built")
    return text


def _import_sdks() -> None:
    import anthropic  # noqa: F401
    import claude_agent_sdk  # noqa: F401


async def _new(request: RunRequest, spec_text: str, surroundings: Surroundings) -> Outcome:
    repository = await find_repository(request.folder)
    state = StateFolder(request.state_dir or repository.root / ".sq")
    not_dirt = [request.spec, state.root]
    base = await base_commit(
        repository, not_dirt=[*not_dirt, *([request.rehearse] if request.rehearse else [])]
    )
    containment = detect_containment(surroundings.environ)
    run_id, run_folder = state.new_run()
    try:
        await ignore_locally(repository, state.root)
        if request.rehearse:
            shutil.copyfile(request.rehearse, run_folder / SCENARIO)
        credentials = _credentials(run_folder, surroundings.environ, rehearsed=request.rehearse is not None)
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
            containment=containment,
            sq_version=sq_version(),
            notes=await _notes(repository, not_dirt),
        )
        with surroundings.open_journal(run_folder, redact=redactor(surroundings.environ)) as journal:
            journal.append(started)
            return await _drive(journal, run_folder, surroundings, shown_from=0)
    except UsageError:  # nothing was begun: leave no empty run behind
        if not (run_folder / "journal.db").exists():
            shutil.rmtree(run_folder, ignore_errors=True)
        raise


async def _again(run_folder: Path, surroundings: Surroundings) -> Outcome:
    with surroundings.open_journal(run_folder, redact=redactor(surroundings.environ)) as journal:
        view = fold(journal.read())
        if view.ended:
            raise UsageError(
                f"run {run_folder.name} has ended: {view.ended.outcome}. There is nothing to go on with; "
                f"look at it with `sq status {run_folder.name}`"
            )
        if view.started is None:
            raise UsageError(f"run {run_folder.name} was killed before it began; begin it anew")
        if not Path(view.started.repository).is_dir():
            raise UsageError(f"the repository of this run, {view.started.repository}, is gone")
        shown_from = view.last_seq
        journal.append(RunResumed(containment=detect_containment(surroundings.environ)))
        return await _drive(journal, run_folder, surroundings, shown_from=shown_from)


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


def _credentials(run_folder: Path, environ: Mapping[str, str], *, rehearsed: bool) -> Credentials:
    if rehearsed:
        return Credentials.REHEARSAL
    return find_connection(environ, cli=find_cli(), config_dir=run_folder / "claude").credentials


async def _drive(
    journal: Journal, run_folder: Path, surroundings: Surroundings, *, shown_from: int
) -> Outcome:
    """Work on a run while it is shown and signals are heard."""
    before = fold(stored for stored in journal.read() if stored.seq <= shown_from)
    async with AsyncExitStack() as stack:
        stack.enter_context(log_to(run_folder / "sq.log", redact=redactor(surroundings.environ)))
        connection = await stack.enter_async_context(_connected(journal, run_folder, surroundings))
        run = _run(journal, run_folder, surroundings, connection)
        stop = StopRequest()
        outcome = Outcome.FAILED
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_heed_signals, stop)
            shown = anyio.Event()
            tasks.start_soon(_show, journal, surroundings.mode, shown_from, before, shown)
            try:
                outcome = await work_until_stopped(run, stop)
                with anyio.move_on_after(5):
                    await shown.wait()
            finally:
                tasks.cancel_scope.cancel()
    return outcome


async def _show(journal: Journal, mode: Mode, after: int, view: RunView, shown: anyio.Event) -> None:
    await present(journal, mode, after=after, view=view)
    shown.set()


def _run(journal: Journal, run_folder: Path, surroundings: Surroundings, connection: Connection) -> Run:
    started = fold(journal.read()).started
    assert started is not None  # noqa: S101  the callers have looked
    effort = effort_named(started.effort)
    platform = make_platform(
        connection,
        cli=find_cli(),
        run_folder=run_folder,
        containment=detect_containment(surroundings.environ),
        models={role: model_named(alias) for role, alias in effort.models.items()},
        environ=surroundings.environ,
        hidden=(run_folder.parents[1],),
    )
    spec = Path(started.spec_name)
    rehearsal = [Path(started.rehearsal)] if started.rehearsal else []
    return Run(
        journal=journal,
        folder=run_folder,
        platform=platform,
        effort=effort,
        limits=Limits(),
        environ=surroundings.environ,
        not_dirt=[spec, run_folder.parents[1], *rehearsal],
    )


@asynccontextmanager
async def _connected(
    journal: Journal, run_folder: Path, surroundings: Surroundings
) -> AsyncIterator[Connection]:
    started = fold(journal.read()).started
    assert started is not None  # noqa: S101  the callers have looked
    config_dir = run_folder / "claude"
    config_dir.mkdir(mode=0o700, exist_ok=True)
    if started.rehearsal is None:
        yield find_connection(surroundings.environ, cli=find_cli(), config_dir=config_dir)
        return
    scenario = load_scenario(run_folder / SCENARIO)
    gateway: Gateway
    async with serve_scenario(scenario, run_id=started.run_id, ledger=run_folder / LEDGER) as gateway:
        yield RehearsalConnection(gateway=gateway, config_dir=config_dir)


async def _heed_signals(stop: StopRequest) -> None:
    """The first Ctrl-C or SIGTERM ends the run in order; the second ends the process at once."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async for number in signals:
            if stop.reason:
                os._exit(Outcome.INTERRUPTED.exit_code)  # containment ends every process of the run
            stop.ask(signal.Signals(number).name)
