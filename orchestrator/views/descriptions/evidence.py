"""The project's own commands in words: the baseline, the set-up of worktrees, verification and its proofs."""

import re
from collections.abc import Collection, Iterable
from typing import assert_never

from orchestrator.views.descriptions.description import COMMAND, Place, Quote, Tone, Words
from orchestrator.views.objections import told
from orchestrator.views.words import duration, said, short
from state.hidden import without_codes
from state.journal import events as e
from state.journal.view import RunView
from state.records.commands import BaselineCheck, CommandRun
from state.words import (
    baseline_words,
    count_words,
    facts_words,
    groups_of,
    not_run_words,
    noticed_words,
    strength_words,
)

_SQS_OWN = "sq's own worktree"
_MERGED = "the merged work"
_LONG_S = 10.0  # a command that takes longer is told when it begins
# A line of a set-up's output that says why it failed, where the last one only names a log.
_TELLS = re.compile(r"getaddrinfo|could not resolve|name resolution|\berror(?:\[\w+\])?: \S", re.IGNORECASE)
_SHORT_COMMAND = 40  # characters of a command of a set-up, once it was named in full
_TAIL = 1_500  # characters of the output of a command that failed


def evidence_words(view: RunView, event: e.EvidenceEvent) -> list[Words]:  # noqa: C901, PLR0912  one case an event
    """Return the words of an event of the project's commands."""
    match event:
        case e.BaselineStarted():
            text = f"{_codes(event.commands)} on the untouched commit"
            return [Words(kind="baseline", subject="baseline", text=text)]
        case e.BaselineTaken():
            lines = [*(_at_base(check, event.kept) for check in event.checks), *event.notes]
            lines += [not_run_words(event.not_run)] if event.not_run else []
            return [Words(kind="baseline", subject="baseline", text=one) for one in lines]
        case e.SetUpStarted():
            steps = "; ".join(_step(view, one) for one in event.steps)
            text = "waits for another set-up" if event.waits else f"set-up begins: {steps}"
            return [Words(kind="set-up", subject=event.task_id or _SQS_OWN, text=text)]
        case e.WorkspaceSetUp():
            return _set_up(view, event)
        case e.WorkGiven():
            text = f"the work is {event.commit[:10] or 'the files as they are'}"
            return [Words(kind="work", subject=_MERGED, text=text)]
        case e.VerificationStarted():
            text = f"sq runs {_codes(event.commands)}"
            return [Words(kind="verification", subject=event.task_id or _MERGED, text=text, is_told=False)]
        case e.VerificationFinished():
            return _verified(view, event)
        case e.ProofsTaken():
            return _proofs(event)
        case e.TurnAwaited():
            text = f"`{event.command}` waits for its turn behind {_codes(event.behind)}"
            return [Words(kind="turn", subject=event.task_id or _SQS_OWN, text=text, is_told=False)]
        case e.TurnTaken():
            text = f"`{event.command}` {'waits no longer' if event.given_up else 'begins'}"
            return [Words(kind="turn", subject=event.task_id or _SQS_OWN, text=text, is_told=False)]
        case e.CommandStarted():
            return [_begun(view, event)]
        case e.CommandEnded():
            end = "was cut off after" if event.cut_off else "took"
            text = f"command {event.number} {end} {event.seconds:.1f} s"
            return [Words(kind="command", subject=event.task_id or _MERGED, text=text, is_told=event.cut_off)]
        case _:
            assert_never(event)


def _begun(view: RunView, event: e.CommandStarted) -> Words:
    """Return that a command begins. One that took long before, and now runs as a whole, is told."""
    took = 0.0 if event.part else view.evidence.took.get(event.command, 0.0)
    which = f" {event.nth} of {event.of}" if event.of > 1 and not event.part else ""
    asked = f" ({event.about})" if event.about else ""
    before = f", which took {duration(took)} before" if took else ""
    part = "some tests of " if event.part else ""
    text = f"sq runs{which} for the {event.purpose}{asked}: {part}`{event.command}`{before}"
    of_the_run = {"baseline": "baseline", "set-up": _SQS_OWN}.get(event.purpose, _MERGED)
    return Words(kind="command", subject=event.task_id or of_the_run, text=text, is_told=took >= _LONG_S)


def _at_base(check: BaselineCheck, kept: Collection[str]) -> str:
    """Return a command's result at the base. `kept`: an earlier process of this run ran it."""
    same = ", not run again: nothing that it depends on has changed" if check.run.command in kept else ""
    return f"{baseline_words(check)}{same}"


def _step(view: RunView, step: str) -> str:
    """Return a step of a set-up. One that ran or was named before is known by the file that asks for it."""
    command, _, why = step.rpartition(" (")
    notes = view.started.notes if view.started else ()
    is_known = command in view.evidence.took or any(command in note for note in notes)
    return f"that of {why.removesuffix(')')}" if command and is_known else step


def _codes(commands: Iterable[str]) -> str:
    return ", ".join(f"`{command}`" for command in commands)


def _set_up(view: RunView, event: e.WorkspaceSetUp) -> list[Words]:
    subject = event.task_id or _SQS_OWN
    settings = view.started.settings if view.started else None
    by_itself = bool(settings and not settings.worktree_setup)
    told = [f"its worktree got {len(event.copied)} ignored file(s)"] if event.copied else []
    told += [f"set-up: {', '.join(event.again)} copied from the first one"] if event.again else []
    return [
        *(Words(kind="set-up", subject=subject, text=text) for text in told),
        *(_set_up_command(subject, one, by_itself=by_itself) for one in event.runs),
        *(Words(kind="set-up", subject=subject, text=f"set-up: {one}") for one in event.not_again),
        *(
            Words(kind="set-up", subject=subject, text=f"set-up: left out: {one}", is_told=False)
            for one in event.left_out
        ),
    ]


def _set_up_command(subject: str, done: CommandRun, *, by_itself: bool) -> Words:
    result = f"{said(done)} ({done.seconds:.1f} s)"
    if by_itself and not done.passed:
        lines = without_codes(done.output_tail).strip().splitlines()
        telling = [one for one in lines if _TELLS.search(one)] or lines
        why = done.problem or (short(telling[-1]) if lines else f"exit code {done.exit_code}")
        result = f"failed: {why}. The baseline shows whether the commands can run"
    return Words(
        kind="set-up",
        subject=subject,
        text=f"set-up `{short(done.command, _SHORT_COMMAND)}`: {result}",
        tone=Tone.GOOD if done.passed else Tone.BAD,
        quotes=_output(done),
    )


def _verified(view: RunView, event: e.VerificationFinished) -> list[Words]:
    subject, of = event.task_id or _MERGED, event.tree[:10]
    if not event.runs:
        return [Words(kind="verification", subject=subject, text="nothing to verify with", tone=Tone.WARN)]
    return [
        *(
            Words(
                kind="verification",
                subject=subject,
                text=f"sq ran `{done.command}`: {_result(done, view.baseline.checks.get(done.command))}",
                tone=Tone.GOOD if done.passed else Tone.BAD,
                quotes=_output(done),
                of=of,
            )
            for done in event.runs
        ),
        *(
            Words(
                kind="verification",
                subject=subject,
                text=f"{'flaky' if one.is_flaky else 'run again'}: {one.words}",
                tone=Tone.WARN,
            )
            for one in event.reruns
        ),
    ]


def _result(done: CommandRun, check: BaselineCheck | None) -> str:
    counted = count_words(done.count)
    if done.complaints is not None:
        counted = f"{len(done.complaints)} complaint{'' if len(done.complaints) == 1 else 's'}"
        before = check.run.complaints if check else None
        if before and done.complaints:  # it failed at the base too: only new ones count
            return f"{counted}, {len(before)} before any change ({done.seconds:.1f} s)"
    again = " when it was tried once more alone" if done.use.before and not done.timed_out else ""
    return f"{said(done)}{again}, {counted} ({done.seconds:.1f} s)"


def _output(done: CommandRun) -> tuple[Quote, ...]:
    """Return the end of a command's output. That of a command that passed is seldom read."""
    tail = without_codes(done.output_tail).strip()
    if done.passed:
        return (Quote(who=COMMAND, texts=(tail,), place=Place.MORE, title="output"),)
    return (Quote(who=COMMAND, texts=(tail[-_TAIL:],), place=Place.BLOCK, title="the output ends"),)


def _proofs(event: e.ProofsTaken) -> list[Words]:
    proof = "a test fails without the work" if event.proven else "no test is known to fail without the work"
    lines = [*map(told, groups_of(event.objections)), *facts_words(event.facts)]
    subject = event.task_id or _MERGED
    tone = Tone.GOOD if event.proven else Tone.WARN
    return [
        Words(kind="proofs", subject=subject, text=proof, tone=tone, of=event.tree[:10], is_told=False),
        *(Words(kind="proofs", subject=subject, text=one) for one in noticed_words(event.proofs)),
        *(Words(kind="proofs", subject=subject, text=one) for one in strength_words(event.proofs)),
        *(Words(kind="proofs", subject=subject, text=one, tone=Tone.WARN) for one in lines),
    ]
