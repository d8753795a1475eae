"""Records the sessions in `recorded/`: the real Claude Code CLI works in a real repository, its model is a script.

    .venv/bin/python tests/labelled_sessions/recording.py [NAME…]

A scenario, `scenarios/NAME.yaml`, has:

- `project`: a repository of `scenarios/projects/`, with one commit on main that is pushed to a bare remote;
- `files`: files to add or to replace before that commit; a file is executable if it starts with `#!`;
- `checkout`: a branch to start on; `aside`: shell lines that are run in the project before the session;
- `programs`: executables at the head of PATH, by name. `gh` and `deploy` are always such stand-ins: they print what
  the real ones print (`gh pr checks`: rows with tabs, exit code 8 while pending, 1 when one failed). Python, git,
  make and node are the real ones;
- `mode`: the permission mode, acceptEdits if not said; what it asks for is allowed. `answers`: what the user picks,
  by question; `skills`: those of the project; `environment`: more variables for the CLI;
- `prompts`: what the user says; `replies`: what the model says, as the gateway's scenarios have it, and with short
  forms: `Bash: make test`, `Edit: [path, old, new]`; `seen` is what the results before it must hold. Paths are relative
  to the project. A subagent's replies stand first, with a `when` that fits only its prompt;
- `like: NAME`: everything else is as in that scenario; `change` then replaces its replies by number (from 1), each
  by one, by a list, or by none.

Recordings are as the CLI wrote them, but for this: folders and the release of the machine have neutral names, and
the copies of whole requests and of the CLI's own prompts that it keeps beside the conversation are left out.
Labels, `recorded/NAME.yaml`, are written by hand.
"""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import yaml
from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, PermissionResultAllow

from agents.access import QUIET
from agents.gateway.scenario import load_scenario
from agents.gateway.server import serve_scenario
from agents.session.claude_code import find_cli

HERE = Path(__file__).parent
SESSION_LIMIT_S = 120
SETTLE_S = 0.3  # the CLI writes its last lines after it has told the result
TOOLS = [
    "Bash", "Read", "Edit", "Write", "Glob", "Grep", "Agent", "Skill", "AskUserQuestion", "TodoWrite",
    "TaskCreate", "TaskUpdate", "TaskList", "TaskOutput", "EnterPlanMode", "ExitPlanMode",
]  # fmt: skip
BY_POSITION = {
    "Bash": ("command", "description"), "Read": ("file_path",), "Write": ("file_path", "content"),
    "Edit": ("file_path", "old_string", "new_string"), "Skill": ("skill", "args"), "ExitPlanMode": ("plan",),
    "TaskCreate": ("subject", "description"), "TaskUpdate": ("taskId", "status"),
    "Agent": ("description", "prompt", "subagent_type"),
}  # fmt: skip
LEFT_OUT = re.compile(
    r'\{"type":"(?:api-request|atis-latch)|.*?"attachment":\{"type":"(?:prompt_snapshot|agent_listing|remote_session)'
)
# What must not be in a recording: folders and names of a machine.
FOREIGN = re.compile(r"[/-](?:tmp|work|root)\b[/-]|/Users/|\.pyenv|host\.internal")
GIT_IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "dev"), ("EMAIL", "dev@example.com"))
}


def scenario_named(name: str) -> dict[str, Any]:
    """The scenario with everything that it takes from another one."""
    own: dict[str, Any] = yaml.safe_load((HERE / "scenarios" / f"{name}.yaml").read_text())
    if "like" not in own:
        return own
    base = scenario_named(own.pop("like"))
    changes = own.pop("change", {})
    replies: list[Any] = []
    for number, reply in enumerate(base["replies"], start=1):
        changed = changes.get(number, reply)
        replies += changed if isinstance(changed, list) else [changed] if changed else []
    return {**base, "replies": replies, **own, "files": {**base.get("files", {}), **own.get("files", {})}}


def gateway_reply(short: Mapping[str, Any]) -> dict[str, Any]:
    """A reply as the gateway has it: capitalised keys are tools."""
    reply = {key: value for key, value in short.items() if key[0].islower() and key != "seen"}
    if seen := short.get("seen"):
        reply["expect"] = {"tool_results_contain": seen}
    tools = [tool_call(key, value) for key, value in short.items() if key[0].isupper()]
    return {**reply, "tools": tools} if tools else reply


def tool_call(name: str, given: Any) -> dict[str, Any]:
    """A call whose arguments may be given by position, with an absolute path."""
    if isinstance(given, str):
        given = [given]
    values = given if isinstance(given, dict) else dict(zip(BY_POSITION[name], given, strict=False))
    if "file_path" in values and not values["file_path"].startswith(("/", "{")):
        values = {**values, "file_path": "{workspace}/" + values["file_path"]}
    return {"name": name, "input": values}


class Place:
    """The folders of one recording, and the names that they get in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.remote = folder / "remote.git"
        self.home = folder / "home"
        self.config = self.home / ".claude"
        self.programs = folder / "bin"
        for each in (self.project, self.config, self.programs, folder / "scratch"):
            each.mkdir(parents=True)

    def neutral(self, text: str) -> str:
        """`text` with the names that folders get in a recording."""
        names = {
            str(self.project): "/srv/project",
            str(self.remote): "/srv/git/project.git",
            str(self.home): "/home/user",
            str(self.programs): "/usr/local/bin",
            str(self.folder): "/var/scratch",
            sys.prefix: "/usr/local",
            sys.base_prefix: "/usr/local",
            str(HERE.parents[1]): "/opt/tools",
            platform.release(): "6.1.0",
        }
        dashed = {re.sub(r"[\W_]", "-", path): re.sub(r"\W", "-", name) for path, name in names.items()}
        for path, name in {**names, **dashed}.items():
            text = text.replace(path, name)
        return text.replace(f"{tempfile.gettempdir()}/", "/var/scratch/")

    def environment(self) -> dict[str, str]:
        """Variables for the CLI and for git: nothing of the user's own settings."""
        return {
            **QUIET,
            **GIT_IDENTITY,
            "HOME": str(self.home),
            "CLAUDE_CONFIG_DIR": str(self.config),
            "TMPDIR": str(self.folder / "scratch"),
            "CLAUDE_CODE_TMPDIR": str(self.folder / "scratch"),
            "PATH": f"{self.programs}:{Path(sys.prefix) / 'bin'}:/usr/bin:/bin",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            "PYTHONPATH": "",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "NPM_CONFIG_UPDATE_NOTIFIER": "false",
            "VIRTUAL_ENV": "",
            "ANTHROPIC_API_KEY": "nothing",
        }

    def run(self, *command: str) -> None:
        """A command in the project."""
        environment = {**os.environ, **self.environment()}
        subprocess.run(command, cwd=self.project, env=environment, check=True, capture_output=True)


def prepare(place: Place, scenario: Mapping[str, Any]) -> None:
    """The repository that the session finds, with its remote."""
    project = HERE / "scenarios" / "projects" / f"{scenario['project']}.yaml"
    write_files(place.project, {**yaml.safe_load(project.read_text()), **scenario.get("files", {})})
    write_files(place.programs, scenario.get("programs", {}))
    place.run("git", "init", "--quiet", "--initial-branch=main")
    place.run("git", "init", "--quiet", "--bare", "--initial-branch=main", str(place.remote))
    place.run("git", "add", "--all")
    place.run("git", "commit", "--quiet", "--message", "First version")
    place.run("git", "remote", "add", "origin", str(place.remote))
    place.run("git", "push", "--quiet", "--set-upstream", "origin", "main")
    if branch := scenario.get("checkout"):
        place.run("git", "checkout", "--quiet", "-b", branch)
    for line in scenario.get("aside", ()):
        place.run("sh", "-c", line)


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Files by their paths in `folder`."""
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        if text.startswith("#!"):
            file.chmod(0o755)


async def play(place: Place, name: str, scenario: Mapping[str, Any]) -> list[str]:
    """The session from its first prompt to its last; what went otherwise than written."""
    lanes = {f"worker/{name}/1": [gateway_reply(reply) for reply in scenario["replies"]]}
    script = place.folder / "scenario.yaml"
    script.write_text(yaml.safe_dump({"scenario": 1, "lanes": lanes}))

    async def allow(_tool: str, given: dict[str, Any], _context: Any) -> PermissionResultAllow:
        answers = {"answers": scenario.get("answers", {})} if "questions" in given else {}
        return PermissionResultAllow(updated_input={**given, **answers})

    ledger = place.folder / "ledger.jsonl"
    async with serve_scenario(load_scenario(script), run_id=name, ledger=ledger) as gateway:
        url = gateway.lane_url("worker", name, 1, {"workspace": str(place.project)})
        options = ClaudeAgentOptions(
            cwd=place.project,
            cli_path=find_cli(),
            tools=TOOLS,
            system_prompt={"type": "preset", "preset": "claude_code"},
            setting_sources=["project"],
            skills=scenario.get("skills", []),
            strict_mcp_config=True,
            permission_mode=scenario.get("mode", "acceptEdits"),
            can_use_tool=allow,
            env={**place.environment(), "ANTHROPIC_BASE_URL": url, **scenario.get("environment", {})},
        )
        async with ClaudeSDKClient(options) as client:
            for prompt in scenario["prompts"]:
                await client.query(prompt)
                async for _ in client.receive_response():
                    pass
            await anyio.sleep(scenario.get("listen_s", SETTLE_S))
        return gateway.problems


def keep(place: Place, name: str, last_words: str) -> Iterator[str]:
    """Copies the transcript and those of subagents; yields what is wrong with them."""
    found = list((place.config / "projects").glob("*/*.jsonl"))
    if len(found) != 1:
        yield f"{len(found)} transcripts instead of one"
        return
    target = HERE / "recorded" / f"{name}.jsonl"
    shutil.rmtree(target.with_suffix(""), ignore_errors=True)
    copies = {target: found[0]}
    for agent in found[0].with_suffix("").glob("subagents/*.jsonl"):
        copies[target.with_suffix("") / "subagents" / agent.name] = agent
    for copy, original in copies.items():
        lines = original.read_text(encoding="utf-8").splitlines(keepends=True)
        text = place.neutral("".join(line for line in lines if not LEFT_OUT.match(line)))
        yield from (f"{copy.name} holds {found!r}" for found in sorted(set(FOREIGN.findall(text))))
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding="utf-8")
    if json.dumps(last_words.splitlines()[-1], ensure_ascii=False)[1:-1] not in target.read_text():
        yield "the last reply was not given"


async def record(name: str) -> list[str]:
    """Records one session; the problems, none if all went as written."""
    scenario = scenario_named(name)
    with tempfile.TemporaryDirectory(prefix="session-", ignore_cleanup_errors=True) as folder:
        place = Place(Path(folder).resolve())
        prepare(place, scenario)
        with anyio.fail_after(SESSION_LIMIT_S):
            problems = await play(place, name, scenario)
        return [*problems, *keep(place, name, scenario["replies"][-1]["text"])]


def main(names: Sequence[str]) -> int:
    """Records the named sessions, or all; returns the exit code."""
    failed = False
    for name in names or sorted(path.stem for path in (HERE / "scenarios").glob("*.yaml")):
        problems = anyio.run(record, name)
        failed = failed or bool(problems)
        sys.stdout.write("\n  ".join([f"{name}: {'not ' if problems else ''}as written", *problems]) + "\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
