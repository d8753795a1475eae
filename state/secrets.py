"""Which environment variables are secrets. `state.redaction` keeps their values out of stored and shown text.

A secret is recognised by its name, or by a value that holds a password: in an address, or behind its name.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

# Whole words of a variable's name, so that KEYBOARD, MONKEY or AUTHOR are not secrets.
_SECRET_WORDS = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|SECRETS|PASSWORD|PASSWD|PASS|PASSPHRASE|CREDENTIAL|CREDENTIALS|"
    r"AUTH|COOKIE|PRIVATE|DSN|PAT|WEBHOOK|JWT|PW|CONNECTION_?STRING)(?:_|$)|^OTEL_\w*HEADERS$"
    r"|(?:^|_)[A-Z]+(?:TOKEN|SECRET|PASSWORD)$|_PWD$|^(?:SSHPASS|BW_SESSION|OP_SESSION_\w+|SONAR_LOGIN)$"
    r"|^BUNDLE_[A-Z0-9_]+__(?:COM|ORG|NET|IO|DEV)$",  # Bundler's, each of a host
    re.IGNORECASE,
)
# An address with a password, also behind a word such as `rest:`, and an assignment.
_SECRET_VALUE = re.compile(
    r"(?:^|[^a-z0-9+.-])[a-z][a-z0-9+.-]*://[^/@\s:]*:[^/@\s]+@"
    r"|(?<![a-z])(?:password|passwd|pwd|secret|token|accountkey|sharedaccesskey)[\"']?\s*[=:]\s*[\"']?[^\s\"'$&;]",
    re.IGNORECASE,
)
# Needed by commands although their names look like secrets.
_NO_SECRETS = {"SSH_AUTH_SOCK", "XAUTHORITY"}
# Settings of git, which reads all of them or fails.
_OF_GIT = re.compile(r"GIT_CONFIG_(?:COUNT|(?:KEY|VALUE)_\d+)")
# Keys and values of git that hold a credential: a header, a helper, or an address with more than `git@`.
_CREDENTIAL = re.compile(
    r"extraheader|cookie|^credential\.|^\s*[\w-]+(?:authorization|token|key)\s*:|^\s*authorization\s*:"
    r"|://(?!git@)[^/@\s]+@",
    re.IGNORECASE,
)


def secret_names(environ: Mapping[str, str]) -> list[str]:
    """Return the names of the variables whose values must not leave the orchestrator, sorted."""
    found = [name for name, value in environ.items() if _is_secret(name, value)]
    if any(map(_OF_GIT.fullmatch, found)):
        found += [name for name in environ if _OF_GIT.fullmatch(name)]
    return sorted({*found})


@lru_cache(maxsize=2_048)  # each git command asks about all variables
def _is_secret(name: str, value: str) -> bool:
    if name in _NO_SECRETS:
        return False
    if _OF_GIT.fullmatch(name):
        return bool(_SECRET_VALUE.search(value) or _CREDENTIAL.search(value))
    return bool(_SECRET_WORDS.search(name) or _SECRET_VALUE.search(value))


def without_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """Return a copy of the environment without its secrets, for verification commands."""
    given = dict(environ)  # `os.environ` decodes each of its values whenever it is asked
    hidden = set(secret_names(given))
    return {name: value for name, value in given.items() if name not in hidden}
