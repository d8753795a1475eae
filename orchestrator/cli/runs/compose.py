"""The composition root: from the command line to a `Run`, the work on it, and its outcome.

The SDKs are imported here, before any task group opens, since their import takes seconds and would block
every coroutine.
"""

import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import structlog
from anyio import to_thread

from agents.access import (
    Connection,
    Credentials,
    RehearsalConnection,
    find_connection,
    find_credentials,
)
from agents.backend import make_platform
from agents.concurrency import task_group
from agents.gateway.scenario import load_scenario
from agents.gateway.server import serve_scenario
from agents.process.containment import Containment, detect_containment
from agents.process.sandbox.boundary import Boundary
from agents.process.sandbox.choice import Choice, choose_sandbox
from agents.process.sandbox.control_groups import ControlGroups, control_groups
from agents.process.sandbox.plan import GatewaySocket
from agents.session.claude_code import check_cli, find_cli
from agents.session.permissions import rule_names
from agents.session.sdks import import_sdks
from orchestrator.cli.runs.log_file import log_to
from orchestrator.cli.runs.notes import notes_for
from orchestrator.cli.runs.spec_file import read_spec
from orchestrator.cli.version import sq_version
from orchestrator.git.command import git_version
from orchestrator.git.repository import base_commit, find_repository, ignore_locally, refuse_dirt
from orchestrator.git.seeding import refuse_not_ignored
from orchestrator.run.machine import StopRequest, work_until_stopped
from orchestrator.run.places.checkout import Checkout, alone_in
from orchestrator.run.places.protection import guarded_files, keep_users_work
from orchestrator.run.places.worktrees import Worktrees
from orchestrator.run.record import Run, settings_of
from orchestrator.views.run.console import Look, present
from state.errors import UsageError
from state.journal.events import RunResumed, RunStarted
from state.journal.fold.fold import fold
from state.journal.store import Journal, JournalReader
from state.journal.view import UNMERGED_ENDS, RunView
from state.outcome import Outcome
from state.paths import StateFolder, worktree_root
from state.roles import Role
from state.secrets import redactor
from state.settings.config import load_config
from state.settings.records import Model, OnQuestion, Sandbox, Settings
from state.settings.sources import REPOSITORY_FILE, Flags

log = structlog.get_logger(__name__)

SCENARIO = "scenario.yaml"
LEDGER = "rehearsal.jsonl"
_LAST_LINES_S = 5  # how long the display may take to show the last events
OpenJournal = Callable[..., Journal]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """A request for `sq run`. `flags` are settings: key → (the flag's name, its value)."""

    spec: Path
    folder: Path
    flags: Flags = field(default_factory=dict)
    allow_dirty: bool = False
    edit_dirty: bool = False
    dry_run: bool = False
    rehearse: Path | None = None
    state_dir: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """The surroundings of a run. Tests inject faults here, by another journal."""

    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    open_journal: OpenJournal = Journal
    look: Look = field(default_factory=Look)

    @cached_property
    def containment(self) -> Containment:
        """How process trees are ended here, detected once."""
        return detect_containment(self.environ)


def run_new(request: RunRequest, surroundings: Surroundings) -> Outcome:
    """Start a run and work on it until it has an outcome.

    Raises:
        UsageError: the request cannot be fulfilled, and nothing was started.
    """
    spec_text = read_spec(request.spec)
    if request.rehearse:
        load_scenario(request.rehearse)
    check_cli(find_cli(), surroundings.environ)
    if git_version() is None:
        raise UsageError("git was not found on PATH, and sq works on git branches. Install git")
    import_sdks()
    return anyio.run(_new, request, spec_text, surroundings)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoOn:
    """The limits and settings of a resumed run from now on, and the ended tasks that it tries again.

    `verify`, `models` (role → alias), `questions` and `sandbox` replace the run's former ones. Empty and None
    mean as before.
    """

    budget_usd: float | None = None
    max_iterations: int | None = None
    retry: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    models: Mapping[str, str] = field(default_factory=dict)
    questions: str | None = None
    sandbox: str | None = None


def run_again(run_folder: Path, surroundings: Surroundings, go_on: GoOn | None = None) -> Outcome:
    """Go on with a run from its journal. If it has ended for good, its end is shown again.

    Raises:
        UsageError: it is being worked on, its repository is gone, or a task cannot be tried again.
    """
    go_on = go_on or GoOn()
    with JournalReader(run_folder) as journal:
        view = fold(journal.read())
        _check_retries(view, go_on.retry)
        if view.ended and not (view.ended.resumable or go_on.retry or go_on.verify):  # nothing to go on with
            anyio.run(_show, journal, surroundings.look, view.clock.last_seq - 1)
            return view.ended.outcome
    check_cli(find_cli(), surroundings.environ)
    import_sdks()
    return anyio.run(_again, run_folder, surroundings, go_on)


def _check_retries(view: RunView, task_ids: tuple[str, ...]) -> None:
    """Raise `UsageError` for tasks that have not ended unmerged, since they cannot be tried again.

    Raises:
        UsageError: with the state of the task, and the tasks that could be tried again.
    """
    ended = [id_ for id_, task in view.tasks.items() if task.stage in UNMERGED_ENDS]
    could_be = f"Could be: {', '.join(ended)}" if ended else "No task of this run has ended unmerged"
    for id_ in task_ids:
        if id_ not in view.tasks:
            known = ", ".join(view.tasks) or "none"
            raise UsageError(f"--retry {id_}: the run has no such task. Its tasks are: {known}")
        if id_ not in ended:
            stage = view.tasks[id_].stage
            raise UsageError(
                f"--retry {id_}: that task is {stage}, so there is nothing to try again. {could_be}"
            )


async def _new(request: RunRequest, spec_text: str, surroundings: Surroundings) -> Outcome:
    repository = await find_repository(request.folder)
    config = load_config(repository.root, surroundings.environ, flags=request.flags, rules=rule_names())
    settings = replace(config.settings, dry_run=request.dry_run)
    state = StateFolder(request.state_dir or repository.root / ".sq")
    not_dirt = _not_dirt(request.spec, state.root, repository.root, request.rehearse)
    if request.edit_dirty and settings.worktrees:
        raise UsageError(
            "--edit-dirty is about the checkout, and this run works in worktrees: add --no-worktrees"
        )
    allow_dirty = request.allow_dirty or request.edit_dirty
    if not (settings.worktrees or allow_dirty):
        await refuse_dirt(repository, not_dirt=not_dirt)
    include = settings.worktree_include if settings.worktrees else ()
    await refuse_not_ignored(repository.root, include, state=state.root)
    base = await base_commit(repository, not_dirt=[repository.root] if allow_dirty else not_dirt)
    rehearsed = request.rehearse is not None
    credentials = (
        Credentials.REHEARSAL if rehearsed else find_credentials(surroundings.environ, cli=find_cli())
    )
    choice = await _choose(settings.sandbox.mode, credentials, surroundings)
    run_id, run_folder = state.new_run()
    await ignore_locally(repository, state.root)
    if request.rehearse:
        shutil.copyfile(request.rehearse, run_folder / SCENARIO)
    started = RunStarted(
        run_id=run_id,
        spec_name=str(request.spec),
        spec_text=spec_text,
        repository=str(repository.root),
        worktrees=str(worktree_root(repository.root, run_id)) if settings.worktrees else "",
        base_commit=base,
        base_branch=repository.branch,
        effort=settings.effort.name,
        verify=settings.verify,
        rehearsal=str(request.rehearse) if request.rehearse else None,
        credentials=credentials,
        containment=surroundings.containment,
        sq_version=sq_version(),
        notes=(
            *await notes_for(repository, settings, not_dirt, edit_dirty=request.edit_dirty),
            choice.line,
        ),
        settings=settings,
        edit_dirty=request.edit_dirty,
        sandbox=choice.held,
    )
    with surroundings.open_journal(run_folder, redact=redactor(surroundings.environ)) as journal:
        journal.append(started)
        return await _drive(journal, started, run_folder, surroundings, choice, shown_from=0)


async def _again(run_folder: Path, surroundings: Surroundings, go_on: GoOn) -> Outcome:
    with surroundings.open_journal(run_folder, redact=redactor(surroundings.environ)) as journal:
        view = fold(journal.read())
        if view.started is None:
            raise UsageError(f"run {run_folder.name} was killed before it began. Start it anew")
        if not Path(view.started.repository).is_dir():
            raise UsageError(f"the repository of this run, {view.started.repository}, is gone")
        mode = Sandbox(go_on.sandbox) if go_on.sandbox else None
        settings = view.settings or settings_of(view.started)
        choice = await _choose(
            mode or settings.sandbox.mode, Credentials(view.started.credentials), surroundings
        )
        resumed = RunResumed(
            sandbox=choice.held,
            sandbox_mode=mode,
            containment=surroundings.containment,
            budget_usd=go_on.budget_usd,
            max_iterations=go_on.max_iterations,
            retry=go_on.retry,
            verify=go_on.verify or None,
            models=_models_now(Path(view.started.repository), surroundings, go_on.models),
            questions=OnQuestion(go_on.questions) if go_on.questions else None,
        )
        journal.append(resumed)
        shown_from = view.clock.last_seq
        return await _drive(journal, view.started, run_folder, surroundings, choice, shown_from=shown_from)


async def _choose(mode: Sandbox, credentials: Credentials, surroundings: Surroundings) -> Choice:
    look = partial(
        choose_sandbox,
        mode,
        containment=surroundings.containment,
        login=credentials is Credentials.CLI_LOGIN,
        environ=surroundings.environ,
    )
    return await to_thread.run_sync(look)


def _models_now(repository: Path, surroundings: Surroundings, asked: Mapping[str, str]) -> dict[Role, Model]:
    """The new models for a resumed run, with today's prices.

    Raises:
        UsageError: a role or a model is unknown.
    """
    if not asked:
        return {}
    flags = {f"models.{role}": (f"--model {role}", name) for role, name in asked.items()}
    settings = load_config(repository, surroundings.environ, flags=flags, rules=rule_names()).settings
    return {Role(role): settings.models[Role(role)] for role in asked}


async def _drive(
    journal: Journal,
    started: RunStarted,
    run_folder: Path,
    surroundings: Surroundings,
    choice: Choice,
    *,
    shown_from: int,
) -> Outcome:
    """Work on a run, show it, and handle signals. Events up to `shown_from` are not shown."""
    async with AsyncExitStack() as stack:
        stack.enter_context(
            log_to(run_folder / "sq.log", run_id=started.run_id, redact=redactor(surroundings.environ))
        )
        view = fold(journal.read())
        settings = view.settings or settings_of(started)
        if not settings.worktrees:
            stack.enter_context(await alone_in(Path(started.repository)))
            state_root = run_folder.parents[1]
            await keep_users_work(journal.append, view, started, run_folder, leave_out=[state_root])
        connection = await stack.enter_async_context(_connected(started, run_folder, surroundings))
        groups = stack.enter_context(control_groups(started.run_id, settings.sandbox.limits))
        boundary = _boundary(choice, settings, surroundings, Path(started.repository), run_folder, groups)
        run = _run(journal, started, settings, run_folder, surroundings, connection, boundary)
        stop, shown = StopRequest(), anyio.Event()
        async with task_group() as tasks:
            tasks.start_soon(_heed_signals, stop)
            tasks.start_soon(_show, journal, surroundings.look, shown_from, shown)
            try:
                outcome = await work_until_stopped(run, stop)
                with anyio.move_on_after(_LAST_LINES_S):
                    await shown.wait()
            finally:
                tasks.cancel_scope.cancel()
    return outcome


async def _show(
    journal: Journal | JournalReader, look: Look, after: int, shown: anyio.Event | None = None
) -> None:
    view = fold(stored for stored in journal.read() if stored.seq <= after)
    try:
        await present(journal, look, after=after, view=view)
    except BrokenPipeError:  # the reader has gone (`sq run … | head`), and the run goes on
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if shown:
        shown.set()


def _run(
    journal: Journal,
    started: RunStarted,
    settings: Settings,
    run_folder: Path,
    surroundings: Surroundings,
    connection: Connection,
    boundary: Boundary,
) -> Run:
    state_root = run_folder.parents[1]
    platform = make_platform(
        connection,
        cli=find_cli(),
        run_folder=run_folder,
        containment=surroundings.containment,
        settings=settings,
        boundary=boundary,
        environ=surroundings.environ,
        hidden=(state_root,),
        guarded=guarded_files(run_folder, Path(started.repository))
        if not started.edit_dirty
        else frozenset(),
    )
    rehearsal = Path(started.rehearsal) if started.rehearsal else None
    not_dirt = _not_dirt(Path(started.spec_name), state_root, Path(started.repository), rehearsal)
    workspaces: Worktrees | Checkout = (
        Worktrees(started=started, merge_home=settings.merge, not_dirt=not_dirt)
        if settings.worktrees
        else Checkout(started=started, run_folder=run_folder)
    )
    return Run(
        journal=journal,
        folder=run_folder,
        platform=platform,
        workspaces=workspaces,
        environ=surroundings.environ,
    )


def _boundary(
    choice: Choice,
    settings: Settings,
    surroundings: Surroundings,
    repository: Path,
    run_folder: Path,
    groups: ControlGroups,
) -> Boundary:
    home = Path(surroundings.environ.get("HOME") or Path.home())
    return Boundary(
        choice=choice,
        environ=surroundings.environ,
        own_processes=surroundings.containment is not Containment.NAMESPACES,
        home=home,
        programs=(find_cli(), Path(sys.executable)),
        kept_out=(repository, run_folder.parents[1]),
        ceilings=settings.sandbox.limits,
        groups=groups,
    )


def _not_dirt(spec: Path, state_root: Path, repository: Path, rehearsal: Path | None) -> list[Path]:
    """The paths that may be uncommitted in the checkout: sq's own, and those that instruct sq."""
    return [spec, state_root, repository / REPOSITORY_FILE, *([rehearsal] if rehearsal else [])]


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
    with TemporaryDirectory(prefix="sq-") as sockets:  # of a short name, because a socket's path is limited
        async with serve_scenario(scenario, run_id=started.run_id, ledger=run_folder / LEDGER) as gateway:
            path = Path(sockets) / "gateway.sock"
            gateway.listen_on(path)
            socket = GatewaySocket(path=path, port=gateway.port)
            yield RehearsalConnection(gateway=gateway, config_dir=config_dir, gateway_socket=socket)


async def _heed_signals(stop: StopRequest) -> None:
    """End the run in order at the first Ctrl-C or SIGTERM, and the process at once at the second."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async for number in signals:
            if stop.reason:
                os._exit(Outcome.INTERRUPTED.exit_code)  # containment ends every process of the run
            stop.ask(signal.Signals(number).name)
