"""The package registries that a project's files and its user name, the usual ones, and private addresses."""

import base64
import ipaddress
import netrc
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Self
from urllib.parse import SplitResult, unquote, urlsplit

import msgspec

from agents.gateway.hosts.credentials import Credential
from orchestrator.project.files import look
from orchestrator.project.runners.table import usual_table
from state.decoding import table_beside

_DEEPEST = 3
_CACHES = Path("/tmp/sq-packages")  # noqa: S108  the folder inside a sandbox
_ADDRESS = re.compile(r"https://[^\s,|]+")
_SETTING = re.compile(r"^[ \t]*(?:index-url|registry|url)\s*=\s*\"?(https://[^\s\"]+)", re.MULTILINE)
_USER = re.compile(r"//[^/@\s]*@")
# No address in any spelling, no single word, and none of the names for one's own network.
_NAME = re.compile(r"(?!.*\.(?:localhost|local|internal|arpa)$)(?:[a-z0-9_-]+\.)+[a-z][a-z0-9-]*")
_TOKEN = re.compile(r"^//([^/\s]+)(/?\S*?):(_authToken|_auth)\s*=\s*(\S+)", re.MULTILINE)  # in .npmrc
_SCOPED = re.compile(r"^[ \t]*@([A-Za-z0-9~][\w.~-]*):registry\s*=\s*[\"']?(https://[^\s\"']+)", re.MULTILINE)
_MOST = 200  # addresses at one host that are asked with credentials


class About(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a registry says what a package is. The head of `registries.yaml` describes the fields."""

    host: str
    path: str
    licence: tuple[str, ...]


class Ecosystem(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row. The head of `registries.yaml` describes the fields."""

    files: tuple[str, ...]
    hosts: tuple[str, ...]
    named: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    settings: dict[str, tuple[str, ...]] = {}
    usual: dict[str, str] = {}
    inside: dict[str, str] = {}
    scopes: str = ""
    seeds: dict[str, str] = {}
    about: About | None = None


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    ecosystems: dict[str, Ecosystem]
    code_hosting: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Registries:
    """The registries of a project: by the name of a host, with an unusual port, the user's credentials.

    `variables` name them to tools in a sandbox, without credentials. `caches` are variables of folders in the
    temporary folder, to which these tools write there, and `seeds` what the folders hold at the beginning.
    """

    hosts: Mapping[str, tuple[Credential, ...]] = field(repr=False)
    variables: Mapping[str, str]
    caches: Mapping[str, str]
    seeds: Mapping[str, Path]

    @property
    def signed_in(self) -> tuple[str, ...]:
        """Return the addresses that are asked with credentials, each once."""
        found = (_spelled(host, one) for host, every in self.hosts.items() for one in every)
        return tuple(dict.fromkeys(found))

    def credentials(self, host: str, signed_in: tuple[str, ...] | None) -> tuple[Credential, ...]:
        """Return those for a host, at these of the addresses alone."""
        every = self.hosts.get(host, ())
        return tuple(one for one in every if signed_in is None or _spelled(host, one) in signed_in)


def _spelled(host: str, one: Credential) -> str:
    of = " ".join(f"@{scope}" for scope in sorted(one.scopes))
    return f"{host}{one.path}{f' ({of})' if of else ''}"


@cache
def registry_rows() -> _File:
    """Return the rows, with the hosts that are no registries."""
    return msgspec.convert(table_beside(__file__, "registries.yaml"), _File)


def registries_of(folder: Path, *, home: Path, environ: Mapping[str, str]) -> Registries:
    """Return the registries of the project in `folder`, with the user's credentials for reading them.

    Hosts of code, addresses and names of one word are none.
    """
    shown = look(folder)
    hosts: dict[str, tuple[Credential, ...]] = {}
    known = _KnownCredentials.of(home)
    variables: dict[str, str] = {}
    caches: dict[str, str] = {}
    seeds: dict[str, Path] = {}
    for name, row in registry_rows().ecosystems.items():
        files = shown.named(*row.files, deepest=_DEEPEST)
        if not files:
            continue
        values = _users_values(row, home, environ)
        addresses = [url for value in values.values() for url in _ADDRESS.findall(value)]
        texts = [*map(shown.text, files), *(_text(folder / file) for file in row.files if "/" in file)]
        addresses += [url for pattern in row.named for text in texts for url in re.findall(pattern, text)]
        for usual in row.hosts:
            hosts.setdefault(usual, ())
        for address, named in _named(name, row, addresses, texts):
            with suppress(ValueError):  # such as a port that is no number
                url = urlsplit(address)
                if host := _host(url):
                    given = known.at(url, host, npm=bool(row.scopes))
                    have = hosts.setdefault(host, ())
                    if given and len(have) < _MOST and not any(one.fits(url.path) for one in have):
                        hosts[host] = (*have, replace(named, authorization=given, path=url.path or "/"))
        variables |= {key: _USER.sub("//", value) for key, value in values.items()}
        for key, text in row.inside.items():
            variables[key] = text.format(home=home, value=variables.get(key, ""))
        seeds |= {f"{_CACHES.name}/{place}": home / below for place, below in row.seeds.items()}
        tools = (tool for tool in usual_table().tools.values() if tool.ecosystem == name)
        for tool in tools:
            into = _CACHES / tool.name.replace(" ", "-")
            caches |= {key: value.format(into=into) for key, value in tool.apart.variables.items()}
    return Registries(
        hosts=hosts,
        variables=variables,
        caches=caches,
        seeds={place: folder for place, folder in seeds.items() if folder.is_dir()},
    )


def _users_values(row: Ecosystem, home: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the user's values of the variables that name registries, or else the usual ones."""
    values = dict(row.usual)
    for name, files in row.settings.items():
        found = [url for file in files for url in _SETTING.findall(_text(home / file))]
        values |= {name: found[0]} if found else {}
    return values | {name: environ[name] for name in row.variables if environ.get(name)}


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace") if file.is_file() else ""
    except OSError:
        return ""


def _host(url: SplitResult) -> str:
    """Return the name of a registry's host, with a port that is not 443, or "" for a host that is none."""
    host = (url.hostname or "").lower()
    hosting = registry_rows().code_hosting
    if not _NAME.fullmatch(host) or any(host == one or host.endswith(f".{one}") for one in hosting):
        return ""
    return host if url.port in {None, 443} else f"{host}:{url.port}"


def _basic(user: str | None, password: str | None) -> str:
    if not user:
        return ""
    words = f"{unquote(user)}:{unquote(password or '')}"
    return f"Basic {base64.b64encode(words.encode()).decode()}"


def _named(
    ecosystem: str, row: Ecosystem, addresses: list[str], texts: list[str]
) -> Iterator[tuple[str, Credential]]:
    """Yield the addresses of indexes with what is asked for there, as credentials without a value.

    Where an ecosystem has scopes, that is: at the address of a scope that scope, at the usual hosts the
    scopes that the project's files name, and elsewhere packages without a scope too. Other packages of usual
    hosts need no credentials. Short addresses come first, those of files last.
    """
    found = {name for text in texts for name in (re.findall(row.scopes, text) if row.scopes else ())}
    plain = Credential(authorization="", path="/", ecosystem=ecosystem, scopes=frozenset(found))
    lines = (one for text in texts for one in (_SCOPED.findall(text) if row.scopes else ()))
    of_scopes: dict[str, set[str]] = {f"https://{host}/": found for host in row.hosts if found}
    for scope, address in lines:
        of_scopes.setdefault(address, set()).add(scope)
    for address, scopes in of_scopes.items():
        yield address, replace(plain, scopes=frozenset(scopes), also_unscoped=False)
    usual = tuple(f"https://{host}/" for host in row.hosts)
    for address in sorted({*addresses} - {*of_scopes}, key=lambda one: (len(one), one)):
        if not address.startswith(usual):
            yield address, plain


@dataclass(frozen=True, slots=True, kw_only=True)
class _KnownCredentials:
    """The user's credentials in the files that most tools read them from.

    Those of `machines` count for a host, npm's `tokens` below a path of one: each with both, and the value.
    """

    machines: Mapping[str, str]
    tokens: tuple[tuple[str, str, str], ...]

    @classmethod
    def of(cls, home: Path) -> Self:
        machines: dict[str, str] = {}
        with suppress(OSError, netrc.NetrcParseError):
            for host, (user, _, password) in netrc.netrc(home / ".netrc").hosts.items():
                machines[host] = _basic(user, password)
        tokens = (
            (host.lower(), f"{path.rstrip('/')}/", f"{'Basic' if kind == '_auth' else 'Bearer'} {value}")
            for host, path, kind, value in _TOKEN.findall(_text(home / ".npmrc"))
        )
        return cls(machines=machines, tokens=tuple(sorted(tokens, key=lambda one: -len(one[1]))))

    def at(self, url: SplitResult, host: str, *, npm: bool) -> str:
        """Return what an index at this address is asked with, "" for nothing."""
        below = f"{url.path.rstrip('/')}/"
        tokens = (value for at, path, value in self.tokens if npm and at == host and below.startswith(path))
        return _basic(url.username, url.password) or next(tokens, "") or self.machines.get(host, "")


_HOST = re.compile(
    r"(?:[a-z][\w+.-]*://(?:[^/@\s\"']*@)?|git@)(\[[0-9a-f:.]+(?:%\w+)?\]|[^\s/:\"'\]>,)]+)", re.IGNORECASE
)
_NAMES = ("localhost", ".localhost", ".local", ".internal", ".lan", ".home.arpa")


def private_addresses(text: str) -> set[str]:
    """Return the hosts in a text that are no public ones, by their address or their name."""
    return {host for host in _HOST.findall(text) if _is_private(host)}


def _is_private(host: str) -> bool:
    name = host.strip("[]").rstrip(".").partition("%")[0].lower()
    try:
        return not ipaddress.ip_address(socket.inet_aton(name)).is_global  # also `127.1` and `0x7f000001`
    except OSError:
        pass
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return name.endswith(_NAMES) or "." not in name
    return not (getattr(address, "ipv4_mapped", None) or address).is_global
