"""What tool calls did to files and to the list of todos, as far as their results show it."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from agents.transcript_pieces import SHELL_TOOLS, ToolCall, listed, mapping, string
from agents.transcript_scripts import scripts_of, written_by
from agents.transcript_shell import heredocs, simple_commands

_DOCUMENTS = frozenset(
    {".md", ".mdx", ".rst", ".txt", ".adoc", ".org", ".log", ".pdf", ".svg", ".png", ".jpg"}
)
_DOCUMENT_NAMES = frozenset({"license", "licence", "changelog", "readme", "authors", "notice", "copying"})
_DOCUMENT_FOLDERS = frozenset({"docs", "doc"})
_NO_PROGRAM = frozenset({".gitignore", ".gitattributes", ".dockerignore", ".editorconfig", ".mailmap"})
_SOURCES = frozenset({  # what a redirection writes is the project's code only where its name says so
    ".py", ".pyi", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".go", ".rs", ".java", ".kt", ".scala",
    ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".rb", ".php", ".swift", ".ex", ".exs", ".sh", ".sql", ".vue",
    ".svelte", ".toml", ".css", ".scss", ".less", ".html", ".jl", ".ml", ".mli", ".lua", ".dart", ".pl",
    ".pm", ".r", ".clj", ".cljs", ".hs", ".erl", ".elm", ".zig", ".nim", ".m", ".mm", ".astro", ".ipynb",
    ".gradle", ".tf", ".proto", ".graphql", ".fs", ".vb", ".groovy", ".cr",
})  # fmt: skip
TODO_TOOLS = frozenset({"TodoWrite", "TaskCreate", "TaskUpdate"})

_TASK_CREATED = re.compile(r"Task #(\S+) created")
_CLOSED = frozenset({"completed", "deleted", "cancelled"})
_Change = tuple[str, list[str], list[str] | None]  # path, lines added, lines removed


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A change of a file that was made. `added`: its new lines. `order` and `turn` say when.

    `removed`: the lines that went; None where the file was written anew, or nobody knows.
    `is_code`: it lies in the project and is no document. `is_new`: the file was not there before.
    """

    path: str
    tool: str
    added: tuple[str, ...]
    removed: tuple[str, ...] | None = None
    order: int
    turn: int
    is_code: bool = True
    is_document: bool = False
    is_new: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Todo:
    """An item of the agent's own list, as its last call left it. TodoWrite's items have no id."""

    text: str
    status: str
    id: str = ""

    @property
    def is_open(self) -> bool:
        """Whether it is still to be done; deleted ones are not."""
        return self.status not in _CLOSED


def edits_of(call: ToolCall, *, order: int, turn: int, project: str) -> Iterator[Edit]:
    """The changes that a call made; `project` is the folder that is worked in, if known."""
    result = call.result
    if result is None or result.is_refused or result.is_interrupted:
        return
    if call.tool in SHELL_TOOLS:
        changes: Iterable[_Change] = _shell_changes(string(call.input.get("command")))
    elif result.is_error:
        return
    else:
        changes = _changes(call.tool, call.input, result.data)
    for path, added, removed in changes:
        document = _is_document(path)
        code = not document and (not project or _within(path, project))
        code = code and PurePosixPath(path).name not in _NO_PROGRAM
        if call.tool in SHELL_TOOLS:
            code = code and PurePosixPath(path).suffix in _SOURCES
        new = result.data.get("type") == "create" or result.text.startswith("File created")
        yield Edit(
            path=path, tool=call.tool, added=tuple(added), order=order, turn=turn,
            removed=None if removed is None else tuple(removed),
            is_code=code, is_document=document, is_new=new,
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
            pairs = [("", given.get("content"))]
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
        yield path, added, removed
        return
    added = [line for old, new in pairs for line in _only_in(string(new), string(old))]
    removed = [line for old, new in pairs for line in _only_in(string(old), string(new))]
    yield path, added, None if tool == "Write" else removed


def _only_in(text: str, other: str) -> Iterator[str]:
    """The lines of `text` that `other` does not have as often."""
    there = Counter(other.splitlines())
    for line in text.splitlines():
        if there[line] > 0:
            there[line] -= 1
        else:
            yield line


def _shell_changes(command: str) -> Iterator[_Change]:
    bodies = heredocs(command)
    for simple in simple_commands(command):
        targets = [*simple.writes]
        if simple.name in {"sed", "perl"} and any(word.startswith("-i") for word in simple.words):
            targets += simple.plain[1:]
        elif simple.name == "tee":
            targets += simple.plain
        for path in targets:
            yield (
                path,
                [line for each in bodies if path in each.line for line in each.body.splitlines()],
                None,
            )
        for script in scripts_of(simple, bodies):
            yield from ((path, [], None) for path in written_by(script))


def _is_document(path: str) -> bool:
    pure = PurePosixPath(path)
    named = pure.stem.lower() in _DOCUMENT_NAMES
    return named or pure.suffix.lower() in _DOCUMENTS or not _DOCUMENT_FOLDERS.isdisjoint(pure.parts[:-1])


def _within(path: str, project: str) -> bool:
    return not path.startswith(("/", "~")) or PurePosixPath(path).is_relative_to(project)


def todos_of(calls: Iterable[ToolCall]) -> tuple[Todo, ...]:
    """The lists of TodoWrite and of TaskCreate and TaskUpdate, as the calls that worked left them."""
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
            case "TaskList":  # only for what was made before the window; it may have run beside an update
                for item in map(mapping, listed(call.result.data.get("tasks"))):
                    id_, text, status = (_words(item, name) for name in ("id", "subject", "status"))
                    tasks.setdefault(id_, Todo(id=id_, text=text, status=status))
            case _:
                pass
    return (*written, *tasks.values())


def _words(item: Mapping[str, object], name: str) -> str:
    return string(item.get(name))
