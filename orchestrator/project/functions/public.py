"""The public names of sources with the names of their parameters, and how those of two trees differ."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from orchestrator.project.functions.languages import (
    IDENTIFIER,
    Language,
    language_of,
    name_of,
    parser_of,
    scope_name,
    text_of,
)
from state.decoding import table_beside

if TYPE_CHECKING:
    from tree_sitter import Node

_HOLDERS = frozenset({
    "decorated_definition", "export_statement", "variable_declarator", "lexical_declaration",
    "variable_declaration", "assignment", "expression_statement", "public_field_definition",
})  # fmt: skip
_NAMES = ("name", "pattern", "declarator", "left")
_VALUES = ("value", "default_value", "right")


class PublicNames(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A row. The head of `public.yaml` describes the fields."""

    top: str = ""
    member: str = ""
    name: str = r".+"
    declares: frozenset[str] = frozenset()
    within: frozenset[str] = frozenset()
    exported: str = ""
    only: bool = False
    module: str = ""


class NameChanges(msgspec.Struct, frozen=True, kw_only=True):
    """How public names differ between two trees. `changed` have other parameters now.

    `unread` are sources with syntax that the parser does not know.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


@cache
def _rows() -> dict[str, PublicNames]:
    return msgspec.convert(table_beside(__file__, "public.yaml"), dict[str, PublicNames])


def name_changes(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> NameChanges:
    """Return how the public names in these sources differ, by path, as they were and as they are."""
    unread = {path for each in (before, after) for path, one in each.items() if not _is_known(path, one)}
    old, new = (
        _all({path: one for path, one in each.items() if path not in unread}) for each in (before, after)
    )
    return NameChanges(
        added=tuple(sorted(new.keys() - old.keys())),
        removed=tuple(sorted(old.keys() - new.keys())),
        changed=tuple(
            f"{name}{'|'.join(sorted(old[name]))} is now {'|'.join(sorted(new[name]))}"
            for name in sorted(old.keys() & new.keys())
            if old[name] != new[name] and old[name] and new[name]
        ),
        unread=tuple(sorted(unread)),
    )


def _is_known(path: str, content: bytes) -> bool:
    language = language_of(path)
    return language is None or not parser_of(language).parse(content).root_node.has_error


def _all(sources: Mapping[str, bytes]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for file, content in sources.items():
        language = language_of(file)
        if language is None or language.name not in _rows():
            continue
        rule, place = _rows()[language.name], PurePosixPath(file)
        module = {"file": f"{file}: ", "folder": f"{place.parent}: "}.get(rule.module, "")
        for name, signature in public_names(file, content):
            found.setdefault(f"{module}{name}", set()).update([signature] if signature else [])
    return found


def public_names(file: str, content: bytes) -> Iterator[tuple[str, str]]:
    """Yield the public names of a source, each with the names of its parameters, "" if it has none.

    A parameter that may be left out has a `?`. Names in private scopes and in functions are not public.
    """
    language = language_of(file)
    for name, node in _public(file, content):
        is_function = node is not None and language is not None and node.type in language.functions
        yield name, _signature(node) if node is not None and is_function else ""


def public_functions(file: str, content: bytes) -> dict[str, "Node"]:
    """Return the public functions and methods of a source by their names, and their nodes."""
    language = language_of(file)
    functions = language.functions if language else frozenset[str]()
    return {
        name: node for name, node in _public(file, content) if node is not None and node.type in functions
    }


def _public(file: str, content: bytes) -> Iterator[tuple[str, "Node | None"]]:
    """Yield the public names of a source with the nodes that declare them, None if it only lists them."""
    language = language_of(file)
    if language is None or (rule := _rows().get(language.name)) is None:
        return
    if any(part.startswith("_") for part in PurePosixPath(file).parts[:-1]) and rule.only:
        return
    exported = _exported(rule, content.decode("utf-8", "replace"))
    listed = dict.fromkeys(exported or ())
    for names, node, before in _declared(
        parser_of(language).parse(content).root_node, language, rule, content
    ):
        own = all(re.fullmatch(rule.name, name) for name in names)
        before_says = re.search(rule.member if len(names) > 1 else rule.top, before, re.DOTALL) is not None
        unlisted = exported is None or not rule.only or len(names) > 1
        if names[0] in listed or (own and before_says and unlisted):
            yield ".".join(names), node
    yield from ((name, None) for name in listed if rule.only)


def _exported(rule: PublicNames, text: str) -> list[str] | None:
    """Return the names in a file's lists of public names, or None if it has no such list."""
    found = list(re.finditer(rule.exported, text)) if rule.exported else []
    lists = [group for match in found for group in match.groupdict().values() if group]
    return re.findall(r"[A-Za-z_$][\w$]*", " ".join(lists)) if found else None


def _declared(
    root: "Node", language: Language, rule: PublicNames, content: bytes
) -> Iterator[tuple[tuple[str, ...], "Node", str]]:
    """Yield the declarations outside functions: their names from the scopes on, and the text before them."""
    waiting: list[tuple[Node, tuple[str, ...], int]] = [(root, (), root.start_byte)]
    while waiting:
        node, scopes, start = waiting.pop()
        name = ""
        if node.type in language.functions or node.type in rule.declares:
            name = _identifier_in(node.child_by_field_name("left")) or name_of(node)
        elif node.type in language.scopes:
            name = scope_name(node).partition("(")[0]
        if name and node.type not in rule.within:
            yield (*scopes, *name.split(".")), node, _before(node, name, content, start)
        if node.type in language.functions:
            continue
        if node.type in language.scopes and name and language.name != "cpp":
            scopes = (*scopes, name)
        is_holder = node.type in _HOLDERS
        waiting.extend(
            (child, scopes, start if is_holder else child.start_byte) for child in reversed(node.children)
        )


def _identifier_in(node: "Node | None") -> str:
    return text_of(node) if node is not None and IDENTIFIER.fullmatch(node.type) else ""


def _before(node: "Node", name: str, content: bytes, start: int) -> str:
    """Return the text from the beginning of a declaration, or of what holds it, to its name."""
    word = re.compile(rb"(?<![\w$])" + re.escape(name.rpartition(".")[2].encode()))
    found = word.search(content, start, node.end_byte)
    return content[start : found.start() if found else node.end_byte - 1].decode("utf-8", "replace")


def _signature(node: "Node") -> str:
    typed = parameter_nodes(node)
    names = [name for one in typed if "comment" not in one.type for name in _parameters(one)]
    return f"({', '.join(name for name in names if name not in ('', 'self', 'cls'))})"


def parameter_nodes(node: "Node") -> list["Node"]:
    """Return the nodes of a function's parameters, with those between them."""
    found: Node | None = None
    holder: Node | None = node
    while holder is not None and found is None:
        found = holder.child_by_field_name("parameters") or holder.child_by_field_name("parameter")
        found = found or next((one for one in holder.children if one.type.endswith("value_parameters")), None)
        holder = holder.child_by_field_name("declarator")
    inside = found.named_children if found else [one for one in node.children if one.type == "parameter"]
    typed = [one for one in inside if one.type == "parameter"]  # Kotlin has default values beside them
    return typed or inside


def _parameters(node: "Node") -> list[str]:
    """Return the names that a parameter declares, with `?` if it may be left out."""
    several = node.children_by_field_name("name")
    follows = node.next_sibling
    optional = "optional" in node.type or any(node.child_by_field_name(field) for field in _VALUES)
    optional = optional or bool(follows and follows.type == "=")
    if node.type == "parameter_declaration" and len(several) > 1:  # Go
        return [text_of(one) for one in several]
    while node.named_children:
        inner = next((one for field in _NAMES if (one := node.child_by_field_name(field))), None)
        node = inner or node.named_children[0]
    return [text_of(node) + ("?" if optional else "")]
