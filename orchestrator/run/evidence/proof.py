"""Proofs: the worth of a passed verification, checked on the tests themselves, each in a clean scratch.

Do the tests of the base hold as they were? Do the new ones fail without the work? Does the command still
notice a failing test? (product.md, section 12)
"""

from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from agents.concurrency import UnreadError, aside_or
from orchestrator.checks import objecting
from orchestrator.git.trees import changed_paths, contents_at, files_in, links_in, pieced_together
from orchestrator.project.build_files.builds import build_command, is_built
from orchestrator.project.checks import is_check
from orchestrator.project.runners.canary import Canary
from orchestrator.project.runners.suite import suite_of
from orchestrator.project.runs_later import runs_later
from orchestrator.run.evidence.base_tests import base_tests, check_as_at_the_base
from orchestrator.run.evidence.canaries import make_canary, try_canary, try_whole
from orchestrator.run.evidence.changes import PROSE, lost_tests, of_files, unnumbered
from orchestrator.run.evidence.comparison import (
    BaseTestResults,
    ResultComparison,
    Work,
    at_base,
    inline_among,
    subject_of,
    with_tests_of,
    work_between,
)
from orchestrator.run.evidence.doubts import files_that_run_later, marks_between, replaced_by_tests
from orchestrator.run.evidence.facts import facts_of
from orchestrator.run.evidence.noticing import by_small_changes, noticing
from orchestrator.run.evidence.objections import without_spared
from orchestrator.run.evidence.other_results import NewTests, new_tests
from orchestrator.run.evidence.strength import with_weakened
from orchestrator.run.evidence.summary import cause_of, noticed_before, results
from orchestrator.run.evidence.verdict import CommandVerdict, Judged, judged
from orchestrator.run.evidence.verification import run_on
from orchestrator.run.evidence.without_work import stubs_of_the_spec, without_work
from orchestrator.run.purpose import PROOFS, asks, run_for
from orchestrator.run.record import Run
from state.journal.events import ProofsTaken, VerificationFinished
from state.records.commands import CanaryResult, CommandRun, TestState, WithoutWork
from state.records.objections import Objection, Proof, Weight
from state.records.reviews import TestChange, TestChangeKind
from state.words import listed, names_of

_T = TypeVar("_T")
_LARGEST_LOOKED_AT = 100_000_000  # bytes of a file of which some lines count


@dataclass(slots=True, kw_only=True)
class _Found:
    changes: list[TestChange] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)
    failed_before: list[str] = field(default_factory=list)
    canaries: list[CanaryResult] = field(default_factory=list)
    untold: list[Objection] = field(default_factory=list)
    only_here: list[str] = field(default_factory=list)
    without_work: list[WithoutWork] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)
    unlike: list[Objection] = field(default_factory=list)
    idle: set[str] = field(default_factory=set)
    new: list[str] = field(default_factory=list)


async def take_proofs(run: Run, finished: VerificationFinished, *, task_id: str, base: str) -> ProofsTaken:
    """As `TakeProofs`."""
    run_for(PROOFS, task_id)
    tree = finished.tree
    known = run.view.evidence.proofs.get((task_id, tree))
    if known and _holds(run, task_id, tree):
        return known
    found = _Found()
    same = None if task_id else _of_the_same(run, base, tree)
    passed = results(run, finished)
    found.changes += _lost(run, base, passed)
    subjects = []
    for one in passed:
        if one.verdict in {CommandVerdict.PASSED, CommandVerdict.NO_EVIDENCE}:
            found.untold += _fewer(run, base, one.run)
            subject = await subject_of(run, one.run, base, tree)
            subjects.append(subject)
            await _ask(run, subject, found, whole=not task_id, asked=same is not None)
    facts, broken = await facts_of(
        run, tree, task_id=task_id, base=base, runs=() if task_id else finished.runs
    )
    stubs = () if same else await _stubs(run, tree, task_id, found)
    later = await _later(run, base, (not task_id and run.view.whole.merged_tree) or tree)
    changes = await _with_weakened(run, base, tree, subjects, found)
    objections, answers = _answers(run, found, changes, broken, stubs, later)
    objections = [without_spared(run.view, task_id, one) for one in objections]
    if same:
        objections = _with_those_of_the_task(same, objections)
        answers = [*(one for one in same.proofs if one.check != objecting.CANARY), *answers]
    proofs = ProofsTaken(
        task_id=task_id,
        tree=tree,
        base=base,
        objections=tuple(objections),
        proofs=tuple(answers),
        facts=facts,
        only_prose=all(map(PROSE.search, await changed_paths(run.repository, base, tree))),
        all_taken_out=any(one.needed is not None and not one.partly for one in found.without_work)
        or bool(same and same.all_taken_out),
    )
    run.record(proofs)
    return proofs


def _answers(
    run: Run,
    found: _Found,
    changes: Iterable[TestChange],
    broken: Iterable[tuple[str, str]],
    stubs: Iterable[str],
    later: Iterable[str],
) -> tuple[list[Objection], list[Proof]]:
    """Return what was found as objections, each once, and as proofs."""
    base = run.view.baseline.checks
    every: list[Objection | Proof] = [
        *objecting.broken(broken),
        *map(objecting.later, later),
        *map(objecting.stub, stubs),
        *objecting.changed(changes),
        *objecting.without_work(found.without_work),
        *map(objecting.runner_mark, dict.fromkeys(found.marks)),
        *found.unlike,
        *(
            objecting.canary(one, counts=noticed_before(base.get(one.command)))
            for one in found.canaries
            if one.caught is not None
        ),
        *map(objecting.only_here, found.only_here),
        *map(objecting.unproven, dict.fromkeys(found.unproven)),
        *found.untold,
    ]
    if found.failed_before:
        command, failed = "", tuple(found.failed_before)
        every.append(Proof(check=objecting.CODE_BEFORE, command=command, tests=failed))
    objections = list(dict.fromkeys(one for one in every if isinstance(one, Objection)))
    return objections, [one for one in every if isinstance(one, Proof)]


_OF_FILES = frozenset({objecting.CONSTRAINTS, objecting.RUNS_LATER})  # asked of the whole again


def _with_those_of_the_task(task: ProofsTaken, whole: Sequence[Objection]) -> list[Objection]:
    """Return the objections to the whole, with those to the lone task that is the whole."""
    stay = [one for one in task.objections if one.check not in _OF_FILES and one.weight is not Weight.UNKNOWN]
    stay = [one for one in stay if one.check != objecting.CANARY]
    known = {one.id for one in stay}
    return [*stay, *(one for one in whole if one.id not in known)]


async def _later(run: Run, base: str, tree: str) -> tuple[str, ...]:
    """As `files_that_run_later`, between two trees."""
    changed = await changed_paths(run.repository, base, tree)
    now = await links_in(run.repository, tree)
    before = await links_in(run.repository, base)
    every = await files_in(run.repository, tree)
    named = [path for path in changed if "\N{REPLACEMENT CHARACTER}" not in path]  # others may be two files
    looked = [path for path in named if (row := runs_later(path)) and row.file.holds]
    olds, news = [
        await contents_at(run.repository, one, looked, largest=_LARGEST_LOOKED_AT) for one in (base, tree)
    ]
    added = {
        path: set(news[path].decode(errors="replace").splitlines())
        - set(olds.get(path, b"").decode(errors="replace").splitlines())
        for path in news
    }
    found = partial(files_that_run_later, run.view.spec_words, changed, before, now, every=every, added=added)
    return await aside_or(("files whose names cannot be read",), found, "the names of the work's files")


def _of_the_same(run: Run, base: str, tree: str) -> ProofsTaken | None:
    """Return the proofs of a lone task if its work is the whole: the same tree, begun with the same base."""
    if len(run.view.tasks) != 1:
        return None
    for (task_id, one), proofs in run.view.evidence.proofs.items():
        if task_id and one == tree and proofs.base == base and _holds(run, task_id, one):
            return proofs
    return None


def _holds(run: Run, task_id: str, tree: str) -> bool:
    """Whether proofs are about the newest verification of their tree. Another environment has a newer one."""
    evidence = run.view.evidence
    return evidence.proved_at[task_id, tree] > evidence.verified_at.get(tree, 0)


def _lost(run: Run, base: str, found: Sequence[Judged]) -> list[TestChange]:
    """Return the base's tests that no command runs any more. Another command may run a test now."""
    before: dict[str, TestState] = {}
    after: dict[str, TestState] = {}
    for one in found:
        count = one.run.count
        after |= count.tests
        earlier = at_base(run, base, one.run.command)
        if earlier and (count.tests or count.says_none or one.run.nothing_yet):  # else unknown now
            before |= earlier.count.tests
    return lost_tests(before, after)


def _fewer(run: Run, base: str, now: CommandRun) -> list[Objection]:
    """Return that a command ran fewer tests than before, if it does not name them."""
    earlier = at_base(run, base, now.command)
    before, after = earlier.count.ran if earlier else None, now.count.ran
    if now.count.tests or before is None or after is None or after >= before:
        return []
    why = f"which tests are gone: `{now.command}` ran {before} before and runs {after}, and names none"
    return [objecting.unknown(objecting.BASE_TESTS, now.command, why)]


async def _ask(run: Run, subject: ResultComparison, found: _Found, *, whole: bool, asked: bool) -> None:
    """Ask about one command, in the order of worth. `asked`: a task's proofs have answered for these trees.

    The questions that `limits.verify_total_s` leaves no time for are named.
    """
    if is_check(subject.here):
        if not asked and _in_time(
            run, subject, found, objecting.BASE_TESTS, "the check with the configuration of the base"
        ):
            found.changes += await check_as_at_the_base(run, subject)
        return
    if not asked:
        found.marks += await marks_between(run, subject)
        if subject.asks_the_base:
            found.changes += await _as_they_were(run, subject, found, whole=whole)
    shown = asked or await _work_and_tests(run, subject, found)
    if not (whole or shown) and _in_time(
        run, subject, found, objecting.CODE_BEFORE, "the new tests on the code before"
    ):
        red = await red_before_green(run, subject)
        found.unproven += red.unproven
        found.untold += _unknown(objecting.CODE_BEFORE, subject, red.untold)
        found.failed_before += red.failed
    if whole and not run.settings.worktrees:
        await _on_a_clean_copy(run, subject, found)
    if (whole or subject.touched.decides) and _in_time(
        run, subject, found, objecting.CANARY, "a failing test"
    ):
        await _canary(run, subject, found, whole=whole)


async def _as_they_were(
    run: Run, subject: ResultComparison, found: _Found, *, whole: bool
) -> Sequence[TestChange]:
    """Return the base's tests that do not hold as they were: all of them, if that cannot be asked."""
    question = "the base's tests as they were"
    paths, why = subject.touched.as_it_was, "sq did not run it as it was"
    answer = BaseTestResults(changes=_not_asked(paths, TestChangeKind.FAILS, why))
    if _in_time(run, subject, found, objecting.BASE_TESTS, question):
        asking = base_tests(run, subject, whole=whole or len(run.view.tasks) == 1)
        about = f"{question}, for `{subject.command}`"
        answer = await or_left_out(found.untold, objecting.BASE_TESTS, about, asking, answer)
    found.untold += _unknown(objecting.BASE_TESTS, subject, answer.untold)
    return answer.changes


async def _with_weakened(
    run: Run, base: str, tree: str, subjects: Sequence[ResultComparison], found: _Found
) -> tuple[TestChange, ...]:
    """As `with_weakened`. If that cannot be asked, each changed file of tests may check less."""
    held = [path for one in subjects for path in one.touched.held]
    otherwise = (*found.changes, *_not_asked(held, TestChangeKind.WEAKENED, "sq did not compare it"))
    asking = with_weakened(run, base, tree, subjects, found.changes, idle=found.idle)
    return await or_left_out(
        found.untold, objecting.BASE_TESTS, "which changed tests check less", asking, otherwise
    )


async def _stubs(run: Run, tree: str, task_id: str, found: _Found) -> tuple[str, ...]:
    asking = stubs_of_the_spec(run, tree, task_id=task_id, new=found.new)
    return await or_left_out(found.untold, objecting.STUBS, "which functions do nothing", asking, ())


def _not_asked(paths: Iterable[str], kind: TestChangeKind, why: str) -> tuple[TestChange, ...]:
    return tuple(TestChange(test="", path=path, kind=kind, detail=why) for path in paths)


async def or_left_out(
    untold: list[Objection], check: str, question: str, asking: Awaitable[_T], otherwise: _T
) -> _T:
    """Return an answer, or what stands for it if files take too much to read. Then the question is named."""
    try:
        return await asking
    except UnreadError as error:
        untold.append(objecting.unknown(check, question, f"{question}: left out, because {error}"))
        return otherwise


def _in_time(run: Run, subject: ResultComparison, found: _Found, check: str, question: str) -> bool:
    """Whether `limits.verify_total_s` leaves time for a question. If not, `found.untold` gets the reason."""
    asks(question)
    if run.commands.seconds <= run.limits.verify_total_s:
        return True
    why = (
        f"{question}, for `{subject.command}`: left out, because the project's commands took "
        f"{run.commands.seconds:.0f} s already (limits.verify_total_s)"
    )
    found.untold.append(objecting.unknown(check, subject.command, why))
    return False


async def _work_and_tests(run: Run, subject: ResultComparison, found: _Found) -> bool:
    """Ask whether tests fail without the work and with other results. Returns as `_without_work`."""
    shown = False
    if _in_time(run, subject, found, objecting.WITHOUT_WORK, "the work taken out"):
        try:
            shown = await _without_work(run, subject, found)
        except UnreadError as error:
            found.without_work.append(WithoutWork(command=subject.command, problem=str(error)))
    question = "the new tests with other results"
    if _in_time(run, subject, found, objecting.OTHER_RESULTS, question):
        asking = new_tests(run, subject)
        about = f"{question}, for `{subject.command}`"
        new = await or_left_out(found.untold, objecting.OTHER_RESULTS, about, asking, NewTests())
        found.unlike += [objecting.loose(subject.command, new.loose)] if new.loose else []
        needing = set(found.without_work[-1].failing) if found.without_work else set()
        if needing and needing.issubset(new.comparing_nothing):
            found.unlike.append(objecting.compares_nothing(subject.command, sorted(needing)))
    return shown


async def _without_work(run: Run, subject: ResultComparison, found: _Found) -> bool:
    """Ask whether the command fails without the work, unless it is known to run no test.

    Returns whether it does, and with it each test that it names and that is new.
    """
    if subject.here.runs_tests is False and subject.command not in run.settings.verify:
        return False
    work = await work_between(run, subject)
    uncounted = subject.now.count.ran is None and not _notices_a_canary(run, subject)
    has_lines = bool(subject.touched.code) or subject.touched.decides
    if not (work.changes or (uncounted and has_lines)):
        return False
    built = {one.function.name.rpartition(".")[2] for one in work.changes}
    replaced = await replaced_by_tests(run, subject, built)
    found.unlike += [objecting.doubt(objecting.REPLACED, subject.command, one) for one in replaced]
    found.new += [f"{one.function.file}: {one.function.name}" for one in work.changes if one.new]
    answer = await _taken_out(run, subject, work, found, uncounted=uncounted)
    if answer is None:
        return False
    found.without_work.append(answer)
    if answer.together:
        names = listed(answer.together)
        alone = f"`{subject.command}` passes, but run without other files of tests {names} fails"
        found.unlike.append(objecting.doubt(objecting.TESTS_ALONE, subject.command, alone))
    before = subject.before.count.tests if subject.before else {}
    added = {name for name in names_of(subject.now.count, TestState.PASSED) if name not in before}
    found.idle |= _idle(subject, work, answer)
    return bool(answer.needed) and added <= set(answer.failing)


async def _taken_out(
    run: Run, subject: ResultComparison, work: Work, found: _Found, *, uncounted: bool
) -> WithoutWork | None:
    """Return the answer of the command without the work, None if the work has no code."""
    asked = subject
    if any(is_built(one.function.file) for one in work.changes):
        asked, stale = await _built_again(run, subject)
        found.unlike += [objecting.doubt(objecting.BUILD, subject.command, stale, "")] if stale else []
    answer = await (noticing if uncounted else without_work)(run, asked, work)
    if answer and answer.needed is None and not uncounted:
        answer = await by_small_changes(run, asked, work, answer)
    return answer and replace(answer, command=subject.command)


async def _built_again(run: Run, subject: ResultComparison) -> tuple[ResultComparison, str]:
    """Return the comparison with the project's own build in front of its command, if the work passes so.

    If it does not and the base did, the work's committed build is not what its source makes, which is said.
    """
    async with run.evidence.scratch_worktree(run, subject.tree) as scratch:
        build = build_command(scratch.folder)
    again = replace(subject, command=f"{build} && {subject.command}")
    if not build:
        return subject, ""
    done = await run_on(run, again, subject.tree, [])
    if done.passed:
        return again, ""
    stale = done.exit_code and (await run_on(run, again, subject.base, [])).passed
    told = f"`{subject.command}` passes with the build that the work commits, and fails after `{build}`, so"
    return subject, f"{told} the source does not make that build ({cause_of(done)})" if stale else ""


def _notices_a_canary(run: Run, subject: ResultComparison) -> bool:
    check = run.view.baseline.checks.get(subject.command)
    return bool(check and check.canary and check.canary.caught)


def _idle(subject: ResultComparison, work: Work, answer: WithoutWork) -> set[str]:
    """Return the tests of changed files that pass without the work, if all of it was taken out."""
    all_of_it = set(subject.touched.code) <= set(work.sources) and not subject.touched.data
    if not (answer.needed and subject.before and all_of_it and len(answer.functions) == len(work.changes)):
        return set()
    passed = set(names_of(subject.before.count, TestState.PASSED))
    passed &= set(names_of(subject.now.count, TestState.PASSED))
    return set(of_files(passed, subject.touched.held)) - set(answer.failing)


async def _on_a_clean_copy(run: Run, subject: ResultComparison, found: _Found) -> None:
    """Whether a command that passed in the checkout passes on its files alone, if it did at the base.

    Ignored files in the checkout may have been changed so that it passes.
    """
    check = run.view.baseline.checks.get(subject.command)
    if not (check and check.canary and check.canary.caught):
        return
    done = await run_on(run, subject, subject.tree, [])
    if judged(check, done).verdict is CommandVerdict.FAILED:
        found.only_here.append(subject.command)


async def _canary(run: Run, subject: ResultComparison, found: _Found, *, whole: bool) -> None:
    """Check whether the command notices a failing test on the tree, unless it did not at the base.

    On the whole, that is asked inside the whole command, which also has to
    do the same when it is run plainly.
    """
    check = run.view.baseline.checks.get(subject.command)
    tried = check.canary if check and check.canary and not check.canary.is_impossible else None
    canary = None
    if not (tried and tried.caught is not True):
        canary = await _made(run, subject)
        if canary is None:
            _without_canary(subject, found, was_tried=bool(tried))
    in_scratch = run.settings.worktrees or bool(tried and tried.caught)
    if whole and in_scratch:
        answer = await try_whole(run, subject, canary)
        found.canaries += [answer.canary] if answer.canary else []
        if answer.unlike:
            told = f"`{subject.command}`, run as a person runs it, {answer.unlike}"
            found.unlike.append(objecting.doubt(objecting.PLAINLY, subject.command, told))
        found.untold += _unknown(objecting.PLAINLY, subject, answer.untold)
        why = "fails when failing tests are added beside it"
        found.changes += [
            TestChange(test=name, kind=TestChangeKind.FAILS, detail=why) for name in answer.changed
        ]
    elif canary is not None:
        found.canaries.append(
            await try_canary(run, subject.command, subject.tree, canary, [subject.here], subject.now.count)
        )


async def _made(run: Run, subject: ResultComparison) -> Canary | None:
    """Return a canary made of files of the tree, else of the base. The comparison's folders show others."""
    before = subject.before.count if subject.before else subject.now.count
    for tree, count in ((subject.tree, subject.now.count), (subject.base, before)):
        async with run.evidence.scratch_worktree(run, tree) as scratch:
            if canary := make_canary([(suite_of(subject.command, scratch.folder), count)]):
                return canary
    return None


def _without_canary(subject: ResultComparison, found: _Found, *, was_tried: bool) -> None:
    if was_tried:
        why = f"whether `{subject.command}` still notices a failing test: none can be made any more"
        found.untold.append(objecting.unknown(objecting.CANARY, subject.command, why))
    elif subject.here.runs_tests is not False:
        why = f"whether `{subject.command}` notices a failing test: none can be made for it"
        found.untold.append(objecting.unknown(objecting.CANARY, subject.command, why))


@dataclass(frozen=True, slots=True)
class Red:
    """The results of the work's tests on the base's code.

    `unproven` are those that pass there, if none fails: tests, or their files if names are unknown. `failed`
    are those that fail there. `untold` names the checks without an answer, for instance because no test ran.
    """

    unproven: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    untold: tuple[str, ...] = ()


def _run_by_another(run: Run, subject: ResultComparison, files: Sequence[str]) -> bool:
    """Whether another command than this one names tests of these files on the same tree."""
    verified = run.view.evidence.verifications[subject.tree].runs
    return any(of_files(one.count.tests, files) for one in verified if one.command != subject.command)


async def red_before_green(run: Run, subject: ResultComparison) -> Red:
    """Run the tests that the work adds or changes on the base's code, where one of them has to fail."""
    now = await files_in(run.repository, subject.tree)
    files = [path for path in (*subject.touched.held, *subject.touched.new) if path in now]
    if not files or not subject.touched.code:
        return Red()
    if not of_files(subject.now.count.tests, files) and _run_by_another(run, subject, files):
        return Red()
    inline = await inline_among(run.repository, subject.tree, files)
    with_data = [*files, *subject.touched.data, *subject.touched.configuration]
    separate = [path for path in with_data if path not in inline]
    mixed = await pieced_together(run.repository, subject.base, of=subject.tree, paths=separate)
    mixed = await with_tests_of(run.repository, mixed, of=subject.tree, paths=inline)
    done = await run_on(run, subject, mixed, [] if inline else files)
    before = subject.before.count.tests if subject.before else {}
    failed = names_of(done.count, TestState.FAILED)
    if new := tuple(name for name in failed if before.get(name) is not TestState.FAILED):
        return Red(failed=new)
    if done.exit_code != 0 and not failed:
        told = f"fails on the code before the change and names no failing test ({cause_of(done)})"
        return Red(untold=(_unanswered(subject, told),))
    if not subject.now.count.tests and done.exit_code == 0:  # nothing names the tests
        return Red(tuple(files))
    former = {unnumbered(name) for name in before}
    added = [
        name
        for name in of_files(subject.now.count.tests, files)
        if name not in before and unnumbered(name) not in former
    ]
    if not added:
        held = tuple(path for path in files if path in subject.touched.held)
        return Red(held) if done.exit_code == 0 else Red()
    if not done.count.tests:
        return Red(tuple(added) if done.exit_code == 0 else ())
    passing = tuple(name for name in added if done.count.tests.get(name) is TestState.PASSED)
    if passing:
        return Red(passing)
    return Red(untold=(_unanswered(subject, "does not run them on the code before the change"),))


def _unknown(check: str, subject: ResultComparison, untold: Iterable[str]) -> list[Objection]:
    return [objecting.unknown(check, subject.command, one) for one in untold]


def _unanswered(subject: ResultComparison, why: str) -> str:
    read = "Read the new tests to see whether they need the change"
    return f"which of the new tests show the change: `{subject.command}` {why}. {read}"
