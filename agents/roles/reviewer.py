"""The Reviewer: judges a commit that it cannot change, and reports once, in a strict format."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import prompts
from agents.backend import Platform
from agents.caller import Caller
from agents.session.port import SessionSpec
from agents.session.tools import review_tool
from state.records.reviews import (
    CriterionClaim,
    CriterionVerdict,
    Evidence,
    EvidenceKind,
    FindingState,
    IssueType,
    ReviewIssue,
    ReviewReport,
    Ruling,
    TestRuling,
)
from state.roles import Role
from state.settings.records import ReviewDepth

FINAL = "final"
_BLOCK = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
_BEGINS_LIKE_A_REPORT = re.compile(r"\{(?=\s*[\"'“]?passed\b)")
_BEGINS_LIKE_AN_OBJECT = re.compile(r"\{(?=\s*(?:[\"}]|\Z))")
_NAMES_PASSED = re.compile(r"[\"'“]passed\b")
_CLOSING = " \t\r\n`"
_KNOWN_TYPES = {kind.value for kind in IssueType}
_RULINGS = {
    "fixed": FindingState.FIXED,
    "open": FindingState.OPEN,
    "wontfix": FindingState.WONT_FIX,  # in any spelling
}

_VERDICTS = {
    "".join(filter(str.isalpha, verdict)): verdict for verdict in CriterionVerdict
}  # in any spelling
_EVIDENCE_KINDS = {kind.value for kind in EvidenceKind if kind is not EvidenceKind.COMPUTED}
_MOST_EVIDENCE = 8  # pieces for one criterion
_LONGEST = 1_000  # characters of a reason or a reference


def system_prompt() -> str:
    return prompts.render("reviewer_system")


def get_review_prompt(depth: ReviewDepth | str, *, under_way: bool = False) -> str:
    """Return the aims and the report format of a review at one of the four depths (seed 002).

    `under_way`: the work is not finished, so the prompt leaves out points that need finished work.
    """
    return prompts.render("review_depth", depth=ReviewDepth(depth).value, under_way=under_way)


def types_at(depth: ReviewDepth) -> Collection[IssueType]:
    """Return the types of issues for which a review at this depth sends work back."""
    missed = (IssueType.INCORRECT_BEHAVIOR, IssueType.SPEC_MISMATCH)
    return missed if depth is ReviewDepth.SHALLOW else tuple(IssueType)


def reviewer_session(
    platform: Platform,
    *,
    depth: ReviewDepth,
    task_id: str,
    attempt: int,
    workspace: Path,
    subject: str = "",
    ruled: tuple[str, ...] = (),
    session_id: str,
    resume: bool,
    cost: float,
) -> SessionSpec:
    """Return a read-only session in the worktree under review. `task_id` "" is the final review.

    `subject` distinguishes the reviews of one attempt, if there are several. `ruled` are the lists of rulings
    that its report needs.
    """
    about = task_id or FINAL
    caller = Caller(
        role=Role.REVIEWER,
        task=f"{about}.{subject}" if subject else about,
        attempt=attempt,
        values={"workspace": str(workspace)},
    )
    return platform.session(
        caller,
        workspace=workspace,
        system=system_prompt(),
        signals=(review_tool(types_at(depth), ruled),),
        session_id=session_id,
        resume=resume,
        cost_before_usd=cost,
    )


def parse_review_output(output: str, depth: ReviewDepth = ReviewDepth.STANDARD) -> ReviewReport | str:
    """Return a usable report, or the sentence that says why it is not usable.

    Takes the tool's JSON, JSON in a fenced block, or JSON between words (seed 002). `passed` must be a
    boolean, and a review that does not pass must name issues. Anything else is unusable, never a pass. Issues
    of a type that a review at this depth does not send back are suggestions.
    """
    data = _json_in(output)
    if (data is None or "passed" not in data) and (broken := _broken_json_in(output)):
        return f"Failed to parse review output: its JSON object is broken at {broken}"
    if data is None:
        return "Failed to parse review output: it holds no JSON object"
    passed, issues = data.get("passed"), data.get("issues") or []
    if not isinstance(passed, bool):
        return f"`passed` must be true or false, found {passed!r}"
    if not isinstance(issues, list):
        return f"`issues` must be a list, found {type(issues).__name__}"
    if not passed and not issues:
        return "the review does not pass and names no issue"
    suggestions = data.get("suggestions") or []
    aside = [issue for issue in issues if _is_aside(issue, depth)]
    normalised = tuple(normalize_issue(issue) for issue in issues if issue not in aside)
    return ReviewReport(
        # Issues beside a pass are a contradiction, in which the issues count.
        passed=not normalised,
        issues=normalised,
        suggestions=(
            *(map(str, suggestions) if isinstance(suggestions, list) else (str(suggestions),)),
            *(normalize_issue(issue).words for issue in aside),
        ),
        rulings=tuple(_rulings(data.get("earlier"))),
        tests=tuple(_test_rulings(data.get("tests"))),
        criteria=tuple(_criteria(data.get("criteria"))),
    )


def _is_aside(issue: object, depth: ReviewDepth) -> bool:
    """Whether an issue names a type that a review at this depth does not send back."""
    named = str(issue.get("type", "")) if isinstance(issue, Mapping) else ""
    return named in _KNOWN_TYPES - {kind.value for kind in types_at(depth)}


def ends_with_its_only_report(output: str) -> bool:
    """Whether a text names `passed` once, in the object at its end. Another one may be a quotation."""
    return len(_NAMES_PASSED.findall(output)) == 1 and output.rstrip(_CLOSING).endswith("}")


def _rulings(earlier: object) -> Iterator[Ruling]:
    """Yield the rulings on earlier findings. Entries without a finding or a known state are left out."""
    for said in earlier if isinstance(earlier, list) else ():
        if not isinstance(said, Mapping) or not isinstance(said.get("id"), str):
            continue
        state = "".join(filter(str.isalpha, str(said.get("state")).lower()))
        if state in _RULINGS:
            yield Ruling(id=said["id"].strip(), state=_RULINGS[state], why=str(said.get("why") or ""))


def _test_rulings(tests: object) -> Iterator[TestRuling]:
    """Yield the rulings on changed tests. Only the word `accepted` accepts, other rulings refuse."""
    for said in tests if isinstance(tests, list) else ():
        if isinstance(said, Mapping) and isinstance(said.get("test"), str):
            ruling = "".join(filter(str.isalpha, str(said.get("ruling")).lower()))
            yield TestRuling(
                test=said["test"].strip(), accepted=ruling == "accepted", why=str(said.get("why") or "")
            )


def _criteria(criteria: object) -> Iterator[CriterionClaim]:
    """Yield the verdicts on criteria, unchecked. An unknown verdict is none, and only `met` meets."""
    for said in criteria if isinstance(criteria, list) else ():
        if not isinstance(said, Mapping) or not isinstance(said.get("id"), str):
            continue
        verdict = "".join(filter(str.isalpha, str(said.get("verdict")).lower()))
        yield CriterionClaim(
            id=said["id"].strip(),
            verdict=_VERDICTS.get(verdict, CriterionVerdict.NOT_CHECKED),
            reason=str(said.get("reason") or "")[:_LONGEST],
            evidence=tuple(islice(_evidence(said.get("evidence")), _MOST_EVIDENCE)),
        )


def _evidence(evidence: object) -> Iterator[Evidence]:
    for said in evidence if isinstance(evidence, list) else ():
        if (
            isinstance(said, Mapping)
            and said.get("kind") in _EVIDENCE_KINDS
            and str(said.get("ref") or "").strip()
        ):
            yield Evidence(kind=EvidenceKind(said["kind"]), ref=str(said["ref"]).strip()[:_LONGEST])


def normalize_issue(issue: object) -> ReviewIssue:
    """Return one issue as the reviewer wrote it: an object, or a plain string (legacy, seed 002)."""
    if not isinstance(issue, Mapping):
        return ReviewIssue(
            task_id="", file="unknown", description=str(issue), suggestion="Review and fix this issue"
        )
    line = issue.get("line")
    kind = str(issue.get("type", ""))
    return ReviewIssue(
        task_id=str(issue.get("taskId") or ""),
        file=str(issue.get("file") or "unknown"),
        line=line if isinstance(line, int) and not isinstance(line, bool) and line > 0 else None,
        type=IssueType(kind) if kind in _KNOWN_TYPES else IssueType.PATTERN_VIOLATION,
        description=str(issue.get("description") or "Unknown issue"),
        suggestion=str(issue.get("suggestion") or "Review and fix"),
    )


def unusable_issue(problem: str) -> ReviewIssue:
    """Return the synthetic issue for an unusable report. It is recorded, never sent to a Worker."""
    return ReviewIssue(
        task_id="", file="unknown", description=problem, suggestion="Check agent output format"
    )


def _json_in(output: str) -> dict[str, Any] | None:
    """Return the report: the first object with `passed`, since a reviewer may quote other JSON before it."""
    between = output[output.find("{") : output.rfind("}") + 1]
    found = []
    for candidate in (output, *_BLOCK.findall(output), between):
        try:
            data = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(data, dict):
            found.append(data)
    return next((data for data in found if "passed" in data), found[0] if found else None)


def _broken_json_in(output: str) -> str:
    """Return where a JSON object breaks off, and why (`line 3, column 9: …`), or "" if none does.

    An object that begins with `passed` is taken as the report. Another one may be a quotation.
    """
    for begins in (_BEGINS_LIKE_A_REPORT, _BEGINS_LIKE_AN_OBJECT):
        for found in begins.finditer(output):
            try:
                json.JSONDecoder().raw_decode(output, found.start())
            except json.JSONDecodeError as error:
                return f"line {error.lineno}, column {error.colno}: {error.msg.removesuffix(' at')}"
            except RecursionError:
                return f"line {output.count(chr(10), 0, found.start()) + 1}: it is nested too deeply"
    return ""
