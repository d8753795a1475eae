"""A scenario says how a reply goes wrong; what makes no sense is refused; the steps of a fault follow from it."""

import json
import math
from textwrap import dedent, indent

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from language.tables import rows, table

from agents.gateway import wire
from agents.gateway.bad_answers import Drop, Head, Pause, steps
from agents.gateway.scenario import ScenarioError, load_scenario
from agents.gateway.script import Misbehave, StopReason

BROKEN = table(__file__, "broken")


@pytest.fixture
def problems(tmp_path):
    def read(replies):
        path = tmp_path / "scenario.yaml"
        path.write_text(
            "scenario: 1\ncallers:\n  a/b/1:\n" + indent(dedent(replies), "    "), encoding="utf-8"
        )
        with pytest.raises(ScenarioError) as caught:
            load_scenario(path)
        return [problem.removeprefix("caller a/b/1, ") for problem in caught.value.problems]

    return read


@pytest.mark.parametrize(*rows(__file__, "kinds"))
def test_each_way_to_go_wrong_is_named_in_the_words_of_the_scenario(mapping, kind):
    assert Misbehave(**mapping).kind == kind


def test_every_mistake_is_named_at_once_with_its_place(problems):
    found = problems("""
      - {misbehave: {status: 200}}
      - {misbehave: {staus: 429, retry_afer: 3}}
      - {misbehave: {stream: torn}, text: a}
      - {misbehave: {slow: 0, times: 0}, text: a}
      - {misbehave: 429}
    """)
    assert set(found) == {
        "reply 1, misbehave, status: Input should be greater than or equal to 400, found 200",
        "reply 2, misbehave, staus: unknown key, the nearest known key is status",
        "reply 2, misbehave, retry_afer: unknown key, the nearest known key is retry_after",
        "reply 3, misbehave, stream: Input should be 'cut' or 'cut-in-tool', found 'torn'",
        "reply 4, misbehave, slow: Input should be greater than 0, found 0",
        "reply 4, misbehave, times: Input should be greater than or equal to 1, found 0",
        "reply 5, misbehave: a mapping is needed here, found 429",
    }


@pytest.mark.parametrize(*rows(__file__, "wrong"))
def test_what_makes_no_sense_together_is_refused(problems, mapping, wrong):
    assert problems(f"  - {{text: a, misbehave: {mapping}}}") == [f"reply 1, misbehave: {wrong}"]


@pytest.mark.parametrize(
    "mapping",
    [
        "{status: 500}",
        "{hang: before-headers}",
        "{body: malformed}",
        "{body: empty}",
        "{connection: dropped}",
    ],
)
def test_a_reply_that_never_gives_its_words_needs_none(scenario, problems, mapping):
    (reply,) = scenario(f"a/b/1: [{{misbehave: {mapping}}}]").replies("a/b/1")
    assert reply.text is None
    sometimes = mapping.replace("}", ", times: 1}")
    wrong = "reply 1: a reply needs at least one of text, tools, structured"
    assert problems(f"  - {{misbehave: {sometimes}}}") == [wrong]


@pytest.mark.parametrize(
    "mapping",
    ["{slow: 1}", "{hang: after-headers, seconds: 1}", "{connection: refused, seconds: 1}", "{stream: cut}"],
)
def test_a_reply_that_gives_its_words_after_all_needs_some(problems, mapping):
    (wrong,) = problems(f"  - {{misbehave: {mapping}}}")
    assert wrong == "reply 1: a reply needs at least one of text, tools, structured"


def test_a_cut_needs_a_block_that_it_can_be_in(problems):
    assert problems("""
      - {tools: [{name: Bash}], misbehave: {stream: cut}}
      - {text: a, misbehave: {stream: cut-in-tool}}
    """) == [
        "reply 1: stream: cut is inside a text, and this reply has neither text nor structured",
        "reply 2: stream: cut-in-tool is inside a call, and this reply has no tools or structured",
    ]


def test_connections_are_refused_from_the_start_of_a_caller_only(problems):
    (wrong,) = problems("""
      - {text: a}
      - {misbehave: {connection: refused}}
    """)
    assert wrong == (
        "caller a/b/1: reply 2: a caller refuses connections from its start, "
        "so connection: refused stands in its first reply only"
    )


TEXTS = st.builds(wire.TextBlock, text=st.text(min_size=1, max_size=300))
CALLS = st.builds(
    wire.ToolBlock,
    id=st.just("toolu_sq_1_1_0"),
    name=st.just("Bash"),
    input=st.dictionaries(st.text(max_size=5), st.text(max_size=100), max_size=3),
)
BLOCKS = st.lists(TEXTS | CALLS, min_size=1, max_size=4).map(tuple)


def said(blocks):
    return wire.WireMessage(
        id="m", model="m", blocks=blocks, stop_reason=StopReason.END_TURN, usage={"output_tokens": 1}
    )


def sent(found):
    return b"".join(step for step in found if isinstance(step, bytes))


def opened(stream):
    """The kind of the last block that was started, and whether it was stopped."""
    events = [json.loads(line[6:]) for line in stream.decode().splitlines() if line.startswith("data: ")]
    starts = [event["content_block"]["type"] for event in events if event["type"] == "content_block_start"]
    stops = [event for event in events if event["type"] == "content_block_stop"]
    return starts[-1], len(starts) == len(stops)


@given(blocks=BLOCKS, where=st.sampled_from(["cut", "cut-in-tool"]))
def test_a_cut_stream_is_a_beginning_that_ends_inside_the_first_block_of_its_kind(blocks, where):
    kind = {"cut": "text", "cut-in-tool": "tool_use"}[where]
    assume(any(isinstance(block, wire.ToolBlock) == (kind == "tool_use") for block in blocks))
    found = list(steps(Misbehave(stream=where), said(blocks), stream=True))
    assert (found[0], found[-1]) == (Head(length=None), Drop())
    assert isinstance(found[-2], Pause)
    assert opened(sent(found)) == (kind, False)
    assert b"message_stop" not in sent(found)


@given(blocks=BLOCKS, where=st.sampled_from(["cut", "cut-in-tool"]))
def test_a_cut_body_is_shorter_than_its_headers_say(blocks, where):
    head, *rest = steps(Misbehave(stream=where), said(blocks), stream=False)
    assert 0 < len(sent(rest)) < head.length
    assert rest[-1] == Drop()


@given(blocks=BLOCKS, stream=st.booleans(), mapping=st.sampled_from([m for m in BROKEN if "stream" not in m]))
def test_what_is_not_cut_is_as_long_as_its_headers_say(blocks, stream, mapping):
    found = list(steps(Misbehave(**mapping), said(blocks), stream=stream))
    heads = [step for step in found if isinstance(step, Head)]
    if mapping == {"connection": "dropped"}:
        assert found == [Drop()]
    else:
        assert [head.length for head in heads] == [None if stream else len(sent(found))]


@given(blocks=BLOCKS)
def test_a_slow_stream_has_a_pause_before_each_delta_and_says_the_same(blocks):
    found = list(steps(Misbehave(slow=0.5), said(blocks), stream=True))
    assert sent(found) == b"".join(wire.events(said(blocks)))
    pauses = [step for step in found if isinstance(step, Pause)]
    assert len(pauses) == sent(found).count(b"event: content_block_delta")
    (whole,) = [s for s in steps(Misbehave(slow=0.5), said(blocks), stream=False) if isinstance(s, Pause)]
    assert whole.seconds == sum(pause.seconds for pause in pauses)


@pytest.mark.parametrize("stream", [True, False])
def test_a_hang_lasts_for_good_unless_seconds_are_given(stream):
    message = said((wire.TextBlock(text="a"),))
    before = list(steps(Misbehave(hang="before-headers"), message, stream=stream))
    after = list(steps(Misbehave(hang="after-headers", seconds=3), message, stream=stream))
    assert before[0] == Pause(seconds=math.inf)
    assert after[1] == Pause(seconds=3)
    assert sorted(map(repr, before[1:])) == sorted(map(repr, [after[0], *after[2:]]))
