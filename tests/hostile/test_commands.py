"""`commands`: Claude Code's own sandbox holds the Bash tool, and bubblewrap the commands that sq runs."""

from pathlib import Path

import pytest
from hostile_runs import HONEST_ROW, HostileRun, callers_of, make_repository, run_sq
from rows import ROOT, ROWS, Row

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(600)]


@pytest.mark.skipif(ROOT, reason="it does not hold for root and refuses: run .ci/as-plain-user")
@pytest.mark.parametrize(
    "row", [row for row in ROWS if row.session and row.commands], ids=lambda row: row.name
)
def test_a_session_is_held(row: Row, commanded: HostileRun) -> None:
    assert row.name in commanded.session, commanded.output
    assert not row.harm(commanded.world)
    if row.visible:
        assert commanded.session[row.name] != 0


@pytest.mark.skipif(ROOT, reason="it does not hold for root and refuses: run .ci/as-plain-user")
@pytest.mark.parametrize("row", [row for row in ROWS if row.verification], ids=lambda row: row.name)
def test_a_verification_command_is_held(row: Row, commanded: HostileRun) -> None:
    assert row.name in commanded.verification, commanded.output
    if row.visible:
        assert commanded.verification[row.name] != 0


@pytest.mark.skipif(ROOT, reason="it does not hold for root and refuses: run .ci/as-plain-user")
def test_honest_work_is_done(commanded: HostileRun) -> None:
    assert commanded.verification[HONEST_ROW.name] == 0
    assert commanded.code == 0, commanded.output
    assert not [file for file in commanded.files if file.startswith(".claude")]


@pytest.mark.skipif(not ROOT, reason="only root is refused")
def test_root_is_refused_before_anything_is_asked(tmp_path: Path, home: Path) -> None:
    make_repository(tmp_path / "project")
    done = run_sq(tmp_path, callers_of(), home=home, sandbox="commands")
    assert done.returncode == 2
    assert "does not hold for root: run sq as another user" in done.stderr
    assert not (tmp_path / "project" / ".sq").exists()


def test_a_missing_program_refuses_whole_and_names_the_command_that_installs_it(
    tmp_path: Path, home: Path
) -> None:
    make_repository(tmp_path / "project")
    bare = tmp_path / "bin"
    bare.mkdir()
    for program in ("git", "sh", "env", "python3"):
        found = next(path for path in ("/usr/bin", "/bin") if (Path(path) / program).exists())
        (bare / program).symlink_to(Path(found) / program)
    done = run_sq(tmp_path, callers_of(), home=home, sandbox="whole", PATH=str(bare))
    assert done.returncode == 2
    assert "--sandbox whole does not hold here: bubblewrap and socat not installed" in done.stderr
    assert not list((tmp_path / "project").glob(".sq/runs/*/rehearsal.jsonl"))


def test_auto_steps_down_with_a_line(tmp_path: Path, home: Path) -> None:
    make_repository(tmp_path / "project")
    bare = tmp_path / "bin"
    bare.mkdir()
    for program in ("git", "sh", "env", "python3", "cat", "setpriv", "cp"):
        found = [Path(path) / program for path in ("/usr/bin", "/bin") if (Path(path) / program).exists()]
        (bare / program).symlink_to(found[0])
    done = run_sq(tmp_path, callers_of(), home=home, sandbox="auto", PATH=str(bare))
    assert "sandbox: off (bubblewrap and socat not installed" in done.stdout
