"""The table below the lines of `sq run`: where each task is, its action now, its cost and time, at any size."""

import io
from dataclasses import replace
from datetime import timedelta

import pytest
from language.event_strategies import stored, task
from language.large_runs import twelve_tasks
from language.steering import MARKUP, steering_in
from rich.cells import cell_len
from rich.console import Console

from orchestrator.cli import options
from orchestrator.cli.main import COMMANDS
from orchestrator.views.run.console import task_table
from orchestrator.views.run.story import RunStory
from state.journal import events as e

FOLLOW = ("sq watch rbeg", "sq dash rbeg")


def told(events):
    story = RunStory()
    story.add_all(events)
    return story


def shown(story, *, width=80, height=24, later=7, follow=FOLLOW):
    now = story.view.clock.last_at + timedelta(seconds=later)
    out = io.StringIO()
    table = task_table(story, now, width=width, height=height, follow=follow)
    Console(file=out, width=width, height=height).print(table)
    return out.getvalue().splitlines()


def row(lines, task_id):
    return next(line for line in lines if line.startswith(f"{task_id} "))


@pytest.fixture(scope="module")
def twelve():
    return told(twelve_tasks())


def test_each_task_says_where_it_is_and_what_it_does_or_waits_for(twelve):
    lines = shown(twelve, width=120)
    assert lines[0].split() == ["task", "where", "now", "try", "it", "cost", "for"]
    assert "in review  reviewer: Read shop/cart.py" in row(lines, "cart")
    assert "building   worker: Bash python -m pytest -q" in row(lines, "invoice")
    assert row(lines, "invoice").split()[-4:] == ["1", "4", "$0.60", "0:55"]
    assert "waiting    for cart, invoice" in row(lines, "report")
    assert "waiting    for a place (2 of 2 taken: cart, invoice)" in row(lines, "search")
    assert row(lines, "search").split()[-4:] == ["—"] * 4
    assert "needs you  asks: Delete the column users.legacy" in row(lines, "accounts")
    assert "stuck      completion was refused 3 times" in row(lines, "mail")


def test_the_lines_below_tell_time_cost_budget_questions_and_the_commands_that_follow(twelve):
    assert shown(twelve)[-2:] == [
        "28:04 since the start, last sign 0:07 ago · $3.81+ of $10.00 ($0.60 held)",
        "1 answered, 1 parked · sq watch rbeg · sq dash rbeg",
    ]


@pytest.mark.parametrize("width", [20, 40, 60, 79, 80, 120, 200])
@pytest.mark.parametrize("height", [6, 10, 24, 60])
def test_no_line_is_wider_and_the_whole_is_not_taller_than_the_terminal(twelve, width, height):
    lines = shown(twelve, width=width, height=height)
    assert max(map(cell_len, lines)) <= width
    assert len(lines) < height
    assert any(line.startswith("acco") for line in lines)


def test_tasks_without_a_line_are_counted_the_merged_ones_first(twelve):
    lines = shown(twelve, height=13)
    assert "not shown: 4 merged" in lines
    assert row(lines, "newsletter")
    lines = shown(twelve, height=9)
    assert "not shown: 1 not finished, 3 waiting, 4 merged" in lines
    assert row(lines, "invoice")


def test_characters_that_take_two_columns_do_not_move_the_others():
    wide = task("漢字漢字漢字漢字漢字漢字漢字漢字")
    story = told(stored([e.PlanAccepted(tasks=(wide, task("b")), criteria=())]))
    story.view.clock.started_at = story.view.clock.last_at
    lines = shown(story)
    assert {cell_len(line[: line.index("waiting")]) for line in lines if "waiting" in line} == {22}


def test_hostile_texts_in_every_cell_act_on_no_terminal(hostile):
    events = twelve_tasks()
    planned = next(one for one in events if isinstance(one.event, e.PlanAccepted))
    texts = (*MARKUP, *hostile)
    for start in range(0, len(texts), 500):
        part = texts[start : start + 500]
        tasks = tuple(replace(task(f"{number}{text}"), title=text) for number, text in enumerate(part))
        stuck = [
            e.TaskStuck(task_id=one.id, reason=text) for one, text in zip(tasks[::2], part[::2], strict=True)
        ]
        begun = stored([events[0].event, replace(planned.event, tasks=tasks), *stuck])
        lines = shown(told(begun), width=160, height=600, follow=(part[0],))
        assert len([line for line in lines if " stuck " in line or " waiting " in line]) >= len(part)
        assert steering_in("\n".join(lines)) == []


def test_the_commands_that_follow_a_run_exist_and_name_another_state_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    here = options.following(tmp_path / ".sq" / "runs" / "20260131-140000-rbeg")
    assert here[0] == "sq watch rbeg"
    assert {line.split()[1] for line in here} <= set(COMMANDS)
    elsewhere = options.following(tmp_path / "other place" / "runs" / "20260131-140000-rbeg")
    assert elsewhere[0] == f"sq watch rbeg --state-dir '{tmp_path}/other place'"
