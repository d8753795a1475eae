"""The reporting tools, called over MCP as Claude Code calls them: what fits is recorded, what does not is explained."""

import json

import anyio
import pytest
from language.tables import rows
from mcp import Client

from agents.claude_code.tool_server import signal_server
from agents.roles.planner import read_analysis, read_plan
from agents.roles.reviewer import parse_review_output
from agents.session.tools import SIGNALS
from state.records.plan import Criterion, Task
from state.roles import Role


class Desk:
    """One role's tools and what they recorded."""

    def __init__(self, role):
        self.recorded = []
        self.server = signal_server(SIGNALS[role], lambda *said: self.recorded.append(said))["instance"]

    async def call(self, tool, arguments):
        """Whether the call was accepted, and what the agent is told."""
        with anyio.fail_after(10):
            async with Client(self.server) as client:
                result = await client.call_tool(tool, arguments)
        return not result.is_error, result.content[0].text

    async def tools(self):
        with anyio.fail_after(10):
            async with Client(self.server) as client:
                return {tool.name: tool for tool in (await client.list_tools()).tools}


@pytest.mark.parametrize("role", [role for role in Role if SIGNALS[role]])
async def test_a_role_is_offered_its_tools_and_no_other(role):
    offered = await Desk(role).tools()
    assert set(offered) == {tool.name for tool in SIGNALS[role]}
    assert all(tool.input_schema["type"] == "object" for tool in offered.values())


@pytest.mark.parametrize(*rows(__file__, "accepted"))
async def test_a_workers_signal_is_recorded_with_what_it_carries(tool, arguments):
    desk = Desk(Role.WORKER)
    accepted, told = await desk.call(tool, arguments)
    assert accepted
    assert told == "Recorded."
    ((name, payload),) = desk.recorded
    assert (name, json.loads(payload)) == (tool, arguments)


async def test_fields_that_are_left_out_are_recorded_as_empty():
    desk = Desk(Role.WORKER)
    await desk.call("iteration_done", {"done": "a"})
    assert json.loads(desk.recorded[0][1]) == {
        "done": "a",
        "test_status": "",
        "next_step": "",
        "blockers": [],
        "notes": "",
    }


@pytest.mark.parametrize(*rows(__file__, "refused"))
async def test_a_signal_that_does_not_fit_is_not_recorded_and_says_what_is_wrong(tool, arguments, named):
    desk = Desk(Role.WORKER)
    accepted, told = await desk.call(tool, arguments)
    assert not accepted
    assert named in told
    assert desk.recorded == []


async def test_a_signal_that_fits_and_is_refused_goes_back_with_the_reason():
    desk = Desk(Role.WORKER)
    desk.server = signal_server(SIGNALS[Role.WORKER], lambda name, _: f"{name} comes too late")["instance"]
    assert await desk.call("task_stuck", {"reason": "no network"}) == (False, "task_stuck comes too late")


async def test_a_submitted_plan_is_read_as_it_was_meant():
    desk = Desk(Role.PLANNER)
    one = {"id": "t1", "title": "One", "description": "Do it.", "acceptance_criteria": ["it works"]}
    plan = {"tasks": [one], "criteria": [{"text": "it works", "task_ids": ["t1"]}], "mood": "calm"}
    await desk.call("submit_plan", plan)
    read = read_plan(desk.recorded[0][1])
    assert read.tasks == (
        Task(id="t1", title="One", description="Do it.", acceptance_criteria=("it works",)),
    )
    assert read.criteria == (Criterion(text="it works", task_ids=("t1",)),)


async def test_a_plan_with_a_broken_task_says_which_one():
    desk = Desk(Role.PLANNER)
    tasks = [{"id": "t1", "title": "One", "description": "Do it."}, {"id": "t2", "title": "Two"}]
    accepted, told = await desk.call("submit_plan", {"tasks": tasks})
    assert not accepted
    assert "description" in told
    assert desk.recorded == []


async def test_a_reported_analysis_is_read_as_it_was_meant():
    desk = Desk(Role.PLANNER)
    await desk.call(
        "report_analysis", {"spec_findings": [], "project_type": "a library", "stack": ["Python"]}
    )
    read = read_analysis(desk.recorded[0][1])
    assert (read.project_type, read.stack, read.verification_commands) == ("a library", ("Python",), ())


async def test_a_review_is_recorded_as_it_came_and_judged_by_its_reader():
    desk = Desk(Role.REVIEWER)
    issue = {"file": "a.py", "line": 3, "type": "dead-code", "description": "unused", "suggestion": "remove"}
    accepted, _ = await desk.call("report_review", {"passed": False, "issues": [issue]})
    assert accepted
    assert parse_review_output(desk.recorded[0][1]).issues[0].file == "a.py"
