"""What is said about how long a login of Claude Code lasts, from its files and variables alone."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents.access import Credentials, find_credentials
from agents.login import OAUTH, login_words

NOW = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
LATER, EARLIER = datetime(2026, 1, 31, 22, 0, tzinfo=UTC), datetime(2026, 1, 31, 2, 0, tzinfo=UTC)


def stored(folder: Path, ends: object, **more: str) -> dict[str, str]:
    at = ends.timestamp() * 1000 if isinstance(ends, datetime) else ends
    (folder / ".credentials.json").write_text(json.dumps({"claudeAiOauth": {"expiresAt": at, **more}}))
    return {"CLAUDE_CONFIG_DIR": str(folder)}


def test_a_login_says_until_when_it_lasts_and_what_happens_then(tmp_path: Path) -> None:
    until = f"{LATER.astimezone():%Y-%m-%d %H:%M}"
    assert f"until {until}: a run that is longer then waits" in login_words(stored(tmp_path, LATER), NOW)
    renewed = login_words(stored(tmp_path, LATER, refreshToken="x"), NOW)
    assert f"lasts until {until}, and Claude Code renews it" in renewed
    assert "expired at" in login_words(stored(tmp_path, EARLIER), NOW)
    assert "sign in again" in login_words(stored(tmp_path, EARLIER), NOW)


@pytest.mark.parametrize("ends", [None, "soon", [], 10**30])
def test_a_login_that_does_not_say_it_is_no_error(tmp_path: Path, ends: object) -> None:
    assert "does not say until when" in login_words(stored(tmp_path, ends), NOW)
    assert "does not say until when" in login_words({"HOME": str(tmp_path / "nobody")}, NOW)


def test_a_token_of_a_machine_is_a_login_without_asking_the_cli_and_is_not_shown(tmp_path: Path) -> None:
    environ = {OAUTH: "sk-ant-oat01-secret", "HOME": str(tmp_path)}
    assert find_credentials(None, environ, cli=tmp_path / "no-such-program") is Credentials.CLI_LOGIN
    assert f"{OAUTH} is set" in login_words(environ, NOW)
    assert "secret" not in login_words(environ, NOW)
