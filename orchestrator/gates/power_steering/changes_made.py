"""Finds the changes that tool calls made to files and to the list of todos, as far as results show them.

A script that is given to an interpreter, after `-c` or `-e` or as a here-document, writes files too.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from agents.transcript.records import SHELL_TOOLS, ToolCall, listed, mapping, string
from orchestrator.gates.power_steering.facts import Edit, Todo
from orchestrator.project.shell import Heredoc, Simple, heredocs, simple_commands

_DOCUMENTS = frozenset(
    {".md", ".mdx", ".rst", ".txt", ".adoc", ".org", ".log", ".pdf", ".svg", ".png", ".jpg"}
)
_DOCUMENT_NAMES = frozenset({"license", "licence", "changelog", "readme", "authors", "notice", "copying"})
_DOCUMENT_FOLDERS = frozenset({"docs", "doc"})
_NO_PROGRAM = frozenset({".gitignore", ".gitattributes", ".dockerignore", ".editorconfig", ".mailmap"})
_SOURCES = frozenset({  # a file written by redirection is code only with such an ending
    ".py", ".pyi", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".go", ".rs", ".java", ".kt", ".scala",
    ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".rb", ".php", ".swift", ".ex", ".exs", ".sh", ".sql", ".vue",
    ".svelte", ".toml", ".css", ".scss", ".less", ".html", ".jl", ".ml", ".mli", ".lua", ".dart", ".pl",
    ".pm", ".r", ".clj", ".cljs", ".hs", ".erl", ".elm", ".zig", ".nim", ".m", ".mm", ".astro", ".ipynb",
    ".gradle", ".tf", ".proto", ".graphql", ".fs", ".vb", ".groovy", ".cr",
})  # fmt: skip
_SCRIPT_FOLDERS = frozenset({"bin", "sbin", "libexec", "scripts"})
TODO_TOOLS = frozenset({"TodoWrite", "TaskCreate", "TaskUpdate"})
_TASK_CREATED = re.compile(r"Task #(\S+) created")
_INTERPRETER = re.compile(r"(?:python|node|ruby|perl|php|deno|bun)[\d.]*")
_NAMED = re.compile(
    r"\b(?P<name>\w+)\s*=\s*(?:(?:\w+\.)*(?:Path|Pathname\.new)\(\s*)?[rbf]?[\"'](?P<path>[^\"'\n]+)[\"']"
)
_OF = r"\s*(?:[rbf]?[\"'](?P<path>[^\"'\n]+)[\"']|(?P<name>\$?\w+))\s*"
_WRITES = (
    re.compile(rf"\b(?:Path|Pathname\.new)\({_OF}\)\.(?:write|open\(\s*[\"'][wax])"),
    re.compile(rf"\bopen\({_OF},\s*(?:mode\s*=\s*)?[\"'](?:[wax]|r\+)"),
    re.compile(rf"\b(?:writeFile(?:Sync)?|writeTextFile(?:Sync)?|File\.write|file_put_contents)\({_OF},"),
    re.compile(r"\b(?P<path>)(?P<name>\w+)\.(?:write_text|write_bytes)\("),
)


@dataclass(frozen=True, slots=True)
class _Change:
    """The part of an `Edit` about the lines of a file."""

    path: str
    added: Iterable[str] = ()
    removed: Iterable[str] | None = None


def edits_of(call: ToolCall, *, order: int, turn: int, project: str) -> Iterator[Edit]:
    """Yield the changes that a call made. `project` is the folder in which the session works, if known."""
    result = call.result
    if result is None or result.is_refused or result.is_interrupted:
        return
    if call.tool in SHELL_TOOLS:
        changes: Iterable[_Change] = _shell_changes(string(call.input.get("command")))
    elif result.is_error:
        return
    else:
        changes = _changes(call.tool, call.input, result.data)
    for change in changes:
        path = change.path
        document = _is_document(path)
        code = not document and (not project or _within(path, project))
        code = code and PurePosixPath(path).name not in _NO_PROGRAM
        if call.tool in SHELL_TOOLS:
            code = code and (PurePosixPath(path).suffix in _SOURCES or is_script(path))
        yield Edit(
            path=path, added=tuple(change.added), order=order, turn=turn,
            removed=None if change.removed is None else tuple(change.removed),
            is_code=code, is_document=document,
        )  # fmt: skip


def _changes(tool: str, given: Mapping[str, object], data: Mapping[str, object]) -> Iterator[_Change]:
    path = string(given.get("file_path"))
    patch = [
        string(line)
        for hunk in listed(data.get("structuredPatch"))
        for line in listed(mapping(hunk).get("lines"))
    ]
    pairs: list[tuple[object, object]] = []
    match tool:
        case "Write":
            pass
        case "Edit":
            pairs = [(given.get("old_string"), given.get("new_string"))]
        case "MultiEdit":
            edits = map(mapping, listed(given.get("edits")))
            pairs = [(edit.get("old_string"), edit.get("new_string")) for edit in edits]
        case "NotebookEdit":
            path = string(given.get("notebook_path"))
            pairs = [(data.get("old_source"), given.get("new_source"))]
        case _:
            return
    if not path:
        return
    if patch:
        added, removed = ([line[1:] for line in patch if line.startswith(sign)] for sign in "+-")
        yield _Change(path, added, removed)
        return
    if tool == "Write":
        yield _Change(path, string(given.get("content")).splitlines())
        return
    lines = [(string(old).splitlines(), string(new).splitlines()) for old, new in pairs]
    added = [line for old, new in lines for line in _without(new, old)]
    removed = [line for old, new in lines for line in _without(old, new)]
    yield _Change(path, added, removed)


def _without(lines: Iterable[str], gone: Iterable[str]) -> Iterator[str]:
    """Yield `lines` without those in `gone`, each as often as it occurs there."""
    left = Counter(gone)
    for line in lines:
        if left[line] > 0:
            left[line] -= 1
        else:
            yield line


def _shell_changes(command: str) -> Iterator[_Change]:
    bodies = heredocs(command)
    for simple in simple_commands(command):
        tees = simple.plain if simple.name == "tee" else ()
        keeps = frozenset(tees) if {"-a", "--append"}.intersection(simple.words) else simple.appends
        for path in (*simple.writes, *tees):
            yield _written(path, [each for each in bodies if path in each.line], keeps=path in keeps)
        if simple.name in {"sed", "perl"} and any(word.startswith("-i") for word in simple.words):
            yield from map(_Change, simple.plain[1:])
        for script in scripts_of(simple, bodies):
            yield from map(_Change, written_by(script))


def _written(path: str, bodies: Sequence[Heredoc], *, keeps: bool) -> _Change:
    """Return the change by a command whose output goes to a file. Only here-documents show the lines."""
    lines = [line for each in bodies for line in each.body.splitlines()]
    if keeps:
        return _Change(path, lines, ())
    return _Change(path, lines)


def is_script(path: str) -> bool:
    """Whether a file without an ending is a program, by its folder: `bin/rotate`."""
    pure = PurePosixPath(path)
    return not pure.suffix and pure.parent.name in _SCRIPT_FOLDERS


def _is_document(path: str) -> bool:
    pure = PurePosixPath(path)
    named = pure.stem.lower() in _DOCUMENT_NAMES
    return named or pure.suffix.lower() in _DOCUMENTS or not _DOCUMENT_FOLDERS.isdisjoint(pure.parts[:-1])


def _within(path: str, project: str) -> bool:
    return not path.startswith(("/", "~")) or PurePosixPath(path).is_relative_to(project)


def todos_of(calls: Iterable[ToolCall]) -> tuple[Todo, ...]:
    """Return the lists of TodoWrite and of TaskCreate and TaskUpdate, as the successful calls left them."""
    written: tuple[Todo, ...] = ()
    tasks: dict[str, Todo] = {}
    for call in calls:
        if call.result is None or call.result.is_error:
            continue
        match call.tool:
            case "TodoWrite":
                items = map(mapping, listed(call.input.get("todos")))
                written = tuple(
                    Todo(text=_words(item, "content"), status=_words(item, "status")) for item in items
                )
            case "TaskCreate":
                created = _TASK_CREATED.match(call.result.text)
                id_ = _words(mapping(call.result.data.get("task")), "id") or (created[1] if created else "")
                tasks[id_] = Todo(id=id_, text=_words(call.input, "subject"), status="pending")
            case "TaskUpdate" if call.result.text.startswith("Updated task"):
                id_ = _words(call.input, "taskId")
                task = tasks.get(id_, Todo(id=id_, text=f"task #{id_}", status="pending"))
                text = _words(call.input, "subject") or task.text
                tasks[id_] = replace(task, text=text, status=_words(call.input, "status") or task.status)
            case "TaskList":  # only for tasks made before the window: it may have run beside an update
                for item in map(mapping, listed(call.result.data.get("tasks"))):
                    id_, text, status = (_words(item, name) for name in ("id", "subject", "status"))
                    tasks.setdefault(id_, Todo(id=id_, text=text, status=status))
            case _:
                pass
    return (*written, *tasks.values())


def _words(item: Mapping[str, object], name: str) -> str:
    return string(item.get(name))


def scripts_of(simple: Simple, given: Sequence[Heredoc]) -> Iterator[str]:
    """Yield the scripts that a command runs. `given` are the here-documents of its command line."""
    if not _INTERPRETER.fullmatch(simple.name):
        return
    if script := simple.option("-c", "-e", "--eval"):
        yield script
    yield from (each.body for each in given if simple.name in each.line)


def written_by(script: str) -> Iterator[str]:
    """Yield the files that a script writes under a name that it spells out, each once."""
    names = {found["name"]: found["path"] for found in _NAMED.finditer(script)}
    found = [
        each["path"] or names.get(each["name"] or "", "")
        for pattern in _WRITES
        for each in pattern.finditer(script)
    ]
    yield from dict.fromkeys(path for path in found if path)
