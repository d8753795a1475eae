"""A work is tried: a run without agents, from the command line to its end, in the user's own state folder."""

import signal
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from agents.access import Credentials
from agents.claude_code.executable import NAME
from agents.concurrency import task_group
from agents.process.sandbox.choice import Choice
from agents.session.permissions import rule_names
from orchestrator.checks.order import answers_about
from orchestrator.cli.runs.bounded import bounded
from orchestrator.cli.runs.opened_hosts import registries_to_open, signed_in_at
from orchestrator.cli.runs.project_files import with_included
from orchestrator.cli.runs.request import RunEnvironment, choose
from orchestrator.cli.version import sq_version
from orchestrator.git.command import git_version
from orchestrator.git.pinned import record_git
from orchestrator.git.pinned_config import TrustedGit, trusting
from orchestrator.git.repository import find_repository
from orchestrator.git.trees import entries_in, text_at
from orchestrator.git.workspace import remove_scratch, show_tree
from orchestrator.run.commands import ProjectCommands
from orchestrator.run.event_log import log_event, log_to
from orchestrator.run.evidence.baseline import baseline_on
from orchestrator.run.evidence.bench import bench_of
from orchestrator.run.evidence.proof import take_proofs
from orchestrator.run.evidence.verification import verify
from orchestrator.run.places.set_up import remove_scratch_worktrees
from orchestrator.run.plan.plan_file import PlanContents, read_plan
from orchestrator.run.record import ScratchWorktrees, Trial
from orchestrator.verify.accepting import accepted_at_base
from orchestrator.verify.judgement import NOTHING_CHANGED, Blobs, Judgement, judged
from orchestrator.verify.kept import keep, kept_run, key_of, state_folder
from orchestrator.verify.ranges import Work, messages_of, work_of
from orchestrator.verify.records import Asked, Tried
from state.errors import UsageError
from state.ids import RunId
from state.journal.events import PlanAccepted, RunEnded, RunInterrupted, RunStarted, Stored, WorkGiven
from state.journal.recorder import Recorder
from state.journal.view import RunView
from state.outcome import Outcome
from state.paths import SCRATCH, StateFolder, worktree_root
from state.settings.config import ResolvedConfig, load_config
from state.settings.records import Confinement, Sandbox, Settings
from state.settings.sources import REPOSITORY_FILE

Heard = Callable[[Stored, RunView], None]
_PLAN = ".plan.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """A work with all that decides what is asked about it, and where."""

    work: Work
    asked: Asked
    settings: Settings
    spec: "_Spec"
    choice: Choice

    def key(self, environ: Mapping[str, str]) -> str:
        """Return the name under which its result is kept."""
        return key_of(
            self.work,
            self.settings,
            [self.spec.text, self.spec.plan_text],
            version=sq_version(),
            environ=environ,
            held=f"{self.choice.level} {bool(self.choice.program)}",
        )


async def tried(asked: Asked, environment: RunEnvironment, heard: Heard) -> Tried:
    """Ask the checks about a work, or read what they said of the same one.

    Raises:
        UsageError: the request cannot be fulfilled, and nothing was started.
    """
    if git_version() is None:
        raise UsageError("git was not found on PATH. Install git")
    repository = await find_repository(asked.folder)
    work = await work_of(repository, asked.given, worktree=asked.worktree, request=asked.request)
    state = state_folder(work.root)
    wanted = await _wanted(asked, work, environment, state)
    key = wanted.key(environment.environ)
    if not asked.anew and (known := kept_run(state, key)):
        return await _told(wanted, *known, is_kept=True)
    run_id, folder = state.new_run()
    view = await _ask(wanted, environment, heard, folder)
    if view.ended and view.ended.outcome is Outcome.COMPLETE:
        keep(state, key, run_id)
    return await _told(wanted, folder, view)


async def _wanted(asked: Asked, work: Work, environment: RunEnvironment, state: StateFolder) -> _Wanted:
    settings, config = await _settings(asked, work, environment.environ)
    settings = await with_included(config, settings, work.root, work.base, state.root)
    choice = await choose(settings.sandbox.mode, settings, Credentials.REHEARSAL, environment)
    if asked.base_setup and not choice.held.commands:
        raise UsageError(
            "--base-setup needs a sandbox, in which no other set-up can run: leave --sandbox off out"
        )
    spec = await _spec_at(work, asked.spec)
    return _Wanted(work=work, asked=asked, settings=settings, spec=spec, choice=choice)


async def _ask(wanted: _Wanted, environment: RunEnvironment, heard: Heard, folder: Path) -> RunView:
    """Begin a run without agents in a folder, ask everything, and return its view at the end."""
    work, settings = wanted.work, wanted.settings
    worktrees = worktree_root(work.root, RunId(folder.name))
    trusted = await record_git(work.root, folder, worktrees)
    redact = environment.redactor_for(work.root)
    place = worktrees / f"{SCRATCH}1"
    async with AsyncExitStack() as stack:
        stack.enter_context(trusting(trusted))
        stack.push_async_callback(_remove_left, work.root, place)
        await show_tree(work.root, place, work.base_tree, base=work.base)
        started = _started(wanted, environment, folder, trusted, place)
        journal = stack.enter_context(environment.open_journal(folder, redact=redact))
        journal.append(started, *wanted.spec.events)
        stack.enter_context(log_to(folder / "sq.log", run_id=started.run_id, redact=redact))
        sandbox_policy = await stack.enter_async_context(
            bounded(
                started,
                settings,
                environment,
                wanted.choice,
                folder=folder,
                trusted=trusted,
                project=place,
            )
        )
        recorder = Recorder(journal, heard=_all(heard))
        commands = ProjectCommands(
            environ=environment.environ,
            folder=folder,
            settings=settings,
            containment=environment.containment,
            sandbox_policy=sandbox_policy,
            recorder=recorder,
        )
        trial = Trial(
            recorder=recorder,
            folder=folder,
            commands=commands,
            bench_of=bench_of,
            answers_about=answers_about,
            environ=environment.environ,
            scratch=ScratchWorktrees(free=[place], made=1, shown={place: work.base_tree}),
        )
        await _until_stopped(trial, work)
        return recorder.view


async def _remove_left(repository: Path, place: Path) -> None:
    """Remove the first place if an error came before the trial, which removes all."""
    with anyio.CancelScope(shield=True):
        await remove_scratch(repository, place)


def _started(
    wanted: _Wanted, environment: RunEnvironment, folder: Path, trusted: TrustedGit, place: Path
) -> RunStarted:
    work, settings, held = wanted.work, wanted.settings, wanted.choice.held
    environ, sandbox = environment.environ, settings.sandbox
    registries = registries_to_open(place, sandbox, held, environ)
    return RunStarted(
        run_id=RunId(folder.name),
        spec_name=wanted.asked.spec,
        spec_text=wanted.spec.text,
        repository=str(work.root),
        worktrees=str(trusted.worktrees or ""),
        base_commit=work.base,
        base_branch=None,
        rehearsal=None,
        credentials=Credentials.REHEARSAL,
        sq_version=sq_version(),
        settings=settings,
        confined=Confinement(
            agent=NAME,
            containment=environment.containment,
            sandbox=held,
            registries=registries,
            signed_in=signed_in_at(place, sandbox, environ) if registries else (),
        ),
    )


def _all(heard: Heard) -> Heard:
    def hear(stored: Stored, view: RunView) -> None:
        log_event(stored, view)
        heard(stored, view)

    return hear


async def _told(wanted: _Wanted, folder: Path, view: RunView, *, is_kept: bool = False) -> Tried:
    """Return what the checks say, from what a run recorded."""
    work = wanted.work
    if work.is_empty:
        judgement = Judgement(outcome=Outcome.UNVERIFIED, cause=NOTHING_CHANGED)
        return Tried(work=work, folder=folder, view=view, judgement=judgement, is_kept=is_kept)
    blobs = await blobs_of(work)
    if view.ended and view.ended.outcome is not Outcome.COMPLETE:
        judgement = Judgement(outcome=view.ended.outcome, changed=len(blobs.files), cause=view.ended.cause)
    else:
        accepted = {**await accepted_at_base(work), **wanted.asked.accepted}
        judgement = judged(
            view,
            blobs,
            accepted=accepted,
            messages=await messages_of(work),
        )
    return Tried(work=work, folder=folder, view=view, judgement=judgement, is_kept=is_kept)


async def blobs_of(work: Work) -> Blobs:
    """Return the changed files of a work."""
    before, now = [await entries_in(work.root, tree) for tree in (work.base_tree, work.tree)]
    changed = {name for name in {*before, *now} if before.get(name) != now.get(name)}
    return Blobs(files={name: (before.get(name, ""), now.get(name, "")) for name in sorted(changed)})


async def _try(trial: Trial, work: Work) -> None:
    """Ask everything, and record the answers and the end."""
    trial.record(WorkGiven(commit=work.head, tree=work.tree))
    if not work.is_empty:
        if ended := await baseline_on(trial, work.base_tree):
            trial.record(replace(ended, resumable=False))
            return
        finished = await verify(trial, task_id="", folder=trial.repository, tree=work.tree)
        await take_proofs(trial, finished, task_id="", base=work.base_tree)
    trial.record_hosts()
    trial.record(RunEnded(outcome=Outcome.COMPLETE, cause=""))


async def _until_stopped(trial: Trial, work: Work) -> None:
    """As `_try`, until a signal comes. The scratch worktrees are removed in any case."""
    try:
        async with task_group() as tasks:
            tasks.start_soon(_heed_signals, trial, tasks.cancel_scope)
            await _try(trial, work)
            tasks.cancel_scope.cancel()
    except Exception as error:
        trial.record(
            RunEnded(outcome=Outcome.UNVERIFIED, cause=f"sq failed: {type(error).__name__}: {error}")
        )
        raise
    finally:
        with anyio.CancelScope(shield=True):
            if trial.view.ended is None:
                trial.record(RunEnded(outcome=Outcome.INTERRUPTED, cause="it was interrupted"))
            await remove_scratch_worktrees(trial)


async def _heed_signals(trial: Trial, scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for number in signals:
            trial.record(RunInterrupted(by=signal.Signals(number).name))
            scope.cancel()
            return


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spec:
    """A spec at the base and its plan there, as texts and as the events that hold them."""

    text: str = ""
    plan_text: str = ""
    contents: PlanContents | None = None

    @property
    def events(self) -> list[PlanAccepted]:
        if self.contents is None:
            return []
        plan = self.contents.plan
        return [
            PlanAccepted(
                tasks=(),
                criteria=plan.criteria,
                tests_that_change=plan.tests_that_change,
                readings=plan.readings,
                reviewed=True,
            )
        ]


async def _spec_at(work: Work, spec: str) -> _Spec:
    """Return the spec as it is at the base, with its plan if that is there too."""
    if not spec:
        return _Spec()
    text = await text_at(work.root, work.base, spec)
    if not text:
        raise UsageError(
            f"--spec {spec}: there is no such file at {work.base[:10]}, where the work began. A spec is read "
            "there, so that the work cannot change it: commit it before the work"
        )
    name = f"{spec.removesuffix('.md')}{_PLAN}"
    names = dict.fromkeys((f"{spec}{_PLAN}", name))
    found = [one for one in [await text_at(work.root, work.base, each) for each in names] if one]
    if not found:
        return _Spec(text=text)
    with TemporaryDirectory(prefix="sq-") as folder:
        file = Path(folder) / Path(name).name
        file.write_text(found[0], "utf-8")
        return _Spec(text=text, plan_text=found[0], contents=read_plan(file, text))


async def _settings(asked: Asked, work: Work, environ: Mapping[str, str]) -> tuple[Settings, ResolvedConfig]:
    """Return the settings: the user's, those of the base, and those of the command line."""
    with TemporaryDirectory(prefix="sq-") as folder:
        if text := await text_at(work.root, work.base, REPOSITORY_FILE):
            (Path(folder) / REPOSITORY_FILE).write_text(text, "utf-8")
        config = load_config(Path(folder), environ, flags=asked.flags, rules=rule_names())
    settings = replace(
        config.settings,
        worktrees=True,
        base_setup=asked.base_setup,
        limits=replace(config.settings.limits, deadline=""),
    )
    if environ.get("CI") and config.values["sandbox"].source == "default":
        settings = replace(settings, sandbox=replace(settings.sandbox, mode=Sandbox.WHOLE))
    return settings, config
