"""The user's API key: taken out of sq's environment at its start, and kept in memory alone.

The kernel keeps the environment with which a process was started, and that of the user's shell, readable for
other processes of the same user. Where a PID namespace hides them, an agent cannot read it there either.
"""

import sys
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path

from state.errors import UsageError

KEY, TOKEN, FILE = "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY_FILE"
_SET_DUMPABLE = 4  # linux/prctl.h
_LONGEST = 4096  # bytes of a file that holds a key
VISIBLE = (
    "the API key was in sq's environment, and no PID namespace hides sq and its shell from agents here: "
    "their commands can read it from /proc"
)
REMEDY = (
    f"put it into a file that only you can read, and set {FILE} to its path instead of {KEY} or {TOKEN} "
    "(in the shell too)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """Credentials for the API: a key, a bearer token, or both. `exposed`: they were in the environment."""

    key: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    exposed: bool = False

    @property
    def value(self) -> str:
        """The credential for a client that takes one."""
        return self.key or self.token

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a request, as Claude Code sends them."""
        key = {"x-api-key": self.key} if self.key else {}
        return {**key, **({"authorization": f"Bearer {self.token}"} if self.token else {})}

    @property
    def variables(self) -> dict[str, str]:
        """The variables of these credentials."""
        return {name: value for name, value in ((KEY, self.key), (TOKEN, self.token)) if value}


def read_key(environ: Mapping[str, str]) -> ApiKey | None:
    """Return the user's credentials for the API, or None if there are none. A file counts before a variable.

    Raises:
        UsageError: the file that `ANTHROPIC_API_KEY_FILE` names cannot be read, or the key is none.
    """
    key, token, file = (environ.get(name, "").strip() for name in (KEY, TOKEN, FILE))
    exposed = bool(key or token)
    if file:
        key, token = _read(Path(file)), ""
    for name, value in ((FILE if file else KEY, key), (TOKEN, token)):
        if not (value.isascii() and value.isprintable()):
            raise UsageError(f"{name}: the key has characters that no key has. Copy it again, in one line")
    return ApiKey(key=key, token=token, exposed=exposed) if key or token else None


def take_key(environ: MutableMapping[str, str]) -> dict[str, str]:
    """Remove the credentials for the API from `environ`, and return the variables removed.

    On Linux other processes of this user can then read neither the memory nor the first environment of this
    process. Root still can.
    """
    taken = {name: environ.pop(name) for name in (KEY, TOKEN, FILE) if name in environ}
    if taken and sys.platform == "linux":
        _hide_this_process()
    return taken


def _read(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            found = opened.read(_LONGEST).decode("utf-8", "replace").strip()
    except OSError as error:
        raise UsageError(
            f"{FILE} is {file}, which cannot be read: {error.strerror}. Correct the path, or unset it"
        ) from error
    if not found:
        raise UsageError(f"{FILE} is {file}, which is empty. Write the key into it, or unset it")
    return found


def _hide_this_process() -> None:
    import ctypes

    ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)
