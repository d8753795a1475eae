"""The composition root: the parts of a run put together, and the work on it beside its display."""

import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import replace
from pathlib import Path

import anyio
import anyio.to_thread

import prompts
from agents.access import Connection
from agents.backend import Platform
from agents.claude_code.executable import find_cli
from agents.concurrency import task_group
from agents.make import make_platform
from agents.process.sandbox.policy import SandboxPolicy
from agents.sdks import API_SDK, import_sdks
from orchestrator.checks.order import answers_about
from orchestrator.cli import options
from orchestrator.cli.runs.begin import Begun, begin, begin_again, collect_again, paths_of_sq, spec_of
from orchestrator.cli.runs.bounded import bounded
from orchestrator.cli.runs.connected import connected
from orchestrator.cli.runs.plans import basis_of
from orchestrator.cli.runs.project_files import give_files
from orchestrator.cli.runs.publisher import Publisher, send_last
from orchestrator.cli.runs.request import (
    GoOn,
    RunEnvironment,
    RunRequest,
    check_retries,
)
from orchestrator.git.pinned import record_git, recorded_git
from orchestrator.git.pinned_config import trusting
from orchestrator.run.commands import ProjectCommands
from orchestrator.run.event_log import log_event, log_to
from orchestrator.run.evidence.bench import bench_of
from orchestrator.run.places.checkout import Checkout, alone_in
from orchestrator.run.places.protection import guarded_files, keep_users_work
from orchestrator.run.places.worktrees import Worktrees
from orchestrator.run.record import Record, Run
from orchestrator.run.stop import StopRequest
from orchestrator.run.tasks.attempt import load_gates
from orchestrator.views.run.console import present, show_further, stopping_line
from orchestrator.views.run.story import RunStory
from orchestrator.views.screen import say
from state.journal.events import LimitNear, RunStarted
from state.journal.events.tasks import UNMERGED_ENDS
from state.journal.fold.fold import fold
from state.journal.recorder import Recorder
from state.journal.store import Journal, JournalReader
from state.journal.view import RunView
from state.outcome import Outcome
from state.settings.records import Settings

WorkOn = Callable[[Run, StopRequest], Awaitable[Outcome]]  # `orchestrator.run.machine.work_until_stopped`
_FIRST_SESSION_S = 2  # loading in a thread would slow its start down
_LAST_LINES_S = 5  # how long the display may take to show the last events


def run_new(request: RunRequest, environment: RunEnvironment, *, work: WorkOn) -> Outcome:
    """Start a run, have `work` work on it until it has an outcome, and return that.

    Raises:
        UsageError: the request cannot be fulfilled, and nothing was started.
    """
    spec_text = spec_of(request, environment)
    return _driven(begin(request, spec_text, environment), work)


def run_again(
    run_folder: Path, environment: RunEnvironment, go_on: GoOn | None = None, *, work: WorkOn
) -> Outcome:
    """Have `work` go on with a run from its journal. If it has ended for good, its end is shown again.

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
                anyio.run(show, journal, environment, run_folder, view.clock.ended_seq - 1)
            anyio.run(send_last, run_folder, environment)
            if environment.end_report:
                environment.end_report.tell(run_folder, environment.look)
            return view.ended.outcome
    return _driven(begin_again(run_folder, environment, go_on), work)


def _driven(beginning: AbstractAsyncContextManager[Begun], work: WorkOn) -> Outcome:
    async def run() -> Outcome:
        async with beginning as begun:
            return await drive(begun, work)

    collect_again()
    return anyio.run(run)


def checked(request: RunRequest, environment: RunEnvironment, *, work: WorkOn) -> tuple[Outcome, RunView]:
    """Have `work` work on a run that ends with the questions about its spec. Return its outcome and its view.

    Raises:
        UsageError: the request cannot be fulfilled, and nothing was started.
    """
    folders: list[Path] = []
    outcome = run_new(request, replace(environment, begun=folders.append), work=work)
    with JournalReader(folders[-1]) as journal:
        return outcome, fold(journal.read())


async def _load_later(started: RunStarted, environment: RunEnvironment) -> None:
    """Load the engine of prompts now, later the gates, the API's SDK, and what reports need.

    A broken SDK ends the run. A rehearsal imports it when it is asked.
    """
    await anyio.to_thread.run_sync(prompts.load, abandon_on_cancel=True)
    await anyio.sleep(_FIRST_SESSION_S)
    await anyio.to_thread.run_sync(load_gates, abandon_on_cancel=True)
    if not started.rehearsal:
        await anyio.to_thread.run_sync(import_sdks, API_SDK, abandon_on_cancel=True)
    if environment.end_report:
        await anyio.to_thread.run_sync(environment.end_report.prepare, abandon_on_cancel=True)


async def drive(begun: Begun, work: WorkOn) -> Outcome:
    """Have `work` work on a run, show it, and handle signals."""
    journal, started, run_folder = begun.journal, begun.started, begun.folder
    environment = begun.environment
    async with AsyncExitStack() as stack:
        stack.enter_context(log_to(run_folder / "sq.log", run_id=started.run_id, redact=begun.redact))
        view = fold(journal.read())
        settings = view.settings or started.settings
        root = Path(started.repository)
        trusted = await record_git(root, run_folder, Path(started.worktrees) if started.worktrees else None)
        stack.enter_context(trusting(trusted))
        if not settings.worktrees:
            stack.enter_context(await alone_in(root))
            await keep_users_work(
                journal.append, view, started, run_folder, leave_out=[run_folder.parents[1]]
            )
        connection = await stack.enter_async_context(
            connected(
                started, settings, run_folder, environment.key, environment.environ, environment.addresses
            )
        )
        sandbox_policy = await stack.enter_async_context(
            bounded(
                started,
                settings,
                environment,
                begun.choice,
                folder=run_folder,
                trusted=trusted,
                project=root,
            )
        )
        run = _run(
            journal, started, settings, run_folder, environment, connection, sandbox_policy, begun.shown_from
        )
        await give_files(run)
        stop, shown = StopRequest(), anyio.Event()
        outgoing = Publisher(journal, run_folder, environment, view=lambda: run.view, record=run.record)
        async with task_group() as tasks:
            tasks.start_soon(_heed_signals, stop, run)
            tasks.start_soon(show, journal, environment, run_folder, begun.shown_from, shown)
            tasks.start_soon(outgoing.run)
            tasks.start_soon(_load_later, started, environment)
            try:
                outcome = await work(run, stop)
                with anyio.move_on_after(_LAST_LINES_S):
                    await shown.wait()
                show_further(run.view, environment.look, await outgoing.finish())
                await _leave_report(environment, run_folder, journal)
            finally:
                tasks.cancel_scope.cancel()
    return outcome


async def _leave_report(environment: RunEnvironment, run_folder: Path, journal: Journal) -> None:
    if environment.end_report:
        await environment.end_report.leave(run_folder, environment.look, journal.for_model)


async def show(
    journal: Journal | JournalReader,
    environment: RunEnvironment,
    run_folder: Path,
    after: int,
    shown: anyio.Event | None = None,
) -> None:
    """Show the events of a run after this one until its end, and then set `shown`."""
    look = replace(environment.look, follow=options.following(run_folder))
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
    environment: RunEnvironment,
    connection: Connection,
    sandbox_policy: SandboxPolicy,
    shown_from: int,
) -> Run:
    state_root = run_folder.parents[1]
    recorder = Recorder(journal, heard=log_event, after=shown_from)
    sandbox_policy = replace(sandbox_policy, warn=lambda near: recorder.record(LimitNear(cause=near)))
    platform = make_platform(
        connection,
        cli=find_cli(),
        run_folder=run_folder,
        containment=environment.containment,
        settings=settings,
        sandbox_policy=sandbox_policy,
        environ=environment.environ,
        hidden=(state_root,),
        guarded=guarded_files(run_folder, Path(started.repository))
        if not started.edit_dirty
        else frozenset(),
        choose=environment.choose,
    )
    rehearsal = Path(started.rehearsal) if started.rehearsal else None
    given = recorder.view.plan.before.plan
    plan_file = Path(given.file) if given else None
    not_dirt = paths_of_sq(
        Path(started.spec_name), state_root, Path(started.repository), rehearsal, plan_file
    )
    workspaces: Worktrees | Checkout = (
        Worktrees(
            started=started,
            merge_home=settings.merge,
            not_dirt=not_dirt,
            no_work=lambda: recorder.view.baseline.rewritten,
        )
        if settings.worktrees
        else Checkout(started=started, run_folder=run_folder)
    )
    run = composed(recorder, run_folder, platform, workspaces, sandbox_policy, environment.environ)
    return replace(run, person=environment.person, forecast_basis=basis_of(started, run_folder))


def composed(
    recorder: Record,
    folder: Path,
    platform: Platform,
    workspaces: Worktrees | Checkout,
    sandbox_policy: SandboxPolicy,
    environ: Mapping[str, str],
) -> Run:
    """Return a run that works in `workspaces`, with its commands inside `sandbox_policy`.

    `folder` is the run's own, `environ` the environment of sq.
    """
    commands = ProjectCommands(
        environ=environ,
        folder=folder,
        settings=recorder.view.settings or platform.settings,
        containment=platform.containment,
        sandbox_policy=sandbox_policy,
        recorder=recorder,
    )
    return Run(
        recorder=recorder,
        folder=folder,
        platform=platform,
        places=workspaces,
        integration=workspaces,
        commands=commands,
        bench_of=bench_of,
        answers_about=answers_about,
        environ=environ,
    )


async def _heed_signals(stop: StopRequest, run: Run) -> None:
    """End the run in order at the first Ctrl-C or SIGTERM, and the process at once at the second.

    Only SIGTERM, which no person at a terminal waits for, leaves time to merge verified work. What is waited
    for is said at once, on standard error.
    """
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async for number in signals:
            if stop.reason:
                os._exit(Outcome.INTERRUPTED.exit_code)  # containment ends every process of the run
            stop.ask(signal.Signals(number).name, leaves_time=number == signal.SIGTERM)
            say(stopping_line(run.view, stop.reason), error=True)
