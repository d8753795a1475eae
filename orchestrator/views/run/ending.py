"""The state of a run below its story: the place of its work, its open checks, its sandbox, its cost."""

from collections.abc import Iterator
from pathlib import Path

from orchestrator.checks.objecting import CODE_BEFORE
from orchestrator.git.trees import holds_work
from orchestrator.views.words import git_sentence, short
from state.hidden import visible
from state.journal.events.tasks import UNMERGED_ENDS, Stage, TaskView
from state.journal.view import RunView
from state.records.objections import Weight
from state.settings.records import CommandNetwork
from state.verdicts import Source
from state.words import listed, not_run_words, sentences, strength_words

NETWORK_IS_OPEN = "sandbox.network is full: verification commands have the network of this machine"


def git_lines(view: RunView) -> list[str]:
    """Name the files that changed by which git runs programs."""
    return [git_sentence(view.checkout.changed_git)] if view.checkout.changed_git else []


def where_lines(view: RunView) -> list[str]:
    """Lines that name the place of a run's work."""
    if not view.started:
        return []
    where = []
    if view.checkout.delivered:
        where.append(
            f"where the work is: branch {view.checkout.delivered.branch} of {view.started.repository}"
        )
    elif view.checkout.left:
        where.append(f"where the work is: the checkout {view.started.repository}, uncommitted")
    elif view.checkout.kept and view.whole.tree:
        where.append(f"where the work is: branch {view.checkout.kept.branch} of {view.started.repository}")
    if view.checkout.pull_request:
        where.append(f"pull request: {view.checkout.pull_request.url}")
    unfinished = [
        f"unfinished work of {id_}{_how_far(view, task)} is in {task.place.worktree}{_also_on(task)}"
        for id_, task in view.tasks.items()
        if task.place.worktree and task.stage is not Stage.MERGED and _has_work(view, task)
    ]
    return where + unfinished


def retry_command(view: RunView) -> str:
    """The command that retries the tasks that ended unmerged for good, or "" if there are none."""
    if not view.started:
        return ""
    ended = [id_ for id_, task in view.tasks.items() if task.stage in UNMERGED_ENDS and not task.end.at_limit]
    retries = " ".join(f"--retry {id_}" for id_ in ended)
    return f"sq resume {view.started.run_id} {retries}" if ended else ""


def unchecked_lines(view: RunView) -> list[str]:
    """The checks of each task's newest claim, and of the merged work, that had no answer or prove nothing."""
    lines = []
    for id_, task in view.tasks.items():
        newest = task.open.checks[-1].results if task.open.checks else ()
        open_ = [one.consideration_id for one in newest if one.source is Source.NOT_CHECKED]
        if open_:
            lines.append(f"    {id_}: power steering: {len(open_)} of {len(newest)} checks: {listed(open_)}")
    for task_id, taken in {task_id: taken for (task_id, _), taken in view.evidence.proofs.items()}.items():
        of = task_id or "the merged work"
        silent = [one for one in taken.objections if one.weight is Weight.UNKNOWN or one.check == CODE_BEFORE]
        lines += [f"    {of}: {visible(one)}" for one in sentences(silent)]
    if view.baseline.not_run:
        lines.append(f"    {visible(not_run_words(view.baseline.not_run))}")
    return ["not checked:", *lines] if lines else []


def strength_lines(view: RunView) -> list[str]:
    """How many small changes in the merged work its tests notice."""
    whole = view.evidence.proofs.get(("", view.whole.tree))
    return [f"strength: {visible(one)}" for one in strength_words(whole.proofs if whole else ())]


def unheard_lines(view: RunView) -> list[str]:
    """The words of people to a run that has ended, if no agent has read them."""
    if not view.ended:
        return []
    return [
        f"not heard: no agent has read what {visible(word.by)} said to {word.task_id or 'all'}: "
        f"{short(visible(word.text))}"
        for word in view.unheard_words
    ]


def confinement_lines(view: RunView) -> list[str]:
    """Return the lines on the sandbox of a run, as it is now, and on what its project gives to agents."""
    given = (view.context.instructions, view.context.servers)
    return [*_confinement(view), *(line for event in given if event for line in event.lines)]


def _confinement(view: RunView) -> Iterator[str]:
    source = view.process.resumed or view.started
    if source is None or source.confined.sandbox is None:
        return
    held = source.confined.sandbox
    yield held.line
    if held.commands and view.settings and view.settings.sandbox.network is CommandNetwork.FULL:
        yield NETWORK_IS_OPEN
    if source.confined.key_exposed:
        yield source.confined.key_exposed


def lacking_lines(view: RunView) -> Iterator[str]:
    """Yield a line for each command that lacked something on the base, and each step not repeated."""
    for command, check in view.baseline.checks.items():
        if check.run.walled:
            yield f"in the sandbox `{command}` fails on the base and seems to lack {check.run.walled}"
    yield from (f"set-up: {line}" for line in view.evidence.not_again)


def _how_far(view: RunView, task: TaskView) -> str:
    """Return how far the work of a task got that has not ended, with the reason of its last refusal."""
    if task.stage is not Stage.BUILDING:
        return ""
    refused = [one.for_people.strip().partition("\n")[0] for one in task.open.refusals[-1:]]
    claimed = ["claimed to be complete, not verified"] if view.is_claimed(task.task.id) else []
    told = claimed or [f"its last claim was refused: {one}" for one in refused]
    return f" ({visible(told[0])})" if told else ""


def _also_on(task: TaskView) -> str:
    return f", and the same on branch {visible(task.claim.handed_over)}" if task.claim.handed_over else ""


def _has_work(view: RunView, task: TaskView) -> bool:
    """Whether a task's folder has work of it. In the checkout that is work of the last task begun."""
    later = any(
        one.place.worktree == task.place.worktree and one.place.begun > task.place.begun
        for one in view.tasks.values()
    )
    return not later and holds_work(Path(task.place.worktree), task.place.base_commit)
