"""Gathers tests, by name and state, into a count."""

import re
from collections.abc import Iterable, Iterator, Mapping

from state.records.commands import TestCount, TestState

PASSED, FAILED, SKIPPED = TestState.PASSED, TestState.FAILED, TestState.SKIPPED

_PASSED_WORDS = (
    "passed", "pass", "passes", "passing", "ok", "success", "successes", "succeeded", "successful", ".",
    "\u2713", "\u2714", "\u221a", "xpass", "xpassed",
)  # fmt: skip
_FAILED_WORDS = (
    "failed", "fail", "fails", "failing", "failure", "failures", "error", "errors", "errored", "not ok",
    "f", "e", "\u2717", "\u2718", "\u2716", "\u00d7", "broken", "crashed", "timed out", "timeout",
    "timeouts", "unexpected success",
)  # fmt: skip
_SKIPPED_WORDS = (
    "skipped", "skip", "skips", "pending", "pendings", "ignored", "todo", "todos", "disabled", "excluded",
    "s", "-", "xfail", "xfailed", "incomplete", "omitted", "notrun", "not run", "\u2193", "\u25cb",
    "\u25cc", "\ufe63", "expected failures", "expected failure", "inconclusive",
)  # fmt: skip
_WORDS: Mapping[str, TestState] = {
    **dict.fromkeys(_PASSED_WORDS, PASSED),
    **dict.fromkeys(_FAILED_WORDS, FAILED),
    **dict.fromkeys(_SKIPPED_WORDS, SKIPPED),
}
_PAIR = re.compile(
    r"(?P<number>\d+) (?P<word>[A-Za-z][a-z]*(?: [a-z]+)*)|(?P<word2>[A-Za-z][a-z]*(?: [a-z]+)*)[=:]"
    r" ?(?P<number2>\d+)"
)
_NOUN = re.compile(r"\b(?:tests?|specs?|examples?|cases?|scenarios?)\b")
_BEHIND = re.compile(r"\s(?:in|after|on|with|took)\b.*")


def state_of(word: str, more: Mapping[str, str] | None = None) -> TestState | None:
    """Return the state that a runner's word or sign stands for, or None."""
    word = word.strip()
    if more and word in more:
        return TestState(more[word])
    return _WORDS.get(word.lower()) or (FAILED if word.startswith("FAIL") else None)


def tally(tests: Iterable[tuple[str, TestState]], *, merge: bool = False) -> TestCount:
    """Return the count of tests in the order in which they were reported.

    Another test with the same name gets a number behind it. With `merge` it is the same test, reported twice,
    because its tear-down failed or it was tried again. The later state counts, but a failure stays.
    """
    told: dict[str, TestState] = {}
    for name, state in tests:
        if name in told and not merge:
            number = 2
            while f"{name} ({number})" in told:
                number += 1
            told[f"{name} ({number})"] = state
        elif told.get(name) is not FAILED:
            told[name] = state
    states = list(told.values())
    return TestCount(
        tests=told, passed=states.count(PASSED), failed=states.count(FAILED), skipped=states.count(SKIPPED)
    )


def word_numbers(words: str) -> Iterator[tuple[str, int]]:
    """Yield the counts in a list such as `3 passed, 1 failed` or `failures=1, skipped=2`."""
    for pair in _PAIR.finditer(words):
        word = _BEHIND.sub("", _NOUN.sub("", pair["word"] or pair["word2"])).strip()
        number = int(pair["number"] or pair["number2"])
        if word in {"", "total"}:
            yield "total", number
        elif len(word) > 1 and (state := state_of(word)):  # `e` and `f` are signs in a list of tests
            yield str(state), number
