"""`sq run` as a person types it: in a subprocess, with mistakes."""

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import in_process
import pytest
import yaml
from language.played_sq import PLAYED_SQ
from language.programs import ran
from language.tables import table

from state.settings.sources import user_file

BASE = [sys.executable, "-I", "-m", "orchestrator.cli"]
CALLERS = table(__file__, "callers")


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    """A spec and a scenario that build it, without a judge, whose SDK takes a second to import."""
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text('[efforts.medium]\nreview_plan = false\npower_steering = "none"\n')
    (tmp_path / "spec.md").write_text("# Notes\n\nWrite notes.txt.\n")
    scenario = {"scenario": 1, "description": "notes", "callers": CALLERS}
    (tmp_path / "scenario.yaml").write_text(yaml.safe_dump(scenario))
    return [
        "--spec",
        str(tmp_path / "spec.md"),
        "--rehearse",
        str(tmp_path / "scenario.yaml"),
        "--verify",
        "true",
    ]


def sq(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command that starts no session, without a process of its own."""
    return in_process.sq(arguments, folder=folder, environ=dict(os.environ))


def runs(folder: Path, *arguments: str, base: Sequence[str] = PLAYED_SQ) -> subprocess.CompletedProcess[str]:
    """Run a command as a process, which plays Claude Code unless `base` is sq itself."""
    return ran([*base, *arguments], cwd=folder, env=dict(os.environ), timeout=60)


@pytest.mark.late
def test_a_run_from_the_command_line_shows_plain_lines_and_exits_with_its_outcome(
    repository: Path, arguments: list[str]
) -> None:
    done = runs(repository, *arguments, base=BASE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("The model is a script")
    assert "complete (exit code 0)" in done.stdout
    assert "\x1b[" not in done.stdout


@pytest.mark.late
def test_verbose_shows_every_event_and_quiet_the_end_alone(repository: Path, arguments: list[str]) -> None:
    loud = runs(repository, *arguments, "--verbose")
    assert loud.returncode == 0
    assert "VerificationStarted" in loud.stdout
    run = re.search(r"run (\d{8}-\d{6}-\w+)", loud.stdout)
    assert run
    again = sq(repository, "resume", run[1], "-q")
    assert again.stdout.startswith("complete (exit code 0)")
    assert "RunEnded" in sq(repository, "resume", run[1], "-v").stdout or "complete" in again.stdout
    (repository / "notes.txt").unlink()
    subprocess.run(["git", "-C", str(repository), "commit", "-qam", "again"], check=True)
    quiet = runs(repository, *arguments, "-q")
    assert quiet.returncode == 0
    assert quiet.stdout.startswith("complete (exit code 0)")
    assert "the worker builds" not in quiet.stdout


@pytest.mark.late
def test_json_writes_each_event_as_a_line_and_nothing_else_on_stdout(
    repository: Path, arguments: list[str]
) -> None:
    done = runs(repository, "run", *arguments, "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert (events[0]["event"], events[-1]["event"]) == ("RunStarted", "RunEnded")
    assert events[-1]["outcome"] == "complete"
    again = sq(repository, "resume", "--json")
    assert again.returncode == 0, again.stderr
    assert [json.loads(line) for line in again.stdout.splitlines()] == events[-1:]


@pytest.mark.slow
def test_plain_lines_are_written_on_a_terminal_too_and_live_is_the_default_there(
    repository: Path, arguments: list[str]
) -> None:
    assert "\x1b[" not in on_a_terminal(repository, "run", *arguments, "--plain")
    live = on_a_terminal(repository, "resume")
    assert "\x1b[" in live
    assert re.search(r"^task +where +now +try", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", live), re.MULTILINE)


def on_a_terminal(folder: Path, *arguments: str) -> str:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color"}
    environment.pop("CI", None)
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(
        [*BASE, *arguments], cwd=folder, env=environment, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        output = b""
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not chunk:
                break
            output += chunk
        process.wait(timeout=60)
    os.close(ours)
    assert process.returncode == 0, output.decode()
    return output.decode()


@pytest.mark.slow
def test_the_state_folder_is_where_it_was_asked_for_and_found_again_there(
    repository: Path, arguments: list[str], tmp_path: Path
) -> None:
    state = tmp_path / "state of runs"
    assert runs(repository, *arguments, "--state-dir", str(state)).returncode == 0
    assert len(list(state.glob("runs/*/journal.db"))) == 1
    assert not (repository / ".sq").exists()
    again = sq(repository, "resume", "--state-dir", str(state))
    assert (again.returncode, again.stdout.splitlines()[0][:8]) == (0, "complete")


def test_resuming_where_there_are_no_runs_says_how_to_begin_one(repository: Path) -> None:
    done = sq(repository, "resume")
    assert done.returncode == 2
    assert "sq --spec" in done.stderr


def write_nothing(path: Path) -> None:
    path.write_text(" \n")


def write_binary(path: Path) -> None:
    path.write_bytes(b"PK\x03\x04\0\0")


def write_latin_1(path: Path) -> None:
    path.write_bytes("Zähler".encode("latin-1"))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: None, "no such file"),
        (write_nothing, "empty"),
        (write_binary, "binary"),
        (write_latin_1, "not UTF-8"),
        (Path.mkdir, "cannot be read"),
    ],
)
def test_a_spec_that_cannot_be_used_is_named_with_what_is_wrong(
    repository: Path, tmp_path: Path, make: Callable[[Path], object], said: str
) -> None:
    spec = tmp_path / "the spec.md"
    make(spec)
    done = sq(repository, "--spec", str(spec))
    assert done.returncode == 2
    assert str(spec) in done.stderr
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run"], "--spec"),
        (["--spec", "x.md", "--efort", "low"], "--effort"),
        (["rum"], "rum"),
        (["--spec", "SPEC", "--effort", "heroic"], "low, medium, high, max"),
        (["--spec", "SPEC", "--rehearse", "nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_what_was_typed_wrong_is_named_with_what_would_be_right(
    repository: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    (tmp_path / "spec.md").write_text("# Something\n")
    done = sq(repository, *[str(tmp_path / "spec.md") if one == "SPEC" else one for one in arguments])
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_help_lists_every_command_and_the_short_form(tmp_path: Path) -> None:
    done = sq(tmp_path, "--help")
    assert done.returncode == 0
    for name in ("run", "demo", "resume", "status", "logs", "doctor", "sq --spec SPEC.md"):
        assert name in done.stdout


@pytest.mark.late
def test_a_package_of_the_users_that_has_one_of_our_names_is_not_taken_for_ours(repository: Path) -> None:
    for name in ("state", "agents", "prompts", "orchestrator"):
        (repository / name).mkdir()
        (repository / name / "__init__.py").write_text("raise SystemExit('the wrong package')\n")
    assert runs(repository, "doctor", base=BASE).returncode == 0


@pytest.mark.slow
def test_a_reader_that_goes_away_does_not_stop_the_run(repository: Path, arguments: list[str]) -> None:
    command = " ".join(f"'{part}'" for part in [*BASE, *arguments])
    subprocess.run(
        ["bash", "-c", f"{command} | head -1"], cwd=repository, check=False, timeout=60, capture_output=True
    )
    assert "complete" in sq(repository, "resume").stdout
    assert (repository / "notes.txt").exists()


@pytest.mark.parametrize("arguments", [["status"], ["run", "--spec", "missing.md"]], ids=" ".join)
def test_only_the_imports_of_a_run_are_spared_the_garbage_collector(
    repository: Path, arguments: list[str]
) -> None:
    """`sq status` collects at once, and `sq run` once it has imported all that it needs."""
    program = (
        "import gc, sys; from orchestrator.cli.__main__ import main\n"
        f"sys.argv = ['sq', *{arguments!r}]\n"
        "try:\n    main()\nexcept SystemExit:\n    print('collects', gc.isenabled())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=repository, capture_output=True, text=True, check=False
    )
    assert done.stdout.endswith(f"collects {arguments[0] == 'status'}\n")
