"""YAML as plain lists, dicts and texts: types are not guessed, and nothing is expanded.

A file with aliases is not read, because a few lines with aliases can expand to any amount of text.
"""

from collections.abc import Iterator
from typing import Any

import yaml

_DEEPEST = 30
_LONGEST = 1 << 17  # characters, more than workflows have
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Node = str | list["Node"] | dict[str, "Node"]


def read_yaml(text: str) -> Node:
    """Return the content of the first document, or "" if it cannot be read."""
    if len(text) > _LONGEST:
        return ""
    try:
        events = yaml.parse(text, Loader=_LOADER)
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                return _node(next(events), events, 0)
    except (yaml.YAMLError, ValueError, StopIteration):
        return ""
    return ""


def as_table(node: Node | None) -> dict[str, Node]:
    """Return the node if it is a table, else an empty one."""
    return node if isinstance(node, dict) else {}


def texts(node: Node | None) -> list[str]:
    """Return the texts of a list, or a single text as a list."""
    if isinstance(node, str):
        return [node] if node else []
    return [one for one in node if isinstance(one, str)] if isinstance(node, list) else []


def _node(event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> Node:
    if depth > _DEEPEST:
        raise ValueError("too deep")
    if isinstance(event, yaml.ScalarEvent):
        return str(event.value)
    if isinstance(event, yaml.SequenceStartEvent):
        items: list[Node] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(_node(event, events, depth + 1))
        return items
    if isinstance(event, yaml.MappingStartEvent):
        found: dict[str, Node] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            key = _node(event, events, depth + 1)
            value = _node(next(events), events, depth + 1)
            if isinstance(key, str):
                found[key] = value
        return found
    raise ValueError("an alias")
