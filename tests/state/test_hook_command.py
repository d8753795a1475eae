"""The gate's command: which sq it starts, what it does where that is another program, and how ours is known."""

import os
import re
import shutil
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from language.programs import ran

from orchestrator.gates.stop_gate.entry import _BEFORE_S
from orchestrator.gates.stop_gate.settings_text import (
    absolute_command,
    entry_of,
    guarded_command,
    has_power_steering,
    is_our_launcher,
    is_ours,
    program_of,
    sq_on_path,
    this_sq,
)
from orchestrator.gates.stop_gate.stop import JUDGE_S, MECHANICAL_S, STEERING_S, VERIFY_ENDS_S, VERIFY_S

ROOT = Path(__file__).parents[2]
SHELLS = [shell for shell in ("dash", "bash", "sh") if shutil.which(shell)]
LAUNCHER = "#!/bin/sh\n# as a console script: from orchestrator.cli.main import main\n"


@pytest.fixture
def launcher(tmp_path):
    """An `sq` that says what it was called with and ends with a code."""

    def make(code=0, folder="bin dir", text=LAUNCHER):
        (tmp_path / folder).mkdir(exist_ok=True)
        file = tmp_path / folder / "sq"
        file.write_text(f'{text}printf "%s;" "$0" "$@"; cat; exit {code}\n')
        file.chmod(0o755)
        return file

    return make


@pytest.fixture
def run(tmp_path):
    """What a shell makes of a command with these folders on PATH: its code, stdout, stderr."""

    def run_it(shell, command, *folders):
        path = os.pathsep.join([*map(str, folders), "/usr/bin", "/bin"])
        done = ran([shutil.which(shell), "-c", command], env={"PATH": path}, cwd=tmp_path, input="{}")
        return done.returncode, done.stdout, done.stderr

    return run_it


# --- the guarded command --------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("code", [0, 2])
def test_guarded_our_sq_gets_the_hooks_input_and_its_code_counts(launcher, run, shell, code):
    sq = launcher(code)
    assert run(shell, guarded_command(), sq.parent) == (code, f"{sq};hook;stop;--shared;{{}}", "")
    steered = guarded_command(power_steering=True)
    assert run(shell, steered, sq.parent) == (code, f"{sq};hook;stop;--power-steering;--shared;{{}}", "")


@pytest.mark.parametrize("shell", SHELLS)
def test_guarded_nothing_happens_without_an_sq_or_with_another_program_of_that_name(
    launcher, run, shell, tmp_path
):
    silence = (0, "", "")
    if not shutil.which("sq", path="/usr/bin:/bin"):
        assert run(shell, guarded_command()) == silence
    assert run(shell, guarded_command(), launcher(2, text="#!/bin/sh\n# another program\n").parent) == silence
    for number, content in enumerate(
        (Path("/bin/sh").resolve().read_bytes(), b"\0" * 9000 + b"orchestrator.cli")
    ):
        binary = tmp_path / f"binary{number}" / "sq"
        binary.parent.mkdir()
        binary.write_bytes(content)
        binary.chmod(0o755)
        assert run(shell, guarded_command(), binary.parent) == silence
    launcher(2).chmod(0o600)
    assert run(shell, guarded_command(), tmp_path / "bin dir") == silence


def test_guarded_a_link_to_our_sq_is_followed(launcher, run, tmp_path):
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "sq").symlink_to(launcher())
    assert run("sh", guarded_command(), tmp_path / "links")[1].endswith(";hook;stop;--shared;{}")


def test_every_launcher_of_ours_is_known_by_its_first_lines(tmp_path):
    assert is_our_launcher(ROOT / "bin" / "sq")
    entry = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]["sq"]
    module, _, name = entry.partition(":")
    long = "/" + "x" * 200
    installers = {  # what they write
        "pip": f"#!/usr/bin/python3\nimport sys\nfrom {module} import {name}\nif __name__ == '__main__':\n",
        "uv": f"#!/usr/bin/python3\n# -*- coding: utf-8 -*-\nimport sys\nfrom {module} import {name}\n",
        "long": f"#!/bin/sh\n'''exec' \"{long}\" \"$0\" \"$@\"\n' '''\nimport sys\nfrom {module} import {name}\n",
    }
    for installer, text in installers.items():
        (tmp_path / installer).write_text(text)
        assert not is_our_launcher(tmp_path / installer)  # cannot be executed yet
        (tmp_path / installer).chmod(0o755)
        assert is_our_launcher(tmp_path / installer)
    assert not is_our_launcher(tmp_path)
    assert not is_our_launcher(tmp_path / "not there")
    assert not is_our_launcher(Path("/bin/sh"))


def test_whether_the_guarded_command_would_run_is_said(launcher, tmp_path):
    assert sq_on_path({"PATH": str(launcher().parent)})
    assert not sq_on_path({"PATH": str(tmp_path)})
    assert not sq_on_path({"PATH": str(launcher(folder="other", text="#!/bin/sh\n").parent)})


# --- the absolute command -------------------------------------------------------------------------------


def test_the_console_script_that_was_called_is_the_one_that_is_written(launcher, tmp_path):
    sq = launcher()
    (tmp_path / "sq").symlink_to(sq)
    assert this_sq(str(tmp_path / "sq"), sys.executable) == [str(sq)]


def test_else_it_is_the_one_beside_python_and_else_python_itself_isolated(launcher, tmp_path):
    sq = launcher()
    main = str(ROOT / "orchestrator" / "cli" / "__main__.py")
    assert this_sq(main, str(sq.with_name("python"))) == [str(sq)]
    other = launcher(folder="debian", text="#!/bin/sh\n")
    python = str(other.with_name("python"))
    assert this_sq(main, python) == this_sq(str(other), python) == [python, "-I", "-m", "orchestrator.cli"]


def test_what_is_written_for_this_environment_starts_sq_from_any_folder(run, tmp_path):
    (tmp_path / "state.py").write_text("raise SystemExit('the wrong state')\n")
    words = this_sq("-c", sys.executable)
    command = re.sub("hook stop$", "--version", absolute_command(words))
    code, out, _ = run("sh", command)
    assert (code, out[:3]) == (0, "sq ")


@pytest.mark.parametrize("folder", ["plain", "a b", "it's", 'q"$(date)`date`;&', "é"])
def test_any_folder_is_quoted_for_the_shell(launcher, run, folder):
    sq = launcher(2, folder=folder)
    command = absolute_command([str(sq)], power_steering=True)
    assert run("sh", command) == (2, f"{sq};hook;stop;--power-steering;{{}}", "")
    assert program_of(command) == str(sq)


# --- what is ours ---------------------------------------------------------------------------------------

OURS = [
    "/opt/bin/sq hook stop",
    "'/a b/sq' hook stop --power-steering",
    '"$HOME/.local/bin/sq" hook stop',
    "sq hook stop",
    "  sq hook stop --newer-flag --level=3\n",
    "/venv/bin/python -I -m orchestrator.cli hook stop",
    guarded_command(),
    guarded_command(power_steering=True),
    's=$(command -v sq) && grep -q orchestrator "$s" && exec "$s" hook stop --old; exit 0',
]
FOREIGN = [
    "",
    "hook stop",
    "echo sq hook stop",
    "echo '/opt/bin/sq hook stop'",
    "'/opt/bin/sq hook stop'",
    "/opt/bin/sq hook stop; make test",
    "/opt/bin/sq hook stop && make test",
    "/opt/bin/sq hook stop | tee log",
    "/opt/bin/sq hook stop > log",
    "/opt/bin/sq hook stop & date",
    "/opt/bin/sq hook stop --flag;date",
    "/opt/bin/sq hook stop\ndate",
    "date\n/opt/bin/sq hook stop",
    "/opt/bin/sq hook stop # mine",
    "/opt/bin/sq hook stop extra",
    "/opt/bin/sq hook start",
    "/opt/bin/squid hook stop",
    "$(sq) hook stop",
    "python -m other.cli hook stop",
    "python -I -m orchestrators hook stop",
    f"{guarded_command()}; date",
    f"date; {guarded_command()}",
    f"echo '{guarded_command()}'",
    guarded_command().replace("exit 0", "date"),
    's=$(command -v sq) && date; orchestrator && exec "$s" hook stop; exit 0',
    "unclosed ' hook stop",
]


@pytest.mark.parametrize("command", OURS)
def test_ours_is_known_in_every_form_it_was_written_in(command):
    assert is_ours(command)


@pytest.mark.parametrize("command", FOREIGN)
def test_a_command_that_does_anything_else_too_is_not_ours(command):
    assert not is_ours(command)


@given(st.text(st.sampled_from("ab /'\"\\$`;&|<>()#=-\n~é")))
def test_whatever_the_folder_is_called_what_was_written_is_known_or_nothing_is_known(folder):
    sq = f"/{folder}/sq"
    command = absolute_command([sq])
    assert program_of(command) == (sq if "\n" not in folder else None)


@given(st.text())
def test_no_command_of_anybodys_breaks_the_look_at_it(command):
    assert is_ours(command) in {True, False}
    assert not has_power_steering(command) or is_ours(command) or "--power-steering" in command


def test_the_time_limit_is_above_the_gates_own():
    assert entry_of(guarded_command())["timeout"] == entry_of("/bin/sq hook stop")["timeout"] == 200
    assert MECHANICAL_S + JUDGE_S + STEERING_S + VERIFY_S + VERIFY_ENDS_S <= 200 - _BEFORE_S
    for command in (guarded_command(power_steering=True), absolute_command(["/bin/sq"], power_steering=True)):
        assert entry_of(command) == {"type": "command", "command": command, "timeout": 200}
