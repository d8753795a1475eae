"""The first step: what the event asks for, and whether who asks may. Nothing of the checkout is there yet.

Texts of the event are read from its file. What leaves the step are numbers, names that were checked, and the
inputs.
"""

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

from runner import ask, asked, put, refuse, tell

_CALL = re.compile(r"\s*/sq(?:\s|$)")
_BRANCH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+@-]*")
_ISSUE = re.compile(r"gh:(?:([\w.-]+/[\w.-]+)#|#)(\d+)")
_MAY = {"admin", "maintain", "write"}
_RANGE = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MODES = ("work", "verify")
_CHOICES = {
    "mode": _MODES,
    "pr": ("draft", "ready", "none"),
    "comment": ("true", "false"),
    "fail-on": ("limit", "failure"),
}
_BY_HAND = {"workflow_dispatch", "schedule", "push", "repository_dispatch"}  # writers alone cause them
_LABELS = {"issues", "pull_request"}
_COMMENTS = {"issue_comment", "pull_request_review_comment", "pull_request_review"}


def main() -> None:
    """Write the outputs `work` (run, follow, verify, none), `target`, `spec`, `base`, `pull` and `branch`.

    `target` names what is worked on, for the cache. `pull` and `branch` are of the pull request to follow,
    `ref` and `range` of the one to verify.
    """
    for name, known in _CHOICES.items():
        if asked(name) not in known:
            refuse(f"the input `{name}` is {asked(name)!r}, and can be {' or '.join(known)}")
    name = os.environ["GITHUB_EVENT_NAME"]
    if name == "pull_request_target":
        refuse(
            "sq does not work on pull_request_target: it gives strangers' code the repository's secrets. "
            "Use issues, issue_comment or workflow_dispatch (docs/ci.md)"
        )
    if name not in _BY_HAND | _LABELS | _COMMENTS:
        refuse(f"sq does not know what to do on {name}. Use issues, issue_comment or workflow_dispatch")
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text("utf-8"))
    if asked("mode") == "verify":
        _verify(name, event)
        return
    if name in _BY_HAND:
        _run(asked("spec") or refuse(f"on {name} the input `spec` says what to build. It is missing"), "")
        return
    who = _caller(name, event)
    if not who:
        return
    _refuse_fork(event.get("pull_request"))
    if not _may_write(who):
        tell("notice", f"{who} may not write to this repository, so sq does nothing", title="sq")
        put(work="none")
        return
    if "pull_request" in event or "pull_request" in event["issue"]:
        _follow(int((event.get("pull_request") or event["issue"])["number"]))
    else:
        number = int(event["issue"]["number"])
        _run(asked("spec") or f"gh:{os.environ['GITHUB_REPOSITORY']}#{number}", f"issue-{number}")


def _caller(name: str, event: dict[str, Any]) -> str:
    """Return the account that calls sq by a label or a comment, or "" if the event does not."""
    if name in _LABELS:
        label = (event.get("label") or {}).get("name")
        calls = event.get("action") == "labeled" and label == (asked("label") or "sq")
        account = event["sender"]
    else:
        said = event.get("comment") or event["review"]
        calls = event.get("action") in {"created", "submitted"} and bool(_CALL.match(said["body"] or ""))
        account = said["user"]
    if not calls:
        tell("notice", "neither a label nor a comment asks sq for anything", title="sq")
        put(work="none")
        return ""
    return str(account["login"])


def _may_write(login: str) -> bool:
    return ask(f"/collaborators/{quote(login, safe='')}/permission").get("permission") in _MAY


def _refuse_fork(pull_request: dict[str, Any] | None) -> None:
    if pull_request is None:
        return
    whose = (pull_request["head"].get("repo") or {}).get("full_name", "a repository that is gone")
    if whose.lower() != os.environ["GITHUB_REPOSITORY"].lower():
        refuse(
            f"pull request #{pull_request['number']} comes from {whose}: sq does not work on those of forks"
        )


def _follow(number: int) -> None:
    pull_request = ask(f"/pulls/{number}")
    _refuse_fork(pull_request)
    base = asked("base") or str(pull_request["base"]["ref"])
    branch = _branch(str(pull_request["head"]["ref"]))
    put(work="follow", target=f"pull-{number}", pull=number, branch=branch, base=_branch(base))


def _verify(name: str, event: dict[str, Any]) -> None:
    """Ask about a pull request, also one of a fork: the job has nothing that a stranger could use."""
    if name != "pull_request":
        refuse(f"the mode verify asks about pull requests, and this event is {name}. Use pull_request")
    if asked("api-key"):
        refuse("the mode verify asks no model and runs strangers' code: leave the input `api-key` out")
    pull_request = event["pull_request"]
    base, head = (str(pull_request[one]["sha"]) for one in ("base", "head"))
    if not (_RANGE.fullmatch(base) and _RANGE.fullmatch(head)):
        refuse("the event names no commits")
    put(work="verify", ref=f"refs/pull/{int(pull_request['number'])}/head", range=f"{base}...{head}")


def _run(spec: str, target: str) -> None:
    found = _ISSUE.fullmatch(spec)
    if found and (found[1] or os.environ["GITHUB_REPOSITORY"]) == os.environ["GITHUB_REPOSITORY"]:
        target = target or f"issue-{int(found[2])}"
    target = target or f"spec-{hashlib.sha256(spec.encode()).hexdigest()[:16]}"
    put(work="run", target=target, spec=spec, base=_branch(asked("base")))


def _branch(name: str) -> str:
    if name and not _BRANCH.fullmatch(name):
        refuse(f"the branch has an odd name, {name!r}. Name another with the input `base`")
    return name


if __name__ == "__main__":
    main()
