"""The report for machines: JSON (`docs/report.md` describes it), in-toto, SARIF and JUnit.

Within one version of the JSON, fields are only added. The in-toto statement is not signed.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import msgspec

from orchestrator.views.html.amounts import iso
from orchestrator.views.models.criteria import CommandFacts, CriterionRow, CriterionState, FindingRow
from orchestrator.views.models.spend import grouped
from orchestrator.views.report.contents import ReportContents
from state.errors import UsageError
from state.hidden import visible
from state.journal.events.tasks import Stage
from state.outcome import Outcome
from state.records.reviews import FindingState, IssueType

SCHEMA = "sq-report/2"
SUMMARY_SCHEMA = "sq-summary/2"


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
        "spec_check": {
            "checked": report.spec.is_checked,
            "questions": plain(report.spec.questions),
        },
        "decisions": plain(report.decisions),
        "findings": plain(report.findings),
        "found_before": plain(report.spec.found_before),
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
        "all_seen": head.all_seen,
        "spec": {"name": report.spec.name, "subject": report.spec.subject, "sha256": report.spec.sha256},
        "began_at": iso(times.began_at) if times.began_at else None,
        "ended_at": iso(times.until) if times.until and head.outcome else None,
        "seconds": round(times.seconds, 3),
        "processes": times.processes,
        "tasks_merged": sum(part.stage is Stage.MERGED for part in report.tasks),
        "tasks_total": len(report.tasks),
        "criteria": [{"id": row.id, "text": row.text, "mark": row.mark} for row in report.criteria],
        "commits": msgspec.to_builtins(commits),
        "cost": _cost(report),
        "forecast": msgspec.to_builtins(report.spending.forecast),
        "past": msgspec.to_builtins(report.times.past),
        "time": msgspec.to_builtins(report.timeline.parts),
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
        "cache_read_share": {
            row.role: row.usage.cache_read_share for row in grouped(spent.rows, lambda row: row.role)
        },
    }


def in_toto(report: ReportContents) -> dict[str, Any]:
    """Return the statement about the finished commit and its tree.

    `PASSED` needs a complete run that is no rehearsal, and that sq has seen what shows each criterion. A
    complete run without that is `WARNED`.

    Raises:
        UsageError: there is no finished work to make a statement about.
    """
    commits = report.commits
    seen, not_met = {one for one in CriterionState if one.is_seen}, {CriterionState.NOT_MET}
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
            "passedTests": _named(report, seen, passed=True),
            "warnedTests": _named(report, set(CriterionState) - seen - not_met, passed=None),
            "failedTests": _named(report, not_met, passed=False),
        },
    }


def _result(report: ReportContents) -> str:
    head = report.headline
    if head.all_seen:
        return "PASSED"
    planned = head.outcome is Outcome.COMPLETE and bool(report.commands)
    return "WARNED" if planned else "FAILED"


def _named(report: ReportContents, states: set[CriterionState], *, passed: bool | None) -> list[str]:
    criteria = [visible(f"{row.id} {row.text}") for row in report.criteria if row.state in states]
    commands = [visible(one.command) for one in report.commands if one.passed is passed]
    return [*(f"criterion {one}" for one in criteria), *(f"command {one}" for one in commands)]


_NO_CHARACTER = re.compile("[\ufffe\uffff]")  # of XML, beside those that `visible` shows


def junit(report: ReportContents) -> str:
    """Return the XML. A criterion without proof never counts as passed: it is skipped, or it failed."""
    suites = ET.Element("testsuites", {"name": "sq"})
    _suite(suites, "outcome", [lambda into: _outcome(into, report)])
    _suite(suites, "criteria", [_criterion_of(report, row) for row in report.criteria])
    _suite(suites, "verification", [_command_of(one) for one in report.commands])
    ET.indent(suites)
    return f"<?xml version='1.0' encoding='UTF-8'?>\n{ET.tostring(suites, encoding='unicode')}\n"


def _suite(suites: ET.Element, name: str, cases: list[Callable[[ET.Element], None]]) -> None:
    suite = ET.SubElement(suites, "testsuite", {"name": name})
    for write in cases:
        write(suite)
    for attribute, tag in (("failures", "failure"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("tests", str(len(suite)))
    suite.set("errors", "0")


def _outcome(suite: ET.Element, report: ReportContents) -> None:
    case = _case(suite, "run", f"run {report.run_id}", report.times.seconds)
    head = report.headline
    words = f"{head.word}: {head.why or head.sentence}"
    if head.outcome is None or head.rehearsal or (head.draft and head.outcome is Outcome.COMPLETE):
        ET.SubElement(case, "skipped", {"message": _text(f"rehearsal, {words}" if head.rehearsal else words)})
    elif head.outcome is not Outcome.COMPLETE:
        ET.SubElement(case, "failure", {"message": _text(words), "type": head.outcome})


def _criterion_of(report: ReportContents, row: CriterionRow) -> Callable[[ET.Element], None]:
    def write(suite: ET.Element) -> None:
        case = _case(suite, report.spec.name or "spec", f"{row.id} {row.text}", None)
        told = "; ".join(f"{one.kind} {one.ref}: {_holds(one.holds)}" for one in row.evidence)
        message = {"message": _text(f"{row.state}: {row.note or row.words or 'no reason was given'}")}
        if row.state is CriterionState.NOT_MET:
            ET.SubElement(case, "failure", {**message, "type": "not met"})
        elif not row.state.is_seen:
            ET.SubElement(case, "skipped", message)
        if told:
            ET.SubElement(case, "system-out").text = _text(told)

    return write


def _holds(holds: bool | None) -> str:
    return {True: "holds", False: "does not hold", None: "could not be checked"}[holds]


def _command_of(one: CommandFacts) -> Callable[[ET.Element], None]:
    def write(suite: ET.Element) -> None:
        case = _case(suite, "verification", one.command, one.seconds)
        if not one.passed:
            names = ", ".join(one.names_failed) or f"exit code {one.exit_code}"
            ET.SubElement(case, "failure", {"message": _text(names), "type": "command"})

    return write


def _case(suite: ET.Element, owner: str, name: str, seconds: float | None) -> ET.Element:
    given = {"classname": _text(owner), "name": _text(name)}
    return ET.SubElement(suite, "testcase", given if seconds is None else {**given, "time": f"{seconds:.3f}"})


def _text(text: str) -> str:
    """Return a text in one line, without characters that XML does not have."""
    return _NO_CHARACTER.sub(lambda found: f"\\u{ord(found.group()):04x}", visible(text))


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
        "results": [_finding_result(row) for row in report.findings[:_MOST]],
    }
    if report.commits.commit:
        run["versionControlProvenance"] = [
            {"repositoryUri": "urn:sq:repository", "revisionId": report.commits.commit}
        ]
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _finding_result(row: FindingRow) -> dict[str, Any]:
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
