"""A Worker that leaks every secret it can read, without a sandbox: sq stores and shows none of them."""

from pathlib import Path

import pytest
from language.leaking import leaks_of, replaced_in

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(600)]


def test_no_secret_is_in_any_text_that_sq_stores_or_shows(tmp_path: Path) -> None:
    assert leaks_of(tmp_path) == []


def test_no_honest_text_of_this_repositorys_history_passes_for_a_token() -> None:
    assert list(replaced_in(Path(__file__).parents[2])) == []
