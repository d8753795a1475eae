"""Measures the door: what git reads of an agent's worktree, and what an agent can make it read.

    python -m benchmarks.door            # all, some ten minutes
    python -m benchmarks.door --quick    # fewer attempts, and no trace of a whole run

`foreign_objects`: in so many `attempts` a process exchanged a folder for a link to a folder of the user's
while sq took a snapshot, and a file of that folder became an object (`foreign_objects_outside`: the same with
git outside the door). `index_names_refused` of `index_names`: names in an index that lead out of the tree.
`live_reads_outside`: files below an agent's worktree that a process outside a sandbox opened while a session
worked there, by strace, in two runs (null: strace is missing): one with Workers, a conflict, a hostile tree,
a set-up, a total that is nearly full and more than git reads in time, and one in the checkout of a user with
uncommitted work. `live_questions`: what was asked of sandboxes instead (`agents.process.sandbox.inside`).
`door_claim_ms`: by how much longer a snapshot of 2,000 files takes through the door, by medians. The last
line is JSON.
"""

import hashlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import click
import yaml

from agents.process.containment import detect_containment
from agents.process.frozen import living
from agents.process.sandbox.bubblewrap import PROGRAM
from agents.process.sandbox.choice import choose_sandbox
from agents.process.sandbox.policy import SandboxPolicy
from benchmarks.figures import of_tests
from orchestrator.git.command import through
from orchestrator.git.pinned import record_git
from orchestrator.git.pinned_config import TrustedGit, trusting
from orchestrator.git.workspace import ensure_worktree, snapshot
from orchestrator.run.places.door import SandboxDoor
from state.errors import GitError
from state.settings.records import Sandbox

KEPT = b"a secret of the user's home\n"
_EXCHANGES = """
import ctypes, os, sys
os.chdir(sys.argv[1])
exchange = ctypes.CDLL(None).renameat2
print("ready", flush=True)
while True:
    exchange(-100, b"way", -100, b"link", 2)
"""
# Names of entries of an index that lead out of a worktree, or into a git folder.
INDEX_NAMES = [
    *("../home/key", "../../home/key", "way/../../home/key", "/home/key", "//home/key", "./../home/key"),
    *("..", ".", "", "way/..", "way/.", "way//key", "/", "//", "way/", "./key", "way/./key"),
    *(".git/config", ".git/hooks/post-commit", ".GIT/config", ".Git/index", "way/.git/config", ".git"),
    *("git~1/config", ".git /config", ".git./config", ".git::$INDEX_ALLOCATION/config", "way/GIT~1/x"),
    *(".g\u200cit/config", ".gi\ufefft/config", "way\\.git\\config", "..\\home\\key/../../key"),
]
_OPENS = re.compile(r'\b(?:open|openat|openat2)\((?:(?:AT_FDCWD|\d+)(?:<([^>]*)>)?, )?"((?:[^"\\]|\\.)*)"')
_MADE = re.compile(r"(?:clone3?|v?fork)\b.*= (\d+)(?: /\* (\d+) in strace's PID NS \*/)?$")
_CHDIR = re.compile(r'"--chdir", "([^"]*)"')
_ASKED = re.compile(r'execve\("[^"]*/bwrap".*sandbox\.inside import main; main\(\)", "[^"]*", "(\w+)"')
_MOST_MS = 50.0
_SETTINGS = '[worktree]\nsetup = ["touch ready"]\n[sandbox.limits]\ntotal_mb = 100\n'
_HOSTILE = "mkfifo pipe; mkdir -p a/b && ln -s / a/b/root; touch a/c; chmod 0 a/c"
_FULL = "head -c 85M /dev/urandom > full; sync; sleep 4; rm full"
_LARGE = "for n in 1 2 3 4 5 6 7 8; do truncate -s 20G huge-$n; done"  # more than is read in two minutes


@contextmanager
def ground() -> Iterator[Path]:
    """Yield a folder with a `repository`, and a `home` of the user's beside it with a secret in `key`."""
    with tempfile.TemporaryDirectory(prefix="sq-") as name:
        folder = Path(name)
        (folder / "home").mkdir()
        (folder / "home" / "key").write_bytes(KEPT)
        (folder / "repository" / "way").mkdir(parents=True)
        (folder / "repository" / "way" / "key").write_text("a key of the project's tests\n")
        for words in (
            ("init", "-qb", "main"),
            ("config", "user.name", "x"),
            ("config", "user.email", "x@localhost"),
            ("add", "--all"),
            ("commit", "-qm", "Files"),
        ):
            subprocess.run(["git", *words], cwd=folder / "repository", check=True)
        yield folder


async def opened(folder: Path) -> tuple[TrustedGit, SandboxDoor, Path]:
    """Return the git folders of a run in a ground, its door, and a worktree as an agent has it."""
    run_folder, place = folder / "run", folder / "worktrees" / "task"
    run_folder.mkdir()
    trusted = await record_git(folder / "repository", run_folder, place.parent)
    choice = choose_sandbox(Sandbox.OFF, containment=detect_containment(), login=False, environ=os.environ)
    policy = SandboxPolicy(choice=choice, environ=os.environ, own_processes=True, home=folder / "home")
    with trusting(trusted):
        await ensure_worktree(folder / "repository", place, branch="work", commit="main")
    return trusted, SandboxDoor(trusted=trusted, sandbox_policy=policy, scratch=folder / "door"), place


@contextmanager
def exchanging(place: Path) -> Iterator[None]:
    """Let a process exchange the folder `way` of a place and the link `link` all the time."""
    with subprocess.Popen([sys.executable, "-c", _EXCHANGES, place], stdout=subprocess.PIPE) as racer:
        try:
            if racer.stdout:
                racer.stdout.readline()
            yield
        finally:
            racer.kill()


async def races(attempts: int, *, with_door: bool) -> int:
    """Return in how many attempts a file of the user's home became an object of the repository."""
    got = 0
    with ground() as folder:
        trusted, door, place = await opened(folder)
        (place / "link").symlink_to(folder / "home")
        name = _blob(KEPT).hex()
        stored = folder / "repository" / ".git" / "objects" / name[:2] / name[2:]
        with exchanging(place):
            for number in range(attempts):
                (place / f"new-{number}").write_text(str(number))  # so that git has something to do
                with trusting(trusted), living(place, folder / "none"):
                    async with through(door if with_door else None):
                        with suppress(GitError):  # a folder was a link in the middle of it
                            await snapshot(place)
                got += stored.exists()
                stored.unlink(missing_ok=True)
    return got


async def index_names_refused(names: Sequence[str] = INDEX_NAMES) -> int:
    """Return how many names in an index that an agent left lead to no entry of the tree that sq takes."""
    refused = 0
    for name in names:
        with ground() as folder:
            trusted, door, place = await opened(folder)
            (trusted.git_dir(place) / "index").write_bytes(index_with(name.encode()))
            (place / "way" / "key").write_text("other\n")
            with trusting(trusted):
                async with through(door):
                    try:
                        tree = await snapshot(place)
                    except GitError:
                        tree = ""
            refused += not tree or _names_of(folder / "repository", tree) <= {"way/key"}
    return refused


def index_with(name: bytes) -> bytes:
    """Return an index of version 2 with one entry of this name, which git does not check when it reads it."""
    entry = b"\0" * 24 + (0o100644).to_bytes(4) + b"\0" * 12 + _blob(KEPT) + min(len(name), 0xFFF).to_bytes(2)
    entry += name + b"\0" * (8 - (len(entry + name) % 8))
    content = b"DIRC" + (2).to_bytes(4) + (1).to_bytes(4) + entry
    return content + hashlib.sha1(content).digest()  # noqa: S324  git's


def _blob(content: bytes) -> bytes:
    return hashlib.sha1(b"blob %d\0%b" % (len(content), content)).digest()  # noqa: S324  git's


def _names_of(repository: Path, tree: str) -> set[str]:
    words = ["git", "ls-tree", "-r", "-z", "--name-only", tree]
    done = subprocess.run(words, cwd=repository, capture_output=True, check=True)
    return {one.decode(errors="replace") for one in done.stdout.split(b"\0") if one}


async def claim_ms(files: int, times: int, *, with_door: bool) -> float:
    """Return the median of so many snapshots of a worktree with so many files, in milliseconds."""
    took = []
    with ground() as folder:
        trusted, door, place = await opened(folder)
        for number in range(files):
            (place / f"file-{number}.py").write_text(f"number = {number}\n")
        with trusting(trusted), living(place, folder / "none"):
            async with through(door if with_door else None):
                await snapshot(place)
                for number in range(times):
                    (place / "file-0.py").write_text(f"number = {-number}\n")
                    began = time.perf_counter()
                    await snapshot(place)
                    took.append((time.perf_counter() - began) * 1000)
    return statistics.median(took)


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What traced runs did: `outside`, the paths that were opened there, and the questions asked `inside`."""

    outside: set[str] = field(default_factory=set)
    inside: set[str] = field(default_factory=set)


def reads_outside() -> Looked | None:
    """Return what was read of agents' folders while a session lived, and where."""
    if not shutil.which("strace"):
        return None
    found = Looked()
    for callers, words in ((conflict(), []), (in_the_checkout(), ["--no-worktrees", "--allow-dirty"])):
        with ground() as folder:
            lines = traced(folder, callers, words)
        found.outside.update(opened_outside(lines))
        found.inside.update(one[1] for line in lines if (one := _ASKED.search(line)))
    return found


def traced(folder: Path, callers: Mapping[str, Any], more: Sequence[str]) -> list[str]:
    """Return the trace of a run in a ground."""
    (folder / "spec.md").write_text("# Words\n\nWrite clash.txt.\n")
    (folder / "scenario.yaml").write_text(yaml.safe_dump({"scenario": 1, "callers": callers}))
    (folder / "repository" / "sq.toml").write_text(_SETTINGS)
    (folder / "repository" / ".gitignore").write_text("ready\nsq.toml\n.gitignore\n")
    (folder / "repository" / "way" / "key").write_text("a line of the user's\n")
    words = ["run", "--spec", "../spec.md", "--rehearse", "../scenario.yaml", "--verify", "true", "--plain"]
    done = subprocess.run(
        [
            *("strace", "-f", "-y", "-s", "4000", "--pidns-translation", "-o", str(folder / "trace")),
            *("-e", "trace=open,openat,openat2,execve,clone,clone3,fork,vfork", "-v"),
            *(sys.executable, "-I", "-m", "orchestrator.cli", *words, *more),
        ],
        cwd=folder / "repository",
        env={**os.environ, "HOME": str(folder / "home"), "CLAUDE_CONFIG_DIR": str(folder / "claude")},
        capture_output=True,
        text=True,
        timeout=1_800,
        check=False,
    )
    if "exit code 0" not in done.stdout:
        sys.exit(f"the traced run did not end complete:\n{done.stdout[-3000:]}{done.stderr[-1000:]}")
    return (folder / "trace").read_text(errors="replace").splitlines()


def conflict() -> Mapping[str, Any]:
    """Return the callers of two tasks that write one file, and leave what git cannot take in.

    One nearly fills its total, and leaves more than git reads in time. A review sends it back.
    """
    scripted = of_tests("language.scripted")
    told = dict(of_tests("language.many_tasks").callers_of("eel", "fox"))
    for name, command in (("eel", _LARGE), ("fox", _FULL)):
        work, leaves = scripted.writes("clash.txt", f"{name}\n"), _shell(f"{_HOSTILE}; {command}")
        tidies = _shell("rm -rf huge-* a pipe")
        told[f"worker/{name}/1"] = [work, leaves, scripted.completes(), tidies, *[scripted.completes()] * 4]
    resolved = scripted.signals("conflict_resolved", summary="Both.")
    told["judge/*"] = [scripted.SATISFIED]
    told["resolver/*"] = [scripted.writes("clash.txt", "both\n"), resolved]
    return told


def in_the_checkout() -> Mapping[str, Any]:
    """Return the callers of a task that is built beside the user's work, and changes that once."""
    scripted = of_tests("language.scripted")
    changes = _shell("rm way/key && rmdir way && ln -s ../home way")
    replies = [changes, scripted.writes("notes.txt", "A line.\n"), *[scripted.completes()] * 3]
    return dict(scripted.whole_run(worker=replies))


def _shell(command: str) -> Any:  # noqa: ANN401  of the tests
    scripted = of_tests("language.scripted")
    return scripted.says(scripted.call("Bash", command=command, timeout=60_000))


def opened_outside(lines: Sequence[str]) -> set[str]:
    """Return the paths that a trace shows, below a worktree in which Claude Code is at work.

    A child's first lines may stand before the line in which its parent learns of it.
    """
    calls = list[tuple[tuple[int, int], str]]()
    ended, parents = Counter[int](), dict[tuple[int, int], tuple[int, int]]()
    for line in lines:  # a number is given to another process later
        first, _, rest = line.partition(" ")
        process = int(first), ended[int(first)]
        calls.append((process, rest.lstrip()))
        if made := _MADE.search(rest):
            child = int(made[2] or made[1])
            parents[child, ended[child]] = process
        ended[process[0]] += calls[-1][1].startswith("+++")
    sandboxes, living_in, found = set[tuple[int, int]](), dict[tuple[int, int], str](), set[str]()

    def is_inside(process: tuple[int, int]) -> bool:
        while process not in sandboxes:
            if process not in parents:
                return False
            process = parents[process]
        return True

    for process, rest in calls:
        if rest.startswith("execve(") and rest.split(",")[0].endswith('/bwrap"'):
            sandboxes.add(process)
            words = rest.partition("], [")[0]  # without the environment
            if (chdir := _CHDIR.search(words)) and '/claude"' in words.rsplit('"--"', 1)[-1]:
                living_in[process] = chdir[1]
        if rest.startswith("+++"):
            living_in.pop(process, None)
        asked = _OPENS.search(rest) if living_in and not is_inside(process) else None
        path = str(Path(asked[1] or "/", asked[2])) if asked else ""
        found |= {path for place in living_in.values() if _is_the_agents(path, place)}
    return found


def _is_the_agents(path: str, place: str) -> bool:
    below = path.removeprefix(place)
    return (
        below != path
        and (not below or below.startswith("/"))
        and not f"{below}/".startswith(("/.git/", "/.sq/"))
    )


@click.command()
@click.option("--quick", is_flag=True, help="Fewer attempts, and no trace of a whole run.")
def main(*, quick: bool) -> None:
    """Measure the door."""
    if not shutil.which(PROGRAM):
        sys.exit("the door is a sandbox of bubblewrap, and `bwrap` is not on PATH: install bubblewrap")
    attempts, times = (20, 5) if quick else (200, 20)
    figures: dict[str, Any] = {
        "attempts": attempts,
        "foreign_objects": anyio.run(lambda: races(attempts, with_door=True)),
        "foreign_objects_outside": anyio.run(lambda: races(attempts, with_door=False)),
        "index_names": len(INDEX_NAMES),
        "index_names_refused": anyio.run(index_names_refused),
    }
    inside = anyio.run(lambda: claim_ms(2_000, times, with_door=True))
    outside = anyio.run(lambda: claim_ms(2_000, times, with_door=False))
    figures |= {"claim_ms": round(inside, 1), "claim_outside_ms": round(outside, 1)}
    figures["door_claim_ms"] = round(inside - outside, 1)
    reads = None if quick else reads_outside()
    figures["live_reads_outside"] = None if reads is None else len(reads.outside)
    figures["live_questions"] = None if reads is None else sorted(reads.inside)
    for name, value in figures.items():
        print(f"{name:<28} {value}")
    for path in sorted(reads.outside) if reads else ():
        print(f"  opened outside: {path}")
    print(json.dumps(figures))
    held = not figures["foreign_objects"] and figures["index_names_refused"] == len(INDEX_NAMES)
    if not held or figures["door_claim_ms"] > _MOST_MS or (reads and reads.outside):
        sys.exit(1)


if __name__ == "__main__":
    main()
