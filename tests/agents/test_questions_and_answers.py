"""Questions as the Worker's call holds them, and the Developer's answers, checked one by one (lesson 23)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from language.tables import rows, table

from agents.roles.developer import answers_schema, questions_in, read_answers
from state.records.questions import Question, QuestionOption, label_meant, labels_meant, why_no_answer

NAME = Question(
    text="Which name?", options=(QuestionOption(label="getCount"), QuestionOption(label="get_count"))
)
COLOURS = Question(
    text="Which colours?",
    options=tuple(QuestionOption(label=label) for label in ("Red", "Green", "Blue")),
    multi_select=True,
)
WHY = Question(text="Why?")


def answer(to, *labels, free_text="", **more):
    said = {"question": to.text, "labels": list(labels), "free_text": free_text}
    return {**said, "reason": "the spec says so", "reversible": True, **more}


def read(questions, *answers):
    return read_answers({"answers": list(answers)}, questions)


# --- questions ------------------------------------------------------------------------------------------


def call(**more):
    option = {"label": "getCount", "description": "as the spec"}
    return {"questions": [{"question": "Which name?", "header": "Name", "options": [option], **more}]}


def test_a_question_is_read_with_its_options():
    (question,) = questions_in(call(multiSelect=True))
    assert question == Question(
        text="Which name?",
        header="Name",
        options=(QuestionOption(label="getCount", description="as the spec"),),
        multi_select=True,
    )


def test_several_questions_stay_in_order():
    asked = {"questions": [{"question": text} for text in ("First?", "Second?", "Third?")]}
    assert [question.text for question in questions_in(asked)] == ["First?", "Second?", "Third?"]


def test_a_questions_text_is_kept_as_written_since_the_answer_is_found_by_it():
    (question,) = questions_in(call(question=" Which name? \n"))
    assert question.text == " Which name? \n"


@pytest.mark.parametrize("arguments", table(__file__, "refused"))
def test_a_call_without_questions_is_told_what_to_pass(arguments):
    told = questions_in(arguments)
    assert isinstance(told, str)
    assert "questions" in told


@pytest.mark.parametrize(
    "question",
    [None, "Which?", 5, {}, {"question": ""}, {"question": "  \n"}, {"question": None}, {"header": "x"}],
)
def test_an_empty_question_asks_for_a_clarification(question):
    told = questions_in({"questions": [{"question": "Fine?"}, question]})
    assert isinstance(told, str)
    assert "empty" in told


@pytest.mark.parametrize(
    "options",
    [None, [], "Red", 5, True, {"label": "Red"}, [None, 1, "Red", {}, {"label": ""}, {"label": None}]],
)
def test_options_that_are_none_make_it_an_open_question(options):
    (question,) = questions_in(call(options=options))
    assert question.options == ()


@pytest.mark.parametrize("value", ["true", 1, None, [True]])
def test_only_true_makes_a_question_take_several_labels(value):
    assert not questions_in(call(multiSelect=value))[0].multi_select


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["question", "questions", "options", "label", "answers", "labels"]), inner
        )
    ),
    max_leaves=15,
)


@given(json_values, json_values)
def test_no_call_and_no_answer_makes_a_reader_raise(arguments, options):
    assert questions_in(arguments)
    assert questions_in({"questions": arguments})
    assert questions_in(call(options=options))
    assert read_answers(arguments if isinstance(arguments, dict) else {"answers": arguments}, (NAME,))


# --- answers --------------------------------------------------------------------------------------------


def test_each_question_gets_its_own_answer():
    first, second, third = read(
        (NAME, COLOURS, WHY),
        answer(NAME, "get_count"),
        answer(COLOURS, "Red", "Blue"),
        answer(WHY, free_text=" because "),
    )
    assert (first.question, first.text) == ("Which name?", "get_count")
    assert (second.labels, second.text) == (("Red", "Blue"), "Red, Blue")
    assert (third.labels, third.free_text, third.text) == ((), "because", "because")


def test_an_answer_keeps_its_reason_and_whether_it_can_be_undone():
    (given_,) = read((NAME,), answer(NAME, "getCount", reversible=False))
    assert (given_.reason, given_.reversible) == ("the spec says so", False)


STORE = Question(
    text="Which store?",
    options=(
        QuestionOption(label="SQLite (Recommended)", description="one file"),
        QuestionOption(label="Postgres", description="a server: shared"),
        QuestionOption(label="mul"),
    ),
)


@pytest.mark.parametrize(*rows(__file__, "labels"))
def test_a_reply_that_can_only_be_one_label_is_that_label(said, label):
    assert read((STORE,), answer(STORE, said))[0].labels == (label,)
    assert read((STORE,), answer(STORE, free_text=said))[0].labels == (label,)


@pytest.mark.parametrize(
    "said", ["Postgres: one file", "SQL", "mul: short", "mul or Postgres", "(Recommended)"]
)
def test_a_reply_that_differs_from_every_label_is_none(said):
    assert "none of the options" in read((STORE,), answer(STORE, said))


def test_a_reply_that_could_be_two_labels_is_neither_unless_it_is_one_to_the_letter():
    redis = Question(
        text="Which?",
        options=tuple(QuestionOption(label=label) for label in ("Redis", "Redis (local)", "redis (cloud)")),
    )
    assert read((redis,), answer(redis, "Redis"))[0].labels == ("Redis",)
    assert "none of the options" in read((redis,), answer(redis, "redis"))


def test_a_free_text_beside_options_is_marked_as_such_and_one_without_options_is_not():
    (beside,) = read((NAME,), answer(NAME, free_text="call it count"))
    (alone,) = read((WHY,), answer(WHY, free_text="because"))
    assert beside.marked == "call it count (free text, none of the options)"
    assert alone.marked == "because"


def test_the_schema_of_the_reply_enumerates_the_labels_of_each_question():
    one = answers_schema((NAME,))["properties"]["answers"]["items"]
    assert one["properties"]["labels"]["items"]["enum"] == ["getCount", "get_count"]
    each = answers_schema((NAME, COLOURS, WHY))["properties"]["answers"]["items"]["anyOf"]
    labels = [item["properties"]["labels"]["items"].get("enum") for item in each]
    assert labels == [["getCount", "get_count"], ["Red", "Green", "Blue"], None]
    assert [item["properties"]["question"]["const"] for item in each] == [NAME.text, COLOURS.text, WHY.text]


@given(st.text(max_size=40), st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=4, unique=True))
def test_no_reply_becomes_a_label_that_was_not_offered_and_each_label_is_itself(said, labels):
    options = [QuestionOption(label=label, description=said) for label in labels]
    assert label_meant(said, options) in {None, *labels}
    assert [label_meant(label, options) for label in labels] == labels


@pytest.mark.parametrize("label", ["getcounts", "get count", "getCount: as the spec", "", "Neither"])
def test_a_label_that_was_not_offered_is_refused_and_not_guessed_at(label):
    told = read((NAME,), answer(NAME, label))
    assert isinstance(told, str)
    assert "'Which name?'" in told
    assert "getCount, get_count" in told


def test_a_label_for_a_question_without_options_is_refused():
    assert "there are none" in read((WHY,), answer(WHY, "Because"))


def test_where_no_option_fits_a_free_text_does():
    (given_,) = read((NAME,), answer(NAME, free_text="call it count"))
    assert (given_.labels, given_.text) == ((), "call it count")


def test_a_label_beats_a_free_text_beside_it():
    (given_,) = read((NAME,), answer(NAME, "getCount", free_text="or so"))
    assert (given_.text, given_.free_text) == ("getCount", "")


def test_several_labels_count_only_where_several_may_be_chosen():
    assert read((COLOURS,), answer(COLOURS, "Red", "Blue"))[0].labels == ("Red", "Blue")
    assert "only one" in read((NAME,), answer(NAME, "getCount", "get_count"))


@pytest.mark.parametrize("free_text", ["", " \n"])
def test_neither_label_nor_text_is_no_answer(free_text):
    assert "neither" in read((NAME,), answer(NAME, free_text=free_text))


@pytest.mark.parametrize("count", [0, 1, 3])
def test_one_answer_for_several_questions_or_one_too_many_is_refused(count):
    told = read((NAME, WHY), *[answer(NAME, "getCount")] * count)
    assert isinstance(told, str)
    assert f"{count} answered" in told


def test_answers_in_another_order_go_to_the_questions_they_name():
    one, other = (
        Question(text="Delete a?", options=NAME.options),
        Question(text="Delete b?", options=NAME.options),
    )
    answers = read((one, other), answer(other, "get_count"), answer(one, "getCount"))
    assert [(each.question, each.text) for each in answers] == [
        ("Delete a?", "getCount"),
        ("Delete b?", "get_count"),
    ]


def test_an_answer_finds_its_question_whatever_its_case_white_space_and_punctuation():
    answers = read(
        (NAME, WHY),
        answer(WHY, free_text="x", question="why"),
        answer(NAME, "getCount", question="Which  name"),
    )
    assert [(each.question, each.text) for each in answers] == [("Which name?", "getCount"), ("Why?", "x")]


@pytest.mark.parametrize("spelled", ["What is the name?", "name", ""])
def test_the_one_answer_to_one_question_counts_whatever_its_spelling_of_the_question(spelled):
    (one,) = read((NAME,), answer(NAME, "getCount", question=spelled))
    assert (one.question, one.text) == ("Which name?", "getCount")


@pytest.mark.parametrize("strange", ["Which colour?", "name", ""])
def test_of_several_answers_one_to_a_question_that_was_not_asked_is_not_delivered(strange):
    told = read((NAME, WHY), answer(NAME, "getCount", question=strange), answer(WHY, free_text="x"))
    assert isinstance(told, str)
    assert "was not asked" in told
    assert "'Which name?'" in told


def test_two_answers_that_name_the_same_question_are_refused():
    one, other = (
        Question(text="Delete a?", options=NAME.options),
        Question(text="Delete b?", options=NAME.options),
    )
    told = read((one, other), answer(one, "getCount"), answer(one, "get_count"))
    assert isinstance(told, str)
    assert "'Delete b?' has no answer" in told


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        {"answers": "getCount"},
        {"answers": [{}]},
        {"answers": ["getCount"]},
        {"answers": [answer(NAME, "getCount")], "complete": True},
    ],
)
def test_a_reply_of_another_shape_is_refused_with_where_it_differs(data):
    told = read_answers(data, (NAME,))
    assert isinstance(told, str)
    assert "wrong shape: answers" in told or "wrong shape: complete" in told


SEVERAL = Question(
    text="Which?", options=tuple(QuestionOption(label=one) for one in ("a", "b, c", "d")), multi_select=True
)
ONE = replace(SEVERAL, multi_select=False)


@pytest.mark.parametrize(
    ("said", "question", "labels"),
    [
        ("2", ONE, ("b, c",)),
        ("D", ONE, ("d",)),
        ("1,3", ONE, ()),
        ("1,3", SEVERAL, ("a", "d")),
        ("3, 1, 3", SEVERAL, ("d", "a")),
        ("b, c, d", SEVERAL, ("b, c", "d")),
        ("1, something else", SEVERAL, ()),
        ("1," * 9_000 + "1", SEVERAL, ()),
    ],
)  # fmt: skip
def test_a_person_means_options_by_numbers_and_labels(said, question, labels):
    assert labels_meant(said, question) == labels


@pytest.mark.parametrize("said", ["9", "0", "-1", "1,3", "1 3", "4.", "q2", ""])
def test_a_number_that_is_no_option_and_the_name_of_a_question_are_no_answer(said):
    assert why_no_answer(said, ONE)


@pytest.mark.parametrize("said", ["1", "b, c", "45 seconds", "2026-11-26", "q2 is open"])
def test_options_and_own_words_are_an_answer(said):
    assert not why_no_answer(said, ONE)


def test_without_options_a_number_is_an_answer():
    assert not why_no_answer("9", Question(text="How many?"))
