"""The host of a worker: what it allows, the means of the work on a submission, and sq's process there."""

import fnmatch
import os
import re
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

import sqlalchemy as sa
import structlog

from agents.access import find_credentials
from agents.api_key import read_key
from agents.claude_code.executable import find_cli
from agents.process.containment import Containment, contained, detect_containment
from agents.process.sandbox.choice import why_not_whole
from orchestrator.fleet.ledger import FleetLedger
from orchestrator.fleet.records import Engine, Submission
from orchestrator.fleet.transport import DATABASE, Workplace
from state.errors import SqError, UsageError
from state.redaction.redactor import Redact, Redactor, known_in, known_in_files, redactor

# Settings of a repository that reach beyond the sandbox: commands, hosts, files and addresses of the
# worker's host.
_WIDENING = (
    *(
        "sandbox",
        "notify",
        "telemetry",
        "gateway",
        "worktree.include",
        "worktree.include_beside",
        "worker.mcp",
        "policy.allowed",
    ),
    "context",
)
OWN_SPEC, SCENARIO = "spec.md", "scenario.yaml"
_ADDRESS = re.compile(r"(?!-)(?:(?:https?|ssh|git|file)://|/|[\w.-]+(?:@[\w.-]+)?:(?!:))[^\s\x00-\x1f]*")
_COMMIT = re.compile(r"[0-9a-z]+")
_BRANCH = re.compile(r"(?![-/.])(?!.*(?:\.\.|//|@\{|\.lock$))[^\s\x00-\x1f\x7f~^:?*\[\\]+(?<![/.])")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerPolicy:
    """The rules of a worker.

    `repositories` are patterns of addresses. `sandbox` is what runs ask for. `trusts_settings`: a
    repository's `sq.toml` may open the sandbox. `most_usd` caps the budget of a run.
    """

    repositories: tuple[str, ...]
    sandbox: str = "whole"
    trusts_settings: bool = False
    most_usd: float | None = None

    def refusal(self, submission: Submission) -> str:
        """Return why a submission is not worked on here, or ""."""
        address = submission.repository
        if not _ADDRESS.fullmatch(address) or ".." in re.split(r"[/:\\]", unquote(address)):
            return f"{address!r} is no plain address of a repository"
        if not (_COMMIT.fullmatch(submission.base) and _BRANCH.fullmatch(submission.branch)):
            return f"{submission.base!r} on {submission.branch!r} is no commit on a branch"
        if not all(self._allows(one) for one in {address, _resolved(address)}):
            return (
                f"this worker does not work on {address}. It was started for "
                f"{', '.join(self.repositories) or 'no repository'}: allow it with --repository"
            )
        asked, most = submission.budget_usd, self.most_usd
        if most is not None and not 0 < asked <= most:
            found = f"a budget of ${asked:.2f} is more than" if asked else "a run without a budget may exceed"
            return f"{found} this worker's --most ${most:.2f}"
        return ""

    def _allows(self, address: str) -> bool:
        """Return whether a pattern fits the address, with or without the `.git` that servers leave open."""
        plain = address.rstrip("/").removesuffix(".git")
        names = (plain, f"{plain}.git", address)
        return any(fnmatch.fnmatchcase(name, one) for name in names for one in self.repositories)

    def refusal_of_settings(self, configuration: bytes) -> str:
        """Return why the `sq.toml` of the commit is not accepted, or ""."""
        if self.trusts_settings or not (found := widening(configuration)):
            return ""
        return (
            f"the repository's sq.toml sets {', '.join(found)}, which reaches beyond a worker's sandbox. "
            "Take it out, or start workers that trust the repository with --trust-settings"
        )


def _resolved(address: str) -> str:
    """Return where a folder of this host really is, or another address as it stands."""
    head = "file://" if address.startswith("file://") else ""
    path = address.removeprefix(head)
    return f"{head}{Path(path).resolve()}" if path.startswith("/") else address


def widening(configuration: bytes) -> list[str]:
    """Return the keys of an `sq.toml` that reach beyond the sandbox.

    One that cannot be read has none: sq says it.
    """
    try:
        table = tomllib.loads(configuration.decode())
    except ValueError:
        return []
    dotted = {key for key in table if not isinstance(table[key], dict)} | {
        f"{key}.{inner}" for key, value in table.items() if isinstance(value, dict) for inner in value
    }
    return sorted(
        one
        for one in dotted | set(table)
        if any(one == bad or one.startswith(f"{bad}.") for bad in _WIDENING)
    )


log = structlog.get_logger(__name__)
Answer = TypeVar("Answer")

CHECKPOINT_S = 60.0
_AGAIN_S = 2.0  # between tries while the database is away
_NOT_FOR_RUNS = (DATABASE, "PGPASSWORD", "PGPASSFILE")


class MovedError(SqError):
    """The run was put down and pushed, so that another worker goes on with it."""


@dataclass(kw_only=True)
class Host:
    """What the work on a submission needs of its worker. `draining` is set by it, and never unset."""

    executor: str
    name: str
    root: Path
    policy: WorkerPolicy
    engine: Engine
    ledger: FleetLedger
    containment: Containment
    sq: tuple[str, ...]
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    checkpoint_s: float = CHECKPOINT_S
    draining: threading.Event = field(default_factory=threading.Event)

    def environment(self, home: Path) -> dict[str, str]:
        """Return the environment of sq, which keeps its state in `home` and knows no database."""
        kept = {name: value for name, value in self.environ.items() if name not in _NOT_FOR_RUNS}
        return kept | {"XDG_STATE_HOME": str(home)}

    def redactor_for(self, checkout: Path) -> Redactor:
        """Return what takes the secrets of this host out of texts."""
        key: dict[str, str] = {}
        with suppress(UsageError):
            found = read_key(self.environ)
            key = dict(found.variables) if found else {}
        home = Path(self.environ.get("HOME") or Path.home())
        database = {name: self.environ[name] for name in _NOT_FOR_RUNS if name in self.environ}
        return redactor({**self.environ, **key}, [*known_in_files(home, checkout), *known_in(database)])

    def reserve(self, asked: Submission) -> str:
        """Reserve the budget of a run, and return why it does not begin, or ""."""

        def reserved() -> float | None:
            return self.ledger.reserve(asked.id, asked.pool, asked.budget_usd)

        if reserved() is None:
            return ""
        self.ledger.settle_abandoned(self.engine)
        if (left := reserved()) is None:
            return ""
        cost = f"${asked.budget_usd:.2f}" if asked.budget_usd else "any sum, as it has no budget"
        return (
            f"the budget {asked.pool} of the fleet has ${left:.2f} left, and this run may cost {cost}. "
            f"Raise it (`sq fleet budget {asked.pool} USD`), then `sq fleet retry {asked.id}`"
        )

    def patiently(self, act: Callable[[], Answer]) -> Answer:
        """Return what `act` returns, as soon as the database is there.

        Raises:
            MovedError: the worker is to stop meanwhile.
        """
        while True:
            try:
                return act()
            except sa.exc.SQLAlchemyError as error:
                log.warning("fleet.database.away", error=type(error).__name__)
                if self.draining.wait(_AGAIN_S):
                    raise MovedError("the database is away") from error


def credentials_problem(environ: Mapping[str, str]) -> str:
    """Return why no model can be asked from here, or ""."""
    try:
        find_credentials(read_key(environ), environ, cli=find_cli())
    except UsageError as error:
        return str(error)
    return ""


def sandbox_problem(environ: Mapping[str, str]) -> str:
    """Return why no run can have the whole sandbox here, or ""."""
    return why_not_whole(detect_containment(environ), environ)


OWN_PROGRAM = (sys.executable, "-I", sys.argv[0])  # sq, as this process was started
_TICK_S, _LOOK_S = 0.2, 1.0
_GRACE_S = 45.0  # for a run to store its state, after which its process tree is killed
_PR_S = 600.0
_LINES, _LONGEST = 3, 600  # of what it printed


class SqProcess:
    """The commands of sq in the folder of one claim."""

    def __init__(self, host: Host, place: Workplace) -> None:
        self._host, self._place = host, place
        self.stopped = ""  # why it was asked to stop
        environment = host.environment(place.home)
        self._usual: Any = {"cwd": place.repository, "env": environment, "stdin": subprocess.DEVNULL}

    def run(self, arguments: Sequence[str], look: Callable[[], str]) -> int:
        """Run sq to its end, and return its exit code.

        `look` is called each second. It returns why sq has to stop, or "".
        """
        command = contained([*self._host.sq, *arguments], self._host.containment)
        with (self._place.root / "sq.out").open("ab") as out:
            child = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True, **self._usual)
        try:
            self._attend(child, look)
        finally:
            child.terminate()  # the supervisor ends all of the tree, if it has not ended
            child.wait()
        return child.returncode if child.returncode >= 0 else 128 - child.returncode

    def _attend(self, child: subprocess.Popen[bytes], look: Callable[[], str]) -> None:
        looked_at, killed_at = 0.0, float("inf")
        while child.poll() is None:
            time.sleep(_TICK_S)
            now = time.monotonic()
            if now > killed_at:
                child.terminate()
            if self.stopped or (now - looked_at < _LOOK_S and not self._host.draining.is_set()):
                continue
            looked_at = now
            if reason := look():
                self.stopped, killed_at = reason, now + _GRACE_S
                self._ask_to_stop(child)

    def _ask_to_stop(self, child: subprocess.Popen[bytes]) -> None:
        """Ask sq itself, which then has more time than its supervisor would give it."""
        asked = child.pid
        for _ in range(2 if self._host.containment is Containment.NAMESPACES else 1):
            with suppress(OSError, IndexError, ValueError):
                asked = int(Path(f"/proc/{asked}/task/{asked}/children").read_text("ascii").split()[0])
        with suppress(ProcessLookupError):
            os.kill(asked, signal.SIGTERM)

    def pull_request(self, run: str, base: str, redact: Redact) -> str:
        """Hand the work over as a pull request, and return its address or why there is none."""
        options = ("--no-push", "--state-dir", str(self._place.state), "--base", base)
        command = [*self._host.sq, "pr", run, *options]
        try:
            done: subprocess.CompletedProcess[str] = subprocess.run(
                command, capture_output=True, text=True, timeout=_PR_S, check=False, **self._usual
            )
        except subprocess.TimeoutExpired:
            return f"none: the service did not answer within {_PR_S:.0f} s"
        said = (done.stdout or done.stderr).strip().splitlines()
        if said and not done.returncode:
            return said[0].rpartition(": ")[2]
        return f"none: {redact(' '.join(said))[-_LONGEST:]}"

    def last_words(self, redact: Redact) -> str:
        """Return the last lines that sq printed, without secrets."""
        with suppress(OSError):
            printed = (self._place.root / "sq.out").read_text("utf-8", errors="replace")
            return redact(" | ".join(printed.strip().splitlines()[-_LINES:]))[-_LONGEST:]
        return ""
