"""The functions of a source, each with its form and the place of its body, and those that a work changed."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orchestrator.project.functions.languages import (
    IDENTIFIER,
    FunctionBody,
    Language,
    body_of,
    is_docstring,
    language_of,
    name_of,
    parser_of,
    returns_of,
    scope_name,
    text_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node


_BINDS = frozenset({"name", "left", "pattern", "declarator", "alias", "parameter", "parameters", "receiver"})
_NO_BINDING = re.compile(
    r"call|invocation|argument|import|jsx|keyed_element|type(?!d)|access|scoped|qualified|value"
)
_OF_AN_OBJECT = re.compile(r"member|attribute|field_expression|selector|navigation|subscript|index")
_VALUES = frozenset({"type", "value", "default_value", "right"})
_LAYOUT = frozenset({"(", ")", ",", ";", '"', "'", "`", '"""', "string_start", "string_end"})
_WRAPPERS = frozenset({
    "parenthesized_expression", "parenthesized_statements", "arrow_expression_clause", "typed_parameter",
    "required_parameter", "formal_parameters",
})  # fmt: skip
_TEXT = re.compile(r"string|char|heredoc|regex|template")
_ALIKE = {"typed_default_parameter": "default_parameter"}
_TYPED = re.compile(r"parameter|^function_definition$|^method_definition$|^arrow_function$")
_Waiting = tuple["Node | bytes | None", str, bool]  # with the type of the node around it
Token = tuple[str, str]  # kind and text: `id`, `leaf`, or `(` and `)` with the type of a node


def tokens_of(
    node: "Node", language: Language, named: frozenset[int] | None = None
) -> Iterator[tuple[str, str, bool]]:
    """Yield kind and text of each token below a node (see `Token`), and whether it gives a name there.

    `named`: the node is a function, whose own name does not count, and these are ids of functions inside it,
    which are given as their names alone.
    """
    own_name = node.child_by_field_name("name") if named is not None else None
    waiting: list[_Waiting] = [(node, "", False)]
    while waiting:
        one, text, binds = waiting.pop()
        if one is None:
            yield ")", text, False
        elif isinstance(one, bytes):
            yield "leaf", one.decode("utf-8", "replace"), False
        elif named and one.id in named:
            yield "leaf", f"function {name_of(one)}", False
        elif (
            (own_name and one.id == own_name.id)
            or one.type in language.ignored
            or is_docstring(one, language)
        ):
            continue
        elif not one.children:
            kind = "id" if IDENTIFIER.fullmatch(one.type) else "leaf"
            if kind == "id" or not _is_layout(one, text):
                yield kind, text_of(one), binds
        else:
            wraps = one.type not in _WRAPPERS
            if wraps:
                kind = _ALIKE.get(one.type, one.type)
                yield "(", kind, False
                waiting.append((None, kind, False))
            waiting.extend(_bound_children(one, binds=binds))


def _is_layout(node: "Node", above: str) -> bool:
    """Whether a leaf, in a node of the type `above`, says nothing: brackets, and the signs before types."""
    return node.type in _LAYOUT or (node.type in {":", "->"} and bool(_TYPED.search(above)))


def _bound_children(node: "Node", *, binds: bool) -> list["_Waiting"]:
    """Return the children of a node, last first, each with whether its identifiers are given there.

    The words of a text that stand between its escapes are no nodes. They are given as bytes.
    """
    found: list[_Waiting] = []
    whole, last = (node.text or b"") if _TEXT.search(node.type) else b"", 0
    plain = not _NO_BINDING.search(node.type) and not _OF_AN_OBJECT.search(node.type)
    children = node.children
    cursor = node.walk()  # it knows the field of each child, at the cost of one step
    cursor.goto_first_child()
    for child in children:
        name = cursor.field_name or ""
        cursor.goto_next_sibling()
        gives = plain and (name in _BINDS or (binds and name not in _VALUES))
        if _OF_AN_OBJECT.search(node.type):
            gives = binds and child is children[-1]
        start = child.start_byte - node.start_byte
        if between := whole[last:start].strip():
            found.append((between, "", False))
        last = start + child.end_byte - child.start_byte
        found.append((child, node.type, gives))
    if between := whole[last:].strip():
        found.append((between, "", False))
    return found[::-1]


def named_inside(node: "Node", language: Language) -> frozenset[int]:
    """Return the ids of the functions with a name that stand inside a function."""
    found, waiting = set(), list(node.children)
    while waiting:
        one = waiting.pop()
        if one.type in language.functions and name_of(one) and body_of(one, language):
            found.add(one.id)
        else:
            waiting.extend(one.children)
    return frozenset(found)


@dataclass(frozen=True, kw_only=True)
class Function:
    """A function that has a body.

    `name` is qualified by its scopes. `line` and `last_line` count from 1. `head` is the text before the
    body, decorators included, `returns` the type in it, "" if it names none. `form` is the code without
    comments, types and layout, without the functions that stand inside and have a name. `own` are names that
    it gives, which may be others without a change. `trouble` says why it cannot be emptied, or is "".
    """

    file: str
    name: str
    line: int
    last_line: int
    start: int
    head: str
    returns: str
    body: FunctionBody
    form: tuple[Token, ...] = field(repr=False)
    own: frozenset[str] = field(repr=False)
    trouble: str = ""


@dataclass(frozen=True, kw_only=True)
class SourceFunctions:
    """The functions of one file, the identifiers that it uses, and those of them that it defines."""

    file: str
    functions: tuple[Function, ...] = ()
    uses: frozenset[str] = frozenset()
    defines: frozenset[str] = frozenset()


def read_source(file: str, content: bytes) -> SourceFunctions:
    """Return the functions of a file. Without a language for its suffix it has none."""
    language = language_of(file)
    if language is None:
        return SourceFunctions(file=file)
    root = parser_of(language).parse(content).root_node
    reading = _Reading(file, language, content)
    reading.read(root)
    tokens = list(tokens_of(root, language))
    return SourceFunctions(
        file=file,
        functions=tuple(reading.functions),
        uses=frozenset(text for kind, text, _ in tokens if kind == "id"),
        defines=frozenset(text for kind, text, binds in tokens if binds and kind == "id"),
    )


def has_errors(file: str, content: bytes) -> bool:
    """Whether the parser of a file's language finds code that it cannot read. False without a language."""
    language = language_of(file)
    return bool(language and parser_of(language).parse(content).root_node.has_error)


class _Reading:
    """Finds the functions of one tree, outer ones first. Trees may be deep, so nothing here recurs."""

    def __init__(self, file: str, language: Language, content: bytes) -> None:
        self.functions: list[Function] = []
        self._file = file
        self._language = language
        self._content = content

    def read(self, root: "Node") -> None:
        waiting: list[tuple[Node, tuple[str, ...], bool]] = [(root, (), False)]
        while waiting:
            node, scopes, inside = waiting.pop()
            if node.type in self._language.scopes:
                scopes = (*scopes, scope_name(node))
            elif node.type in self._language.functions and (body := body_of(node, self._language)):
                name = name_of(node)
                if name or not inside:
                    name = name or f"function {sum(not one.name for one in self.functions) + 1}"
                    if not self._exempt(node, name):
                        self.functions.append(self._function(node, (*scopes, name), body))
                    scopes, inside = (*scopes, name), True
            children = [] if self._is_test(node) else node.children
            waiting.extend((child, scopes, inside) for child in reversed(children))

    def _exempt(self, node: "Node", name: str) -> bool:
        language = self._language
        if name in language.constructors or self._is_test(node):
            return True
        if language.name == "cpp":  # a constructor, a destructor or a macro
            return not node.child_by_field_name("type") and "operator" not in name
        return False

    def _is_test(self, node: "Node") -> bool:
        if not self._language.tests:
            return False
        before = node.prev_sibling
        while before is not None and before.type in self._language.ignored:
            if any(re.match(pattern, text_of(before)) for pattern in self._language.tests):
                return True
            before = before.prev_sibling
        return False

    def _function(self, node: "Node", name: tuple[str, ...], body: FunctionBody) -> Function:
        outer = node.parent if node.parent and node.parent.type == "decorated_definition" else node
        head = self._content[outer.start_byte : body.start].decode("utf-8", "replace")
        named = named_inside(node, self._language)
        tokens = list(tokens_of(node, self._language, named))
        return Function(
            file=self._file,
            name=".".join(name),
            line=node.start_point[0] + 1,
            last_line=node.end_point[0] + 1,
            start=outer.start_byte,
            head=head,
            returns=returns_of(node, self._language, head),
            body=body,
            form=tuple((kind, text) for kind, text, _ in tokens),
            own=frozenset(text for kind, text, binds in tokens if binds and kind == "id"),
            trouble="it has syntax that sq does not know" if node.has_error else "",
        )


@dataclass(frozen=True, kw_only=True)
class ChangedFunction:
    """A function that a work changed. `new`: the base has none of its name in its file, and none like it."""

    function: Function
    new: bool


def changed_functions(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[ChangedFunction]:
    """Return the functions of `after` that do something else than in `before`, in the order of the files.

    Both are the files that a work touched, by path: as they were and as they are. A file that is new or gone
    stands in one of them alone. A function that only moved, or whose own names are others, is not changed.
    Two names count as one thing's if the work took away the one that was defined, and defined the other.
    """
    olds = [read_source(file, content) for file, content in before.items()]
    news = [read_source(file, content) for file, content in after.items()]
    renamed = _Renamed(olds, news)
    by_place: dict[tuple[str, str], list[Function]] = defaultdict(list)
    for one in _functions(olds):
        by_place[one.file, one.name].append(one)
    places = {(one.file, one.name) for one in _functions(news)}
    gone = [one for one in _functions(olds) if (one.file, one.name) not in places]
    found = []
    for function in _functions(news):
        there = by_place.get((function.file, function.name), [])
        if not any(renamed.same(one, function) for one in (*there, *gone)):
            found.append(ChangedFunction(function=function, new=not there))
    return found


def _functions(sources: Iterable[SourceFunctions]) -> Iterable[Function]:
    return (function for source in sources for function in source.functions)


class _Renamed:
    """The names that a work took away and those that it brought, over all its files."""

    def __init__(self, olds: list[SourceFunctions], news: list[SourceFunctions]) -> None:
        used = [frozenset[str]().union(*(one.uses for one in sources)) for sources in (olds, news)]
        defined = [frozenset[str]().union(*(one.defines for one in sources)) for sources in (olds, news)]
        self._gone = defined[0] - used[1]
        self._come = defined[1] - used[0]

    def same(self, old: Function, new: Function) -> bool:
        """Whether two functions have one form, names aside that the work changed in one way."""
        if len(old.form) != len(new.form):
            return False
        there: dict[str, str] = {}
        back: dict[str, str] = {}
        for (kind, text), (other_kind, other) in zip(old.form, new.form, strict=True):
            if kind != other_kind:
                return False
            if kind != "id":
                if text != other and not text.startswith("function "):
                    return False
                continue
            if there.setdefault(text, other) != other or back.setdefault(other, text) != text:
                return False
            if text != other and not self._may_be(old, text, new, other):
                return False
        return True

    def _may_be(self, old: Function, text: str, new: Function, other: str) -> bool:
        own = text in old.own and other in new.own
        return own or (text in self._gone and other in self._come)
