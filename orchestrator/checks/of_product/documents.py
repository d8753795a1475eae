"""What changed documents show of the product: options, names, variables and examples, against what it has.

Only what stands in code is looked at, and only on lines that the work wrote.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path, PurePosixPath
from shlex import quote
from typing import Any, NamedTuple

import msgspec

from agents.concurrency import aside
from orchestrator.checks.asking import asks
from orchestrator.checks.bench import Bench
from orchestrator.checks.change import Change
from orchestrator.checks.objecting import untrue
from orchestrator.checks.of_product.product import texts_of
from orchestrator.checks.touched import PROSE
from orchestrator.git.trees import changed_paths, contents_at, files_in, files_with
from orchestrator.project.build_files.manifests import manifest_of
from orchestrator.project.files import MANIFESTS, belongs_to_tests, is_test_file, third_party
from state.decoding import table_beside
from state.records.objections import Objection

_MOST_ASKED, _MOST_NAMED = 60, 10
_LONGEST = 2_000  # characters of a line that are looked at
_DOCUMENTS = (".md", ".markdown", ".rst")
_OPTION = re.compile(r"(?<![\w-])--([a-z][\w-]+)")
_INLINE = re.compile(r"(`{1,2})([^`\n]+)\1")
_BLOCK = re.compile(
    r"\s*(?:(?P<fence>```+|~~~+)\s*\{?\.?(?P<name>[\w+-]*)|\.\. code(?:-block)?::\s*(?P<of>[\w+-]*))"
)
_COMMON = {"help", "version"}
_ENTRY = re.compile(r"(?m)^[ \t]*[\"']?([\w.-]+)[\"']?[ \t]*=[ \t]*[\"']?([\w.]+):(\w+)[\"']?[ \t]*,?\]?$")
_OF_BUILDS = re.compile(r"(?m)^(?:name\s*=\s*\"|module\s+(?:\S*/)?)([\w-]+)")
_USES = r"\bimport\s+{0}\b|\bfrom\s+{0}\b|['\"/]{0}['\"]|\buse\s+{0}\b"  # a document loads a module
_BINDS = r"\b{0}\s*=[^=]|\bas\s+{0}\b|\bfor\s+{0}\b|[(,]\s*{0}\s*[,):]"  # or gives its name to something else
_Difference = tuple[
    int, str, str, int, str
]  # a line, its example, what is shown, the exit code, what it gives


@cache
def _table() -> Any:  # noqa: ANN401  as the file has it
    return table_beside(__file__, "documents.yaml")


class Own(NamedTuple):
    """What belongs to a project: its commands, with the words that start each, and its modules."""

    commands: Mapping[str, list[str]]
    modules: frozenset[str]


class Claim(NamedTuple):
    """What a document says that the product has: a line of its sources then holds the pattern `sought`."""

    what: str
    sought: str
    any_case: bool = False


async def objections_to(change: Change, bench: Bench) -> tuple[Objection, ...]:
    """Return what documents show since the work and the product does not have or do."""
    changed = await changed_paths(change.repository, change.base, change.own_tree)
    paths = [path for path in changed if path.endswith(_DOCUMENTS) and not _search("history", path)]
    paths = [path for path in paths if not (third_party(path) or belongs_to_tests(path))]
    if not paths:
        return ()
    old, new = [await contents_at(change.repository, one, paths) for one in (change.base, change.own_tree)]
    manifests = await texts_of(change, lambda path: manifest_of(path) is not None)
    own = own_of(await files_in(change.repository, change.own_tree), manifests)
    found = list[Objection]()
    for path in new:
        was, now = (each.get(path, b"").decode("utf-8", "replace") for each in (old, new))
        claims = await aside(partial(claims_of, was, now, own), "the documents of the work")
        for line, one in claims[:_MOST_ASKED]:
            if not await _stands(change, one):
                found.append(untrue(path, line, one.what, "the product's sources do not have it"))
        found += await _played(change, bench, path, was, now, own)
    return tuple(found[:_MOST_NAMED])


def _search(kind: str, text: str) -> bool:
    return re.search(_table()["patterns"][kind], text) is not None


def own_of(paths: Iterable[str], manifests: Mapping[str, str]) -> Own:
    """Return the commands and modules that the files of a project and its manifests give it."""
    commands, modules = dict[str, list[str]](), set[str]()
    for place in (PurePosixPath(one) for one in paths if not (belongs_to_tests(one) or third_party(one))):
        package = place.parent if place.name == "__init__.py" else place
        if place.suffix == ".py" and str(package.parent) in {".", "src", "lib"}:
            modules.add(package.stem)
        elif str(place.parent) in {"bin", "exe"} and not place.suffix:
            commands[place.name] = [f"./{place}"]
    for path, text in manifests.items():
        kind = PurePosixPath(path).name
        for name, module, function in re.findall(_ENTRY, text) if kind in MANIFESTS else ():
            start = f"import sys; sys.argv[0] = {name!r}; sys.path[:0] = ['.', 'src', 'lib']; "
            ends = f"from {module} import {function}; sys.exit({function}())"
            commands[name] = ["python3", "-c", start + ends]
        if kind == "package.json":
            own, starts = _of_node(text)
            modules, commands = modules | own, {**commands, **starts}
        elif kind in {"Cargo.toml", "go.mod"} and (one := re.search(_OF_BUILDS, text)):
            modules.add(one[1].replace("-", "_"))
            commands.setdefault(one[1], [])
    return Own(commands, frozenset(modules))


def _of_node(text: str) -> tuple[set[str], dict[str, list[str]]]:
    try:
        data = json.loads(text)
        name, starts = str(data.get("name", "")), data.get("bin", {})
        starts = {name.rpartition("/")[2]: starts} if isinstance(starts, str) else starts
        return {name} - {""}, {str(one): ["node", str(path)] for one, path in starts.items()}
    except (ValueError, AttributeError, RecursionError):
        return set(), {}


def code_in(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the lines of code in a document: number, language and text. Spans in prose have no language."""
    fence, language, indented = "", "", False
    for number, line in enumerate((one[:_LONGEST] for one in text.splitlines()), 1):
        block = _BLOCK.match(line)
        if fence and line.strip().startswith(fence):
            fence = ""
        elif not fence and re.match(r"\s*>>> ", line):
            yield number, "python", line.partition(">>> ")[2]
        elif fence or (indented and line.startswith((" ", "\t"))):
            yield number, language, re.sub(r"^\s*(?:(?:>>>|\.\.\.) )?", "", line)
        elif block:
            fence, indented = block["fence"] or "", not block["fence"]
            language = (block["name"] or block["of"] or "text").lower()
            language = _table()["languages"].get(language, language)
        else:
            indented = indented and not line.strip()
            yield from ((number, "", match[2]) for match in _INLINE.finditer(line))


def new_lines(old: str, new: str) -> set[int]:
    """Return the numbers of the lines that a text has and an older one has not."""
    left = Counter(line.strip() for line in old.splitlines())
    found = set[int]()
    for number, line in enumerate(new.splitlines(), 1):
        left[line.strip()] -= 1
        found |= {number} if left[line.strip()] < 0 else set()
    return found


def claims_of(old: str, new: str, own: Own) -> list[tuple[int, Claim]]:
    """Return what the new lines of a document say that the product has, each with its line."""
    fresh, found, table = new_lines(old, new), list[tuple[int, Claim]](), ""
    names = map(re.escape, sorted(own.modules))
    loaded = [x for x in names if re.search(_USES.format(x), new) and not re.search(_BINDS.format(x), new)]
    for line, language, code in code_in(new):
        if header := re.match(r"\s*\[(?:tool\.)?([\w-]+)\]\s*$", code):
            table = header[1] if header[1] in {*own.modules, *own.commands} else ""
        if line in fresh:
            claims = [*_of_commands(code, own), *_of_names(code, language, loaded)]
            claims += [one for one in _of_variables(code, own) if f"${one.what}" not in new]
            key = re.match(r"\s*([A-Za-z][\w-]*)\s*=", code) if table and language == "toml" else None
            if key:
                ways = {key[1], key[1].replace("-", "_"), key[1].replace("_", "-")}
                claims.append(Claim(key[1], "|".join(ways), any_case=True))
            found += [(line, one) for one in claims]
    return found


def _of_commands(code: str, own: Own) -> Iterator[Claim]:
    """Yield the options beside a command of the project, as its parser may make them of other words."""
    words = re.sub(r"^(?:\s*(?:\$|>|npx|sudo|\w+=\S*)\s+)*", "", code).split()
    if not words or words[0].rpartition("/")[2] not in own.commands:
        return
    for name in sorted({*_OPTION.findall(re.split(r"\s--\s|[|;&#]", code)[0])} - _COMMON):
        plain = name.removeprefix("no-")
        ways = {plain, plain.replace("-", "_"), re.sub("[-_]", "", plain)}
        if len(ways) == 1:  # a word that may stand in any source
            ways = {form.format(plain) for form in _table()["option forms"]}
        yield Claim(f"--{name}", "|".join((*ways, f"--{name}", _table()["computed options"])), any_case=True)


def _of_names(code: str, language: str, loaded: list[str]) -> Iterator[Claim]:
    """Yield the names that code takes from modules of the project."""
    for pattern in _table()["names"].get(language, ()) if loaded else ():
        for match in re.finditer(pattern.replace("MODULE", f"(?:{'|'.join(loaded)})"), code):
            names = [re.split(r"[\s:]", one.strip())[0] for one in match["names"].split(",")]
            yield from (_word(one, _table()["opaque"][language]) for one in names if one)


def _of_variables(code: str, own: Own) -> Iterator[Claim]:
    """Yield the variables of the environment that begin with a name of the project."""
    names = {*own.commands, *own.modules} - {*_table()["ordinary"]}
    prefixes = {re.sub(r"\W", "_", one).upper() for one in names}
    for match in re.finditer(_table()["patterns"]["variable"], code):
        for prefix in (one for one in prefixes if match["name"].startswith(f"{one}_")):
            computed = f"[\"'`]{prefix}_?[\"'`]|{prefix}_[{{%$]"
            yield _word(match["name"], f"{_table()['computed variables']}|{computed}")


def _word(name: str, otherwise: str) -> Claim:
    """Return that sources have a word, or what gives such words in other ways."""
    plain = name.replace("$", r"\$")
    return Claim(name, f"(^|[^A-Za-z0-9_]){plain}([^A-Za-z0-9_]|$)" + (f"|{otherwise}" if otherwise else ""))


async def _stands(change: Change, claim: Claim) -> bool:
    """Whether the sources of the product have it, or compute such names."""
    how = ("-i",) if claim.any_case else ()
    paths = await files_with(change.repository, change.own_tree, "-E", *how, "-e", claim.sought)
    return any(not (PROSE.search(one) or is_test_file(one) or belongs_to_tests(one)) for one in paths)


async def _played(change: Change, bench: Bench, path: str, old: str, new: str, own: Own) -> list[Objection]:
    """Return the first example of a document that gives something else than it shows, if it is new."""
    lines, fresh = new.splitlines(), new_lines(old, new)
    commands = {name: words for name, words in own.commands.items() if words}
    begins = re.compile(
        rf"\s*(?:>>> |console\.log\(|\$ (?:{'|'.join(map(re.escape, commands)) or '(?!)'})\b)"
    )
    is_asked = any(begins.match(lines[number - 1]) for number in fresh)
    if not (is_asked and bench.has_places and bench.has_time):
        return []
    asks("the examples of documents")
    script = Path(__file__).with_name("examples_run.py").read_text("utf-8")
    command = f"python3 -c {quote(script)} {quote(path)} {quote(json.dumps(commands))}"
    found, again = [await _differences(change, bench, path, command) for _ in range(2)]
    steady = (one for one in sorted(found) if not _search("unsteady", f"{one[1]}\n{one[2]}"))
    first = next(steady, None)  # what follows may need what this one was to do
    if first is None or first not in again or first[0] not in fresh:
        return []
    line, _, _, exit_code, got = first
    if _search("missing", got) or (exit_code and not _search("refused", got)):
        return []
    source = lines[line - 1].strip().removeprefix(">>> ")
    return [untrue(path, line, source, f"it gives `{got.strip()[:200]}`")]


async def _differences(change: Change, bench: Bench, path: str, command: str) -> list[_Difference]:
    async with bench.scratch(change.tree) as place:
        done = await bench.commands.whole(
            command, place.folder, environment=place.environment, told_as=f"the examples of {path}"
        )
    try:
        return msgspec.json.decode(done.output.strip().rpartition("\n")[2], type=list[_Difference])
    except msgspec.DecodeError:
        return []
