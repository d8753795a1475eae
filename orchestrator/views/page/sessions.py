"""Who may read the page: a token that is good once, and the cookies that were given for it.

Cookies outlive the server, so that an open page goes on when `sq dash` is started again on the same port. The
file of a state folder holds their hashes alone, in the user's own folder, which is 0700.
"""

import hashlib
import hmac
import secrets
import time
from contextlib import suppress
from pathlib import Path

from state.atomic_files import (
    DamagedFileError,
    LockTimeoutError,
    WriteFailedError,
    read_json,
    write_json,
)

WORD = "word"  # the end of the address that takes words, which only a server with `--control` has
_BYTES = 32
_LIFE_S = 7 * 24 * 3600
_MOST = 16  # cookies of a state folder. The oldest goes first


class Sessions:
    """The token of this server and the cookies that it accepts."""

    def __init__(self, file: Path) -> None:
        """Read the accepted cookies of earlier servers.

        Args:
            file: the file with their hashes. It is made with the first cookie.
        """
        self._file = file
        self._unused = secrets.token_urlsafe(_BYTES)
        self._accepted = _read(file)

    def __repr__(self) -> str:
        return f"<Sessions accepted={len(self._accepted)}>"

    @property
    def token(self) -> str:
        """The token for the address that is printed. It is "" once it was used."""
        return self._unused

    def redeem(self, token: str) -> str | None:
        """Return a new cookie for the token, or None if it is another one or was used before."""
        if not self._unused or not hmac.compare_digest(token.encode(), self._unused.encode()):
            return None
        self._unused = ""
        cookie = secrets.token_urlsafe(_BYTES)
        self._accepted[_hash(cookie)] = time.time() + _LIFE_S
        while len(self._accepted) > _MOST:
            del self._accepted[next(iter(self._accepted))]
        self._write()
        return cookie

    def accepts(self, cookie: str) -> bool:
        """Whether this server or an earlier one of the same state folder gave this cookie, and it holds."""
        given = _hash(cookie)
        return any(
            hmac.compare_digest(given, known) and until > time.time()
            for known, until in self._accepted.items()
        )

    def _write(self) -> None:
        # Without the file the cookies hold for this server alone.
        with suppress(WriteFailedError, LockTimeoutError):
            write_json(self._file, {"cookies": self._accepted}, sync=False)


def _hash(cookie: str) -> str:
    return hashlib.sha256(cookie.encode()).hexdigest()


def _read(file: Path) -> dict[str, float]:
    try:
        held = (read_json(file) or {}).get("cookies")
    except DamagedFileError:
        return {}
    if not isinstance(held, dict):
        return {}
    now = time.time()
    return {str(key): float(until) for key, until in held.items() if _is_time(until) and until > now}


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def sessions_file(state: Path) -> Path:
    """Return the file for the cookies of a state folder. It lies outside the checkout."""
    import platformdirs

    mark = hashlib.sha256(str(state).encode()).hexdigest()[:16]
    return platformdirs.user_state_path("sq", appauthor=False) / "dash" / f"{mark}.json"
