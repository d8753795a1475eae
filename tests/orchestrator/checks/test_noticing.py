"""Small changes of a work, where it cannot be taken out and the command tells numbers of tests, no names."""

import os
import shutil
from pathlib import Path

import pytest

from orchestrator.checks.answers import Answers
from orchestrator.checks.objecting import without_work as meaning
from orchestrator.checks.of_work import without_work
from state.records.objections import Objection, Proof
from tests.orchestrator.checks.bench_by_hand import workshop
from tests.orchestrator.project.commands_of_projects import HOME

TOOLCHAINS = {"RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(HOME / ".rustup"))}
MANIFEST = '[package]\nname = "pairs"\nversion = "0.1.0"\nedition = "2021"\n'
LOCK = 'version = 4\n\n[[package]]\nname = "pairs"\nversion = "0.1.0"\n'
BASE = "pub struct Bad;\n\n#[test]\nfn works() {}\n"
# sq knows no empty value of a type of the project's own.
WORK = """
pub struct Pair(pub i64, pub i64);

pub fn ordered(a: i64, b: i64) -> Result<Pair, Bad> {
    if b < a {
        return Err(Bad);
    }
    Ok(Pair(a, b))
}
"""
TEST = (
    "\n#[test]\nfn orders() {\n    assert!(ordered(2, 1).is_err());\n    assert!(ordered(1, 1).is_ok());\n}\n"
)
IDLE = "\n#[test]\nfn orders() {\n    let _ = ordered(2, 1);\n}\n"


@pytest.mark.skipif(not shutil.which("cargo"), reason="cargo is not installed")
@pytest.mark.parametrize(("test", "is_needed"), [(TEST, True), (IDLE, False)])
async def test_a_small_change_shows_that_a_test_needs_the_work_where_only_numbers_are_told(
    repository: Path, tmp_path: Path, test: str, is_needed: bool
) -> None:
    shop = workshop(repository, tmp_path / "places")
    shop.commands.environ = {**shop.commands.environ, **TOOLCHAINS}
    base = shop.commit(
        {"Cargo.toml": MANIFEST, "Cargo.lock": LOCK, ".gitignore": "target/\n", "src/lib.rs": BASE}
    )
    change = await shop.change(base, shop.commit({"src/lib.rs": BASE + WORK + test}), "cargo test -q")

    answers = await without_work.ask(
        change, shop.bench, await shop.compared(change, "cargo test -q"), Answers()
    )

    found = list(meaning(answers.without_work))
    assert any(isinstance(one, Proof) and one.needs_work for one in found) is is_needed
    assert any(isinstance(one, Objection) for one in found)  # the whole work could not be asked about
