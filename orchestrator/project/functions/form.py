"""The code of a function in a form that comments, types, layout and its own names do not change."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from orchestrator.project.functions.languages import Language
from orchestrator.project.functions.syntax import IDENTIFIER, body_of, is_docstring, name_of, text_of

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
_ALIKE = {"typed_default_parameter": "default_parameter"}
_TYPED = re.compile(r"parameter|^function_definition$|^method_definition$|^arrow_function$")
Token = tuple[str, str]  # kind and text: `id`, `leaf`, or `(` and `)` with the type of a node


def tokens_of(
    node: "Node", language: Language, named: frozenset[int] | None = None
) -> Iterator[tuple[str, str, bool]]:
    """Yield kind and text of each token below a node (see `Token`), and whether it gives a name there.

    `named`: the node is a function, whose own name does not count, and these are ids of functions inside it,
    which are given as their names alone.
    """
    own_name = node.child_by_field_name("name") if named is not None else None
    waiting: list[tuple[Node | None, str, bool]] = [(node, "", False)]
    while waiting:
        one, text, binds = waiting.pop()
        if one is None:
            yield ")", text, False
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
            if kind == "id" or not _is_layout(one):
                yield kind, text_of(one), binds
        else:
            wraps = one.type not in _WRAPPERS
            if wraps:
                kind = _ALIKE.get(one.type, one.type)
                yield "(", kind, False
                waiting.append((None, kind, False))
            waiting.extend(_bound_children(one, binds=binds))


def _is_layout(node: "Node") -> bool:
    """Whether a leaf says nothing: brackets, which the tree shows, and the signs before types."""
    typed = node.type in {":", "->"} and node.parent is not None
    return node.type in _LAYOUT or (typed and bool(_TYPED.search(node.parent.type if node.parent else "")))


def _bound_children(node: "Node", *, binds: bool) -> list[tuple["Node | None", str, bool]]:
    """Return the children of a node, last first, each with whether its identifiers are given there."""
    found: list[tuple[Node | None, str, bool]] = []
    plain = not _NO_BINDING.search(node.type) and not _OF_AN_OBJECT.search(node.type)
    for index, child in enumerate(node.children):
        name = node.field_name_for_child(index) or ""
        gives = plain and (name in _BINDS or (binds and name not in _VALUES))
        if _OF_AN_OBJECT.search(node.type):
            gives = binds and child is node.children[-1]
        found.append((child, "", gives))
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
