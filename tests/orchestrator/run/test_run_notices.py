"""Notices of whole runs: what is said of a parked question, a stuck task and an end, and what does not hold it up."""

import json
import os
import pty
import signal
import subprocess
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml
from language.beginnings import run_started
from language.played_sq import PLAYED_SQ
from language.scripted import (
    COLOUR,
    SPEC,
    Done,
    Rehearse,
    answer,
    answers,
    asks,
    completes,
    plans,
    whole_run,
    writes,
)

from orchestrator.cli.runs.publisher import Publisher
from orchestrator.cli.runs.request import RunEnvironment
from orchestrator.views.screen import ring
from state.errors import UsageError
from state.journal import events as e
from state.journal.recorder import Recorder
from state.journal.store import Journal
from state.outcome import Outcome
from state.settings.integrations import Integrations
from state.settings.presets import usual_settings

PARKS = whole_run(
    planner=[plans("risky")],
    **{
        "worker/risky/1": [asks(COLOUR)],
        "developer/risky/1": [answers(answer("Which colour?", "blue", reversible=False, basis="judgement"))],
    },
)
HOOK = "json://127.0.0.1:9/a-long-token-of-the-hook"


def configure(repository: Path, *tables: str) -> None:
    (repository / "sq.toml").write_text("\n".join(tables))


def by_command(command: str, *kinds: str) -> str:
    return f"[[notify]]\non = {json.dumps(list(kinds))}\ncommand = {json.dumps(command)}\n"


def test_a_parked_question_and_the_end_are_told_once_each_with_what_answers_it(
    rehearse: Rehearse, repository: Path, home: Path
) -> None:
    configure(
        repository, by_command("cat >> told.jsonl; echo >> told.jsonl", "ended", "parked", "stuck", "waiting")
    )
    done = rehearse(PARKS, verify=("true",), settings={"questions": "park"}, ends=Outcome.STUCK)
    told = [json.loads(line) for line in (home / "told.jsonl").read_text().splitlines()]
    assert [one["kind"] for one in told] == ["parked", "ended"]
    assert [one["outcome"] for one in told] == ["", "stuck"]
    assert told[0]["task_title"] == "Task risky"
    command = f'sq answer {done.folder.name} q1 "…"'
    assert told[0]["command"] == command
    assert told[1]["command"] == f"{command}, then sq resume {done.folder.name}"
    for one in told:
        assert "Which colour?" in one["text"]
        assert "1 red" in one["text"]
        assert "2 blue" in one["text"]
    assert [sent.ok for sent in done.of(e.NoticeSent)] == [True, True]
    assert "was not sent" not in done.output


@pytest.mark.late
async def test_that_a_run_waits_for_an_hour_is_told_while_it_waits(
    repository: Path, home: Path, tmp_path: Path
) -> None:
    configure(repository, by_command("cat >> told.jsonl; echo >> told.jsonl", "waiting"))
    blue = answers(answer("Which colour?", "blue"))
    limited = {**blue, "misbehave": {"status": 429, "retry_after": 3_600}}
    callers = whole_run(worker=[asks(COLOUR)], developer=[limited])
    scenario = {"scenario": 1, "description": "limited", "callers": callers}
    (tmp_path / "scenario.yaml").write_text(yaml.safe_dump(scenario))
    (tmp_path / "spec.md").write_text(SPEC)
    command = [*PLAYED_SQ, "--spec", str(tmp_path / "spec.md"), "--plain"]
    command += ["--rehearse", str(tmp_path / "scenario.yaml"), "--verify", "true"]
    told = home / "told.jsonl"
    with anyio.fail_after(100):
        async with await anyio.open_process(command, cwd=repository, stdout=subprocess.DEVNULL) as run:
            while not told.exists() or not told.read_text().endswith("\n"):
                assert run.returncode is None
                await anyio.sleep(0.05)
            run.send_signal(signal.SIGINT)
            assert await run.wait() == Outcome.INTERRUPTED.exit_code
    (notice,) = map(json.loads, told.read_text().splitlines())
    assert notice["kind"] == "waiting"
    assert "nothing goes on until" in notice["text"]


@pytest.mark.late
def test_a_notice_that_cannot_be_sent_changes_nothing_and_is_told_once(
    rehearse: Rehearse, repository: Path, resume: Callable[..., Done]
) -> None:
    configure(repository, by_command("exit 7", "ended"))
    done = rehearse(whole_run(), verify=("true",))
    assert done.output.count("the notice `ended` to command 1 was not sent: exit code 7") == 1
    again = resume(done)  # shows the end of a run that has ended, and sends nothing
    assert len(again.of(e.NoticeSent)) == 1
    assert "complete (exit code 0)" in again.output


def test_without_a_table_a_run_sends_nothing(rehearse: Rehearse) -> None:
    done = rehearse(whole_run(), verify=("true",))
    assert done.of(e.NoticeSent) == []
    assert not (done.folder / "notices").exists()


@pytest.mark.parametrize(
    ("value", "said"),
    [("", "SQ_HOOK is not set"), ("no address", "SQ_HOOK holds no address that Apprise knows")],
)
def test_an_address_that_cannot_be_used_is_named_before_anything_is_started(
    rehearse: Rehearse, repository: Path, monkeypatch: pytest.MonkeyPatch, value: str, said: str
) -> None:
    configure(repository, '[[notify]]\non = ["ended"]\nurl = "env:SQ_HOOK"\n')
    monkeypatch.setenv("SQ_HOOK", value)
    with pytest.raises(UsageError, match=said):
        rehearse(whole_run(), verify=("true",))
    assert not list((repository / ".sq").glob("runs/*"))


@pytest.mark.late
def test_an_address_is_in_no_environment_of_an_agent_and_in_nothing_that_is_stored(
    rehearse: Rehearse, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(repository, '[[notify]]\non = ["ended"]\nurl = "env:MY_HOOK"\n')
    monkeypatch.setenv("MY_HOOK", HOOK)
    shows = {"tools": [{"name": "Bash", "input": {"command": "env > variables.txt"}}]}
    callers = whole_run(worker=[shows, writes("notes.txt", "A line.\n"), completes()])
    done = rehearse(callers, verify=("env | grep -c MY_HOOK | grep -qx 0",))
    variables = (repository / "variables.txt").read_text()
    assert "SQ_AGENT=1" in variables
    assert "MY_HOOK" not in variables
    assert "a-long-token-of-the-hook" not in variables
    assert "MY_HOOK" not in os.environ
    (sent,) = done.of(e.NoticeSent)
    assert not sent.ok
    for file in ("journal.db", "sq.log"):
        assert b"a-long-token-of-the-hook" not in (done.folder / file).read_bytes()


def on_a_terminal(work: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> str:
    """What appears on a terminal that is standard error while `work` runs."""
    ours, theirs = pty.openpty()
    seen: list[bytes] = []

    def read() -> None:
        while True:
            try:
                data = os.read(ours, 65536)
            except OSError:
                return
            if not data:
                return
            seen.append(data)

    reader = threading.Thread(target=read)
    reader.start()
    with os.fdopen(theirs, "w") as terminal, monkeypatch.context() as patched:
        patched.setattr("sys.stderr", terminal)
        work()
    reader.join(10)
    os.close(ours)
    return b"".join(seen).decode()


async def finished(folder: Path, *, bell: bool, took_long: bool) -> None:
    """The end of a process that worked on a run."""
    settings = replace(usual_settings(), integrations=Integrations(bell=bell))
    with Journal(folder) as journal:
        journal.append(
            replace(run_started(), run_id="r-1", settings=settings),
            e.RunEnded(outcome=Outcome.COMPLETE, cause=""),
        )
        recorder = Recorder(journal)
        environment = RunEnvironment(long_s=-1.0 if took_long else 60.0)
        ends = Publisher(journal, folder, environment, view=lambda: recorder.view, record=recorder.record)
        await ends.finish()


@pytest.mark.parametrize(
    ("bell", "took_long", "terminal", "rings"),
    [
        (True, True, "xterm", True),
        (False, True, "xterm", False),
        (True, False, "xterm", False),
        (True, True, "dumb", False),
    ],
    ids=["it took long", "it is off", "it took less than a minute", "a dumb terminal"],
)
def test_a_terminal_rings_and_shows_the_end_of_a_run_that_took_long(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    bell: bool,
    took_long: bool,
    terminal: str,
    rings: bool,
) -> None:
    monkeypatch.setenv("TERM", terminal)
    shown = on_a_terminal(
        lambda: anyio.run(partial(finished, tmp_path, bell=bell, took_long=took_long)), monkeypatch
    )
    assert shown == ("\x1b]9;sq: complete (spec.md)\x07\x07" if rings else "")


def test_nothing_of_a_text_acts_on_the_terminal_and_where_there_is_none_nothing_rings(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    shown = on_a_terminal(lambda: ring("a\x07\x1b]0;b\x1b\\c"), monkeypatch)
    assert shown == "\x1b]9;a\\x07\\x1b]0;b\\x1b\\c\x07\x07"
    ring("unseen")
    assert "unseen" not in capsys.readouterr().err
