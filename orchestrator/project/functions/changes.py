"""The functions that a work changed: those that do something else now, not those that only moved."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from orchestrator.project.functions.functions import Function, SourceFunctions, read_source


@dataclass(frozen=True, kw_only=True)
class ChangedFunction:
    """A function that a work changed. `new`: the base has none of its name in its file, and none like it."""

    function: Function
    new: bool


def changed_functions(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[ChangedFunction]:
    """Return the functions of `after` that do something else than in `before`, in the order of the files.

    Both are the files that a work touched, by path: as they were and as they are. A file that is new or gone
    stands in one of them alone. A function that only moved, or whose own names are others, is not changed.
    Two names count as one thing's if the work took away the one that was defined, and defined the other.
    """
    olds = [read_source(file, content) for file, content in before.items()]
    news = [read_source(file, content) for file, content in after.items()]
    renamed = _Renamed(olds, news)
    by_place: dict[tuple[str, str], list[Function]] = defaultdict(list)
    for one in _functions(olds):
        by_place[one.file, one.name].append(one)
    places = {(one.file, one.name) for one in _functions(news)}
    gone = [one for one in _functions(olds) if (one.file, one.name) not in places]
    found = []
    for function in _functions(news):
        there = by_place.get((function.file, function.name), [])
        if not any(renamed.same(one, function) for one in (*there, *gone)):
            found.append(ChangedFunction(function=function, new=not there))
    return found


def _functions(sources: Iterable[SourceFunctions]) -> Iterable[Function]:
    return (function for source in sources for function in source.functions)


class _Renamed:
    """The names that a work took away and those that it brought, over all its files."""

    def __init__(self, olds: list[SourceFunctions], news: list[SourceFunctions]) -> None:
        used = [frozenset[str]().union(*(one.uses for one in sources)) for sources in (olds, news)]
        defined = [frozenset[str]().union(*(one.defines for one in sources)) for sources in (olds, news)]
        self._gone = defined[0] - used[1]
        self._come = defined[1] - used[0]

    def same(self, old: Function, new: Function) -> bool:
        """Whether two functions have one form, names aside that the work changed in one way."""
        if len(old.form) != len(new.form):
            return False
        there: dict[str, str] = {}
        back: dict[str, str] = {}
        for (kind, text), (other_kind, other) in zip(old.form, new.form, strict=True):
            if kind != other_kind:
                return False
            if kind != "id":
                if text != other and not text.startswith("function "):
                    return False
                continue
            if there.setdefault(text, other) != other or back.setdefault(other, text) != text:
                return False
            if text != other and not self._may_be(old, text, new, other):
                return False
        return True

    def _may_be(self, old: Function, text: str, new: Function, other: str) -> bool:
        own = text in old.own and other in new.own
        return own or (text in self._gone and other in self._come)
