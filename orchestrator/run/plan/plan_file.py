"""A plan as a file that a person reads and edits: written from a plan, read, and checked like a Planner's.

Tasks are named by short words, and nothing in the file has to be kept in step with anything but those names.
The last line tells whether a person has edited the file since sq wrote it.
"""

import hashlib
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import msgspec

from orchestrator.run.plan.answers import answer_lines, answers_in
from orchestrator.run.plan.quotes import UNPLACED, holds, place_of, placed
from orchestrator.run.plan.rules import CRITERIA, TASKS, TESTS, PlanProblem, problems_of
from orchestrator.run.plan.toml_text import LineNumbers, comment, list_value, text_value
from state.errors import UsageError
from state.records.plan import (
    ConstraintKind,
    Criterion,
    CriterionKind,
    Plan,
    Reading,
    ReadingKind,
    Task,
    TestThatChanges,
)
from state.records.spec_check import SpecAnswer

_HEAD = """\
The plan of {spec}. Change it as you like, then have it built:

    sq run --spec {spec} --plan {file}

The `name` of a task is how `after` (the tasks that it needs) and `tasks` of a criterion name it.
A reviewer checks `done_when`. `turns` is an estimate of how long a builder works. A `quote` stands
in the spec word for word, while `words` are the Planner's own. sq checks your changes as it checks
those of its Planner, and names the line of what it cannot use."""
_REVIEWED = """\
Whether a review of the plan has passed. If you have read the plan yourself, you may write `true`:
only then may the tests below change without a question to you at the end."""
_MARK = "# By this sum sq knows whether the file was edited: "
_TABLES = {TASKS: "task", CRITERIA: "criterion", TESTS: "test_that_changes"}
_KEYS = {"id": "name", "dependencies": "after", "task_ids": "tasks"}
_PLACE = re.compile(r"\$(?:\.(\w+)\[(\d+)\])?(?:\.(\w+))?")
_UNKNOWN = re.compile(r"unknown field `(\w+)`")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanContents:
    """A plan with its review, and the answers about the spec with which it was made."""

    plan: Plan
    reviewed: bool = False
    suggestions: tuple[str, ...] = ()
    decisions: tuple[SpecAnswer, ...] = ()


class _TaskTable(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    title: str
    description: str = ""
    done_when: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    turns: int = 1
    without_tests: str = ""


class _CriterionTable(msgspec.Struct, forbid_unknown_fields=True):
    text: str
    tasks: tuple[str, ...]
    quote: str = ""
    words: str = ""
    kind: CriterionKind = CriterionKind.BEHAVIOUR
    constraint: ConstraintKind | None = None
    names: tuple[str, ...] = ()
    stays: bool = False
    lines: tuple[int, int] = UNPLACED


class _TestTable(msgspec.Struct, forbid_unknown_fields=True):
    test: str
    line: str = ""


class _ReadingTable(msgspec.Struct, forbid_unknown_fields=True):
    kind: ReadingKind
    line: str
    names: tuple[str, ...] = ()


class _File(msgspec.Struct, forbid_unknown_fields=True):
    task: tuple[_TaskTable, ...] = ()
    criterion: tuple[_CriterionTable, ...] = ()
    test_that_changes: tuple[_TestTable, ...] = ()
    reading: tuple[_ReadingTable, ...] = ()
    decision: tuple[dict[str, str], ...] = ()
    reviewed: bool = False
    suggestions: tuple[str, ...] = ()


def plan_text(contents: PlanContents, spec: str, *, spec_name: str, file_name: str, notes: list[str]) -> str:
    """Return the file.

    Args:
        contents: what it says.
        spec: the text of the spec, whose lines stand beside the criteria.
        spec_name: how a command names the spec.
        file_name: how a command names the file.
        notes: lines for people, such as the forecast.
    """
    lines = [comment(_HEAD.format(spec=spec_name, file=file_name)), *map(comment, ["\n", *notes]), ""]
    lines += [comment(_REVIEWED), f"reviewed = {str(contents.reviewed).lower()}"]
    if contents.suggestions:
        lines += ["", comment("Remarks of the review, which builders read too.")]
        lines.append(f"suggestions = {list_value(contents.suggestions)}")
    for task in contents.plan.tasks:
        lines += ["", *_task(task)]
    for criterion in contents.plan.criteria:
        lines += ["", *_criterion(criterion, spec)]
    for test in contents.plan.tests_that_change:
        lines += ["", comment("A test that has to change, and the line of the spec that asks for it.")]
        lines += [
            "[[test_that_changes]]",
            f"test = {text_value(test.test)}",
            f"line = {text_value(test.line)}",
        ]
    for reading in contents.plan.readings:
        lines += ["", comment("What a line of the spec says beside the criteria.")]
        lines += ["[[reading]]", f"kind = {text_value(reading.kind)}", f"line = {text_value(reading.line)}"]
        lines += [f"names = {list_value(reading.names)}"] if reading.names else []
    for one in contents.decisions:
        lines += ["", comment("A question about the spec, answered before this plan was made.")]
        lines += answer_lines("decision", one)[:-1]
    text = "\n".join(lines) + "\n\n"
    return f"{text}{_MARK}{_checksum(text)}\n"


def _task(task: Task) -> Iterator[str]:
    yield "[[task]]"
    yield f"name = {text_value(task.id)}"
    yield f"title = {text_value(task.title)}"
    yield f"description = {text_value(task.description)}"
    yield f"done_when = {list_value(task.acceptance_criteria)}"
    yield f"after = {list_value(task.dependencies)}"
    yield f"turns = {task.estimated_iterations}"
    if task.without_tests:
        yield f"without_tests = {text_value(task.without_tests)}"


def _criterion(criterion: Criterion, spec: str) -> Iterator[str]:
    first, last = criterion.spec_lines
    for number, line in enumerate(spec.split("\n")[max(0, first - 1) : last], start=first):
        yield comment(f"line {number} of the spec: {line.strip()}")
    if not criterion.is_placed:
        yield comment("sq does not find these words in the spec")
    yield "[[criterion]]"
    yield f"text = {text_value(criterion.text)}"
    if criterion.quote:
        key = "quote" if holds(spec, criterion.quote) else "words"
        yield f"{key} = {text_value(criterion.quote)}"
    yield f"tasks = {list_value(criterion.task_ids)}"
    yield f"kind = {text_value(criterion.kind)}"
    if criterion.constraint:
        yield f"constraint = {text_value(criterion.constraint)}"
    if criterion.names:
        yield f"names = {list_value(criterion.names)}"
    if criterion.stays:
        yield "stays = true"
    if place_of(spec, criterion.quote or criterion.text) != criterion.spec_lines:
        yield f"lines = [{first}, {last}]"


def is_edited(text: str) -> bool:
    """Whether the text of a file is not as sq wrote it."""
    body, _, mark = text.rpartition(_MARK)
    return mark.strip() != _checksum(body)


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def read_plan(file: Path, spec: str) -> PlanContents:
    """Return the plan in a file, checked as a Planner's is.

    Raises:
        UsageError: it cannot be built. Each problem is named with its line and what to do.
    """
    try:
        text = file.read_text("utf-8")
    except FileNotFoundError:
        raise UsageError(f"--plan {file}: there is no such file. `sq run --plan-only` writes one") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--plan {file}: cannot be read: {error}") from error
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"--plan {file}: {error}. Correct this line: the file is TOML") from error
    lines = LineNumbers(text)
    try:
        found = msgspec.convert(read, _File)
        decisions = answers_in(found.decision, lines, "decision")
    except msgspec.ValidationError as error:
        raise UsageError(f"--plan {file}: {_shape_problem(str(error), lines)}") from error
    except ValueError as error:
        raise UsageError(f"--plan {file}: {error}") from error
    contents = PlanContents(
        plan=_plan_in(found, spec),
        reviewed=found.reviewed,
        suggestions=found.suggestions,
        decisions=decisions,
    )
    problems = [*problems_of(contents.plan, spec), *_wrong_quotes(found, spec)]
    if problems:
        told = "".join(f"\n  {_told(problem, lines)}" for problem in problems)
        raise UsageError(f"--plan {file} cannot be built. Correct it and begin again:{told}")
    return contents


def _wrong_quotes(found: _File, spec: str) -> Iterator[PlanProblem]:
    """Yield the quotes that the spec does not hold. A Planner's `words` from memory are none."""
    for index, one in enumerate(found.criterion):
        if not holds(spec, one.quote):
            text = f"the spec does not hold the quote {one.quote!r}: use its words, or leave `quote` out"
            yield PlanProblem(text=text, list_name=CRITERIA, index=index, key="quote")


def _plan_in(found: _File, spec: str) -> Plan:
    tasks = tuple(
        Task(
            id=one.name,
            title=one.title,
            description=one.description,
            acceptance_criteria=one.done_when,
            dependencies=one.after,
            estimated_iterations=one.turns,
            without_tests=one.without_tests,
        )
        for one in found.task
    )
    criteria = tuple(
        Criterion(
            text=one.text,
            task_ids=one.tasks,
            quote=one.quote or one.words,
            spec_lines=one.lines,
            kind=one.kind,
            constraint=one.constraint,
            names=one.names,
            stays=one.stays,
        )
        for one in found.criterion
    )
    tests = tuple(TestThatChanges(test=one.test, line=one.line) for one in found.test_that_changes)
    readings = tuple(Reading(kind=one.kind, line=one.line, names=one.names) for one in found.reading)
    return placed(Plan(tasks=tasks, criteria=criteria, tests_that_change=tests, readings=readings), spec)


def _told(problem: PlanProblem, lines: LineNumbers) -> str:
    if not problem.list_name:
        return problem.text
    key = _KEYS.get(problem.key, problem.key)
    return f"line {lines.of(_TABLES[problem.list_name], problem.index, key)}: {problem.text}"


def _shape_problem(said: str, lines: LineNumbers) -> str:
    """Return why a file has not the shape of a plan, with the line, from the words of the library."""
    what, _, path = said.partition(" - at `")
    place = _PLACE.match(path)
    table, index, key = place.groups() if place else (None, None, None)
    if unknown := _UNKNOWN.search(what):
        key = unknown[1]
        struct = {"task": _TaskTable, "criterion": _CriterionTable, "test_that_changes": _TestTable}
        known = struct.get(table or "", _File).__struct_fields__
        near = get_close_matches(key, known, n=1)
        hint = f"do you mean `{near[0]}`?" if near else f"known are {', '.join(known)}"
        what = f"`{key}` is no key here: {hint}"
    line = lines.of(table or "", int(index or 0), key or "")
    return f"line {line}: {what}" + (f" (`{key}`)" if key and not unknown else "")
