"""Facts about a run that the prompts of several roles share."""

from collections.abc import Iterable
from dataclasses import replace

from orchestrator.checks.results.verdict import usable
from state.journal.events.tasks import TaskView
from state.journal.view import SPEC, RunView
from state.records.calls import Message
from state.records.commands import BaselineOutcome
from state.records.plan import Analysis, Task
from state.records.spec_check import in_a_line
from state.words import OTHER_FORM, baseline_words, decision_with_reason


def described(analysis: Analysis, *, commands: bool = True) -> str:
    """The analysis of a repository as agents read it. `commands`: with the verification commands it names."""
    lines = [
        f"Project: {analysis.project_type}" if analysis.project_type else "",
        *_listed("Stack", analysis.stack),
        *_listed("Entry points", analysis.entry_points),
        *_listed("Patterns", analysis.patterns),
        *(_listed("Verification commands", analysis.verification_commands) if commands else []),
    ]
    return "\n".join(line for line in lines if line) or "It is empty, or nothing is known about it."


def _listed(name: str, values: tuple[str, ...]) -> list[str]:
    if len(values) <= 1:
        return [f"{name}: {value}" for value in values]
    return [f"{name}:", *(f"- {value}" for value in values)]


def conventions(view: RunView) -> str:
    """What the analysis says of the repository, without its commands; empty if it says nothing."""
    known = view.plan.analysis
    if known is None or not (known.project_type or known.stack or known.entry_points or known.patterns):
        return ""
    return described(known, commands=False)


def decisions(view: RunView, task: TaskView | None = None) -> list[str]:
    """The answers that held, with their reasons: of this task's Workers, or of all, by task.

    One about the spec has the words of its lines: those who read it see no numbers of lines.
    """
    own = task.task.id if task else ""
    quotes = (
        {} if own else {one.given.question: in_a_line(one.given.quote) for one in view.plan.before.check.held}
    )
    found = []
    for task_id, answer in view.decided(own):
        quote = quotes.get(answer.question, "") if task_id == SPEC else ""
        about = f'{task_id} ("{quote}"): ' if quote else f"{task_id}: "
        found.append(("" if own else about) + decision_with_reason(answer))
    return found


def without_place(messages: Iterable[Message], task: TaskView) -> list[Message]:
    """The messages with paths as they are in the project, not in the task's worktree."""
    return [replace(one, text=one.text.replace(f"{task.place.worktree}/", "")) for one in messages]


def others(view: RunView, task: TaskView) -> list[Task]:
    """The other tasks of the plan."""
    return [one.task for one in view.tasks.values() if one.task.id != task.task.id]


def suggestions(view: RunView, task: TaskView | None = None) -> list[str]:
    """What reviews suggested so far: those of the plan and of this task, or of the whole run."""
    tasks = view.tasks.values() if task is None else [task]
    final = [] if task else [one for review in view.whole.reviews for one in review.suggestions]
    said = [*view.plan.suggestions, *(one for each in tasks for one in each.review.suggestions), *final]
    return list(dict.fromkeys(said))


def at_the_base(view: RunView) -> list[str]:
    """Each verification command with its result on the untouched commit, in a line, and those left out."""
    return [*map(baseline_words, view.baseline.checks.values()), *view.baseline.left_out]


def not_run(view: RunView) -> list[str]:
    """The commands and checks that sq does not run, each with the reason, in a line."""
    named = (f"`{command}`, which the analysis of the repository names" for command in view.baseline.not_run)
    dropped = (baseline_words(check) for check in view.baseline.checks.values() if not usable(check))
    return [*named, *view.baseline.left_out, *dropped]


def suites_not_run(view: RunView) -> list[str]:
    """Those of `not_run` that no Worker runs: sq runs their tests in another form, or they cannot run."""
    long = (BaselineOutcome.TOO_LONG, BaselineOutcome.MISSING)
    dropped = [baseline_words(one) for one in view.baseline.checks.values() if one.outcome in long]
    return [one for one in not_run(view) if one.endswith(OTHER_FORM) or one in dropped]


def minutes_of(view: RunView) -> int:
    """The whole minutes that all commands together took at the base."""
    return int(sum(check.run.seconds for check in view.baseline.checks.values()) // 60)


def verified_by(view: RunView) -> list[str]:
    """The commands of the newest baseline that give a result on this machine."""
    return [command for command, check in view.baseline.checks.items() if usable(check)]
