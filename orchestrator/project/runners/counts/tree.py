"""Reads tests from an indented list with signs, as Mocha, Jest, Vitest and `node --test` print it."""

import re
from collections.abc import Iterator

from state.records.commands import TestState

_SIGNS = {
    **dict.fromkeys("\u2713\u2714\u221a", TestState.PASSED),
    **dict.fromkeys("\u2715\u2716\u2717\u2718\u00d7", TestState.FAILED),
    **dict.fromkeys("-\u25cb\u25cc\ufe63\u2193\u270e", TestState.SKIPPED),
}
_LINE = re.compile(
    r"^(?P<indent> *)(?:(?P<sign>"
    r"[\u2713\u2714\u221a\u2715\u2716\u2717\u2718\u00d7\u25cb\u25cc\ufe63\u2193\u270e-]|\d+\)|\u25b6) )?"
    r"(?P<name>\S.*?)(?: \([\d.]+ ?m?s\))?(?P<directive> # (?:SKIP|TODO).*)?$"
)


def tree_tests(text: str, *, begins: str = "", ends: str = "") -> Iterator[tuple[str, TestState]]:
    """Yield the tests, named with the groups around them, and by file if `begins` has a group `file`.

    With `begins`, lines before its first match are ignored. `ends` matches the line at which the list is
    over. A line that repeats the name of the group around it closes that group.
    """
    place = ""
    listing = not begins
    groups: list[tuple[int, str]] = []
    for line in text.split("\n"):
        if begins and (found := re.match(begins, line)):
            place, listing, groups = found["file"], True, []
            continue
        if ends and re.match(ends, line):
            listing = False
        match = _LINE.match(line) if listing else None
        if match is None:
            listing = listing or (not begins and line.startswith("\u25b6 "))
            continue
        depth, name, sign = len(match["indent"]), match["name"], match["sign"] or ""
        if not depth and not sign:  # printed by the tests themselves
            continue
        closed = [group for group in groups if group[0] == depth]
        groups = [group for group in groups if group[0] < depth]
        if sign in {"", "\u25b6"}:
            groups.append((depth, name))
        elif (depth, name) not in closed:
            state = TestState.SKIPPED if match["directive"] else _SIGNS.get(sign, TestState.FAILED)
            yield " > ".join([*([place] if place else []), *(group for _, group in groups), name]), state
