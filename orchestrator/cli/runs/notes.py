"""Notes for people before a run begins: its first lines, and whether its notices and spans can be sent.

Their addresses and headers are secrets of the user like the API key: they are taken out of the environment
before an agent works. Only sq uses them, and the run knows their values as secrets.
"""

import os
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from agents.process.sandbox.choice import Choice
from agents.process.sandbox.control_groups import not_limited
from agents.sdks import extra_command, this_place
from orchestrator.cli.runs.opened_hosts import has_other_proxy
from orchestrator.gates.power_steering.considerations import load_considerations
from orchestrator.git.pinned import drivers_of, left_out_programs
from orchestrator.git.pinned_config import TrustedGit
from orchestrator.git.repository import Repository, named, uncommitted
from orchestrator.git.seeding import INCLUDE_FILE, left_out
from orchestrator.git.users.rules import base_lines, commit_lines
from orchestrator.notices.sending import is_address
from orchestrator.telemetry.conventions import read_headers
from orchestrator.views.run.ending import NETWORK_IS_OPEN
from state.errors import UsageError
from state.secrets import without_secrets
from state.settings.integrations import Integrations, NoticeTarget, Telemetry
from state.settings.kinds import ANONYMOUS
from state.settings.records import (
    CommandNetwork,
    Sandbox,
    SandboxHeld,
    SandboxSettings,
    Settings,
    Steering,
)
from state.words import listed

if TYPE_CHECKING:
    from orchestrator.project.readiness.plan import SetUpPlan

_NO_DOOR = (
    "without bubblewrap, sq reads an agent's folder only after its session has ended, and begins each next "
    "exchange with another process"
)
_MOST_NAMED = 8


async def notes_for(
    repository: Repository,
    trusted: TrustedGit,
    settings: Settings,
    not_dirt: list[Path],
    choice: Choice,
    *,
    edit_dirty: bool = False,
) -> tuple[str, ...]:
    """The notes of a run that is about to begin, one line each."""
    left = await uncommitted(repository, not_dirt=not_dirt) if repository.head else []
    in_the_way = await uncommitted(repository, not_dirt=not_dirt, untracked=False) if left else []
    notes = [_where(repository, settings, clean=not in_the_way)]
    if repository.head is None:
        notes.append("the repository has no commit yet: the run starts from an empty one")
    if left and settings.worktrees:
        notes.append(f"{len(left)} uncommitted change(s) in the checkout are not part of this run")
    if left and not settings.worktrees:
        words = "agents may change them" if edit_dirty else "they stay as they are, agents work around them"
        notes.append(f"{len(left)} uncommitted change(s) in the checkout: {words}")
    if settings.effort.power_steering is not Steering.NONE:
        problems = load_considerations(repository.root).problems
        notes += [f"left out of power steering: {problem}" for problem in problems]
    if settings.included_by_file and (others := await left_out(repository.root, settings.worktree_include)):
        why = (
            f"{INCLUDE_FILE} names {len(others)} file(s) that git does not ignore, left out: {named(others)}"
        )
        notes.append(why)
    if plan := await set_up_of(repository.root, settings):
        notes += [f"set-up: {line}" for line in (*map(str, plan.steps), *plan.left_out)]
    notes += await lines_on_places(repository, settings, plan) if repository.head else []
    return (*notes, *_drivers(trusted, sandboxed=choice.held.commands))


def sandbox_lines(
    settings: Settings,
    choice: Choice,
    registries: tuple[str, ...],
    environ: Mapping[str, str],
    signed_in: tuple[str, ...] = (),
) -> list[str]:
    """Return lines on the sandbox, and on the network, hosts, services and folders that it opens."""
    is_full = choice.held.commands and settings.sandbox.network is CommandNetwork.FULL
    hosts = host_lines(registries, settings.sandbox, choice.held, environ, signed_in)
    context = [f"agents may read {one}, and change nothing there" for one in settings.context]
    memory = not_limited(settings.sandbox.limits) if choice.held.commands else []
    return [
        choice.held.line,
        *([] if choice.program else [_NO_DOOR]),
        *memory,
        *([NETWORK_IS_OPEN] if is_full else []),
        *hosts,
        *context,
    ]


def host_lines(
    registries: tuple[str, ...],
    settings: SandboxSettings,
    held: SandboxHeld,
    environ: Mapping[str, str],
    signed_in: tuple[str, ...] = (),
) -> Iterator[str]:
    """Yield the lines on the hosts that are open. Without a sandbox all are."""
    if not held.commands:
        return
    who = "agents and downloads" if held.level == Sandbox.WHOLE else "downloads of packages"
    if registries:
        yield f"hosts: {who} read packages from {', '.join(registries)}, and nothing else goes there"
    if signed_in:
        more = f" and {len(signed_in) - _MOST_NAMED} more" if len(signed_in) > _MOST_NAMED else ""
        yield (
            f"hosts: sq asks {', '.join(signed_in[:_MOST_NAMED])}{more} with your credentials, for packages "
            f'alone. `sandbox.hosts = "{ANONYMOUS}"` forbids it'
        )
    if named := settings.named_hosts:
        yield f"hosts: {who} reach {', '.join(named)}, where sandbox.hosts lets anything go: also out"
    if settings.services:
        yield f"services: agents and verification reach {', '.join(settings.services)}, by sandbox.services"
    if has_other_proxy(environ):
        yield "hosts: none, because the proxy of HTTPS_PROXY is not one of HTTP, and sq asks through no other"


def _drivers(trusted: TrustedGit, *, sandboxed: bool) -> list[str]:
    """The user's filters and merge drivers that git runs on files, and those that a run does not use."""
    drivers, _ = drivers_of(trusted)
    inside = ", which runs in the sandbox, without network" if sandboxed else ""
    return [
        *(f"git: sq uses your {name}{inside}" for name in drivers),
        *(
            f"git: sq does not use {name}, because it runs a program of the tree, which agents can write: "
            "name one outside by its absolute path"
            for name in left_out_programs(trusted)
        ),
    ]


async def set_up_of(root: Path, settings: Settings) -> "SetUpPlan | None":
    """Return how sq makes worktrees ready, by the checkout's files. None if the user lists the commands."""
    from orchestrator.project.readiness.plan import plan_without_ignored

    if not (settings.worktrees and settings.sets_up_by_itself):
        return None
    include, environ = settings.worktree_include, without_secrets(os.environ)
    return await plan_without_ignored(root, checkout=root, include=include, environ=environ)


async def lines_on_places(repository: Repository, settings: Settings, plan: "SetUpPlan | None") -> list[str]:
    """Return lines on the base, on rules for commits, and on what worktrees get and lack."""
    from orchestrator.project.readiness.checkout import differences, siblings_named

    root, include, lines = repository.root, settings.worktree_include, await base_lines(repository)
    if (settings.commit_sign, settings.commit_message, settings.commit_author) == (False, "{title}", "sq"):
        lines += await commit_lines(root)
    if not settings.worktrees:
        return lines
    named = (f"{path} ({file} names it)" for path, file in (await siblings_named(root, "HEAD")).items())
    if beside := [*named, *settings.worktree_beside]:
        lines.append(f"set-up and verification may read {listed(beside)}")
    kinds = [step.ecosystem for step in plan.steps] if plan else None
    return [*lines, *await differences(root, "HEAD", ecosystems=kinds, include=include)]


def _where(repository: Repository, settings: Settings, *, clean: bool) -> str:
    if settings.check_only:
        return "the spec is read for faults, and nothing is planned or built"
    if settings.dry_run:
        return "a dry run: it ends with the plan, and nothing is built"
    if not settings.worktrees:
        return "the work happens in this checkout, and nothing is staged or committed there"
    if not settings.merge:
        return "the finished work stays on a branch of sq's, as --no-merge asks"
    if repository.branch is None:
        return "HEAD is detached: the finished work stays on a branch of sq's"
    now = "" if clean else ". It is not clean now: as it is, the work stays on a branch of sq's"
    return f"at the end {repository.branch} is moved to the finished work, if the checkout is clean then{now}"


def check_addresses(integrations: Integrations, environ: Mapping[str, str]) -> None:
    """Check that notices can be sent and spans exported.

    Raises:
        UsageError: a variable is not set or of no use, or an extra is missing. Names every problem.
    """
    if problems := list(problems_of(integrations, environ)):
        raise UsageError("\n".join(problems))


def problems_of(integrations: Integrations, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield why notices could not be sent, or spans not exported, each with its remedy."""
    by_url = [target for target in integrations.notify if target.variable]
    if by_url and not _is_there("apprise"):
        yield _missing("notify", "Apprise, which sends notices to an address")
    for target in by_url:
        if problem := _address_problem(target, environ):
            yield problem
    if integrations.telemetry.otlp:
        if not (_is_there("opentelemetry.sdk") and _is_there("opentelemetry.exporter.otlp.proto.http")):
            yield _missing("otel", "OpenTelemetry's SDK and exporter, which telemetry needs")
        if problem := _headers_problem(integrations.telemetry, environ):
            yield problem


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # a package around it
        return False


def _missing(extra: str, part: str) -> str:
    return f"{part}, is not installed. Install it with `{extra_command(extra, this_place())}`"


def _address_problem(target: NoticeTarget, environ: Mapping[str, str]) -> str:
    name = target.variable
    value = environ.get(name, "").strip()
    if not value:
        return f"notify: {name} is not set. Set it to an address that Apprise knows, or remove the table"
    if not _is_there("apprise"):
        return ""
    if is_address(value):
        return ""
    return f"notify: {name} holds no address that Apprise knows. Correct it, for instance ntfy://TOPIC"


def _headers_problem(telemetry: Telemetry, environ: Mapping[str, str]) -> str:
    name = telemetry.variable
    if not name:
        return ""
    value = environ.get(name, "").strip()
    if not value:
        return f"telemetry.headers: {name} is not set. Set it to name=value, or remove the key"
    return "" if read_headers(value) else f"telemetry.headers: {name} needs the form name=value,name=value"


def notes_on(integrations: Integrations) -> list[str]:
    """Return a line for each target of notices, and one for the collector: they lie outside any sandbox."""
    lines = [
        f"notices ({', '.join(one.on)}) are sent by " + (f"`{one.command}`" if one.command else one.url)
        for one in integrations.notify
    ]
    telemetry = integrations.telemetry.traces_url
    return [*lines, *([f"spans are sent to {telemetry}"] if telemetry else [])]
