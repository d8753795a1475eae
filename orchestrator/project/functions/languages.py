"""The languages whose functions sq reads and empties: the rows of `languages.yaml`, and their parsers.

The grammars stand in the wheels of single tree-sitter packages. Nothing is downloaded when they run.
"""

import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from state.decoding import table_beside

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node, Parser


class Bodies(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a body is emptied. The head of `languages.yaml` says what each text is for."""

    early: str
    nothing: str
    generator: str = ""
    whole: str = ""
    expression: str = ""
    first: str = ""
    braces: bool = False
    asynchronous: str = ""


class Types(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The empty values of types: `values` are patterns with values, `known` finds types with a default."""

    values: tuple[tuple[str, str | None], ...] = ()
    named: Mapping[str, str] = {}
    untyped: str | None = None
    known: str = ""


class Language(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One row. Node types and fields are those of its grammar."""

    grammar: str
    suffixes: tuple[str, ...]
    functions: frozenset[str]
    scopes: frozenset[str]
    constructors: frozenset[str]
    ignored: frozenset[str]
    type_fields: tuple[str, ...]
    bodies: Bodies
    types: Types
    name: str = ""
    type_nodes: frozenset[str] = frozenset()
    receiver: str = ""
    tests: tuple[str, ...] = ()
    empty_bodies: frozenset[str] = frozenset()


@cache
def languages() -> Mapping[str, Language]:
    """Return the languages by suffix, as in `.py`."""
    rows = msgspec.convert(table_beside(__file__, "languages.yaml"), dict[str, Language])
    named = [msgspec.structs.replace(row, name=name) for name, row in rows.items()]
    for row in named:
        for pattern, _ in row.types.values:
            re.compile(pattern)
    return {suffix: row for row in named for suffix in row.suffixes}


def language_of(path: str) -> Language | None:
    """Return the language of a file by its suffix, or None if it is none whose functions sq reads."""
    return languages().get(PurePosixPath(path).suffix)


def parser_of(language: Language) -> "Parser":
    """Return a parser of a language, for one thread."""
    from tree_sitter import Parser

    return Parser(_grammar(language.grammar))


@cache
def _grammar(grammar: str) -> "Grammar":
    from tree_sitter import Language as Grammar

    module, function = grammar.split(":")
    return Grammar(getattr(importlib.import_module(module), function)())


IDENTIFIER = re.compile(r".*identifier|name|constant|word|\w+_variable")
_SPECIFIERS = re.compile(
    r"\b(?:static|inline|extern|constexpr|consteval|virtual|explicit|friend|_Noreturn|__inline__|typename)\b"
    r"|__attribute__\s*\(\(.*?\)\)|\[\[.*?\]\]"
)
_YIELDS = frozenset({"yield", "yield_expression", "yield_statement"})
_BLOCKS = frozenset({
    "block", "statement_block", "compound_statement", "body_statement", "subshell", "function_body",
    "computed_property", "computed_getter",
})  # fmt: skip
_TEXTS = frozenset({"string", "concatenated_string", "string_literal"})


@dataclass(frozen=True, kw_only=True)
class FunctionBody:
    """Where the body of a function stands, in bytes of its source, and what it is.

    `at` is where its first statement may be put, `indent` the spaces before that, "" beside others in a line.
    `block`: it has statements, otherwise it is an expression.
    """

    start: int
    end: int
    at: int
    indent: str | None = None
    block: bool = True
    yields: bool = False


def body_of(node: "Node", language: Language) -> FunctionBody | None:
    """Return where the body of a function stands, or None if it has none."""
    found = node.child_by_field_name("body")
    if node.type == "property_declaration":  # C#: `int Size => 1;`
        found = node.child_by_field_name("value")
    if node.type in {"computed_property", "computed_getter"}:
        found = None if any(one.type == "computed_getter" for one in node.children) else node
    found = found or next((one for one in node.children if one.type == "function_body"), None)
    if found is None or (node.type == "property_declaration" and found.type != "arrow_expression_clause"):
        return None
    if found.type == "function_body" and found.named_children and language.name == "kotlin":
        found = found.named_children[0]
    if found.type == "arrow_expression_clause":
        found = found.named_children[0]
    yields = any(one.type in _YIELDS for one in _inside(found, language))
    ruby = language.name == "ruby"
    expression = any(one.type == "=" for one in node.children) if ruby else found.type not in _BLOCKS
    if expression and not ruby:
        return FunctionBody(start=found.start_byte, end=found.end_byte, at=found.start_byte, block=False)
    return _block(node, found, expression=expression, yields=yields, language=language)


def _block(
    node: "Node", found: "Node", *, expression: bool, yields: bool, language: Language
) -> FunctionBody:
    statements = [one for one in found.named_children if one.type not in language.ignored]
    if found.child_count and found.children[0].type in {"{", "("} and language.name != "ruby":
        at, indent = found.children[0].end_byte, None
    else:
        first = statements[0] if statements and found.type in _BLOCKS else found
        own_line = first.start_point[0] > node.start_point[0]
        at, indent = first.start_byte, " " * first.start_point[1] if own_line else ""
    for one in statements:
        text = one.named_children[0] if one.type == "expression_statement" and one.named_children else one
        if text.type not in _TEXTS or language.name not in {"python", "javascript", "typescript", "tsx"}:
            break
        at = one.end_byte
    return FunctionBody(
        start=found.start_byte, end=found.end_byte, at=at, indent=indent, block=not expression, yields=yields
    )


def _inside(node: "Node", language: Language) -> Iterator["Node"]:
    """Yield the nodes below this one, not those of functions inside it."""
    waiting = list(node.children)
    while waiting:
        one = waiting.pop()
        yield one
        if one.type not in language.functions:
            waiting.extend(one.children)


def text_of(node: "Node") -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _identifier(node: "Node | None") -> str:
    """Return the name in a declarator: `f` of `*f(int a)`, `b` of `a.b`."""
    found = _declared(node)
    return text_of(found) if found else ""


def _declared(node: "Node | None") -> "Node | None":
    while node is not None and node.type != "operator_cast":
        inner = node.child_by_field_name("declarator") or node.child_by_field_name("property")
        if inner is None and node.type == "parenthesized_declarator":
            inner = node.named_children[0] if node.named_children else None
        if inner is None and node.type == "reference_declarator":
            inner = node.named_children[-1] if node.named_children else None
        if inner is None:
            break
        node = inner
    return node


def name_of(node: "Node") -> str:
    """Return the name of a function, or of the variable, field or key that holds it, else ""."""
    if found := node.child_by_field_name("name") or node.child_by_field_name("declarator"):
        name = _identifier(found)
        outer = node.parent.parent if node.type == "accessor_declaration" and node.parent else None
        owners = [outer.child_by_field_name("name") if outer else None, node.child_by_field_name("receiver")]
        words = [re.findall(r"\w+", re.sub(r"\[.*", "", text_of(one))) for one in owners if one]
        return f"{words[0][-1]}.{name}" if words and words[0] else name
    holder_node = node.parent
    for _ in range(2):
        if holder_node is None:
            return ""
        for field_name in ("name", "key", "left", "property"):
            if (found := holder_node.child_by_field_name(field_name)) and found.id != node.id:
                return _identifier(found)
        if holder_node.type not in {"expression_list", "computed_property"}:
            return ""
        holder_node = holder_node.parent
    return ""


def scope_name(node: "Node") -> str:
    """Return the name of a class, a module or the like, with the trait that it implements: `A(Display)`."""
    found = node.child_by_field_name("name") or node.child_by_field_name("type")
    trait = node.child_by_field_name("trait")
    found = found or next((one for one in node.named_children if IDENTIFIER.fullmatch(one.type)), None)
    name = text_of(found) if found else ""
    return f"{name}({text_of(trait)})" if trait else name


def returns_of(node: "Node", language: Language, head: str) -> str:
    """Return the text of the type that a function returns, on one line."""
    if language.name in {"c", "cpp"}:
        return _c_type(node, head)
    holder = node
    if node.type == "accessor_declaration":
        if text_of(node.child_by_field_name("name") or node) != "get":
            return "void"
        holder = node.parent.parent if node.parent and node.parent.parent else node
    if node.type in {"computed_property", "computed_getter", "getter"}:
        while holder.parent and holder.type != "property_declaration":
            holder = holder.parent
        found = re.search(r":\s*([^={]+?)\s*(?:\bget\b|[={]|$)", text_of(holder))
        return " ".join(found.group(1).split()) if found else ""
    for name in language.type_fields:
        if found_node := holder.child_by_field_name(name):
            return " ".join(text_of(found_node).removeprefix(":").split())
    after = False
    for child in node.children:
        after = after or "parameters" in child.type or child.type == ")"
        if after and child.type in language.type_nodes:
            return " ".join(text_of(child).split())
    return ""


def _c_type(node: "Node", head: str) -> str:
    if trailing := re.search(r"\)[^()]*->\s*([^{]+)$", head):
        return " ".join(trailing.group(1).split())
    declarator = node.child_by_field_name("declarator")
    if declarator is not None and declarator.type == "operator_cast":
        return text_of(declarator.child_by_field_name("type") or declarator)
    named = _declared(declarator)
    before = head.encode()[: named.start_byte - node.start_byte].decode("utf-8", "replace") if named else head
    if before.rstrip().endswith("("):
        return ""
    return " ".join(_SPECIFIERS.sub(" ", before).split())


def is_docstring(node: "Node", language: Language) -> bool:
    """Whether a statement is the docstring of its function, class or module."""
    if language.name != "python" or node.type != "expression_statement" or node.parent is None:
        return False
    block = node.parent
    first = next((one for one in block.named_children if one.type not in language.ignored), None)
    return (
        block.type in {"block", "module"}
        and first is not None
        and first.id == node.id
        and bool(node.named_children)
        and node.named_children[0].type in _TEXTS
    )
