"""Which tasks are moved on: examples, and whole runs played on the plain function with fates drawn beforehand."""

import heapq
from collections import deque
from enum import StrEnum
from itertools import count, cycle

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.run.moves import next_moves
from state.journal.events.merges import MergeView
from state.journal.events.tasks import ENDED_STAGES, AttemptView, Stage, TaskView
from state.journal.phase import is_under_way, may_begin, movable
from state.records.plan import Task

MANY = 100
BADLY_ENDED = sorted(ENDED_STAGES - {Stage.MERGED})


def a_task(id_, *needs, takes=1, stage=Stage.WAITING, is_open=False, merging=False):
    record = Task(id=id_, title=id_, description="", dependencies=needs, estimated_iterations=takes)
    merge = MergeView("c1", "c0") if merging else None
    return TaskView(record, stage=stage, open=AttemptView(is_open=is_open), merge=merge)


def plan(*tasks):
    return {each.task.id: each for each in tasks}


def building(id_, *needs, **more):
    return a_task(id_, *needs, stage=Stage.BUILDING, is_open=True, **more)


def sent_back(id_, *needs, **more):
    return a_task(id_, *needs, stage=Stage.BUILDING, **more)


def approved(id_, *needs, **more):
    return a_task(id_, *needs, stage=Stage.APPROVED, **more)


def merged(id_, *needs):
    return a_task(id_, *needs, stage=Stage.MERGED)


# --- what begins -------------------------------------------------------------------------------------------


def test_independent_tasks_all_begin_at_once_as_far_as_there_are_places():
    tasks = plan(*map(a_task, "abcd"))
    assert next_moves(tasks, (), 4) == ["a", "b", "c", "d"]
    assert next_moves(tasks, (), 3) == ["a", "b", "c"]
    assert next_moves(tasks, {"a", "b"}, 3) == ["c"]
    assert next_moves(tasks, {"a", "b", "c"}, 3) == []


def test_of_a_chain_one_begins_after_the_other_however_many_places_there_are():
    assert next_moves(plan(a_task("a"), a_task("b", "a"), a_task("c", "b")), (), MANY) == ["a"]
    assert next_moves(plan(merged("a"), a_task("b", "a"), a_task("c", "b")), (), MANY) == ["b"]
    assert next_moves(plan(building("a"), a_task("b", "a"), a_task("c", "b")), {"a"}, MANY) == []


def test_of_a_diamond_both_sides_begin_together_and_the_end_when_both_are_merged():
    def diamond(top, left, right):
        return plan(top("a"), left("b", "a"), right("c", "a"), a_task("d", "b", "c"))

    assert next_moves(diamond(a_task, a_task, a_task), (), MANY) == ["a"]
    assert next_moves(diamond(merged, a_task, a_task), (), MANY) == ["b", "c"]
    assert next_moves(diamond(merged, merged, building), {"c"}, MANY) == []
    assert next_moves(diamond(merged, merged, merged), (), MANY) == ["d"]


@pytest.mark.parametrize("stage", BADLY_ENDED)
def test_a_task_that_ended_badly_holds_back_only_what_depends_on_it(stage):
    tasks = plan(a_task("a", stage=stage), a_task("b", "a"), a_task("c", "b"), a_task("d"))
    assert next_moves(tasks, (), MANY) == ["d"]
    del tasks["d"]
    assert next_moves(tasks, (), MANY) == movable(tasks) == []


def test_the_longest_way_to_the_end_comes_first():
    tasks = plan(a_task("a", takes=3), a_task("b"), a_task("c", "b", takes=4))
    assert next_moves(tasks, (), 1) == ["b"]
    assert next_moves(tasks, {"b"}, 2) == ["a"]


def test_of_equally_long_ways_the_plans_order_decides_and_no_estimate_counts_as_one():
    assert next_moves(plan(*(a_task(id_, takes=2) for id_ in "cab")), (), 2) == ["c", "a"]
    assert next_moves(plan(a_task("a", takes=0), a_task("b", takes=1)), (), 1) == ["a"]


def test_what_has_ended_makes_no_way_longer():
    tasks = plan(
        a_task("a", takes=2),
        sent_back("b"),
        a_task("c", "b", takes=9, stage=Stage.MERGED),
        sent_back("d", takes=2),
    )
    assert next_moves(tasks, (), 1) == ["d"]


def test_where_nothing_is_left_nothing_is_moved():
    assert next_moves({}, (), MANY) == []
    assert next_moves(plan(merged("a"), a_task("b", stage=Stage.STUCK)), (), MANY) == []


# --- what goes on ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", [Stage.ACCEPTED, Stage.COMMITTED, Stage.APPROVED])
def test_a_task_under_way_holds_its_place_and_goes_on_before_another_begins(stage):
    tasks = plan(a_task("a", takes=9), a_task("b", stage=stage))
    assert next_moves(tasks, (), 1) == ["b"]
    assert next_moves(tasks, {"b"}, 1) == []


def test_what_was_sent_back_comes_before_what_has_not_begun():
    tasks = plan(a_task("a", takes=9), sent_back("b"))
    assert next_moves(tasks, (), 1) == ["b"]
    assert next_moves(tasks, (), 2) == ["b", "a"]


def test_what_was_sent_back_waits_for_a_place_like_any_other():
    assert next_moves(plan(building("a"), sent_back("b")), {"a"}, 1) == []


def test_of_two_merged_tasks_that_are_sent_back_the_one_that_needs_the_other_is_built_after_it():
    assert next_moves(plan(sent_back("a"), sent_back("b", "a"), merged("c", "b")), (), MANY) == ["a"]
    assert next_moves(plan(merged("a"), sent_back("b", "a"), merged("c", "b")), (), MANY) == ["b"]
    assert next_moves(plan(sent_back("a"), merged("b", "a"), sent_back("c", "b")), (), MANY) == ["a", "c"]


@pytest.mark.parametrize("stage", BADLY_ENDED)
def test_what_was_sent_back_and_needs_what_ended_badly_is_never_moved_again(stage):
    tasks = plan(a_task("a", stage=stage), sent_back("b", "a"))
    assert next_moves(tasks, (), MANY) == movable(tasks) == []


def test_an_open_attempt_goes_on_whatever_became_of_what_it_needs():
    assert next_moves(plan(sent_back("a"), building("b", "a")), (), MANY) == ["b", "a"]


def test_with_fewer_places_than_tasks_under_way_only_so_many_go_on_and_none_begins():
    tasks = plan(a_task("a"), *(building(id_) for id_ in "bcd"))
    assert next_moves(tasks, (), 2) == ["b", "c"]
    assert next_moves(tasks, {"b"}, 2) == ["c"]
    assert next_moves(tasks, {"b", "c", "d"}, 2) == []


# --- merging -----------------------------------------------------------------------------------------------


def test_one_task_is_merged_at_a_time_and_the_others_keep_their_places():
    tasks = plan(approved("a"), approved("b", takes=2), a_task("c"))
    assert next_moves(tasks, (), 2) == ["b"]
    assert next_moves(tasks, {"b"}, 2) == []
    assert next_moves(tasks, {"b"}, 3) == ["c"]


def test_a_merge_that_was_begun_is_finished_before_another_begins():
    tasks = plan(approved("a", takes=9), approved("b", merging=True), building("c"))
    assert next_moves(tasks, (), 3) == ["b", "c"]
    assert next_moves(tasks, (), 1) == ["b"]


# --- any run -----------------------------------------------------------------------------------------------


class Fate(StrEnum):
    """What becomes of an attempt."""

    MERGED = "merged"
    STUCK = "stuck"
    SENT_BACK = "sent back by its review"
    UNVERIFIED = "not reviewed"
    NOT_MERGED = "sent back by its merge"


class Play:
    """A run played without agents: each move takes some time and leads where the fates say."""

    def __init__(self, *, tasks, fates, final_reviews, places, durations):
        self.tasks = {
            id_: a_task(id_, *each.task.dependencies, takes=each.task.estimated_iterations)
            for id_, each in tasks.items()
        }
        self.fates = {id_: deque(of_task) for id_, of_task in fates.items()}
        self.final_reviews = deque(final_reviews)
        self.places = places
        self.durations = cycle(durations)
        self.busy = {}  # task → its stage when its move began

    def run(self):
        """The stage in which each task is left."""
        ends, now, number = [], 0, count()
        while True:
            for id_ in self.begin_moves():
                heapq.heappush(ends, (now + next(self.durations), next(number), id_))
            if ends:
                now, _, id_ = heapq.heappop(ends)
                self.end_move(id_)
            elif not self.final_review_finds_something():
                return {id_: task.stage for id_, task in self.tasks.items()}

    def begin_moves(self):
        chosen = next_moves(self.tasks, list(self.busy), self.places)
        check_moves(self.tasks, set(self.busy), self.places, chosen)
        for id_ in chosen:
            task = self.tasks[id_]
            self.busy[id_] = task.stage
            if task.stage in {Stage.WAITING, Stage.BUILDING}:
                task.stage, task.open.is_open = Stage.BUILDING, True
            if task.stage is Stage.APPROVED:
                task.merge = MergeView("c1", "c0")
        return chosen

    def end_move(self, id_):
        task, fate = self.tasks[id_], next(iter(self.fates[id_]), Fate.MERGED)
        task.merge = None
        match self.busy.pop(id_), fate:
            case (Stage.WAITING | Stage.BUILDING, Fate.STUCK):
                task.stage = Stage.STUCK
            case (Stage.WAITING | Stage.BUILDING, _):
                task.stage = Stage.ACCEPTED
            case (Stage.ACCEPTED, _):
                task.stage, task.open.is_open = Stage.COMMITTED, False
            case (Stage.COMMITTED, Fate.UNVERIFIED):
                task.stage = Stage.UNVERIFIED
            case (Stage.COMMITTED, Fate.SENT_BACK) | (Stage.APPROVED, Fate.NOT_MERGED):
                task.stage = Stage.BUILDING
            case (Stage.COMMITTED, _):
                task.stage = Stage.APPROVED
            case (Stage.APPROVED, _):
                task.stage = Stage.MERGED
        if task.stage in {*ENDED_STAGES, Stage.BUILDING} and self.fates[id_]:
            self.fates[id_].popleft()

    def final_review_finds_something(self):
        if not self.final_reviews or any(task.stage is not Stage.MERGED for task in self.tasks.values()):
            return False
        for id_ in self.final_reviews.popleft():
            self.tasks[id_].stage = Stage.BUILDING
        return True


def way(tasks, id_):
    """The length of a task's way to the end."""
    later = [
        way(tasks, each)
        for each, task in tasks.items()
        if id_ in task.task.dependencies and task.stage not in ENDED_STAGES
    ]
    return max(1, tasks[id_].task.estimated_iterations) + max(later, default=0)


def urgency(tasks, id_):
    return (tasks[id_].stage is Stage.WAITING, -way(tasks, id_), list(tasks).index(id_))


def check_moves(tasks, busy, places, chosen):
    """What has to be true of every answer."""
    now_busy = busy | set(chosen)
    holding = now_busy | {id_ for id_, task in tasks.items() if is_under_way(task)}
    begun = [id_ for id_ in chosen if not is_under_way(tasks[id_])]
    left = [id_ for id_ in tasks if id_ not in now_busy and may_begin(tasks, id_)]
    assert chosen == next_moves(tasks, sorted(busy), places)
    assert len(now_busy) == len(busy) + len(chosen)
    assert len(holding) <= places
    assert len(holding) == places or not left
    for id_ in begun:
        assert all(tasks[needed].stage is Stage.MERGED for needed in tasks[id_].task.dependencies)
        assert all(urgency(tasks, id_) < urgency(tasks, other) for other in left)
    idle = [id_ for id_ in holding - now_busy if tasks[id_].stage is not Stage.APPROVED]
    assert idle == []
    to_be_merged = {id_ for id_, task in tasks.items() if task.stage is Stage.APPROVED}
    assert len(to_be_merged & now_busy) == bool(to_be_merged)


@st.composite
def graphs(draw, most=7):
    """Plans whose tasks need others of any place in the plan, never in a circle."""
    ids = [f"t{number}" for number in range(draw(st.integers(1, most)))]
    tasks = [
        a_task(
            id_, *(needed for needed in ids[:number] if draw(st.booleans())), takes=draw(st.integers(0, 8))
        )
        for number, id_ in enumerate(ids)
    ]
    return plan(*draw(st.permutations(tasks)))


@st.composite
def plays(draw):
    """A graph with the fates of its tasks: nothing in it is a matter of time."""
    tasks = draw(graphs())
    fates = {id_: draw(st.lists(st.sampled_from(Fate), max_size=3)) for id_ in tasks}
    if draw(st.booleans()):  # only where all is merged there is a final review
        fates = {
            id_: [fate for fate in those if fate not in {Fate.STUCK, Fate.UNVERIFIED}]
            for id_, those in fates.items()
        }
    final_reviews = draw(st.lists(st.sets(st.sampled_from(sorted(tasks)), min_size=1), max_size=2))
    return {"tasks": tasks, "fates": fates, "final_reviews": final_reviews}


PLACES = st.integers(1, 4)
DURATIONS = st.lists(st.integers(0, 9), min_size=1, max_size=12)
thoroughly = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@thoroughly
@given(play=plays(), places=PLACES, durations=DURATIONS)
def test_a_run_merges_all_but_what_ended_and_what_depends_on_that(play, places, durations):
    played = Play(**play, places=places, durations=durations)
    left = played.run()
    assert movable(played.tasks) == []
    for id_, stage in left.items():
        if stage not in ENDED_STAGES:
            assert any(left[needed] is not Stage.MERGED for needed in played.tasks[id_].task.dependencies)


@thoroughly
@given(play=plays(), data=st.data())
def test_what_becomes_of_each_task_depends_neither_on_places_nor_on_how_long_moves_take(play, data):
    both = [Play(**play, places=data.draw(PLACES), durations=data.draw(DURATIONS)).run() for _ in range(2)]
    assert both[0] == both[1]


@st.composite
def any_state(draw):
    """Any combination of stages, as a resume may find it, also with more under way than there are places."""
    tasks = draw(graphs())
    for task in tasks.values():
        task.stage = draw(st.sampled_from(Stage))
        task.open.is_open = task.stage is Stage.BUILDING and draw(st.booleans())
        task.merge = MergeView("c1", "c0") if task.stage is Stage.APPROVED and draw(st.booleans()) else None
    return tasks


@thoroughly
@given(tasks=any_state())
def test_what_can_be_moved_with_places_enough_is_what_counts_as_movable(tasks):
    chosen = next_moves(tasks, (), MANY)
    to_be_merged = {id_ for id_, task in tasks.items() if task.stage is Stage.APPROVED}
    assert set(chosen) | to_be_merged == set(movable(tasks))
    assert len(to_be_merged & set(chosen)) == bool(to_be_merged)
    assert len(movable(tasks)) == len(set(movable(tasks)))


@thoroughly
@given(tasks=any_state(), places=PLACES, data=st.data())
def test_no_state_is_a_dead_end_and_none_moves_more_tasks_than_there_are_places(tasks, places, data):
    assert bool(next_moves(tasks, (), places)) == bool(movable(tasks))
    busy = data.draw(st.sets(st.sampled_from(sorted(tasks))))
    chosen = next_moves(tasks, busy, places)
    assert set(chosen) <= set(movable(tasks)) - busy
    assert len(chosen) <= max(0, places - len(busy))
    begun = [id_ for id_ in chosen if not is_under_way(tasks[id_])]
    holding = {id_ for id_, task in tasks.items() if is_under_way(task)} | busy | set(begun)
    assert not begun or len(holding) <= places
