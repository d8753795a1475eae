"""The bench on which a work is tried: places that show a tree, commands, and what is known of both."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Protocol

from state.records.commands import CommandRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A command that was run: its stored record, its whole output, and the shell's exit code."""

    run: CommandRun
    output: str
    exit_code: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchWorktree:
    """A folder that holds a tree, with the variables that commands in it need, and the key of its set-up."""

    folder: Path
    tree: str
    environment: Mapping[str, str]
    set_up: str = ""


class Commands(Protocol):
    """Runs commands of the project."""

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment of sq itself."""
        ...

    @property
    def seconds(self) -> float:
        """The time that all commands took in this process."""
        ...

    async def whole(
        self,
        command: str,
        folder: Path,
        *,
        environment: Mapping[str, str] | None = None,
        told_as: str = "",
        like: str = "",
        reports: Path | None = None,
        readable: Sequence[Path] = (),
        plainly: bool = False,
        is_evidence: bool = False,
        alone: bool = False,
        within_s: float = inf,
    ) -> Ran:
        """Run one command to its end or its limit, in a sandbox if there is one, when its turn comes.

        A failure of evidence that others may have caused counts only after it failed alone.

        Args:
            command: a line for the shell.
            folder: the folder to run it in.
            environment: variables beside those of sq's own environment, of which the secrets are left out.
            told_as: the command that is recorded, if the one that is run has options for reporting added.
            like: the command whose result at the base sets the limits, if it is a part of that one.
            reports: the folder for its reports. It is emptied before a second try.
            readable: further folders that the command reads.
            plainly: without variables of sq's, and in a sandbox with a home that holds the usual files.
            is_evidence: its failure speaks against the work.
            alone: no other command runs beside it.
            within_s: it is ended after so many seconds, whatever its other limits are.
        """
        ...


class ScratchPlaces(Protocol):
    """Gives folders for commands on a tree. `afresh`: without what commands have left there."""

    def __call__(self, tree: str, *, afresh: bool = False) -> AbstractAsyncContextManager[ScratchWorktree]:
        """Yield such a folder, ready for commands, until the context is left.

        Raises:
            GitError: git cannot put the tree into a folder.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The means to try a work.

    `scratch` gives places of sq's own, and `have_outputs` says whether commands have left something in them
    that a later one may find. `has_places`: the verification runs there too, else in the checkout.
    `look_again`: the next use of a place looks after its set-up. After `within_s` seconds of commands no
    further question is asked, but for those of the checks in `needed`. `answered` are results of this
    process, by tree, command and files of tests. `settings` are words on the sandbox and the set-up, and
    `included` patterns of the user's ignored files that places get, below the state folder none: these
    decide results beside the files of a tree.
    """

    commands: Commands
    scratch: ScratchPlaces
    have_outputs: Callable[[], Awaitable[bool]]
    look_again: Callable[[Path], None] = lambda _: None
    has_places: bool = True
    within_s: float = inf
    needed: frozenset[str] = frozenset()
    answered: dict[tuple[str, str, tuple[str, ...]], CommandRun] = field(default_factory=dict)
    settings: str = ""
    included: tuple[str, ...] = ()
    state: Path | None = None

    @property
    def has_time(self) -> bool:
        """Whether the commands have left seconds for a further question."""
        return self.commands.seconds <= self.within_s

    def asks(self, check: str) -> bool:
        """Whether the questions of a check are asked now."""
        return self.has_time or check in self.needed

    @asynccontextmanager
    async def place(self, checkout: Path, tree: str) -> AsyncIterator[ScratchWorktree]:
        """Yield the place of a verification: a scratch, or the checkout that shows the tree."""
        if not self.has_places:
            yield ScratchWorktree(folder=checkout, tree=tree, environment={})
            return
        async with self.scratch(tree) as scratch:
            yield scratch
