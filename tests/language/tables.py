"""Tables that stand beside a test: recorded outputs, files of projects, expected words.

The file of `test_words.py` is `words.yaml`. It holds one table a key.
"""

from functools import cache
from pathlib import Path
from typing import Any

import yaml


@cache
def _tables(file: Path) -> dict[str, Any]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return dict(yaml.load(file.read_text("utf-8"), Loader=loader))  # noqa: S506  # either is a safe one


def table(test_file: str, name: str) -> Any:
    """A table of the file beside this test, as it stands there."""
    test = Path(test_file)
    return _tables(test.with_name(f"{test.stem.removeprefix('test_')}.yaml"))[name]


def rows(test_file: str, name: str) -> tuple[list[str], list[list[Any]]]:
    """What `parametrize` takes: the columns of a table, and its rows."""
    found = table(test_file, name)
    columns = list(found[0])
    return columns, [[row[column] for column in columns] for row in found]
