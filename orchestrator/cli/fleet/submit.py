"""`sq fleet submit`: specs become submissions, once each, and their texts travel through git."""

import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from orchestrator.cli import options
from orchestrator.cli.fleet.opened import Fleet, checked_labels, fleet_root, opened, row_of, state_of
from orchestrator.views.screen import say, say_json
from state.errors import GitError, SqError, UsageError
from state.outcome import Outcome, worst

if TYPE_CHECKING:
    from orchestrator.fleet.records import Submission, Unit


# A password, a query, or as the name of a user something as long as a token.
_SECRET = re.compile(r"(?i)(?:[a-z+]+://[^/@]*:[^/@]*@|https?://(?:[^/@]{20,}@|[^?#]*[?#]))")
_HTTP = ("http", "https")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LOOK_S, _PATIENCE_S = 1.0, 10.0
_MOST_USD = 1_000_000.0


@click.command("submit", short_help="Submit specs, each a run of its own.")
@click.argument("specs", nargs=-1, required=True, metavar="SPEC…")
@click.option("--repository", metavar="URL", help="Where the work goes (default: the repository here).")
@click.option(
    "--base",
    metavar="BRANCH",
    help="The branch or commit to begin at (default: the branch here, as it is pushed, or the server's).",
)
@click.option("--effort", default="medium", show_default=True, metavar="NAME", help="The effort of each run.")
@click.option(
    "--budget",
    type=click.FloatRange(min=0, min_open=True, max=_MOST_USD),
    metavar="USD",
    help="The most of each run.",
)
@click.option(
    "--deadline",
    metavar="DURATION",
    callback=options.duration,
    help="The longest that a worker works on a run: 90m, 8h, 2d.",
)
@click.option(
    "--priority", type=click.IntRange(1, 10_000), default=100, show_default=True, help="Lower is first."
)
@click.option(
    "--label", "labels", multiple=True, metavar="NAME", help="Only workers that have it. Repeatable."
)
@click.option("--pool", default="default", show_default=True, metavar="NAME", help="The budget that pays.")
@click.option("--pr", "pull_request", is_flag=True, help="Hand complete work over as a pull request.")
@options.host
@click.option("--nonce", default="", metavar="TEXT", help="Makes the same work another submission.")
@click.option("--wait", is_flag=True, help="Wait for the end of all, and exit with the worst of their codes.")
@click.option(
    "--rehearse",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Play this scenario instead of asking a model. Claude Code itself is real.",
)
@options.json_object
def submit(
    specs: tuple[str, ...],
    repository: str | None,
    base: str | None,
    effort: str,
    budget: float | None,
    deadline: float | None,
    priority: int,
    labels: tuple[str, ...],
    pool: str,
    pull_request: bool,
    nonce: str,
    wait: bool,
    rehearse: Path | None,
    as_json: bool,
) -> int:
    """Submit each SPEC as a run.

    SPEC is a Markdown file, an issue (gh:OWNER/REPO#N), or gh:OWNER/REPO@LABEL for all open issues with that
    label. The same submission made again is the same run. The text of a spec goes to refs/sq-fleet of the
    repository, and the database holds its hash.
    """
    wish = {
        "effort": effort,
        "budget_usd": _budget_of(effort) if budget is None else _amount(budget),
        "deadline_s": deadline or 0.0,
        "priority": priority,
        "labels": checked_labels(labels),
        "pool": pool,
        "pull_request": pull_request,
        "nonce": nonce,
    }
    found = [one for spec in specs for one in _texts(spec, dict(os.environ))]
    scenario = rehearse.read_bytes() if rehearse else b""
    with opened() as fleet:
        about = {**wish, **_target(repository, base)}
        asked = [_submitted(fleet, about, text, title, scenario, quiet=as_json) for title, text in found]
        ids = [submission.id for submission, _ in asked]
        code = _waited(fleet, ids, quiet=as_json) if wait else 0
        if as_json:
            progress = fleet.ledger.progress(ids)
            rows = [row_of(one, progress.get(one.id)) for one in fleet.engine.units(ids)]
            say_json({"submissions": rows, "new": sum(is_new for _, is_new in asked)})
    return code


def _submitted(
    fleet: Fleet, about: Mapping[str, Any], text: bytes, title: str, scenario: bytes, *, quiet: bool
) -> "tuple[Submission, bool]":
    """Push what is submitted, queue it and say so. Return the submission, and whether it is new."""
    from orchestrator.fleet.host import OWN_SPEC, SCENARIO
    from orchestrator.fleet.records import Submission
    from orchestrator.fleet.transport import GitServer, content_hash, offer

    files = {OWN_SPEC: text, **({SCENARIO: scenario} if scenario else {})}
    submission = Submission(spec=content_hash(files), title=title, **about)
    with TemporaryDirectory(prefix="sq-") as scratch:
        server = GitServer(submission.repository, patience_s=_PATIENCE_S)
        offer(server, submission.id, files, Path(scratch))
    is_new = fleet.engine.submit(submission)
    (unit,) = fleet.engine.units([submission.id])
    if not quiet:
        say(f"{unit.id} {'submitted' if is_new else f'is known already ({unit.state})'}: {title}")
    return submission, is_new


def _target(given: str | None, base: str | None) -> dict[str, str]:
    """Return the repository as workers find it, and the branch and commit where the work begins.

    Raises:
        UsageError: there is none, or its address holds a password.
    """
    from orchestrator.fleet.transport import GitServer

    url = _address(given)
    server = GitServer(url, patience_s=_PATIENCE_S)
    try:
        branch = server.default_branch()
        if base and _COMMIT.fullmatch(base):
            return {"repository": url, "base": base, "branch": branch}
        here = None if given else options.repository_here()
        branch = base or (_asked(here, "branch", "--show-current") if here else "") or branch
        commit = server.refs(f"refs/heads/{branch}").get(f"refs/heads/{branch}")
    except SqError as error:
        raise UsageError(f"{url} cannot be read: {error}") from error
    if not commit:
        raise UsageError(f"{url} has no branch {branch}: push it, or name another with --base")
    if here and not base and commit != _asked(here, "rev-parse", "HEAD"):
        moved = f"{branch} here is not where it is in {url}: the work begins there, at {commit[:8]}"
        say(moved, error=True)
    return {"repository": url, "base": commit, "branch": branch}


def _address(given: str | None) -> str:
    """Return the address of the repository as the database gets it: without the name of a user of HTTP.

    Raises:
        UsageError: there is none, or its address holds a password or a token.
    """
    here = options.repository_here()
    url = given or (here and (_asked(here, "remote", "get-url", "origin") or str(here))) or ""
    named = "--repository" if given else "the address of origin"
    if not url:
        raise UsageError("there is no repository here: name one with --repository URL")
    if _SECRET.match(url):
        raise UsageError(
            f"{named} holds a password or token, which would lie in the database. Let git know it instead "
            "(docs/fleet.md, private repositories)"
        )
    if "://" in url or ":" in url.split("/")[0]:
        scheme, sign, rest = url.partition("://")
        return f"{scheme.lower()}{sign}{rest.rpartition('@')[2]}" if scheme.lower() in _HTTP else url
    folder = Path(os.path.normpath(Path.cwd() / url if given or not here else here / url))
    if not folder.is_dir():
        raise UsageError(f"{named} {folder}: there is no such folder")
    return str(folder)


def _asked(here: Path, *words: str) -> str:
    """Return what git says of the repository here, or ""."""
    from orchestrator.fleet.transport import git_line

    try:
        return git_line(here, *words)
    except GitError:
        return ""


def _texts(spec: str, environ: Mapping[str, str]) -> list[tuple[str, bytes]]:
    """Return the specs that an argument names, each as its title and its text.

    Reading an issue takes the token out of the process's environment. git needs it too, so it is
    put back from `environ`, what the process began with.

    Raises:
        UsageError: it cannot be read.
    """
    from orchestrator.cli.runs.plans import taken_over
    from orchestrator.cli.runs.request import read_spec

    if spec.startswith("gh:") and "@" in spec:
        import anyio

        named, _, label = spec.partition("@")
        numbers = anyio.run(open_issues, named.removeprefix("gh:"), label)
        os.environ.update(environ)
        return [one for number in numbers for one in _texts(f"{named}#{number}", environ)]
    found = taken_over(spec, fleet_root())
    os.environ.update(environ)
    text = read_spec(found.file)
    heading = next((line.lstrip("# ").strip() for line in text.splitlines() if line.strip()), spec)
    return [(found.issue or _title(heading), text.encode())]


def _title(heading: str) -> str:
    """Return the title that the database holds: the first words of the first line, without secrets."""
    from state.redaction.redactor import redactor

    return " ".join(redactor(os.environ)(heading).split())[:60]


def _amount(usd: float) -> float:
    if not usd > 0:  # `nan` is in each range
        raise click.BadParameter(f"{usd} is no amount", param_hint="--budget")
    return usd


def _budget_of(effort: str) -> float:
    from state.settings.config import load_config

    flags = {"effort": ("--effort", effort)}
    return load_config(None, os.environ, flags=flags).settings.budget_run_usd or 0.0


def _waited(fleet: Fleet, ids: Sequence[str], *, quiet: bool) -> int:
    """Wait for the end of submissions, say each, and return the worst exit code."""
    try:
        codes = {unit.exit_code for unit in _ended(fleet, ids, quiet=quiet)}
    except KeyboardInterrupt:
        say("what is submitted goes on. `sq fleet cancel ID` stops it", error=True)
        raise
    return worst(outcome for outcome in Outcome if outcome.exit_code in codes).exit_code


def _ended(fleet: Fleet, ids: Sequence[str], *, quiet: bool) -> "list[Unit]":
    told: dict[str, str] = {}
    while True:
        units = fleet.patiently(lambda: fleet.engine.units(ids))
        progress = fleet.patiently(lambda: fleet.ledger.progress(ids))
        for unit in units:
            row = row_of(unit, progress.get(unit.id))
            ended = unit.exit_code is not None
            if told.get(unit.id) != (now := state_of(row)) and not quiet and (ended or sys.stderr.isatty()):
                say(f"{unit.id} {now}", error=not ended)
            told[unit.id] = now
        if all(unit.exit_code is not None for unit in units):
            return units
        time.sleep(_LOOK_S)


_HOST = "github.com"


async def open_issues(slug: str, label: str) -> list[int]:
    """Return the numbers of the open issues of `OWNER/REPO` with this label, oldest first.

    Raises:
        UsageError: it is no name of a repository, or none has the label.
    """
    from orchestrator.cli.version import sq_version
    from orchestrator.hosting.remote import Hosted, api_address, take_token
    from orchestrator.hosting.service import Service

    owner, sign, name = slug.partition("/")
    if not (sign and owner and name and label):
        raise UsageError(f"gh:{slug}@{label} names no issues. Write gh:OWNER/REPO@LABEL")
    token = take_token(_HOST)
    async with Service.at(api_address(_HOST, os.environ), token, agent=f"sq/{sq_version()}") as service:
        path, asked = f"/repos/{Hosted(_HOST, owner, name).slug}/issues", f"the issues of {slug}"
        query = {"state": "open", "direction": "asc", "labels": label}
        pages = service.pages(path, asked, query=query)
        found = [int(one["number"]) async for one in pages if "pull_request" not in one]
    if not found:
        raise UsageError(f"{slug} has no open issue with the label {label}")
    return found
