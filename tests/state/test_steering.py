"""A session's state: counted without loss, recovered without loss, validated and logged as seed 001 says."""

import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.gates.session_state.diagnostics import Diagnostics, append_line, safe_name
from orchestrator.gates.session_state.records import CheckOutcome, CheckResults, StateCode, invalid_reason
from orchestrator.gates.session_state.store import SteeringStore
from state.truncation import truncate

COUNTER = Path(__file__).with_name("steering_counter.py")
ROOT = Path(__file__).parents[2]
SESSION = "20251217_193000"
GOOD, BAD = CheckOutcome(satisfied=True, blocker=True), CheckOutcome(satisfied=False, blocker=True)
RESULTS = CheckResults.of(["file1.py"], [GOOD])


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "sessions"


def store_in(folder, session=SESSION, **rest):
    rest.setdefault("environ", {})
    return SteeringStore(folder, session, retry_delays=(0.0,), **rest)


def read_lines(path):
    """The values of a file of JSON Lines; what a crash cut is left out."""
    values = []
    for line in path.read_bytes().splitlines():
        with suppress(ValueError):
            values.append(json.loads(line))
    return values


def entries_of(store, operation=None):
    entries = read_lines(store.diagnostics.file)
    return [one for one in entries if operation in {None, one["operation"]}]


def put(store, content):
    store.file.parent.mkdir(parents=True, exist_ok=True)
    store.file.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())


def kept_by(store):
    return {one.read_bytes() for one in store.file.parent.glob("state.json.corrupt*")}


# --- state


def test_a_session_of_which_nothing_is_known_has_the_default_state(folder):
    loaded = store_in(folder).load()
    assert (loaded.code, loaded.reason, loaded.kept_as) == (StateCode.OK, "", None)
    assert loaded.state == store_in(folder).default()
    assert loaded.state.consecutive_blocks == 0


def test_what_was_counted_is_loaded(folder):
    saved = store_in(folder).count_block("p")
    assert (saved.code, saved.stored) == (StateCode.OK, True)
    assert store_in(folder).load().state == saved.state


def test_the_file_has_the_fields_of_the_format_and_a_version(folder):
    store = store_in(folder)
    store.count_block("p")
    store.record_check(RESULTS, ["tests", "ci", "tests"], {"tests": "none ran", "ci": "it fails"})
    found = json.loads(store.file.read_text())
    assert store.file == folder / SESSION / "state.json"
    assert found.pop("last_check_timestamp").endswith("Z")
    assert found == {
        "version": 1,
        "consecutive_blocks": 1,
        "session_id": SESSION,
        "check_results": {"files_modified": ["file1.py"], "workflow_compliant": True, "quality_score": 100},
        "failure_sets": [["ci", "tests"]],
        "unmet": {"tests": "none ran", "ci": "it fails"},
        "blocks_by_prompt": {"p": 1},
        "disabled_until": None,
    }


def test_a_state_with_the_fields_of_seed_001_alone_is_completed(folder):
    store = store_in(folder)
    put(store, {"consecutive_blocks": 4, "session_id": SESSION, "check_results": {"quality_score": 85}})
    loaded = store.load()
    assert loaded.reason == ""
    assert loaded.state.consecutive_blocks == 4
    assert loaded.state.check_results == CheckResults(quality_score=85)


def test_sessions_do_not_see_each_other(folder):
    store_in(folder, "session1").count_block("p")
    for _ in range(2):
        store_in(folder, "session2").count_block("p")
    assert store_in(folder, "session1").load().state.consecutive_blocks == 1
    assert store_in(folder, "session2").load().state.consecutive_blocks == 2


# --- counting


def test_blocks_are_counted_in_a_row_and_for_each_prompt(folder):
    store = store_in(folder)
    store.count_block("one")
    store.count_block("one")
    state = store.count_block("two").state
    assert (state.consecutive_blocks, state.blocks_for("one"), state.blocks_for("two")) == (3, 2, 1)
    assert state.blocks_for("three") == 0


def test_an_allowed_stop_ends_the_row_and_not_the_prompts_count(folder):
    store = store_in(folder)
    store.count_block("one")
    state = store.clear_blocks().state
    assert (state.consecutive_blocks, state.blocks_for("one")) == (0, 1)


def test_an_allowed_stop_ends_the_row_of_failures(folder):
    store = store_in(folder)
    for _ in range(3):
        store.record_check(RESULTS, ["a"])
    store.clear_blocks()
    assert store.record_check(RESULTS, ["a"]).state.same_failures() == 1


def test_the_prompts_of_long_ago_are_forgotten_and_a_counter_ends_at_its_limit(folder):
    store = store_in(folder)
    put(store, {"consecutive_blocks": 990, "session_id": SESSION})
    for number in range(30):
        state = store.count_block(f"prompt {number}").state
    assert state.consecutive_blocks == 1000
    assert len(state.blocks_by_prompt) == 20
    assert (state.blocks_for("prompt 29"), state.blocks_for("prompt 0")) == (1, 0)
    assert store.load().reason == ""


def test_the_same_failures_three_times_running_can_be_told(folder):
    store = store_in(folder)
    sets = (["a", "b"], ["b", "a"], ["a"], ["a"], ["a"], ["a"], [], ["a"])
    told = [store.record_check(RESULTS, failures).state.same_failures() for failures in sets]
    assert told == [1, 2, 1, 2, 3, 3, 0, 1]


def test_a_check_that_nothing_failed_ends_the_row_of_blocks(folder):
    store = store_in(folder)
    store.count_block("p")
    assert store.record_check(RESULTS, ["a"]).state.consecutive_blocks == 1
    assert store.record_check(RESULTS, []).state.consecutive_blocks == 0


def test_sixteen_processes_that_count_at_once_lose_no_count(folder):
    command = [sys.executable, str(COUNTER), str(folder), "20"]
    processes = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(16)]
    try:
        assert {process.stdout.readline() for process in processes} == {b"ready\n"}
        for process in processes:
            process.stdin.close()
        assert {process.wait(90) for process in processes} == {0}
    finally:
        for process in processes:
            process.kill()
            process.stdout.close()
    state = store_in(folder, "busy").load().state
    assert (state.consecutive_blocks, state.blocks_for("the prompt")) == (320, 320)


def test_steering_is_switched_off_for_one_session_or_for_all_until_a_time(folder):
    one, other = store_in(folder, "one"), store_in(folder, "other")
    soon, later = (datetime.now(UTC).replace(microsecond=0) + timedelta(hours=hours) for hours in (1, 2))
    assert one.disabled_until() is None
    one.disable(soon)
    assert (one.disabled_until(), other.disabled_until()) == (soon, None)
    one.disable(later, everywhere=True)
    assert (one.disabled_until(), other.disabled_until()) == (later, later)
    one.disable(datetime.now(UTC), everywhere=True)
    assert (one.disabled_until(), other.disabled_until()) == (soon, None)
    (folder / ".disabled.json").write_text("not JSON")
    assert other.disabled_until() is None


# --- validation and recovery

FAULTS = [
    ([1, 2], "state_not_dict"),
    ("text", "state_not_dict"),
    ({}, "missing_counter"),
    ({"consecutive_blocks": None}, "missing_counter"),
    ({"consecutive_blocks": "1"}, "counter_not_int"),
    ({"consecutive_blocks": 1.0}, "counter_not_int"),
    ({"consecutive_blocks": True}, "counter_not_int"),
    ({"consecutive_blocks": -1}, "negative_counter"),
    ({"consecutive_blocks": 1001}, "counter_too_large"),
    ({"consecutive_blocks": 1}, "invalid_session_id"),
    ({"consecutive_blocks": 1, "session_id": ""}, "invalid_session_id"),
    ({"consecutive_blocks": 1, "session_id": 7}, "invalid_session_id"),
]
OTHER_FAULTS = [
    (b"", "invalid_json"),
    (b'{"consecutive_blocks": 3, "sess', "invalid_json"),
    (b"\xff\xfe", "invalid_json"),
    (b"[" * 100_000, "invalid_json"),
    ({"version": 9, "consecutive_blocks": 1, "session_id": "s"}, "newer_version"),
    ({"consecutive_blocks": 1, "session_id": "s", "failure_sets": [[1]]}, "invalid_field"),
    ({"consecutive_blocks": 1, "session_id": "s", "check_results": {"quality_score": 101}}, "invalid_field"),
    ({"consecutive_blocks": 1, "session_id": "s", "check_results": {"what": 1}}, "invalid_field"),
    ({"consecutive_blocks": 1, "session_id": "s", "blocks_by_prompt": {"p": -1}}, "invalid_field"),
    ({"consecutive_blocks": 1, "session_id": "s", "disabled_until": "soon"}, "invalid_field"),
    ({"consecutive_blocks": 1, "session_id": "s", "of_another_program": 1}, "invalid_field"),
]


@pytest.mark.parametrize(("found", "reason"), FAULTS)
def test_the_reasons_of_seed_001(found, reason):
    assert invalid_reason(found) == reason
    assert invalid_reason({"consecutive_blocks": 0, "session_id": "s"}) == ""


@pytest.mark.parametrize(("found", "reason"), FAULTS + OTHER_FAULTS)
def test_a_file_that_is_no_good_is_kept_aside_and_the_session_goes_on(folder, found, reason):
    store = store_in(folder)
    put(store, found)
    original = store.file.read_bytes()
    loaded = store.load()
    assert (loaded.code, loaded.reason) == (StateCode.VALIDATION_FAILED, reason)
    assert loaded.kept_as.read_bytes() == original
    assert loaded.state == store.default()
    (validation,) = entries_of(store, "validation")
    assert (validation["validation_failed"], validation["success"]) == (True, False)
    assert (validation["reason"], validation["code"]) == (reason, 2)
    (reset,) = entries_of(store, "state_reset")
    assert reset["reason"] == "corruption_detected"
    assert reset["counter_reset_to"] == loaded.state.consecutive_blocks
    again = store.load()
    assert (again.reason, again.state) == ("", loaded.state)


def test_counting_recovers_a_file_of_the_wrong_type_too(folder):
    store = store_in(folder)
    put(store, {"consecutive_blocks": "many", "session_id": SESSION})
    original = store.file.read_bytes()
    assert [store.count_block("p").state.consecutive_blocks for _ in range(3)] == [1, 2, 3]
    assert kept_by(store) == {original}


def test_of_many_damaged_states_the_newest_is_kept_and_no_other(folder):
    store = store_in(folder)
    for damage in (b"damaged", b"damaged", b"otherwise", b""):
        put(store, damage)
        store.load()
    assert [one.read_bytes() for one in store.file.parent.glob("state.json.corrupt*")] == [b""]


def test_a_folder_that_cannot_be_made_at_first_is_tried_again_like_a_write(folder, monkeypatch):
    obstacle = folder / SESSION
    folder.mkdir(parents=True, exist_ok=True)
    obstacle.write_text("a file where the session's folder should be")
    failures = []

    class Log:
        """Where entries are shown; the obstacle goes with the first failure."""

        def write(self, line):
            if '"state_lock"' in line:
                failures.append(json.loads(line))
                obstacle.unlink(missing_ok=True)

    monkeypatch.setattr(sys, "stderr", Log())
    saved = store_in(folder, environ={"SQ_PS_DEBUG": "1"}).count_block("p")
    assert (saved.stored, saved.state.consecutive_blocks) == (True, 1)
    assert [(one["success"], one["retry_count"]) for one in failures] == [(False, 0)]


def test_a_saved_state_costs_two_syncs_its_file_and_its_folder(folder):
    store = store_in(folder, environ={})
    store.count_block("p")
    calls = []
    sys.setprofile(lambda _frame, event, called: calls.append(called) if event == "c_call" else None)
    try:
        store.count_block("p")
    finally:
        sys.setprofile(None)
    assert [called for called in calls if called is os.fsync] == [os.fsync] * 2


def test_a_folder_in_the_files_place_is_kept_aside_too(folder):
    store = store_in(folder)
    (store.file / "inside").mkdir(parents=True)
    loaded = store.load()
    assert loaded.reason == "no_file"
    assert (loaded.kept_as / "inside").is_dir()
    assert store.count_block("p").stored


def test_a_small_damaged_state_is_in_the_log_and_a_large_one_cut(folder):
    store = store_in(folder)
    put(store, {"consecutive_blocks": -1})
    store.load()
    put(store, {"consecutive_blocks": -1, "more": "x" * 10_000})
    store.load()
    small, large = (one["corrupted_state"] for one in entries_of(store, "validation"))
    assert small == {"consecutive_blocks": -1}
    assert len(large) == 2000


STATE = {
    "version": 1,
    "consecutive_blocks": 7,
    "session_id": SESSION,
    "last_check_timestamp": "2025-12-17T19:30:00Z",
    "check_results": {"files_modified": ["file1.py"], "workflow_compliant": True, "quality_score": 85},
    "failure_sets": [["ci", "tests"], []],
    "blocks_by_prompt": {"p": 3},
    "disabled_until": "2025-12-17T20:30:00Z",
}
WHOLE = json.dumps(STATE, indent=2).encode()
PLACES = st.integers(0, len(WHOLE) - 1)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2000) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def flipped(place, bits):
    return WHOLE[:place] + bytes([WHOLE[place] ^ bits]) + WHOLE[place + 1 :]


CORRUPTIONS = st.one_of(
    st.builds(flipped, PLACES, st.integers(1, 255)),
    st.builds(lambda place: WHOLE[:place], PLACES),
    st.builds(lambda place, more: WHOLE[:place] + more + WHOLE[place:], PLACES, st.binary(max_size=8)),
    st.builds(lambda one, other: WHOLE[: min(one, other)] + WHOLE[max(one, other) :], PLACES, PLACES),
    st.builds(lambda value: json.dumps(value).encode(), JSON),
    st.builds(
        lambda name, value: json.dumps({**STATE, name: value}).encode(), st.sampled_from(sorted(STATE)), JSON
    ),
    st.binary(max_size=40),
)


def holds(state, found):
    """Whether a state has everything that a file says."""
    whole = json.loads(json.dumps(state))
    found = dict(found)
    found.pop("version", None)
    results = found.pop("check_results", {})
    return all(whole[name] == value for name, value in found.items()) and all(
        whole["check_results"][name] == value for name, value in results.items()
    )


def check_corruption(folder, content):
    from dataclasses import asdict

    store = store_in(folder, environ={"SQ_PS_NO_FSYNC": "1"})
    put(store, content)
    loaded = store.load()
    if loaded.reason:
        assert content in kept_by(store)
    else:
        assert holds(asdict(loaded.state), json.loads(content))
    counted = store.count_block("p")
    assert counted.stored
    assert counted.state.consecutive_blocks == min(loaded.state.consecutive_blocks + 1, 1000)
    assert store.load().state == counted.state


@settings(max_examples=200, deadline=None)
@given(content=CORRUPTIONS)
def test_no_corruption_raises_or_loses_the_original(tmp_path_factory, content):
    check_corruption(tmp_path_factory.mktemp("corrupt"), content)


@pytest.mark.crash
@pytest.mark.timeout(900)
@settings(max_examples=10_000, deadline=None)
@given(content=CORRUPTIONS)
def test_none_of_ten_thousand_corruptions_raises_or_loses_the_original(tmp_path_factory, content):
    check_corruption(tmp_path_factory.mktemp("corrupt"), content)


def test_an_original_that_cannot_be_kept_is_not_overwritten(folder):
    if os.geteuid() == 0:
        name = "x" * 250  # no longer name fits beside it
        store = store_in(folder)
        store.file = store.file.with_name(name)
    else:
        store = store_in(folder)
    put(store, b"damaged")
    if os.geteuid() != 0:
        store.file.parent.chmod(0o500)
    loaded = store.load()
    saved = store.count_block("p")
    assert (loaded.reason, loaded.kept_as) == ("invalid_json", None)
    assert (saved.code, saved.stored) == (StateCode.SAVE_FAILED, False)
    store.file.parent.chmod(0o700)
    assert store.file.read_bytes() == b"damaged"


# --- tries and settings


def unwritable(store):
    """A long name: its lock can be made and a temporary file beside it cannot."""
    store.file = store.file.with_name("s" * 245)
    return store


def test_when_all_tries_fail_the_file_itself_is_written_and_that_is_logged(folder):
    store = unwritable(store_in(folder))
    saved = store.count_block("p")
    assert (saved.code, saved.stored, saved.retry_count) == (StateCode.RETRIES_EXHAUSTED, True, 3)
    assert store.load().state.consecutive_blocks == 1
    failed = [one for one in entries_of(store) if not one["success"]]
    assert [(one["operation"], one["code"]) for one in failed] == [("state_save", 1)] * 4 + [
        ("state_save_retry", 4)
    ]
    assert entries_of(store, "state_save")[-1]["method"] == "in_place"


@pytest.mark.parametrize(("verify", "tries"), [("1", 2), ("0", 1)])
def test_a_disk_that_gives_back_other_bytes_is_noticed_unless_that_is_switched_off(
    folder, monkeypatch, verify, tries
):
    """The disk is what fails here: what it gives back first lacks its last byte."""
    read, spoilt = os.pread, []

    def spoiling(file, count, at):
        found = read(file, count, at)
        if count == 1 or spoilt:  # the log is looked at too
            return found
        spoilt.append(found)
        return found[:-1]

    monkeypatch.setattr(os, "pread", spoiling)
    store = store_in(folder, environ={"SQ_PS_VERIFY_WRITES": verify})
    saved = store.count_block("p")
    assert (saved.code, saved.stored, saved.retry_count) == (StateCode.OK, True, tries - 1)
    assert len(entries_of(store, "verification_read")) == tries - 1
    assert entries_of(store, "state_save")[0]["verification_success"] is (True if verify == "1" else None)


@pytest.mark.parametrize(
    ("environ", "tries"),
    [
        ({}, 4),
        ({"SQ_PS_MAX_RETRIES": "0"}, 1),
        ({"AMPLIHACK_PS_MAX_RETRIES": "5"}, 6),
        ({"SQ_PS_MAX_RETRIES": "1", "AMPLIHACK_PS_MAX_RETRIES": "5"}, 2),
        ({"SQ_PS_MAX_RETRIES": "many"}, 4),
        ({"SQ_PS_MAX_RETRIES": "-1"}, 4),
        ({"SQ_PS_MAX_RETRIES": "99"}, 9),
    ],
)
def test_the_number_of_further_tries_is_the_environments(folder, environ, tries):
    store = unwritable(store_in(folder, environ=environ))
    store.count_block("p")
    assert sum(one["operation"] == "state_save" and one["code"] == 1 for one in entries_of(store)) == tries


@pytest.mark.parametrize(
    ("delays", "waits"),
    [
        (None, [0.1, 0.2, 0.4, 0.8, 1.6]),
        ((0.05, 0.1), [0.05, 0.1, 0.2, 0.4, 0.8]),
        ((), [0, 0, 0, 0, 0]),
    ],
)
def test_the_waits_are_as_given_and_double_beyond(delays, waits):
    from orchestrator.gates.session_state.diagnostics import SteeringSettings

    used = SteeringSettings.of({}) if delays is None else SteeringSettings(retry_delays=delays)
    assert [used.delay(number) for number in range(5)] == pytest.approx(waits)


@pytest.mark.parametrize(
    ("text", "delays"),
    [("0.5, 1", (0.5, 1.0)), ("", (0.1, 0.2, 0.4)), ("a,1", (0.1, 0.2, 0.4)), ("nan", (0.1, 0.2, 0.4))],
)
def test_the_waits_are_the_environments_where_they_can_be_read(text, delays):
    from orchestrator.gates.session_state.diagnostics import SteeringSettings

    assert SteeringSettings.of({"SQ_PS_RETRY_DELAYS": text}).retry_delays == delays


def test_a_lock_that_stays_held_is_a_save_that_failed_and_changes_nothing(folder):
    from state.atomic_files import locked

    store = store_in(folder, lock_wait_s=0)
    store.count_block("p")
    with locked(store.file):
        saved = store.count_block("p")
        assert store.load().state.consecutive_blocks == 1
    assert (saved.code, saved.stored, saved.state.consecutive_blocks) == (StateCode.SAVE_FAILED, False, 2)
    assert store.load().state.consecutive_blocks == 1


def test_a_folder_that_cannot_be_made_is_a_save_that_failed(tmp_path):
    (tmp_path / "file").touch()
    store = store_in(tmp_path / "file")
    assert store.load().state == store.default()
    assert store.count_block("p").code == StateCode.SAVE_FAILED


def test_debug_shows_each_entry_on_stderr(folder, capsys):
    store_in(folder, environ={"SQ_PS_DEBUG": "1"}).load()
    assert json.loads(capsys.readouterr().err)["operation"] == "state_load"
    store_in(folder, environ={"SQ_PS_DEBUG": "0"}).load()
    assert capsys.readouterr().err == ""


def test_the_log_is_where_it_was_asked_for(folder, tmp_path):
    store_in(folder, environ={"SQ_PS_DIAGNOSTIC_LOG_DIR": str(tmp_path / "given")}).load()
    store_in(folder, environ={"SQ_PS_DIAGNOSTIC_LOG_DIR": str(tmp_path / "named")}).load()
    for name in ("given", "named"):
        (entry,) = read_lines(tmp_path / name / "diagnostic.jsonl")
        assert entry["session_id"] == SESSION


# --- diagnostics


def grep(pattern, file):
    done = subprocess.run(["grep", "-c", pattern, str(file)], capture_output=True, text=True, check=False)
    return int(done.stdout)


def test_the_grep_lines_of_seed_001_find_their_entries(folder):
    store = unwritable(store_in(folder))
    store.count_block("p")
    store.diagnostics.truncation(truncate("one two three", 8))
    store.diagnostics.truncation(truncate("short", 8))
    put(store, {"consecutive_blocks": -1, "session_id": "s"})
    store.load()
    log = store.diagnostics.file
    assert grep('"success": false', log) == sum(not one["success"] for one in entries_of(store)) > 0
    assert grep('"retry_count"', log) == sum("retry_count" in one for one in entries_of(store)) > 0
    assert grep('"validation_failed": true', log) == 1
    assert grep("truncated", log) == 1
    (cut,) = entries_of(store, "truncation")
    assert (cut["original_length"], cut["truncated_length"], cut["method"]) == (13, 6, "word")


def test_the_entries_of_a_save_and_a_load_have_the_fields_of_seed_001(folder):
    store = store_in(folder)
    store.count_block("p")
    store.load()
    save, load = entries_of(store)
    for entry in (save, load):
        assert re.fullmatch(r"\d{4}(-\d\d){2}T\d\d(:\d\d){2}\.\d{3}Z", entry.pop("timestamp"))
    shared = {"session_id": SESSION, "file_path": str(store.file), "code": 0, "success": True}
    assert save == {
        **shared,
        "operation": "state_save",
        "counter_before": 0,
        "counter_after": 1,
        "save_success": True,
        "verification_success": True,
        "retry_count": 0,
    }
    assert load == {
        **shared,
        "operation": "state_load",
        "load_success": True,
        "validation_passed": True,
        "counter_value": 1,
    }


def test_logging_never_raises(tmp_path):
    (tmp_path / "file").touch()
    Diagnostics(tmp_path / "file" / "log", session_id="s").log("state_load", value=object())
    log = Diagnostics(tmp_path / "log", session_id="\ud800")
    deep = []
    for _ in range(100_000):
        deep = [deep]
    log.log("deep", value=deep)
    log.log("odd", value={1, 2}, path=tmp_path)
    assert [one["operation"] for one in read_lines(tmp_path / "log")] == ["odd"]


def test_a_log_that_grows_is_begun_anew_and_three_files_are_kept(tmp_path):
    log = tmp_path / "log.jsonl"
    for number in range(45):
        append_line(log, {"number": number, "text": "x" * 100_000})
    assert {one.name for one in tmp_path.iterdir()} == {
        *("log.jsonl", "log.jsonl.1", "log.jsonl.2"),
        "log.jsonl.lock",
    }
    files = [tmp_path / name for name in ("log.jsonl.2", "log.jsonl.1", "log.jsonl")]
    assert all(file.stat().st_size <= 1 << 20 for file in files)
    numbers = [one["number"] for file in files for one in read_lines(file)]
    assert numbers == list(range(numbers[0], 45))


def test_a_line_that_a_crash_cut_does_not_spoil_the_next(tmp_path):
    log = tmp_path / "log.jsonl"
    append_line(log, 1)
    with log.open("a") as file:
        file.write('{"cut')
    append_line(log, 2)
    assert read_lines(log) == [1, 2]


# --- folders

ODD = [
    "../../evil",
    "",
    ".",
    "..",
    "x" * 300,
    "ünïcödé",
    "nul\0",
    "a/b",
    "\ud800",
    "~",
    ".disabled.json",
    "\n",
]


@given(st.lists(st.text(st.sampled_from("aB1._-/~ \0é")) | st.text() | st.sampled_from(ODD), unique=True))
def test_any_session_id_is_one_segment_and_distinct_ids_stay_distinct(ids):
    names = [safe_name(one) for one in ids]
    assert len(set(names)) == len(ids)
    for name in names:
        assert Path("folder", name).parts == ("folder", name)
        assert not name.startswith(".")
        assert len(os.fsencode(name)) <= 100
        assert name.isprintable()


def test_a_plain_session_id_is_its_folders_name():
    for plain in (SESSION, "orch-main", "f7f0a1de-1111-4222-8333-944445555666", "v1.2"):
        assert safe_name(plain) == plain


@pytest.mark.parametrize("session", ODD)
def test_a_session_stays_inside_its_folder(tmp_path, session):
    store = store_in(tmp_path / "deep" / "sessions", session)
    assert store.count_block("p").stored
    assert store.load().state.consecutive_blocks == 1
    assert {one.name for one in tmp_path.iterdir()} == {"deep"}
    assert {one.name for one in (tmp_path / "deep").iterdir()} == {"sessions"}
    assert store.file.parent.parent == tmp_path / "deep" / "sessions"


def test_a_projects_sessions_are_below_its_claude_folder_and_git_does_not_see_them(repository, shell):
    for _ in range(2):
        store = SteeringStore.of_project(repository, "s", environ={})
        store.count_block("p")
    assert store.file == repository / ".claude/runtime/power-steering/s/state.json"
    assert shell(repository, "git", "status", "--porcelain", "--untracked-files=all") == ""
    exclude = (repository / ".git" / "info" / "exclude").read_text().splitlines()
    assert exclude.count("/.claude/runtime/power-steering/") == 1


def test_git_does_not_see_them_in_a_worktree_or_an_odd_subfolder(repository, shell, tmp_path):
    shell(repository, "git", "worktree", "add", "--quiet", str(tmp_path / "tree"), "-b", "other")
    odd = repository / "what [is] *this*?"
    odd.mkdir()
    (repository / ".git" / "info" / "exclude").write_text("no line feed")
    for project, root in ((tmp_path / "tree", tmp_path / "tree"), (odd, repository)):
        SteeringStore.of_project(project, "s", environ={}).count_block("p")
        assert shell(root, "git", "status", "--porcelain", "--untracked-files=all") == ""
    assert "no line feed" in (repository / ".git" / "info" / "exclude").read_text().splitlines()


def test_a_project_without_git_works_all_the_same(tmp_path):
    assert SteeringStore.of_project(tmp_path, "s", environ={}).count_block("p").stored


def test_the_environment_names_another_folder(tmp_path):
    environ = {"AMPLIHACK_PS_STATE_DIR": str(tmp_path / "theirs"), "SQ_PS_STATE_DIR": str(tmp_path / "ours")}
    store = SteeringStore.of_project(tmp_path / "project", "s", environ=environ)
    assert store.file == tmp_path / "ours" / "s" / "state.json"
    environ.pop("SQ_PS_STATE_DIR")
    assert SteeringStore.of_project(tmp_path, "s", environ=environ).root == tmp_path / "theirs"


# --- results and messages


@pytest.mark.parametrize(
    ("outcomes", "score"),
    [
        ([GOOD, GOOD], 100),
        ([GOOD, CheckOutcome(satisfied=False, blocker=False)], 66),
        ([BAD, CheckOutcome(satisfied=True, blocker=False)], 33),
        ([BAD], 0),
        ([GOOD, CheckOutcome(satisfied=True, blocker=True, made=False)], 50),
        ([GOOD, CheckOutcome(satisfied=True, blocker=False, made=False)], 66),
        ([CheckOutcome(satisfied=True, blocker=True, made=False)], None),
    ],
)
def test_the_quality_score_weighs_blockers_twice(outcomes, score):
    assert CheckResults.of([], outcomes).quality_score == score


def test_where_nothing_was_checked_there_is_no_score_and_the_file_says_null(folder):
    results = CheckResults.of(["a.py"], [])
    assert (results.quality_score, results.workflow_compliant) == (None, None)
    assert results.message() == "1 modified file, not checked."
    assert CheckResults.of([], []).message() == "No files were modified, not checked."
    store = store_in(folder)
    store.record_check(results, [])
    stored = json.loads(store.file.read_text())["check_results"]
    assert stored == {"files_modified": ["a.py"], "workflow_compliant": None, "quality_score": None}
    assert store.load().reason == ""
    assert store.load().state.check_results == results


def test_the_workflow_is_followed_unless_a_blocker_of_it_failed():
    warning = CheckOutcome(satisfied=False, blocker=False, workflow=True)
    blocker = CheckOutcome(satisfied=False, blocker=True, workflow=True)
    assert CheckResults.of(["a"], [warning, BAD]).workflow_compliant
    assert not CheckResults.of(["a"], [GOOD, blocker]).workflow_compliant


@pytest.mark.parametrize(
    ("files", "compliant", "quality", "message"),
    [
        (0, False, 0, "No files were modified."),
        (2, False, 100, "There are 2 modified files, but the workflow was not followed."),
        (1, False, 100, "There is 1 modified file, but the workflow was not followed."),
        (2, True, 69, "2 modified files. 69 % of the checks are met by weight: look at the others."),
        (1, True, 70, "1 modified file. 70 % of the checks are met by weight."),
    ],
)
def test_the_four_messages(files, compliant, quality, message):
    names = tuple(f"file{number}.py" for number in range(files))
    results = CheckResults(files_modified=names, workflow_compliant=compliant, quality_score=quality)
    assert results.message() == message


def test_a_hook_that_loads_the_store_loads_nothing_heavy():
    code = "import sys, orchestrator.gates.session_state.store; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    heavy = {"msgspec", "pydantic", "anyio", "yaml", "jinja2", "claude_agent_sdk", "anthropic", "asyncio"}
    assert heavy & set(done.stdout.split()) == set()
