"""JSON files are replaced in one step, under a lock that its holder's death frees."""

import json
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.atomic_files import (
    DamagedFileError,
    LockTimeoutError,
    WriteFailedError,
    encoded,
    locked,
    overwrite_file,
    read_json,
    replace_file,
    write_json,
)


def update_json(path, change, *, sync=True):
    """As stores change their files: read, change and replace under one lock."""
    with locked(path, sync=sync):
        value = dict(change(read_json(path)))
        replace_file(path, encoded(value), sync=sync)
    return value


ROOT = str(Path(__file__).parents[2])
HOLDER = f"""
import sys
from pathlib import Path
sys.path.insert(0, {ROOT!r})
from state.atomic_files import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""
WRITER = f"""
import sys
from pathlib import Path
sys.path.insert(0, {ROOT!r})
from state.atomic_files import write_json
number = 0
while True:
    number += 1
    write_json(Path(sys.argv[1]), {{"number": number, "copies": [number] * (number % 300)}}, sync=False)
    print(number, flush=True)
"""
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "deep" / "folder" / "facts.json"


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@given(value=st.dictionaries(st.text().filter(lambda name: name != "version"), VALUES, max_size=4))
def test_what_was_written_is_read(tmp_path_factory, value):
    file = tmp_path_factory.mktemp("facts") / "facts.json"
    write_json(file, value, sync=False)
    assert read_json(file) == value


def test_there_is_nothing_before_the_first_write(file):
    assert read_json(file) is None
    assert not file.parent.exists()


def test_the_version_is_inside_and_stands_first(file):
    write_json(file, {"a": 1})
    assert next(iter(json.loads(file.read_text()).items())) == ("version", 1)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_folders_and_files_are_their_owners_alone(file, umask):
    old = os.umask(umask)
    try:
        write_json(file, {})
    finally:
        os.umask(old)
    assert [mode_of(each) for each in (file.parent.parent, file.parent)] == [0o700, 0o700]
    assert {mode_of(each) for each in file.parent.iterdir()} == {0o600}


def test_a_folder_that_is_there_keeps_its_mode(tmp_path):
    tmp_path.chmod(0o755)
    write_json(tmp_path / "facts.json", {})
    assert mode_of(tmp_path) == 0o755


def test_nothing_but_the_file_and_its_lock_is_left(file):
    for number in range(3):
        write_json(file, {"number": number})
    assert {each.name for each in file.parent.iterdir()} == {"facts.json", "facts.json.lock"}


def test_a_value_that_is_no_json_changes_nothing(file):
    write_json(file, {"a": 1})
    deep = []
    for _ in range(100_000):
        deep = [deep]
    for value in (object(), {1, 2}, float("nan"), deep):
        with pytest.raises(WriteFailedError, match="JSON") as caught:
            write_json(file, {"a": value})
        assert caught.value.final
    assert read_json(file) == {"a": 1}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "invalid_json"),
        (b'{"a": ', "invalid_json"),
        (b"\xff\xfe\x00", "invalid_json"),
        (b"[" * 100_000, "invalid_json"),
        (b'{"a": ' + b"9" * 10_000 + b"}", "invalid_json"),
        (b" " * (9 << 20), "invalid_json"),
        (b"[1, 2]", "not_object"),
        (b"null", "not_object"),
        (b'{"version": 2}', "newer_version"),
        (b'{"version": true}', "newer_version"),
        (b'{"version": "1"}', "newer_version"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_and_stays_as_it_is(tmp_path, content, reason):
    file = tmp_path / "facts.json"
    file.write_bytes(content)
    with pytest.raises(DamagedFileError) as caught:
        update_json(file, lambda value: value or {})
    assert caught.value.reason == reason
    assert file.read_bytes() == content


def test_a_folder_or_a_named_pipe_in_its_place_is_told_without_waiting(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name, reason in {"folder": "no_file", "pipe": "invalid_json"}.items():
        with pytest.raises(DamagedFileError) as caught:
            read_json(tmp_path / name)
        assert caught.value.reason == reason
    with pytest.raises(WriteFailedError):
        write_json(tmp_path / "folder", {})


def test_a_link_in_its_place_is_replaced_and_its_target_untouched(tmp_path):
    target = tmp_path / "target"
    target.write_text("mine")
    (tmp_path / "facts.json").symlink_to(target)
    write_json(tmp_path / "facts.json", {})
    assert target.read_text() == "mine"
    (tmp_path / "facts.json.lock").unlink()
    (tmp_path / "facts.json.lock").symlink_to(target)
    with pytest.raises(WriteFailedError, match="locked"):
        write_json(tmp_path / "facts.json", {})


def test_what_a_killed_writer_left_is_swept_and_nothing_else(tmp_path):
    names = {".facts.json.0a1b.tmp": False, ".other.json.0a1b.tmp": True, "facts.json.bak": True}
    for name in names:
        (tmp_path / name).touch()
    write_json(tmp_path / "facts.json", {})
    assert {name: (tmp_path / name).exists() for name in names} == names


def test_a_change_sees_what_is_there(file):
    for _ in range(3):
        value = update_json(file, lambda found: {"count": (found or {}).get("count", 0) + 1})
    assert value == read_json(file) == {"count": 3}


def test_an_error_in_a_change_leaves_the_file_and_frees_the_lock(file):
    write_json(file, {"a": 1})
    with pytest.raises(ZeroDivisionError):
        update_json(file, lambda _: {"a": 1 // 0})
    assert read_json(file) == {"a": 1}
    write_json(file, {"a": 2})


def test_threads_that_change_at_once_lose_nothing(file):
    def work():
        for _ in range(25):
            update_json(file, lambda found: {"count": (found or {}).get("count", 0) + 1}, sync=False)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert read_json(file) == {"count": 200}


def test_a_lock_that_is_held_is_waited_for_no_longer_than_asked_and_freed_by_death(file):
    command = [sys.executable, "-c", HOLDER, str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"held\n"
            with pytest.raises(LockTimeoutError, match=r"facts\.json"), locked(file, wait_s=0):
                pass
        finally:
            process.kill()
    write_json(file, {"a": 1})
    assert read_json(file) == {"a": 1}


def test_a_child_that_was_forked_under_the_lock_does_not_keep_it(file):
    with locked(file):
        child = os.fork()
        if child == 0:
            signal.pause()
    try:
        with locked(file, wait_s=0):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_reader_beside_a_writer_sees_no_torn_file(file):
    with subprocess.Popen([sys.executable, "-c", WRITER, str(file)], stdout=subprocess.PIPE) as process:
        try:
            process.stdout.readline()
            seen = set()
            while len(seen) < 100:
                value = read_json(file)
                assert value["copies"] == [value["number"]] * (value["number"] % 300)
                seen.add(value["number"])
        finally:
            process.kill()


@pytest.mark.parametrize("new", [{"a": 1}, {"a": "a much longer text than there was"}])
def test_the_last_resort_leaves_nothing_of_the_old_content(file, new):
    write_json(file, {"a": "the old one"})
    overwrite_file(file, json.dumps(new).encode())
    assert read_json(file) == new


@pytest.mark.parametrize("blocks", [0, 1])
@pytest.mark.parametrize("old", [None, {"text": "x" * 3_000}])
def test_on_a_full_disk_the_last_resort_leaves_the_old_content_or_no_file(tmp_path, old, blocks):
    file = tmp_path / "facts.json"
    if old is not None:
        file.write_bytes(encoded(old))
    code = (
        "import pathlib, resource, sys; sys.path.insert(0, sys.argv[2])\n"
        "from state.atomic_files import WriteFailedError, overwrite_file\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)\n"
        "try: overwrite_file(pathlib.Path(sys.argv[1]), b'y' * 9_000)\n"
        "except WriteFailedError: sys.exit(7)\n"
    )
    arguments = [str(file), str(Path(__file__).parents[2]), str(blocks * 4_096)]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, check=False)
    assert done.returncode == 7, done.stderr.decode()
    assert (read_json(file) if file.exists() else None) == old


def test_the_last_resort_makes_the_file_where_there_is_none(tmp_path):
    overwrite_file(tmp_path / "facts.json", b"{}")
    assert read_json(tmp_path / "facts.json") == {}
    assert mode_of(tmp_path / "facts.json") == 0o600
