"""The modules that a source loads whenever it is loaded itself, by the rows of `imports.yaml`."""

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from orchestrator.project.functions.languages import language_of, parser_of, text_of
from state.decoding import table_beside

if TYPE_CHECKING:
    from tree_sitter import Node

_LONGEST = 4_000  # characters of an import that are looked at
_BINDING = re.compile(r"[A-Za-z_$][\w$]*(?=\s*(?:[,}]|from\b|$))")


class _Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A row. The head of `imports.yaml` describes the fields."""

    nodes: frozenset[str]
    names: str
    guards: frozenset[str] = frozenset()
    attributes: str = ""


@cache
def _rows() -> dict[str, _Row]:
    return msgspec.convert(table_beside(__file__, "imports.yaml"), dict[str, _Row])


def imports_of(path: str, content: bytes) -> Iterator[tuple[str, int]]:
    """Yield the name of each module as it stands there, and its line, from 1.

    Left out is what is loaded in some cases only, and in TypeScript what serves types alone.
    """
    language = language_of(path)
    if language is None or (row := _rows().get(language.name)) is None:
        return
    code = content.decode("utf-8", "replace") if language.name in {"typescript", "tsx"} else ""
    for node in _unguarded(parser_of(language).parse(content).root_node, row):
        end = min(node.end_byte, node.start_byte + _LONGEST)
        text = content[node.start_byte : end].decode("utf-8", "replace")
        for match in re.finditer(row.names, text):
            if not (code and text.startswith("import") and _serves_types(text, code)):
                yield next(one for one in match.groups() if one), node.start_point[0] + 1


def _unguarded(root: "Node", row: _Row) -> Iterator["Node"]:
    """Yield the nodes that load something and stand below no guard and no attribute, in their order."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in row.nodes:
            yield node
        children, spared = [], False
        for one in node.children:
            if row.attributes and one.type == "attribute_item":
                spared = spared or re.match(row.attributes, text_of(one)) is not None
            elif "comment" not in one.type:
                children += [] if spared or one.type in row.guards else [one]
                spared = False
        waiting.extend(reversed(children))


def _serves_types(text: str, code: str) -> bool:
    """Whether no name of an import of TypeScript is called, made, extended or rendered."""
    names = "|".join(map(re.escape, _BINDING.findall(text.partition(" from ")[0])))
    used = rf"(?<![\w$.])(?:{names})(?:\.\w+)*\s*[(`]|\b(?:new|extends)\s+(?:{names})\b|<(?:{names})[\s/>]"
    return bool(names) and re.search(used, code) is None
