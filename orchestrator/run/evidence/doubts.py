"""Doubts about files of the work: they run later, lead out of the repository, or look at a test runner.

An editor, a shell, git, an agent or a service starts or obeys files for their name alone, where somebody
takes the work (`orchestrator/project/runs_later.yaml`). So each is a doubt, unless the spec names it.
(product.md, section 10)

Product code that newly looks at a test runner, or touches it, may behave otherwise when it is tested. The
rows of the table say what code does so, for all runners. Tests and their environment may do it, and so may a
product that did it at the base. (product.md, section 12)
"""

import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import PurePosixPath

from agents.concurrency import aside
from orchestrator.git.command import git
from orchestrator.git.trees import contents_at, landing
from orchestrator.project.files import belongs_to_tests, is_test_file
from orchestrator.project.functions.languages import language_of
from orchestrator.project.runners.table import usual_table
from orchestrator.project.runs_later import known_as, runs_later
from orchestrator.run.evidence.changes import is_test_data
from orchestrator.run.evidence.comparison import ResultComparison
from orchestrator.run.record import Run
from state.errors import GitError

_MOST_LATER = 1_000
_LARGEST = 100_000_000  # bytes of a file
_SENTENCE = re.compile(r"\n|(?<=[.!?;])\s")
_REFUSES = re.compile(r"\b(?:not?|never|without|leave|leaves|keep|except)\b|n't\b", re.IGNORECASE)


def files_that_run_later(
    spec: str,
    changed: Collection[str],
    before: Mapping[str, str],
    now: Mapping[str, str],
    *,
    every: Collection[str] = (),
    added: Mapping[str, Collection[str]] | None = None,
) -> tuple[str, ...]:
    """Return the changed files that run later, and new links that lead out, as `path → target`.

    Those that `spec` names are left out. A git repository whose parts are files of the tree counts by its
    HEAD: git runs the programs of its settings there.

    Args:
        spec: the user's words.
        changed: the paths that differ.
        before: the links of the base.
        now: the links of the tree.
        every: all paths of the tree. Only new links give one of them a new name.
        added: the new lines of the changed files of which only some lines count.
    """
    there = set(changed) & set(every)
    found = [
        path if name == path else f"{path} (by a link it is {name})"
        for name, path in _named(changed, before, now, every).items()
        if (row := runs_later(name))
        and not names(spec, name, row.terms)
        and (not row.file.holds or _has_line(row.file.holds, path, there, added or {}))
    ]
    found += _repositories(changed, every)
    for path in now:
        stood = before.get(path) == now[path] and leads_out(path, before)
        if leads_out(path, now) and not stood and not names(spec, path, ()):
            found.append(f"{path} → {now[path]}")
    more = [f"{len(found) - _MOST_LATER} more"] if len(found) > _MOST_LATER else []
    return (*found[:_MOST_LATER], *more)


def _has_line(holds: str, path: str, there: Collection[str], added: Mapping[str, Collection[str]]) -> bool:
    """Whether a file has a new line of these. One that cannot be read under its name counts as if it had."""
    if path not in added:
        return path in there
    return any(re.search(holds, one) for one in added[path])


def _named(
    changed: Iterable[str], before: Mapping[str, str], now: Mapping[str, str], every: Iterable[str]
) -> dict[str, str]:
    """Return the changed paths, and those of all that links give a new name, by each of their names."""
    found = {name: path for path in changed for name in known_as(path, now)}
    for path in every if before != now else ():
        for name in set(known_as(path, now)) - set(known_as(path, before)):
            found.setdefault(name, path)
    return found


def _repositories(changed: Collection[str], every: Collection[str]) -> Iterator[str]:
    """Yield the HEAD of each changed folder that git takes for a repository without a worktree."""
    paths = dict.fromkeys((*changed, *every))
    heads = {path: path[: -len("/head")].lower() for path in paths if path.lower().endswith("/head")}
    parts: dict[str, set[str]] = {folder: set() for folder in heads.values()}
    touched = set[str]()
    for path in paths if heads else ():
        lower = path.lower()
        for slash in (at for at, one in enumerate(lower) if one == "/"):
            if (found := parts.get(lower[:slash])) is not None:
                found.add(lower[slash + 1 :].partition("/")[0])
    for path in changed if heads else ():
        touched.update(path.lower()[:at] for at, one in enumerate(path) if one == "/")
    for path, folder in heads.items():
        if folder in touched and (parts[folder] >= {"objects", "refs"} or "commondir" in parts[folder]):
            yield path


def names(spec: str, path: str, terms: Iterable[str]) -> bool:
    """Whether a sentence of a spec asks for a file: it has its path, its name, a folder of it or a term."""
    place = PurePosixPath(path)
    hidden = [part for part in place.parts[:-1] if part.startswith(".")]
    name = [place.name] if re.search(r"[.-]", place.name) else []
    words = "|".join(re.escape(one.lower()) for one in (path, *name, *hidden, *terms))
    asked = re.compile(rf"(?<![\w.-])(?:{words})(?![\w-])")
    sentences = (one.lower() for one in _SENTENCE.split(spec) if not _REFUSES.search(one))
    return any(asked.search(one) for one in sentences)


def leads_out(path: str, links: Mapping[str, str]) -> bool:
    """Whether a path of a tree leads out of it or into its git folder, through the links of the tree."""
    return landing(path, links) is None


_REPLACES = (
    r"^(?:\w[\w.]*\.(?:prototype\.)?NAME\s*=(?!=)|for \w[\w.]*\.NAME in\b|setattr\([^,\n]*,\s*[\"']NAME[\"']"
    r"|vars\([^)\n]*\)[.\[][^\n]*\bNAME\b|def (?!self\b)\w[\w:]*\.NAME\b"
    r"|\w[\w:]*\.define_singleton_method\(:NAME\b"
    r"|Object\.(?:assign|defineProperty)\([^\n]*\bNAME\b)"
)
_COMMENT = re.compile(r"\s*(?://|\*|/\*|--|#(?![\[!]|define\b))")
_LEAST_WORD = 6  # characters: a shorter word stands in any text
_MOST_MARKS = 10
_LONGEST = 80  # characters of code that are named


async def marks_between(run: Run, subject: ResultComparison) -> tuple[str, ...]:
    """Return where the work makes product code look at a runner or touch it, as `file: code`."""
    touched = subject.touched
    inline = [path for path in (*touched.held, *touched.new) if (one := language_of(path)) and one.tests]
    paths = [path for path in (*touched.code, *inline) if not is_test_data(path)]
    if not paths:
        return ()
    found: dict[str, None] = {}
    olds, news = [
        await contents_at(run.repository, tree, paths, largest=_LARGEST)
        for tree in (subject.base, subject.tree)
    ]
    for path in _shadowing(olds, news, run.view.spec_words):
        found[f"{path}: it stands in for a module of Python's"] = None
    for path in paths:
        before, after = (each.get(path, b"").decode(errors="replace") for each in (olds, news))
        for code in _new_marks(before, after, _patterns_for(PurePosixPath(path).suffix)):
            if not _is_asked_for(code, run.view.spec_words) and not await _stood_before(run, subject, code):
                found[f"{path}: {code[:_LONGEST]}"] = None
    return tuple(found)[:_MOST_MARKS]


def _shadowing(olds: Mapping[str, bytes], news: Mapping[str, bytes], spec: str) -> Iterator[str]:
    """Yield new modules that are loaded in place of one of Python's library, unless the spec has its word."""
    for path in news:
        place = PurePosixPath(path)
        top = place.parent if place.name == "__init__.py" else place
        if path in olds or place.suffix != ".py" or str(top.parent) not in {".", "src"}:
            continue
        if top.stem in sys.stdlib_module_names and not re.search(rf"\b{top.stem}\b", spec, re.IGNORECASE):
            yield path


@cache
def _patterns_for(suffix: str) -> list[re.Pattern[str]]:
    """Return the patterns of the runners whose tests are files of this suffix, or no files of a language."""
    found = []
    language = language_of(f"x{suffix}")
    own = {f"x{suffix}", language.name if language else ""}
    for row in usual_table().runners.values():
        suffixes = {f"x{PurePosixPath(glob).suffix}" for one in row.tests for glob in one.globs}
        languages = {one.name for one in map(language_of, suffixes) if one}
        if not languages or own & (suffixes | languages):
            found += [re.compile(one, re.MULTILINE) for one in row.canary.marks]
    return found


async def replaced_by_tests(run: Run, subject: ResultComparison, names: Collection[str]) -> list[str]:
    """Return where files of tests replace a function of the work for all tests, as words about each.

    `names` are those of the functions. Only what stands outside functions counts.
    """
    touched = subject.touched
    every = (*touched.new, *touched.held, *touched.data, *touched.code, *touched.configuration)
    own = [path for path in every if belongs_to_tests(path)]  # no product that has its tests inside
    contents = await contents_at(run.repository, subject.tree, own)
    one_of = "|".join(re.escape(name) for name in names) or r"(?!)"
    replaces = re.compile(_REPLACES.replace("NAME", f"(?:{one_of})"), re.MULTILINE)

    def found() -> list[str]:
        texts = ((path, replaces.search(text.decode("utf-8", "replace"))) for path, text in contents.items())
        return [f"{path} replaces what the work built: {at[0].strip()}" for path, at in texts if at]

    return await aside(found, "the tests of the work")


def _new_marks(before: str, after: str, patterns: Sequence[re.Pattern[str]]) -> Iterator[str]:
    left = Counter(line.strip() for line in before.splitlines())
    added = []
    for line in after.splitlines():
        if left[line.strip()] > 0:
            left[line.strip()] -= 1
        elif not _COMMENT.match(line):
            added.append(line)
    text = "\n".join(added)
    for pattern in patterns:
        for found in pattern.finditer(text):
            if found[0] not in before:
                yield found[0].strip().splitlines()[0]


def _is_asked_for(code: str, spec: str) -> bool:
    """Whether the spec names the longest word of the code, if that is no ordinary one."""
    word = max(re.findall(r"[\w.]+", code), key=len, default="")
    return len(word) >= _LEAST_WORD and not word.islower() and word in spec


async def _stood_before(run: Run, subject: ResultComparison, code: str) -> bool:
    """Whether product code at the base did the same."""
    try:
        holding = await git(run.repository, "grep", "-I", "-l", "-z", "-F", "-e", code, subject.base)
    except GitError:  # no file does
        return False
    files = [name.partition(":")[2] for name in holding.split("\0") if name]
    return any(not is_test_file(file) and not is_test_data(file) for file in files)
