"""What a new run is given before its work: answers about the spec, a person's plan, folders to read."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from orchestrator.cli.runs.request import BeforeWork
from orchestrator.run.plan.answers import answers_beside, found_in
from orchestrator.run.plan.plan_file import read_plan
from state.errors import UsageError
from state.journal.events import AnswersFound, Event, PlanGiven
from state.settings.records import Settings, Workflow
from state.words import matched


def prepare(spec: Path, text: str, plan: Path | None) -> list[Event]:
    """Return the first events of a run: the answers beside its spec and in a plan, and the plan.

    Raises:
        UsageError: one of these files cannot be used.
    """
    answers = answers_beside(spec, text)
    if plan is None:
        return [answers] if answers else []
    contents = read_plan(plan, text)
    decided = found_in(plan, contents.decisions, text)
    if answers:  # what a person wrote beside the spec wins over what an older plan was made with
        pairs = zip(decided.answers, matched(answers.answers, decided.answers), strict=True)
        others = tuple(one for one, beside in pairs if beside is None)
        stale = tuple(dict.fromkeys((*answers.stale, *decided.stale)))
        files = f"{answers.file} and {plan}" if others else answers.file
        decided = AnswersFound(file=files, answers=(*answers.answers, *others), stale=stale)
    given = PlanGiven(
        file=str(plan),
        tasks=contents.plan.tasks,
        criteria=contents.plan.criteria,
        tests_that_change=contents.plan.tests_that_change,
        reviewed=contents.reviewed,
        suggestions=contents.suggestions,
    )
    return [*([decided] if decided.answers or decided.stale else []), given]


def refuse_excluding(before: BeforeWork, settings: Settings) -> None:
    """Raise `UsageError` for requests that exclude each other.

    Raises:
        UsageError: it says which, and what to do.
    """
    if before.plan and settings.workflow is not Workflow.ORCHESTRATED:
        raise UsageError(f"--plan needs the workflow orchestrated, and this one is {settings.workflow}")
    if before.check_only and settings.workflow is not Workflow.ORCHESTRATED:
        raise UsageError(
            f"sq check asks the Planner, and the workflow {settings.workflow} has none: set orchestrated"
        )
    if before.approve and settings.dry_run:
        raise UsageError("--approve waits before the work, and this run ends with its plan: leave one out")


def context_folders(
    given: Iterable[str], folder: Path, repository: Path, environ: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the folders of `--context`, absolute and without links.

    Args:
        given: as they were typed, relative to `folder`, or to the repository if nothing is there.
        folder: where sq was called.
        repository: the run's.
        environ: of sq, for the home.

    Raises:
        UsageError: one is missing, or would show what agents may not see. It says what to name instead.
    """
    home = Path(environ.get("HOME") or Path.home()).resolve()
    found = []
    for one in given:
        path = (folder / Path(one).expanduser()).resolve()
        path = path if path.exists() else (repository / Path(one).expanduser()).resolve()
        if not path.is_dir():
            raise UsageError(f"--context {one}: there is no such folder. Name one that agents may read")
        if path.is_relative_to(repository.resolve()):
            raise UsageError(f"--context {one}: it is inside the repository, which agents see anyway")
        if repository.resolve().is_relative_to(path):
            raise UsageError(f"--context {one}: it holds the repository itself. Name a folder beside it")
        if home.is_relative_to(path):
            raise UsageError(
                f"--context {one}: it holds your home folder, with your keys. Name one checkout in it"
            )
        found.append(str(path))
    return tuple(dict.fromkeys(found))
