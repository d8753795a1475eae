"""The processes of a session stand still while its folder is read, and go on whatever happens to sq."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from agents.process.containment import Containment, contained, detect_containment
from agents.process.frozen import frozen, is_living, living

# A tree of three processes: each writes a line again and again.
TREE = "(while :; do echo a; sleep 0.01; done) & (while :; do echo b; sleep 0.01; done) & wait"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are listed in /proc")


def state_of(process: int) -> str:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"


def below(root: int) -> list[int]:
    """The processes below one, by /proc, without those that have ended."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            parents[int(entry.name)] = int(fields[1])
    found = {root}
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found - {root})


def until(holds, what: str) -> None:
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.01)


@pytest.fixture(params=[Containment.NAMESPACES, Containment.SUPERVISOR])
def session(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Path, int]]:
    if request.param is Containment.NAMESPACES and detect_containment() is not Containment.NAMESPACES:
        pytest.skip("namespaces do not work here")
    workspace, named = tmp_path / "workspace", tmp_path / "named"
    with subprocess.Popen(contained(["sh", "-c", TREE], request.param), stdout=subprocess.DEVNULL) as tree:
        named.write_text(str(tree.pid))
        until(lambda: len(below(tree.pid)) >= 3, "the tree did not start")
        with living(workspace, named):
            yield workspace, tree.pid
        tree.terminate()


def test_every_process_stands_still_and_goes_on_but_the_supervisor(session: tuple[Path, int]) -> None:
    workspace, root = session
    with frozen(workspace):
        until(lambda: {state_of(one) for one in below(root)} == {"T"}, "a process goes on")
        assert state_of(root) != "T"
    until(lambda: "T" not in {state_of(one) for one in below(root)}, "a process still stands")


def test_they_go_on_when_the_time_is_over_and_after_an_error(session: tuple[Path, int]) -> None:
    workspace, root = session
    with frozen(workspace, longest_s=0.1):
        until(lambda: "T" not in {state_of(one) for one in below(root)}, "a process still stands")
    with pytest.raises(ZeroDivisionError), frozen(workspace):
        raise ZeroDivisionError
    until(lambda: "T" not in {state_of(one) for one in below(root)}, "a process still stands")


def version_2() -> Path:
    """Where groups of version 2 can be made."""
    mounts = (line.split() for line in Path("/proc/self/mounts").read_text().splitlines())
    found = next((Path(words[1]) for words in mounts if words[2] == "cgroup2"), None)
    if found is None or os.geteuid() != 0:
        pytest.skip("there is no version 2 of control groups, or no right to make one")
    return found


def put_into_group(root: int, mount: Path) -> Path:
    """Make a group as a supervisor does, and put the processes below it in."""
    folder = mount / f"sq-test-{root}" / str(root)
    folder.mkdir(parents=True)
    for process in below(root):
        with suppress(ProcessLookupError):
            (folder / "cgroup.procs").write_text(str(process))
    return folder


def remove_group(folder: Path) -> None:
    until(lambda: not (folder / "cgroup.procs").read_text(), "the group still holds a process")
    folder.rmdir()
    folder.parent.rmdir()


def test_version_2_of_control_groups_freezes_the_group_and_lets_it_go(
    session: tuple[Path, int],
) -> None:
    workspace, root = session
    mount = version_2()
    group = put_into_group(root, mount)

    def is_frozen() -> bool:
        return "frozen 1" in (group / "cgroup.events").read_text()

    with frozen(workspace):
        until(is_frozen, "the group goes on")
        assert "T" not in {state_of(one) for one in below(root)}
    until(lambda: not is_frozen(), "the group still stands")
    with frozen(workspace, longest_s=0.1):
        until(is_frozen, "the group goes on")
        until(lambda: not is_frozen(), "the group still stands")
    for process in below(root):
        with suppress(ProcessLookupError):
            (mount / "cgroup.procs").write_text(str(process))
    remove_group(group)


def test_a_folder_without_a_session_has_nothing_to_stop(tmp_path: Path) -> None:
    assert not is_living(tmp_path)
    with frozen(tmp_path):
        pass


KILLED = """
import os, subprocess, sys, time
from pathlib import Path
from agents.process.containment import contained, detect_containment
from agents.process.frozen import frozen, living
from test_frozen import TREE, below, put_into_group

tree = subprocess.Popen(contained(["sh", "-c", TREE], detect_containment()), stdout=subprocess.DEVNULL)
named = Path(sys.argv[1])
named.write_text(str(tree.pid))
while len(below(tree.pid)) < 3:
    time.sleep(0.01)
if sys.argv[2]:
    put_into_group(tree.pid, Path(sys.argv[2]))
with living(Path("/w"), named), frozen(Path("/w")):
    print(tree.pid, *below(tree.pid), flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("by_group", [False, True], ids=["by signals", "by a group"])
def test_kill_9_of_sq_while_they_stand_leaves_nothing_behind(tmp_path: Path, by_group: bool) -> None:
    mount = version_2() if by_group else None
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    command = [sys.executable, "-c", KILLED, str(tmp_path / "named"), str(mount or "")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}
    ) as sq:
        assert sq.stdout
        processes = [int(word) for word in sq.stdout.readline().split()]
        assert len(processes) > 3
        sq.send_signal(signal.SIGKILL)
    until(lambda: {state_of(one) for one in processes} <= {"gone", "Z"}, "a process was left")
    if mount:
        remove_group(mount / f"sq-test-{processes[0]}" / str(processes[0]))
