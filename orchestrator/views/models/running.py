"""The project's commands in words: while they run, while they wait, after they were cut off."""

from collections.abc import Iterator

from orchestrator.views.words import duration, short, subject_of, time_of_day
from state.journal.events.evidence import WAITS, CommandsView
from state.journal.events.tasks import ENDED_STAGES
from state.journal.view import RunView
from state.words import listed

_COMMAND = 60  # characters of a command


def running_words(view: RunView, one: CommandsView) -> str:
    """Return a command that runs: what for, which of how many, since when, how long it took at the base.

    Of some that have begun and of which none runs, the commands.
    """
    commands = ", ".join(f"`{short(command, _COMMAND)}`" for command in one.commands)
    since = f"since {time_of_day(one.at)}"
    if one.is_cut:
        return f"{one.purpose} cut off: {commands}"
    if (told := one.started) is None:
        return f"{'waits for its turn' if one.purpose == WAITS else one.purpose} {since}: {commands}"
    which = f" {told.nth} of {told.of}" if told.of > 1 and not told.part else ""
    about = f" ({told.about})" if told.about else ""
    check, took = view.baseline.checks.get(told.command), view.evidence.took.get(told.command)
    before = f", {duration(check.run.seconds)} at the base" if check else ""
    before = before or (f", {duration(took)} the first time" if took else "")
    part = "some tests of " if told.part else ""
    return f"{one.purpose}{which}{about} {since}{'' if part else before}: {part}{commands}"


def commands_words(view: RunView, task_id: str, *, active: bool = True) -> str:
    """Return which command runs for a task or is due and what runs meanwhile, "" if none. The whole is "".

    A claim may wait for the commands of others. If no process works on the run (not `active`) it is what was
    cut off.
    """
    every = view.evidence.commands.values()
    own = [one for one in every if one.task_id == task_id]
    if not active:
        if task_id and view.tasks[task_id].stage in ENDED_STAGES:
            return ""
        claimed = "claimed, " if view.is_claimed(task_id) else ""
        not_checked = f"{claimed}not checked yet" if claimed and not view.is_checked(task_id) else ""
        return f"{claimed}{own[-1].purpose} cut off" if own else not_checked
    if not own:
        return _claim_waits(view, task_id)
    if running := [one for one in own if one.started]:
        return "; ".join(running_words(view, one) for one in running)
    waits = own[-1].purpose == WAITS
    other = next((f", behind {running_words(view, one)}" for one in every if one.started and waits), "")
    return f"{running_words(view, own[-1])}{other}"


def _claim_waits(view: RunView, task_id: str) -> str:
    """Return for whose commands a claim waits that is not checked yet, and since when, or ""."""
    if not view.is_claimed(task_id) or view.is_checked(task_id):
        return ""
    running = (one.task_id for one in view.evidence.commands.values() if one.started)
    others = dict.fromkeys([*running, *filter(view.is_checked, view.tasks)])
    since = view.tasks[task_id].open.claimed_at
    if not others or since is None:
        return ""
    named = listed(subject_of(one) for one in others)
    return f"claimed, waits for the commands of {named} since {time_of_day(since)}"


def waited_for(view: RunView) -> Iterator[str]:
    """Yield the words of each subject with commands that run or are due, those of all that wait in one."""
    waiting = []
    for task_id in dict.fromkeys(one.task_id for one in view.evidence.commands.values()):
        own = [one for one in view.evidence.commands.values() if one.task_id == task_id]
        if all(one.is_cut for one in own):
            continue
        if own[-1].purpose == WAITS and not any(one.started for one in own):
            waiting.append(f"{subject_of(task_id)} since {time_of_day(own[-1].at)}")
        else:
            yield f"{subject_of(task_id)}: {commands_words(view, task_id)}"
    if waiting:
        yield f"{', '.join(waiting)} for a turn"
