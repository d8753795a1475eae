"""The tables that sq ships as YAML, beside the code that reads them."""

from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def shipped(file: Path, kind: type[T]) -> T:
    """Return the content of a table, checked against a type.

    Raises:
        msgspec.ValidationError: it is not of that type.
    """
    import msgspec
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return msgspec.convert(yaml.load(file.read_text("utf-8"), loader), kind)  # noqa: S506  both are safe
