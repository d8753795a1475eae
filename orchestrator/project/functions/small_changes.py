"""Small changes of code, each of which a test should notice.

There are three kinds: a condition is negated, a bound or a number is shifted by one, a statement is dropped.
sq's parsers find the places, and patterns do in the lines of other languages. A dropped statement stays
behind a condition that never holds, where the language allows it, so that all names stay used.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orchestrator.project.functions.languages import Language, language_of, parser_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST = 12
_SHOWN = 80  # characters of the code that is named
_OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "===": "!==", "!==": "==="}
_WORDS = {
    "-lt": "-le",
    "-le": "-lt",
    "-gt": "-ge",
    "-ge": "-gt",
    "-eq": "-ne",
    "-ne": "-eq",
    "eq": "ne",
    "ne": "eq",
}
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
    r"|require|include|if|elif|elsif|for|foreach|while|until|case|BEGIN|END|return|my|local|1;)\b)"
)
_ASSERTS = re.compile(r"^[ \t]*(?:assert|expect)", re.IGNORECASE)
_CHECKS = re.compile(
    r"\b(?:assert\w*|expect\w*|check\w*|verify|test|die|exit|fail\w*|raise|throw)\b|\[\s", re.IGNORECASE
)


@dataclass(frozen=True, kw_only=True)
class SmallChange:
    """One change: the code at `line` of `file` as it `was` and `now`, and the file's whole new `content`."""

    file: str
    line: int
    was: str
    now: str
    content: bytes

    @property
    def words(self) -> str:
        """The change in a line, as `calc.c:3: a < b → a <= b`."""
        return f"{self.file}:{self.line}: {_short(self.was)} → {_short(self.now) or 'nothing'}"


@dataclass(frozen=True, kw_only=True)
class _Edit:
    worth: int
    line: int
    start: int
    end: int
    text: str


def small_changes(file: str, content: bytes, lines: Collection[int]) -> list[SmallChange]:
    """Return small changes of these lines (from 1) of a file, at most twelve, the clearest ones first.

    Lines that check something are left as they are.
    """
    language = language_of(file)
    root = parser_of(language).parse(content).root_node if language else None
    if language and root and not root.has_error:
        edits = list(_of_nodes(root, language, lines))
    else:
        edits = list(_of_lines(file, content, lines))
    checks = _CHECKS if language is None or language.name == "shell" else _ASSERTS
    edits = [one for one in edits if not checks.search(_line_of(content, one.line))]
    found = []
    for edit in sorted(edits, key=lambda one: one.worth):
        changed = content[: edit.start] + edit.text.encode() + content[edit.end :]
        if (
            language
            and root
            and not root.has_error
            and parser_of(language).parse(changed).root_node.has_error
        ):
            continue
        was = content[edit.start : edit.end].decode("utf-8", "replace")
        found.append(SmallChange(file=file, line=edit.line, was=was, now=edit.text, content=changed))
    return found[:_MOST]


def _short(code: str) -> str:
    return " ".join(code.split())[:_SHOWN]


def _line_of(content: bytes, number: int) -> str:
    return content.split(b"\n")[number - 1].decode("utf-8", "replace")


def _of_nodes(root: "Node", language: Language, lines: Collection[int]) -> Iterator[_Edit]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.start_point[0] + 1 in lines:
            yield from _of_node(node, language)
        waiting.extend(reversed(node.children))


def _of_node(node: "Node", language: Language) -> Iterator[_Edit]:
    edit = _Edit(worth=0, line=node.start_point[0] + 1, start=node.start_byte, end=node.end_byte, text="")
    parent, text = node.parent, text_of(node)
    in_operation = parent is not None and _OPERATION.search(parent.type) is not None
    if _is_arithmetic(node) and not (parent and _is_arithmetic(parent)):
        yield replace(edit, text=f"(({text}) + 1)")
    elif in_operation and not node.named_children and (text in _OTHER or text in _WORDS):
        yield replace(edit, worth=1, text=_OTHER.get(text) or _WORDS[text])
    elif _NUMBER.fullmatch(node.type) and text.isdigit():
        yield replace(edit, worth=2, text=str(int(text) + 1))
    elif parent and _STATEMENT.fullmatch(node.type) and _BLOCK.fullmatch(parent.type) and "\n" not in text:
        yield replace(edit, worth=3, text=_NEVER.get(language.name, "if (false) {}").format(text))
    condition = node.child_by_field_name("condition")
    if condition is not None and not re.search(r"\b(?:let|case)\b", text_of(condition)):
        start, end = condition.start_byte, condition.end_byte
        yield replace(edit, worth=1, start=start, end=end, text=_negated(text_of(condition), language))


def _is_arithmetic(node: "Node") -> bool:
    """Whether a node computes a number: no text is joined in it."""
    signs = {text_of(one) for one in node.children if not one.is_named}
    return bool(
        _OPERATION.search(node.type) and signs & _ARITHMETIC and not re.search("[\"'`]", text_of(node))
    )


def _negated(condition: str, language: Language) -> str:
    if language.name == "python":
        return f"not ({condition})"
    if language.name == "shell":
        return f"! {condition}"
    return f"(!{condition})" if condition.startswith("(") else f"!({condition})"


def _of_lines(file: str, content: bytes, lines: Collection[int]) -> Iterator[_Edit]:
    at, is_make = 0, "makefile" in file.lower() or file.endswith(".mk")
    for number, raw in enumerate(content.split(b"\n"), 1):
        text = raw.decode("latin-1")  # one character a byte
        if number in lines and not re.match(r"[ \t]*(?:#|//|--|;)", text):
            edit = _Edit(worth=0, line=number, start=at, end=at + len(raw), text=text)
            yield from _of_line(text, edit, is_make=is_make)
        at += len(raw) + 1


def _of_line(text: str, edit: _Edit, *, is_make: bool) -> Iterator[_Edit]:
    counts = not is_make or "$((" in text or "expr" in text

    def put(found: re.Match[str], worth: int, new: str) -> _Edit:
        begin = edit.start
        return replace(edit, worth=worth, start=begin + found.start(), end=begin + found.end(), text=new)

    if counts:
        yield from (put(one, 0, f"({one[0]} + 1)") for one in _OPERAND.finditer(text))
    for one in _SIGN.finditer(text):
        if not (is_make and one[0][0] in "<>"):
            yield put(one, 1, _WORDS.get(one[0]) or _OTHER[one[0]])
    yield from (put(one, 2, str(int(one[0]) + 1)) for one in _PLAIN.finditer(text))
    balanced = all(text.count(a) == text.count(b) for a, b in ("()", "[]", "{}"))
    if balanced and not (_STRUCTURE.match(text) or text.rstrip().endswith(("\\", ",", "{", "("))):
        if is_make and text.startswith("\t"):
            yield replace(edit, worth=3, text="\t@:")
        elif not is_make:
            yield replace(edit, worth=3, text="")
