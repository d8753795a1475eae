"""Whether a command notices the work, if sq can neither count its tests nor plant one that fails.

It has to fail with the work taken out, and with a small change in the work. Then its exit code counts. The
work is its changed functions, else its changed lines: of code, or of the Makefile or script that the command
itself runs, if nothing else changed. (product.md, section 12 "Counting")
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import partial
from pathlib import PurePosixPath

from agents.concurrency import aside
from orchestrator.git.trees import contents_at, with_contents
from orchestrator.project.files import is_code, written_here
from orchestrator.project.functions.emptying import emptied
from orchestrator.project.functions.functions import Function
from orchestrator.project.functions.small_changes import SmallChange, small_changes
from orchestrator.project.shell import simple_commands
from orchestrator.run.evidence.comparison import ResultComparison, Work, changed_lines
from orchestrator.run.evidence.summary import cause_of
from orchestrator.run.evidence.verification import run_on
from orchestrator.run.record import Run
from state.records.commands import CommandRun, TestState, WithoutWork
from state.words import names_of

_TRIES = 6  # parts that are taken out alone, and small changes
# Functions that check others, which may stand in the same file as these.
_CHECKS = re.compile(
    r"(?i)main|.*self_?(?:tests?|checks?)|(?:run|do)?_?(?:all)?_?(?:tests?|checks?|specs?)|test_?\w*"
    r"|(?:assert|expect|check|verify)(?:_?\w+)?"
)
_GOAL = re.compile(r"([\w./ -]+?)\s*::?(?!=)")
_SHEBANG = b"#!"
_THE_WORK = "the sources of the work"


@dataclass(frozen=True, kw_only=True)
class _Part:
    """A part of the work: functions of one name, `leaf`, or the lines (from 1) of a file that differ."""

    name: str
    leaf: str = ""
    functions: tuple[Function, ...] = ()
    lines: Mapping[str, frozenset[int]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class _Asking:
    run: Run
    subject: ResultComparison
    work: Work
    before: Mapping[str, bytes]
    after: Mapping[str, bytes]

    async def ran(self, contents: Mapping[str, bytes]) -> CommandRun:
        """Run the command on the work with these files in place of its own."""
        tree = await with_contents(self.run.repository, self.subject.tree, contents)
        return await run_on(self.run, self.subject, tree, [])

    def without(self, parts: Iterable[_Part]) -> dict[str, bytes]:
        """Return the files without these parts, of those that differ then."""
        functions = [one for part in parts for one in part.functions]
        found = {}
        for file in dict.fromkeys(one.file for one in functions):
            own = [one for one in functions if one.file == file]
            found[file] = emptied(self.after[file], own, self.work.defaults).content
        for part in parts:
            for file, lines in part.lines.items():
                found[file] = _without_lines(self.before.get(file, b""), self.after[file], lines)
        return {file: content for file, content in found.items() if content != self.after[file]}


async def noticing(run: Run, subject: ResultComparison, work: Work) -> WithoutWork | None:
    """Return whether a command notices the work, or None if the work has no code."""
    touched = subject.touched
    paths = {*work.sources, *touched.code, *touched.configuration, *touched.manifests}
    before = await contents_at(run.repository, subject.base, paths)
    before, after = written_here(before, await contents_at(run.repository, subject.tree, paths))
    asking = _Asking(run=run, subject=subject, work=work, before=before, after=after)
    parts = _parts(asking)
    told = WithoutWork(command=subject.command, functions=tuple(part.name for part in parts))
    if not parts:
        return None
    if not (contents := asking.without(parts)):
        return replace(told, problem="its functions do nothing, or sq cannot empty them")
    done = await asking.ran(contents)
    if done.exit_code == 0 and len(parts) > 1:  # a check that stands in the work may be taken out with it
        for part in parts[:_TRIES]:
            if (alone := await asking.ran(asking.without([part]))).exit_code:
                done, parts = alone, [part]
                break
    if done.exit_code is None or done.missing or done.nothing_yet or done.broken:
        return replace(told, problem=done.broken or done.nothing_yet or cause_of(done))
    if done.exit_code == 0:
        return replace(told, needed=False)
    words = set(re.findall(r"\w+", run.started.spec_text))
    named = [part for part in parts if part.leaf in words] if len(parts) > 1 else []
    for part in named[:_TRIES]:
        if (await asking.ran(asking.without([part]))).exit_code == 0:
            return replace(told, needed=False, functions=(part.name,))
    return await _with_small_changes(asking, parts, replace(told, needed=True))


async def by_small_changes(
    run: Run, subject: ResultComparison, work: Work, answer: WithoutWork
) -> WithoutWork:
    """Return which tests fail with a small change in the work, where it could not be taken out."""
    before = await contents_at(run.repository, subject.base, work.sources)
    asking = _Asking(run=run, subject=subject, work=work, before=before, after=work.sources)
    passed = set(names_of(subject.now.count, TestState.PASSED))
    parts = [one for one in _parts(asking) if one.functions]
    for change in await aside(partial(_small_changes, asking, parts), _THE_WORK) if passed else ():
        done = await asking.ran({change.file: change.content})
        if failing := tuple(name for name in names_of(done.count, TestState.FAILED) if name in passed):
            return replace(
                answer, needed=True, functions=(), failing=failing, problem="", small=(change.words,)
            )
    return answer


async def _with_small_changes(asking: _Asking, parts: Sequence[_Part], told: WithoutWork) -> WithoutWork:
    """Try small changes, one after the other, until the command fails. If none can be made it need not."""
    changes = await aside(partial(_small_changes, asking, parts), _THE_WORK)
    for change in changes:
        done = await asking.ran({change.file: change.content})
        if done.exit_code:
            return replace(told, noticed=True, small=(change.words,))
    return replace(told, noticed=not changes, small=tuple(one.words for one in changes))


def _small_changes(asking: _Asking, parts: Sequence[_Part]) -> list[SmallChange]:
    """Return changes of each part in turn."""
    found = []
    for part in parts:
        lines = dict(part.lines)
        for one in part.functions:
            own = frozenset(range(one.line, one.last_line + 1))
            lines[one.file] = lines.get(one.file, frozenset()) | (own & _changed(asking, one.file))
        found.append(
            [one for file, at in lines.items() for one in small_changes(file, asking.after[file], at)]
        )
    turns = max(map(len, found), default=0)
    return [one[turn] for turn in range(turns) for one in found if turn < len(one)][:_TRIES]


def _changed(asking: _Asking, file: str) -> frozenset[int]:
    """Return the lines of a file, from 1, that the base lacks."""
    _, (_, lines) = changed_lines(asking.before.get(file, b""), asking.after[file])
    return frozenset(lines)


def _parts(asking: _Asking) -> list[_Part]:
    """Return the parts of the work: functions that check no others, else all, else lines."""
    every = [one.function for one in asking.work.changes if one.function.file in asking.after]
    product = [one for one in every if not _CHECKS.fullmatch(_leaf(one))]
    names = dict.fromkeys(map(_leaf, product or every))
    groups = {name: tuple(one for one in product or every if _leaf(one) == name) for name in names}
    parts = [
        _Part(name=", ".join(f"{one.file}: {one.name}" for one in group), leaf=leaf, functions=group)
        for leaf, group in groups.items()
    ]
    return parts or _parts_of_lines(asking)


def _leaf(function: Function) -> str:
    return function.name.rpartition(".")[2]


def _parts_of_lines(asking: _Asking) -> list[_Part]:
    touched = asking.subject.touched
    for paths in (touched.code, (*touched.configuration, *touched.manifests)):
        parts = []
        for path in paths:
            if path in asking.after and is_code(path, asking.after[path]):
                lines = _changed(asking, path) - _of_the_check(asking, path)
                parts += [_Part(name=path, lines={path: lines})] if lines else []
        if parts:
            return parts
    return []


def _of_the_check(asking: _Asking, path: str) -> frozenset[int]:
    """Return the lines of a Makefile that are of the command's own targets, and the heads of all others."""
    if "makefile" not in PurePosixPath(path).name.lower():
        return frozenset()
    goals = {word for one in simple_commands(asking.subject.command) for word in one.plain}
    found, inside = set(), False
    for number, raw in enumerate(asking.after[path].split(b"\n"), 1):
        line = raw.decode("utf-8", "replace")
        if line.strip() and not line.startswith("\t"):
            goal = _GOAL.match(line)
            names = goal[1].split() if goal else []
            inside = any(one in goals or _CHECKS.fullmatch(one) for one in names)
            found |= {number} if goal else set()
        found |= {number} if inside else set()
    return frozenset(found)


def _without_lines(before: bytes, after: bytes, lines: frozenset[int]) -> bytes:
    """Return a file as it was before in these lines (from 1), and as it is in all others."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    kept: list[bytes] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        stays = [new[at] for at in range(c, d) if at + 1 not in lines or new[at].startswith(_SHEBANG)]
        kept += new[c:d] if kind == "equal" else [*(old[a:b] if c == d or len(stays) < d - c else []), *stays]
    return b"".join(kept)
