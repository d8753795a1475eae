"""sq's own file operations in a worktree never follow an agent's links out of it, and run no program of it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.git.seeding import copy_files
from orchestrator.project.build_files.step import text_of
from orchestrator.project.files import look
from orchestrator.project.readiness.environment import environment_of, look_into_python
from orchestrator.project.readiness.kept import keep, put


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "id_rsa").write_text("secret")
    return folder


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    folder = tmp_path / "worktree"
    folder.mkdir()
    return folder


def test_a_file_that_is_a_link_to_a_secret_is_not_read(worktree: Path, outside: Path) -> None:
    (worktree / "README.md").symlink_to(outside / "id_rsa")
    (worktree / "inner.md").write_text("inner")
    (worktree / "link.md").symlink_to("inner.md")
    assert (worktree / "README.md").read_text() == "secret"
    shown = look(worktree)
    assert shown.has("README.md")
    assert shown.text("README.md") == ""
    assert shown.text("link.md") == "inner"


def test_a_pipe_in_the_place_of_a_script_does_not_stop_sq(worktree: Path) -> None:
    os.mkfifo(worktree / "Makefile")
    assert text_of(worktree / "Makefile") == ""


def kept_result(tmp_path: Path, path: str) -> tuple[Path, str]:
    kept, maker = tmp_path / "ready", tmp_path / "maker"
    (maker / path).mkdir(parents=True)
    (maker / path / "made").write_text("made")
    return kept, keep(kept, "key", maker, [path])


def test_a_kept_result_is_copied(worktree: Path, tmp_path: Path) -> None:
    kept, seal = kept_result(tmp_path, "node_modules")
    (worktree / "node_modules").mkdir()
    (worktree / "node_modules" / "old").touch()
    assert put(kept, "key", seal, worktree)
    assert [path.name for path in (worktree / "node_modules").iterdir()] == ["made"]


def test_a_kept_result_is_not_copied_through_a_link(worktree: Path, outside: Path, tmp_path: Path) -> None:
    (outside / "node_modules").mkdir()
    (outside / "node_modules" / "users").touch()
    (worktree / "part").symlink_to(outside)
    kept, seal = kept_result(tmp_path, "part/node_modules")
    assert put(kept, "key", seal, worktree) is None
    assert [path.name for path in (outside / "node_modules").iterdir()] == ["users"]


def test_a_link_in_the_place_of_a_kept_result_is_replaced_and_not_its_target(
    worktree: Path, outside: Path, tmp_path: Path
) -> None:
    (worktree / "node_modules").symlink_to(outside)
    kept, seal = kept_result(tmp_path, "node_modules")
    assert put(kept, "key", seal, worktree)
    assert not (worktree / "node_modules").is_symlink()
    assert [path.name for path in outside.iterdir()] == ["id_rsa"]


def test_a_file_is_not_copied_through_a_link(worktree: Path, outside: Path, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    (repository / "data").mkdir(parents=True)
    (repository / "data" / "local.env").write_text("KEY=1")
    (worktree / "data").symlink_to(outside)
    assert copy_files(repository, worktree, ["data/local.env"]) == ()
    assert [path.name for path in outside.iterdir()] == ["id_rsa"]


def hostile_python(worktree: Path, mark: Path) -> Path:
    """An environment as an agent may commit it: its interpreter is a program of theirs."""
    folder = worktree / ".venv" / "bin"
    folder.mkdir(parents=True)
    for name in ("python", "python3"):
        (folder / name).write_text(f'#!/bin/sh\ntouch "{mark}"\nexec "{sys.executable}" "$@"\n')
        (folder / name).chmod(0o755)
    return folder


def test_an_interpreter_of_the_worktree_is_not_run(worktree: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    folder = hostile_python(worktree, mark)
    (worktree / "pyproject.toml").write_text('[project]\nname = "x"\nversion = "1"\n')
    environ = {"PATH": os.environ["PATH"]}
    path = f"{folder}{os.pathsep}{environ['PATH']}"
    assert look_into_python(environ, path, not_run_in=[]) is not None
    assert mark.exists()
    mark.unlink()
    assert look_into_python(environ, path, not_run_in=[worktree]) is None
    environment_of(worktree, checkout=tmp_path / "checkout", environ=environ)
    assert not mark.exists()


def test_an_environment_of_the_worktree_is_read_as_its_interpreter_tells_it(
    worktree: Path, tmp_path: Path
) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", worktree / ".venv"], check=True)
    (site,) = (worktree / ".venv").glob("lib/python3*/site-packages")
    (worktree / "src").mkdir()
    (site / "some_package-1.0.dist-info").mkdir()
    (site / "mine-1.0.dist-info").mkdir()
    url = {"url": worktree.as_uri(), "dir_info": {"editable": True}}
    (site / "mine-1.0.dist-info" / "direct_url.json").write_text(json.dumps(url))
    (site / "mine.pth").write_text(f"{worktree / 'src'}\n")
    environ, path = {"PATH": os.environ["PATH"]}, str(worktree / ".venv" / "bin")
    read = look_into_python(environ, path, not_run_in=[worktree])
    run = look_into_python(environ, path, not_run_in=[])
    assert read is not None
    assert run is not None
    assert (read.names, read.roots, read.prefix, read.version) == (
        run.names,
        run.roots,
        run.prefix,
        run.version,
    )
    assert (worktree / "src").resolve() in read.places
    assert {place for place in run.places if place.is_relative_to(worktree)} == set(read.places)
