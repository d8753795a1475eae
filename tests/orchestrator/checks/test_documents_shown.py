"""What documents show and the product does not have, by a table of honest works and of lies."""

from dataclasses import replace
from pathlib import Path

import pytest
from bench_by_hand import workshop
from language.tables import table

from orchestrator.checks.change import Change
from orchestrator.checks.of_product.documents import code_in, objections_to

HONEST, LIES = table(__file__, "honest"), table(__file__, "lies")


@pytest.mark.parametrize("name", [*HONEST, *LIES])
async def test_a_document_shows_what_the_product_has(repository: Path, tmp_path: Path, name: str) -> None:
    shop, row = workshop(repository, tmp_path), {**HONEST, **LIES}[name]
    base, tree = shop.commit(row["base"]), shop.commit(row["work"])

    found = await objections_to(Change(repository=repository, base=base, tree=tree), shop.bench)

    assert [one.subject for one in found] == row.get("found", [])


async def test_examples_are_left_out_without_time(repository: Path, tmp_path: Path) -> None:
    shop, row = workshop(repository, tmp_path), LIES["an example with another result"]
    base, tree = shop.commit(row["base"]), shop.commit(row["work"])
    change, bench = Change(repository=repository, base=base, tree=tree), replace(shop.bench, within_s=-1)

    assert not await objections_to(change, bench)
    assert shop.commands.ran == []


def test_a_hostile_document_is_read_in_a_moment() -> None:
    text = "`" * 50_000 + "\n```" * 20_000 + "\n.. code::" * 20_000 + "\n" + "`` " * 50_000
    assert len(list(code_in(text))) >= 0
