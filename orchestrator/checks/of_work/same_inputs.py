"""The same inputs, before and after: functions that the work changed, or that call one that it changed.

Programs of the table beside this module call them on both trees, with inputs from the types and defaults of
their parameters and from calls with literals. What another call at the base gives otherwise is not asked,
nor what touches files, processes or the network. A function that the plan names is to change, and one of
which it says that it stays is no code 0. Of others the builder hears once. Without a plan a difference is a
note, and no code 0 where a test of the base asserts it. (product.md, section 12)
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from functools import cache, partial
from math import isclose
from pathlib import Path
from string import Template
from textwrap import shorten

import msgspec

from agents.concurrency import aside
from orchestrator.checks.answers import Answers
from orchestrator.checks.bench import Bench
from orchestrator.checks.change import Change
from orchestrator.checks.comparison import ResultComparison
from orchestrator.checks.objecting import SAME_INPUTS, other_results_than_before, unknown
from orchestrator.git.trees import changed_paths, contents_at, files_in
from orchestrator.project.files import belongs_to_tests, changed_lines, third_party, written_here
from orchestrator.project.functions.functions import changed_functions, read_source
from orchestrator.project.functions.inputs import Input, Parameter, calls_in, inputs_of, parameters_of
from orchestrator.project.functions.languages import language_of
from orchestrator.project.functions.public import public_functions
from state.decoding import table_beside
from state.paths import scratch_folder
from state.records.objections import Objection, Weight
from state.records.plan import ReadingKind
from state.safe_paths import read_inside
from state.words import listed

_MOST, _MOST_INPUTS, _MOST_MADE, _MOST_NOTES = 12, 40, 3, 10
_FEW = 5  # calls with new parameters, which are made and not judged
_MOST_FILES, _LARGEST = 300, 500_000  # files that may hold calls, and the bytes of one
_CALL_S, _ALL_S = 0.5, 4.0
_ANSWERS = 10_000_000  # bytes
_SHOWN, _WIDTH = 3, 120  # differences of a function, and the characters of a call
_CONSTANT = re.compile(r"(?:export\s+)?(?:(?:const|let|var|final)\s+)?\$?([A-Za-z_]\w+)\s*(?::[^=]+)?=(?!=)")
_EMPTY = re.compile(r"\[\]|\{\}|None|null|undefined|nil|(?:list|dict|set)\(\)")
_OUT_OF_PLACE = frozenset(
    {"TypeError", "AttributeError", "NameError", "RecursionError", "NoMethodError", "ReferenceError"}
)


class _Wish(Enum):
    """What is asked of a function. If it shall change and stay, calls that the base makes of it stay."""

    CHANGES = "changes"
    STAYS = "stays"
    OLD_CALLS_STAY = "old calls stay"
    NONE = "none"


class _Program(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A row of `same_inputs.yaml`, whose head describes it."""

    languages: tuple[str, ...]
    file: str
    command: str
    program: str


class _Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a call gave. A normal form is a list of a kind and what it holds."""

    f: int
    i: int = -1
    why: str = ""
    value: list[object] = []
    shown: str = ""
    changed: object = None
    state: dict[str, object] = {}
    after: str = ""
    raised: bool = True
    steady: bool = True
    expected: list[object] = []


@dataclass(kw_only=True)
class _Asked:
    """A public function of both trees, with what is found. `through`: changed names that lead to it.

    `parameters` are those of the base, `added` those that the work gave it too. `judged` are the inputs by
    which it is judged, None for all.
    """

    file: str
    name: str
    line: int
    language: str
    through: frozenset[str]
    wish: _Wish = _Wish.NONE
    parameters: list[Parameter] | None = None
    added: list[Parameter] = field(default_factory=list)
    judged: frozenset[str] | None = None
    inputs: list[tuple[Input | None, Input]] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    is_asserted: bool = False
    why: str = ""

    @property
    def leaf(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def owner(self) -> str:
        return self.name.rpartition(".")[0].rpartition(".")[2]

    @property
    def subject(self) -> str:
        return f"{self.file}: {self.name}"


@cache
def _programs() -> dict[str, _Program]:
    rows = msgspec.convert(table_beside(__file__, "same_inputs.yaml"), dict[str, _Program])
    return {language: row for row in rows.values() for language in row.languages}


def applies(_: Change, __: Bench, ___: ResultComparison, known: Answers) -> bool:
    """Whether it was not asked beside another command."""
    return not known.same_inputs


async def ask(change: Change, bench: Bench, compared: ResultComparison, _: Answers) -> Answers:
    """Return the functions that give other results than at the base, and those that could not be asked."""
    paths = await changed_paths(change.repository, change.base, change.own_tree)
    paths = [one for one in paths if language_of(one) and not belongs_to_tests(one)]
    sides = [await contents_at(change.repository, one, paths) for one in (change.base, change.own_tree)]
    finding = partial(_functions, change, *written_here(*sides))
    every = await aside(finding, "the sources of the work")
    texts = [await _with_calls(change, tree, every) for tree in (change.base, change.own_tree) if every]
    await aside(partial(_give_inputs, every, texts), "calls of the work's functions")
    for program in dict.fromkeys(_programs()[one.language] for one in every if one.inputs):
        own = [one for one in every if one.language in program.languages and one.inputs]
        await _compare(change, bench, program, own[:_MOST])
        for one in own[_MOST:]:
            one.why = "there are too many"
    left = [f"{one.subject} ({one.why})" for one in every if one.why and not one.differences]
    told = f"whether these give what they gave before for the same inputs: {listed(left)}"
    silent = (unknown(SAME_INPUTS, compared.command, told),) if left else ()
    asked = tuple(one.subject for one in every)
    return Answers(objections=(*_objections(change, every), *silent), same_inputs=asked)


def _functions(change: Change, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[_Asked]:
    """Return the public functions that the work may have changed, first those whose own text it changed."""
    changed = [one.function for one in changed_functions(before, after) if not one.new]
    texts = {(one.file, one.name) for one in changed}
    words = {one.name.rpartition(".")[2] for one in changed}
    words |= {name for file in after for name in _constants(before.get(file, b""), after[file])}
    found = []
    for file, content in after.items():
        there, language = public_functions(file, before.get(file, b"")), language_of(file)
        forms = {one.name: one.form for one in read_source(file, content).functions}
        for name, node in public_functions(file, content).items():
            is_own, is_private = (file, name) in texts, re.search(r"(?:^|\.)_", name)
            used = frozenset(text for _, text in forms.get(name, ())) & (words - {name})
            if language is None or is_private or name not in there or not (is_own or used):
                continue
            one = _Asked(
                file=file,
                name=name,
                line=node.start_point[0] + 1,
                language=language.name,
                through=frozenset() if is_own else used,
                parameters=parameters_of(there[name], language.name),
            )
            now = parameters_of(node, language.name) or []
            known = {each.name for each in one.parameters or ()}
            one.added = [each for each in now if each.name not in known]
            one.wish = _wish(change, one)
            if one.wish is not _Wish.CHANGES:
                one.differences += _defaults(change, one.parameters or (), now)
                one.differences += _places(one.parameters or (), now)
                found.append(one)
    return sorted(found, key=lambda one: bool(one.through))


def _constants(before: bytes, after: bytes) -> Iterator[str]:
    """Yield the names at the beginning of changed lines that are not indented, if the base has them."""
    (_, _), (_, lines) = changed_lines(before, after)
    text = after.decode("utf-8", "replace").splitlines()
    found = (_CONSTANT.match(text[line - 1]) for line in lines if line <= len(text))
    yield from (match[1] for match in found if match and match[1].encode() in before)


def _defaults(change: Change, before: Iterable[Parameter], after: Iterable[Parameter]) -> Iterator[str]:
    """Yield how written defaults of parameters differ that nothing names. An empty one may become nothing."""
    old = {one.name: one.default for one in before if one.default and one.is_literal}
    for new in after:
        was, now = old.get(new.name), new.default
        if not (was and now and new.is_literal) or _named(new.name, _asking(change)):
            continue
        plain = [re.sub(r"\s+", " ", one.replace("'", '"')) for one in (was, now)]
        if plain[0] != plain[1] and not all(map(_EMPTY.fullmatch, plain)):
            yield f"the default of `{new.name}` was {was} and is {now}"


def _places(before: Iterable[Parameter], after: Iterable[Parameter]) -> Iterator[str]:
    """Yield the parameters that callers gave by their place, and that stand at a later one now."""
    old, new = ([one.name for one in each if one.has_place] for each in (before, after))
    for place, name in enumerate(old):
        if name in new and new.index(name) > place:
            yield f"the parameter `{name}` was at place {place + 1} and is at {new.index(name) + 1}"


def _wish(change: Change, one: _Asked) -> _Wish:
    """Return what the plan, or the spec without one, wants of a function."""
    kinds = {each.kind for each in change.readings if {one.name, one.leaf}.intersection(each.names)}
    staying = [f"{each.text} {each.quote}" for each in change.criteria if each.stays]
    asking = _asking(change)
    if ReadingKind.STAYS in kinds and ReadingKind.CHANGES not in kinds:
        return _Wish.STAYS
    changes = ReadingKind.CHANGES in kinds or _named(one.leaf, asking)
    if any(_named(name, staying) for name in (one.leaf, *(each.name for each in one.added))):
        return _Wish.OLD_CALLS_STAY if changes else _Wish.STAYS
    if changes or all(_named(name, asking) for name in one.through or {one.leaf}):
        return _Wish.CHANGES
    return _Wish.NONE


def _asking(change: Change) -> list[str]:
    """Return the words that ask for changes: those of criteria, or of the spec if nobody has read it."""
    found = [" ".join((one.text, one.quote, *one.names)) for one in change.criteria if not one.stays]
    named = [name for one in change.readings if one.kind is ReadingKind.CHANGES for name in one.names]
    return [
        *found,
        *named,
        *(one.line for one in change.announced),
        *(() if change.criteria else (change.spec,)),
    ]


def _named(name: str, texts: Iterable[str]) -> bool:
    word = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
    return any(word.search(text) for text in texts)


async def _with_calls(change: Change, tree: str, every: Sequence[_Asked]) -> dict[str, bytes]:
    """Return the sources of a tree that name one of the functions or their classes, tests first."""
    names = {name.encode() for one in every for name in (one.leaf, one.owner) if name}
    paths = [
        one for one in await files_in(change.repository, tree) if language_of(one) and not third_party(one)
    ]
    paths.sort(key=lambda one: not belongs_to_tests(one))
    contents = await contents_at(change.repository, tree, paths[:_MOST_FILES], largest=_LARGEST)
    return {path: text for path, text in contents.items() if any(name in text for name in names)}


def _give_inputs(every: Sequence[_Asked], sides: Sequence[Mapping[str, bytes]]) -> None:
    """Give each function its inputs, or the reason why it has none. `sides`: sources at the base, and now."""
    calls: dict[str, list[Input]] = defaultdict(list)
    old: dict[str, set[str]] = defaultdict(set)
    names = frozenset(name for one in every for name in (one.leaf, one.owner) if name)
    for number, contents in enumerate(sides):
        for file, text in contents.items():
            asserts = not number and belongs_to_tests(file)
            for name, call in calls_in(file, text, names):
                calls[name].append(call if asserts else replace(call, expected=()))
                old[name] |= set() if number else {call.text}
    for one in every:
        if one.language not in _programs():
            one.why = f"sq calls no {one.language}"
        elif one.parameters is not None:
            given = inputs_of(one.parameters, calls[one.leaf], one.language, most=_MOST_INPUTS)
            made = (
                list({call.text: call for call in calls[one.owner]}.values())[:_MOST_MADE]
                if one.owner
                else []
            )
            if one.wish is _Wish.OLD_CALLS_STAY:
                given = _old_calls(one, given, calls[one.leaf], old[one.leaf])
            one.inputs = [(make, each) for each in given for make in (*made, None)][:_MOST_INPUTS]
        if not (one.inputs or one.why):
            one.why = "no type, default or call shows what it takes"


def _old_calls(
    one: _Asked, given: Sequence[Input], calls: Sequence[Input], at_base: Iterable[str]
) -> list[Input]:
    """Return inputs for a function of which only the old calls stay, and mark those by which it is judged.

    With a new parameter these are all without it, and a few with it go before: they may leave something.
    """
    new = {each.name for each in one.added}
    fresh = [each for each in calls if new.intersection(name for name, _ in each.named)][:_FEW]
    without = [
        replace(each, named=tuple(pair for pair in each.named if pair[0] not in new), expected=())
        for each in fresh
    ]
    own = {each.text for each in given if not each.seen} if new else set[str]()
    one.judged = frozenset({"", *own, *at_base, *(each.text for each in without)})
    every = [*fresh, *without, *given]
    return list({each.text: each for each in reversed(every)}.values())[::-1]


async def _compare(change: Change, bench: Bench, program: _Program, every: Sequence[_Asked]) -> None:
    """Call functions on both trees, and note the differences or why there is no answer."""
    async with scratch_folder() as folder:
        (folder / program.file).write_text(program.program, "utf-8")
        first, again = await _run(bench, change.base, program, folder, every, ("0", "1"))
        (now,) = await _run(bench, change.own_tree, program, folder, every, ("0",))
    for number, one in enumerate(every):
        whys = [each.why for side in (first, again, now) for each in side if each.f == number and each.why]
        ends = [why for why in whys if why.startswith("it t")]
        sides = [
            {each.i: each for each in side if each.f == number and not each.why}
            for side in (first, again, now)
        ]
        asked = [place for place in range(len(one.inputs)) if all(place in side for side in sides)]
        if ends or not asked:
            one.why = next(iter([*ends, *whys]), "it was not called to its end")
        elif any(
            not sides[0][at].steady or not _same(sides[0][at].value, sides[1][at].value) for at in asked
        ):
            one.why = "it gives other results with each call"
        else:
            for place in asked:
                _note(one, one.inputs[place], sides[0][place], sides[2][place])


async def _run(
    bench: Bench, tree: str, program: _Program, folder: Path, every: Sequence[_Asked], seeds: Sequence[str]
) -> list[list[_Answer]]:
    """Run the program on a tree, once for each seed. Return its answers."""
    functions = [
        {
            "file": one.file,
            "name": one.name,
            "inputs": [{**asdict(each), "make": make} for make, each in one.inputs],
        }
        for one in every
    ]
    names = {"DRIVER": folder / program.file, "JOB": folder / "job.json"}
    outs = [folder / f"{seed}.jsonl" for seed in seeds]
    lines = [
        Template(program.command).substitute(names, SEED=seed, OUT=out)
        for seed, out in zip(seeds, outs, strict=True)
    ]
    async with bench.scratch(tree) as scratch:
        job = {"root": str(scratch.folder), "call_s": _CALL_S, "all_s": _ALL_S, "functions": functions}
        (folder / "job.json").write_bytes(msgspec.json.encode(job))
        for out in outs:
            out.write_bytes(b"")
        await bench.commands.whole(
            "; ".join(lines),
            scratch.folder,
            environment=scratch.environment,
            told_as="the same inputs",
            reports=folder,
        )
    return [list(_answers(folder, out.name)) for out in outs]


def _answers(folder: Path, name: str) -> Iterator[_Answer]:
    with suppress(OSError):
        for line in read_inside(folder, name, limit=_ANSWERS).splitlines():
            with suppress(msgspec.DecodeError, RecursionError):
                yield msgspec.json.decode(line, type=_Answer)


def _note(one: _Asked, given: tuple[Input | None, Input], old: _Answer, new: _Answer) -> None:
    """Note another result, another error, or another effect on the arguments or the instance."""
    make, call = given
    if one.judged is not None and call.text not in one.judged:
        return
    kind = old.value[1] if old.value[0] == "error" else ""
    if kind in _OUT_OF_PLACE and not (old.raised or call.seen):
        return
    text = f"{one.name}({call.text})" if make is None else f"{one.owner}({make.text}).{one.leaf}({call.text})"
    text = shorten(text, _WIDTH, placeholder="…)")
    effects = [each.after or "as they were" for each in (old, new)]
    if not _same(old.value, new.value):
        one.differences.append(f"`{text}`: before `{old.shown}`, now `{new.shown}`")
        asserted = [[_same(each.value, wanted) for wanted in old.expected] for each in (old, new)]
        one.is_asserted |= any(asserted[0]) and not any(asserted[1])
    elif effects[0] != effects[1] and not _same(old.changed, new.changed):
        one.differences.append(
            f"`{text}` leaves its arguments otherwise: before {effects[0]}, now {effects[1]}"
        )
    elif other := [
        name for name in old.state if not _same(old.state[name], new.state.get(name, old.state[name]))
    ]:
        one.differences.append(f"`{text}` leaves {listed(other)} of its object otherwise")


def _same(old: object, new: object) -> bool:
    """Whether two normal forms are alike: numbers nearly, and objects where the new one may have more."""
    match old, new:
        case ["number", str(was)], ["number", str(now)]:
            return was == now or _close(was, now)
        case ["object", was, dict(before)], ["object", now, dict(after)]:
            return was == now and all(
                name in after and _same(each, after[name]) for name, each in before.items()
            )
        case [*before], [*after]:
            return len(before) == len(after) and all(map(_same, before, after))
    return old == new


def _close(old: str, new: str) -> bool:
    try:
        return isclose(float(old), float(new), rel_tol=1e-9, abs_tol=1e-12)
    except (ValueError, OverflowError):
        return False


def _objections(change: Change, every: Iterable[_Asked]) -> Iterator[Objection]:
    """Yield what the differences mean, with notes about ten functions at most."""
    notes = 0
    for one in every:
        stays = one.wish in {_Wish.STAYS, _Wish.OLD_CALLS_STAY}
        because = (
            "the plan says that it stays"
            if stays
            else "a test of the base asserts it"
            if one.is_asserted
            else ""
        )
        weight = Weight.ONCE if stays or (one.is_asserted and not change.criteria) else Weight.NOTE
        notes += bool(one.differences) and weight is Weight.NOTE
        if one.differences and (notes <= _MOST_NOTES or weight is not Weight.NOTE):
            place, told = f"{one.file}:{one.line}", one.differences[:_SHOWN]
            yield other_results_than_before(one.subject, place, told, weight, because)
