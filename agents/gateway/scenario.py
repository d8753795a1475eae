"""Reads a scenario file, or reports everything that is wrong with it, with the places, at once."""

from collections.abc import Iterable, Iterator
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from agents.gateway.script import Expectation, Misbehave, Scenario, ScriptReply, ScriptToolCall, ScriptUsage
from state.errors import UsageError

__all__ = ["Scenario", "ScenarioError", "load_scenario"]

_CALLER_SEGMENTS = 3  # role/task/attempt
_REPLY_DEPTH = 3  # the place of a reply in the file: callers, its caller, its index
_UNKNOWN_KEY = ("unexpected_keyword_argument", "extra_forbidden")
_PLAIN = {"tuple_type": "a list is needed here", "dataclass_type": "a mapping is needed here"}
# By the key that holds them.
_RECORDS = {"expect": Expectation, "usage": ScriptUsage, "tools": ScriptToolCall, "misbehave": Misbehave}

Place = tuple[int | str, ...]


class ScenarioError(UsageError):
    """A scenario cannot be played as it is written. `problems` has one line for each thing to change."""

    def __init__(self, path: Path, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        count = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        super().__init__("\n  ".join([f"{path}: {count} in this scenario", *self.problems]))


def load_scenario(path: Path) -> Scenario:
    """Return the scenario in the YAML file `path`.

    Raises:
        ScenarioError: the file cannot be read, is not YAML, or is not a scenario. It lists every problem.
    """
    data, repeated = _read_yaml(path)
    try:
        scenario = TypeAdapter(Scenario).validate_python(data)
    except ValidationError as error:
        found = [_describe(details) for details in error.errors(include_url=False)]
        raise ScenarioError(path, [*repeated, *found, *_caller_problems(data)]) from error
    problems = [*repeated, *_caller_problems(data)]
    if problems:
        raise ScenarioError(path, problems)
    return scenario


_SAFE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C, where PyYAML was built with it


class _Loader(_SAFE):  # type: ignore[misc]
    """Remembers repeated keys, of which PyYAML silently takes the last."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self.repeated: list[str] = []

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in seen:
                self.repeated.append(f"line {key.start_mark.line + 1}: the key {key.value} stands twice")
            seen.add(key.value)
        constructed: dict[object, object] = super().construct_mapping(node, deep=deep)
        return constructed


def _read_yaml(path: Path) -> tuple[object, list[str]]:
    try:
        loader = _Loader(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(path, [f"cannot be read: {error}"]) from error
    except yaml.YAMLError as error:
        raise ScenarioError(path, [f"is not YAML: {error}"]) from error
    try:
        return loader.get_single_data(), loader.repeated
    except yaml.YAMLError as error:
        raise ScenarioError(path, [f"is not YAML: {error}"]) from error
    finally:
        loader.dispose()


def _caller_problems(data: object) -> Iterator[str]:
    callers = data.get("callers") if isinstance(data, dict) else None
    for caller in callers if isinstance(callers, dict) else ():
        pattern = any(sign in str(caller) for sign in "*?[")
        if not pattern and len(str(caller).split("/")) != _CALLER_SEGMENTS:
            yield f"caller {caller}: a caller is role/task/attempt or a pattern of it, such as developer/*"


def _describe(details: ErrorDetails) -> str:
    place = details["loc"]
    if details["type"] in _UNKNOWN_KEY:
        return f"{_spell(place)}: unknown key{_nearest(place)}"
    if details["type"] == "missing":
        return f"{_spell(place)}: this key is needed and missing"
    found = "" if isinstance(details["input"], dict | list) else f", found {details['input']!r}"
    said = _PLAIN.get(details["type"], details["msg"].removeprefix("Value error, "))
    return f"{_spell(place)}: {said}{found}"


def _nearest(place: Place) -> str:
    known = [field.name for field in fields(_record_at(place[:-1]))]
    near = get_close_matches(str(place[-1]), known, n=1)
    return f", the nearest known key is {near[0]}" if near else f", known keys are {', '.join(known)}"


def _record_at(place: Place) -> type:
    if place in ((), ("callers",)):
        return Scenario
    inside = place[_REPLY_DEPTH:] if place[0] == "callers" else place
    return _RECORDS[str(inside[0])] if inside else ScriptReply


def _spell(place: Place) -> str:
    """Return a place in words: `caller worker/t1/1, reply 2, tools 1, name`."""
    if not place:
        return "the file"
    if place[0] != "callers" or len(place) == 1:
        return ".".join(map(str, place))
    parts = [f"caller {place[1]}"]
    rest = list(place[2:])
    if rest and isinstance(index := rest[0], int):
        parts.append(f"reply {index + 1}")
        rest.pop(0)
    parts.extend(_spell_keys(rest))
    return ", ".join(parts)


def _spell_keys(keys: list[int | str]) -> Iterator[str]:
    """Yield the keys inside a reply. A position joins the list it belongs to, counted from 1."""
    words = ""
    for key in keys:
        if isinstance(key, int):
            words += f" {key + 1}"
            continue
        if words:
            yield words
        words = key
    if words:
        yield words
