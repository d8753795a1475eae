"""A report of a reviewer: asked for, read, and asked for once more if it is unusable."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import prompts
from agents.roles.reviewer import (
    ends_with_its_only_report,
    parse_review_output,
    reviewer_session,
    unusable_issue,
)
from orchestrator.run.asking.conversation import Conversation
from orchestrator.run.record import Run
from orchestrator.run.review.findings import in_folder, unruled
from state.journal.events import ReviewUnusable
from state.journal.events.calls import CallView
from state.records.reviews import Finding, ReviewReport
from state.roles import Role
from state.settings.records import ReviewDepth

DIFF_LIMIT = 60_000  # characters of a diff in the prompt. The reviewer can read the files.


@dataclass(frozen=True, slots=True)
class ReviewSubject:
    """The subject and place of a review. `unusable`: the number of unusable reports on it so far.

    `findings` are the earlier ones that the prompt lists, `tests` the changed tests there by name. `unlike`
    checks after the review and returns why its report is about something else, or "".
    """

    task_id: str
    attempt: int
    commit: str
    folder: Path
    unusable: int
    findings: Sequence[Finding] = ()
    tests: Sequence[str] = ()
    depth: ReviewDepth = ReviewDepth.STANDARD
    unlike: "Callable[[], Awaitable[str]] | None" = None


async def report_on(
    run: Run, subject: ReviewSubject, prompt: Callable[[], Awaitable[str]]
) -> ReviewReport | None:
    """Return a usable report, or record that it is not usable and return None."""
    task_id, attempt, unusable = subject.task_id, subject.attempt, subject.unusable
    spec_for = partial(
        reviewer_session,
        run.platform,
        depth=subject.depth,
        task_id=task_id,
        attempt=attempt,
        workspace=subject.folder,
        ruled=(*(["earlier"] if subject.findings else []), *(["tests"] if subject.tests else [])),
    )

    def refuse(payload: str) -> str | None:
        """Refuse one report of a review that lacks rulings. The next one counts as it is."""
        refused = any(call.refused.report for call in talk.calls)
        return None if refused else _rulings_missing_in(payload, subject)

    async with Conversation(
        run,
        role=Role.REVIEWER,
        task_id=task_id,
        attempt=attempt,
        spec_for=spec_for,
        refuse=refuse,
    ) as talk:

        async def words() -> str:
            seen = [call for call in talk.calls if call.end]
            if all(call.failure for call in seen):  # no process has seen the first prompt
                return await prompt()
            return prompts.render("review_again", problem=_problem_of(seen))

        call = await talk.exchange(unusable + 1, words)
    report = read_report(call, subject.depth)
    if subject.unlike and isinstance(report, ReviewReport):
        report = await subject.unlike() or report
    if isinstance(report, ReviewReport):
        return report
    issue = unusable_issue(report)
    run.record(
        ReviewUnusable(task_id=task_id, attempt=attempt, commit=subject.commit, problem=report, issue=issue)
    )
    return None


def _rulings_missing_in(payload: str, subject: ReviewSubject) -> str | None:
    """Return which findings and changed tests of the prompt a report does not rule on, for its Reviewer."""
    report = parse_review_output(payload)
    if isinstance(report, str):
        return None
    own = replace(report, issues=tuple(in_folder(report.issues, str(subject.folder))))
    ruled = {ruling.test for ruling in report.tests}
    findings = [one.id for one in unruled(subject.findings, own)]
    tests = [name for name in subject.tests if name not in ruled]
    told = ["The report was not recorded."]
    if findings:
        told.append(
            f"`earlier` has no ruling on these findings: {', '.join(findings)}. Add an entry for each of "
            "them: its `id`, its `state` and `why`."
        )
    if tests:
        names = "".join(f"\n- {name}" for name in tests)
        told.append(
            "`tests` has no ruling on these changed tests. Add an entry for each of them: its name in "
            f'`test` as it stands here, "accepted" or "refused" in `ruling`, and `why`.{names}\n'
        )
    return f"{' '.join(told)} Report again, with all the rest." if findings or tests else None


def read_report(call: CallView, depth: ReviewDepth = ReviewDepth.STANDARD) -> ReviewReport | str:
    """Return the report of a reviewer's call at this depth, or why it is not usable.

    A report that was refused counts if its turn ended without a usable one.
    """
    if call.payload is not None:
        return parse_review_output(call.payload, depth)
    if failure := call.failure:
        return f"the reviewer did not report: {failure}"
    report = _report_in_words(call, depth)
    if isinstance(report, str) and call.refused.report:
        return parse_review_output(call.refused.report, depth)
    return report


def _report_in_words(call: CallView, depth: ReviewDepth) -> ReviewReport | str:
    if "{" not in call.last_text:
        return "the reviewer ended its turn without a report"
    report = parse_review_output(call.last_text, depth)
    if isinstance(report, ReviewReport) and report.passed and not ends_with_its_only_report(call.last_text):
        return "a report that passes the work has to be sent with the tool, or be the end of the last message"
    return report


def _problem_of(ended: list[CallView]) -> str:
    """Return why the newest report was unusable: its own fault, or else that of the folder."""
    report = read_report(ended[-1]) if ended else ""
    if isinstance(report, str):
        return report
    return "You did not look at the commit that sq verified. The workspace shows it now: look again."
