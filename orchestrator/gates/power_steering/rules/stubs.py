"""Finds unfinished code in program lines: marks of open work and missing bodies.

Abstract methods, protocols, and bodies that are marked as meant to be empty count as finished.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from orchestrator.gates.power_steering.rules.comments import (
    comments_in,
    without_long_strings,
    without_strings,
)
from orchestrator.gates.power_steering.rules.said.phrases import phrases

_MARK = re.compile(  # not "TODO list", which may be a program's subject
    r"\s*@?(?:TODO|FIXME|XXX)\b"
    r"(?!\s*(?:lists?|items?|app|application|entry|entries|comments?|markers?|tags?|file|store|api"
    r"|model)\b)"
    r"|\s*(?i:implement (?:this|me|later)|to be implemented|not (?:yet )?implemented|placeholder\b"
    r"|stub\b(?! out)|stubbed|fill (?:this )?in later|coming soon"
    r"|.*\b(?:goes|belongs|would go|comes) here\b|.*\bin (?:a |the )?real (?:implementation|version"
    r"|code|world|app)\b"
    r"|.*\breplace (?:this |it )?with (?:the |a )?(?:real|actual)\b|.*\bhard-?coded for now\b"
    r"|(?:fake|dummy) (?:data|values?)\b"
    r"|.*\b(?:real|actual) (?:call|request|implementation|logic) (?:later|goes|comes)\b|simulat(?:e"
    r"|es|ed) (?:the|a) (?:call|request|response))"
)
_SAYS_SO = r"(?:[^\"'`]{0,40}\W)?(?i:not (?:yet )?implemented|todo\b|unimplemented)"
_RAISES = re.compile(
    r"\s*(?:raise\s+NotImplementedError\b|throw\s+new\s+NotImplementedException|TODO\("
    rf"|throw\s+new\s+\w*(?:Error|Exception)\(\s*[\"'`]{_SAYS_SO}"
    rf"|(?:panic|fatalError|failwith|error|raise|revert|die|croak|abort|fail|stop|bail!|throw)\(?\s*[\"']{_SAYS_SO}"
    rf"|(?:return|=>|=)\s*(?:\w+\.)*(?:Err|Error|Errorf|New|failwith|errors\.New)\(\s*[\"']{_SAYS_SO})"
)
_HOLES = {  # by the ending of the file
    ".elm": re.compile(r"\bDebug\.todo\b"),
    ".dart": re.compile(r"\bthrow UnimplementedError\("),
    ".zig": re.compile(r"@panic\(\"(?:TODO|not implemented)"),
    ".hs": re.compile(r"=\s*undefined\s*$"),
    ".rs": re.compile(r"\b(?:todo|unimplemented)!\s*[(\[{]"),
}
_SCALA_HOLE = re.compile(r"(?:=|=>)\s*\?\?\?\s*$")
_DEF = re.compile(r"(\s*)(?:async\s+)?def\s+(\w+)\s*\(")
_CLASS = re.compile(r"(\s*)class\s+(\w+)(?:\(([^)]*)\))?")
_ABSTRACT = re.compile(r"\b(?:ABC|ABCMeta|Protocol)\b")
_ABSTRACT_NAME = re.compile(
    r"(?:Base|Abstract|Null|Noop|NoOp|Dummy|Fake)\w*|\w*(?:Base|Protocol|Interface|Mixin|ABC)"
)
_DECLARES = re.compile(r"\s*@(?:\w+\.)*(?:abstract\w*|overload)\b")
_MEANT = phrases(
    "does nothing", "do nothing", "no-?op", "nothing to do", "intentionally", "deliberately", r"subclass\w*",
    "override", "overridden",
)  # fmt: skip
_NOTHING = ("pass", "...")


def unfinished(path: str, lines: Sequence[str]) -> Iterator[str]:
    """The lines or comments that show unfinished code."""
    yield from (comment for comment in comments_in(path, lines) if _MARK.match(comment))
    suffix = PurePosixPath(path).suffix
    # An example in a docstring is no code of the program.
    program = list(without_long_strings(lines)) if suffix == ".py" else lines
    for number, line in enumerate(program):
        if suffix in _HOLES and _HOLES[suffix].search(line if suffix == ".zig" else _code(line)):
            yield line
        if suffix == ".scala" and _SCALA_HOLE.search(_code(line)):
            yield line
        if _RAISES.match(line) and not _is_meant(lines, number):
            yield line
        if suffix == ".py" and (found := _DEF.match(line)) and not found[2].startswith("__"):
            yield from _empty(lines, number)


def _code(line: str) -> str:
    """A line without its strings and its comment."""
    return without_strings(line).split("//")[0]


def _empty(lines: Sequence[str], number: int) -> Iterator[str]:
    """Yield the function's line at `number` if its body is empty and not marked as meant to be."""
    body = _body(lines, number)
    code = [line.strip() for line in _without_docstring(body) if line.strip()]
    code = [line for line in code if not line.startswith("#")]
    if len(code) == 1 and code[0].split("#")[0].strip() in _NOTHING:
        words = " ".join(body)
        if not _MEANT.search(words) and not _is_declared(lines, number):
            yield lines[number]


def _is_meant(lines: Sequence[str], number: int) -> bool:
    """Whether the line `number` is in an abstract method, or one that is marked to be overridden."""
    for at in range(number - 1, -1, -1):
        found = _DEF.match(lines[at])
        if found and len(found[1]) < _indent(lines[number]):
            return bool(_MEANT.search(" ".join(lines[at:number]))) or _is_declared(lines, at)
    return False


def _is_declared(lines: Sequence[str], number: int) -> bool:
    """Whether the function at `number` is abstract, an overload, or in an abstract class."""
    at = number - 1
    while at >= 0 and lines[at].lstrip().startswith("@"):
        if _DECLARES.match(lines[at]):
            return True
        at -= 1
    for line in reversed(lines[:number]):
        of = _CLASS.match(line)
        if of and len(of[1]) < _indent(lines[number]):
            return bool(_ABSTRACT.search(of[3] or "") or _ABSTRACT_NAME.fullmatch(of[2]))
    return False


def _body(lines: Sequence[str], number: int) -> list[str]:
    """The lines of the function's body, or the code after the colon on its own line."""
    indent, signature = _indent(lines[number]), ""
    for at in range(number, len(lines)):
        signature += lines[at]
        if signature.count("(") <= signature.count(")"):
            _, _, inline = signature.rpartition("):") if "->" not in signature else signature.rpartition(": ")
            if inline.strip() and not signature.rstrip().endswith(":"):
                return [inline]
            break
    else:
        return []
    body: list[str] = []
    for line in lines[at + 1 :]:
        if line.strip() and _indent(line) <= indent:
            break
        body.append(line)
    return body


def _without_docstring(body: Sequence[str]) -> Sequence[str]:
    rest = [line for line in body if line.strip()]
    fence = rest[0].strip()[:3] if rest else ""
    if fence not in {'"""', "'''"}:
        return rest
    if rest[0].count(fence) > 1:
        return rest[1:]
    end = next((at for at, line in enumerate(rest[1:], 1) if fence in line), len(rest))
    return rest[end + 1 :]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
