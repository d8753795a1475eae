"""What `sq doctor` says of settings, hooks, leftovers and disk space: each line with what to do."""

import json
import os
import shutil
import sys

import pytest
from in_process import sq
from language.sampled import sampled

from orchestrator.cli.doctor.checks import CheckLevel
from orchestrator.cli.doctor.command import LOW_BYTES, space_check
from orchestrator.cli.doctor.settings import checks_of_hook
from orchestrator.git.workspace import ensure_branch, ensure_worktree, run_branch, task_branch
from state.paths import worktree_root
from state.settings.config import user_file

RUN = "20260101-000000-aaaa"


@pytest.fixture
def doctor(repository):
    """`sq doctor --json`: its exit code, and the checks of one name."""

    def run(name, *arguments, folder=repository, **environ):
        done = sq(["doctor", "--json", *arguments], folder=folder, environ={**os.environ, **environ})
        assert done.stdout, done.stderr
        return done.returncode, [
            check for check in json.loads(done.stdout)["checks"] if check["name"] == name
        ]

    return run


@pytest.fixture
def settings(repository, home):
    """Writes settings of Claude Code: the user's, the project's or the local ones."""
    folders = {"user": home / ".claude", "settings": repository / ".claude"}

    def write(text, which="user", name="settings.json"):
        folders[which].mkdir(exist_ok=True)
        (folders[which] / name).write_text(text if isinstance(text, str) else json.dumps(text))
        return str(folders[which] / name)

    return write


# --- configuration --------------------------------------------------------------------------------------


def test_a_configuration_without_problems_names_its_files_and_the_effort(doctor, repository):
    assert "no file, shipped defaults, effort medium" in doctor("configuration")[1][0]["found"]
    (repository / "sq.toml").write_text('effort = "low"\n')
    code, [check] = doctor("configuration")
    assert (code, check["level"]) == (0, "ok")
    assert f"{repository / 'sq.toml'}, effort low" in check["found"]


def test_each_problem_with_the_configuration_is_a_fail_that_names_its_place(doctor, repository):
    (repository / "sq.toml").write_text('efort = "low"\nbudget = "much"\n')
    user_file().parent.mkdir(parents=True)
    user_file().write_text("[[[")
    code, checks = doctor("configuration")
    assert code == 2
    assert [check["level"] for check in checks] == ["fail"] * 3
    said = " ".join(check["found"] for check in checks)
    for part in ("did you mean effort?", "budget needs a number", f"{user_file()}: not TOML"):
        assert part in said
    assert all("sq config show" in check["advice"] for check in checks)


def test_one_problem_is_told_too_and_the_environment_is_heeded_outside_a_repository(doctor, tmp_path):
    code, [check] = doctor("configuration", folder=tmp_path, SQ_MAX_ITERATIONS="many")
    assert code == 2
    assert "SQ_MAX_ITERATIONS" in check["found"]


# --- hooks ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", sampled([{}, {"hooks": {}}, {"hooks": None}, {"hooks": {"Stop": []}}, [1]], {}, [1])
)
def test_settings_without_the_gate_are_no_problem_and_it_is_said_that_sessions_run_no_hooks(
    doctor, settings, text
):
    settings(text)
    code, [check] = doctor("hooks")
    assert (code, check["level"]) == (0, "ok")
    assert check["found"].startswith("the stop gate is not installed")
    assert "run none of their hooks" in check["found"]


@pytest.mark.parametrize("text", ["{", "\udcff"])
def test_settings_that_cannot_be_read_are_a_warning_with_the_file(doctor, settings, home, text):
    place = settings("")
    (home / ".claude" / "settings.json").write_bytes(text.encode(errors="surrogateescape"))
    code, [check] = doctor("hooks")
    assert (code, check["level"]) == (0, "warn")
    assert place in check["advice"]


def gate(program):
    """A Stop hook as `sq hooks install` writes it."""
    return {"type": "command", "command": f"{program} -I -m orchestrator.cli hook stop", "timeout": 30}


def test_where_the_stop_gate_is_installed_is_told(doctor, settings):
    places = [
        settings({"hooks": {"Stop": [{"hooks": [gate(sys.executable)]}]}}, which)
        for which in ("user", "settings")
    ]
    found = doctor("hooks")[1][0]["found"]
    assert found.startswith(f"the stop gate is installed for user ({places[0]}), project ({places[1]}). ")


def test_the_plugin_that_the_stop_gate_replaces_is_a_warning_beside_it_alone(doctor, settings):
    plugin = {"enabledPlugins": {"double-shot-latte@superpowers-marketplace": True}}
    settings(plugin, "settings")
    assert doctor("hooks")[1][0]["level"] == "ok"
    settings({"hooks": {"Stop": [{"hooks": [gate(sys.executable)]}]}})
    code, [check] = doctor("hooks")
    assert (code, check["level"]) == (0, "warn")
    assert "`claude plugin disable double-shot-latte@superpowers-marketplace`" in check["advice"]


def test_a_stop_gate_whose_sq_is_gone_is_a_warning_that_says_how_to_renew_it(doctor, settings, tmp_path):
    settings({"hooks": {"Stop": [{"hooks": [gate(tmp_path / "gone" / "python")]}]}})
    code, [check] = doctor("hooks")
    assert (code, check["level"]) == (0, "warn")
    assert "`sq hooks install --scope user`" in check["advice"]


# --- leftovers ------------------------------------------------------------------------------------------


def test_where_every_branch_belongs_to_a_known_run_nothing_is_left_over(doctor):
    code, [check] = doctor("leftovers")
    assert (code, check["level"]) == (0, "ok")


async def test_branches_and_worktrees_of_a_run_without_state_are_told_with_the_command(
    doctor, repository, shell
):
    head = shell(repository, "git", "rev-parse", "HEAD")
    await ensure_branch(repository, run_branch(RUN), head)
    folder = worktree_root(repository, RUN) / "a"
    await ensure_worktree(repository, folder, branch=task_branch(RUN, "a"), commit=head)
    code, [check] = doctor("leftovers")
    assert (code, check["level"]) == (0, "warn")
    assert RUN in check["found"]
    assert f"`sq clean --run {RUN} --force`" in check["advice"]
    (repository / ".sq" / "runs" / RUN).mkdir(parents=True)
    assert doctor("leftovers")[1][0]["level"] == "ok"
    assert doctor("leftovers", "--state-dir", repository / "other")[1][0]["level"] == "warn"


async def test_a_worktree_whose_folder_is_gone_is_told_with_the_command_that_prunes_it(
    doctor, repository, shell
):
    head = shell(repository, "git", "rev-parse", "HEAD")
    folder = worktree_root(repository, RUN) / "a"
    await ensure_worktree(repository, folder, branch=task_branch(RUN, "a"), commit=head)
    shutil.rmtree(worktree_root(repository, RUN))
    check = doctor("leftovers")[1][0]
    assert check["level"] == "warn"
    assert str(folder) in check["found"]
    assert "`git worktree prune`" in check["advice"]
    shell(repository, "git", "worktree", "prune")
    assert "branches" in doctor("leftovers")[1][0]["found"]


async def test_branches_of_the_users_that_begin_with_sq_are_the_users(doctor, repository, shell):
    head = shell(repository, "git", "rev-parse", "HEAD")
    await ensure_branch(repository, "sq/an-idea-of-mine", head)
    assert doctor("leftovers")[1][0]["level"] == "ok"


# --- disk space -----------------------------------------------------------------------------------------


def test_little_room_in_the_state_folder_is_a_warning(tmp_path):
    assert space_check(tmp_path, LOW_BYTES).level is CheckLevel.OK
    low = space_check(tmp_path, LOW_BYTES - 1)
    assert low.level is CheckLevel.WARN
    assert "sq clean --all" in low.advice


def test_the_room_is_that_of_the_nearest_folder_there_is(doctor, tmp_path):
    [check] = doctor("disk space", "--state-dir", tmp_path / "not" / "there")[1]
    assert check["found"].endswith(f"GiB free at {tmp_path}")


# --- a simulated stop -----------------------------------------------------------------------------------


def test_a_simulated_stop_is_held_and_a_gate_that_does_not_answer_is_told(doctor):
    code, [check] = doctor("stop gate")
    assert (code, check["level"]) == (0, "ok")
    assert "is held only while a todo is open" in check["found"]
    for gate in (
        ("true",),
        ("false",),
        ("no-such-gate",),
        ("echo", "no JSON"),
        ("echo", '{"decision": "block"}'),
    ):
        [check] = checks_of_hook(os.environ, gate=gate)
        assert check.level is CheckLevel.FAIL, gate
        assert check.advice


def test_a_set_up_whose_program_is_missing_is_a_warning_with_the_way_out(doctor, repository, tmp_path):
    assert doctor("set-up")[1][0]["level"] == "ok"
    (repository / "uv.lock").write_text("version = 1\n")
    exclude = repository / ".git" / "info" / "exclude"
    exclude.write_text("uv.lock\n")
    assert doctor("set-up", PATH=f"{tmp_path}:/usr/bin:/bin")[1][0]["found"] == "a worktree needs none"
    exclude.unlink()
    (tmp_path / "git").symlink_to(shutil.which("git"))
    _, [check] = doctor("set-up", PATH=str(tmp_path))
    assert check["level"] == "warn"
    assert check["found"] == "uv.lock is there and uv is not installed"
    assert check["advice"] == "install uv, or name the commands of the set-up in worktree.setup of sq.toml"


def test_the_checkout_is_asked_on_a_copy_that_is_thrown_away(doctor, repository):
    (repository / "Makefile").write_text("test:\n\ttest -f .env && touch made && echo fine\n")
    assert doctor("checkout")[1] == []
    [red] = doctor("checkout", "--ask-checkout")[1]
    assert (red["level"], red["advice"]) == (
        "warn",
        "it is red in your checkout too, in the sandbox and without network",
    )
    (repository / ".env").write_text("A=1\n")
    [green] = doctor("checkout", "--ask-checkout")[1]
    assert green["level"] == "ok"
    assert green["found"] == "`make test` ends with 0 on a copy of your checkout: fine"
    assert not (repository / "made").exists()


def test_what_a_worktree_has_in_another_way_is_told_and_nothing_is_run(doctor, repository, shell):
    (repository / ".gitignore").write_text(".venv/\n.env\n")
    (repository / ".venv" / "bin").mkdir(parents=True)
    (repository / ".venv" / "bin" / "python").write_text("")
    (repository / ".env").write_text("A=1\n")
    [check] = doctor("worktrees")[1]
    assert check["level"] == "warn"
    assert ".venv is in your checkout alone" in check["found"]
    assert "git ignores .env" in check["found"]


def test_folders_that_git_ignores_are_named_too_whatever_they_hold(doctor, repository):
    (repository / ".gitignore").write_text("vendor/\n__pycache__/\n")
    for folder in ("vendor/acme", "__pycache__"):
        (repository / folder).mkdir(parents=True)
        (repository / folder / "it.php").write_text("x\n")
    [check] = doctor("worktrees")[1]
    assert check["found"].startswith("git ignores vendor/: `worktree.include`")


def test_rules_for_commits_and_a_base_that_is_behind_are_told_too(doctor, repository, shell, tmp_path):
    (repository / ".claude" / "hooks").mkdir(parents=True)
    (repository / ".claude" / "hooks" / "pre-commit").write_text("#!/bin/sh\n")
    shell(repository, "git", "config", "core.hooksPath", ".claude/hooks")
    shell(repository, "git", "commit", "--quiet", "--allow-empty", "-m", "Newer")
    shell(tmp_path, "git", "clone", "--quiet", "--bare", str(repository), "origin.git")
    shell(repository, "git", "remote", "add", "origin", str(tmp_path / "origin.git"))
    shell(repository, "git", "fetch", "--quiet")
    shell(repository, "git", "branch", "--quiet", "-u", "origin/main")
    shell(repository, "git", "reset", "--quiet", "--soft", "HEAD~1")
    [check] = doctor("worktrees")[1]
    assert check["level"] == "warn"
    assert "has hooks (pre-commit)" in check["found"]
    assert "the base is 1 commit(s) behind origin/main" in check["found"]


def test_the_commands_that_verify_are_named_with_what_each_can_say(doctor, repository):
    _, [none] = doctor("commands")
    assert (none["level"], none["found"]) == ("warn", "the repository shows none that verifies it")
    assert "code 5" in none["advice"]
    (repository / "go.mod").write_text("module example.com/a\n\ngo 1.19\n")
    (repository / "a_test.go").write_text("package a\n")
    assert "`go test ./...` (go.mod) says which tests pass" in doctor("commands")[1][0]["found"]
    (repository / "Makefile").write_text("test:\n\t./own-checker\nlint:\n\truff check .\n")
    found = doctor("commands")[1][0]["found"]
    assert "`make test` (Makefile) says its exit code" in found
    assert "`make lint` (Makefile) says new complaints" in found


def test_where_requests_go_is_told_with_the_credential_and_without_a_password(doctor):
    none = {"ANTHROPIC_API_KEY": "", "ANTHROPIC_API_KEY_FILE": "", "ANTHROPIC_BASE_URL": ""}
    token = {"ANTHROPIC_AUTH_TOKEN": "t"}
    [check] = doctor("endpoint", **none | token)[1]
    assert (check["level"], check["found"]) == (
        "ok",
        "requests go with a bearer token to https://api.anthropic.com/v1/messages",
    )
    own = {
        **none,
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_BASE_URL": "https://user:password@llm.test/anthropic/",
    }
    [check] = doctor("endpoint", **own | token)[1]
    assert (
        "a key and a bearer token to https://llm.test/anthropic/v1/messages, as ANTHROPIC_BASE_URL"
        in check["found"]
    )
    assert doctor("endpoint", **none, ANTHROPIC_AUTH_TOKEN="")[1] == []
