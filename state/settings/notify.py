"""The tables `[[notify]]` of a file: each is checked, and each problem is reported with its place."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from state.settings.integrations import FROM_ENVIRONMENT, NoticeKind, NoticeTarget

NOTIFY = "notify"
_FIELDS = ("on", "command", "url")
_VARIABLE = re.compile(rf"{FROM_ENVIRONMENT}[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True, slots=True)
class GivenTarget:
    """A checked table and the file that it stands in."""

    target: NoticeTarget
    file: Path


def targets_in(file: Path, value: object, problems: list[str]) -> Iterator[GivenTarget]:
    """Yield the targets of a file's tables. A table that cannot be used adds lines to `problems`."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        problems.append(f"{file}: {NOTIFY} needs tables, each as [[{NOTIFY}]]")
        return
    for number, table in enumerate(value, start=1):
        place = f"{file}: {NOTIFY} {number}"
        found = list(_problems(table))
        problems += [f"{place}: {one}" for one in found]
        if not found:
            kinds = tuple(dict.fromkeys(map(NoticeKind, table["on"])))
            yield GivenTarget(
                NoticeTarget(on=kinds, command=table.get("command", ""), url=table.get("url", "")), file
            )


def is_variable(value: object) -> bool:
    """Whether a value has the form `env:NAME`."""
    return isinstance(value, str) and bool(_VARIABLE.fullmatch(value))


def _problems(table: dict[str, object]) -> Iterator[str]:
    for name in table:
        if name not in _FIELDS:
            yield f"unknown key {name}, known are {', '.join(_FIELDS)}"
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
