"""One session on the real SDK and the real CLI: exchanges, ends, silence, death, interruption."""

import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from session_desk import Desk, call, desk_with

from agents.claude_code.exchange import SessionStart
from agents.claude_code.session import open_session
from agents.session.port import Listener, SessionStartError, Unanswered
from state.errors import JournalError
from state.records.calls import CallEnd, Message, MessageKind
from state.records.questions import Answer
from state.settings.records import Limits

LIMIT_S = 60


async def test_exchanges_of_one_session_share_their_context_and_each_has_its_own_cost(tmp_path: Path) -> None:
    heard: list[Message] = []
    callers = {
        "worker/t1/1": [
            {"tools": [call("Write", file_path="{workspace}/a.txt", content="a")]},
            {"text": "Written."},
            {"text": "Again.", "expect": {"anywhere_contains": ["first prompt", "Written."]}},
        ]
    }
    with anyio.fail_after(LIMIT_S):
        async with desk_with(tmp_path, callers) as desk:
            async with open_session(desk.spec(), Listener(on_message=heard.append)) as session:
                first = await session.exchange("the first prompt")
                second = await session.exchange("the second prompt")
            await desk.nothing_left()
    assert (first.end, first.text, second.text) == (CallEnd.COMPLETED, "Written.", "Again.")
    assert (desk.workspace / "a.txt").read_text() == "a"
    assert [message.kind for message in heard] == [
        MessageKind.TOOL_CALL, MessageKind.TOOL_RESULT, MessageKind.TEXT, MessageKind.TEXT,
    ]  # fmt: skip
    assert first.cost_usd == pytest.approx(2 * second.cost_usd)
    assert second.cost_usd > 0


async def test_a_session_resumes_its_conversation_in_another_process(tmp_path: Path) -> None:
    callers = {
        "worker/t1/1": [{"text": "One."}, {"text": "Two.", "expect": {"anywhere_contains": ["remember me"]}}]
    }
    with anyio.fail_after(LIMIT_S):
        async with desk_with(tmp_path, callers) as desk:
            spec = desk.spec()
            async with open_session(spec, Listener()) as session:
                first = await session.exchange("remember me")
            again = replace(spec, resume=True, cost_before_usd=first.cost_usd)
            async with open_session(again, Listener()) as session:
                second = await session.exchange("and now?")
    assert second.text == "Two."
    assert second.cost_usd == pytest.approx(first.cost_usd)
    assert first.cost_usd > 0


async def test_resuming_an_unknown_conversation_is_a_start_error(tmp_path: Path) -> None:
    async def talk(desk: Desk) -> None:
        async with open_session(desk.spec(resume=True), Listener()) as session:
            await session.exchange("hello")

    with anyio.fail_after(LIMIT_S):
        async with desk_with(tmp_path, {"worker/t1/1": [{"text": "One."}]}) as desk:
            with pytest.raises(SessionStartError, match="did not start"):
                await talk(desk)
            await desk.nothing_left()


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("exit 0", r"did not start: it ended with exit code 0$"),
        ("exit 3", r"did not start: it ended with exit code 3$"),
        ("echo no licence >&2; exit 3", r"exit code 3 \(it said: no licence\)$"),
        ("printf 'no licence' >&2; exit 0", r"exit code 0 \(it said: no licence\)$"),
        ("kill -9 $$", r"exit code 137$"),
    ],
)
async def test_a_process_that_ends_at_its_start_is_named_at_once_with_its_exit_code_and_its_words(
    tmp_path: Path, script: str, reason: str
) -> None:
    desk = Desk(tmp_path, None)
    spec = desk.spec(
        start=SessionStart(launcher=desk.launcher_of(desk.command("claude", script))),
        limits=Limits(connect_s=600),
    )

    async def talk() -> None:
        async with open_session(spec, Listener()) as session:
            await session.exchange("hello")

    with anyio.fail_after(LIMIT_S / 2):  # the SDK would notice after a minute
        with pytest.raises(SessionStartError, match=reason):
            await talk()
        await desk.nothing_left()


async def test_a_process_that_says_nothing_and_goes_on_is_ended_at_the_limit(tmp_path: Path) -> None:
    desk = Desk(tmp_path, None)
    mute = desk.command("claude", "echo waiting >&2; exec cat >/dev/null")
    spec = desk.spec(start=SessionStart(launcher=desk.launcher_of(mute)), limits=Limits(connect_s=2))

    async def talk() -> None:
        async with open_session(spec, Listener()) as session:
            await session.exchange("hello")

    with anyio.fail_after(LIMIT_S):
        with pytest.raises(SessionStartError, match=r"not answer within 2 s \(it said: waiting\)$"):
            await talk()
        await desk.nothing_left()


async def test_an_api_error_is_the_end_of_an_exchange_and_not_of_the_session(tmp_path: Path) -> None:
    with anyio.fail_after(LIMIT_S):
        async with (
            desk_with(tmp_path, {"worker/t1/1": [{"text": "One."}]}) as desk,
            open_session(desk.spec(), Listener()) as session,
        ):
            first = await session.exchange("hello")
            second = await session.exchange("there is no reply for this")
            assert not session.is_over
    assert (first.end, second.end, second.api_status) == (CallEnd.COMPLETED, CallEnd.API_ERROR, 400)
    assert "sq rehearsal" in second.detail


async def test_a_killed_process_ends_the_exchange_with_the_word_died(tmp_path: Path) -> None:
    victims: list[int] = []
    callers = {"worker/t1/1": [{"tools": [call("Bash", command="python3 -c 'import time; time.sleep(60)'")]}]}
    with anyio.fail_after(LIMIT_S):
        async with desk_with(tmp_path, callers) as desk:

            def on_message(message: Message) -> None:
                if message.kind is MessageKind.TOOL_CALL:
                    victims.extend(desk.processes())
                    for victim in victims:
                        with suppress(ProcessLookupError):  # the end of one ends others
                            os.kill(victim, signal.SIGKILL)

            async with open_session(desk.spec(), Listener(on_message=on_message)) as session:
                exchange = await session.exchange("work")
                assert session.is_over
            await desk.nothing_left()
    assert victims
    assert exchange.end is CallEnd.DIED
    assert "sq-supervisor" not in exchange.detail


async def test_silence_beyond_the_idle_limit_ends_the_exchange_and_the_process(tmp_path: Path) -> None:
    async def never_answer(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            await anyio.sleep_forever()

    with anyio.fail_after(LIMIT_S):
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        port = listener.extra(anyio.abc.SocketAttribute.local_port)  # noqa: S610
        async with listener, anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, never_answer)
            desk = Desk(tmp_path, None)
            spec = desk.spec(base_url=f"http://127.0.0.1:{port}", limits=Limits(idle_s=1.5))
            async with open_session(spec, Listener()) as session:
                exchange = await session.exchange("hello?")
                assert session.is_over
            await desk.nothing_left()
            tasks.cancel_scope.cancel()
    assert exchange.end is CallEnd.SILENT
    assert "1.5 s" in exchange.detail


async def test_time_spent_answering_a_question_is_not_the_sessions_silence(tmp_path: Path) -> None:
    question = {
        "question": "Which?", "header": "Which", "multiSelect": False,
        "options": [{"label": "a", "description": "a"}, {"label": "b", "description": "b"}],
    }  # fmt: skip
    callers = {
        "worker/t1/1": [
            {"tools": [call("AskUserQuestion", questions=[question])]},
            {"text": "Thanks.", "expect": {"tool_results_contain": ['"Which?"="b"']}},
        ]
    }

    async def slow_answer(ask_id: str, arguments: Mapping[str, Any]) -> tuple[Answer, ...] | Unanswered:
        await anyio.sleep(2.5)
        return (Answer(question=arguments["questions"][0]["question"], labels=("b",)),)

    with anyio.fail_after(LIMIT_S):
        async with desk_with(tmp_path, callers) as desk:
            listener = Listener(on_question_callback=slow_answer)
            async with open_session(desk.spec(limits=Limits(idle_s=2.0)), listener) as session:
                exchange = await session.exchange("ask")
    assert (exchange.end, exchange.text) == (CallEnd.COMPLETED, "Thanks.")


async def test_a_listener_that_fails_ends_the_exchange_with_its_own_error(tmp_path: Path) -> None:
    def full_disk(message: Message) -> None:
        raise JournalError("the disk is full")

    async def talk(desk: Desk) -> None:
        async with open_session(desk.spec(), Listener(on_message=full_disk)) as session:
            await session.exchange("go")

    callers = {
        "worker/t1/1": [{"text": "I begin.", "tools": [call("Bash", command="true")]}, {"text": "Done."}]
    }
    with anyio.fail_after(LIMIT_S):
        async with desk_with(tmp_path, callers) as desk:
            with pytest.raises(JournalError, match="disk is full"):
                await talk(desk)
            await desk.nothing_left()


async def test_cancelling_in_mid_turn_closes_the_process_within_seconds(tmp_path: Path) -> None:
    working = anyio.Event()
    callers = {"worker/t1/1": [{"tools": [call("Bash", command="python3 -c 'import time; time.sleep(60)'")]}]}

    def on_message(message: Message) -> None:
        working.set()

    with anyio.fail_after(LIMIT_S):
        async with desk_with(tmp_path, callers) as desk:
            async with anyio.create_task_group() as tasks:

                async def work() -> None:
                    async with open_session(desk.spec(), Listener(on_message=on_message)) as session:
                        await session.exchange("work")

                tasks.start_soon(work)
                await working.wait()
                tasks.cancel_scope.cancel()
            await desk.nothing_left()


async def test_refused_actions_are_told_to_the_agent_and_to_the_listener(tmp_path: Path) -> None:
    refused: list[tuple[str, str]] = []
    callers = {
        "worker/t1/1": [
            {
                "tools": [
                    call("Bash", command="git push origin main"),
                    call("Write", file_path=str(tmp_path / "outside.txt"), content="x"),
                ]
            },
            {
                "text": "I see.",
                "expect": {"tool_results_contain": ["pushing is refused", "outside your workspace"]},
            },
        ]
    }
    with anyio.fail_after(LIMIT_S):
        async with desk_with(tmp_path, callers) as desk:
            listener = Listener(on_refusal=lambda tool, reason: refused.append((tool, reason)))
            async with open_session(desk.spec(), listener) as session:
                exchange = await session.exchange("push")
    assert exchange.text == "I see."
    assert [tool for tool, _ in refused] == ["Bash", "Write"]
    assert not (tmp_path / "outside.txt").exists()


@pytest.mark.slow
async def test_sessions_one_after_the_other_leave_no_file_and_no_process_open(tmp_path: Path) -> None:
    callers = {"worker/t1/1": [{"text": "One."}]}
    with anyio.fail_after(LIMIT_S):
        async with desk_with(tmp_path, callers) as desk:
            counts = []
            for _ in range(6):
                async with open_session(desk.spec(), Listener()) as session:
                    await session.exchange("hello")
                await desk.nothing_left()
                counts.append(len(list(Path("/proc/self/fd").iterdir())))
    assert counts[-1] <= counts[1]
