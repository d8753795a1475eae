"""The door: a tree that changes while git reads it, and an index that lies, get nothing of the user's."""

import os
import re
import shutil
import subprocess
import zlib
from dataclasses import replace
from hashlib import sha1
from pathlib import Path

import anyio
import pytest
from language.opened_here import opened_below
from language.programs import ran

from agents.process.containment import Containment, detect_containment
from agents.process.frozen import living
from agents.process.sandbox.bubblewrap import PROGRAM, bubblewrapped
from agents.process.sandbox.choice import Choice, SandboxLevel, choose_sandbox
from agents.process.sandbox.needs import Needs
from agents.process.sandbox.policy import SandboxPolicy
from agents.process.sandbox.repository import MARKED_INDEX
from agents.session.sandbox import SandboxWalls
from benchmarks.door import INDEX_NAMES, KEPT, ground, index_names_refused, opened, opened_outside, races
from orchestrator.git.command import git, git_bytes, through
from orchestrator.git.pinned import record_git
from orchestrator.git.pinned_config import trusting
from orchestrator.git.trees import files_in
from orchestrator.git.users.backup import take_backup
from orchestrator.git.users.restoring import restore
from orchestrator.git.workspace import add_into, ensure_worktree, put_on, snapshot
from orchestrator.run.places.door import SandboxDoor
from orchestrator.run.places.quarantine import is_inside, take_over
from state.errors import GitError
from state.safe_paths import Oddities
from state.settings.records import Sandbox

needs_bwrap = pytest.mark.skipif(not shutil.which(PROGRAM), reason="bubblewrap is not installed")


@needs_bwrap
@pytest.mark.timeout(300)
async def test_a_folder_that_is_exchanged_for_a_link_brings_nothing_of_the_users_home_into_the_repository():
    assert await races(40, with_door=True) == 0


@needs_bwrap
@pytest.mark.timeout(300)
async def test_no_name_of_an_agents_index_becomes_an_entry():
    assert await index_names_refused() == len(INDEX_NAMES) >= 30


@needs_bwrap
async def test_a_link_that_leads_to_the_git_folder_or_home_is_a_link_in_the_tree_and_no_more():
    with ground() as folder:
        trusted, door, place = await opened(folder)
        (place / "git").symlink_to(trusted.common)
        (place / "home").symlink_to(folder / "home")
        with trusting(trusted):
            async with through(door):
                tree = await snapshot(place)
        listed = ran(["git", "ls-tree", "-r", tree], cwd=folder / "repository", check=True).stdout
        assert {line.split()[0] for line in listed.splitlines() if line.endswith(("git", "home"))} == {
            "120000"
        }
        assert len(listed.splitlines()) == 3


@needs_bwrap
async def test_git_sees_nothing_of_the_users_beside_the_place_and_the_repositorys_objects():
    with ground() as folder:
        trusted, door, place = await opened(folder)
        config = folder / "repository" / ".git" / "config"
        config.write_text(config.read_text() + '[http]\n\textraHeader = "a secret too"\n')
        for path in (folder / "home" / "key", config, Path("/etc/shadow")):
            with trusting(trusted), pytest.raises(GitError) as told:
                async with through(door):
                    await git(place, "diff", "--no-index", os.devnull, str(path))
            assert "secret" not in str(told.value)
            assert "root:" not in str(told.value)


@needs_bwrap
async def test_a_command_ends_in_its_sandbox_also_if_its_session_ends_meanwhile_and_another_place_is_read():
    with ground() as folder:
        trusted, door, place = await opened(folder)
        with trusting(trusted):
            other = place.with_name("other")
            await ensure_worktree(folder / "repository", other, branch="other", commit="main")
            async with through(door):
                begun, told = folder / "worktrees", list[str]()
                waits = f"alias.wait=!echo > {door.quarantine(place)}/begun; sleep 2; echo done"

                async def wait() -> None:
                    told.append(await git(place, "-c", waits, "wait"))

                async with anyio.create_task_group() as tasks:
                    with living(place, begun / "1"):
                        tasks.start_soon(wait)
                        with anyio.fail_after(20):
                            while not (door.quarantine(place) / "begun").exists():
                                await anyio.sleep(0.01)
                    with living(other, begun / "2"):
                        await git(other, "status")
        assert told == ["done"]


@needs_bwrap
async def test_a_reset_writes_through_no_link_of_the_tree():
    with ground() as folder:
        trusted, door, place = await opened(folder)
        shutil.rmtree(place / "way")
        (place / "way").symlink_to(folder / "home")
        with trusting(trusted):
            async with through(door):
                await put_on(place, "main", branch=None)
        assert (folder / "home" / "key").read_text().startswith("a secret")
        assert (place / "way" / "key").read_text().startswith("a key of the project")


@needs_bwrap
async def test_content_as_the_worktrees_attributes_say_is_read_through_the_door():
    with ground() as folder:
        trusted, door, place = await opened(folder)
        (folder / "home" / ".gitattributes").write_text("key text eol=crlf\n")
        (place / "way").rename(place / "elsewhere")
        (place / "way").symlink_to(folder / "home")
        asked = ("cat-file", "--filters", "--path=way/key", "HEAD:way/key")
        with trusting(trusted):
            assert b"\r" in await git_bytes(place, *asked)
            async with through(door):
                assert b"\r" not in await git_bytes(place, *asked)
                (place / "way").unlink()
                (place / "elsewhere").rename(place / "way")
                (place / "way" / ".gitattributes").write_text("key text eol=crlf\n")
                assert b"\r" in await git_bytes(place, *asked)


@needs_bwrap
async def test_objects_of_another_repository_that_this_one_named_before_are_seen():
    with ground() as folder:
        (folder / "repository").rename(folder / "origin")
        for words in (
            ("clone", "-q", "--shared", "origin", "repository"),
            ("-C", "repository", "config", "user.name", "x"),
            ("-C", "repository", "config", "user.email", "x@localhost"),
        ):
            subprocess.run(["git", *words], cwd=folder, check=True)
        trusted, door, place = await opened(folder)
        (place / "way" / "key").write_text("other\n")
        with trusting(trusted):
            async with through(door):
                assert "a key of the project" in await git(place, "diff", "HEAD")
                tree = await snapshot(place)
        assert await files_in(folder / "repository", tree) == ["way/key"]


# What a session writes into its git folder, and what git outside would read there.
LIES = {
    "commondir": "echo /tmp/other > $(git rev-parse --git-dir)/commondir",
    "HEAD": "echo 'ref: refs/heads/other' > $(git rev-parse --git-dir)/HEAD",
    "alternates": "echo /tmp/other > $(git rev-parse --git-path objects)/info/alternates",
    "packed refs": "git pack-refs --all; echo '# pack-refs with: peeled' > $(git rev-parse --git-common-dir)/packed-refs",
    "notes": "git notes add -m lies HEAD; mkdir -p $(git rev-parse --git-common-dir)/refs/notes",
    "a replaced object": "git replace HEAD $(git hash-object -w --stdin </dev/null)",
    "a branch": "git update-ref refs/heads/main $(git commit-tree -m lies HEAD^{tree})",
    "a pointer": "rm -f .git; echo 'gitdir: /tmp/other' > .git",
    "a setting": "git config core.fsmonitor 'touch /tmp/ran'; git config --worktree core.pager x",
}


@needs_bwrap
@pytest.mark.parametrize("lie", LIES)
async def test_nothing_of_a_git_folder_that_a_session_wrote_comes_out(lie: str):
    with ground() as folder:
        trusted, door, place = await opened(folder)
        before = bytes_below(trusted.common) | {".git": (place / ".git").read_bytes()}
        policy = replace(
            door.sandbox_policy,
            choice=Choice(level=SandboxLevel.WHOLE, reason="test", program=shutil.which(PROGRAM) or ""),
        )
        needs = Needs(workspace=place, scratch=folder / "scratch", path=os.environ["PATH"])
        walls = SandboxWalls(
            sandbox_policy=policy,
            needs=replace(needs, keeps_index=True),
            cli=Path("/bin/sh"),
            containment=Containment.SUPERVISOR,
            drop_env=(),
        )
        walls.build()
        words = bubblewrapped(["/bin/sh", "-c", f"set -x; {LIES[lie]}; :"], policy.plan(needs))
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        walls.settle()
        after = bytes_below(trusted.common) | {".git": (place / ".git").read_bytes()}
        after = {name: text for name, text in after.items() if not name.endswith(MARKED_INDEX)}
        assert after == before
        subprocess.run(["/bin/sh", "-c", LIES[lie]], cwd=place, capture_output=True, check=False)
        assert bytes_below(trusted.common) | {".git": (place / ".git").read_bytes()} != before


def bytes_below(folder: Path) -> dict[str, bytes]:
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


@needs_bwrap
async def test_large_files_are_looked_for_inside():
    with ground() as folder:
        trusted, door, place = await opened(folder)
        (place / "home").symlink_to(folder / "home")
        with (place / "big").open("wb") as file:
            file.truncate(20_000_000_000)
        odd, index = Oddities(), door.index_folder(place) / "index"
        with trusting(trusted), opened_below(place) as here:
            async with through(door):
                environment = {"GIT_INDEX_FILE": str(index)}
                await add_into(place, environment, lenient=False, odd=odd, deadline_s=2)
        assert {*odd.left_out} == {"big"}
        assert not here


@needs_bwrap
@pytest.mark.parametrize("change", ["a link above it", "a link", "lines"])
async def test_the_users_work_is_looked_at_and_put_back_inside(change: str):
    with ground() as folder:
        root, run_folder = folder / "repository", folder / "run"
        run_folder.mkdir()
        (root / "way" / "key").write_text("the user's own line\n")
        trusted = await record_git(root, run_folder, None)
        choice = choose_sandbox(
            Sandbox.OFF, containment=detect_containment(), login=False, environ=os.environ
        )
        policy = SandboxPolicy(choice=choice, environ=os.environ, own_processes=True, home=folder / "home")
        door = SandboxDoor(trusted=trusted, sandbox_policy=policy, scratch=folder / "door")
        with trusting(trusted):
            async with through(door):
                kept = await take_backup(root, ref="refs/sq/kept", parent="HEAD", leave_out=[])
                if change == "a link above it":
                    (root / "way" / "key").unlink()
                    (root / "way").rmdir()
                    (root / "way").symlink_to(folder / "home")
                elif change == "a link":
                    (root / "way" / "key").unlink()
                    (root / "way" / "key").symlink_to(folder / "home" / "key")
                else:
                    (root / "way" / "key").write_text("another line\n")
                with opened_below(root) as here:
                    done = await restore(root, kept, ref="refs/sq/beside", aside=run_folder / "aside")
        assert not [one for one in here if not one.startswith(str(root / ".git"))]
        assert [one.kept.path for one in done.changes] == ["way/key"]
        assert (root / "way" / "key").read_text() == "the user's own line\n"
        assert not (root / "way").is_symlink()
        assert (folder / "home" / "key").read_bytes() == KEPT
        stored = subprocess.run(
            ["git", "cat-file", "--batch-all-objects", "--batch"], cwd=root, capture_output=True, check=True
        ).stdout
        assert KEPT not in stored


def loose(folder: Path, content: bytes) -> Path:
    name = sha1(content).hexdigest()  # noqa: S324  git's
    file = folder / name[:2] / name[2:]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(zlib.compress(content))
    return file


def blob(text: bytes) -> bytes:
    return b"blob %d\0%b" % (len(text), text)


def tree(mode: bytes, name: bytes) -> bytes:
    entry = mode + b" " + name + b"\0" + sha1(blob(b"x")).digest()  # noqa: S324
    return b"tree %d\0%b" % (len(entry), entry)


def test_blobs_and_trees_are_taken_over_once(tmp_path: Path) -> None:
    quarantine, objects = tmp_path / "quarantine", tmp_path / "objects"
    objects.mkdir()
    files = [loose(quarantine, blob(b"x")), loose(quarantine, tree(b"100644", b"a"))]
    take_over(quarantine, objects)
    assert not any(file.exists() for file in files)
    assert len(list(objects.glob("??/*"))) == 2
    loose(quarantine, blob(b"x"))
    take_over(quarantine, objects)
    assert len(list(objects.glob("??/*"))) == 2


def _as_link(folder: Path) -> None:
    file = loose(folder, blob(b"x"))
    file.rename(folder / "elsewhere")
    file.symlink_to(folder / "elsewhere")


def _as_pipe(folder: Path) -> None:
    file = loose(folder, blob(b"x"))
    file.unlink()
    os.mkfifo(file)


BAD = {
    "other content": lambda folder: loose(folder, blob(b"x")).write_bytes(zlib.compress(blob(b"y"))),
    "not packed": lambda folder: loose(folder, blob(b"x")).write_bytes(b"blob"),
    "cut off": lambda folder: loose(folder, blob(b"x" * 99)).write_bytes(zlib.compress(blob(b"x" * 99))[:-4]),
    "a commit": lambda folder: loose(folder, b"commit 1\0x"),
    "a wrong size": lambda folder: loose(folder, b"blob 9\0x"),
    "a link": _as_link,
    "a pipe": _as_pipe,
    "a kind": lambda folder: loose(folder, tree(b"100777", b"a")),
    "a name": lambda folder: loose(folder, tree(b"100644", b"..")),
    "a git folder": lambda folder: loose(folder, tree(b"40000", b".GIT")),
    "half an entry": lambda folder: loose(folder, b"tree 9\0100644 a\0"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_git_does_not_make_of_files_is_not_taken_over(tmp_path: Path, kind: str) -> None:
    quarantine, objects = tmp_path / "quarantine", tmp_path / "objects"
    objects.mkdir()
    loose(quarantine, blob(b"an honest file"))
    BAD[kind](quarantine)
    with pytest.raises(GitError, match="is not taken over"):
        take_over(quarantine, objects)
    assert not list(objects.iterdir())
    assert not quarantine.exists()


@pytest.mark.parametrize(
    "name", ["a", "...", "a:b", ".gitignore", ".gitx", "git~2", "x.git", ":x", " ", "a\\b"]
)
def test_honest_names_stay(name: str) -> None:
    assert is_inside(name.encode())


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "a/b", ".git", ".GIT", ".git.", ".git ", ".git::$DATA", "git~1", ".g\u200cit", "a\\.git"],
)
def test_names_that_lead_out_or_into_a_git_folder_do_not(name: str) -> None:
    assert not is_inside(name.encode())


def test_the_trace_counts_what_is_opened_outside_a_sandbox_while_a_session_lives() -> None:
    lines = [
        '1 openat(AT_FDCWD</>, "/w/task/early", O_RDONLY) = 3',
        '2 execve("/usr/bin/bwrap", ["bwrap", "--chdir", "/w/task", "--", "/x/claude", "-p"], ["A=/y/claude"]) = 0',
        "2 clone(child_stack=NULL) = 2 /* 5 in strace's PID NS */",
        '5 openat(AT_FDCWD</w/task>, "own", O_RDONLY) = 3',
        '1 openat(AT_FDCWD</>, "/w/task/live", O_RDONLY) = 3',
        '1 openat(7</w/task/sub>, "deep", O_RDONLY) = 3',
        '1 openat(AT_FDCWD</>, "/w/task2/other", O_RDONLY) = 3',
        '1 openat(AT_FDCWD</>, "/w/task/.git/index", O_RDONLY) = 3',
        "5 +++ exited with 0 +++",
        "1 clone(child_stack=NULL) = 5",
        '5 openat(AT_FDCWD</>, "/w/task/again", O_RDONLY) = 3',
        "2 +++ exited with 0 +++",
        '1 openat(AT_FDCWD</>, "/w/task/late", O_RDONLY) = 3',
    ]
    assert opened_outside(lines) == {"/w/task/live", "/w/task/sub/deep", "/w/task/again"}


# Where git is started, and why that is not on a worktree in which a session works.
STARTS = {
    "orchestrator/git/command.py": "the door's own side, and `git --version`",
    "orchestrator/git/trees.py": "asks whether a folder that is left over holds work, after the run",
    "orchestrator/cli/options.py": "asks for names in an index of the user's",
    "orchestrator/cli/runs/run.py": "makes the repository of an example",
    "orchestrator/fleet/transport.py": "mirrors, clones and checkpoints, in folders that no session has",
    "agents/process/sandbox/policy.py": "asks for the user's name, in no repository",
    "orchestrator/gates/stop_gate/steps/beads.py": "a person's own checkout, by settings of sq's alone",
    "orchestrator/gates/stop_gate/steps/verification.py": "likewise",
}


def test_git_is_started_in_known_places_alone() -> None:
    root = Path(__file__).parents[2]
    files = [
        file
        for floor in ("agents", "orchestrator", "prompts", "state")
        for file in (root / floor).rglob("*.py")
    ]
    starts = {file for file in files if re.search(r'\["git",', file.read_text("utf-8"))}
    assert {str(file.relative_to(root)) for file in starts} == STARTS.keys()
