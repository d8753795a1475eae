"""Model output prepared for quoting: cut at a boundary, without markup, and the claims in it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

MAX_RESPONSE_LENGTH = 5000  # characters read of a model's response (seed 001)
MAX_FEEDBACK_LENGTH = 200  # characters of a reason, a claim or a summary (seed 001)
INDICATOR = "..."

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_CLAUSE_END = re.compile(r"[,;:()]|\s[-–—]\s|—|\b(?:and|but|however|although|though|while)\b", re.IGNORECASE)  # noqa: RUF001  people write both dashes
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_TAG = re.compile(r"(?<!<)<(?=/?[A-Za-z][\w:-]*(?:\s+[\w:-]+\s*=[^<>]*)?\s*/?>|!--|!\[|\?)")
_CUT_ENTITY = re.compile(r"&[a-z]{0,3}\Z")

_NOW = r"(?:(?:now|all|fully|completely|finally|already|successfully|been)\s+){0,3}"
_CLAIM = re.compile(
    rf"""
    \b(?:tests?|checks?|specs?|suites?)\s+(?:(?:do|are|is|have|has)\s+)?{_NOW}(?:pass|passes|passed|passing|green|succeeds?|succeeded)\b
    | (?:\b(?:is|are|am|has|have|now)|['\u2019](?:s|re|m|ve))\s+{_NOW}(?:done|completed?|finished|implemented|fixed|resolved|ready)\b
    | \b(?:task|work|feature|implementation|fix|change|refactoring|migration|job|everything)s?\s+{_NOW}(?:done|completed?|finished)\b
    | \beverything\s+{_NOW}works\b
    | \bI\s+(?:successfully\s+|just\s+)?(?:completed|finished|implemented|fixed|resolved)\b
    """,  # noqa: E501  a pattern a line
    re.IGNORECASE | re.VERBOSE,
)
_BARE_CLAIM = re.compile(r"\W*(?:(?:all|now|it)\s+)?(?:done|completed?|finished)\W*", re.IGNORECASE)
_NO_CLAIM_AFTER = re.compile(
    r"""n['\u2019]t\b | \b(?:not|no|none|never|neither|nor|without|hardly|barely|almost|nearly|partially
    |partly|half|if|once|when|whenever|until|till|before|unless|whether|will|would|should|shall|could|might|may|must|can|cannot
    |need|needs|ensure|verify|check|confirm|want|expect|hope|think|believe|yet|remains?|fails?|failed|failing
    |far\s+from|make\s+sure|to\s+be)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_NO_CLAIM_BEFORE = re.compile(
    r"\s*(?:except|apart\s+from|other\s+than|only\s+(?:if|when)|if|once|when|unless)\b", re.IGNORECASE
)


class Method(StrEnum):
    """How a text was cut. The diagnostics log names it (seed 001)."""

    UNCHANGED = "unchanged"
    SENTENCE = "sentence"
    WORD = "word"
    HARD = "hard"


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncation:
    """A text as it was cut, how, and its lengths in characters before and after."""

    text: str
    method: Method
    original_length: int

    @property
    def is_cut(self) -> bool:
        """Whether anything of the text is missing."""
        return self.method is not Method.UNCHANGED

    @property
    def truncated_length(self) -> int:
        """The number of characters left."""
        return len(self.text)


def smart_truncate(text: str, max_length: int = MAX_FEEDBACK_LENGTH) -> str:
    """Return the text in at most `max_length` characters, cut at a sentence or else at a word (seed 001)."""
    return truncate(text, max_length).text


def truncate(text: str, max_length: int = MAX_FEEDBACK_LENGTH) -> Truncation:
    """As `smart_truncate`, and how it was done.

    In this order: a text that fits is unchanged. A limit without room for `...` is a plain cut. The text ends
    after the last `.`, `!` or `?` before white space, or at the last white space after the first character,
    with `...`, or anywhere, with `...`, exactly `max_length` long.
    """
    kept, method = _cut(text, max(max_length, 0))
    return Truncation(text=kept, method=method, original_length=len(text))


def escape_markup(text: str) -> str:
    """Return the text with `&`, `<` and `>` as entities, without control characters but tab and line feed.

    Model output can then neither open a tag of a prompt or page nor move a terminal's cursor.
    """
    return _CONTROL.sub("", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def as_written(text: str) -> str:
    """Undo `escape_markup`, except for tags: a command returns to its author with its own characters.

    A `<` that opens a tag stays an entity, so that no text of a model can pose as another's.
    """
    plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return _TAG.sub("&lt;", plain)


def feedback(text: str, max_length: int = MAX_FEEDBACK_LENGTH) -> Truncation:
    """Return a model's words for quoting: escaped, then cut without splitting an entity (seed 001)."""
    cut = truncate(escape_markup(limit_response(text)).strip(), max_length)
    if cut.method is not Method.HARD:
        return Truncation(text=cut.text, method=cut.method, original_length=len(text))
    end = INDICATOR if cut.text.endswith(INDICATOR) else ""
    whole = _CUT_ENTITY.sub("", cut.text.removesuffix(end)) + end
    return Truncation(text=whole, method=cut.method, original_length=len(text))


def limit_response(text: str) -> str:
    """Return the part of a model's response that is read: its first 5,000 characters (seed 001)."""
    return text[:MAX_RESPONSE_LENGTH]


def completion_claims(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the sentences that claim completion or passing, in order, each once, as `feedback` (seed 001).

    Denials, conditions, plans and questions ("not complete yet", "once all tests pass", "will be done") and
    text in fenced code are not claims.
    """
    found = {
        feedback(sentence).text: None
        for text in texts
        for sentence in _SENTENCE_END.split(_FENCED.sub("\n", text))
        if _is_claim(sentence.strip())
    }
    return tuple(found)


def _cut(text: str, limit: int) -> tuple[str, Method]:
    if len(text) <= limit:
        return text, Method.UNCHANGED
    room = limit - len(INDICATOR)
    if room <= 0:
        return text[:limit], Method.HARD
    for at in range(limit - 1, -1, -1):
        if text[at] in ".!?" and text[at + 1].isspace():
            return text[: at + 1], Method.SENTENCE
    for at in range(room, 0, -1):
        if text[at].isspace() and (kept := text[:at].strip()):
            return f"{kept}{INDICATOR}", Method.WORD
    return f"{text[:room]}{INDICATOR}", Method.HARD


def _is_claim(sentence: str) -> bool:
    if sentence.endswith("?"):
        return False
    if _BARE_CLAIM.fullmatch(sentence):
        return True
    # By its parts, so that "not" in one does not deny a claim of another.
    return any(_claims(clause) for clause in _CLAUSE_END.split(sentence) if clause)


def _claims(clause: str) -> bool:
    """Whether a part holds a claim that nothing before or after it takes back."""
    return any(
        not _NO_CLAIM_AFTER.search(clause, 0, match.end()) and not _NO_CLAIM_BEFORE.match(clause, match.end())
        for match in _CLAIM.finditer(clause)
    )
