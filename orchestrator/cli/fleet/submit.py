"""`sq fleet submit`: specs become submissions, once each, and their texts travel through git."""

import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from orchestrator.cli import options
from orchestrator.cli.fleet.opened import Fleet, as_json, opened, row_of
from orchestrator.views.screen import say, say_json
from state.errors import SqError, UsageError
from state.outcome import Outcome, worst

if TYPE_CHECKING:
    from orchestrator.fleet.records import Submission

_LABEL = re.compile(r"[a-z0-9][a-z0-9-]{0,30}")
_PASSWORD = re.compile(r"^[a-z+]+://[^/@]*:[^/@]*@")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LOOK_S, _PATIENCE_S = 1.0, 10.0
_MOST_LABELS = 5


@click.command("submit", short_help="Submit specs, each a run of its own.")
@click.argument("specs", nargs=-1, required=True, metavar="SPEC…")
@click.option("--repository", metavar="URL", help="Where the work goes (default: the repository here).")
@click.option(
    "--base", metavar="BRANCH", help="The branch or commit to begin at (default: where HEAD leads)."
)
@click.option("--effort", default="medium", show_default=True, metavar="NAME", help="The effort of each run.")
@click.option(
    "--budget", type=click.FloatRange(min=0, min_open=True), metavar="USD", help="The most of each run."
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
@click.option("--nonce", default="", metavar="TEXT", help="Makes the same work another submission.")
@click.option("--wait", is_flag=True, help="Wait for the end of all, and exit with the worst of their codes.")
@click.option(
    "--rehearse",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Play this scenario instead of asking a model. Claude Code itself is real.",
)
@as_json
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
        "budget_usd": budget if budget is not None else _budget_of(effort),
        "deadline_s": deadline or 0.0,
        "priority": priority,
        "labels": _checked(labels),
        "pool": pool,
        "pull_request": pull_request,
        "nonce": nonce,
    }
    found = [one for spec in specs for one in _texts(spec)]
    scenario = rehearse.read_bytes() if rehearse else b""
    with opened() as fleet:
        about = {**wish, **_target(repository, base)}
        asked = [_submitted(fleet, about, text, title, scenario) for title, text in found]
        if not as_json:
            for submission, is_new in asked:
                say(f"{submission.id} {'submitted' if is_new else 'is known already'}: {submission.title}")
        ids = [submission.id for submission, _ in asked]
        code = _waited(fleet, ids, quiet=as_json) if wait else 0
        if as_json:
            progress = fleet.ledger.progress(ids)
            rows = [row_of(one, progress.get(one.id)) for one in fleet.engine.units(ids)]
            say_json({"submissions": rows, "new": sum(is_new for _, is_new in asked)})
    return code


def _submitted(
    fleet: Fleet, about: Mapping[str, Any], text: bytes, title: str, scenario: bytes
) -> "tuple[Submission, bool]":
    """Push what is submitted and queue it. Return the submission, and whether it is new."""
    from orchestrator.fleet.policy import OWN_SPEC, SCENARIO
    from orchestrator.fleet.records import Submission
    from orchestrator.fleet.transport import GitServer, content_hash, offer

    files = {OWN_SPEC: text, **({SCENARIO: scenario} if scenario else {})}
    submission = Submission(spec=content_hash(files), title=title, **about)
    with TemporaryDirectory(prefix="sq-") as scratch:
        server = GitServer(submission.repository, patience_s=_PATIENCE_S)
        offer(server, submission.id, files, Path(scratch))
    return submission, fleet.engine.submit(submission)


def _target(given: str | None, base: str | None) -> dict[str, str]:
    """Return the repository as workers find it, and the branch and commit where the work begins.

    Raises:
        UsageError: there is none, or its address holds a password.
    """
    from orchestrator.fleet.transport import GitServer, git_line
    from state.errors import GitError

    url = _address(given)
    server = GitServer(url, patience_s=_PATIENCE_S)
    try:
        head = git_line(Path("/"), "ls-remote", "--symref", url, "HEAD").splitlines()
        named = (line.split()[1] for line in head if line.startswith("ref:"))
        branch = next(named, "main").removeprefix("refs/heads/")
        if base and _COMMIT.fullmatch(base):
            return {"repository": url, "base": base, "branch": branch}
        branch = base or branch
        commit = server.refs(f"refs/heads/{branch}").get(f"refs/heads/{branch}")
    except (GitError, SqError) as error:
        raise UsageError(f"{url} cannot be read: {error}") from error
    if not commit:
        raise UsageError(f"{url} has no branch {branch}: push it, or name another with --base")
    return {"repository": url, "base": commit, "branch": branch}


def _address(given: str | None) -> str:
    here = options.repository_here()
    url = given or (_own_address(here) if here else "")
    if not url:
        raise UsageError("there is no repository here: name one with --repository URL")
    if _PASSWORD.match(url):
        raise UsageError(
            "--repository holds a password, which would lie in the database. Let git know it instead"
        )
    if "://" not in url and ":" not in url.split("/")[0]:
        url = str(Path(url).absolute())
        if not Path(url).is_dir():
            raise UsageError(f"--repository {url}: there is no such folder")
    return url


def _own_address(here: Path) -> str:
    from orchestrator.fleet.transport import git_line
    from state.errors import GitError

    try:
        return git_line(here, "remote", "get-url", "origin")
    except GitError:
        return str(here)


def _texts(spec: str) -> list[tuple[str, bytes]]:
    """Return the specs that an argument names, each as its title and its text.

    Raises:
        UsageError: it cannot be read.
    """
    from orchestrator.cli.fleet.opened import fleet_root
    from orchestrator.cli.runs.request import read_spec
    from orchestrator.cli.runs.specs import taken_over

    if spec.startswith("gh:") and "@" in spec:
        import anyio

        from orchestrator.cli.fleet.issues import open_issues

        named, _, label = spec.partition("@")
        numbers = anyio.run(open_issues, named.removeprefix("gh:"), label)
        return [one for number in numbers for one in _texts(f"{named}#{number}")]
    found = taken_over(spec, fleet_root())
    text = read_spec(found.file)
    heading = next((line.lstrip("# ").strip() for line in text.splitlines() if line.strip()), spec)
    return [(found.issue or _title(heading), text.encode())]


def _title(heading: str) -> str:
    """Return the title that the database holds: the first words of the first line."""
    return " ".join(heading.split())[:60]


def _budget_of(effort: str) -> float:
    from state.settings.config import load_config

    flags = {"effort": ("--effort", effort)}
    return load_config(None, os.environ, flags=flags).settings.budget_run_usd or 0.0


def _checked(labels: Sequence[str]) -> tuple[str, ...]:
    if wrong := next((one for one in labels if not _LABEL.fullmatch(one)), None):
        raise click.BadParameter(
            f"{wrong!r} is no label. Write small letters, digits and -", param_hint="--label"
        )
    if len(set(labels)) > _MOST_LABELS:
        raise click.BadParameter(f"at most {_MOST_LABELS} labels", param_hint="--label")
    return tuple(sorted(set(labels)))


def _waited(fleet: Fleet, ids: Sequence[str], *, quiet: bool) -> int:
    """Wait for the end of submissions, say each, and return the worst exit code."""
    told: set[str] = set()
    while True:
        units = fleet.engine.units(ids)
        for unit in units:
            if unit.exit_code is not None and unit.id not in told:
                told.add(unit.id)
                if not quiet:
                    report = unit.report
                    say(f"{unit.id} {report.outcome.value if report else unit.state.value}")
        if len(told) == len(set(ids)):
            break
        time.sleep(_LOOK_S)
    codes = {unit.exit_code for unit in units}
    return worst(outcome for outcome in Outcome if outcome.exit_code in codes).exit_code
