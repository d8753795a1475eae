"""Each played Claude Code and the real one leave the same journal, event by event, in a dozen scenarios.

They are the contract of the port to agents: the real one, one behind sq's port, one on the SDK's transport.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import unified_diff
from typing import Any

import msgspec
import pytest
from language.sampled import sampled
from language.scripted import (
    BLUE,
    COLOUR,
    Done,
    Rehearse,
    answer,
    answers,
    asks,
    call,
    completes,
    finds,
    issue,
    plans,
    question,
    rules,
    says,
    signals,
    whole_run,
    writes,
)
from language.scripted_agent import played as behind_the_port
from language.scripted_claude import played as on_the_transport

from state.journal import events as e
from state.records.calls import MessageKind

Callers = Mapping[str, Sequence[Mapping[str, Any]]]
# What differs from run to run: times, ids, folders, and what only a process has.
_VARIES = re.compile(
    r"\d{8}-\d{6}-[a-z0-9]{4}|/[^\s\"']*/(?:worktrees|popen-gw\d|pytest-\d+)[^\s\"',:)]*|[0-9a-f]{7,64}|"
    r"/tmp/sq-\w+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|call_\w+|\d+\.\d+"
)
# A forecast rests on the run before.
_NOT_COMPARED = {"seconds", "spent_s", "use", "environment", "session_id", "call_id", "by", "forecast"}
PROBLEM = issue("notes.txt", 1, "The line is empty.", "Write a line.", kind="incorrect-behavior")
TWO = question("Which two?", "red", "blue", "green", several=True)


def lines_of(done: Done) -> list[str]:
    """The events of a run without what varies. Two agents at once may come in either order, so tasks come alone."""
    return [
        json.dumps(_plain(msgspec.to_builtins(_sorted(one.event))), sort_keys=True) for one in done.stored
    ]


def _sorted(event: e.Event) -> e.Event:
    """Claude Code puts the arguments of a call in the order of the tool's schema, and adds a default."""
    if isinstance(event, e.MessageReceived) and event.message.kind is MessageKind.TOOL_CALL:
        given = json.loads(event.message.text)
        if event.message.tool == "Edit":
            given.setdefault("replace_all", False)
        text = json.dumps(given, sort_keys=True)
        return replace(event, message=replace(event.message, text=text))
    return event


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items() if key not in _NOT_COMPARED}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return round(value, 4)
    return _VARIES.sub("…", value) if isinstance(value, str) else value


def worker(*replies: Mapping[str, Any], **others: Any) -> Callers:
    return whole_run(worker=list(replies), **others)


WRITES = writes("notes.txt", "A line.\n")
NAME = question("What name?", "a", "b")
SCENARIOS: dict[str, Callers] = {
    "a task that passes": worker(WRITES, completes()),
    "two files, one edited": worker(
        says(
            call("Write", file_path="{workspace}/notes.txt", content="A lime.\n"),
            call("Write", file_path="{workspace}/more.txt", content="More.\n"),
        ),
        says(call("Edit", file_path="{workspace}/notes.txt", old_string="lime", new_string="line")),
        writes("more.txt", "Much more.\n"),
        completes(),
    ),
    "a command that passes and one that fails": worker(
        WRITES,
        says(call("Bash", command="echo one; echo two >&2", description="say")),
        says(call("Bash", command="true", description="say nothing")),
        says(call("Bash", command="echo no; exit 3", description="fail")),
        completes(),
    ),
    "questions with labels and in other words": worker(
        asks(COLOUR, TWO, NAME),
        WRITES,
        completes(),
        **{
            "developer/notes/1": [
                answers(BLUE, answer("Which two?", "red", "green"), answer("What name?", words="Call it c.")),
            ]
        },
    ),
    "a question without a usable answer": worker(
        asks(NAME), WRITES, completes(), **{"developer/notes/1": [answers(BLUE, BLUE)]}
    ),
    "refused by policy, and a tool that does not exist": worker(
        says(call("Teleport", to="home")),
        says(call("Bash", command="git push origin main", description="push")),
        says(call("Write", file_path="/etc/elsewhere.txt", content="x")),
        WRITES,
        completes(),
    ),
    "iterations before the claim": worker(
        WRITES,
        signals("iteration_done", done="a line", test_status="", next_step="more", blockers=[]),
        writes("notes.txt", "A line.\nMore.\n"),
        completes(),
    ),
    "a claim in words alone": worker(WRITES, {"text": "All is done.\n\nTASK_COMPLETE"}),
    "stuck": worker(WRITES, signals("task_stuck", reason="The spec contradicts itself.")),
    "a report that does not fit": worker(WRITES, signals("task_complete", summary=3), completes()),
    "a review that fails, then passes": whole_run(
        reviewer=[finds(PROBLEM)],
        **{
            "reviewer/notes/2": [rules("fixed", PROBLEM)],
            "worker/notes/2": [writes("notes.txt", "A better line.\n"), completes()],
        },
    ),
    "a planner that reads": whole_run(
        planner=[
            says(call("Glob", pattern="*.md")),
            says(call("Read", file_path="{workspace}/README.md")),
            plans("notes"),
        ]
    ),
    "a request that the API refuses": worker({**WRITES, "misbehave": {"status": 400}}),
}


IN_THE_SUITE = ("questions with labels and in other words", "a request that the API refuses")
LATE = "a review that fails, then passes"


@pytest.mark.parametrize(
    "name",
    [
        *sampled([name for name in SCENARIOS if name != LATE], *IN_THE_SUITE),
        pytest.param(LATE, marks=pytest.mark.late),
    ],
)
def test_a_played_session_leaves_the_journal_of_a_real_one(rehearse: Rehearse, name: str) -> None:
    _compare(rehearse, SCENARIOS[name])


def test_a_limit_of_turns_ends_a_played_session_as_a_real_one(rehearse: Rehearse) -> None:
    looks = [says(call("Glob", pattern="*")) for _ in range(6)]
    _compare(rehearse, worker(*looks), **{"limits.max_turns": "3"})


def _compare(rehearse: Rehearse, callers: Callers, **settings: object) -> None:
    about = {"verify": ("true",), "settings": {"merge": False, **settings}}
    real = rehearse(callers, choose=None, **about, ends=None)
    for choose in (behind_the_port, on_the_transport):
        played = rehearse(callers, choose=choose, **about, ends=None)
        assert played.outcome is real.outcome
        assert "\n".join(unified_diff(lines_of(real), lines_of(played), lineterm="", n=0)) == ""
