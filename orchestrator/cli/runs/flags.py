"""The options of `sq run` and `sq resume` that are settings: they follow from the keys."""

from collections.abc import Callable, Mapping
from typing import TypeVar

import click

from orchestrator.cli import options
from state.settings.keys import KEYS, Key, shown
from state.settings.kinds import LINES, SWITCH

C = TypeVar("C", bound=Callable[..., int])


def settings(**metavars: str) -> Callable[[C], C]:
    """Return a decorator that adds the options of settings, by their keys, each with the name of its value.

    The name, the form and the help of an option follow from the key. Switches and
    choices need no such name.
    """

    def add(command: C) -> C:
        for name, metavar in reversed(metavars.items()):
            command = _option(KEYS[name], metavar)(command)
        return command

    return add


def flags_of(asked: Mapping[str, object]) -> dict[str, tuple[str, object]]:
    """Return the settings that options gave, by their keys, each with the option as it was typed."""
    return {name: (_typed(KEYS[name], value), value) for name, value in asked.items()}


def _option(key: Key, metavar: str) -> Callable[[C], C]:
    flag = f"--{key.name.replace('_', '-')}"
    form = f"{flag}/--no-{flag.removeprefix('--')}" if key.kind is SWITCH else flag
    default = "from the effort" if callable(key.default) else shown(key.default)
    meaning = f"{key.help[0].upper()}{key.help[1:]}".replace("`", "")
    return click.option(
        form,
        key.name,
        type=click.Choice(key.kind.names) if key.kind.names else None,
        default=None,
        multiple=key.kind is LINES,
        metavar=metavar or None,
        shell_complete=options.complete_efforts if key.name == "effort" else None,
        help=f"{meaning} ({'repeatable, ' if key.kind is LINES else ''}default: {default}).",
    )


def _typed(key: Key, value: object) -> str:
    name = key.name.replace("_", "-")
    return f"--no-{name}" if key.kind is SWITCH and value is False else f"--{name}"


def model_flags(models: Mapping[str, str]) -> dict[str, tuple[str, object]]:
    """Return the settings that `--model` gave, by their keys, each with the option as it was typed."""
    return {f"models.{role}": (f"--model {role}", name) for role, name in models.items()}
