"""Requests of the user, a hook or the project about running tests and other checks."""

import re

from orchestrator.gates.power_steering.evidence import Evidence
from orchestrator.gates.power_steering.rules.said.phrases import APOSTROPHE, phrases

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
_SPEAKS_OF_TAKING = phrases(
    r"(?:remove|delete|drop|skip|disable|rename|move|rewrite|replace|obsolete|outdated|quarantine"
    r"|xfail|flaky"
    r"|ignore|get rid of|clean up|retire)\b[^.\n]{0,60}\b(?:tests?|specs?)",
    r"(?:tests?|specs?)\b[^.\n]{0,60}\b(?:remove|removed|delete|deleted|drop|dropped|skip|skipped|disable"
    r"|disabled|rename|renamed|obsolete|outdated|go away|wrong|out of date|not needed)",
)
_ASKS_FOR_CHECKS = phrases(
    r"(?:run|runs|running)\b[^.\n]{0,60}\b(?:tests?|test suite|checks?|lint\w*|make|pytest|tox|pre-commit)",
    r"(?:tests?|checks?|lint\w*|make \w+|`[^`\n]+`) (?:must|ha(?:ve|s) to|should|needs? to) (?:pass"
    r"|run|be)",
    r"(?:before|after) (?:each|every|a|any|the|you) (?:commit|change|push|finish\w*)\b"
    r"[^.\n]{0,60}\b(?:run|tests?|checks?|make)",
    r"(?:make sure|ensure)\b[^.\n]{0,40}\btests?\b[^.\n]{0,20}\bpass",
)
_ASKS_FOR_TESTS = phrases(
    r"(?:run|runs|rerun|execute)\b[^.\n]{0,30}\b(?:tests?|test suite|specs?)",
    r"tests?\b[^.\n]{0,30}\b(?:were not|was not|not been|have to be|must be|should be"
    r"|need to be) (?:run|passed)",
)


def leaves_failing(evidence: Evidence, output: str) -> bool:
    """Whether the user says that a failure is known and to be left, with words that are in the output."""
    sentences = (one for words in evidence.users_words for one in _SENTENCE.split(words))
    known = (one for one in sentences if _IS_RED.search(one) and _IS_LEFT.search(one))
    shown = {word.lower() for word in _WORD.findall(output)}
    return any(shown & {word.lower() for word in _WORD.findall(one)} - _ORDINARY for one in known)


def tests_are_forbidden(evidence: Evidence) -> bool:
    """Whether the user does not want tests, or anything, to be run."""
    return any(_USER_FORBIDS_TESTS.search(words) for words in evidence.users_words)


def asked_for_tests(evidence: Evidence) -> str:
    """The words in which the user or a hook asks for the tests, or ""."""
    said = [*evidence.users_words, *evidence.hooks_words]
    return next((found[0] for text in said if (found := _ASKS_FOR_TESTS.search(text))), "")


def asked_for_checks(evidence: Evidence) -> str:
    """The words in which the project, the user or a hook asks for tests or other checks, or ""."""
    said = [*evidence.instructions, *evidence.users_words, *evidence.hooks_words]
    return next((found[0] for text in said if (found := _ASKS_FOR_CHECKS.search(text))), "")


def asked_to_take_away(evidence: Evidence) -> bool:
    """Whether the user mentions removing, skipping or changing tests."""
    return any(_SPEAKS_OF_TAKING.search(words) for words in evidence.users_words)
