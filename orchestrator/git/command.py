"""Git commands: run, checked, with sq's identity, without the user's hooks, and staging a whole worktree."""

import os
import re
import secrets
import subprocess
import tempfile
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Protocol

import anyio
from anyio import to_thread

from agents.process.sandbox.inside import told
from agents.process.to_end import run_to_end
from orchestrator.git.held import held_now
from orchestrator.git.pinned_config import trusted_now
from state.errors import GitError
from state.paths import SCRATCH
from state.secrets import without_secrets

NAME, EMAIL = "sq", "sq@localhost"
IGNORES = "sq-ignores"  # in sq's common folder of a run
DEADLINE_S = 120.0
_ASKING_S = 3.0  # where the user keeps what to ignore
_LARGEST_IGNORES = 1_000_000  # bytes
# Hooks are the user's, for the user's commits. Signing would ask for a passphrase and wait. Submodules have
# settings of their own, by which programs could be run.
_SETTINGS = (
    *("core.hooksPath=/dev/null", "commit.gpgSign=false", "gc.auto=0", "core.fsmonitor=false"),
    "submodule.recurse=false",
)
_LOCATION = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_COMMON_DIR",
    "GIT_PREFIX",
    "GIT_ATTR_SOURCE",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
)
_LINK = "160000"
_LINK_MODE, _SPLIT = int(_LINK, 8).to_bytes(4), b"link"  # in the bytes of an index
_NAME = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_OF_OBJECT = re.compile(rf"{_NAME.pattern}(?:\^{{tree}})?")
_answers: OrderedDict[tuple[str, ...], bytes] = OrderedDict()  # what objects never answer otherwise
_ANSWERS_KEPT, _LARGEST_KEPT = 64, 1_000_000
_SHA256 = 64  # characters of a name
_CONFIG = "[core]\n\trepositoryformatversion = {version}\n\tbare = true\n{more}"
_PLAIN = ("--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none")
_OURS = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
}


# These look at refs and objects by name, and at nothing in a worktree (unless by `_BY_ATTRIBUTES`).
_BY_NAME = frozenset(
    {
        *("rev-parse", "update-ref", "symbolic-ref", "show-ref", "for-each-ref", "merge-base", "rev-list"),
        *("commit-tree", "cat-file", "ls-tree", "mktree", "diff-tree", "log", "config", "hash-object"),
        *("worktree", "branch", "remote"),
    }
)
_BY_ATTRIBUTES = "--filters"  # of `cat-file`: as the attributes in the worktree say


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitStyle:
    """How the commits of a run are made: by whom, with which title, and whether they are signed."""

    name: str = NAME
    email: str = EMAIL
    title: str = "{title}"
    sign: bool = False

    @property
    def options(self) -> tuple[str, ...]:
        """The options of `git commit-tree`."""
        return ("-S",) if self.sign else ()


commit_style: ContextVar[CommitStyle] = ContextVar("commit_style", default=CommitStyle())  # noqa: B039  frozen


class Door(Protocol):
    """The door through which git reads what an agent can still change (`orchestrator.run.places.door`)."""

    async def run(
        self, place: Path, command: Sequence[str], environment: Mapping[str, str], stdin: bytes
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a git command on an agents' place.

        Raises:
            GitError: what it made is not taken over.
            OSError: it cannot be run.
        """
        ...

    async def told(
        self, question: str, place: Path, words: Sequence[str], given: bytes, *, writes: Sequence[Path]
    ) -> bytes:
        """Return an answer of `agents.process.sandbox.inside` about a place. It may write `writes`.

        Raises:
            OSError: it cannot be answered.
        """
        ...

    def index_folder(self, place: Path) -> Path:
        """Return the folder of the index files in which git stages a place's content."""
        ...

    async def close(self) -> None:
        """End what still runs."""
        ...


_door: ContextVar[Door | None] = ContextVar("door", default=None)


def door_now() -> Door | None:
    """Return the door of the run that the current task belongs to, or None if there is none."""
    return _door.get()


@asynccontextmanager
async def through(door: Door | None) -> AsyncIterator[None]:
    """Let every git command within the context that touches an agents' place go through this door."""
    token = _door.set(door)
    try:
        yield
    finally:
        _door.reset(token)
        if door:
            await door.close()


def door_to(folder: Path, arguments: Sequence[str] = ()) -> tuple[Door, Path] | None:
    """Return the door and the agents' place that a git command would touch, or None if it touches none.

    Scratch worktrees are none: no session works there, and commands have ended before git runs.
    """
    door, trusted = door_now(), trusted_now()
    if door is None or trusted is None:
        return None
    place = trusted.place_of(Path(os.path.abspath(folder)))  # noqa: PTH100  no link is followed
    if place is None or (trusted.worktrees and (place == trusted.root or place.name.startswith(SCRATCH))):
        return None
    if next(words_of(arguments), "") in _BY_NAME and _BY_ATTRIBUTES not in arguments:
        return None
    return door, place


async def told_of(
    folder: Path, question: str, *words: str, given: bytes = b"", writes: Sequence[Path] = ()
) -> bytes:
    """Return an answer of `agents.process.sandbox.inside`, by the door's sandbox if agents write the folder.

    `writes` are the folders that are written for it.

    Raises:
        OSError: it cannot be answered.
    """
    if touched := door_to(folder):
        door, place = touched
        if place == folder:
            return await door.told(question, place, words, given, writes=writes)
    return await to_thread.run_sync(told, question, [str(folder), *words], given)


def words_of(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the words of a git command that begins with its options: the subcommand, and what follows."""
    rest = iter(arguments)
    for one in rest:
        if one in {"-c", "-C"}:
            next(rest, "")
        elif not one.startswith("-"):
            yield one
            yield from rest


def git_environment(extra: Mapping[str, str] | None = None, *, folder: Path | None = None) -> dict[str, str]:
    """Return the environment of sq's git commands: its own identity, no prompts, no inherited location.

    `folder`: the folder that git works in. In a run, git is given its folders by name (`trusted`).

    Raises:
        GitError: the folder cannot be trusted.
    """
    inherited = {name: value for name, value in without_secrets(os.environ).items() if name not in _LOCATION}
    trusted = trusted_now() if folder else None
    if folder and trusted:
        inherited |= trusted.environment(folder) | {
            "PATH": trusted.programs(inherited.get("PATH", os.defpath))
        }
    return {
        **inherited,
        "PYTHONSAFEPATH": "1",  # a driver that is a Python module is not taken from the tree
        "GIT_AUTHOR_NAME": (by := commit_style.get()).name,
        "GIT_AUTHOR_EMAIL": by.email,
        "GIT_COMMITTER_NAME": by.name,
        "GIT_COMMITTER_EMAIL": by.email,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "LC_ALL": "C.UTF-8",
        **(held_now() if folder and not trusted else {}),
        **(extra or {}),
    }


async def git(
    folder: Path,
    *arguments: str,
    stdin: str | None = None,
    settings: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> str:
    """Run `git -C folder …` and return its standard output without the last line's end.

    Raises:
        GitError: it failed or took longer than two minutes. Holds the command and git's message.
    """
    given = (stdin or "").encode()
    printed = await git_bytes(folder, *arguments, stdin=given, settings=settings, environment=environment)
    return printed.decode(errors="replace").rstrip("\n")


async def git_bytes(
    folder: Path,
    *arguments: str,
    stdin: bytes = b"",
    settings: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    with_settings: bool = True,
    deadline_s: float = DEADLINE_S,
) -> bytes:
    """As `git`, with standard input and output as bytes: for contents, and for names that are not UTF-8.

    `with_settings`: by sq's own settings too. At the deadline the error's cause is a `TimeoutError`.

    Raises:
        GitError: as `git`.
    """
    used = (*_SETTINGS, *settings) if with_settings else settings
    command = ["git", "-C", str(folder), *(part for one in used for part in ("-c", one)), *arguments]
    try:
        with anyio.fail_after(deadline_s):
            variables = git_environment(environment, folder=folder)
            if touched := door_to(folder, arguments):
                door, place = touched
                done = await door.run(place, command, variables, stdin)
            else:
                done = await run_to_end(command, stdin, variables)
    except TimeoutError as error:
        raise GitError(f"git {' '.join(arguments)} in {folder} took longer than {deadline_s:g} s") from error
    except OSError as error:
        raise GitError(f"git could not be run in {folder}: {error.strerror} (is git installed?)") from error
    if done.returncode:
        said = (done.stderr or done.stdout).decode(errors="replace").strip()
        raise GitError(f"git {' '.join(arguments)} in {folder} failed: {said}")
    return done.stdout


async def told_by_objects(folder: Path, *arguments: str) -> bytes:
    """As `git_bytes`, of the object that the last argument names. By its whole name it is asked once.

    Raises:
        GitError: as `git`.
    """
    if not _OF_OBJECT.fullmatch(arguments[-1]):
        return await git_bytes(folder, *arguments)
    return await _once(arguments, lambda: git_bytes(folder, *arguments))


async def _once(question: tuple[str, ...], ask: Callable[[], Awaitable[bytes]]) -> bytes:
    """Return the answer to a question that whole names of objects decide alone: it never changes."""
    if (answer := _answers.get(question)) is None:
        answer = await ask()
    if len(answer) <= _LARGEST_KEPT:
        _answers[question] = answer
        _answers.move_to_end(question)
    if len(_answers) > _ANSWERS_KEPT:
        _answers.popitem(last=False)
    return answer


async def compared(
    folder: Path, *command: str, of: Sequence[str], paths: Sequence[str] = (), settings: Sequence[str] = ()
) -> bytes:
    """Return the output of `git diff`, `git diff-tree` or `git show` as it is by bytes alone.

    Nothing that an agent or a user can write decides what it shows: git compares in an empty folder of sq's
    own, which has the objects of the repository and neither its attributes, its settings nor its files.

    Args:
        folder: the repository, or a worktree of it.
        command: the command and its options.
        of: the commits or trees.
        paths: only of these, all without any.
        settings: of git, for the form of the output.

    Raises:
        GitError: one of the objects is missing, or git does not answer.
    """
    names = [
        one if _NAME.fullmatch(one) else await git(folder, "rev-parse", "--verify", "--end-of-options", one)
        for one in of
    ]

    async def ask() -> bytes:
        common = git_environment(folder=folder).get("GIT_COMMON_DIR")
        path = ("rev-parse", "--path-format=absolute", "--git-path", "objects")
        objects = f"{common}/objects" if common else await git(folder, *path)
        with tempfile.TemporaryDirectory(prefix="sq-") as temporary:
            empty = Path(temporary)
            (empty / "refs").mkdir()
            (empty / "HEAD").write_text("ref: refs/heads/none\n")
            is_sha256 = len(names[0]) == _SHA256
            more = "[extensions]\n\tobjectFormat = sha256\n" if is_sha256 else ""
            (empty / "config").write_text(_CONFIG.format(version=int(is_sha256), more=more))
            return await git_bytes(
                empty,
                "--literal-pathspecs",
                *(command[0], *_PLAIN, *command[1:], *names, "--", *paths),
                settings=("core.attributesFile=/dev/null", *settings),
                environment={**_OURS, "GIT_DIR": temporary, "GIT_OBJECT_DIRECTORY": objects},
            )

    return await _once((*command, *settings, *names, "--", *paths), ask)


async def git_path(folder: Path, name: str) -> Path:
    """Return where git keeps a file of a repository or a worktree, such as its index."""
    return folder / await git(folder, "rev-parse", "--git-path", name)


async def git_succeeds(folder: Path, *arguments: str) -> bool:
    """Whether `git -C folder …` exits with 0."""
    try:
        await git(folder, *arguments)
    except GitError:
        return False
    return True


def git_version() -> str | None:
    """Return the version from `git --version`, or None without git."""
    try:
        done = subprocess.run(["git", "--version"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip().removeprefix("git version ") or None


@contextmanager
def ignoring_junk() -> Iterator[list[str]]:
    """Yield the setting that makes git ignore build leftovers, and what the user ignores everywhere.

    In a run that is the file that was written when it began (`write_ignores`).
    """
    trusted = trusted_now()
    if trusted and (known := trusted.folder / IGNORES).is_file():
        yield [f"core.excludesFile={known}"]
        return
    with tempfile.NamedTemporaryFile(prefix="sq-ignores-") as own:
        write_ignores(Path(own.name))
        yield [f"core.excludesFile={own.name}"]


def write_ignores(file: Path) -> None:
    """Write the patterns that the user ignores everywhere, then those of build leftovers, into a file.

    The settings of the repository are not read: an agent could name any file of the home there.
    """
    junk = (files("orchestrator.git") / "junk.gitignore").read_bytes()
    file.write_bytes(_users_ignores(*map(os.environ.get, ("HOME", "XDG_CONFIG_HOME"))) + junk)


@lru_cache
def _users_ignores(_home: str | None, config: str | None) -> bytes:
    """Return the content of the user's `core.excludesFile`, b"" without one."""
    asked = ["git", "config", "--global", "--path", "--get", "core.excludesFile"]
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            asked, env=git_environment(), capture_output=True, text=True, timeout=_ASKING_S, check=False
        )
        usual = Path(config or Path("~/.config").expanduser()) / "git" / "ignore"
        with Path(done.stdout.rstrip("\n") or usual).open("rb") as users:
            return users.read(_LARGEST_IGNORES) + b"\n"
    return b""


def _may_link(index: Path) -> bool:
    """Whether an index may hold a submodule: it has the bytes of that mode, or is split."""
    try:
        content = index.read_bytes()
    except OSError:
        return False
    return _LINK_MODE in content or _SPLIT in content


async def add_all(
    folder: Path,
    *options: str,
    settings: Sequence[str] = (),
    environment: Mapping[str, str],
    deadline_s: float = DEADLINE_S,
) -> None:
    """Stage every file of a worktree in the index that `environment` names.

    No git runs in the repositories inside it. `git add --all` runs `git status` in each submodule whose
    commit is the staged one, by the submodule's own settings, which an agent may have written. It does not
    if another commit is staged, and stages the commit that the submodule has.

    Raises:
        GitError: git cannot take something in.
    """
    listed = ""
    if _may_link(Path(environment["GIT_INDEX_FILE"])):
        listed = os.fsdecode(await git_bytes(folder, "ls-files", "--stage", "-z", environment=environment))
    entries = (entry.partition("\t") for entry in listed.split("\0") if entry.startswith(_LINK))
    links = {path: facts.split(" ")[1] for facts, _, path in entries}
    lines = [
        f"{_LINK} {secrets.token_hex(len(commit) // 2)}\t{path}\0"
        for path, commit in links.items()
        if os.path.lexists(folder / path / ".git")
    ]
    lines += await _given_up(folder, [path for path in links if not os.path.lexists(folder / path / ".git")])
    if lines:
        words, stdin = ("update-index", "-z", "--index-info"), os.fsencode("".join(lines))
        await git_bytes(folder, *words, stdin=stdin, environment=environment)
    add = ("add", "--all", *options)
    await git_bytes(folder, *add, settings=settings, environment=environment, deadline_s=deadline_s)


async def _given_up(folder: Path, links: Sequence[str]) -> list[str]:
    """Return lines that take links out of an index: to repositories made there whose `.git` is gone.

    git would go on to take their files for an uninitialised submodule.
    """
    filled = [path for path in links if (folder / path).is_dir() and any((folder / path).iterdir())]
    if not filled:
        return []
    told = os.fsdecode(await git_bytes(folder, "ls-tree", "-r", "-z", "--full-tree", "HEAD"))
    known = {entry.partition("\t")[2] for entry in told.split("\0") if entry.startswith(_LINK)}
    return [f"0 {'0' * 40}\t{path}\0" for path in filled if path not in known]
