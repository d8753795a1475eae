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
from state import loopback
from state.errors import GitError, UsageError
from state.redaction.known import Known
from state.redaction.redactor import known_in

_PUBLIC = "github.com"
_PART = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*)"
_SSH = re.compile(
    rf"(?:ssh://)?(?:[^@/\s]+@)?(?P<host>[A-Za-z0-9.-]+)(?::\d+(?=/))?[:/](?P<path>{_PART}/{_PART}?)/?$"
)
_SCP = re.compile(r"(?:[^@/:\s]+@)?([^/:\s]+):")  # an address of SSH as git knows it beside URLs
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?")
_PORTS = {"https": 443, "http": 80}
_BY_SSH = {"ssh.github.com": _PUBLIC}  # where a service is reached by SSH under another name
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
    """Return the address of the host's interface for programs: `GITHUB_API_URL` if it is set.

    That may name the interface of this host, in Actions that of their server, or a port of this machine.

    Raises:
        UsageError: it leads elsewhere, is not encrypted and leads to another machine, or is no address.
    """
    usual = "https://api.github.com" if host == _PUBLIC else f"https://{host}/api/v3"
    address = environ.get("GITHUB_API_URL", "") or usual
    found = urlsplit(address)
    here = found.hostname in loopback.NAMES
    if not found.hostname or not (found.scheme == "https" or (found.scheme == "http" and here)):
        raise UsageError(
            f"GITHUB_API_URL is {address!r}: a token goes only to an https address. Set one, or unset it"
        )
    of_actions = environ.get("GITHUB_ACTIONS") == "true" and host == _own_host(environ)
    if here or of_actions or found.netloc.lower() in {urlsplit(usual).netloc, host, f"api.{host}"}:
        return address.rstrip("/")
    raise UsageError(f"GITHUB_API_URL is {address!r}, which is no address of {host}: unset it")


def service_host(address: str) -> str:
    """Return the host that git would ask at this address, with an unusual port of HTTP, "" for local files.

    What git would read in another way is no name of a host.
    """
    if "://" not in address:
        local = address.startswith(("/", ".", "~"))
        return "" if local or not (ssh := _SCP.match(address)) else _of_ssh(ssh[1])
    try:
        found = urlsplit(address)
        name, port = found.hostname or "", found.port
    except ValueError:
        return address
    if found.scheme not in _PORTS:
        return "" if found.scheme == "file" else _of_ssh(name)
    host = name if port in {None, _PORTS[found.scheme]} else f"{name}:{port}"
    return host if _HOST.fullmatch(host) and "\\" not in found.netloc else address


def _of_ssh(name: str) -> str:
    return _BY_SSH.get(name.lower(), name.lower())


def hosted_at(url: str) -> Hosted | None:
    """Return what the address of a remote names, or None: a folder, or no repository of an owner."""
    host = service_host(url)
    if not _HOST.fullmatch(host):
        return None
    if "://" in url and not url.startswith("ssh://"):
        path = _PATH.match(urlsplit(url).path)
        return Hosted(host, path[1], path[2].removesuffix(".git")) if path else None
    if not (ssh := _SSH.match(url)):
        return None
    owner, _, name = ssh["path"].partition("/")
    return Hosted(host, owner, name.removesuffix(".git")) if name else None


def numbered(text: str, here: Hosted | None) -> Numbered:
    """Return the issue or pull request that was typed: `gh:OWNER/REPO#N`, a page's address, or `N` of `here`.

    Raises:
        UsageError: it is none of these.
    """
    if short := _SHORT.match(text):
        host = here.host if here and here.slug == f"{short[1]}/{short[2]}" else _PUBLIC
        return Numbered(Hosted(host, short[1], short[2]), int(short[3]))
    is_page = text.startswith(("https://", "http://")) and _HOST.fullmatch(service_host(text))
    if is_page and (page := _PAGE.match(urlsplit(text).path)):
        return Numbered(Hosted(service_host(text), page[1], page[2]), int(page[3]))
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
    server = environ.get("GITHUB_SERVER_URL", "") or f"https://{_PUBLIC}"
    return hosted_at(f"{server}/{environ.get('GITHUB_REPOSITORY', '')}")


_OWN, _ENTERPRISE = ("GH_TOKEN", "GITHUB_TOKEN"), ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
VARIABLES = (*_OWN, *_ENTERPRISE)
NAMED_HOST = "GH_HOST"  # as `gh` has it, and what `--host` sets
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


def _own_host(environ: Mapping[str, str]) -> str:
    """Return the host that `GITHUB_TOKEN` belongs to: github.com, and in Actions their server."""
    in_actions = environ.get("GITHUB_ACTIONS") == "true"
    return service_host((in_actions and environ.get("GITHUB_SERVER_URL", "")) or f"https://{_PUBLIC}")


def tokens_of(host: str, environ: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return the variables whose tokens belong to a host, None for a host that nobody has named."""
    if host == _own_host(environ):
        return _OWN
    return _ENTERPRISE if host and host == environ.get(NAMED_HOST, "").strip().lower() else None


def take_token(host: str, environ: MutableMapping[str, str] = os.environ) -> AccessToken:
    """Return the token for a host, and take all out of the environment, so that no agent inherits one.

    The variables count first, as they do for `gh` itself, then the login of `gh`.

    Raises:
        UsageError: there is none, or nobody has named the host.
    """
    held = {name: value for name in VARIABLES if (value := environ.pop(name, "").strip())}
    own = tokens_of(host, environ)
    if own is None:
        raise UsageError(
            f"sq sends no token to {host}, because it is not {_own_host(environ)}. If you work there, name "
            f"it: --host {host}, or {NAMED_HOST}={host}, with GH_ENTERPRISE_TOKEN or the login of gh for it"
        )
    if name := next((name for name in own if name in held), ""):
        return AccessToken(value=held[name], source=name)
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
        f"sq has no right to act on {host}: set {own[1]} or {own[0]}, or log in with `gh auth login"
        f" --hostname {host}`. The token needs to write contents and pull requests, and to read "
        "issues and checks"
    )
