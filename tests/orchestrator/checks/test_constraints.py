"""Whether a constraint of the plan holds, by the files and the commands that sq ran."""

from dataclasses import replace
from pathlib import Path

import pytest
from language.results import ran

from orchestrator.checks.constraints import computed
from state.records.commands import CommandRun
from state.records.plan import ConstraintKind, Criterion, CriterionKind
from state.records.work import WorkFacts


def constraint(kind: ConstraintKind, *names: str) -> Criterion:
    return Criterion(text="It stays", kind=CriterionKind.CONSTRAINT, constraint=kind, names=names)


FACTS = WorkFacts(
    added=("left-pad",),
    locked=("deep",),
    names_removed=("a.py: gone",),
    names_added=("a.py: new", "a.py: more"),
    unread=("setup.py",),
    paths=("a.py", "docs/x.md"),
)
NOTHING, ONLY_LOCKED, UNREAD = WorkFacts(), WorkFacts(locked=("deep",)), WorkFacts(unread=("setup.py",))
MYPY = ran(0, command="uv run mypy --strict src")
K = ConstraintKind


@pytest.mark.parametrize(
    ("one", "facts", "runs", "holds", "why"),
    [
        (constraint(K.DEPENDENCIES), NOTHING, (), True, "computed"),
        (constraint(K.DEPENDENCIES), FACTS, (), False, "left-pad"),
        (constraint(K.DEPENDENCIES, "Left_Pad"), FACTS, (), None, "setup.py could not be read"),
        (constraint(K.DEPENDENCIES), ONLY_LOCKED, (), False, "deep"),
        (constraint(K.DEPENDENCIES), UNREAD, (), None, "setup.py could not be read"),
        (constraint(K.PUBLIC_NAMES), NOTHING, (), True, "computed"),
        (constraint(K.PUBLIC_NAMES), FACTS, (), False, "a.py: gone"),
        (constraint(K.PUBLIC_NAMES, "gone"), FACTS, (), True, "computed"),
        (constraint(K.NEW_NAMES, "new()"), FACTS, (), False, "a.py: more"),
        (constraint(K.NEW_NAMES, "new", "a.py: more"), FACTS, (), True, "computed"),
        (constraint(K.UNTOUCHED, "docs"), FACTS, (), False, "docs/x.md"),
        (constraint(K.UNTOUCHED, "*.go"), FACTS, (), True, "computed"),
        (constraint(K.UNTOUCHED), FACTS, (), None, "names no file"),
        (constraint(K.COMMAND, "mypy --strict"), NOTHING, (MYPY,), True, "passed"),
        (constraint(K.COMMAND, "mypy"), NOTHING, (replace(MYPY, exit_code=1),), False, "exit code 1"),
        (constraint(K.COMMAND, "pyright"), NOTHING, (MYPY,), None, "no such command"),
        (constraint(K.COMMAND), NOTHING, (MYPY,), None, "no such command"),
    ],
)
def test_a_constraint_holds_by_the_files_and_the_commands_that_sq_ran(
    tmp_path: Path,
    one: Criterion,
    facts: WorkFacts,
    runs: tuple[CommandRun, ...],
    holds: bool | None,
    why: str,
) -> None:
    found = computed(one, facts, runs, tmp_path)
    assert found
    assert found.holds is holds
    assert why in found.why


def test_a_constraint_without_a_type_is_not_computed(tmp_path: Path) -> None:
    untyped = Criterion(text="It stays", kind=CriterionKind.CONSTRAINT)
    assert computed(untyped, FACTS, (), tmp_path) is None
