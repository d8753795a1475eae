"""The cost of an answer, read from its bytes: exact if it was whole, and never below the truth if it was cut."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from language.cut_streams import corpus, cut_streams, spend, tokens_of

from agents.gateway.forward.meter import Meter, most_tokens, usd
from state.settings.presets import model_named

OPUS = model_named("opus")
REQUEST = b"x" * 3_000


def event(kind, **data):
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()


START = event("message_start", message={"usage": {"input_tokens": 100, "output_tokens": 3}})
TEXT = event("content_block_delta", index=0, delta={"type": "text_delta", "text": "hello world"})
DELTA = event("message_delta", delta={}, usage={"output_tokens": 50, "input_tokens": None})
STOP = event("message_stop")


def read(*chunks, stream=True, most=1_000, request=REQUEST):
    meter = Meter(request, most=most, stream=stream)
    for chunk in chunks:
        meter.feed(chunk)
    return meter.spend()


@given(cuts=st.lists(st.integers(0, len(START + TEXT + DELTA + STOP)), max_size=30))
def test_a_whole_stream_is_exact_however_it_is_cut_into_chunks(cuts):
    whole = START + TEXT + DELTA + STOP
    at = [0, *sorted(cuts), len(whole)]
    found = read(*(whole[begin:end] for begin, end in itertools.pairwise(at)))
    assert not found.partial
    assert (found.tokens.usage.input_tokens, found.tokens.usage.output_tokens) == (100, 50)


def test_over_a_thousand_streams_that_are_cut_at_random_none_is_settled_below_the_truth():
    below, above = spend()
    assert below == 0
    assert above <= 1.15  # 1.10 is the aim of benchmarks.gateway; the texts it uses change


def test_a_whole_stream_among_them_is_settled_exactly():
    whole = [stream for stream in cut_streams(200, seed=5) if stream.whole]
    assert len(whole) > 3
    for stream in whole:
        found = read(stream.bytes, request=stream.request)
        assert not found.partial
        assert usd(found.tokens, OPUS) == pytest.approx(usd(stream.billed, OPUS))


@given(st.text())
def test_no_text_has_more_tokens_than_the_bound_by_a_tokenizer_of_usual_words(text):
    assert most_tokens(text) >= len(tokens_of(text)) - text.count(" ")


def test_the_bound_is_about_twice_as_high_as_the_truth_for_prose_and_code():
    text = corpus()
    assert 1.2 < most_tokens(text) / len(tokens_of(text)) < 2.2


def test_an_answer_that_was_cut_counts_its_input_and_what_was_seen_and_is_marked():
    found = read(START, TEXT)
    assert found.partial
    assert found.tokens.usage.input_tokens == 100
    assert 6 <= found.tokens.usage.output_tokens <= 30


def test_words_of_an_event_that_arrived_in_part_count():
    half = event("content_block_delta", delta={"type": "text_delta", "text": "word " * 100})[:-200]
    assert read(START, half).tokens.usage.output_tokens > read(START).tokens.usage.output_tokens + 100


def test_no_answer_counts_more_output_than_was_asked_for():
    long = event("content_block_delta", delta={"type": "text_delta", "text": "word " * 9_000})
    assert read(START, long, most=500).tokens.usage.output_tokens == 500


def test_an_answer_cut_before_its_usage_counts_its_whole_request_as_written_to_the_cache():
    found = read(b"event: message_start\nda")
    assert found.partial
    assert found.tokens.usage.cache_write_tokens == 1_000
    assert found.tokens.write_1h == 0
    for_an_hour = read(b"", request=b'{"ttl":"1h"}' * 100)
    assert for_an_hour.tokens.write_1h == for_an_hour.tokens.usage.cache_write_tokens == 400


def test_an_answer_in_one_piece_that_was_cut_counts_its_bytes():
    whole = json.dumps({"content": [{"text": "word " * 100}], "usage": {"output_tokens": 7}}).encode()
    assert read(whole, stream=False).tokens.usage.output_tokens == 7
    cut = read(whole[:-40], stream=False)
    assert cut.partial
    assert cut.tokens.usage.output_tokens > 150


def test_thinking_that_is_not_shown_counts_by_the_apis_estimate_and_by_its_signature():
    block = event("content_block_start", content_block={"type": "thinking", "thinking": ""})
    estimate = event(
        "content_block_delta", delta={"type": "thinking_delta", "thinking": "", "estimated_tokens": 300}
    )
    signature = event("content_block_delta", delta={"type": "signature_delta", "signature": "A" * 3_000})
    assert read(START, block, estimate).tokens.usage.output_tokens >= 300
    assert read(START, block, signature, most=5_000).tokens.usage.output_tokens >= 1_000


@pytest.mark.parametrize(
    "junk",
    [
        b"data: {\n\n",
        b"data: []\n\n",
        b"data: 7\n",
        b"\xff\n",
        b'data: {"type": "message_start", "message": 1}\n',
    ],
)
def test_lines_that_are_no_events_are_passed_over(junk):
    found = read(START, junk, TEXT, junk, DELTA, STOP)
    assert found.tokens.usage.output_tokens == 50


def test_a_line_may_end_as_windows_has_it():
    found = read(*(part.replace(b"\n", b"\r\n") for part in (START, TEXT, DELTA, STOP)))
    assert (found.partial, found.tokens.usage.output_tokens) == (False, 50)
