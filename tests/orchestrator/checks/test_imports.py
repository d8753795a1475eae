"""Which imports of a work its users may not have, by a table of honest works and of lies."""

from pathlib import Path

import pytest
from bench_by_hand import workshop
from language.tables import table

from orchestrator.checks.change import Change
from orchestrator.checks.of_product.imports import objections_to

HONEST, LIES = table(__file__, "honest"), table(__file__, "lies")


@pytest.mark.parametrize("name", [*HONEST, *LIES])
async def test_a_product_imports_what_its_users_have(repository: Path, tmp_path: Path, name: str) -> None:
    shop, row = workshop(repository, tmp_path), {**HONEST, **LIES}[name]
    base, tree = shop.commit(row["base"]), shop.commit(row["work"])

    found = await objections_to(Change(repository=repository, base=base, tree=tree))

    assert [one.subject for one in found] == row.get("found", [])
