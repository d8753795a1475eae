"""Available work: names the issues that are ready in the tracker, and never blocks."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from orchestrator.gates.stop_gate.stop import ALLOWED, StepResult, Stop
from state.atomic_files import read_small

_SHOWN = 3
_OPEN = frozenset({"open", "in_progress"})
_LAST = 9  # the priority of an issue without one


def applies(stop: Stop) -> bool:
    """Whether the project has a tracker."""
    return (stop.project / ".beads").is_dir()


def check(stop: Stop) -> StepResult:
    """Name the open issues that no other one blocks, the most urgent first."""
    issues = {str(issue.get("id")): issue for issue in _issues(stop)}
    ready = [
        issue for issue in issues.values() if issue.get("status") == "open" and not _waits(issue, issues)
    ]
    ready.sort(key=lambda issue: (_urgency(issue), str(issue.get("id"))))
    if not ready:
        return ALLOWED
    named = "; ".join(f"{issue.get('id')} {issue.get('title')}" for issue in ready[:_SHOWN])
    more = f" and {len(ready) - _SHOWN} more" if len(ready) > _SHOWN else ""
    return StepResult(note=f"ready to be done: {named}{more}")


def _issues(stop: Stop) -> Iterator[Mapping[str, Any]]:
    for file in sorted((stop.project / ".beads").glob("*.jsonl")):
        try:
            lines = read_small(file).splitlines()
        except (OSError, ValueError):
            continue
        for line in lines:
            try:
                issue = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(issue, dict) and isinstance(issue.get("title"), str) and issue.get("id"):
                yield issue


def _waits(issue: Mapping[str, Any], issues: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether another open issue blocks it."""
    given = issue.get("dependencies")
    links = [link for link in given if isinstance(link, dict)] if isinstance(given, list) else []
    blockers = (
        issues.get(str(link.get("depends_on_id")), {}) for link in links if link.get("type") == "blocks"
    )
    return any(blocker.get("status") in _OPEN for blocker in blockers)


def _urgency(issue: Mapping[str, Any]) -> int:
    priority = issue.get("priority")
    return priority if isinstance(priority, int) else _LAST
