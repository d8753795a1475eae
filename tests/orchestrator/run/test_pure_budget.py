"""Budgets as a plain function of the view: shares of sessions side by side never add up to more than there is."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from language.beginnings import call_started

from orchestrator.run.asking.budget import (
    BudgetExhausted,
    BudgetHeld,
    Wanted,
    committed,
    reserve,
    task_tokens,
)
from state.journal import events as e
from state.journal.events import Stored
from state.journal.fold.fold import apply
from state.journal.view import RunView
from state.records.calls import CallEnd
from state.records.plan import Task
from state.roles import Role
from state.settings.presets import model_named, usual_settings
from state.settings.records import Settings

OPUS = model_named("opus")
TASKS = tuple(Task(id=f"t{number}", title="", description="") for number in range(6))


def settings(run_usd: float, task_usd: float | None = None, places: int = 4) -> Settings:
    return replace(
        usual_settings(), budget_run_usd=run_usd, budget_task_usd=task_usd or run_usd, max_parallel=places
    )


class Book:
    """A run's view, and the calls that are made by the book."""

    def __init__(self, given: Settings) -> None:
        self.view = RunView()
        self.settings = given
        self.tell(e.PlanAccepted(tasks=TASKS, criteria=()))

    def tell(self, event: e.Event) -> None:
        apply(self.view, Stored(self.view.clock.last_seq + 1, datetime.now(UTC), event))

    def begin(self, call_id: str, task: str, *, role: Role = Role.WORKER, text: str = "Go.") -> None:
        wanted = Wanted(task_id=task, model=OPUS, text=text, session=role is Role.WORKER)
        reserved = reserve(self.view, self.settings, wanted)
        self.tell(
            call_started(
                call_id,
                role,
                task,
                model="opus",
                reserved_usd=reserved.usd,
                allowed_usd=reserved.allowed_usd or 0.0,
            )
        )

    def end(self, call_id: str, cost: float) -> None:
        self.tell(e.CallEnded(call_id=call_id, end=CallEnd.COMPLETED, cost_usd=cost))

    def allowed(self, call_id: str) -> float:
        return self.view.calls[call_id].allowed_usd


def test_sessions_side_by_side_share_what_is_left_and_a_single_one_has_it_all() -> None:
    book = Book(settings(8.0))
    for number in range(4):
        book.begin(f"c{number}", f"t{number}")
    assert sum(book.allowed(f"c{number}") for number in range(4)) <= 8.0
    assert book.allowed("c0") == pytest.approx(2.0)
    alone = Book(settings(8.0, places=1))
    alone.begin("c0", "t0")
    assert alone.allowed("c0") == pytest.approx(8.0)


def test_a_session_gets_no_more_than_its_tasks_budget() -> None:
    book = Book(settings(100.0, task_usd=3.0))
    book.begin("c0", "t0")
    assert book.allowed("c0") == pytest.approx(3.0)


def test_whoever_finds_everything_held_waits_and_goes_on_when_a_session_has_settled() -> None:
    book = Book(settings(1.0, places=2))
    book.begin("c0", "t0")
    book.begin("c1", "t1")
    with pytest.raises(BudgetHeld):
        book.begin("c2", "t2")
    book.end("c0", 0.1)
    book.begin("c2", "t2")
    assert book.allowed("c2") == pytest.approx(0.4)


def test_where_nobody_holds_anything_what_is_used_up_is_used_up() -> None:
    book = Book(settings(1.0, places=2))
    book.begin("c0", "t0")
    book.end("c0", 1.0)
    with pytest.raises(BudgetExhausted) as told:
        book.begin("c1", "t1")
    assert told.value.task_id == ""


def test_a_developer_is_not_held_up_by_the_share_of_the_worker_that_waits_for_it() -> None:
    book = Book(settings(1.0, places=1))
    book.begin("c0", "t0")
    assert book.allowed("c0") == pytest.approx(1.0)
    book.begin("c1", "t0", role=Role.DEVELOPER)
    assert book.view.calls["c1"].held_usd > 0


@given(
    steps=st.lists(st.tuples(st.integers(0, 5), st.floats(0, 1)), max_size=40),
    places=st.integers(1, 8),
    usd=st.floats(0.2, 20),
)
def test_what_sessions_may_spend_together_never_exceeds_the_budget(
    steps: list[tuple[int, float]], places: int, usd: float
) -> None:
    book = Book(settings(usd, places=places))
    open_calls: dict[str, str] = {}
    for number, (task, part) in enumerate(steps):
        task_id = f"t{task}"
        if task_id in open_calls:  # it ends within its share
            call_id = open_calls.pop(task_id)
            book.end(call_id, book.allowed(call_id) * part)
        elif len(open_calls) < places:
            try:
                book.begin(f"c{number}", task_id)
            except (BudgetExhausted, BudgetHeld):
                continue
            open_calls[task_id] = f"c{number}"
        assert committed(book.view, shares=True) <= usd * (1 + 1e-9)


def test_a_session_is_told_its_tokens_by_the_time_that_is_left_if_its_model_knows_them() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    knows, other = model_named("sonnet"), replace(model_named("sonnet"), id="claude-sonnet-4-6")
    assert task_tokens(knows, now + timedelta(hours=1), now) == 3_600 * 60
    assert task_tokens(knows, now + timedelta(seconds=5), now) == 20_000, "the API takes no less"
    assert task_tokens(knows, None, now) is None
    assert task_tokens(other, now + timedelta(hours=1), now) is None
