"""Whole runs; only the model's words are written down.

Tests marked `claude` start the real Claude Code. The others are about sq's decisions, and play it in this process
(`language.scripted_agent`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from language.hosting import SLUG, TOKEN, HostingStandIn, hosting
from language.many_tasks import WORDS
from language.scripted import SPEC, Done, Rehearse, analyzes
from language.scripted_agent import played

from agents.sdks import import_sdks
from agents.session.port import ChooseAgent
from orchestrator.cli.main import cli
from orchestrator.cli.runs.compose import run_again, run_new
from orchestrator.cli.runs.reported import FilesAtEnd
from orchestrator.cli.runs.request import GoOn, OpenJournal, RunEnvironment, RunRequest
from orchestrator.run.machine import work_until_stopped
from orchestrator.run.ports import Person
from state.journal.store import Journal, JournalReader
from state.outcome import Outcome
from state.paths import StateFolder
from state.settings.config import user_file


@pytest.fixture(scope="session", autouse=True)
def _sdks() -> None:
    """Import both, so that no test's deadline has their seconds in it."""
    import_sdks()


@pytest.fixture
def claude(request: pytest.FixtureRequest) -> ChooseAgent | None:
    """How the agents of roles are chosen, None for the real Claude Code."""
    return None if request.node.get_closest_marker("claude") else played


@pytest.fixture
def rehearse(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], claude: ChooseAgent | None
) -> Rehearse:
    """Run callers of a scenario in the repository, in this process, and say what became of it.

    It has to end complete, or as `ends` says. None: the test looks itself.
    """

    def run(
        callers: Mapping[str, Sequence[Mapping[str, Any]]],
        *,
        spec: str = SPEC,
        effort: str = "medium",
        verify: tuple[str, ...] = (),
        folder: Path | None = None,
        settings: Mapping[str, object] | None = None,
        plan_review: bool = False,
        steering: str = "none",
        usage: Mapping[str, int] | None = None,
        open_journal: OpenJournal = Journal,
        choose: ChooseAgent | None = claude,
        person: Person | None = None,
        ends: Outcome | None = Outcome.COMPLETE,
        **asked: Any,
    ) -> Done:
        config = user_file()
        config.parent.mkdir(parents=True, exist_ok=True)
        review = "" if plan_review else "review_plan = false\n"
        config.write_text(f'[efforts.{effort}]\n{review}power_steering = "{steering}"\n')
        scenario = tmp_path / "scenario.yaml"
        told = {
            "scenario": 1,
            "description": "a test",
            "usage": dict(usage or {}),
            "callers": {"planner/analysis/*": [analyzes()], **callers},
        }
        scenario.write_text(yaml.dump(told, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper)))
        spec_file = asked.pop("spec_at", tmp_path / "spec.md")
        spec_file.write_text(spec)
        where = folder or repository
        given = {"effort": effort, "verify": verify, **(settings or {})}
        flags = {key: (f"--{key}", value) for key, value in given.items()}
        request = RunRequest(spec=spec_file, folder=where, flags=flags, rehearse=scenario, **asked)
        environment = RunEnvironment(
            open_journal=open_journal, end_report=FilesAtEnd(), choose=choose, person=person
        )
        outcome = run_new(request, environment, work=work_until_stopped)
        run_folder = StateFolder(asked.get("state_dir") or where / ".sq").find(None)
        return done(outcome, run_folder, capsys, ends)

    return run


@pytest.fixture
def words(repository: Path, shell: Callable[..., str]) -> Path:
    """A repository with a line of words that tasks add to."""
    (repository / WORDS).write_text("ant\n")
    shell(repository, "git", "add", WORDS)
    shell(repository, "git", "commit", "--quiet", "-m", "Words")
    return repository


@pytest.fixture
def commit(repository: Path, shell: Callable[..., str]) -> Callable[[Mapping[str, str]], Path]:
    """Commit files in the repository, given as path=text."""

    def add(files: Mapping[str, str]) -> Path:
        for name, text in files.items():
            (repository / name).parent.mkdir(parents=True, exist_ok=True)
            (repository / name).write_text(text)
        shell(repository, "git", "add", "--all")
        shell(repository, "git", "commit", "--quiet", "-m", "Files")
        return repository

    return add


@pytest.fixture
def resume(capsys: pytest.CaptureFixture[str], claude: ChooseAgent | None) -> Callable[..., Done]:
    """Go on with a run that is over, in this process; larger limits and tasks to retry by keyword."""

    def again(
        run: Done,
        open_journal: OpenJournal = Journal,
        ends: Outcome | None = Outcome.COMPLETE,
        **go_on: Any,
    ) -> Done:
        environment = RunEnvironment(open_journal=open_journal, end_report=FilesAtEnd(), choose=claude)
        outcome = run_again(run.folder, environment, GoOn(**go_on), work=work_until_stopped)
        return done(outcome, run.folder, capsys, ends)

    return again


def done(
    outcome: Outcome, folder: Path, capsys: pytest.CaptureFixture[str], ends: Outcome | None = None
) -> Done:
    with JournalReader(folder) as journal:
        left = Done(outcome, folder, journal.read(), capsys.readouterr().out)
    assert ends is None or left.outcome is ends, left.output
    return left


@pytest.fixture
def service(repository: Path, tmp_path: Path, shell: Callable[..., str]) -> Iterator[HostingStandIn]:
    """The service, with a real repository behind it that the checkout calls by the service's address."""
    bare = tmp_path / "hosted.git"
    shell(tmp_path, "git", "init", "--quiet", "--bare", "--initial-branch=main", str(bare))
    shell(repository, "git", "remote", "add", "origin", f"https://github.com/{SLUG}.git")
    shell(repository, "git", "config", f"url.{bare}.insteadOf", f"https://github.com/{SLUG}.git")
    shell(repository, "git", "push", "--quiet", "origin", "main")
    with hosting() as running:
        running.branches = lambda: {
            name.removeprefix("refs/heads/"): commit
            for commit, name in (
                line.split() for line in shell(bare, "git", "show-ref", "--heads").splitlines()
            )
        }
        yield running


@pytest.fixture
def pr(service: HostingStandIn, repository: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Call a command of sq as a user with a token would."""

    def run(*arguments: str, token: str | None = TOKEN) -> Result:
        monkeypatch.chdir(repository)
        monkeypatch.setenv("GITHUB_API_URL", service.address)
        if token:
            monkeypatch.setenv("GITHUB_TOKEN", token)
        return CliRunner().invoke(cli, list(arguments))

    return run
