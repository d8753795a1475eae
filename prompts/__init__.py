"""The prompts of sq: one template per file, rendered strictly.

`render("build", task=…)` raises `PromptError` for a missing variable, and for one that the template does not
use, since a gap in a prompt and a lost fact are both defects.
"""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from state.errors import SqError

if TYPE_CHECKING:
    from jinja2 import Environment


_FOLDER = Path(__file__).parent


class PromptError(SqError):
    """A template and its variables do not match."""


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    from prompts.marking import data, item, line, nested, said

    environment = Environment(
        loader=FunctionLoader(_source),
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701  prompts are Markdown, not HTML
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    environment.filters |= {"data": data, "item": item, "line": line, "nested": nested, "said": said}
    return environment


def load() -> None:
    """Load the template engine, which the first prompt would wait for."""
    _environment()


def plain(name: str) -> str:
    """A prompt without variables, `NAME.md`, for a hook, which has no time for a template engine.

    Raises:
        PromptError: there is no such prompt.
    """
    try:
        return (_FOLDER / f"{name}.md").read_text("utf-8").strip()
    except OSError as error:
        raise PromptError(f"there is no prompt named {name}") from error


def _source(name: str) -> str | None:
    file = _FOLDER / f"{name}.md.j2"
    return file.read_text("utf-8") if file.is_file() else None


@cache
def variables_of(name: str) -> frozenset[str]:
    """The variables that a template takes.

    Raises:
        PromptError: there is no such template.
    """
    from jinja2 import meta

    source = _source(name)
    if source is None:
        raise PromptError(f"there is no prompt named {name}")
    return frozenset(meta.find_undeclared_variables(_environment().parse(source)))


def render(name: str, **variables: object) -> str:
    """The prompt's text, with surrounding white space removed.

    Raises:
        PromptError: no such template, a variable missing, or one that the template does not use.
    """
    from jinja2 import UndefinedError

    needed = variables_of(name)
    if missing := sorted(needed - set(variables)):
        raise PromptError(f"prompt {name} needs {', '.join(missing)}")
    if unused := sorted(set(variables) - needed):
        raise PromptError(f"prompt {name} does not use {', '.join(unused)}")
    try:
        return _environment().get_template(name).render(**variables).strip()
    except UndefinedError as error:
        raise PromptError(f"prompt {name}: {error.message}") from error


def names() -> list[str]:
    """The names of all prompts with variables."""
    suffix = ".md.j2"
    return sorted(file.name.removesuffix(suffix) for file in _FOLDER.glob(f"*{suffix}"))
