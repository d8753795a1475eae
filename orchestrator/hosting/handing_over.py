"""Finished work on its way to people: pushed to its own branch, and one pull request a run.

It is never pushed by force, and never to the base branch. The pull request is opened once, found again by its
mark, and brought up to date in place. Each step may be repeated after any interruption: it looks first for
what it would make.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from orchestrator.git.command import git
from orchestrator.hosting.github import GitHub, PullRequest
from orchestrator.hosting.remote import NAMED_HOST, AccessToken, Remote, service_host
from orchestrator.hosting.service import HostingError, UnsureError, meaning_of, refusal_rows
from state.errors import GitError, SqError, UsageError
from state.hidden import visible

# The helper prints what git asks for, so that the token stands in no argument and in no file.
_HELPER = '!f() { test "$1" = get && echo username=x-access-token && echo "password=$SQ_PUSH_TOKEN"; }; f'
_WORDS_KEPT = 300


async def push(
    repository: Path, remote: Remote, commit: str, branch: str, *, base: str, token: AccessToken | None
) -> None:
    """Push a commit to a branch of a remote. Pushing it twice is no error.

    Raises:
        UsageError: the branch is the base branch.
        SqError: the remote refuses it, with what to do.
    """
    if branch == base:
        raise UsageError(f"the branch of the work and its base are both {branch}: name another with --base")
    settings, environment = await as_pusher(repository, remote, token)
    target = f"{commit}:refs/heads/{branch}"
    try:
        await git(
            repository,
            *("push", "--no-follow-tags", remote.name, target),
            settings=settings,
            environment=environment,
        )
    except GitError as error:
        raise SqError(_refusal(str(error), remote, branch)) from error


async def as_pusher(
    repository: Path, remote: Remote, token: AccessToken | None
) -> tuple[list[str], dict[str, str]]:
    """Return git's settings and variables for a remote: the user's own ones count before the token.

    Raises:
        UsageError: git would not ask the host of the remote's repository, by a `pushurl` or `insteadOf`.
    """
    for which in ((), ("--push",)):
        for address in (await git(repository, "remote", "get-url", *which, "--all", remote.name)).split("\n"):
            host = service_host(address)
            if host not in {"", remote.repository.host, os.environ.get(NAMED_HOST, "").lower()}:
                raise UsageError(
                    f"the remote {remote.name} is a repository of {remote.repository.host}, and "
                    f"{visible(host)} is where git sends it, by a pushurl or insteadOf. Name it: --host HOST"
                )
    settings = ["advice.pushUpdateRejected=false", "http.followRedirects=false"]
    if token is None or not remote.url.startswith("https://"):
        return settings, {}
    settings.append(f"credential.https://{remote.repository.host}.helper={_HELPER}")
    return settings, {"SQ_PUSH_TOKEN": token.value}


def _refusal(said: str, remote: Remote, branch: str) -> str:
    """Return git's refusal in words. Its own ones follow, without the command, which has sq's settings."""
    words = visible(said.rpartition("failed: ")[2] or said)[-_WORDS_KEPT:]
    what = meaning_of(said, refusal_rows().push) or "the remote refused it"
    return f"the work was not pushed to {branch} of {remote.name}: {what}. Git says: {words}"


_END = "<!-- sq:end -->"  # what a person writes below it stays
_PREFIX = re.compile(r"^(?:\[(?:unverified|rehearsal)\] )+")
_TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Finished work as a pull request.

    `run_id` is of the mark in `body`, by which it is found again. `prefix` goes before a title. `protected`
    are changed files for which changes are requested.
    """

    run_id: str
    branch: str
    base: str
    commit: str
    title: str
    prefix: str
    body: str
    draft: bool
    protected: tuple[str, ...] = ()

    @property
    def mark(self) -> str:
        """Return the mark of the run's pull request."""
        return f"<!-- sq:run={self.run_id} -->"


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequestState:
    """A pull request as it is now. `notes`: what could not be done, and what a person did meanwhile."""

    pull_request: PullRequest
    is_new: bool
    changed: bool
    notes: tuple[str, ...] = ()


async def hand_over(github: GitHub, offer: Offer) -> PullRequestState:
    """Open the pull request of a run, or bring it up to date.

    Raises:
        UsageError: it is closed, or one that sq did not make is open from its branch.
        HostingError: the service refused.
    """
    notes: list[str] = []
    found = await _found(github, offer)
    is_new = found is None
    if found is None:
        found, is_new = await _opened(github, offer, notes)
    changed = is_new
    title = _title(found, offer)
    body = _body(found, offer)
    news = {
        name: text
        for name, text, old in (("title", title, found.title), ("body", body, found.body))
        if text != old
    }
    if found.base_branch != offer.base:
        notes.append(f"it asks for {found.base_branch}, which sq leaves as it is")
    if news:
        found, changed = await github.change_pull_request(found.number, **news), True
    if found.draft != offer.draft and not is_new:
        try:
            await github.set_draft(found, draft=offer.draft)
            changed = True
        except HostingError as error:
            notes.append(str(error))
    if offer.protected:
        await _request_changes(github, offer, found, notes)
    return PullRequestState(pull_request=found, is_new=is_new, changed=changed, notes=tuple(notes))


async def _found(github: GitHub, offer: Offer) -> PullRequest | None:
    """Return the run's pull request: the open one from its branch, or the newest with its mark."""
    every = await github.pull_requests_from(offer.branch)
    ours = [one for one in every if offer.mark in one.body]
    for one in ours:
        if one.state == "open":
            return one
    if others := [one for one in every if one.state == "open"]:
        raise UsageError(
            f"pull request #{others[0].number} is open from {offer.branch}, and it lacks sq's mark, so sq "
            f"leaves it as it is ({others[0].url}). Put `{offer.mark}` into its text, or close it"
        )
    if ours:
        state = "merged" if ours[0].merged else "closed"
        raise UsageError(
            f"pull request #{ours[0].number} of run {offer.run_id} is {state} ({ours[0].url}), and sq "
            "opens no second one." + ("" if ours[0].merged else " Open it again there if it is still wanted")
        )
    return None


async def _opened(github: GitHub, offer: Offer, notes: list[str]) -> tuple[PullRequest, bool]:
    """Open the pull request. Where no answer comes it is looked for before it is asked for again."""
    draft = offer.draft
    for left in reversed(range(_TRIES)):
        try:
            made = await github.open_pull_request(
                title=offer.prefix + offer.title, body=f"{offer.body}\n{_END}\n", head=offer.branch,
                base=offer.base, draft=draft,
            )  # fmt: skip
        except UnsureError:
            if found := await _found(github, offer):
                return found, True
            if not left:
                raise
        except HostingError as error:
            if "already exists" in error.said and (found := await _found(github, offer)):
                return found, False
            if not (draft and "draft" in error.said.lower()):
                raise
            draft = False
            notes.append(
                "the service has no drafts for this repository, so the pull request is an ordinary one"
            )
        else:
            return made, True
    raise SqError("the pull request could not be opened")


def _title(found: PullRequest, offer: Offer) -> str:
    """Return the title: a person's words stay, what sq says of the work stands before them."""
    return offer.prefix + (_PREFIX.sub("", found.title) or offer.title)


def _body(found: PullRequest, offer: Offer) -> str:
    """Return the text, with what a person wrote before and after that of sq."""
    text = found.body.replace("\r\n", "\n")
    before, _, rest = text.partition(offer.mark)
    after = rest.rpartition(_END)[2] if _END in rest else ""  # words of agents may hold it too
    return f"{before}{offer.body}\n{_END}\n{after.lstrip(chr(10))}"


async def _request_changes(github: GitHub, offer: Offer, found: PullRequest, notes: list[str]) -> None:
    mark = f"<!-- sq:protected={offer.commit} -->"
    if any(mark in one.text for one in await github.remarks_on(found.number)):
        return
    files = "\n".join(f"- `{path.replace('`', '')}`" for path in offer.protected)
    why = "The work changes files that act later or instruct agents. A person has to look at them first."
    text = f"{mark}\n{why}\n\n{files}"
    if not await github.request_changes(found.number, offer.commit, text):
        notes.append(
            "the service takes no request for changes from the author, so the text of the pull "
            "request asks for them"
        )
