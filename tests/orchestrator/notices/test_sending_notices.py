"""Notices on their way: commands and addresses, slow and dead ones, beside a run that does not wait."""

import json
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.abc import TaskGroup
from language.beginnings import run_started

from agents.gateway.listeners import listening
from agents.process.containment import detect_containment
from orchestrator.notices.sending import LIMIT_S, UNCERTAIN, Post, Sender
from state.journal import events as e
from state.journal.recorder import Recorder
from state.journal.store import Journal
from state.outcome import Outcome
from state.records.plan import Task
from state.settings.integrations import NoticeKind, NoticeTarget

EVERY = tuple(NoticeKind)
ENDED = e.RunEnded(outcome=Outcome.COMPLETE, cause="")
STUCK = e.TaskStuck(task_id="a", reason="x")
SECRET = "the-value-of-a-key-0123456789"


def started():
    return run_started(worktrees="")


class Bench:
    """A journal, and what sends notices of it in this process."""

    def __init__(self, journal: Journal, folder: Path, targets, addresses) -> None:
        self.journal = journal
        self.recorder = Recorder(journal)
        self.post = Post(
            folder=folder / "notices",
            home=folder,
            environ={**os.environ, "ANTHROPIC_API_KEY": SECRET, "PLAIN": "plain"},
            containment=detect_containment(),
            addresses=addresses,
        )
        self.sender = Sender(targets, self.post, view=lambda: self.recorder.view, record=self.recorder.record)

    async def follow(self, tasks: TaskGroup) -> None:
        async for stored in self.journal.follow():
            self.sender.hear(stored, tasks)

    def sent(self) -> list[e.NoticeSent]:
        return [stored.event for stored in self.journal.read() if isinstance(stored.event, e.NoticeSent)]


@asynccontextmanager
async def bench(
    folder: Path, *targets: NoticeTarget, addresses: dict[str, str] | None = None
) -> AsyncIterator[Bench]:
    with anyio.fail_after(60), Journal(folder) as journal:
        if not journal.read():
            journal.append(
                started(), e.PlanAccepted(tasks=(Task(id="a", title="A", description=""),), criteria=())
            )
        made = Bench(journal, folder, targets, addresses or {})
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(made.follow, tasks)
            yield made
            tasks.cancel_scope.cancel()


def command(text: str, *, on=EVERY) -> NoticeTarget:
    return NoticeTarget(on=on, command=text)


async def test_a_command_gets_the_notice_as_json_and_in_its_environment_without_secrets(
    tmp_path: Path,
) -> None:
    target = command('cat > got.json; env > env.txt; echo "$SQ_TITLE" > title.txt; pwd > where.txt')
    async with bench(tmp_path, target) as one:
        one.recorder.record(ENDED)
        await one.sender.finish()
        assert one.sent() == [e.NoticeSent(kind=NoticeKind.ENDED, of_seq=3, to="command 1")]
    got = json.loads((tmp_path / "got.json").read_text())
    assert (got["kind"], got["run_id"], got["outcome"], got["exit_code"]) == ("ended", "r-1", "complete", 0)
    assert (tmp_path / "title.txt").read_text() == f"{got['title']}\n"
    assert (tmp_path / "where.txt").read_text().strip() == str(
        tmp_path
    )  # no relative path names agents' files
    variables = (tmp_path / "env.txt").read_text()
    assert "PLAIN=plain" in variables
    assert SECRET not in variables


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("echo it is shut; exit 3", "exit code 3: it is shut"),
        ("/no/such/program", "exit code 127"),
        ("kill -9 $$", "exit code 137"),
    ],
    ids=["fails", "is not there", "is killed"],
)
async def test_a_command_that_fails_is_a_recorded_problem_and_is_not_tried_again(
    tmp_path: Path, text: str, problem: str
) -> None:
    for _ in range(2):
        async with bench(tmp_path, command(f"echo x >> times; {text}")) as one:
            if not one.recorder.view.ended:
                one.recorder.record(ENDED)
            await one.sender.finish()
            (sent,) = one.sent()
            assert not sent.ok
            assert sent.problem.startswith(problem)
    assert (tmp_path / "times").read_text() == "x\n"


@pytest.mark.late
async def test_a_slow_target_delays_neither_the_run_nor_another_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, quick = command("exec sleep 60"), command("echo >> quick")
    async with bench(tmp_path, slow, quick) as one:
        began = time.monotonic()
        one.recorder.record(STUCK)
        for number in range(50):  # the run goes on
            one.recorder.record(e.GateDecided(
                task_id="a", attempt=1, iteration=number, gate="diff", verdict="allow", reason="", tree="t",
            ))  # fmt: skip
            await anyio.sleep(0)
        while not (tmp_path / "quick").exists():
            await anyio.sleep(0.01)
        assert one.recorder.view.clock.last_seq >= 53
        one.recorder.record(ENDED)
        await one.sender.finish()
        took = time.monotonic() - began
        outcomes = {(sent.kind, sent.to): sent for sent in one.sent()}
        assert len(one.sent()) == len(outcomes) == 4
        assert outcomes[NoticeKind.STUCK, "command 2"].ok
        assert outcomes[NoticeKind.ENDED, "command 2"].ok
        assert "did not end within 10 s" in outcomes[NoticeKind.STUCK, "command 1"].problem
        assert "not sent within 10 s after the end" in outcomes[NoticeKind.ENDED, "command 1"].problem
    assert LIMIT_S <= took < LIMIT_S + 8  # not twice ten seconds, one after the other


async def test_a_notice_whose_process_may_have_run_before_a_kill_is_not_sent_again_and_said_to_be_uncertain(
    tmp_path: Path,
) -> None:
    target = command("echo x >> times")
    async with bench(tmp_path, target) as one:
        one.post.folder.mkdir()
        (one.post.folder / "3 command 1").touch()  # as the process leaves it that was begun and cut off
        one.recorder.record(ENDED)
        await one.sender.finish()
        assert [sent.problem for sent in one.sent()] == [UNCERTAIN]
    assert not (tmp_path / "times").exists()


async def test_two_processes_that_both_begin_send_it_once(tmp_path: Path) -> None:
    """The claim is taken by the process that sends, in the moment before it begins."""
    async with bench(tmp_path, command("echo x >> times")) as one:
        one.recorder.record(ENDED)
        await one.sender.finish()
        from orchestrator.notices.due import due, message_of

        stored = [each for each in one.journal.read() if not isinstance(each.event, e.NoticeSent)]
        (again,) = due(stored, [command("echo x >> times")])
        second = await one.post.send(again, message_of(one.recorder.view, again.notice))
        assert (second.ok, second.problem) == (False, UNCERTAIN)
    assert (tmp_path / "times").read_text() == "x\n"


class Service:
    """A service that takes notices as JSON."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    async def __call__(self, scope, receive, send) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        self.bodies.append(body)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})


async def test_an_address_gets_the_notice_by_apprise_and_no_process_shows_the_address(tmp_path: Path) -> None:
    service = Service()
    async with listening(service) as server:
        address = server.base_url.replace("http://", "json://user:a-password-0123@")
        target = NoticeTarget(on=EVERY, url="env:HOOK")
        async with bench(tmp_path, target, addresses={"HOOK": address}) as one:
            one.recorder.record(ENDED)
            await one.sender.finish()
            assert [(sent.to, sent.ok, sent.problem) for sent in one.sent()] == [("env:HOOK 1", True, "")]
    (body,) = map(json.loads, service.bodies)
    assert body["title"] == "sq: complete (spec.md)"
    assert body["message"].startswith("spec.md in r")


@pytest.mark.parametrize(
    ("address", "problem"),
    [("json://127.0.0.1:9/x", "exit code 1"), ("", "HOOK is not set"), ("no address", "exit code 2")],
)
async def test_a_dead_or_wrong_address_is_a_recorded_problem(
    tmp_path: Path, address: str, problem: str
) -> None:
    async with bench(tmp_path, NoticeTarget(on=EVERY, url="env:HOOK"), addresses={"HOOK": address}) as one:
        one.recorder.record(ENDED)
        await one.sender.finish()
        (sent,) = one.sent()
        assert not sent.ok
        assert sent.problem.startswith(problem)
