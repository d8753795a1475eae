"""What a worker does for others: which repositories, in which sandbox, and no settings that open it."""

import fnmatch
import tomllib
from dataclasses import dataclass

from orchestrator.fleet.records import Submission

# Settings of a repository that reach beyond the sandbox: commands, hosts, files and addresses of the
# worker's host.
_WIDENING = ("sandbox", "notify", "telemetry", "gateway", "worktree.include", "worker.mcp", "policy.allowed")
OWN_SPEC, SCENARIO = "spec.md", "scenario.yaml"


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
        if not any(fnmatch.fnmatchcase(submission.repository, one) for one in self.repositories):
            return (
                f"this worker does not work on {submission.repository}. It was started for "
                f"{', '.join(self.repositories) or 'no repository'}: allow it with --repository"
            )
        if self.most_usd is not None and submission.budget_usd > self.most_usd:
            asked, most = submission.budget_usd, self.most_usd
            return f"a budget of ${asked:.2f} is more than this worker's --most ${most:.2f}"
        return ""

    def refusal_of_settings(self, configuration: bytes) -> str:
        """Return why the `sq.toml` of the commit is not accepted, or ""."""
        if self.trusts_settings or not (found := widening(configuration)):
            return ""
        return (
            f"the repository's sq.toml sets {', '.join(found)}, which reaches beyond a worker's sandbox. "
            "Take it out, or start workers that trust the repository with --trust-settings"
        )


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
