"""The names and values of a criterion that no test named as its evidence holds.

A test of one half, or of another example, passes and needs the work, and shows the demand all the same not.
So what a criterion writes as code or as a quoted text has to stand in its tests, or in what they use in
their own file: tables, and functions that they call. (product.md, section 12)
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping

from orchestrator.checks.names_of_tests import is_of
from orchestrator.project.functions.expectations import code_of
from orchestrator.project.functions.languages import language_of, parser_of

_CODE = re.compile(r"``?([^`\n]{1,200})``?")
_QUOTED = re.compile(r"(?<!\w)\"([^\"\n]{1,80})\"(?!\w)|(?<!\w)'([^'\n]{1,80})'(?!\w)")
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\(")
_OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")
_LIKE_CODE = re.compile(r"\b(?:[a-z]+_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*)\b")
_NAME = re.compile(r"(?<![\w-])[A-Za-z_]\w*(?![\w.-])")
_NUMBER = re.compile(r"(?<![\w.-])-?\d[\d_]*(?:\.\d+)?(?![\w.])")
# A number of two digits or more that is no part of a name (RFC 2119), a time or a share.
_LARGE = re.compile(r"(?<![\w.,:/-])(?<![A-Z] )(\d{2,})(?![\w%:/-]|[.,]\d)")
_FILE = re.compile(
    r"\.(?:md|rst|txt|csv|html?|py|[cm]?[jt]sx?|go|rs|rb|php|java|[ch]|sh|toml|ya?ml|json|cfg|ini|xml|lock)$"
)
_WORD = re.compile(r"\w+")
_ORDINARY = frozenset({"true", "false", "none", "null", "nil", "undefined", "self", "this", "str", "int"})
_DEFINES = frozenset({"def", "function", "const", "let", "var", "func", "class", "fn", "static", "public"})


def literals_of(text: str, names: Collection[str] = ()) -> list[str]:
    """Return what a criterion names as code, and the texts and numbers that it gives, each once.

    Of a call these are the function, its texts and its numbers, because its parameters may have any name. Of
    a command line they are its options and what is no placeholder, without the program. `names` are those of
    the functions that the work built: in a criterion they are no ordinary words.
    """
    rest, found = _CODE.sub(" ", text), list[str]()
    for code in _CODE.findall(text):
        bare = _QUOTED.sub(" ", code)
        found += [*_OPTION.findall(bare), *_names_in(bare), *_texts(code), *_NUMBER.findall(bare)]
    found += [*_texts(rest), *_CALLED.findall(rest), *_OPTION.findall(rest), *_LIKE_CODE.findall(rest)]
    found += _LARGE.findall(rest)
    found += [one for one in _WORD.findall(rest) if one in names]
    return [one for one in dict.fromkeys(map(str.strip, found)) if one and one.lower() not in _ORDINARY]


def pieces_of(text: str) -> list[list[str]]:
    """Return what each call or command line of a criterion names, which belongs together."""
    return [literals_of(f"`{code}`") for code in _CODE.findall(text)]


def _names_in(code: str) -> list[str]:
    """Return the names in code, without its texts, that a test of it holds."""
    code = code.strip()
    if _NUMBER.fullmatch(code):
        return []
    if "(" in code:
        return _CALLED.findall(code)
    if not re.search(r"\s", code) and not code.startswith("-"):
        if _FILE.search(code):
            return []
        return [code.rpartition(".")[2] if re.fullmatch(r"[\w.]+", code) else code]
    code = re.sub(r"\S*[./<>]\S*", " ", code)  # files and placeholders
    names = [one for one in _NAME.findall(_OPTION.sub(" ", code)) if not (one.isupper() and len(one) > 1)]
    return names[1:]


def _texts(code: str) -> list[str]:
    return [one or other for one, other in _QUOTED.findall(code)]


def held(literals: Iterable[str], texts: Iterable[str]) -> list[str]:
    """Return those that one of the texts holds, as words."""
    every = "\n".join(texts)
    return [one for one in literals if _holds(every, one)]


def _holds(text: str, literal: str) -> bool:
    begins = r"(?<!\w)" if literal[0].isalnum() else ""
    ends = r"(?!\w)" if literal[-1].isalnum() else ""
    escaped = json.dumps(literal)[1:-1], literal.encode("unicode_escape").decode()
    written = dict.fromkeys((literal, *escaped))
    return any(re.search(f"{begins}{re.escape(one)}{ends}", text) for one in written)


def text_of_tests(
    names: Collection[str], contents: Mapping[str, bytes], others: Collection[str] = ()
) -> list[str]:
    """Return the code of tests, each with what it uses in its own file.

    `contents` are files of tests by their paths, and `others` the names of all tests that may be in them.
    """
    found = []
    for path, content in contents.items():
        text = content.decode("utf-8", "replace")
        own = [name for name in names if is_of(name, path)] or list(names)
        every = filter(None, (code_of(text, [name], others) for name in own))
        statements = _statements(path, content)
        found += ["\n".join([*parts, *_used(statements, parts)]) for parts in every]
    return found


def _statements(path: str, content: bytes) -> list[str]:
    language = language_of(path)
    root = parser_of(language).parse(content).root_node if language else None
    return [(one.text or b"").decode("utf-8", "replace") for one in root.children] if root else []


def _used(statements: Collection[str], parts: Iterable[str]) -> list[str]:
    """Return the statements of a file that give a name which the parts use, or which another of them does."""
    words, taken = set(_WORD.findall("\n".join(parts))), list[str]()
    for _ in range(len(statements)):
        more = [one for one in statements if one not in taken and _gives(one) & words]
        if not more:
            break
        taken += more
        words |= set(_WORD.findall("\n".join(more)))
    return taken


def _gives(statement: str) -> set[str]:
    """Return the names that a statement may give: those before its first sign or bracket, none for a call."""
    head = re.split(r"=(?!=)|\{|\n", statement, maxsplit=1)[0][:200]
    words = _WORD.findall(head.partition("(")[0])
    return set() if "(" in head and len(words) == 1 else set(words) - _DEFINES
