"""Runs the examples of a document where the project is installed, and prints those that show something else.

It is given to Python by `-c` in the folder of the project, with the document and the project's commands, each
as the words that start it. It stands alone: nothing of sq's is there.
"""

import doctest
import json
import os
import re
import subprocess
import sys
import tempfile

_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
_Raised = tuple[type[BaseException], BaseException, object]


class _Examples(doctest.DocTestRunner):
    """Keeps what examples give in place of what is shown, with their lines from 1 and the exit code."""

    def __init__(self, commands: dict[str, list[str]]) -> None:
        super().__init__(verbose=False, optionflags=_FLAGS)
        self.commands = commands
        self.exit_code = 0
        self.found: list[tuple[int, str, str, int, str]] = []

    def report_start(self, _out: object, _test: object, _example: doctest.Example) -> None:
        self.exit_code = 0

    def report_failure(self, _out: object, _test: object, example: doctest.Example, got: str) -> None:
        if example.want:
            self._keep(example, got)

    def report_unexpected_exception(
        self, _out: object, _test: object, example: doctest.Example, exc_info: _Raised
    ) -> None:
        self._keep(example, f"{exc_info[0].__name__}: {exc_info[1]}")

    def _keep(self, example: doctest.Example, got: str) -> None:
        self.found.append((example.lineno + 1, example.source, example.want, self.exit_code, got))

    def run_command(self, line: str) -> None:
        """Print what a command of the project prints."""
        self.exit_code = 1  # unless it ends
        name, *words = line.split()
        start, output = [*self.commands[name], *words], subprocess.STDOUT
        done = subprocess.run(
            start, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=output, timeout=20, check=False
        )
        self.exit_code = done.returncode
        print(done.stdout.decode("utf-8", "replace"))  # noqa: T201  as its example


def with_examples(text: str, commands: dict[str, list[str]]) -> str:
    """Return a document without its fences, and with the project's commands as examples of Python."""
    names = "|".join(map(re.escape, commands)) or "(?!)"
    ours = rf"(?m)^([ \t]*)\$ ((?:{names})(?: [^|&;<>`$*?~'\"\\\n]*)?)$"
    text = re.sub(ours, lambda found: f"{found[1]}>>> run_command({found[2]!r})", text)
    return re.sub(r"(?m)^[ \t]*(?:```|~~~|\$ [\w./]).*$", "", text)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as document:  # noqa: PTH123  the shortest way
        shown = document.read()
    examples = _Examples(json.loads(sys.argv[2]))
    plain = with_examples(shown, examples.commands)
    sys.path[:0] = [".", "src", "lib"]
    known = {"__name__": "__main__", "run_command": examples.run_command}
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(HOME=home, NO_COLOR="1", COLUMNS="80")
        examples.run(doctest.DocTestParser().get_doctest(plain, known, "document", None, 0))
    print(json.dumps(examples.found))  # noqa: T201
