"""Whether a constraint of the plan holds, by the files and the commands that sq ran."""

from dataclasses import replace
from pathlib import Path

import pytest
from bench_by_hand import workshop
from language.results import ran

from orchestrator.checks.change import Change
from orchestrator.checks.of_files.constraints import ask, computed
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


LEGACY = {
    "legacy/a.py": "x = 1\n",
    "legacy/deep/b.sh": "echo\n",
    "src/old/c.py": "y = 1\n",
    "d.py": "z = 1\n",
}


@pytest.mark.parametrize(
    ("names", "work", "links", "broken"),
    [
        (["legacy"], {"legacy/a.py": "x = 2\n"}, {}, "legacy/a.py"),
        (["`./legacy/`"], {"legacy/a.py": None}, {}, "legacy/a.py"),
        (["legacy/*"], {"legacy/deep/b.sh": None, "legacy/deep/e.sh": "echo\n"}, {}, "legacy/deep/b.sh"),
        (["legacy"], {"legacy/a.py": None, "moved.py": "x = 1\n"}, {}, "legacy/a.py"),
        (["old"], {"src/old/c.py": "y = 2\n"}, {}, "src/old/c.py"),
        (["src"], {"src/old/new.py": ""}, {}, "src/old/new.py"),
        (["src/old"], {"d.py": "z = 2\n"}, {"src/old/link.py": "../../d.py"}, "src/old/link.py"),
        (["alias"], {"legacy/a.py": "x = 2\n"}, {"alias": "legacy"}, "alias"),
        (["d.py"], {"other/d.py": "z = 1\n"}, {}, ""),
        (["legacy"], {"src/legacy/x.py": "", "legacy.py": ""}, {}, ""),
        (["*.sh"], {"legacy/a.py": "x = 2\n"}, {}, ""),
    ],
)
async def test_files_stay_untouched_by_whichever_name_and_in_any_way(
    repository: Path,
    tmp_path: Path,
    names: list[str],
    work: dict[str, str | None],
    links: dict[str, str],
    broken: str,
) -> None:
    shop = workshop(repository, tmp_path)
    base = shop.commit(LEGACY)
    change = Change(
        repository=repository,
        base=base,
        tree=shop.commit(work, links),
        criteria=(constraint(K.UNTOUCHED, *names),),
    )

    found = (await ask(change)).objections

    assert [broken in one.words for one in found] == [True] * bool(broken)


async def test_a_file_of_another_mode_is_touched(repository: Path, tmp_path: Path) -> None:
    shop = workshop(repository, tmp_path)
    base = shop.commit(LEGACY)
    (repository / "legacy/deep/b.sh").chmod(0o755)
    tree = shop.commit({})
    change = Change(
        repository=repository, base=base, tree=tree, criteria=(constraint(K.UNTOUCHED, "legacy"),)
    )

    assert (await ask(change)).objections
