"""Fills `{workspace}` and other registered names into a reply. Other braces stay, as code is full of them."""

import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any

from agents.gateway.script import ScriptReply, Values

_PLACEHOLDER = re.compile(r"\{[a-z][a-z0-9_]*\}")
_PATH_KEYS = ("file_path", "notebook_path", "path")  # of Claude Code's file tools


def fill_reply(reply: ScriptReply, values: Values) -> ScriptReply:
    """Return `reply` with each registered `{name}` replaced by its value, in all of its texts."""
    if not values:
        return reply
    # One pass: a value that holds braces itself is not filled again.
    names = re.compile(rf"\{{({'|'.join(map(re.escape, values))})\}}")
    filled: ScriptReply = _filled(reply, lambda text: names.sub(lambda found: values[found[1]], text))
    return filled


def unfilled_paths(reply: ScriptReply) -> Iterator[str]:
    """Yield each path in `reply`'s tools that holds a placeholder, as `Write.file_path: {workspace}/a.py`."""
    for tool in reply.tools:
        for key in _PATH_KEYS:
            path = tool.input.get(key)
            if isinstance(path, str) and _PLACEHOLDER.search(path):
                yield f"{tool.name}.{key}: {path}"


def _filled(value: Any, fill: Callable[[str], str]) -> Any:  # noqa: ANN401  of the same kind
    """Return a record, a list, a mapping or a text with every text in it filled."""
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return fill(value)
    if isinstance(value, list | tuple):
        return type(value)(_filled(item, fill) for item in value)
    if isinstance(value, dict):
        return {key: _filled(item, fill) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        parts = ((field.name, getattr(value, field.name)) for field in fields(value))
        return replace(value, **{name: _filled(part, fill) for name, part in parts})
    return value
