"""`sq answer`, `say`, `pause`, `continue`, `approve`: a person's word to a run, and `sq plan`: its plan."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator.cli import options
from orchestrator.cli.status import view_of
from orchestrator.views.screen import say
from state.errors import UsageError
from state.paths import StateFolder

if TYPE_CHECKING:
    from state.inbox import WordKind
    from state.journal.view import RunView


_MOST = 3  # arguments
_run = click.argument("run", required=False, shell_complete=options.complete_runs)
_words = click.argument("words", nargs=-1, required=True)


@click.command("answer", short_help="Answer a question that a run left to a person.")
@_words
@options.state_dir
def answer(words: tuple[str, ...], state_dir: Path | None) -> int:
    """Answer a parked question: sq answer [RUN] [QUESTION] "…" (default: the newest run, its only question).

    QUESTION is a name such as q1. `sq status RUN` shows those that wait. The answer is an option's number or
    label (where several may be chosen, such as 1,2), or your own words. A run that has ended keeps it, and
    `sq resume` uses it. Another answer replaces one that the run has not taken.
    """
    from state.inbox import WordKind
    from state.records.questions import QUESTION_NAME, labels_meant

    *named, text = _at_most(words, "answer [RUN] [QUESTION]")
    if any(one.startswith("q-") and one[2:].isdecimal() for one in named):
        raise UsageError(
            "questions about the spec (q-1, …) are answered on the terminal of `sq run` or `sq resume`, "
            "or beforehand with `sq check`"
        )
    asked = [one for one in named if QUESTION_NAME.fullmatch(one)]
    runs = [one for one in named if one not in asked]
    if len(runs) > 1 or len(asked) > 1:
        raise UsageError('one run and one question: sq answer [RUN] [QUESTION] "…", the words in quotes')
    folder = options.run_folder_of(runs[0] if runs else None, state_dir)
    view = view_of(folder)
    waiting = view.waiting_questions
    if (text in waiting and not asked) or text in {folder.name, folder.name.rpartition("-")[2]}:
        raise UsageError(f'{text} is no answer, and the words are missing: sq answer [RUN] [QUESTION] "…"')
    about = asked[0] if asked else next(iter(waiting)) if len(waiting) == 1 else ""
    meant = ", ".join(labels_meant(text.strip(), waiting[about][1])) if about in waiting else ""
    done = f"{about} of run {folder.name} is answered: {meant or text.strip()}"
    return _leave(folder, view, WordKind.ANSWER, text, about, done, options.again(state_dir))


@click.command("say", short_help="Add a word to the next prompt of a run or a task.")
@_words
@options.state_dir
def say_word(words: tuple[str, ...], state_dir: Path | None) -> int:
    """Add a word to the next prompt: sq say [RUN] [TASK] "…" (default: the newest run, all its tasks).

    The exchange under way ends first. Each session of the task reads the word once, its reviewers too.
    """
    from state.inbox import WordKind

    *named, text = _at_most(words, "say [RUN] [TASK]")
    folder, task = _run_and_task(named, state_dir)
    view = view_of(folder)
    done = _who_reads(view, folder, task)
    return _leave(folder, view, WordKind.SAY, text, task, done, options.again(state_dir))


def _who_reads(view: "RunView", folder: Path, task: str) -> str:
    """Return who gets a word to a task, or to all ("")."""
    from state.journal.events.tasks import ENDED_STAGES, Stage

    unread = "At the end the run names a word that nobody has read"
    if not task and view.tasks and all(one.stage in ENDED_STAGES for one in view.tasks.values()):
        return f"all tasks of {folder.name} are over: the final review reads it if it still begins. {unread}"
    if not task or view.tasks[task].stage in {Stage.WAITING, Stage.BUILDING}:
        return f"the next prompt of {f'task {task}' if task else 'all tasks'} in {folder.name} has it"
    stage = f"task {task} in {folder.name} is {view.tasks[task].stage}"
    return f"{stage}: its Worker reads it only if it is sent back, and else a reviewer does. {unread}"


@click.command("pause", short_help="Hold a run before its next exchange with a model.")
@_run
@options.state_dir
def pause(run: str | None, state_dir: Path | None) -> int:
    """Hold RUN (default: the newest) before its next exchange. The exchange under way ends first."""
    from state.inbox import WordKind

    folder = options.run_folder_of(run, state_dir)
    name = folder.name.rpartition("-")[2]
    done = f"run {folder.name} is held before its next exchange. Go on with: sq continue {name}"
    return _leave(folder, view_of(folder), WordKind.PAUSE, "", "", done, options.again(state_dir))


@click.command("continue", short_help="Let a paused run go on.")
@_run
@options.state_dir
def go_on(run: str | None, state_dir: Path | None) -> int:
    """Let RUN (default: the newest) go on after a pause."""
    from state.inbox import WordKind

    folder = options.run_folder_of(run, state_dir)
    done = f"run {folder.name} goes on"
    return _leave(folder, view_of(folder), WordKind.CONTINUE, "", "", done, options.again(state_dir))


def _at_most(words: tuple[str, ...], usage: str) -> tuple[str, ...]:
    if len(words) > _MOST:
        raise UsageError(
            f'{len(words)} arguments, and {_MOST} are the most: sq {usage} "…", the words in quotes'
        )
    return words


def _run_and_task(named: list[str], state_dir: Path | None) -> tuple[Path, str]:
    """Return the run's folder and the task. One name alone is a task of the newest run, or else a run."""
    if len(named) == 2:  # noqa: PLR2004  both
        return options.run_folder_of(named[0], state_dir), named[1]
    newest = options.run_folder_of(None, state_dir)
    if not named:
        return newest, ""
    if named[0] in (tasks := view_of(newest).tasks):
        return newest, named[0]
    try:
        return StateFolder(options.state_folder_of(state_dir)).find(named[0]), ""
    except UsageError:
        known = ", ".join(tasks) or "none yet"
        raise UsageError(
            f"{named[0]} is neither a run nor a task of the newest run (tasks: {known})"
        ) from None


def _leave(
    folder: Path, view: "RunView", kind: "WordKind", text: str, about: str, done: str, where: str
) -> int:
    """Leave a word for a run, and say what comes of it. `where`: the option that finds its state folder.

    Raises:
        UsageError: the run can do nothing with it.
    """
    from state.inbox import WordKind, answers_left, new_word, person, send
    from state.journal.store import is_active

    before = answers_left(folder) if kind is WordKind.ANSWER else {}
    send(folder, view, new_word(kind, person(f"sq {kind}"), text, about))
    done = f"{done}. It replaces the answer before" if about in before else done
    if view.ended or not is_active(folder):
        kept = f"nobody works on the run now: it is kept, and `sq resume {folder.name}{where}` uses it"
        done = f"{done}. {kept[0].upper()}{kept[1:]}" if kind is WordKind.ANSWER else kept
    say(done)
    return 0


@click.command("plan", short_help="Print the plan of a run, as a file that can be edited and built.")
@_run
@options.state_dir
def plan(run: str | None, state_dir: Path | None) -> int:
    """Print the plan of RUN (default: the newest), as `sq run --plan-only` writes it.

    `sq plan > plan.toml` keeps it. Edit it and have it built with `sq run --spec SPEC --plan plan.toml`.
    """
    from orchestrator.cli.runs.plans import plan_of

    view = view_of(options.run_folder_of(run, state_dir))
    say(*plan_of(view, "plan.toml").rstrip("\n").split("\n"))
    return 0


@click.command("approve", short_help="Approve the plan of a run that waits for it.")
@_run
@options.state_dir
def approve(run: str | None, state_dir: Path | None) -> int:
    """Approve the plan of RUN (default: the newest), which then is built. `sq plan RUN` shows it.

    If no process works on the run, the approval counts when `sq resume RUN` goes on with it.
    """
    from orchestrator.run.plan.approval import approve as leave
    from state.journal.store import is_active

    folder = options.run_folder_of(run, state_dir)
    view = view_of(folder)
    if not (view.settings and view.settings.approve):
        raise UsageError(f"run {folder.name} waits for no approval: it was begun without --approve")
    if view.plan.before.approved:
        say(f"the plan of run {folder.name} was approved before, by {view.plan.before.approved.by}")
        return 0
    if not view.tasks:
        raise UsageError(f"run {folder.name} has no plan yet, so look at it first: sq plan {folder.name}")
    leave(folder)
    again = options.again(state_dir)
    later = "it is built now" if is_active(folder) else f"go on with it: sq resume {folder.name}{again}"
    say(f"the plan of run {folder.name} is approved, {later}")
    return 0
