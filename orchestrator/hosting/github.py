"""What sq asks of GitHub: issues, pull requests, comments, reviews, checks.

Sources: its references of REST and GraphQL.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import quote

from orchestrator.hosting.remote import Hosted
from orchestrator.hosting.service import HostingError, Service, ServiceReply, UnsureError

_WRITERS = {"admin", "maintain", "write"}
_FAILED_CHECKS = {"failure", "timed_out", "action_required", "startup_failure"}
_EDITED = "query($o:String!,$n:String!,$i:Int!){repository(owner:$o,name:$n){issue(number:$i){lastEditedAt}}}"
_READY = "mutation($id:ID!){markPullRequestReadyForReview(input:{pullRequestId:$id}){pullRequest{id}}}"
_DRAFT = "mutation($id:ID!){convertPullRequestToDraft(input:{pullRequestId:$id}){pullRequest{id}}}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    """A pull request as the service shows it. `state` is open or closed."""

    number: int
    url: str
    title: str
    body: str
    state: str
    merged: bool
    draft: bool
    head: str
    head_branch: str
    base_branch: str
    author: str
    node_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something that an account said: a comment, a review, or a comment on a line of the diff.

    `kind` and `id` name it. `path` and `line` say where, if it is about a line.
    """

    kind: str
    id: int
    author: str
    text: str
    url: str
    at: str
    path: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCheck:
    """A check that did not pass on a commit, with the notes of its program.

    `text` may be a part of its log.
    """

    id: int
    name: str
    conclusion: str
    url: str
    text: str
    notes: tuple[str, ...] = ()
    log: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """An issue, and what was said below it.

    `edited_at`: when its text was last changed, "" never or unknown.
    """

    number: int
    title: str
    body: str
    author: str
    url: str
    state: str
    is_pull_request: bool
    edited_at: str = ""
    remarks: tuple[Remark, ...] = ()


@dataclass(kw_only=True)
class GitHub:
    """One repository on the service."""

    service: Service
    repository: Hosted
    _may_write: dict[str, bool] = field(default_factory=dict)

    def _path(self, rest: str) -> str:
        return f"/repos/{self.repository.slug}{rest}"

    async def _told(
        self, method: str, rest: str, asked: str, body: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Ask for an object of the repository."""
        return _object(await self.service.ask(method, self._path(rest), asked, body=body), asked)

    # --- pull requests ----------------------------------------------------------------------------------

    async def default_branch(self) -> str:
        """Return the branch that the repository is about."""
        asked = f"to read the repository {self.repository.slug}"
        return str((await self._told("GET", "", asked))["default_branch"])

    async def pull_requests_from(self, branch: str) -> list[PullRequest]:
        """Return all pull requests from a branch of this repository, the newest first."""
        asked = f"to look for pull requests from {branch}"
        query = {"head": f"{self.repository.owner}:{branch}", "state": "all"}
        found = [one async for one in self.service.pages(self._path("/pulls"), asked, query=query)]
        parsed = [_pull_request(one) for one in found]
        return sorted((one for one in parsed if one.head_branch == branch), key=lambda one: -one.number)

    async def pull_request(self, number: int) -> PullRequest:
        asked = f"to read pull request {self.repository.slug}#{number}"
        return _pull_request(await self._told("GET", f"/pulls/{number}", asked))

    async def changed_since(self, number: int, etag: str) -> tuple[str, float, bool]:
        """Ask whether a pull request changed.

        Returns its new mark, the pause that the service wants, and whether.
        """
        headers = {"if-none-match": etag} if etag else {}
        asked = f"to look at pull request #{number} again"
        answer = await self.service.ask("GET", self._path(f"/issues/{number}"), asked, headers=headers)
        pause = answer.headers.get("x-poll-interval", "")
        return (
            answer.headers.get("etag", etag),
            float(pause) if pause.isdigit() else 0.0,
            answer.status != 304,  # noqa: PLR2004  not modified
        )

    async def open_pull_request(
        self, *, title: str, body: str, head: str, base: str, draft: bool
    ) -> PullRequest:
        """Open a pull request.

        Raises:
            UnsureError: it may have been opened.
        """
        asked = f"to open a pull request from {head} to {base}"
        given = {"title": title, "body": body, "head": head, "base": base, "draft": draft}
        return _pull_request(await self._told("POST", "/pulls", asked, given))

    async def change_pull_request(self, number: int, **changed: str) -> PullRequest:
        """Change texts of a pull request."""
        asked = f"to change pull request #{number}"
        return _pull_request(await self._told("PATCH", f"/pulls/{number}", asked, changed))

    async def set_draft(self, pull_request: PullRequest, *, draft: bool) -> None:
        """Make a pull request a draft, or ready. Doing it twice is no error."""
        asked = f"to make pull request #{pull_request.number} {'a draft' if draft else 'ready for review'}"
        await self._query(_DRAFT if draft else _READY, {"id": pull_request.node_id}, asked)

    async def request_changes(self, number: int, commit: str, body: str) -> bool:
        """Request changes.

        Returns False where the service refuses it, as to the author of the pull request.
        """
        asked = f"to request changes of pull request #{number}"
        given = {"event": "REQUEST_CHANGES", "body": body, "commit_id": commit}
        try:
            await self.service.ask("POST", self._path(f"/pulls/{number}/reviews"), asked, body=given)
        except UnsureError:
            raise
        except HostingError as error:
            if error.status in {403, 422}:
                return False
            raise
        return True

    # --- what people and checks say ---------------------------------------------------------------------

    async def remarks_on(self, number: int) -> list[Remark]:
        """Return the comments, reviews and comments on lines of a pull request, the oldest first."""
        asked = f"to read what was said about pull request #{number}"
        lists = {
            "comment": f"/issues/{number}/comments",
            "review": f"/pulls/{number}/reviews",
            "line": f"/pulls/{number}/comments",
        }
        found = [
            _remark(kind, one)
            for kind, path in lists.items()
            async for one in self.service.pages(self._path(path), asked)
        ]
        return sorted(found, key=lambda one: (one.at, one.id))

    async def may_write(self, account: str) -> bool:
        """Whether an account may write to the repository.

        The service's own words decide, not the comment's.
        """
        if account not in self._may_write:
            asked = f"to ask what {account} may do"
            try:
                found = await self._told("GET", f"/collaborators/{quote(account)}/permission", asked)
            except HostingError as error:
                if error.status != 404:  # noqa: PLR2004  no collaborator
                    raise
                self._may_write[account] = False
            else:
                self._may_write[account] = bool({found.get("permission"), found.get("role_name")} & _WRITERS)
        return self._may_write[account]

    async def answer(self, number: int, remark: Remark | None, body: str) -> None:
        """Answer a remark below it, or in the conversation where it is not about a line.

        Raises:
            UnsureError: the answer may stand there.
        """
        asked = f"to answer in pull request #{number}"
        below = remark is not None and remark.kind == "line"
        path = (
            f"/pulls/{number}/comments/{remark.id}/replies"
            if remark and below
            else f"/issues/{number}/comments"
        )
        await self.service.ask("POST", self._path(path), asked, body={"body": body})

    async def failed_checks(self, commit: str) -> tuple[list[FailedCheck], int]:
        """Return the checks that failed on a commit, and how many are not over yet."""
        asked = f"to read the checks of {commit[:10]}"
        path = self._path(f"/commits/{commit}/check-runs")
        runs = [
            one
            async for one in self.service.pages(path, asked, within="check_runs", query={"filter": "latest"})
        ]
        failed = [await self._failed(one) for one in runs if one.get("conclusion") in _FAILED_CHECKS]
        return failed, sum(one.get("status") != "completed" for one in runs)

    async def _failed(self, run: Mapping[str, Any]) -> FailedCheck:
        output = run.get("output") or {}
        number = int(run["id"])
        notes: tuple[str, ...] = ()
        if output.get("annotations_count"):
            path = self._path(f"/check-runs/{number}/annotations")
            found = [one async for one in self.service.pages(path, "to read the notes of a check")]
            notes = tuple(f"{one.get('path')}:{one.get('start_line')}: {one.get('message')}" for one in found)
        text = "\n".join(filter(None, (output.get("title"), output.get("summary"), output.get("text"))))
        log = await self._log(number) if (run.get("app") or {}).get("slug") == "github-actions" else ""
        return FailedCheck(
            id=number,
            name=str(run.get("name", "")),
            conclusion=str(run["conclusion"]),
            url=str(run.get("html_url") or ""),
            text=text,
            notes=notes,
            log=log,
        )

    async def _log(self, job: int) -> str:
        """Return the log of a job of GitHub Actions, "" if it is gone. Its check has the same number."""
        return await self.service.text_behind(self._path(f"/actions/jobs/{job}/logs"))

    # --- issues -----------------------------------------------------------------------------------------

    async def issue(self, number: int) -> Issue:
        """Return an issue with its comments."""
        asked = f"to read issue {self.repository.slug}#{number}"
        found = await self._told("GET", f"/issues/{number}", asked)
        comments = self.service.pages(self._path(f"/issues/{number}/comments"), asked)
        return Issue(
            number=number,
            title=str(found.get("title") or ""),
            body=str(found.get("body") or ""),
            author=_account(found),
            url=str(found.get("html_url") or ""),
            state=str(found.get("state") or ""),
            is_pull_request="pull_request" in found,
            edited_at=await self._edited_at(number),
            remarks=tuple([_remark("comment", one) async for one in comments]),
        )

    async def _edited_at(self, number: int) -> str:
        """Return when an issue's text was last edited, which the service says through GraphQL alone."""
        given = {"o": self.repository.owner, "n": self.repository.name, "i": number}
        try:
            found = await self._query(_EDITED, given, "to ask when the issue was edited")
            return str(found["repository"]["issue"]["lastEditedAt"] or "")
        except (HostingError, KeyError, TypeError):
            return ""

    async def _query(self, query: str, given: Mapping[str, Any], asked: str) -> dict[str, Any]:
        address = self.service.address.removesuffix("/v3") + "/graphql"
        body = {"query": query, "variables": given}
        answer = await self.service.ask("POST", address, asked, body=body)
        found = _object(answer, asked)
        if errors := found.get("errors"):
            words = "; ".join(str(one.get("message", "")) for one in errors if isinstance(one, dict))
            raise HostingError(
                f"sq wanted {asked}, and the service refused: {words}", status=answer.status, said=words
            )
        return found.get("data") or {}


def _object(answer: ServiceReply, asked: str) -> dict[str, Any]:
    if isinstance(answer.body, dict):
        return answer.body
    raise HostingError(
        f"sq wanted {asked}, and the answer is not what the service documents", status=answer.status
    )


def _account(found: Mapping[str, Any]) -> str:
    return str((found.get("user") or {}).get("login") or "somebody")


def _pull_request(found: Mapping[str, Any]) -> PullRequest:
    try:
        return PullRequest(
            number=int(found["number"]),
            url=str(found["html_url"]),
            title=str(found["title"]),
            body=str(found.get("body") or ""),
            state=str(found["state"]),
            merged=bool(found.get("merged_at") or found.get("merged")),
            draft=bool(found.get("draft")),
            head=str(found["head"]["sha"]),
            head_branch=str(found["head"]["ref"]),
            base_branch=str(found["base"]["ref"]),
            author=_account(found),
            node_id=str(found.get("node_id") or ""),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise HostingError(f"the service's pull request lacks {error}") from error


def _remark(kind: str, found: Mapping[str, Any]) -> Remark:
    return Remark(
        kind=kind,
        id=int(found["id"]),
        author=_account(found),
        text=str(found.get("body") or ""),
        url=str(found.get("html_url") or ""),
        at=str(found.get("submitted_at") or found.get("created_at") or ""),
        path=str(found.get("path") or ""),
        line=int(found.get("line") or found.get("original_line") or 0),
    )


def when(text: str) -> datetime | None:
    """Return a moment as the service writes it, or None."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
