"""The user's login of Claude Code, as far as its files and variables show it: how long it lasts."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

OAUTH = "CLAUDE_CODE_OAUTH_TOKEN"  # made by `claude setup-token`, for machines without a browser
_FILE = ".credentials.json"


def config_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder in which Claude Code keeps the user's settings, login and transcripts."""
    return Path(environ.get("CLAUDE_CONFIG_DIR") or Path(environ.get("HOME") or Path.home()) / ".claude")


def login_words(environ: Mapping[str, str], now: datetime) -> str:
    """Return what is known about how long the login lasts, in a sentence. It asks nobody."""
    if environ.get(OAUTH, "").strip():
        return f"{OAUTH} is set: it does not say when it expires, usually a year after `claude setup-token`"
    ends, renews = _stored(environ)
    if ends is None:
        return "signed in to Claude Code, which does not say until when"
    until = f"{ends.astimezone():%Y-%m-%d %H:%M}"
    if renews:
        return f"signed in to Claude Code: its token lasts until {until}, and Claude Code renews it"
    if ends <= now:
        return f"the login of Claude Code expired at {until}: sign in again"
    return f"signed in to Claude Code until {until}: a run that is longer then waits for a new login"


def _stored(environ: Mapping[str, str]) -> tuple[datetime | None, bool]:
    """Return when the stored login ends, if it says so, and whether Claude Code can renew it."""
    try:
        held = json.loads((config_folder(environ) / _FILE).read_bytes())["claudeAiOauth"]
        return datetime.fromtimestamp(held["expiresAt"] / 1000, UTC), bool(held.get("refreshToken"))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError):
        return None, False
