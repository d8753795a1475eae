"""plan: the spec as tasks. A plan is checked, and reviewed if the effort says so, before anyone believes it.

A failed one goes back to the planner with the problems and is never built. Quotes of the spec are placed by
their words, since a planner quotes from memory: Markdown, punctuation, case and line breaks do not count, and
in a longer quote some words may differ. A quote without a place is unplaced, and nothing is guessed.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import lru_cache, partial
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

import prompts
from agents.roles.planner import PLAN, read_plan
from orchestrator.run.asking.briefing import at_the_base, decisions, described
from orchestrator.run.plan.analyze import propose, review
from orchestrator.run.record import Run
from state.errors import AgentError
from state.journal.events import PlanAccepted, PlanProposed, PlanRejected, RunEnded
from state.outcome import Outcome
from state.records.plan import Analysis, Criterion, Plan, Task
from state.settings.records import Workflow
from state.settings.retry_limits import RETRY_LIMITS
from state.words import NO_TEST

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_TITLE_KEPT = 80
_QUOTE_WORDS = 3  # a shorter text stands in any spec
_TAKEN = {"run", "final", "plan", "analysis", "work"}  # folders, callers and refs that sq needs itself


async def plan(run: Run) -> None:
    """Record a proposed plan, an accepted one, a rejected one, or that no acceptable plan came.

    Raises:
        AgentError: the planner could not be asked.
    """
    if run.settings.workflow is not Workflow.ORCHESTRATED:
        run.record(PlanAccepted(tasks=(_whole_spec(run.started.spec_text),), criteria=()))
        return
    if given := run.view.plan.before.plan:
        run.record(
            PlanAccepted(
                tasks=given.tasks,
                criteria=given.criteria,
                tests_that_change=given.tests_that_change,
                reviewed=given.reviewed,
                suggestions=given.suggestions,
            )
        )
        return
    if run.view.plan.proposed:
        await _review(run, run.view.plan.proposed)
        return
    rejections = run.view.plan.rejections
    if len(rejections) >= RETRY_LIMITS.proposals:
        cause = f"no acceptable plan after {len(rejections)} tries: " + "; ".join(rejections[-1].problems)
        run.record(RunEnded(outcome=Outcome.USAGE, cause=cause))
        return
    folder = await run.integration.show(run.view.whole.commit)
    call = await propose(run, PLAN, len(rejections), folder, partial(_prompt, run))
    if failure := call.failure:
        raise AgentError(f"the spec could not be planned: {failure}")
    if call.payload is None:
        run.record(PlanRejected(problems=("no plan was submitted: call `mcp__sq__submit_plan`",)))
        return
    proposed = placed(read_plan(call.payload), run.started.spec_text)
    if problems := [*problems_of(proposed), *lines_not_in(run.started.spec_text, proposed)]:
        run.record(PlanRejected(problems=tuple(problems)))
    elif run.effort.review_plan:
        run.record(
            PlanProposed(
                tasks=proposed.tasks,
                criteria=proposed.criteria,
                tests_that_change=proposed.tests_that_change,
            )
        )
    else:
        run.record(_accepted(proposed, reviewed=False))


def _accepted(proposed: Plan, *, reviewed: bool, suggestions: tuple[str, ...] = ()) -> PlanAccepted:
    return PlanAccepted(
        tasks=proposed.tasks,
        criteria=proposed.criteria,
        tests_that_change=proposed.tests_that_change,
        reviewed=reviewed,
        suggestions=suggestions,
    )


def _whole_spec(spec: str) -> Task:
    """The spec as one task, where nobody plans."""
    first = next((line.strip("# ").strip() for line in spec.splitlines() if line.strip("# ").strip()), "")
    return Task(id="spec", title=first[:_TITLE_KEPT], description="Build what the spec asks for, all of it.")


async def _review(run: Run, proposed: Plan) -> None:
    found = await review(
        run,
        PLAN,
        len(run.view.plan.rejections),
        spec=run.started.spec_text,
        analysis=_described(run),
        baseline=at_the_base(run.view),
        plan=proposed,
        decided=decisions(run.view),
    )
    if found and found.passed:
        run.record(_accepted(proposed, reviewed=True, suggestions=found.suggestions))
    elif found:
        run.record(PlanRejected(problems=found.problems, suggestions=found.suggestions))


async def _prompt(run: Run) -> str:
    if rejected := run.view.plan.rejections:
        last = rejected[-1]
        return prompts.render("plan_rejected", problems=last.problems, suggestions=last.suggestions)
    return prompts.render(
        "plan",
        spec=run.started.spec_text,
        analysis=_described(run),
        baseline=at_the_base(run.view),
        in_worktree=run.settings.worktrees,
        decided=decisions(run.view),
    )


def _described(run: Run) -> str:
    return described(run.view.plan.analysis or Analysis(), commands=False)


def lines_not_in(spec: str, proposed: Plan) -> list[str]:
    """The entries whose line is not in the spec, as problems. White space and list signs do not count."""
    lines = {_plain(line) for line in spec.splitlines()}
    whole = _plain(spec)
    named = [(f"`tests_that_change` names {one.test!r}", one.line) for one in proposed.tests_that_change]
    named += [(f"`without_tests` of task {one.id} is named", one.without_tests) for one in proposed.tasks]
    problems = [
        f"{what} with a line that the spec does not hold: {line!r}"
        for what, line in named
        if line and not (_plain(line) in lines or _is_quote(_plain(line), whole))
    ]
    return problems + [
        f"`without_tests` of task {one.id} quotes a line that rules no tests out: {one.without_tests!r}"
        for one in proposed.tasks
        if one.without_tests and not NO_TEST.search(one.without_tests)
    ]


def _plain(text: str) -> str:
    return " ".join(text.split()).lstrip("-*+#> ").strip()


def _is_quote(line: str, spec: str) -> bool:
    """Whether a text stands in the spec and is more than a word or two of it."""
    return len(line.split()) >= _QUOTE_WORDS and line in spec


def problems_of(proposed: Plan) -> list[str]:
    """What keeps a plan from being built: empty for a plan that holds."""
    if not proposed.tasks:
        return ["the plan has no tasks"]
    ids = [task.id for task in proposed.tasks]
    known = dict.fromkeys(ids)
    problems = [f"task id {id_!r} is used {count} times" for id_, count in Counter(ids).items() if count > 1]
    problems += [
        f"task id {id_!r} is not letters, digits and dashes" for id_ in known if not _ID.fullmatch(id_)
    ]
    problems += [f"task id {id_!r} is one that sq needs itself" for id_ in known if id_.lower() in _TAKEN]
    folded = Counter(id_.lower() for id_ in known)
    problems += [
        f"{count} task ids differ from {id_!r} in case only" for id_, count in folded.items() if count > 1
    ]
    problems += [
        f"task {task.id} depends on {needed!r}, which is no task of the plan"
        for task in proposed.tasks
        for needed in task.dependencies
        if needed not in known
    ]
    problems += _cycles({task.id: task.dependencies for task in proposed.tasks})
    if not proposed.criteria:
        problems.append("the plan lists no criteria of the spec, so nobody can see what it covers")
    for criterion in proposed.criteria:
        if not criterion.task_ids:
            problems.append(f"no task covers the criterion {criterion.text!r}")
        problems += [
            f"the criterion {criterion.text!r} names {id_!r}, which is no task of the plan"
            for id_ in criterion.task_ids
            if id_ not in known
        ]
    return problems


def _cycles(dependencies: Mapping[str, tuple[str, ...]]) -> list[str]:
    try:
        TopologicalSorter(dependencies).prepare()
    except CycleError as error:
        return [f"the dependencies form a cycle: {' → '.join(reversed(error.args[1]))}"]
    return []


_WORD = re.compile(r"\w+")
_TARGET = re.compile(r"\]\([^)\s]*\)")  # of a Markdown link
_ALIKE = 0.75  # of the words, in order
_FEWEST = 5  # words of a quote that may differ from the spec
_FEWEST_JOINED = 8  # characters of a quote that is found without its spaces
_TRIED = 20  # windows that are compared in full

Lines = tuple[int, int]
UNPLACED: Lines = (0, 0)


class _Word(NamedTuple):
    text: str
    line: int


def placed(proposed: Plan, spec: str) -> Plan:
    """Return a plan whose criteria have their ids and their places in the spec.

    A criterion without a quote is looked for by its text.
    """
    return replace(
        proposed,
        criteria=tuple(
            _placed(replace(one, id=f"c-{number}"), spec)
            for number, one in enumerate(proposed.criteria, start=1)
        ),
    )


def _placed(criterion: Criterion, spec: str) -> Criterion:
    quote = criterion.quote or criterion.text
    return replace(criterion, spec_lines=place_of(spec, quote, near=criterion.spec_lines))


def place_of(spec: str, quote: str, *, near: Lines = UNPLACED) -> Lines:
    """Return the first and the last line of a quote in the spec, counted from 1, or (0, 0).

    Args:
        spec: the text of the spec.
        quote: the words to look for.
        near: the lines that the planner names. Of several places the nearest one counts, without these
            lines the first one. A single word that stands in several places then has none.
    """
    words, wanted = _words(spec), [word.text for word in _words(quote)]
    if not words or not wanted:
        return UNPLACED
    places = list(_exact(words, wanted)) or list(_joined(words, wanted)) or list(_fuzzy(words, wanted))
    if not places or (len(wanted) == 1 and len(set(places)) > 1 and near == UNPLACED):
        return UNPLACED
    return min(places, key=lambda lines: abs(lines[0] - near[0])) if near != UNPLACED else places[0]


@lru_cache(maxsize=8)
def _words(text: str) -> tuple[_Word, ...]:
    return tuple(
        _Word(plain, number)
        for number, line in enumerate(text.split("\n"), start=1)
        for word in _WORD.findall(_TARGET.sub("] ", line))
        if (plain := word.strip("_").casefold())
    )


def _exact(words: Sequence[_Word], wanted: Sequence[str]) -> Iterator[Lines]:
    texts, size = [word.text for word in words], len(wanted)
    for start in range(len(texts) - size + 1):
        if texts[start] == wanted[0] and texts[start : start + size] == wanted:
            yield words[start].line, words[start + size - 1].line


def _joined(words: Sequence[_Word], wanted: Sequence[str]) -> Iterator[Lines]:
    """Yield the places without regard to spaces: for languages without them, and for words cut in two."""
    sought = "".join(wanted)
    if len(sought) < _FEWEST_JOINED:
        return
    lines = [word.line for word in words for _ in word.text]
    text, at = "".join(word.text for word in words), -1
    while (at := text.find(sought, at + 1)) >= 0:
        yield lines[at], lines[at + len(sought) - 1]


def _fuzzy(words: Sequence[_Word], wanted: Sequence[str]) -> Iterator[Lines]:
    """Yield the place that is most like the quote, if enough of its words stand there in their order."""
    size, needed = len(wanted), Counter(wanted)
    if size < _FEWEST:
        return
    shared = [one for one in _shared(words, needed, size) if one[0] >= _ALIKE * size]
    best, place = 0.0, UNPLACED
    for _, start in sorted(shared, key=lambda one: (-one[0], one[1]))[:_TRIED]:
        window = words[start : start + size]
        matcher = SequenceMatcher(None, [word.text for word in window], list(wanted), autojunk=False)
        blocks = [block for block in matcher.get_matching_blocks() if block.size]
        alike = sum(block.size for block in blocks) / size
        if alike > best:
            last = blocks[-1]
            best, place = alike, (window[blocks[0].a].line, window[last.a + last.size - 1].line)
    if best >= _ALIKE:
        yield place


def _shared(words: Sequence[_Word], needed: Counter[str], size: int) -> Iterator[tuple[int, int]]:
    """Yield for each window of `size` words how many of the needed words it holds, and its start."""
    held: Counter[str] = Counter()
    count = 0
    for end, word in enumerate(words):
        held[word.text] += 1
        count += held[word.text] <= needed[word.text]
        if end >= size:
            gone = words[end - size].text
            count -= held[gone] <= needed[gone]
            held[gone] -= 1
        yield count, max(0, end - size + 1)
