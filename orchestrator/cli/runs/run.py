"""`sq run`, `sq resume` and `sq demo`: work through a spec, go on with a run, rehearse a small one."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orchestrator.cli import options
from orchestrator.cli.runs import flags
from orchestrator.views.screen import say

if TYPE_CHECKING:
    from orchestrator.cli.runs.plans import SpecFound
    from orchestrator.cli.runs.request import BeforeWork, GoOn, RunEnvironment
    from orchestrator.views.run.look import Look


_OF_REQUEST = ("allow_dirty", "edit_dirty", "dry_run", "rehearse", "state_dir")
_keep = click.option(
    "--keep", is_flag=True, help="Resume the run if its process is killed, at most 5 times an hour."
)
_BUDGET = "The most that the whole run may cost, from its beginning, if it has used up its budget."


@click.command("run", short_help="Work through a spec until it is built, reviewed and verified.")
@options.spec
@flags.settings(
    effort="NAME",
    workflow="",
    questions="",
    worktrees="",
    max_parallel="N",
    merge="",
    merge_unverified="",
    verify="CMD",
    gateway="",
    max_iterations="N",
    budget="USD",
    deadline="TIME|+DURATION",
    developer_qa_model="NAME",
    sandbox="",
    context="FOLDER",
)
@options.models
@click.option(
    "--allow-dirty", is_flag=True, help="With --no-worktrees: begin although there are uncommitted changes."
)
@click.option(
    "--edit-dirty",
    is_flag=True,
    help="As --allow-dirty, and agents may change your uncommitted work.",
)
@click.option(
    "--plan-only",
    is_flag=False,
    flag_value="plan.toml",
    type=click.Path(path_type=Path, dir_okay=False),
    help="End with the plan, and write it to this file (default: plan.toml here) for you to edit.",
)
@click.option(
    "--plan",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Build this plan, as --plan-only wrote it and you edited it. No Planner makes another one.",
)
@click.option("--approve", is_flag=True, help="Build nothing before `sq approve` in another terminal.")
@click.option("--dry-run", is_flag=True, help="Analyze and plan, show the tasks, build nothing.")
@options.host
@options.rehearse
@_keep
@options.state_dir
@options.as_json
@options.plain
@options.verbose
@options.quiet
def command(
    spec: str,
    models: dict[str, str],
    allow_dirty: bool,
    edit_dirty: bool,
    dry_run: bool,
    rehearse: Path | None,
    keep: bool,
    state_dir: Path | None,
    as_json: bool,
    plain: bool,
    verbose: bool,
    quiet: bool,
    **asked: Any,  # noqa: ANN401  the values of the options, by their names
) -> int:
    """Work through a spec until it is built, reviewed and verified, or say exactly why it is not.

    The work happens in worktrees outside your checkout. At the end your branch is moved forward to it, if
    the work is complete and the checkout is clean. Exit codes: 0 complete, 1 failed, 2 usage, 3 stuck,
    4 limit, 5 unverified, 130 interrupted.
    """
    from orchestrator.cli.keep import kept
    from orchestrator.cli.runs.plans import taken_over

    found = taken_over(spec, options.state_folder_of(state_dir))
    look = options.look_of(as_json=as_json, plain=plain, verbose=verbose, quiet=quiet)
    asked |= {"allow_dirty": allow_dirty, "edit_dirty": edit_dirty, "dry_run": dry_run}
    asked |= {"rehearse": rehearse and rehearse.absolute(), "state_dir": state_dir and state_dir.absolute()}
    begin = partial(_begin, found, look, models, asked)

    def again(made: Path | None, note: Callable[[Path], None]) -> int:
        """Go on with the run, or begin it if its process was killed before its first event."""
        from orchestrator.cli.runs.request import GoOn
        from state.journal.store import has_begun

        return _go_on(look, made, GoOn(kept=True), note) if made and has_begun(made) else begin(note)

    return kept(begin, again) if keep else begin(lambda _folder: None)


def _begin(
    found: "SpecFound",
    look: "Look",
    models: dict[str, str],
    asked: dict[str, Any],
    note: Callable[[Path], None],
) -> int:
    """Work through a spec. `note` is called with the run's folder."""
    from agents.process.sandbox.choice import trying

    with trying(os.environ):  # these imports take longer
        from orchestrator.cli.runs.compose import run_new
        from orchestrator.cli.runs.request import RunRequest
        from orchestrator.run.machine import work_until_stopped

    about = {name: asked.pop(name) for name in _OF_REQUEST}
    request = RunRequest(
        spec=found.file,
        origin=found.origin,
        notes=found.notes,
        folder=Path.cwd(),
        before=_before(asked),  # and the rest are settings
        flags={**flags.flags_of(asked), **flags.model_flags(models)},
        **about,
    )
    given = _environment(look, note, known=found.known)
    return run_new(request, given, work=work_until_stopped).exit_code


def _environment(look: "Look", note: Callable[[Path], None], **more: Any) -> "RunEnvironment":  # noqa: ANN401
    """Return the environment of a run that a person at this terminal may speak to."""
    from orchestrator.cli.runs.reported import FilesAtEnd
    from orchestrator.cli.runs.request import RunEnvironment
    from orchestrator.views.run.look import person_at

    at_end, person = FilesAtEnd(), person_at(look)
    choose = options.choose_agent()
    return RunEnvironment(look=look, person=person, end_report=at_end, choose=choose, begun=note, **more)


def _before(asked: dict[str, Any]) -> "BeforeWork":
    """Take what is asked for before the work out of the values of the options.

    Raises:
        UsageError: the plan would be written over an edit.
    """
    from orchestrator.cli.runs.plans import refuse_edited
    from orchestrator.cli.runs.request import BeforeWork

    plan, plan_to = asked.pop("plan"), asked.pop("plan_only")
    if plan_to:
        refuse_edited(plan_to)
    return BeforeWork(
        approve=asked.pop("approve"),
        plan=plan.absolute() if plan else None,
        plan_to=plan_to.absolute() if plan_to else None,
    )


def _go_on(look: "Look", folder: Path, go_on: "GoOn", note: Callable[[Path], None]) -> int:
    """Go on with a run. `note` is called with its folder when what was asked for is stored."""
    from orchestrator.cli.runs.compose import run_again
    from orchestrator.run.machine import work_until_stopped

    return run_again(folder, _environment(look, note), go_on, work=work_until_stopped).exit_code


@click.command("resume", short_help="Go on with a run that was interrupted or killed.")
@click.argument("run", required=False, shell_complete=options.complete_runs)
@options.state_dir
@click.option("--budget", type=click.FloatRange(min=0, min_open=True), metavar="USD", help=_BUDGET)
@click.option("--max-iterations", type=click.IntRange(min=1), metavar="N", help="Iterations of a task.")
@click.option(
    "--retry", multiple=True, metavar="TASK", help="Try a task again that ended unmerged. Repeatable."
)
@click.option(
    "--verify",
    multiple=True,
    metavar="CMD",
    help="A command that sq runs itself to verify from now on, instead of those before. Repeatable.",
)
@options.models
@click.option(
    "--questions",
    type=click.Choice(["answer", "park"]),
    help="From now on: answer or park a question about something that cannot be undone.",
)
@click.option(
    "--max-parallel", type=click.IntRange(min=1), metavar="N", help="Tasks under way at once from now on."
)
@flags.settings(sandbox="", deadline="TIME|+DURATION")
@_keep
@options.as_json
@options.plain
@options.verbose
@options.quiet
def resume(
    run: str | None,
    state_dir: Path | None,
    budget: float | None,
    max_iterations: int | None,
    retry: tuple[str, ...],
    verify: tuple[str, ...],
    models: dict[str, str],
    questions: str | None,
    sandbox: str | None,
    deadline: str | None,
    max_parallel: int | None,
    keep: bool,
    as_json: bool,
    plain: bool,
    verbose: bool,
    quiet: bool,
) -> int:
    """Go on with RUN (default: the newest) where it was. Finished work is not done or paid for again.

    A run that ended because the API could not be asked, or at a limit, goes on too. Give a larger limit here.
    A task that is stuck, failed or could not be verified would end the same again unless something changes:
    it is tried again only with --retry, and its accepted work is not built again. Settings that are changed
    here apply from now on: `sq config show RUN` shows all of them with their times.
    """
    from orchestrator.cli.keep import kept
    from orchestrator.cli.runs.request import GoOn

    folder = options.run_folder_of(run, state_dir)
    look = options.look_of(as_json=as_json, plain=plain, verbose=verbose, quiet=quiet)
    go_on = GoOn(
        budget_usd=budget,
        max_iterations=max_iterations,
        retry=retry,
        verify=verify,
        models=models,
        questions=questions,
        sandbox=sandbox,
        deadline=deadline,
        max_parallel=max_parallel,
    )

    begin = partial(_go_on, look, folder, go_on)

    def again(made: Path | None, note: Callable[[Path], None]) -> int:
        return _go_on(look, folder, GoOn(kept=True) if made else replace(go_on, kept=True), note)

    return kept(begin, again, folder.name) if keep else begin(lambda _folder: None)


@click.command("demo", short_help="Show a rehearsed run on a small repository. The model is a script.")
@click.option(
    "--keep-in",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Make the repository in this new or empty folder (default: a temporary one).",
)
@options.as_json
@options.plain
def demo(keep_in: Path | None, as_json: bool, plain: bool) -> int:
    """Watch a real Claude Code process build a small spec while the model is a script.

    It asks a question and gets an answer, a review sends its work back, and the next one passes. It needs no
    key and no network.
    """
    folder = _folder(keep_in)
    if not as_json:  # before the imports, which take seconds the first time
        say(f"The demo makes a small repository in {folder}")

    from orchestrator.cli.runs.compose import run_new
    from orchestrator.cli.runs.reported import FilesAtEnd
    from orchestrator.cli.runs.request import RunEnvironment, RunRequest
    from orchestrator.run.machine import work_until_stopped

    look = options.look_of(as_json=as_json, plain=plain)
    with as_file(files("orchestrator.cli") / "rehearsal") as material:
        make_repository(material, folder)
        request = RunRequest(
            spec=folder / "quality-test.md", folder=folder, rehearse=material / "quality-test.yaml"
        )
        given = RunEnvironment(look=look, end_report=FilesAtEnd(), choose=options.choose_agent())
        outcome = run_new(request, given, work=work_until_stopped)
    if not as_json:
        say(f"look at it: git -C {folder} log --stat")
    return outcome.exit_code


def make_repository(material: Path, folder: Path) -> None:
    """Make a small repository with one commit, and put the spec into it."""
    shutil.copytree(material / "repository", folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__*"))
    shutil.copyfile(material / "quality-test.md", folder / "quality-test.md")
    identity = [
        "-c",
        "user.name=sq demo",
        "-c",
        "user.email=demo@localhost",
        "-c",
        "core.hooksPath=/dev/null",
    ]
    for arguments in (
        ["init", "--quiet", "--initial-branch=main"],
        ["add", "--all"],
        ["commit", "--quiet", "--no-gpg-sign", "-m", "A greeting, and a spec"],
    ):
        subprocess.run(
            ["git", "-C", str(folder), *identity, *arguments], check=True, stdin=subprocess.DEVNULL
        )


def _folder(given: Path | None) -> Path:
    if given is None:
        return Path(tempfile.mkdtemp(prefix="sq-demo-")).resolve()
    if given.exists() and any(given.iterdir()):
        raise click.UsageError(f"--keep-in {given}: the folder is not empty. Name a new one")
    given.mkdir(parents=True, exist_ok=True)
    return given.resolve()
