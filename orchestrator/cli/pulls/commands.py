"""`sq pr` and `sq follow`: work goes out as a pull request, its review comes back in."""

import os
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orchestrator.cli import options
from orchestrator.cli.runs import flags
from orchestrator.views.screen import say, say_document
from state.hidden import inert, visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.hosting.handing_over import Offer, PullRequestState
    from orchestrator.hosting.remote import AccessToken
    from orchestrator.views.report.contents import ReportContents


@click.command("pr", short_help="Hand the work of a run over as a pull request.")
@click.argument("run", required=False, shell_complete=options.complete_runs)
@click.option("--base", metavar="BRANCH", help="The branch that it asks for (default: where the run began).")
@click.option("--draft", is_flag=True, help="Open a draft, also of complete work.")
@click.option("--no-push", is_flag=True, help="Push nothing: the branch is on the service already.")
@click.option("--closes", is_flag=True, help="Close the issue that the spec came from when it is merged.")
@options.host
@click.option("--print", "only_print", is_flag=True, help="Print title and text, and send nothing.")
@options.state_dir
def pr(
    run: str | None,
    base: str | None,
    draft: bool,
    no_push: bool,
    closes: bool,
    only_print: bool,
    state_dir: Path | None,
) -> int:
    """Hand the work of RUN (default: the newest) over as a pull request, or bring that up to date.

    There is one pull request a run. Its text says for each demand of the spec which commit meets it and what
    proves that. It is a draft unless the run is complete, and sq never merges it. The work is pushed to its
    own branch, never by force. sq acts with GITHUB_TOKEN or GH_TOKEN, or with the login of `gh`.
    """
    import anyio

    folder = options.run_folder_of(run, state_dir)
    if only_print:
        offer = anyio.run(_offer_of, folder, OfferWish(base=base or "", draft=draft, closes=closes))
        say_document(f"{offer.prefix}{offer.title}\n\n{offer.body}")
        return 0
    wish = OfferWish(base=base or "", draft=draft, closes=closes, push=not no_push)
    handed = anyio.run(hand_over_run, folder, None, wish)
    done = "opened" if handed.is_new else "brought up to date" if handed.changed else "already up to date"
    kind = " (a draft)" if handed.pull_request.draft else ""
    say(f"pull request #{handed.pull_request.number} {done}{kind}: {handed.pull_request.url}")
    for note in handed.notes:
        say(f"  {note}")
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferWish:
    """How the user wants it: another base than where the run began, a draft, closing the issue, no push."""

    base: str = ""
    draft: bool = False
    closes: bool = False
    push: bool = True


async def hand_over_run(
    folder: Path, token: "AccessToken | None" = None, wish: OfferWish = OfferWish()
) -> "PullRequestState":
    """Push the work of a run and open or change its pull request. The journal keeps which one it is.

    Raises:
        UsageError: there is no work, no remote, no token, or the pull request is closed.
        SqError: the service or the remote refused.
    """
    from orchestrator.cli.version import sq_version
    from orchestrator.hosting.github import GitHub
    from orchestrator.hosting.handing_over import hand_over, push
    from orchestrator.hosting.remote import api_address, find_remote, take_token
    from orchestrator.hosting.service import Service
    from orchestrator.views.report.rendering import repository_of
    from state.journal.fold.fold import fold
    from state.journal.store import JournalReader

    with JournalReader(folder) as reader:
        view = fold(reader.read())
    repository = repository_of(view, folder)
    remote = await find_remote(repository, view.started.base_branch if view.started else None, os.environ)
    address = api_address(remote.repository.host, os.environ)
    token = token or take_token(remote.repository.host)
    async with Service.at(address, token, agent=f"sq/{sq_version()}") as service:
        github = GitHub(service=service, repository=remote.repository)
        offer = await _offer_of(folder, wish)
        if not offer.base:
            offer = replace(offer, base=await github.default_branch())
        if wish.push:
            await push(repository, remote, offer.commit, offer.branch, base=offer.base, token=token)
        handed = await hand_over(github, offer)
    await _record(folder, repository, handed, remote.repository.slug, offer.commit, token)
    return handed


async def _record(
    folder: Path, repository: Path, handed: "PullRequestState", slug: str, commit: str, token: "AccessToken"
) -> None:
    """Store which pull request it is, unless the journal says so, and send the notice of a new one."""
    from orchestrator.cli.runs.publisher import send_last
    from orchestrator.cli.runs.request import RunEnvironment
    from state.journal.events import PullRequestMade
    from state.journal.store import Journal

    environment = RunEnvironment(known=token.known)
    with Journal(folder, redact=environment.redactor_for(repository)) as journal:
        before = [one.event for one in journal.read() if isinstance(one.event, PullRequestMade)]
        made = PullRequestMade(
            repository=slug,
            number=handed.pull_request.number,
            url=handed.pull_request.url,
            commit=commit,
            draft=handed.pull_request.draft,
            is_new=not before,
        )
        if not before or replace(made, is_new=before[-1].is_new) != before[-1] or handed.changed:
            journal.append(made)
    await send_last(folder, environment)


async def _offer_of(folder: Path, wish: OfferWish) -> "Offer":
    """Return the work of a run as it is offered.

    Raises:
        UsageError: a process works on the run, or it has no finished work.
    """
    from orchestrator.cli.version import sq_version
    from orchestrator.git.workspace import run_branch
    from orchestrator.hosting.handing_over import Offer
    from orchestrator.views.report.contents import CheckState
    from orchestrator.views.report.markdown import pull_request
    from orchestrator.views.report.rendering import read_for_report
    from state.errors import UsageError

    report = (await read_for_report(folder)).report(sq_version())
    if report.headline.check is CheckState.PENDING:
        raise UsageError(
            f"run {folder.name} goes on. Wait for its end (`sq watch {folder.name}`), or interrupt it"
        )
    if not report.commits.commit:
        raise UsageError(
            f"run {folder.name} has no finished work to hand over: {report.headline.sentence}. "
            f"`sq status {folder.name}` says why"
        )
    origin = report.spec.follows or report.run_id
    base = wish.base or ("" if report.spec.follows else report.commits.branch)
    return Offer(
        run_id=origin,
        branch=run_branch(origin),
        base=base,
        commit=report.commits.commit,
        title=inert(visible(report.spec.subject) or report.run_id),
        prefix=report.headline.title_prefix if report.headline.draft else "",
        body=pull_request(report, await _earlier(folder, origin), closes=wish.closes),
        draft=wish.draft or report.headline.draft or bool(report.protected),
        protected=report.protected,
    )


async def _earlier(folder: Path, origin: str) -> "list[ReportContents]":
    """Return the reports of the run that made the pull request, and of the rounds before this run."""
    from orchestrator.cli.version import sq_version
    from orchestrator.views.report.rendering import read_for_report
    from state.paths import StateFolder

    state = StateFolder(folder.parents[1])
    older = [id_ for id_ in state.run_ids() if origin <= id_ < folder.name]
    reports = [(await read_for_report(state.runs / id_)).report(sq_version()) for id_ in older]
    return [one for one in reports if origin in {one.run_id, one.spec.follows}]


@click.command("follow", short_help="Work on what the review of a pull request asks for.")
@click.argument("pull_request", metavar="PR")
@click.option("--watch", is_flag=True, help="Go on until the pull request is merged or closed.")
@click.option(
    "--for",
    "for_s",
    metavar="DURATION",
    callback=options.duration,
    help="Watch for this long at most: 90m, 8h, 2d.",
)
@flags.settings(budget="USD", questions="", sandbox="")
@options.host
@options.rehearse
@options.state_dir
@options.plain
@options.verbose
@options.quiet
def follow(
    pull_request: str,
    watch: bool,
    for_s: float | None,
    rehearse: Path | None,
    state_dir: Path | None,
    plain: bool,
    verbose: bool,
    quiet: bool,
    **asked: Any,  # noqa: ANN401  the values of the options, by their names
) -> int:
    """Work on what the readers and the checks of the pull request PR ask for (its number or address).

    Reviews and comments by people who may write to the repository, and failing checks, become the points of a
    new run on its branch. Each is answered once, with the commit or the reason. sq stops after three rounds,
    as soon as a person has pushed, or when nothing is asked for. Comments of others are only shown here.
    """
    from orchestrator.cli.pulls.rounds import FollowRequest, work_on
    from orchestrator.cli.runs.compose import run_again, run_new
    from orchestrator.cli.runs.reported import FilesAtEnd
    from orchestrator.cli.runs.request import RunEnvironment
    from orchestrator.run.machine import work_until_stopped

    if for_s is not None and not watch:
        raise click.UsageError("--for says how long to watch: add --watch")
    given: Mapping[str, Any] = {name: value for name, value in asked.items() if value is not None}
    look = options.look_of(as_json=False, plain=plain, verbose=verbose, quiet=quiet)
    told = FollowRequest(
        named=pull_request,
        checkout=Path.cwd(),
        state=options.state_folder_of(state_dir),
        flags=flags.flags_of(given),
        rehearse=rehearse.absolute() if rehearse else None,
        watch_s=(for_s or float("inf")) if watch else 0.0,
        environ=os.environ,
        environment=partial(
            RunEnvironment, look=look, end_report=FilesAtEnd(), choose=options.choose_agent()
        ),
        new=partial(run_new, work=work_until_stopped),
        again=partial(run_again, work=work_until_stopped),
        hand_over=hand_over_run,
    )
    return work_on(told).exit_code
