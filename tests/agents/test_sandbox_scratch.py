"""Scratch folders of sandboxed processes: removed whole, and nothing that a link in them names is touched."""

import os
import shutil
import stat
import time
from pathlib import Path

import anyio
import pytest
from language.opened_here import opened_below

from agents.process.sandbox.bubblewrap import PROGRAM
from agents.process.sandbox.choice import Choice, SandboxLevel
from agents.process.sandbox.inside import written_inside
from agents.process.sandbox.needs import Needs
from agents.process.sandbox.plan import SandboxPlan
from agents.process.sandbox.policy import SandboxPolicy
from agents.process.sandbox.totals import exceeded, written_in
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


needs_bwrap = pytest.mark.skipif(not shutil.which(PROGRAM), reason="bubblewrap is not installed")


def plan_of(folder: Path, limits: SandboxLimits, told: list[str]) -> SandboxPlan:
    policy = SandboxPolicy(
        choice=Choice(level=SandboxLevel.WHOLE, reason="test", program=shutil.which(PROGRAM) or ""),
        environ=os.environ,
        own_processes=True,
        home=folder / "home",
        ceilings=limits,
        warn=told.append,
    )
    workspace = folder / "workspace"
    workspace.mkdir()
    return policy.plan(Needs(workspace=workspace, scratch=folder / "scratch", path=os.environ["PATH"]))


@needs_bwrap
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
    told: list[str] = []
    plan = plan_of(tmp_path, SandboxLimits(**limits), told)
    place = plan.workspace
    (place / "before").write_bytes(bytes(100 << 20))

    async def watch() -> None:
        told.append(await exceeded(plan))

    with anyio.fail_after(60), opened_below(place) as opened:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch)
            await anyio.sleep(1.5)
            assert told == []
            with (place / "big").open("wb") as big:
                big.write(os.urandom(120 << 20))
                big.flush()
                os.fsync(big.fileno())  # its blocks are counted
            for number in range(1_000):
                (place / str(number)).touch()
    near, ended = told
    assert near.endswith("is near: 80% is used")
    assert named in ended
    assert opened <= {str(place / "big"), *(str(place / str(number)) for number in range(1_000))}


@needs_bwrap
async def test_what_cannot_be_counted_is_an_end_too_and_says_why(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, SandboxLimits(), [])
    plan.filter.unlink()
    with pytest.raises(OSError, match="calls"):
        await written_in(plan, plan.written, 0)


@pytest.mark.parametrize("hidden", ["a name that is no text", "seventy folders deep"])
def test_what_hides_from_the_count_is_counted_too(tmp_path: Path, hidden: str) -> None:
    place = tmp_path / os.fsdecode(b"a\xff")
    if hidden != "a name that is no text":
        place = tmp_path.joinpath(*["d"] * 70, "big")
        place.parent.mkdir(parents=True)
    began = time.time() - 1
    place.write_bytes(os.urandom(2 << 20))
    written, files = written_inside([tmp_path], began)
    assert written >= 2 << 20
    assert files >= 1
