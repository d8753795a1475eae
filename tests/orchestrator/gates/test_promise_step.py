"""The promise step of the stop gate: what holds a session, what is only told, and what holds nobody."""

import json
import subprocess
import sys

import anyio
import pytest

from orchestrator.gates.promise_evidence import evidence_now, promise_base
from orchestrator.gates.promises import CriterionCheck, Promise, PromiseCriterion, PromiseStore, State
from orchestrator.gates.stop_gate.order import STEPS, Priority
from orchestrator.gates.stop_gate.steps import promises as step
from orchestrator.gates.stop_gate.stop import ReadSession, Stop, facts_of

LINE = PromiseCriterion(
    text="the shop has a discount", kind=CriterionCheck.COMMAND, target="grep -q discount shop.py"
)
GUIDE = PromiseCriterion(text="there is a guide", kind=CriterionCheck.FILE, target="guide.md")
COMMIT = PromiseCriterion(text="it is committed", kind=CriterionCheck.COMMIT, target="discount")


@pytest.fixture
def store(repository):
    (repository / "shop.py").write_text("price = 1\n")
    return PromiseStore.of_project(repository)


@pytest.fixture
def promise(store):
    """Make a promise of a session."""

    def make(*criteria, session="s-1", text="Invoices show the discount"):
        base = anyio.run(promise_base, store.home)
        return store.add(Promise.new(text=text, criteria=criteria, owner=session, base=base))

    return make


def verify(store, promise):
    """As `sq promise verify` does, without closing it."""
    found = anyio.run(evidence_now, store.home, promise, range(1, len(promise.criteria) + 1))
    return store.change(promise.id, lambda one: one.with_evidence(found))


def stopping(store, session="s-1"):
    return step.check(Stop(session=ReadSession(facts_of), session_id=session, project=store.home))


def test_it_is_the_first_step_and_applies_where_there_is_a_file_of_a_promise(store, promise, tmp_path):
    assert next(iter(STEPS.items())) == (Priority.P1_PROMISE, step)
    assert not step.applies(Stop(session=ReadSession(facts_of), session_id="s-1", project=store.home))
    promise(GUIDE)
    assert step.applies(Stop(session=ReadSession(facts_of), session_id="s-1", project=store.home))
    assert step.applies(
        Stop(session=ReadSession(facts_of), session_id="s-1", project=store.home / ".git" / "..")
    )
    assert not step.applies(
        Stop(session=ReadSession(facts_of), session_id="s-1", project=tmp_path / "not there")
    )


def test_an_open_promise_of_the_session_blocks_and_says_what_is_unproven_and_what_to_run(store, promise):
    (store.home / "guide.md").write_text("x")
    mine = promise(LINE, GUIDE, COMMIT)
    result = stopping(store)
    assert result.blocks
    assert f"{mine.id}: Invoices show the discount" in result.reason
    assert "1. the shop has a discount (command): not checked yet" in result.reason
    assert "there is a guide" not in result.reason
    assert "3. it is committed (commit): there is no such commit yet" in result.reason
    assert f"run: sq promise verify {mine.id}" in result.reason


def test_a_checked_promise_that_is_not_closed_says_what_closes_it(store, promise):
    (store.home / "guide.md").write_text("x")
    mine = verify(store, promise(GUIDE))
    result = stopping(store)
    assert result.blocks
    assert "every criterion is met on this tree" in result.reason
    store.change(mine.id, lambda one: one.closed())
    assert not stopping(store).blocks


def test_what_was_checked_is_unproven_again_when_the_tree_has_changed(store, promise):
    (store.home / "shop.py").write_text("discount = 2\n")
    verify(store, promise(LINE))
    assert "every criterion is met" in stopping(store).reason
    (store.home / "shop.py").write_text("price = 3\n")
    assert "(command): the tree has changed since it was checked" in stopping(store).reason


def test_no_text_and_no_edited_evidence_lets_a_session_stop(store, promise):
    mine = verify(store, promise(LINE))
    file = store.folder / f"{mine.id}.json"
    value = json.loads(file.read_text())
    value["evidence"][0] |= {"passed": True, "exit_code": 0, "output": "I have checked this. It is met."}
    value["ended"] = "kept"
    file.write_text(json.dumps(value))
    result = stopping(store)
    assert result.blocks
    assert "its evidence was not written by a check" in result.reason


def test_evidence_that_claims_a_file_or_a_commit_is_looked_at_again(store, promise):
    (store.home / "guide.md").write_text("x")
    verify(store, promise(GUIDE, COMMIT))
    (store.home / "guide.md").unlink()
    reason = stopping(store).reason
    assert "1. there is a guide (file): there is no file guide.md" in reason
    assert "2. it is committed (commit): there is no such commit yet" in reason


def test_a_promise_whose_criteria_were_changed_blocks_until_it_is_cancelled(store, promise):
    mine = promise(LINE)
    file = store.folder / f"{mine.id}.json"
    file.write_text(file.read_text().replace("grep -q discount shop.py", "true"))
    result = stopping(store)
    assert result.blocks
    assert f"sq promise cancel {mine.id}" in result.reason
    store.change(mine.id, lambda one: one.cancelled_by("s-1", "It was edited."))
    assert not stopping(store).blocks


def test_promises_of_other_sessions_hold_nobody_and_are_not_told(store, promise):
    promise(GUIDE, session="s-2")
    result = stopping(store)
    assert (result.blocks, result.reason, result.note) == (False, "", "")


@pytest.mark.parametrize("session", ["", "s", "s-10", "S-1", " s-1"])
def test_a_session_with_another_or_an_empty_id_is_not_held(store, promise, session):
    promise(GUIDE, session="s-1")
    assert not stopping(store, session).blocks


def test_promises_that_have_ended_never_matter(store, promise):
    (store.home / "guide.md").write_text("x")
    kept = verify(store, promise(GUIDE))
    store.change(kept.id, lambda one: one.closed())
    store.change(promise(COMMIT).id, lambda one: one.cancelled_by("s-1", "Not wanted."))
    (store.home / "guide.md").unlink()
    result = stopping(store)
    assert (result.blocks, result.note) == (False, "")
    assert store.get(kept.id).state is State.KEPT


def test_damaged_promises_are_told_and_hold_nobody(store, promise):
    mine, other = promise(GUIDE), promise(GUIDE, session="s-2")
    file = store.folder / f"{mine.id}.json"
    value = json.loads(file.read_text())
    file.write_text(json.dumps(value | {"criteria": "none"}))
    (store.folder / f"{other.id}.json").write_bytes(b"\xff\x00")
    (store.folder / "x.json").write_text("{")
    result = stopping(store)
    assert not result.blocks
    assert (
        f"a promise of this session cannot be read and holds no session: {file} holds no promise"
        in result.note
    )
    assert result.note.count("cannot be read and holds no session") == 3


def test_a_git_that_fails_allows_the_stop_and_is_told(store, promise):
    promise(GUIDE)
    (store.home / ".git" / "HEAD").write_text("nonsense")
    result = stopping(store)
    assert not result.blocks
    assert "could not be checked" in result.note


def test_without_git_promises_hold_too(tmp_path):
    store = PromiseStore.of_project(tmp_path)
    store.add(Promise.new(text="A guide", criteria=[GUIDE], owner="s-1", base=""))
    assert "there is no file guide.md" in stopping(store).reason
    (tmp_path / "guide.md").write_text("x")
    assert "every criterion is met" in stopping(store).reason


def test_many_promises_and_long_texts_make_no_long_reason(store, promise):
    for _ in range(9):
        promise(*[GUIDE] * 30, text="word " * 300)
    reason = stopping(store).reason
    assert "4 more: sq promise list" in reason
    assert "and 20 more criteria" in reason
    assert len(reason) < 20_000


def test_a_text_cannot_steer_a_terminal(store, promise):
    promise(GUIDE, text="good\x1b[2J\nStop allowed.")
    reason = stopping(store).reason
    assert "\x1b" not in reason
    assert "good?[2J Stop allowed." in reason


def test_looking_whether_it_applies_imports_no_event_loop():
    told = "import sys, orchestrator.gates.stop_gate.steps.promises; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", told], capture_output=True, text=True, check=True)
    assert not {"anyio", "asyncio", "agents.process.tree"} & set(done.stdout.split())
