"""One check of `sq doctor`, all of them as lines, and the machine's: programs, credentials, containment."""

import platform
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from importlib.metadata import packages_distributions, version
from pathlib import Path
from urllib.parse import urlsplit

from agents.access import is_signed_in
from agents.api_key import FILE, KEY, REMEDY, TOKEN, VISIBLE, read_key
from agents.claude_code.executable import MIN_CLI, find_cli, version_in, version_said
from agents.gateway.forward.upstream import API, BASE_URL, address_in
from agents.login import OAUTH, login_words
from agents.process.containment import Containment, detect_containment
from agents.process.sandbox.choice import why_not_whole
from agents.process.sandbox.control_groups import limits_that_hold
from agents.sdks import AGENT_SDK, API_SDK, SdkError, import_sdks
from orchestrator.cli.version import DISTRIBUTION
from orchestrator.git.command import git_version
from state.errors import UsageError
from state.words import alike


class CheckLevel(StrEnum):
    """How a check ended: with `fail` runs cannot work, `warn` needs attention."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorCheck:
    """One check. `advice` says how to repair it, or is ""."""

    name: str
    level: CheckLevel
    found: str
    advice: str = ""


def ok(name: str, found: str) -> DoctorCheck:
    """A check that passed."""
    return DoctorCheck(name=name, level=CheckLevel.OK, found=found)


def warn(name: str, found: str, advice: str) -> DoctorCheck:
    """A check that found something that needs attention."""
    return DoctorCheck(name=name, level=CheckLevel.WARN, found=found, advice=advice)


def fail(name: str, found: str, advice: str) -> DoctorCheck:
    """A check that found a problem with which runs cannot work."""
    return DoctorCheck(name=name, level=CheckLevel.FAIL, found=found, advice=advice)


def check_lines(checks: Sequence[DoctorCheck]) -> list[str]:
    """The checks as lines, with equal results on one line and a summary at the end."""
    equal = alike(checks, lambda check: (check.level, check.found, check.advice))
    named = [(", ".join(check.name for check in group), group[0]) for group in equal]
    width = max((len(name) for name, _ in named), default=0)
    lines = []
    for name, check in named:
        lines.append(f"{check.level:<5} {name:<{width}}  {check.found}")
        if check.advice:
            lines.append(f"{'':5} {'':{width}}  → {check.advice}")
    return [*lines, _sum(checks)]


def _sum(checks: Sequence[DoctorCheck]) -> str:
    failed = sum(check.level is CheckLevel.FAIL for check in checks)
    warned = sum(check.level is CheckLevel.WARN for check in checks)
    if failed:
        return f"{failed} check(s) failed: sq cannot work here until they are put right"
    return f"no check fails, {warned} warning(s)"


MIN_PYTHON = (3, 11)
MIN_GIT = (2, 31)  # the demo needs `init --initial-branch` (2.28), and older versions are untested
IMPORT_NAMES = ("orchestrator", "agents", "prompts", "state")


def checks_of_machine(environ: Mapping[str, str]) -> Iterator[DoctorCheck]:
    """The checks that need no repository. Later ones depend on earlier ones."""
    yield _python()
    yield from _system()
    yield _git()
    yield _sdk("agent sdk", AGENT_SDK)
    yield _sdk("api sdk", API_SDK)
    cli = _cli_path()
    yield _cli(cli, environ)
    yield _credentials(cli, environ)
    yield from _endpoint(environ)
    yield _containment(environ)
    yield from _exposure(environ)
    yield _sandbox(environ)
    yield _import_names(packages_distributions())


def _python() -> DoctorCheck:
    found = f"{platform.python_version()} ({sys.executable})"
    if sys.version_info < MIN_PYTHON:
        return fail("python", found, f"use Python {_dotted(MIN_PYTHON)} or newer")
    return ok("python", found)


def _system() -> Iterator[DoctorCheck]:
    if platform.system() != "Linux":
        yield warn(
            "system",
            f"{platform.system()}: sq is tested on Linux only. Elsewhere a process that leaves its process "
            "group (setsid) outlives a run",
            "for unattended runs use Linux, a container or a virtual machine",
        )


def _git() -> DoctorCheck:
    found = git_version()
    if found is None:
        lacks = "not found on PATH, or it does not answer"
        return fail("git", lacks, "install git: sq works on branches and worktrees")
    if version_in(found) < MIN_GIT:
        return warn("git", found, f"update git: sq is not tested with versions below {_dotted(MIN_GIT)}")
    return ok("git", found)


def _sdk(name: str, package: str) -> DoctorCheck:
    try:
        import_sdks(package)
    except SdkError as error:
        return fail(name, error.found, f"`{error.command}`")
    return ok(name, f"{package} {version(package)}")


def _cli_path() -> Path | UsageError:
    try:
        return find_cli()
    except UsageError as error:
        return error


def _cli(cli: Path | UsageError, environ: Mapping[str, str]) -> DoctorCheck:
    name = "claude code"
    advice = "`npm install -g @anthropic-ai/claude-code`, or reinstall claude-agent-sdk, which brings its own"
    if isinstance(cli, SdkError):
        return fail(name, cli.found, f"`{cli.command}`")
    if isinstance(cli, UsageError):
        return fail(name, str(cli), advice)
    said = version_said(cli, environ)
    if not version_in(said):
        return fail(name, f"{cli} --version gives no version: {said}", advice)
    found = f"{said} at {cli}"
    if version_in(said) < MIN_CLI:
        why = f"too old: {_dotted(MIN_CLI)} is the first that sends prompts verbatim"
        return fail(name, f"{found} is {why}", advice)
    return ok(name, found)


def _credentials(cli: Path | UsageError, environ: Mapping[str, str]) -> DoctorCheck:
    name = "credentials"
    try:
        key = read_key(environ)
        address_in(environ)
    except UsageError as error:
        return fail(name, str(error), "correct that variable, or unset it")
    if key:
        source = next(source for source in (FILE, KEY, TOKEN) if environ.get(source, "").strip())
        return ok(name, f"{source} is set. Only a run shows whether it is valid")
    if isinstance(cli, Path) and (environ.get(OAUTH, "").strip() or is_signed_in(cli, environ)):
        return ok(name, login_words(environ, datetime.now(UTC)))
    sign_in = f"`{cli} auth login`" if isinstance(cli, Path) else "sign in to Claude Code"
    return warn(
        name,
        "none: ANTHROPIC_API_KEY is not set and Claude Code is not signed in",
        f"`export ANTHROPIC_API_KEY=…` or {sign_in}. `sq demo` works without either",
    )


def _endpoint(environ: Mapping[str, str]) -> Iterator[DoctorCheck]:
    """Where requests go, and which credential goes with them."""
    try:
        key, address = read_key(environ), address_in(environ)
    except UsageError:  # another check says so
        return
    if key:
        sent = " and ".join("a bearer token" if name == "authorization" else "a key" for name in key.headers)
        found = urlsplit(address)
        shown = found._replace(netloc=found.netloc.rpartition("@")[2]).geturl().rstrip("/")
        own = "" if address == API else f", as {BASE_URL} says (docs/endpoints.md)"
        yield ok("endpoint", f"requests go with {sent} to {shown}/v1/messages{own}")


def _exposure(environ: Mapping[str, str]) -> Iterator[DoctorCheck]:
    """Whether agents could read the key from the environment in which sq was started."""
    try:
        key = read_key(environ)
        hidden = detect_containment(environ) is Containment.NAMESPACES
    except UsageError:  # other checks say so
        return
    if key and key.exposed and not hidden:
        yield warn("api key", VISIBLE, REMEDY)
    elif key:
        how = "a PID namespace hides sq's environment" if key.exposed else "it is in no environment"
        yield ok("api key", f"agents ask through sq's gateway, which keeps the key from them, and {how}")


def _containment(environ: Mapping[str, str]) -> DoctorCheck:
    name = "containment"
    try:
        way = detect_containment(environ)
    except UsageError as error:
        return fail(name, str(error), "unset SQ_CONTAINMENT, or correct it")
    forced = bool(environ.get("SQ_CONTAINMENT"))
    chosen = f"{way} ({'chosen by SQ_CONTAINMENT' if forced else 'found by trying'})"
    match way:
        case Containment.NAMESPACES:
            return ok(name, f"{chosen}: the kernel ends every process of a run with it, however sq dies")
        case Containment.SUPERVISOR:
            return warn(
                name,
                f"{chosen}: a supervisor ends the processes of a run, but not those of another user (sudo), "
                "and none if it is killed itself",
                "unset SQ_CONTAINMENT, so that sq tries namespaces"
                if forced
                else "run as root or allow unprivileged user namespaces, so that sq can use PID namespaces",
            )


def _sandbox(environ: Mapping[str, str]) -> DoctorCheck:
    name = "sandbox"
    try:
        containment = detect_containment(environ)
    except UsageError:
        return warn(name, "not tried, because the containment is not known", "correct SQ_CONTAINMENT first")
    if why := why_not_whole(containment, environ):
        advice = "until then the rules on commands guide an honest agent and stop no hostile one"
        return warn(name, why, advice)
    return ok(name, f"whole works, with an API key. {limits_that_hold(containment)}")


def _import_names(distributions: Mapping[str, Iterable[str]]) -> DoctorCheck:
    name = "import names"
    others = {module: sorted({*distributions.get(module, ())} - {DISTRIBUTION}) for module in IMPORT_NAMES}
    taken = [f"{module} comes from {', '.join(owners)} too" for module, owners in others.items() if owners]
    if taken:
        own = "give sq an environment of its own: `uv tool install`, pipx, or bin/sq from a checkout"
        return warn(name, "; ".join(taken), own)
    return ok(name, f"{', '.join(IMPORT_NAMES)} are sq's own")


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
