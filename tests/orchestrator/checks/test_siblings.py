"""Which keys and migrations a work forgot, by a table of honest works and of lies."""

from pathlib import Path

import pytest
from bench_by_hand import workshop
from language.tables import table

from orchestrator.checks.change import Change
from orchestrator.checks.of_product.siblings import keys_in, objections_to

HONEST, LIES = table(__file__, "honest"), table(__file__, "lies")


@pytest.mark.parametrize("name", [*HONEST, *LIES])
async def test_what_a_work_adds_to_one_file_its_siblings_have_too(
    repository: Path, tmp_path: Path, name: str
) -> None:
    shop, row = workshop(repository, tmp_path), {**HONEST, **LIES}[name]
    base, tree = shop.commit(row["base"]), shop.commit(row["work"])

    found = await objections_to(Change(repository=repository, base=base, tree=tree, spec=row.get("spec", "")))

    assert [one.subject for one in found][:1] == row.get("found", [])


async def test_languages_are_behind_where_a_service_translates(repository: Path, tmp_path: Path) -> None:
    shop, row = workshop(repository, tmp_path), LIES["a language lacks the new key"]
    base = shop.commit({**row["base"], "crowdin.yml": "files: []\n"})

    assert not await objections_to(Change(repository=repository, base=base, tree=shop.commit(row["work"])))


@pytest.mark.parametrize(
    ("path", "content"),
    [("a.json", b"[" * 100_000), ("a.yml", b"a: &a [*a]\n"), ("a.toml", b"\xff\0="), ("a.json", b"[1]")],
)
def test_a_file_that_cannot_be_read_has_no_keys(path: str, content: bytes) -> None:
    assert keys_in(path, content) == frozenset()
