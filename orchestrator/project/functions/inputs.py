"""Inputs for a function of a source: from types and defaults of its parameters, and from calls with literals.

All values are texts of the function's own language, which a program in it reads. (product.md, section 12)
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, product
from typing import TYPE_CHECKING

import msgspec

from orchestrator.project.functions.languages import IDENTIFIER, language_of, parser_of, text_of
from orchestrator.project.functions.public import parameter_nodes
from state.decoding import table_beside

if TYPE_CHECKING:
    from tree_sitter import Node

_LITERAL = re.compile(
    r"integer|float|number|true|false|none|null|nil|undefined|boolean|escape_sequence|list|tuple|set|dictionary"
    r"|(?:concatenated_|encapsed_|simple_)?(?:string|symbol)\w*|array\w*|object|hash\w*|pair|unary_\w+"
    r"|parenthesized_expression|property_identifier|heredoc\w*|\w+_literal|argument_list"
)
_REST = re.compile(r"splat|rest|variadic|block|keyword_separator")
_COMPARED = re.compile(r"assert|expect|should|equal|must", re.IGNORECASE)
_BLOCK = re.compile(r"block|module|program|(?:statement|do)_block|(?:compound|body)_statement")
_NUMBER = re.compile(r"-?\d[\d_]*(\.\d+)?")
_TEXT = re.compile(r"""(["'])([^"'\\\n]*)\1""")
_MOST_VALUES, _FEW_VALUES, _MANY_PARAMETERS = 7, 3, 4
_MOST_ROWS, _MOST_TURNS = 3_000, 12


class Values(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A row. The head of `inputs.yaml` describes the fields."""

    apart: str
    optional: str
    nothing: str
    types: tuple[tuple[str, tuple[str, ...]], ...]
    by_name: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter: `default` is its text, None if it has to be given. `named`: it is given by its name.

    `has_place`: a caller may give it by its place.
    """

    name: str
    type: str = ""
    default: str | None = None
    is_literal: bool = False
    named: bool = False
    has_place: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """Arguments as texts. `expected` are literals that an assertion compares with. `seen`: code calls so."""

    positional: tuple[str, ...] = ()
    named: tuple[tuple[str, str], ...] = ()
    expected: tuple[str, ...] = ()
    seen: bool = False

    @property
    def text(self) -> str:
        """The arguments as they stand in a call."""
        return ", ".join([*self.positional, *(f"{name}={value}" for name, value in self.named)])


@cache
def _rows() -> dict[str, Values]:
    return msgspec.convert(table_beside(__file__, "inputs.yaml"), dict[str, Values])


def parameters_of(node: "Node", language: str) -> list[Parameter] | None:
    """Return the parameters of a function without `self` and the rest, None if one is a pattern."""
    row, found, named = _rows().get(language), list[Parameter](), False
    for one in parameter_nodes(node):
        if "comment" in one.type or "positional_separator" in one.type:
            continue
        if _REST.search(one.type) or text_of(one)[:1] in "*&":
            named = True
            continue
        value, kind = (
            _field(one, "default_value", "value", "right") or _given(one),
            one.child_by_field_name("type"),
        )
        name = one if one.type.endswith("_pattern") and one.type != "assignment_pattern" else None
        name = name or _field(one, "name", "pattern", "left") or one
        while name.named_children:
            if name.type.endswith("_pattern"):
                return None
            name = name.named_children[0]
        is_optional = value is not None or "optional_parameter" in one.type
        default = text_of(value) if value else row.nothing if row else ""
        found.append(
            Parameter(
                name=text_of(name).lstrip("$"),
                type=" ".join(text_of(kind).lstrip(": ").split()) if kind else "",
                default=default if is_optional else None,
                is_literal=value is None or is_literal(value),
                named=named or "keyword" in one.type or bool(row and row.by_name and is_optional),
                has_place=not (named or "keyword" in one.type),
            )
        )
    return found[1:] if found and found[0].name in {"self", "cls"} else found


def _field(node: "Node", *names: str) -> "Node | None":
    return next((one for name in names if (one := node.child_by_field_name(name))), None)


def _given(parameter: "Node") -> "Node | None":
    """Return what stands behind the sign `=` of a parameter, or behind the parameter."""
    signs = (
        one for one in (*parameter.children, parameter.next_sibling) if one is not None and one.type == "="
    )
    return next((one.next_sibling for one in signs), None)


def is_literal(node: "Node") -> bool:
    """Whether a value is written out, with all that is in it. Plain functions of Python may make it."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.type == "call" and re.match(
            r"(?:range|iter|list|tuple|set|frozenset|dict|float)\(", text_of(one)
        ):
            waiting += one.children_by_field_name("arguments")
        elif _LITERAL.fullmatch(one.type):
            waiting += one.named_children
        else:
            return False
    return True


def calls_in(file: str, content: bytes, names: frozenset[str]) -> Iterator[tuple[str, Input]]:
    """Yield the calls of functions of these names in a source, if all their arguments are literals.

    A name stands for a literal that was given to it above, or for those of a table through which a loop or a
    parametrised test goes.
    """
    language = language_of(file)
    waiting = [parser_of(language).parse(content).root_node] if language else []
    known: dict[str, list[Node]] = {}
    while waiting:
        node = waiting.pop()
        waiting += reversed(node.named_children)
        known |= _bound(node)
        callee = _field(node, "function", "constructor", "method", "name")
        if node.type == "object_creation_expression":
            callee = node.named_children[0]
        elif callee is not None and text_of(callee) == "new":  # Ruby
            callee = node.child_by_field_name("receiver")
        given = _field(node, "arguments")
        given = given or next((one for one in node.named_children if one.type == "arguments"), None)
        name = re.search(r"[\w$?!]+$", text_of(callee)) if callee and given else None
        if given and name and name[0] in names:
            told = (_arguments(given, known, turn) for turn in range(_MOST_TURNS))
            yield from ((name[0], one) for one in dict.fromkeys(told) if one)


def _bound(node: "Node") -> dict[str, list["Node"]]:
    """Return the names to which a node gives literals: one, or those of a table."""
    left, right = _field(node, "left", "name"), _field(node, "right", "value")
    several = node.type in {"for_statement", "for_in_statement"}
    words = re.findall(r"\w+", text_of(left)) if left and right else []
    given = _field(node, "arguments")
    if given and text_of(node).partition("(")[0].endswith("parametrize") and len(given.named_children) > 1:
        words, right, several = (
            re.findall(r"\w+", text_of(given.named_children[0])),
            given.named_children[1],
            True,
        )
    if right is None or not words or not is_literal(right):
        return {}
    if not several:
        return {words[0]: [right]} if left and IDENTIFIER.fullmatch(left.type) else {}
    rows = right.named_children
    if words[1:]:
        rows = [one for one in rows if one.named_child_count == len(words)]
        return {word: [one.named_children[place] for one in rows] for place, word in enumerate(words) if rows}
    return {words[0]: rows} if rows else {}


def _arguments(given: "Node", known: Mapping[str, Sequence["Node"]], turn: int) -> Input | None:
    positional, named = list[str](), list[tuple[str, str]]()
    for one in given.named_children:
        node = one.named_children[0] if one.type == "argument" and one.named_children else one
        key, value = _field(node, "name", "key"), node.child_by_field_name("value")
        if node.type in {"keyword_argument", "pair"} and key and value:
            texts = _literals(value, known, turn)
            named += [(text_of(key).rstrip(":"), text) for text in texts]
        else:
            texts = _literals(node, known, turn)
            positional += texts
        if not texts and "comment" not in node.type:
            return None
    expected = tuple(_expected(given, known, turn))
    return Input(positional=tuple(positional), named=tuple(named), expected=expected, seen=True)


def _literals(node: "Node", known: Mapping[str, Sequence["Node"]], turn: int) -> list[str]:
    """Return the texts of an argument: one, or a row that is spread. In a table each has its turn."""
    spread = node.type in {"list_splat", "spread_element", "splat_argument"}
    inner = node.named_children[0] if spread and node.named_children else node
    if rows := known.get(text_of(inner), ()):
        inner = rows[turn % len(rows)]
    elif not is_literal(inner):
        return []
    return [text_of(one) for one in (inner.named_children if spread else [inner])]


def _expected(given: "Node", known: Mapping[str, Sequence["Node"]], turn: int) -> Iterator[str]:
    """Yield the literals in the statement around a call, if it is an assertion."""
    statement = given
    while statement.parent and not _BLOCK.fullmatch(statement.parent.type):
        statement = statement.parent
    waiting = [statement] if _COMPARED.search(text_of(statement)) else []
    while waiting:
        one = waiting.pop()
        is_value = is_literal(one) or IDENTIFIER.fullmatch(one.type)
        if is_value and one.type not in {"parenthesized_expression", "argument_list", "property_identifier"}:
            yield from _literals(one, known, turn)
        elif one != given:
            waiting += one.named_children


def inputs_of(
    parameters: Sequence[Parameter], calls: Iterable[Input], language: str, *, most: int
) -> list[Input]:
    """Return inputs for a function: those of calls, then each value of a parameter beside the others."""
    names = {one.name for one in parameters}
    first = {(one.positional, one.named): one for one in reversed(list(calls))}
    seen = [
        one
        for one in reversed(first.values())
        if len(one.positional) <= len(parameters) and names.issuperset(name for name, _ in one.named)
    ]
    values = [_values(number, one, seen, _rows()[language]) for number, one in enumerate(parameters)]
    short = _FEW_VALUES if len(parameters) > _MANY_PARAMETERS else _MOST_VALUES
    chosen = islice(product(*(range(min(len(one), short)) for one in values)), _MOST_ROWS)
    rows = sorted(chosen, key=lambda one: (sum(map(bool, one)), sum(one)))
    made = [_input([values[at][index] for at, index in enumerate(each)], parameters) for each in rows]
    more = [one for one in dict.fromkeys(made) if one and (one.positional, one.named) not in first]
    return [*seen[: most // 2 if more else most], *more][:most]


def _input(given: Sequence[str | None], parameters: Sequence[Parameter]) -> Input | None:
    """Return an input with these arguments, None for one left out. Behind such a one no other has a place."""
    pairs = list(zip(given, parameters, strict=True))
    by_place = [value for value, one in pairs if not one.named]
    positional = tuple(value for value in by_place if value is not None)
    if by_place[: len(positional)] != list(positional):
        return None
    named = tuple((one.name, value) for value, one in pairs if one.named and value is not None)
    return Input(positional=positional, named=named)


def _values(place: int, parameter: Parameter, calls: Iterable[Input], row: Values) -> list[str | None]:
    """Return what a parameter may be given. None: it is left out."""
    written = [
        value
        for one in calls
        for value in (
            *one.positional[place : place + 1],
            *filter(None, [dict(one.named).get(parameter.name)]),
        )
    ]
    if parameter.default and parameter.is_literal:
        written.append(parameter.default)
    varied = [other for one in dict.fromkeys(written) for other in _varied(one)]
    found = [*islice(dict.fromkeys(written), 3), *_of_type(parameter.type, row), *varied]
    return list(dict.fromkeys([*([] if parameter.default is None else [None]), *found]))[:_MOST_VALUES]


def _of_type(text: str, row: Values) -> list[str]:
    if match := re.fullmatch(row.optional, text):
        return [*_of_type(match[1], row), row.nothing]
    parts = re.split(rf"\s*(?:{row.apart})\s*(?![^\[<]*[\]>])", text)
    if len(parts) > 1:
        return [value for one in parts for value in _of_type(one, row)[:4]]
    for pattern, texts in row.types:
        if match := re.fullmatch(pattern, text):
            inner = [_of_type(one, row) for one in match.groups()]
            return [_filled(one, inner) for one in texts] if all(inner) else []
    return []


def _filled(text: str, inner: Sequence[Sequence[str]]) -> str:
    def value(match: re.Match[str]) -> str:
        values = inner[int(match[1]) - 1]
        return values["abc".index(match[2] or "a") % len(values)]

    return re.sub(r"\$(\d)([bc]?)", value, text)


def _varied(text: str) -> list[str]:
    """Return other values of a literal's kind."""
    if match := _NUMBER.fullmatch(text):
        return ["0", text[1:] if text[0] == "-" else f"-{text}", *(["2.675", "2.718"] if match[1] else ["7"])]
    if match := _TEXT.fullmatch(text):
        sign, inner = match.groups()
        middle = len(inner) // 2
        parted = [f"{inner[:middle]}{mark}{inner[middle:]}" for mark in ("2", "_-")]
        other = [f" {inner.upper()}", *parted, f"{inner}{inner}"]
        return [sign * 2, *(f"{sign}{one}{sign}" for one in other)]
    return ["[]", f"{text[:-1]}, {text[1:]}"] if re.fullmatch(r"\[[^\n]+[^,]\]", text) else []
