"""Makes patterns from phrases: whole words, in any case, with any white space between them."""

import re
from collections.abc import Sequence

APOSTROPHE = r"['\u2019]"


def phrases(*alternatives: str) -> re.Pattern[str]:
    """A pattern that finds one of these phrases. Each is itself a regular expression."""
    return re.compile(rf"\b(?:{_any(alternatives)})\b", re.IGNORECASE)


def _any(alternatives: Sequence[str]) -> str:
    return "|".join(one.replace(" ", r"\s+") for one in alternatives)
