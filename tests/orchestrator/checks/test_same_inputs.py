"""Functions that are called with the same inputs before and after, by real programs."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from orchestrator.checks.answers import Answers
from orchestrator.checks.objecting import SAME_INPUTS, other_results_than_before
from orchestrator.checks.of_work.same_inputs import ask
from orchestrator.checks.outcome import gaps, unheard
from orchestrator.run.evidence.objections import policy_of
from state.records.objections import Objection, Weight
from state.records.plan import Criterion, Reading, ReadingKind
from state.settings.presets import efforts
from tests.orchestrator.checks.bench_by_hand import workshop

ROWS = yaml.safe_load(Path(__file__).with_name("same_inputs.yaml").read_text("utf-8"))
COMMAND = "true"


@pytest.mark.parametrize("name", [name for name in ROWS if not name.startswith("_")])
async def test_a_function_that_gives_other_results_for_the_same_inputs_is_told(
    repository: Path, tmp_path: Path, name: str
) -> None:
    row: dict[str, Any] = ROWS[name]
    if not shutil.which(row["needs"]):
        pytest.skip(f"{row['needs']} is not installed")
    shop = workshop(repository, tmp_path / "places")
    tests = {row.get("test_file", "test_calc.py"): row["test"]} if "test" in row else {}
    base = shop.commit({row["file"]: row["before"], **row.get("more", {}), **tests})
    tree = shop.commit({row["file"]: row["after"]})
    criteria = [Criterion(text=one) for one in row.get("wants", ())]
    criteria += [Criterion(text=row["stays"], stays=True)] if "stays" in row else []
    readings = tuple(
        Reading(kind=ReadingKind(kind), line=function, names=(function,))
        for function, kind in row.get("reads", {}).items()
    )
    change = await shop.change(
        base, tree, COMMAND, criteria=tuple(criteria), readings=readings, spec=row.get("spec", "")
    )

    found = await ask(change, shop.bench, await shop.compared(change, COMMAND), Answers())

    assert {one.check for one in found.objections} <= {SAME_INPUTS}
    told = {one.subject.partition(": ")[2]: one.weight.value for one in found.objections if one.place}
    assert told == row.get("told", {}), [one.words for one in found.objections]
    silent = "".join(one.words for one in found.objections if one.weight is Weight.UNKNOWN)
    for function, why in row.get("left", {}).items():
        assert f"{row['file']}: {function} ({why}" in silent.replace("it ", ""), silent
    assert bool(silent) is bool(row.get("left"))


def test_a_builder_hears_of_a_function_that_nothing_names_beside_others_and_it_costs_no_code_0() -> None:
    one = other_results_than_before(
        "calc.py: f", "calc.py:1", ["`f(1)`: before `1`, now `2`"], Weight.NOTE, ""
    )
    policy = policy_of(efforts()["medium"])
    other = Objection(check="stubs", weight=Weight.ONCE, subject="calc.py: g", words="it does nothing")
    assert unheard([one], (), policy) == []
    assert unheard([one, other], (), policy) == [other, one]
    assert unheard([one, other], {SAME_INPUTS}, policy) == [other]
    assert gaps([one], (), policy) == []


def test_a_builder_hears_of_a_function_that_has_to_stay_and_it_costs_code_0() -> None:
    one = other_results_than_before(
        "calc.py: f", "calc.py:1", ["`f(1)`: before `1`, now `2`"], Weight.ONCE, "the plan says that it stays"
    )
    policy = policy_of(efforts()["medium"])
    assert unheard([one], (), policy) == gaps([one], (), policy) == [one]
