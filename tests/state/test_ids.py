"""Ids: unique, sortable, and what those who read them accept."""

import re
import uuid
from datetime import UTC, datetime, timedelta

from state.ids import new_call_id, new_session_id, run_id_at

MOMENT = datetime(2026, 1, 31, 14, 25, 1, tzinfo=UTC)


def test_ids_made_one_after_the_other_differ():
    assert len({new_call_id() for _ in range(10_000)}) == 10_000
    assert len({new_session_id() for _ in range(1000)}) == 1000
    assert len({run_id_at(MOMENT) for _ in range(100)}) > 90


def test_a_run_id_says_when_and_holds_nothing_that_is_mistaken_for_something_else():
    run_id = run_id_at(MOMENT)
    assert re.fullmatch(r"20260131-142501-[a-z2-9]{4}", run_id)
    assert not set("ilo01") & set(run_id[-4:])


def test_run_ids_sort_by_time():
    ids = [
        run_id_at(MOMENT + timedelta(seconds=seconds)) for seconds in (0, 0.05, 0.9, 1, 60, 3600, 86_400 * 40)
    ]
    assert ids == sorted(ids)


def test_a_session_id_is_a_uuid_as_the_cli_wants_it():
    assert str(uuid.UUID(new_session_id()))
