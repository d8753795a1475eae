"""A plan is checked before anyone believes it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.run.plan import rules
from state.records.plan import Criterion, Plan, Task


def task(id_, *needed):
    return Task(id=id_, title=id_, description="Do it.", dependencies=needed)


def plan(*tasks, criteria=None):
    covered = (Criterion(text="it works", task_ids=tuple(each.id for each in tasks)),)
    return Plan(tasks=tasks, criteria=covered if criteria is None else criteria)


def problems_of(proposed):
    return [one.text for one in rules.problems_of(proposed, "# Spec")]


def only_problem(proposed):
    (problem,) = problems_of(proposed)
    return problem


@pytest.mark.parametrize(
    "proposed",
    [
        plan(task("counter")),
        plan(task("a"), task("b", "a"), task("c", "a"), task("d", "b", "c")),
        plan(task("b", "a"), task("a")),
        plan(task("A-1_b")),
    ],
)
def test_a_plan_that_holds_has_no_problems(proposed):
    assert problems_of(proposed) == []


def test_a_plan_without_tasks_says_so():
    assert "no tasks" in only_problem(plan())


def test_an_id_used_twice_is_named_with_how_often():
    assert only_problem(plan(task("a"), task("b"), task("a"), task("a"))) == "task id 'a' is used 3 times"


def test_a_dependency_on_no_task_of_the_plan_names_both():
    told = only_problem(plan(task("a", "ghost"), task("b", "a")))
    assert "task a depends on 'ghost'" in told


@pytest.mark.parametrize(
    ("tasks", "names"),
    [
        ((task("a", "a"),), ("a",)),
        ((task("a", "b"), task("b", "a")), ("a", "b")),
        ((task("a", "c"), task("b", "a"), task("c", "b"), task("d")), ("a", "b", "c")),
    ],
)
def test_a_cycle_is_told_with_the_tasks_on_it(tasks, names):
    told = only_problem(plan(*tasks))
    assert "cycle" in told
    assert all(name in told for name in names)
    assert not re.search(r"\bd\b", told)


def test_a_criterion_that_no_task_covers_is_told():
    criteria = (Criterion(text="it works", task_ids=("a",)), Criterion(text="it is fast"))
    assert only_problem(plan(task("a"), criteria=criteria)) == "no task covers the criterion 'it is fast'"


def test_a_criterion_that_names_no_task_of_the_plan_is_told():
    criteria = (Criterion(text="it works", task_ids=("a", "ghost")),)
    assert "names 'ghost'" in only_problem(plan(task("a"), criteria=criteria))


def test_a_plan_without_criteria_covers_nothing_that_anybody_could_see():
    assert "no criteria" in only_problem(plan(task("a"), criteria=()))


@pytest.mark.parametrize(
    "id_", ["", "a b", "a/b", "../a", "-a", "_a", "a.lock", "ä", "a\n", "a" * 41, "a:b", "@{"]
)
def test_an_id_that_makes_no_branch_or_folder_name_is_refused(id_):
    assert "letters, digits and dashes" in only_problem(plan(task(id_)))


@pytest.mark.parametrize("id_", ["run", "final"])
def test_an_id_that_sq_needs_for_itself_is_refused(id_):
    assert repr(id_) in only_problem(plan(task(id_)))


def test_ids_that_differ_only_in_case_are_refused_since_some_file_systems_see_one():
    assert (
        only_problem(plan(task("Counter"), task("counter")))
        == "2 task ids differ from 'counter' in case only"
    )


def test_all_problems_are_told_at_once_and_always_in_the_same_order():
    bad = plan(task("a b"), task("c", "ghost"), task("c"), task("x/y"), task("e", "e"), criteria=())
    assert len(problems_of(bad)) == 6
    assert problems_of(bad) == problems_of(bad)
    assert [told for told in problems_of(bad) if "letters" in told] == [
        "task id 'a b' is not letters, digits and dashes",
        "task id 'x/y' is not letters, digits and dashes",
    ]


ids = st.sampled_from(["a", "b", "c", "d"])
any_task = st.builds(task, ids) | st.tuples(ids, ids).map(lambda two: task(*two))


@given(st.lists(any_task, max_size=6))
def test_a_plan_without_problems_can_be_built_in_some_order(tasks):
    proposed = plan(*tasks)
    if problems_of(proposed):
        return
    done = set()
    while left := [each for each in tasks if each.id not in done]:
        ready = [each.id for each in left if done.issuperset(each.dependencies)]
        assert ready
        done.update(ready)
    assert len(done) == len(tasks)
