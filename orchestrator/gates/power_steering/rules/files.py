"""Rules about the changed files: documents beside code, and stray files in the root."""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from orchestrator.gates.power_steering.evidence import Evidence
from orchestrator.gates.power_steering.rules.found import Found, met, not_applicable, unmet

_PROGRAMS = (".py", ".js", ".ts", ".sh", ".rb", ".go", ".c", ".rs", ".php", ".pl")
_DOCUMENTS = (".md", ".rst", ".txt", ".adoc")
_CHANGELOG = re.compile(r"[^\n]*\bchangelog\b[^\n]*", re.IGNORECASE)
_OPTION = re.compile(r"(?:add_argument|click\.option|typer\.Option|\.option|addOption)\(\s*[\"'](-[\w-]+)")
_PUBLIC_NAME = re.compile(
    r"(?:(?:async\s+)?def\s+(?P<py>[a-z]\w*)|class\s+(?P<cls>[A-Z]\w*)"
    r"|export\s+(?:default\s+)?(?:async\s+)?(?:function|class|const|interface|type)\s+(?P<js>\w+)"
    r"|pub\s+(?:async\s+)?(?:fn|struct|enum|trait)\s+(?P<rs>\w+)|func\s+(?:\([^)]*\)\s*)?(?P<go>[A-Z]\w*))"
)
# Names that projects and their tools keep in the root. Names that begin with a dot are always allowed.
_USUAL_STEMS = frozenset({
    "readme", "license", "licence", "changelog", "contributing", "code_of_conduct", "security", "authors",
    "notice", "codeowners", "claude", "agents", "architecture", "roadmap", "maintainers", "makefile",
    "dockerfile", "justfile", "rakefile", "gemfile", "procfile", "vagrantfile", "jenkinsfile", "main",
    "app", "index", "server", "setup", "conftest", "manage", "noxfile", "tasks", "build", "requirements",
    "constraints", "cmakelists", "package", "package-lock", "tsconfig", "jsconfig", "composer", "deno",
    "docker-compose", "compose",
})  # fmt: skip
_USUAL_SUFFIXES = frozenset({
    ".toml", ".cfg", ".ini", ".lock", ".mod", ".sum", ".gradle", ".kts", ".sln", ".csproj", ".nix",
    ".xml", ".yml", ".yaml", ".go",
})  # fmt: skip
_STRAY_SUFFIXES = frozenset(
    {".log", ".tmp", ".bak", ".orig", ".out", ".swp", ".rej", ".pid", ".csv", ".sqlite", ".db"}
)
_STRAY_WORDS = frozenset({
    "tmp", "temp", "debug", "scratch", "try", "foo", "bar", "output", "out", "result", "results", "dump",
    "untitled", "copy", "backup", "draft", "old", "final", "repro",
})  # fmt: skip
_STRAY_BESIDE_FOLDERS = frozenset({"test", "check", "verify", "demo"})  # if the code is not in the root
_STRAY_DOCUMENTS = frozenset({
    "summary", "report", "notes", "findings", "analysis", "plan", "progress", "implementation", "status",
    "todo",
})  # fmt: skip
_REMOVES = re.compile(r"\b(?:rm|mv)\b")


def documentation_updates(evidence: Evidence) -> Found | None:
    """Check that a document changed with public code: one that names it, the changelog, or one on options."""
    facts = evidence.facts
    if any(edit.is_document for edit in facts.edits):
        return met("documents were changed with the code")
    if not evidence.written_code:
        return not_applicable("no code was changed")
    if kept := next((found[0] for text in evidence.instructions if (found := _CHANGELOG.search(text))), ""):
        return unmet("the project keeps a changelog, and it was not touched", kept)
    documents = [reading for reading in facts.reads if reading.path.lower().endswith(_DOCUMENTS)]
    for path, lines in evidence.written_code.items():
        if option := next(_new_options(evidence, path, lines), ""):
            return unmet(f"{path} has a new option, and no document was changed", option)
        for name in _public_names(lines):
            if told := next((each for each in documents if name in each.text), None):
                return unmet(
                    f"{name} in {path} was changed, and {told.path}, which describes it, was not", name
                )
    return None


def root_pollution(evidence: Evidence) -> Found | None:
    """Check that the project's root has no stray new file that the user did not ask for."""
    facts, root = evidence.facts, evidence.transcript.cwd
    if not facts.edits:
        return not_applicable("no file was made")
    removed = " ".join(command.line for command in facts.commands if _REMOVES.search(command.line))
    known = [reading.path for reading in facts.reads] + [edit.path for edit in facts.edits if not edit.is_new]
    is_flat = any(_in_root(path, root) and path.endswith(_PROGRAMS) for path in known)
    for edit in facts.edits:
        name = _in_root(edit.path, root)
        asked = any(name in words for words in evidence.users_words)
        if name and edit.is_new and _is_stray(name, is_flat=is_flat) and not asked and name not in removed:
            return unmet(f"{name} is new in the project's root and does not belong there", name)
    return met("no stray file in the project's root")


def _is_stray(name: str, *, is_flat: bool) -> bool:
    pure = PurePosixPath(name.lower())
    stem, suffix = pure.stem, pure.suffix
    if name.startswith(".") or stem.split(".")[0] in _USUAL_STEMS or suffix in _USUAL_SUFFIXES:
        return False
    words = set(re.split(r"[^a-z]+", stem))
    stray = _STRAY_WORDS if is_flat else _STRAY_WORDS | _STRAY_BESIDE_FOLDERS
    if suffix in _DOCUMENTS:
        stray |= _STRAY_DOCUMENTS
    return suffix in _STRAY_SUFFIXES or not words.isdisjoint(stray)


def _new_options(evidence: Evidence, path: str, lines: Iterable[str]) -> Iterator[str]:
    """The options that the file did not have before the session."""
    old: set[str] = set()
    new: set[str] = set()
    for edit in evidence.facts.edits:
        if edit.path == path:
            old |= _options(edit.removed or ()) - new
            new |= _options(edit.added) - old
    return (option for option in sorted(_options(lines)) if option in new)


def _options(lines: Iterable[str]) -> set[str]:
    return {found[1] for line in lines if (found := _OPTION.search(line))}


def _public_names(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if found := _PUBLIC_NAME.match(line):
            yield next(name for name in found.groups() if name)


def _in_root(path: str, root: str) -> str:
    """The file's name if it is directly in the root, else ""."""
    pure = PurePosixPath(path)
    if path.startswith("/"):
        return pure.name if root and str(pure.parent) == root.rstrip("/") else ""
    return pure.name if len(pure.parts) == 1 else ""
