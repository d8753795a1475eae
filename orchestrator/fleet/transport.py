"""Commits between a worker and the server of a repository. Git is the only way that work takes.

Below `refs/sq-fleet/ID/` a submission has `spec`, what was submitted, and `journal`, the newest checkpoint of
its run. Each push moves `journal` from the commit that this worker has put there, together with everything
else or not at all, so that a worker whose work was taken over pushes nothing.
"""

import hashlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog
from filelock import FileLock
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    retry_if_exception_type,
    stop_after_attempt,
    stop_before_delay,
    wait_chain,
    wait_fixed,
)

from agents.api_key import FILE, KEY, TOKEN
from orchestrator.git.command import git_environment
from orchestrator.hosting.remote import VARIABLES, service_host, tokens_of
from state.errors import GitError, SqError
from state.paths import SCRATCH
from state.secrets import secret_names

log = structlog.get_logger(__name__)

REFS = "refs/sq-fleet"
_DEADLINE_S, _TRANSFER_S = 120.0, 1800.0
_PAUSES_S = (0.2, 1, 3, 10, 30)  # between tries to reach a server. The last one repeats
_REFUSALS = 3  # of a push that the server could take, before it counts as final
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "gc.auto=0",
    "commit.gpgSign=false",
    "advice.pushUpdateRejected=false",
    "submodule.recurse=false",
    "http.followRedirects=false",  # git's helpers would be asked at the other host
    *("http.lowSpeedLimit=1", "http.lowSpeedTime=60"),  # a server that stands still is away
)
_FULL = re.compile(rb"No space left on device|Disk quota exceeded")
# No patience helps against a missing right, which git never asks for, or a missing commit.
_FINAL = re.compile(
    r"Authentication failed|could not read (?:Username|Password)|Permission denied \("
    r"|not our ref|unadvertised object"
)
DATABASE = "SQ_FLEET_DATABASE"
_NOT_FOR_GIT = (DATABASE, KEY, TOKEN, FILE)
_EPOCH = {"GIT_AUTHOR_DATE": "@0 +0000", "GIT_COMMITTER_DATE": "@0 +0000"}


class ClaimLostError(SqError):
    """Another worker has taken over this run: nothing more of it is pushed from here."""


class RemoteAwayError(SqError):
    """The git server does not answer."""


class UnfitHostError(SqError):
    """This host cannot work, by no fault of the run: another one has to go on."""


def journal_ref(id_: str) -> str:
    """Return the ref of the checkpoints of a submission's run."""
    return f"{REFS}/{id_}/journal"


def spec_ref(id_: str) -> str:
    """Return the ref of what was submitted."""
    return f"{REFS}/{id_}/spec"


def run_git(
    folder: Path,
    *arguments: str,
    stdin: bytes = b"",
    more: Mapping[str, str] | None = None,
    deadline_s: float = _DEADLINE_S,
) -> bytes:
    """Run `git -C folder …` and return its standard output.

    Raises:
        GitError: it failed, or was killed with all it had started at its deadline.
    """
    settings = [word for one in _SETTINGS for word in ("-c", one)]
    process = subprocess.Popen(
        ["git", "-C", str(folder), *settings, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=git_environment(more),
        start_new_session=True,
    )
    try:
        out, err = process.communicate(stdin, timeout=deadline_s)
    except BaseException as error:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            raise GitError(f"git {arguments[0]} took longer than {deadline_s:.0f} s") from error
        raise
    if process.returncode and _FULL.search(err):
        raise UnfitHostError(f"the disk is full: {err.decode(errors='replace').strip()[-200:]}")
    if process.returncode:
        raise GitError(f"git {arguments[0]} failed: {(err or out).decode(errors='replace').strip()}")
    return out


def git_line(folder: Path, *arguments: str, stdin: bytes = b"", more: Mapping[str, str] | None = None) -> str:
    """As `run_git`, for output that is one name."""
    return run_git(folder, *arguments, stdin=stdin, more=more).decode().strip()


def commit_of(folder: Path, tree: str, parents: Sequence[str], message: str) -> str:
    """Make a commit whose name follows from its content alone, and return its name."""
    named = [word for one in parents for word in ("-p", one)]
    return git_line(folder, "commit-tree", tree, *named, "-m", message, more=_EPOCH)


class GitServer:
    """The server of one repository, reached from a folder with a git repository."""

    def __init__(
        self, url: str, *, patience_s: float = 600.0, stopped: Callable[[], bool] = lambda: False
    ) -> None:
        """Prepare.

        Args:
            url: of the repository.
            patience_s: how long a server that does not answer is waited for.
            stopped: whether nobody waits for an answer any more.
        """
        self.url = url
        self._patience_s, self._stopped = patience_s, stopped

    def refs(self, *patterns: str) -> dict[str, str]:
        """Return the refs that fit, with what they name.

        Raises:
            RemoteAwayError: the server does not answer.
        """
        words = ("ls-remote", "--refs", "--", self.url, *patterns)
        out = self._patiently(lambda: run_git(Path("/"), *words, more=_rights(self.url)))
        lines = (line.split("\t") for line in out.decode().splitlines())
        return {name: commit for commit, name in lines}

    def default_branch(self) -> str:
        """Return the branch where HEAD of the server leads.

        Raises:
            RemoteAwayError: the server does not answer.
        """
        words = ("ls-remote", "--symref", "--", self.url, "HEAD")
        out = self._patiently(lambda: run_git(Path("/"), *words, more=_rights(self.url)))
        named = (line.split()[1] for line in out.decode().splitlines() if line.startswith("ref:"))
        return next(named, "main").removeprefix("refs/heads/")

    def fetch(self, folder: Path, *refspecs: str) -> None:
        """Fetch refs. One that is not there is an error.

        Raises:
            RemoteAwayError: the server does not answer, or lacks one.
        """
        options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--force", "--prune")
        words = ("fetch", *options, "--", self.url, *refspecs)
        self._patiently(lambda: run_git(folder, *words, more=_rights(self.url), deadline_s=_TRANSFER_S))

    def push(self, folder: Path, moves: Sequence[tuple[str, str, str]]) -> None:
        """Move refs, all or none: each as its name, its present commit ("": it is new), and the next.

        Raises:
            ClaimLostError: the first one has another commit: somebody else has taken over.
            RemoteAwayError: the server does not answer.
            GitError: it answers, and refuses.
        """
        leases = [f"--force-with-lease={ref}:{old}" for ref, old, _ in moves]
        specs = [f"{new}:{ref}" for ref, _, new in moves]
        words = ("push", "--quiet", "--atomic", "--no-follow-tags", *leases, "--", self.url, *specs)
        ref, old, new = moves[0]

        def once() -> None:
            try:
                run_git(folder, *words, more=_rights(self.url), deadline_s=_TRANSFER_S)
            except GitError as error:
                found = self.refs(ref).get(ref, "")
                if found == new:  # it was cut off after the server had taken it
                    return
                if found != old:
                    raise ClaimLostError(f"{ref} was moved by another worker") from error
                raise

        Retrying(
            retry=retry_if_exception_type(GitError),
            stop=stop_after_attempt(_REFUSALS),
            wait=wait_chain(*map(wait_fixed, _PAUSES_S[1:])),
            reraise=True,
        )(once)

    def _patiently(self, act: Callable[[], bytes]) -> bytes:
        retrying = Retrying(
            retry=retry_if_exception(self._may_pass),
            stop=stop_before_delay(self._patience_s),
            wait=wait_chain(*map(wait_fixed, _PAUSES_S)),
            before_sleep=_warn,
            reraise=True,
        )
        try:
            return retrying(act)
        except GitError as error:
            raise RemoteAwayError(f"{self.url} does not answer, or refuses: {error}") from error

    def _may_pass(self, error: BaseException) -> bool:
        return isinstance(error, GitError) and not (_FINAL.search(str(error)) or self._stopped())


def _warn(state: RetryCallState) -> None:
    log.warning("fleet.git_server.away", error=str(state.outcome.exception() if state.outcome else ""))


def _rights(url: str) -> dict[str, str]:
    """Return the secrets of the environment that git's helpers may need at a server, such as GITHUB_TOKEN.

    A submission names the server. So one that the host of this worker has not named gets none.
    """
    own = tokens_of(service_host(url), os.environ)
    if own is None:
        return {}
    never = {*_NOT_FOR_GIT, *VARIABLES} - {*own}
    return {name: os.environ[name] for name in secret_names(os.environ) if name not in never}


# --- what is submitted --------------------------------------------------------------------------------------


def offer(remote: GitServer, id_: str, files: Mapping[str, bytes], scratch: Path) -> None:
    """Push what a submission consists of. Several may do this at once: it is the same commit.

    `scratch`: a new folder.
    """
    git_line(scratch, "init", "--quiet", "--bare", ".")
    commit = commit_of(scratch, _tree_of(scratch, files), (), "A submission to a fleet of sq's")
    ref = spec_ref(id_)
    if remote.refs(ref).get(ref) != commit:
        try:
            remote.push(scratch, [(ref, "", commit)])
        except (ClaimLostError, GitError):
            if remote.refs(ref).get(ref) != commit:
                raise


def content_hash(files: Mapping[str, bytes]) -> str:
    """Return the SHA-256 of files and their names."""
    parts = (f"{name}\0{len(data)}\0".encode() + data for name, data in sorted(files.items()))
    return hashlib.sha256(b"".join(parts)).hexdigest()


def _tree_of(folder: Path, files: Mapping[str, bytes]) -> str:
    lines = [
        f"100644 blob {git_line(folder, 'hash-object', '-w', '--stdin', stdin=data)}\t{name}\n"
        for name, data in sorted(files.items())
    ]
    return git_line(folder, "mktree", stdin="".join(lines).encode())


def blobs_at(folder: Path, commit: str, *below: str) -> dict[str, str]:
    """Return the names of the contents of a commit's files, by their paths.

    `below`: in these places alone.
    """
    listed = run_git(folder, "ls-tree", "-r", "-z", commit, "--", *below).decode().split("\0")
    entries = (line.partition("\t") for line in listed if line)
    return {name: meta.split(" ")[2] for meta, _, name in entries}


def files_at(folder: Path, commit: str, *below: str) -> dict[str, bytes]:
    """Return the files of a commit, by their paths. `below`: in these places alone."""
    found = blobs_at(folder, commit, *below).items()
    wanted = "".join(f"{blob}\n" for _, blob in found)
    out, at, files = run_git(folder, "cat-file", "--batch", stdin=wanted.encode()), 0, dict[str, bytes]()
    for name, _ in found:
        end = out.index(b"\n", at)
        size = int(out[at:end].split()[2])
        files[name] = out[end + 1 : end + 1 + size]
        at = end + 2 + size
    return files


# --- a copy of the repository -------------------------------------------------------------------------------


_INTEGRATION = "run"  # the worktree that sq makes anew


@dataclass(frozen=True, slots=True)
class Workplace:
    """The folder of one claim, `root`: the checkout, the state of its one run, and its worktrees."""

    root: Path

    @property
    def repository(self) -> Path:
        """The checkout."""
        return self.root / "repository"

    @property
    def state(self) -> Path:
        """The state folder of sq."""
        return self.root / "state"

    @property
    def home(self) -> Path:
        """The folder where sq keeps worktrees (`XDG_STATE_HOME`)."""
        return self.root / "local"

    @property
    def run_folder(self) -> Path | None:
        """The folder of the run, once it has a journal."""
        return next((one.parent for one in (self.state / "runs").glob("*/journal.db")), None)

    def worktrees(self, run: str) -> list[Path]:
        """Return the worktrees of tasks, which may hold work that is not committed."""
        found = self.home.glob(f"sq/worktrees/*/{run}/*")
        return sorted(
            one
            for one in found
            if one.name != _INTEGRATION and not one.name.startswith(SCRATCH) and (one / ".git").is_file()
        )

    def remove(self) -> None:
        """Remove it and those of earlier claims of this run here, whose work is pushed."""
        for claim in self.root.parent.glob(f"{self.root.name.rpartition('-')[0]}-*"):
            shutil.rmtree(claim, ignore_errors=True)


def clone(remote: GitServer, mirrors: Path, folder: Path, *, branch: str, base: str) -> None:
    """Make a checkout of the repository at a commit, through a mirror that all runs on this host share.

    The mirror is complete: sq compares objects with git's lazy fetching off, because an agent must not
    make it reach out, so a partial clone would lack what is compared.
    """
    mirror = mirrors / f"{hashlib.sha256(remote.url.encode()).hexdigest()[:16]}.git"
    mirror.mkdir(mode=0o700, parents=True, exist_ok=True)
    with FileLock(mirror.with_suffix(".lock")):
        for left in mirror.rglob("*.lock"):  # by a git that was killed: nobody else is here
            left.unlink(missing_ok=True)
        git_line(mirror, "init", "--quiet", "--bare", ".")
        remote.fetch(mirror, "+refs/heads/*:refs/heads/*")
        try:
            git_line(mirror, "cat-file", "-e", f"{base}^{{commit}}")
        except GitError:  # the branch was moved since it was submitted
            remote.fetch(mirror, base)
        git_line(mirror, "update-ref", f"refs/heads/sq-base/{base}", base)
        words = ("clone", "--quiet", "--no-checkout", "--no-tags", "--origin", "origin", "--single-branch")
        run_git(mirror, *words, f"--branch=sq-base/{base}", str(mirror), str(folder), deadline_s=_TRANSFER_S)
    git_line(folder, "checkout", "--quiet", "--no-track", "-B", branch, base)
    for ref in (f"refs/heads/sq-base/{base}", f"refs/remotes/origin/sq-base/{base}"):
        git_line(folder, "update-ref", "-d", ref)
    git_line(folder, "remote", "set-url", "origin", remote.url)
    git_line(folder, "config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
