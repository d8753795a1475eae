"""The statements of a source: what each says, the test around it, and the conditions that it depends on."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
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
    arguments: str
    added: str
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
    statements that it stands in. `tokens` are as in `Function.form`, `names` those that it gives. `is_head`:
    others stand in it.
    """

    unit: tuple[str, ...] = ()
    around: tuple[Tokens, ...] = ()
    tokens: Tokens
    text: str = field(compare=False)
    names: frozenset[str] = field(default=frozenset(), compare=False)
    is_head: bool = field(default=False, compare=False)

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
    def checked(self) -> frozenset[str]:
        """The identifiers in it, if it is a check itself."""
        own = self.tokens if self.checks and not self.loops else ()
        return frozenset(text for kind, text in own if kind == "id")

    @property
    def checks(self) -> bool:
        """Whether it checks something. A name that it gives, or a key, such as `expected`, checks nothing."""
        return any(
            (
                kind == "id"
                and text not in self.names
                and words().fits("checks", text)
                and not self._is_key(at)
            )
            or (kind != "id" and text.startswith("assert"))
            for at, (kind, text) in enumerate(self.tokens)
        )

    def _is_key(self, at: int) -> bool:
        """Whether the token there names a value, as in `Case(expected=2)`, and labels no block."""
        after = [text for kind, text in self.tokens[at + 1 : at + 5] if kind != ")"]
        return after[:1] in (["="], [":"], ["=>"]) and after[1:2] not in ([], ["="])

    @property
    def loops(self) -> bool:
        """Whether it repeats others."""
        first = [text for kind, text in self.tokens[:2] if kind == "("]
        return any(words().fits("loops", text) for text in first[first[:1] == ["expression_statement"] :][:1])


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
            found.append(
                Statement(
                    unit=inner, around=around, tokens=head, text=text, names=names, is_head=bool(blocks)
                )
            )
            for number, one in enumerate(blocks):
                within = around if name else (*around, head, (("leaf", str(number)),))
                waiting.append((one, inner, within))
    return found


def _plain(text: str) -> str:
    return "…" if text.startswith("function ") else text


def _inside(node: "Node") -> tuple[list["Node"], "Node | None"]:
    """Return the outermost blocks in a statement, and the first text before them, rows of a table aside."""
    blocks, title, waiting = [], None, list(reversed(node.children))
    while waiting:
        one = waiting.pop()
        if words().fits("blocks", one.type):
            blocks.append(one)
            continue
        if not blocks and words().fits("texts", one.type):
            is_row = one.parent is not None and words().fits("growing", one.parent.type)
            title = title or (None if is_row else one)
            continue
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


_TEXT, _TABLE = "template_string", "tagged_template"
_DEEPEST = 60  # nodes below one another that are compared
Tree = tuple[str, str, tuple["Tree", ...]]  # a token, with those inside it


@dataclass(frozen=True)
class Names:
    """The names that the files give, before and now."""

    before: frozenset[str]
    now: frozenset[str]


@dataclass
class StatementComparison:
    """The statements of one test that are gone or new, and which of them check less.

    `checked` are the identifiers in the file's checks: a table that one compares with is no table of rows.
    """

    names: Names
    gone: list[Statement]
    new: list[Statement]
    used: frozenset[str]
    fresh: Sequence[Statement]
    checked: frozenset[str]
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
            if self.is_data or self._decides(old) or old.loops or values - spare:
                yield old
            spare -= values
        left_before = any(_leaves(one) for one in self.gone)
        yield from (one for one in left if _switches_off(one) or (_leaves(one) and not left_before))

    def _decides(self, old: Statement) -> bool:
        """Whether a statement checks, or gives what a check compares with by a name that says so."""
        given = frozenset() if old.is_head else old.names & self.checked
        return old.checks or any(words().fits("checks", one) for one in given)

    def _stands_for(self, new: Statement, old: Statement) -> bool:
        """Whether a new statement checks what an old one did, other names and added entries aside."""
        before = dict(self.renamed)
        heads = list(new.around)
        tree = _tree(old.tokens)
        grows = not self.is_data and (not self._decides(old) or _has_a_check(tree, old.names))
        fits = len(heads) == len(old.around)
        fits = fits and all(
            self._alike(_tree(a), _tree(b), grows=True) for a, b in zip(old.around, heads, strict=True)
        )
        if fits and self._alike(tree, _tree(new.tokens), grows=grows, given=old.names):
            return True
        self.renamed = before
        return False

    def _alike(
        self, old: Tree, new: Tree, *, grows: bool, given: frozenset[str] = frozenset(), depth: int = 0
    ) -> bool:
        """Whether a node of a new statement stands for an old one. Where it `grows`, entries may be added."""
        before = dict(self.renamed)
        if self._alike_itself(old, new, grows=grows, given=given, depth=depth):
            return True
        self.renamed = before
        return grows and any(
            self._alike_itself(old, one, grows=True, given=given, depth=depth + 1) for one in _added_to(new)
        )

    def _alike_itself(self, old: Tree, new: Tree, *, grows: bool, given: frozenset[str], depth: int) -> bool:
        if old[0] != new[0] or depth > _DEEPEST:
            return False
        if old[0] == "id":
            return self._is_renamed(old[1], new[1])
        if old[1] != new[1]:
            return False
        inner = grows and not _is_check(old, given)
        alike = partial(self._alike, grows=inner, given=given, depth=depth + 1)
        if not (inner and words().fits("growing", old[1])):
            return len(old[2]) == len(new[2]) and all(map(alike, old[2], new[2]))
        rest = iter(new[2])
        return all(any(alike(one, other) for other in rest) for one in old[2])

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
            if type_ == "call_expression":  # its text is a table, as of vitest's `each`
                children = [(*one[:1], _TABLE, one[2]) if one[1] == _TEXT else one for one in children]
            stack[-1][2].append((own, type_, tuple(children)))
        else:
            stack[-1][2].append((kind, text, ()))
    return ("(", "", tuple(child for one in stack for child in one[2]))


def _is_check(node: Tree, given: frozenset[str]) -> bool:
    """Whether a node is a check, or says whether or how a test fails: nothing may be added to what it has.

    That is an assertion, a call of one, or a value with a key that names one. `given` names are none.
    """
    if node[0] == "(" and node[1].startswith("assert"):
        return True
    children = node[2]
    calls = any(words().fits("arguments", one[1]) for one in children)
    pairs = any(one[0] == "leaf" and one[1] in {"=", ":", "=>", ":="} for one in children)
    if not (calls or pairs) or words().fits("growing", node[1]):
        return False
    called = _leading(children) if calls else {one[1] for one in children[:1] if one[0] == "id"}
    return any(words().fits("checks", one) or words().fits("disabling", one) for one in called - given)


def _leading(children: Sequence[Tree]) -> set[str]:
    """Return the identifiers of what is called: those before the arguments, without other arguments."""
    found = set[str]()
    waiting = [one for one in children if not words().fits("arguments", one[1])]
    while waiting:
        one = waiting.pop()
        found |= {one[1]} if one[0] == "id" else set()
        waiting += [
            inner
            for inner in one[2]
            if not (words().fits("arguments", inner[1]) or words().fits("growing", inner[1]))
        ]
    return found


def _has_a_check(node: Tree, given: frozenset[str]) -> bool:
    return _is_check(node, given) or any(_has_a_check(one, given) for one in node[2])


def _added_to(node: Tree) -> list[Tree]:
    """Return the parts of a node that adds entries to one of them, as `[*CASES, 5]` and `CASES + [5]` do."""
    if node[0] != "(":
        return []
    if any(one[0] == "leaf" and one[1] in {"+", "++"} for one in node[2]):
        return [one for one in node[2] if one[0] != "leaf"]
    if not words().fits("growing", node[1]):
        return []
    return [part for one in node[2] if words().fits("added", one[1]) for part in one[2]]


def _switches_off(one: Statement) -> frozenset[str]:
    return frozenset(text for kind, text in one.tokens if kind == "id" and words().fits("disabling", text))


def _leaves(one: Statement) -> bool:
    """Whether a statement ends a test early."""
    return bool(one.tokens) and one.tokens[0][1].startswith("return") and not one.around
