"""Fills `{workspace}` and other registered names into a reply. Other braces stay, as code is full of them."""

import re
from collections.abc import Iterator
from dataclasses import replace

from pydantic import JsonValue

from agents.gateway.script import Expectation, ScriptReply, ScriptToolCall, Values

_PLACEHOLDER = re.compile(r"\{[a-z][a-z0-9_]*\}")
_PATH_KEYS = ("file_path", "notebook_path", "path")  # of Claude Code's file tools


def fill_reply(reply: ScriptReply, values: Values) -> ScriptReply:
    """Return `reply` with each registered `{name}` replaced by its value, in all of its texts."""
    if not values:
        return reply
    return replace(
        reply,
        when=_fill_all(reply.when, values),
        expect=_fill_expectation(reply.expect, values),
        text=_fill_optional(reply.text, values),
        then=_fill_optional(reply.then, values),
        tools=tuple(
            ScriptToolCall(name=tool.name, input=_fill_map(tool.input, values)) for tool in reply.tools
        ),
        structured=None if reply.structured is None else _fill_map(reply.structured, values),
    )


def unfilled_paths(reply: ScriptReply) -> Iterator[str]:
    """Yield each path in `reply`'s tools that holds a placeholder, as `Write.file_path: {workspace}/a.py`."""
    for tool in reply.tools:
        for key in _PATH_KEYS:
            path = tool.input.get(key)
            if isinstance(path, str) and _PLACEHOLDER.search(path):
                yield f"{tool.name}.{key}: {path}"


def _fill(text: str, values: Values) -> str:
    # One pass: a value that holds braces itself is not filled again.
    names = "|".join(re.escape(name) for name in values)
    return re.sub(rf"\{{({names})\}}", lambda found: values[found[1]], text)


def _fill_optional(text: str | None, values: Values) -> str | None:
    return None if text is None else _fill(text, values)


def _fill_all(texts: tuple[str, ...], values: Values) -> tuple[str, ...]:
    return tuple(_fill(text, values) for text in texts)


def _fill_expectation(expect: Expectation, values: Values) -> Expectation:
    return replace(
        expect,
        prompt_contains=_fill_all(expect.prompt_contains, values),
        prompt_lacks=_fill_all(expect.prompt_lacks, values),
        anywhere_contains=_fill_all(expect.anywhere_contains, values),
        tool_results_contain=_fill_all(expect.tool_results_contain, values),
    )


def _fill_map(items: dict[str, JsonValue], values: Values) -> dict[str, JsonValue]:
    return {key: _fill_json(item, values) for key, item in items.items()}


def _fill_json(value: JsonValue, values: Values) -> JsonValue:
    if isinstance(value, str):
        return _fill(value, values)
    if isinstance(value, list):
        return [_fill_json(item, values) for item in value]
    if isinstance(value, dict):
        return _fill_map(value, values)
    return value
