"""Finds the option of a question that a reply means, if it is not spelled exactly like one.

Models repeat an option as they read it: in other case, without the `(Recommended)` behind it, or with its
description behind a colon. Such a reply means that option if it can mean no other one.
"""

import re
from collections.abc import Sequence

from state.records.questions import QuestionOption

_SUFFIX = re.compile(r"\s*\([^()]*\)\s*$")


def label_meant(said: str, options: Sequence[QuestionOption]) -> str | None:
    """Return the label of the one option that a reply means, or None if it means none or several.

    A label exactly as it is written always means itself. Otherwise case, white space, a suffix in parentheses
    and the option's own description behind a colon make no difference.
    """
    if any(option.label == said for option in options):
        return said
    meant = [option.label for option in options if _means(said, option)]
    return meant[0] if len(meant) == 1 else None


def _means(said: str, option: QuestionOption) -> bool:
    words = {_plain(said)}
    if option.description:
        words |= {plain for plain in [_without_description(said, option)] if plain}
    return bool({*words, *map(_bare, words)} & {_plain(option.label), _bare(option.label)} - {""})


def _without_description(said: str, option: QuestionOption) -> str:
    """Return the reply without the option's own description behind a colon, or "" if it does not end so."""
    plain, description = _plain(said), _plain(option.description)
    head = plain.removesuffix(description).rstrip()
    return head.removesuffix(":").rstrip() if head != plain and head.endswith(":") else ""


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _bare(text: str) -> str:
    return _SUFFIX.sub("", _plain(text))
