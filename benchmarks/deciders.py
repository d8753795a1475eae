"""Where code decides about a work, found in its syntax trees.

Objections are weighed where a function reads their weight and names an outcome or a verdict that follows, by
itself or through functions of its module. English decides where a pattern or a list of English words is asked
about words of a spec, of a criterion or of a plan.
"""

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

_WEIGHTS = {"weight", "against"}
_ENDS = {"Outcome", "Verdict"}
_WANTED = {  # names of what people and plans ask for
    *("spec", "spec_text", "spec_words", "own_words", "criterion", "criteria", "quote", "without_tests"),
    *("acceptance_criteria", "description"),
}
_ASKS = {"search", "match", "fullmatch", "findall", "finditer", "split", "sub", "subn"}
_NAMES = {"id", "attr", "arg", "name"}  # fields of syntax nodes
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def weighing_places(files: Iterable[Path]) -> list[Path]:
    """The files that turn objections into a verdict or an outcome."""
    return [file for file in files if _weighs(ast.parse(file.read_text("utf-8")))]


def _weighs(module: ast.Module) -> bool:
    functions = {one.name: one for one in ast.walk(module) if isinstance(one, _Function)}
    reading = {
        name
        for name, function in functions.items()
        for one in ast.walk(function)
        if isinstance(one, ast.Attribute) and one.attr in _WEIGHTS
    }
    while more := {name for name, one in functions.items() if reading & _named(one)} - reading:
        reading |= more
    return any(_concludes(functions[name]) for name in reading)


def _named(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _concludes(function: _Function) -> bool:
    """Whether a function names an outcome or a verdict as a result, and not only to compare with it."""
    compared = {
        part
        for one in ast.walk(function)
        for asked in ([one] if isinstance(one, ast.Compare | ast.pattern) else getattr(one, "keys", ()))
        if isinstance(asked, ast.AST)
        for part in ast.walk(asked)
    }
    return any(
        isinstance(one, ast.Attribute)
        and isinstance(one.value, ast.Name)
        and one.value.id in _ENDS
        and one not in compared
        for one in ast.walk(function)
    )


def english_patterns(files: Iterable[Path]) -> list[str]:
    """The places where code reads English about what is wanted, as `FILE:LINE`."""
    found = []
    for file in files:
        module = ast.parse(file.read_text("utf-8"))
        english = set(_english_names(module))
        for function in (one for one in ast.walk(module) if isinstance(one, _Function)):
            wanted = _from_wanted(function)
            found += [
                f"{file}:{one.lineno}"
                for one in ast.walk(function)
                if isinstance(one, ast.Call | ast.Compare) and _asks_english(one, wanted, english)
            ]
    return sorted(set(found))


def _english_names(module: ast.Module) -> Iterator[str]:
    """Yield the names of a module's patterns and lists of English words."""
    for one in module.body:
        if isinstance(one, ast.Assign) and _is_english(one.value):
            yield from (target.id for target in one.targets if isinstance(target, ast.Name))


def _is_english(value: ast.AST) -> bool:
    """Whether an expression has English words that a text may have, in patterns or as a list."""
    texts = [
        one.value for one in ast.walk(value) if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]
    plain = [re.sub(r"\\[A-Za-z]|\[[^]]*\]|\(\?P<\w+>|\(\?\w*[:=!<]*", " ", text) for text in texts]
    return any(re.search(r"(?<![\w.])[A-Za-z]{3,}(?![\w.])", text) for text in plain)


def _from_wanted(function: _Function) -> set[str]:
    """Return the names in a function whose values come from a spec, a plan or an answer."""
    found = {one.arg for one in ast.walk(function) if isinstance(one, ast.arg)} & _WANTED
    bindings = [(target, value) for one in ast.walk(function) for target, value in _bindings_of(one)]
    while True:
        more = {name for target, value in bindings if _is_wanted(value, found) for name in _named(target)}
        if more <= found:
            return found
        found |= more


def _bindings_of(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    match node:
        case ast.Assign():
            yield from ((target, node.value) for target in node.targets)
        case ast.NamedExpr():
            yield node.target, node.value
        case ast.For() | ast.comprehension():
            yield node.target, node.iter
        case _:
            pass


def _is_wanted(value: ast.AST, known: Collection[str]) -> bool:
    return any(
        (isinstance(one, ast.Name) and one.id in known)
        or (isinstance(one, ast.Attribute) and one.attr in _WANTED)
        for one in ast.walk(value)
    )


def _asks_english(asked: ast.Call | ast.Compare, wanted: Collection[str], english: Collection[str]) -> bool:
    match asked:
        case ast.Call(func=ast.Attribute(attr=attr, value=pattern), args=args) if attr in _ASKS and args:
            texts = [*args]
            if isinstance(pattern, ast.Name) and pattern.id == "re":
                pattern, texts = args[0], args[1:]
        case ast.Compare(left=pattern, ops=[ast.In() | ast.NotIn()], comparators=texts):
            if _is_wanted(pattern, wanted):  # a word of theirs in a list of ours
                pattern, texts = texts[0], [pattern]
        case _:
            return False
    by_name = isinstance(pattern, ast.Name) and pattern.id in english
    return (by_name or _is_english(pattern)) and any(_is_wanted(one, wanted) for one in texts)


def names_with(word: str, files: Iterable[Path]) -> list[str]:
    """The identifiers that have a word as a part, as `FILE: NAME`."""
    found = set()
    for file in files:
        for one in ast.walk(ast.parse(file.read_text("utf-8"))):
            named = [value for key, value in ast.iter_fields(one) if key in _NAMES and isinstance(value, str)]
            found |= {f"{file}: {name}" for name in named if word in re.findall(r"[a-z]+", _snake(name))}
    return sorted(found)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
