"""A Worker that leaks every secret it can read, without a sandbox: sq stores and shows none of them."""

from pathlib import Path

import pytest

from benchmarks.secrets import leaks_of

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(600)]


def test_no_secret_is_in_any_text_that_sq_stores_or_shows(tmp_path: Path) -> None:
    assert leaks_of(tmp_path) == []
