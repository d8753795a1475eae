"""Finds the files written by a script given to an interpreter, after `-c` or `-e` or as a here-document."""

import re
from collections.abc import Iterator, Sequence

from orchestrator.project.shell import Heredoc, Simple

_INTERPRETER = re.compile(r"(?:python|node|ruby|perl|php|deno|bun)[\d.]*")
_NAMED = re.compile(
    r"\b(?P<name>\w+)\s*=\s*(?:(?:\w+\.)*(?:Path|Pathname\.new)\(\s*)?[rbf]?[\"'](?P<path>[^\"'\n]+)[\"']"
)
_OF = r"\s*(?:[rbf]?[\"'](?P<path>[^\"'\n]+)[\"']|(?P<name>\$?\w+))\s*"
_WRITES = (
    re.compile(rf"\b(?:Path|Pathname\.new)\({_OF}\)\.(?:write|open\(\s*[\"'][wax])"),
    re.compile(rf"\bopen\({_OF},\s*(?:mode\s*=\s*)?[\"'](?:[wax]|r\+)"),
    re.compile(rf"\b(?:writeFile(?:Sync)?|writeTextFile(?:Sync)?|File\.write|file_put_contents)\({_OF},"),
    re.compile(r"\b(?P<path>)(?P<name>\w+)\.(?:write_text|write_bytes)\("),
)


def scripts_of(simple: Simple, given: Sequence[Heredoc]) -> Iterator[str]:
    """Yield the scripts that a command runs. `given` are the here-documents of its command line."""
    if not _INTERPRETER.fullmatch(simple.name):
        return
    if script := simple.option("-c", "-e", "--eval"):
        yield script
    yield from (each.body for each in given if simple.name in each.line)


def written_by(script: str) -> Iterator[str]:
    """Yield the files that a script writes under a name that it spells out, each once."""
    names = {found["name"]: found["path"] for found in _NAMED.finditer(script)}
    found = [
        each["path"] or names.get(each["name"] or "", "")
        for pattern in _WRITES
        for each in pattern.finditer(script)
    ]
    yield from dict.fromkeys(path for path in found if path)
