"""Put the stop gate into the text of Claude Code's settings, and take it out. Nothing else changes.

`ValueError`: the text cannot be changed safely, with the reason.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from orchestrator.gates.stop_gate.install.command import is_ours
from orchestrator.gates.stop_gate.install.json_text import added, parsed, removed, replaced

EVENT = "Stop"

_EMPTY = "{}\n"  # Claude Code reads a blank file like this


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledHook:
    """Our hook in settings: its entry and its place."""

    entry: Mapping[str, object]
    command: str
    group: int
    place: int

    @property
    def path(self) -> tuple[str | int, ...]:
        """Its path from the top."""
        return ("hooks", EVENT, self.group, "hooks", self.place)


def gates_in(settings: object) -> Iterator[InstalledHook]:
    """Our hooks, in their order. Entries that do not have the form of hooks are ignored."""
    for group, found in enumerate(_list(_object(_object(settings).get("hooks")).get(EVENT))):
        for place, entry in enumerate(_list(_object(found).get("hooks"))):
            hook = _object(entry)
            command = hook.get("command")
            if isinstance(command, str) and hook.get("type") == "command" and is_ours(command):
                yield InstalledHook(entry=hook, command=command, group=group, place=place)


def with_gate(text: str, entry: Mapping[str, object]) -> str:
    """Settings with our hook exactly once: in the place of an older one, else after all others."""
    if not text.strip():
        text = _EMPTY
    settings = _settings(text)
    there = list(gates_in(settings))
    for extra in reversed(there[1:]):
        text = _without(text, extra, None)
    if there:
        return _brought_up_to_date(text, there[0], entry)
    group = {"hooks": [dict(entry)]}
    if "hooks" not in settings:
        return added(text, (), {EVENT: [group]}, key="hooks")
    if EVENT not in _object(settings["hooks"]):
        return added(text, ("hooks",), [group], key=EVENT)
    return added(text, ("hooks", EVENT), group)


def without_gate(text: str, before: object = None) -> str:
    """Settings without our hooks. Containers that this empties go too, unless they were there `before`."""
    if not text.strip():
        return text
    for found in reversed(list(gates_in(parsed(text)))):
        text = _without(text, found, before)
    return text


def _settings(text: str) -> dict[str, object]:
    """The settings in a text. Raises `ValueError` if Claude Code would not load them."""
    settings = parsed(text)
    if not isinstance(settings, dict):
        raise ValueError("it holds no JSON object")  # noqa: TRY004  one error for everything
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise ValueError("`hooks` in it is no object of events")  # noqa: TRY004
    for event, groups in hooks.items():
        if not isinstance(groups, list):
            raise ValueError(f"`hooks.{event}` in it is no list")  # noqa: TRY004
    return settings


def _brought_up_to_date(text: str, found: InstalledHook, entry: Mapping[str, object]) -> str:
    """Set our values in the hook. Other keys in it stay."""
    for key, value in entry.items():
        if key not in found.entry:
            text = added(text, found.path, value, key=key)
        elif found.entry[key] != value:
            text = replaced(text, (*found.path, key), value)
    return text


def _without(text: str, found: InstalledHook, before: object) -> str:
    settings = _object(parsed(text))
    hooks, old = _object(settings["hooks"]), _object(before)
    groups = _list(hooks[EVENT])
    path = found.path
    if len(_list(_object(groups[found.group])["hooks"])) == 1:
        path = path[:3]
        if len(groups) == 1 and EVENT not in _object(old.get("hooks")):
            path = path[:2]
            if len(hooks) == 1 and "hooks" not in old:
                path = path[:1]
    return removed(text, path)


def _object(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
