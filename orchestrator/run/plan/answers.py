"""The answers to questions about a spec, in a file beside it that a person may edit: `SPEC.answers.toml`."""

import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from orchestrator.run.plan.toml_text import LineNumbers, comment, text_value
from state.atomic_files import replace_file
from state.errors import UsageError
from state.journal.events import AnswersFound
from state.records.spec_check import Decider, FaultKind, SpecAnswer, in_a_line, plain, quoted
from state.words import listed

_HEAD = """\
Answers to the questions that sq has about {name}. `sq run` and `sq check` read this file.
Change an `answer` as you like, in words too. Remove a whole block, and the question is asked again.
An answer belongs to the line of the spec in `quote`: if that line changes, it does not count any more."""

_NAMES: dict[str, type[FaultKind | Decider]] = {"kind": FaultKind, "by": Decider}


def answers_file(spec: Path) -> Path:
    """Return the place of the answers to the questions about a spec."""
    return spec.with_name(f"{spec.name}.answers.toml")


def answers_beside(spec: Path, text: str) -> AnswersFound | None:
    """Return the answers beside a spec, or None if there is no such file.

    Raises:
        UsageError: the file cannot be used.
    """
    given = all_answers(spec)
    return found_in(answers_file(spec), given, text) if given else None


def all_answers(spec: Path) -> list[SpecAnswer]:
    """Return the answers in the file beside a spec, those to its other versions too.

    Raises:
        UsageError: the file cannot be used.
    """
    file = answers_file(spec)
    try:
        text = file.read_text("utf-8")
        read = tomllib.loads(text)
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise UsageError(f"{file}: {error}. Correct the file, or remove it and answer anew") from error
    lines = LineNumbers(text)
    if unknown := next((key for key in read if key != "answer"), ""):
        line = lines.of("", 0, unknown)
        raise UsageError(f"{file}: `{unknown}` in line {line} is no key here: each answer is an `[[answer]]`")
    try:
        return [*answers_in(read.get("answer", []), lines, "answer")]
    except (AttributeError, TypeError, ValueError) as error:
        raise UsageError(f"{file}: {error}. Correct the block, or remove it and answer anew") from error


def found_in(file: Path, given: Iterable[SpecAnswer], spec: str) -> AnswersFound:
    """Return answers as an event: those whose lines the spec has, and the others by their questions."""
    lines = {plain(line) for line in spec.splitlines()}
    answers, stale = [], []
    for one in given:
        if quoted(one.quote) <= lines:
            answers.append(one)
        else:
            stale.append(f"{one.question} (it quotes: {in_a_line(one.quote)})")
    return AnswersFound(file=str(file), answers=tuple(answers), stale=tuple(stale))


def answers_in(blocks: Iterable[Mapping[str, Any]], lines: LineNumbers, table: str) -> tuple[SpecAnswer, ...]:
    """Return the answers in the tables of this name in such a file.

    Raises:
        ValueError: a key is missing, or its value does not fit. It names the line.
    """
    return tuple(_answer_in(one, partial(lines.of, table, number)) for number, one in enumerate(blocks))


def _answer_in(block: Mapping[str, Any], line_of: Callable[[str], int]) -> SpecAnswer:
    values = {"by": str(Decider.PERSON), **block}
    for key in ("kind", "quote", "question", "answer", "by"):
        if not isinstance(found := values.pop(key, None), str) or not found.strip():
            raise ValueError(f"`{key}` has to be a text in the block at line {line_of(key)}")
        if (known := _NAMES.get(key)) and found not in list(known):
            raise ValueError(f"`{key}` in line {line_of(key)} is {found!r}, and not one of {listed(known)}")
    for key in values:
        raise ValueError(f"`{key}` in line {line_of(key)} is no key of an answer")
    return SpecAnswer(
        kind=FaultKind(block["kind"]),
        quote=block["quote"],
        question=block["question"],
        answer=block["answer"],
        by=Decider(block.get("by", Decider.PERSON)),
    )


def answer_lines(table: str, one: SpecAnswer) -> list[str]:
    """Return an answer as lines of such a file, in a table of this name."""
    return [
        f"[[{table}]]",
        f"kind = {text_value(one.kind)}",
        f"quote = {text_value(one.quote)}",
        f"question = {text_value(one.question)}",
        f"answer = {text_value(one.answer)}",
        f"by = {text_value(one.by)}",
        "",
    ]


def write_answers(spec: Path, answers: Iterable[SpecAnswer]) -> Path:
    """Write all answers beside a spec, and return the file."""
    file = answers_file(spec)
    lines = [comment(_HEAD.format(name=spec.name)), ""]
    lines += [line for one in answers for line in answer_lines("answer", one)]
    replace_file(file, ("\n".join(lines).rstrip() + "\n").encode(), sync=True)
    file.chmod(0o644)
    return file
