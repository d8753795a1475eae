"""Lines of the baseline, the set-up of worktrees, verification and its proofs."""

from typing import assert_never

from orchestrator.views.words import said, short
from state.journal import events as e
from state.journal.view import RunView
from state.records.commands import CommandRun
from state.words import baseline_words, count_words, listed, not_run_words

_SQS_OWN = "sq's own worktree"


def lines(view: RunView, event: e.EvidenceEvent) -> list[str]:
    """The lines that an event of the evidence adds to the story."""
    match event:
        case e.BaselineStarted():
            return _baseline_started(event)
        case e.BaselineTaken():
            return _baseline_taken(event)
        case e.SetUpStarted():
            return _set_up_started(event)
        case e.WorkspaceSetUp():
            return _set_up(view, event)
        case e.VerificationFinished():
            return _verified(event)
        case e.ProofsTaken():
            return _proofs_taken(event)
        case e.VerificationStarted():
            return []
        case _:
            assert_never(event)


def _baseline_started(event: e.BaselineStarted) -> list[str]:
    return [f"baseline: {', '.join(f'`{command}`' for command in event.commands)} on the untouched commit"]


def _baseline_taken(event: e.BaselineTaken) -> list[str]:
    checks = [f"baseline: {baseline_words(check)}" for check in event.checks]
    notes = [*event.notes, *([not_run_words(event.not_run)] if event.not_run else [])]
    return [*checks, *(f"baseline: {note}" for note in notes)]


def _set_up_started(event: e.SetUpStarted) -> list[str]:
    subject = event.task_id or _SQS_OWN
    if event.waits:
        return [f"{subject}: waits for another set-up"]
    return [f"{subject}: set-up begins: {'; '.join(event.steps)}"]


def _set_up(view: RunView, event: e.WorkspaceSetUp) -> list[str]:
    subject = event.task_id or _SQS_OWN
    copied = [f"{subject}: its worktree got {len(event.copied)} ignored file(s)"] if event.copied else []
    again = [f"{subject}: set-up: {', '.join(event.again)} copied from the first one"] if event.again else []
    settings = view.started.settings if view.started else None
    by_itself = bool(settings and not settings.worktree_setup)
    told = [(one.command, _set_up_said(one, by_itself=by_itself)) for one in event.runs]
    return [
        *copied,
        *again,
        *(f"{subject}: set-up `{command}`: {said_}" for command, said_ in told),
        *(f"{subject}: set-up: {line}" for line in event.not_again),
    ]


def _set_up_said(done: CommandRun, *, by_itself: bool) -> str:
    if done.passed or not by_itself:
        return f"{said(done)} ({done.seconds:.1f} s)"
    lines = done.output_tail.strip().splitlines()
    why = done.problem or (short(lines[-1]) if lines else f"exit code {done.exit_code}")
    return f"failed: {why}. The baseline shows whether the commands can run"


def _verified(event: e.VerificationFinished) -> list[str]:
    subject = event.task_id or "the merged work"
    if not event.runs:
        return [f"{subject}: nothing to verify with"]
    return [
        *(
            f"{subject}: sq ran `{done.command}`: {said(done)}, {count_words(done.count)} "
            f"({done.seconds:.1f} s)"
            for done in event.runs
        ),
        *(f"{subject}: flaky: {name} failed and passed" for name in event.flaky),
    ]


def _proofs_taken(event: e.ProofsTaken) -> list[str]:
    subject = event.task_id or "the merged work"
    lines = []
    for change in event.changes:
        by = "announced by the spec or the plan" if change.expected_by else "not announced"
        lines.append(f"{subject}: the test {change.name} {change.kind} ({by})")
    lines += [f"{subject}: sq could not check {one}" for one in event.untold]
    lines += [
        f"{subject}: `{one.command}` passes although a test fails (a failing one was added in {one.path})"
        for one in event.canaries
        if one.caught is False
    ]
    lines += [
        f"{subject}: `{one}` passes here and not on a clean copy of the files" for one in event.only_here
    ]
    if event.unproven:
        lines.append(f"{subject}: these tests pass without the change too: {listed(event.unproven)}")
    return lines
