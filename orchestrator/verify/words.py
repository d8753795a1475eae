"""A verification in words for people who have never heard of sq: while it goes on, and its result."""

from collections.abc import Iterator
from pathlib import Path

from orchestrator.checks.objecting import CODE_BEFORE, SAME_INPUTS
from orchestrator.checks.order import CHECKS
from orchestrator.run.evidence.objections import whole_results
from orchestrator.run.evidence.summary import said
from orchestrator.verify.judgement import Judgement, Reason
from orchestrator.verify.ranges import Work
from orchestrator.views.words import duration
from state.hidden import visible
from state.journal import events as e
from state.journal.events import Stored
from state.journal.view import RunView
from state.outcome import Outcome
from state.records.objections import STRENGTH, Proof, Weight
from state.words import baseline_words, count_words, listed, strength_words

_RUNS = 3.4  # of the project's commands in all, as a rule, of which the first is that at the base
_EXCERPT = 12  # lines
_NAMED = 8


class Progress:
    """The lines of a verification while it goes on, and what it does now."""

    def __init__(self) -> None:
        self.now = ""
        self._last_about = ""
        self._base_s = 0.0
        self._spent = 0.0
        self._asked: list[str] = []

    def lines(self, stored: Stored, view: RunView) -> Iterator[str]:  # noqa: C901  one case an event
        """Yield the lines of an event, and keep what is done now."""
        match stored.event:
            case e.WorkGiven():
                yield _head(view)
            case e.WorkspaceSetUp() as done if done.runs:
                yield f"set-up   {'; '.join(f'`{one.command}`' for one in done.runs)}"
            case e.BaselineTaken() as taken:
                self._base_s = sum(check.run.seconds for check in taken.checks)
                for check in taken.checks:
                    yield f"before   {baseline_words(check)}"
                yield from (f"note     {one}" for one in taken.notes)
                if taken.checks:
                    yield _can_be_asked(taken)
            case e.VerificationFinished() as finished:
                for one in finished.runs:
                    end = "passed" if one.passed else "did not pass"
                    yield f"now      `{one.command}`: {end}, {count_words(one.count)}"
            case e.CommandStarted() as begun:
                self._begin(begun)
            case e.CommandEnded() as ended:
                self._spent += ended.seconds
                self.now = ""
                if (about := self._last_about) and about not in self._asked:
                    self._asked.append(about)
                    yield f"asked    {about}"
            case _:
                pass

    def _begin(self, begun: e.CommandStarted) -> None:
        self._last_about = begun.about
        what = begun.about or {"baseline": "the base", "set-up": "the set-up"}.get(begun.purpose, "the work")
        left = max(0.0, _RUNS * self._base_s - self._spent)
        count = f"{len(self._asked) + 1} of about {len(_QUESTIONS)}, " if begun.about else ""
        about_left = (
            f"about {duration(left)} left" if left else "nearly done" if self._base_s else "the first"
        )
        self.now = f"{what} ({count}{about_left}): `{begun.command}`"


_QUESTIONS = tuple(dict.fromkeys(one.question for one in CHECKS if one.question))


def _head(view: RunView) -> str:
    base = view.started.base_commit[:10] if view.started else ""
    return f"work     {base} to {view.whole.commit[:10] or 'the files as they are'}"


def _can_be_asked(taken: "e.BaselineTaken") -> str:
    """Return what the commands can answer."""
    named = [one.run.command for one in taken.checks if one.run.count.tests]
    counted = [one.run.command for one in taken.checks if one.run.count.ran and not one.run.count.tests]
    if named:
        return (
            f"can ask  which tests fail, and what each test needs ({listed([f'`{one}`' for one in named])})"
        )
    if counted:
        return "can ask  how many tests fail, and whether they need the work, but not which"
    return "can ask  by exit codes alone: no test of these commands is known by name"


def result_lines(view: RunView, judgement: Judgement) -> Iterator[str]:
    """Yield the result: what speaks against the work, what is missing, what speaks for it, and the end."""
    yield ""
    for one in whole_results(view):
        yield f"`{one.run.command}`: {said(one)}"
    for reason in judgement.reasons:
        told = reason.objection.check == SAME_INPUTS or reason.objection.weight is not Weight.NOTE
        if reason.is_open or told:
            yield from reason_lines(reason)
    # Tests that need a function do not show what was changed in it.
    unshown = any(one.objection.check == CODE_BEFORE for one in judgement.open)
    before = {one.command for one in judgement.proofs if unshown or one.check == CODE_BEFORE}
    for proof in judgement.proofs:
        if proof.check == CODE_BEFORE:
            yield f"for the work: {_tests(proof)} on the code before it"
        elif proof.check != STRENGTH and proof.needs_work and proof.command not in before:
            yield f"for the work: {_tests(proof)} without it"
    yield from (f"strength: {one}" for one in strength_words(judgement.proofs))
    if judgement.only_prose:
        yield "for the work: it changes documents only, so there is no code to ask about"
    yield ""
    yield judgement.says


def _tests(proof: Proof) -> str:
    if not proof.tests:
        return f"`{proof.command}` fails"
    more = f" and {len(proof.tests) - _NAMED} more" if len(proof.tests) > _NAMED else ""
    count = "1 test" if len(proof.tests) == 1 else f"{len(proof.tests)} tests"
    fails = "fails" if len(proof.tests) == 1 else "fail"
    return f"{count} of `{proof.command}` ({listed(proof.tests[:_NAMED])}{more}) {fails}"


def reason_lines(one: Reason) -> Iterator[str]:
    """Yield one reason: what was asked and seen, where, what to do, and how it is named."""
    objection = one.objection
    kinds = {Weight.UNKNOWN: "UNKNOWN", Weight.NOTE: "MISSING" if one.is_open else "NOTE"}
    kind = "AGAINST" if objection.against else kinds.get(objection.weight, "MISSING")
    yield f"{'accepted' if one.accepted else kind}  {one.sentence}"
    if objection.place and objection.place not in objection.sentence:
        yield f"    where: {objection.place}"
    if objection.remedy and one.is_open:
        yield f"    do: {objection.remedy}"
    for line in _excerpt(objection.evidence):
        yield f"    | {line}"
    if one.explained:
        yield f"    a commit says: {one.explained}"
    if one.accepted:
        yield f"    accepted by {one.accepted}"
    elif one.is_open:
        yield f"    name: {one.id}"


def _excerpt(evidence: str) -> list[str]:
    """Return lines of an evidence: of output the last ones, in which the failures are named."""
    lines = [one for one in evidence.strip().splitlines() if one.strip()]
    return lines[:_EXCERPT] if lines and lines[0].startswith(("- ", "+ ")) else lines[-_EXCERPT:]


def summary(work: Work, view: RunView, judgement: Judgement) -> str:
    """Return the result as Markdown, for the summary of a job."""
    sign = {Outcome.COMPLETE: "✅", Outcome.FAILED: "❌"}.get(judgement.outcome, "⚠️")
    lines = [
        f"## {sign} {judgement.says}",
        "",
        f"`{work.base[:10]}` to `{work.head[:10] or 'files'}`",
        "",
    ]
    lines += [f"- `{_plain(one.run.command)}`: {_plain(said(one))}" for one in whole_results(view)]
    for one in judgement.reasons:
        if one.is_open:
            lines += ["", f"### {_plain(one.objection.check)}", ""]
            lines += [f"    {visible(part)}" for line in reason_lines(one) for part in line.splitlines()]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    return visible(" ".join(text.replace("`", "'").split()))


def folder_line(folder: Path) -> str:
    """Return where everything is kept."""
    return f"kept in {folder}"
