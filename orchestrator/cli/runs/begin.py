"""A run begun or gone on with: from the command line to its first events, and what is checked before.

That the SDKs are installed is checked here. The first session imports its own while Claude Code starts.
"""

import gc
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from agents.access import Credentials
from agents.claude_code.executable import NAME, check_cli, find_cli
from agents.login import login_words
from agents.process.sandbox.choice import Choice
from agents.sdks import API_SDK, check_sdk
from agents.session.permissions import rule_names
from orchestrator.cli.options import own_state
from orchestrator.cli.runs.notes import (
    check_addresses,
    notes_for,
    notes_on,
    sandbox_lines,
)
from orchestrator.cli.runs.opened_hosts import registries_to_open, signed_in_at
from orchestrator.cli.runs.plans import basis_of, prepare
from orchestrator.cli.runs.project_files import context_folders, refuse_servers, with_included
from orchestrator.cli.runs.request import (
    SCENARIO,
    BeforeWork,
    GoOn,
    RunEnvironment,
    RunRequest,
    choose,
    deadline_of,
    models_now,
    read_spec,
)
from orchestrator.cli.version import sq_version
from orchestrator.git.command import git_version
from orchestrator.git.pinned import record_git
from orchestrator.git.pinned_config import TrustedGit
from orchestrator.git.repository import Repository, base_commit, find_repository, ignore_locally, refuse_dirt
from orchestrator.run.plan.answers import answers_file
from orchestrator.run.plan.forecast import forecast
from orchestrator.views.words import local_time
from state.errors import UsageError
from state.journal.events import Event, ForecastMade, RunResumed, RunStarted
from state.journal.fold.fold import fold
from state.journal.store import Journal, JournalReader
from state.paths import StateFolder, worktree_root
from state.redaction.redactor import Redact
from state.settings.config import ResolvedConfig, load_config
from state.settings.integrations import Integrations
from state.settings.records import Confinement, OnQuestion, Sandbox, Settings, Workflow
from state.settings.sources import REPOSITORY_FILE


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A run whose beginning is in its journal. Events up to `shown_from` are not shown."""

    journal: Journal
    started: RunStarted
    folder: Path
    environment: RunEnvironment
    choice: Choice
    redact: Redact
    shown_from: int = 0


def spec_of(request: RunRequest, environment: RunEnvironment) -> str:
    """Return the spec of a run that can be started here.

    Raises:
        UsageError: the request cannot be fulfilled, and nothing was started.
    """
    spec_text = read_spec(request.spec)
    if request.rehearse:
        from agents.gateway.scenario import load_scenario

        load_scenario(request.rehearse)
    check_cli(find_cli(), environment.environ)
    if git_version() is None:
        raise UsageError("git was not found on PATH, and sq works on git branches. Install git")
    check_sdk(API_SDK)
    return spec_text


def collect_again() -> None:
    """Let Python collect garbage, which is off while `sq` imports, but pass over the imports."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


@asynccontextmanager
async def begin(request: RunRequest, spec_text: str, environment: RunEnvironment) -> AsyncIterator[Begun]:
    """Start a run, and hold its journal while the block runs. What cannot be started is a `UsageError`."""
    repository = await find_repository(request.folder)
    config, settings, environment = _settings(request, repository.root, environment)
    state = StateFolder(request.state_dir or own_state(repository.root))
    not_dirt = paths_of_sq(request.spec, state.root, repository.root, request.rehearse, request.before.plan)
    prepared = prepare(request.spec, spec_text, request.before.plan)
    base = await _base(request, repository, settings, not_dirt)
    instructed_at = (request.origin.instructed_at if request.origin else "") or base
    settings = await with_included(config, settings, repository.root, instructed_at, state.root)
    credentials = environment.credentials(rehearsed=request.rehearse is not None)
    choice = await choose(settings.sandbox.mode, settings, credentials, environment)
    await refuse_servers(settings, choice, repository.root, instructed_at)
    exposed = environment.how_exposed(settings, credentials, choice)
    registries = registries_to_open(repository.root, settings.sandbox, choice.held, environment.environ)
    signed_in = signed_in_at(repository.root, settings.sandbox, environment.environ) if registries else ()
    run_id, run_folder = state.new_run()
    environment.begun(run_folder)
    trusted = await _git_before(repository, run_folder, settings)
    started = RunStarted(
        run_id=run_id,
        spec_name=str(request.spec),
        spec_text=spec_text,
        repository=str(repository.root),
        worktrees=str(trusted.worktrees or ""),
        base_commit=base,
        base_branch=repository.branch,
        rehearsal=str(request.rehearse) if request.rehearse else None,
        credentials=credentials,
        sq_version=sq_version(),
        notes=(
            *await notes_for(repository, trusted, settings, not_dirt, choice, edit_dirty=request.edit_dirty),
            *sandbox_lines(settings, choice, registries, environment.environ, signed_in),
            *_notes_on_others(settings, credentials, environment),
            *filter(None, [exposed, *request.notes]),
        ),
        settings=settings,
        edit_dirty=request.edit_dirty,
        confined=_confined(environment, choice, exposed, registries, signed_in),
    )
    redact = environment.redactor_for(repository.root)
    with environment.open_journal(run_folder, redact=redact) as journal:
        journal.append(started, *_first_events(request, started, settings, run_folder, prepared))
        yield Begun(
            journal=journal, started=started, folder=run_folder, environment=environment,
            choice=choice, redact=redact,
        )  # fmt: skip


def _first_events(
    request: RunRequest, started: RunStarted, settings: Settings, run_folder: Path, prepared: list[Event]
) -> list[Event]:
    """Keep the scenario of a rehearsal. Return the events that follow the start at once."""
    if request.rehearse:
        shutil.copyfile(request.rehearse, run_folder / SCENARIO)
    made = ForecastMade(forecast=forecast(basis_of(started, run_folder), settings))
    return [*([request.origin] if request.origin else []), *prepared, made]


def _notes_on_others(settings: Settings, credentials: Credentials, environment: RunEnvironment) -> list[str]:
    """Return lines on targets of notices, the deadline, and how long a login lasts if sessions use it."""
    lines = notes_on(settings.integrations)
    if settings.limits.deadline:
        lines.append(f"the deadline is {local_time(datetime.fromisoformat(settings.limits.deadline))}")
    if credentials is Credentials.CLI_LOGIN:
        lines.append(login_words(environment.environ, datetime.now(UTC)))
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
    environment: RunEnvironment,
    choice: Choice,
    exposed: str,
    registries: tuple[str, ...],
    signed_in: tuple[str, ...],
) -> Confinement:
    return Confinement(
        agent=NAME,
        containment=environment.containment,
        sandbox=choice.held,
        key_exposed=exposed,
        registries=registries,
        signed_in=signed_in,
    )


def _settings(
    request: RunRequest, repository: Path, environment: RunEnvironment
) -> tuple[ResolvedConfig, Settings, RunEnvironment]:
    """Return the configuration, the run's settings, and the environment without the secrets they name."""
    where = request.configured_in or repository
    config = load_config(where, environment.environ, flags=request.flags, rules=rule_names())
    before, limits = request.before, config.settings.limits
    settings = replace(
        config.settings,
        dry_run=request.dry_run or before.plan_to is not None,
        check_only=before.check_only,
        approve=before.approve,
        plan_to=str(before.plan_to or ""),
        context=context_folders(config.settings.context, request.folder, repository, environment.environ),
        limits=replace(limits, deadline=deadline_of(limits.deadline, request.flags.get("deadline"))),
    )
    _refuse_excluding(before, settings)
    return config, settings, _hold_back(settings.integrations, environment)


async def _git_before(repository: Repository, run_folder: Path, settings: Settings) -> TrustedGit:
    """Return git's folders and settings from before any agent of the run works."""
    await ignore_locally(repository, run_folder.parents[1])
    worktrees = worktree_root(repository.root, run_folder.name) if settings.worktrees else None
    return await record_git(repository.root, run_folder, worktrees)


@asynccontextmanager
async def begin_again(run_folder: Path, environment: RunEnvironment, go_on: GoOn) -> AsyncIterator[Begun]:
    """Go on with a run, and hold its journal while the block runs. If it cannot, that is a `UsageError`."""
    check_cli(find_cli(), environment.environ)
    check_sdk(API_SDK)
    with JournalReader(run_folder) as reader:
        known = fold(reader.read())
    if known.settings:
        environment = _hold_back(known.settings.integrations, environment)
    redact = environment.redactor_for(Path(known.started.repository) if known.started else run_folder)
    with environment.open_journal(run_folder, redact=redact) as journal:
        view = fold(journal.read())
        if view.started is None:
            raise UsageError(f"run {run_folder.name} was killed before it began. Start it anew")
        if not Path(view.started.repository).is_dir():
            raise UsageError(f"the repository of this run, {view.started.repository}, is gone")
        mode = Sandbox(go_on.sandbox) if go_on.sandbox else None
        settings = view.settings or view.started.settings
        credentials = Credentials(view.started.credentials)
        choice = await choose(mode or settings.sandbox.mode, settings, credentials, environment)
        instructed_at = view.plan.origin.instructed_at or view.started.base_commit
        await refuse_servers(settings, choice, Path(view.started.repository), instructed_at, mode)
        resumed = RunResumed(
            confined=_confined(
                environment,
                choice,
                environment.how_exposed(settings, credentials, choice),
                view.started.confined.registries,
                view.started.confined.signed_in,
            ),
            sandbox_mode=mode,
            budget_usd=go_on.budget_usd,
            max_iterations=go_on.max_iterations,
            retry=go_on.retry,
            kept=go_on.kept,
            verify=go_on.verify or None,
            models=models_now(Path(view.started.repository), environment, go_on.models, settings.effort),
            questions=OnQuestion(go_on.questions) if go_on.questions else None,
            deadline=None if go_on.deadline is None else deadline_of(go_on.deadline),
            max_parallel=go_on.max_parallel,
        )
        journal.append(resumed)
        environment.begun(run_folder)
        yield Begun(
            journal=journal, started=view.started, folder=run_folder, environment=environment,
            choice=choice, redact=redact, shown_from=view.clock.last_seq,
        )  # fmt: skip


def paths_of_sq(
    spec: Path, state_root: Path, repository: Path, rehearsal: Path | None, plan_file: Path | None
) -> list[Path]:
    """The paths that may be uncommitted in the checkout: sq's own, and those that instruct sq."""
    own = [spec, answers_file(spec), state_root, repository / REPOSITORY_FILE]
    return [*own, *filter(None, [rehearsal, plan_file])]


def _refuse_excluding(before: BeforeWork, settings: Settings) -> None:
    """Raise `UsageError` for requests that exclude each other.

    Raises:
        UsageError: it says which, and what to do.
    """
    if before.plan and settings.workflow is not Workflow.ORCHESTRATED:
        raise UsageError(f"--plan needs the workflow orchestrated, and this one is {settings.workflow}")
    if before.check_only and settings.workflow is not Workflow.ORCHESTRATED:
        raise UsageError(
            f"sq check asks the Planner, and the workflow {settings.workflow} has none: set orchestrated"
        )
    if before.approve and settings.dry_run:
        raise UsageError("--approve waits before the work, and this run ends with its plan: leave one out")


def _hold_back(integrations: Integrations, environment: RunEnvironment) -> RunEnvironment:
    """Return the environment without the variables that hold addresses and headers, and their values apart.

    Raises:
        UsageError: notices could not be sent, or spans not exported.
    """
    check_addresses(integrations, environment.environ)
    return environment.holding_back(integrations.variables)
