"""Names that only the new tests set, with real runners."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from orchestrator.checks.answers import Answers
from orchestrator.checks.props import ask
from tests.orchestrator.checks.bench_by_hand import workshop

ROWS = yaml.safe_load(Path(__file__).with_name("props.yaml").read_text("utf-8"))


@pytest.mark.parametrize("name", [name for name in ROWS if not name.startswith("_")])
async def test_a_name_that_only_the_tests_set_is_told_if_they_fail_without_it(
    repository: Path, tmp_path: Path, name: str
) -> None:
    row: dict[str, Any] = ROWS[name]
    if not shutil.which(row["needs"]):
        pytest.skip(f"{row['needs']} is not installed")
    shop = workshop(repository, tmp_path / "places")
    base = shop.commit({"LICENSE": "Free.\n"})
    change = await shop.change(base, shop.commit(row["files"]), row["command"], spec=row.get("spec", ""))

    found = await ask(change, shop.bench, await shop.compared(change, row["command"]), Answers())

    assert [
        part for one in found.objections for part in one.parts if "test_" not in part and part != "mul"
    ] == row["only"]
