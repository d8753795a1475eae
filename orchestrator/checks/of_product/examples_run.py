"""Runs the examples of a document where the project is installed, and prints those that show something else.

It is given to Python by `-c` in the folder of the project, with the document and the project's commands, each
as the words that start it. It stands alone: nothing of sq's is there.
"""

import difflib
import doctest
import json
import os
import re
import subprocess
import sys
import tempfile

_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
_BLOCK = re.compile(r"(?ms)^```(?:js|javascript|mjs|cjs|node)\n(.*?)^```[ \t]*$")
_PLAIN = re.compile(r"// [^'\"`\[\](){}<>]+")  # a result that each program writes in the same way
_LEAST_ALIKE = 0.5  # what is less like the output is no result
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
        of_node = example.source.startswith("run_node")
        if example.want and (not of_node or _tells_results(example.want, got)):
            self._keep(example, got)

    def report_unexpected_exception(
        self, _out: object, _test: object, example: doctest.Example, exc_info: _Raised
    ) -> None:
        self._keep(example, f"{exc_info[0].__name__}: {exc_info[1]}")

    def _keep(self, example: doctest.Example, got: str) -> None:
        source = (
            re.sub(r"[|&;`*$<>]", "", example.source) if "run_node(" in example.source else example.source
        )
        self.found.append((example.lineno + 1, source, example.want, self.exit_code, got))

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

    def run_node(self, code: str) -> None:
        """Print what code prints that may load the project by its name."""
        self.exit_code = 1  # unless it ends
        with open("package.json", encoding="utf-8") as file:  # noqa: PTH123
            name = str(json.load(file).get("name") or "-")
        with tempfile.TemporaryDirectory() as place:
            link = os.path.join(place, "node_modules", name)  # noqa: PTH118  the shortest way
            os.makedirs(os.path.dirname(link))  # noqa: PTH103, PTH120
            os.symlink(os.getcwd(), link)  # noqa: PTH109, PTH211
            kind = "module" if re.search(r"(?m)^import\b", code) else "commonjs"
            start = ["node", f"--input-type={kind}", "--eval", code]
            done = subprocess.run(start, cwd=place, capture_output=True, timeout=20, check=False)
        self.exit_code = done.returncode
        print(done.stdout.decode("utf-8", "replace"))  # noqa: T201  as its example


def _tells_results(want: str, got: str) -> bool:
    """Whether comments show an output, though another one: each line is a number or looks like it."""
    both = [*zip(want.split("\n"), got.strip().split("\n"), strict=False)]
    number = re.compile(r"-?[\d.]+")
    return len(want.split("\n")) - 1 == len(got.strip().split("\n")) and all(
        difflib.SequenceMatcher(None, *one).ratio() >= _LEAST_ALIKE or all(map(number.fullmatch, one))
        for one in both
    )


def _of_node(block: re.Match[str]) -> str:
    """Return a block whose outputs all stand in comments behind them as an example of Python."""
    lines = block[1].splitlines()
    logs = [at for at, line in enumerate(lines) if line.startswith("console.log(")]
    shown = [(*lines, "")[at + 1] for at in logs]
    if not logs or block[1].count("console.") != len(logs) or not all(map(_PLAIN.fullmatch, shown)):
        return block[0]
    example = [*[""] * (logs[0] + 1), f">>> run_node({block[1]!r})", *(one[3:] for one in shown)]
    return "\n".join([*example, *[""] * (len(lines) + 2 - len(example))])


def with_examples(text: str, commands: dict[str, list[str]]) -> str:
    """Return a document without its fences, and with the project's commands as examples of Python."""
    text = _BLOCK.sub(_of_node, text)
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
    known = {"__name__": "__main__", "run_command": examples.run_command, "run_node": examples.run_node}
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(HOME=home, NO_COLOR="1", COLUMNS="80")
        examples.run(doctest.DocTestParser().get_doctest(plain, known, "document", None, 0))
    print(json.dumps(examples.found))  # noqa: T201
