"""Evidence for promises, which sq itself collects on the present tree of a project.

Commands run as their author wrote them, without the secrets in the environment and without variables that
define functions for `sh`. The rest of the environment is the caller's, also `PATH`, so the caller decides
which program a command's name starts.

When the tree's hash changes, earlier checks do not count any more. In a checkout it covers everything that
git would commit now. A temporary index and object store are used, so nothing is staged and nothing is left in
the repository. sq's own state below `.claude/`, files that git ignores, caches of tools and the inside of
submodules are left out. Without git it covers the names, modes, sizes and times of all files.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path

import anyio.lowlevel

from agents.process.containment import Containment, detect_containment
from agents.process.tree import run_command
from orchestrator.gates.promises import (
    CriterionCheck,
    Promise,
    PromiseCriterion,
    PromiseEvidence,
    is_plain_path,
    now_text,
)
from orchestrator.git.command import add_all, git, git_path
from orchestrator.git.held import held_git
from orchestrator.git.repository import Repository, ignore_locally
from state.errors import GitError, UsageError
from state.redaction.redactor import redactor
from state.secrets import without_secrets

OUTPUT_KEPT = 4000  # bytes of a command's output, its end
_UNWANTED = ("BASH_ENV", "ENV", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")  # lead `sh` and git elsewhere
_MOVED = "the tree changed while it ran. Check again, and have git ignore the files that it writes"
_OWN_STATE = (".claude/completion-state", ".claude/runtime")


async def promise_base(home: Path) -> str:
    """The commit that a promise is made on, or "" without git or without a commit."""
    if not has_git(home):
        return ""
    try:
        with held_git(home):
            return await git(home, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    except GitError:
        return ""


async def keep_out_of_git(home: Path, folder: Path) -> None:
    """Make git ignore the promises, by `info/exclude`. A checkout where that fails is left as it is."""
    with suppress(OSError, GitError, ValueError):
        if has_git(home):
            top = Path(os.path.realpath(home))
            with held_git(top):
                await ignore_locally(Repository(root=top, head=None, branch=None), folder)


def refuse_uncheckable(home: Path, criteria: Sequence[PromiseCriterion]) -> None:
    """Raise `UsageError` for criteria that this project could never meet.

    Raises:
        UsageError: a commit without git, or a path that a link leads out of the project.
    """
    for one in criteria:
        if one.kind is CriterionCheck.COMMIT and not has_git(home):
            raise UsageError(f"{home} is no git repository, so no commit can show {one.text!r}")
        if one.kind is CriterionCheck.FILE and not _is_inside(home, home / one.target):
            raise UsageError(f"{one.target!r} leads out of {home} by a link")


async def evidence_now(home: Path, promise: Promise, numbers: Sequence[int]) -> dict[int, PromiseEvidence]:
    """Check these criteria (counted from 1), one after the other, and record the tree of each check.

    A command during which the tree changes proves nothing, since it is unknown which tree it saw.

    Raises:
        GitError: git cannot read the tree.
        UsageError: `SQ_CONTAINMENT` names an unknown way.
    """
    found = {}
    containment = detect_containment()
    tree = await present_tree(home)
    for number in numbers:
        criterion = promise.criteria[number - 1]
        match criterion.kind:
            case CriterionCheck.COMMAND:
                evidence = await _command(home, criterion, tree, containment)
                now = await present_tree(home)
                if evidence.passed and now != tree:
                    evidence = replace(evidence, passed=False, output=f"{_MOVED}\n{evidence.output}")
                tree = now
            case CriterionCheck.FILE | CriterionCheck.COMMIT:
                evidence = _evidence(tree, problem=await _problem(home, promise, criterion))
        found[number] = evidence
    return found


async def unproven(home: Path, promise: Promise, tree: str) -> dict[int, str]:
    """The criteria not known to be met on this tree: their numbers, each with the cause.

    Files and commits are checked now, commands need evidence.
    """
    stale = promise.unproven(tree)
    found = {}
    for number, criterion in enumerate(promise.criteria, 1):
        if promise.is_altered:
            why = "the promise was changed after it was made"
        elif criterion.kind is CriterionCheck.COMMAND:
            why = _why(promise, number) if number in stale else ""
        else:
            why = await _problem(home, promise, criterion)
        if why:
            found[number] = why
    return found


def _why(promise: Promise, number: int) -> str:
    evidence = promise.evidence[number - 1]
    if evidence is None:
        return "not checked yet"
    if not promise.is_genuine(number):
        return "its evidence was not written by a check"
    if not evidence.passed:
        said = evidence.output.partition("\n")[0]
        if evidence.exit_code:
            said = f"exit code {evidence.exit_code}"
        return f"failed when it was last checked: {said}"
    return "the tree has changed since it was checked"


async def _problem(home: Path, promise: Promise, criterion: PromiseCriterion) -> str:
    """Return why a file or a commit counts as missing, or "" if it is there."""
    if criterion.kind is CriterionCheck.FILE:
        path = home / criterion.target
        if not is_plain_path(criterion.target) or not _is_inside(home, path):
            return f"{criterion.target} is not inside the project"
        return "" if os.path.isfile(path) else f"there is no file {criterion.target}"  # noqa: PTH113  raises for no path
    try:
        return "" if await _has_commit(home, promise, criterion.target) else "there is no such commit yet"
    except GitError as error:
        return f"the commits cannot be read: {error}"


async def _has_commit(home: Path, promise: Promise, words: str) -> bool:
    """Whether the current branch has a commit made since the promise whose message holds these words."""
    if not has_git(home) or not await promise_base(home):
        return False
    span = f"{promise.base}..HEAD" if promise.base else "HEAD"
    since = datetime.fromisoformat(promise.created_at).timestamp()
    with held_git(home):
        log = await git(home, "log", "-z", "--format=%ct %B", "--end-of-options", span)
    for entry in log.split("\0"):
        made, _, message = entry.partition(" ")
        if made.isdecimal() and int(made) >= since and words.casefold() in message.casefold():
            return True
    return False


async def _command(
    home: Path, criterion: PromiseCriterion, tree: str, containment: Containment
) -> PromiseEvidence:
    result = await run_command(
        ["/bin/sh", "-c", criterion.target],
        cwd=home,
        env=_environment(os.environ),
        deadline_s=criterion.deadline_s,
        containment=containment,
        output_limit=OUTPUT_KEPT,
    )
    output = redactor(os.environ)(result.output)
    if result.timed_out or result.error:
        problem = f"did not end within {criterion.deadline_s:g} s"
        problem = problem if result.timed_out else f"could not start: {result.error}"
        return _evidence(tree, problem=f"{problem}\n{output}".strip())
    return PromiseEvidence(
        tree=tree, passed=result.exit_code == 0, exit_code=result.exit_code, output=output, at=now_text()
    )


def _evidence(tree: str, *, problem: str) -> PromiseEvidence:
    return PromiseEvidence(tree=tree, passed=not problem, exit_code=None, output=problem, at=now_text())


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    plain = {
        name: value
        for name, value in without_secrets(environ).items()
        if name not in _UNWANTED and not name.startswith("BASH_FUNC_")  # a function that replaces a command
    }
    return {**plain, "PYTHONDONTWRITEBYTECODE": "1"}


def _is_inside(home: Path, path: Path) -> bool:
    try:
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(home))
    except (OSError, ValueError):
        return False


async def present_tree(home: Path) -> str:
    """The hash of everything in the project now, `git:…` or `files:…`.

    Raises:
        GitError: git cannot read the tree.
    """
    return f"git:{await _git_tree(home)}" if has_git(home) else f"files:{await _hash_of_files(home)}"


def has_git(home: Path) -> bool:
    """Whether the project is a checkout of git."""
    return os.path.exists(home / ".git")  # noqa: PTH110  raises for no path


async def _git_tree(home: Path) -> str:
    ignored = await _ignored(home)  # by the user's own settings
    with tempfile.TemporaryDirectory(prefix="sq-tree-") as made, held_git(home):
        folder = Path(made)
        objects = folder / "objects"
        objects.mkdir()
        index, own_objects = await git_path(home, "index"), await git_path(home, "objects")
        with suppress(FileNotFoundError):  # its cache saves reading every file, and git needs its time
            shutil.copy2(index, folder / "index")
        environment = {
            "GIT_INDEX_FILE": str(folder / "index"),
            "GIT_OBJECT_DIRECTORY": str(objects),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(own_objects),
        }
        (folder / "ignored").write_bytes(ignored)
        settings = [
            f"core.excludesFile={folder / 'ignored'}",
            "core.looseCompression=0",
            "core.splitIndex=false",
        ]
        without = [f":(exclude,top,glob)**/{path}/**" for path in _OWN_STATE]
        await add_all(home, "--", ":/", *without, settings=settings, environment=environment)
        tracked = [f":(top,glob)**/{path}/**" for path in _OWN_STATE]
        remove = ("rm", "-r", "--cached", "--quiet", "--force", "--ignore-unmatch", "--", *tracked)
        await git(home, *remove, environment=environment)
        return await git(home, "write-tree", "--missing-ok", environment=environment)


async def _ignored(home: Path) -> bytes:
    """The user's own ignore patterns, and those of files that tools leave behind."""
    try:
        own = Path(await git(home, "config", "--global", "--type=path", "--get", "core.excludesFile"))
    except GitError:  # not set
        config = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111  raises for no home
        own = Path(config) / "git" / "ignore"
    text = b""
    with suppress(OSError, ValueError):
        text = (home / own).read_bytes() + b"\n"
    return text + _junk().encode()


def _junk() -> str:
    return (files("orchestrator.git") / "junk.gitignore").read_text("utf-8")


def _quoted(path: Path) -> str:
    """A path in a list that git reads: quoted as in C, since it may hold a colon."""
    text = str(path).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'


async def _hash_of_files(home: Path) -> str:
    junk = [line.rstrip("/") for line in (*_junk().splitlines(), ".git") if line and not line.startswith("#")]
    digest = hashlib.sha256()
    for folder, inner, names in os.walk(home):
        await anyio.lowlevel.checkpoint()  # a caller's deadline holds between two folders
        inner[:] = sorted(name for name in inner if not _is_left_out(Path(folder, name), home, junk))
        for name in sorted(names):
            path = Path(folder, name)
            if _is_left_out(path, home, junk):
                continue
            with suppress(OSError):
                found = path.lstat()
                told = f"{path.relative_to(home)}\0{found.st_mode}\0{found.st_size}\0{found.st_mtime_ns}\0"
                digest.update(os.fsencode(told))
    return digest.hexdigest()


def _is_left_out(path: Path, home: Path, junk: Sequence[str]) -> bool:
    return path.relative_to(home).as_posix() in _OWN_STATE or any(fnmatchcase(path.name, one) for one in junk)
