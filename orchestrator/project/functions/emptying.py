"""The code without the work: functions whose bodies return the empty value of their type.

Where the language allows it the old code stays behind the return, so that imports, variables and parameters
stay used.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.project.functions.functions import Function
from orchestrator.project.functions.languages import Language, language_of

_CONTEXT = re.compile(r"@.*\b(?:async)?contextmanager\b|@.*\bfixture\b")
_ASYNC = re.compile(r"\basync\b")
_OUT = re.compile(r"\bout\s+[\w.<>\[\]?, ]+?\s(\w+)\s*(?=[,)])")
_EMPTY = re.compile(r"[\s{};()]*(?:return\b[\s;]*)?")
_GO_NAMED = re.compile(r"(?!(?:chan|func|map|struct|interface)\b)\w+\s+\S")


@dataclass(frozen=True, kw_only=True)
class Emptied:
    """A source with some of its functions emptied: `content`, those that are, and why others are not.

    `stubs` do nothing already, or return the empty value, and are no declarations.
    """

    content: bytes
    functions: tuple[Function, ...]
    left: tuple[tuple[Function, str], ...]
    stubs: tuple[Function, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Edit:
    start: int
    end: int
    text: str


def emptied(content: bytes, functions: Sequence[Function], known: frozenset[str] = frozenset()) -> Emptied:
    """Return a source without the bodies of these functions of it.

    `known` are types of the project that have a default value (`types_with_a_default`).
    """
    edits: list[_Edit] = []
    done, left, stubs = [], [], []
    for function in functions:
        language = language_of(function.file)
        if language is None or function.trouble:
            left.append((function, function.trouble or "sq does not know its language"))
            continue
        edit = _edit(content, function, language, known)
        if isinstance(edit, str):
            left.append((function, edit))
        elif edit is None:
            declared = content[function.body.at : function.body.end].strip() == b"..."
            stubs += [] if declared or "abstract" in function.head else [function]
        else:
            edits.append(edit)
            done.append(function)
    language = language_of(functions[0].file) if functions else None
    text = _applied(content, edits, language)
    return Emptied(content=text, functions=tuple(done), left=tuple(left), stubs=tuple(stubs))


def types_with_a_default(content: bytes, language: Language) -> frozenset[str]:
    """Return the names of the types of a source that say they have a default value (Rust's `Default`)."""
    if not language.types.known:
        return frozenset()
    return frozenset(re.findall(language.types.known, content.decode("utf-8", "replace")))


def _applied(content: bytes, edits: list[_Edit], language: Language | None) -> bytes:
    if not edits or language is None:
        return content
    outer = [one for one in edits if not any(_holds(other, one) for other in edits)]
    for edit in sorted(outer, key=lambda one: -one.start):
        content = content[: edit.start] + edit.text.encode() + content[edit.end :]
    if first := language.bodies.first:
        begin = content.find(b"\n") + 1 if content.startswith((b"#!", b"\xef\xbb\xbf#!")) else 0
        mark = 3 if not begin and content.startswith(b"\xef\xbb\xbf") else begin
        content = content[:mark] + first.encode() + b"\n" + content[mark:]
    return content


def _holds(outer: _Edit, inner: _Edit) -> bool:
    size = outer.end - outer.start
    return outer.start <= inner.start and inner.end <= outer.end and size > inner.end - inner.start


def _edit(
    content: bytes, function: Function, language: Language, known: frozenset[str]
) -> _Edit | str | None:
    """Return how a function is emptied, None if it does nothing, or why it cannot be."""
    body = function.body
    text = content[body.start : body.end].decode("utf-8", "replace")
    value = "" if body.yields and language.bodies.generator else _value(function, language, known)
    if value is None:
        return f"sq knows no empty value of {function.returns or 'its type'}"
    if _does_nothing(content, function, language, value):
        return None
    if not body.block:
        if not language.bodies.expression:
            return "its body is an expression"
        filled = language.bodies.expression.replace("{value}", value or "Unit").replace("{body}", text)
        return _Edit(start=body.start, end=body.end, text=filled)
    if value.startswith("=") or language.bodies.early == "":
        return _Edit(start=body.start, end=body.end, text="{ " + value.removeprefix("=") + " }")
    return _statement(function, language, value, text)


def _statement(function: Function, language: Language, value: str, text: str) -> _Edit:
    body, bodies = function.body, language.bodies
    if body.yields and bodies.generator:
        early = "yield None; return" if _CONTEXT.search(function.head) else bodies.generator
    else:
        early = bodies.early.replace("{value}", value) if value else bodies.nothing
    early = "".join(f"{name} = default!; " for name in _OUT.findall(function.head)) + early
    if language.name == "swift":
        return _Edit(start=body.start, end=body.end, text="{ " + early + " }")
    if bodies.braces:
        return _Edit(start=body.start, end=body.end, text="{ " + early + " " + text + " }")
    if body.indent is None:
        return _Edit(start=body.at, end=body.at, text=f" {early} ")
    after = f"\n{body.indent}" if body.indent else "; "
    behind = body.at > body.start  # after a docstring
    return _Edit(start=body.at, end=body.at, text=after + early if behind else early + after)


def _value(function: Function, language: Language, known: frozenset[str]) -> str | None:
    """Return the empty value of what a function returns, "" if it returns nothing, None if sq knows none."""
    types = language.types
    if language.name == "go":
        return _go_value(function.returns)
    if named := types.named.get(function.name.rsplit(".", 1)[-1]):
        return named
    returns = function.returns
    if not returns:
        if types.untyped is not None:
            return types.untyped
        return None if function.body.block is False or language.name in {"c", "cpp"} else ""
    pattern = language.bodies.asynchronous
    if pattern and _ASYNC.search(function.head):
        inner = re.fullmatch(pattern, returns, re.DOTALL)
        if inner is None:
            return "" if returns.endswith("Task") else types.untyped
        returns = inner.group("args")
    if language.name == "cpp" and returns.rstrip().endswith("&") and (same := _same_parameter(function)):
        return f"return {same};"
    if language.name == "rust" and "." in function.name:
        owner = re.sub(r"[(<].*", "", function.name.rsplit(".", 2)[-2])
        returns = re.sub(r"\bSelf\b", owner, returns)
    return empty_value(language, returns, known)


def _same_parameter(function: Function) -> str:
    """Return a parameter of the type that a C++ function returns, `*this` for an operator, else ""."""
    kind = re.escape(function.returns).replace(r"\ ", r"\s*")
    if found := re.search(kind + r"\s*(\w+)\s*[,)]", function.head.split("(", 1)[-1]):
        return found.group(1)
    return "*this" if re.search(r"\boperator\s*(?:[-+*/%&|^]?=|\+\+|--)", function.head) else ""


def _go_value(result: str) -> str:
    """Return statements that return the zero value of each result: any type has one in Go."""
    if not result:
        return ""
    inner = result.removeprefix("(").removesuffix(")") if result.startswith("(") else result
    types = parts(inner)
    if result.startswith("(") and any(_GO_NAMED.match(one) for one in types):
        return "return"
    declared = "; ".join(f"var empty{index} {one}" for index, one in enumerate(types))
    return f"{declared}; return " + ", ".join(f"empty{index}" for index in range(len(types)))


def _does_nothing(content: bytes, function: Function, language: Language, value: str) -> bool:
    text = content[function.body.at : function.body.end].decode("utf-8", "replace")
    plain = re.sub(r"(?m)#.*$" if language.name == "python" else r"(?m)(?:#|//).*$", "", text)
    bare = " ".join(plain.split()).strip("{}; ")
    if bare in language.empty_bodies or _EMPTY.fullmatch(plain):
        return True
    words = re.sub(r"^return\b", "", bare).strip(" ;()")
    return bool(value) and words == value.strip("()=; ")


_OPEN, _CLOSE = "<[({", ">])}"
_PLACE = re.compile(r"<(args|first|each)>|\{(\w+)\}")


def empty_value(language: Language, type_text: str, known: frozenset[str] = frozenset()) -> str | None:
    """Return the code of a type's empty value, or None if sq knows none.

    `known` are types of the project that have a default value. A value that begins with `=` takes the place
    of a whole body.
    """
    text = type_text.strip()
    for pattern, value in language.types.values:
        found = re.fullmatch(pattern, text, re.DOTALL)
        if found:
            return None if value is None else _filled(language, value, found, known)
    if known and re.sub(r"<.*", "", text).rsplit("::", 1)[-1] in known:
        return "Default::default()"
    return None


def _filled(language: Language, value: str, found: re.Match[str], known: frozenset[str]) -> str | None:
    groups = found.groupdict()
    args = groups.get("args") or groups.get("args2") or ""
    groups["args"] = args
    out, at = [], 0
    for place in _PLACE.finditer(value):
        out.append(value[at : place.start()])
        at = place.end()
        if place.group(2):
            out.append(groups.get(place.group(2), place.group(0)) or "")
            continue
        wanted = [args] if place.group(1) == "args" else parts(args)
        wanted = wanted[:1] if place.group(1) == "first" else wanted
        values = [empty_value(language, one, known) if one else "()" for one in wanted]
        if any(one is None for one in values):
            return None
        out.append(", ".join(one or "" for one in values))
    return "".join([*out, value[at:]])


def parts(text: str) -> list[str]:
    """Return the parts of a text between commas that stand in no brackets."""
    found, depth, start = [], 0, 0
    for index, sign in enumerate(text):
        if sign in _OPEN:
            depth += 1
        elif sign in _CLOSE and text[index - 1 : index + 1] != "->":
            depth -= 1
        elif sign == "," and depth == 0:
            found.append(text[start:index].strip())
            start = index + 1
    return [one for one in (*found, text[start:].strip()) if one]
