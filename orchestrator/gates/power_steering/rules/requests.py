"""Requests of the user about tests: to run them, not to run any, and a failure to leave."""

import re

from orchestrator.gates.power_steering.evidence import SessionEvidence
from orchestrator.gates.power_steering.rules.phrases import APOSTROPHE, phrases

_USER_FORBIDS_TESTS = phrases(
    rf"(?:do not|don{APOSTROPHE}t|no need to|without|skip(?:ping)?"
    rf"|never)(?: \w+){{0,2}}? (?:run(?:ning)? )?"
    r"(?:the |any |all )?tests?",
    rf"(?:do not|don{APOSTROPHE}t|without|never|no need to) (?:\w+ (?:or|and) )?(?:run(?:ning)?"
    rf"|execut(?:e|ing)|build) "
    r"(?:or \w+ )?(?:anything|any ?thing|any commands?|commands|it|them|code|the code|stuff|here|on)",
    rf"(?:do not|don{APOSTROPHE}t|must not|cannot|can{APOSTROPHE}t|not to|nothing may be) (?:build"
    rf"|built|flash|flashed|compile)",
    rf"I(?:{APOSTROPHE}ll| will) (?:run|execute|test|build) (?:the tests|it|them|everything"
    rf"|that) ?(?:myself|later|tonight)?",
)
_IS_RED = phrases(
    "red", "fail(?:s|ed|ing|ures?)?", "broken", "breaks?", "flaky", "known", "errors? out",
    "rot", "schlägt fehl", "kaputt", "rouge", "échoue", "falla", "roto", "falha", "rosso", "fallisce",
)  # fmt: skip
_NO = rf"(?:do not|don{APOSTROPHE}t)"
_IS_LEFT = phrases(
    "leave", "ignore", "known", "not (?:yours|your job|part of|our problem|related)", "unrelated", "expected",
    "(?:is|are) on it", rf"{_NO} (?:touch|fix|worry|mind|bother)", "as (?:it|they) (?:is|are)", "already",
    "pre-?existing", "not because of you", "lass", "ignorier", "laisse", "deja", "deixa", "lascia",
)  # fmt: skip
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_WORD = re.compile(r"[^\W\d_]{3,}")
_ORDINARY = frozenset({
    "the", "test", "tests", "testing", "suite", "case", "cases", "fail", "fails", "failed", "failing",
    "failure", "red", "known", "that", "this", "and", "for", "with", "one", "since", "leave", "left", "alone",
    "are", "was", "not", "error", "errors", "all", "has", "run", "last", "week", "pass", "passes", "passed",
    "build", "from", "because", "already", "ignore", "its", "will", "when", "you", "your", "but", "they",
    "them", "there", "note", "src", "line",
})  # fmt: skip


_ASKS_FOR_TESTS = phrases(
    r"(?:run|runs|rerun|execute)\b[^.\n]{0,30}\b(?:tests?|test suite|specs?)",
    r"tests?\b[^.\n]{0,30}\b(?:have to be|must be|should be|need to be) (?:run|passed)",
)


def asked_for_tests(evidence: SessionEvidence) -> str:
    """The words in which the user asks for the tests, or ""."""
    return next((found[0] for text in evidence.users_words if (found := _ASKS_FOR_TESTS.search(text))), "")


def leaves_failing(evidence: SessionEvidence, output: str) -> bool:
    """Whether the user says that a failure is known and to be left, with words that are in the output."""
    sentences = (one for words in evidence.users_words for one in _SENTENCE.split(words))
    known = (one for one in sentences if _IS_RED.search(one) and _IS_LEFT.search(one))
    shown = {word.lower() for word in _WORD.findall(output)}
    return any(shown & {word.lower() for word in _WORD.findall(one)} - _ORDINARY for one in known)


def tests_are_forbidden(evidence: SessionEvidence) -> bool:
    """Whether the user does not want tests, or anything, to be run."""
    return any(_USER_FORBIDS_TESTS.search(words) for words in evidence.users_words)
