"""A work that slows its command, with a real runner."""

from pathlib import Path

import pytest

from orchestrator.checks.answers import Answers
from orchestrator.checks.objecting import SLOWED
from orchestrator.checks.of_work.slowed import applies, ask
from tests.orchestrator.checks.bench_by_hand import workshop

pytestmark = [pytest.mark.late, pytest.mark.timeout(300)]
COMMAND = "python3 -m pytest -q"
BASE = {
    "calc.py": "def add(a, b):\n    return a + b\n",
    "test_add.py": "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n",
}


@pytest.mark.parametrize(("waits", "told"), [(12, [SLOWED]), (0.1, [])])
async def test_a_work_that_slows_its_tests_is_told(
    repository: Path, tmp_path: Path, waits: float, told: list[str]
) -> None:
    shop = workshop(repository, tmp_path / "places")
    slow = f"import time\n\n\ndef add(a, b):\n    time.sleep({waits})\n    return a + b\n"
    base = shop.commit(BASE)
    change = await shop.change(base, shop.commit({"calc.py": slow}), COMMAND)
    compared = await shop.compared(change, COMMAND)

    found = Answers()
    if applies(change, shop.bench, compared, found):
        found = await ask(change, shop.bench, compared, found)
    assert [one.check for one in found.objections] == told
