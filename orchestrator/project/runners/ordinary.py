"""Makes ordinary words and numbers out of random letters."""

import hashlib
from dataclasses import dataclass

_FIRST = (
    "empty", "short", "long", "plain", "nested", "single", "double", "first", "last", "early", "late",
    "small", "large", "mixed", "sorted", "shared", "closed", "open", "quiet", "strict", "loose", "partial",
    "full", "spare", "narrow", "wide", "inner", "outer", "upper", "lower", "left", "right",
)  # fmt: skip
_SECOND = (
    "range", "label", "record", "window", "margin", "header", "column", "index", "buffer", "marker",
    "border", "batch", "cursor", "figure", "folder", "group", "letter", "number", "option", "packet",
    "parcel", "period", "pointer", "prefix", "queue", "reading", "region", "sample", "section", "series",
    "suffix", "table",
)  # fmt: skip
_THIRD = (
    "keeps order", "adds up", "is counted", "has limits", "stays whole", "is rounded", "is trimmed",
    "is padded", "keeps size", "is merged", "is split", "has bounds", "is joined", "keeps place",
    "is aligned", "is summed", "is scaled", "is shifted", "is reversed", "is indexed", "keeps sign",
    "is copied", "is filled", "is cut", "is parsed", "is stored", "keeps count", "is wrapped", "is matched",
    "is ranked", "is hashed", "keeps length",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordinary:
    """Words in the forms in which names are written, and a wrong sum."""

    forms: dict[str, str]


def ordinary(token: str) -> Ordinary:
    """Return words and numbers made from some random letters, the same ones for the same letters."""
    digest = hashlib.sha256(token.encode()).digest()
    words = [_FIRST[digest[0] % 32], _SECOND[digest[1] % 32], *_THIRD[digest[2] % 32].split()]
    a, b = 11 + digest[3] % 80, 11 + digest[4] % 80
    camel = "".join(word.capitalize() for word in words)
    forms = {
        "snake": "_".join(words),
        "kebab": "-".join(words),
        "phrase": " ".join(words),
        "Camel": camel,
        "camel": camel[0].lower() + camel[1:],
        "a": str(a),
        "b": str(b),
        "wrong": str(a + b + 1 + digest[5] % 9),
    }
    return Ordinary(forms=forms)
