"""`sq doctor`: what sq needs on this machine and in this repository. It looks and changes nothing."""

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import packages_distributions
from pathlib import Path

import anyio
import click

from agents.claude_code import find_cli, sdk_version
from agents.connection import QUIET, is_signed_in
from agents.process import Containment, detect_containment
from orchestrator.cli import options
from orchestrator.cli.version import DISTRIBUTION
from orchestrator.git.command import git_succeeds, git_version
from orchestrator.git.repository import Repository, find_repository, uncommitted
from orchestrator.views.checks import Check, Level, check_lines, fail, ok, warn
from state.errors import GitError, UsageError

MIN_PYTHON = (3, 11)
MIN_GIT = (2, 31)  # the demo needs `init --initial-branch` (2.28); older than this is untried
MIN_CLI = (2, 1, 248)  # the first that sends a prompt verbatim: before, `/clear` in a spec was a command
CLI_DEADLINE_S = 10
IMPORT_NAMES = ("orchestrator", "agents", "prompts", "state")


@click.command("doctor", short_help="Check what sq needs on this machine; each line says what to do.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, nothing else there.")
@options.state_dir
def command(as_json: bool, state_dir: Path | None) -> int:
    """Check what sq needs here: `ok`, `warn` or `fail`, and what to do about each that is not ok.

    No model is asked and nothing is changed. Exit code 0 if nothing fails, else 2.
    """
    checks = list(_checks(os.environ, options.state_folder_of(state_dir)))
    failed = any(check.level is Level.FAIL for check in checks)
    if as_json:
        import msgspec

        click.echo(msgspec.json.encode({"ok": not failed, "checks": checks}).decode())
    else:
        click.echo("\n".join(check_lines(checks)))
    return 2 if failed else 0


def _checks(environ: Mapping[str, str], state: Path) -> Iterator[Check]:
    yield _python()
    yield from _system()
    git = _git()
    yield git
    yield _sdk()
    cli = _cli_path()
    yield _cli(cli, environ)
    yield _credentials(cli, environ)
    yield _containment(environ)
    yield _sandbox()
    if git.level is not Level.FAIL:
        yield from anyio.run(_repository_and_state, state)
    yield _import_names(packages_distributions())


def _python() -> Check:
    found = f"{platform.python_version()} ({sys.executable})"
    if sys.version_info < MIN_PYTHON:
        return fail("python", found, f"use Python {_dotted(MIN_PYTHON)} or newer")
    return ok("python", found)


def _system() -> Iterator[Check]:
    if platform.system() != "Linux":
        yield warn(
            "system",
            f"{platform.system()}: sq is tried on Linux only; elsewhere a process that leaves its process "
            "group (setsid) outlives a run",
            "for unattended runs use Linux, a container or a virtual machine",
        )


def _git() -> Check:
    found = git_version()
    if found is None:
        lacks = "not found on PATH, or it does not answer"
        return fail("git", lacks, "install git: sq works on branches and worktrees")
    if _numbers(found) < MIN_GIT:
        return warn("git", found, f"update git: sq is not tried with anything below {_dotted(MIN_GIT)}")
    return ok("git", found)


def _sdk() -> Check:
    try:
        return ok("agent sdk", f"claude-agent-sdk {sdk_version()}")
    except UsageError as error:
        return fail("agent sdk", str(error), "`pip install claude-agent-sdk` where sq itself is installed")


def _cli_path() -> Path | UsageError:
    try:
        return find_cli()
    except UsageError as error:
        return error


def _cli(cli: Path | UsageError, environ: Mapping[str, str]) -> Check:
    name = "claude code"
    advice = "`npm install -g @anthropic-ai/claude-code`, or reinstall claude-agent-sdk, which brings its own"
    if isinstance(cli, UsageError):
        return fail(name, str(cli), advice)
    said = _version_of(cli, environ)
    if not _numbers(said):
        return fail(name, f"{cli} --version gives no version: {said}", advice)
    found = f"{said} at {cli}"
    if _numbers(said) < MIN_CLI:
        why = f"too old: {_dotted(MIN_CLI)} is the first that sends prompts verbatim"
        return fail(name, f"{found} is {why}", advice)
    return ok(name, found)


def _version_of(cli: Path, environ: Mapping[str, str]) -> str:
    """What `--version` says, or why it says nothing."""
    try:
        done = subprocess.run(
            [cli, "--version"],
            env={**environ, **QUIET},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=CLI_DEADLINE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {CLI_DEADLINE_S} s"
    except OSError as error:
        return f"cannot be run: {error.strerror}"
    return (done.stdout or done.stderr).strip().split("\n")[0] or f"exit code {done.returncode}"


def _credentials(cli: Path | UsageError, environ: Mapping[str, str]) -> Check:
    name = "credentials"
    if environ.get("ANTHROPIC_API_KEY"):
        elsewhere = ", and ANTHROPIC_BASE_URL sends it elsewhere" if environ.get("ANTHROPIC_BASE_URL") else ""
        return ok(name, f"ANTHROPIC_API_KEY is set{elsewhere}; whether it is good only a run shows")
    if isinstance(cli, Path) and is_signed_in(cli, environ):
        return ok(name, "signed in to Claude Code")
    sign_in = f"`{cli} auth login`" if isinstance(cli, Path) else "sign in to Claude Code"
    return warn(
        name,
        "none: ANTHROPIC_API_KEY is not set and nobody is signed in to Claude Code",
        f"`export ANTHROPIC_API_KEY=…` or {sign_in}; `sq demo` works without either",
    )


def _containment(environ: Mapping[str, str]) -> Check:
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


def _sandbox() -> Check:
    tools = {"bubblewrap": shutil.which("bwrap"), "socat": shutil.which("socat")}
    there = ", ".join(f"{tool} is {'' if path else 'not '}installed" for tool, path in tools.items())
    return ok("sandbox", f"not used: this version of sq runs agents' commands without a sandbox ({there})")


async def _repository_and_state(state: Path) -> list[Check]:
    try:
        repository = await find_repository(Path.cwd())
    except UsageError as error:
        none = str(error).split(", and ")[0]
        advice = "go to a repository, or make this folder one, before `sq --spec`; `sq demo` makes its own"
        return [warn("repository", none, advice), _state(state, ignored=None)]
    ignored = None
    real = Path(os.path.realpath(state))
    if real.is_relative_to(repository.root):  # with a slash: it may not be there yet, and a folder is meant
        relative = f"{real.relative_to(repository.root).as_posix()}/"
        ignored = await git_succeeds(repository.root, "check-ignore", "--quiet", relative)
    try:
        looked_at = await _repository(repository, state)
    except GitError as error:
        looked_at = fail("repository", str(error), "`git fsck` says what is wrong with it")
    return [looked_at, _state(state, ignored=ignored)]


async def _repository(repository: Repository, state: Path) -> Check:
    name = "repository"
    dirty = await uncommitted(repository, not_dirt=[state])
    if repository.head is None:
        found = f"{repository.root} has no commit yet"
        if dirty:
            advice = "a run would not see the files here: `git add -A && git commit -m 'First commit'`"
            return warn(name, found, advice)
        return ok(name, f"{found} and no files: a run starts from nothing")
    found = f"{repository.root}, {repository.branch or 'detached HEAD'} at {repository.head[:10]}"
    if repository.branch is None:
        advice = (
            "a run leaves its work on a branch of sq's; `git switch BRANCH` to have a branch moved forward"
        )
        return warn(name, found, advice)
    if dirty:
        return warn(
            name,
            f"{found}, {len(dirty)} uncommitted change(s)",
            "commit or stash them: a run starts from the last commit, does not see them, and while they are "
            "there leaves its work on a branch of sq's",
        )
    return ok(name, f"{found}, clean")


def _state(state: Path, *, ignored: bool | None) -> Check:
    name = "state folder"
    nearest = next(folder for folder in (state, *state.parents) if os.access(folder, os.F_OK))
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        why = f"{nearest} is not {'writable' if nearest.is_dir() else 'a folder'}"
        return fail(
            name, f"{state} cannot be used: {why}", "make it one that is, or name another: --state-dir"
        )
    there = "writable" if nearest == state else "made by the first run"
    match ignored:
        case None:
            seen = "outside the repository"
        case True:
            seen = "ignored by git"
        case False:
            seen = "not ignored by git yet: a run enters it in .git/info/exclude"
    return ok(name, f"{state}, {there}, {seen}")


def _import_names(distributions: Mapping[str, Iterable[str]]) -> Check:
    name = "import names"
    others = {module: sorted({*distributions.get(module, ())} - {DISTRIBUTION}) for module in IMPORT_NAMES}
    taken = [f"{module} comes from {', '.join(owners)} too" for module, owners in others.items() if owners]
    if taken:
        own = "give sq an environment of its own: `uv tool install`, pipx, or bin/sq from a checkout"
        return warn(name, "; ".join(taken), own)
    return ok(name, f"{', '.join(IMPORT_NAMES)} are sq's own")


def _numbers(version: str) -> tuple[int, ...]:
    """The first dotted number in a text; empty where there is none."""
    found = re.search(r"\d+(?:\.\d+)+", version)
    return tuple(int(part) for part in found.group().split(".")) if found else ()


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
