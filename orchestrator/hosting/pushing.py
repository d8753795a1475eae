"""Pushing finished work to its own branch of a remote: never by force, never to the base branch."""

import re
from pathlib import Path

from orchestrator.git.command import git
from orchestrator.hosting.remote import Remote
from orchestrator.hosting.token import AccessToken
from state.errors import GitError, SqError, UsageError
from state.hidden import visible

# The helper prints what git asks for, so that the token stands in no argument and in no file.
_HELPER = '!f() { test "$1" = get && echo username=x-access-token && echo "password=$SQ_PUSH_TOKEN"; }; f'
_WORDS_KEPT = 300
_REFUSED: tuple[tuple[str, str], ...] = (
    (
        "non-fast-forward|fetch first|stale info",
        "somebody else has pushed to that branch, and sq never overwrites work. Look at it with `git fetch`",
    ),
    (
        "GH006|GH013|protected branch|rule violations",
        "the branch is protected. Ask an owner to let sq/* be pushed to",
    ),
    ("GH001|file size limit", "a file of the work is larger than the service takes"),
    ("push protection|GH009|secret", "the service found a secret in the work. Take it out of the commits"),
    ("workflow", "the work changes a workflow, and the token may not do that (permission `workflows`)"),
    ("archived|read-only", "the repository is read-only"),
    (
        r"Authentication failed|could not read Username|Permission denied|\b403\b|denied to",
        "git has no right to push there. Use a token that writes contents, or set git up to push",
    ),
    (
        r"not found|does not exist|\b404\b",
        "the remote repository is not there, or its account may not see it",
    ),
    ("Could not resolve|unable to access|Connection|timed out", "the remote is not reached. Try again later"),
)


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
    settings, environment = as_pusher(remote, token)
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


def as_pusher(remote: Remote, token: AccessToken | None) -> tuple[list[str], dict[str, str]]:
    """Return git's settings and variables for a remote: the user's own ones count before the token."""
    settings = ["advice.pushUpdateRejected=false"]
    if token is None or not remote.url.startswith("https://"):
        return settings, {}
    settings.append(f"credential.https://{remote.repository.host}.helper={_HELPER}")
    return settings, {"SQ_PUSH_TOKEN": token.value}


def _refusal(said: str, remote: Remote, branch: str) -> str:
    """Return git's refusal in words. Its own ones follow, without the command, which has sq's settings."""
    words = visible(said.rpartition("failed: ")[2] or said)[-_WORDS_KEPT:]
    what = next(
        (then for pattern, then in _REFUSED if re.search(pattern, said, re.IGNORECASE)),
        "the remote refused it",
    )
    return f"the work was not pushed to {branch} of {remote.name}: {what}. Git says: {words}"
