"""The tests that a reviewer means by a name, among the names of the runners: plain functions.

Runners name a test by its file, its module, its class or its title, and reviewers by whichever they read. A
name fits if one of the two is the end of the other: `tests/test_a.py::T::test_x`, `tests.test_a.T.test_x`,
`T.test_x` and `test_x` may mean the same test.
"""

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

_VARIANT = re.compile(r"\[.*\]$|\(\)$|\s\(\d+\)$")  # parameters, brackets of Java, and a name used twice
_PARAMETERS = re.compile(r"\[.*\]$")
_IN_BRACKETS = re.compile(r"^(\w+) \(([\w.]+)\)$")  # unittest
_BEHIND_FILE = re.compile(r"::|\s[>\u203a]\s")
_ENDING = re.compile(
    r"(?<=\w)\.(?:py|[cm]?[jt]sx?|go|rs|rb|php|java|kt|cs|dart|cc?|cpp|exs?|sh|bats|t|pl|lua|swift)$"
)
_SEPARATORS = re.compile(r"[\\/.:#]+")


@dataclass(frozen=True, slots=True)
class Named:
    """The tests that a reference means. `one`: it means a single test, with all its parameters."""

    names: tuple[str, ...] = ()
    one: bool = False


def named_by(ref: str, names: Iterable[str]) -> Named:
    """Return the tests that a reference means: one test, or else those of a file or a class."""
    every = list(names)
    wanted = ref.strip().strip("`")
    if wanted in every:
        return Named((wanted,), one=True)
    parts = _parts(wanted)
    if not parts:
        return Named()
    fitting = [name for name in every if _fit(parts, _parts(name))]
    if not fitting and len(near := {_parts(name) for name in every if _leaves_out(parts, _parts(name))}) == 1:
        fitting = [name for name in every if _parts(name) in near]
    if parameters := _PARAMETERS.search(wanted):
        fitting = [name for name in fitting if name.endswith(parameters[0])]
        return Named(tuple(fitting), one=bool(fitting))
    if fitting:
        return Named(tuple(fitting), one=len({_parts(name) for name in fitting}) == 1)
    return Named(tuple(name for name in every if _inside(parts, _parts(name))))


def file_and_test(ref: str) -> tuple[str, str]:
    """Return the file that a reference names, or "", and the last part of the name."""
    plain = _VARIANT.sub("", ref.strip().strip("`"))
    head, _, rest = _split(plain)
    is_file = bool(_ENDING.search(head))
    return (head if is_file else "", (_parts(plain) or ("",))[-1] if rest or not is_file else "")


@lru_cache(maxsize=50_000)
def _parts(name: str) -> tuple[str, ...]:
    plain = name.strip()
    if case := _IN_BRACKETS.match(plain):
        inside = case[2].split(".")
        return tuple(inside if inside[-1] == case[1] else [*inside, case[1]])
    while (shorter := _VARIANT.sub("", plain).strip()) != plain:
        plain = shorter
    head, separator, rest = _split(plain)
    if not separator and re.search(r"\s", plain):  # a title
        return (plain,)
    if head.endswith(".go"):  # Go names the package and not the file
        head = posixpath.dirname(head)
    first = [part for part in _SEPARATORS.split(_ENDING.sub("", head)) if part]
    return (*first, *(part.strip() for part in _BEHIND_FILE.split(rest) if part.strip()))


def _split(name: str) -> tuple[str, str, str]:
    found = _BEHIND_FILE.search(name)
    return (name[: found.start()], found[0], name[found.end() :]) if found else (name, "", "")


def _fit(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether one of two names is the end of the other."""
    size = min(len(one), len(other))
    return size > 0 and one[-size:] == other[-size:]


def _leaves_out(short: Sequence[str], name: Sequence[str]) -> bool:
    """Whether a name is another one without some parts in the middle, such as the class."""
    rest = iter(name)
    return len(short) > 1 and short[-1:] == name[-1:] and all(part in rest for part in short)


def _inside(part: Sequence[str], name: Sequence[str]) -> bool:
    """Whether a file or a class holds a test: its name is a part of the test's, and not the end."""
    size = len(part)
    return any(name[start : start + size] == part for start in range(len(name) - size))
