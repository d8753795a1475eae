"""The result of a run as an in-toto statement with a test-result predicate. It is not signed."""

from typing import Any

from orchestrator.views.models.criteria import CriterionState
from orchestrator.views.report.contents import ReportContents
from state.errors import UsageError
from state.hidden import visible
from state.outcome import Outcome


def in_toto(report: ReportContents) -> dict[str, Any]:
    """Return the statement about the finished commit and its tree.

    `PASSED` needs a complete run that is no rehearsal, and proof of each criterion. A complete run without
    such proof is `WARNED`.

    Raises:
        UsageError: there is no finished work to make a statement about.
    """
    commits = report.commits
    if not (commits.commit and commits.tree):
        raise UsageError(
            f"run {report.run_id} has no finished work, so there is nothing to attest. "
            "Read it with `sq report --format md`"
        )
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": "commit", "digest": {"gitCommit": commits.commit}},
            {"name": "tree", "digest": {"gitTree": commits.tree}},
        ],
        "predicateType": "https://in-toto.io/attestation/test-result/v0.1",
        "predicate": {
            "result": _result(report),
            "configuration": [{"name": visible(report.spec.name), "digest": {"sha256": report.spec.sha256}}],
            "passedTests": _named(report, {CriterionState.PROVEN}, passed=True),
            "warnedTests": _named(
                report, set(CriterionState) - {CriterionState.PROVEN, CriterionState.NOT_MET}, passed=None
            ),
            "failedTests": _named(report, {CriterionState.NOT_MET}, passed=False),
        },
    }


def _result(report: ReportContents) -> str:
    head = report.headline
    if head.proven:
        return "PASSED"
    planned = head.outcome is Outcome.COMPLETE and bool(report.commands)
    return "WARNED" if planned else "FAILED"


def _named(report: ReportContents, standings: set[CriterionState], *, passed: bool | None) -> list[str]:
    criteria = [visible(f"{row.id} {row.text}") for row in report.criteria if row.standing in standings]
    commands = [visible(one.command) for one in report.commands if one.passed is passed]
    return [*(f"criterion {one}" for one in criteria), *(f"command {one}" for one in commands)]
