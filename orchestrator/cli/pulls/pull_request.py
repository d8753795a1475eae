"""`sq pr`: hand the finished work of a run over as a pull request. Agents never write to the service, sq does."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator.cli import options
from orchestrator.views.screen import say, say_document

if TYPE_CHECKING:
    from orchestrator.hosting.handing_over import HandedOver, Offer
    from orchestrator.hosting.token import Token


@click.command("pr", short_help="Hand the work of a run over as a pull request.")
@click.argument("run", required=False, shell_complete=options.complete_runs)
@click.option("--base", metavar="BRANCH", help="The branch that it asks for (default: where the run began).")
@click.option("--draft", is_flag=True, help="Open a draft, also of complete work.")
@click.option("--no-push", is_flag=True, help="Push nothing: the branch is on the service already.")
@click.option("--closes", is_flag=True, help="Close the issue that the spec came from when it is merged.")
@click.option("--print", "only_print", is_flag=True, help="Print title and text, and send nothing.")
@options.state_dir
def command(
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
    proves that. It is a draft unless the run is complete, and sq never merges it. The work is pushed to its own
    branch, never by force. sq acts with GITHUB_TOKEN or GH_TOKEN, or with the login of `gh`.
    """
    import anyio

    folder = options.run_folder_of(run, state_dir)
    if only_print:
        offer = anyio.run(_offer_of, folder, base or "", draft, closes)
        say_document(f"{offer.prefix}{offer.title}\n\n{offer.body}")
        return 0
    handed = anyio.run(hand_over_run, folder, base or "", draft, closes, no_push)
    done = "opened" if handed.is_new else "brought up to date" if handed.changed else "already up to date"
    kind = " (a draft)" if handed.pull_request.draft else ""
    say(f"pull request #{handed.pull_request.number} {done}{kind}: {handed.pull_request.url}")
    for note in handed.notes:
        say(f"  {note}")
    return 0


async def hand_over_run(
    folder: Path,
    base: str = "",
    draft: bool = False,
    closes: bool = False,
    no_push: bool = False,
    token: "Token | None" = None,
) -> "HandedOver":
    """Push the work of a run and open or change its pull request. The journal keeps which one it is.

    Raises:
        UsageError: there is no work, no remote, no token, or the pull request is closed.
        SqError: the service or the remote refused.
    """
    from dataclasses import replace

    from orchestrator.cli.runs.publisher import send_last
    from orchestrator.cli.runs.request import RunEnvironment
    from orchestrator.cli.version import sq_version
    from orchestrator.hosting.github import GitHub
    from orchestrator.hosting.handing_over import hand_over
    from orchestrator.hosting.pushing import push
    from orchestrator.hosting.remote import api_address, find_remote
    from orchestrator.hosting.service import Service
    from orchestrator.hosting.token import take_token
    from orchestrator.views.report.reading import repository_of
    from state.errors import UsageError
    from state.journal.events import PullRequestMade
    from state.journal.fold.fold import fold
    from state.journal.store import Journal, JournalReader

    with JournalReader(folder) as reader:
        view = fold(reader.read())
    if view.started is None:
        raise UsageError(f"run {folder.name} was killed before it began, so there is no work to hand over")
    repository = repository_of(view.started, folder)
    remote = await find_remote(repository, view.started.base_branch, os.environ)
    address = api_address(remote.repository.host, os.environ)
    token = token or take_token(remote.repository.host)
    surroundings = RunEnvironment(known=token.known)
    async with Service.at(address, token, agent=f"sq/{sq_version()}") as service:
        github = GitHub(service=service, repository=remote.repository)
        offer = await _offer_of(folder, base, draft, closes)
        if not offer.base:
            offer = replace(offer, base=await github.default_branch())
        if not no_push:
            await push(repository, remote, offer.commit, offer.branch, base=offer.base, token=token)
        handed = await hand_over(github, offer)
    made = PullRequestMade(
        repository=remote.repository.slug,
        number=handed.pull_request.number,
        url=handed.pull_request.url,
        commit=offer.commit,
        draft=handed.pull_request.draft,
        is_new=view.pull_request is None,
    )
    if handed.changed or made.is_new:
        with Journal(folder, redact=surroundings.redactor_for(repository)) as journal:
            journal.append(made)
        await send_last(folder, surroundings)
    return handed


async def _offer_of(folder: Path, base: str, draft: bool, closes: bool) -> "Offer":
    """Return the work of a run as it is offered.

    Raises:
        UsageError: a process works on the run, or it has no finished work.
    """
    from orchestrator.cli.report import read_for_report
    from orchestrator.cli.version import sq_version
    from orchestrator.git.workspace import run_branch
    from orchestrator.hosting.handing_over import Offer
    from orchestrator.views.models.conclusions import CheckState
    from orchestrator.views.report.formats.markdown import pull_request
    from state.errors import UsageError
    from state.hidden import visible
    from state.inert import inert

    report = (await read_for_report(folder)).report(sq_version())
    if report.headline.check is CheckState.PENDING:
        raise UsageError(
            f"run {folder.name} goes on. Wait for its end (`sq watch {folder.name}`), or interrupt it"
        )
    if not report.commits.commit:
        raise UsageError(
            f"run {folder.name} has no finished work to hand over: {report.headline.sentence}. `sq status {folder.name}` "
            "says why"
        )
    origin = report.spec.follows or report.run_id
    base = base or ("" if report.spec.follows else report.commits.branch)
    return Offer(
        run_id=origin,
        branch=run_branch(origin),
        base=base,
        commit=report.commits.commit,
        title=inert(visible(report.spec.subject) or report.run_id),
        prefix=report.headline.title_prefix if report.headline.draft else "",
        body=pull_request(report, closes=closes),
        draft=draft or report.headline.draft or bool(report.protected),
        protected=report.protected,
    )
