"""Each attack, from a Worker's session and from a verification command: held in `whole`, successful with `off`."""

from collections.abc import Mapping

import pytest
from hostile_runs import HONEST_ROW, HostileRun
from rows import ROOT, ROWS, Row

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(600)]

SESSION = [row for row in ROWS if row.session]
VERIFICATION = [row for row in ROWS if row.verification]


@pytest.mark.parametrize("row", SESSION, ids=lambda row: row.name)
def test_a_session_is_held(row: Row, within: HostileRun, without_sandbox: HostileRun) -> None:
    _held(row, within, within.session)
    _succeeds(row, without_sandbox, without_sandbox.session)


@pytest.mark.parametrize("row", VERIFICATION, ids=lambda row: row.name)
def test_a_verification_command_is_held(row: Row, within: HostileRun, without_sandbox: HostileRun) -> None:
    _held(row, within, within.verification)
    _succeeds(row, without_sandbox, without_sandbox.verification)


def test_honest_work_works(within: HostileRun) -> None:
    assert within.session[HONEST_ROW.name] == 0
    assert within.verification[HONEST_ROW.name] == 0


def test_the_run_goes_on_to_its_end_and_says_which_sandbox_held(
    within: HostileRun, without_sandbox: HostileRun
) -> None:
    assert within.code == 0, within.output
    assert "sandbox: whole" in within.output
    assert "sandbox: off (switched off by the setting `sandbox`)" in without_sandbox.output


def test_the_work_holds_only_the_files_of_the_agent(within: HostileRun) -> None:
    assert set(within.files) == {".gitignore", "readme.txt", "attack.sh", "sum", "verify.sh", "results.txt"}


def _held(row: Row, run: HostileRun, codes: Mapping[str, int]) -> None:
    assert row.name in codes, run.output
    assert not row.harm(run.world)
    if row.visible:
        assert codes[row.name] != 0


def _succeeds(row: Row, run: HostileRun, codes: Mapping[str, int]) -> None:
    """An attack that fails without a sandbox too would show nothing."""
    if row.only_held or (row.as_root and not ROOT):
        return
    assert codes[row.name] == 0, run.output
    if row.harm.__name__ != "_nothing":
        assert row.harm(run.world)
