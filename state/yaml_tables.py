"""YAML as sq reads it: plain values, by the loader in C where PyYAML has it, which is ten times as fast."""

from pathlib import Path
from typing import Any


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
