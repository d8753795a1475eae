"""How well secrets are kept out of stored text, whether honest text stays, and what that costs.

    python -m benchmarks.secrets [REPOSITORY …]

A run whose Worker leaks all that it can read (`secret_hits`: forms of secrets in stored or shown text), the
history of this repository and of others (`redacted_honest`: texts in it that pass for a token), and storing
10,000 events of 2 kB (`store_ratio`: against one alternation of ten secrets, plain and in JSON). The last
line is JSON. Exit code 1 if a secret is found, honest text is replaced, or the ratio is above 1.2.
"""

import json
import re
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.leaking import leaks_of
from state.journal.events import MessageReceived
from state.journal.store import Journal
from state.records.calls import Message, MessageKind
from state.redaction.known import Known, in_json
from state.redaction.redactor import redactor, tokens_in

ROOT = Path(__file__).parent.parent
_EVENTS, _ROUNDS, _SIZE = 10_000, 10, 2_000
_PIECE = 200_000  # bytes of a history that are looked at together
_MOST = 1.2


def main() -> int:
    """Measure, print, and return the exit code."""
    with tempfile.TemporaryDirectory() as name:
        hits = leaks_of(Path(name))
    honest = [found for path in (ROOT, *map(Path, sys.argv[1:])) for found in replaced_in(path)]
    for line in (*hits, *honest):
        print(line)
    ratio = store_ratio()
    result = {"secret_hits": len(hits), "redacted_honest": len(honest), "store_ratio": round(ratio, 3)}
    print(json.dumps(result))
    return 1 if hits or honest or ratio > _MOST else 0


def replaced_in(repository: Path) -> Iterator[str]:
    """Yield the format and the beginning of each text in a repository's history that passes for a token."""
    for piece in _history(repository):
        text = piece.decode("utf-8", "replace")
        for token in tokens_in(text):
            yield f"{repository.name}: {token.format}: {text[token.start : token.end][:60]!r}"


def _history(repository: Path) -> Iterator[bytes]:
    command = ["git", "-C", str(repository), "log", "-p", "--all", "--no-color", "--no-ext-diff"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout  # noqa: S101  it is a pipe
        lines: list[bytes] = []
        size = 0
        for line in process.stdout:
            lines.append(line)
            size += len(line)
            if size > _PIECE:
                yield b"".join(lines)
                lines, size = [], 0
        yield b"".join(lines)


def store_ratio() -> float:
    """Return the time for storing events with sq's redactor, in relation to that with a plain alternation."""
    environ = {f"SERVICE_{number}_TOKEN": secrets.token_urlsafe(30) for number in range(10)}
    files = [Known(f"a file {number}", secrets.token_urlsafe(30)) for number in range(20)]
    plain = re.compile("|".join(re.escape(one) for value in environ.values() for one in in_json(value)))
    ways: list[Callable[[str], str]] = [lambda text: plain.sub("[redacted]", text), redactor(environ, files)]
    times: list[list[float]] = [[], []]
    for number in range(_ROUNDS):
        for way in (0, 1) if number % 2 else (1, 0):
            times[way].append(_store(ways[way], _EVENTS // _ROUNDS))
    return statistics.median(times[1]) / statistics.median(times[0])


def _store(redact: Callable[[str], str], count: int) -> float:
    """Return the seconds for storing so many events, each by itself."""
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    texts = [text[at : at + _SIZE] for at in range(0, 10 * _SIZE, _SIZE)]
    events = [
        MessageReceived(call_id="c-1", message=Message(kind=MessageKind.TEXT, text=one)) for one in texts
    ]
    with tempfile.TemporaryDirectory() as name, Journal(Path(name), redact=redact) as journal:
        began = time.perf_counter()
        for number in range(count):
            journal.append(events[number % len(events)])
        return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
