"""The product as its users get it: made of a clean copy, without what developers alone have.

What loads there, which quoted commands it does not know, whether a committed build is what its sources make,
and whether new tests pass in the other build. What the base has too, or cannot be made there in the same way,
is no fault of the work. It shows nothing of what a command does with its input. (product.md, section 12)
"""

import json
import re
import shlex
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from secrets import token_hex

from agents.concurrency import UnreadError, aside
from orchestrator.checks import objecting
from orchestrator.checks.answers import Answers, answers_of
from orchestrator.checks.asking import asks
from orchestrator.checks.bench import Bench, ScratchWorktree
from orchestrator.checks.change import Change
from orchestrator.checks.comparison import ResultComparison
from orchestrator.checks.quoted import (
    QuotedCommand,
    as_typed,
    commands_in,
    is_named_in,
    is_shown,
    refusal_in,
)
from orchestrator.checks.running import run_counted
from orchestrator.checks.touched import PROSE
from orchestrator.git.command import git
from orchestrator.git.trees import changed_paths, contents_at, entries_in, files_in, landing, links_in
from orchestrator.project.build_files.builds import build_command, is_built
from orchestrator.project.build_files.products import OtherBuild, Product, entered, product_table, products_of
from orchestrator.project.files import belongs_to_tests, third_party
from orchestrator.project.runners.selection import only_these
from orchestrator.project.runners.suite import suite_of
from orchestrator.project.shell import simple_commands
from state.errors import GitError
from state.paths import scratch_folder
from state.records.commands import TestState
from state.records.objections import Objection
from state.safe_paths import read_inside
from state.words import names_of

QUESTION = "the product as its users get it"
_SHORT_S, _LEAST_S, _SHARE = 15.0, 30.0, 0.5  # of the suite, for what makes the product
_MOST_COMMANDS, _MOST_BYTES = 10, 300_000_000
_NOT_HERE, _ENDED = 77, 124  # exit codes: of sq's own programs, and for what was ended
_PACKAGES = "node_modules"
_OF_ANOTHER_TIME = re.compile(r"(?i)(?:change|history|news|release|migrat|upgrad|todo|adr)[^/]*$")
_INTERPRETERS = frozenset({"python", "python3", "node", "sh", "bash"})
_ALONE = "which only developers get"  # said by a program of sq
_LACKS = re.compile(r"No module named '?([\w.]{1,200})|Cannot find module '([^'\n]{1,400})'")


@dataclass(frozen=True, kw_only=True)
class _Fault:
    """What is wrong. The work is not to blame if the base has one that is `alike`, or any of its `part`.

    A part is that of a product, by its manifest. `is_known`: this machine cannot make it, whoever wrote it.
    """

    objection: Objection
    alike: str = ""
    part: str = ""
    is_known: bool = False


@dataclass(frozen=True, kw_only=True)
class _Work:
    """A change with the paths that it changed, its commands, and the commands that texts quote."""

    change: Change
    changed: Sequence[str]
    compared: Sequence[ResultComparison]
    quoted: Sequence[QuotedCommand]


@dataclass(frozen=True, kw_only=True)
class _Door:
    """A clean copy of a tree, and a place that has the packages of its set-up."""

    bench: Bench
    scratch: ScratchWorktree
    place: Path
    files: Sequence[str]
    most_s: float

    @property
    def source(self) -> Path:
        return self.place / "repository"

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
    if not (change.is_whole and changed):
        return Answers()
    asks(QUESTION)
    if not bench.has_time:
        why = f"the project's commands took {bench.commands.seconds:.0f} s already (limits.verify_total_s)"
        told = f"{QUESTION}: left out, because {why}"
        return answers_of([objecting.unknown(objecting.FRONT_DOOR, QUESTION, told)])
    quoted = await _quoted(change, changed)
    if not quoted and all(map(PROSE.search, changed)):
        return Answers()
    work = _Work(change=change, changed=changed, compared=compared, quoted=quoted)
    async with _opened(change, bench, change.tree) as door:
        found = await _faults(work, door)
    if any(one.check == objecting.BUILD for one in known.objections):
        found = [one for one in found if one.alike != objecting.BUILD]
    if any(one.alike and not one.is_known for one in found):
        async with _opened(change, bench, change.base) as door:
            before = await _faults(work, door, only={one.alike for one in found if not one.is_known})
        alike, parts = {one.alike for one in before} - {""}, {one.part for one in before} - {""}
        found = [one for one in found if one.is_known or not (one.alike in alike or one.part in parts)]
        found += [one for one in before if one.is_known]
    return answers_of(one.objection for one in sorted(found, key=lambda one: one.is_known))


@asynccontextmanager
async def _opened(change: Change, bench: Bench, tree: str) -> AsyncIterator[_Door]:
    entries, links = await entries_in(change.repository, tree), await links_in(change.repository, tree)
    files = [path for path, facts in entries.items() if facts.startswith("100")]
    inside = {path: target for path, target in links.items() if landing(path, links) is not None}
    suite = sum(one.run.seconds for one in change.baseline.checks.values())
    async with bench.scratch(tree) as scratch, scratch_folder(prefix="tmp") as place:
        most_s = max(_LEAST_S, suite * _SHARE)
        door = _Door(bench=bench, scratch=scratch, place=place, files=files, most_s=most_s)
        hidden = [str(one) for one in (scratch.folder, change.repository, place)]
        await aside(partial(_fill, door, inside, hidden), "the files of the work")
        yield door


def _fill(door: _Door, links: Mapping[str, str], hidden: Sequence[str]) -> None:
    """Put the files of a tree alone into its door, with links to packages of Node and programs of sq."""
    folder, left = door.scratch.folder, _MOST_BYTES
    for path in door.files:
        with suppress(OSError):  # a name that is no text
            content, target = read_inside(folder, path), door.source / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            target.chmod((folder / path).lstat().st_mode & 0o777)
            if (left := left - len(content)) < 0:
                raise UnreadError("the files of the work are too large to be copied")
    for part in {"", *(one.rpartition("/")[0] for one in door.files if one.endswith("/package.json"))}:
        packages = str(Path(part, _PACKAGES))
        if (folder / packages).is_dir() and not (door.source / packages).exists():
            links = {**links, packages: str(folder / packages)}
    for path, aim in links.items():
        (door.source / path).parent.mkdir(parents=True, exist_ok=True)
        (door.source / path).symlink_to(aim)
    (door.place / "tools").mkdir()
    for name, text in product_table().programs.items():
        (door.place / "tools" / name).write_text(text.replace("{hidden}", json.dumps(hidden)))


async def _faults(work: _Work, door: _Door, *, only: Collection[str] | None = None) -> list[_Fault]:
    """Return what is wrong with what is made of a door's copy. `only`: at the base, what is alike."""
    found, commands = list[_Fault](), dict[str, Sequence[str]]()
    builds = {one.told for one in product_table().others}
    if only is None or only - {objecting.BUILD, *builds}:
        products = await aside(partial(products_of, door.source, work.changed), "the project's manifests")
        for number, product in enumerate(products):
            found += await _made(door, number, product, commands, at_base=only is not None)
        if not found:
            found += await _wrong_commands(work, door, commands, at_base=only is not None)
    for build in product_table().others:
        if only is None or build.told in only:
            found += await _in_other_build(work, door, build, at_base=only is not None)
    if only is None or objecting.BUILD in only:
        found += await _stale(door)
    return found


async def _made(
    door: _Door, number: int, product: Product, commands: dict[str, Sequence[str]], *, at_base: bool
) -> list[_Fault]:
    """Make and load a product as its users get it. Return what is wrong, and add its commands."""
    out, mark, folder = door.place / f"out{number}", token_hex(8), door.source / product.part
    out.mkdir()
    commits = "1" if any(is_built(one) and not third_party(one) for one in door.files) else ""
    words = {"tools": door.place / "tools", "out": out, "folder": folder, "source": door.source}
    lines = (product.row.make, product.row.enter)
    make, enter = (product.line(one, **words, commits=commits, mark=mark) for one in lines)
    of = partial(_Fault, alike=product.manifest, part=product.manifest)
    code, said = await door.ran(make, folder, door.most_s)
    if code:
        last = (said.strip().splitlines() or ["it took too long"])[-1][:300]
        cannot = code in {_NOT_HERE, _ENDED} or re.search(product_table().cannot, said, re.IGNORECASE)
        is_known = at_base or bool(cannot)
        why = f"whether what users get by {product.manifest} works: it could not be made here ({last})"
        silent = objecting.unknown(objecting.FRONT_DOOR, product.manifest, why)
        told = silent if is_known else objecting.not_made(product.manifest, last, said[-2_000:])
        return [of(objection=told, is_known=is_known)]
    _, said = await door.ran(enter, folder, 2 * _SHORT_S) if enter else (0, "")
    own, lacking = entered(said, mark)
    commands |= own
    plain = ((name, why.replace(f"{door.place}/", "")) for name, why in lacking.items())
    return [of(objection=objecting.not_in_product(name, product.manifest, why)) for name, why in plain]


# --- commands that are quoted ---------------------------------------------------------------------------


async def _quoted(change: Change, changed: Sequence[str]) -> list[QuotedCommand]:
    """Return the commands that the spec, criteria and new lines of documents quote, each once."""
    texts = [(change.spec, "the spec")]
    texts += [(text, f"the criterion {one.id}") for one in change.criteria for text in (one.quote, one.text)]
    documents = [one for one in changed if PROSE.search(one) and not _OF_ANOTHER_TIME.search(one)]
    new = await _new_lines(change, [one for one in documents if not belongs_to_tests(one)])

    def found() -> Iterator[QuotedCommand]:
        for text, source in texts:
            yield from commands_in(text, source)
        for path, (text, numbers) in new.items():
            yield from (one for one in commands_in(text, path) if one.line in numbers)

    by_command = dict[str, QuotedCommand]()
    for one in await aside(lambda: [*found()], "the documents of the work"):
        if one.command not in by_command or (one.shown and not by_command[one.command].shown):
            by_command[one.command] = one
    return [*by_command.values()]


async def _new_lines(change: Change, paths: Sequence[str]) -> dict[str, tuple[str, dict[int, str]]]:
    """Return the text of each of these files that the tree has, and its lines that the base's has not."""
    before, now = [await contents_at(change.repository, tree, paths) for tree in (change.base, change.tree)]
    found = {}
    for path, content in now.items():
        old, text = [one.decode(errors="replace") for one in (before.get(path, b""), content)]
        known = {*old.splitlines()}
        found[path] = text, {at: line for at, line in enumerate(text.splitlines(), 1) if line not in known}
    return found


async def _wrong_commands(
    work: _Work, door: _Door, commands: Mapping[str, Sequence[str]], *, at_base: bool
) -> list[_Fault]:
    """Return the quoted commands that the product does not know, or that print other than what is shown.

    At the base these are the ones that lack a file, and those that print what is shown.
    """
    started = {one: words for one in work.quoted if (words := _start(door, commands, one.command))}
    within_s = max(2.0, min(_SHORT_S, door.most_s / max(1, len(started))))
    found, fine = list[_Fault](), set[str]()
    for one, start in [*started.items()][:_MOST_COMMANDS]:
        line = shlex.join(start)
        code, said = await door.ran(line, door.source, within_s)
        fine |= set() if code else {one.command}
        why, unknown = refusal_in(simple_commands(one.command)[0].words, code, said)
        missing, as_shown = _missing(door, said) if code else "", is_shown(one.shown, said)
        of_document = PROSE.search(one.source) is not None
        if missing or (unknown and not at_base and await _is_meant(work, one, unknown)):
            place = f"{one.source}:{one.line}" if of_document else ""
            told = objecting.unknown_command(one.command, one.source, place, why or f"it lacks {missing}")
            found.append(_Fault(objection=told, alike=missing))
        elif one.shown and not of_document and as_shown is at_base:
            is_clear = at_base or (not code and fine.issuperset(one.after))
            if is_clear and (at_base or await door.ran(line, door.source, within_s) == (code, said)):
                told = objecting.other_output(one.command, one.source, one.shown, said.strip()[:1_000])
                found.append(_Fault(objection=told, alike=one.command))
    return found


async def _is_meant(work: _Work, quoted: QuotedCommand, unknown: Sequence[str]) -> bool:
    """Whether the product should know words of a quoted command that it does not know.

    A text may speak of what is refused, and of what was there before: a file of the base has that as it is
    typed. A block of a document shows what works. Else code that the work added has to name such a word, and
    a test that has it as it is typed may show that it is refused, unless that code has it so too.
    """
    change, forms = work.change, [form for word in unknown for form in as_typed(word)]
    if await _files_with(change, change.base, forms):
        return False
    if PROSE.search(quoted.source) and quoted.is_alone:
        return True
    code = [one for one in work.changed if not (PROSE.search(one) or belongs_to_tests(one))]
    new, there = await _new_lines(change, code), await files_in(change.repository, change.base)
    lines = [line for _, lines in new.values() for line in lines.values()]
    added = "\n".join([*lines, *(path for path in new if path not in there)])
    is_tested = any(map(belongs_to_tests, await _files_with(change, change.tree, forms)))
    is_built = any(form in added for form in forms)
    return any(is_named_in(word, added) for word in unknown) and (is_built or not is_tested)


async def _files_with(change: Change, tree: str, texts: Sequence[str]) -> list[str]:
    wanted = [part for one in texts for part in ("-e", one)]
    try:
        told = await git(change.repository, "grep", "-I", "-l", "-z", "-F", *wanted, tree)
    except GitError:  # none has
        return []
    return [name.partition(":")[2] for name in told.split("\0") if name]


def _start(door: _Door, commands: Mapping[str, Sequence[str]], line: str) -> tuple[str, ...]:
    """Return the words that start a quoted command in the product, () if it is none of the project's own."""
    simple = simple_commands(line)
    first, *rest = (simple[0].words if len(simple) == 1 and not simple[0].writes else ()) or ("",)
    if first in commands:
        return (*commands[first], *rest)
    if first in {"python", "python3"} and rest[:1] == ["-m"] and len(rest) > 1:
        start = commands.get(f"-m {rest[1].partition('.')[0]}")
        place = rest[1].replace(".", "/")
        is_here = any((door.source / f"{place}{end}").is_file() for end in (".py", "/__main__.py"))
        return (*start, *rest[1:]) if start else ("python3", *rest) if is_here else ()
    if (first, *rest[:1]) == ("go", "run") and len(rest) > 1:
        name = PurePosixPath(rest[1]).name or next(iter(commands), "")
        return (*commands[name], *rest[2:]) if name in commands else ()
    if (first, *rest[:1]) == ("cargo", "run") and "--" in rest and len(commands) == 1:
        return (*next(iter(commands.values())), *rest[rest.index("--") + 1 :])
    file = rest[0] if first in _INTERPRETERS and rest else first if "/" in first else ""
    is_file = file and not third_party(file) and (door.source / file).is_file()
    return ("python3" if first == "python" else first, *rest) if is_file else ()


def _missing(door: _Door, said: str) -> str:
    """Return the module of the project that a program did not find, by its output, or ""."""
    for found in _LACKS.finditer(said):
        top = (found[1] or "").partition(".")[0]
        roots = (
            [f"{part}{top}{end}" for part in ("", "src/") for end in (".py", "/__init__.py")] if top else []
        )
        is_own = str(found[2]).startswith((str(door.place), "./", "../"))
        if is_own or _ALONE in said or any((door.source / one).is_file() for one in roots):
            return (found[1] or found[2]).removeprefix(f"{door.source}/")
    return ""


# --- builds ---------------------------------------------------------------------------------------------


async def _stale(door: _Door) -> list[_Fault]:
    """Return whether the project's own build makes other files than those that are committed."""
    committed = [one for one in door.files if is_built(one) and not third_party(one)]
    build = build_command(door.source) if committed else ""
    if not build:
        return []
    before = [_text(door.source, one) for one in committed]
    code, _ = await door.ran(build, door.source, door.most_s)
    other = [one for one, text in zip(committed, before, strict=True) if _text(door.source, one) != text]
    told = [objecting.stale_build(build, other)] if other and not code else []
    return [_Fault(objection=one, alike=objecting.BUILD) for one in told]


def _text(folder: Path, path: str) -> list[bytes]:
    try:
        return [line.strip() for line in read_inside(folder, path).splitlines() if line.strip()]
    except OSError:
        return []


async def _in_other_build(work: _Work, door: _Door, build: OtherBuild, *, at_base: bool) -> list[_Fault]:
    """Return the tests that pass as they are run always, and fail in another build.

    At the base these are all of its tests, else those of files that the work touched.
    """
    paths = [one for one in work.changed if re.search(build.files, one)]
    read = await contents_at(work.change.repository, work.change.tree, paths)
    texts = {path: text.decode(errors="replace") for path, text in read.items()}
    if not build.is_asked_for(texts.values()):
        return []
    losing = {path for path, text in texts.items() if _loses(build, path, text)}
    for one in work.compared:
        touched = [path for path in (*one.touched.new, *one.touched.held) if path in paths]
        files = [path for path in touched if path in door.files]
        line = re.sub(build.was, build.becomes, one.command) if build.was else one.command
        folder = door.source if build.was else door.scratch.folder
        alone = only_these(suite_of(line, folder), files) if files and not at_base else None
        usual = one.before if at_base else one.now
        is_asked = alone or at_base or (build.was and one.now.seconds <= door.most_s)
        loses = losing - set(files if "pytest" in one.command else ())
        if loses or not (usual and one.before and is_asked) or (build.was and line == one.command):
            continue
        place = replace(
            door.scratch, folder=folder, environment={**door.scratch.environment, **build.variables}
        )
        failing = frozenset(names_of(usual.count, TestState.PASSED))
        for _ in range(1 if at_base else 2):  # one that fails once may be unsteady
            done = await run_counted(door.bench.commands, place, alone or line, is_evidence=True)
            failing &= frozenset(names_of(done.count, TestState.FAILED))
            stopped = done.broken or done.missing or build.is_broken_by(done.output_tail)
            if stopped or not (failing or (done.exit_code and not done.count.tests)):
                break
        else:
            told = objecting.other_build(
                build.told, alone or line, sorted(failing), done.output_tail[-1_000:]
            )
            return [_Fault(objection=told, alike=build.told)]
    return []


def _loses(build: OtherBuild, path: str, text: str) -> bool:
    """Whether a file of tests, or one that may be a program of them, loses something in another build."""
    is_of_tests = belongs_to_tests(path) or "int main(" in text
    return bool(build.leaves_out) and is_of_tests and bool(re.search(build.leaves_out, text, re.MULTILINE))
