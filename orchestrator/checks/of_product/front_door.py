"""The product as its users get it: made of a clean copy, without what developers alone have.

What loads there, which quoted commands it does not know, whether a committed build is what its sources make,
and whether new tests pass in the other build. What the base has too, or cannot be made there in the same way,
is no fault of the work. It shows nothing of what a command does with its input. (product.md, section 12)
"""

import json
import re
import shlex
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from secrets import token_hex
from typing import NamedTuple

from agents.concurrency import UnreadError, aside
from orchestrator.checks import objecting
from orchestrator.checks.answers import Answers, answers_of
from orchestrator.checks.asking import asks
from orchestrator.checks.bench import Bench, ScratchWorktree
from orchestrator.checks.change import Change
from orchestrator.checks.comparison import ResultComparison
from orchestrator.checks.of_product.quoted import (
    QuotedCommand,
    as_typed,
    commands_in,
    is_named_in,
    refusal_in,
)
from orchestrator.checks.results.running import content_in, run_counted
from orchestrator.checks.touched import PROSE
from orchestrator.git.trees import changed_paths, contents_at, files_in, files_with, landing, links_in
from orchestrator.project.build_files.builds import build_command, is_built
from orchestrator.project.build_files.products import OtherBuild, Product, entered, product_table, products_of
from orchestrator.project.files import belongs_to_tests, third_party
from orchestrator.project.runners.selection import only_these
from orchestrator.project.runners.suite import suite_of
from orchestrator.project.shell import simple_commands
from state.paths import scratch_folder
from state.records.commands import TestState
from state.records.objections import Objection, Weight
from state.safe_paths import read_inside
from state.words import names_of

QUESTION = "the product as its users get it"
_SHORT_S, _LEAST_S, _SHARE = 15.0, 30.0, 0.5  # of the suite, for what makes the product
_MOST_COMMANDS = 10
_NOT_HERE, _ENDED = 77, 124  # exit codes: of sq's own programs, and for what was ended
_OF_ANOTHER_TIME = re.compile(r"(?i)(?:change|history|news|release|migrat|upgrad|todo|adr)[^/]*$")
_IMPORTS = re.compile(r"(\S+):(\d+) imports (\S+)")  # a lacking module, as a program of sq names it
_INTERPRETERS = frozenset({"python", "python3", "node", "sh", "bash"})


class _Fault(NamedTuple):
    """What is wrong, or has no answer. The work is not to blame if something is `alike` at the base."""

    objection: Objection
    alike: str = ""

    @property
    def is_silent(self) -> bool:
        return self.objection.weight is Weight.UNKNOWN


@dataclass(frozen=True, kw_only=True)
class _Door:
    """A clean copy of a tree, that of a work or its base, and a place that has the packages of its set-up."""

    change: Change
    changed: Sequence[str]
    bench: Bench
    scratch: ScratchWorktree
    place: Path
    files: Sequence[str]
    mark: str = field(default_factory=partial(token_hex, 8))  # of what programs of sq say

    @property
    def source(self) -> Path:
        return self.place / "repository"

    @property
    def most_s(self) -> float:
        return max(_LEAST_S, _SHARE * sum(one.run.seconds for one in self.change.baseline.checks.values()))

    @property
    def is_base(self) -> bool:
        return self.scratch.tree == self.change.base

    async def ran(self, line: str, folder: Path, within_s: float = _SHORT_S) -> tuple[int, str]:
        """Run a line without variables of tests. Return its exit code and its output."""
        done = await self.bench.commands.whole(
            f"unset PYTHONPATH NODE_PATH NODE_OPTIONS; cd {shlex.quote(str(folder))} || exit; {line}",
            self.place,
            environment=self.scratch.environment,
            told_as=QUESTION,
            readable=[self.scratch.folder],
            is_evidence=True,
            within_s=within_s,
        )
        return _ENDED if done.exit_code is None else done.exit_code, done.output


async def ask(change: Change, bench: Bench, compared: Sequence[ResultComparison], known: Answers) -> Answers:
    """Return what is wrong with the product of a work, and not with that of its base."""
    changed = await changed_paths(change.repository, change.base, change.own_tree)
    quoted = await _quoted(change, changed)
    if not change.is_whole or not (quoted or any(not PROSE.search(one) for one in changed)):
        return Answers()
    asks(QUESTION)
    if not (bench.asks(objecting.FRONT_DOOR) if quoted else bench.has_time):
        took = f"the project's commands took {bench.commands.seconds:.0f} s already"
        raise UnreadError(f"{took} (limits.verify_total_s)")
    async with _opened(change, changed, bench, change.tree) as door:
        found = await _faults(door, compared, quoted)
    if any(one.check == objecting.BUILD for one in known.objections):
        found = [one for one in found if one.alike != objecting.BUILD]
    if any(one.alike and not one.is_silent for one in found):
        async with _opened(change, changed, bench, change.base) as door:
            before = await _faults(door, compared, quoted)
        alike = {one.alike for one in before} - {""}
        found = [one for one in found if one.is_silent or one.alike not in alike]
        found += [one for one in before if one.is_silent]
    return answers_of(one.objection for one in found)


@asynccontextmanager
async def _opened(change: Change, changed: Sequence[str], bench: Bench, tree: str) -> AsyncIterator[_Door]:
    """Yield the door of a tree, with links to packages of Node, without links that lead out of it."""
    links, files = await links_in(change.repository, tree), await files_in(change.repository, tree)
    plain = [one for one in files if one not in links]
    async with bench.scratch(tree) as scratch, scratch_folder(prefix="tmp") as place:
        door = _Door(change=change, changed=changed, bench=bench, scratch=scratch, place=place, files=plain)
        inside = {path: target for path, target in links.items() if landing(path, links) is not None}
        await aside(partial(_copy, scratch.folder, door.source, plain, inside), "the files of the work")
        manifests = (one for one in plain if PurePosixPath(one).name == "package.json")
        for part in {Path(), *(Path(one).parent for one in manifests)}:
            packages = part / "node_modules"
            if (scratch.folder / packages).is_dir() and not (door.source / packages).exists():
                (door.source / packages).symlink_to(scratch.folder / packages)
        (place / "tools").mkdir()
        hidden = json.dumps([str(one) for one in (scratch.folder, change.repository, place)])
        for name, text in product_table().programs.items():
            (place / "tools" / name).write_text(text.replace("{hidden}", hidden))
        yield door


def _copy(folder: Path, source: Path, files: Iterable[str], links: Mapping[str, str]) -> None:
    """Copy files of a place, as the user's filters made them, and make links."""
    source.mkdir()
    for path in files:
        with suppress(OSError):  # a name that is no text, or a file that a set-up took away
            content, target = read_inside(folder, path), source / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            target.chmod((folder / path).lstat().st_mode & 0o777)
    for path, aim in links.items():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).symlink_to(aim)


async def _faults(
    door: _Door, compared: Sequence[ResultComparison], quoted: Sequence[QuotedCommand]
) -> list[_Fault]:
    """Return what is wrong with what is made of a door's copy."""
    found, commands = list[_Fault](), dict[str, Sequence[str]]()
    products = await aside(partial(products_of, door.source, door.changed), "the project's manifests")
    for number, product in enumerate(products):
        found += await _made(door, number, product, commands)
    if not found:
        found += await _unknown_commands(door, commands, quoted)
    for build in product_table().others:
        found += await _in_other_build(door, build, compared)
    return found + await _stale(door)


async def _made(
    door: _Door, number: int, product: Product, commands: dict[str, Sequence[str]]
) -> list[_Fault]:
    """Make and load a product as its users get it. Return what is wrong, and add its commands."""
    out, folder = door.place / f"out{number}", door.source / product.part
    out.mkdir()
    commits = "1" if any(is_built(one) and not third_party(one) for one in door.files) else ""
    words = {"tools": door.place / "tools", "out": out, "folder": folder, "source": door.source}
    make, enter = product.lines(**words, commits=commits, mark=door.mark)
    code, said = await door.ran(make, folder, door.most_s)
    if code and product.row.quiet:
        return []
    if code:
        last = (said.strip().splitlines() or ["it took too long"])[-1][:300]
        cannot = code in {_NOT_HERE, _ENDED} or re.search(product_table().cannot, said, re.IGNORECASE)
        why = f"whether what users get by {product.manifest} works: it could not be made here ({last})"
        silent = objecting.unknown(objecting.FRONT_DOOR, product.manifest, why)
        told = objecting.not_made(product.manifest, last, said[-2_000:])
        return [_Fault(silent if cannot or door.is_base else told, product.manifest)]
    _, said = await door.ran(enter, folder, 2 * _SHORT_S) if enter else (0, "")
    own, lacking = entered(said, door.mark)
    commands |= own
    plain = {name: why.replace(f"{door.place}/", "") for name, why in lacking.items()}
    lacks = [_lacking(name, product.manifest, why) for name, why in plain.items()]
    return [_Fault(one, product.manifest) for one in lacks]


def _lacking(name: str, manifest: str, why: str) -> Objection:
    if found := _IMPORTS.fullmatch(name):
        return objecting.imported(found[1], int(found[2]), found[3], why)
    return objecting.not_in_product(name, manifest, why)


# --- commands that are quoted ---------------------------------------------------------------------------


async def _quoted(change: Change, changed: Sequence[str]) -> list[QuotedCommand]:
    """Return the commands that the spec, criteria and new lines of documents quote, each once."""
    texts = [(change.spec, "the spec")]
    texts += [(text, f"the criterion {one.id}") for one in change.criteria for text in (one.quote, one.text)]
    new = await _new_lines(change, [one for one in changed if _is_of_the_product(one)])

    def found() -> list[QuotedCommand]:
        every = [one for text, source in texts for one in commands_in(text, source)]
        every += [
            one for path, (text, lines) in new.items() for one in commands_in(text, path) if one.line in lines
        ]
        return [*{one.command: one for one in reversed(every)}.values()]

    return await aside(found, "the documents of the work")


def _is_of_the_product(path: str) -> bool:
    """Whether a file is a document about the product as it is."""
    return bool(PROSE.search(path)) and not (_OF_ANOTHER_TIME.search(path) or belongs_to_tests(path))


async def _new_lines(change: Change, paths: Sequence[str]) -> dict[str, tuple[str, dict[int, str]]]:
    """Return the text of each of these files that the tree has, and its lines that the base's has not."""
    before, now = [await contents_at(change.repository, tree, paths) for tree in (change.base, change.tree)]
    found = {}
    for path, content in now.items():
        old, text = [one.decode(errors="replace") for one in (before.get(path, b""), content)]
        known = {*old.splitlines()}
        found[path] = text, {at: line for at, line in enumerate(text.splitlines(), 1) if line not in known}
    return found


async def _unknown_commands(
    door: _Door, commands: Mapping[str, Sequence[str]], quoted: Sequence[QuotedCommand]
) -> list[_Fault]:
    """Return the quoted commands that the product does not know and should, or that lack a module."""
    started = [(one, words) for one in quoted if (words := _start(door, commands, one.command))]
    within_s = max(2.0, min(_SHORT_S, door.most_s / max(1, len(started))))
    found = list[_Fault]()
    for one, start in started[:_MOST_COMMANDS]:
        code, said = await door.ran(shlex.join(start), door.source, within_s)
        why, unknown = refusal_in(simple_commands(one.command)[0].words, code, said)
        lacks = next(iter(entered(said, door.mark)[1].values()), "")
        if lacks or (unknown and await _is_meant(door, one, unknown)):
            place = f"{one.source}:{one.line}" if PROSE.search(one.source) else ""
            told = objecting.unknown_command(one.command, one.source, place, lacks or why)
            found.append(_Fault(told, lacks))
    return found


async def _is_meant(door: _Door, quoted: QuotedCommand, unknown: Sequence[str]) -> bool:
    """Whether the product should know words of a quoted command that it does not know.

    A text may speak of what is refused, and of what was there before: a file of the base has that as it is
    typed. A block of a document shows what works. Else code that the work added has to name such a word, and
    a test that has it as it is typed may show that it is refused, unless that code has it so too.
    """
    change, forms = door.change, [form for word in unknown for form in as_typed(word)]
    sought = ("-F", *(part for one in forms for part in ("-e", one)))
    if await files_with(change.repository, change.base, *sought):
        return False
    if PROSE.search(quoted.source) and quoted.is_alone:
        return True
    code = [one for one in door.changed if not (PROSE.search(one) or belongs_to_tests(one))]
    new, there = await _new_lines(change, code), await files_in(change.repository, change.base)
    lines = [line for _, lines in new.values() for line in lines.values()]
    added = "\n".join([*lines, *(path for path in new if path not in there)])
    is_tested = any(map(belongs_to_tests, await files_with(change.repository, change.tree, *sought)))
    is_built = any(form in added for form in forms)
    return any(is_named_in(word, added) for word in unknown) and (is_built or not is_tested)


def _start(door: _Door, commands: Mapping[str, Sequence[str]], line: str) -> tuple[str, ...]:
    """Return the words that start a quoted command in the product, () if it is none of the project's own."""
    simple = simple_commands(line)
    first, *rest = (simple[0].words if len(simple) == 1 and not simple[0].writes else ()) or ("",)
    match first, *rest:
        case _ if first in commands:
            return (*commands[first], *rest)
        case (("python" | "python3"), "-m", module, *_):
            start, file = commands.get(f"-m {module.partition('.')[0]}"), module.replace(".", "/")
            is_own = any((door.source / f"{file}{end}").is_file() for end in (".py", "/__main__.py"))
            return (*start, *rest[1:]) if start else ("python3", *rest) if is_own else ()
        case "import", name:
            package = "/".join(name.split("/")[: 1 + name.startswith("@")])
            return (*start, name) if (start := commands.get(f"import {package}")) else ()
        case "go", "run", package, *words:
            name = PurePosixPath(package).name or next(iter(commands), "")
            return (*commands[name], *words) if name in commands else ()
        case "cargo", "run", *_ if "--" in rest and len(commands) == 1:
            return (*next(iter(commands.values())), *rest[rest.index("--") + 1 :])
    file = rest[0] if first in _INTERPRETERS and rest else first if "/" in first else ""
    is_own = bool(file) and not third_party(file) and (door.source / file).is_file()
    return ("python3" if first == "python" else first, *rest) if is_own else ()


# --- builds ---------------------------------------------------------------------------------------------


async def _stale(door: _Door) -> list[_Fault]:
    """Return whether the project's own build makes other files than those that are committed."""
    committed = [one for one in door.files if is_built(one) and not third_party(one)]
    build = build_command(door.source) if committed else ""
    if not build:
        return []
    before = {one: _words_of(door, one) for one in committed}
    code, _ = await door.ran(build, door.source, door.most_s)
    other = [one for one, words in before.items() if _words_of(door, one) != words]
    told = [objecting.stale_build(build, other)] if other and not code else []
    return [_Fault(one, objecting.BUILD) for one in told]


def _words_of(door: _Door, path: str) -> list[bytes]:
    return (content_in(door.source, path) or b"").split()


async def _in_other_build(
    door: _Door, build: OtherBuild, compared: Sequence[ResultComparison]
) -> list[_Fault]:
    """Return the tests that pass as they are run always, and fail in another build.

    At the base these are all of its tests, else those of files that the work touched.
    """
    paths = [one for one in door.changed if re.search(build.files, one)]
    read = await contents_at(door.change.repository, door.change.tree, paths)
    texts = {path: text.decode(errors="replace") for path, text in read.items()}
    may_lose = {path: text for path, text in texts.items() if belongs_to_tests(path) or "int main(" in text}
    losing = {path for path, text in may_lose.items() if re.search(build.leaves_out, text, re.MULTILINE)}
    for one in compared if build.is_asked_for(texts) else ():
        touched = [path for path in (*one.touched.new, *one.touched.held) if path in paths]
        files = [path for path in touched if path in door.files]
        line = re.sub(build.was, build.becomes, one.command)
        folder = door.source if build.becomes else door.scratch.folder
        alone = only_these(suite_of(line, folder), files) if files and not door.is_base else None
        usual = one.before if door.is_base else one.now
        is_asked = alone or door.is_base or (build.becomes and one.now.seconds <= door.most_s)
        loses = losing - set(files if "pytest" in one.command else ())
        if loses or not (usual and one.before and is_asked) or (build.becomes and line == one.command):
            continue
        variables = {**door.scratch.environment, **build.variables}
        place = replace(door.scratch, folder=folder, environment=variables)
        failing = frozenset(names_of(usual.count, TestState.PASSED))
        for _ in range(1 if door.is_base else 2):  # one that fails once may be unsteady
            done = await run_counted(door.bench.commands, place, alone or line, is_evidence=True)
            failing &= frozenset(names_of(done.count, TestState.FAILED))
            nothing = done.nothing_yet or done.count.says_none or done.count.ran == 0
            stopped = nothing or done.broken or done.missing or re.search(build.broken, done.output_tail)
            if stopped or not (failing or (done.exit_code and not done.count.tests)):
                break
        else:
            said = done.output_tail[-1_000:]
            told = objecting.other_build(build.told, alone or line, sorted(failing), said)
            return [_Fault(told, build.told)]
    return []
