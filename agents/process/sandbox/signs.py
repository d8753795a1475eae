"""Signs in a command's output that the sandbox kept something from it, with the setting that opens it.

The messages are those of libc, Python, Node, Go, Rust, Java, curl, git and the clients of databases.
"""

import re
from dataclasses import dataclass

_NETWORK = '`sandbox.network = "full"` opens it'
_SERVICE = f"`sandbox.services` or {_NETWORK}"
_OFF = "`--sandbox off` opens it"
_READ = 1 << 18  # characters at the end of an output


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """A row: patterns of messages, the thing that a command lacks, and what opens it.

    `{0}` in `lacks` is the group of the pattern that is found.
    """

    patterns: tuple[str, ...]
    lacks: str
    opens: str


_HOST = r"(?:127\.0\.0\.1|localhost|\[?::1\]?)"
_PORT = r"[:\"', (]{1,4}(?:port )?(\d{2,5})\b"
_REFUSED = r"(?:ECONNREFUSED|[Cc]onnection refused|Couldn't connect|Failed to connect|Can't connect)"
_SOCKET = r"(?<!\w)(/(?:var/run|run|tmp)/[\w./-]{0,100}(?:\.sock|\.s\.PGSQL\.\d{2,5}))\b"
_ABSENT = r"(?:[Nn]o such file or directory|ENOENT|cannot find|not found|does not exist)"
_SIGNS = (
    Sign(
        patterns=(
            rf"{_ABSENT}[^\n]{{0,80}}{_SOCKET}",
            rf"{_SOCKET}[^\n]{{0,80}}{_ABSENT}",
            rf"connect[^\n]{{0,40}}{_SOCKET}",
        ),
        lacks="the socket {0}",
        opens=_OFF,
    ),
    Sign(
        patterns=(rf"{_REFUSED}[^\n]{{0,40}}{_HOST}{_PORT}", rf"{_HOST}{_PORT}[^\n]{{0,40}}{_REFUSED}"),
        lacks="a service on port {0} of this machine",
        opens=_SERVICE,
    ),
    Sign(
        patterns=(
            "EAI_AGAIN",
            "ENETUNREACH",
            "ENOTFOUND",
            "Could not resolve (?:host|proxy)",
            "[Tt]emporary failure in name resolution",
            "[Nn]etwork is unreachable",
            "Name or service not known",
            "failed to lookup address information",
            "dial tcp: lookup ",
            "UnknownHostException",
            "NameResolutionError",
        ),
        lacks="the network",
        opens=_NETWORK,
    ),
    Sign(
        patterns=("EROFS", "[Rr]ead-only file ?system", "ReadOnlyFileSystem"),
        lacks="a place to write, since all but the workspace is read-only",
        opens=_OFF,
    ),
)


def signs_in(output: str, *, home: str, online: bool = False) -> str:
    """Return what the sandbox kept from a command and what opens it, or "" without any sign.

    Args:
        output: the output of a command that failed in a sandbox.
        home: the user's home folder, which is an empty one inside.
        online: the command had the network.
    """
    text = output[-_READ:]
    found: dict[str, None] = {}
    for sign in (*_SIGNS, _below(home)):
        if online and sign.opens in {_NETWORK, _SERVICE}:
            continue
        matches = (re.search(pattern, text) for pattern in sign.patterns)
        if match := next(filter(None, matches), None):
            found[f"{sign.lacks.format(*match.groups())} ({sign.opens})"] = None
    return "; ".join(found)


def _below(home: str) -> Sign:
    """Return the sign of a missing file in the user's home folder."""
    path = rf"({re.escape(home.rstrip('/'))}/[^\s'\":;,)]{{1,200}})"
    patterns = (rf"{_ABSENT}[^\n]{{0,40}}?{path}", rf"{path}[^\n]{{0,40}}?{_ABSENT}")
    return Sign(patterns=patterns if home.strip("/") else (), lacks="the file {0}", opens=_OFF)
