"""Requests for a run and its resumption, their checks, and the environment in which they are fulfilled."""

import os
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from anyio import to_thread

from agents.access import Credentials, find_credentials
from agents.api_key import REMEDY, VISIBLE, ApiKey, read_key, take_key
from agents.claude_code.executable import find_cli
from agents.gateway.forward.upstream import address_in
from agents.gateway.hosts.way_out import CERTIFICATES
from agents.process.containment import Containment, detect_containment
from agents.process.sandbox.choice import Choice, SandboxLevel, choose_sandbox
from agents.process.sandbox.control_groups import ControlGroups
from agents.process.sandbox.policy import SandboxPolicy
from agents.session.permissions import rule_names
from orchestrator.cli.runs.flags import model_flags
from orchestrator.project.readiness.kept import kept_folder
from orchestrator.run.ports import Person
from orchestrator.views.run.look import Look
from state.errors import UsageError
from state.journal.events.plan import SpecTaken
from state.journal.events.tasks import UNMERGED_ENDS
from state.journal.store import Journal
from state.journal.view import RunView
from state.redaction.known import Known
from state.redaction.redactor import Redact, Redactor, known_in, known_in_files, redactor
from state.roles import Role
from state.settings.config import load_config
from state.settings.kinds import MOMENT, NONE, moment_in
from state.settings.records import Effort, Model, Sandbox, Settings, split_effort
from state.settings.sources import Flags

if TYPE_CHECKING:
    from agents.session.port import ChooseAgent

OpenJournal = Callable[..., Journal]
SCENARIO = "scenario.yaml"  # that of a rehearsal, in the folder of its run


class EndReport(Protocol):
    """Reports on a run at the end of its process."""

    async def leave(self, run_folder: Path, look: Look, redact: Redact) -> None:
        """Write the report into the run's folder, and tell where it is."""
        ...

    def prepare(self) -> None:
        """Do what takes long and needs no end, in any thread. A failure changes nothing."""
        ...

    def tell(self, run_folder: Path, look: Look) -> None:
        """Tell where the report is, if there is one."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeWork:
    """What a request asks for before the work: only the check of the spec, a plan, an approval.

    `plan` is a person's plan. `plan_to`: the run ends with its plan, which is written to this file.
    """

    check_only: bool = False
    approve: bool = False
    plan: Path | None = None
    plan_to: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """A request for `sq run`. `flags` are settings: key → (the flag's name, its value).

    `notes` are said at the start, beside those of the run.
    """

    spec: Path
    folder: Path
    origin: SpecTaken | None = None
    notes: tuple[str, ...] = ()
    configured_in: Path | None = None  # the checkout whose settings count, if it is not that of `folder`
    flags: Flags = field(default_factory=dict)
    allow_dirty: bool = False
    edit_dirty: bool = False
    dry_run: bool = False
    before: BeforeWork = field(default_factory=BeforeWork)
    rehearse: Path | None = None
    state_dir: Path | None = None


@dataclass(frozen=True, kw_only=True)
class RunEnvironment:
    """The environment of a run. Tests inject faults here, by another journal.

    `taken` are the variables of the API key, which are no longer in the environment, and `addresses` those of
    notices and telemetry. `known` are further secrets, which they hold. The terminal
    rings at the end of a process that works on a run for longer than `long_s` seconds. `person` is asked
    about the spec before the work. Without `end_report` no report is written. `choose` returns the agent of
    a role, in the place of Claude Code. `begun` hears of the run's folder, when it is made, or when it is
    known how the run goes on.
    """

    taken: Mapping[str, str] = field(default_factory=lambda: take_key(os.environ), repr=False)
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    open_journal: OpenJournal = Journal
    look: Look = field(default_factory=Look)
    addresses: Mapping[str, str] = field(default_factory=dict, repr=False)
    known: tuple[Known, ...] = field(default=(), repr=False)
    long_s: float = 60.0
    person: Person | None = None
    end_report: EndReport | None = None
    choose: "ChooseAgent | None" = None
    begun: Callable[[Path], None] = lambda _folder: None

    @cached_property
    def containment(self) -> Containment:
        """How process trees are ended here, detected once."""
        return detect_containment(self.environ)

    @cached_property
    def key(self) -> ApiKey | None:
        """The user's API key, read once.

        Raises:
            UsageError: its file cannot be read.
        """
        return read_key(self.taken)

    def credentials(self, *, rehearsed: bool) -> Credentials:
        """Return the credentials of a run.

        Raises:
            UsageError: there are none, or the address of the API is none.
        """
        if rehearsed:
            return Credentials.REHEARSAL
        address_in(self.environ)
        return find_credentials(self.key, self.environ, cli=find_cli())

    def holding_back(self, names: Collection[str]) -> Self:
        """Return an environment that lacks these variables. `addresses` has their values.

        They are taken out of this process's environment too, which the SDK passes on to sessions.
        """
        values = {name: self.environ[name] for name in names if name in self.environ}
        for name in names:
            os.environ.pop(name, None)
        left = {name: value for name, value in self.environ.items() if name not in values}
        return replace(self, environ=left, addresses=values, known=(*self.known, *known_in(values)))

    def how_exposed(self, settings: Settings, credentials: Credentials, choice: Choice) -> str:
        """Return how agents could read the API key, and the remedy, or ""."""
        if credentials is not Credentials.API_KEY or self.key is None:
            return ""
        if not settings.gateway:
            return "the gateway is off: agents have the API key in their environment"
        hidden = self.containment is Containment.NAMESPACES or choice.level is SandboxLevel.WHOLE
        return f"{VISIBLE}. To keep it from them: {REMEDY}" if self.key.exposed and not hidden else ""

    def redactor_for(self, checkout: Path) -> Redactor:
        """Return the function that replaces every secret in a text by its name.

        It knows those of the environment, of the files that usually hold some, and of the checkout.
        """
        try:
            key = self.key.variables if self.key else {}
        except UsageError:  # said where the key is needed: a rehearsal needs none
            key = {}
        home = Path(self.environ.get("HOME") or Path.home())
        return redactor({**self.environ, **key}, [*known_in_files(home, checkout), *self.known])


@dataclass(frozen=True, slots=True, kw_only=True)
class GoOn:
    """The limits and settings of a resumed run from now on, and the ended tasks that it tries again.

    `verify`, `models` (role → alias), `questions`, `sandbox`, `deadline` and `max_parallel` replace the run's
    former ones. Empty and None mean as before. `kept`: its process was killed, and its parent goes on with
    it, so tasks of `retry` may be under way again.
    """

    budget_usd: float | None = None
    max_iterations: int | None = None
    retry: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    models: Mapping[str, str] = field(default_factory=dict)
    questions: str | None = None
    sandbox: str | None = None
    deadline: str | None = None
    max_parallel: int | None = None
    kept: bool = False


def deadline_of(text: str, flag: tuple[str, object] | None = ("--deadline", "")) -> str:
    """Return the time that a deadline names, in full, or "" if there is none. `flag` is what gave it, if any.

    Raises:
        UsageError: it is no time, or has passed.
    """
    if text in {"", NONE}:
        return ""
    now = datetime.now().astimezone()
    said = flag[0] if flag else "the setting `deadline`"
    try:
        at = MOMENT.fits(text) and moment_in(text, now)
    except (ValueError, OverflowError):
        at = False
    if not at:
        raise UsageError(f"{said}: needs {MOMENT.needs}; found {text!r}")
    if at <= now:
        raise UsageError(f"{said}: {text} has passed, it is {now:%Y-%m-%d %H:%M:%S}. Give a later time")
    return at.isoformat()


def read_spec(path: Path) -> str:
    """The text of a spec.

    Raises:
        UsageError: the file is missing, a folder, empty, binary or not UTF-8.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"--spec {path}: there is no such file") from None
    except OSError as error:
        raise UsageError(f"--spec {path}: cannot be read: {error.strerror}") from error
    if b"\0" in data:
        raise UsageError(f"--spec {path}: this is a binary file. A spec is Markdown text")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"--spec {path}: not UTF-8 (byte {error.start} is {data[error.start]:#04x}). Save it as UTF-8"
        ) from error
    if not text.strip():
        raise UsageError(f"--spec {path}: the file is empty. Write down the work to be done")
    return text


def check_retries(view: RunView, task_ids: tuple[str, ...]) -> None:
    """Raise `UsageError` for tasks that have not ended unmerged, since they cannot be tried again.

    Raises:
        UsageError: with the state of the task, and the tasks that could be tried again.
    """
    ended = [id_ for id_, task in view.tasks.items() if task.stage in UNMERGED_ENDS]
    could_be = f"Could be: {', '.join(ended)}" if ended else "No task of this run has ended unmerged"
    for id_ in task_ids:
        if id_ not in view.tasks:
            known = ", ".join(view.tasks) or "none"
            raise UsageError(f"--retry {id_}: the run has no such task. Its tasks are: {known}")
        if id_ not in ended:
            stage = view.tasks[id_].stage
            raise UsageError(
                f"--retry {id_}: that task is {stage}, so there is nothing to try again. {could_be}"
            )


def models_now(
    repository: Path, environment: RunEnvironment, asked: Mapping[str, str], effort: Effort
) -> dict[Role, Model]:
    """Return the new models for a resumed run, with today's prices and the effort that its preset gives.

    Raises:
        UsageError: a role or a model is unknown.
    """
    if not asked:
        return {}
    settings = load_config(
        repository, environment.environ, flags=model_flags(asked), rules=rule_names()
    ).settings
    return {
        Role(role): replace(
            settings.models[Role(role)],
            effort=split_effort(name)[1] or split_effort(effort.models.get(Role(role), ""))[1],
        )
        for role, name in asked.items()
    }


async def choose(
    mode: Sandbox, settings: Settings, credentials: Credentials, environment: RunEnvironment
) -> Choice:
    """Return the sandbox that holds here.

    Raises:
        UsageError: one that was named does not hold.
    """
    look = partial(
        choose_sandbox,
        mode,
        containment=environment.containment,
        login=credentials is Credentials.CLI_LOGIN,
        gateway=settings.gateway or credentials is not Credentials.API_KEY,
        environ=environment.environ,
    )
    return await to_thread.run_sync(look)


def sandbox_policy_of(
    choice: Choice,
    settings: Settings,
    environment: RunEnvironment,
    repository: Path,
    run_folder: Path,
    groups: ControlGroups,
) -> SandboxPolicy:
    """Return the sandbox policy of a run. It shows its checkout and sq's state only where they are needed."""
    home = Path(environment.environ.get("HOME") or Path.home())
    trusted = (Path(environment.environ.get(name) or "/") for name in CERTIFICATES)
    return SandboxPolicy(
        choice=choice,
        environ=environment.environ,
        own_processes=environment.containment is not Containment.NAMESPACES,
        home=home,
        programs=(find_cli(), Path(sys.executable)),
        kept_out=(repository, run_folder.parents[1]),
        shared=(kept_folder(run_folder), *(file for file in trusted if file.is_file())),
        context=tuple(map(Path, settings.context)),
        ceilings=settings.sandbox.limits,
        groups=groups,
    )
