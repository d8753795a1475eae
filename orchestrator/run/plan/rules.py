"""The rules that a plan has to keep, whoever made it: a Planner, or a person in a file."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from state.records.plan import Plan, Task
from state.records.spec_check import plain

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_QUOTE_WORDS = 3  # a shorter text stands in any spec
_TAKEN = {"run", "final", "plan", "analysis", "work"}  # folders, callers and refs that sq needs itself


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanProblem:
    """Something that keeps a plan from being built, and its place: the entry of `list_name` and its `key`."""

    text: str
    list_name: str = ""
    index: int = 0
    key: str = ""


TASKS, CRITERIA, TESTS, READINGS = "tasks", "criteria", "tests_that_change", "readings"


def problems_of(proposed: Plan, spec: str) -> list[PlanProblem]:
    """Return what keeps a plan from being built: empty for a plan that holds."""
    if not proposed.tasks:
        return [PlanProblem(text="the plan has no tasks")]
    return [*_of_tasks(proposed.tasks), *_of_criteria(proposed), *lines_not_in(spec, proposed)]


def lines_not_in(spec: str, proposed: Plan) -> Iterator[PlanProblem]:
    """Yield the entries whose line is not in the spec. White space and list signs do not count."""
    lines = {plain(line) for line in spec.splitlines()}
    whole = plain(spec)
    named = [
        (f"`tests_that_change` names {one.test!r}", one.line, TESTS, index, "line")
        for index, one in enumerate(proposed.tests_that_change)
    ]
    named += [
        (f"`without_tests` of task {one.id} is named", one.without_tests, TASKS, index, "without_tests")
        for index, one in enumerate(proposed.tasks)
    ]
    named += [
        (f"`readings` has {one.kind!r}", one.line, READINGS, index, "line")
        for index, one in enumerate(proposed.readings)
    ]
    for what, line, list_name, index, key in named:
        if line and not (plain(line) in lines or _is_quote(plain(line), whole)):
            text = f"{what} with a line that the spec does not hold: {line!r}"
            yield PlanProblem(text=text, list_name=list_name, index=index, key=key)


def _is_quote(line: str, spec: str) -> bool:
    """Whether a text stands in the spec and is more than a word or two of it."""
    return len(line.split()) >= _QUOTE_WORDS and line in spec


def _of_tasks(tasks: Sequence[Task]) -> Iterator[PlanProblem]:
    last = {task.id: index for index, task in enumerate(tasks)}  # of equal ids the last one is wrong
    for id_, text in _of_ids([task.id for task in tasks]):
        yield PlanProblem(text=text, list_name=TASKS, index=last[id_], key="id")
    for index, task in enumerate(tasks):
        for needed in task.dependencies:
            if needed not in last:
                text = f"task {task.id} depends on {needed!r}, which is no task of the plan"
                yield PlanProblem(text=text, list_name=TASKS, index=index, key="dependencies")
    if cycle := _cycle({task.id: task.dependencies for task in tasks}):
        text = f"the dependencies form a cycle: {' → '.join(cycle)}"
        yield PlanProblem(text=text, list_name=TASKS, index=last.get(cycle[0], 0), key="dependencies")


def _of_ids(ids: Sequence[str]) -> Iterator[tuple[str, str]]:
    known = dict.fromkeys(ids)
    for id_, count in Counter(ids).items():
        if count > 1:
            yield id_, f"task id {id_!r} is used {count} times"
    yield from (
        (id_, f"task id {id_!r} is not letters, digits and dashes") for id_ in known if not _ID.fullmatch(id_)
    )
    yield from (
        (id_, f"task id {id_!r} is one that sq needs itself") for id_ in known if id_.lower() in _TAKEN
    )
    for folded in dict.fromkeys(id_.lower() for id_ in known):
        same = [id_ for id_ in known if id_.lower() == folded]
        if len(same) > 1:
            yield same[-1], f"{len(same)} task ids differ from {folded!r} in case only"


def _of_criteria(proposed: Plan) -> Iterator[PlanProblem]:
    known = {task.id for task in proposed.tasks}
    if not proposed.criteria:
        yield PlanProblem(text="the plan lists no criteria of the spec, so nobody can see what it covers")
    for index, criterion in enumerate(proposed.criteria):
        texts = [] if criterion.task_ids else [f"no task covers the criterion {criterion.text!r}"]
        texts += [
            f"the criterion {criterion.text!r} names {id_!r}, which is no task of the plan"
            for id_ in criterion.task_ids
            if id_ not in known
        ]
        for text in texts:
            yield PlanProblem(text=text, list_name=CRITERIA, index=index, key="task_ids")


def _cycle(dependencies: Mapping[str, tuple[str, ...]]) -> list[str]:
    try:
        TopologicalSorter(dependencies).prepare()
    except CycleError as error:
        return [str(id_) for id_ in reversed(error.args[1])]
    return []
