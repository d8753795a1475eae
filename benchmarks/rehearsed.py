"""Composes what benchmarks measure: a repository, a scenario, a rehearsed whole run, one attempt of a run."""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import TypeAdapter

from agents.access import RehearsalConnection
from agents.claude_code.executable import find_cli
from agents.gateway.call import read_address
from agents.gateway.ledger import Ledger
from agents.gateway.listeners import listening
from agents.gateway.rehearsal import Rehearsal
from agents.gateway.script import Scenario
from agents.gateway.server import Gateway, app_of
from agents.make import make_platform
from agents.process.containment import detect_containment
from agents.process.sandbox.needs import GatewaySocket
from agents.process.sandbox.policy import SandboxPolicy, no_sandbox_policy
from agents.roles.worker import worker_session
from agents.session.port import ChooseAgent
from orchestrator.cli.runs.compose import composed, run_new
from orchestrator.cli.runs.request import EndReport, RunEnvironment, RunRequest
from orchestrator.git.workspace import snapshot
from orchestrator.run.asking.conversation import Conversation
from orchestrator.run.asking.questions import QuestionBus
from orchestrator.run.machine import work_until_stopped
from orchestrator.run.places.worktrees import Worktrees
from orchestrator.run.record import Run
from state.ids import new_session_id
from state.journal.events import AttemptStarted, PlanAccepted, RunStarted, Stored, TaskStarted
from state.journal.fold.fold import fold
from state.journal.recorder import Recorder
from state.journal.store import Journal, JournalReader
from state.journal.view import RunView
from state.outcome import Outcome
from state.paths import StateFolder
from state.records.plan import Task
from state.roles import Role
from state.settings.presets import usual_settings
from state.settings.records import Confinement

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

SQ = [sys.executable, "-I", "-m", "orchestrator.cli"]  # as bin/sq does
RUN = "bench"
NOTES = "# Notes\n\nWrite notes.txt with a line of text.\n"
_IDENTITY = ("-c", "user.name=Owner", "-c", "user.email=owner@localhost", "-c", "commit.gpgSign=false")
Reply = dict[str, Any]
Callers = dict[str, list[Reply]]


# --- the model's words --------------------------------------------------------------------------------------


def calls(tool: str, **given: object) -> Reply:
    return {"tools": [{"name": tool, "input": given}]}


def reports(tool: str, **given: object) -> Reply:
    """Return a report through a typed tool, which ends the turn."""
    return calls(f"mcp__sq__{tool}", **given)


def agreeing(*tasks: str, **plan: object) -> Callers:
    """Return the callers other than the Workers: a plan of these tasks, reviewers and judges that agree."""
    planned = [{"id": id_, "title": id_, "description": f"Write {id_}.txt."} for id_ in tasks]
    criteria = [{"text": f"{id_} is there", "task_ids": [id_]} for id_ in tasks]
    return {
        "planner/analysis/*": [reports("report_analysis", spec_findings=[], project_type="files", stack=[])],
        "planner/plan/*": [reports("submit_plan", **{"tasks": planned, "criteria": criteria, **plan})],
        "judge/*": [{"structured": {"verdict": "satisfied", "reason": "It is.", "quote": ""}}],
        "reviewer/*": [reports("report_review", passed=True, issues=[], suggestions=[])],
    }


def notes_with_a_question() -> Callers:
    """Return the callers of a run whose Worker asks the Developer for a colour and writes it down."""
    read: Callers = yaml.safe_load((Path(__file__).parent / "notes.yaml").read_text("utf-8"))
    return read


def scenario_of(callers: Callers) -> Scenario:
    """Return a scenario whose calls cost something."""
    usage = {"input_tokens": 1000, "output_tokens": 100}
    return TypeAdapter(Scenario).validate_python({"scenario": 1, "usage": usage, "callers": callers})


# --- whole runs ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """A run that is over: its outcome, its events, the text that it showed, and the seconds that it took."""

    outcome: Outcome
    stored: list[Stored]
    shown: str
    seconds: float

    @property
    def view(self) -> RunView:
        """The run as its events tell it."""
        return fold(self.stored)


@contextmanager
def own_home(**variables: str) -> Iterator[Path]:
    """Yield a temporary folder that is the home meanwhile: the user's settings and key do not matter."""
    unset = ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "ANTHROPIC_API_KEY")
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="sq-bench-", ignore_cleanup_errors=True) as home:
        for name in unset:
            os.environ.pop(name, None)
        os.environ.update(variables, HOME=home, CLAUDE_CONFIG_DIR=home)
        try:
            yield Path(home)
        finally:
            os.environ.clear()
            os.environ.update(before)


def toolchains() -> dict[str, str]:
    """Return the variables of toolchains and caches of compilers that are in the home, for another home."""
    folders = {"RUSTUP_HOME": ".rustup", "CARGO_HOME": ".cargo", "GOCACHE": ".cache/go-build"}
    tools = {name: Path.home() / folder for name, folder in folders.items()}
    return {name: str(folder) for name, folder in tools.items() if folder.is_dir()}


def git(folder: Path, *arguments: str) -> str:
    """Return what git prints in `folder`."""
    command = ["git", "-C", str(folder), *_IDENTITY, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder: Path) -> str:
    """Make a folder a repository with one commit of its files, if it has any, and return the commit."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "A project")
    return git(folder, "rev-parse", "main")


def request_for(
    folder: Path, callers: Mapping[str, object], flags: Mapping[str, object], *, spec: str = NOTES
) -> RunRequest:
    """Write spec and scenario into `folder`, beside `repository`, which is made if it is missing."""
    repository = folder / "repository"
    if not repository.exists():
        commit(repository)
    (folder / "spec.md").write_text(spec, "utf-8")
    (folder / "scenario.yaml").write_text(yaml.safe_dump({"scenario": 1, "callers": dict(callers)}), "utf-8")
    return RunRequest(
        spec=folder / "spec.md",
        folder=repository,
        flags={key: (f"--{key}", value) for key, value in flags.items()},
        rehearse=folder / "scenario.yaml",
    )


def rehearse(
    request: RunRequest, choose: ChooseAgent | None = None, *, end_report: EndReport | None = None
) -> Rehearsed:
    """Work on the run to its end in this process, with Claude Code if no other agent is chosen."""
    shown = io.StringIO()
    began = time.perf_counter()
    with contextlib.redirect_stdout(shown):
        outcome = run_new(
            request, RunEnvironment(choose=choose, end_report=end_report), work=work_until_stopped
        )
    seconds = time.perf_counter() - began
    with JournalReader(StateFolder(request.folder / ".sq").find(None)) as journal:
        return Rehearsed(outcome=outcome, stored=journal.read(), shown=shown.getvalue(), seconds=seconds)


# --- the gateway, with a clock ------------------------------------------------------------------------------


@dataclass(slots=True)
class Served:
    """A request. In seconds: when it was in, when its answer and its first byte began, when it was out."""

    body: bytes = b""
    arrived: float = 0.0
    answering: float = 0.0
    speaking: float = 0.0
    answered: float = 0.0


class CallerClock:
    """Middleware of the gateway that keeps the requests of each caller with their times."""

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app
        self.served: dict[str, list[Served]] = defaultdict(list)

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Serve one request."""
        address = read_address(scope["raw_path"])
        served = Served()
        self.served[address.caller if address else ""].append(served)

        async def noted_receive() -> "Message":
            message = await receive()
            if message["type"] == "http.request":
                served.body += message["body"]
                if not message.get("more_body"):
                    served.arrived = time.perf_counter()
            return message

        async def noted_send(message: "Message") -> None:
            if message["type"] == "http.response.start":
                served.answering = time.perf_counter()
            elif not served.speaking:
                served.speaking = time.perf_counter()
            await send(message)
            served.answered = time.perf_counter()

        await self._app(scope, noted_receive, noted_send)


@asynccontextmanager
async def clocked_gateway(scenario: Scenario, folder: Path) -> AsyncIterator[tuple[Gateway, CallerClock]]:
    """Serve a scenario with a clock before the gateway. Exits if the script was not followed."""
    with Ledger(folder / "ledger") as lines:
        rehearsal = Rehearsal(scenario, run_id=RUN, ledger=lines)
        clock = CallerClock(app_of(rehearsal))
        async with listening(clock) as listeners:
            yield Gateway(listeners, RUN, rehearsal), clock
    if rehearsal.problems:
        sys.exit(f"the script was not followed, so nothing was measured: {rehearsal.problems[0]}")


# --- one attempt of a run -----------------------------------------------------------------------------------


def run_of(
    journal: Journal,
    run_folder: Path,
    gateway: Gateway,
    repository: Path,
    worktrees: Path,
    *,
    base: str = "",
    sandbox_policy: SandboxPolicy | None = None,
    socket: GatewaySocket | None = None,
) -> Run:
    """Return a run that has started, with its events in `journal`. Without a policy it has no sandbox."""
    containment, environ = detect_containment(), os.environ
    sandbox_policy = sandbox_policy or no_sandbox_policy(environ)
    config_dir = run_folder / "claude"
    config_dir.mkdir(exist_ok=True)
    settings = usual_settings("medium")
    connection = RehearsalConnection(gateway=gateway, config_dir=config_dir, gateway_socket=socket)
    started = RunStarted(
        run_id=RUN,
        spec_name="spec.md",
        spec_text=NOTES,
        repository=str(repository),
        worktrees=str(worktrees),
        base_commit=base,
        base_branch="main",
        rehearsal="benchmark",
        credentials=connection.credentials,
        confined=Confinement(containment=containment),
        sq_version="benchmark",
        settings=settings,
    )
    platform = make_platform(
        connection,
        cli=find_cli(),
        run_folder=run_folder,
        containment=containment,
        settings=settings,
        sandbox_policy=sandbox_policy,
        environ=environ,
        hidden=(run_folder,),
    )
    places = Worktrees(started=started)
    run = composed(Recorder(journal), run_folder, platform, places, sandbox_policy, environ)
    run.record(started)
    return run


@asynccontextmanager
async def working(
    run_folder: Path,
    gateway: Gateway,
    workspace: Path,
    task: str,
    attempt: int,
    **sandbox: Any,  # noqa: ANN401
) -> AsyncIterator[tuple[Run, Conversation]]:
    """Start a run with a journal in `run_folder`, and provide its Worker's conversation.

    `sandbox`: `sandbox_policy` and `socket` of `run_of`.
    """
    run_folder.mkdir()
    temporary = workspace.with_name(f"{workspace.name}-temporary")
    temporary.mkdir(exist_ok=True)
    about: dict[str, Any] = {"task_id": task, "attempt": attempt}
    with Journal(run_folder) as journal:
        run = run_of(journal, run_folder, gateway, workspace, workspace.parent, **sandbox)
        run.record(
            PlanAccepted(tasks=(Task(id=task, title=task, description="Do it."),), criteria=()),
            TaskStarted(task_id=task, branch="", worktree=str(workspace), base_commit=""),
            AttemptStarted(
                task_id=task, attempt=1, session_id=new_session_id(), tree=await snapshot(workspace)
            ),
        )
        spec_for = partial(worker_session, run.platform, **about, workspace=workspace, temporary=temporary)
        questions = QuestionBus(run, task).callback
        talk = Conversation(run, role=Role.WORKER, **about, spec_for=spec_for, questions=questions)
        async with talk:
            yield run, talk


async def exchanged(talk: Conversation, number: int, prompt: str, *, iteration: int = 0) -> None:
    """Have one exchange. Exits if it failed."""
    call = await talk.exchange(number, prompt, iteration=iteration)
    if failure := call.failure:
        sys.exit(f"sq's session failed, so nothing was measured: {failure}")
