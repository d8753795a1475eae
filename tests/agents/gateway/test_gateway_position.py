"""Which reply is due follows from the conversation alone, whatever was cut, repeated or sent again."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.gateway.conversation import Prompt, Result, Said, read_request
from agents.gateway.position import Due, ReplyPart, position, structured_words, tool_id
from agents.gateway.script import ScriptReply

BASH = {"name": "Bash", "input": {"command": "true"}}
CUT = "[Tool call interrupted: the session ended before this call's result was recorded, so ...]"
CLI_SAID = Said(texts=("No response requested.",))
RESUMED = Prompt(text="Session resumed.\n\ndo it")
DO_IT = Prompt(text="do it")


def calls(text=None, *, then=None, when=(), count=1, structured=None):
    return ScriptReply(text=text, tools=(BASH,) * count, then=then, when=when, structured=structured)


def says(text, *, when=()):
    return ScriptReply(text=text, when=when)


def called(number, *tools, repeat=0, text=None):
    ids = tuple(f"toolu_sq_{number}_{tool}_{repeat}" for tool in tools or (1,))
    return Said(texts=(text,) if text else (), tool_ids=ids)


def result(number, tool=1, text="done", *, repeat=0):
    return Result(tool_id=f"toolu_sq_{number}_{tool}_{repeat}", text=text)


def due(replies, *entries):
    found = position(replies, entries).due
    return (found.number, found.part.value, found.repeat) if found else None


def reply(number, repeat=0):
    return number, "reply", repeat


def then(number, repeat=0):
    return number, "then", repeat


def test_the_first_reply_answers_the_first_prompt():
    assert due([says("a"), says("b")], DO_IT) == reply(1)


def test_a_text_that_was_said_leads_to_the_next_reply():
    assert due([says("a"), says("b")], DO_IT, Said(texts=(" a\n",)), Prompt(text="more")) == reply(2)


def test_a_tool_id_leads_to_the_next_reply_whatever_text_is_beside_it():
    assert due([calls("a"), says("b")], DO_IT, called(1, text="other words"), result(1)) == reply(2)


def test_the_closing_words_follow_the_tool_results():
    assert due([calls(then="done"), says("b")], DO_IT, called(1), result(1)) == then(1)


def test_the_closing_words_are_left_out_when_a_newer_prompt_came():
    assert due([calls(then="done"), says("b")], DO_IT, called(1), result(1), Prompt(text="stop")) == reply(2)


def test_after_the_closing_words_the_next_reply_answers_the_next_prompt():
    entries = DO_IT, called(1), result(1), Said(texts=("done",)), Prompt(text="more")
    assert due([calls(then="done"), says("b")], *entries) == reply(2)


def test_no_reply_is_due_when_all_were_given():
    assert due([says("a")], DO_IT, Said(texts=("a",)), Prompt(text="more")) is None


def test_replies_for_other_prompts_are_skipped():
    replies = [says("a", when=("apples",)), says("b", when=("pears", "fresh")), says("c")]
    assert due(replies, Prompt(text="fresh pears")) == reply(2)
    assert due(replies, Prompt(text="pears")) == reply(3)


def test_no_reply_is_due_when_none_waits_for_the_prompt():
    assert due([says("a", when=("apples",))], Prompt(text="pears")) is None


def test_words_that_nobody_wrote_are_ignored():
    assert due([says("a"), says("b")], DO_IT, CLI_SAID, Prompt(text="and now")) == reply(1)


def test_ids_of_replies_that_the_scenario_does_not_have_are_ignored():
    assert due([says("a")], DO_IT, called(7), result(7)) == reply(1)


def test_a_structured_answer_given_as_text_is_recognised():
    answer = ScriptReply(structured={"verdict": "höher", "score": 3})
    said = Said(texts=(structured_words(answer),))
    assert due([answer, says("b")], DO_IT, said, Prompt(text="more")) == reply(2)


def test_equal_texts_in_a_row_are_counted_one_by_one():
    entries = DO_IT, Said(texts=("ok",)), Prompt(text="2"), Said(texts=("ok",)), Prompt(text="3")
    assert due([says("ok"), says("ok"), says("ok")], *entries) == reply(3)


def test_an_answer_split_around_its_results_is_one_answer():
    entries = DO_IT, called(1, 1), result(1, 1, "x"), called(1, 2), result(1, 2, "y")
    assert due([calls(count=2, then="done"), says("b")], *entries) == then(1)
    assert position([calls(count=2), says("b")], entries).due.results == ("x", "y")
    assert due([calls(count=2)], *entries[:-1], result(1, 2, CUT), RESUMED) == reply(1, repeat=1)


def test_an_interrupted_reply_is_given_again_to_a_resumption():
    entries = DO_IT, called(1), result(1, text=CUT), CLI_SAID, RESUMED
    assert due([calls(), says("b")], *entries) == reply(1, repeat=1)


@pytest.mark.parametrize(
    "text",
    [
        "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was ...",
        "The user doesn't want to take this action right now. STOP what you are doing and wait for ...",
        "Tool permission request failed: AbortError: Stream closed",
        "MCP error: Stream closed",
    ],
)
def test_what_the_cli_writes_while_it_dies_with_its_parent_is_an_interruption_too(text):
    entries = DO_IT, called(1), result(1, text=text), RESUMED
    assert due([calls(), says("b")], *entries) == reply(1, repeat=1)


def test_one_interrupted_call_of_two_is_enough_to_give_the_reply_again():
    entries = DO_IT, called(1, 1, 2), result(1, 1), result(1, 2, CUT), CLI_SAID, RESUMED
    assert due([calls(count=2), says("b")], *entries) == reply(1, repeat=1)


def test_a_reply_whose_second_call_never_reached_the_transcript_is_given_again():
    entries = DO_IT, called(1, 1), result(1, 1), CLI_SAID, RESUMED
    assert due([calls(count=2), says("b")], *entries) == reply(1, repeat=1)


def test_a_reply_of_which_only_the_text_was_kept_is_given_again():
    assert due([calls("looking"), says("b")], DO_IT, Said(texts=("looking",)), RESUMED) == reply(1, repeat=1)


def test_the_last_reply_of_the_exchange_is_repeated_not_the_first():
    entries = DO_IT, called(1), result(1), called(2), result(2, text=CUT), CLI_SAID, RESUMED
    assert due([calls(), calls(), says("c")], *entries) == reply(2, repeat=1)


def test_an_interrupted_reply_counts_as_given_for_another_prompt():
    entries = DO_IT, called(1), result(1, text=CUT), CLI_SAID, Prompt(text="something else")
    assert due([calls(), says("b")], *entries) == reply(2)


def test_after_the_repetition_the_conversation_goes_on_as_usual():
    entries = DO_IT, called(1), result(1, text=CUT), CLI_SAID, RESUMED, called(1, repeat=1)
    assert due([calls(then="done"), says("b")], *entries, result(1, repeat=1)) == then(1)


@pytest.mark.parametrize("preamble", ["Session resumed.", "Session resumed, time 2."])
def test_a_reply_interrupted_twice_is_given_a_third_time(preamble):
    twice = RESUMED, called(1, repeat=1), result(1, text=CUT, repeat=1), CLI_SAID
    again = Prompt(text=f"{preamble}\n\ndo it")
    entries = DO_IT, called(1), result(1, text=CUT), CLI_SAID, *twice, again
    assert due([calls(), says("b")], *entries) == reply(1, repeat=2)


def test_the_resumption_of_a_resumption_repeats_the_closing_words():
    entries = DO_IT, Said(texts=("a",)), RESUMED, Said(texts=("a",)), RESUMED
    assert due([says("a"), says("b")], *entries) == reply(1, repeat=2)


def test_a_closing_text_is_said_again_to_a_resumption():
    assert due([says("a"), says("b")], DO_IT, Said(texts=("a",)), RESUMED) == reply(1, repeat=1)


def test_closing_words_after_tools_are_said_again_to_a_resumption():
    entries = DO_IT, called(1), result(1), Said(texts=("done",)), RESUMED
    assert due([calls(then="done"), says("b")], *entries) == then(1, repeat=1)


def test_a_structured_answer_given_with_a_tool_is_given_again_to_a_resumption():
    entries = DO_IT, called(1), result(1), RESUMED
    assert due([ScriptReply(structured={"a": 1}), says("b")], *entries) == reply(1, repeat=1)


def test_a_structured_answer_beside_other_calls_ended_the_turn_all_the_same():
    entries = DO_IT, called(1, 1, 2), result(1, 1), result(1, 2), RESUMED
    assert due([calls(structured={"a": 1}), says("b")], *entries) == reply(1, repeat=1)


def test_a_resumption_after_whole_results_gets_the_closing_words():
    assert due([calls(then="done"), says("b")], DO_IT, called(1), result(1), RESUMED) == then(1)


def test_a_resumption_after_whole_results_gets_the_next_reply():
    assert due([calls(), says("b")], DO_IT, called(1), result(1), RESUMED) == reply(2)


def test_a_prompt_that_was_never_answered_does_not_repeat_the_exchange_before():
    entries = Prompt(text="first"), Said(texts=("a",)), DO_IT, RESUMED
    assert due([says("a"), says("b")], *entries) == reply(2)


def test_the_same_instruction_after_its_answer_is_a_new_exchange():
    assert due([says("a"), says("b")], DO_IT, Said(texts=("a",)), DO_IT) == reply(2)


def test_the_same_instruction_before_its_answer_ended_goes_on_with_the_exchange():
    assert due([calls(), says("b")], DO_IT, called(1), result(1, text=CUT), CLI_SAID, DO_IT) == reply(1, 1)


@pytest.mark.parametrize("words", [None, "done"])
def test_the_same_instruction_after_a_turn_that_a_hook_stopped_is_a_new_exchange(words):
    replies = [calls(then=words), calls(then=words), says("c")]
    assert due(replies, DO_IT, called(1), result(1), DO_IT) == reply(2)
    assert due(replies, DO_IT, called(1), result(1), DO_IT, called(2), result(2, text=CUT), RESUMED) == reply(
        2, 1
    )


def test_feedback_of_a_stop_hook_is_answered_but_is_no_instruction_of_its_own():
    feedback = Prompt(text="Stop hook feedback:\ntests are missing")
    entries = DO_IT, Said(texts=("a",)), feedback
    assert due([says("a"), calls(), says("c")], *entries) == reply(2)
    cut = called(2), result(2, text=CUT), CLI_SAID
    assert due([says("a"), calls(), says("c")], *entries, *cut, RESUMED) == reply(2, repeat=1)


def test_tool_results_stay_those_of_the_first_time_when_a_reply_is_repeated():
    entries = DO_IT, called(1), result(1, text="ls"), called(2), result(2, text=CUT), CLI_SAID, RESUMED
    assert position([calls(), calls()], entries).due == Due(number=2, repeat=1, results=("ls",))


# A whole session as a client lives it: the conversation grows, and is cut off and resumed at any point.

REPLIES = st.lists(
    st.one_of(
        st.builds(says, st.sampled_from(["ok", "fine"])),
        st.builds(
            calls,
            st.sampled_from([None, "ok"]),
            then=st.sampled_from([None, "ok", "done"]),
            count=st.integers(1, 3),
        ),
    ),
    min_size=1,
    max_size=6,
)


def answer(replies, due):
    script = replies[due.number - 1]
    if due.part is ReplyPart.THEN:
        return Said(texts=(script.then,))
    ids = tuple(tool_id(due, tool) for tool in range(1, len(script.tools) + 1))
    return Said(texts=(script.text,) if script.text else (), tool_ids=ids)


@given(replies=REPLIES, cuts=st.lists(st.integers(0, 3), max_size=30))
def test_every_reply_is_given_in_order_however_often_the_session_is_cut(replies, cuts):
    most = 2 * len(replies) + len(cuts)  # each reply and its closing words, and one repetition for a cut
    cuts = list(cuts)
    prompt = "instruction 1."
    entries = [Prompt(text=prompt)]
    order = []
    while (found := position(replies, entries).due) is not None:
        order.append((found.number, found.part))
        assert len(order) <= most
        said = answer(replies, found)
        entries.append(said)
        cut = cuts.pop() if cuts else 0
        kept = len(said.tool_ids) if not cut else min(cut - 1, len(said.tool_ids))
        entries += [Result(tool_id=each, text="done") for each in said.tool_ids[:kept]]
        entries += [Result(tool_id=each, text=CUT) for each in said.tool_ids[kept:]]
        if cut:
            entries.append(Prompt(text=f"Session resumed.\n\n{prompt}"))
        elif not said.tool_ids:
            prompt = f"instruction {len(entries)}."
            entries.append(Prompt(text=prompt))
    ids = [each for entry in entries if isinstance(entry, Said) for each in entry.tool_ids]
    assert len(set(ids)) == len(ids)
    expected = [
        (number, part)
        for number, script in enumerate(replies, start=1)
        for part in (ReplyPart.REPLY, *([ReplyPart.THEN] if script.then else []))
    ]
    assert list(dict.fromkeys(order)) == expected
    assert order == sorted(order, key=expected.index)


# What a request holds, as the CLI sends it.


def request(*messages, **more):
    return read_request(json.dumps({"model": "m", "messages": messages, **more}).encode())


def user(*content):
    return {"role": "user", "content": list(content)}


def text(words, **more):
    return {"type": "text", "text": words, **more}


REMINDER = text("<system-reminder>\nuse <b>tools</b>\n</system-reminder>\n")


def test_the_newest_prompt_is_the_last_text_that_is_no_reminder():
    assert request(user(REMINDER, text("old"), text(" new\n"), REMINDER)).newest_prompt == "new"


def test_a_prompt_may_be_a_plain_string():
    assert request({"role": "user", "content": "hello"}).newest_prompt == "hello"


def test_a_prompt_behind_a_reminder_in_one_block_is_found():
    assert request(user(text("<system-reminder>a</system-reminder>\n\nhello"))).newest_prompt == "hello"


def test_texts_that_the_cli_writes_for_the_user_are_no_prompts():
    assert request(user(text("hello")), user(text("[Request interrupted by user]"))).newest_prompt == "hello"


def test_messages_of_the_system_inside_the_conversation_are_no_entries():
    found = request(user(text("hello")), {"role": "system", "content": "# Environment"})
    assert found.entries == (Prompt(text="hello"),)


def test_adjacent_assistant_messages_are_one_answer():
    split = [
        {"role": "assistant", "content": [text("looking")]},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_sq_1_1_0", "name": "Bash", "input": {}}],
        },
    ]
    found = request(user(text("hello")), *split).entries[1:]
    assert found == (Said(texts=("looking",), tool_ids=("toolu_sq_1_1_0",)),)


def test_tool_results_are_read_as_strings_and_as_blocks():
    one = {"type": "tool_result", "tool_use_id": "a", "content": "x"}
    two = {"type": "tool_result", "tool_use_id": "b", "content": [text("y"), text("z")]}
    three = {"type": "tool_result", "tool_use_id": "c"}
    assert request(user(one, two, three, REMINDER)).newest_results == ("x", "y\nz", "")


def test_the_digest_is_the_same_for_the_same_conversation_sent_again():
    first = request(user(text("hello", cache_control={"type": "ephemeral"})), stream=True)
    again = request({"role": "user", "content": "hello"}, {"role": "system", "content": "# Environment"})
    assert first.digest == again.digest != request(user(text("bye"))).digest


@pytest.mark.parametrize(
    "again",
    [
        "Your response above was cut off mid-stream. Resume directly from where it stops — no apology, no recap.",
        "[Your previous response had no visible output. Please continue and produce a user-visible response.]",
    ],
)
def test_an_answer_that_broke_off_is_due_again_for_the_prompt_it_was_to_answer(again):
    replies = [calls("Look.", when=("do it",), then="Done."), says("b", when=("more",)), says("c")]
    ask = Prompt(text=again)
    assert due(replies, DO_IT, ask) == reply(1)
    assert due(replies, DO_IT, Said(texts=("Lo",)), ask) == reply(1)
    assert due(replies, DO_IT, Said(texts=("Look.",)), ask) == reply(1, 1)
    called_again = (Said(texts=("Look.",)), ask, called(1, repeat=1), result(1, repeat=1))
    assert due(replies, DO_IT, *called_again) == then(1)
    done = (DO_IT, called(1), result(1), Said(texts=("Done.",)), Prompt(text="more"))
    assert due(replies, *done, ask) == reply(2)
    assert due(replies, *done, Said(texts=("no such words",)), ask, ask) == reply(2)
