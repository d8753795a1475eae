"""The assertions of a test, each with the edit that turns it to its opposite.

A turned assertion has to fail where it is reached. A test that passes all the same does not decide by it: the
line never runs, nobody waits for its result, or it asserts nothing. (product.md, section 12)
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from orchestrator.project.functions.languages import Language, language_of, name_of, parser_of, text_of
from orchestrator.project.functions.statements import words
from state.decoding import table_beside

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST = 400  # of a file
_LONGEST = 2_000  # characters of an assertion, or of a branch that fails a test
_CALL = re.compile(r"call|\w*(?:call|invocation)(?:_expression)?")
_NAMES = ("function", "method", "macro", "name")
_OBJECTS = ("object", "receiver", "value", "operand", "expression", "argument", "scope")
_LEAVES = ("property", "attribute", "field", "name")
_FALSE = re.compile(r"\(*\s*(?:false|0|nil|null|none|undefined)\s*\)*", re.IGNORECASE)
_NEVER = {"python": "type('Never', (Exception,), {})", "ruby": "Class.new(StandardError)"}
_PROMISED = re.compile(
    r"expect\s*\([\s\S]*\)\s*\.(?:resolves|rejects)\b|assert\.(?:rejects|doesNotReject)\s*\("
)
_VALUE = re.compile(r"[-+]?\d[\w.]*|\[[\s\S]*\]|\{[\s\S]*\}|true|false|null|none", re.IGNORECASE)
_CONSTANT = re.compile(r"""\(*\s*(?:[-+]?0*[1-9][\w.]*|"[^"]+"|'[^']+'|true)\s*\)*""", re.IGNORECASE)
_PLAIN = frozenset({"rust", "javascript", "typescript", "tsx", "c", "php"})  # a comparison does nothing else
_EQUALS = frozenset({"==", "!=", "===", "!=="})
_WITH_BRANCHES = frozenset({"go", "c", "cpp", "shell", "python", "javascript", "typescript"})


class _Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The rows of `assertions.yaml`, whose head describes them."""

    pairs: str
    behind: Mapping[str, str]
    negated: str
    never: str
    matchers: str
    chains: Mapping[str, str]
    waiting: str
    conditions: str
    failing: str
    told: Mapping[str, tuple[str, str]]
    holding: str
    checking: str
    catches: str
    message: str
    perl: str

    def fits(self, row: str, text: str) -> bool:
        """Whether a text is one of the row's."""
        return bool(re.fullmatch(getattr(self, row), text))

    def opposite(self, name: str, behind: str) -> str:
        """Return the opposite of a function, "" without one. `behind`: the object whose function it is."""
        return _paired(self.behind.get(behind, "")).get(name, "") or _paired(self.pairs).get(name, "")


@cache
def _words() -> _Words:
    return msgspec.convert(table_beside(__file__, "assertions.yaml"), _Words)


@cache
def _paired(row: str) -> Mapping[str, str]:
    pairs = [(a, b) for a, b in (one.split() for one in row.split("|") if one.strip())]
    return {**dict(pairs), **{b: a for a, b in pairs}}


@dataclass(frozen=True, kw_only=True)
class Assertion:
    """One assertion, on `line` from 1: the edit that turns it puts `text` from byte `start` to `end`.

    `within` are the functions and titled blocks around it, the outer ones first. `conditional`: it stands
    under a condition, so that an honest test may not reach it here. `idle`: it asserts nothing, holds
    whatever the product does, or nobody waits for its result, so it has no opposite.
    """

    line: int
    start: int = 0
    end: int = 0
    text: str = ""
    within: tuple[str, ...] = ()
    conditional: bool = False
    idle: bool = False


def assertions_of(file: str, content: bytes, lines: Collection[int]) -> list[Assertion]:
    """Return the assertions on these lines, from 1. A file that cannot be parsed has none."""
    language = language_of(file)
    if file.endswith(".t"):
        return [one for one in _with_a_value_as_name(content) if one.line in lines]
    root = parser_of(language).parse(content).root_node if language else None
    if language is None or root is None or root.has_error:
        return []
    found: list[Assertion] = []
    waiting: list[tuple[Node, tuple[str, ...], bool]] = [(root, (), False)]
    while waiting and len(found) < _MOST:
        node, within, conditional = waiting.pop()
        called = _called(node)
        if called and _words().fits("waiting", called.name):
            continue
        one = _of_node(node, called, language, content)
        if one and node.start_point[0] + 1 in lines:
            maybe = conditional and not _of_the_message(node)
            found.append(replace(one, within=within, conditional=maybe))
        if one:
            continue
        if title := _title(node, called, language):
            within = (*within, title)
        conditional = conditional or _words().fits("conditions", node.type)
        waiting.extend((child, within, conditional) for child in reversed(node.children))
    return found


def _with_a_value_as_name(content: bytes) -> Iterator[Assertion]:
    """Yield assertions of Perl, which has no parser here, that a call is true, with a value as their name."""
    text = content.decode("utf-8", "replace")
    is_told = re.search(r"\buse Test(?:2?::|2\b)", text)  # in older tests the second one is compared
    for found in re.finditer(_words().perl, text):
        if is_told and found["value"] not in found["given"]:
            line = found.string.count("\n", 0, found.start("given")) + 1
            yield Assertion(line=line, within=(found["value"],), idle=True)


@dataclass(frozen=True, kw_only=True)
class _Called:
    """A call: the node of the function's name, the text before that, and what it is given."""

    at: "Node"
    name: str
    behind: str
    given: "Node | None"

    @property
    def arguments(self) -> list["Node"]:
        return list(self.given.named_children) if self.given else []


def _called(node: "Node") -> _Called | None:
    if not (node.is_named and _CALL.fullmatch(node.type)):
        return None
    at = next(filter(None, map(node.child_by_field_name, _NAMES)), None) or next(
        iter(node.named_children), None
    )
    owner = next(filter(None, map(node.child_by_field_name, ("object", "receiver", "scope"))), None)
    while at and (leaf := next(filter(None, map(at.child_by_field_name, _LEAVES)), None)):
        owner = next(filter(None, map(at.child_by_field_name, _OBJECTS)), owner)
        at = leaf
    given = node.child_by_field_name("arguments") or next(
        (one for one in node.children if words().fits("arguments", one.type)), None
    )
    if at is None:
        return None
    return _Called(at=at, name=text_of(at), behind=text_of(owner)[-_LONGEST:] if owner else "", given=given)


def _title(node: "Node", called: _Called | None, language: Language) -> str:
    """Return the name of a function, or the text that a call such as `it` is given first, or ""."""
    if node.type in language.functions:
        return name_of(node)
    first = called.arguments[:1] if called else []
    if first and words().fits("texts", first[0].type):
        return text_of(first[0]).strip("\"'`")
    return ""


def _of_node(node: "Node", called: _Called | None, language: Language, content: bytes) -> Assertion | None:
    line = node.start_point[0] + 1
    if node.end_byte - node.start_byte > _LONGEST:
        return None
    is_unused = language.name in _PLAIN and _is_unused(node, language)
    if is_unused or (called and _takes_a_message(called, language, content)):
        return Assertion(line=line, idle=True)
    for edit in _edits(node, called, language):
        if edit is None:
            return Assertion(line=line, idle=True)
        start, end, text = edit
        return Assertion(line=line, start=start, end=end, text=text)
    return None


def _takes_a_message(called: _Called, language: Language, content: bytes) -> bool:
    """Whether a function that takes a condition and a message is given a value in place of the message."""
    uses, name = _words().told.get(language.name, ("", ""))
    values = called.arguments[1:2]
    is_told = bool(values and uses and re.fullmatch(name, f"{called.behind}.{called.name}"))
    return is_told and bool(_VALUE.fullmatch(text_of(values[0])) and re.search(uses.encode(), content))


def _is_unused(node: "Node", language: Language) -> bool:
    """Whether a node is a comparison whose result nobody takes, in a function that checks nothing else."""
    if node.type == "let_declaration" and _field(node, "pattern") == "_":
        inner = node.child_by_field_name("value")
    else:
        inner = next(iter(node.named_children), None) if node.type == "expression_statement" else None
    if inner is None or not (_field(inner, "operator") in _EQUALS or text_of(inner).startswith("matches!")):
        return False
    at, around = node.parent, None
    while at and "try" not in at.type:
        around = at if at.type in language.functions else around
        at = at.parent
    if at or not around:
        return False
    before, text = around.prev_named_sibling, text_of(around)
    while before is not None and "attribute" in before.type:
        text += text_of(before)
        before = before.prev_named_sibling
    return not re.search(_words().checking, text)


def _of_the_message(node: "Node") -> bool:
    """Whether an assertion is about the message of the error that the one `catch` around it takes."""
    row, at, around = _words(), node.parent, list["Node"]()
    while at:
        around += [at] if row.fits("conditions", at.type) else []
        at = at.parent
    if len(around) != 1 or not row.fits("catches", around[0].type):
        return False
    caught = around[0].parent.children if around[0].parent else []
    is_only = sum(row.fits("catches", one.type) for one in caught) == 1
    return is_only and bool(re.match(row.message, text_of(node)))


def _is_true(node: "Node") -> bool:
    """Whether a condition holds whatever the product does: a tuple, or a constant assigned or behind `or`."""
    while node.type in {"parenthesized_expression", "argument"} and node.named_child_count == 1:
        node = node.named_children[0]
    sign = _field(node, "operator")
    if node.type == "tuple":
        return node.named_child_count > 1
    decides = sign in {"or", "||"} or (node.type == "assignment_expression" and sign in {"", "="})
    return decides and bool(_CONSTANT.fullmatch(_field(node, "right")))


def _field(node: "Node", name: str) -> str:
    found = node.child_by_field_name(name)
    return text_of(found) if found else ""


_Edit = tuple[int, int, str]


def _edits(node: "Node", called: _Called | None, language: Language) -> Iterator[_Edit | None]:
    """Yield the edit that turns an assertion, None for one that is idle, and nothing for other nodes."""
    if node.type == "assert_statement" and node.named_children:
        yield from [None] if _is_true(node.named_children[0]) else _negated(node.named_children[0], language)
    elif called:
        yield from _of_call(node, called, language)
    elif language.name in _WITH_BRANCHES and node.type == "if_statement":
        condition, branch = node.child_by_field_name("condition"), _branch(node)
        if condition and re.search(_words().failing, branch):
            if language.name == "shell":
                yield condition.start_byte, condition.start_byte, "! "
            else:
                yield from _negated(condition, language)
    elif language.name == "shell" and (node.type == "test_command" or text_of(node).startswith("test ")):
        yield from _of_shell(node)


def _branch(node: "Node") -> str:
    """Return what a condition leads to, if there is no other branch."""
    if node.child_by_field_name("alternative"):
        return ""
    found = node.child_by_field_name("consequence") or node.child_by_field_name("body") or node
    return text_of(found)


def _of_shell(node: "Node") -> Iterator[_Edit]:
    """Yield the opposite of a test that is a statement, or that something else follows if it fails."""
    parent = node.parent
    first = parent is not None and parent.children[:1] == [node]
    if parent is None or (parent.type == "list" and not (first and parent.children[1].type == "||")):
        return
    if parent.type in {"list", "program", "compound_statement", "do_group"}:
        yield node.start_byte, node.end_byte, f"if {text_of(node)}; then false; else true; fi"


def _of_call(node: "Node", called: _Called, language: Language) -> Iterator[_Edit | None]:
    name, at, row = called.name, called.at, _words()
    arguments = called.arguments
    is_statement = node.parent is not None and node.parent.type == "expression_statement"
    if is_statement and _PROMISED.match(text_of(node)):
        yield None
    elif "expect" in called.behind and name in row.chains:
        yield at.start_byte, at.end_byte, row.chains[name]
    elif re.match(r"expect\s*\(", called.behind) and row.fits("matchers", name):
        if cut := re.search(r"\.not\s*$", called.behind):
            yield at.start_byte - 1 - len(cut[0].encode()), at.start_byte - 1, ""
        else:
            yield at.start_byte, at.start_byte, "not."
    elif (name == "expect" and is_statement and not called.behind) or (
        row.fits("holding", name) and arguments and _is_true(arguments[0])
    ):
        yield None
    elif other := row.opposite(name, called.behind.rpartition(".")[2]):
        yield at.start_byte, at.end_byte, other
    elif name in row.negated.split() and arguments:
        yield from _negated_first(called, language)
    elif name in row.never.split() and arguments and language.name in _NEVER:
        yield arguments[0].start_byte, arguments[0].end_byte, _NEVER[language.name]


def _negated_first(called: _Called, language: Language) -> Iterator[_Edit]:
    if called.given is not None and called.given.type == "token_tree":  # a macro of Rust's: words, not nodes
        inner = called.given.children[1:-1]
        end = next((number for number, one in enumerate(inner) if text_of(one) == ","), len(inner))
        if inner[:end]:
            start, stop = inner[0].start_byte, inner[end - 1].end_byte
            code = (called.given.text or b"")[
                start - called.given.start_byte : stop - called.given.start_byte
            ]
            yield start, stop, f"!({code.decode('utf-8', 'replace')})"
        return
    yield from _negated(called.arguments[0], language)


def _negated(node: "Node", language: Language) -> Iterator[_Edit]:
    """Yield the negation of a condition, unless it is false by itself: that says that nobody comes here."""
    text = text_of(node)
    if _FALSE.fullmatch(text):
        return
    new = (
        f"not ({text})" if language.name == "python" else f"(!({text}))" if text[:1] == "(" else f"!({text})"
    )
    yield node.start_byte, node.end_byte, new


def turned(content: bytes, assertions: Collection[Assertion]) -> bytes:
    """Return a file with these of its assertions turned to their opposite."""
    for one in sorted(assertions, key=lambda one: -one.start):
        content = content[: one.start] + one.text.encode() + content[one.end :]
    return content
