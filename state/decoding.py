"""Values read from texts: YAML as plain ones, and objects of JSON as frozen dataclasses.

PyYAML's loader in C, where PyYAML has it, is ten times as fast as the other.
"""

from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

_T = TypeVar("_T")
_hints: Callable[[type], dict[str, Any]] = cache(get_type_hints)


def parse_yaml(text: str) -> Any:  # noqa: ANN401  what the text holds
    """Return the plain values of a text.

    Raises:
        yaml.YAMLError: it is not YAML, or asks for other than plain values.
    """
    import yaml

    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506  both are safe


def table_beside(module: str, name: str) -> Any:  # noqa: ANN401  what the table holds
    """Return the content of a YAML file that stands beside a module (its `__file__`)."""
    return parse_yaml(Path(module).with_name(name).read_text("utf-8"))


def decoded(kind: type[_T], value: Mapping[str, object]) -> _T:
    """Return the record of this class in an object of JSON. Fields with a default may be missing.

    Raises:
        ValueError: a field is missing, unknown, or of another type. A boolean is not a number.
    """
    hints = _hints(kind)
    if unknown := set(value) - set(hints):
        raise ValueError(f"{min(unknown)} is unknown")
    given = {name: _value(hints[name], found, name) for name, found in value.items()}
    try:
        return kind(**given)
    except TypeError as error:
        raise ValueError(f"a field is missing: {error}") from error


def _value(kind: Any, value: object, name: str) -> object:  # noqa: ANN401  a type, or a form of `typing`
    arguments = get_args(kind)
    match get_origin(kind) or kind:
        case origin if origin is UnionType:
            if value is None and NoneType in arguments:
                return None
            return _value(next(one for one in arguments if one is not NoneType), value, name)
        case origin if origin is tuple and isinstance(value, list):
            return tuple(_value(arguments[0], one, name) for one in value)
        case origin if origin is Mapping and isinstance(value, dict):
            return {key: _value(arguments[1], one, name) for key, one in value.items()}
        case origin if isinstance(origin, type) and is_dataclass(origin) and isinstance(value, dict):
            return decoded(origin, value)
        case origin if isinstance(origin, type) and issubclass(origin, Enum):
            return origin(value)
        case origin if origin is float and type(value) in {int, float}:
            return value
        case origin if origin in {str, int, bool} and type(value) is origin:
            return value
    raise ValueError(f"{name} is not as it should be")
