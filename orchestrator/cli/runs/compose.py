"""The composition root: from the command line to a `Run`, the work on it, and its outcome.

The SDK of agents is imported here, before the run exists, since its import takes long and would block every
coroutine.
"""

import gc
import os
import shutil
import signal
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import structlog

from agents.access import Connection, Credentials
from agents.backend import Platform
from agents.concurrency import task_group
from agents.gateway.scenario import load_scenario
from agents.login import login_words
from agents.make import make_platform
from agents.process.sandbox.choice import Choice
from agents.process.sandbox.control_groups import control_groups
from agents.process.sandbox.git_drivers import around_drivers
from agents.process.sandbox.policy import SandboxPolicy
from agents.session.claude_code import check_cli, find_cli
from agents.session.permissions import rule_names
from agents.session.sdks import AGENT_SDK, API_SDK, check_sdk, import_sdks
from orchestrator.cli import options
from orchestrator.cli.runs.before import context_folders, prepare, refuse_excluding
from orchestrator.cli.runs.connected import SCENARIO, connected, reaching_out
from orchestrator.cli.runs.history import basis_of
from orchestrator.cli.runs.notes import notes_for, registries_to_open, sandbox_lines
from orchestrator.cli.runs.project_files import give_to_agents, refuse_servers, with_included
from orchestrator.cli.runs.publisher import Publisher, hold_back, notes_on, send_last
from orchestrator.cli.runs.request import (
    GoOn,
    RunEnvironment,
    RunRequest,
    boundary_of,
    check_retries,
    choose,
    deadline_of,
    models_now,
    read_spec,
)
from orchestrator.cli.version import sq_version
from orchestrator.git.command import git_version
from orchestrator.git.pinned import drivers_of, record_git, recorded_git, write_program
from orchestrator.git.pinned_config import TrustedGit, trusting
from orchestrator.git.repository import Repository, base_commit, find_repository, ignore_locally, refuse_dirt
from orchestrator.run import finish
from orchestrator.run.commands import ProjectCommands
from orchestrator.run.event_log import log_event, log_to
from orchestrator.run.evidence.baseline import take_baseline, take_baseline_of_analysis
from orchestrator.run.evidence.proof import take_proofs
from orchestrator.run.evidence.verification import verify
from orchestrator.run.machine import Effects, StopRequest, work_until_stopped
from orchestrator.run.merge.merge import merge
from orchestrator.run.places.checkout import Checkout, alone_in
from orchestrator.run.places.protection import guarded_files, keep_users_work
from orchestrator.run.places.set_up import remove_scratch_worktrees, scratch_worktree
from orchestrator.run.places.worktrees import Worktrees
from orchestrator.run.plan.analyze import analyze
from orchestrator.run.plan.answers import answers_file
from orchestrator.run.plan.approval import await_approval
from orchestrator.run.plan.forecast import forecast
from orchestrator.run.plan.plan import plan
from orchestrator.run.plan.spec_check import settle
from orchestrator.run.record import EvidenceSources, Record, Run, settings_of
from orchestrator.run.review.review import review_task, review_whole
from orchestrator.run.tasks.attempt import build
from orchestrator.run.tasks.completion import check_completion
from orchestrator.views.models.story import RunStory
from orchestrator.views.run.console import present, show_further
from orchestrator.views.run.look import Look
from orchestrator.views.words import local_time
from state.errors import UsageError
from state.journal.events import Event, ForecastMade, LimitNear, RunResumed, RunStarted
from state.journal.events.tasks import UNMERGED_ENDS
from state.journal.fold.fold import fold
from state.journal.recorder import Recorder
from state.journal.store import Journal, JournalReader
from state.journal.view import RunView
from state.outcome import Outcome
from state.paths import StateFolder, remove_scratch_folder, worktree_root
from state.redaction.redactor import Redact
from state.settings.config import ResolvedConfig, load_config
from state.settings.records import Confinement, OnQuestion, Sandbox, Settings
from state.settings.sources import REPOSITORY_FILE

log = structlog.get_logger(__name__)

_FIRST_SESSION_S = 2  # loading in a thread would slow its start down
_LAST_LINES_S = 5  # how long the display may take to show the last events


EFFECTS = Effects(
    take_baseline=take_baseline,
    take_baseline_of_analysis=take_baseline_of_analysis,
    analyze=analyze,
    settle=settle,
    plan=plan,
    await_approval=await_approval,
    review_whole=review_whole,
    bring_home=finish.bring_home,
    end=finish.end,
    build=partial(build, check_completion=check_completion),
    commit=finish.commit,
    review_task=review_task,
    merge=merge,
    remove_scratch_worktrees=remove_scratch_worktrees,
)


def run_new(request: RunRequest, surroundings: RunEnvironment) -> Outcome:
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
    check_sdk(API_SDK)
    with ThreadPoolExecutor(1) as beside:  # git answers the first questions meanwhile
        loading = beside.submit(import_sdks, AGENT_SDK)
        try:
            return anyio.run(_new, request, spec_text, surroundings, loading)
        except UsageError:
            loading.result()  # that it cannot be imported is said first
            raise


def checked(request: RunRequest, surroundings: RunEnvironment) -> tuple[Outcome, RunView]:
    """Work on a run that ends with the questions about its spec. Return its outcome and its view.

    Raises:
        UsageError: the request cannot be fulfilled, and nothing was started.
    """
    views: list[RunView] = []
    outcome = run_new(request, replace(surroundings, end_report=_ViewAtEnd(views)))
    return outcome, views[-1]


class _ViewAtEnd:
    """As `EndReport`: keeps the view of the run, and writes nothing."""

    def __init__(self, views: list[RunView]) -> None:
        self._views = views

    async def leave(self, run_folder: Path, look: Look, redact: Redact) -> None:
        """As `EndReport`."""
        del look, redact
        with JournalReader(run_folder) as journal:
            self._views.append(fold(journal.read()))

    def prepare(self) -> None:
        """As `EndReport`."""

    def tell(self, run_folder: Path, look: Look) -> None:
        """As `EndReport`."""


def run_again(run_folder: Path, surroundings: RunEnvironment, go_on: GoOn | None = None) -> Outcome:
    """Go on with a run from its journal. If it has ended for good, its end is shown again.

    Raises:
        UsageError: it is being worked on, its repository is gone, or a task cannot be tried again.
    """
    go_on = go_on or GoOn()
    with JournalReader(run_folder) as journal:
        view = fold(journal.read())
        if go_on.kept:
            ended = {id_ for id_, task in view.tasks.items() if task.stage in UNMERGED_ENDS}
            go_on = replace(go_on, retry=tuple(id_ for id_ in go_on.retry if id_ in ended))
        check_retries(view, go_on.retry)
        if view.ended and not (view.ended.resumable or go_on.retry or go_on.verify):  # nothing to go on with
            with trusting(recorded_git(run_folder)):
                anyio.run(_show, journal, _look(surroundings, run_folder), view.clock.ended_seq - 1)
            anyio.run(send_last, run_folder, surroundings)
            if surroundings.end_report:
                surroundings.end_report.tell(run_folder, surroundings.look)
            return view.ended.outcome
    check_cli(find_cli(), surroundings.environ)
    _import_sdk()
    _collect_again()
    return anyio.run(_again, run_folder, surroundings, go_on)


def _import_sdk() -> None:
    """Import the SDK of agents. That of the API is imported when it is asked, and has to be there."""
    check_sdk(API_SDK)
    import_sdks(AGENT_SDK)


def _collect_again() -> None:
    """Let Python collect garbage, which is off while `sq` imports, but pass over the imports."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


async def _load_later(started: RunStarted, surroundings: RunEnvironment) -> None:
    """Load what the first session need not wait for: the SDK of the API, and what the end of the run needs.

    A broken SDK ends the run. A rehearsal imports it when it is asked.
    """
    await anyio.sleep(_FIRST_SESSION_S)
    if not started.rehearsal:
        await anyio.to_thread.run_sync(import_sdks, API_SDK, abandon_on_cancel=True)
    if surroundings.end_report:
        await anyio.to_thread.run_sync(surroundings.end_report.prepare, abandon_on_cancel=True)


async def _new(
    request: RunRequest, spec_text: str, surroundings: RunEnvironment, loading: Future[None] | None = None
) -> Outcome:
    repository = await find_repository(request.folder)
    config, settings, surroundings = _settings(request, repository.root, surroundings)
    state = StateFolder(request.state_dir or repository.root / ".sq")
    not_dirt = _not_dirt(request.spec, state.root, repository.root, request.rehearse, request.before.plan)
    prepared = prepare(request.spec, spec_text, request.before.plan)
    base = await _base(request, repository, settings, not_dirt)
    instructed_at = (request.origin.instructed_at if request.origin else "") or base
    settings = await with_included(config, settings, repository.root, instructed_at, state.root)
    credentials = surroundings.credentials(rehearsed=request.rehearse is not None)
    choice = await choose(settings.sandbox.mode, settings, credentials, surroundings)
    await refuse_servers(settings, choice, repository.root, instructed_at)
    exposed = surroundings.how_exposed(settings, credentials, choice)
    registries = registries_to_open(repository.root, settings.sandbox, choice.held, surroundings.environ)
    if loading:
        await anyio.to_thread.run_sync(loading.result)
    _collect_again()
    run_id, run_folder = state.new_run()
    surroundings.begun(run_folder)
    trusted = await _git_before(repository, run_folder, settings)
    started = RunStarted(
        run_id=run_id,
        spec_name=str(request.spec),
        spec_text=spec_text,
        repository=str(repository.root),
        worktrees=str(trusted.worktrees or ""),
        base_commit=base,
        base_branch=repository.branch,
        effort=settings.effort.name,
        verify=settings.verify,
        rehearsal=str(request.rehearse) if request.rehearse else None,
        credentials=credentials,
        sq_version=sq_version(),
        notes=(
            *await notes_for(repository, trusted, settings, not_dirt, choice, edit_dirty=request.edit_dirty),
            *sandbox_lines(settings, choice, registries, surroundings.environ),
            *_notes_on_others(settings, credentials, surroundings),
            *filter(None, [exposed, *request.notes]),
        ),
        settings=settings,
        edit_dirty=request.edit_dirty,
        confined=_confined(surroundings, choice, exposed, registries),
    )
    redact = surroundings.redactor_for(repository.root)
    with surroundings.open_journal(run_folder, redact=redact) as journal:
        journal.append(started, *_first_events(request, started, settings, run_folder, prepared))
        return await _drive(journal, started, run_folder, surroundings, choice, redact, shown_from=0)


def _first_events(
    request: RunRequest, started: RunStarted, settings: Settings, run_folder: Path, prepared: list[Event]
) -> list[Event]:
    """Keep the scenario of a rehearsal. Return the events that follow the start at once."""
    if request.rehearse:
        shutil.copyfile(request.rehearse, run_folder / SCENARIO)
    made = ForecastMade(forecast=forecast(basis_of(started, run_folder), settings))
    return [*([request.origin] if request.origin else []), *prepared, made]


def _notes_on_others(settings: Settings, credentials: Credentials, surroundings: RunEnvironment) -> list[str]:
    """Return lines on targets of notices, the deadline, and how long a login lasts if sessions use it."""
    lines = notes_on(settings.outward)
    if settings.limits.deadline:
        lines.append(f"the deadline is {local_time(datetime.fromisoformat(settings.limits.deadline))}")
    if credentials is Credentials.CLI_LOGIN:
        lines.append(login_words(surroundings.environ, datetime.now(UTC)))
    return lines


async def _base(request: RunRequest, repository: Repository, settings: Settings, not_dirt: list[Path]) -> str:
    """Return the commit that the run begins at.

    Raises:
        UsageError: the checkout has changes that the run may not meet.
    """
    if request.edit_dirty and settings.worktrees:
        raise UsageError(
            "--edit-dirty is about the checkout, and this run works in worktrees: add --no-worktrees"
        )
    allow_dirty = request.allow_dirty or request.edit_dirty
    if not (settings.worktrees or allow_dirty):
        await refuse_dirt(repository, not_dirt=not_dirt)
    return await base_commit(repository, not_dirt=[repository.root] if allow_dirty else not_dirt)


def _confined(
    surroundings: RunEnvironment, choice: Choice, exposed: str, registries: tuple[str, ...]
) -> Confinement:
    return Confinement(
        containment=surroundings.containment,
        sandbox=choice.held,
        key_exposed=exposed,
        registries=registries,
    )


def _settings(
    request: RunRequest, repository: Path, surroundings: RunEnvironment
) -> tuple[ResolvedConfig, Settings, RunEnvironment]:
    """Return the configuration, the run's settings, and the surroundings without the secrets they name."""
    where = request.configured_in or repository
    config = load_config(where, surroundings.environ, flags=request.flags, rules=rule_names())
    before, limits = request.before, config.settings.limits
    settings = replace(
        config.settings,
        dry_run=request.dry_run or before.plan_to is not None,
        check_only=before.check_only,
        approve=before.approve,
        plan_to=str(before.plan_to or ""),
        context=context_folders(config.settings.context, request.folder, repository, surroundings.environ),
        limits=replace(limits, deadline=deadline_of(limits.deadline, request.flags.get("deadline"))),
    )
    refuse_excluding(before, settings)
    return config, settings, hold_back(settings.outward, surroundings)


async def _git_before(repository: Repository, run_folder: Path, settings: Settings) -> TrustedGit:
    """Return git's folders and settings from before any agent of the run works."""
    await ignore_locally(repository, run_folder.parents[1])
    worktrees = worktree_root(repository.root, run_folder.name) if settings.worktrees else None
    return await record_git(repository.root, run_folder, worktrees)


async def _again(run_folder: Path, surroundings: RunEnvironment, go_on: GoOn) -> Outcome:
    with JournalReader(run_folder) as reader:
        known = fold(reader.read())
    if known.settings:
        surroundings = hold_back(known.settings.outward, surroundings)
    redact = surroundings.redactor_for(Path(known.started.repository) if known.started else run_folder)
    with surroundings.open_journal(run_folder, redact=redact) as journal:
        view = fold(journal.read())
        if view.started is None:
            raise UsageError(f"run {run_folder.name} was killed before it began. Start it anew")
        if not Path(view.started.repository).is_dir():
            raise UsageError(f"the repository of this run, {view.started.repository}, is gone")
        mode = Sandbox(go_on.sandbox) if go_on.sandbox else None
        settings = view.settings or settings_of(view.started)
        credentials = Credentials(view.started.credentials)
        choice = await choose(mode or settings.sandbox.mode, settings, credentials, surroundings)
        instructed_at = view.plan.origin.instructed_at or view.started.base_commit
        await refuse_servers(settings, choice, Path(view.started.repository), instructed_at, mode)
        resumed = RunResumed(
            confined=_confined(
                surroundings,
                choice,
                surroundings.how_exposed(settings, credentials, choice),
                view.started.confined.registries,
            ),
            sandbox_mode=mode,
            budget_usd=go_on.budget_usd,
            max_iterations=go_on.max_iterations,
            retry=go_on.retry,
            kept=go_on.kept,
            verify=go_on.verify or None,
            models=models_now(Path(view.started.repository), surroundings, go_on.models, settings.effort),
            questions=OnQuestion(go_on.questions) if go_on.questions else None,
            deadline=None if go_on.deadline is None else deadline_of(go_on.deadline),
        )
        journal.append(resumed)
        surroundings.begun(run_folder)
        shown_from = view.clock.last_seq
        return await _drive(
            journal, view.started, run_folder, surroundings, choice, redact, shown_from=shown_from
        )


async def _drive(
    journal: Journal,
    started: RunStarted,
    run_folder: Path,
    surroundings: RunEnvironment,
    choice: Choice,
    redact: Redact,
    *,
    shown_from: int,
) -> Outcome:
    """Work on a run, show it, and handle signals. Events up to `shown_from` are not shown."""
    async with AsyncExitStack() as stack:
        stack.enter_context(log_to(run_folder / "sq.log", run_id=started.run_id, redact=redact))
        view = fold(journal.read())
        settings = view.settings or settings_of(started)
        root = Path(started.repository)
        trusted = await record_git(root, run_folder, Path(started.worktrees) if started.worktrees else None)
        stack.enter_context(trusting(trusted))
        if not settings.worktrees:
            stack.enter_context(await alone_in(root))
            state_root = run_folder.parents[1]
            await keep_users_work(journal.append, view, started, run_folder, leave_out=[state_root])
        connection = await stack.enter_async_context(
            connected(
                started, settings, run_folder, surroundings.key, surroundings.environ, surroundings.addresses
            )
        )
        groups = stack.enter_context(control_groups(started.run_id, settings.sandbox.limits))
        boundary = boundary_of(choice, settings, surroundings, root, run_folder, groups)
        outside = reaching_out(boundary, started.confined.registries, settings.sandbox, root, run_folder)
        boundary = await stack.enter_async_context(outside)
        await stack.enter_async_context(_drivers_inside(boundary, trusted, run_folder))
        run = _run(journal, started, settings, run_folder, surroundings, connection, boundary, shown_from)
        await give_to_agents(run)
        stop, shown = StopRequest(), anyio.Event()
        outgoing = Publisher(journal, run_folder, surroundings, view=lambda: run.view, record=run.record)
        async with task_group() as tasks:
            tasks.start_soon(_heed_signals, stop)
            tasks.start_soon(_show, journal, _look(surroundings, run_folder), shown_from, shown)
            tasks.start_soon(outgoing.run)
            tasks.start_soon(_load_later, started, surroundings)
            try:
                outcome = await work_until_stopped(run, EFFECTS, stop)
                with anyio.move_on_after(_LAST_LINES_S):
                    await shown.wait()
                show_further(run.view, surroundings.look, await outgoing.finish())
                await _leave_report(surroundings, run_folder, journal)
            finally:
                tasks.cancel_scope.cancel()
    return outcome


async def _leave_report(surroundings: RunEnvironment, run_folder: Path, journal: Journal) -> None:
    if surroundings.end_report:
        await surroundings.end_report.leave(run_folder, surroundings.look, journal.for_model)


@asynccontextmanager
async def _drivers_inside(
    boundary: SandboxPolicy, trusted: TrustedGit, run_folder: Path
) -> AsyncIterator[None]:
    """Let git run the user's filters and merge drivers in the sandbox of the run, if it has one."""
    names, programs = drivers_of(trusted)
    if not names:
        yield
        return
    scratch = run_folder / "git-drivers"
    make = partial(around_drivers, boundary, common=trusted.common, own=trusted.folder)
    write_program(trusted.folder, make(scratch=scratch, programs=programs))
    try:
        yield
    finally:
        await remove_scratch_folder(scratch)


def _look(surroundings: RunEnvironment, run_folder: Path) -> Look:
    return replace(surroundings.look, follow=options.following(run_folder))


async def _show(
    journal: Journal | JournalReader, look: Look, after: int, shown: anyio.Event | None = None
) -> None:
    story = RunStory()
    story.add_all(stored for stored in journal.read() if stored.seq <= after)
    try:
        await present(journal, look, after=after, story=story)
    except BrokenPipeError:  # the reader has gone (`sq run … | head`), and the run goes on
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if shown:
        shown.set()


def _run(
    journal: Journal,
    started: RunStarted,
    settings: Settings,
    run_folder: Path,
    surroundings: RunEnvironment,
    connection: Connection,
    boundary: SandboxPolicy,
    shown_from: int,
) -> Run:
    state_root = run_folder.parents[1]
    recorder = Recorder(journal, heard=log_event, after=shown_from)
    boundary = replace(boundary, warn=lambda near: recorder.record(LimitNear(cause=near)))
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
        transport=surroundings.transport,
    )
    rehearsal = Path(started.rehearsal) if started.rehearsal else None
    given = recorder.view.plan.before.plan
    plan_file = Path(given.file) if given else None
    not_dirt = _not_dirt(Path(started.spec_name), state_root, Path(started.repository), rehearsal, plan_file)
    workspaces: Worktrees | Checkout = (
        Worktrees(started=started, merge_home=settings.merge, not_dirt=not_dirt)
        if settings.worktrees
        else Checkout(started=started, run_folder=run_folder)
    )
    run = composed(recorder, run_folder, platform, workspaces, boundary, surroundings.environ)
    return replace(run, person=surroundings.person, forecast_basis=basis_of(started, run_folder))


def composed(
    recorder: Record,
    folder: Path,
    platform: Platform,
    workspaces: Worktrees | Checkout,
    boundary: SandboxPolicy,
    environ: Mapping[str, str],
) -> Run:
    """Return a run that works in `workspaces`, with its commands inside `boundary`.

    `folder` is the run's own, `environ` the environment of sq.
    """
    commands = ProjectCommands(
        environ=environ,
        folder=folder,
        settings=recorder.view.settings or platform.settings,
        containment=platform.containment,
        boundary=boundary,
    )
    return Run(
        recorder=recorder,
        folder=folder,
        platform=platform,
        places=workspaces,
        integration=workspaces,
        commands=commands,
        evidence=EvidenceSources(scratch_worktree=scratch_worktree, verify=verify, take_proofs=take_proofs),
        environ=environ,
    )


def _not_dirt(
    spec: Path, state_root: Path, repository: Path, rehearsal: Path | None, plan_file: Path | None
) -> list[Path]:
    """The paths that may be uncommitted in the checkout: sq's own, and those that instruct sq."""
    own = [spec, answers_file(spec), state_root, repository / REPOSITORY_FILE]
    return [*own, *filter(None, [rehearsal, plan_file])]


async def _heed_signals(stop: StopRequest) -> None:
    """End the run in order at the first Ctrl-C or SIGTERM, and the process at once at the second.

    Only SIGTERM, which no person at a terminal waits for, leaves time to merge verified work.
    """
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async for number in signals:
            if stop.reason:
                os._exit(Outcome.INTERRUPTED.exit_code)  # containment ends every process of the run
            stop.ask(signal.Signals(number).name, leaves_time=number == signal.SIGTERM)
