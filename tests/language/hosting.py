"""A hosting service on loopback: right and wrong follow GitHub's public documentation of its REST interface.

It keeps what it is sent, in memory of this process, and can be told to answer wrongly (`Fault`).
"""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

OWNER, NAME = "acme", "shop"
SLUG = f"{OWNER}/{NAME}"
TOKEN = "ghp_" + "s3cretOfTheStandIn0123456789abcdefgh"[:36]
ACCOUNT = "sq-bot"
LONGEST_BODY = 65_536


@dataclass
class Fault:
    """A wrong answer for requests that fit, `times` of them. `done`: the effect happens nevertheless."""

    method: str
    path: str  # a pattern
    status: int = 500
    body: object = None
    headers: dict[str, str] = field(default_factory=dict)
    times: int = 1
    cut: bool = False  # the connection ends without an answer
    done: bool = False


@dataclass
class Said:
    """An answer of the service."""

    status: int
    body: object = None
    headers: dict[str, str] = field(default_factory=dict)


class HostingStandIn:
    """The state of the service, and its answers."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.address = ""
        self.pulls: dict[int, dict[str, Any]] = {}
        self.issues: dict[int, dict[str, Any]] = {}
        self.comments: list[dict[str, Any]] = []  # of conversations
        self.lines: list[dict[str, Any]] = []  # on lines of diffs
        self.reviews: list[dict[str, Any]] = []
        self.checks: list[dict[str, Any]] = []
        self.annotations: dict[int, list[dict[str, Any]]] = {}
        self.logs: dict[int, str] = {}
        self.permissions: dict[str, str] = {ACCOUNT: "write", "owner": "admin", "maintainer": "write"}
        self.branches: Callable[[], dict[str, str]] = dict  # the heads of the real repository behind it
        self.edited: dict[int, str] = {}
        self.requests: list[tuple[str, str, Any]] = []
        self.headers_seen: list[dict[str, str]] = []
        self.faults: list[Fault] = []
        self.default_branch = "main"
        self.has_drafts = True
        self.renamed_to = ""
        self.follows_branches = False  # a pull request's head is that of its branch
        self.on_request: Callable[[str, str], None] = lambda _method, _path: None
        self.on_done: Callable[[str, str], None] = lambda _method, _path: None
        self._number = 100

    # --- what a test puts there ------------------------------------------------------------------------------

    def number(self) -> int:
        self._number += 1
        return self._number

    def add_issue(self, title: str, body: str, *, number: int = 12, author: str = "visitor") -> None:
        self.issues[number] = self._thing(number, author) | {"title": title, "body": body, "state": "open"}

    def say(self, number: int, author: str, text: str, at: str = "") -> int:
        """Add a comment of a conversation."""
        one = self._thing(self.number(), author, at) | {"issue": number, "body": text}
        self.comments.append(one)
        return int(one["id"])

    def say_on_line(self, number: int, author: str, path: str, line: int, text: str) -> int:
        one = self._thing(self.number(), author) | {"pull": number, "path": path, "line": line, "body": text}
        self.lines.append(one)
        return int(one["id"])

    def review(self, number: int, author: str, state: str, text: str) -> int:
        one = self._thing(self.number(), author)
        one |= {"pull": number, "state": state, "body": text, "submitted_at": one["created_at"]}
        self.reviews.append(one)
        return int(one["id"])

    def fail_check(self, commit: str, name: str, *, log: str = "", conclusion: str = "failure") -> int:
        id_ = self.number()
        self.checks.append(
            {
                "id": id_,
                "head_sha": commit,
                "name": name,
                "status": "completed",
                "conclusion": conclusion,
                "html_url": f"{self.address}/{SLUG}/runs/{id_}",
                "app": {"slug": "github-actions"},
                "output": {"title": None, "summary": None, "text": None, "annotations_count": 0},
            }
        )
        if log:
            self.logs[id_] = log
        return id_

    def _thing(self, id_: int, author: str, at: str = "") -> dict[str, Any]:
        return {
            "id": id_,
            "number": id_,
            "user": {"login": author, "type": "User"},
            "html_url": f"https://github.com/{SLUG}/issues/{id_}",
            "created_at": at or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }

    # --- what it answers ------------------------------------------------------------------------------------------

    def answer(self, method: str, target: str, headers: dict[str, str], body: Any) -> Said | None:
        """Return the answer to a request, or None to cut the connection."""
        split = urlsplit(target)
        with self.lock:
            self.requests.append((method, target, body))
            self.headers_seen.append(headers)
        self.on_request(method, split.path)
        with self.lock:
            fault = next(
                (
                    one
                    for one in self.faults
                    if one.times and one.method == method and re.search(one.path, split.path)
                ),
                None,
            )
            if fault:
                fault.times -= 1
                if fault.done:
                    self._right(method, split.path, parse_qs(split.query), headers, body)
                return None if fault.cut else Said(fault.status, fault.body, fault.headers)
            said = self._right(method, split.path, parse_qs(split.query), headers, body)
        self.on_done(method, split.path)
        return said

    def _right(
        self, method: str, path: str, query: dict[str, list[str]], headers: dict[str, str], body: Any
    ) -> Said:
        if path.startswith("/store/"):
            if "authorization" in headers:
                return Said(400, {"message": "a signed address takes no further credentials"})
            return Said(200, self.logs[int(path.rpartition("/")[2])], {"content-type": "text/plain"})
        if headers.get("authorization") != f"Bearer {TOKEN}":
            return Said(401, {"message": "Bad credentials"})
        if path == "/graphql":
            return self._graphql(body)
        prefix = f"/repos/{SLUG}"
        if self.renamed_to and path.startswith(prefix):
            there = f"{self.address}/repositories/7{path.removeprefix(prefix)}"
            return Said(
                307 if method != "GET" else 301,
                {"message": "Moved Permanently", "url": there},
                {"location": there},
            )
        path = path.replace("/repositories/7", prefix, 1)
        self._move_heads()
        if not (path == prefix or path.startswith(f"{prefix}/")):
            return Said(404, {"message": "Not Found"})
        rest = path.removeprefix(prefix)
        for pattern, answer in self._routes():
            route_method, _, route = pattern.partition(" ")
            if route_method == method and (found := re.fullmatch(route, rest)):
                return answer(*found.groups(), query=query, body=body, headers=headers)
        return Said(404, {"message": "Not Found"})

    def _move_heads(self) -> None:
        heads = self.branches() if self.follows_branches else {}
        for one in self.pulls.values():
            one["head"]["sha"] = heads.get(one["head"]["ref"], one["head"]["sha"])

    def _routes(self) -> Iterator[tuple[str, Callable[..., Said]]]:
        def listed(items: Callable[..., list[dict[str, Any]]]) -> Callable[..., Said]:
            return lambda *parts, query, **_: self._page(items(*parts), query, "/".join(parts))

        yield "GET ", lambda **_: Said(200, {"full_name": SLUG, "default_branch": self.default_branch})
        yield "GET /pulls", self._pulls
        yield "POST /pulls", self._open
        yield r"GET /pulls/(\d+)", lambda number, **_: self._one(self.pulls, number)
        yield r"PATCH /pulls/(\d+)", self._change
        yield (
            r"GET /issues/(\d+)/comments",
            listed(lambda n: [one for one in self.comments if one["issue"] == int(n)]),
        )
        yield (
            r"GET /pulls/(\d+)/comments",
            listed(lambda n: [one for one in self.lines if one["pull"] == int(n)]),
        )
        yield (
            r"GET /pulls/(\d+)/reviews",
            listed(lambda n: [one for one in self.reviews if one["pull"] == int(n)]),
        )
        yield r"POST /issues/(\d+)/comments", self._comment
        yield r"PATCH /issues/comments/(\d+)", self._change_comment
        yield r"POST /pulls/(\d+)/comments/(\d+)/replies", self._reply
        yield r"POST /pulls/(\d+)/reviews", self._review
        yield r"GET /issues/(\d+)", self._issue
        yield "GET /issues", self._listed
        yield r"GET /collaborators/([^/]+)/permission", self._permission
        yield r"GET /commits/([0-9a-f]+)/check-runs", self._check_runs
        yield r"GET /check-runs/(\d+)/annotations", lambda n, **_: Said(200, self.annotations.get(int(n), []))
        yield r"GET /actions/jobs/(\d+)/logs", self._log

    def _page(self, items: list[dict[str, Any]], query: dict[str, list[str]], _of: str) -> Said:
        size = int(query.get("per_page", ["30"])[0])
        page = int(query.get("page", ["1"])[0])
        shown = items[(page - 1) * size : page * size]
        return Said(200, shown)

    def _one(self, things: dict[int, dict[str, Any]], number: str) -> Said:
        found = things.get(int(number))
        return Said(200, found) if found else Said(404, {"message": "Not Found"})

    def _issue(self, number: str, *, headers: dict[str, str], **_: object) -> Said:
        found = self.issues.get(int(number)) or self.pulls.get(int(number))
        if not found:
            return Said(404, {"message": "Not Found"})
        spoken = sum(
            one.get("issue", one.get("pull")) == int(number)
            for one in [*self.comments, *self.lines, *self.reviews]
        )
        tag = f'W/"{spoken}-{found["state"]}"'
        if headers.get("if-none-match") == tag:
            return Said(304, None, {"etag": tag, "x-poll-interval": "1"})
        shown = {**found, "pull_request": {}} if int(number) in self.pulls else found
        return Said(200, shown, {"etag": tag, "x-poll-interval": "1"})

    def _listed(self, *, query: dict[str, list[str]], **_: object) -> Said:
        """Issues and pull requests by state and labels, newest first unless asked otherwise, as the service does."""
        wanted = set(query.get("labels", [""])[0].split(",")) - {""}
        pulls = [{**one, "pull_request": {}} for one in self.pulls.values()]
        found = [
            one
            for one in [*self.issues.values(), *pulls]
            if one["state"] == query.get("state", ["open"])[0]
            and wanted <= {label["name"] for label in one.get("labels", [])}
        ]
        found.sort(key=lambda one: one["number"], reverse=query.get("direction", ["desc"])[0] == "desc")
        return self._page(found, query, "issues")

    def _pulls(self, *, query: dict[str, list[str]], **_: object) -> Said:
        owner, _, branch = query.get("head", [":"])[0].partition(":")
        state = query.get("state", ["open"])[0]
        found = [
            one
            for one in self.pulls.values()
            if (not branch or (owner == OWNER and one["head"]["ref"] == branch))
            and state in {"all", one["state"]}
        ]
        return Said(200, found)

    def _open(self, *, body: dict[str, Any], **_: object) -> Said:
        heads = self.branches()
        wrong: list[dict[str, str]] = []
        if body["base"] not in heads:
            wrong.append({"resource": "PullRequest", "field": "base", "code": "invalid"})
        if body["head"] not in heads:
            wrong.append({"resource": "PullRequest", "field": "head", "code": "invalid"})
        if len(body.get("body") or "") > LONGEST_BODY:
            wrong.append(
                {
                    "resource": "PullRequest",
                    "field": "body",
                    "code": "custom",
                    "message": "body is too long (maximum is 65536 characters)",
                }
            )
        if not wrong and heads[body["base"]] == heads[body["head"]]:
            message = f"No commits between {body['base']} and {body['head']}"
            wrong.append({"resource": "PullRequest", "code": "custom", "message": message})
        if any(one["head"]["ref"] == body["head"] and one["state"] == "open" for one in self.pulls.values()):
            message = f"A pull request already exists for {OWNER}:{body['head']}."
            wrong.append({"resource": "PullRequest", "code": "custom", "message": message})
        if body.get("draft") and not self.has_drafts:
            return Said(422, {"message": "Draft pull requests are not supported in this repository."})
        if wrong:
            return Said(422, {"message": "Validation Failed", "errors": wrong})
        number = self.number()
        made = self._thing(number, ACCOUNT) | {
            "html_url": f"https://github.com/{SLUG}/pull/{number}",
            "node_id": f"PR_{number}",
            "title": body["title"],
            "body": body.get("body") or "",
            "state": "open",
            "merged_at": None,
            "draft": bool(body.get("draft")),
            "head": {"ref": body["head"], "sha": heads[body["head"]], "repo": {"full_name": SLUG}},
            "base": {"ref": body["base"]},
        }
        self.pulls[number] = made
        return Said(201, made)

    def _change(self, number: str, *, body: dict[str, Any], **_: object) -> Said:
        found = self.pulls.get(int(number))
        if not found:
            return Said(404, {"message": "Not Found"})
        found |= {key: body[key] for key in ("title", "body", "state") if key in body}
        return Said(200, found)

    def _comment(self, number: str, *, body: dict[str, Any], **_: object) -> Said:
        self.say(int(number), ACCOUNT, body["body"])
        return Said(201, self.comments[-1])

    def _change_comment(self, id_: str, *, body: dict[str, Any], **_: object) -> Said:
        found = next((one for one in self.comments if one["id"] == int(id_)), None)
        if not found:
            return Said(404, {"message": "Not Found"})
        found["body"] = body["body"]
        return Said(200, found)

    def _reply(self, number: str, comment: str, *, body: dict[str, Any], **_: object) -> Said:
        if not any(one["id"] == int(comment) for one in self.lines):
            return Said(404, {"message": "Not Found"})
        self.say_on_line(int(number), ACCOUNT, "", 0, body["body"])
        self.lines[-1]["in_reply_to_id"] = int(comment)
        return Said(201, self.lines[-1])

    def _review(self, number: str, *, body: dict[str, Any], **_: object) -> Said:
        if self.pulls[int(number)]["user"]["login"] == ACCOUNT:
            return Said(
                422,
                {
                    "message": "Unprocessable Entity",
                    "errors": ["Can not request changes on your own pull request"],
                },
            )
        self.review(int(number), ACCOUNT, "CHANGES_REQUESTED", body["body"])
        return Said(200, self.reviews[-1])

    def _permission(self, account: str, **_: object) -> Said:
        return Said(200, {"permission": self.permissions.get(account, "read"), "role_name": "read"})

    def _check_runs(self, commit: str, **_: object) -> Said:
        found = [one for one in self.checks if one["head_sha"] == commit]
        return Said(200, {"total_count": len(found), "check_runs": found})

    def _log(self, job: str, **_: object) -> Said:
        if int(job) not in self.logs:
            return Said(404, {"message": "Not Found"})
        return Said(302, None, {"location": f"{self.address.replace('127.0.0.1', 'localhost')}/store/{job}"})

    def _graphql(self, body: dict[str, Any]) -> Said:
        query, given = body["query"], body["variables"]
        if "lastEditedAt" in query:
            return Said(
                200, {"data": {"repository": {"issue": {"lastEditedAt": self.edited.get(given["i"])}}}}
            )
        found = next((one for one in self.pulls.values() if one["node_id"] == given["id"]), None)
        if not found:
            return Said(200, {"errors": [{"message": "Could not resolve to a node"}]})
        found["draft"] = "convertPullRequestToDraft" in query
        return Said(200, {"data": {}})


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Clients that are killed in mid-request are what some tests are about."""


@contextmanager
def hosting() -> Iterator[HostingStandIn]:
    """Serve the stand-in on loopback."""
    service = HostingStandIn()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            raw = self.rfile.read(length)
            headers = {name.lower(): value for name, value in self.headers.items()}
            said = service.answer(self.command, self.path, headers, json.loads(raw) if raw else None)
            if said is None:
                self.close_connection = True
                return
            is_text = isinstance(said.body, str)
            data = (
                b""
                if said.body is None
                else said.body.encode()
                if is_text
                else json.dumps(said.body).encode()
            )
            self.send_response(said.status)
            kind = "text/plain" if is_text else "application/json; charset=utf-8"
            for name, value in {
                "content-type": kind,
                **said.headers,
                "content-length": str(len(data)),
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = _serve  # noqa: N815  the server asks for these names

        def log_message(self, *_: object) -> None:
            pass

    server = _Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    service.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
