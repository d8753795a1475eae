"""`sq hooks`: installed, the real Claude Code calls the gate at the end of a turn; taken out, it does not."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import anyio
import pytest
from language.programs import ran

from agents.access import RehearsalConnection
from agents.caller import Caller
from agents.claude_code.executable import find_cli
from agents.gateway.ledger import Ledger
from agents.gateway.listeners import listening
from agents.gateway.rehearsal import Rehearsal
from agents.gateway.script import Scenario
from agents.gateway.server import Gateway, app_of
from orchestrator.gates.stop_gate.install import PLUGIN
from orchestrator.gates.stop_gate.plugin import FOLDER
from orchestrator.gates.stop_gate.settings_text import entry_of, guarded_command
from state.roles import Role

ROOT = Path(__file__).parents[3]
CALLER = Caller(role=Role.WORKER, task="hello", attempt=1)
SCENARIO = Scenario(
    scenario=1, usage={"input_tokens": 1, "output_tokens": 1}, callers={"worker/*": [{"text": "Hi."}]}
)
SQ = f"""#!{sys.executable} -I
import sys
from pathlib import Path
if sys.argv[1:3] == ["hook", "stop"]:
    with Path(__file__).with_name("called").open("a") as file:
        file.write(" ".join(sys.argv[1:]) + "\\n")
else:
    from orchestrator.cli.__main__ import main
    main()
"""
RIVAL = "double-shot-latte@superpowers-marketplace"


@pytest.fixture
def sq(tmp_path, repository):
    """The console script of an installed sq, which notes the stops it is told of: `.calls`."""
    return ConsoleScript(tmp_path / "bin dir", repository)


class ConsoleScript:
    def __init__(self, folder, project):
        self.file = folder / "sq"
        self.project = project
        folder.mkdir()
        self.file.write_text(SQ)
        self.file.chmod(0o755)

    def __call__(self, *arguments, code=0, cwd=None, **environ):
        done = ran(
            [self.file, "hooks", *arguments],
            cwd=cwd or self.project,
            env={**os.environ, **environ},
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def status(self, *arguments, **more):
        done = self("status", "--json", *arguments, **more)
        assert done.stderr == ""
        found = json.loads(done.stdout)
        return {one["scope"]: one for one in found["scopes"]}, found["warnings"]

    @property
    def command(self):
        return f"'{self.file}' hook stop"

    @property
    def calls(self):
        called = self.file.with_name("called")
        lines = called.read_text().splitlines() if called.exists() else []
        called.unlink(missing_ok=True)
        return lines


@pytest.fixture
def claude(tmp_path, home, repository):
    """One turn of the real Claude Code with the settings there are; what it printed."""

    async def turn(*arguments, cwd=repository, path=()):
        with anyio.fail_after(60), Ledger(tmp_path / "ledger.jsonl") as lines:
            rehearsal = Rehearsal(SCENARIO, run_id="r", ledger=lines)
            async with listening(app_of(rehearsal)) as listeners:
                gateway = Gateway(listeners, "r", rehearsal)
                connection = RehearsalConnection(gateway=gateway, config_dir=home / ".claude")
                done = await anyio.run_process(
                    [str(find_cli()), "--print", "--model", "haiku", *arguments, "Say hello."],
                    env={
                        **os.environ,
                        **connection.session_environment(CALLER),
                        "PATH": os.pathsep.join([*map(str, path), "/usr/bin", "/bin"]),
                    },
                    cwd=cwd,
                    check=False,
                )
                assert gateway.problems == []
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stderr == b""
        return done.stdout.decode()

    return turn


def written(file, value):
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(value))


def hooks_of(file):
    return [hook for group in json.loads(file.read_text())["hooks"]["Stop"] for hook in group["hooks"]]


# --- the real Claude Code -------------------------------------------------------------------------------


async def test_installed_for_the_user_it_is_called_in_every_folder_and_taken_out_nowhere(
    sq, claude, home, tmp_path
):
    assert not (home / ".claude").exists()
    assert await claude() == "Hi.\n"
    assert sq.calls == []
    shutil.rmtree(home / ".claude")
    sq("install")
    assert hooks_of(home / ".claude" / "settings.json") == [entry_of(sq.command)]
    await claude(cwd=tmp_path)
    assert sq.calls == ["hook stop"]
    sq("uninstall")
    assert not (home / ".claude" / "settings.json").exists()
    await claude(cwd=tmp_path)
    assert sq.calls == []


@pytest.mark.late
async def test_installed_for_a_project_it_is_called_for_who_has_sq_and_silent_for_all_others(
    sq, claude, repository, tmp_path
):
    sq("install", "--scope", "project")
    text = (repository / ".claude" / "settings.json").read_text()
    assert hooks_of(repository / ".claude" / "settings.json") == [entry_of(guarded_command())]
    assert str(tmp_path) not in text  # it is shared
    await claude(path=[sq.file.parent])
    assert sq.calls == ["hook stop --shared"]
    assert await claude() == "Hi.\n"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "sq").symlink_to("/bin/false")
    assert await claude(path=[tmp_path / "other"]) == "Hi.\n"
    assert sq.calls == []
    sq("uninstall", "--scope", "project")
    await claude(path=[sq.file.parent])
    assert sq.calls == []
    assert not (repository / ".claude").exists()


@pytest.mark.slow
async def test_installed_locally_it_is_called_in_the_repository_and_below_it_alone(
    sq, claude, repository, tmp_path
):
    sq("install", "--scope", "local")
    (repository / "below").mkdir()
    for cwd, calls in ((repository, 1), (repository / "below", 1), (tmp_path, 0)):
        await claude(cwd=cwd)
        assert len(sq.calls) == calls, cwd
    sq("uninstall", "--scope", "local", cwd=repository / "below")
    await claude()
    assert sq.calls == []


async def test_with_power_steering_the_hook_is_told_and_has_its_time(sq, claude, home):
    sq("install", "--power-steering")
    (hook,) = hooks_of(home / ".claude" / "settings.json")
    assert hook["timeout"] == 200
    await claude()
    assert sq.calls == ["hook stop --power-steering"]
    sq("install")
    await claude()
    assert sq.calls == ["hook stop"]


@pytest.mark.slow
async def test_for_the_user_and_locally_it_is_called_once_and_for_the_project_as_shared(sq, claude):
    path = f"{sq.file.parent}:{os.environ['PATH']}"
    sq("install")
    sq("install", "--scope", "local")
    assert sq.status()[1] == []
    await claude(path=[sq.file.parent])
    assert sq.calls == ["hook stop"]
    assert "more than once" not in sq("install", "--scope", "project", PATH=path).stderr
    await claude(path=[sq.file.parent])
    assert sorted(sq.calls) == ["hook stop", "hook stop --shared"]


def test_status_says_that_a_gate_in_two_scopes_runs_once_a_stop(sq, repository):
    path = f"{sq.file.parent}:{os.environ['PATH']}"
    sq("install")
    assert "once a stop" not in sq("status", PATH=path).stdout
    sq("install", "--scope", "project", PATH=path)
    assert "installed more than once and runs once a stop: user, project" in sq("status", PATH=path).stdout
    assert sq.status(PATH=path)[1] == []
    file = repository / ".claude" / "settings.local.json"
    written(
        file, {"hooks": {"Stop": [{"hooks": [entry_of(f"{sys.executable} -I -m orchestrator hook stop")]}]}}
    )
    told = sq("status", PATH=path).stderr
    assert "the gate runs more than once at a stop: user, project, local" in told


async def test_the_plugins_folder_is_loaded_and_its_hook_called(sq, claude, tmp_path):
    printed = sq("plugin")
    assert printed.stdout == f"{FOLDER}\n"
    assert "--plugin-dir" in printed.stderr
    arguments = ["--plugin-dir", str(FOLDER), "--output-format", "stream-json", "--verbose"]
    out = await claude(*arguments, path=[sq.file.parent])
    assert sq.calls == ["hook stop --shared"]
    init = next(line for line in map(json.loads, out.splitlines()) if line.get("subtype") == "init")
    assert [one["version"] for one in init["plugins"] if one["name"] == PLUGIN] == [version()]
    assert not init.get("plugin_errors")
    await claude("--plugin-dir", str(FOLDER))  # nothing on stderr without sq
    assert sq.calls == []


async def test_no_hook_runs_where_all_are_disabled_and_status_says_so(sq, claude, repository):
    sq("install")
    written(repository / ".claude" / "settings.local.json", {"disableAllHooks": True})
    await claude()
    assert sq.calls == []
    scopes, [warning] = sq.status()
    assert scopes["local"]["disables_all_hooks"]
    assert "`disableAllHooks`" in warning


# --- the plugin -----------------------------------------------------------------------------------------


def version():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_the_plugin_is_valid_for_claude_code_and_says_what_sq_says(tmp_path):
    manifest = json.loads((FOLDER / ".claude-plugin" / "plugin.json").read_text())
    assert (manifest["name"], manifest["version"]) == (PLUGIN, version())
    hooks = json.loads((FOLDER / "hooks" / "hooks.json").read_text())["hooks"]
    assert hooks == {"Stop": [{"hooks": [entry_of(guarded_command())]}]}
    done = ran([find_cli(), "plugin", "validate", "--profile", "directory", FOLDER])
    assert done.returncode == 0, done.stdout + done.stderr


# --- install and uninstall ------------------------------------------------------------------------------


def test_installed_twice_nothing_changes_the_second_time_and_that_is_said(sq, home):
    file = home / ".claude" / "settings.json"
    written(file, {"model": "opus", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}})
    before = file.read_bytes()
    assert f"is now installed in {file}" in sq("install").stdout
    once = file.read_bytes()
    assert [one["command"] for one in hooks_of(file)] == ["mine", sq.command]
    assert "was already installed" in sq("install").stdout
    assert file.read_bytes() == once
    assert "is as it was before" in sq("uninstall").stdout
    assert file.read_bytes() == before
    assert "is not installed" in sq("uninstall").stdout


def test_where_the_file_was_edited_ours_alone_is_taken_out_and_that_is_said(sq, home):
    file = home / ".claude" / "settings.json"
    sq("install")
    written(file, {**json.loads(file.read_text()), "model": "opus"})
    assert "All else in it stays" in sq("uninstall").stdout
    assert json.loads(file.read_text()) == {"model": "opus"}


def test_the_scope_decides_which_file_is_written_and_the_user_is_the_default(sq, home, repository):
    files = {
        (): home / ".claude" / "settings.json",
        ("--scope", "user"): home / ".claude" / "settings.json",
        ("--scope", "project"): repository / ".claude" / "settings.json",
        ("--scope", "local"): repository / ".claude" / "settings.local.json",
    }
    for arguments, file in files.items():
        sq("install", *arguments)
        assert file.exists()
        told = sq("uninstall", *arguments).stdout
        assert "made for it and is removed" in told
        assert not file.exists()


def test_taken_out_of_one_scope_it_is_told_where_it_still_is(sq):
    sq("install", "--scope", "local")
    assert "`sq hooks uninstall --scope local`" in sq("uninstall").stdout


def test_settings_that_cannot_be_used_are_refused_with_the_file_and_left(sq, home):
    file = home / ".claude" / "settings.json"
    file.parent.mkdir()
    for text in ("{", "[]", '{"hooks": []}', '{"hooks": {"Stop": 1}}'):
        file.write_text(text)
        assert str(file) in sq("install", code=2).stderr
        assert file.read_text() == text


def test_outside_a_repository_only_the_users_settings_can_be_meant(sq, tmp_path):
    for act in ("install", "uninstall"):
        assert "this folder is in none" in sq(act, "--scope", "project", code=2, cwd=tmp_path).stderr
    assert sq.status(cwd=tmp_path)[0]["project"]["file"] is None
    assert "not in a repository" in sq("status", cwd=tmp_path).stdout


# --- status ---------------------------------------------------------------------------------------------


def test_status_shows_each_scope_and_with_a_scope_that_one(sq, home):
    sq("install")
    lines = sq("status").stdout.splitlines()
    assert lines[0].startswith(f"user     installed in {home / '.claude' / 'settings.json'}, up to date, ")
    assert lines[0].endswith(f"ended after 200 s at most: {sq.command}")
    assert [line.split()[0] for line in lines] == ["user", "project", "local"]
    assert sq("status", "--scope", "local").stdout.splitlines() == [lines[2]]
    assert list(sq.status("--scope", "user")[0]) == ["user"]


def test_status_as_json_is_one_object(sq, home):
    scopes, warnings = sq.status()
    assert [one["installed"] for one in scopes.values()] == [False] * 3
    sq("install", "--power-steering")
    scopes, warnings = sq.status()
    assert warnings == []
    assert scopes["user"] == {
        "scope": "user",
        "file": str(home / ".claude" / "settings.json"),
        "installed": True,
        "command": f"{sq.command} --power-steering",
        "timeout_s": 200,
        "power_steering": True,
        "runs": True,
        "up_to_date": True,
        "disables_all_hooks": False,
        "rivals": [],
        "plugins": [],
        "problem": "",
    }


def test_status_tells_of_an_sq_that_is_gone_and_how_to_put_it_right(sq, home, tmp_path):
    file = home / ".claude" / "settings.json"
    sq("install")
    file.write_text(file.read_text().replace("bin dir", "gone"))
    scopes, [warning] = sq.status()
    assert (scopes["user"]["installed"], scopes["user"]["runs"]) == (True, False)
    assert f"cannot start {tmp_path / 'gone' / 'sq'}" in warning
    assert "`sq hooks install --scope user`" in warning
    sq("install")
    assert sq.status()[1] == []


def test_status_tells_of_an_older_form_and_of_a_project_whose_sq_is_not_on_path(sq, home, repository):
    old = {"type": "command", "command": f"{sq.command} --old", "timeout": 5}
    written(home / ".claude" / "settings.json", {"hooks": {"Stop": [{"hooks": [old]}]}})
    scopes, [warning] = sq.status()
    assert (scopes["user"]["runs"], scopes["user"]["up_to_date"]) == (True, False)
    assert "older form" in warning
    sq("uninstall")
    sq("install", "--scope", "project")
    assert sq.status(PATH=f"{sq.file.parent}:{os.environ['PATH']}")[1] == []
    sq("install")
    [warning] = sq.status(PATH="/usr/bin:/bin")[1]
    assert "does nothing here" in warning
    assert "its sq is not there" in sq("status", PATH="/usr/bin:/bin").stdout


def test_status_tells_of_the_plugin_that_the_gate_replaces_and_of_our_own(sq, home, repository):
    written(repository / ".claude" / "settings.json", {"enabledPlugins": {RIVAL: False}})
    assert sq.status()[1] == []
    for file in (home / ".claude" / "settings.json", repository / ".claude" / "settings.local.json"):
        written(file, {"enabledPlugins": {RIVAL: True, "another@there": True}})
        [warning] = sq.status()[1]
        assert f"{RIVAL} is enabled in {file}" in warning
        file.unlink()
    written(home / ".claude" / "settings.json", {"enabledPlugins": {f"{PLUGIN}@there": True}})
    assert sq.status()[1] == []
    assert sq("install").stderr == ""
    assert f"runs once a stop: user, the plugin {PLUGIN}@there" in sq("status").stdout


@pytest.mark.parametrize(
    "text", ["{", "[]", "null", '{"hooks": 1, "enabledPlugins": 1}', '{"hooks": {"Stop": [1]}}']
)
def test_status_of_settings_of_any_kind_ends_well(sq, home, text):
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text(text)
    scopes, _ = sq.status()
    assert not scopes["user"]["installed"]
    assert bool(scopes["user"]["problem"]) == (text == "{")
    assert sq("status").stdout.startswith("user")
