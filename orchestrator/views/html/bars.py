"""The kinds of bars in a timeline, and a lane in words for readers who do not see it."""

from orchestrator.views.durations import duration
from orchestrator.views.models.lanes import Timeline, TimelineLane
from state.roles import Role

_KINDS = (*map(str, Role), "merge")
COMMANDS = "commands"  # baseline, set-up, verification: run by sq itself


def bar_kind(what: str) -> str:
    """Return the class of a bar: a role, `merge`, or `commands` for all that sq runs itself."""
    first = what.split(" ", 1)[0]
    return first if first in _KINDS else COMMANDS


def bar_kinds(shown: Timeline) -> list[str]:
    """Return the kinds that a timeline has, for its legend."""
    found = {bar_kind(bar.what) for lane in shown.lanes for bar in lane.bars}
    return [kind for kind in (*_KINDS, COMMANDS) if kind in found]


def lane_words(lane: TimelineLane) -> str:
    """Return a lane as a sentence: its kinds of work, each with its number and time."""
    parts = []
    for kind in (*_KINDS, COMMANDS):
        bars = [bar for bar in lane.bars if bar_kind(bar.what) == kind]
        if bars:
            times = sum(bar.spans for bar in bars)
            parts.append(f"{kind} {times} times, {duration(sum(bar.seconds for bar in bars))}")
    return f"{lane.task_id or 'the whole'}: {'; '.join(parts) or 'nothing'}"
