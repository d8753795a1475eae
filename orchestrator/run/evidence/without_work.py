"""The work taken out: a command is run on the tree with the changed functions emptied, and has to fail.

If nothing fails then, no test shows the work, or something pretends. New functions are also emptied alone,
and each one that the spec names, because one honest test vouches for no other, and because another new
function may hide the failures. The files of tests that the work touched are run first: if they pass alone
with the work and fail without it, the whole does.

A function that the spec wants built, by name, is a stub if nothing stands there, whatever tests say: it does
nothing, returns the empty value, or says that it is not implemented. A new one counts if the spec names it.
One that was there counts if the spec asks for it: its words imply a stub, or say what it returns.
(product.md, section 12)
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePosixPath

from agents.concurrency import aside
from orchestrator.git.command import git
from orchestrator.git.trees import contents_at, with_contents
from orchestrator.project.files import is_test_file, third_party
from orchestrator.project.functions.emptying import Emptied, emptied
from orchestrator.project.functions.functions import Function, read_source
from orchestrator.project.functions.languages import language_of
from orchestrator.run.evidence.changes import is_test_data, of_files
from orchestrator.run.evidence.comparison import ResultComparison, Work
from orchestrator.run.evidence.summary import cause_of
from orchestrator.run.evidence.verification import run_on
from orchestrator.run.record import Run
from state.errors import GitError
from state.records.commands import CommandRun, TestState, WithoutWork
from state.words import names_of

_ALONE = 6  # functions that are emptied one by one
_WORD = re.compile(r"\w+")
_PLACE = re.compile(r"([\w./+-]+\.\w+)(?::|\()(\d+)")


@dataclass(frozen=True, kw_only=True)
class _Control:
    """The files of tests that the work touched, run with the work and without others.

    `passing` are their tests that pass then, `together` the new ones that do not.
    """

    files: tuple[str, ...] = ()
    passing: frozenset[str] = frozenset()
    together: tuple[str, ...] = ()
    seconds: float = 0.0


async def without_work(run: Run, subject: ResultComparison, work: Work) -> WithoutWork:
    """Run a command that passed with the changed functions emptied, then with the new ones alone."""
    every = [one.function for one in work.changes]
    new = [one.function for one in work.changes if one.new]
    lines = run.view.spec_words.splitlines()
    named = [one for one in every if _naming(one, lines)]
    control = await _control(run, subject, work)
    found = await _asked(run, subject, work, every, control)
    if found.needed is None and len(every) > 1:  # all of them could not be taken out together
        for one in (named or every)[:_ALONE]:
            alone = await _asked(run, subject, work, [one], control)
            found = found if alone.needed is None else replace(alone, partly=True)
            if alone.needed:
                break
    found = replace(found, together=control.together, seconds=found.seconds + control.seconds)
    if found.needed is not True:
        return found
    sets = [new] if len(new) < len(every) else []
    alike = [
        [one for one in every if one.name.rpartition(".")[2] == name] for name in _leaves(named)[:_ALONE]
    ]
    sets += [one for one in alike if len(one) < len(every) and one not in sets]
    for functions in sets:
        alone = await _asked(run, subject, work, functions, control)
        found = replace(found, seconds=found.seconds + alone.seconds)
        if alone.needed is False:
            return replace(found, functions=alone.functions, needed=False)
    return found


def _leaves(functions: Iterable[Function]) -> list[str]:
    """Return the names of functions, each once: a source and what is built of it have the same."""
    return list(dict.fromkeys(one.name.rpartition(".")[2] for one in functions))


def _naming(function: Function, lines: Iterable[str]) -> list[str]:
    name = function.name.rpartition(".")[2]
    return [line for line in lines if name in _WORD.findall(line)]


async def _control(run: Run, subject: ResultComparison, work: Work) -> _Control:
    touched = (*subject.touched.new, *subject.touched.held)
    passed = names_of(subject.now.count, TestState.PASSED)
    files = tuple(path for path in touched if path not in work.sources and of_files(passed, [path]))
    own = of_files(passed, files)
    if not files or len(own) == len(passed):
        return _Control(files=files, passing=frozenset(own))
    done = await run_on(run, subject, subject.tree, files)
    passing = frozenset(names_of(done.count, TestState.PASSED)) & set(own)
    before = subject.before.count.tests if subject.before else {}
    failing = [name for name in names_of(done.count, TestState.FAILED) if name in own and name not in before]
    if failing:
        again = await run_on(run, subject, subject.tree, files, again=True)
        failing = [name for name in failing if name in names_of(again.count, TestState.FAILED)]
    return _Control(files=files, passing=passing, together=tuple(failing), seconds=done.seconds)


async def _asked(
    run: Run, subject: ResultComparison, work: Work, functions: Sequence[Function], control: _Control
) -> WithoutWork:
    if control.passing:
        first = await _asked_of(run, subject, work, functions, control)
        if first.needed:
            return first
    return await _asked_of(run, subject, work, functions)


async def _asked_of(
    run: Run,
    subject: ResultComparison,
    work: Work,
    functions: Sequence[Function],
    control: _Control | None = None,
) -> WithoutWork:
    files = control.files if control else ()
    done, sources = await _run_without(run, subject, work, functions, files)
    if not control and done and done.passed and await run.evidence.have_outputs(run):  # of the whole work
        afresh = (await run_on(run, subject, subject.tree, files, afresh=True)).passed
        if afresh:
            done, sources = await _run_without(run, subject, work, functions, files, afresh=True)
    partly = any(source.left for source in sources)
    if done is not None and _cannot_tell(subject, done) and (broken := _named_in(done, sources)):
        left = [one for one in functions if (one.file, one.name) not in broken]
        again, others = await _run_without(run, subject, work, left, files)
        if again is not None:
            seconds = done.seconds + again.seconds
            done, sources, partly = replace(again, seconds=seconds), others, True
    taken = tuple(_name(one) for source in sources for one in source.functions)
    left_out = [f"{_name(one)}: {why}" for source in sources for one, why in source.left]
    told = WithoutWork(command=subject.command, functions=taken, partly=partly)
    if done is None:
        return replace(told, problem="; ".join(left_out) or "its functions do nothing")
    told = replace(told, seconds=done.seconds)
    if why := _cannot_tell(subject, done):
        return replace(told, problem=why)
    passed = control.passing if control else set(names_of(subject.now.count, TestState.PASSED))
    failing = tuple(name for name in names_of(done.count, TestState.FAILED) if name in passed)
    gone = tuple(name for name in sorted(passed) if name not in done.count.tests) if done.count.tests else ()
    fails = bool(done.exit_code) and not control
    return replace(told, needed=bool(failing or gone or fails), failing=(*failing, *gone))


async def _run_without(
    run: Run,
    subject: ResultComparison,
    work: Work,
    functions: Sequence[Function],
    files: Sequence[str],
    *,
    afresh: bool = False,
) -> tuple[CommandRun | None, list[Emptied]]:
    sources = _sources(work, functions)
    contents = {file: source.content for file, source in sources.items() if source.functions}
    if not contents:
        return None, list(sources.values())
    tree = await with_contents(run.repository, work.tree, contents)
    return await run_on(run, subject, tree, files, afresh=afresh), list(sources.values())


def _sources(work: Work, functions: Sequence[Function]) -> dict[str, Emptied]:
    files = dict.fromkeys(one.file for one in functions)
    return {
        file: emptied(work.sources[file], [one for one in functions if one.file == file], work.defaults)
        for file in files
    }


def _cannot_tell(subject: ResultComparison, done: CommandRun) -> str:
    """Return why a result does not say whether a test fails, or "" if it does."""
    if done.exit_code is None:
        return done.problem or "it did not answer"
    if done.broken:
        return f"its runner stopped: {done.broken}"
    ran = done.count.ran
    if done.exit_code and subject.now.count.ran and not ran:
        return f"no test ran ({cause_of(done)})"
    return ""


def _named_in(done: CommandRun, sources: Iterable[Emptied]) -> set[tuple[str, str]]:
    """Return the emptied functions that an error names by file and line, as in `src/a.rs:12`."""
    output = f"{done.failing_part}\n{done.output_tail}"
    places = {(PurePosixPath(path).name, int(line)) for path, line in _PLACE.findall(output)}
    found = set()
    for source in sources:
        for one in source.functions:
            name = PurePosixPath(one.file).name
            if any(place == name and one.line <= line <= one.last_line + 1 for place, line in places):
                found.add((one.file, one.name))
    return found


def _name(function: Function) -> str:
    return f"{function.file}: {function.name}"


# --- stubs of the spec --------------------------------------------------------------------------------------

_MOST_NAMES, _MOST_FILES = 60, 60
# An identifier in the spec: in a code span, before a bracket, or in the form of one.
_IDENTIFIER = re.compile(r"`[^`\n]*`|\b[A-Za-z_]\w+(?=\()|\b\w+_\w+\b|\b[a-z]+[A-Z]\w*\b")
_NAME = re.compile(r"[A-Za-z_]\w{2,}")
_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)]|#+)\s)")
_LITERAL = r"`?(?:none|null|nil|undefined|false|0|zero|nothing|\"\"|''|\[\]|\{\}|empty\b[\w ]*)`?"
_WANTS_NOTHING = re.compile(
    r"\b(?:do(?:es|ing)?|change[sd]?|has) nothing\b|\bnothing happens\b|\bno-?ops?\b|\babstract\b"
    r"|\b(?:stays?|remains?|keep|leave|left|add|as|only|just|with)\b[^.]{0,40}\bstubs?\b|\bstub (?:for|out)\b"
    rf"|\b(?:returns?|gives?|yields?|is|always)\s+(?:always\s+)?{_LITERAL}(?!\s*,?\s*(?:if|when|unless|where|for|on|in)\b)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\bimplement|\bfill(?:ed|s)? in\b|\bstubs?\b|\bplaceholders?\b|\btodo\b|\bso far\b"
    r"|\bnot (?:yet )?(?:built|there)\b",
    re.IGNORECASE,
)
_RESULT = (  # behind a name
    r"(?:\([^)\n]*\))?`?\s+(?:(?:in|of)\s+\S+\s+)?"
    r"(?:returns?|raises?|throws?|computes?|calculates?|converts?|gives?|yields?|must|should|has to|is to)\b"
)
_REFUSES = re.compile(
    r"\W*(?:raise|throw|panic|todo|unimplemented|fatalError|die|abort)\b[^;\n]*;?\W*", re.IGNORECASE
)
_UNBUILT = re.compile(r"not\W*(?:yet\W*)?implemented|todo|unimplemented|unsupportedoperation", re.IGNORECASE)


async def stubs_of_the_spec(run: Run, tree: str, *, task_id: str, new: Iterable[str]) -> tuple[str, ...]:
    """Return the stubs of a tree that the spec wants built, as `file: name`.

    Args:
        run: the run.
        tree: the tree.
        task_id: only those that the task's own words name, if the plan has others. With "" all.
        new: functions that the work added, as `file: name`.
    """
    spec = run.view.spec_words
    names = _names_in(spec) & _names_of_task(run, task_id)
    added = set(new)
    found = await _sources_with(run, tree, names)
    by_name = await aside(partial(_by_name, found, names), "the sources of the work")
    return tuple(
        f"{function.file}: {function.name}"
        for name, found in by_name.items()
        if all(stub for _, stub in found)
        for function, _ in found
        if wants(spec, name, is_new=f"{function.file}: {function.name}" in added)
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


def _names_of_task(run: Run, task_id: str) -> set[str]:
    """Return the words about a task, or all of the spec where no other task could build what it names."""
    if not task_id or len(run.view.tasks) == 1:
        return set(_NAME.findall(run.view.spec_words))
    task = run.view.tasks[task_id].task
    criteria = [one.text for one in run.view.plan.criteria if task_id in one.task_ids]
    return set(_NAME.findall("\n".join([task.title, task.description, *task.acceptance_criteria, *criteria])))


async def _sources_with(run: Run, tree: str, names: Iterable[str]) -> dict[str, bytes]:
    """Return the product's sources that hold one of these names."""
    asked = [part for name in sorted(names) for part in ("-e", name)]
    if not asked:
        return {}
    try:
        told = await git(run.repository, "grep", "-I", "-l", "-z", "-w", "-F", *asked, tree)
    except GitError:  # no file does
        return {}
    paths = [name.partition(":")[2] for name in told.split("\0") if name]
    paths = [
        one
        for one in paths
        if language_of(one) and not (is_test_file(one) or is_test_data(one) or third_party(one))
    ]
    return await contents_at(run.repository, tree, paths[:_MOST_FILES])


def _is_stub(content: bytes, function: Function) -> bool:
    if emptied(content, [function]).stubs:
        return True
    text = content[function.body.at : function.body.end].decode("utf-8", "replace")
    body = text.strip().strip("{}").strip()
    return bool(_REFUSES.fullmatch(body) and _UNBUILT.search(body))


def wants(spec: str, name: str, *, is_new: bool) -> bool:
    """Whether a spec wants a function of this name to do something. `is_new`: the work added it."""
    naming = [block for block in _BLOCK.split(spec) if name in _NAME.findall(block)]
    if any(map(_WANTS_NOTHING.search, naming)):
        return False
    result = re.compile(rf"\b{name}{_RESULT}", re.IGNORECASE)
    return bool(naming) and (is_new or any(_ASKS.search(block) or result.search(block) for block in naming))
