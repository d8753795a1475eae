"""Rules about the code that the session wrote and that remains: unfinished pieces, admitted hacks."""

import re

from orchestrator.gates.power_steering.evidence import Evidence
from orchestrator.gates.power_steering.rules.comments import comments_in
from orchestrator.gates.power_steering.rules.found import Found, met, not_applicable, unmet
from orchestrator.gates.power_steering.rules.said.phrases import phrases
from orchestrator.gates.power_steering.rules.stubs import unfinished

_HACK = phrases(
    "hack(?:y|ish)?", "kludge", "quick fix", "quick and dirty", "dirty fix", "for now", "cheat",
    "temporary (?:fix|hack|workaround)", r"skip(?:s|ping)? (?:the )?(?:validation|error handling|checks?)",
    "no (?:validation|error handling) (?:yet|for now)", "ignor(?:e|es|ing) (?:all )?errors",
    "should (?:really )?validate", "not (?:ideal|proper)",
)  # fmt: skip


_ASKS_FOR_MARK = re.compile(
    r"\b(?i:leave|add|put|keep|mark|insert|write|with|as)\b[^.\n]{0,60}(?<!\w)(?:TODO|FIXME|XXX)\b"
    r"(?!\.\w|[- ]?(?i:lists?|items?|app|application|program|tool|api|service|manager|file))"
    r"|\b(?:TODO|FIXME|XXX)(?:\([^)]*\)|:)|\b(?:TODO|FIXME|XXX)[- ](?:comment|marker|note|mark)"
)
_NAMES_A_HOLE = re.compile(  # the words of languages for missing code
    r"\b(?:todo|unimplemented)!|\bTODO\(|\bNotImplemented(?:Error|Exception)?\b|\?\?\?(?!\?)"
)
_ASKS_FOR_STUB = phrases(
    r"(?:stub|stubs|stubbed|placeholders?|skeleton|scaffold\w*|mock(?:ed|s)?|dummy|empty (?:function"
    r"|method|class|body|bodies"
    r"|implementation)s?|no-?op|leave (?:it|them|the body|the bodies) (?:empty|unimplemented)"
    r"|signatures? only|interface only)"
)


def philosophy_compliance(evidence: Evidence) -> Found | None:
    """Check that the written code has no stub, placeholder or mark of open work, except in tests."""
    if not evidence.written_code:
        return not_applicable("no code was written")
    for path, lines in evidence.written_code.items():
        for line in unfinished(path, lines):
            if _is_asked_for(evidence):
                return None
            return unmet(f"{path} holds unfinished code", line.strip())
    return met("no mark of unfinished code in the written code")


def _is_asked_for(evidence: Evidence) -> bool:
    """Whether the user asked for a mark of open work, a stub or a placeholder by name."""
    said = evidence.users_words
    return any(
        pattern.search(words) for words in said for pattern in (_ASKS_FOR_MARK, _ASKS_FOR_STUB, _NAMES_A_HOLE)
    )


def shortcuts(evidence: Evidence) -> Found | None:
    """Check that no added comment admits a hack."""
    if not evidence.written_code:
        return not_applicable("no code was written")
    for path, lines in evidence.written_code.items():
        for comment in comments_in(path, lines):
            if _HACK.search(comment):
                return unmet(f"a comment in {path} admits a shortcut", comment.strip())
    return None
