"""Small changes of code, each of which a test should notice.

sq's parsers find the places, and patterns do in the lines of other languages. A dropped statement stays
behind a condition that never holds, where the language allows it, so that all names stay used.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.project.functions.languages import Language, language_of, parser_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST = 12
_SHOWN = 80  # characters of the code that is named
_PAIRS = ("< <=", "> >=", "== !=", "=== !==", "-lt -le", "-gt -ge", "-eq -ne", "eq ne")
_OTHER = {a: b for pair in _PAIRS for a, b in (pair.split(), pair.split()[::-1])}
_OPERATION = re.compile(
    r"binary|compar|relational|equality|additive|multiplicative|infix|boolean|test_command"
)
_NUMBER = re.compile(r"(?:decimal_)?int(?:eger)?(?:_literal)?|number(?:_literal)?")
_STATEMENT = re.compile(r"expression_statement|command|call|call_expression|assignment")
_BLOCK = re.compile(
    r"block|.*_block|compound_statement|body_statement|statements|statement_list|then|do_group|program"
)
_NEVER = {
    **dict.fromkeys(("c", "cpp"), "if (0) {}"),
    **dict.fromkeys(("go", "rust", "swift"), "if false {{ {} }}"),
    "python": "if False: {}",
    "ruby": "{} if false",
    "shell": ":",
}
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%"})
# Lines of the other languages.
_OPERAND = re.compile(r"(?<=[\w)\]}] [-+*/%] )[$@]?(?:\w+|\(\w+\)|\{\w+\})(?![\w(\[{.])", re.ASCII)
_PLAIN = re.compile(r"""(?<![\w$&.\-"'{(])\d+(?![\w>.])""")
_SIGN = re.compile(r"(?<=\s)(?:==|!=|-(?:lt|le|gt|ge|eq|ne)|eq|ne|<=?|>=?)(?=\s)")
_STRUCTURE = re.compile(
    r"[ \t]*(?:$|#|//|--|[{}()]|(?:end|fi|done|esac|else|then|do|sub|proc|function|local function|package|use"
    r"|require|include|if|elif|elsif|for|foreach|while|until|case|BEGIN|END|return|my|local|1;)\b)|.*[\\,{(]\s*$"
)
_REMARK = re.compile(r"[ \t]*(?:#|//|--|;)")
_ASSERTS = re.compile(r"^[ \t]*(?:assert|expect)", re.IGNORECASE)
_CHECKS = re.compile(
    r"\b(?:assert\w*|expect\w*|check\w*|verify|test|die|exit|fail\w*|raise|throw)\b|\[\s", re.IGNORECASE
)


class Operator(StrEnum):
    """What a small change does."""

    NEGATED = "a condition is negated"
    SHIFTED = "a bound or a number is shifted by one"
    DROPPED = "a statement is dropped"


@dataclass(frozen=True, kw_only=True)
class SmallChange:
    """One change: the whole new `content` of `file`, and in `words` `calc.c:3: a < b → a <= b`."""

    file: str
    content: bytes
    words: str
    operator: Operator


class _Edit(NamedTuple):
    worth: int  # the least is tried first
    line: int
    start: int
    end: int
    text: str
    operator: Operator


def small_changes(file: str, content: bytes, lines: Collection[int]) -> list[SmallChange]:
    """Return small changes of these lines (from 1) of a file, at most twelve, the clearest ones first.

    Lines that check something are left as they are.
    """
    language = language_of(file)
    root = parser_of(language).parse(content).root_node if language else None
    if language and root and not root.has_error:
        edits = [edit for node in _nodes(root, lines) for edit in _of_node(node, language)]
    else:
        edits = [*_of_lines(file, content, lines)]
    checks, texts = (
        _CHECKS if language is None or language.name == "shell" else _ASSERTS,
        content.split(b"\n"),
    )
    found = []
    for edit in sorted(edits):
        if not checks.search(texts[edit.line - 1].decode("utf-8", "replace")):
            was = content[edit.start : edit.end].decode("utf-8", "replace")
            words = f"{file}:{edit.line}: {_short(was)} → {_short(edit.text) or 'nothing'}"
            changed = content[: edit.start] + edit.text.encode() + content[edit.end :]
            found.append(SmallChange(file=file, content=changed, words=words, operator=edit.operator))
    return found[:_MOST]


def _short(code: str) -> str:
    return " ".join(code.split())[:_SHOWN]


def _nodes(root: "Node", lines: Collection[int]) -> Iterator["Node"]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.start_point[0] + 1 in lines:
            yield node
        waiting.extend(reversed(node.children))


def _of_node(node: "Node", language: Language) -> Iterator[_Edit]:
    parent, text = node.parent, text_of(node)
    at = (node.start_point[0] + 1, node.start_byte, node.end_byte)
    is_sign = parent is not None and _OPERATION.search(parent.type) and not node.named_children
    if _is_arithmetic(node) and not (parent and _is_arithmetic(parent)):
        yield _Edit(0, *at, f"(({text}) + 1)", Operator.SHIFTED)
    elif is_sign and text in _OTHER:
        yield _Edit(1, *at, _OTHER[text], _of_sign(text))
    elif _NUMBER.fullmatch(node.type) and text.isdigit():
        yield _Edit(2, *at, str(int(text) + 1), Operator.SHIFTED)
    elif parent and _STATEMENT.fullmatch(node.type) and _BLOCK.fullmatch(parent.type) and _acts(node):
        yield _Edit(3, *at, _NEVER.get(language.name, "if (false) {}").format(text), Operator.DROPPED)
    condition = node.child_by_field_name("condition")
    if condition is not None and not re.search(r"\b(?:let|case)\b", text_of(condition)):
        negated = _negated(text_of(condition), language)
        yield _Edit(1, at[0], condition.start_byte, condition.end_byte, negated, Operator.NEGATED)


def _acts(statement: "Node") -> bool:
    """Whether a statement of one line may do something: it is no text, such as a description."""
    is_text = [one for one in statement.named_children if "string" not in one.type] == []
    return "\n" not in text_of(statement) and not (is_text and statement.named_children)


def _of_sign(sign: str) -> Operator:
    return Operator.SHIFTED if re.search("[<>]|[lg][te]", sign) else Operator.NEGATED


def _is_arithmetic(node: "Node") -> bool:
    """Whether a node computes a number: no text is joined in it."""
    signs = {text_of(one) for one in node.children if not one.is_named}
    return bool(
        _OPERATION.search(node.type) and signs & _ARITHMETIC and not re.search("[\"'`]", text_of(node))
    )


def _negated(condition: str, language: Language) -> str:
    if language.name in {"python", "shell"}:
        return f"not ({condition})" if language.name == "python" else f"! {condition}"
    return f"(!{condition})" if condition.startswith("(") else f"!({condition})"


def _of_lines(file: str, content: bytes, lines: Collection[int]) -> Iterator[_Edit]:
    start, is_make = 0, "makefile" in file.lower() or file.endswith(".mk")
    for number, raw in enumerate(content.split(b"\n"), 1):
        text = raw.decode("latin-1")  # one character a byte
        if number in lines and not _REMARK.match(text):
            for worth, operator, begin, end, new in _of_line(text, is_make=is_make):
                yield _Edit(worth, number, start + begin, start + end, new, operator)
        start += len(raw) + 1


def _of_line(text: str, *, is_make: bool) -> Iterator[tuple[int, Operator, int, int, str]]:
    """Yield worth, operator, start, end and new text of each change of a line."""
    computes = not is_make or "$((" in text or "expr" in text
    for one in _OPERAND.finditer(text) if computes else ():
        yield 0, Operator.SHIFTED, *one.span(), f"({one[0]} + 1)"
    for one in _SIGN.finditer(text):
        if not (is_make and one[0][0] in "<>"):
            yield 1, _of_sign(one[0]), *one.span(), _OTHER[one[0]]
    for one in _PLAIN.finditer(text):
        yield 2, Operator.SHIFTED, *one.span(), str(int(one[0]) + 1)
    whole = all(text.count(a) == text.count(b) for a, b in ("()", "[]", "{}"))
    if whole and not _STRUCTURE.match(text) and text.startswith("\t" if is_make else ""):
        yield 3, Operator.DROPPED, 0, len(text), "\t@:" if is_make else ""
