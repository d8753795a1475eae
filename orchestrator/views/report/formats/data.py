"""The report as JSON: `docs/report.md` describes it. Within one version, fields are only added."""

from typing import Any

import msgspec

from orchestrator.views.html.amounts import iso
from orchestrator.views.models.criteria import counted
from orchestrator.views.report.contents import ReportContents
from state.journal.task_view import Stage

SCHEMA = "sq-report/1"
SUMMARY_SCHEMA = "sq-summary/1"


def data(report: ReportContents, version: str) -> dict[str, Any]:
    """Return the report as plain values."""
    plain = msgspec.to_builtins
    return {
        **summary(report, version),
        "schema": SCHEMA,
        "pull_request": {"title": report.title, "draft": report.headline.draft},
        "check": plain(report.check),
        "criteria": plain(report.criteria),
        "commands": plain(report.commands),
        "attention": [{**plain(point), "urgency": point.urgency.name.lower()} for point in report.attention],
        "decisions": plain(report.decisions),
        "findings": plain(report.findings),
        "tasks": [_task(part) for part in plain(report.tasks)],
        "made": plain(report.made),
        "left_out": list(report.index.left_out),
    }


def _task(part: dict[str, Any]) -> dict[str, Any]:
    """Return a task without the texts of its diffs."""
    work = [
        {**one, "files": [{**file["change"], "left_out": file["left_out"]} for file in one["files"]]}
        for one in part["work"]
    ]
    return {**part, "work": work}


def summary(report: ReportContents, version: str) -> dict[str, Any]:
    """Return the end of a run in short: `summary.json` in its folder."""
    head, times, commits = report.headline, report.times, report.commits
    return {
        "schema": SUMMARY_SCHEMA,
        "run_id": report.run_id,
        "state": head.word.lower(),
        "outcome": head.outcome,
        "exit_code": head.exit_code,
        "cause": head.why,
        "check_state": str(head.check),
        "rehearsal": head.rehearsal,
        "proven": head.proven,
        "spec": {"name": report.spec.name, "subject": report.spec.subject, "sha256": report.spec.sha256},
        "began_at": iso(times.began_at) if times.began_at else None,
        "ended_at": iso(times.until) if times.until and head.outcome else None,
        "seconds": round(times.seconds, 3),
        "processes": times.processes,
        "tasks_merged": sum(part.stage is Stage.MERGED for part in report.tasks),
        "tasks_total": len(report.tasks),
        "standings": {str(standing): count for standing, count in counted(report.criteria).items()},
        "commits": msgspec.to_builtins(commits),
        "cost": _cost(report),
        "versions": {"report": version, **_versions(report)},
    }


def _versions(report: ReportContents) -> dict[str, str]:
    return {fact.name: fact.value for fact in report.made if fact.name == "sq"}


def _cost(report: ReportContents) -> dict[str, Any]:
    spent = report.spending
    return {
        "usd": round(spent.cost_usd, 6),
        "at_least": spent.at_least,
        "charged": spent.charged,
        "budget_usd": spent.budget_usd,
        "by": msgspec.to_builtins(spent.rows),
    }
