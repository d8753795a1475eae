"""Grouping of things that are alike, so that they are reported once, and reasons that compare equal."""

import re
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

T = TypeVar("T")
_NAMED = 10  # names that are written out
_OF_ONE_REQUEST = re.compile(r"\breq_\w+")  # the API gives each answer an id of its own


def alike(items: Iterable[T], key: Callable[[T], Hashable]) -> list[list[T]]:
    """Return the items in groups of equal key, in the order of each group's first item."""
    groups: dict[Hashable, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.values())


def without_ids(reason: str) -> str:
    """Return a reason without the id of the request in which it was given, for comparison."""
    return _OF_ONE_REQUEST.sub("req_…", reason)


def checks_named(names: Iterable[str]) -> str:
    """Return the name of one check, or the number of several checks and the first ten names."""
    every = list(names)
    if len(every) == 1:
        return every[0]
    more = f" and {len(every) - _NAMED} more" if len(every) > _NAMED else ""
    return f"{len(every)} checks ({', '.join(every[:_NAMED])}{more})"
