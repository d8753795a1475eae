"""Where a run is: a plain function of its view, used for decisions and for display alike."""

from collections.abc import Mapping
from enum import StrEnum

from state.journal.events.tasks import ENDED_STAGES, Stage, TaskView
from state.journal.view import RunView
from state.settings.presets import RETRY_LIMITS
from state.settings.records import ReviewDepth

_UNDER_WAY = frozenset({Stage.ACCEPTED, Stage.COMMITTED, Stage.APPROVED})  # and building in an open attempt
_REVIEWED_ONCE = frozenset({ReviewDepth.SHALLOW, ReviewDepth.STANDARD})


class Phase(StrEnum):
    """The next step of a run as a whole. `TASKS`: each task has a stage of its own."""

    BASELINE = "baseline"
    ANALYZE = "analyze"
    QUESTIONS = "questions"
    PLAN = "plan"
    APPROVAL = "approval"
    TASKS = "tasks"
    FINAL_REVIEW = "final review"
    BRING_HOME = "bring home"
    END = "end"


def phase_of(view: RunView) -> Phase:
    """Return the next step. At a limit, bringing the work home is the only step left.

    Before a deadline, verified work goes on to its merge first.
    """
    dry = bool(view.started and view.started.settings and view.started.settings.dry_run)
    if view.process.limit:
        lands = view.process.landing and not view.process.is_late
        if lands and any(map(can_land, view.tasks.values())):
            return Phase.TASKS
        return Phase.END if view.checkout.is_home or not view.tasks else Phase.BRING_HOME
    if _needs_baseline(view):
        return Phase.BASELINE
    if before := _before_the_work(view):
        return before
    if dry:
        return Phase.END
    if _has_moves(view):
        return Phase.TASKS
    if all(task.stage is Stage.MERGED for task in view.tasks.values()) and not _whole_is_judged(view):
        return Phase.FINAL_REVIEW
    return Phase.END if view.checkout.is_home else Phase.BRING_HOME


def _before_the_work(view: RunView) -> Phase | None:
    """Return the step that a run still has to do before its first task, None if that may begin."""
    settings = view.settings
    if view.plan.analysis is None:
        return Phase.ANALYZE
    if settings and settings.check_only:
        return Phase.END
    if view.plan.before.check.open and not view.tasks:
        return Phase.QUESTIONS
    if not view.tasks:
        return Phase.PLAN
    needs_approval = settings and settings.approve and not view.plan.before.approved
    return Phase.APPROVAL if needs_approval else None


def _has_moves(view: RunView) -> bool:
    """Whether a task can go on. In the checkout itself the work of a parked one keeps others waiting."""
    in_worktrees = bool(view.settings and view.settings.worktrees)
    held = not in_worktrees and any(map(is_parked, view.tasks.values()))
    return not held and bool(movable(view.tasks))


def _needs_baseline(view: RunView) -> bool:
    """Whether the commands have to be run on the base: at the start, and again by each process after it.

    Only commands whose environment has changed since, or without a passing test, are really run again. In the
    checkout itself the base is gone once agents have worked there. Work on its way home needs no baseline.
    """
    if view.settings and view.settings.check_only:
        return False
    if not view.baseline.seq:
        return True
    in_worktrees = bool(view.settings and view.settings.worktrees)
    to_do = view.plan.analysis is None or not view.tasks or bool(movable(view.tasks))
    return in_worktrees and to_do and view.baseline.seq < view.process.resumed_seq


def movable(tasks: Mapping[str, TaskView]) -> list[str]:
    """Return the tasks that can make progress: those under way, then those that may begin."""
    going_on = [id_ for id_, task in tasks.items() if is_under_way(task) and not is_parked(task)]
    return going_on + [id_ for id_ in tasks if may_begin(tasks, id_)]


def is_under_way(task: TaskView) -> bool:
    """Whether a task holds a place: it has begun, and has neither ended nor been sent back."""
    return task.stage in _UNDER_WAY or (task.stage is Stage.BUILDING and task.open.is_open)


def is_parked(task: TaskView) -> bool:
    """Whether a task waits for a person's answer. It holds no place meanwhile."""
    return task.stage is Stage.BUILDING and bool(task.open.waits)


def can_land(task: TaskView) -> bool:
    """Whether a task's claim is accepted, so that its work can be merged without its Worker."""
    return task.stage in _UNDER_WAY


def may_begin(tasks: Mapping[str, TaskView], task_id: str) -> bool:
    """Whether a task without a place may get one, for its first attempt or the next.

    A task that was sent back together with one that it depends on waits for that one. If that one has ended
    unmerged, it waits forever.
    """
    task = tasks[task_id]
    if is_under_way(task) or task.stage in ENDED_STAGES:
        return False
    return all(tasks[needed].stage is Stage.MERGED for needed in task.task.dependencies)


def _whole_is_judged(view: RunView) -> bool:
    reviewed = bool(view.whole.reviews) and not view.whole.merged_since_review
    return reviewed or saw_the_whole(view) or len(view.whole.unusable) >= RETRY_LIMITS.unusable_reports


def is_reviewed_once(view: RunView) -> bool:
    """Whether the review of the run's only task may stand for the final review.

    From review depth `deep` on, a second review takes place all the same.
    """
    if len(view.tasks) != 1 or view.whole.reviews or view.settings is None:
        return False
    return view.settings.effort.review_depth in _REVIEWED_ONCE


def saw_the_whole(view: RunView) -> bool:
    """Whether the review of the run's only task saw the whole as it is merged: it needs no second review.

    A word of a person that came during that review is for a second one, so that an agent reads it.
    """
    late = view.context.people.late
    if not is_reviewed_once(view) or any(word.word_id not in late for word in view.unheard_words):
        return False
    (task,) = view.tasks.values()
    return (
        task.stage is Stage.MERGED
        and task.review.commit == task.claim.commit
        and task.claim.committed_tree == view.whole.merged_tree
    )
