"""Measures the checkout: lines, import chains, records, prose, the ways through a run, and those of a change.

`python -m benchmarks.house` prints a table and, as its last line, one JSON object, with `--quick` without
`claim_files`, `question_files` and `change_files`, which tests count in real runs and in copies of the code.
It reads `agents`, `orchestrator`, `prompts` and `state`. `weighing_places` turn objections into a verdict,
`english_patterns_that_decide` ask English about what a spec wants, and `standing_names` have a word that
means many things (`benchmarks.deciders`). Documents are the Markdown files at the top and in `docs/`. Turns
of phrase are counted per 10,000 words of each kind: docstrings and comments (`prose`), messages (string
constants of code), prompts, documents.

`python -m benchmarks.house FILE…` lists the turns of phrase in these files instead, each with its line.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree as ET

import grimp

from benchmarks.deciders import english_patterns, names_with, weighing_places
from benchmarks.figures import ROOT, print_figures

TOPS = ("agents", "orchestrator", "prompts", "state")
# They know agents by their port alone: gates, commands and documents may name a family of agents.
OF_ANY_AGENT = (
    *("orchestrator/run", "orchestrator/checks", "orchestrator/views", "orchestrator/project"),
    *("state", "agents/roles"),
)
# Claude Code by any spelling. Names of models are none, and neither is a project's CLAUDE.md.
CLAUDE_CODE = re.compile(r"claude(?!-(?:opus|sonnet|haiku|\(\?:opus)|\.md)", re.IGNORECASE)
DECIDING = ("orchestrator/checks", "orchestrator/run", "orchestrator/verify", "agents/roles")
COUNTING = ("tests/orchestrator/run/test_run_journeys.py", "tests/test_additions.py")
CHANGE = "change_files"  # begins the names of those numbers, each with what is added
TURNS = {
    "semicolons": re.compile(r";"),
    "what_clauses": re.compile(r"\bwhat\b(?![^.?!]*\?)", re.IGNORECASE),  # not in questions
    "nobody": re.compile(r"\b(?:nobody|anybody|somebody|whoever)\b", re.IGNORECASE),
    "told": re.compile(r"\b(?:tells?|told)\b", re.IGNORECASE),
}
_PER = 10_000  # words
_A_MESSAGE = 4  # words: a shorter constant is a name or a key
_CODE_WORD = re.compile(r"`[^`]*`|\{[^}]*\}|https?://\S+")
_REHEARSED = ROOT / "orchestrator" / "cli" / "rehearsal"  # an agent's project, not ours
_RECORDS = frozenset({"dataclass", "Struct", "BaseModel"})


def code_files() -> list[Path]:
    """The Python files of the four folders, in the order of their paths."""
    found = (file for top in TOPS for file in (ROOT / top).rglob("*.py"))
    return sorted(file for file in found if not file.is_relative_to(_REHEARSED))


def _docstring(node: ast.AST) -> ast.expr | None:
    """Return the expression that documents a module, a class or a function."""
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    if ast.get_docstring(node, clean=False) is None or not isinstance(first := node.body[0], ast.Expr):
        return None
    return first.value


def prose_of(source: str) -> Iterator[tuple[int, str]]:
    """The docstrings and comments of a Python source, each with the number of its first line."""
    for found in filter(None, map(_docstring, ast.walk(ast.parse(source)))):
        yield found.lineno, ast.literal_eval(found)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not re.match(r"#\s*(?:noqa|fmt|type:|pragma|!)", token.string):
            yield token.start[0], token.string.removeprefix("#")


def messages_of(source: str) -> Iterator[tuple[int, str]]:
    """The string constants of a Python source that are texts for people or models, each with its line."""
    tree = ast.parse(source)
    documented = list(map(_docstring, ast.walk(tree)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in documented:
            words = re.findall(r"[A-Za-z]{2,}", node.value)
            if len(words) >= _A_MESSAGE and not re.search(r"\\[bswd]|\(\?", node.value):
                yield node.lineno, node.value


def turns(texts: list[str]) -> dict[str, float]:
    """How often each turn of phrase occurs in 10,000 words of `texts`, without code in them."""
    plain = [_CODE_WORD.sub(" ", text) for text in texts]
    words = sum(len(re.findall(r"[A-Za-z][\w'-]*", text)) for text in plain)
    counts = {name: sum(len(turn.findall(text)) for text in plain) for name, turn in TURNS.items()}
    return {
        "words": words,
        **{name: round(count * _PER / max(words, 1), 1) for name, count in counts.items()},
    }


def prose() -> dict[str, dict[str, float]]:
    """The turns of phrase in each kind of text."""
    sources = [file.read_text("utf-8") for file in code_files()]
    templates = sorted((ROOT / "prompts").rglob("*.j2"))
    return {
        "prose": turns([text for source in sources for _, text in prose_of(source)]),
        "messages": turns([text for source in sources for _, text in messages_of(source)]),
        "prompts": turns([re.sub(r"\{[%#].*?[%#]\}", " ", file.read_text("utf-8")) for file in templates]),
        "documents": turns([_without_code(file) for file in documents()]),
    }


def documents() -> list[Path]:
    """The Markdown files for people."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def _without_code(document: Path) -> str:
    return re.sub(r"^```.*?^```", " ", document.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def longest_chain(graph: grimp.ImportGraph) -> tuple[str, ...]:
    """The longest chain of imports: each module imports the next one."""
    names = {module for module in graph.modules if module.split(".")[0] in TOPS}

    @cache
    def chain(module: str) -> tuple[str, ...]:
        imported = sorted(graph.find_modules_directly_imported_by(module) & names)
        return (module, *max((chain(one) for one in imported), key=len, default=()))

    return max((chain(module) for module in sorted(names)), key=len)


def rooms() -> list[Path]:
    """The folders that hold code."""
    return sorted({file.parent for file in code_files()})


def records() -> dict[str, int]:
    """How many fields each record has, without those of `state/settings`."""
    found = {}
    for file in code_files():
        if file.is_relative_to(ROOT / "state" / "settings"):
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and _is_record(node):
                fields = [one for one in node.body if isinstance(one, ast.AnnAssign)]
                found[f"{file.relative_to(ROOT)} {node.name}"] = len(fields)
    return found


def _is_record(node: ast.ClassDef) -> bool:
    named = {ast.unparse(one).split("(")[0].rsplit(".", 1)[-1] for one in (*node.decorator_list, *node.bases)}
    return not _RECORDS.isdisjoint(named)


def sizes() -> dict[str, int]:
    """Count the lines of tracked Python files, outside `tests` and inside, and the words of ARCHITECTURE."""
    listed = subprocess.run(["git", "ls-files", "-z", "*.py"], cwd=ROOT, capture_output=True, check=True)
    tracked = [ROOT / name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]
    tests = [file for file in tracked if file.is_relative_to(ROOT / "tests")]
    others = [file for file in tracked if not file.is_relative_to(ROOT / "tests")]
    return {
        "lines": _lines(others),
        "test_lines": _lines(tests),
        "architecture_words": len((ROOT / "ARCHITECTURE.md").read_text("utf-8").split()),
    }


def counted_by_tests() -> dict[str, object]:
    """Return how many files a claim and a question enter, and how many each usual change touches.

    Tests count them, in real runs and in copies of the code.

    Raises:
        subprocess.CalledProcessError: the tests could not be run.
    """
    with TemporaryDirectory() as folder:
        written = Path(folder) / "counted.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-m", "not late"]
        command += [f"--junitxml={written}", *COUNTING]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
        if done.returncode > 1:  # 1: a test failed, which has counted before
            raise subprocess.CalledProcessError(done.returncode, command, done.stdout)
        found = ET.parse(written).iter("property")  # noqa: S314  our own file
        numbers = {one.attrib["name"]: int(one.attrib["value"]) for one in found}
    changes = {name.split()[1]: count for name, count in numbers.items() if name.startswith(CHANGE)}
    return {**{name: count for name, count in numbers.items() if " " not in name}, CHANGE: changes}


def deciding_files() -> list[Path]:
    """The files of the rooms that decide about a work."""
    rooms = [ROOT / place for place in DECIDING]
    return [file for file in code_files() if any(map(file.is_relative_to, rooms))]


def names_of_claude_in_the_run() -> list[str]:
    """The lines that name Claude Code in rooms that know no family of agents."""
    places = [ROOT / place for place in OF_ANY_AGENT]
    return [
        f"{file.relative_to(ROOT)}:{number}"
        for file in code_files()
        if any(file.is_relative_to(place) for place in places)
        for number, row in enumerate(file.read_text("utf-8").splitlines(), 1)
        if CLAUDE_CODE.search(row)
    ]


def _lines(files: Sequence[Path]) -> int:
    return sum(file.read_bytes().count(b"\n") for file in files)


def measured() -> dict[str, object]:
    """All figures of the checkout."""
    chain = longest_chain(grimp.build_graph(*TOPS))
    readme = re.findall(r"\S+", _without_code(ROOT / "README.md"))
    return {
        **sizes(),
        "longest_import_chain": len(chain),
        "names_of_claude_in_the_run": len(names_of_claude_in_the_run()),
        "weighing_places": len(weighing_places(code_files())),
        "english_patterns_that_decide": len(english_patterns(deciding_files())),
        "standing_names": len(names_with("standing", code_files())),
        "readme_words": len(readme),
        "max_fields": max(records().values()),
        **prose(),
    }


def _listed(files: list[str]) -> None:
    for name in files:
        file = Path(name)
        source = file.read_text("utf-8")
        texts: Iterator[tuple[int, str]] = iter([(1, source)])
        if file.suffix == ".py":
            texts = iter(sorted([*prose_of(source), *messages_of(source)]))
        for first, text in texts:
            for number, row in enumerate(text.split("\n"), first):
                hits = [turn for turn, pattern in TURNS.items() if pattern.search(_CODE_WORD.sub(" ", row))]
                if hits:
                    sys.stdout.write(f"{name}:{number}: {', '.join(hits)}: {row.strip()}\n")


def main() -> None:
    """Print the table and the figures, or the turns of phrase in the files that are named."""
    quick = sys.argv[1:] == ["--quick"]
    if sys.argv[1:] and not quick:
        _listed(sys.argv[1:])
        return
    print(f"longest chain: {' > '.join(longest_chain(grimp.build_graph(*TOPS)))}")
    print_figures({**measured(), **({} if quick else counted_by_tests())})


if __name__ == "__main__":
    main()
