"""The settings that Claude Code gets from sq: folders it may not search, and its own sandbox.

Its sandbox holds the commands of the Bash tool and nothing else. File tools are judged by sq's policy. Keys
that are not in the SDK's types were tried: `failIfUnavailable`, `filesystem` and `credentials` are honoured.
"""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PATTERN, _ESCAPED = re.compile(r"[\\*?\[\]!(){}]"), r"\\\g<0>"
# Below the user's home folder: places of credentials.
_CREDENTIALS = (
    *(
        ".ssh",
        ".aws",
        ".azure",
        ".gnupg",
        ".kube",
        ".docker",
        ".netrc",
        ".npmrc",
        ".pypirc",
        ".git-credentials",
    ),
    *(
        ".config/gcloud",
        ".config/gh",
        ".config/git/credentials",
        ".cargo/credentials.toml",
        ".gem/credentials",
    ),
    *(".m2/settings.xml", ".gradle/gradle.properties", ".composer/auth.json", ".vault-token", ".terraform.d"),
    *(".password-store", ".local/share/keyrings", ".mozilla", ".config/google-chrome", ".bash_history"),
)

# Claude Code's own advice on commits, trailers and the stash contradicts sq's: agents do not commit.
_NO_GIT_ADVICE: dict[str, Any] = {"includeGitInstructions": False, "attribution": {"commit": "", "pr": ""}}


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSandbox:
    """The limits of Claude Code's own sandbox: paths, and variables (`secrets`).

    `readable` lie in `unreadable` and are readable all the same, `unwritable` in the workspace or elsewhere.
    """

    home: Path
    unreadable: tuple[Path, ...]
    readable: tuple[Path, ...]
    writable: tuple[Path, ...]
    unwritable: tuple[Path, ...]
    secrets: tuple[str, ...]


def cli_settings(hidden: Sequence[Path], sandbox: CommandSandbox | None) -> str:
    """Return the settings as JSON, for the SDK's option `settings`.

    `hidden` are folders that no search may list: without rules, a Glob from the workspace lists the files in
    such a folder inside it. `sandbox` is None if Claude Code does not sandbox commands itself.
    """
    real = dict.fromkeys(name for folder in hidden for name in (str(folder), os.path.realpath(folder)))
    rules = [f"Read(/{_PATTERN.sub(_ESCAPED, name)}/**)" for name in real]
    settings: dict[str, Any] = {**_NO_GIT_ADVICE, "permissions": {"deny": rules}}
    if sandbox:
        settings["sandbox"] = _sandbox(sandbox, hidden)
    return json.dumps(settings)


def _sandbox(sandbox: CommandSandbox, hidden: Sequence[Path]) -> dict[str, Any]:
    unreadable = [*(sandbox.home / name for name in _CREDENTIALS), *sandbox.unreadable, *hidden]
    return {
        "enabled": True,
        "failIfUnavailable": True,
        "allowUnsandboxedCommands": False,
        "autoAllowBashIfSandboxed": False,  # sq's policy judges every command
        "excludedCommands": [],
        "network": {"allowedDomains": [], "allowLocalBinding": True},
        "filesystem": {
            "denyRead": [str(path) for path in unreadable],
            "allowRead": [str(path) for path in sandbox.readable],
            "allowWrite": [str(path) for path in sandbox.writable],
            "denyWrite": [str(path) for path in sandbox.unwritable],
        },
        "credentials": {"envVars": [{"name": name, "mode": "deny"} for name in sandbox.secrets]},
    }
