"""The sources of settings: files, the environment, flags. Each value is checked, each problem collected.

Later sources win, value by value, so that `[efforts.NAME]` and `[prices.ALIAS]` may be spread over files.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from state.errors import UsageError
from state.settings.integrations import FROM_ENVIRONMENT, NoticeKind, NoticeTarget, is_variable
from state.settings.keys import EFFORT_KINDS, IN_TABLE, KEYS, PRICE_KINDS
from state.settings.kinds import Value, ValueKind

Flags = Mapping[str, tuple[str, object]]  # key → the flag's name and value. None and () were not given.

REPOSITORY_FILE = "sq.toml"
NOTIFY = "notify"
CONSIDERATIONS = "considerations"  # the table of power steering's considerations

_NOTICE_FIELDS = ("on", "command", "url")
_OWN_TABLES = {"efforts": EFFORT_KINDS, "prices": PRICE_KINDS}
_ENV = "SQ_"
_FOREIGN_ENV = "SQ_PS_"  # settings of the stop hook, read there
_TYPING_ERROR = 0.8  # this similar is a typing error, and other SQ_ variables belong to other programs
_SIMILAR = 0.5
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")  # a repository's file must not steer a terminal


def user_file() -> Path:
    """The user's own configuration, in the platform's configuration folder."""
    import platformdirs

    return platformdirs.user_config_path("sq", appauthor=False) / "config.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A checked value, the source that people are shown, and the place that a problem with it names."""

    value: Value
    source: str
    place: str
    rank: int  # of its layer: the higher one wins


@dataclass(frozen=True, slots=True)
class OwnTable:
    """One `[efforts.NAME]` or `[prices.ALIAS]`: the first file that has it, and its values by dotted name."""

    file: Path
    values: dict[str, Given] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GivenTarget:
    """A checked table and the file that it stands in."""

    target: NoticeTarget
    file: Path


@dataclass(slots=True)
class Sources:
    """All values that were given, and all problems with them.

    `unfit` are the full names of values that do not fit. Consequences of them are not reported as problems.
    """

    values: dict[str, Given] = field(default_factory=dict)
    efforts: dict[str, OwnTable] = field(default_factory=dict)
    prices: dict[str, OwnTable] = field(default_factory=dict)
    notify: list[GivenTarget] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    unfit: set[str] = field(default_factory=set)
    _rank: int = 0

    def add_file(self, file: Path) -> None:
        """Read a TOML file. A missing file gives nothing."""
        self._rank += 1
        table = self._toml(file)
        table.pop(CONSIDERATIONS, None)  # power steering's, each item checked alone where it is used
        self.notify += targets_in(file, table.pop(NOTIFY, []), self.problems)
        for name, kinds in _OWN_TABLES.items():
            own = self.efforts if name == "efforts" else self.prices
            for entry, values in self._tables_in(file, name, table.pop(name, {})):
                mine = own.setdefault(entry, OwnTable(file))
                self._add_table(file, f"{name}.{entry}.", values, kinds, mine.values)
        kinds = {key.name: key.kind for key in KEYS.values()}
        self._add_table(file, "", table, kinds, self.values)

    def add_environment(self, environ: Mapping[str, str]) -> None:
        """Read `SQ_*`. An empty variable gives nothing. A name close to a known one is a typing error."""
        self._rank += 1
        known = {key.env: key for key in KEYS.values()}
        for name, key in known.items():
            if text := environ.get(name, "").strip():
                self._take(self.values, key.name, key.kind, key.kind.parse(text), name, name)
        for name in sorted(set(environ) - set(known)):
            if name.startswith(_ENV) and not name.startswith(_FOREIGN_ENV):
                bare = {other.removeprefix(_ENV): other for other in known}
                if close := get_close_matches(name.removeprefix(_ENV), bare, 1, _TYPING_ERROR):
                    self.problems.append(f"{name}: unknown variable, did you mean {bare[close[0]]}?")

    def add_flags(self, flags: Flags) -> None:
        """Take the flags: text is read as in the environment, other values as in a file."""
        self._rank += 1
        for name, (flag, value) in flags.items():
            if value is None or value == ():
                continue
            if name not in KEYS:  # a part of it was typed: the role of --model
                self.problems.append(f"{flag}: unknown key {name}, {nearest(name, list(KEYS))}")
                continue
            kind = KEYS[name].kind
            typed = kind.parse(value) if isinstance(value, str) else value
            self._take(self.values, name, kind, typed, flag, flag)

    def raise_problems(self) -> None:
        """End here if anything is wrong.

        Raises:
            UsageError: holds every problem, a line each.
        """
        lines = [_CONTROL.sub(lambda found: f"\\x{ord(found.group()):02x}", one) for one in self.problems]
        if len(lines) > 1:
            lines.insert(0, f"the configuration has {len(lines)} problems:")
        if lines:
            raise UsageError("\n  - ".join(lines))

    def _toml(self, file: Path) -> dict[str, object]:
        text = ""
        try:
            text = file.read_bytes().decode("utf-8-sig")
            return tomllib.loads(text)
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            self.problems.append(f"{file}: cannot be read: {error.strerror}")
        except UnicodeDecodeError as error:
            self.problems.append(f"{file}: not UTF-8 (byte {error.start}), save it as UTF-8")
        except ValueError as error:  # it names line and column, except at the end
            end = f"line {text.count(chr(10)) + 1}, the end of the file"
            said = str(error).replace("end of document", end)
            self.problems.append(f"{file}: not TOML: {said}")
        return {}

    def _tables_in(self, file: Path, name: str, value: object) -> Iterator[tuple[str, dict[str, object]]]:
        if not isinstance(value, dict):
            self.problems.append(f"{file}: {name} needs tables, as in [{name}.NAME]")
            return
        for entry, values in value.items():
            if isinstance(values, dict):
                yield entry, values
            else:
                self.problems.append(f"{file}: {name}.{entry} needs to be a table: [{name}.{entry}]")

    def _add_table(
        self,
        file: Path,
        prefix: str,
        table: dict[str, object],
        kinds: Mapping[str, ValueKind],
        into: dict[str, Given],
    ) -> None:
        sections = list(dict.fromkeys(part for name in kinds for part in _tables_of(name)))
        for written, value in _flat(table, sections):
            place = f"{file}: {prefix}{written}"
            name = written if prefix else IN_TABLE.get(written, written)
            if name in kinds:
                self._take(into, name, kinds[name], value, str(file), place, prefix)
            elif name in sections:
                inside = [key.partition(".")[2] for key in kinds if key.startswith(f"{name}.")]
                self.problems.append(f"{place} needs to be a table with {', '.join(inside)}")
            else:
                names = [*kinds, *sections, *([] if prefix else (*_OWN_TABLES, NOTIFY))]
                self.problems.append(f"{place}: unknown key, {nearest(name, names)}")

    def _take(
        self,
        into: dict[str, Given],
        name: str,
        kind: ValueKind,
        value: object,
        source: str,
        place: str,
        prefix: str = "",
    ) -> None:
        try:
            into[name] = Given(value=kind.read(value), source=source, place=place, rank=self._rank)
        except ValueError as error:
            self.problems.append(f"{place} {error}")
            self.unfit.add(prefix + name)


def nearest(name: str, known: Sequence[str]) -> str:
    """Return the most similar known name as a suggestion, or all known names."""
    close = get_close_matches(name, known, 1, _SIMILAR)
    return f"did you mean {close[0]}?" if close else f"known are {', '.join(known)}"


def _tables_of(name: str) -> Iterator[str]:
    """Yield the tables that a key lies in: `a.b` and `a` for `a.b.c`."""
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def _flat(table: dict[str, object], sections: Sequence[str]) -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        if name in sections and isinstance(value, dict):
            inside = {f"{name}.{inner}": one for inner, one in value.items()}
            yield from _flat(inside, sections)
        else:
            yield name, value


def targets_in(file: Path, value: object, problems: list[str]) -> Iterator[GivenTarget]:
    """Yield the targets of a file's tables. A table that cannot be used adds lines to `problems`."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        problems.append(f"{file}: {NOTIFY} needs tables, each as [[{NOTIFY}]]")
        return
    for number, table in enumerate(value, start=1):
        place = f"{file}: {NOTIFY} {number}"
        found = list(_notice_problems(table))
        problems += [f"{place}: {one}" for one in found]
        if not found:
            kinds = tuple(dict.fromkeys(map(NoticeKind, table["on"])))
            yield GivenTarget(
                NoticeTarget(on=kinds, command=table.get("command", ""), url=table.get("url", "")), file
            )


def _notice_problems(table: dict[str, object]) -> Iterator[str]:
    for name in table:
        if name not in _NOTICE_FIELDS:
            yield f"unknown key {name}, known are {', '.join(_NOTICE_FIELDS)}"
    kinds = table.get("on")
    if not isinstance(kinds, list) or not kinds or any(kind not in list(NoticeKind) for kind in kinds):
        yield f"on needs a list of {', '.join(NoticeKind)}"
    command, url = table.get("command"), table.get("url")
    if (command is None) == (url is None):
        yield f'needs either a command or a url = "{FROM_ENVIRONMENT}NAME"'
        return
    if command is not None and not (isinstance(command, str) and command.strip() and "\0" not in command):
        yield "command needs a text"
    if url is not None and not is_variable(url):
        yield (
            f'url needs "{FROM_ENVIRONMENT}NAME", the variable with the address: an address often holds a '
            "secret, and a file of the repository is no place for one"
        )
