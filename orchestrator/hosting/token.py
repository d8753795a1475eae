"""The user's right to act on a hosting service: a token, from a variable or `gh`, in memory alone."""

import os
import shutil
import subprocess
from collections.abc import MutableMapping
from dataclasses import dataclass, field

from state.errors import UsageError
from state.redaction.known import Known
from state.redaction.places import known_in

VARIABLES = ("GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
_DEADLINE_S = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessToken:
    """A token and where it came from, in words."""

    value: str = field(repr=False)
    source: str

    @property
    def known(self) -> tuple[Known, ...]:
        """Return it as a secret that is taken out of texts."""
        return known_in({"GITHUB_TOKEN": self.value})


def take_token(host: str, environ: MutableMapping[str, str] = os.environ) -> AccessToken:
    """Return the token for a host, and take all out of the environment, so that no agent inherits one.

    The variables count first, as they do for `gh` itself, then the login of `gh`.

    Raises:
        UsageError: there is none.
    """
    held = {name: value for name in VARIABLES if (value := environ.pop(name, "").strip())}
    if held:
        name, value = next(iter(held.items()))
        return AccessToken(value=value, source=name)
    if program := shutil.which("gh", path=environ.get("PATH")):
        asked = [program, "auth", "token", "--hostname", host]
        try:
            done = subprocess.run(
                asked, env=dict(environ), capture_output=True, text=True, timeout=_DEADLINE_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            pass
        else:
            if done.returncode == 0 and (value := done.stdout.strip()):
                return AccessToken(value=value, source="the login of gh")
    raise UsageError(
        f"sq has no right to act on {host}: set GITHUB_TOKEN or GH_TOKEN, or log in with `gh auth login"
        f" --hostname {host}`. The token needs to write contents and pull requests, and to read "
        "issues and checks"
    )
