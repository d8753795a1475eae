"""The product as its users get it: made of a clean copy, without what developers alone have.

What loads there, which quoted commands it does not know, whether a committed build is what its sources make,
and whether new tests pass in the other build. What the base has too, or cannot be made there in the same way,
is no fault of the work. It shows nothing of what a command does with its input. (product.md, section 12)
"""

import json
import os
import re
import shlex
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
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
from orchestrator.checks.quoted import QuotedCommand, commands_in, filled_in, is_shown, refusal_in
from orchestrator.checks.running import run_counted
from orchestrator.checks.touched import PROSE
from orchestrator.git.trees import changed_paths, contents_at, entries_in, landing, links_in
from orchestrator.project.build_files.builds import build_command, is_built
from orchestrator.project.build_files.products import OtherBuild, Product, entered, product_table, products_of
from orchestrator.project.files import belongs_to_tests, third_party
from orchestrator.project.runners.selection import only_these
from orchestrator.project.runners.suite import suite_of
from orchestrator.project.shell import simple_commands
from state.paths import scratch_folder
from state.records.commands import TestState
from state.records.objections import Objection
from state.safe_paths import read_inside
from state.words import names_of

QUESTION = "the product as its users get it"
_SHORT_S, _LEAST_S, _SHARE = 15.0, 30.0, 0.5  # of the suite, for what makes the product
_MOST_COMMANDS, _MOST_BYTES = 10, 300_000_000
_NOT_HERE, _ENDED = 77, 124  # exit codes of sq's own programs, and of `timeout`
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

    async def ran(
        self, lines: Sequence[str], folder: Path, within_s: float = _SHORT_S
    ) -> list[tuple[int, str]]:
        """Run lines one after another, without variables of tests. Return their exit codes and outputs."""
        mark = token_hex(8)
        script = "unset PYTHONPATH NODE_PATH NODE_OPTIONS" + "".join(
            f"; (cd {shlex.quote(str(folder))} && timeout -k 5 {within_s:.0f} sh -c {shlex.quote(one)})"
            f" </dev/null 2>&1; printf '{mark} %s{mark}' $?"
            for one in lines
        )
        done = await self.bench.commands.whole(
            script,
            self.place,
            environment=self.scratch.environment,
            told_as=QUESTION,
            readable=[self.scratch.folder],
            is_evidence=True,
        )
        parts = done.output.split(mark)
        codes = [int(one) if one.strip().isdecimal() else _ENDED for one in parts[1::2]]
        return [*zip(codes, parts[::2], strict=False)]


async def ask(change: Change, bench: Bench, compared: Sequence[ResultComparison], known: Answers) -> Answers:
    """Return what is wrong with the product of a work, and not with that of its base."""
    changed = await changed_paths(change.repository, change.base, change.own_tree)
    can_end = shutil.which("timeout", path=bench.commands.environ.get("PATH", os.defpath))
    if not (change.is_final and changed and can_end):
        return Answers()
    asks(QUESTION)
    if not bench.has_time:
        why = f"the project's commands took {bench.commands.seconds:.0f} s already (limits.verify_total_s)"
        told = f"{QUESTION}: left out, because {why}"
        return answers_of([objecting.unknown(objecting.FRONT_DOOR, QUESTION, told)])
    quoted = await _quoted(change, changed)
    if not quoted and all(map(PROSE.search, changed)):
        return Answers()
    asking = partial(_faults, change, changed, compared, quoted)
    async with _opened(change, bench, change.tree) as door:
        found = await asking(door, stale=objecting.BUILD not in {one.check for one in known.objections})
    faults = [one for one in found if not one.is_known]
    silent = [one for one in found if one.is_known]
    if any(one.alike for one in faults):
        async with _opened(change, bench, change.base) as door:
            before = await asking(door, only=faults)
        alike, parts = {one.alike for one in before} - {""}, {one.part for one in before} - {""}
        faults = [one for one in faults if one.alike not in alike and one.part not in parts]
        silent += [one for one in before if one.is_known]
    return answers_of(one.objection for one in (*faults, *silent))


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


async def _faults(
    change: Change,
    changed: Sequence[str],
    compared: Sequence[ResultComparison],
    quoted: Sequence[QuotedCommand],
    door: _Door,
    *,
    stale: bool = True,
    only: Sequence[_Fault] | None = None,
) -> list[_Fault]:
    """Return what is wrong with what is made of a door's copy. `only`: as far as these faults ask for it."""
    alike = {one.alike for one in only or ()}
    found, commands = list[_Fault](), dict[str, tuple[str, ...]]()
    if only is None or alike - {objecting.BUILD, *(one.told for one in product_table().others)}:
        products = await aside(partial(products_of, door.source, changed), "the project's manifests")
        for number, product in enumerate(products):
            more, own = await _made(door, number, product, at_base=only is not None)
            found, commands = [*found, *more], commands | own
        if not found:
            found += await _unknown_commands(door, commands, quoted)
    for build in product_table().others:
        if only is None or build.told in alike:
            found += await _in_other_build(change, door, build, compared, changed, at_base=only is not None)
    if stale and (only is None or objecting.BUILD in alike):
        found += await _stale(door)
    return found


async def _made(
    door: _Door, number: int, product: Product, *, at_base: bool
) -> tuple[list[_Fault], dict[str, tuple[str, ...]]]:
    """Make a product as its users get it and load it. Return what is wrong, and what starts its commands."""
    out, mark, folder = door.place / f"out{number}", token_hex(8), door.source / product.part
    out.mkdir()
    commits = "1" if any(is_built(one) and not third_party(one) for one in door.files) else ""
    words = {"tools": door.place / "tools", "out": out, "folder": folder, "source": door.source}
    row = product_table().kinds[product.kind]
    of = partial(_Fault, alike=product.manifest, part=product.manifest)
    line = product.line(row.make, **words, commits=commits, mark=mark)
    code, said = _first(await door.ran([line], folder, door.most_s))
    if code:
        last = (said.strip().splitlines() or ["it took too long"])[-1][:300]
        cannot = code in {_NOT_HERE, _ENDED} or re.search(product_table().cannot, said, re.IGNORECASE)
        is_known = at_base or bool(cannot)
        why = f"whether what users get by {product.manifest} works: it could not be made here ({last})"
        silent = objecting.unknown(objecting.FRONT_DOOR, product.manifest, why)
        told = silent if is_known else objecting.not_made(product.manifest, last, said[-2_000:])
        return [of(objection=told, is_known=is_known)], {}
    line = product.line(row.enter, **words, mark=mark)
    _, said = _first(await door.ran([line], folder, 2 * _SHORT_S)) if line else (0, "")
    own = entered(said, mark)
    plain = {name: why.replace(f"{door.place}/", "") for name, why in own.faults.items()}
    lacking = [objecting.not_in_product(name, product.manifest, why) for name, why in plain.items()]
    return [of(objection=one) for one in lacking], {**own.commands}


def _first(answers: Sequence[tuple[int, str]]) -> tuple[int, str]:
    return answers[0] if answers else (_ENDED, "")


# --- commands that are quoted ---------------------------------------------------------------------------


async def _quoted(change: Change, changed: Sequence[str]) -> list[QuotedCommand]:
    """Return the commands that the spec, criteria and new lines of documents quote, each once."""
    texts = [(change.spec, "the spec")]
    texts += [(text, f"the criterion {one.id}") for one in change.criteria for text in (one.quote, one.text)]
    paths = _documents(changed)
    before, now = [await contents_at(change.repository, tree, paths) for tree in (change.base, change.tree)]

    def found() -> list[QuotedCommand]:
        every = [one for text, source in texts for one in commands_in(text, source)]
        for path, content in now.items():
            old = {*before.get(path, b"").splitlines()}
            new = {number for number, line in enumerate(content.splitlines(), 1) if line not in old}
            said = commands_in(content.decode(errors="replace"), path, only=new)
            every += [replace(one, shown="") for one in said]
        return [one for one in map(filled_in, every) if one]

    ready = await aside(found, "the documents of the work")
    shown = {one.command: one for one in reversed(ready)}
    return [*(shown | {one.command: one for one in reversed(ready) if one.shown}).values()]


def _documents(paths: Sequence[str]) -> list[str]:
    """Return the paths of documents about the product as it is."""
    found = [one for one in paths if PROSE.search(one) and not _OF_ANOTHER_TIME.search(one)]
    return [one for one in found if not belongs_to_tests(one)]


async def _unknown_commands(
    door: _Door, commands: Mapping[str, tuple[str, ...]], quoted: Sequence[QuotedCommand]
) -> list[_Fault]:
    """Return the quoted commands that the product does not know, or that print other than what is shown."""
    started = {one: words for one in quoted if (words := _start(door, commands, one.command))}
    own = [*started][:_MOST_COMMANDS]
    lines = [shlex.join(started[one]) for one in own]
    within_s = max(2.0, min(_SHORT_S, door.most_s / max(1, len(lines))))
    answers = await door.ran(lines, door.source, within_s) if lines else []
    fine = {one.command for one, (code, _) in zip(own, answers, strict=False) if not code}
    found = list[_Fault]()
    for one, line, (code, said) in zip(own, lines, answers, strict=False):
        words, missing = simple_commands(one.command)[0].words, _missing(door, said) if code else ""
        if why := refusal_in(words, code, said) or (f"it lacks {missing}" if missing else ""):
            place = f"{one.source}:{one.line}" if PROSE.search(one.source) else ""
            told = objecting.unknown_command(one.command, one.source, place, why)
            found.append(_Fault(objection=told, alike=missing))
        is_other = one.shown and not code and fine.issuperset(one.after) and not is_shown(one.shown, said)
        if is_other and _first(await door.ran([line], door.source)) == (code, said):
            told = objecting.other_output(one.command, one.source, one.shown, said.strip()[:1_000])
            found.append(_Fault(objection=told))
    return found


def _start(door: _Door, commands: Mapping[str, tuple[str, ...]], line: str) -> tuple[str, ...]:
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
    code, _ = _first(await door.ran([build], door.source, door.most_s))
    other = [one for one, text in zip(committed, before, strict=True) if _text(door.source, one) != text]
    return (
        [_Fault(objection=objecting.stale_build(build, other), alike=objecting.BUILD)]
        if other and not code
        else []
    )


def _text(folder: Path, path: str) -> list[bytes]:
    try:
        return [line.strip() for line in read_inside(folder, path).splitlines() if line.strip()]
    except OSError:
        return []


async def _in_other_build(
    change: Change,
    door: _Door,
    build: OtherBuild,
    compared: Sequence[ResultComparison],
    changed: Sequence[str],
    *,
    at_base: bool,
) -> list[_Fault]:
    """Return the tests that pass as they are run always, and fail in another build.

    At the base these are all of its tests, else those of files that the work touched.
    """
    paths = [one for one in changed if re.search(build.files, one)]
    read = await contents_at(change.repository, change.tree, paths)
    texts = {path: text.decode(errors="replace") for path, text in read.items()}
    asks_for = any(re.search(build.holds, text, re.MULTILINE) for text in texts.values())
    if not asks_for or any(build.unless and re.search(build.unless, text) for text in texts.values()):
        return []
    losing = {path for path, text in texts.items() if _loses(build, path, text)}
    for one in compared:
        files = [
            path for path in (*one.touched.new, *one.touched.held) if path in paths and path in door.files
        ]
        line = re.sub(build.was, build.becomes, one.command) if build.was else one.command
        folder = door.source if build.was else door.scratch.folder
        alone = only_these(suite_of(line, folder), files) if files and not at_base else None
        usual = one.before if at_base else one.now
        is_asked = alone or at_base or (build.was and one.now.seconds <= door.most_s)
        loses = losing - set(files if "pytest" in one.command else ())
        if loses or not (usual and one.before and is_asked) or (build.was and line == one.command):
            continue
        environment = {**door.scratch.environment, **build.variables}
        place = replace(door.scratch, folder=folder, environment=environment)
        failing = frozenset(names_of(usual.count, TestState.PASSED))
        for _ in range(2 if not at_base else 1):  # one that fails once may be unsteady
            done = await run_counted(door.bench.commands, place, alone or line, is_evidence=True)
            failing &= frozenset(names_of(done.count, TestState.FAILED))
            stopped = (
                done.broken or done.missing or (build.broken and re.search(build.broken, done.output_tail))
            )
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
