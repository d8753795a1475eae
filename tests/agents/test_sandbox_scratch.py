"""Scratch folders of sandboxed processes: removed whole, and nothing that a link in them names is touched."""

import os
import stat
from pathlib import Path

import pytest

from agents.process.sandbox.policy import forget


@pytest.mark.parametrize("mode", [0o000, 0o500])
def test_what_a_process_closed_is_removed_and_the_target_of_its_link_keeps_its_mode(
    tmp_path: Path, mode: int
) -> None:
    kept, folder = tmp_path / "kept", tmp_path / "others"
    kept.write_text("mine")
    kept.chmod(0o640)
    folder.mkdir(mode=0o750)
    scratch = tmp_path / "scratch"
    closed = scratch / "home" / "closed" / "inner"
    closed.mkdir(parents=True)
    (closed / "link").symlink_to(kept)
    (closed / "folder").symlink_to(folder)
    (closed / "file").write_text("x")
    closed.chmod(mode)
    closed.parent.chmod(mode)
    forget(scratch)
    assert not os.path.lexists(scratch)
    assert kept.read_text() == "mine"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (kept, folder)] == [0o640, 0o750]


def test_a_scratch_folder_that_was_never_made_is_no_error(tmp_path: Path) -> None:
    forget(tmp_path / "never")
