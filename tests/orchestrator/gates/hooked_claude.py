"""The real Claude Code with the stop gate in its settings, its model played by the gateway."""

import json
import os
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from agents.access import OURS, RehearsalConnection
from agents.caller import Caller
from agents.claude_code.executable import find_cli
from agents.gateway.ledger import read_ledger
from agents.gateway.script import Scenario
from agents.gateway.server import serve_scenario
from state.roles import Role

HOOK = f'"{sys.executable}" -I -m orchestrator.cli hook stop'
FEEDBACK = "Stop hook feedback:\n"
WORKER = Caller(role=Role.WORKER, task="session", attempt=1)
JUDGE = Caller(role=Role.JUDGE, task="stop", attempt=1)
TOOLS = "Bash,Read,Edit,Write,TaskCreate,TaskUpdate,TaskList,ToolSearch,TodoWrite"


@dataclass(frozen=True)
class Ended:
    """A session of Claude Code that is over, as its user sees it."""

    lines: list[dict]
    problems: list[str]
    ledger: list = field(repr=False, default_factory=list)

    @property
    def held(self):
        """The reasons for which it was held, in order."""
        texts = [
            block["text"]
            for line in self.lines
            if line["type"] == "user"
            for block in line["message"]["content"]
            if block["type"] == "text"
        ]
        return [text.removeprefix(FEEDBACK) for text in texts if text.startswith(FEEDBACK)]

    @property
    def messages(self):
        """What the hook told the user."""
        shown = [line for line in self.lines if line["type"] == "system" and "content" in line]
        return "\n".join(line["content"].replace("Stop says: ", "") for line in shown)

    @property
    def result(self):
        """How it ended."""
        (line,) = (line for line in self.lines if line["type"] == "result")
        return line

    def asked(self, caller):
        """How many requests came in a caller."""
        return len([line for line in self.ledger if line.caller.startswith(caller)])


@dataclass
class Claude:
    """Starts sessions in a project, with a home of their own."""

    project: Path
    home: Path

    async def __call__(self, replies, *, judge=(), session="", hook=HOOK, flags=(), without=(), **environ):
        """A session with these replies of the model. `judge` answers the hook, at an address of its own."""
        scenario = Scenario(scenario=1, callers={"worker/*": list(replies), "judge/*": list(judge)})
        ledger = self.home / "ledger.jsonl"
        with anyio.fail_after(90):
            async with serve_scenario(scenario, run_id="r", ledger=ledger) as gateway:
                connection = RehearsalConnection(gateway=gateway, config_dir=self.home / ".claude")
                own = {**os.environ, **connection.session_environment(WORKER)}
                own |= {"CLAUDE_SESSION_ID": session, "HOME": str(self.home), **environ}
                for name in (OURS, "PYTHONDONTWRITEBYTECODE", *without):
                    own.pop(name, None)
                address = connection.session_environment(JUDGE)["ANTHROPIC_BASE_URL"] if judge else ""
                self._settle(f"ANTHROPIC_BASE_URL={shlex.quote(address)} {hook}" if judge else hook)
                command = [str(find_cli()), "--print", "--verbose", "--output-format", "stream-json"]
                command += ["--model", "haiku", "--allowedTools", TOOLS, *flags, "--", "Do it."]
                done = await anyio.run_process(command, cwd=self.project, env=own, check=False)
                assert done.stdout, done.stderr
                lines = [json.loads(line) for line in done.stdout.splitlines()]
                return Ended(lines, gateway.problems, read_ledger(ledger))

    def _settle(self, command):
        """Write the settings of the user, with the gate as their only hook."""
        hook = {"type": "command", "command": command, "timeout": 30}
        folder = self.home / ".claude"
        folder.mkdir(exist_ok=True)
        (folder / "settings.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))

    def diagnostics(self):
        """What the gate logged, oldest first."""
        folder = self.project / ".claude" / "runtime" / "power-steering"
        files = sorted(folder.rglob("diagnostic.jsonl"))
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def says(text, **more):
    """Words that end a turn. They take their time, as a model's do: Claude Code writes its file meanwhile."""
    return {"text": text, "misbehave": {"slow": 0.15}, **more}


def calls(name, **given):
    return {"tools": [{"name": name, "input": given}]}


def does(name, then, **given):
    """A call and the words after it."""
    return [calls(name, **given), says(then)]


def judged(should_continue, reason="", suggestion="", **more):
    """An answer of the judge."""
    answer = {"should_continue": should_continue, "reason": reason, "suggestion": suggestion}
    return {"structured": answer, **more}


FIND_TASKS = calls("ToolSearch", query="select:TaskCreate,TaskUpdate,TaskList", max_results=5)
