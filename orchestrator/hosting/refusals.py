"""What a hosting service's refusals mean, in sentences that say what to do.

Source: GitHub's REST documentation ("Troubleshooting the REST API", "Rate limits", and the pages of pulls).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from state.errors import SqError
from state.hidden import visible

_WORDS_KEPT = 300


class HostingError(SqError):
    """The service did not do what was asked. `status` is 0 if it gave no answer."""

    def __init__(self, message: str, *, status: int = 0, said: str = "") -> None:
        super().__init__(message)
        self.status, self.said = status, said


class UnsureError(HostingError):
    """Whether the service did what was asked is unknown: it has to be looked at before it is asked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceReply:
    """An answer of the service. `body` is parsed JSON, or a text."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None

    @property
    def said(self) -> str:
        """Return the service's own words in one line, cut."""
        if not isinstance(self.body, dict):
            return visible(str(self.body or ""))[:_WORDS_KEPT]
        errors = self.body.get("errors")
        each = [
            one.get("message")
            or " ".join(str(one.get(key, "")) for key in ("resource", "field", "code")).strip()
            if isinstance(one, dict)
            else str(one)
            for one in (errors if isinstance(errors, list) else [])
        ]
        return visible("; ".join([str(self.body.get("message") or ""), *each]).strip("; "))[:_WORDS_KEPT]


# status, words of the service, what to do. The first row that fits counts
_ROWS: tuple[tuple[int, str, str], ...] = (
    (401, "", "the token is not accepted: it has expired, was revoked or is mistyped. Make a new one"),
    (
        403,
        "SAML|SSO",
        (
            "the organization wants the token authorized for its single sign-on. Authorize it on the "
            "token's page"
        ),
    ),
    (403, "archived", "the repository is archived, so nothing can be written. Unarchive it first"),
    (
        403,
        "not accessible|must have admin|scope",
        "the token lacks a permission{scopes}. Give it that, or use another token",
    ),
    (
        403,
        "",
        "the service refuses this to the token's account. Ask an owner of the repository for the right",
    ),
    (
        404,
        "",
        (
            "there is no such thing, or the token's account may not see it. Check the name, and the "
            "token's rights"
        ),
    ),
    (405, "", "the service does not allow this here"),
    (409, "empty", "the repository is empty. Push a first commit to its base branch"),
    (409, "", "the service is busy with a change of the same thing. Try again"),
    (410, "", "it is gone, or this repository has switched it off"),
    (
        422,
        "No commits between",
        "the branch holds nothing that the base does not have already, so there is nothing to ask for",
    ),
    (422, "already exists", "there is one already"),
    (
        422,
        r"base.*invalid|invalid.*base|field.*base",
        "the base branch does not exist on the service. Push it, or name another with --base",
    ),
    (
        422,
        r"head.*invalid|invalid.*head|field.*head",
        "the branch of the work is not on the service. Leave --no-push out",
    ),
    (422, "too long|maximum", "a text is too long for the service"),
    (422, "", "the service cannot use the request as it is"),
    (429, "", "too many requests were sent. Try again later"),
    (451, "", "access to it is blocked for legal reasons"),
)


def refusal(answer: ServiceReply, asked: str) -> HostingError:
    """Return the error for an answer that is no success. `asked` says what sq wanted, as `to open …`."""
    said = f' It says: "{answer.said}".' if answer.said else ""
    if answer.status >= 500:  # noqa: PLR2004  an error of the service
        text = f"the service failed when sq wanted {asked} (status {answer.status}).{said} Try again later"
        return HostingError(text, status=answer.status, said=answer.said)
    fitting = (
        words
        for status, pattern, words in _ROWS
        if status == answer.status and re.search(pattern, answer.said, re.IGNORECASE)
    )
    what = next(fitting, "the answer is one that sq does not know")
    wanted = answer.headers.get("x-accepted-github-permissions") or answer.headers.get(
        "x-accepted-oauth-scopes"
    )
    what = what.replace("{scopes}", f" ({visible(wanted)})" if wanted else "")
    return HostingError(
        f"sq wanted {asked}, and the service refused (status {answer.status}): {what}.{said}",
        status=answer.status,
        said=answer.said,
    )
