"""Evidence for a criterion, as sq checks it on one tree. A reviewer's word counts for nothing here.

A test counts if sq's newest verification of exactly this tree ran it and it passed, a command if it was one
of that verification and passed, a line if git has it in the tree.

Runners name a test by its file, its module, its class or its title, and reviewers by whichever they read. A
name fits if one of the two is the end of the other: `tests/test_a.py::T::test_x`, `tests.test_a.T.test_x`,
`T.test_x` and `test_x` may mean the same test.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

from agents.concurrency import aside_or
from orchestrator.checks.names_of_tests import of_files
from orchestrator.checks.objecting import (
    BASE_TESTS,
    CANARY,
    CLEAN_COPY,
    CODE_BEFORE,
    NEW_ASSERTIONS,
    OTHER_RESULTS,
    PROPS,
    SAME_INPUTS,
    WITHOUT_WORK,
)
from orchestrator.checks.of_tests.literals import held, literals_of, pieces_of, text_of_tests
from orchestrator.git.command import git, git_bytes
from orchestrator.git.trees import changed_paths, contents_at, files_in
from orchestrator.project.files import changed_lines, is_test_file
from orchestrator.project.runners.suite import suite_of
from state.errors import GitError
from state.journal.events import ProofsTaken, VerificationFinished
from state.journal.view import RunView
from state.records.commands import CommandRun, TestState
from state.records.objections import Weight
from state.records.reviews import Evidence, EvidenceKind, Mark
from state.words import listed, names_of

_PLACE = re.compile(r"^(?P<path>.+?)(?::|#L)(?P<first>\d+)(?:-L?(?P<last>\d+))?(?::\d+)?$")
_LARGEST = 5_000_000  # bytes of a file of which lines are counted
_MOST_FILES = 100  # of tests, in which the code of those is looked for that are named as evidence
_OF_WORTHLESS_TESTS = frozenset({OTHER_RESULTS, NEW_ASSERTIONS, PROPS})
_NEEDS_NO_WORK = ", and passes without the work too"
BEFORE = "before the work too"  # a piece of evidence that held at the base
_SHOWN = 160  # characters of a line
_VARIANT = re.compile(r"\[.*\]$|\(\)$|\s\(\d+\)$")  # parameters, brackets of Java, and a name used twice
_PARAMETERS = re.compile(r"\[.*\]$")
_IN_BRACKETS = re.compile(r"^(\w+) \(([\w.]+)\)$")  # unittest
_BEHIND_FILE = re.compile(r"::|\s[>\u203a]\s")
_ENDING = re.compile(
    r"(?<=\w)\.(?:py|[cm]?[jt]sx?|go|rs|rb|php|java|kt|cs|dart|cc?|cpp|exs?|sh|bats|t|pl|lua|swift)$"
)
_SEPARATORS = re.compile(r"[\\/.:#]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedTree:
    """The tree on which evidence is checked, and a folder that shows its files.

    `read_in` are the folders in which reviewers read, whose paths they may have used. `seen` is the tree that
    the reviewer read, if it is another one: a line then counts only in a file that is the same.
    """

    view: RunView
    repository: Path
    tree: str
    folder: Path
    read_in: tuple[str, ...] = ()
    seen: str = ""

    @property
    def verified(self) -> VerificationFinished | None:
        """The newest verification of the tree."""
        return self.view.evidence.verifications.get(self.tree)

    @property
    def proofs(self) -> tuple[ProofsTaken, ...]:
        """The proofs that were taken of the tree, for a task or the whole."""
        return tuple(found for (_, tree), found in self.view.evidence.proofs.items() if tree == self.tree)

    @property
    def unlike_before(self) -> list[str]:
        """The names of functions that have to give what they gave, and do not."""
        found = [one for each in self.proofs for one in each.of(SAME_INPUTS) if one.weight is Weight.ONCE]
        return list(dict.fromkeys(re.split(r"[ .]", one.subject)[-1] for one in found))


async def checked(on: CheckedTree, evidence: Evidence) -> Evidence:
    """Return a piece of evidence with sq's own result."""
    match evidence.kind:
        case EvidenceKind.TEST:
            return await _test(on, evidence)
        case EvidenceKind.COMMAND:
            return _command(on, evidence)
        case EvidenceKind.LINE:
            return await _line(on, evidence)
        case EvidenceKind.COMPUTED:
            return evidence


async def _test(on: CheckedTree, evidence: Evidence) -> Evidence:
    verified = on.verified
    if verified is None:
        return replace(evidence, holds=None, why="sq has not verified this tree")
    states = dict[str, list[tuple[TestState, str]]]()
    for done in verified.runs:
        for name, state in done.count.tests.items():
            states.setdefault(name, []).append((state, done.command))
    named = named_by(_without(on, evidence.ref), states)
    if not named.names:
        return await _unnamed(on, evidence, verified)
    ended = [(name, state, command) for name in named.names for state, command in states[name]]
    failed = [(name, command) for name, state, command in ended if state is TestState.FAILED]
    passed = [(name, command) for name, state, command in ended if state is TestState.PASSED]
    general = not named.one
    if failed:
        why = f"{listed(name for name, _ in failed)} failed in `{failed[0][1]}`"
        return replace(evidence, holds=False, why=why, general=general)
    if not passed:
        why = f"it was skipped in `{ended[0][2]}`, so it shows nothing"
        return replace(evidence, holds=False, why=why, general=general)
    names = {name for name, _ in passed}
    without, mark = _without_the_work(on, names), await _mark_of(on, names)
    many = f"{len(passed)} tests" if len(passed) > 1 else "it"
    skipped = f", {len(ended) - len(passed)} more were skipped" if len(ended) > len(passed) else ""
    unseen = "" if mark or without else ", and sq has not seen it fail without the work"
    why = f"{many} passed in `{passed[0][1]}`{skipped}{without}{unseen}"
    return replace(evidence, holds=True, why=why, general=general or without == _NEEDS_NO_WORK, mark=mark)


async def _mark_of(on: CheckedTree, names: set[str]) -> Mark | None:
    """Return what tests that passed show, or None if sq has not seen one of them fail without the work."""
    failed = {
        name
        for check in on.view.baseline.checks.values()
        for name in names_of(check.run.count, TestState.FAILED)
    }
    if names <= failed:
        changed = await changed_paths(on.repository, on.view.baseline.tree, on.tree)
        if not of_files(names, changed):
            return Mark.EXAMINED
    seen = {name for found in on.proofs for one in found.proofs for name in one.tests}
    worthless = {
        name
        for found in on.proofs
        for one in found.objections
        if one.check in _OF_WORTHLESS_TESTS
        for name in one.parts
    }
    return Mark.TESTED if names & (seen - worthless) else None


async def lacking_in_tests(on: CheckedTree, criterion: str, evidence: Sequence[Evidence]) -> list[str]:
    """Return what a criterion names that the tests in its evidence do not hold, if sq knows their code."""
    verified = on.verified
    every = [name for done in (verified.runs if verified else ()) for name in done.count.tests]
    refs = [_without(on, one.ref) for one in evidence if one.kind is EvidenceKind.TEST and one.mark]
    names = {name for ref in refs for name in named_by(ref, every).names}
    built = {
        place.rpartition(": ")[2].rpartition(".")[2]
        for found in on.proofs
        for one in found.proofs
        for place in one.functions
    }
    literals = literals_of(criterion, built)
    if not (names and literals):
        return []
    paths = [path for path in await files_in(on.repository, on.tree) if is_test_file(path)]
    paths = [path for path in paths if of_files(names, [path])] or paths
    contents = await contents_at(on.repository, on.tree, paths[:_MOST_FILES], largest=_LARGEST)
    reading = partial(text_of_tests, names, contents, every)
    texts = await aside_or(list[str](), reading, "the tests that are named as evidence")
    there = set(held(literals, texts))
    if not texts or not there.issuperset(literals):
        return [one for one in literals if one not in there] if texts else []
    apart = [one for one in pieces_of(criterion) if all(len(held(one, [text])) < len(one) for text in texts)]
    return [f"{' and '.join(one)} together" for one in apart if one]


def _without_the_work(on: CheckedTree, names: set[str]) -> str:
    """Return that tests pass without the work too, or "".

    A test of before the work may still show a behaviour that was there. One that came with the work and does
    not need it shows nothing of the work.
    """
    before = passed_before(on.view)
    unneeded = {one.subject for found in on.proofs for one in found.of(CODE_BEFORE)}
    needing = {
        name for found in on.proofs for one in found.proofs if one.check == WITHOUT_WORK for name in one.tests
    }
    if any(found.all_taken_out for found in on.proofs) and not needing & names:
        unneeded |= names
    before -= {one.subject for found in on.proofs for one in found.of(BASE_TESTS)}
    if names <= before:
        return f", and {'a test' if len(names) == 1 else 'tests'} of this name passed {BEFORE}"
    return _NEEDS_NO_WORK if names <= before | unneeded else ""


def passed_before(view: RunView) -> set[str]:
    """Return the tests that passed on the untouched commit."""
    checks = view.baseline.checks.values()
    return {name for check in checks for name in names_of(check.run.count, TestState.PASSED)}


async def _unnamed(on: CheckedTree, evidence: Evidence, verified: VerificationFinished) -> Evidence:
    """Return the result for a test that no runner names: it is missing, or the runner names no tests."""
    silent = [done for done in verified.runs if _may_have_run_it(on, done)]
    if not silent:
        return replace(evidence, holds=False, why="sq ran no test of this name on this tree")
    path, test = file_and_test(_without(on, evidence.ref))
    command = silent[0].command
    if not path:
        return replace(evidence, holds=None, why=f"sq read no names of tests in the output of `{command}`")
    content = await _content(on, on.tree, path)
    if content is None:
        return replace(evidence, holds=False, why=f"the tree holds no file {path}")
    if test and test.encode() not in content:
        return replace(evidence, holds=False, why=f"{path} does not hold {test}")
    return replace(
        evidence,
        holds=None,
        why=f"{path} holds it, `{command}` passed, and sq read no names of tests in its output",
    )


def _may_have_run_it(on: CheckedTree, done: CommandRun) -> bool:
    """Whether a command passed and may have run tests that it does not name."""
    ran_some = done.count.ran is None or done.count.ran > 0
    return (
        done.passed
        and ran_some
        and not done.count.tests
        and suite_of(done.command, on.folder).runs_tests is not False
    )


def _command(on: CheckedTree, evidence: Evidence) -> Evidence:
    """Return the result for a command. It is about the whole, so it shows no single criterion."""
    wanted = _plain(evidence.ref)
    runs = on.verified.runs if on.verified else ()
    done = next((one for one in runs if _plain(one.command) == wanted), None)
    if done is None:
        return replace(evidence, holds=None, why="it is no command that sq ran on this tree")
    known = suite_of(done.command, on.folder).runs_tests
    told = replace(evidence, general=True)
    if not done.passed:
        return replace(told, holds=False, why=done.problem or f"it failed with exit code {done.exit_code}")
    if known and not done.count.ran:
        return replace(told, holds=None, why="it passed, and no test is known to have run in it")
    said = {
        (one.check, one.subject)
        for found in on.proofs
        for one in found.objections
        if one.weight is not Weight.UNKNOWN
    }
    if (CLEAN_COPY, done.command) in said:
        return replace(told, holds=None, why="it passes in the checkout only, and not on a clean copy of it")
    if (CANARY, done.command) in said:
        return replace(told, holds=None, why="it passes with an added test that must fail too")
    old = on.view.baseline.checks.get(done.command)
    when = f", and {BEFORE}" if old and old.run.passed else ""
    return replace(told, holds=True, why=f"it passed on this tree, as a whole{when}")


def _plain(command: str) -> str:
    return " ".join(command.strip().strip("`").removeprefix("$ ").split())


async def _line(on: CheckedTree, evidence: Evidence) -> Evidence:
    place = _PLACE.match(evidence.ref.strip().strip("`"))
    named = place["path"] if place else evidence.ref.strip().strip("`")
    path = posixpath.normpath(_without(on, named))
    content = await _content(on, on.tree, path)
    if content is None:
        return replace(evidence, holds=False, why=f"the tree holds no file {path}")
    if on.seen and content != await _content(on, on.seen, path):
        return replace(evidence, holds=None, why=f"{path} has changed since the review")
    if place is None:
        return replace(evidence, holds=None, why="the file is there, but no line of it is named")
    first, last = int(place["first"]), int(place["last"] or place["first"])
    lines = content.decode(errors="replace").split("\n")
    shown = " ".join(" ".join(lines[first - 1 : last]).split()) if 0 < first <= last else ""
    if not shown or last > len(lines):
        return replace(evidence, holds=False, why=f"{path} has {len(lines)} lines, and there are no words")
    old = await _content(on, on.view.baseline.tree, path) if on.view.baseline.tree else None
    stood = old is not None and await aside_or(False, partial(_stood, old, content, first, last), path)
    when = f" (it stood there {BEFORE})" if stood else ""
    return replace(evidence, holds=True, why=f"it reads: {shown[:_SHOWN]}{when}")


def _stood(old: bytes, new: bytes, first: int, last: int) -> bool:
    """Whether lines of a file, from 1, are old ones: none is new, or they stand as often as they did."""
    _, (_, added) = changed_lines(old, new)
    if not any(first <= line <= last for line in added):
        return True
    before, now = (" ".join(one.decode(errors="replace").split()) for one in (old, new))
    shown = " ".join(" ".join(new.decode(errors="replace").split("\n")[first - 1 : last]).split())
    return 0 < now.count(shown) <= before.count(shown)


async def _content(on: CheckedTree, tree: str, path: str) -> bytes | None:
    """Return the content of a file in a tree, or None if there is no such file or it is too large."""
    if not path or path.startswith(("/", "../")):
        return None
    try:
        size = int(await git(on.repository, "cat-file", "-s", f"{tree}:{path}"))
        if size > _LARGEST:
            return None
        return await git_bytes(on.repository, "cat-file", "blob", f"{tree}:{path}")
    except GitError:
        return None


def _without(on: CheckedTree, ref: str) -> str:
    """Return a reference without the folder in which the reviewer read."""
    for folder in _longest_first(on.read_in):
        ref = ref.removeprefix(f"{folder.rstrip('/')}/")
    return ref.removeprefix("./")


def _longest_first(folders: tuple[str, ...]) -> Iterator[str]:
    yield from sorted((folder for folder in folders if folder), key=len, reverse=True)


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
