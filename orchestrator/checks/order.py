"""The questions about a work, in the order of worth: about each command that passed, then about the files.

What the seconds of the bench leave no time for is named, and so is what takes too much to read.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from agents.concurrency import UnreadError
from orchestrator.checks import objecting
from orchestrator.checks.answers import Answers, answers_of
from orchestrator.checks.asking import asks
from orchestrator.checks.bench import Bench
from orchestrator.checks.change import Change
from orchestrator.checks.comparison import ResultComparison
from orchestrator.checks.of_files import constraints, marks, runs_later, stubs
from orchestrator.checks.of_product import documents, front_door, imports, reopened, siblings
from orchestrator.checks.of_tests import base_tests, lost, new_assertions, other_results, props, weakened
from orchestrator.checks.of_work import fail_to_pass, same_inputs, slowed, strength, without_work
from orchestrator.checks.results import canary, clean_copy, complaints
from orchestrator.checks.results.side_by_side import compared_on
from orchestrator.checks.results.verdict import CommandVerdict, Judged
from orchestrator.checks.touched import PROSE
from orchestrator.git.trees import changed_paths
from orchestrator.project.checks import is_check
from state.records.objections import STRENGTH, Objection

_T = TypeVar("_T")
_ASKED = frozenset({CommandVerdict.PASSED, CommandVerdict.NO_EVIDENCE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A question about a command that passed.

    `question` is said while its commands run, and where it is left out. "" for one that time does not limit.
    `applies` says what it needs. It `costs` so many runs of the command, or of a part of it, if the work is
    honest. `otherwise` stands for an answer. `of_checks`: it is about commands that are no tests, such as
    linters. `is_lasting`: an answer about the same two trees holds, whoever asks.
    """

    name: str
    ask: Callable[[Change, Bench, ResultComparison, Answers], Awaitable[Answers]]
    costs: int
    question: str = ""
    applies: Callable[[Change, Bench, ResultComparison, Answers], bool] = lambda *_: True
    otherwise: Callable[[ResultComparison], Answers] = lambda _: Answers()
    of_checks: bool = False
    is_lasting: bool = False


CHECKS = (
    Check(
        name=objecting.COMPLAINTS,
        costs=1,
        question="the check with the configuration of the base",
        ask=complaints.ask,
        of_checks=True,
        is_lasting=True,
    ),
    Check(name=objecting.RUNNER_MARKS, costs=0, ask=marks.ask, is_lasting=True),
    Check(
        name=objecting.BASE_TESTS,
        costs=1,
        question="the base's tests as they were",
        applies=base_tests.applies,
        ask=base_tests.ask,
        otherwise=base_tests.otherwise,
        is_lasting=True,
    ),
    Check(
        name=objecting.WITHOUT_WORK,
        costs=2,
        question="the work taken out",
        ask=without_work.ask,
        is_lasting=True,
    ),
    Check(
        name=objecting.OTHER_RESULTS,
        costs=1,
        question="the new tests with other results",
        ask=other_results.ask,
        is_lasting=True,
    ),
    Check(
        name=objecting.NEW_ASSERTIONS,
        costs=2,
        question="the new assertions turned to their opposite",
        ask=new_assertions.ask,
        is_lasting=True,
    ),
    Check(
        name=objecting.SAME_INPUTS,
        costs=2,
        question="the same inputs before and after",
        applies=same_inputs.applies,
        ask=same_inputs.ask,
        is_lasting=True,
    ),
    Check(
        name=objecting.PROPS,
        costs=1,
        question="the new tests without what only they set",
        ask=props.ask,
        is_lasting=True,
    ),
    Check(
        name=objecting.CODE_BEFORE,
        costs=1,
        question="the new tests on the code before",
        applies=fail_to_pass.applies,
        ask=fail_to_pass.ask,
    ),
    Check(name=objecting.CLEAN_COPY, costs=1, applies=clean_copy.applies, ask=clean_copy.ask),
    Check(
        name=objecting.CANARY,
        costs=1,
        question="a failing test",
        applies=canary.applies,
        ask=canary.ask,
    ),
    Check(name=objecting.SLOWED, costs=1, applies=slowed.applies, ask=slowed.ask, is_lasting=True),
    Check(
        name=STRENGTH,
        costs=1,
        question="small changes in the work",
        applies=strength.applies,
        ask=strength.ask,
        is_lasting=True,
    ),
)


# Questions about the files alone: their answers about two trees hold.
OF_FILES: tuple[tuple[str, str, Callable[[Change, Bench], Awaitable[tuple[Objection, ...]]]], ...] = (
    (objecting.IMPORTS, "what the product imports", lambda change, _: imports.objections_to(change)),
    (objecting.REOPENED, "what it changes of others", lambda change, _: reopened.objections_to(change)),
    (objecting.SIBLINGS, "which keys data files lack", lambda change, _: siblings.objections_to(change)),
    (objecting.DOCUMENTS, "what documents show", documents.objections_to),
)


async def answers_about(
    change: Change,
    bench: Bench,
    results: Sequence[Judged],
    *,
    again: bool = False,
) -> Answers:
    """Ask everything about a work whose commands have these results on its tree.

    `again`: checks whose answers last have answered about the same two trees and are not asked.
    """
    runs = [one.run for one in results]
    found = lost.ask(change, results)
    compared = []
    for one in results:
        if one.verdict in _ASKED:
            found += lost.fewer(change, one.run)
            compared.append(await compared_on(change, bench, one.run, runs))
            for check in CHECKS:
                if not (again and check.is_lasting):
                    found += await answer(check, change, bench, compared[-1], found)
    found += await constraints.ask(change, runs if change.is_final else ())
    if not again:
        entering = front_door.ask(change, bench, compared, found)
        at_the_door, silent = await or_left_out(
            objecting.FRONT_DOOR, front_door.QUESTION, entering, Answers()
        )
        found += at_the_door + Answers(objections=silent)
        asking = stubs.stubs_of_the_spec(change, found.added)
        idle, silent = await or_left_out(objecting.STUBS, "which functions do nothing", asking, ())
        found += Answers(objections=(*map(objecting.stub, idle), *silent))
        for name, question, ask in OF_FILES:
            said, silent = await or_left_out(name, question, ask(change, bench), ())
            found += Answers(objections=(*said, *silent))
    found += Answers(objections=tuple(map(objecting.later, await runs_later.files_of(change))))
    asking_weaker = weakened.with_weakened(change, compared, found)
    otherwise = weakened.otherwise(compared, found)
    question = "which changed tests check less"
    changes, silent = await or_left_out(objecting.BASE_TESTS, question, asking_weaker, otherwise)
    changed = await changed_paths(change.repository, change.base, change.tree)
    found += answers_of([*silent, *objecting.changed(changes), *objecting.without_work(found.without_work)])
    objections = tuple(objecting.in_order(found.objections))
    return replace(found, objections=objections, only_prose=all(map(PROSE.search, changed)))


async def answer(
    check: Check, change: Change, bench: Bench, compared: ResultComparison, known: Answers
) -> Answers:
    """Return what a check finds of a command, and the question if it is left out, which needs a reason."""
    applies = is_check(compared.here) is check.of_checks and check.applies(change, bench, compared, known)
    if not applies:
        return Answers()
    question = f"{check.question or check.name}, for `{compared.command}`"
    if check.question:
        asks(check.question)
        if not bench.asks(check.name):
            told = (
                f"{question}: left out, because the project's commands took "
                f"{bench.commands.seconds:.0f} s already (limits.verify_total_s)"
            )
            left_out = objecting.unknown(check.name, compared.command, told)
            return Answers(objections=(left_out,)) + check.otherwise(compared)
    try:
        return await check.ask(change, bench, compared, known)
    except UnreadError as error:
        told = f"{question}: left out, because {error}"
        silent = objecting.left_out(check.name, compared.command, told, needed=check.name in bench.needed)
        return check.otherwise(compared) + Answers(objections=(silent,))


async def or_left_out(
    check: str, question: str, asking: Awaitable[_T], otherwise: _T
) -> tuple[_T, tuple[Objection, ...]]:
    """Return an answer, or what stands for it if files take too much to read. Then the question is named."""
    try:
        return await asking, ()
    except UnreadError as error:
        why = f"{question}: left out, because {error}"
        return otherwise, (objecting.unknown(check, question, why),)
