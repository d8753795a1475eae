"""A kill or an error at every system call of a save: the state is the old one or the new one, whole.

strace does it in the kernel's doorway (`-e inject=CALL:signal=KILL:when=N`), to the real program.
"""

import json
import os
import re
import shutil
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from language.programs import ran

from orchestrator.gates.session_state.records import SteeringState
from orchestrator.gates.session_state.store import SteeringStore

TARGET = Path(__file__).with_name("durable_target.py")
# Everything that changes a file or a folder, and what the save waits for or looks at on the way.
CALLS = (
    *("openat", "write", "pwrite64", "fsync", "rename", "unlink", "mkdir", "ftruncate"),
    *("flock", "read", "pread64", "close"),
)
OLD, NEW = 3, 4
KILLED = -9
NO_OUTPUT = 120  # its own standard output could not be written


def strace_works() -> str:
    """Why not, or an empty text."""
    if not shutil.which("strace"):
        return "strace is not installed (apt-get install strace)"
    done = ran(["strace", "-e", "inject=fsync:signal=KILL:when=1", "true"])
    return "" if done.returncode == 0 else f"strace cannot trace here: {done.stderr.splitlines()[-1:]}"


WHY_NOT = strace_works()
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)]


@dataclass
class Ended:
    """How the save ended: the process's code, what it printed, and what is in the file now."""

    returncode: int
    printed: str
    state: SteeringState
    folder: Path

    @property
    def log(self):
        file = self.folder / "s" / "diagnostic.jsonl"
        values = []
        for line in file.read_bytes().splitlines() if file.exists() else ():
            with suppress(ValueError):  # what the fault cut
                values.append(json.loads(line))
        return values


@pytest.fixture
def prepared(tmp_path):
    """A folder with a state that has counted `OLD`, made once and copied for each fault."""
    folder = tmp_path / "prepared"
    for _ in range(OLD):
        SteeringStore(folder, "s", environ={}).count_block("p")
    return folder


def save_under(fault, prepared, name):
    """Count a block in a copy of the folder, with a fault in the way (strace's arguments)."""
    folder = prepared.with_name(name)
    shutil.copytree(prepared, folder)
    trace = ["strace", "-f", "-qq", "-o", str(prepared.with_name("trace")), *fault]
    done = ran(
        [*trace, sys.executable, "-S", "-B", "-P", str(TARGET), str(folder)],
        env={"PATH": os.environ["PATH"], "PYTHONHASHSEED": "0"},
        timeout=60,
    )
    assert done.returncode in {0, KILLED, NO_OUTPUT}, done.stderr
    file = folder / "s" / "state.json"
    assert json.loads(file.read_bytes())  # whole, whatever happened
    found = SteeringStore(folder, "s", environ={"SQ_PS_DIAGNOSTIC_LOG_DIR": str(folder / "read")}).load()
    assert found.reason == ""
    return Ended(done.returncode, done.stdout, found.state, folder)


def calls_of_a_save(prepared):
    """Of each system call the numbers, counted from the program's start, that belong to the save."""
    save_under(["-e", f"trace={','.join(CALLS)},access"], prepared, "traced")
    counted = Counter()
    places = []
    working = False
    for line in prepared.with_name("trace").read_text().splitlines():
        if found := re.match(r"\d+\s+(\w+)\((.*)", line):
            call, rest = found.groups()
            counted[call] += 1
            if call == "access":
                working = "the-work-begins" in rest or (working and "the-work-ends" not in rest)
            elif working:
                places.append((call, counted[call]))
    assert {"openat", "write", "fsync", "rename", "flock", "close", "pread64"} <= {call for call, _ in places}
    return places


def goes_on(ended):
    """After the fault the next one counts on, and nothing of the broken save is left."""
    before = ended.state.consecutive_blocks
    store = SteeringStore(ended.folder, "s", environ={})
    loaded = store.load()
    assert (loaded.reason, loaded.state.consecutive_blocks) == ("", before)
    assert store.count_block("p").state.consecutive_blocks == before + 1
    assert {one.name for one in store.file.parent.iterdir()} == {
        *("state.json", "state.json.lock", "diagnostic.jsonl", "diagnostic.jsonl.lock")
    }


def test_a_kill_at_any_system_call_leaves_the_old_or_the_new_state(prepared):
    ends = Counter()
    for number, (call, place) in enumerate(calls_of_a_save(prepared)):
        ended = save_under(["-e", f"inject={call}:signal=KILL:when={place}"], prepared, f"killed-{number}")
        assert ended.state.consecutive_blocks in {OLD, NEW}, (call, place)
        goes_on(ended)
        ends[ended.returncode, ended.state.consecutive_blocks] += 1
    assert ends[KILLED, OLD] >= 5, ends
    assert ends[KILLED, NEW] >= 1, ends


@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
def test_an_error_at_any_system_call_leaves_the_old_or_the_new_state(prepared, error):
    for number, (call, place) in enumerate(calls_of_a_save(prepared)):
        ended = save_under(["-e", f"inject={call}:error={error}:when={place}"], prepared, f"failed-{number}")
        assert ended.returncode == 0, (call, place)
        stored = ended.printed.split()[1] == "1"
        assert ended.state.consecutive_blocks == NEW or not stored, (call, place, ended.printed)
        goes_on(ended)


@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
@pytest.mark.parametrize("call", ["write", "pwrite64", "fsync", "rename", "pread64", "flock"])
def test_an_error_that_stays_leaves_the_old_or_the_new_state(prepared, call, error):
    first = next((place for name, place in calls_of_a_save(prepared) if name == call), 1)
    ended = save_under(["-e", f"inject={call}:error={error}:when={first}+"], prepared, "failed")
    assert ended.returncode == (NO_OUTPUT if call == "write" else 0)
    assert ended.state.consecutive_blocks in {OLD, NEW}
    goes_on(ended)


def first_of(prepared, call):
    return next(place for name, place in calls_of_a_save(prepared) if name == call)


def test_after_eio_on_fsync_there_is_no_second_fsync_and_the_last_resort_is_logged(prepared):
    place = first_of(prepared, "fsync")
    fault = ["-e", "trace=fsync", "-e", f"inject=fsync:error=EIO:when={place}+"]
    ended = save_under(fault, prepared, "failed")
    assert prepared.with_name("trace").read_text().count("fsync(") == place
    assert ended.printed.split() == ["4", "1", "0"]
    assert ended.state.consecutive_blocks == NEW
    assert [(one["operation"], one["success"], one["code"]) for one in ended.log[-3:]] == [
        ("state_save", False, 1),
        ("state_save_retry", False, 4),
        ("state_save", True, 4),
    ]


def test_after_another_error_on_fsync_it_is_tried_again_with_a_fresh_file(prepared):
    place = first_of(prepared, "fsync")
    fault = ["-e", "trace=openat,fsync", "-e", f"inject=fsync:error=ENOSPC:when={place}"]
    ended = save_under(fault, prepared, "failed")
    temporaries = re.findall(r"\.state\.json\.[0-9a-f]+\.tmp", prepared.with_name("trace").read_text())
    assert len(set(temporaries)) == 2
    assert ended.printed.split() == ["0", "1", "1"]
    assert [one["operation"] for one in ended.log[-3:]] == ["state_save", "state_save", "state_save_retry"]


def test_other_bytes_than_were_written_are_a_failed_verification_and_tried_again(prepared):
    place = first_of(prepared, "pread64")
    ended = save_under(["-e", f"inject=pread64:retval=0:when={place}"], prepared, "failed")
    assert ended.printed.split() == ["0", "1", "1"]
    failed = next(one for one in ended.log if one["operation"] == "verification_read")
    assert (failed["verification_success"], failed["reason"]) == (False, "data_mismatch")
    assert (failed["success"], failed["code"]) == (False, 3)


@pytest.mark.parametrize("name", ["SQ_PS_NO_FSYNC", "AMPLIHACK_PS_NO_FSYNC"])
def test_without_fsync_there_is_none_and_with_it_the_file_and_its_folder_are_synced(prepared, name):
    save_under(["-e", "trace=fsync"], prepared, "synced")
    assert prepared.with_name("trace").read_text().count("fsync(") == 2
    save_under(["-e", "trace=fsync", "-E", f"{name}=1"], prepared, "not synced")
    assert prepared.with_name("trace").read_text().count("fsync(") == 0
