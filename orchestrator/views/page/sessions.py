"""Who may read the page, and who may speak to runs from it.

A token is good once, and cookies are given for it. They outlive the server, so that an open page goes on
when `sq dash` is started again on the same port. The file of a state folder holds their hashes alone, in the
user's own folder, which is 0700.

The page has controls only if it was started with `--control`. A word comes by a form of the page itself.
Beside the guard's checks (origin, cookie) it carries a secret that was made for this page of this run, which
no other page of the browser can read.
"""

import hashlib
import hmac
import secrets
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from orchestrator.views.page.followed import FollowedRun
from orchestrator.views.page.sections import links, part, rendered
from state.atomic_files import (
    DamagedFileError,
    LockTimeoutError,
    WriteFailedError,
    read_json,
    write_json,
)
from state.inbox import WordKind, new_word, person, send

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


_SEE_OTHER, _BAD_REQUEST, _FORBIDDEN = 303, 400, 403


class Control:
    """The forms of this server and what they may do."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def form(self, run: FollowedRun) -> str:
        """Return the form of a page of a run."""
        run_id, nonce = run.folder.name, secrets.token_urlsafe(16)
        view = run.story.view
        return rendered(
            "control",
            secret=f"{nonce}.{self._mac(run_id, nonce)}",
            tasks=[*view.tasks],
            waiting=[*view.waiting_questions],
            **links(run_id),
        )

    async def take(self, request: Request, run: FollowedRun) -> Response:
        """Leave the word of a form for its run, and show the run again.

        Raises:
            HTTPException: the form was not made for this page.
            UsageError: the run can do nothing with the word.
        """
        form = parse_qs((await request.body()).decode("utf-8", "replace"))
        given = {name: values[-1] for name, values in form.items()}
        run_id, (nonce, _, mac) = run.folder.name, given.get("secret", "").partition(".")
        if not hmac.compare_digest(mac.encode(), self._mac(run_id, nonce).encode()):
            raise HTTPException(_FORBIDDEN)
        try:
            kind = WordKind(given.get("kind", ""))
        except ValueError:
            raise HTTPException(_BAD_REQUEST) from None
        about = given.get("about", "").strip()
        waiting = [*run.story.view.waiting_questions]
        if kind is WordKind.ANSWER and not about and len(waiting) == 1:
            about = waiting[0]
        send(run.folder, run.story.view, new_word(kind, person("page"), given.get("text", ""), about))
        return RedirectResponse(f"/run/{part(run_id)}", status_code=_SEE_OTHER)

    def _mac(self, run_id: str, nonce: str) -> str:
        return hmac.new(self._key, f"{run_id}:{nonce}".encode(), hashlib.sha256).hexdigest()
