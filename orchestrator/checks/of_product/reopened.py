"""Classes, prototypes and modules of the language or of others that product code newly changes.

That changes all code of a program in which the product runs. The spec may ask for it, and the base may do so.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING

import msgspec

from agents.concurrency import aside
from orchestrator.checks.change import Change
from orchestrator.checks.objecting import reopened
from orchestrator.checks.of_product.product import own_names, sources_of
from orchestrator.git.trees import files_in
from orchestrator.project.functions.languages import language_of, parser_of
from state.decoding import table_beside
from state.records.objections import Objection

if TYPE_CHECKING:
    from tree_sitter import Node

_LONGEST, _MOST_KEPT = 2_000, 5  # characters of code that are looked at; names for what was there


class _Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A row. The head of `reopened.yaml` describes the fields."""

    nodes: frozenset[str]
    builtins: str
    forms: tuple[str, ...]
    within: frozenset[str] = frozenset()
    imported: str = ""
    declared: str = ""
    spared: str = ""


@cache
def _rows() -> dict[str, _Row]:
    return msgspec.convert(table_beside(__file__, "reopened.yaml"), dict[str, _Row])


async def objections_to(change: Change) -> tuple[Objection, ...]:
    """Return what product code changes of others since the work, unless the spec asks for it."""
    before, after = await sources_of(change)
    own = own_names(await files_in(change.repository, change.own_tree)) if after else frozenset()
    found = await aside(partial(newly_changed, before, after, own), "the sources of the work")
    return tuple(reopened(*one) for one in found if not _is_asked_for(one[2], change.spec))


_Found = tuple[str, int, str, str]  # the path, the line, the class or module, and the code


def newly_changed(
    before: Mapping[str, bytes], after: Mapping[str, bytes], own: frozenset[str]
) -> list[_Found]:
    """Return what sources change of others, and did not before."""
    had = {one[2] for path, content in before.items() for one in changed_in(path, content, own)}
    new = (one for path, content in after.items() for one in changed_in(path, content, own))
    return [one for one in new if one[2] not in had]


def changed_in(path: str, content: bytes, own: frozenset[str]) -> Iterator[_Found]:
    """Yield where a source changes what is neither its own nor the project's."""
    language = language_of(path)
    row = _rows().get(language.name) if language else None
    if row is None or language is None or re.search("polyfill|shim", path):
        return
    source = content.decode("utf-8", "replace")
    builtins = "|".join(row.builtins.split())
    for node in _nodes(parser_of(language).parse(content).root_node, row):
        end = min(node.end_byte, node.start_byte + _LONGEST)
        text = content[node.start_byte : end].decode("utf-8", "replace")
        for form in row.forms:
            match = re.match(form.replace("BUILTIN", f"(?:{builtins})"), text)
            spared = match and (_is_spared(node, text, row) or _is_put_back(text, source))
            if match and not spared and _is_of_others(match, row, source, own):
                yield path, node.start_point[0] + 1, match["what"], text.partition("\n")[0][:80]
                break


def _nodes(root: "Node", row: _Row) -> Iterator["Node"]:
    waiting = [(root, False)]
    while waiting:
        node, inside = waiting.pop()
        if node.type in row.nodes and not (inside and node.type in row.within):
            yield node
        waiting.extend((one, inside or node.type in row.within) for one in reversed(node.children))


def _is_of_others(match: re.Match[str], row: _Row, source: str, own: frozenset[str]) -> bool:
    """Whether a name is one of the language's, or comes from a module that is not the project's."""
    name, value = re.escape(match["what"].partition(".")[0]), match.groupdict().get("value")
    if match["what"] in row.builtins.split():
        return not (row.declared and re.search(row.declared.replace("NAME", name), source, re.MULTILINE))
    found = re.search(row.imported.replace("NAME", name), source, re.MULTILINE) if row.imported else None
    module = next((one for one in found.groups() if one), "") if found else ""
    plain = (value or "lambda").strip(" ,)\n")
    is_code = plain == "lambda" or re.search(rf"(?m)^\s*(?:async\s+)?(?:def|class)\s+{plain}\b", source)
    return bool(module and is_code) and re.split(r"[./]", module)[0].lower() not in own


def _is_spared(node: "Node", text: str, row: _Row) -> bool:
    """Whether an attribute is made to be set, or is a part of the language that may be missing."""
    name = re.match(r"[\w.]+\.(\w+)|\w+\(\s*[\w.]+\s*,\s*[\"'](\w+)", text)
    if not name or (name[1] or name[2]) not in row.spared.split():
        return False
    while node.parent is not None and node.type != "if_statement":
        node = node.parent
    return not row.declared or node.type == "if_statement"


def _is_put_back(text: str, source: str) -> bool:
    """Whether the source keeps what was there, and puts it back."""
    place = re.escape(text.partition("=")[0].strip())
    kept = re.findall(rf"(\w+)\s*=\s*{place}(?![\w.(])", source)[:_MOST_KEPT]
    return any(re.search(rf"{place}\s*=\s*{one}\b", source) for one in kept)


def _is_asked_for(what: str, spec: str) -> bool:
    """Whether a spec names a class. A word in small letters has to be code there, or have an attribute."""
    name = re.escape(what.rpartition(".")[2])
    return re.search(rf"\b{name}\b" if name[0].isupper() else rf"`{name}\b|\b{name}\.\w", spec) is not None
