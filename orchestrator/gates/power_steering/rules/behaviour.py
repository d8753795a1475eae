"""Changes of a program's behaviour, and evidence that the project has tests for it."""

import re
from pathlib import PurePosixPath

from agents.transcript.facts.records import Edit
from agents.transcript.facts.test_files import is_test_file
from agents.transcript.facts.work import is_script
from orchestrator.gates.power_steering.evidence import Evidence

_PROGRAMS = frozenset({
    ".py", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".go", ".rs", ".java", ".kt", ".kts", ".scala", ".c",
    ".h", ".cc", ".cpp", ".cxx", ".hpp", ".cs", ".fs", ".vb", ".rb", ".php", ".swift", ".ex", ".exs", ".erl",
    ".hs", ".ml", ".mli", ".lua", ".dart", ".pl", ".pm", ".r", ".R", ".jl", ".clj", ".cljs", ".cljc", ".elm",
    ".zig", ".nim", ".cr", ".vue", ".svelte", ".groovy", ".m", ".mm", ".sol", ".gd", ".ps1", ".psm1", ".d",
    ".sh", ".bash", ".t", ".f", ".f90", ".f95", ".f03", ".f08", ".for", ".adb", ".ads", ".pas", ".cob",
    ".rkt", ".scm", ".lisp", ".el", ".v", ".sv", ".vhd", ".vhdl", ".tcl", ".hx", ".bas", ".awk", ".raku",
    ".hrl", ".re", ".res",
})  # fmt: skip
_LANGUAGES = {
    "js": {".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".vue", ".svelte"},
    "c": {".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".m", ".mm"},
    "jvm": {".java", ".kt", ".kts", ".scala", ".groovy"},
    "clj": {".clj", ".cljs", ".cljc"},
    "net": {".cs", ".fs", ".vb"},
    "elixir": {".ex", ".exs"},
    "sh": {".sh", ".bash", ".bats"},
    "perl": {".pl", ".pm", ".t"},
    "ml": {".ml", ".mli"},
    "ps": {".ps1", ".psm1"},
    "fortran": {".f", ".f90", ".f95", ".f03", ".f08", ".for"},
    "erlang": {".erl", ".hrl"},
}
_COMMENT = re.compile(r"#(?!\[|include|define|if|else|end|pragma)|//|/\*|\*(?:\s|/|$)|--\s|;;|%|\"\"\"|'''")
_TEST_SCRIPT = re.compile(r'"test"\s*:\s*"(?!echo \\"Error: no test specified)')
_PATH = re.compile(r"[\w./@+-]*[\w-]\.\w{1,5}\b")
_LOOKED_AT = 20_000  # characters of an output that are searched for file names


def last_change_of_behaviour(evidence: Evidence) -> Edit | None:
    """The newest change of a program that tests could notice, so not of comments, data, style or text."""
    edits = reversed(evidence.facts.edits)
    return next((edit for edit in edits if edit.is_code and changes_behaviour(edit)), None)


def changes_behaviour(edit: Edit) -> bool:
    """Whether an edit changes a program's behaviour, not only its comments or blank lines."""
    if not _is_program(edit.path):
        return False
    lines = [line.strip() for line in (*edit.added, *(edit.removed or ())) if line.strip()]
    return not lines or any(not _COMMENT.match(line) for line in lines)  # some edits have no known lines


def shows_tests(evidence: Evidence, changed: Edit) -> str:
    """Return a test file in the language of the changed file, or a test script, or "" if none was seen."""
    facts = evidence.facts
    seen = [*(edit.path for edit in facts.edits), *(reading.path for reading in facts.reads)]
    printed = [word for command in facts.commands for word in _PATH.findall(command.output[:_LOOKED_AT])]
    scripts = [
        reading.path
        for reading in facts.reads
        if reading.path.endswith("package.json") and _TEST_SCRIPT.search(reading.text)
    ]
    language = _language(changed.path)
    files = (path for path in [*seen, *printed] if is_test_file(path) and _language(path) == language)
    return next(files, "") or (next(iter(scripts), "") if language == "js" else "")


def _language(path: str) -> str:
    """The language of a program file, by its ending. Its tests have the same one."""
    suffix = PurePosixPath(path).suffix
    return next((name for name, suffixes in _LANGUAGES.items() if suffix in suffixes), suffix)


def _is_program(path: str) -> bool:
    return PurePosixPath(path).suffix in _PROGRAMS or is_script(path)
