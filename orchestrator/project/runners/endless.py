"""Commands that never end: a runner that watches files, or a server in the place of tests."""

import re
from collections.abc import Mapping
from functools import cache

import msgspec

from orchestrator.project.runners.suite import Suite
from state.decoding import table_beside

WAITS = "does not end"  # said of a command that prints that it waits
_LAST = 8  # lines


class _Endless(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `endless.yaml`."""

    alone: list[str]
    by_word: dict[str, list[str]]
    by_option: list[str]
    by_short_option: dict[str, str]
    without_ci: dict[str, str]
    ends: list[str]
    says: list[str]


@cache
def _table() -> _Endless:
    return msgspec.convert(table_beside(__file__, "endless.yaml"), _Endless)


def never_ends(suite: Suite, environ: Mapping[str, str]) -> str:
    """Return the command of a suite that waits for changes or requests, and what would end it, or ""."""
    table = _table()
    for run in suite.runs:
        name, rest = run.simple.name, run.simple.words[1:]
        if not {*rest}.isdisjoint(table.ends):
            continue
        waits = name in table.alone or not {*rest}.isdisjoint(table.by_word.get(name, ()))
        watches = any(one.removesuffix("=true") in table.by_option for one in rest)
        watches = watches or table.by_short_option.get(name) in rest
        told = f"`{' '.join(run.simple.words)}`"
        if waits or watches or (name == "vite" and not rest):
            return f"{told} waits for changes or requests: name its form that ends, such as `--run`"
        if table.without_ci.get(name) in rest and not environ.get("CI"):
            return f"{told} watches files unless `CI=1` or `--watchAll=false` is set"
    return ""


def is_waiting(output: str) -> str:
    """Return the line at the end of an output in which a command says that it waits, or ""."""
    says = re.compile(f"(?:{'|'.join(_table().says)}).*", re.IGNORECASE)
    lines = [found[0].strip() for line in output.splitlines()[-_LAST:] if (found := says.search(line))]
    return lines[-1] if lines else ""
