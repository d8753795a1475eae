"""A recorded report ends its turn in the real CLI: no request follows it, and nothing runs after it (lesson 71)."""

import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
from session_desk import Desk, call, desk_with

from agents.claude_code.exchange import ClaudeSpec
from agents.claude_code.session import open_session
from agents.gateway.ledger import read_ledger
from agents.session.port import Listener
from state.records.calls import CallEnd, CallResult

LIMIT_S = 60
COMPLETE = "mcp__sq__task_complete"
STUCK = "mcp__sq__task_stuck"
DONE = call(COMPLETE, summary="It is built.")


@dataclass
class Heard:
    """What a listener was told, and the requests that the model got."""

    requests: int = 0
    reports: list[str] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)

    @property
    def listener(self) -> Listener:
        return Listener(
            on_signal=lambda name, _: self.reports.append(name),
            on_refusal=lambda tool, reason: self.refused.append((tool, reason)),
        )


async def asked(
    tmp_path: Path,
    replies: Sequence[Mapping[str, Any]],
    prompts: Sequence[str] = ("build it",),
    **changes: Any,
) -> tuple[list[CallResult], Heard]:
    """The exchanges of one session with these replies."""
    heard = Heard()
    with anyio.fail_after(LIMIT_S):
        async with desk_with(tmp_path, {"worker/t1/1": replies}) as desk:
            async with open_session(desk.spec(**changes), heard.listener) as session:
                exchanges = [await session.exchange(prompt) for prompt in prompts]
            await desk.nothing_left()
    heard.requests = len(read_ledger(tmp_path / "ledger.jsonl"))
    return exchanges, heard


async def test_a_recorded_report_ends_the_turn_in_its_own_request_and_the_session_lives_on(
    tmp_path: Path,
) -> None:
    replies = [
        {"text": "It is built now.", "tools": [DONE]},
        {"text": "More.", "expect": {"prompt_contains": ["go on"], "anywhere_contains": ["Recorded."]}},
    ]
    (first, second), heard = await asked(tmp_path, replies, ("build it", "go on"))
    assert (first.end, first.detail, first.text) == (CallEnd.COMPLETED, "", "It is built now.")
    assert (second.end, second.text) == (CallEnd.COMPLETED, "More.")
    assert heard.requests == 2
    assert heard.reports == ["task_complete"]


async def test_the_next_prompt_holds_one_neutral_sentence_about_the_turn_that_ended(tmp_path: Path) -> None:
    stopped = "PostToolUse:mcp__sq__task_complete hook stopped continuation: The report is recorded."
    replies = [{"tools": [DONE]}, {"text": "More.", "expect": {"anywhere_contains": [stopped]}}]
    (_, second), _ = await asked(tmp_path, replies, ("build it", "go on"))
    assert second.end is CallEnd.COMPLETED


async def test_a_report_that_does_not_fit_goes_back_and_the_turn_goes_on_until_one_fits(
    tmp_path: Path,
) -> None:
    replies = [
        {"tools": [call(COMPLETE, tests="all pass")]},
        {"tools": [call(STUCK, reason="")], "expect": {"tool_results_contain": ["summary"]}},
        {"tools": [DONE], "expect": {"tool_results_contain": ["non-empty"]}},
    ]
    (exchange,), heard = await asked(tmp_path, replies)
    assert exchange.end is CallEnd.COMPLETED
    assert heard.reports == ["task_complete"]
    assert heard.requests == 3


async def test_of_one_reply_the_calls_before_the_report_run_and_those_after_it_are_refused(
    tmp_path: Path,
) -> None:
    before = call("Write", file_path="{workspace}/before.txt", content="x")
    after = call("Write", file_path="{workspace}/after.txt", content="x")
    second = call(STUCK, reason="I am stuck after all.")
    (exchange,), heard = await asked(tmp_path, [{"tools": [before, DONE, after, second]}])
    assert exchange.end is CallEnd.COMPLETED
    assert [file.name for file in (tmp_path / "workspace").iterdir()] == ["before.txt"]
    assert heard.reports == ["task_complete"]
    assert [tool for tool, _ in heard.refused] == ["Write", STUCK]
    assert all("task_complete is recorded" in reason for _, reason in heard.refused)
    assert heard.requests == 1


async def test_the_first_report_that_fits_stands_where_one_before_it_did_not(tmp_path: Path) -> None:
    tools = [call(STUCK, reason=""), DONE, call(STUCK, reason="no network")]
    (exchange,), heard = await asked(tmp_path, [{"tools": tools}])
    assert exchange.end is CallEnd.COMPLETED
    assert heard.reports == ["task_complete"]
    assert heard.requests == 1


async def test_each_turn_of_a_session_may_report(tmp_path: Path) -> None:
    replies = [{"tools": [call("mcp__sq__iteration_done", done="a")]}, {"tools": [DONE]}]
    exchanges, heard = await asked(tmp_path, replies, ("go on", "go on"))
    assert [exchange.end for exchange in exchanges] == [CallEnd.COMPLETED] * 2
    assert heard.reports == ["iteration_done", "task_complete"]


async def test_a_scenario_that_still_closes_its_reports_with_words_is_played_without_them(
    tmp_path: Path,
) -> None:
    replies = [
        {"tools": [call("mcp__sq__iteration_done", done="a")], "then": "That is reported."},
        {"tools": [DONE], "then": "That is reported."},
    ]
    exchanges, heard = await asked(tmp_path, replies, ("go on", "go on"))
    assert [exchange.end for exchange in exchanges] == [CallEnd.COMPLETED] * 2
    assert heard.reports == ["iteration_done", "task_complete"]
    assert heard.requests == 2


async def test_a_turn_that_ended_with_its_report_is_resumed_in_another_process(tmp_path: Path) -> None:
    heard = Heard()
    callers = {
        "worker/t1/1": [{"tools": [DONE]}, {"text": "More.", "expect": {"anywhere_contains": ["build it"]}}]
    }

    async def exchange(spec: ClaudeSpec, prompt: str) -> CallResult:
        async with open_session(spec, heard.listener) as session:
            return await session.exchange(prompt)

    with anyio.fail_after(LIMIT_S):
        async with desk_with(tmp_path, callers) as desk:
            spec = desk.spec()
            first = await exchange(spec, "build it")
            second = await exchange(replace(spec, resume=True, cost_before_usd=first.cost_usd), "go on")
    assert (first.end, second.end, second.text) == (CallEnd.COMPLETED, CallEnd.COMPLETED, "More.")
    assert len(read_ledger(tmp_path / "ledger.jsonl")) == 2


async def test_a_reply_that_uses_up_the_sessions_cap_has_reported_or_has_not_and_its_end_says_which(
    tmp_path: Path,
) -> None:
    (exchange,), heard = await asked(tmp_path, [{"tools": [DONE]}], max_cost_usd=0.00001)
    assert exchange.end is (CallEnd.SIGNALLED if heard.reports else CallEnd.BUDGET)
    assert exchange.cost_usd > 0


async def test_a_report_stands_although_the_process_is_killed_before_its_turn_ends(tmp_path: Path) -> None:
    def kill(desk: Desk) -> None:
        for process in desk.processes():
            os.kill(process, signal.SIGKILL)

    with anyio.fail_after(LIMIT_S):
        async with desk_with(tmp_path, {"worker/t1/1": [{"tools": [DONE]}]}) as desk:
            listener = Listener(on_signal=lambda _name, _payload: kill(desk))
            async with open_session(desk.spec(), listener) as session:
                exchange = await session.exchange("build it")
            await desk.nothing_left()
    assert exchange.end is CallEnd.SIGNALLED
