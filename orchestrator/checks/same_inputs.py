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
from dataclasses import dataclass, field, replace
from functools import cache, partial
from math import isclose
from pathlib import Path
from string import Template
from typing import Any

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

_MOST, _MOST_INPUTS, _MOST_NOTES = 12, 40, 10
_MOST_FILES, _LARGEST = 300, 200_000  # files that may hold calls, and the bytes of one
_CALL_S, _ALL_S = 0.5, 4.0
_ANSWERS = 10_000_000  # bytes
_SHOWN = 3  # differences of a function
_CONSTANT = re.compile(r"(?:export\s+)?(?:(?:const|let|var|final)\s+)?\$?([A-Za-z_]\w+)\s*(?::[^=]+)?=(?!=)")
_EMPTY = re.compile(r"\[\]|\{\}|None|null|undefined|nil|(?:list|dict|set)\(\)")
_OUT_OF_PLACE = frozenset({"TypeError", "AttributeError", "NameError", "RecursionError", "NoMethodError", "ReferenceError"})


class _Program(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A row of `same_inputs.yaml`, whose head describes it."""

    languages: tuple[str, ...]
    file: str
    command: str
    program: str


class _Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a call gave. `value` and the parts of `changed` are lists: a kind, then what it holds."""

    f: int
    i: int = -1
    why: str = ""
    value: Any = None
    shown: str = ""
    changed: Any = None
    after: str = ""
    raised: bool = True
    steady: bool = True
    expected: tuple[Any, ...] = ()


@dataclass(kw_only=True)
class _Asked:
    """A public function of both trees, with the changed names by which the work reaches it, and what is found."""

    file: str
    name: str
    line: int
    through: frozenset[str]
    parameters: list[Parameter] | None
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
    def language(self) -> str:
        found = language_of(self.file)
        return found.name if found else ""


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
    each = [await contents_at(change.repository, one, paths) for one in (change.base, change.own_tree)]
    before, after = written_here(*each)
    every = await aside(partial(_functions, change, before, after), "the sources of the work")
    if not every:
        return Answers()
    texts = [await _with_calls(change, tree, every) for tree in (change.base, change.own_tree)]
    await aside(partial(_give_inputs, every, *texts), "calls of the work's functions")
    for program in dict.fromkeys(_programs().values()):
        own = [one for one in every if one.language in program.languages and one.inputs][:_MOST]
        if own:
            await _compare(change, bench, program, own)
    name = compared.command
    left = [f"{one.file}: {one.name} ({one.why})" for one in every if one.why and not one.differences]
    told = f"whether these give the same results as before for the same inputs: {listed(left)}"
    found = [*_objections(change, every), *([unknown(SAME_INPUTS, name, told)] if left else [])]
    return Answers(objections=tuple(found), same_inputs=tuple(f"{one.file}: {one.name}" for one in every))


def _functions(change: Change, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[_Asked]:
    """Return the public functions that the work may have changed, first those whose own text it changed."""
    changed = [one for one in changed_functions(before, after) if not one.new]
    texts = {(one.function.file, one.function.name) for one in changed}
    words = {one.function.name.rpartition(".")[2] for one in changed}
    words |= {name for file in after for name in _constants(before.get(file, b""), after[file])}
    found = []
    for file, content in after.items():
        there = public_functions(file, before.get(file, b""))
        forms = {one.name: one for one in read_source(file, content).functions}
        for name, node in public_functions(file, content).items():
            own, form, kind = (file, name) in texts, forms.get(name), language_of(file)
            used = {text for _, text in form.form} & (words - {name}) if form else set[str]()
            if name not in there or not (own or used) or not kind:
                continue
            one = _Asked(
                file=file,
                name=name,
                line=node.start_point[0] + 1,
                through=frozenset() if own else frozenset(used),
                parameters=parameters_of(node, kind.name),
            )
            if _wish(change, one) is not _CHANGES:
                one.differences += _defaults(change, parameters_of(there[name], kind.name), one.parameters)
                found.append(one)
    return sorted(found, key=lambda one: bool(one.through))


def _constants(before: bytes, after: bytes) -> Iterator[str]:
    """Yield the names at the beginning of changed lines that are not indented, if the base has them."""
    (_, _), (_, lines) = changed_lines(before, after)
    text = after.decode("utf-8", "replace").splitlines()
    for line in lines:
        if (match := _CONSTANT.match(text[line - 1])) and match[1].encode() in before:
            yield match[1]


def _defaults(
    change: Change, before: Iterable[Parameter] | None, after: Iterable[Parameter] | None
) -> Iterator[str]:
    """Yield how written defaults of parameters differ that nothing names. An empty one may become nothing."""
    old = {one.name: one for one in before or ()}
    for new in after or ():
        was = old.get(new.name)
        if not was or was.default is None or new.default is None or not (was.is_literal and new.is_literal):
            continue
        texts = [re.sub(r"\s+", " ", one.replace("'", '"')) for one in (was.default, new.default)]
        is_usual = all(map(_EMPTY.fullmatch, texts)) or _named(new.name, _texts(change))
        if texts[0] != texts[1] and not is_usual:
            yield f"the default of `{new.name}` was {was.default} and is {new.default}"


_CHANGES, _STAYS, _OPEN = "changes", "stays", "open"


def _wish(change: Change, one: _Asked) -> str:
    """Return whether a function is to change, to stay, or neither, by the plan or the spec."""
    typed = {name: reading.kind for reading in change.readings for name in reading.names}
    kind = typed.get(one.name, typed.get(one.leaf))
    if kind is ReadingKind.STAYS:
        return _STAYS
    names = {one.leaf} if not one.through else one.through
    if kind is ReadingKind.CHANGES or _named(one.leaf, _texts(change)) or all(_named(name, _texts(change)) for name in names):
        return _CHANGES
    staying = [f"{each.text} {each.quote}" for each in change.criteria if each.stays]
    return _STAYS if _named(one.leaf, staying) else _OPEN


def _texts(change: Change) -> list[str]:
    """Return the words that ask for changes: those of criteria, or of the spec if nobody has read it."""
    asking = [" ".join((one.text, one.quote, *one.names)) for one in change.criteria if not one.stays]
    return [*asking, *(one.line for one in change.announced), *(() if change.criteria else (change.spec,))]


def _named(name: str, texts: Iterable[str]) -> bool:
    word = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
    return any(word.search(text) for text in texts)


async def _with_calls(change: Change, tree: str, every: Sequence[_Asked]) -> dict[str, bytes]:
    """Return the sources of a tree that name one of the functions or their classes, tests first."""
    names = {name.encode() for one in every for name in (one.leaf, one.owner) if name}
    paths = [one for one in await files_in(change.repository, tree) if language_of(one) and not third_party(one)]
    paths.sort(key=lambda one: not belongs_to_tests(one))
    contents = await contents_at(change.repository, tree, paths[:_MOST_FILES], largest=_LARGEST)
    return {path: text for path, text in contents.items() if any(name in text for name in names)}


def _give_inputs(every: Sequence[_Asked], before: Mapping[str, bytes], after: Mapping[str, bytes]) -> None:
    """Give each function its inputs, or the reason why it has none."""
    calls: dict[str, list[Input]] = defaultdict(list)
    names = frozenset(name for one in every for name in (one.leaf, one.owner) if name)
    for contents in (before, after):
        for file, text in contents.items():
            asserts = contents is before and belongs_to_tests(file)
            for name, call in calls_in(file, text, names):
                calls[name].append(call if asserts else replace(call, expected=()))
    for one in every:
        if one.language not in _programs():
            one.why = f"sq calls no {one.language}"
            continue
        own = [] if one.parameters is None else inputs_of(one.parameters, calls[one.leaf], one.language, most=_MOST_INPUTS)
        made: list[Input | None] = [None]
        if one.owner:
            made = [*list({call.text: call for call in calls[one.owner]}.values())[:3], None]
        one.inputs = [(make, each) for each in own for make in made][:_MOST_INPUTS]
        one.why = "" if one.inputs else "no type, default or call shows what it takes"


async def _compare(change: Change, bench: Bench, program: _Program, every: Sequence[_Asked]) -> None:
    """Call functions on both trees, and note the differences or why there is no answer."""
    async with scratch_folder() as folder:
        (folder / program.file).write_text(program.program, "utf-8")
        first, again = await _run(bench, change.base, program, folder, every, ("0", "1"))
        (now,) = await _run(bench, change.own_tree, program, folder, every, ("0",))
    for number, one in enumerate(every):
        one.why = next((each.why for answers in (first, again, now) if (each := answers.get((number, -1)))), "")
        places = [(number, place) for place in range(len(one.inputs))]
        told = [(place[1], first[place], again[place], now[place]) for place in places if all(place in each for each in (first, again, now))]
        asked = [each for each in told if not any(answer.why for answer in each[1:])]
        whys = [answer.why for each in told for answer in each[1:] if answer.why and "instance" not in answer.why]
        if whys or not asked:
            one.why = one.why or next(iter([*whys, *(answer.why for each in told for answer in each[1:] if answer.why)]), "no time was left")
        elif any(not (old.steady and _same(old.value, other.value)) for _, old, other, _ in asked):
            one.why = "it gives other results with each call"
        else:
            _note(one, asked)


async def _run(
    bench: Bench, tree: str, program: _Program, folder: Path, every: Sequence[_Asked], seeds: Sequence[str]
) -> list[dict[tuple[int, int], _Answer]]:
    """Run the program on a tree, once for each seed. Return its answers by function and input."""
    async with bench.scratch(tree) as scratch:
        job = {
            "root": str(scratch.folder),
            "call_s": _CALL_S,
            "all_s": _ALL_S,
            "functions": [
                {
                    "file": one.file,
                    "name": one.name,
                    "inputs": [{**msgspec.to_builtins(each), "make": msgspec.to_builtins(make)} for make, each in one.inputs],
                }
                for one in every
            ],
        }
        (folder / "job.json").write_bytes(msgspec.json.encode(job))
        names = {"DRIVER": folder / program.file, "JOB": folder / "job.json"}
        lines = [
            Template(program.command).substitute(names, SEED=seed, OUT=folder / f"{seed}.jsonl") for seed in seeds
        ]
        for seed in seeds:
            (folder / f"{seed}.jsonl").write_bytes(b"")
        await bench.commands.whole(
            "; ".join(lines), scratch.folder, environment=scratch.environment, told_as="the same inputs", reports=folder
        )
    return [_read(folder, f"{seed}.jsonl") for seed in seeds]


def _read(folder: Path, name: str) -> dict[tuple[int, int], _Answer]:
    found = {}
    try:
        lines = read_inside(folder, name, limit=_ANSWERS).splitlines()
    except OSError:
        return {}
    for line in lines:
        try:
            answer = msgspec.json.decode(line, type=_Answer)
        except (msgspec.DecodeError, RecursionError):
            continue
        found.setdefault((answer.f, answer.i), answer)
    return found


def _note(one: _Asked, asked: Iterable[tuple[int, _Answer, _Answer, _Answer]]) -> None:
    """Note the inputs with another result, error or effect on the arguments."""
    for place, old, _, new in asked:
        make, given = one.inputs[place]
        kind = old.value[1] if old.value[0] == "error" else ""
        if kind in _OUT_OF_PLACE and not (old.raised or given.seen):
            continue
        call = f"{one.name}({given.text})" if make is None else f"{one.owner}({make.text}).{one.leaf}({given.text})"
        if not _same(old.value, new.value):
            one.differences.append(f"`{call}`: before `{old.shown}`, now `{new.shown}`")
            one.is_asserted |= any(_same(old.value, wanted) for wanted in given.expected and old.expected)
        elif not _same(old.changed, new.changed) and not kind:
            effects = [each.after or "as they were" for each in (old, new)]
            if effects[0] == effects[1]:
                effects = ["another state", "this one"]
            one.differences.append(f"`{call}` leaves its arguments otherwise: before {effects[0]}, now {effects[1]}")


def _same(old: Any, new: Any) -> bool:
    """Whether two normal forms are alike: numbers nearly, and objects where the new one may have more."""
    if isinstance(old, list) and isinstance(new, list):
        kinds = [one[0] if one and isinstance(one[0], str) else "" for one in (old, new)]
        if kinds == ["number", "number"]:
            return old == new or _close(str(old[1]), str(new[1]))
        if kinds == ["object", "object"] and isinstance(old[2], list) and isinstance(new[2], list):
            now = {str(one[0]): one[1] for one in new[2]}
            return bool(old[1] == new[1]) and all(
                str(name) in now and _same(value, now[str(name)]) for name, value in old[2]
            )
        return len(old) == len(new) and all(map(_same, old, new))
    return bool(old == new)


def _close(old: str, new: str) -> bool:
    try:
        return isclose(float(old), float(new), rel_tol=1e-9, abs_tol=1e-12) or old == new
    except (ValueError, OverflowError):
        return False


def _objections(change: Change, every: Iterable[_Asked]) -> Iterator[Objection]:
    """Yield what the differences mean, a note for at most ten functions."""
    notes = 0
    for one in every:
        stays = _wish(change, one) is _STAYS
        counts = stays or (one.is_asserted and not change.criteria)
        if not one.differences or (notes >= _MOST_NOTES and not counts):
            continue
        notes += not counts
        yield other_results_than_before(
            f"{one.file}: {one.name}",
            f"{one.file}:{one.line}",
            one.differences[:_SHOWN],
            Weight.UNVERIFIED if counts else Weight.NOTE,
            "the plan says that it stays" if stays else "a test of the base asserts it" if counts else "",
        )
