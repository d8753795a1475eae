"""Facts in words, the same for agents and for people, and things that are alike as one."""

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from datetime import datetime
from typing import TypeVar

from state.records.commands import BaselineCheck, BaselineOutcome, TestCount, TestState
from state.records.objections import STRENGTH, Objection, Proof
from state.records.plan import DeadlineFit
from state.records.questions import Answer, Question
from state.records.spec_check import SpecAnswer, SpecFinding, quoted
from state.records.work import WorkFacts

OTHER_FORM = "is left out: --verify names the tests that sq runs"  # ends a line on a whole suite
_RECOMMENDED = re.compile(r"\s*\(recommended\)", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_NAMED = 10  # tests in a sentence
_ALIKE = 0.5  # of the words of two questions
_RAN = frozenset({BaselineOutcome.PASSES, BaselineOutcome.FAILS})
T = TypeVar("T")
Asked = TypeVar("Asked", SpecFinding, SpecAnswer)
_OF_ONE_REQUEST = re.compile(r"\breq_\w+")  # the API gives each answer an id of its own


def listed(names: Iterable[str]) -> str:
    """Return names for a sentence: the first ten, and how many more there are."""
    every = list(names)
    more = len(every) - _NAMED
    return ", ".join(every[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def count_words(count: TestCount) -> str:
    """Return how many tests a command ran."""
    if count.ran is None:
        return "number of tests unknown"
    if count.ran == 0:
        return "no test was run"
    skipped = f", {count.skipped} skipped" if count.skipped else ""
    return f"{count.ran} test{'' if count.ran == 1 else 's'}{skipped}"


def question_key(text: str) -> str:
    """Return a question's words, without case, white space and punctuation, for comparison."""
    return " ".join(_WORD.findall(text.lower()))


def asked_line(question: Question) -> str:
    """Return a question in a line, with the numbers by which a person chooses its options."""
    options = " / ".join(f"{number} {one.label}" for number, one in enumerate(question.options, 1))
    return f"{question.text} [{options}]" if options else question.text


def decision_line(answer: Answer) -> str:
    """Return a question and its answer in a line."""
    return f"{answer.question} → {answer.marked}"


def decision_with_reason(answer: Answer) -> str:
    """Return question, answer and reason in a line for agents without the asker's recommendation."""
    line = _RECOMMENDED.sub("", decision_line(answer))
    return line + (f" ({answer.reason})" if answer.reason else "")


def names_of(count: TestCount, state: TestState) -> list[str]:
    """Return the names of the tests that ended in this state, if they are known."""
    return [name for name, found in count.tests.items() if found is state]


def not_run_words(commands: Iterable[str]) -> str:
    """Return which commands of the analysis sq does not run, and the remedy."""
    named = listed(f"`{command}`" for command in commands)
    return (
        f"sq does not know these commands of the analysis as test runs and does not run them: {named}. To "
        "have them checked, name them with --verify"
    )


def baseline_words(check: BaselineCheck) -> str:
    """Return the result of a command on the commit that a run starts from."""
    words = f"`{check.run.command}` ({check.source}): {check.outcome}"
    if check.outcome in _RAN and check.run.complaints is None:
        words += f", {count_words(check.run.count)}"
    if check.run.complaints:
        words += f", {len(check.run.complaints)} complaint{'' if len(check.run.complaints) == 1 else 's'}"
    if check.run.missing or check.run.broken:
        words += f": {check.run.missing or check.run.broken}"
    if check.canary and check.canary.caught:
        words += ", fails if a failing test is added"
    failing = names_of(check.run.count, TestState.FAILED)
    return words + (f", failing: {listed(failing)}" if failing else "")


def fit_words(fit: DeadlineFit, now: datetime) -> list[str]:
    """Return what fits before a deadline in sentences, for people and for the Planner."""
    until, left = _at(fit.until), max(0.0, (fit.until - now).total_seconds())
    least = f"one task needs {_minutes(fit.claim_s)} from its claim to its merge at the least"
    one_by_one = "and one task is checked after the other"
    first = (
        f"the deadline {until} is {_minutes(left)} from now. By this run's own times {least}, {one_by_one}"
    )
    if not fit.tasks:
        return [first, f"so at most {fit.landing} task(s) can be merged by then, however they are planned"]
    if fit.landing >= fit.tasks:
        return [first, "so there is time for all tasks" if fit.tasks > 1 else "so there is time for the task"]
    all_ = f"For all of them the deadline has to be {_at(fit.all_until)} or later"
    return [first, f"so {fit.landing} of the {fit.tasks} tasks can be merged by then. {all_}"]


def _at(moment: datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def _minutes(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes else "less than a minute"


def groups_of(objections: Iterable[Objection]) -> list[list[Objection]]:
    """Return objections in groups that one sentence says: of one check and equal words."""
    return alike(objections, lambda one: (one.check, one.words))


def sentence_of(alike: Sequence[Objection]) -> str:
    """Return such a group in a sentence without its end, with all subjects that the words do not name."""
    first = alike[0]
    return first.sentence if len(alike) == 1 else f"{first.words}: {listed(one.subject for one in alike)}"


def sentences(objections: Iterable[Objection]) -> list[str]:
    """Return objections in sentences without their ends."""
    return [sentence_of(group) for group in groups_of(objections)]


def noticed_words(proofs: Iterable[Proof]) -> list[str]:
    """Return why commands whose tests cannot be counted count by their exit code."""
    return [
        f"`{one.command}` counts by its exit code, number of tests unknown: it fails with "
        f"{listed(one.functions)} taken out{', and with ' if one.small else ''}{'; '.join(one.small)}"
        for one in proofs
        if one.by_exit_code
    ]


def strength_words(proofs: Iterable[Proof]) -> list[str]:
    """Return how many small changes in the work the tests of each command notice."""
    return [
        f"the tests of `{one.command}` notice {len(one.small)} of {len(one.small) + len(one.missed)} small "
        "changes in the work"
        for one in proofs
        if one.check == STRENGTH
    ]


def facts_words(facts: WorkFacts | None) -> list[str]:
    """Return the facts in lines, for agents and people, without those that are empty."""
    if facts is None:
        return []
    lines = {
        "dependencies added": facts.added,
        "dependencies removed": facts.removed,
        "dependencies with another version": facts.changed,
        "added in lock files alone": facts.locked,
        "public names removed": facts.names_removed,
        "public names with other parameters": facts.names_changed,
        "could not be read": facts.unread,
    }
    return [f"{what}: {listed(names)}" for what, names in lines.items() if names]


def alike(items: Iterable[T], key: Callable[[T], Hashable]) -> list[list[T]]:
    """Return the items in groups of equal key, in the order of each group's first item."""
    groups: dict[Hashable, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.values())


def without_ids(reason: str) -> str:
    """Return a reason without the id of the request in which it was given, for comparison."""
    return _OF_ONE_REQUEST.sub("req_…", reason)


def checks_named(names: Iterable[str]) -> str:
    """Return the name of one check, or the number of several checks and the first ten names."""
    every = list(names)
    return every[0] if len(every) == 1 else f"{len(every)} checks ({listed(every)})"


def matched(given: Sequence[Asked], others: Sequence[SpecFinding | SpecAnswer]) -> list[Asked | None]:
    """Return for each of the others the one that asks the same about the spec, or None. Each counts once.

    They are about one line of it, and of one kind or with half of their words in common: a Planner words a
    question anew each time. Those with the most words in common belong together.
    """
    pairs = [
        (_in_common(one.question, other.question), number, place)
        for number, one in enumerate(given)
        for place, other in enumerate(others)
        if quoted(one.quote) & quoted(other.quote)
    ]
    found: dict[int, int] = {}
    for share, number, place in sorted(pairs, key=lambda pair: (-pair[0], pair[1:])):
        is_same = share >= _ALIKE or given[number].kind is others[place].kind
        if is_same and place not in found and number not in found.values():
            found[place] = number
    return [given[found[place]] if place in found else None for place in range(len(others))]


def _in_common(one: str, other: str) -> float:
    """Return the share of their words that two questions have in common."""
    words, others = ({*question_key(each).split()} for each in (one, other))
    return len(words & others) / max(1, len(words | others))
