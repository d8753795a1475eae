"""The work taken out: a command is run on the tree with the changed functions emptied, and has to fail.

If nothing fails then, no test shows the work, or something pretends. New functions are also emptied alone,
and each one that the spec names, because one honest test vouches for no other, and because another new
function may hide the failures. The files of tests that the work touched are run first: if they pass alone
with the work and fail without it, the whole does. (product.md, section 12)
"""

import re
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePosixPath

from agents.concurrency import UnreadError
from orchestrator.checks.answers import Answers
from orchestrator.checks.bench import Bench
from orchestrator.checks.change import Change
from orchestrator.checks.comparison import ResultComparison, Work
from orchestrator.checks.names_of_tests import of_files
from orchestrator.checks.objecting import BUILD, REPLACED, TESTS_ALONE, doubt
from orchestrator.checks.of_work.noticing import by_small_changes, noticing, without_new_lines
from orchestrator.checks.of_work.replaced import replaced_by_tests
from orchestrator.checks.results.output import cause_of
from orchestrator.checks.results.running import run_on
from orchestrator.checks.work import work_between
from orchestrator.git.trees import with_contents
from orchestrator.project.build_files.builds import build_command, is_built
from orchestrator.project.functions.emptying import Emptied, emptied
from orchestrator.project.functions.functions import Function
from state.records.commands import CommandRun, TestState, WithoutWork
from state.words import listed, names_of

_ALONE = 6  # functions that are emptied one by one
_WORD = re.compile(r"\w+")
_PLACE = re.compile(r"([\w./+-]+\.\w+)(?::|\()(\d+)")


async def ask(change: Change, bench: Bench, compared: ResultComparison, _: Answers) -> Answers:
    """Ask whether the command fails without the work, unless it is known to run no test."""
    found = Answers()
    try:
        async for one in _found(change, bench, compared):
            found += one
    except UnreadError as error:
        found += Answers(without_work=(WithoutWork(command=compared.command, problem=str(error)),))
    return found


async def _found(change: Change, bench: Bench, compared: ResultComparison) -> AsyncIterator[Answers]:
    if compared.here.runs_tests is False and compared.command not in change.baseline.verify:
        return
    work = await work_between(change, bench, compared)
    uncounted = compared.now.count.ran is None and not change.baseline.notices_a_canary(compared.command)
    has_lines = bool(compared.touched.code) or compared.touched.decides
    if not (work.changes or (uncounted and has_lines)):
        return
    built = {one.function.name.rpartition(".")[2] for one in work.changes}
    replaced = await replaced_by_tests(change, compared, built)
    yield Answers(objections=tuple(doubt(REPLACED, compared.command, one) for one in replaced))
    yield Answers(added=tuple(_name(one.function) for one in work.changes if one.new))
    asked, stale = compared, ""
    if any(is_built(one.function.file) for one in work.changes):
        asked, stale = await _built_again(change, bench, compared)
        yield Answers(objections=(doubt(BUILD, compared.command, stale, ""),) if stale else ())
    runs = partial(run_on, bench, asked)
    if uncounted:
        answer = await noticing(change, bench, asked, work, runs)
    else:
        answer = await without_work(change, bench, asked, work)
        if answer.needed is None:
            answer = await by_small_changes(change, bench, asked, work, runs, answer)
        elif answer.needed and _only_tests_of_the_base(compared, work, answer):
            answer = await without_new_lines(change, bench, asked, work, runs, answer)
    if answer is None:
        return
    answer = replace(answer, command=compared.command)
    yield Answers(without_work=(answer,))
    if answer.together:
        names = listed(answer.together)
        alone = f"`{compared.command}` passes, but run without other files of tests {names} fails"
        yield Answers(objections=(doubt(TESTS_ALONE, compared.command, alone),))
    before = compared.before.count.tests if compared.before else {}
    new = {name for name in names_of(compared.now.count, TestState.PASSED) if name not in before}
    # Without a function of the base, each test that calls it fails, whatever the work changed in it.
    shown = bool(answer.needed) and new <= set(answer.failing) and all(one.new for one in work.changes)
    yield Answers(idle=_idle(compared, work, answer), shown=(compared.command,) if shown else ())


async def _built_again(
    change: Change, bench: Bench, compared: ResultComparison
) -> tuple[ResultComparison, str]:
    """Return the comparison with the project's own build in front of its command, if the work passes so.

    If it does not and the base did, the work's committed build is not what its source makes, which is said.
    """
    async with bench.scratch(change.tree) as scratch:
        build = build_command(scratch.folder)
    again = replace(compared, command=f"{build} && {compared.command}")
    if not build:
        return compared, ""
    done = await run_on(bench, again, change.tree, [])
    if done.passed:
        return again, ""
    stale = done.exit_code and (await run_on(bench, again, change.base, [])).passed
    told = f"`{compared.command}` passes with the build that the work commits, and fails after `{build}`, so"
    return compared, f"{told} the source does not make that build ({cause_of(done)})" if stale else ""


def _only_tests_of_the_base(compared: ResultComparison, work: Work, answer: WithoutWork) -> bool:
    """Whether the work only changed functions of the base, and no new or changed test fails without them."""
    if compared.touched.data or any(one.new for one in work.changes):
        return False
    before = compared.before.count.tests if compared.before else {}
    touched = of_files(answer.failing, (*compared.touched.new, *compared.touched.held))
    passed = all(before.get(name) is TestState.PASSED for name in answer.failing)
    return bool(answer.failing) and passed and not touched


def _idle(compared: ResultComparison, work: Work, answer: WithoutWork) -> tuple[str, ...]:
    """Return the tests of changed files that pass without the work, if all of it was taken out."""
    all_of_it = set(compared.touched.code) <= set(work.sources) and not compared.touched.data
    if not (answer.needed and compared.before and all_of_it and len(answer.functions) == len(work.changes)):
        return ()
    passed = set(names_of(compared.before.count, TestState.PASSED))
    passed &= set(names_of(compared.now.count, TestState.PASSED))
    return tuple(sorted(set(of_files(passed, compared.touched.held)) - set(answer.failing)))


@dataclass(frozen=True, kw_only=True)
class _Control:
    """The files of tests that the work touched, run with the work and without others.

    `passing` are their tests that pass then, `together` the new ones that do not.
    """

    files: tuple[str, ...] = ()
    passing: frozenset[str] = frozenset()
    together: tuple[str, ...] = ()
    seconds: float = 0.0


async def without_work(change: Change, bench: Bench, compared: ResultComparison, work: Work) -> WithoutWork:
    """Run a command that passed with the changed functions emptied, then with the new ones alone."""
    every = [one.function for one in work.changes]
    new = [one.function for one in work.changes if one.new]
    lines = change.spec.splitlines()
    named = [one for one in every if _naming(one, lines)]
    control = await _control(change, bench, compared, work)
    found = await _asked(change, bench, compared, work, every, control)
    if found.needed is None and len(every) > 1:  # all of them could not be taken out together
        for one in (named or every)[:_ALONE]:
            alone = await _asked(change, bench, compared, work, [one], control)
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
        alone = await _asked(change, bench, compared, work, functions, control)
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


async def _control(change: Change, bench: Bench, compared: ResultComparison, work: Work) -> _Control:
    touched = (*compared.touched.new, *compared.touched.held)
    passed = names_of(compared.now.count, TestState.PASSED)
    files = tuple(path for path in touched if path not in work.sources and of_files(passed, [path]))
    own = of_files(passed, files)
    if not files or len(own) == len(passed):
        return _Control(files=files, passing=frozenset(own))
    done = await run_on(bench, compared, change.tree, files)
    passing = frozenset(names_of(done.count, TestState.PASSED)) & set(own)
    before = compared.before.count.tests if compared.before else {}
    failing = [name for name in names_of(done.count, TestState.FAILED) if name in own and name not in before]
    if failing:
        again = await run_on(bench, compared, change.tree, files, again=True)
        failing = [name for name in failing if name in names_of(again.count, TestState.FAILED)]
    return _Control(files=files, passing=passing, together=tuple(failing), seconds=done.seconds)


async def _asked(
    change: Change,
    bench: Bench,
    compared: ResultComparison,
    work: Work,
    functions: Sequence[Function],
    control: _Control,
) -> WithoutWork:
    if control.passing:
        first = await _asked_of(change, bench, compared, work, functions, control)
        if first.needed:
            return first
    return await _asked_of(change, bench, compared, work, functions)


async def _asked_of(
    change: Change,
    bench: Bench,
    compared: ResultComparison,
    work: Work,
    functions: Sequence[Function],
    control: _Control | None = None,
) -> WithoutWork:
    files = control.files if control else ()
    done, sources = await _run_without(change, bench, compared, work, functions, files)
    if not control and done and done.passed and await bench.have_outputs():  # of the whole work
        afresh = (await run_on(bench, compared, change.tree, files, afresh=True)).passed
        if afresh:
            done, sources = await _run_without(change, bench, compared, work, functions, files, afresh=True)
    partly = any(source.left for source in sources)
    if done is not None and _cannot_tell(compared, done) and (broken := _named_in(done, sources)):
        left = [one for one in functions if (one.file, one.name) not in broken]
        again, others = await _run_without(change, bench, compared, work, left, files)
        if again is not None:
            seconds = done.seconds + again.seconds
            done, sources, partly = replace(again, seconds=seconds), others, True
    taken = tuple(_name(one) for source in sources for one in source.functions)
    left_out = [f"{_name(one)}: {why}" for source in sources for one, why in source.left]
    told = WithoutWork(command=compared.command, functions=taken, partly=partly)
    if done is None:
        return replace(told, problem="; ".join(left_out) or "its functions do nothing")
    told = replace(told, seconds=done.seconds)
    if why := _cannot_tell(compared, done):
        return replace(told, problem=why)
    passed = control.passing if control else set(names_of(compared.now.count, TestState.PASSED))
    failing = tuple(name for name in names_of(done.count, TestState.FAILED) if name in passed)
    gone = tuple(name for name in sorted(passed) if name not in done.count.tests) if done.count.tests else ()
    fails = bool(done.exit_code) and not control
    return replace(told, needed=bool(failing or gone or fails), failing=(*failing, *gone))


async def _run_without(
    change: Change,
    bench: Bench,
    compared: ResultComparison,
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
    tree = await with_contents(change.repository, work.tree, contents)
    return await run_on(bench, compared, tree, files, afresh=afresh), list(sources.values())


def _sources(work: Work, functions: Sequence[Function]) -> dict[str, Emptied]:
    files = dict.fromkeys(one.file for one in functions)
    return {
        file: emptied(work.sources[file], [one for one in functions if one.file == file], work.defaults)
        for file in files
    }


def _cannot_tell(compared: ResultComparison, done: CommandRun) -> str:
    """Return why a result does not say whether a test fails, or "" if it does."""
    if done.exit_code is None:
        return done.problem or "it did not answer"
    if done.broken:
        return f"its runner stopped: {done.broken}"
    ran = done.count.ran
    if done.exit_code and compared.now.count.ran and not ran:
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
