"""The findings of a run's reviews as SARIF 2.1.0, for code scanning."""

from typing import Any
from urllib.parse import quote

from orchestrator.views.report.contents import FindingRow, ReportContents
from state.hidden import visible
from state.records.findings import FindingState, IssueType

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
_ERRORS = frozenset({IssueType.INCORRECT_BEHAVIOR, IssueType.SPEC_MISMATCH})
_LET_GO = {FindingState.DISPUTED: "disputed by the Worker", FindingState.WONT_FIX: "not going to be fixed"}
_MOST = 5_000  # results that GitHub shows


def sarif(report: ReportContents, version: str) -> dict[str, Any]:
    """Return the log.

    An open finding is a result, one that was let go a suppressed result, and a fixed one a result of the kind
    `pass`. The fingerprint is sq's own, and stays the same in later runs.
    """
    driver = {
        "name": "sq",
        "semanticVersion": version,
        "rules": [{"id": str(one), "shortDescription": {"text": str(one)}} for one in IssueType],
    }
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"sq/{report.run_id}"},
        "columnKind": "unicodeCodePoints",
        "results": [_result(row) for row in report.findings[:_MOST]],
    }
    if report.commits.commit:
        run["versionControlProvenance"] = [
            {"repositoryUri": "urn:sq:repository", "revisionId": report.commits.commit}
        ]
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(row: FindingRow) -> dict[str, Any]:
    finding, issue = row.finding, row.finding.issue
    place: dict[str, Any] = {
        "artifactLocation": {"uri": quote(_relative(issue.file)), "uriBaseId": "%SRCROOT%"}
    }
    if issue.line and issue.line > 0:
        place["region"] = {"startLine": issue.line}
    fix = f" Fix: {issue.suggestion}" if issue.suggestion else ""
    result: dict[str, Any] = {
        "ruleId": str(issue.type),
        "level": "error" if issue.type in _ERRORS else "warning",
        "message": {"text": visible(issue.description + fix) or "no description"},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"sqFinding/v1": finding.id},
        "properties": {"state": str(finding.state), "task": row.task_id, "event": row.seq},
    }
    if finding.state in _LET_GO:
        why = visible(finding.note) or _LET_GO[finding.state]
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": why}]
    if finding.state is FindingState.FIXED:
        result |= {"kind": "pass", "level": "none"}
    return result


def _relative(path: str) -> str:
    """Return a path that stays below the repository."""
    parts = [part for part in visible(path).replace("\\", "/").split("/") if part not in {"", ".", ".."}]
    return "/".join(parts) or "unknown"
