"""The statements of a source: what each says, the test around it, and the conditions that it depends on."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from orchestrator.project.functions.functions import Token, tokens_of
from orchestrator.project.functions.languages import (
    Language,
    is_docstring,
    language_of,
    name_of,
    parser_of,
    scope_name,
    text_of,
)
from state.decoding import table_beside

if TYPE_CHECKING:
    from tree_sitter import Node

Tokens = tuple[Token, ...]
_ANNOTATIONS = re.compile(r"attribute|annotation$")
_TITLE = re.compile(r"""\s*(?:await\s+)?[\w.!]+[\s(]+(["'`])(.*?)\1\s*(?:,|\{|\)|;|$)""", re.DOTALL)
_REQUIRES = re.compile(r"""^[^\n]*\brequire(?:_relative|_once)?\b\s*\(?\s*["'`]""")
_LITERAL = re.compile(r"""[-+]?\.?\d|["'`]|(?i:true|false|none|null|nil)$""")
_LINE = re.compile(r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\w+|[^\w\s]""")
_REMARK = re.compile(r"\s*(?:#|//|--(?!-)|;)")
_SHOWN = 160  # characters of a statement that imports something
_KEPT = 20_000  # characters of a statement


class CheckWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
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
def words() -> CheckWords:
    """Return the words by which statements of tests are read."""
    return msgspec.convert(table_beside(__file__, "statements.yaml"), CheckWords)


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
        return [text for (_, text), is_literal in self._parts() if is_literal]

    @property
    def shape(self) -> Tokens:
        """Its tokens without its numbers, texts and the like."""
        return tuple(token for token, is_literal in self._parts() if not is_literal)

    def _parts(self) -> Iterator[tuple[Token, bool]]:
        """Yield each token, but not the brackets of texts, with whether it is a literal."""
        depth = 0
        for kind, text in self.tokens:
            if kind in {"(", ")"} and words().fits("texts", text):
                depth += 1 if kind == "(" else -1
            else:
                yield (kind, text), kind == "leaf" and bool(depth or _LITERAL.match(text))

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
    """Return the statements of a file, its imports left out: its lines, if it cannot be parsed or is deep."""
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
        if len(around) > _DEEPEST:
            return list(_lines(content))
        for child in block.named_children:
            imports = words().fits("imports", child.type) or _REQUIRES.match(text_of(child)[:_SHOWN])
            if child.type in reading.ignored or is_docstring(child, language) or imports:
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
            text = " ".join(text_of(child).split())[:_KEPT]
            found.append(Statement(unit=inner, around=around, tokens=head, text=text, names=names))
            for number, one in enumerate(blocks):
                within = around if name else (*around, head, (("leaf", str(number)),))
                waiting.append((one, inner, within))
    return found


def _plain(text: str) -> str:
    return "…" if text.startswith("function ") else text


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
            yield Statement(tokens=tuple(kinds), text=text[:_KEPT])


_DEEPEST = 60  # nodes below one another that are compared
Tree = tuple[str, str, tuple["Tree", ...]]  # a token, with those inside it


@dataclass(frozen=True)
class Names:
    """The names that the files give, before and now."""

    before: frozenset[str]
    now: frozenset[str]


@dataclass
class StatementComparison:
    """The statements of one test that are gone or new, and which of them check less."""

    names: Names
    gone: list[Statement]
    new: list[Statement]
    used: frozenset[str]
    fresh: Sequence[Statement]
    is_data: bool = False
    renamed: dict[str, str] = field(default_factory=dict)

    def weaker(self) -> Iterator[Statement]:
        """Yield the old statements that no new one stands for, and new ones that switch a test off."""
        left, alone = list(self.new), []
        for old in self.gone:
            new = next((one for one in left if self._stands_for(one, old)), None)
            if new is None:
                alone.append(old)
            else:
                left.remove(new)
                if _switches_off(new) - _switches_off(old):
                    yield old
        moved = {one.tokens for one in self.fresh}
        checking = {one.unit for one in self.fresh if one.checks}
        values_of = [*left, *(one for one in self.fresh if one.unit not in checking)]
        spare = Counter(text for one in values_of for text in one.literals)
        for old in alone:
            if not self.is_data and old.tokens in moved:
                continue
            values = Counter(old.literals)
            if self.is_data or old.checks or old.loops or values - spare:
                yield old
            spare -= values
        left_before = any(_leaves(one) for one in self.gone)
        yield from (one for one in left if _switches_off(one) or (_leaves(one) and not left_before))

    def _stands_for(self, new: Statement, old: Statement) -> bool:
        """Whether a new statement checks what an old one did, other names and added entries aside."""
        before = dict(self.renamed)
        heads = list(new.around)
        grows = not (old.checks or self.is_data)
        fits = len(heads) == len(old.around)
        fits = fits and all(self._fits(a, b, grows=True) for a, b in zip(old.around, heads, strict=True))
        if fits and self._fits(old.tokens, new.tokens, grows=grows):
            return True
        self.renamed = before
        return False

    def _fits(self, old: Sequence[Token], new: Sequence[Token], *, grows: bool) -> bool:
        return self._alike(_tree(old), _tree(new), grows=grows, depth=0)

    def _alike(self, old: Tree, new: Tree, *, grows: bool, depth: int) -> bool:
        if old[0] != new[0] or depth > _DEEPEST:
            return False
        if old[0] == "id":
            return self._is_renamed(old[1], new[1])
        if old[1] != new[1]:
            return False
        if not (grows and words().fits("growing", old[1])):
            return len(old[2]) == len(new[2]) and all(
                self._alike(one, other, grows=grows, depth=depth + 1)
                for one, other in zip(old[2], new[2], strict=True)
            )
        rest = iter(new[2])
        return all(
            any(self._alike(one, other, grows=grows, depth=depth + 1) for other in rest) for one in old[2]
        )

    def _is_renamed(self, old: str, new: str) -> bool:
        """Whether a name stands for another one throughout: the files gave the old one, and give the new."""
        if old == new and old not in self.renamed:
            return new not in self.renamed.values()
        if old not in self.renamed and new not in self.renamed.values():
            if old in self.used or old not in self.names.before or new not in self.names.now:
                return False
            self.renamed[old] = new
        return self.renamed.get(old) == new


def _tree(tokens: Sequence[Token]) -> Tree:
    """Return tokens as a tree of the brackets among them."""
    stack: list[tuple[str, str, list[Tree]]] = [("(", "", [])]
    for kind, text in tokens:
        if kind == "(":
            stack.append((kind, text, []))
        elif kind == ")" and len(stack) > 1:
            own, type_, children = stack.pop()
            stack[-1][2].append((own, type_, tuple(children)))
        else:
            stack[-1][2].append((kind, text, ()))
    return ("(", "", tuple(child for one in stack for child in one[2]))


def _switches_off(one: Statement) -> frozenset[str]:
    return frozenset(text for kind, text in one.tokens if kind == "id" and words().fits("disabling", text))


def _leaves(one: Statement) -> bool:
    """Whether a statement ends a test early."""
    return bool(one.tokens) and one.tokens[0][1].startswith("return") and not one.around
