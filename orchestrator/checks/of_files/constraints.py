"""Constraints of the plan that sq computes from the facts of a work, or by a command that it ran."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from orchestrator.checks import objecting
from orchestrator.checks.answers import Answers
from orchestrator.checks.change import Change
from orchestrator.checks.of_files.facts import facts_between
from orchestrator.project.build_files.manifests import manifest_of
from orchestrator.project.files import matches
from orchestrator.project.runners.suite import Suite, suite_of
from state.records.commands import CommandRun
from state.records.plan import ConstraintKind, Criterion, CriterionKind
from state.records.reviews import Evidence, EvidenceKind, Mark
from state.records.work import WorkFacts
from state.words import listed

_LONGEST = 200  # characters of a name, of which a file has at most 255


async def ask(change: Change, runs: Sequence[CommandRun] = ()) -> Answers:
    """Return the facts of a work, and the constraints of the plan that do not hold by them.

    `runs` are results of the commands on the whole: one that a constraint names has to pass. Of a part there
    are no facts if the plan has no constraint that is computed: its reviewer has them.
    """
    if not change.is_final and not any(one.constraint for one in change.criteria):
        return Answers()
    facts = await facts_between(change.repository, change.base, change.own_tree)
    found = ((one, computed(one, facts, runs, change.repository)) for one in change.criteria)
    broken = (
        (one.id, f"the constraint {one.id} ({one.text}) does not hold: {said.why}")
        for one, said in found
        if said and said.holds is False
    )
    return Answers(facts=facts, objections=tuple(objecting.broken(broken)))


def computed(
    criterion: Criterion, facts: WorkFacts, runs: Iterable[CommandRun], folder: Path
) -> Evidence | None:
    """Return what the facts and the commands that sq ran say of a constraint, None if it is not computed.

    `folder` shows the tree.
    """
    if criterion.kind is not CriterionKind.CONSTRAINT or criterion.constraint is None:
        return None
    bad: Sequence[str] = ()
    unknown, names = "", criterion.names
    match criterion.constraint:
        case ConstraintKind.DEPENDENCIES:
            direct = _except(facts.added, names)
            bad = direct or (() if facts.added else _except(facts.locked, names))
            unknown = _unread(facts, manifests=True)
        case ConstraintKind.PUBLIC_NAMES:
            bad = _except((*facts.names_removed, *facts.names_changed), names)
            unknown = _unread(facts, manifests=False)
        case ConstraintKind.NEW_NAMES:
            bad, unknown = _except(facts.names_added, names), _unread(facts, manifests=False)
        case ConstraintKind.UNTOUCHED:
            bad = [path for path in facts.paths if _is_under(path, names, folder)]
            unknown = "" if names else "the plan names no file"
        case ConstraintKind.COMMAND:
            return _command(criterion, runs, folder)
    holds = False if bad else None if unknown else True
    why = listed(bad) if bad else unknown or "sq computed it from the files"
    return _evidence(criterion.constraint, holds, why)


def _except(names: Iterable[str], allowed: Sequence[str]) -> list[str]:
    """Return the names that are not allowed. A public name may be given without its file or its scope."""
    plain = {_plain(one) for one in allowed}
    return [
        one
        for one in names
        if _plain(one) not in plain and _plain(re.sub(r"\(.*", "", one.partition(": ")[2])) not in plain
    ]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.partition("(")[0].strip(" `")).lower()


def _unread(facts: WorkFacts, *, manifests: bool) -> str:
    files = [path for path in facts.unread if (manifest_of(path) is not None) is manifests]
    return f"{listed(files)} could not be read" if files else ""


def _is_under(path: str, names: Iterable[str], folder: Path) -> bool:
    """Whether a path is one of these, or below one. A name that is none at the top is meant at any depth."""
    plain = [one.strip(" `'\"").replace("\\", "/").removeprefix("./").strip("/") for one in names]
    at_top = [one for one in plain if one and len(one) < _LONGEST and (folder / one).exists()]
    elsewhere = [one for one in plain if one and one not in at_top]
    above = [path, *map(str, PurePosixPath(path).parents)][:-1]
    return not {*at_top}.isdisjoint(above) or any(matches(one, elsewhere) for one in above)


def _command(criterion: Criterion, runs: Iterable[CommandRun], folder: Path) -> Evidence:
    """Return the result of the command that a constraint names, if sq ran it on this tree."""
    wanted = [suite_of(name, folder) for name in criterion.names]
    ran = [one for one in runs if any(_runs(suite_of(one.command, folder), suite) for suite in wanted)]
    failed = [one for one in ran if not one.passed]
    holds = not failed if ran else None
    why = f"`{ran[0].command}` passed" if ran else "sq ran no such command on this tree"
    why = f"`{failed[0].command}` ended with exit code {failed[0].exit_code}" if failed else why
    return _evidence(ConstraintKind.COMMAND, holds, why)


def _evidence(ref: str, holds: bool | None, why: str) -> Evidence:
    return Evidence(kind=EvidenceKind.COMPUTED, ref=ref, holds=holds, why=why, mark=Mark.COMPUTED)


def _runs(suite: Suite, wanted: Suite) -> bool:
    """Whether a command runs another one: with all of its words, or as a whole."""
    if suite.command.split() == wanted.command.split():
        return True
    words = [(run.simple.name, {*run.simple.words[1:]}) for run in suite.runs]
    return bool(wanted.runs) and all(
        any(name == one.simple.name and {*one.simple.words[1:]} <= given for name, given in words)
        for one in wanted.runs
    )
