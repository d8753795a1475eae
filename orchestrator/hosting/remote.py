"""Which repository on which service a checkout belongs to, names of issues, and the right to act there."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from orchestrator.git.command import git
from state.errors import GitError, UsageError
from state.redaction.known import Known
from state.redaction.redactor import known_in

_PUBLIC = "github.com"
_PART = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*)"
_SSH = re.compile(
    rf"(?:ssh://)?(?:[^@/\s]+@)?(?P<host>[A-Za-z0-9.-]+)(?::\d+(?=/))?[:/](?P<path>{_PART}/{_PART}?)/?$"
)
_PATH = re.compile(rf"^/?({_PART})/({_PART}?)(?:\.git)?/?$")
_SHORT = re.compile(rf"^(?:gh:)?({_PART})/({_PART})#(\d+)$")
_PAGE = re.compile(rf"^/({_PART})/({_PART})/(?:issues|pull)/(\d+)(?:[/?#].*)?$")


@dataclass(frozen=True, slots=True)
class Hosted:
    """A repository on a hosting service."""

    host: str
    owner: str
    name: str

    @property
    def slug(self) -> str:
        """Return `OWNER/NAME`."""
        return f"{self.owner}/{self.name}"


@dataclass(frozen=True, slots=True)
class Numbered:
    """An issue or a pull request of a repository."""

    repository: Hosted
    number: int

    def __str__(self) -> str:
        """Return `OWNER/NAME#NUMBER`."""
        return f"{self.repository.slug}#{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """A remote of a checkout: its name in git, its address as it was written, and what it names."""

    name: str
    url: str
    repository: Hosted


def api_address(host: str, environ: Mapping[str, str]) -> str:
    """Return the address of the service's interface for programs: `GITHUB_API_URL` if it is set.

    Raises:
        UsageError: it is not encrypted and leads to another machine, or is no address.
    """
    given = environ.get("GITHUB_API_URL", "")
    address = given or ("https://api.github.com" if host == _PUBLIC else f"https://{host}/api/v3")
    found = urlsplit(address)
    here = found.hostname in {"127.0.0.1", "localhost", "::1"}
    if found.hostname and (found.scheme == "https" or (found.scheme == "http" and here)):
        return address.rstrip("/")
    raise UsageError(
        f"GITHUB_API_URL is {address!r}: a token goes only to an https address. Set one, or unset it"
    )


def hosted_at(url: str) -> Hosted | None:
    """Return what the address of a remote names, or None: a folder, or no repository of an owner."""
    found = urlsplit(url) if "://" in url and not url.startswith("ssh://") else None
    if found is not None:
        path = _PATH.match(found.path)
        return (
            Hosted(found.hostname, path[1], path[2].removesuffix(".git")) if found.hostname and path else None
        )
    if url.startswith(("/", ".", "~")) or not (ssh := _SSH.match(url)):
        return None
    owner, _, name = ssh["path"].partition("/")
    return Hosted(ssh["host"], owner, name.removesuffix(".git")) if name else None


def numbered(text: str, here: Hosted | None) -> Numbered:
    """Return the issue or pull request that was typed: `gh:OWNER/REPO#N`, a page's address, or `N` of `here`.

    Raises:
        UsageError: it is none of these.
    """
    if short := _SHORT.match(text):
        host = here.host if here and here.slug == f"{short[1]}/{short[2]}" else _PUBLIC
        return Numbered(Hosted(host, short[1], short[2]), int(short[3]))
    address = urlsplit(text)
    if address.hostname and (page := _PAGE.match(address.path)):
        return Numbered(Hosted(address.hostname, page[1], page[2]), int(page[3]))
    if here and (plain := re.fullmatch(r"(?:gh:)?#?(\d+)", text)):
        return Numbered(here, int(plain[1]))
    raise UsageError(
        f"{text!r} names no issue or pull request. Write gh:OWNER/REPO#12, the address of its page"
        + (", or its number" if here else "")
    )


async def find_remote(checkout: Path, branch: str | None, environ: Mapping[str, str]) -> Remote:
    """Return the remote that a branch follows, else `origin`, else the only one.

    Its repository comes from its address as it was written, then as git reads it, then from the variables
    that a CI sets (`GITHUB_REPOSITORY`, `GITHUB_SERVER_URL`).

    Raises:
        UsageError: there is none, or it names no repository on a service.
    """
    names = (await git(checkout, "remote")).split()
    followed = await _setting(checkout, f"branch.{branch}.remote") if branch else ""
    chosen = next((name for name in (followed, "origin", *names[: len(names) == 1]) if name in names), None)
    if chosen is None:
        known = f"The remotes are {', '.join(names)}" if names else "There are no remotes"
        raise UsageError(
            f"{checkout} has no remote to send the work to. {known}: add one with `git remote add origin URL`"
        )
    written = await _setting(checkout, f"remote.{chosen}.url")
    named = (
        hosted_at(written) or hosted_at(await git(checkout, "remote", "get-url", chosen)) or _of_ci(environ)
    )
    if named is None:
        raise UsageError(
            f"the remote {chosen} of {checkout} is {written}, which names no repository on a hosting "
            "service. "
            "Set GITHUB_REPOSITORY=OWNER/REPO if it is one, or push to a remote such as https://github.com/OWNER/REPO"
        )
    return Remote(name=chosen, url=written, repository=named)


async def _setting(checkout: Path, name: str) -> str:
    try:
        return await git(checkout, "config", "--get", name)
    except GitError:
        return ""


def _of_ci(environ: Mapping[str, str]) -> Hosted | None:
    host = urlsplit(environ.get("GITHUB_SERVER_URL", "")).hostname or _PUBLIC
    return hosted_at(f"https://{host}/{environ.get('GITHUB_REPOSITORY', '')}")


VARIABLES = ("GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
_DEADLINE_S = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessToken:
    """A token and where it came from, in words."""

    value: str = field(repr=False)
    source: str

    @property
    def known(self) -> tuple[Known, ...]:
        """Return it as a secret that is taken out of texts."""
        return known_in({"GITHUB_TOKEN": self.value})


def take_token(host: str, environ: MutableMapping[str, str] = os.environ) -> AccessToken:
    """Return the token for a host, and take all out of the environment, so that no agent inherits one.

    The variables count first, as they do for `gh` itself, then the login of `gh`.

    Raises:
        UsageError: there is none.
    """
    held = {name: value for name in VARIABLES if (value := environ.pop(name, "").strip())}
    if held:
        name, value = next(iter(held.items()))
        return AccessToken(value=value, source=name)
    if program := shutil.which("gh", path=environ.get("PATH")):
        asked = [program, "auth", "token", "--hostname", host]
        try:
            done = subprocess.run(
                asked, env=dict(environ), capture_output=True, text=True, timeout=_DEADLINE_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            pass
        else:
            if done.returncode == 0 and (value := done.stdout.strip()):
                return AccessToken(value=value, source="the login of gh")
    raise UsageError(
        f"sq has no right to act on {host}: set GITHUB_TOKEN or GH_TOKEN, or log in with `gh auth login"
        f" --hostname {host}`. The token needs to write contents and pull requests, and to read "
        "issues and checks"
    )
