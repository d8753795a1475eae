"""`sq check`: the Planner reads a spec for faults before it is built, and a person answers."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orchestrator.cli import options
from orchestrator.cli.runs import flags
from orchestrator.views.screen import say, say_json

if TYPE_CHECKING:
    from state.journal.view import RunView
    from state.records.spec_check import SpecAnswer, SpecFinding


@click.command("check", short_help="Read a spec for faults before it is built, and answer its questions.")
@options.spec
@click.option("--yes", is_flag=True, help="Answer each question with the recommended option.")
@flags.settings(effort="NAME", budget="USD", sandbox="", context="FOLDER")
@options.models
@options.host
@options.rehearse
@options.state_dir
@options.json_object
def command(
    spec: str,
    yes: bool,
    models: dict[str, str],
    rehearse: Path | None,
    state_dir: Path | None,
    as_json: bool,
    **asked: Any,  # noqa: ANN401  the values of the options, by their names
) -> int:
    """Have the Planner read a spec beside the repository, and show each fault as a question with options.

    On a terminal you are asked one after another. Answers go into SPEC.answers.toml beside the spec, which
    `sq run` reads. The spec itself is never changed. Exit code 0: nothing is open that decides the outcome.
    3: something is.
    """
    from orchestrator.cli.runs.compose import checked
    from orchestrator.cli.runs.plans import taken_over
    from orchestrator.cli.runs.request import BeforeWork, RunEnvironment, RunRequest
    from orchestrator.run.machine import work_until_stopped
    from orchestrator.run.plan.answers import answers_file
    from orchestrator.views.run.look import Detail, Look, LookMode
    from state.outcome import Outcome

    found = taken_over(spec, options.state_folder_of(state_dir))
    request = RunRequest(
        spec=found.file,
        origin=found.origin,
        folder=Path.cwd(),
        flags={**flags.flags_of(asked), **flags.model_flags(models)},
        before=BeforeWork(check_only=True),
        rehearse=rehearse.absolute() if rehearse else None,
        state_dir=state_dir.absolute() if state_dir else None,
    )
    look = Look(mode=LookMode.PLAIN, detail=Detail.NONE)
    given = RunEnvironment(look=look, choose=options.choose_agent(), known=found.known)
    if not as_json:
        say(f"reading {found.file.name} for faults, beside the repository…")
    outcome, view = checked(request, given, work=work_until_stopped)
    if outcome is not Outcome.COMPLETE or not view.plan.before.check.seq:
        cause = view.ended.cause if view.ended else "the check was interrupted"
        say(f"sq: the spec could not be checked: {cause or 'the Planner did not report'}", error=True)
        return outcome.exit_code or Outcome.FAILED.exit_code
    asks = not as_json and sys.stdin.isatty() and sys.stdout.isatty()
    answers = _answers(view, found.file, yes=yes, asks=asks)
    still = [one for one in view.plan.before.check.open if one.id not in answers]
    _show(view, still, answers, str(answers_file(found.file)), as_json=as_json, spec=found.file)
    return Outcome.STUCK.exit_code if any(one.decides for one in still) else 0


def _answers(view: "RunView", spec: Path, *, yes: bool, asks: bool) -> "dict[str, SpecAnswer]":
    """Return the new answers by finding: the recommended ones, or those of the person at the terminal.

    Each is written beside the spec at once, so that Ctrl-C loses none.
    """
    from orchestrator.run.plan.answers import all_answers, write_answers
    from orchestrator.views.descriptions.before import finding_lines
    from state.records.spec_check import Decider

    answers = {}
    for one in view.plan.before.check.open:
        if yes:
            answer, by = one.recommended, Decider.RECOMMENDED
        elif asks:
            say("", *finding_lines(one))
            answer, by = _asked(one), Decider.PERSON
        else:
            break
        if answer:
            answers[one.id] = one.answered(answer, by)
            write_answers(spec, [*all_answers(spec), answers[one.id]])
    return answers


def _asked(finding: "SpecFinding") -> str:
    """Return a person's answer to one question, "" if it stays open."""
    from orchestrator.run.plan.spec_check import meant

    while True:
        given = click.prompt(
            "a number, or words (empty: leave it open)", default="", show_default=False
        ).strip()
        if not given:
            return ""
        said = meant(given, [finding])
        if not isinstance(said, str):
            return said.answer
        say(said)


def _show(
    view: "RunView",
    still: "list[SpecFinding]",
    answers: "dict[str, SpecAnswer]",
    file: str,
    *,
    as_json: bool,
    spec: Path,
) -> None:
    from orchestrator.views.descriptions.before import finding_lines

    check = view.plan.before.check
    stale = check.answers.stale if check.answers else ()
    if as_json:
        rows = [
            {"finding": one, "answer": given.answer if given else None}
            for one in check.findings
            for given in [answers.get(one.id) or check.answer_to(one)]
        ]
        open_ids = [one.id for one in still]
        decides = any(one.decides for one in still)
        say_json(
            {
                "schema": "sq-check/1",
                "spec": str(spec),
                "findings": rows,
                "open": open_ids,
                "decides_outcome": decides,
                "stale": stale,
                "answers": file,
                "cost_usd": view.cost_usd,
            }
        )
        return
    for one in stale:
        say(f"this answer belongs to another version of the spec: {one}")
    if check.answers and (answered := len(check.answers.answers)):
        say(f"{answered} question(s) were answered before, in {file}")
    if still and not answers:
        say(*(line for one in still for line in ("", *finding_lines(one))), "")
    if answers:
        say(f"{len(answers)} answer(s) written to {file}, which sq run reads")
    heavy = sum(one.decides for one in still)
    told = f"{len(check.findings)} question(s) about the spec, {len(still)} open"
    say(f"{told}, {heavy} of them decide the outcome" if still else told)
    if still and not answers:
        say("answer them on a terminal, or take the recommended options with --yes, which sq run takes too")
