"""Text in columns, for a terminal or a pipe, without the import time of a table library."""

from collections.abc import Sequence

from orchestrator.views.screen import cell

_GAP = "  "


def columns(header: Sequence[str], rows: Sequence[Sequence[str]], *, indent: str = "") -> list[str]:
    """A header and rows as lines. Each column is as wide as its widest cell, the last one unpadded."""
    lines = [[cell(one) for one in line] for line in (header, *rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return [
        indent + _GAP.join(one.ljust(width) for one, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
