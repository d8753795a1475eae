"""However a session is left, nothing of it stays: no process, no open file, no task. Real CLI throughout."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any

import anyio
import pytest
from language.sampled import sampled
from session_desk import MARK, Desk, call, desk_with

from agents.ask.cli import CliAsker
from agents.ask.port import Ask
from agents.caller import Caller
from agents.claude_code.exchange import ClaudeSpec, SessionStart
from agents.claude_code.session import Session, open_session
from agents.session.port import Listener, Unanswered
from state.records.calls import CallEnd, CallResult, Message
from state.records.questions import Answer
from state.roles import Role

LIMIT_S = 60
QUESTION = {
    "question": "Which?", "header": "Which", "multiSelect": False,
    "options": [{"label": "a", "description": "a"}, {"label": "b", "description": "b"}],
}  # fmt: skip
CALLERS = {
    "worker/working/1": [{"tools": [call("Bash", command="python3 -c 'import time; time.sleep(60)'")]}],
    "worker/asking/1": [{"tools": [call("AskUserQuestion", questions=[QUESTION])]}],
    "worker/done/1": [{"text": "Done."}],
    "worker/answering/1": [{"text": "Late.", "misbehave": {"hang": "before-headers"}}],
}


class Moment(StrEnum):
    """What the session is doing; the name of its caller, too."""

    STARTING = "starting"
    WORKING = "working"
    ASKING = "asking"


class Talk:
    """A body that opens a session, says when its moment has come, and remembers what it saw."""

    def __init__(self, desk: Desk, moment: Moment) -> None:
        self.reached = anyio.Event()
        self.asked: list[str] = []
        self.session: Session | None = None
        self.exchange: CallResult | None = None
        self._spec = self._spec_for(desk, moment)
        self._moment = moment

    async def __call__(self) -> None:
        if self._moment is Moment.STARTING:
            self.reached.set()
        listener = Listener(on_message=self._on_message, on_question_callback=self._on_question)
        async with open_session(self._spec, listener) as self.session:
            self.exchange = await self.session.exchange("go on")

    def _spec_for(self, desk: Desk, moment: Moment) -> ClaudeSpec:
        if moment is not Moment.STARTING:
            return desk.spec(moment)
        mute = desk.command("mute", "exec cat >/dev/null")
        return desk.spec(start=SessionStart(launcher=desk.launcher_of(mute)))

    def _on_message(self, message: Message) -> None:
        if self._moment is Moment.WORKING:
            self.reached.set()

    async def _on_question(
        self, ask_id: str, arguments: Mapping[str, Any]
    ) -> tuple[Answer, ...] | Unanswered:
        self.asked.append("asked")
        self.reached.set()
        try:
            await anyio.sleep_forever()
        except BaseException:
            self.asked.append("withdrawn")
            raise
        raise AssertionError


@asynccontextmanager
async def nothing_stays(tmp_path: Path) -> AsyncIterator[Desk]:
    """A desk at which, when the block has ended, everything is as it was before."""
    async with desk_with(tmp_path, CALLERS) as desk:
        files, tasks = open_files(), asyncio.all_tasks()
        yield desk
        await settled(lambda: not desk.processes())
        await settled(lambda: open_files() <= files)
        await settled(lambda: asyncio.all_tasks() <= tasks)


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def settled(condition: Callable[[], bool], within: float = 5) -> None:
    with anyio.fail_after(within):
        while not condition():
            await anyio.sleep(0.02)


@pytest.fixture(params=list(Moment))
def moment(request: pytest.FixtureRequest) -> Moment:
    return Moment(request.param)


async def test_nothing_stays_of_a_session_that_did_its_work(tmp_path: Path) -> None:
    with anyio.fail_after(LIMIT_S):
        async with nothing_stays(tmp_path) as desk, open_session(desk.spec("done"), Listener()) as session:
            exchange = await session.exchange("go on")
    assert exchange.end is CallEnd.COMPLETED


async def test_nothing_stays_of_a_session_whose_user_fails(tmp_path: Path) -> None:
    async def fail(desk: Desk) -> None:
        async with open_session(desk.spec("done"), Listener()) as session:
            await session.exchange("go on")
            raise LookupError("a mistake of the user's")

    with anyio.fail_after(LIMIT_S):
        async with nothing_stays(tmp_path) as desk:
            with pytest.raises(LookupError, match="a mistake"):
                await fail(desk)


async def test_nothing_stays_of_a_session_whose_user_fails_beside_an_exchange(
    tmp_path: Path, moment: Moment
) -> None:
    async def fail_beside(talk: Talk) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(talk)
            await talk.reached.wait()
            raise LookupError("a mistake of the user's")

    with anyio.fail_after(LIMIT_S):
        async with nothing_stays(tmp_path) as desk:
            with pytest.raises(ExceptionGroup) as failures:
                await fail_beside(Talk(desk, moment))
    assert [type(error) for error in failures.value.exceptions] == [LookupError]


async def test_nothing_stays_of_a_session_that_is_cancelled_by_a_scope(
    tmp_path: Path, moment: Moment
) -> None:
    with anyio.fail_after(LIMIT_S):
        async with nothing_stays(tmp_path) as desk:
            talk = Talk(desk, moment)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(talk)
                await talk.reached.wait()
                tasks.cancel_scope.cancel()


@pytest.mark.parametrize("times", sampled([1, 2, 1_000_000], 2))
async def test_nothing_stays_of_a_session_whose_task_is_cancelled_again_while_it_closes(
    tmp_path: Path, moment: Moment, times: int
) -> None:
    with anyio.fail_after(LIMIT_S):
        async with nothing_stays(tmp_path) as desk:
            talk = Talk(desk, moment)
            task = asyncio.create_task(talk())
            await talk.reached.wait()
            await settled(lambda: bool(desk.processes()))
            for _ in range(times):
                task.cancel()
                await anyio.sleep(0.001)
                if task.done():
                    break
            with pytest.raises(asyncio.CancelledError):
                await task


async def test_an_interrupt_while_a_question_is_open_withdraws_it_and_nothing_stays(tmp_path: Path) -> None:
    with anyio.fail_after(LIMIT_S):
        async with nothing_stays(tmp_path) as desk:
            talk = Talk(desk, Moment.ASKING)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(talk)
                await talk.reached.wait()
                tasks.cancel_scope.cancel()
    assert talk.asked == ["asked", "withdrawn"]
    assert talk.session is not None
    assert talk.session.cut_off is not None
    assert talk.session.cut_off.end is CallEnd.INTERRUPTED


async def test_a_process_killed_while_a_question_is_open_ends_the_exchange_and_nothing_stays(
    tmp_path: Path,
) -> None:
    with anyio.fail_after(LIMIT_S):
        async with nothing_stays(tmp_path) as desk:
            talk = Talk(desk, Moment.ASKING)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(talk)
                await talk.reached.wait()
                (claude,) = [pid for pid in desk.processes() if is_claude(pid)]
                os.kill(claude, signal.SIGKILL)
    assert talk.asked == ["asked", "withdrawn"]
    assert talk.exchange is not None
    assert talk.exchange.end is CallEnd.DIED


@pytest.mark.parametrize("times", sampled([1, 2, 1_000_000], 2))
async def test_nothing_stays_of_a_claude_code_that_is_asked_by_a_question_of_a_session_that_is_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    with anyio.fail_after(LIMIT_S):
        async with nothing_stays(tmp_path) as desk:
            monkeypatch.setenv(MARK, desk.mark)
            spec = desk.spec(Moment.ASKING)
            asker = CliAsker(desk.connection("answering"), launcher=spec.start.launcher, workspace=tmp_path)
            ask = Ask(
                caller=Caller(role=Role.DEVELOPER, task="answering", attempt=1),
                model=spec.model,
                system="You answer.",
                prompt="Which?",
                schema={"type": "object", "properties": {}, "additionalProperties": False},
                deadline_s=LIMIT_S,
            )

            async def on_question(ask_id: str, arguments: Mapping[str, Any]) -> Unanswered:
                return Unanswered((await asker.ask(ask)).detail, final=True)

            async def talk() -> None:
                async with open_session(spec, Listener(on_question_callback=on_question)) as session:
                    await session.exchange("go on")

            task = asyncio.create_task(talk())
            await settled(lambda: len([pid for pid in desk.processes() if is_claude(pid)]) == 2, LIMIT_S)
            for _ in range(times):
                task.cancel()
                await anyio.sleep(0.001)
                if task.done():
                    break
            with pytest.raises(asyncio.CancelledError):
                await task


def is_claude(pid: int) -> bool:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it has ended meanwhile
        return False
    return command.split(b"\0")[0].endswith(b"/claude")
