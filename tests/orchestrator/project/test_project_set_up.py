"""What makes a worktree ready: plans by lock files, folders made once, and environments in which its code wins."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from itertools import product
from pathlib import Path

import pytest
from language.programs import ran
from language.sampled import sampled
from language.tables import rows, table

from orchestrator.project.readiness.environment import environment_of
from orchestrator.project.readiness.kept import keep, lasting_seal, let_last, put
from orchestrator.project.readiness.plan import key_of_list, plan_of, plan_without_ignored
from orchestrator.project.readiness.registries import private_addresses
from orchestrator.run.places.shared import TRIAL

PROGRAMS = table(__file__, "programs")
NPM = "npm ci --no-audit --no-fund --prefer-offline"
DEPENDS = json.dumps({"dependencies": {"left-pad": "1"}})
BUILD = '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
TESTS = "import thing\n\n\ndef test_it():\n    assert thing.WHO == 'worktree'\n"


@pytest.fixture
def programs(tmp_path):
    """A PATH with nothing but programs of these names; `python3` is real and has nothing installed."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in PROGRAMS:
        (folder / name).write_text("#!/bin/sh\nexit 0\n")
        (folder / name).chmod(0o755)
    (folder / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    return folder


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def pyproject(**project):
    lines = [
        f"{key} = {json.dumps(value)}" for key, value in {"name": "thing", "version": "1", **project}.items()
    ]
    return BUILD + "[project]\n" + "\n".join(lines) + "\n"


PLANS = table(__file__, "plans")


@pytest.mark.parametrize("what", PLANS)
def test_lock_files_and_manifests_say_what_makes_a_worktree_ready(project, programs, what):
    files, commands = PLANS[what].values()
    write(project, files)
    plan = plan_of(project, environ={"PATH": f"{programs}:/bin"})
    assert [step.command for step in plan.steps] == commands
    assert plan.left_out == ()


@pytest.mark.parametrize(
    ("ignores", "committed", "include", "commands"),
    [
        ("Cargo.lock\n", False, (), []),  # a library's, which `cargo test` makes
        ("Cargo.lock\n", True, (), ["cargo fetch --locked"]),
        ("Cargo.lock\n", False, ("/Cargo.lock",), ["cargo fetch --locked"]),
        ("", False, (), ["cargo fetch --locked"]),  # a task's new one, which its commit will hold
    ],
)
async def test_a_lock_file_that_git_ignores_asks_for_no_step_unless_each_worktree_gets_a_copy(
    project, programs, ignores, committed, include, commands
):
    write(project, {"Cargo.toml": "", "Cargo.lock": "", ".gitignore": ignores})
    for words in (("init", "--quiet"), *((("add", "--force", "."),) if committed else ())):
        subprocess.run(("git", *words), cwd=project, check=True)
    environ = {"PATH": f"{programs}:/bin"}
    plan = await plan_without_ignored(project, checkout=project, include=include, environ=environ)
    assert [step.command for step in plan.steps] == commands


def test_a_step_whose_program_is_missing_is_left_out_and_said(project):
    write(project, {"package.json": DEPENDS, "package-lock.json": "", "Gemfile.lock": ""})
    plan = plan_of(project, environ={"PATH": str(project)})
    assert plan.steps == ()
    assert plan.left_out[1] == (
        f"package-lock.json is there and npm is not installed, so `{NPM}` is left out: install npm, or name the "
        "commands of the set-up in worktree.setup of sq.toml"
    )


def test_the_key_changes_with_what_the_set_up_depends_on_and_with_nothing_else(project, programs):
    def key():
        return plan_of(project, environ={"PATH": str(programs)}).key

    write(project, {"package.json": DEPENDS, "package-lock.json": "1", "a.js": "1"})
    first = key()
    write(project, {"a.js": "2", "README.md": "x"})
    assert key() == first
    write(project, {"package-lock.json": "2"})
    assert key() != first


READ = table(__file__, "read")


@pytest.mark.parametrize("what", READ)
def test_the_key_changes_with_each_file_that_the_step_reads_and_with_no_other(project, programs, what):
    def key():
        return plan_of(project, environ={"PATH": str(programs)}).key

    files, read, other = (READ[what][part] for part in ("files", "read", "other"))
    write(project, files)
    first = key()
    for name in other:
        write(project, {name: "changed"})
        assert key() == first, name
        write(project, {name: files[name]} if name in files else {})
    seen = {first}
    for name in read:
        write(project, {name: files.get(name, "") + "\n# changed"})
        assert key() not in seen, name
        seen.add(key())


async def test_what_the_set_up_itself_made_does_not_change_the_key(project, programs):
    async def key():
        environ = {"PATH": f"{programs}:/bin"}
        return (await plan_without_ignored(project, checkout=project, include=(), environ=environ)).key

    scripts = {"dependencies": {"a": "1"}, "scripts": {"prepare": "node tools/made.js"}}
    files = {
        "package.json": json.dumps(scripts),
        "package-lock.json": "",
        ".gitignore": ".bundle/\nmade.js\n",
    }
    write(project, files)
    subprocess.run(("git", "init", "--quiet"), cwd=project, check=True)
    first = await key()
    write(project, {".bundle/config": "1", "tools/made.js": "1", "node_modules/a/package.json": "{}"})
    assert await key() == first
    write(project, {".cargo/config.toml": "1"})
    assert await key() != first


def test_the_key_changes_with_variables_of_the_tool_and_with_its_interpreter(project, programs):
    def key(**environ):
        return plan_of(project, environ={"PATH": str(programs), **environ}).key

    write(project, {"package.json": DEPENDS, "package-lock.json": ""})
    first = key()
    assert key(EDITOR="vi") == first
    assert key(npm_config_registry="https://example.com") != first
    (programs / "node").write_text("#!/bin/sh\nexit 1 # another one\n")
    (programs / "node").chmod(0o755)
    assert key() != first


def test_the_key_of_a_list_changes_with_manifests_and_with_the_files_that_it_names(project):
    def key():
        return key_of_list(project, ("sh bin/set-up.sh",))

    write(project, {"bin/set-up.sh": "1", "package.json": "1", "a.js": "1"})
    first = key()
    write(project, {"a.js": "2"})
    assert key() == first
    write(project, {"bin/set-up.sh": "2"})
    second = key()
    write(project, {"package.json": "2"})
    assert len({first, second, key()}) == 3


# --- made once ----------------------------------------------------------------------------------------------


def run(command, folder, **environ):
    done = ran(["sh", "-c", command], cwd=folder, env={**os.environ, **environ})
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def packages(tmp_path):
    """Two worktrees of a package that depends on one of its own folders, with a lock."""
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    first, second = tmp_path / "first", tmp_path / "second"
    dependency = {"name": "local", "version": "1.0.0", "main": "index.js"}
    root = {"name": "root", "version": "1.0.0", "dependencies": {"local": "file:./local"}}
    lock = {
        "name": "root",
        "version": "1.0.0",
        "lockfileVersion": 3,
        "packages": {
            "": root,
            "local": {"version": "1.0.0"},
            "node_modules/local": {"resolved": "local", "link": True},
        },
    }
    for folder in (first, second):
        write(
            folder,
            {
                "package.json": json.dumps(root),
                "package-lock.json": json.dumps(lock),
                "local/package.json": json.dumps(dependency),
                "local/index.js": f"module.exports = '{folder.name}'",
            },
        )
    return first, second


def test_what_npm_made_in_one_worktree_is_copied_to_another_and_runs_that_ones_code(packages, tmp_path):
    first, second = packages
    step, other = plan_of(first).steps[0], plan_of(second).steps[0]
    assert step.key == other.key
    assert put(tmp_path / "kept", step.key, "", first) is None
    code, output = run(step.command, first)
    assert code == 0, output
    seal = keep(tmp_path / "kept", step.key, first, ["node_modules"])
    write(first, {"node_modules/local.js": "changed by an agent, afterwards"})
    assert put(tmp_path / "kept", other.key, seal, second).paths == ("node_modules",)
    assert run("node -p \"require('local')\"", second) == (0, "second\n")
    assert not (second / "node_modules" / "local.js").exists()


# --- trees as the tools make them, for tools that this machine may lack ---------------------------------------


def grow(folder, tree):
    """Write a tree: files by path, links as `-> TARGET`, programs as `! TEXT`. `HERE` is the folder itself."""
    for name, text in tree.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        told = text.replace("HERE", str(folder))
        if told.startswith("-> "):
            path.symlink_to(told.removeprefix("-> "))
        else:
            path.write_text(told.removeprefix("! "))
            path.chmod(0o755 if told.startswith("! ") else 0o644)


def shown(folder):
    return {
        str(path.relative_to(folder)): f"-> {path.readlink()}" if path.is_symlink() else path.read_text()
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


TREES = table(__file__, "trees")


@pytest.mark.parametrize("tool", TREES)
def test_what_a_tool_made_in_one_place_names_the_next_one_there_and_works_as_it_was(project, tmp_path, tool):
    paths, tree = TREES[tool]["made"], TREES[tool]["tree"]
    grow(project, tree)
    seal = keep(tmp_path / "kept", "key", project, paths)
    assert seal, "it is kept"
    (second := tmp_path / "projects").mkdir()
    assert put(tmp_path / "kept", "key", seal, second)
    grow(expected := tmp_path / "expected", tree)
    was = {name: text.replace(str(expected), str(second)) for name, text in shown(expected).items()}
    assert shown(second) == was
    modes = {name: (project / name).lstat().st_mode for name in was}
    assert {name: (second / name).lstat().st_mode for name in was} == modes


UNMOVABLE = table(__file__, "unmovable")


@pytest.mark.parametrize("what", UNMOVABLE)
def test_what_works_only_where_it_was_made_is_made_anew(project, tmp_path, what):
    grow(project, UNMOVABLE[what])
    assert keep(tmp_path / "kept", "key", project, ["made"]) == ""
    assert put(tmp_path / "kept", "key", "", project) is None


def test_compiled_files_that_name_their_place_are_left_out(project, tmp_path):
    grow(project, {".venv/a.pyc": "\0HERE/a.py", ".venv/b.pyc": "\0b.py", ".venv/pyvenv.cfg": "HERE"})
    seal = keep(tmp_path / "kept", "key", project, [".venv"])
    (second := tmp_path / "second").mkdir()
    assert put(tmp_path / "kept", "key", seal, second)
    assert sorted(path.name for path in (second / ".venv").iterdir()) == ["b.pyc", "pyvenv.cfg"]


@pytest.mark.parametrize("where", ["node_modules/a/index.js", "node_modules/.bin/a"])
def test_a_kept_result_that_is_not_as_it_was_sealed_is_used_nowhere(project, tmp_path, where):
    tree = {"node_modules/a/index.js": "1", "node_modules/.bin/a": "-> ../a/index.js"}
    grow(project, tree)
    seal = keep(kept := tmp_path / "kept", "key", project, ["node_modules"])
    changed = kept / "key" / "tree" / where
    changed.unlink()
    changed.write_text("1 // changed")
    (second := tmp_path / "second").mkdir()
    assert put(kept, "key", seal, second) is None
    assert not list(second.iterdir())
    assert not (kept / "key").exists()


@pytest.mark.late
@pytest.mark.parametrize("layout", ["src", "flat"])
def test_a_real_environment_with_an_editable_install_runs_the_code_of_the_place_that_it_is_moved_to(
    tmp_path, layout
):
    """setuptools leads to the code by a path file for `src`, and by a finder, which is code, for a flat project."""
    first, second = tmp_path / "first", tmp_path / "second"
    flat = "" if layout == "src" else '[tool.setuptools]\npackages = ["thing"]\n'
    inner = "src/" if layout == "src" else ""
    for folder in (first, second):
        write(
            folder,
            {f"{inner}thing/__init__.py": f"WHO = {folder.name!r}\n", "pyproject.toml": pyproject() + flat},
        )
    run(f"{sys.executable} -m venv --without-pip .venv", first)
    (site,) = first.glob(".venv/lib/*/site-packages")
    (site / "sq.pth").write_text(str(Path(pytest.__file__).parents[1]))
    code, output = run(
        ".venv/bin/python -m pip install -q --no-index --no-deps --no-build-isolation --no-compile -e .",
        first,
    )
    assert code == 0, output
    seal = keep(tmp_path / "kept", "key", first, [".venv"])
    assert put(tmp_path / "kept", "key", seal, second)
    code, output = run(
        "cd / && $HERE/.venv/bin/python -c 'import thing; print(thing.WHO)'", second, HERE=str(second)
    )
    assert (code, output.strip()) == (0, "second")
    trial = [second / ".venv/bin/python", "-I", "-c", TRIAL, second / ".venv", first, second]
    assert subprocess.run(trial, cwd=second, check=False).returncode == 0
    for file in second.glob(".venv/lib/*/site-packages/__editable__*"):
        file.write_text(file.read_text().replace(str(second), str(first)))
    told = subprocess.run(trial, cwd=second, capture_output=True, check=False)
    assert told.returncode == 1, "it finds the code of the place that it was made in"


# --- a project that is installed from the user's checkout (lesson 94) ---------------------------------------


@pytest.fixture
def installed(tmp_path):
    """A checkout that is installed in editable form into an environment on the PATH, and a worktree of it."""

    def install(layout, *, project="thing", mode="lenient"):
        venv, checkout = tmp_path / "venv", tmp_path / "checkout"
        source = checkout / "src" if layout == "src" else checkout
        flat = "" if layout == "src" else '[tool.setuptools]\npackages = ["thing"]\n'
        write(source, {"thing/__init__.py": "WHO = 'checkout'\n"})
        write(checkout, {"pyproject.toml": pyproject(name=project) + flat, "tests/test_thing.py": TESTS})
        unittest = "import unittest\nimport thing\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n"
        write(checkout, {"tests/test_unit.py": f"{unittest}        assert thing.WHO == 'worktree'\n"})
        run(f"{sys.executable} -m venv --without-pip {venv}", tmp_path)
        (site,) = venv.glob("lib/*/site-packages")
        (site / "sq.pth").write_text(sysconfig.get_path("purelib"))
        code, output = run(
            f"{venv}/bin/python -m pip install -q --no-index --no-deps --no-build-isolation "
            f"--config-settings editable_mode={mode} -e {checkout}",
            tmp_path,
        )
        assert code == 0, output
        worktree = tmp_path / "worktree"
        shutil.copytree(checkout, worktree, ignore=shutil.ignore_patterns("build", "*.egg-info"))
        write(worktree / source.relative_to(checkout), {"thing/__init__.py": "WHO = 'worktree'\n"})
        environ = {**os.environ, "PATH": f"{venv}/bin:{os.environ['PATH']}"}
        return checkout, worktree, environ

    return install


@pytest.mark.late
@pytest.mark.parametrize(
    ("layout", "mode"),
    sampled(product(("src", "flat"), ("lenient", "strict")), ("src", "strict")),
)
def test_tests_in_a_worktree_import_its_own_code_though_the_checkout_is_installed(installed, layout, mode):
    checkout, worktree, environ = installed(layout, mode=mode)
    ready = environment_of(worktree, checkout=checkout, environ=environ)
    commands = (
        "cd tests && python3 -m pytest -q -p no:cacheprovider test_thing.py",
        "python3 -m unittest discover -s tests -p test_unit.py -t tests",
    )
    for command in commands:
        code, output = run(command, worktree, **{**environ, **ready})
        assert code == 0, output
    code, output = run(commands[0], worktree, **environ)
    assert code == 1, "without it the checkout's code is imported"
    assert plan_of(worktree, checkout=checkout, environ=environ).steps == ()


def test_folders_of_the_checkout_on_search_paths_become_those_of_the_worktree(tmp_path):
    checkout, worktree = tmp_path / "checkout", tmp_path / "worktree"
    for folder in (checkout / "lib", checkout / "only", worktree / "lib"):
        folder.mkdir(parents=True)
    environ = {
        "PATH": f"{checkout}/lib:/bin:{checkout}/only",
        "PYTHONPATH": f"{checkout}/lib",
        "NODE_PATH": "/usr/lib",
    }
    assert environment_of(worktree, checkout=checkout, environ=environ) == {
        "PATH": f"{worktree}/lib:/bin:{checkout}/only",
        "PYTHONPATH": f"{worktree}/lib",
    }


def test_an_environment_of_the_worktrees_own_comes_first(project, tmp_path):
    write(project, {".venv/bin/python": "", "web/.venv/bin/python": "", "web/setup.py": ""})
    found = environment_of(project, checkout=tmp_path / "checkout", environ={"PATH": "/bin"})
    assert found["PATH"] == f"{project}/.venv/bin:{project}/web/.venv/bin:/bin"
    assert found["VIRTUAL_ENV"] == f"{project}/.venv"


def test_a_plain_worktree_needs_no_variables(project, tmp_path):
    write(project, {"a.py": ""})
    assert environment_of(project, checkout=tmp_path / "checkout", environ=dict(os.environ)) == {}


# A build backend without requirements, so that nothing has to be downloaded.
BACKEND = table(__file__, "backend")


@pytest.mark.late
def test_each_worktree_gets_an_environment_of_its_own_by_pip_which_imports_its_code(tmp_path):
    manifest = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    manifest += '[project]\nname = "thing"\nversion = "1"\n'
    for name in ("first", "second"):
        folder = tmp_path / name
        write(folder, {"pyproject.toml": manifest, "backend.py": BACKEND})
        write(folder, {"src/thing/__init__.py": f"WHO = {name!r}\n"})
        (step,) = plan_of(folder, checkout=tmp_path / "checkout").steps
        code, output = run(step.command, folder, PIP_NO_INDEX="1")
        assert code == 0, output
        ready = environment_of(folder, checkout=tmp_path / "checkout", environ=dict(os.environ))
        assert "PYTHONPATH" not in ready
        code, output = run("cd / && python3 -c 'import thing; print(thing.WHO)'", folder, **ready)
        assert (code, output.strip()) == (0, name)


@pytest.mark.parametrize(*rows(__file__, "addresses"))
def test_an_address_of_this_machine_or_its_network_is_found(text, found):
    assert private_addresses(text) == set(found)


@pytest.mark.parametrize(("days", "most", "stays"), [(6, 20, True), (8, 20, False), (0, 19, False)])
def test_results_for_later_runs_stay_a_week_and_within_a_size(
    tmp_path: Path, days: int, most: int, stays: bool
) -> None:
    place, kept, lasting = tmp_path / "place", tmp_path / "kept", tmp_path / "lasting"
    place.mkdir()
    for name in ("older", "newer", "passing"):
        (place / name).write_text("10 letters")
        assert keep(kept, name, place, [name], lasts=name != "passing")
    os.utime(kept / "older.seal", (0, time.time() - days * 86400 - 60))
    let_last(kept, lasting, most=most)
    assert lasting_seal(lasting, "newer")
    assert (lasting_seal(lasting, "older") != "", (lasting / "older").exists()) == (stays, stays)
    assert not (lasting / "passing").exists()
