"""What a run begins with: its spec (a file, standard input, an issue), a plan, the runs before it.

The text of an issue is kept beside the runs. A plan is never written over an edit. Each end of a run leaves
its figures in `summary.json` and as a line of `history.jsonl` in the user's own state folder, so that no
journal is opened for a forecast.
"""

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from shlex import quote

import msgspec

from orchestrator.run.plan.answers import answers_beside, found_in
from orchestrator.run.plan.plan_file import PlanContents, is_edited, plan_text, read_plan
from orchestrator.views.words import forecast_lines
from state.atomic_files import replace_file
from state.errors import UsageError
from state.journal.events import AnswersFound, Event, PlanGiven, RunStarted, SpecTaken
from state.journal.view import RunView
from state.paths import StateFolder, users_folder
from state.records.plan import ForecastBasis, PastRun, Plan, repository_mark
from state.records.spec_check import SpecAnswer
from state.redaction.known import Known
from state.words import matched

_STDIN = "-"
_ISSUE = "gh:"
_FOLDER = "specs"  # in the state folder
_LONGEST = 2_000_000  # bytes from standard input


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecFound:
    """A spec as a file. `issue`: where its text is from, as `OWNER/REPO#N`. `notes` say what was left out."""

    file: Path
    issue: str = ""
    notes: tuple[str, ...] = ()
    known: tuple[Known, ...] = ()

    @property
    def origin(self) -> SpecTaken | None:
        """The event that says where its text is from."""
        return SpecTaken(issue=self.issue) if self.issue else None


def taken_over(given: str, state: Path) -> SpecFound:
    """Return the spec that was named. A text that is no file is written below the state folder.

    Raises:
        UsageError: standard input is a terminal or too long, or the issue cannot be read.
    """
    if given == _STDIN:
        return SpecFound(file=kept_spec(state, "stdin", _from_stdin()))
    if given.startswith((_ISSUE, "https://", "http://")):
        import anyio

        return anyio.run(_from_issue, given, state)
    return SpecFound(file=Path(given).absolute())


def _from_stdin() -> bytes:
    if sys.stdin.isatty():
        raise UsageError("--spec - reads standard input, which is a terminal here: pipe the spec into it")
    data = sys.stdin.buffer.read(_LONGEST + 1)
    if len(data) > _LONGEST:
        raise UsageError(f"--spec -: more than {_LONGEST:,} bytes came. A spec is a text that people read")
    return data


async def _from_issue(given: str, state: Path) -> SpecFound:
    from orchestrator.cli.version import sq_version
    from orchestrator.git.repository import find_repository
    from orchestrator.hosting.github import GitHub
    from orchestrator.hosting.issue_spec import spec_of
    from orchestrator.hosting.remote import api_address, find_remote, numbered, take_token
    from orchestrator.hosting.service import Service

    checkout, here = Path.cwd(), None
    with suppress(UsageError):  # `sq fleet submit` needs no checkout
        repository = await find_repository(checkout)
        checkout = repository.root
        here = (await find_remote(checkout, repository.branch, os.environ)).repository
    named = numbered(given, here)
    address = api_address(named.repository.host, os.environ)
    token = take_token(named.repository.host)
    async with Service.at(address, token, agent=f"sq/{sq_version()}") as service:
        github = GitHub(service=service, repository=named.repository)
        spec = await spec_of(github, named, checkout, is_here=named.repository == here)
    file = kept_spec(
        state, f"{named.repository.owner}-{named.repository.name}-{named.number}", spec.text.encode()
    )
    return SpecFound(file=file, issue=str(named), notes=spec.notes, known=token.known)


def kept_spec(state: Path, name: str, data: bytes) -> Path:
    """Keep a text as a file whose name follows from its content, so that no earlier run's spec changes."""
    folder = state / _FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / f"{name}-{hashlib.sha256(data).hexdigest()[:8]}.md"
    replace_file(file, data, sync=False)
    return file


def refuse_edited(file: Path) -> None:
    """Refuse to write a plan where somebody has edited one, or where another file is.

    Raises:
        UsageError: it says what to do.
    """
    if is_somebodys(file):
        raise UsageError(
            f"--plan-only {file}: there is a file that sq did not write, or that was edited since. Build it "
            f"with --plan {file}, move it away, or name another one"
        )


def is_somebodys(file: Path) -> bool:
    """Whether a file is there that is not as sq wrote it."""
    try:
        return is_edited(file.read_text("utf-8"))
    except FileNotFoundError:
        return False
    except (OSError, UnicodeDecodeError):
        return True


def leave_plan(view: RunView, run_id: str) -> str:
    """Write the plan of a run where it was asked for, and return a sentence on it, or "" without a plan.

    A file that was edited meanwhile stays as it is, and the plan goes beside it.
    """
    if not (view.settings and view.settings.plan_to and view.tasks):
        return ""
    file, kept = Path(view.settings.plan_to), ""
    if is_somebodys(file):
        kept = f"{file} was edited meanwhile and stays as it is. "
        file = file.with_name(f"{file.stem}-{run_id}{file.suffix}")
    name = shown(file)
    replace_file(file, plan_of(view, name).encode(errors="backslashreplace"), sync=False)
    file.chmod(0o644)
    spec = shown(Path(view.started.spec_name)) if view.started else "SPEC.md"
    return f"{kept}plan: {name}. Edit it, then: sq run --spec {spec} --plan {name}"


def shown(file: Path) -> str:
    """Return a path as a command in this folder names it."""
    here = Path.cwd()
    return quote(str(file.relative_to(here) if file.is_relative_to(here) else file))


def plan_of(view: RunView, file_name: str) -> str:
    """Return the plan of a run as such a file.

    Raises:
        UsageError: the run has no plan yet.
    """
    if not (view.started and view.tasks):
        raise UsageError("this run has no plan yet. `sq status` shows where it is")
    spec = view.started.spec_text
    plan = Plan(
        tasks=tuple(task.task for task in view.tasks.values()),
        criteria=view.plan.criteria,
        tests_that_change=view.plan.tests_that_change,
        readings=view.plan.readings,
    )
    contents = PlanContents(
        plan=plan,
        reviewed=view.plan.reviewed,
        suggestions=view.plan.suggestions,
        decisions=decisions_in(view),
    )
    found = view.plan.before.forecast
    notes = forecast_lines(found) if found else []
    spec_name = shown(Path(view.started.spec_name))
    return plan_text(contents, spec, spec_name=spec_name, file_name=file_name, notes=notes)


def decisions_in(view: RunView) -> tuple[SpecAnswer, ...]:
    """Return all answers about the spec that hold in a run, as a file keeps them."""
    spec = view.started.spec_text if view.started else ""
    given = (one.given for one in view.plan.before.check.held if one.given.quote)
    return found_in(Path(), given, spec).answers


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
        readings=contents.plan.readings,
        reviewed=contents.reviewed,
        suggestions=contents.suggestions,
    )
    return [*([decided] if decided.answers or decided.stale else []), given]


_NAME = "history.jsonl"
SUMMARY = "summary.json"
_NEWEST = 100  # runs of each of the two places
_MOST_BYTES = 400_000


def basis_of(started: RunStarted, run_folder: Path) -> ForecastBasis:
    """Return what forecasts of a run rest on: the runs before it, newest first."""
    folder = run_folder.parents[1]
    every = (*_of_machine(), *_of_folder(folder))
    found = {one.run_id: one for one in every if one.run_id != run_folder.name}
    return ForecastBasis(
        past=tuple(found.values()),
        repository=repository_mark(started.repository),
        rehearsal=bool(started.rehearsal),
    )


def remember(past: PastRun) -> None:
    """Add an ended run to those of the machine. Of a run that ends again the newest end counts."""
    file = users_folder() / _NAME
    line = msgspec.json.encode(past) + b"\n"
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if file.is_file() and file.stat().st_size > _MOST_BYTES:
        kept = file.read_bytes().splitlines(keepends=True)[-_NEWEST:]
        replace_file(file, b"".join([*kept, line]), sync=False)
        return
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab") as out:
        out.write(line)


def _of_folder(folder: Path) -> Iterator[PastRun]:
    """Yield the newest runs of a state folder that have ended, by their summaries."""
    summaries = (folder / "runs" / run / SUMMARY for run in reversed(StateFolder(folder).run_ids()))
    for file in islice((one for one in summaries if one.is_file()), _NEWEST):
        try:
            said = json.loads(file.read_bytes()).get("past")
        except (OSError, ValueError):
            continue
        yield from _usable(said)


def _of_machine() -> Iterator[PastRun]:
    try:
        lines = (users_folder() / _NAME).read_bytes().splitlines()[-_NEWEST:]
    except OSError:
        return
    for line in reversed(lines):
        try:
            said = json.loads(line)
        except ValueError:
            continue  # a line that was cut when the machine stopped
        yield from _usable(said)


def _usable(said: object) -> Iterator[PastRun]:
    try:
        yield msgspec.convert(said, PastRun)
    except msgspec.ValidationError:
        return
