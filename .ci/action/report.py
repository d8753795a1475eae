"""The step that says what became of it: report, summary, annotations and outputs."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from runner import OUT, asked, put, sq, tell

_OUTCOMES = {0: "complete", 1: "failed", 2: "usage", 3: "stuck", 4: "limit", 5: "unverified"}
_INTERRUPTED = 130
_LIMIT = 4
_MOST = 9  # the service shows ten annotations of a kind
_LONGEST = 1_000
_ENDED_BADLY = {"stuck", "failed", "unverified"}


def main() -> None:
    """Write files for artifacts, the summary, the annotations and the outputs. `job-code` ends the job."""
    code = int(asked("exit-code") or 1)
    outcome = "interrupted" if code == _INTERRUPTED else _OUTCOMES.get(code, "failed")
    job_code = 0 if code == _LIMIT and asked("fail-on") == "failure" else code
    put(outcome=outcome, exit_code=code, job_code=job_code)
    named = 0
    if run := asked("run-id"):
        named = _of_run(run)
    else:
        _summary(f"# sq\n\nNo run was begun: exit code {code}, {outcome}. The log of the job says why.\n")
    if code and not named:
        tell("error", f"sq ended with exit code {code}, {outcome}", title="sq")


def _of_run(run: str) -> int:
    """Write what there is of a run, and return how many annotations say what is wrong."""
    OUT.mkdir(parents=True, exist_ok=True)
    page, junit = OUT / "report.html", OUT / "junit.xml"
    sq("report", run, "-o", str(page))
    sq("report", run, "--format", "junit", "-o", str(junit))
    _summary(sq("report", run, "--format", "summary"))
    report = json.loads(sq("report", run, "--format", "json"))
    faults = list(_faults(report))
    for title, text, place in faults[:_MOST]:
        tell("error", text[:_LONGEST], title=title, **place)
    if len(faults) > _MOST:
        tell("error", f"and {len(faults) - _MOST} more: the report has all", title="sq")
    put(
        commit=report["commits"]["commit"] or "",
        branch=asked("branch") or f"sq/{run}",
        cost_usd=report["cost"]["usd"],
        tasks_merged=report["tasks_merged"],
        report_path=str(page),
        junit_path=str(junit),
    )
    return len(faults)


def _faults(report: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, str | int]]]:
    """Yield what a person has to look at, as title, text and place. The words may be an agent's."""
    for one in report["criteria"]:
        if one["mark"] == "not_met":
            yield f"{one['id']} is not met", one["words"] or one["text"], {}
    for one in report["tasks"]:
        if one["stage"] in _ENDED_BADLY:
            yield f"task {one['id']} is {one['stage']}", " ".join(map(_text, one["why"])) or one["title"], {}
    for one in report["findings"]:
        if (finding := one["finding"])["state"] == "open":
            issue = finding["issue"]
            yield "an open finding", issue["description"], {"file": issue["file"], "line": issue["line"] or 0}


def _text(reason: dict[str, Any]) -> str:
    return " ".join(str(value) for value in reason.values() if isinstance(value, str))


def _summary(text: str) -> None:
    with Path(os.environ["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
