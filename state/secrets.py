"""Which environment variables are secrets, and how their values are kept out of all stored and shown text.

A secret is recognised by its name. Its value, if it is long enough to be one, is replaced wherever it would
be stored or shown.
"""

import json
import re
from collections.abc import Callable, Mapping

# Whole words of a variable's name, so that KEYBOARD, MONKEY or AUTHOR are not secrets.
_SECRET_WORDS = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|SECRETS|PASSWORD|PASSWD|PASS|PASSPHRASE|CREDENTIAL|CREDENTIALS|"
    r"AUTH|COOKIE|PRIVATE|DSN|PAT|WEBHOOK)(?:_|$)|(?:^|_)[A-Z]+(?:TOKEN|SECRET|PASSWORD)$|_PWD$",
    re.IGNORECASE,
)
_URL_WITH_PASSWORD = re.compile(r"^[a-z][a-z0-9+.-]*://[^/@\s:]*:[^/@\s]+@", re.IGNORECASE)
# Needed by commands although their names look like secrets.
_NO_SECRETS = {"SSH_AUTH_SOCK", "XAUTHORITY"}
_WORD = re.compile(r"[A-Za-z]{1,15}")
_SHORTEST_SECRET = 8  # shorter values would blank out ordinary words
_JSON_DEPTH = 2  # a tool's input is JSON, and a file that it writes may be JSON inside that

Redact = Callable[[str], str]


def secret_names(environ: Mapping[str, str]) -> list[str]:
    """Return the names of the variables whose values must not leave the orchestrator, sorted."""
    return sorted(
        name
        for name, value in environ.items()
        if name not in _NO_SECRETS and (_SECRET_WORDS.search(name) or _URL_WITH_PASSWORD.match(value))
    )


def without_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """Return a copy of the environment without its secrets, for verification commands."""
    hidden = set(secret_names(environ))
    return {name: value for name, value in environ.items() if name not in hidden}


def redactor(environ: Mapping[str, str]) -> Redact:
    """Return a function that replaces every secret's value in a text, plain or inside JSON, by its name."""
    values = {environ[name]: name for name in secret_names(environ) if _tells_something(environ[name])}
    if not values:
        return lambda text: text
    spellings = {}
    for value, name in values.items():
        written = {value}
        for _ in range(_JSON_DEPTH):
            written |= {
                json.dumps(text, ensure_ascii=ascii_)[1:-1] for text in written for ascii_ in (True, False)
            }
        spellings.update(dict.fromkeys(written, name))
    longest_first = sorted(spellings, key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, longest_first)))
    return lambda text: pattern.sub(lambda found: f"[redacted: {spellings[found.group()]}]", text)


def _tells_something(value: str) -> bool:
    """Whether a value is worth hiding: `postgres` as a password would blank out a word of every text."""
    return len(value) >= _SHORTEST_SECRET and not _WORD.fullmatch(value)
