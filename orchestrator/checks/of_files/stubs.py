"""Stubs: functions that the spec wants built, by name, and that do nothing, whatever tests say.

One does nothing, returns the empty value, or says that it is not implemented. A new one counts if the spec
names it, one that was there if a criterion of behaviour does. The plan has those that shall stay empty.
(product.md, section 12)
"""

import re
from collections.abc import Collection, Iterable, Mapping
from functools import partial

from agents.concurrency import aside
from orchestrator.checks.change import Change
from orchestrator.checks.touched import is_test_data
from orchestrator.git.trees import contents_at, files_with
from orchestrator.project.files import is_test_file, third_party
from orchestrator.project.functions.emptying import emptied
from orchestrator.project.functions.functions import Function, read_source
from orchestrator.project.functions.languages import language_of
from state.records.plan import CriterionKind

_MOST_NAMES, _MOST_FILES = 60, 60
# An identifier in the spec: in a code span, before a bracket, or in the form of one.
_IDENTIFIER = re.compile(r"`[^`\n]*`|\b[A-Za-z_]\w+(?=\()|\b\w+_\w+\b|\b[a-z]+[A-Z]\w*\b")
_NAME = re.compile(r"[A-Za-z_]\w{2,}")
_REFUSES = re.compile(
    r"\W*(?:raise|throw|panic|todo|unimplemented|fatalError|die|abort)\b[^;\n]*;?\W*", re.IGNORECASE
)
_UNBUILT = re.compile(r"not\W*(?:yet\W*)?implemented|todo|unimplemented|unsupportedoperation", re.IGNORECASE)


async def stubs_of_the_spec(change: Change, added: Iterable[str]) -> tuple[str, ...]:
    """Return the stubs of the tree that the spec wants built, as `file: name`.

    `added` are functions that the work added, likewise. Of a work that is only a part those count that its
    own words name.
    """
    spec, new = change.spec, set(added)
    names = _names_in(spec) & set(_NAME.findall(change.own_words if change.is_part else spec))
    found = await _sources_with(change, names)
    by_name = await aside(partial(_by_name, found, names), "the sources of the work")
    return tuple(
        f"{function.file}: {function.name}"
        for name, found in by_name.items()
        if all(stub for _, stub in found)
        for function, _ in found
        if wants(change, name, is_new=f"{function.file}: {function.name}" in new)
    )


def _by_name(sources: Mapping[str, bytes], names: Collection[str]) -> dict[str, list[tuple[Function, bool]]]:
    """Return the functions of these names, each with whether it is a stub."""
    by_name: dict[str, list[tuple[Function, bool]]] = {}
    for path, content in sources.items():
        for function in read_source(path, content).functions:
            if (name := function.name.rpartition(".")[2]) in names:
                by_name.setdefault(name, []).append((function, _is_stub(content, function)))
    return by_name


def _names_in(text: str) -> set[str]:
    found = (name for part in _IDENTIFIER.findall(text) for name in _NAME.findall(part))
    return set(list(dict.fromkeys(found))[:_MOST_NAMES])


async def _sources_with(change: Change, names: Iterable[str]) -> dict[str, bytes]:
    """Return the product's sources that hold one of these names."""
    asked = [part for name in sorted(names) for part in ("-e", name)]
    if not asked:
        return {}
    paths = [
        one
        for one in await files_with(change.repository, change.tree, "-w", "-F", *asked)
        if language_of(one) and not (is_test_file(one) or is_test_data(one) or third_party(one))
    ]
    return await contents_at(change.repository, change.tree, paths[:_MOST_FILES])


def _is_stub(content: bytes, function: Function) -> bool:
    if emptied(content, [function]).stubs:
        return True
    text = content[function.body.at : function.body.end].decode("utf-8", "replace")
    body = text.strip().strip("{}").strip()
    return bool(_REFUSES.fullmatch(body) and _UNBUILT.search(body))


def wants(change: Change, name: str, *, is_new: bool) -> bool:
    """Whether a function of this name shall do something. `is_new`: the work added it.

    One that was there has to be named by a criterion of behaviour.
    """
    if name in change.left_empty:
        return False
    behaviours = (one for one in change.criteria if one.kind is CriterionKind.BEHAVIOUR and not one.stays)
    return is_new or any(name in _NAME.findall(f"{one.text} {one.quote}") for one in behaviours)
