"""Small changes in the work, noticed by its tests or not, with real runners."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from orchestrator.checks.answers import Answers
from orchestrator.checks.of_work.strength import applies, ask
from orchestrator.checks.outcome import Policy, gaps, unheard
from orchestrator.project.functions.small_changes import Operator, small_changes
from state.records.commands import WithoutWork
from state.records.objections import STRENGTH, Weight
from tests.orchestrator.checks.bench_by_hand import workshop

ROWS = yaml.safe_load(Path(__file__).with_name("strength.yaml").read_text("utf-8"))


@pytest.mark.parametrize("name", [name for name in ROWS if not name.startswith("_")])
async def test_each_small_change_is_noticed_or_told(repository: Path, tmp_path: Path, name: str) -> None:
    row: dict[str, Any] = ROWS[name]
    if not shutil.which(row["needs"]):
        pytest.skip(f"{row['needs']} is not installed")
    shop = workshop(repository, tmp_path / "places")
    base = shop.commit({"LICENSE": "Free.\n", **row.get("base", {})})
    change = await shop.change(base, shop.commit(row["files"]), row["command"])
    compared = await shop.compared(change, row["command"])
    needed = WithoutWork(command=row["command"], needed=True, failing=tuple(compared.now.count.tests))
    known = Answers(without_work=(needed,))

    assert applies(change, shop.bench, compared, known)
    found = await ask(change, shop.bench, compared, known)

    (proof,) = found.proofs
    assert [one.partition(": ")[2] for one in proof.missed] == row["missed"]
    assert len(proof.small) == row["noticed"]
    assert [one.weight for one in found.objections] == [Weight.NOTE] * bool(row["missed"])
    for one in found.objections:
        assert all(words in one.sentence for words in proof.missed)
        assert unheard([one], [], Policy(heard_notes=frozenset({STRENGTH}))) == [one]
        assert unheard([one], [STRENGTH], Policy(heard_notes=frozenset({STRENGTH}))) == []
        assert gaps([one], found.proofs, Policy()) == []
        weak = len(proof.missed) > len(proof.small)
        assert gaps([one], found.proofs, Policy(least_strength=0.5)) == ([one] if weak else [])


async def test_tests_that_do_not_need_the_work_are_not_asked(repository: Path, tmp_path: Path) -> None:
    row = ROWS["each case has a test"]
    shop = workshop(repository, tmp_path / "places")
    base = shop.commit({"LICENSE": "Free.\n"})
    change = await shop.change(base, shop.commit(row["files"]), row["command"])
    compared = await shop.compared(change, row["command"])
    unneeded = WithoutWork(command=row["command"], needed=False)
    other = WithoutWork(command="make test", needed=True, failing=("test_mul.py::test_mul",))

    assert not applies(change, shop.bench, compared, Answers())
    assert not applies(change, shop.bench, compared, Answers(without_work=(unneeded, other)))


def test_a_small_change_has_its_operator() -> None:
    source = b"def f(a, b):\n    if a == b:\n        log(a)\n    return a < b\n"
    found = {one.words: one.operator for one in small_changes("a.py", source, range(1, 5))}
    assert found == {
        "a.py:2: a == b → not (a == b)": Operator.NEGATED,
        "a.py:2: == → !=": Operator.NEGATED,
        "a.py:3: log(a) → if False: log(a)": Operator.DROPPED,
        "a.py:4: < → <=": Operator.SHIFTED,
    }
