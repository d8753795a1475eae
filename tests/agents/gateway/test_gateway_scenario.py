"""A scenario file is read whole, or every mistake in it is named with its place."""

import pytest

from agents.gateway.scenario import ScenarioError, load_scenario
from agents.gateway.script import ScriptReply, fill_reply, unfilled_paths
from state.errors import SqError


@pytest.fixture
def problems(tmp_path):
    def read(text):
        path = tmp_path / "scenario.yaml"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ScenarioError) as caught:
            load_scenario(path)
        assert isinstance(caught.value, SqError)
        assert str(path) in str(caught.value)
        assert all(problem in str(caught.value) for problem in caught.value.problems)
        return caught.value.problems

    return read


def test_a_scenario_is_read_with_its_callers_and_replies(scenario):
    read = scenario("""
        worker/t1/1:
          - when: counter
            expect: {prompt_contains: [counter], model: haiku}
            text: I write it.
            tools: [{name: Write, input: {file_path: "{workspace}/a.py", content: "{}"}}]
            then: Done.
            stop_reason: tool_use
            usage: {output_tokens: 7}
    """)
    (reply,) = read.replies("worker/t1/1")
    assert reply.when == ("counter",)
    assert reply.expect.prompt_contains == ("counter",)
    assert reply.tools[0].input["content"] == "{}"
    assert (reply.then, reply.usage.output_tokens, read.usage.input_tokens) == ("Done.", 7, 1200)


def test_an_exact_caller_wins_over_the_first_pattern_that_fits(scenario):
    read = scenario("""
        developer/*: [{text: any}]
        developer/*/2: [{text: second}]
        developer/t1/1: [{text: exact}]
    """)
    assert read.replies("developer/t1/1")[0].text == "exact"
    assert read.replies("developer/t1/2")[0].text == "any"
    assert read.replies("worker/t1/1") is None


def test_every_problem_is_named_at_once_with_its_place(problems):
    found = problems("""
scenario: 1
callers:
  worker/t1/1:
    - {text: fine}
    - expect: {promt_contains: [x]}
      txet: hello
    - tools: [{name: Bash}, {nam: Bash}]
  judge/t1/1:
    - text: 3
      usage: {input_tokens: -1}
""")
    assert set(found) == {
        "caller worker/t1/1, reply 2, expect, promt_contains: unknown key, the nearest known key is prompt_contains",
        "caller worker/t1/1, reply 2, txet: unknown key, the nearest known key is text",
        "caller worker/t1/1, reply 3, tools 2, name: this key is needed and missing",
        "caller worker/t1/1, reply 3, tools 2, nam: unknown key, the nearest known key is name",
        "caller judge/t1/1, reply 1, text: Input should be a valid string, found 3",
        "caller judge/t1/1, reply 1, usage, input_tokens: Input should be greater than or equal to 0, found -1",
    }


def test_a_key_like_no_other_is_answered_with_the_known_ones(problems):
    (problem,) = problems("scenario: 1\ncallers: {}\nzzz: 1\n")
    assert problem == "zzz: unknown key, known keys are scenario, description, usage, callers"


def test_a_reply_that_says_nothing_is_refused(problems):
    (problem,) = problems("scenario: 1\ncallers: {worker/t1/1: [{when: [x]}]}\n")
    assert problem == "caller worker/t1/1, reply 1: a reply needs at least one of text, tools, structured"


def test_closing_words_without_tools_are_refused(problems):
    (problem,) = problems("scenario: 1\ncallers: {worker/t1/1: [{text: a, then: b}]}\n")
    assert problem.startswith("caller worker/t1/1, reply 1: then is said when tool results come back")


def test_a_caller_that_is_neither_whole_nor_a_pattern_is_refused(problems):
    (problem,) = problems("scenario: 1\ncallers: {worker/t1: [{text: a}]}\n")
    assert problem.startswith("caller worker/t1: a caller is role/task/attempt")


def test_a_key_that_stands_twice_is_refused(problems):
    (problem,) = problems("scenario: 1\ncallers:\n  a/b/1: [{text: a}]\n  a/b/1: [{text: b}]\n")
    assert problem == "line 4: the key a/b/1 stands twice"


def test_a_wrong_shape_is_named_in_plain_words(problems):
    found = problems("scenario: 1\ncallers: {a/b/1: {text: x}, a/b/2: [x]}\n")
    assert found == (
        "caller a/b/1: a list is needed here",
        "caller a/b/2, reply 1: a mapping is needed here, found 'x'",
    )


def test_another_version_is_refused(problems):
    (problem,) = problems("scenario: 2\ncallers: {}\n")
    assert problem == "scenario: Input should be 1, found 2"


@pytest.mark.parametrize("text", ["callers: [", "scenario: !!python/object:os.system {}", "\x00"])
def test_what_is_not_yaml_is_refused(problems, text):
    (problem,) = problems(text)
    assert problem.startswith("is not YAML: ")


@pytest.mark.parametrize("text", ["", "just words", "- 1"])
def test_what_is_no_mapping_is_refused(problems, text):
    (problem,) = problems(text)
    assert problem.startswith("the file: ")


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ScenarioError, match=r"cannot be read: .*No such file"):
        load_scenario(tmp_path / "none.yaml")


def test_only_registered_names_are_filled_in():
    reply = ScriptReply(
        text="in {workspace}",
        tools=[
            {
                "name": "Write",
                "input": {"file_path": "{workspace}/a", "content": ["{x: {workspace}}", 1, None]},
            }
        ],
        structured={"deep": {"path": "{workspace}{other}"}},
        then="{then}",
    )
    filled = fill_reply(reply, {"workspace": "/w/{other}", "task": "t1"})
    assert filled.text == "in /w/{other}"
    assert filled.tools[0].input == {"file_path": "/w/{other}/a", "content": ["{x: /w/{other}}", 1, None]}
    assert filled.structured == {"deep": {"path": "/w/{other}{other}"}}
    assert filled.then == "{then}"


def test_a_placeholder_left_in_a_path_is_found():
    reply = ScriptReply(tools=[{"name": "Read", "input": {"file_path": "{workspace}/a", "note": "{fine}"}}])
    assert list(unfilled_paths(reply)) == ["Read.file_path: {workspace}/a"]
    assert list(unfilled_paths(fill_reply(reply, {"workspace": "/w"}))) == []
