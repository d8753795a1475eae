"""A verification for programs: JSON and SARIF."""

import re
from typing import Any
from urllib.parse import quote

from orchestrator.run.evidence.objections import whole_results
from orchestrator.verify.judgement import Judgement, Reason
from orchestrator.verify.ranges import Work
from state.hidden import visible
from state.journal.view import RunView
from state.records.objections import Weight

SCHEMA = "sq-verify/1"
_SARIF = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
_LINE = re.compile(r":(\d+)$")


def as_data(work: Work, view: RunView, judgement: Judgement) -> dict[str, Any]:
    """Return the result as plain values. `docs/verify.md` describes them."""
    return {
        "schema": SCHEMA,
        "outcome": str(judgement.outcome),
        "exit_code": judgement.outcome.exit_code,
        "says": judgement.says,
        "spec": view.started.spec_name if view.started else "",
        "base": {"commit": work.base, "tree": work.base_tree},
        "work": {"commit": work.head, "tree": work.tree, "named": work.named},
        "changed_files": judgement.changed,
        "only_prose": judgement.only_prose,
        "commands": [
            {
                "command": one.run.command,
                "verdict": str(one.verdict),
                "exit_code": one.run.exit_code,
                "passed": one.run.count.passed,
                "failed": one.run.count.failed,
                "failing": list(one.failing),
                "seconds": round(one.run.seconds, 3),
            }
            for one in whole_results(view)
        ],
        "objections": [_reason(one) for one in judgement.reasons],
        "proofs": [
            {
                "check": one.check,
                "command": one.command,
                "tests": list(one.tests),
                "functions": list(one.functions),
                "small_changes_noticed": list(one.small),
                "small_changes_missed": list(one.missed),
                "needs_work": one.needs_work,
            }
            for one in judgement.proofs
        ],
        "notes": list(view.baseline.notes),
    }


def _reason(one: Reason) -> dict[str, Any]:
    objection = one.objection
    return {
        "id": one.id,
        "check": objection.check,
        "subject": objection.subject,
        "says": one.sentence,
        "do": objection.remedy,
        "place": objection.place,
        "evidence": objection.evidence,
        "against": objection.against,
        "answered": objection.weight is not Weight.UNKNOWN,
        "open": one.is_open and not one.accepted,
        "accepted_by": one.accepted,
        "explained": one.explained,
    }


def sarif(work: Work, judgement: Judgement, version: str) -> dict[str, Any]:
    """Return the open objections as a SARIF log. An accepted one is a suppressed result."""
    shown = [one for one in judgement.reasons if one.is_open]
    rules = sorted({one.objection.check for one in shown})
    driver = {
        "name": "sq verify",
        "semanticVersion": version,
        "rules": [{"id": one, "shortDescription": {"text": one}} for one in rules],
    }
    return {
        "$schema": _SARIF,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "automationDetails": {"id": f"sq-verify/{work.tree[:12]}"},
                "columnKind": "unicodeCodePoints",
                "results": [_result(one) for one in shown],
            }
        ],
    }


def _result(one: Reason) -> dict[str, Any]:
    objection = one.objection
    file, line = place_of(one)
    where: dict[str, Any] = {"artifactLocation": {"uri": quote(file or "unknown"), "uriBaseId": "%SRCROOT%"}}
    if line:
        where["region"] = {"startLine": line}
    found: dict[str, Any] = {
        "ruleId": objection.check,
        "level": "error" if objection.against else "warning",
        "message": {"text": visible(f"{one.sentence}. {objection.remedy}".strip())},
        "locations": [{"physicalLocation": where}],
        "partialFingerprints": {"sqObjection/v1": objection.id},
    }
    if one.accepted:
        found["suppressions"] = [{"kind": "external", "status": "accepted", "justification": one.accepted}]
    return found


def place_of(one: Reason) -> tuple[str, int]:
    """Return the file of an objection, below the repository, and its line, or 0."""
    place = one.objection.place
    line = _LINE.search(place)
    parts = [
        part for part in place[: line.start() if line else None].split("/") if part not in {"", ".", ".."}
    ]
    return "/".join(parts), int(line[1]) if line else 0
