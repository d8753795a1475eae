"""Things that are the same in what matters, told once: groups, and the words that compare equal."""

import re
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

T = TypeVar("T")
_NAMED = 10  # names that are written out
_OF_ONE_REQUEST = re.compile(r"\breq_\w+")  # the API gives each answer an id of its own


def alike(items: Iterable[T], key: Callable[[T], Hashable]) -> list[list[T]]:
    """The items in groups of equal key, in the order of each group's first one."""
    groups: dict[Hashable, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.values())


def without_ids(reason: str) -> str:
    """A reason as it compares: without the id of the request in which it was given."""
    return _OF_ONE_REQUEST.sub("req_…", reason)


def checks_named(names: Iterable[str]) -> str:
    """One check by its name; several by their number and the first ten names."""
    every = list(names)
    if len(every) == 1:
        return every[0]
    more = f" and {len(every) - _NAMED} more" if len(every) > _NAMED else ""
    return f"{len(every)} checks ({', '.join(every[:_NAMED])}{more})"
