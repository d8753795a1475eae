"""The page's controls: words, answers, pauses. They are there only if the page was started with `--control`.

A word comes by a form of the page itself. Beside the guard's checks (origin, cookie) it carries a secret that
was made for this page of this run, which no other page of the browser can read.
"""

import hashlib
import hmac
import secrets
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from orchestrator.views.page.followed import FollowedRun
from orchestrator.views.page.sections import links, part, rendered
from state.inbox import WordKind, new_word, person, send

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
