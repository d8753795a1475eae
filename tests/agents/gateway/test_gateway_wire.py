"""The gateway speaks the Messages API: with the API client, streaming and not, and its errors show why."""

import json
import signal

import anyio
import pytest
from anthropic import AsyncAnthropic, BadRequestError, NotFoundError

from agents.gateway.ledger import Answered, Ledger, LedgerLine, read_ledger
from agents.gateway.server import serve_scenario

RESULT = {"type": "tool_result", "tool_use_id": "toolu_sq_1_1_0", "content": "3 passed"}
LONG = "It says many words, so that more than one delta is needed: äöü €. " * 5


def client(base_url):
    return AsyncAnthropic(base_url=base_url, api_key="x", max_retries=0, timeout=5)


async def ask(base_url, *messages, **more):
    async with client(base_url) as api:
        return await api.messages.create(
            model="claude-haiku-5-5", max_tokens=100, messages=conversation(messages), **more
        )


def conversation(messages):
    return [{"role": "user", "content": each} if isinstance(each, str) else each for each in messages]


def assistant(*blocks):
    return {"role": "assistant", "content": [block.to_dict() for block in blocks]}


async def refusal(base_url, *messages, **more):
    with pytest.raises(BadRequestError) as caught:
        await ask(base_url, *messages, **more)
    assert caught.value.body["error"]["type"] == "invalid_request_error"
    return caught.value.body["error"]["message"]


async def test_a_text_reply_arrives_with_model_usage_and_stop_reason(playing, ledger):
    async with playing(
        "judge/t1/1: [{text: Fine., usage: {output_tokens: 7, cache_read_input_tokens: 5}}]"
    ) as gateway:
        said = await ask(gateway.caller_url("judge", "t1", 1), "hello")
        assert [block.text for block in said.content] == ["Fine."]
        assert (said.model, said.stop_reason, said.role) == ("claude-haiku-5-5", "end_turn", "assistant")
        usage = said.usage
        assert (usage.input_tokens, usage.output_tokens, usage.cache_read_input_tokens) == (1200, 7, 5)
        assert gateway.problems == []
    assert ledger() == [("judge/t1/1", 1, "reply", 0)]


async def test_a_stream_puts_together_the_same_reply(playing):
    caller = f"""
        worker/t1/1:
          - text: "{LONG}"
            tools: [{{name: Write, input: {{file_path: "{{workspace}}/a.py", content: "{LONG}"}}}}]
    """
    async with playing(caller) as gateway:
        url = gateway.caller_url("worker", "t1", 1, {"workspace": "/w"})
        async with client(url) as api:
            prompt = conversation(["go"])
            async with api.messages.stream(model="m", max_tokens=9, messages=prompt) as stream:
                deltas = [event async for event in stream if event.type == "content_block_delta"]
                streamed = await stream.get_final_message()
        whole = await ask(url, "go")
        assert len(deltas) > 2
        assert streamed.content[0].text == whole.content[0].text == LONG
        assert streamed.content[1].input == whole.content[1].input
        assert streamed.content[1].id == whole.content[1].id == "toolu_sq_1_1_0"
        assert streamed.content[1].input == {"file_path": "/w/a.py", "content": LONG}
        assert (streamed.stop_reason, streamed.usage.output_tokens) == ("tool_use", 80)
        assert streamed.usage.input_tokens == 1200
        assert streamed.id != whole.id


async def test_a_structured_answer_is_text_for_a_client_that_offers_no_tool(playing):
    async with playing("judge/*: [{structured: {verdict: block, reasons: [a, b]}}]") as gateway:
        schema = {"type": "object", "properties": {}, "additionalProperties": False}
        config = {"format": {"type": "json_schema", "schema": schema}}
        said = await ask(gateway.caller_url("judge", "t1", "final"), "judge", output_config=config)
        assert json.loads(said.content[0].text) == {"verdict": "block", "reasons": ["a", "b"]}


async def test_a_structured_answer_is_a_call_where_the_tool_for_it_is_offered(playing):
    async with playing("judge/*: [{structured: {verdict: block}}]") as gateway:
        tool = {"name": "StructuredOutput", "input_schema": {"type": "object"}}
        said = await ask(gateway.caller_url("judge", "t1", 1), "judge", tools=[tool])
        assert (said.content[0].type, said.content[0].name) == ("tool_use", "StructuredOutput")
        assert said.content[0].input == {"verdict": "block"}
        assert said.stop_reason == "tool_use"


async def test_a_whole_exchange_runs_over_tools_closing_words_and_a_second_prompt(playing, ledger):
    caller = """
        worker/t1/1:
          - {text: Look., tools: [{name: Bash, input: {command: ls}}], then: Seen.}
          - {text: Bye., stop_reason: refusal}
    """
    async with playing(caller) as gateway:
        url = gateway.caller_url("worker", "t1", 1)
        first = await ask(url, "go")
        assert first.content[1].id == "toolu_sq_1_1_0"
        talk = ["go", assistant(*first.content), {"role": "user", "content": [RESULT]}]
        closing = await ask(url, *talk)
        assert closing.content[0].text == "Seen."
        last = await ask(url, *talk, assistant(*closing.content), "and now?")
        assert (last.content[0].text, last.stop_reason) == ("Bye.", "refusal")
        assert gateway.problems == []
    caller = "worker/t1/1"
    assert ledger() == [(caller, 1, "reply", 0), (caller, 1, "then", 0), (caller, 2, "reply", 0)]


async def test_a_server_started_again_goes_on_where_the_conversation_stands(playing, ledger):
    caller = "worker/t1/1: [{text: One.}, {text: Two.}]"
    async with playing(caller) as gateway:
        first = await ask(gateway.caller_url("worker", "t1", 1), "go")
    async with playing(caller) as gateway:
        second = await ask(gateway.caller_url("worker", "t1", 1), "go", assistant(*first.content), "on")
    assert second.content[0].text == "Two."
    assert [line[1] for line in ledger()] == [1, 2]


async def test_met_expectations_let_the_reply_through(playing):
    caller = """
        worker/t1/1:
          - expect:
              prompt_contains: [the counter]
              prompt_lacks: delete
              anywhere_contains: ["be {mood}", the counter]
              tools_offered: [Bash]
              tool_results_contain: 3 passed
              model: haiku
            text: Fine.
    """
    async with playing(caller) as gateway:
        call = {"type": "tool_use", "id": "toolu_sq_1_1_0", "name": "Bash", "input": {}}
        talk = [{"role": "assistant", "content": [{**call, "id": "toolu_other"}]}]
        talk += [{"role": "user", "content": [{**RESULT, "tool_use_id": "toolu_other"}]}]
        url = gateway.caller_url("worker", "t1", 1, {"mood": "brief"})
        tool = {"name": "Bash", "input_schema": {"type": "object"}}
        said = await ask(url, "write the counter", *talk, tools=[tool], system="be brief")
        assert said.content[0].text == "Fine."
        assert gateway.problems == []


async def test_each_unmet_expectation_is_shown_with_what_came_instead(playing, ledger):
    caller = """
        worker/t1/1:
          - expect:
              prompt_contains: [write the counters]
              prompt_lacks: [file]
              anywhere_contains: [be brief]
              tools_offered: [AskUserQuestion]
              tool_results_contain: [3 passed]
              model: opus
            text: Fine.
    """
    async with playing(caller) as gateway:
        url = gateway.caller_url("worker", "t1", 1)
        message = await refusal(url, "Please:\nwrite the counter\ninto a file")
        assert await refusal(url, "Please:\nwrite the counter\ninto a file") == message
        assert gateway.problems == [message]
    assert message.startswith("sq rehearsal: caller worker/t1/1, reply 1: the request is not as expected")
    assert "prompt_contains: 'write the counters' is not in the prompt:" in message
    assert "- write the counters\n      ?                  -\n      + write the counter" in message
    assert "prompt_lacks: the prompt holds 'file'" in message
    assert "anywhere_contains: 'be brief' is not in the request" in message
    assert "tools_offered: AskUserQuestion is not offered, only no tool at all" in message
    assert "tool_results_contain: '3 passed' is not in the tool results, which is ''" in message
    assert "model: expected 'opus' in it, found 'claude-haiku-5-5'" in message
    assert ledger() == [("worker/t1/1", 1, "problem", 0)] * 2


async def test_a_request_with_no_reply_left_is_refused_and_shown(playing, ledger):
    async with playing("worker/t1/1: [{text: One.}, {text: Two., when: [pears, fresh]}]") as gateway:
        talk = ["go", {"role": "assistant", "content": "One."}, "apples"]
        message = await refusal(gateway.caller_url("worker", "t1", 1), *talk)
        assert gateway.problems == [message]
    assert "caller worker/t1/1: no reply is left for this request" in message
    assert "2 replies here, reply 1 was given last; reply 2 waits for 'pears' and 'fresh'" in message
    assert "its newest prompt: 'apples'" in message
    assert ledger() == [("worker/t1/1", None, "problem", 0)]


async def test_a_caller_that_is_not_in_the_scenario_is_refused(playing):
    async with playing("worker/t1/1: [{text: One.}]") as gateway:
        message = await refusal(gateway.caller_url("worker", "t1", 2), "go")
        assert "caller worker/t1/2 is not in the scenario. Its callers are: worker/t1/1" in message
        assert gateway.problems == [message]


async def test_another_run_is_refused(playing):
    async with playing("worker/t1/1: [{text: One.}]") as gateway:
        url = gateway.caller_url("worker", "t1", 1).replace("/run-1/", "/run-2/")
        assert "asked for run run-2, this is run-1" in await refusal(url, "go")
        assert len(gateway.problems) == 1


async def test_a_path_with_an_unregistered_placeholder_is_refused(playing):
    caller = 'worker/t1/1: [{tools: [{name: Read, input: {file_path: "{workspace}/a"}}]}]'
    async with playing(caller) as gateway:
        message = await refusal(gateway.caller_url("worker", "t1", 1), "go")
        assert "not registered: Read.file_path: {workspace}/a" in message
        assert gateway.problems == [message]


async def test_names_of_callers_may_hold_anything(playing, ledger):
    async with playing("worker/*: [{text: One.}]") as gateway:
        url = gateway.caller_url("worker", "a/b c?ä", 1)
        assert url.endswith("/run-1/worker/a%2Fb%20c%3F%C3%A4/1")
        assert (await ask(url, "go")).content[0].text == "One."
    assert ledger() == [("worker/a/b c?ä/1", 1, "reply", 0)]


async def test_what_is_no_call_for_the_model_is_not_found(playing):
    async with playing("worker/t1/1: [{text: One.}]") as gateway:
        async with client(gateway.caller_url("worker", "t1", 1)) as api:
            with pytest.raises(NotFoundError):
                await api.models.list()
            assert gateway.problems == []
            with pytest.raises(NotFoundError):
                await api.post("/v1/complete", cast_to=object, body={})
        assert "nothing answers POST /run-1/worker/t1/1/v1/complete" in gateway.problems[0]


async def test_tokens_are_counted_roughly_and_without_a_ledger_line(playing, ledger):
    async with playing("worker/t1/1: [{text: One.}]") as gateway:
        async with client(gateway.caller_url("worker", "t1", 1)) as api:
            counted = await api.messages.count_tokens(model="m", messages=conversation(["go"]))
        assert counted.input_tokens > 0
    assert ledger() == []


async def test_a_body_that_is_no_request_is_refused(playing, ledger):
    async with playing("worker/t1/1: [{text: One.}]") as gateway:
        async with client(gateway.caller_url("worker", "t1", 1)) as api:
            with pytest.raises(BadRequestError, match="not a Messages API request"):
                await api.post("/v1/messages", cast_to=object, body={"model": "m"})
        assert len(gateway.problems) == 1
    assert ledger() == [("worker/t1/1", None, "problem", 0)]


async def test_an_error_in_the_body_comes_out_as_it_is(playing):
    with pytest.raises(ZeroDivisionError):
        async with playing("worker/t1/1: [{text: One.}]"):
            _ = 1 / 0


async def test_a_cancelled_run_ends_its_server_and_frees_the_port(scenario, tmp_path):
    with anyio.fail_after(5):
        with anyio.CancelScope() as scope:
            async with serve_scenario(
                scenario("a/b/1: [{text: x}]"), run_id="r", ledger=tmp_path / "l"
            ) as gateway:
                url = gateway.caller_url("a", "b", 1)
                scope.cancel()
                await anyio.sleep_forever()
        port = int(url.split(":")[2].split("/")[0])
        with pytest.raises(OSError, match="connect"):
            await anyio.connect_tcp("127.0.0.1", port)


async def test_the_signal_handlers_of_the_run_stay_in_place(playing):
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    async with playing("worker/t1/1: [{text: One.}]") as gateway:
        await ask(gateway.caller_url("worker", "t1", 1), "go")
        assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before


def test_a_half_written_last_line_of_the_ledger_is_left_out_and_then_replaced(tmp_path):
    path = tmp_path / "deep" / "ledger.jsonl"
    line = LedgerLine(
        caller="a/b/1", reply=1, part=Answered.REPLY, repeat=0, stream=True, messages=2, digest="d"
    )
    assert read_ledger(path) == []
    with Ledger(path) as ledger:
        ledger.append(line)
    with path.open("a") as file:
        file.write('{"caller": "a/b')
    assert read_ledger(path) == [line]
    with Ledger(path) as ledger:
        ledger.append(line)
        assert read_ledger(path) == [line, line]
