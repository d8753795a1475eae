"""A bench made by hand, and changes of a small project: no run, no task, no agent and no journal."""

import math
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio

from orchestrator.checks.bench import Bench, Ran, ScratchWorktree
from orchestrator.checks.change import Baseline, Change
from orchestrator.checks.comparison import ResultComparison
from orchestrator.checks.results.baseline import checks_on, with_canary
from orchestrator.checks.results.commands import results_of, runs_again
from orchestrator.checks.results.side_by_side import compared_on
from orchestrator.checks.results.verdict import Judged, judged_all
from orchestrator.git.workspace import show_tree
from orchestrator.project.runners.suite import suite_of
from state.records.commands import CommandRun

UNITTEST, RUFF = "python3 -m unittest -v", "ruff check ."
_NOT_STARTED = 126


@dataclass(slots=True, kw_only=True)
class PlainCommands:
    """Runs commands with a shell, and notes each."""

    environ: Mapping[str, str]
    seconds: float = 0.0
    ran: list[str] = field(default_factory=list)

    async def whole(
        self,
        command: str,
        folder: Path,
        *,
        environment: Mapping[str, str] | None = None,
        told_as: str = "",
        within_s: float = math.inf,
        **_: object,
    ) -> Ran:
        begun, code, output = time.monotonic(), None, ""
        with anyio.move_on_after(within_s):
            done = await anyio.run_process(
                ["/bin/sh", "-c", command],
                cwd=folder,
                env={**self.environ, **(environment or {})},
                stderr=subprocess.STDOUT,
                check=False,
            )
            code, output = done.returncode, done.stdout.decode(errors="replace")
        took, lacks = time.monotonic() - begun, code is not None and code >= _NOT_STARTED
        self.seconds += took
        self.ran.append(command)
        run = CommandRun(
            command=told_as or command,
            exit_code=None if lacks else code,
            seconds=took,
            output_tail=output[-4_000:],
            problem=f"could not start: {output}" if lacks else "",
            timed_out=code is None,
        )
        return Ran(run=run, output=output, exit_code=code)


@dataclass(slots=True, kw_only=True)
class PlainPlaces:
    """Scratch worktrees below a folder, without any set-up."""

    repository: Path
    root: Path
    base: str
    free: list[Path] = field(default_factory=list)
    made: int = 0

    @asynccontextmanager
    async def __call__(self, tree: str, *, afresh: bool = False) -> AsyncIterator[ScratchWorktree]:
        if afresh or not self.free:
            self.made += 1
            self.free.append(self.root / f"verify.{self.made}")
        folder = self.free.pop()
        await show_tree(self.repository, folder, tree, base=self.base)
        try:
            yield ScratchWorktree(folder=folder, tree=tree, environment={})
        finally:
            self.free.append(folder)


async def none() -> bool:
    return False


@dataclass(slots=True, kw_only=True)
class Workshop:
    """A repository and a bench for it, made by hand."""

    repository: Path
    root: Path
    bench: Bench
    commands: PlainCommands

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.repository, capture_output=True, text=True, check=True, errors="replace"
        )
        return done.stdout.strip()

    def commit(self, files: Mapping[str, str | bytes | None], links: Mapping[str, str] | None = None) -> str:
        """Commit files, with None for one that goes, and links. Return the tree."""
        for name, content in files.items():
            path = self.repository / os.fsdecode(name)
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        for name, target in (links or {}).items():
            (self.repository / name).symlink_to(target)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "Files")
        return self.git("rev-parse", "HEAD^{tree}")

    async def change(self, base: str, tree: str, command: str = UNITTEST, **more: object) -> Change:
        """Return a work between two trees, with what the command says at the base."""
        bare, bench = Change(repository=self.repository, base=base, tree=base), self.bench
        async with bench.scratch(base) as scratch:
            (check,) = await checks_on(bench, self.repository, scratch, {command: "--verify"})
            suite = suite_of(command, scratch.folder)
        check = await with_canary(bare, bench, check, suite)
        baseline = Baseline(tree=base, checks={command: check}, verify=(command,))
        return replace(Change(repository=self.repository, base=base, tree=tree, baseline=baseline), **more)

    async def results(self, change: Change, command: str = UNITTEST) -> list[Judged]:
        """Return what the command says on the tree of a change."""
        async with self.bench.place(self.repository, change.tree) as scratch:
            runs = await results_of(change, self.bench, scratch, [command])
            again = [one for done in runs for one in await runs_again(change, self.bench, scratch, done)]
        return judged_all(change.baseline.checks, runs, reruns=again)

    async def compared(self, change: Change, command: str = UNITTEST) -> ResultComparison:
        """Return the command on the tree of a change, compared with its base."""
        (result,) = await self.results(change, command)
        return await compared_on(change, self.bench, result.run)


def workshop(repository: Path, root: Path) -> Workshop:
    """Return a workshop for a repository with one commit."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    commands = PlainCommands(environ={**os.environ, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"})
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=repository, capture_output=True, text=True, check=True
    )
    places = PlainPlaces(repository=repository, root=root, base=head.stdout.strip())
    bench = Bench(commands=commands, scratch=places, have_outputs=none)
    return Workshop(repository=repository, root=root, bench=bench, commands=commands)
