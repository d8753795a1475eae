"""What keeps a run from beginning: one message, with what to do, exit code 2, and nothing is left behind."""

import os
import subprocess
import sys
from pathlib import Path

import in_process
import pytest
from language.programs import ran

from agents.sdks import extra_command, install_command, this_place

ROOT = Path(__file__).parents[3]
REAL = f"import sys; sys.path.insert(0, {str(ROOT)!r}); "
CALL = "from orchestrator.cli.main import main; sys.argv = ['sq', *{arguments!r}]; main()"
BLOCK = "sys.modules[{!r}] = None; "


@pytest.fixture
def spec(tmp_path: Path) -> str:
    path = tmp_path / "spec.md"
    path.write_text("# Notes\n\nWrite notes.txt.\n")
    return str(path)


def sq(folder: Path, *arguments: str, before: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
    """`sq`; with `before`, what its Python does first, in a process of its own."""
    if not before:
        return in_process.sq(arguments, folder=folder, environ={**os.environ, **environ})
    return ran(
        [sys.executable, "-c", REAL + before + CALL.format(arguments=list(arguments))],
        cwd=folder,
        env={**os.environ, **environ},
        timeout=60,
    )


def refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr


def without_bundled_cli(tmp_path: Path) -> str:
    """An SDK that brings no Claude Code along, before the real one on the path."""
    package = tmp_path / "site" / "claude_agent_sdk"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    return f"sys.path.insert(0, {str(tmp_path / 'site')!r}); "


def test_an_unknown_effort_names_the_known_ones(repository: Path, spec: str) -> None:
    refused(sq(repository, "--spec", spec, "--effort", "hihg"), "--effort", "hihg", "low, medium, high, max")


def test_all_bad_settings_are_told_at_once_with_their_place(repository: Path, spec: str) -> None:
    (repository / "sq.toml").write_text('max_iteration = 3\nbudget = "lots"\n')
    done = sq(repository, "--spec", spec, "--max-iterations", "0", SQ_MERGE="perhaps")
    refused(
        done, "sq.toml", "max_iteration", "max_iterations", "budget", "lots", "--max-iterations", "SQ_MERGE"
    )
    assert not (repository / ".sq").exists()


def test_a_dirty_checkout_is_named_with_the_ways_out(repository: Path, spec: str) -> None:
    (repository / "mine.txt").write_text("x")
    refused(sq(repository, "--spec", spec, "--no-worktrees"), "mine.txt", "--allow-dirty", "stash")


def test_a_model_that_is_no_role_and_name_is_told(repository: Path, spec: str) -> None:
    refused(sq(repository, "--spec", spec, "--model", "opus"), "ROLE=NAME")
    refused(sq(repository, "--spec", spec, "--model", "wroker=opus"), "wroker", "worker")
    refused(sq(repository, "--spec", spec, "--model", "worker=gtp"), "gtp", "[prices.")


def broken(tmp_path: Path, module: str) -> str:
    """A package of this name that is there and does not import, before the real one on the path."""
    package = tmp_path / "site" / module
    (package / "_bundled").mkdir(parents=True)
    (package / "__init__.py").write_text("from typing import no_such_name\n")
    cli = package / "_bundled" / "claude"
    cli.write_text("#!/bin/sh\n")
    cli.chmod(0o755)
    return f"sys.path.insert(0, {str(tmp_path / 'site')!r}); "


@pytest.mark.parametrize("package", ["claude-agent-sdk", "anthropic"])
def test_without_an_sdk_the_command_that_installs_it_here_is_named(
    repository: Path, spec: str, package: str
) -> None:
    module = package.replace("-", "_")
    done = sq(repository, "--spec", spec, before=f"sys.modules.pop({module!r}, None); {BLOCK.format(module)}")
    refused(done, f"{package} is not installed", install_command(package, this_place()))
    assert not (repository / ".sq").exists()


@pytest.mark.late
@pytest.mark.parametrize(
    ("extra", "module", "settings"),
    [
        ("notify", "apprise", '[[notify]]\non = ["ended"]\nurl = "env:WHERE"\n'),
        ("otel", "opentelemetry.sdk", '[telemetry]\notlp = "http://localhost:4318"\n'),
    ],
)
def test_without_a_configured_extra_the_command_that_installs_it_here_is_named(
    repository: Path, spec: str, extra: str, module: str, settings: str
) -> None:
    (repository / "sq.toml").write_text(settings)
    done = sq(repository, "--spec", spec, before=BLOCK.format(module), WHERE="ntfy://topic")
    refused(done, "is not installed", extra_command(extra, this_place()))
    assert not (repository / ".sq").exists()


@pytest.mark.late
@pytest.mark.parametrize("package", ["claude-agent-sdk", "anthropic"])
def test_an_sdk_that_does_not_import_ends_a_run_that_has_begun_with_code_2_and_so_does_resume(
    repository: Path, spec: str, tmp_path: Path, package: str
) -> None:
    before = broken(tmp_path, package.replace("-", "_"))
    keyed = {"ANTHROPIC_API_KEY": "key", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    for command in (["--spec", spec, "--verify", "true"], ["resume"]):
        done = sq(repository, *command, before=before, **keyed)
        assert done.returncode == 2, done.stdout + done.stderr
        found = (
            f"{package} is installed and cannot be imported (ImportError: cannot import name 'no_such_name'"
        )
        assert found in done.stderr
        assert install_command(package, this_place(), again=True) in done.stderr
        assert "Traceback" not in done.stderr


def test_without_claude_code_the_command_that_installs_it_is_named(
    repository: Path, spec: str, tmp_path: Path
) -> None:
    done = sq(repository, "--spec", spec, before=without_bundled_cli(tmp_path), PATH="/usr/bin:/bin")
    refused(done, "Claude Code was found neither", "npm install -g @anthropic-ai/claude-code")


@pytest.mark.parametrize(
    ("script", "words"),
    [("echo '2.0.1 (Claude Code)'", ("2.0.1", "too old", "2.1.248")), ("exit 0", ("gives no version",))],
    ids=["too old", "silent"],
)
def test_a_claude_code_that_is_too_old_or_silent_is_named_before_anything_is_begun(
    repository: Path, spec: str, tmp_path: Path, script: str, words: tuple[str, ...]
) -> None:
    claude = tmp_path / "bin" / "claude"
    claude.parent.mkdir()
    claude.write_text(f"#!/bin/sh\n{script}\n")
    claude.chmod(0o755)
    path = f"{claude.parent}:/usr/bin:/bin"
    refused(sq(repository, "--spec", spec, before=without_bundled_cli(tmp_path), PATH=path), *words)
    assert not (repository / ".sq").exists()


def test_verbose_and_quiet_exclude_each_other(repository: Path, spec: str) -> None:
    refused(sq(repository, "--spec", spec, "-v", "-q"), "--verbose", "--quiet")


def test_a_spec_that_is_missing_empty_or_binary_is_named(repository: Path, tmp_path: Path) -> None:
    empty, binary = tmp_path / "empty.md", tmp_path / "binary.md"
    empty.write_text(" \n")
    binary.write_bytes(b"\0\1")
    refused(sq(repository, "--spec", str(tmp_path / "none.md")), "none.md", "no such file")
    refused(sq(repository, "--spec", str(empty)), "empty.md", "empty")
    refused(sq(repository, "--spec", str(binary)), "binary.md", "binary")


def test_without_credentials_the_ways_to_get_some_are_named(repository: Path, spec: str) -> None:
    environ = dict.fromkeys(("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN"), "")
    refused(sq(repository, "--spec", spec, **environ), "ANTHROPIC_API_KEY", "auth login", "sq demo")


@pytest.mark.parametrize("words", [["status"], ["resume"], ["clean", "--all"], ["run", "--spec"]])
@pytest.mark.parametrize("kind", ["folder", "link"])
def test_a_state_folder_that_the_repository_brings_is_refused(
    kind: str, words: list[str], repository: Path, spec: str
) -> None:
    """Its runs have settings, sandbox and notices of whoever made them."""
    elsewhere = repository.parent / "elsewhere"
    elsewhere.mkdir()
    if kind == "link":
        (repository / ".sq").symlink_to(elsewhere)
    else:
        (repository / ".sq" / "runs").mkdir(parents=True)
        (repository / ".sq" / "runs" / "x").write_text("x")
    words = [*words, spec] if words[0] == "run" else words
    subprocess.run(["git", "-C", str(repository), "add", "-f", ".sq"], check=True)
    done = sq(repository, *words, ANTHROPIC_API_KEY="k")
    assert done.returncode == 2, done.stdout
    assert "is a part of the repository, so its runs are none of yours" in done.stderr
    assert not list(elsewhere.iterdir())
