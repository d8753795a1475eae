"""Whether a command notices the work, if sq can neither count its tests nor plant one that fails.

It has to fail with the work taken out, and with a small change in the work. Then its exit code counts. The
work is its changed functions, else its changed lines: of code, or of the Makefile or script that the command
itself runs, if nothing else changed. (product.md, section 12 "Counting")
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import partial
from pathlib import PurePosixPath
from typing import Protocol

from agents.concurrency import aside
from orchestrator.checks.bench import Bench
from orchestrator.checks.change import Change
from orchestrator.checks.comparison import ResultComparison, Work
from orchestrator.checks.results.output import cause_of
from orchestrator.git.trees import contents_at, links_in, with_contents
from orchestrator.project.files import changed_lines, is_code, written_here
from orchestrator.project.functions.emptying import emptied
from orchestrator.project.functions.functions import Function, changed_functions
from orchestrator.project.functions.small_changes import SmallChange, small_changes
from orchestrator.project.shell import simple_commands
from state.records.commands import CommandRun, TestState, WithoutWork
from state.words import names_of

_TRIES = 6  # parts that are taken out alone, and small changes
_GROUPS = 3  # of new lines, each of which has to be noticed
# Functions that check others, which may stand in the same file as these.
_CHECKS = re.compile(
    r"(?i)main|.*self_?(?:tests?|checks?)|(?:run|do)?_?(?:all)?_?(?:tests?|checks?|specs?)|test_?\w*"
    r"|(?:assert|expect|check|verify)(?:_?\w+)?"
)
_GOAL = re.compile(r"([\w./ -]+?)\s*::?(?!=)")
_SHEBANG = b"#!"


@dataclass(frozen=True, kw_only=True)
class _Part:
    """A part of the work: functions of one name, `leaf`, or changed `lines` (from 1) of the file `name`."""

    name: str
    leaf: str = ""
    functions: tuple[Function, ...] = ()
    lines: frozenset[int] = frozenset()


class Runs(Protocol):
    """Runs the command on a tree (`orchestrator.checks.results.running.run_on`)."""

    async def __call__(self, tree: str, files: Sequence[str], *, afresh: bool = False) -> CommandRun:
        """Return its result. `files`: its files of tests, () for all."""
        ...


@dataclass(frozen=True, kw_only=True)
class _Asking:
    change: Change
    bench: Bench
    compared: ResultComparison
    work: Work
    runs: Runs
    before: Mapping[str, bytes]
    after: Mapping[str, bytes]
    afresh: bool = False

    async def ran(self, contents: Mapping[str, bytes]) -> CommandRun:
        """Run the command on the work with these files in place of its own."""
        tree = await with_contents(self.change.repository, self.change.tree, contents)
        return await self.runs(tree, (), afresh=self.afresh)

    async def anew(self) -> "_Asking | None":
        """Return the same for places without what commands built, None if that asks nothing new.

        Nothing was built, or the work does not pass there.
        """
        if self.afresh or not await self.bench.have_outputs():
            return None
        other = replace(self, afresh=True)
        return other if (await other.ran({})).passed else None

    def without(self, *parts: _Part) -> dict[str, bytes]:
        """Return the files without these parts, of those that differ then."""
        functions = [one for part in parts for one in part.functions]
        files = {one.file: [other for other in functions if other.file == one.file] for one in functions}
        defaults = self.work.defaults
        found = {file: emptied(self.after[file], own, defaults).content for file, own in files.items()}
        for part in (one for one in parts if one.lines):
            old, new = self.before.get(part.name, b""), self.after[part.name]
            found[part.name] = _without_lines(old, new, part.lines)
        return {file: content for file, content in found.items() if content != self.after[file]}


async def _asking(
    change: Change, bench: Bench, compared: ResultComparison, work: Work, runs: Runs
) -> _Asking:
    touched = compared.touched
    paths = {*work.sources, *touched.code, *touched.configuration, *touched.manifests}
    paths -= {
        *await links_in(change.repository, change.tree)
    }  # git makes no link to a text that was taken out
    before = await contents_at(change.repository, change.base, paths)
    before, after = written_here(before, await contents_at(change.repository, change.tree, paths))
    after = {**after, **work.sources}
    return _Asking(
        change=change, bench=bench, compared=compared, work=work, runs=runs, before=before, after=after
    )


async def noticing(
    change: Change, bench: Bench, compared: ResultComparison, work: Work, runs: Runs
) -> WithoutWork | None:
    """Return whether a command notices the work, or None if the work has no code."""
    asking = await _asking(change, bench, compared, work, runs)
    parts = _parts(asking)
    told = WithoutWork(command=compared.command, functions=tuple(part.name for part in parts))
    if not parts:
        return None
    if not (contents := asking.without(*parts)):
        return replace(told, problem="its functions do nothing, or sq cannot empty them")
    done = await asking.ran(contents)
    if done.exit_code == 0 and (anew := await asking.anew()):  # an output of the work may have stayed
        asking, done = anew, await anew.ran(contents)
    for part in parts[:_TRIES] if done.exit_code == 0 and len(parts) > 1 else ():
        # A check that stands in the work may have been taken out with it.
        if (alone := await asking.ran(asking.without(part))).exit_code:
            done, parts = alone, [part]
            break
    if done.exit_code is None or done.missing or done.nothing_yet or done.broken:
        return replace(told, problem=done.broken or done.nothing_yet or cause_of(done))
    if done.exit_code == 0:
        return replace(told, needed=False)
    words = set(re.findall(r"\w+", change.spec))
    for part in [one for one in parts if len(parts) > 1 and one.leaf in words][:_TRIES]:
        if (await asking.ran(asking.without(part))).exit_code == 0:
            return replace(told, needed=False, functions=(part.name,))
    return await _with_small_changes(asking, parts, replace(told, needed=True))


async def by_small_changes(
    change: Change, bench: Bench, compared: ResultComparison, work: Work, runs: Runs, answer: WithoutWork
) -> WithoutWork:
    """Return which tests fail with a small change in the work, where it could not be taken out.

    `problem` stays: the others were not asked.
    """
    asking = await _asking(change, bench, compared, work, runs)
    found = await _with_small_changes(asking, [one for one in _parts(asking) if one.functions], answer)
    if found.failing or (found.noticed and found.small):  # without names of tests the exit code tells it
        return replace(found, needed=True, noticed=None, functions=(), partly=True)
    return answer


async def without_new_lines(
    change: Change, bench: Bench, compared: ResultComparison, work: Work, runs: Runs, answer: WithoutWork
) -> WithoutWork:
    """Return the answer, with `needed` False if no test needs new lines that the work put between old ones.

    Only tests of the base failed without these functions, and they passed with the base's lines too.
    """
    asking = await _asking(change, bench, compared, work, runs)
    files = dict.fromkeys(one.function.file for one in work.changes)
    groups = [one for file in files for one in _inserted(asking, file)]
    for group in sorted(groups, key=lambda one: -len(one.lines))[:_GROUPS]:
        contents = asking.without(group)
        after = {file: asking.after[file] for file in contents}
        acting = await aside(partial(changed_functions, contents, after), "the sources of the work")
        names = tuple(f"{one.function.file}: {one.function.name}" for one in acting)
        if names and (await asking.ran(contents)).passed:
            lines = f"{group.name}:{min(group.lines)}-{max(group.lines)}"
            return replace(answer, needed=False, functions=names, lines=lines)
    return answer


def _inserted(asking: _Asking, file: str) -> list[_Part]:
    """Return the groups of lines of a file that stand between two neighbours of the base."""
    old, new = asking.before.get(file, b"").splitlines(), asking.after[file].splitlines()
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    groups = [frozenset(range(c + 1, d + 1)) for kind, _, _, c, d in codes if kind == "insert"]
    return [_Part(name=file, lines=lines) for lines in groups]


async def _with_small_changes(asking: _Asking, parts: Sequence[_Part], told: WithoutWork) -> WithoutWork:
    """Try small changes until a test or, without names of tests, the command fails.

    If none can be made, nothing has to be noticed.
    """
    changes = await aside(partial(_small_changes, asking, parts), "the sources of the work")
    found = await _of_changes(asking, changes, told)
    if not found.noticed and (anew := await asking.anew()):
        found = await _of_changes(anew, changes, told)
    return found


async def _of_changes(asking: _Asking, changes: Sequence[SmallChange], told: WithoutWork) -> WithoutWork:
    passed = set(names_of(asking.compared.now.count, TestState.PASSED))
    for change in changes:
        done = await asking.ran({change.file: change.content})
        failing = tuple(name for name in names_of(done.count, TestState.FAILED) if name in passed)
        # A command whose tests are counted has to count one that fails: the change may not compile.
        fails = done.count.failed if asking.compared.now.count.ran else done.exit_code or done.timed_out
        if failing or (not passed and fails):
            return replace(told, noticed=True, failing=failing, small=(change.words,))
    return replace(told, noticed=not changes, small=tuple(one.words for one in changes))


def _small_changes(asking: _Asking, parts: Sequence[_Part]) -> list[SmallChange]:
    """Return changes of each part in turn."""
    found = []
    for part in parts:
        places = [(part.name, part.lines)] if part.lines else []
        places += [
            (one.file, _changed(asking, one.file) & frozenset(range(one.line, one.last_line + 1)))
            for one in part.functions
        ]
        found.append([one for file, at in places for one in small_changes(file, asking.after[file], at)])
    turns = max(map(len, found), default=0)
    return [one[turn] for turn in range(turns) for one in found if turn < len(one)][:_TRIES]


def _changed(asking: _Asking, file: str) -> frozenset[int]:
    """Return the lines of a file, from 1, that the base lacks."""
    _, (_, lines) = changed_lines(asking.before.get(file, b""), asking.after[file])
    return frozenset(lines)


def _parts(asking: _Asking) -> list[_Part]:
    """Return the parts of the work: functions that check no others, else all, else lines."""
    every = [(one.function.name.rpartition(".")[2], one.function) for one in asking.work.changes]
    chosen = [one for one in every if not _CHECKS.fullmatch(one[0])] or every
    parts = []
    for leaf in dict.fromkeys(name for name, _ in chosen):
        functions = tuple(one for name, one in chosen if name == leaf)
        names = ", ".join(f"{one.file}: {one.name}" for one in functions)
        parts.append(_Part(name=names, leaf=leaf, functions=functions))
    return parts or _parts_of_lines(asking)


def _parts_of_lines(asking: _Asking) -> list[_Part]:
    touched = asking.compared.touched
    for paths in (touched.code, (*touched.configuration, *touched.manifests)):
        parts = []
        for path in paths:
            if path in asking.after and is_code(path, asking.after[path]):
                lines = _changed(asking, path) - _of_the_check(asking, path)
                parts += [_Part(name=path, lines=lines)] if lines else []
        if parts:
            return parts
    return []


def _of_the_check(asking: _Asking, path: str) -> frozenset[int]:
    """Return the lines of a Makefile that are of the command's own targets, and the heads of all others."""
    if "makefile" not in PurePosixPath(path).name.lower():
        return frozenset()
    goals = {word for one in simple_commands(asking.compared.command) for word in one.plain}
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
