"""Reads tests and numbers from the output of a runner of the table."""

import re
from collections.abc import Callable, Iterator, Mapping

from orchestrator.project.runners.counts.go_output import go_count
from orchestrator.project.runners.counts.tally import FAILED, PASSED, SKIPPED, state_of, tally, word_numbers
from orchestrator.project.runners.counts.tap import tap_tests
from orchestrator.project.runners.counts.tree import tree_tests
from orchestrator.project.runners.row import Printed, Reader
from state.records.commands import UNCOUNTED, TestCount, TestState

_Tests = Iterator[tuple[str, TestState]]
_MIX_TEST = re.compile(
    r"^(?:(?P<module>[A-Z]\w*(?:\.\w+)*) \[(?P<file>[^\]]+\.exs)\]"
    r"|  \* (?P<name>\S.*?)(?: \((?:(?P<left>excluded|skipped)|[\d.]+ms)\)) \[L#\d+\]"
    r"| +\d+\) (?P<failed>\S.*) \((?P<of>[A-Z][\w.]*)\))$",
    re.MULTILINE,
)


def printed_count(printed: Printed, text: str, exit_code: int | None, *, alone: bool) -> TestCount:
    """Return the count in the output of a row's runner.

    Names are used only if there are as many as the numbers say. `alone`: the exit code is this runner's own,
    so its codes for "no test" apply.
    """
    if printed.reader is Reader.GO:
        return go_count(text)
    named = tally(_READERS[printed.reader](printed, text))
    numbers = numbers_of(printed.numbers, text)
    told = _agreed(named, numbers)
    none = any(re.search(pattern, text, re.MULTILINE) for pattern in printed.none)
    none = none or (alone and exit_code is not None and exit_code in printed.none_exit_codes)
    if not (told.passed or told.failed) and (none or (told != UNCOUNTED and not told.skipped)):
        return TestCount(passed=0, failed=0, skipped=told.skipped or 0, says_none=True)
    return told


def numbers_of(patterns: tuple[str, ...], text: str) -> TestCount | None:
    """Return the sum of all summaries that match one of the patterns, or None if none matches."""
    sums = {"passed": 0, "failed": 0, "skipped": 0}
    found = False
    for pattern in patterns:
        for match in re.finditer(pattern, text, re.MULTILINE):
            found = True
            for key, number in numbers_in(match).items():
                sums[key] += number
    if not found:
        return None
    return TestCount(passed=sums["passed"], failed=sums["failed"], skipped=sums["skipped"])


def numbers_in(match: re.Match[str]) -> dict[str, int]:
    """Return passed, failed and skipped of one summary. If it lacks passed, that is the rest of its total."""
    sums = {"passed": 0, "failed": 0, "skipped": 0, "total": 0, "excluded": 0}
    groups = match.groupdict()
    for name, value in groups.items():
        if name != "words" and value:
            sums[name.rstrip("0123456789")] += int(value)
    for key, number in word_numbers(groups.get("words") or ""):
        sums[key] += number
    total, _ = sums.pop("total"), sums.pop("excluded")
    if total and not sums["passed"]:
        sums["passed"] = max(0, total - sums["failed"] - sums["skipped"])
    return sums


def _agreed(named: TestCount, numbers: TestCount | None) -> TestCount:
    if numbers is None:
        return named if named.tests else UNCOUNTED
    total = (numbers.passed or 0) + (numbers.failed or 0) + (numbers.skipped or 0)
    same_failed = named.failed == numbers.failed
    if named.tests and same_failed and len(named.tests) in {total, total - (numbers.skipped or 0)}:
        return (
            named
            if len(named.tests) == total
            else TestCount(
                tests=named.tests, passed=numbers.passed, failed=numbers.failed, skipped=numbers.skipped
            )
        )
    return numbers


def _by_lines(printed: Printed, text: str) -> _Tests:
    text = text[: _end(printed, text)]
    patterns = [re.compile(pattern, re.MULTILINE) for pattern in (printed.file, *printed.tests) if pattern]
    matches = sorted(
        (match for one in patterns for match in one.finditer(text)), key=lambda match: match.start()
    )
    place = ""
    for match in matches:
        groups = match.groupdict()
        own = groups.get("file") or groups.get("file2") or ""
        if printed.file and match.re is patterns[0]:
            place = own
        elif (state := state_of(groups["state"], printed.states)) is not None:
            yield _full_name(groups, own or place), state


def _full_name(groups: Mapping[str, str | None], place: str) -> str:
    if (inside := groups.get("in")) is not None:  # unittest. Python 3.11 repeats the name inside the brackets
        case = groups["case"] or ""
        return inside if inside.endswith(f".{case}") or inside == case else f"{inside}.{case}"
    name = groups["name"] or ""
    return f"{place} > {name}" if place else name


def _end(printed: Printed, text: str) -> int:
    found = re.search(printed.ends, text, re.MULTILINE) if printed.ends else None
    return found.start() if found else len(text)


def _tree(printed: Printed, text: str) -> _Tests:
    if re.search(r"^TAP version \d+$", text, re.MULTILINE):  # node below 20 without a terminal
        return tap_tests(text, nested=True)
    return tree_tests(text, begins=printed.begins, ends=printed.ends)


def _tap(printed: Printed, text: str) -> _Tests:
    return tap_tests(text[: _end(printed, text)], begins=printed.begins, bad=printed.bad)


def _mix(printed: Printed, text: str) -> _Tests:
    del printed
    states: dict[str, TestState] = {}
    files: dict[str, str] = {}
    place = ""
    for match in _MIX_TEST.finditer(text):
        if match["module"]:
            place = files[match["module"]] = match["file"]
        elif match["name"]:
            states.setdefault(f"{place} > {match['name']}", SKIPPED if match["left"] else PASSED)
        elif match["of"] in files:
            states[f"{files[match['of']]} > {match['failed']}"] = FAILED
    yield from states.items()


_READERS: Mapping[Reader, Callable[[Printed, str], _Tests]] = {
    Reader.LINES: _by_lines,
    Reader.TREE: _tree,
    Reader.TAP: _tap,
    Reader.MIX: _mix,
}
