"""Scratch folders of sandboxed processes: removed whole, and nothing that a link in them names is touched."""

import os
import stat
import time
from pathlib import Path

import anyio
import pytest

from agents.process.sandbox.totals import _written, exceeded
from state.safe_paths import remove_tree
from state.settings.records import SandboxLimits


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
    assert remove_tree(scratch) == ""
    assert not os.path.lexists(scratch)
    assert kept.read_text() == "mine"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (kept, folder)] == [0o640, 0o750]


def test_a_scratch_folder_that_was_never_made_is_no_error(tmp_path: Path) -> None:
    assert remove_tree(tmp_path / "never") == ""


@pytest.mark.parametrize(
    ("limits", "named"),
    [
        ({"total_mb": 50}, "more than 50 MiB"),
        pytest.param({"total_mb": None, "files": 300}, "more than 300 files", marks=pytest.mark.late),
    ],
)
async def test_who_writes_more_than_the_total_is_named_and_who_writes_less_is_not(
    tmp_path: Path, limits: dict[str, int | None], named: str
) -> None:
    (tmp_path / "before").write_bytes(bytes(100 << 20))
    told: list[str] = []

    async def watch() -> None:
        told.append(await exceeded([tmp_path], SandboxLimits(**limits), told.append))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch)
            await anyio.sleep(1.5)
            assert told == []
            with (tmp_path / "big").open("wb") as big:
                big.write(os.urandom(120 << 20))
                big.flush()
                os.fsync(big.fileno())  # its blocks are counted
            for number in range(1_000):
                (tmp_path / str(number)).touch()
    near, ended = told
    assert near.endswith("is near: 80% is used")
    assert named in ended


@pytest.mark.parametrize("hidden", ["a name that is no text", "seventy folders deep"])
def test_what_hides_from_the_count_is_counted_too(tmp_path: Path, hidden: str) -> None:
    place = tmp_path / os.fsdecode(b"a\xff")
    if hidden != "a name that is no text":
        place = tmp_path.joinpath(*["d"] * 70, "big")
        place.parent.mkdir(parents=True)
    began = time.time() - 1
    place.write_bytes(os.urandom(2 << 20))
    written, files = _written([tmp_path], began)
    assert written >= 2 << 20
    assert files >= 1
