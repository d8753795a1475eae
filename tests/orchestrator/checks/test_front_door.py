"""The product as its users get it, of honest works and of lies in several languages."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from bench_by_hand import Workshop, workshop

from orchestrator.checks import objecting
from orchestrator.checks.answers import Answers
from orchestrator.checks.of_product.front_door import ask
from state.records.objections import Weight
from state.records.plan import Criterion
from tests.language.tables import table
from tests.orchestrator.project.commands_of_projects import HOME

HONEST: dict[str, Any] = table(__file__, "honest")
LIES: dict[str, Any] = table(__file__, "lies")
RUSTUP = str(HOME / ".rustup")


def rows(of: dict[str, Any]) -> list[Any]:
    """Each row with the programs that it needs. What builds for long is late."""
    found = []
    for name, row in of.items():
        lacks = [one for one in row.get("needs", []) if shutil.which(one) is None]
        marks = [pytest.mark.skipif(bool(lacks), reason=f"{', '.join(lacks)} is not installed")]
        marks += [pytest.mark.late] if row.get("late") else []
        found.append(pytest.param(row, id=name, marks=marks))
    return found


@pytest.fixture
def shop(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """A repository, and a bench for it."""
    monkeypatch.setenv("RUSTUP_HOME", os.environ.get("RUSTUP_HOME", RUSTUP))  # HOME is a temporary one
    return workshop(repository, tmp_path / "places")


async def asked(shop: Workshop, row: dict[str, Any], **facts: bool) -> Answers:
    """Ask about the work of a row. An ignored file of it is in the checkout and the places alone."""
    base = shop.commit({".gitignore": "/ignored*\n**/ignored*\nnode_modules/.cache\n", **row["base"]})
    runs = row.get("runs", [])
    for name in runs:
        (shop.repository / name).chmod(0o755)
    tree = shop.commit(row["work"])
    command = row.get("command", "")
    criteria = tuple(Criterion(id=f"c-{at}", text=one) for at, one in enumerate(row.get("criteria", []), 1))
    more = {"spec": row.get("spec", ""), "criteria": criteria, **facts}
    change = await shop.change(base, tree, command or "true", **more)
    compared = [await shop.compared(change, command)] if command else []
    return await ask(change, shop.bench, compared, Answers())


@pytest.mark.parametrize("row", rows(HONEST))
async def test_honest_work_hears_nothing(shop: Workshop, row: dict[str, Any]) -> None:
    found = await asked(shop, row)
    assert [one.sentence for one in found.objections] == []


@pytest.mark.parametrize("row", rows(LIES))
async def test_a_lie_is_found(shop: Workshop, row: dict[str, Any]) -> None:
    (found, *more) = (await asked(shop, row)).objections
    assert row["found"] in found.sentence + found.evidence
    assert found.check in {objecting.FRONT_DOOR, objecting.BUILD, objecting.IMPORTS}
    assert found.weight is Weight.ONCE
    assert [one.sentence for one in more if one.check == objecting.BUILD] == []


async def test_a_lie_is_found_where_no_program_ends_commands(shop: Workshop, tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "sh").symlink_to("/bin/sh")
    row = LIES["a shell script without its option"]
    shop.commands.environ = {**shop.commands.environ, "PATH": str(alone)}
    (found,) = (await asked(shop, row)).objections
    assert row["found"] in found.sentence


@pytest.mark.late
async def test_a_command_that_does_not_end_tells_nothing(shop: Workshop) -> None:
    row = LIES["a shell script without its option"]
    work = {**row["work"], "wait.sh": "echo usage: none; exec sleep 60\n"}
    spec = "`sh wait.sh --loud`\n\n" + row["spec"]
    (found,) = (await asked(shop, {**row, "work": work, "spec": spec})).objections
    assert "greet.sh --loud" in found.sentence


async def test_a_part_is_not_asked_what_others_build(shop: Workshop) -> None:
    row = LIES["a shell script without its option"]
    assert not (await asked(shop, row, is_whole=False)).objections
