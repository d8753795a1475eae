"""A sample of the hostile suite for every day: all rows in one run in `whole`. `bin/test --hostile` runs all of it."""

import os
import shutil
from collections.abc import Iterator

import pytest
from hostile_runs import HONEST_ROW, HostileRun, hostile_run
from rows import ROWS

pytestmark = pytest.mark.timeout(300)
MISSING = [program for program in ("bwrap", "socat") if not shutil.which(program)]


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileRun]:
    if MISSING and not os.environ.get("CI"):
        pytest.skip(f"{' and '.join(MISSING)} not installed: .ci/install-tools")
    yield from hostile_run(tmp_path_factory.mktemp("sample"), "whole")


def test_no_row_has_its_way_in_a_session_or_a_verification_command(held: HostileRun) -> None:
    assert held.code == 0, held.output
    for row in ROWS:
        assert not row.harm(held.world), row.name
        if row.visible and row.session:
            assert held.session[row.name] != 0, row.name
        if row.visible and row.verification:
            assert held.verification[row.name] != 0, row.name
    assert held.session[HONEST_ROW.name] == held.verification[HONEST_ROW.name] == 0
