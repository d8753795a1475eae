"""The questions about the spec before it is planned: as the Planner reports them, and until each is decided.

On a terminal a person is waited for. After that the recommended option of each open question holds, so that a
run that nobody watches never waits. The Workers' model decides contradictions, if the Planner's costs less.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import anyio

from agents.roles.developer import as_question, contradictions_ask, read_answers
from agents.roles.planner import read_findings
from orchestrator.run.asking.answer import ask_model
from orchestrator.run.asking.briefing import conventions
from orchestrator.run.record import Run
from state.journal.events import SpecQuestionDecided, SpecQuestionsShown
from state.records.spec_check import Decider, FaultKind, SpecFinding, problems_in
from state.roles import Role
from state.settings.records import Model
from state.words import asked_line

_REFUSALS = 3  # of one report. After them its usable findings count


class FindingsDemanded:
    """Refuses reports without the list of the spec's faults, or with one that no person could answer."""

    def __init__(self, spec: str) -> None:
        self._spec = spec
        self._left = _REFUSALS

    def __call__(self, payload: str) -> str | None:
        """Return why a report has to be made anew, or None."""
        found = read_findings(payload, self._spec)
        if found is None:
            problems = ["`spec_findings` is missing: send the faults of the spec, or `[]` if it has none"]
        else:
            problems = problems_in(found, self._spec)
        if not problems or self._left <= 0:
            return None
        self._left -= 1
        told = "\n".join(f"- {problem}" for problem in problems)
        return f"The report was not recorded:\n{told}\nReport again, with all the rest."


def findings_in(payload: str, spec: str) -> tuple[SpecFinding, ...]:
    """Return the usable faults of the spec in a report, with their ids."""
    usable = [one for one in read_findings(payload, spec) or () if not problems_in((one,), spec)]
    return tuple(replace(one, id=f"q-{number}") for number, one in enumerate(usable, start=1))


def numbered(spec: str) -> str:
    """Return the lines of a spec with their numbers before them, as findings name them."""
    return "\n".join(f"{number:>4} | {line}" for number, line in enumerate(spec.splitlines(), start=1))


async def settle(run: Run) -> None:
    """Decide each open question about the spec: a person does on a terminal, else the recommended option."""
    await _ask_a_person(run)
    await _ask_a_larger_model(run)
    run.record(
        *(
            SpecQuestionDecided(finding_id=one.id, answer=one.recommended, by=Decider.RECOMMENDED)
            for one in run.view.plan.before.check.open
        )
    )


async def _ask_a_larger_model(run: Run) -> None:
    """Let the Workers' model decide the contradictions that a smaller one found."""
    findings = [one for one in run.view.plan.before.check.open if one.kind is FaultKind.CONTRADICTION]
    if not findings or not _costs_less(run.platform.models[Role.PLANNER], run.platform.models[Role.WORKER]):
        return
    ask = contradictions_ask(
        run.platform,
        findings=findings,
        spec=numbered(run.started.spec_text),
        conventions=conventions(run.view),
        deadline_s=run.limits.question_s,
    )
    read = partial(read_answers, questions=[as_question(one) for one in findings])
    ended, answers = await ask_model(run, ask, read, iteration=1)
    decided = zip(findings, () if isinstance(answers, str) else answers, strict=False)
    run.record(
        ended,
        *(
            SpecQuestionDecided(
                finding_id=one.id, answer=answer.labels[0], by=Decider.DEVELOPER, why=answer.reason
            )
            for one, answer in decided
            if answer.labels
        ),
    )


def _costs_less(model: Model, other: Model) -> bool:
    return bool(model.prices and other.prices and model.prices.input < other.prices.input)


async def _ask_a_person(run: Run) -> None:
    wait_s = run.settings.check_wait_s
    if run.person is None or not wait_s:
        return
    if run.view.plan.before.check.shown is None:
        run.record(SpecQuestionsShown(until=datetime.now(UTC) + timedelta(seconds=wait_s)))
    else:  # an earlier process of the run showed them
        for one in run.view.plan.before.check.open:
            run.person.tell(f"{one.id} waits for you: {asked_line(as_question(one))}")
    shown = run.view.plan.before.check.shown
    left_s = (shown.until - datetime.now(UTC)).total_seconds() if shown else 0.0
    while run.view.plan.before.check.open:
        with anyio.move_on_after(left_s) as clock:
            line = await run.person.line()
        if clock.cancelled_caught or not line.strip():
            return
        said = meant(line, run.view.plan.before.check.open)
        if isinstance(said, str):
            run.person.tell(said)
        else:
            run.record(said)
        left_s = wait_s


def meant(line: str, questions: Sequence[SpecFinding]) -> SpecQuestionDecided | str:
    """Return the decision that a line of a person means, or why it means none.

    A line begins with the question's number, unless only one is open. Then comes the number of an option, or
    an answer in words.
    """
    first, _, rest = line.strip().partition(" ")
    known = {one.id.removeprefix("q-"): one for one in questions}
    two_numbers = first.removeprefix("q-").isdecimal() and rest.strip().isdecimal()
    if len(questions) == 1 and not (two_numbers or (first in known and rest)):
        question, said = questions[0], line.strip()
    elif (question := known.get(first.removeprefix("q-"))) and rest.strip():  # type: ignore[assignment]
        said = rest.strip()
    else:
        numbers = ", ".join(known)
        return f"Begin with the number of a question ({numbers}), then the number of an option, or words"
    if not said.isdecimal():
        return SpecQuestionDecided(finding_id=question.id, answer=said, by=Decider.PERSON)
    if not 1 <= int(said) <= len(question.options):
        return f"Question {question.id} has the options 1 to {len(question.options)}"
    answer = question.options[int(said) - 1]
    return SpecQuestionDecided(finding_id=question.id, answer=answer, by=Decider.PERSON)
