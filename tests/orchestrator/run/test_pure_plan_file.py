"""A plan in a file: it comes back as it was, and a bad edit is named by its line."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from language.tables import rows

from orchestrator.run.plan.plan_file import PlanContents, is_edited, plan_text, read_plan
from orchestrator.run.plan.quotes import placed
from state.errors import UsageError
from state.records.plan import ConstraintKind, Criterion, CriterionKind, Plan, Task, TestThatChanges
from state.records.spec_check import Decider, FaultKind, SpecAnswer

SPEC = "# Notes\n\nCreate notes.txt with a line.\nWrite no test for notes.\nCreate notes.txt with a line.\n"
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
QUOTES = TEXTS | st.sampled_from(
    ["Create notes.txt", "notes", "with a line. Write no test", "", '"""', '\\"']
)
ANSWERS = st.builds(
    SpecAnswer,
    kind=st.sampled_from(FaultKind),
    quote=TEXTS.filter(str.strip),
    question=TEXTS.filter(str.strip),
    answer=TEXTS.filter(str.strip),
    by=st.sampled_from(Decider),
)


@st.composite
def contents(draw):
    ids = draw(
        st.lists(st.from_regex(r"t[a-z0-9-]{0,8}", fullmatch=True), min_size=1, max_size=4, unique=True)
    )
    tasks = tuple(
        Task(
            id=id_,
            title=draw(TEXTS),
            description=draw(TEXTS),
            acceptance_criteria=tuple(draw(st.lists(TEXTS, max_size=3))),
            dependencies=tuple(draw(st.lists(st.sampled_from(ids[:number]), unique=True)) if number else ()),
            estimated_iterations=draw(st.integers(-(2**40), 2**40)),
            without_tests=draw(st.sampled_from(["", "Write no test for notes."])),
        )
        for number, id_ in enumerate(ids)
    )
    criteria = st.builds(
        Criterion,
        text=TEXTS,
        task_ids=st.lists(st.sampled_from(ids), min_size=1, unique=True).map(tuple),
        quote=QUOTES,
        spec_lines=st.sampled_from([(0, 0), (3, 3), (5, 5), (9, 12)]),
        kind=st.sampled_from(CriterionKind),
        constraint=st.none() | st.sampled_from(ConstraintKind),
        names=st.lists(TEXTS, max_size=2).map(tuple),
    )
    plan = Plan(
        tasks=tasks,
        criteria=tuple(draw(st.lists(criteria, min_size=1, max_size=3))),
        tests_that_change=tuple(draw(st.lists(st.builds(TestThatChanges, test=TEXTS), max_size=2))),
    )
    return PlanContents(
        plan=placed(plan, SPEC),
        reviewed=draw(st.booleans()),
        suggestions=tuple(draw(st.lists(TEXTS, max_size=2))),
        decisions=tuple(draw(st.lists(ANSWERS, max_size=2))),
    )


def written(one: PlanContents) -> str:
    return plan_text(one, SPEC, spec_name="spec.md", file_name="plan.toml", notes=["forecast: none\nat all"])


@given(contents())
def test_a_plan_comes_back_from_its_file_as_it_was(tmp_path_factory, one):
    file = tmp_path_factory.getbasetemp() / "plan.toml"
    file.write_text(written(one), "utf-8", newline="")
    assert read_plan(file, SPEC) == one
    assert not is_edited(written(one))


NOTES = PlanContents(
    plan=placed(
        Plan(
            tasks=(
                Task(id="notes", title="Notes", description="Write:\n[[task]]\nname = 1", acceptance_criteria=("it is",)),
                Task(id="more", title="More", description="Add.", dependencies=("notes",), estimated_iterations=7),
            ),
            criteria=(Criterion(text="there is a line", quote="Create notes.txt with a line.", task_ids=("notes", "more")),),
        ),
        SPEC,
    )
)  # fmt: skip


@pytest.mark.parametrize(*rows(__file__, "edits"))  # fmt: skip
def test_a_bad_edit_is_named_by_its_line_and_what_to_do(
    tmp_path: Path, before: str, after: str, says: str
) -> None:
    file = tmp_path / "plan.toml"
    assert before in written(NOTES)
    edited = written(NOTES).replace(before, after)
    file.write_text(edited)
    assert is_edited(edited)
    line = edited[: edited.index(after)].count("\n") + 1
    with pytest.raises(UsageError) as raised:
        read_plan(file, SPEC)
    assert says.replace("{1}", str(line + 1)).replace("{}", str(line)) in str(raised.value)


def test_a_plan_that_is_missing_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="sq run --plan-only"):
        read_plan(tmp_path / "plan.toml", SPEC)


def test_white_space_of_a_quote_does_not_count_and_what_a_planner_said_from_memory_is_no_quote(
    tmp_path: Path,
) -> None:
    file = tmp_path / "plan.toml"
    quote = 'quote = "Create notes.txt with a line."'
    folded = written(NOTES).replace(quote, 'quote = """\nWrite  no test\n for notes. """')
    file.write_text(folded)
    assert read_plan(file, SPEC).plan.criteria[0].spec_lines == (4, 4)
    file.write_text(written(NOTES).replace(quote, 'quote = "Create notes.txt with a line. Write nothing."'))
    with pytest.raises(UsageError, match="the spec does not hold the quote"):
        read_plan(file, SPEC)
    spoken = replace(NOTES.plan.criteria[0], quote="Create the notes.txt with one line.")
    remembered = replace(NOTES, plan=replace(NOTES.plan, criteria=(spoken,)))
    assert 'words = "Create the notes.txt with one line."' in written(remembered)
    file.write_text(written(remembered).replace("turns = 7", "turns = 8"))
    assert read_plan(file, SPEC).plan.criteria[0].quote == spoken.quote
