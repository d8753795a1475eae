"""The keys of the configuration, in one table.

A key's name in a file and in the environment, its values, its default, its meaning and its flag follow from
the annotated fields of `state.settings.records.Settings`.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import reduce
from operator import attrgetter
from typing import Any, get_type_hints

from state.roles import ROLES, Role
from state.settings.kinds import AMOUNT, NONE, TEXT, SetBy, Value, ValueKind, kind_of, whole
from state.settings.records import Effort, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One key: its name in a file, its kind, its default or how the effort decides it, and its meaning.

    `path` leads to its field in `Settings`, and is empty if there is none for it alone.
    """

    name: str
    kind: ValueKind
    default: Value | Callable[[Effort], Value]
    help: str
    path: tuple[str, ...] = ()

    @property
    def env(self) -> str:
        """The environment variable that sets it."""
        return f"SQ_{self.name.replace('.', '_').upper()}"

    def value_in(self, settings: Settings) -> Value:
        """Return its value in the settings of a run. The key has a path."""
        return self.kind.load(reduce(getattr, self.path, settings))


def _keys_of(record: type, path: tuple[str, ...] = ()) -> Iterator[Key]:
    """Yield the keys that set the fields of a record and of the records in it."""
    hints = get_type_hints(record, include_extras=True)
    for field in fields(record):
        hint = hints[field.name]
        here = (*path, field.name)
        for one in getattr(hint, "__metadata__", ()):
            if isinstance(one, SetBy):
                yield _key(field, hint, one, here)
        if isinstance(hint, type) and is_dataclass(hint):
            yield from _keys_of(hint, here)


def _key(field: "Field[Any]", hint: object, set_by: SetBy, path: tuple[str, ...]) -> Key:
    kind = set_by.kind or kind_of(hint)
    default: Value | Callable[[Effort], Value]
    if set_by.effort:
        default = attrgetter(set_by.effort)
    else:
        plain = field.default if field.default_factory is MISSING else field.default_factory()
        default = kind.load(reduce(getattr, set_by.at, plain))
    name = set_by.key or ".".join(path)
    return Key(name=name, kind=kind, default=default, help=set_by.meaning, path=(*path, *set_by.at))


def _model(name: str, role: Role, meaning: str) -> Key:
    return Key(name=name, kind=TEXT, default=lambda effort: effort.models[role], help=meaning)


_PRESET = "preset that decides what is not set by itself: a shipped one, or your own (`[efforts.NAME]`)"
_MODEL = "model that {}, `NAME` or `NAME:EFFORT`"
_ROWS = (
    Key(name="effort", kind=TEXT, default="medium", help=_PRESET),
    *_keys_of(Settings),
    *(_model(f"models.{role}", role, _MODEL.format(ROLES[role].work)) for role in Role),
    _model(
        "developer_qa_model",
        Role.DEVELOPER,
        "model that answers questions, which wins over `models.developer`",
    ),
)
KEYS: dict[str, Key] = {key.name: key for key in _ROWS}
# Keys that are also tables: their own value inside the table has this name.
IN_TABLE = {"gateway.enabled": "gateway", "sandbox.mode": "sandbox", "verify.commands": "verify"}

# `[efforts.NAME]`: a preset of the user's own, or other values for a shipped one.
_OF_EFFORT = get_type_hints(Effort, include_extras=True)
EFFORT_KINDS: dict[str, ValueKind] = {
    "like": TEXT,
    **{name: kind_of(hint) for name, hint in _OF_EFFORT.items() if name not in {"name", "models"}},
    **{f"models.{role}": TEXT for role in Role},
}

# `[prices.ALIAS]`: a model of the user's own, or another price for a shipped one; USD per million tokens.
_PRICES = dict.fromkeys(("input", "output", "cache_write", "cache_read"), AMOUNT)
PRICE_KINDS: dict[str, ValueKind] = {
    "id": TEXT,
    "context": whole(1),
    **_PRICES,
    "above.prompt_tokens": whole(1),
    **{f"above.{name}": kind for name, kind in _PRICES.items()},
}


def shown(value: Value) -> str:
    """A value in a line for people: nearly as TOML has it, without quotes; None is `none`."""
    if value is None:
        return NONE
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.12g}"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, tuple) else str(value)


def documentation() -> str:
    """The keys as `docs/settings.md` shows them: a Markdown table."""
    rows = ["| key | default | meaning |", "|---|---|---|"]
    for key in KEYS.values():
        default = "from the effort" if callable(key.default) else f"`{shown(key.default)}`"
        rows.append(f"| `{key.name}` | {default} | {key.help} |")
    return "\n".join(rows)
