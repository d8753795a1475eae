"""`sq watch` in a real terminal: how it begins, and that it leaves the terminal as it was, however it ends."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from language.hostile_texts import FRAGMENTS
from language.large_runs import RUN_ID, twelve_tasks, write
from language.steering import MARKUP, steering_in
from language.tables import table
from language.terminal import SQ, Terminal

from state.journal import events as e
from state.journal.store import Journal
from state.records.calls import Message, MessageKind

ROOT = Path(__file__).parents[3]
WRITER = ROOT / "tests" / "language" / "large_runs.py"
CRASHES = table(__file__, "crashes")


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    folder = tmp_path_factory.mktemp("state")
    write(folder / "runs" / RUN_ID, twelve_tasks())
    return folder


def watch(state, *more, **options):
    return Terminal(*SQ, "watch", *more, "--state-dir", str(state), **options)


@pytest.mark.parametrize(
    ("leave", "code"),
    [
        (lambda terminal: terminal.press("q"), 0),
        (lambda terminal: terminal.press("\x03"), 0),
        (lambda terminal: terminal.send(signal.SIGTERM), 143),
    ],
    ids=["q", "Ctrl-C", "SIGTERM"],
)
def test_it_leaves_the_terminal_as_it_was(state, leave, code):
    with watch(state) as terminal:
        terminal.until("4/12 merged")
        assert terminal.modes[1049]
        assert not terminal.modes[25]
        leave(terminal)
        assert terminal.end() == code
        assert terminal.is_as_before


def test_after_a_crash_the_terminal_is_as_before_and_the_error_is_shown_without_words_of_agents(state):
    with Terminal(sys.executable, "-c", CRASHES, str(state / "runs" / RUN_ID)) as terminal:
        assert terminal.end() == 1
        assert terminal.is_as_before
        assert "RuntimeError: broken" in terminal.text
        assert "a defect of sq" in terminal.text
        assert "a word of an agent" not in terminal.text
        assert b"]0;owned\x07" not in terminal.written


def test_a_run_whose_process_is_killed_is_said_to_be_killed_and_the_view_goes_on(tmp_path):
    command = [sys.executable, str(WRITER), str(tmp_path), "--hold", "60"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline().strip() == RUN_ID
        with watch(tmp_path) as terminal:
            terminal.until("● building")
            run.kill()
            run.wait()
            terminal.until("✗ killed")
            terminal.until("sq resume")
            terminal.press("q")
            assert terminal.end() == 0
            assert terminal.is_as_before


def test_the_view_that_is_killed_does_no_harm_to_the_run(tmp_path):
    folder = write(tmp_path / "runs" / RUN_ID, twelve_tasks())
    with Journal(folder) as journal, watch(tmp_path) as terminal:
        terminal.until("● building")
        terminal.send(signal.SIGKILL)
        terminal.end()
        stored = journal.append(e.RunInterrupted(by="SIGTERM"))
        assert stored[0].seq == len(twelve_tasks()) + 1


def test_it_follows_the_run_that_is_worked_on_though_a_newer_one_is_there(tmp_path):
    older = write(tmp_path / "runs" / "20260101-000000-aaaa", twelve_tasks())
    write(tmp_path / "runs" / RUN_ID, twelve_tasks())
    with Journal(older), watch(tmp_path) as terminal:
        terminal.until("· aaaa ·")
    with watch(tmp_path) as terminal:
        terminal.until("· rbeg ·")


def test_the_list_of_all_runs_opens_one(tmp_path):
    write(tmp_path / "runs" / "20260101-000000-aaaa", twelve_tasks(ended=True))
    write(tmp_path / "runs" / RUN_ID, twelve_tasks())
    with watch(tmp_path, "--all") as terminal:
        terminal.until("2 runs, 0 active")
        terminal.press("j\r")
        terminal.until("6/12 merged")
        terminal.press("q")
        assert terminal.end() == 0


def test_an_earlier_event_is_shown_on_demand(state):
    with watch(state, RUN_ID, "--at", "40") as terminal:
        terminal.until(f"event 40 of {len(twelve_tasks())}")


def test_the_report_is_written_on_demand_and_its_file_is_said(tmp_path):
    folder = write(tmp_path / "runs" / RUN_ID, twelve_tasks(tmp_path / "repository", ended=True))
    with watch(tmp_path, columns=200) as terminal:
        terminal.until("6/12 merged")
        terminal.press("o")
        terminal.until(f"report: {folder / 'report.html'}")
        assert (folder / "report.html").read_text("utf-8").startswith("<!doctype html>")
        terminal.press("q")
        assert terminal.end() == 0


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "xterm-256color", "COLORTERM": ""}])
def test_without_colours_none_is_asked_of_the_terminal(state, environment):
    with watch(state, environment=environment) as terminal:
        terminal.until("4/12 merged")
        terminal.press("jwq2q")
        terminal.end()
        colours = b"\x1b[38;" in terminal.written or b";38;2" in terminal.written
        assert colours is ("NO_COLOR" not in environment)


def test_without_a_terminal_it_is_a_usage_error_that_names_other_commands(state):
    done = subprocess.run(
        [*SQ, "watch", "--state-dir", str(state)], check=False, cwd=ROOT, capture_output=True,
        text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 2
    assert "needs a terminal" in done.stderr
    assert "sq status" in done.stderr
    assert "sq logs --follow" in done.stderr


@pytest.mark.parametrize("arguments", [["nowhere"], ["--all", "--at", "3"], ["--at", "0"]])
def test_a_run_that_is_not_there_and_options_that_exclude_each_other_are_usage_errors(state, arguments):
    with watch(state, *arguments) as terminal:
        assert terminal.end() == 2
        assert 1049 not in terminal.modes


def test_hostile_words_reach_a_real_terminal_without_steering_it(tmp_path):
    folder = write(tmp_path / "runs" / RUN_ID, twelve_tasks())
    with Journal(folder) as journal:
        call = [one.event.call_id for one in journal.read() if isinstance(one.event, e.CallStarted)][-2]
        for text in (*FRAGMENTS, *MARKUP):
            said = Message(kind=MessageKind.TEXT, text=f"said {text}")
            journal.append(e.MessageReceived(call_id=call, message=said))
        journal.append(
            e.MessageReceived(call_id=call, message=Message(kind=MessageKind.TEXT, text="the last one"))
        )
    with watch(tmp_path, columns=100, lines=60) as terminal:
        terminal.until("the last one")
        terminal.press("\t\tg")
        terminal.until(r"\x1b[2J")
        terminal.press("q")
        assert terminal.end() == 0
        commands = re.findall(rb"\x1b\]([^\x07\x1b]*)", terminal.written)
        assert set(commands) <= {b"22;default"}  # the pointer's shape, by Textual itself
        assert terminal.written.count(b"\x07") == len(commands)
        for steering in ("\x9b".encode(), "\u202e".encode(), "\u2066".encode(), "\u200b".encode()):
            assert steering not in terminal.written
        assert not [one for one in steering_in(terminal.text) if one not in "\r\n\x08\t"]


@pytest.mark.parametrize("command", ["run", "status", "logs"])
def test_no_other_command_imports_textual(state, command):
    code = (
        "import sys\nfrom orchestrator.cli import main\n"
        f"main.cli.main([{command!r}, '--help'], standalone_mode=False)\n"
        "import orchestrator.cli.runs.compose, orchestrator.cli.status, orchestrator.cli.status\n"
        "import orchestrator.views.run.console, orchestrator.views.run.console\n"
        "sys.exit('textual' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
