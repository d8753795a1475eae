"""Runs the examples of a document where the project is installed, and prints those that show something else.

It is given to Python by `-c` in the folder of the project, with the document and the project's commands, each
as the words that start it. It stands alone: nothing of sq's is there.
"""

import contextlib
import doctest
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator

Difference = tuple[int, str, str, str]
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


class _Differences(doctest.DocTestRunner):
    """Keeps what examples give in place of what is shown, with their lines from 1."""

    def __init__(self) -> None:
        super().__init__(verbose=False, optionflags=_FLAGS)
        self.found: list[Difference] = []

    def report_failure(self, _out: object, _test: object, example: doctest.Example, got: str) -> None:
        self.found.append((example.lineno + 1, example.source, example.want, got))

    def report_unexpected_exception(
        self,
        _out: object,
        _test: object,
        example: doctest.Example,
        exc_info: tuple[type[BaseException], BaseException, object],
    ) -> None:
        got = f"{exc_info[0].__name__}: {exc_info[1]}"
        self.found.append((example.lineno + 1, example.source, example.want, got))


def of_sessions(text: str) -> list[Difference]:
    """Return the examples with a prompt of Python's that give something else."""
    plain = re.sub(r"(?m)^[ \t]*(?:```|~~~).*$", "", text)
    runner = _Differences()
    test = doctest.DocTestParser().get_doctest(plain, {"__name__": "__main__"}, "document", None, 0)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        runner.run(test, out=lambda _: None)
    return runner.found


def of_commands(text: str, commands: dict[str, list[str]]) -> Iterator[Difference]:
    """Yield the commands of the project behind a `$` that print something else than stands below them."""
    lines = text.splitlines()
    with tempfile.TemporaryDirectory() as home:
        for at, line in enumerate(lines):
            match = re.match(r"([ \t]*)\$ (.+)", line)
            words = shlex.split(match[2]) if match and not re.search(r"[|&;<>`$*?~'\"\\]", match[2]) else []
            if not match or not words or not commands.get(words[0]):
                continue
            end = at + 1
            while end < len(lines) and not re.match(r"[ \t]*(?:\$|```|~~~)|$", lines[end]):
                end += 1
            environ = {**os.environ, "HOME": home, "NO_COLOR": "1", "COLUMNS": "80"}
            start = [*commands[words[0]], *words[1:]]
            with contextlib.suppress(OSError, subprocess.SubprocessError):
                done = subprocess.run(
                    start,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    timeout=20,
                    check=False,
                    env=environ,
                )
                want, got = " ".join(lines[at + 1 : end]), done.stdout + done.stderr
                if want.split() and want.split() != got.split():
                    yield at + 1, f"$ {match[2]}", want, f"{done.returncode} {got}"


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as document:  # noqa: PTH123  the shortest way
        shown = document.read()
    sys.path[:0] = [".", "src", "lib"]
    print(json.dumps([*of_sessions(shown), *of_commands(shown, json.loads(sys.argv[2]))]))  # noqa: T201
