"""Names that only the new tests set, with real runners."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from orchestrator.checks.answers import Answers
from orchestrator.checks.of_tests.props import ask
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
    for path in row.get("executable", ()):
        (repository / path).parent.mkdir(parents=True, exist_ok=True)
        (repository / path).touch(0o755)
    change = await shop.change(base, shop.commit(row["files"]), row["command"], spec=row.get("spec", ""))

    known = Answers(added=tuple(row.get("added", ())))
    found = await ask(change, shop.bench, await shop.compared(change, row["command"]), known)

    assert len(found.objections) == bool(row["only"])
    assert [part for one in found.objections for part in one.parts[: len(row["only"])]] == row["only"]
