"""A night on an application whose suite takes minutes: what lands, and what its landing costs.

    python -m benchmarks.night [--short] [--part NAME …] [--project NAME] [--suite SECONDS] [--floor]

Real pytest with xdist (`-n auto`) and real `npm test` in two repositories that `night_projects` makes, with a
suite of so many seconds of processor time (Python's; Node's, whose runner takes the files one after another,
has a quarter) and packages from a registry on loopback. Four tasks are built at once by a scripted model, and
claim together. What ran is found from outside, from the processes that sq starts, ten times a second.

undisturbed: the Python project. `commands_ratio` are the seconds of all project commands of the run (set-up,
baseline and the whole included) by one suite, as the baseline took it, and by task. `setups` is how often an
environment was made: no task changes what it depends on. `suites_at_once` are commands that run tests.
`unexplained_share` is what the account of time calls sq itself.
alone: one task. `claim_to_review_ratio` is from its claim to the first request of its review, by one suite.
node: as undisturbed, of the Node project, whose suite uses one processor of two.
load: beside two busy processes. `unverified_for_time` are tasks that end unverified, and commands that timed
out.
deadline: five suites and a few seconds after the claims. `thrown_away_s` are those of commands that sq
ended before they had answered.
cuts: SIGINT, SIGTERM or kill -9 while a command of each kind runs, then `sq resume`. `cells_unlike` lack the
outcome and the merged files of a run that nothing disturbed, `baselines_twice` ran those of the base twice.
`interrupt_answer_s` is how long sq took at most to say what a signal ends. The suite takes six seconds there.
A cell whose kind of command never ran is not counted in `cells`, and is named. With `--project` they are
those of one project.

With NIGHT_COMMANDS in the environment each command is listed with its seconds.

The last line is JSON. `--short` is for a CI: a suite of three seconds, undisturbed, and one cell. Its ratios
may be three times as large.
"""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event, Thread
from typing import Any

import click

from benchmarks.figures import print_figures
from benchmarks.left_alone import PLAYED_SQ, claim, events_of, no_longer, of, writing
from benchmarks.night_projects import NODE, PYTHON, Project, registry
from benchmarks.rehearsed import agreeing, calls, commit, git, own_home, request_for
from orchestrator.views.models.lanes import TimeUse
from orchestrator.views.models.timeline import timeline
from orchestrator.views.run.story import RunStory
from state.journal.events import (
    BaselineStarted,
    BaselineTaken,
    CallEnded,
    CallStarted,
    CommandEnded,
    ProofsTaken,
    RunResumed,
    Stored,
    TaskUnverified,
    VerificationFinished,
    VerificationStarted,
)
from state.journal.events.tasks import Stage
from state.roles import Role

TASKS = ("one", "two", "three", "four")
SUITE_S, SHORT_S, SHORTEST_S, NODE_SHARE = 120.0, 6.0, 3.0, 0.25
_OF_SHORT = 3  # a suite of seconds is as short as the start of its runner, which all ratios contain then
_LOOK_S = 0.1
_RUN_LIMIT_S, _ANSWER_LIMIT_S = 5400.0, 10.0
_MARGIN_S = 20.0  # of a deadline, beside its suites: reviews and merges
SIGNALS = {"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM, "kill -9": signal.SIGKILL}
KINDS = ("baseline", "set-up", "verification", "proofs", "whole")
AT_LEAST = {"merged": 4, "node_merged": 4, "merged_under_load": 4, "merged_by_deadline": 2, "cells": 24}
AT_MOST = {
    "not_merged": 0,
    "commands_ratio": 2.5,
    "setups": 1,
    "suites_at_once": 1,
    "unexplained_share": 0.05,
    "claim_to_review_ratio": 2.5,
    "node_not_merged": 0,
    "node_commands_ratio": 2.5,
    "node_setups": 1,
    "unverified_for_time": 0,
    "thrown_away_s": 0,
    "cells_unlike": 0,
    "baselines_twice": 0,
    "interrupt_answer_s": 0.5,
}
_WAIT = "for i in $(seq 900); do [ $(ls {folder} | wc -l) -ge {count} ] && break; sleep 0.1; done"
Figures = dict[str, Any]


# --- what runs ----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Ran:
    """A command of the project that sq ran, as seen from outside, with times of `time.time()`."""

    command: str
    began: float
    ended: float

    @property
    def seconds(self) -> float:
        """How long it ran."""
        return self.ended - self.began


@dataclass(slots=True)
class Watched:
    """The project commands of a process of sq: those that run at this moment, and all that ended."""

    pid: int
    running: dict[int, Ran] = field(default_factory=dict)
    ended: list[Ran] = field(default_factory=list)

    def look(self) -> None:
        """Note the commands that run now. Each is a child of sq's with its shell line as the last word."""
        now, there = time.time(), _children(self.pid)
        for pid in there - {*self.running}:
            if (words := _words(pid))[-3:-1] == ["sh", "-c"]:
                self.running[pid] = Ran(command=words[-1], began=now, ended=now)
        for pid in {*self.running} - there:
            self.ended.append(self.running.pop(pid))
        for one in self.running.values():
            one.ended = now


def _children(pid: int) -> set[int]:
    found: set[int] = set()
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found.update(map(int, file.read_text().split()))
    return found


def _words(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace").split("\0")[:-1]
    except OSError:
        return []


@contextmanager
def watching(pid: int) -> Iterator[Watched]:
    """Look at the commands of a process of sq until the block ends."""
    found, over = Watched(pid), Event()

    def look() -> None:
        while not over.wait(_LOOK_S):
            found.look()

    thread = Thread(target=look, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()
        found.ended += found.running.values()


def most_at_once(ran: list[Ran]) -> int:
    """Return how many of these ran side by side at most, for longer than two looks."""
    changes = sorted(
        change
        for one in ran
        if one.seconds > 2 * _LOOK_S
        for change in ((one.began + _LOOK_S, 1), (one.ended - _LOOK_S, -1))
    )
    most = now = 0
    for _, step in changes:
        now += step
        most = max(most, now)
    return most


# --- runs ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """A run that is over: its project, its exit code, its events, its commands, the last of its output."""

    project: Project
    folder: Path
    code: int | None
    ran: list[Ran]
    said: str
    tasks: int

    @property
    def stored(self) -> list[Stored]:
        """Its events."""
        return events_of(self.folder)

    @property
    def story(self) -> RunStory:
        """Its fold."""
        story = RunStory()
        story.add_all(self.stored)
        return story

    @property
    def merged(self) -> int:
        """How many of its tasks were merged."""
        return sum(task.stage is Stage.MERGED for task in self.story.view.tasks.values())

    @property
    def suite_s(self) -> float:
        """Seconds of one suite, as the baseline took it, alone. NaN if there is none."""
        taken = of(self.stored, BaselineTaken)
        return sum(check.run.seconds for check in taken[0][1].checks) if taken else float("nan")


def made(folder: Path, project: Project, suite_s: float, address: str, tasks: tuple[str, ...]) -> list[str]:
    """Write a project and the model's words into a folder. Returns the arguments of its run."""
    repository, together = folder / "repository", folder / "together"
    for path, text in project.files(suite_s, address).items():
        file = repository / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    commit(repository)
    together.mkdir()
    callers = agreeing(*tasks)
    for task in tasks:
        # The claims come together: each waits, at most a minute and a half, until all have got so far.
        wait = f"touch {together}/{task}; {_WAIT.format(folder=together, count=len(tasks))}"
        work = [writing(path, text) for path, text in project.work(task).items()]
        callers[f"worker/{task}/*"] = [
            *work,
            calls("Bash", command=wait, timeout=100_000),
            claim(),
            claim(),
            claim(),
        ]
    spec = "# Words\n\n" + "".join(f"- `{task}` returns the value, a space and `{task}`.\n" for task in tasks)
    request = request_for(folder, callers, {}, spec=spec)
    return ["run", "--spec", str(request.spec), "--plain", "--rehearse", str(request.rehearse)]


@contextmanager
def begun(folder: Path, arguments: list[str]) -> Iterator[tuple["subprocess.Popen[str]", Watched]]:
    """Begin a process of sq in the repository of a folder, with its commands watched."""
    with (folder / "said.txt").open("a") as said:
        process = subprocess.Popen(
            [*PLAYED_SQ, *arguments],
            cwd=folder / "repository",
            stdout=said,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        with no_longer(process), watching(process.pid) as watched:
            yield process, watched


def whole(
    home: Path,
    project: Project,
    suite_s: float,
    address: str,
    *,
    tasks: tuple[str, ...] = TASKS,
    flags: tuple[str, ...] = (),
) -> Night:
    """Work on a run to its end."""
    folder = home / f"night-{len(list(home.glob('night-*')))}"
    folder.mkdir()
    arguments = made(folder, project, suite_s, address, tasks)
    with begun(folder, [*arguments, *flags]) as (process, watched):
        process.wait(timeout=_RUN_LIMIT_S)
    return over(folder, project, process.returncode, watched.ended, len(tasks))


def over(folder: Path, project: Project, code: int | None, ran: list[Ran], tasks: int) -> Night:
    """Return a run that is over, and say what its tasks ended with if it is not complete."""
    said = (folder / "said.txt").read_text("utf-8", "replace")
    night = Night(project=project, folder=folder, code=code, ran=ran, said=said, tasks=tasks)
    if "NIGHT_COMMANDS" in os.environ:
        for one in sorted(ran, key=lambda one: one.began):
            print(
                f"{one.began - ran[0].began:7.1f} {one.seconds:6.1f} s  {one.command[:180]}", file=sys.stderr
            )
    if code:
        print(f"{project.name}: exit code {code}\n{said[-1500:]}", file=sys.stderr)
    return night


def of_run(night: Night) -> Figures:
    """Return the figures of a run that nothing disturbed."""
    suites = [one for one in night.ran if night.project.is_suite(one.command)]
    seconds = sum(one.seconds for one in night.ran)
    story = night.story
    parts = timeline(story, datetime.now(UTC)).parts
    own = sum(part.seconds for part in parts if part.use is TimeUse.SQ)
    return {
        "merged": night.merged,
        "not_merged": night.tasks - night.merged,
        "suite_s": round(night.suite_s, 1),
        "commands_ratio": round(seconds / night.suite_s / night.tasks, 2),
        "commands": len(night.ran),
        "setups": sum(night.project.is_set_up(one.command) for one in night.ran),
        "set_up_share": round(
            sum(one.seconds for one in night.ran if night.project.is_set_up(one.command)) / (seconds or 1), 2
        ),
        "suites": len(suites),
        "suites_at_once": most_at_once(suites),
        "unexplained_share": round(own / (sum(part.seconds for part in parts) or 1), 3),
        "wall_s": round(sum(part.seconds for part in parts), 1),
    }


# --- parts --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a part measures with: a home, the registry's address, the seconds of a suite, and how short.

    `projects` are those whose runs are cut.
    """

    home: Path
    address: str
    suite_s: float
    short: bool
    projects: tuple[Project, ...] = (PYTHON, NODE)


def undisturbed(asked: Asked) -> Figures:
    """Four tasks in the Python project."""
    return of_run(whole(asked.home, PYTHON, asked.suite_s, asked.address))


def node(asked: Asked) -> Figures:
    """Four tasks in the Node project."""
    suite_s = max(asked.suite_s * NODE_SHARE, min(asked.suite_s, SHORT_S))
    return {
        f"node_{name}": value
        for name, value in of_run(whole(asked.home, NODE, suite_s, asked.address)).items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Alone:
    """Seconds of a run of one task: to its claim, from there to its review, of a suite, of its set-ups."""

    to_claim: float
    to_review: float
    suite: float
    set_up: float


_alone: dict[float, Alone] = {}  # by the seconds of the suite


def one_task(asked: Asked) -> Alone:
    """Measure a run of one task, once for each suite."""
    if asked.suite_s in _alone:
        return _alone[asked.suite_s]
    night = whole(asked.home, PYTHON, asked.suite_s, asked.address, tasks=TASKS[:1])
    stored, roles = night.stored, {key: one.started.role for key, one in night.story.view.calls.items()}
    turns = [one for one, event in of(stored, CallEnded) if roles[event.call_id] is Role.WORKER]
    reviews = [
        one
        for one, event in of(stored, CallStarted)
        if event.role is Role.REVIEWER and event.task_id in TASKS
    ]
    if not (turns and reviews):
        sys.exit(f"the task was not reviewed, so nothing was measured:\n{night.said[-1500:]}")
    claimed = [one.at for one in turns if one.seq < reviews[0].seq][-1]
    _alone[asked.suite_s] = Alone(
        to_claim=(claimed - stored[0].at).total_seconds(),
        to_review=(reviews[0].at - claimed).total_seconds(),
        suite=night.suite_s,
        set_up=sum(one.seconds for one in night.ran if PYTHON.is_set_up(one.command)),
    )
    return _alone[asked.suite_s]


def alone(asked: Asked) -> Figures:
    """One task, from its claim to its review."""
    one = one_task(asked)
    return {"claim_to_review_ratio": round(one.to_review / one.suite, 2)}


def load(asked: Asked) -> Figures:
    """Four tasks beside two busy processes."""
    busy = [sys.executable, "-c", "while True: pass"]
    with ExitStack() as stack:
        for _ in range(2):
            process = stack.enter_context(subprocess.Popen(busy))
            stack.callback(process.kill)
        night = whole(asked.home, PYTHON, asked.suite_s, asked.address)
    late = [one for _, done in of(night.stored, VerificationFinished) for one in done.runs if one.timed_out]
    ended = len(of(night.stored, TaskUnverified))
    return {"merged_under_load": night.merged, "unverified_for_time": ended + len(late)}


def deadline(asked: Asked) -> Figures:
    """Four tasks with a deadline that leaves room for two: five suites after their claims."""
    one = one_task(asked)
    # Before the claims there is what a single task needs, and for the others a set-up each, if each has one.
    seconds = one.to_claim + (len(TASKS) - 1) * one.set_up / 2 + 5 * one.suite + _MARGIN_S
    at = datetime.now(UTC) + timedelta(seconds=seconds)
    flags = ("--deadline", at.isoformat())
    night = whole(asked.home, PYTHON, asked.suite_s, asked.address, flags=flags)
    return {
        "merged_by_deadline": night.merged,
        "thrown_away_s": round(thrown_away(night.stored), 1),
        "late_s": round(max(0.0, (datetime.now(UTC) - at).total_seconds()), 1),
    }


def thrown_away(stored: list[Stored]) -> float:
    """Return the seconds of commands of the last process of sq that it ended before they had answered."""
    since = max((one.seq for one, _ in of(stored, RunResumed)), default=0)
    return sum(event.seconds for one, event in of(stored, CommandEnded) if event.cut_off and one.seq > since)


# --- cuts ---------------------------------------------------------------------------------------------------


def cuts(asked: Asked) -> Figures:
    """Cut runs of two tasks in each kind of command, in each way, and resume them. Short: one of one task."""
    every = [(project, kind, how) for project in asked.projects for kind in KINDS for how in SIGNALS]
    tasks = TASKS[: 1 if asked.short else 2]
    found, answers = Counter(cells=0, cells_unlike=0, baselines_twice=0), list[float]()
    for project, kind, how in [(PYTHON, "verification", "SIGINT")] if asked.short else every:
        if project.lacking:
            continue
        night = _cut(asked, project, kind, how, tasks, answers)
        if night is None:
            print(f"cut: {project.name}, {kind}, {how}: no such command ran", file=sys.stderr)
            continue
        taken = sum(
            not event.of_analysis and len(event.kept) < len(event.checks)
            for _, event in of(night.stored, BaselineTaken)
        )
        unlike = "; ".join(_unlike(night, tasks))
        found.update(cells=1, cells_unlike=bool(unlike), baselines_twice=taken > 1)
        told = f"{unlike or 'alike'}{', baseline twice' if taken > 1 else ''}"
        print(f"cut: {project.name:<7} {kind:<13} {how:<8} {told}", file=sys.stderr)
    return {**found, "interrupt_answer_s": round(max(answers, default=0.0), 2)}


def _unlike(night: Night, tasks: tuple[str, ...]) -> Iterator[str]:
    """Yield how a run did not end as one that nothing disturbs: code 0, all work on the user's branch."""
    if night.code:
        yield f"exit code {night.code}"
    there = git(night.folder / "repository", "ls-tree", "-r", "--name-only", "main").splitlines()
    if missing := {path for task in tasks for path in night.project.work(task)} - {*there}:
        yield f"without {', '.join(sorted(missing))}"


def _answered(said: Path, how: str) -> float:
    """Return how long sq took to say what it ends, at most ten seconds."""
    began = time.monotonic()
    while (took := time.monotonic() - began) < _ANSWER_LIMIT_S and f"sq: {how}: " not in said.read_text(
        "utf-8"
    ):
        time.sleep(_LOOK_S / 10)
    return took


def _cut(
    asked: Asked, project: Project, kind: str, how: str, tasks: tuple[str, ...], answers: list[float]
) -> Night | None:
    """Return a run that was cut while a command of this kind ran, and resumed, None if there was none."""
    folder = asked.home / f"cut-{project.name}-{kind}-{how.replace(' ', '')}"
    folder.mkdir()
    arguments = made(folder, project, min(asked.suite_s, SHORT_S), asked.address, tasks)
    is_cut = False
    with begun(folder, arguments) as (process, watched):
        while process.poll() is None and not is_cut:
            time.sleep(_LOOK_S)
            running = [*watched.running.values()]
            if running and kind_under_way(events_of(folder), project, running) == kind:
                time.sleep(3 * _LOOK_S)  # into the command
                if how == "kill -9":
                    process.kill()
                else:
                    os.killpg(process.pid, SIGNALS[how])
                    answers.append(_answered(folder / "said.txt", how))
                is_cut = True
        process.wait(timeout=_RUN_LIMIT_S)
    if not is_cut:
        return None
    code, ran = process.returncode, list(watched.ended)
    if code:
        with begun(folder, ["resume", "--plain"]) as (process, watched):
            process.wait(timeout=_RUN_LIMIT_S)
        code, ran = process.returncode, ran + watched.ended
    return over(folder, project, code, ran, len(tasks))


def kind_under_way(stored: list[Stored], project: Project, running: list[Ran]) -> str:
    """Return the kind of the command that runs, "" if it is none of the five."""
    if any(project.is_set_up(one.command) for one in running):
        return "set-up"
    if not any(project.is_suite(one.command) for one in running):
        return ""
    if not of(stored, BaselineTaken):
        return "baseline" if of(stored, BaselineStarted) else ""
    begun_ones = {event.tree: (one.seq, event.task_id) for one, event in of(stored, VerificationStarted)}
    ended = {event.tree: one.seq for one, event in of(stored, VerificationFinished)}
    proved = {event.tree for _, event in of(stored, ProofsTaken)}
    under_way = [task for tree, (seq, task) in begun_ones.items() if ended.get(tree, 0) < seq]
    if under_way:
        return "verification" if any(under_way) else "whole"
    after = [task for tree, (_, task) in begun_ones.items() if tree not in proved]
    if after:
        return "proofs" if any(after) else "whole"
    return ""


PARTS: Mapping[str, Callable[[Asked], Figures]] = {
    "undisturbed": undisturbed,
    "alone": alone,
    "node": node,
    "load": load,
    "deadline": deadline,
    "cuts": cuts,
}
_SHORT_PARTS = ("undisturbed", "cuts")


@click.command()
@click.option("--short", is_flag=True, help="A suite of three seconds, undisturbed, and one cell.")
@click.option(
    "--part", "parts", multiple=True, type=click.Choice(list(PARTS)), help="This one alone. Repeatable."
)
@click.option("--project", type=click.Choice([PYTHON.name, NODE.name]), help="Cut runs of this one alone.")
@click.option("--suite", type=float, help=f"Seconds of processor time of a suite, else {SUITE_S:g}.")
@click.option("--floor", is_flag=True, help="End with code 1 if a goal is missed.")
def main(short: bool, parts: tuple[str, ...], project: str | None, suite: float | None, floor: bool) -> None:
    """Measure a night."""
    figures: Figures = {}
    projects = tuple(one for one in (PYTHON, NODE) if project in {None, one.name})
    suite_s = suite or (SHORTEST_S if short else SUITE_S)
    # The Python of this benchmark, because shims of version managers need the user's home.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    for name in parts or (_SHORT_PARTS if short else PARTS):
        if name == "node" and NODE.lacking:
            print(f"node is left out: {', '.join(NODE.lacking)} is not installed", file=sys.stderr)
            continue
        began = time.monotonic()
        with registry() as (address, variables), own_home(**variables, PATH=path) as home:
            asked = Asked(home=home, address=address, suite_s=suite_s, short=short, projects=projects)
            figures |= PARTS[name](asked)
        print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr)
    low = [
        name
        for name, goal in AT_LEAST.items()
        if name in figures and figures[name] < (1 if short and name == "cells" else goal)
    ]
    most = {
        name: goal * (_OF_SHORT if short and name.endswith("ratio") else 1) for name, goal in AT_MOST.items()
    }
    high = [name for name, goal in most.items() if name in figures and not figures[name] <= goal]
    for name in (*low, *high):
        print(f"{name} misses its goal ({AT_LEAST.get(name, most.get(name))}): {figures[name]}")
    print_figures(figures)
    sys.exit(bool(floor and (low or high)))


if __name__ == "__main__":
    main()
