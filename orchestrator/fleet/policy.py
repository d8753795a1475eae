"""What a worker does for others: which repositories, in which sandbox, and no settings that open it."""

import fnmatch
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from orchestrator.fleet.records import Submission

# Settings of a repository that reach beyond the sandbox: commands, hosts, files and addresses of the
# worker's host.
_WIDENING = (
    *("sandbox", "notify", "telemetry", "gateway", "worktree.include", "worker.mcp", "policy.allowed"),
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
