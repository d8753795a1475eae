"""The languages whose functions sq reads and empties: the rows of `languages.yaml`, and their parsers.

The grammars stand in the wheels of single tree-sitter packages. Nothing is downloaded when they run.
"""

import importlib
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import msgspec
import yaml

if TYPE_CHECKING:
    from tree_sitter import Parser


class Bodies(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a body is emptied. The head of `languages.yaml` says what each text is for."""

    early: str
    nothing: str
    generator: str = ""
    whole: str = ""
    expression: str = ""
    first: str = ""
    braces: bool = False
    asynchronous: str = ""


class Types(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The empty values of types: `values` are patterns with values, `known` finds types with a default."""

    values: tuple[tuple[str, str | None], ...] = ()
    named: Mapping[str, str] = {}
    untyped: str | None = None
    known: str = ""


class Language(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One row. Node types and fields are those of its grammar."""

    grammar: str
    suffixes: tuple[str, ...]
    functions: frozenset[str]
    scopes: frozenset[str]
    constructors: frozenset[str]
    ignored: frozenset[str]
    type_fields: tuple[str, ...]
    bodies: Bodies
    types: Types
    name: str = ""
    type_nodes: frozenset[str] = frozenset()
    receiver: str = ""
    tests: tuple[str, ...] = ()
    empty_bodies: frozenset[str] = frozenset()


@cache
def languages() -> Mapping[str, Language]:
    """Return the languages by suffix, as in `.py`."""
    text = (files("orchestrator.project.functions") / "languages.yaml").read_text("utf-8")
    rows = msgspec.convert(yaml.safe_load(text), dict[str, Language])
    named = [msgspec.structs.replace(row, name=name) for name, row in rows.items()]
    for row in named:
        for pattern, _ in row.types.values:
            re.compile(pattern)
    return {suffix: row for row in named for suffix in row.suffixes}


def language_of(path: str) -> Language | None:
    """Return the language of a file by its suffix, or None if it is none whose functions sq reads."""
    return languages().get(PurePosixPath(path).suffix)


def parser_of(language: Language) -> "Parser":
    """Return the parser of a language. It may be used by one thread at a time."""
    return _parser(language.grammar)


@cache
def _parser(grammar: str) -> "Parser":
    from tree_sitter import Language as Grammar
    from tree_sitter import Parser

    module, function = grammar.split(":")
    return Parser(Grammar(getattr(importlib.import_module(module), function)()))
