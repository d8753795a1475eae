"""The statements of a source: what each says, the test around it, and the conditions that it depends on."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import msgspec
import yaml

from orchestrator.project.functions.form import Token, tokens_of
from orchestrator.project.functions.languages import Language, language_of, parser_of
from orchestrator.project.functions.syntax import is_docstring, name_of, scope_name, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

Tokens = tuple[Token, ...]
_ANNOTATIONS = re.compile(r"attribute|annotation$")
_TITLE = re.compile(r"""\s*(?:await\s+)?[\w.!]+[\s(]+(["'`])(.*?)\1\s*(?:,|\{|\)|;|$)""", re.DOTALL)
_REQUIRES = re.compile(r"""^[^\n]*\brequire(?:_relative|_once)?\b\s*\(?\s*["'`]""")
_LITERAL = re.compile(r"""[-+]?\.?\d|["'`]|(?i:true|false|none|null|nil)$""")
_LINE = re.compile(r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\w+|[^\w\s]""")
_REMARK = re.compile(r"\s*(?:#|//|--(?!-)|;)")
_SHOWN = 160  # characters of a statement


class Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The rows of `statements.yaml`, whose head describes them: patterns of whole names."""

    checks: str
    loops: str
    blocks: str
    growing: str
    imports: str
    texts: str
    disabling: str
    common: str

    def fits(self, row: str, text: str) -> bool:
        """Whether a name or a node type is one of the row `row`."""
        return bool(_pattern(row).fullmatch(text))


@cache
def words() -> Words:
    """Return the words by which statements of tests are read."""
    text = (files("orchestrator.project.functions") / "statements.yaml").read_text("utf-8")
    return msgspec.convert(yaml.safe_load(text), Words)


@cache
def _pattern(row: str) -> re.Pattern[str]:
    return re.compile(getattr(words(), row).replace("| ", "|"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement, or the head of one that holds others, such as a loop or a test with its decorators.

    `unit` are the names of the classes, functions and titled blocks around it, `around` the heads of other
    statements that it stands in. `tokens` are as in `Function.form`, `names` those that it gives.
    """

    unit: tuple[str, ...] = ()
    around: tuple[Tokens, ...] = ()
    tokens: Tokens
    text: str = field(compare=False)
    names: frozenset[str] = field(default=frozenset(), compare=False)

    @property
    def used(self) -> frozenset[str]:
        """The identifiers in it and in the heads around it."""
        every = (*self.tokens, *(token for head in self.around for token in head))
        return frozenset(text for kind, text in every if kind == "id")

    @property
    def literals(self) -> list[str]:
        """Its numbers, texts and the like."""
        found, depth = [], 0
        for kind, text in self.tokens:
            if kind in {"(", ")"} and words().fits("texts", text):
                depth += 1 if kind == "(" else -1
            elif kind == "leaf" and (depth or _LITERAL.match(text)):
                found.append(text)
        return found

    @property
    def checks(self) -> bool:
        """Whether it checks something."""
        return any(
            (kind == "id" and words().fits("checks", text)) or (kind != "id" and text.startswith("assert"))
            for kind, text in self.tokens
        )

    @property
    def loops(self) -> bool:
        """Whether it repeats others."""
        return bool(self.tokens) and self.tokens[0][0] == "(" and words().fits("loops", self.tokens[0][1])


def statements_of(file: str, content: bytes) -> list[Statement]:
    """Return the statements of a file, its imports left out. In an unknown language each line is one."""
    language = language_of(file)
    root = parser_of(language).parse(content).root_node if language else None
    if language is None or root is None or root.has_error:
        return list(_lines(content))
    kept = frozenset(one for one in language.ignored if not _ANNOTATIONS.search(one))
    reading = msgspec.structs.replace(language, ignored=kept | {"type_annotation"} & language.ignored)
    found: list[Statement] = []
    waiting: list[tuple[Node, tuple[str, ...], tuple[Tokens, ...]]] = [(root, (), ())]
    while waiting:
        block, unit, around = waiting.pop()
        for child in block.named_children:
            if child.type in reading.ignored or is_docstring(child, language) or _is_import(child):
                continue
            if words().fits("blocks", child.type):
                waiting.append((child, unit, around))
                continue
            blocks, title = _inside(child)
            name = _name(child, blocks, language)
            inner = (*unit, name) if name else unit
            cut = frozenset([one.id for one in blocks] + ([title.id] if title and name else []))
            tokens = list(tokens_of(child, reading, cut or None))
            head = tuple((kind, _plain(text)) for kind, text, _ in tokens)
            names = frozenset([name, *(text for kind, text, binds in tokens if binds and kind == "id")])
            text = " ".join(text_of(child).split())[:_SHOWN]
            found.append(Statement(unit=inner, around=around, tokens=head, text=text, names=names))
            for number, one in enumerate(blocks):
                within = around if name else (*around, (*head, ("leaf", str(number))))
                waiting.append((one, inner, within))
    return found


def _plain(text: str) -> str:
    return "…" if text.startswith("function ") else text


def _is_import(node: "Node") -> bool:
    return words().fits("imports", node.type) or bool(_REQUIRES.match(text_of(node)[:_SHOWN]))


def _inside(node: "Node") -> tuple[list["Node"], "Node | None"]:
    """Return the outermost blocks in a statement, and the first text before them."""
    blocks, title, waiting = [], None, list(reversed(node.children))
    while waiting:
        one = waiting.pop()
        if words().fits("blocks", one.type):
            blocks.append(one)
            continue
        if title is None and not blocks and words().fits("texts", one.type):
            title = one
        waiting.extend(reversed(one.children))
    return blocks, title


def _name(node: "Node", blocks: list["Node"], language: Language) -> str:
    """Return the name of the function, class or titled block that a statement is, or ""."""
    if not blocks:
        return ""
    head = (node.text or b"")[: blocks[0].start_byte - node.start_byte].decode("utf-8", "replace")
    if title := _TITLE.match(head):
        return title[2]
    owner = blocks[0].parent
    while owner is not None and owner.start_byte >= node.start_byte:
        if owner.type in language.scopes:
            return scope_name(owner)
        if owner.type in language.functions:
            return name_of(owner)
        owner = owner.parent
    return ""


def _lines(content: bytes) -> Iterator[Statement]:
    """Yield the lines of a text, without blank ones, remarks and commas at the end."""
    if b"\0" in content:
        return
    for line in content.decode("utf-8", "replace").splitlines():
        text = line.strip().rstrip(",")
        if text and not _REMARK.match(text):
            kinds = (("id" if re.match(r"[A-Za-z_]", one) else "leaf", one) for one in _LINE.findall(text))
            yield Statement(tokens=tuple(kinds), text=text[:_SHOWN])
