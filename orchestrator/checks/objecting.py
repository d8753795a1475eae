"""The objections that checks make: one function for each, with its words, its weight and its remedy.

The words are for people who have never heard of sq, so they say what was asked and what was seen.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from state.records.commands import CanaryResult, WithoutWork
from state.records.objections import STRENGTH, Objection, Proof, Weight
from state.records.reviews import TestChange
from state.words import listed

CONSTRAINTS = "constraints"
BASE_TESTS = "base tests"
COMPLAINTS = "complaints"
CANARY = "planted test"
CLEAN_COPY = "clean copy"
RUNS_LATER = "runs later"
STUBS = "stubs"
WITHOUT_WORK = "work taken out"
SMALL_CHANGES = "small changes"
CODE_BEFORE = "code before"
RUNNER_MARKS = "runner in product code"
OTHER_RESULTS = "other results"
NEW_ASSERTIONS = "new assertions"
PROPS = "set by tests"
SLOWED = "slowed"
SAME_INPUTS = "same inputs"
REPLACED = "replaced by tests"
TESTS_ALONE = "tests alone"
BUILD = "committed build"
PLAINLY = "plain run"
COMMANDS = "commands"
IMPORTS = "imports"
REOPENED = "reopened classes"
DOCUMENTS = "documents"
SIBLINGS = "sibling files"
FRONT_DOOR = "front door"

_FIRST = (
    *(CONSTRAINTS, RUNS_LATER, STUBS, BASE_TESTS, SMALL_CHANGES, WITHOUT_WORK, RUNNER_MARKS, CANARY),
    *(CLEAN_COPY, CODE_BEFORE),
)
# Those whose answers about two trees hold, whoever asks.
LASTING = frozenset({
    *(BASE_TESTS, WITHOUT_WORK, SMALL_CHANGES, STUBS, RUNNER_MARKS, OTHER_RESULTS, NEW_ASSERTIONS),
    *(REPLACED, TESTS_ALONE, BUILD, PROPS, STRENGTH, SLOWED, SAME_INPUTS),
    *(IMPORTS, REOPENED, DOCUMENTS, SIBLINGS, FRONT_DOOR),
})  # fmt: skip
# Those that are asked whatever the time. One without an answer costs code 0.
NEEDED = frozenset({CONSTRAINTS, RUNS_LATER, BASE_TESTS, WITHOUT_WORK})
NEEDED_FROM_MEDIUM = NEEDED | {NEW_ASSERTIONS, PROPS, FRONT_DOOR}

_SAME = "A test has to give the same result however it is run, and to fail where it expects another one."


def in_order(objections: Iterable[Objection]) -> list[Objection]:
    """Return objections each once, those first that weigh most, and the questions without an answer last."""
    return sorted(dict.fromkeys(objections), key=lambda one: (one.weight is Weight.UNKNOWN, _place_of(one)))


def _place_of(one: Objection) -> int:
    return _FIRST.index(one.check) if one.check in _FIRST else len(_FIRST)


def broken(constraints: Iterable[tuple[str, str]]) -> Iterator[Objection]:
    """Yield an objection for each constraint that does not hold: its id, and why."""
    for name, why in constraints:
        yield Objection(
            check=CONSTRAINTS,
            weight=Weight.BLOCKS,
            subject=name,
            words=why,
            remedy="Put that back as it was.",
            against=True,
        )


def changed(changes: Iterable[TestChange]) -> Iterator[Objection]:
    """Yield an objection for each test of the base that does not hold as it was, announced ones as notes."""
    for one in changes:
        yield Objection(
            check=BASE_TESTS,
            weight=Weight.NOTE if one.expected_by else Weight.ONCE,
            subject=one.name,
            words=f"the test {one.name} {one.kind}",
            remedy="Put it back as it was, with all that it uses, and let the code pass it, unless the "
            "spec asks for another result.",
            place=one.path,
            evidence=one.detail,
            against=True,
            because=one.expected_by,
        )


def canary(one: CanaryResult, *, counts: bool) -> Objection | Proof:
    """Return the meaning of a planted test. `counts`: the command noticed it at the base, or had no tests."""
    if one.caught:
        return Proof(check=CANARY, command=one.command)
    if one.caught is None:
        return unknown(CANARY, one.command, f"whether `{one.command}` notices a failing test: {one.problem}")
    return Objection(
        check=CANARY,
        weight=Weight.BLOCKS if counts else Weight.NOTE,
        subject=one.command,
        words=f"`{one.command}` passes although a test that must fail was added in {one.path}. So it no "
        "longer shows whether the tests pass",
        remedy="Put back how tests are run.",
        place=one.path,
    )


def only_here(command: str) -> Objection:
    """Return that a command passes in the checkout only."""
    return Objection(
        check=CLEAN_COPY,
        weight=Weight.UNVERIFIED,
        subject=command,
        words=f"`{command}` passes in the checkout and not on a clean copy of it, so ignored files decide "
        "there",
        remedy="Let the files that it needs be part of the work.",
    )


def later(path: str) -> Objection:
    """Return that a file runs later, or that a link leads out of the repository."""
    return Objection(
        check=RUNS_LATER,
        weight=Weight.ONCE,
        subject=path,
        words="programs start or obey these files for their name alone, or the link leads out of the "
        "repository, and the spec names none of them",
        remedy="Put them back as they were, unless the spec needs them.",
        place=path.partition(" ")[0],
        against=True,
    )


def stub(name: str) -> Objection:
    """Return that a function, as `file: name`, does nothing although the spec asks for it."""
    return Objection(
        check=STUBS,
        weight=Weight.ONCE,
        subject=name,
        words="the spec asks for these functions, and nothing is built there: the body is that of a stub",
        remedy="Build it.",
        place=name.partition(": ")[0],
    )


def runner_mark(code: str) -> Objection:
    """Return that product code, as `file: code`, looks at a test runner."""
    return Objection(
        check=RUNNER_MARKS,
        weight=Weight.ONCE,
        subject=code,
        words="product code looks at a test runner, or touches it, and may behave otherwise when it is "
        "tested",
        remedy="Take it out.",
        place=code.partition(": ")[0],
    )


def without_work(answers: Sequence[WithoutWork]) -> Iterator[Objection | Proof]:
    """Yield what commands said with the work taken out. If one needs it, the others may do without."""
    is_needed = any(one.needed for one in answers)
    for one in answers:
        if one.needed:
            yield Proof(
                check=WITHOUT_WORK,
                command=one.command,
                tests=one.failing,
                functions=one.functions,
                small=one.small if one.noticed is not False else (),
                by_exit_code=bool(one.noticed),
                partly=one.partly,
            )
        if one.noticed is False:
            yield Objection(
                check=SMALL_CHANGES,
                weight=Weight.ONCE,
                subject=one.command,
                words=f"`{one.command}` passes with each of these small changes in the work too: "
                f"{'; '.join(one.small)}",
                remedy=_SAME,
            )
        if one.needed is False and not is_needed:
            yield Objection(
                check=WITHOUT_WORK,
                weight=Weight.ONCE,
                subject=one.command,
                words=_unneeded(one),
                remedy="No test shows what this code does. Write one that calls the real code and compares "
                "its result with the one that the spec asks for. A test does not count if it patches the "
                "code, only logs, or accepts any result, for instance each one that is not null.",
                place=one.lines.rpartition("-")[0] or "".join(one.functions[:1]).partition(": ")[0],
                parts=one.functions,
            )
        if one.problem:
            why = f"whether `{one.command}` fails without the work: {one.problem}"
            yield unknown(WITHOUT_WORK, one.command, why)


def _unneeded(one: WithoutWork) -> str:
    if one.lines:
        return (
            f"no test fails without the new lines of {listed(one.functions)}: `{one.command}` passes without "
            f"{one.lines} too"
        )
    return f"no test fails without the work: `{one.command}` passes with {listed(one.functions)} emptied"


def unproven(test: str) -> Objection:
    """Return that a new or changed test passes without the work too."""
    return Objection(
        check=CODE_BEFORE,
        weight=Weight.NOTE,
        subject=test,
        words="new tests pass without the work too, so they do not show it",
        remedy="Make them fail on the code as it was.",
    )


def doubt(
    check: str,
    subject: str,
    words: str,
    remedy: str = _SAME,
    *,
    place: str = "",
    evidence: str = "",
    parts: Iterable[str] = (),
) -> Objection:
    """Return a reason for doubt that the builder hears once, by default about tests that prove nothing."""
    return Objection(
        check=check,
        weight=Weight.ONCE,
        subject=subject,
        words=words,
        remedy=remedy,
        place=place,
        evidence=evidence,
        parts=tuple(parts),
    )


def loose(command: str, tests: Sequence[str]) -> Objection:
    """Return that tests pass whatever they expect."""
    other = "when they are changed to expect another result"
    words = f"`{command}` passes {listed(tests)} too {other}"
    return doubt(OTHER_RESULTS, command, words, parts=tests)


def undecided(command: str, places: Sequence[str], tests: Iterable[str]) -> Objection:
    """Return that the assertions of tests at these places, as `file:line`, decide nothing."""
    words = (
        f"assertions of the new tests decide nothing: `{command}` passes too when each of these is turned to "
        f"its opposite, or it has none: {listed(places)}"
    )
    remedy = "Let the test reach each of them, await asynchronous calls, and compare a result."
    return doubt(NEW_ASSERTIONS, command, words, remedy, place=places[0], parts=(*places, *tests))


def set_by_tests(command: str, names: Sequence[str], tests: Sequence[str], place: str) -> Objection:
    """Return that tests pass only with names set, calls or files that users of the product do not know."""
    which = f" ({listed(tests)})" if tests else ""
    words = (
        f"the new tests of `{command}` fail without {listed(names)}{which}. They set, call or bring that "
        "themselves, and neither the spec nor a document nor the code as it was names it: users of the "
        "product lack it"
    )
    remedy = "Let the product work without it, or tell users of it in a document."
    return doubt(PROPS, command, words, remedy, place=place, parts=(*names, *tests))


def strength(command: str, noticed: Sequence[str], missed: Sequence[str]) -> Iterator[Objection | Proof]:
    """Yield which small changes of the work its tests notice, and a note about those that they do not."""
    if noticed or missed:
        yield Proof(check=STRENGTH, command=command, small=tuple(noticed), missed=tuple(missed))
    if missed:
        yield Objection(
            check=STRENGTH,
            weight=Weight.NOTE,
            subject=command,
            words=f"the tests of `{command}` notice {len(noticed)} of {len(noticed) + len(missed)} small "
            f"changes in the work. They pass with each of these too: {'; '.join(missed)}",
            remedy="Where such a change gives a wrong result, write a test that fails with it. Say which of "
            "them change nothing that a user sees.",
            place=missed[0].partition(": ")[0],
        )


def slowed(command: str, before_s: float, now_s: float) -> Objection:
    """Return that a command takes much longer with the work. Both times are seconds."""
    words = f"`{command}` takes {now_s:.0f} s with the work, and {before_s:.0f} s without it"
    remedy = "Make the slow part faster: a loop, a wait, a test that does more than it has to."
    return doubt(SLOWED, command, words, remedy)


def other_results_than_before(
    name: str, place: str, differences: Sequence[str], weight: Weight, because: str
) -> Objection:
    """Return that a function, as `file: name`, gives other results than at the base for the same inputs."""
    return Objection(
        check=SAME_INPUTS,
        weight=weight,
        subject=name,
        words=f"{name} does not give what it gave before, and nothing asks for that: {'; '.join(differences)}"
        f"{f' ({because})' if because else ''}",
        remedy="Let it give for these inputs what it gave, unless the spec asks for the new result.",
        place=place,
    )


def compares_nothing(command: str, tests: Sequence[str]) -> Objection:
    """Return that the tests which need the work only ask whether there is a result."""
    only = "compare no result: they only ask whether there is one, or which type it has"
    words = f"the tests that need the work {only} ({listed(tests)})"
    return doubt(OTHER_RESULTS, f"{command} ", words, parts=tests)


def imported(path: str, line: int, module: str, why: str) -> Objection:
    """Return that product code imports what its users may not have."""
    place, remedy = f"{path}:{line}", "List it as a dependency of the product, or do without it."
    words = f"{place} imports `{module}`, {why}, so the product does not load where its users install it"
    return doubt(IMPORTS, f"{path}: {module}", words, remedy, place=place)


def reopened(path: str, line: int, what: str, code: str) -> Objection:
    """Return that product code changes a class or module of others for all code beside it."""
    place, remedy = f"{path}:{line}", "Write a function or a class of the project's own."
    asked = "for all code of a program, and the spec does not ask for that"
    words = f"{place} changes `{what}`, which is not the project's own, by `{code}`, {asked}"
    return doubt(REOPENED, f"{path}: {what}", words, remedy, place=place)


def untrue(path: str, line: int, what: str, why: str) -> Objection:
    """Return that a document shows what the product does not have or do."""
    place, remedy = f"{path}:{line}", "Let the document say what the product does, or let the product do it."
    words = f"{place} shows `{what}`, but {why}"
    return doubt(DOCUMENTS, f"{path}: {what}", words, remedy, place=place)


def lacks_a_key(path: str, key: str, other: str) -> Objection:
    """Return that a data file lacks a key which another one like it has since the work."""
    words = f"{path} had each key that {other} had, and since the work only the latter has `{key}`"
    remedy = f"Give {path} that key too, or take it out of both."
    return doubt(SIBLINGS, f"{path}: {key}", words, remedy, place=path)


def lacks_a_way_back(path: str) -> Objection:
    """Return that a new migration cannot be taken back."""
    words = f"each migration beside {path} can be taken back (down), and this new one cannot"
    return doubt(SIBLINGS, f"{path}: down", words, "Write its down migration.", place=path)


def not_made(manifest: str, why: str, output: str) -> Objection:
    """Return that the product cannot be made of the committed files any more."""
    words = f"the product of {manifest} cannot be made of the committed files, and could before ({why})"
    remedy = "Commit all that it needs, and name what it needs in its manifest."
    return doubt(FRONT_DOOR, manifest, words, remedy, place=manifest, evidence=output)


def not_in_product(name: str, manifest: str, why: str) -> Objection:
    """Return that something is missing or does not load in the package that users install."""
    words = f"in the package that users get by {manifest}, {name} is missing or does not load: {why}"
    remedy = f"Let {manifest} name all that the package needs, by the names that the code has."
    return doubt(FRONT_DOOR, name, words, remedy, place=manifest)


def unknown_command(command: str, source: str, place: str, why: str) -> Objection:
    """Return that the product does not know a command that a text quotes, or cannot load it."""
    words = f"{source} quotes `{command}`, and the product as its users get it does not know it: {why}"
    remedy = "Wire it where users start the product, or correct the text if it is wrong."
    return doubt(FRONT_DOOR, command, words, remedy, place=place)


def stale_build(build: str, files: Sequence[str]) -> Objection:
    """Return that committed files of a build are not those that it makes."""
    words = f"`{build}` makes other files than those that are committed, and made the same before the work"
    remedy = f"Run `{build}` and commit the files that it makes."
    return doubt(BUILD, listed(files), words, remedy, place=files[0])


def other_build(told: str, command: str, tests: Sequence[str], output: str) -> Objection:
    """Return that tests pass as they are run always, and fail in another build that users may have."""
    words = f"`{command}` fails in a build that users may have ({told}), where the tests of the base pass"
    words += f": {listed(tests)}" if tests else ""
    remedy = "Let the code do its work in each build, not in an assertion or in what one build checks alone."
    return doubt(FRONT_DOOR, told, words, remedy, evidence=output)


def unknown(check: str, subject: str, question: str) -> Objection:
    """Return that a question has no answer. `question` begins with a word such as "whether", and says why."""
    return Objection(check=check, weight=Weight.UNKNOWN, subject=subject, words=question)


def left_out(check: str, subject: str, question: str, *, needed: bool) -> Objection:
    """Return that a question was left out, and why. One that is `needed` costs code 0."""
    found = unknown(check, subject, question)
    return replace(found, weight=Weight.UNVERIFIED) if needed else found
