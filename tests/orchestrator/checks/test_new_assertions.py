"""New assertions by which no test decides, with real runners."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from orchestrator.checks.answers import Answers
from orchestrator.checks.of_tests.new_assertions import ask
from tests.orchestrator.checks.bench_by_hand import workshop

ROWS = yaml.safe_load(Path(__file__).with_name("new_assertions.yaml").read_text("utf-8"))


@pytest.mark.parametrize("name", [name for name in ROWS if not name.startswith("_")])
async def test_an_assertion_that_may_be_turned_to_its_opposite_is_named(
    repository: Path, tmp_path: Path, name: str
) -> None:
    row: dict[str, Any] = ROWS[name]
    if not shutil.which(row["needs"]):
        pytest.skip(f"{row['needs']} is not installed")
    shop = workshop(repository, tmp_path / "places")
    base = shop.commit({"README.md": "Products.\n"})
    tree = shop.commit({**row["product"], row["file"]: row["test"]})
    change = await shop.change(base, tree, row["command"])

    found = await ask(change, shop.bench, await shop.compared(change, row["command"]), Answers())

    places = [part for one in found.objections for part in one.parts if re.search(r":\d+$", part)]
    assert places == [f"{row['file']}:{line}" for line in row["idle"]]
