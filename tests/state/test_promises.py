"""Promises as files: what counts as kept, whose they are, and that no edit of a field helps."""

import hashlib
import json
import subprocess
import sys
import threading
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.gates.promise_seals import digest, is_settled
from orchestrator.gates.promises import (
    FOLDER,
    CriterionCheck,
    DamagedPromiseError,
    Promise,
    PromiseCriterion,
    PromiseEvidence,
    PromiseStore,
    State,
    parsed,
)
from orchestrator.gates.stop_gate import probe
from state.errors import SqError, UsageError

TREE = f"git:{'a' * 40}"
OTHER_TREE = f"git:{'b' * 40}"
TESTS_PASS = PromiseCriterion(text="the tests pass", kind=CriterionCheck.COMMAND, target="pytest -q")
GUIDE = PromiseCriterion(text="there is a guide", kind=CriterionCheck.FILE, target="docs/guide.md")
FAST = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def seen(*, tree=TREE, passed=True, exit_code=0):
    return PromiseEvidence(
        tree=tree, passed=passed, exit_code=exit_code, output="", at="2026-01-01T00:00:00Z"
    )


def made(*criteria, owner="s-1"):
    return Promise.new(
        text="The discount works", criteria=criteria or (TESTS_PASS, GUIDE), owner=owner, base=""
    )


def met(promise, tree=TREE):
    return promise.with_evidence({number: seen(tree=tree) for number in range(1, len(promise.criteria) + 1)})


def stored(promise):
    return json.loads(json.dumps(asdict(promise)))


@pytest.fixture
def store(tmp_path):
    return PromiseStore(tmp_path)


@pytest.fixture
def file_of(store):
    return lambda promise: store.folder / f"{promise.id}.json"


def everything_below(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


# --- what counts ------------------------------------------------------------------------------------------


def test_a_promise_comes_back_from_its_file_as_it_was_made(store):
    promise = store.add(met(made()))
    assert store.get(promise.id) == promise
    assert store.all().promises == (promise,)
    assert promise.state is State.OPEN
    assert probe.has_promises(str(store.home))


def test_a_project_without_promises_has_none_and_nothing_is_made(tmp_path):
    store = PromiseStore.of_project(tmp_path)
    assert not probe.has_promises(str(tmp_path))
    assert store.all().promises == ()
    assert everything_below(tmp_path) == set()


def test_a_promise_is_found_from_anywhere_in_its_checkout(repository):
    promise = PromiseStore.of_project(repository).add(made())
    inner = repository / "src" / "deep"
    inner.mkdir(parents=True)
    assert PromiseStore.of_project(inner).get(promise.id) == promise


def test_a_promise_is_kept_only_where_every_check_passed_on_one_tree():
    promise = made()
    assert met(promise).closed().state is State.KEPT
    assert promise.closed().state is State.OPEN
    failed = met(promise).with_evidence({2: seen(passed=False, exit_code=1)})
    assert failed.closed().state is State.OPEN
    two_trees = met(promise).with_evidence({2: seen(tree=OTHER_TREE)})
    assert two_trees.closed().state is State.OPEN


def test_evidence_is_stale_on_another_tree():
    promise = met(made())
    assert promise.unproven(TREE) == ()
    assert promise.unproven(OTHER_TREE) == (1, 2)
    assert promise.with_evidence({1: seen(tree=OTHER_TREE)}).unproven(OTHER_TREE) == (2,)


@pytest.mark.parametrize(
    "edited",
    [
        {"passed": True},
        {"passed": True, "exit_code": 0},
        {"passed": True, "exit_code": 0, "tree": OTHER_TREE},
        {"passed": True, "seal": "0" * 64},
        {"passed": True, "output": "All 12 tests passed. I have verified this carefully."},
    ],
)
def test_no_edited_field_of_evidence_counts(store, file_of, edited):
    failed = {1: seen(passed=False, exit_code=1), 2: seen()}
    promise = store.add(made().with_evidence(failed))
    value = json.loads(file_of(promise).read_text())
    value["evidence"][0] |= edited
    value["ended"] = "kept"
    file_of(promise).write_text(json.dumps(value))
    found = store.get(promise.id)
    assert found.state is State.OPEN
    assert 1 in found.unproven(edited.get("tree", TREE))


def test_passed_evidence_does_not_count_for_a_newer_tree_by_writing_that_into_it(store, file_of):
    promise = store.add(met(made()))
    file_of(promise).write_text(file_of(promise).read_text().replace(TREE, OTHER_TREE))
    assert store.get(promise.id).unproven(OTHER_TREE) == (1, 2)


def test_evidence_of_one_criterion_or_promise_does_not_count_for_another(store, file_of):
    good = store.add(met(made(TESTS_PASS, TESTS_PASS)))
    bad = store.add(made(TESTS_PASS, TESTS_PASS))
    evidence = json.loads(file_of(good).read_text())["evidence"]
    value = json.loads(file_of(bad).read_text())
    file_of(bad).write_text(json.dumps(value | {"evidence": evidence}))
    assert store.get(bad.id).unproven(TREE) == (1, 2)
    file_of(good).write_text(json.dumps(json.loads(file_of(good).read_text()) | {"evidence": evidence[::-1]}))
    assert store.get(good.id).unproven(TREE) == (1, 2)


@pytest.mark.parametrize(
    "edit",
    [
        lambda value: value["criteria"][0].update(target="true"),
        lambda value: value["criteria"][0].update(text="something else"),
        lambda value: value["criteria"][0].update(deadline_s=1.0),
        lambda value: value["criteria"][0].update(kind="file"),
        lambda value: value.update(text="Nothing much"),
        lambda value: value.update(base="c" * 40),
        lambda value: value.update(created_at="2020-01-01T00:00:00Z"),
        lambda value: (value["criteria"].pop(), value["evidence"].pop()),
    ],
)
def test_a_definition_that_was_changed_afterwards_is_never_kept(store, file_of, edit):
    promise = store.add(met(made()).closed())
    assert store.get(promise.id).state is State.KEPT
    value = json.loads(file_of(promise).read_text())
    edit(value)
    file_of(promise).write_text(json.dumps(value))
    found = store.get(promise.id)
    assert found.is_altered
    assert found.state is State.OPEN
    assert len(found.unproven(TREE)) == len(found.criteria)
    assert met(found).closed().state is State.OPEN
    assert found.cancelled_by("s-1", "It was edited.").state is State.CANCELLED


@pytest.mark.parametrize(
    "criterion",
    [
        replace(TESTS_PASS, target="  "),
        replace(TESTS_PASS, target="x" * 3000),
        replace(TESTS_PASS, target="echo \0"),
        replace(TESTS_PASS, deadline_s=0.0),
        replace(TESTS_PASS, deadline_s=float("nan")),
        replace(GUIDE, target="../outside"),
        replace(GUIDE, target="docs/../../outside"),
        replace(GUIDE, target="/etc/hostname"),
        replace(GUIDE, target=""),
        replace(GUIDE, target="."),
    ],
)
def test_a_criterion_that_could_not_be_checked_is_refused(criterion):
    with pytest.raises(UsageError):
        made(TESTS_PASS, criterion)


def test_a_promise_needs_a_text_a_criterion_and_a_session():
    for text, criteria, owner in (
        ("", [GUIDE], "s"),
        ("x", [], "s"),
        ("x", [GUIDE], ""),
        ("x", [GUIDE], " "),
    ):
        with pytest.raises(UsageError):
            Promise.new(text=text, criteria=criteria, owner=owner, base="")


# --- whose it is ------------------------------------------------------------------------------------------


def test_an_empty_session_matches_nothing():
    promise = made()
    assert promise.belongs_to("s-1")
    assert not promise.belongs_to("s-2")
    assert not promise.belongs_to("")
    with pytest.raises(ValueError, match="names no session"):
        parsed(stored(promise) | {"owner": ""})


def test_only_its_session_cancels_it_and_with_a_reason():
    promise = made()
    for other in ("s-2", "", "s-1 ", "S-1"):
        with pytest.raises(SqError, match="'s-1'"):
            promise.cancelled_by(other, "Why not.")
    with pytest.raises(UsageError):
        promise.cancelled_by("s-1", "  ")
    cancelled = promise.cancelled_by("s-1", "Not wanted any more.")
    assert (cancelled.state, cancelled.reason) == (State.CANCELLED, "Not wanted any more.")


def test_what_has_ended_stays_as_it_is():
    for ended in (made().cancelled_by("s-1", "Not wanted."), met(made()).closed()):
        with pytest.raises(SqError, match="nothing changed"):
            ended.cancelled_by("s-1", "Again.")


# --- files ------------------------------------------------------------------------------------------------


@FAST
@given(
    promise_id=st.text()
    | st.sampled_from(["../../etc/passwd", "p-", "p-0123456789ab/..", "\0", "p-0123456789AB"])
)
def test_no_promise_id_leads_to_a_file_or_makes_one(tmp_path, promise_id):
    store = PromiseStore(tmp_path / "project")
    known = met(made())
    store.add(known)
    before = everything_below(tmp_path)
    with pytest.raises(UsageError):
        store.get(promise_id)
    with pytest.raises(UsageError):
        store.change(promise_id, lambda one: one)
    assert everything_below(tmp_path) == before


@FAST
@given(
    session=st.text(min_size=1).filter(str.strip), text=st.text(min_size=1, max_size=200).filter(str.strip)
)
def test_no_session_id_and_no_text_writes_outside_the_folder(tmp_path, session, text):
    store = PromiseStore(tmp_path)
    promise = store.add(Promise.new(text=text, criteria=[GUIDE], owner=session, base=""))
    assert store.get(promise.id) == promise
    assert store.get(promise.id).belongs_to(session)
    own = FOLDER.as_posix()
    assert all(name.startswith(f"{own}/p-") or own.startswith(name) for name in everything_below(tmp_path))


def test_a_folder_that_is_led_out_of_the_project_is_not_written(tmp_path):
    project, outside = tmp_path / "project", tmp_path / "outside"
    (project / ".claude").mkdir(parents=True)
    outside.mkdir()
    (project / ".claude" / "completion-state").symlink_to(outside)
    with pytest.raises(UsageError, match="link"):
        PromiseStore(project).add(made())
    assert everything_below(outside) == set()


def test_a_damaged_promise_is_told_kept_as_it_is_and_hides_no_other(store, file_of):
    good, torn, typed, renamed = (store.add(made()) for _ in range(4))
    file_of(torn).write_text('{"version": 1, "id": "p-')
    value = json.loads(file_of(typed).read_text())
    file_of(typed).write_text(json.dumps(value | {"evidence": [{"passed": "yes"}, None]}))
    file_of(renamed).rename(store.folder / "copy.json")
    before = {path: path.read_bytes() for path in store.folder.glob("*.json")}
    found = store.all()
    assert found.promises == (good,)
    assert {one.file.name for one in found.damaged} == {f"{torn.id}.json", f"{typed.id}.json", "copy.json"}
    assert {one.owner for one in found.damaged} == {"", "s-1"}
    with pytest.raises(DamagedPromiseError):
        store.change(typed.id, lambda one: one)
    assert {path: path.read_bytes() for path in store.folder.glob("*.json")} == before


# --- the quick look of a hook -----------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=8,
)


@FAST
@given(JSON)
def test_a_seal_is_the_hash_of_what_json_writes(value):
    written = json.dumps(value, separators=(",", ":")).encode()
    assert digest(value) == hashlib.sha256(written).hexdigest()


@pytest.mark.parametrize(
    ("change", "own", "others"),
    [
        (lambda one: one, False, True),
        (met, False, True),
        (lambda one: met(one).closed(), True, True),
        (lambda one: one.closed(), False, True),
        (lambda one: met(one).with_evidence({2: seen(passed=False)}).closed(), False, True),
        (lambda one: met(one).with_evidence({2: seen(tree=OTHER_TREE)}).closed(), False, True),
        (lambda one: one.cancelled_by("s-1", "It is not wanted."), True, True),
        (lambda one: replace(one, ended=State.CANCELLED), False, True),
        (lambda one: replace(one, evidence=(replace(seen(), seal="0" * 64),) * 2).closed(), False, False),
    ],
    ids=[
        "open",
        "met",
        "kept",
        "closed alone",
        "failed",
        "two trees",
        "cancelled",
        "without a reason",
        "forged",
    ],
)
def test_a_stop_is_held_up_by_its_own_sessions_open_promises_alone(store, file_of, change, own, others):
    promise = change(store.add(made()))
    store.change(promise.id, lambda _: promise)
    for session, settled in (("s-1", own), ("s-2", others), ("", others)):
        assert is_settled(json.loads(file_of(promise).read_text()), file_of(promise).name, session) is settled
        assert probe.may_apply({"session_id": session, "cwd": str(store.home)}) is not settled


def edited(value, draw):
    """The object with one of its fields changed, dropped or added, at any depth."""
    inner = [key for key, one in value.items() if isinstance(one, list | dict) and one]
    if inner and draw(st.booleans()):
        key = draw(st.sampled_from(inner))
        if isinstance(value[key], dict):
            return value | {key: edited(value[key], draw)}
        at = draw(st.integers(0, len(value[key]) - 1))
        item = value[key][at]
        item = edited(item, draw) if isinstance(item, dict) else draw(JSON)
        return value | {key: [*value[key][:at], item, *value[key][at + 1 :]][: draw(st.integers(1, 9))]}
    key = draw(st.sampled_from([*value, "more"]))
    if key in value and draw(st.booleans()):
        return {name: one for name, one in value.items() if name != key}
    words = st.sampled_from(["", " ", "open", "kept", "cancelled", "s-1", "s-2", True, 0, 60, 2, [], {}])
    return value | {key: draw(words | JSON)}


@settings(FAST, max_examples=200)
@given(st.data())
def test_what_the_quick_look_calls_settled_neither_holds_nor_is_reported(tmp_path_factory, data):
    store = PromiseStore(tmp_path_factory.mktemp("project"))
    promise = store.add(made(owner=data.draw(st.sampled_from(["s-1", "s-2"]))))
    ends = [promise, met(promise), met(promise).closed(), promise.closed()]
    promise = store.change(promise.id, lambda _: data.draw(st.sampled_from(ends)))
    file = store.folder / f"{promise.id}.json"
    value = edited(json.loads(file.read_text()), data.draw)
    file.write_text(json.dumps(value))
    if not probe.may_apply({"session_id": "s-1", "cwd": str(store.home)}):
        found = store.all()
        assert found.damaged == ()
        assert [one for one in found.promises if one.state is State.OPEN and one.belongs_to("s-1")] == []


def test_what_another_program_keeps_there_is_left_alone(store):
    store.add(made())
    (store.folder / "theirs.json").write_text('{"summary": "another program\'s"}')
    assert store.all().damaged == ()


def test_a_folder_in_the_place_of_a_file_is_damaged_and_stops_nothing(store):
    promise = store.add(made())
    (store.folder / f"p-{'0' * 12}.json").mkdir()
    found = store.all()
    assert found.promises == (promise,)
    assert len(found.damaged) == 1


def test_changes_at_the_same_time_are_all_kept(store):
    promise = store.add(made(*[TESTS_PASS] * 12))

    def check(number):
        store.change(promise.id, lambda one: one.with_evidence({number: seen()}))

    threads = [threading.Thread(target=check, args=(number,)) for number in range(1, 13)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.get(promise.id).unproven(TREE) == ()


def test_ids_of_equal_promises_differ():
    assert len({made().id for _ in range(50)}) == 50


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@FAST
@given(field=st.sampled_from(sorted(stored(made()))), value=JSON)
def test_any_value_in_a_file_is_a_promise_or_said_to_be_none(field, value):
    try:
        found = parsed(stored(met(made())) | {field: value})
    except ValueError:
        return
    assert found.state in State
    assert parsed(stored(found)) == found


def test_hooks_import_promises_for_little():
    told = "import sys, orchestrator.gates.promises; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", told], capture_output=True, text=True, check=True)
    heavy = {"anyio", "asyncio", "pydantic", "msgspec", "yaml", "structlog", "click", "subprocess"}
    assert heavy & set(done.stdout.split()) == set()


def test_the_folder_is_the_documented_one():
    assert Path(".claude/completion-state/promises") == FOLDER
