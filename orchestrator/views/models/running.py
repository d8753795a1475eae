"""The project's commands in words: while they run, while they wait, after they were cut off."""

from orchestrator.views.words import duration, short, time_of_day
from state.journal.events.evidence import CommandsView
from state.journal.events.tasks import ENDED_STAGES, Stage
from state.journal.view import RunView

_CHECKED = frozenset({"verification", "proofs"})  # what is done with a claim
_COMMAND = 60  # characters of a command


def running_words(view: RunView, one: CommandsView) -> str:
    """Return a command that runs: what for, which of how many, since when, how long it took at the base.

    Of some that have begun and of which none runs, the commands.
    """
    commands = ", ".join(f"`{short(command, _COMMAND)}`" for command in one.commands)
    since = f"since {time_of_day(one.at)}"
    if (told := one.started) is None:
        return f"{one.purpose} {since}: {commands}, none runs now"
    which = f" {told.nth} of {told.of}" if told.of > 1 else ""
    about = f" ({told.about})" if told.about else ""
    check, took = view.baseline.checks.get(told.command), view.evidence.took.get(told.command)
    before = f", {duration(check.run.seconds)} at the base" if check else ""
    before = before or (f", {duration(took)} the first time" if took else "")
    return f"{one.purpose}{which}{about} {since}{before}: {commands}"


def commands_words(view: RunView, task_id: str, *, active: bool = True) -> str:
    """Return which command runs for a task or is due and what runs meanwhile, "" if none. The whole is "".

    If no process works on the run (not `active`) it is what was cut off.
    """
    every = view.evidence.commands.values()
    own = [one for one in every if one.task_id == task_id]
    if not active:
        ended = not own or (task_id and view.tasks[task_id].stage in ENDED_STAGES)
        claimed = "claimed, " if is_claimed(view, task_id) else ""
        return "" if ended else f"{claimed}{own[-1].purpose} cut off"
    if not own or (running := [one for one in own if one.started]):
        return "; ".join(running_words(view, one) for one in (running if own else ()))
    other = next((f", while {running_words(view, one)}" for one in every if one.started), "")
    return f"{running_words(view, own[-1])}{other}"


def is_claimed(view: RunView, task_id: str) -> bool:
    """Whether a task's Worker claims to be done, and sq checks that, or began to."""
    of_a_claim = (
        one.task_id == task_id and one.purpose in _CHECKED for one in view.evidence.commands.values()
    )
    return task_id in view.tasks and view.tasks[task_id].stage is Stage.BUILDING and any(of_a_claim)
