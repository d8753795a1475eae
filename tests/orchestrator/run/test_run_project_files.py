"""What a run takes from its base for agents: instructions, MCP servers, and patterns of files to copy."""

import json
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from language.scripted import (
    Done,
    Rehearse,
    call,
    completes,
    issue,
    passes,
    rules,
    says,
    signals,
    whole_run,
    writes,
)
from language.tables import table

from agents.process.sandbox.choice import Choice, SandboxLevel
from orchestrator.cli.runs.project_files import refuse_servers
from state.errors import UsageError
from state.journal import events as e
from state.outcome import Outcome
from state.records.calls import ToolServer
from state.settings.presets import usual_settings
from state.settings.records import Sandbox

Shell = Callable[..., str]
CHANGES_THEM = issue(
    "AGENTS.md",
    0,
    "the task changes a file that instructs agents",
    "Put it back as it was, unless the spec asks for exactly this change",
    kind="spec-mismatch",
)
SERVER = table(__file__, "server")


# --- instructions -----------------------------------------------------------------------------------------


def test_agents_read_the_instructions_of_the_base_which_the_report_and_the_summary_name(
    rehearse: Rehearse, commit: Callable[..., Path]
) -> None:
    root = commit({"CLAUDE.md": "Write British English.\n@docs/style.md\n", "docs/style.md": "Tabs.\n"})
    commit({"pkg/AGENTS.md": "No globals here.\n"})
    (root / "CLAUDE.md").write_text("Not committed.\n")
    done = rehearse(whole_run(), verify=("true",))
    for role in ("worker", "reviewer", "planner"):
        system = next(one.system for one in done.of(e.CallStarted) if one.role == role)
        assert all(text in system for text in ("Write British English.", "Tabs.", "No globals here."))
        assert ": CLAUDE.md>" in system
        assert "Not committed." not in system
    (read,) = done.of(e.InstructionsRead)
    assert read.files == ("CLAUDE.md", "docs/style.md", "pkg/AGENTS.md")
    named = "the project's instructions: CLAUDE.md, docs/style.md, pkg/AGENTS.md"
    assert " ".join(done.output.split()).count(named) == 2  # at the start, and in the summary at the end
    report = (done.folder / "report.html").read_text()
    assert "docs/style.md, pkg/AGENTS.md" in report


@pytest.mark.late
def test_a_secret_in_the_instructions_reaches_no_model(
    rehearse: Rehearse, commit: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "not-for-agents-4711")
    commit({"AGENTS.md": "Ask the service with not-for-agents-4711, please.\n"})
    work = [
        writes("notes.txt", "A line.\n"),
        completes(anywhere_contains=["service with [redacted: SOME_API_KEY]"]),
    ]
    rehearse(whole_run(worker=work), verify=("true",))


@pytest.mark.late
def test_in_the_checkout_itself_uncommitted_instructions_count(
    rehearse: Rehearse, commit: Callable[..., Path]
) -> None:
    root = commit({"AGENTS.md": "Committed.\n"})
    (root / "AGENTS.md").write_text("Mine, not committed.\n")
    done = rehearse(whole_run(), verify=("true",), settings={"worktrees": False}, allow_dirty=True)
    assert "Mine, not committed." in done.of(e.CallStarted)[0].system


@pytest.mark.late
def test_a_resumed_run_reads_the_instructions_of_its_base_and_names_them_once(
    rehearse: Rehearse, resume: Callable[..., Done], commit: Callable[..., Path]
) -> None:
    commit({"AGENTS.md": "Of the base.\n"})
    stuck = signals("task_stuck", reason="It lacks a decision.")
    work = {"worker/notes/1": [stuck], "worker/notes/2": [writes("notes.txt", "A line.\n"), completes()]}
    done = rehearse(whole_run(**work), verify=("true",), ends=Outcome.STUCK)
    commit({"AGENTS.md": "Newer.\n"})
    again = resume(done, retry=("notes",))
    (_, system) = [one.system for one in again.of(e.CallStarted) if one.role == "worker"]
    assert "Of the base." in system
    assert "Newer." not in system
    assert len(again.of(e.InstructionsRead)) == 1


def test_without_instructions_nothing_is_said_of_them(rehearse: Rehearse) -> None:
    done = rehearse(whole_run(), verify=("true",))
    assert done.of(e.InstructionsRead) == []
    assert "the project's instructions" not in done.output


def test_a_task_that_changes_instructions_has_a_finding_until_the_reviewer_rules_on_it(
    rehearse: Rehearse, commit: Callable[..., Path]
) -> None:
    commit({"AGENTS.md": "Tests first.\n"})
    work = [writes("AGENTS.md", "No tests.\n"), writes("notes.txt", "A line.\n"), completes(), completes()]
    again = [writes("AGENTS.md", "Tests first.\n"), completes()]
    reviews = [
        passes(
            prompt_contains=["the task changes a file that instructs agents"]
        ),  # refused: it rules on nothing
        rules("open", CHANGES_THEM, why="The spec does not ask for it."),
    ]
    done = rehearse(
        whole_run(
            **{
                "worker/notes/1": work,
                "worker/notes/2": again,
                "reviewer/notes/1": reviews,
                "reviewer/notes/2": [rules("fixed", CHANGES_THEM)],
            }
        ),
        verify=("true",),
    )
    first, second = done.of(e.ReviewRecorded)[:2]
    assert (first.passed, second.passed) == (False, True)
    assert [one.file for one in first.issues] == ["AGENTS.md"]


@pytest.mark.late
def test_a_change_of_instructions_that_the_reviewer_rules_to_be_right_goes_on(
    rehearse: Rehearse, commit: Callable[..., Path]
) -> None:
    commit({"CLAUDE.md": "@docs/style.md\n", "docs/style.md": "Tabs.\n"})
    work = [writes("docs/style.md", "Spaces.\n"), writes("notes.txt", "A line.\n"), completes()]
    style = {**CHANGES_THEM, "file": "docs/style.md"}
    rehearse(
        whole_run(worker=work, reviewer=[rules("won't fix", style)]),
        verify=("true",),
    )


# --- MCP servers ------------------------------------------------------------------------------------------


def servers(**named: Any) -> dict[str, str]:
    return {".mcp.json": json.dumps({"mcpServers": named}), "tools/words.py": SERVER}


WORDS = {"command": "python3", "args": ["tools/words.py"]}


@pytest.mark.late
@pytest.mark.claude
def test_a_worker_has_the_tools_of_a_named_server_in_the_sandbox_and_a_server_that_fails_is_a_line(
    rehearse: Rehearse, commit: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROJECT_WORD", "hello")
    monkeypatch.setenv("SOME_API_KEY", "not-for-servers")
    outside = tmp_path / "outside"
    variables = {"WORD": "${PROJECT_WORD}", "SECRET": "${ANTHROPIC_API_KEY:-none}", "OUTSIDE": str(outside)}
    broken = {"command": "no-such-program"}
    commit(servers(words={**WORDS, "env": variables}, broken=broken, other=WORDS))
    look = says(call("mcp__words__look"))
    work = [look, says(call("mcp__other__look")), writes("notes.txt", "A line.\n"), completes()]
    callers = whole_run(worker=work, reviewer=[look, passes()])
    settings = {"worker.mcp": ["words", "broken"]}
    done = rehearse(callers, verify=("true",), settings=settings)
    (listed,) = done.of(e.ToolServersListed)
    assert listed.servers == (
        ToolServer(name="words", status="connected", tools=("look",)),
        ToolServer(name="broken", status="failed"),
    )
    assert "MCP server words: connected, look" in done.output
    assert "MCP server broken: failed" in done.output
    results = [one.message.text for one in done.of(e.MessageReceived) if one.message.tool == ""]
    (told,) = [text for text in results if text.startswith('["hello"')]
    word, secret, key, names = json.loads(told)
    assert (word, secret, key) == ("hello", "none", "")
    assert "SOME_API_KEY" not in names
    assert not outside.exists()  # it wrote there, in the sandbox
    assert [text for text in results if "No such tool available: mcp__other__look" in text]
    assert [text for text in results if "No such tool available: mcp__words__look" in text]  # the reviewer
    assert "not-for-servers" not in done.output


@pytest.mark.parametrize(
    ("files", "names", "why"),
    [
        (servers(words=WORDS), ["wrods"], "has no server wrods. Known are words"),
        ({"a.txt": "a"}, ["words"], "Known are none"),
        ({".mcp.json": "{"}, ["words"], "cannot be read"),
        (servers(sq__x=WORDS), ["sq__x"], "is the name of sq's own tools"),
    ],
)
def test_a_server_that_the_base_does_not_name_is_a_mistake_of_the_users(
    rehearse: Rehearse, commit: Callable[..., Path], files: dict[str, str], names: list[str], why: str
) -> None:
    root = commit(files)
    with pytest.raises(UsageError, match=why):
        rehearse(whole_run(), settings={"worker.mcp": names})
    assert not (root / ".sq" / "runs").exists()


@pytest.mark.parametrize(
    ("level", "asked", "refused"),
    [
        (SandboxLevel.WHOLE, Sandbox.AUTO, False),
        (SandboxLevel.COMMANDS, Sandbox.AUTO, True),
        (SandboxLevel.OFF, Sandbox.AUTO, True),
        (SandboxLevel.OFF, Sandbox.OFF, False),
    ],
)
async def test_servers_run_outside_a_sandbox_only_where_none_was_asked_for(
    commit: Callable[..., Path], level: SandboxLevel, asked: Sandbox, refused: bool
) -> None:
    root = commit(servers(words=WORDS))
    settings = replace(usual_settings(), worker_mcp=("words",))
    refusal = pytest.raises(UsageError, match=r"outside a sandbox here .*--sandbox off")
    with refusal if refused else nullcontext():
        await refuse_servers(settings, Choice(level=level), root, "HEAD", asked)


# --- .worktreeinclude -------------------------------------------------------------------------------------


def test_the_patterns_of_the_bases_file_are_the_default_and_files_that_git_does_not_ignore_are_left_out(
    rehearse: Rehearse, commit: Callable[..., Path]
) -> None:
    include = "# local\n*.env\n!b.env\n*.txt  \n"
    root = commit({".worktreeinclude": include, ".gitignore": "*.env\n", "tracked.txt": "x"})
    for name in ("a.env", "b.env", "new.txt"):
        (root / name).write_text("x\n")
    done = rehearse(whole_run(), verify=("test -f a.env && ! test -f b.env && ! test -f new.txt",))
    assert {one.copied for one in done.of(e.WorkspaceSetUp)} == {("a.env",)}
    told = ".worktreeinclude names 2 file(s) that git does not ignore, left out: tracked.txt, new.txt"
    assert told in " ".join(done.output.split())


@pytest.mark.late
def test_a_set_list_wins_over_the_file(rehearse: Rehearse, commit: Callable[..., Path]) -> None:
    root = commit({".worktreeinclude": "*.env\n", ".gitignore": "*.env\n*.key\n"})
    for name in ("a.env", "a.key"):
        (root / name).write_text("x\n")
    done = rehearse(whole_run(), verify=("true",), settings={"worktree.include": ["*.key"]})
    assert {one.copied for one in done.of(e.WorkspaceSetUp)} == {("a.key",)}


@pytest.mark.late
def test_a_file_that_only_an_uncommitted_line_ignores_is_left_out(
    rehearse: Rehearse, commit: Callable[..., Path]
) -> None:
    root = commit({".worktreeinclude": "*.env\n*.key\n", ".gitignore": "*.env\n"})
    (root / ".gitignore").write_text("*.env\n*.key\n")
    for name in ("a.env", "a.key"):
        (root / name).write_text("x\n")
    done = rehearse(whole_run(), verify=("true",))
    assert {one.copied for one in done.of(e.WorkspaceSetUp)} == {("a.env",)}
