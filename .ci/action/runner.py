"""What the steps share: the runner's files and commands, the inputs, the service, and calls of sq.

Plain Python without packages: the first step runs before sq is installed.
"""

import json
import os
import secrets
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

STATE = Path(".sq")
OUT = Path(os.environ.get("RUNNER_TEMP", ".")) / "sq"  # what leaves the job
_LONGEST = 2_000_000  # bytes of an answer
_PASSED_ON = ("GITHUB_API_URL", "GITHUB_SERVER_URL", "GITHUB_REPOSITORY")
_KEPT_BACK = ("GITHUB_", "GH_", "RUNNER_", "ACTIONS_", "INPUT_")


def asked(name: str) -> str:
    """Return an input, which action.yml hands over as a variable."""
    return os.environ.get(f"INPUT_{name.upper().replace('-', '_')}", "").strip()


def say(text: str) -> None:
    """Print a line of the log."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def tell(kind: str, text: str, **properties: str | int) -> None:
    """Print an annotation (`error`, `warning`, `notice`). No word in it ends it or begins another."""
    named = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items() if value)
    say(f"::{kind}{' ' if named else ''}{named}::{_data(text)}")


def _data(text: str) -> str:
    # `::` is no delimiter of data for the runner. It is parted for readers of logs that are less exact.
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A").replace("::", ":%3A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def put(**values: str | float) -> None:
    """Set outputs of the step."""
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
        for name, value in values.items():
            mark = f"end-{secrets.token_hex(16)}"
            file.write(f"{name.replace('_', '-')}<<{mark}\n{' '.join(str(value).split())}\n{mark}\n")


@contextmanager
def unheard() -> Iterator[None]:
    """Let the runner take nothing that is printed for a command of its own: agents' words are in it."""
    mark = secrets.token_hex(16)
    say(f"::stop-commands::{mark}")
    try:
        yield
    finally:
        say(f"\n::{mark}::")


def environment(*, with_token: bool = False) -> dict[str, str]:
    """Return the variables of a process of sq, without the runner's files, which later steps obey."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_KEPT_BACK)}
    kept |= {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    if not with_token:
        return kept
    host, token = urlsplit(kept.get("GITHUB_SERVER_URL", "")).netloc.lower(), os.environ["GITHUB_TOKEN"]
    if host in {"", "github.com"}:
        return kept | {"GITHUB_TOKEN": token}
    return kept | {"GH_HOST": host, "GH_ENTERPRISE_TOKEN": token}  # sq sends a token to its own host alone


def sq(*words: str) -> str:
    """Return what a command of sq that only reads prints."""
    command = ["sq", *words, "--state-dir", str(STATE)]
    return subprocess.run(command, env=environment(), stdout=subprocess.PIPE, check=True, text=True).stdout


def work(*words: str, with_token: bool) -> int:
    """Run a command of sq to its end and return its exit code. Signals of the runner are passed on to it."""
    command = ["sq", *words, "--state-dir", str(STATE)]
    with unheard(), subprocess.Popen(command, env=environment(with_token=with_token)) as process:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda _number, _frame: process.send_signal(signal.SIGINT))
        code = process.wait()
    return 128 - code if code < 0 else code


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """Follow no redirect: the token would go with the request."""


def ask(path: str, body: Mapping[str, object] | None = None, method: str = "") -> Any:  # noqa: ANN401  JSON
    """Return the service's answer to a request.

    Raises:
        SystemExit: it refused, or it is not reached. The log has an error that says which.
    """
    address = os.environ["GITHUB_API_URL"].rstrip("/")
    where = urlsplit(address)
    if where.scheme != "https" and where.hostname not in {"127.0.0.1", "localhost"}:
        refuse(f"GITHUB_API_URL is {address}: a token goes only to an https address")
    headers = {
        "Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}",
        "Accept": "application/vnd.github+json",
        "Content-Type": "application/json",
        "User-Agent": "sq-action",
    }
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(  # noqa: S310  https alone, see above
        f"{address}/repos/{os.environ['GITHUB_REPOSITORY']}{path}",
        data=data,
        headers=headers,
        method=method or ("GET" if data is None else "POST"),
    )
    handlers: list[Any] = [_NoRedirect]
    if where.scheme != "https":  # this machine: past any proxy
        handlers.append(urllib.request.ProxyHandler({}))
    try:
        with urllib.request.build_opener(*handlers).open(request, timeout=30) as answer:
            return json.loads(answer.read(_LONGEST))
    except (urllib.error.URLError, OSError, ValueError) as error:
        refuse(f"the service was asked for {path} and gave no usable answer: {error}")


def refuse(text: str) -> Any:  # noqa: ANN401  it does not return
    """End the step and the job with a sentence."""
    tell("error", text, title="sq")
    sys.exit(1)
