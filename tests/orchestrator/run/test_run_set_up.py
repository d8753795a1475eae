"""Worktrees are made ready for work: ignored files are copied, commands are run, and none of it is a task's work."""

import json
import os
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from language.scripted import Done, Rehearse, call, completes, says, whole_run, writes
from language.stopping import newest, stopping_after

from orchestrator.run.places.set_up import in_turn
from orchestrator.views.descriptions.evidence import evidence_words
from state.errors import JournalError, UsageError
from state.journal import events as e
from state.journal.view import RunView
from state.outcome import Outcome
from state.paths import worktree_root

Shell = Callable[..., str]
Resume = Callable[..., Done]


@pytest.fixture
def ignoring(repository: Path, shell: Shell) -> Path:
    """The repository, ignoring `*.env`, `data/` and `made/`, with a tracked file."""
    (repository / ".gitignore").write_text("*.env\ndata/\nmade/\n")
    (repository / "tracked.txt").write_text("tracked\n")
    shell(repository, "git", "add", ".")
    shell(repository, "git", "commit", "--quiet", "-m", "Ignore")
    return repository


def including(*patterns: str) -> dict[str, object]:
    return {"worktree.include": patterns}


def setting_up(*commands: str) -> dict[str, object]:
    return {"worktree.setup": commands}


def delivered(repository: Path, shell: Shell) -> set[str]:
    return set(shell(repository, "git", "ls-tree", "-r", "--name-only", "main").split())


# --- files ------------------------------------------------------------------------------------------------


@pytest.mark.late
def test_ignored_files_are_there_for_agents_and_verification_and_in_no_commit(
    rehearse: Rehearse, ignoring: Path, shell: Shell
) -> None:
    (ignoring / "local.env").write_text("KEY=1\n")
    (ignoring / "data").mkdir()
    (ignoring / "data" / "big.bin").write_bytes(b"1")
    done = rehearse(
        whole_run(),
        settings=including("local.env", "data/", "nothing/of/this/name"),
        verify=("test -f local.env && test -f data/big.bin",),
    )
    told = done.of(e.WorkspaceSetUp)
    assert {one.task_id for one in told} == {"notes", ""}
    assert len({one.folder for one in told}) == 2  # the last plain run has its place made anew
    assert all(set(one.copied) == {"local.env", "data/big.bin"} for one in told)
    assert delivered(ignoring, shell) == {".gitignore", "tracked.txt", "notes.txt"}


def test_files_that_git_does_not_ignore_are_refused_before_anything_is_started(
    rehearse: Rehearse, ignoring: Path
) -> None:
    for name in ("plain.txt", "a.key", "local.env"):
        (ignoring / name).write_text("x\n")
    with pytest.raises(UsageError, match=r"names 2 file.s. that git does not ignore .*a\.key, plain\.txt"):
        rehearse(whole_run(), settings=including("plain.txt", "*.key", "*.env"))
    assert not (ignoring / ".sq" / "runs").exists()


@pytest.mark.slow
def test_files_that_are_ignored_only_by_what_is_not_committed_stop_the_run_with_the_way_out(
    rehearse: Rehearse, ignoring: Path
) -> None:
    (ignoring / ".gitignore").write_text("*.env\n*.key\ndata/\nmade/\n")
    (ignoring / "a.key").write_text("x\n")
    done = rehearse(whole_run(), settings=including("*.key"), ends=Outcome.FAILED)
    assert "a.key" in done.output
    assert "commit the .gitignore" in done.output


# --- commands ---------------------------------------------------------------------------------------------


def test_commands_are_run_once_in_each_worktree_before_anybody_works_there(
    rehearse: Rehearse, ignoring: Path
) -> None:
    ran = ignoring.parent / "ran"
    command = f"mkdir -p made && touch made/ready && pwd >> {ran}"
    settings = {**setting_up(command), "sandbox": "off"}  # it writes beside its worktree
    done = rehearse(whole_run(), settings=settings, verify=("test -f made/ready",))
    assert done.view.started
    folders = [Path(line).name for line in ran.read_text().splitlines()]
    assert "notes" in folders
    of_tasks = [one for one in folders if not one.startswith("verify")]
    assert len(set(of_tasks)) == len(of_tasks)
    assert folders.count("verify.1") == 2  # and once more for the last plain run, in a place without outputs
    told = [one for one in done.of(e.WorkspaceSetUp) if one.task_id == "notes"]
    assert [[one.passed for one in set_up.runs] for set_up in told] == [[True]]
    begun = [stored.event for stored in done.stored]
    kinds = [type(event) for event in begun]
    assert kinds.index(e.TaskStarted) < begun.index(told[0]) < kinds.index(e.AttemptStarted)


@pytest.mark.slow
def test_what_commands_change_in_the_project_is_put_back(
    rehearse: Rehearse, ignoring: Path, shell: Shell
) -> None:
    command = "echo more >> tracked.txt; echo x > new.txt; chmod +x .gitignore; mkdir made; echo x > made/it"
    rehearse(whole_run(), settings=setting_up(command), verify=("test -f made/it",))
    assert delivered(ignoring, shell) == {".gitignore", "tracked.txt", "notes.txt"}
    assert shell(ignoring, "git", "show", "main:tracked.txt") == "tracked"
    assert shell(ignoring, "git", "diff", "--name-only", "main~1", "main") == "notes.txt"


@pytest.mark.slow
def test_a_command_that_fails_stops_the_run_and_a_resumed_one_sets_it_up_again(
    rehearse: Rehearse, resume: Resume, ignoring: Path
) -> None:
    there = ignoring.parent / "there"
    commands = ("true", f"echo half > half.txt; echo no such service; test -e {there}", "touch never")
    settings = {**setting_up(*commands), "sandbox": "off"}  # it looks beside its worktree
    done = rehearse(whole_run(), settings=settings, verify=("test ! -e half.txt",), ends=Outcome.FAILED)
    for part in (f"test -e {there}", "ended with 1", "no such service", "sq resume"):
        assert part in done.output
    (told,) = done.of(e.WorkspaceSetUp)
    assert [one.passed for one in told.runs] == [True, False]
    there.touch()
    resume(done)


@pytest.mark.slow
def test_set_up_that_was_killed_in_the_middle_is_done_again_and_leaves_no_trace(
    rehearse: Rehearse, resume: Resume, ignoring: Path, shell: Shell
) -> None:
    failing = whole_run(worker=[{**completes(), "misbehave": {"status": 401, "times": 1}}, *ACCEPTED])
    done = rehearse(
        failing,
        settings=setting_up("mkdir -p made && touch made/ready"),
        verify=("true",),
        ends=Outcome.FAILED,
    )
    worktree = worktree_root(ignoring, done.folder.name) / "notes"
    marker = Path(shell(worktree, "git", "rev-parse", "--absolute-git-dir")) / "sq-set-up"
    marker.write_text(f"begun on {shell(worktree, 'git', 'rev-parse', 'HEAD')}")  # as a kill leaves it
    (worktree / "made" / "ready").unlink()
    (worktree / "tracked.txt").write_text("half\n")
    (worktree / "half.txt").write_text("half\n")
    ended = resume(done)
    assert shell(ignoring, "git", "diff", "--name-only", "main~1", "main") == "notes.txt"
    told = [one for one in ended.of(e.WorkspaceSetUp) if one.task_id == "notes"]
    assert len(told) == 2


ACCEPTED = [writes("notes.txt", "A line.\n"), completes()]


@pytest.mark.slow
def test_commands_get_no_secrets(rehearse: Rehearse, ignoring: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-ant-1234567890")
    command = "mkdir -p made && env > made/seen"
    looks = "grep -q ^PATH= made/seen && ! grep -q MY_API_KEY made/seen"
    rehearse(whole_run(), settings=setting_up(command), verify=(looks,))


@pytest.mark.slow
def test_without_worktrees_nothing_is_set_up_in_the_checkout(rehearse: Rehearse, ignoring: Path) -> None:
    ran = ignoring.parent / "ran"
    settings = {**setting_up(f"pwd >> {ran}"), **including("*"), "worktrees": False}
    done = rehearse(whole_run(), settings=settings, verify=("true",))
    folders = ran.read_text().splitlines() if ran.exists() else []
    assert str(ignoring) not in folders, "only scratch worktrees of sq's own are set up"
    assert str(ignoring) not in {one.folder for one in done.of(e.WorkspaceSetUp)}


# --- by lock files ------------------------------------------------------------------------------------------


@pytest.fixture
def package(repository: Path, shell: Shell) -> Path:
    """The repository as a package that depends on a folder of its own, with a lock file."""
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    root = {"name": "root", "version": "1.0.0", "dependencies": {"local": "file:./local"}}
    packages = {
        "": root,
        "local": {"version": "1.0.0"},
        "node_modules/local": {"resolved": "local", "link": True},
    }
    files = {
        "package.json": root,
        "package-lock.json": {"name": "root", "version": "1.0.0", "lockfileVersion": 3, "packages": packages},
        "local/package.json": {"name": "local", "version": "1.0.0"},
    }
    (repository / "local").mkdir()
    for name, content in files.items():
        (repository / name).write_text(json.dumps(content))
    (repository / "local" / "index.js").write_text("module.exports = 1\n")
    shell(repository, "git", "add", ".")
    shell(repository, "git", "commit", "--quiet", "-m", "Package")
    return repository


def test_worktrees_are_made_ready_by_their_lock_file_once_and_then_by_copies(
    rehearse: Rehearse, package: Path, shell: Shell
) -> None:
    done = rehearse(whole_run(), verify=("node -e \"require('local')\"",))
    assert "note: set-up: npm ci --no-audit --no-fund --prefer-offline (package-lock.json)" in done.output
    first, *others = done.of(e.WorkspaceSetUp)
    assert [one.passed for one in first.runs] == [True]
    assert others
    assert all((one.runs, one.again) == ((), ("node_modules",)) for one in others)
    kinds = [type(stored.event) for stored in done.stored]
    assert kinds.index(e.SetUpStarted) < kinds.index(e.WorkspaceSetUp)
    assert delivered(package, shell) >= {"notes.txt", "package.json"}
    assert not any(path.startswith("node_modules") for path in delivered(package, shell))
    assert not (done.folder / "ready").exists()


def test_a_run_that_goes_on_takes_the_set_ups_that_are_there(
    rehearse: Rehearse, resume: Resume, package: Path
) -> None:
    with pytest.raises(JournalError):
        rehearse(whole_run(), verify=("true",), open_journal=stopping_after(e.BaselineTaken))
    scratch = worktree_root(package, newest(package).name) / "verify.1"
    assert (scratch / "node_modules").is_dir()
    done = resume(Done(Outcome.FAILED, newest(package), [], ""))
    ran = [run.command for one in done.of(e.WorkspaceSetUp) for run in one.runs]
    assert len(ran) == 1, ran
    assert not scratch.exists()


@pytest.mark.late
def test_what_a_lock_file_decides_serves_the_next_runs_until_it_or_its_content_changes(
    rehearse: Rehearse, package: Path, shell: Shell
) -> None:
    names = iter("abcd")

    def first_set_up() -> tuple[int, Path]:
        """Return how many commands the first set-up of a run ran, and where the runs keep their state."""
        work = [writes(f"{next(names)}.txt", "Work.\n"), completes()]
        done = rehearse(whole_run(worker=work), verify=("node -e \"require('local')\"",), ends=None)
        assert done.of(e.TaskMerged), done.output
        return len(done.of(e.WorkspaceSetUp)[0].runs), done.folder.parents[1]

    assert first_set_up()[0] == 1
    ran, state = first_set_up()
    assert ran == 0
    (packages,) = (state / "ready").glob("*/tree/node_modules")
    (packages / "local").unlink()
    assert first_set_up()[0] == 1, "its seal is broken"
    lock = package / "package-lock.json"
    lock.write_text(f"{lock.read_text()}\n")
    shell(package, "git", "commit", "--quiet", "--all", "-m", "Another lock")
    assert first_set_up()[0] == 1


@pytest.mark.late
def test_a_step_that_fails_is_said_and_the_run_goes_on(
    rehearse: Rehearse, package: Path, shell: Shell
) -> None:
    (package / "package-lock.json").write_text("{")
    shell(package, "git", "commit", "--quiet", "--all", "-m", "Break the lock")
    done = rehearse(whole_run(), verify=("true",))
    assert "The baseline shows whether the commands can run" in done.output


@pytest.mark.late
def test_a_step_that_fails_on_the_work_is_run_once_for_its_tree(rehearse: Rehearse, package: Path) -> None:
    work = [writes("package-lock.json", "{"), completes()]
    checks = ("true", "test -f package-lock.json")
    done = rehearse(whole_run(worker=work), verify=checks)
    set_ups = done.of(e.WorkspaceSetUp)
    assert len([run for one in set_ups for run in one.runs if not run.passed]) == 1, done.output
    assert "it failed on this tree" in done.output


@pytest.mark.slow
def test_none_makes_nothing_ready(rehearse: Rehearse, package: Path) -> None:
    done = rehearse(whole_run(), settings={"worktree.setup": "none"}, verify=("test ! -e node_modules",))
    assert done.of(e.WorkspaceSetUp) == []


def test_a_workers_commands_find_the_worktrees_own_code_as_sqs_commands_do(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    (repository / "src" / "shop").mkdir(parents=True)
    (repository / "src" / "shop" / "__init__.py").write_text("")
    (repository / "pyproject.toml").write_text("[project]\nname = 'shop'\nversion = '1'\n")
    shell(repository, "git", "add", ".")
    shell(repository, "git", "commit", "--quiet", "-m", "A source folder")
    look = "python3 -c \"import shop; open('notes.txt', 'w').write(shop.__file__)\""
    work = [says(call("Bash", command=look)), completes()]
    done = rehearse(
        whole_run(worker=work),
        settings={"worktree.setup": "none"},
        verify=('python3 -c "import shop"',),
    )
    found = (repository / "notes.txt").read_text()
    assert found == f"{done.view.tasks['notes'].place.worktree}/src/shop/__init__.py"


# --- manifests that a task changes -----------------------------------------------------------------------------


def go_modules(proxy: Path, *names: str) -> None:
    """Lay modules with one function each where `go` looks for downloads."""
    for name in names:
        folder = proxy / "example.com" / name / "@v"
        folder.mkdir(parents=True)
        manifest = f"module example.com/{name}\n\ngo 1.19\n"
        (folder / "list").write_text("v1.0.0\n")
        (folder / "v1.0.0.info").write_text('{"Version": "v1.0.0"}')
        (folder / "v1.0.0.mod").write_text(manifest)
        with zipfile.ZipFile(folder / "v1.0.0.zip", "w") as archive:
            archive.writestr(f"example.com/{name}@v1.0.0/go.mod", manifest)
            archive.writestr(f"example.com/{name}@v1.0.0/{name}.go", f"package {name}\n\nfunc Do() {{}}\n")


@pytest.mark.late
def test_packages_that_a_task_adds_are_downloaded_apart_and_are_there_for_its_verification(
    rehearse: Rehearse, repository: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not shutil.which("go"):
        pytest.skip("go is not installed")
    proxy = Path.home() / "go" / "pkg" / "mod" / "cache" / "download"
    go_modules(proxy, "one", "two")
    for name, value in {"GOPROXY": proxy.as_uri(), "GOSUMDB": "off", "GOFLAGS": "-mod=mod"}.items():
        monkeypatch.setenv(name, value)
    main = {
        "main.go": 'package main\n\nimport "example.com/one"\n\nfunc main() { one.Do() }\n',
        "go.mod": "module example.com/main\n\ngo 1.19\n\nrequire example.com/one v1.0.0\n",
    }
    for name, text in main.items():
        (repository / name).write_text(text)
    shell(repository, "go", "mod", "tidy")
    shell(repository, "git", "add", ".")
    shell(repository, "git", "commit", "--quiet", "-m", "A program")
    more = {name: text.replace("one", "two") for name, text in main.items()}
    more["main.go"] = more["main.go"].replace("package main\n", "package main\n\n// It does two.\n")
    for name, text in more.items():
        (repository / name).write_text(text)
    shell(repository, "go", "mod", "tidy")
    work = [writes(name, (repository / name).read_text()) for name in (*more, "go.sum")]
    shell(repository, "git", "reset", "--quiet", "--hard")
    monkeypatch.delenv("GOFLAGS")
    done = rehearse(whole_run(worker=[*work, completes()]), verify=("go build -o /dev/null .",))
    ran = [run for one in done.of(e.WorkspaceSetUp) for run in one.runs]
    assert all(run.passed for run in ran), ran
    assert not done.view.evidence.not_again


@pytest.mark.late
def test_a_tool_that_runs_code_to_download_is_named_and_the_base_result_stays(
    rehearse: Rehearse, repository: Path, shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "bundle"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho ran $@\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    for name in ("Gemfile", "Gemfile.lock"):
        (repository / name).write_text("# one\n")
    shell(repository, "git", "add", ".")
    shell(repository, "git", "commit", "--quiet", "-m", "Gems")
    work = [writes("Gemfile.lock", "# two\n"), completes()]
    done = rehearse(whole_run(worker=work), verify=("true",))
    note = "`bundle check || bundle install` (Gemfile.lock) is not run again: Gemfile is code"
    assert next(iter(done.view.evidence.not_again)).startswith(note)
    assert done.output.rindex(note) > done.output.index("complete (exit code 0)")


@pytest.mark.late
def test_a_list_of_the_users_is_sealed_on_changed_files_and_its_failure_names_the_setting(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    (repository / "go.mod").write_text("module one\n")
    shell(repository, "git", "add", ".")
    shell(repository, "git", "commit", "--quiet", "-m", "A manifest")
    looks = "grep -q one go.mod || { echo curl: Could not resolve host: example.com; exit 1; }"
    work = [writes("go.mod", "module two\n"), completes()]
    callers = whole_run(worker=work)
    done = rehearse(callers, settings=setting_up(looks), verify=("true",), ends=None)
    assert done.outcome is not Outcome.COMPLETE, done.output
    assert 'seems to lack the network (`sandbox.network = "full"` opens it)' in done.output
    assert "runs without the network and without credentials" in done.output


def test_an_open_network_is_said_first_and_last(rehearse: Rehearse, repository: Path) -> None:
    done = rehearse(whole_run(), settings={"sandbox.network": "full"}, verify=("true",))
    line = "sandbox.network is full: verification commands"
    assert any(line in note for note in (done.view.started.notes if done.view.started else ()))
    assert done.output.rindex(line) > done.output.index("complete (exit code 0)")


async def test_a_set_up_begins_when_it_is_its_turn_and_says_before_that_it_waits() -> None:
    turn, told = anyio.Lock(), []
    started = e.SetUpStarted(task_id="a", folder="/a", steps=("npm ci (package-lock.json)",))

    async def set_up() -> None:
        async with in_turn(turn, started, told.append):
            told.append("works")

    with anyio.fail_after(5):
        async with turn, anyio.create_task_group() as others:
            others.start_soon(set_up)
            await anyio.wait_all_tasks_blocked()
            assert told == [replace(started, waits=True)]
            turn.release()
            await anyio.wait_all_tasks_blocked()
            await turn.acquire()
    assert told == [replace(started, waits=True), started, "works"]
    assert [words.line for one in told[:2] for words in evidence_words(RunView(), one)] == [
        "a: waits for another set-up",
        "a: set-up begins: npm ci (package-lock.json)",
    ]
