"""The keys of the configuration, in one table.

What a key is called in a file and in the environment, which values it takes, how they are shown and how
`docs/settings.md` documents them: all of it follows from `KEYS`.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from state.roles import ROLES, Role
from state.settings.integrations import is_variable
from state.settings.records import (
    CommandNetwork,
    Effort,
    Limits,
    OnQuestion,
    Retries,
    ReviewDepth,
    Sandbox,
    SandboxLimits,
    SetUp,
    Steering,
    Workflow,
)

Value = bool | int | float | str | tuple[str, ...] | None

AUTO = "auto"  # how a switch is left to sq
NONE = "none"  # how a file, the environment or a flag says that nothing is held back
_MOST = 10**12  # no number means anything beyond it, and what is stored has 64 bits
_YES, _NO = {"true", "yes", "on", "1"}, {"false", "no", "off", "0"}
_LIMITS, _RETRIES, _CEILINGS = Limits(), Retries(), SandboxLimits()


@dataclass(frozen=True, slots=True)
class ValueKind:
    """What a value has to be.

    `needs` says it in words, `fits` decides it for what a TOML file holds, `parse` turns the text of an
    environment variable or a flag into what a file would hold, `keep` makes a fitting value what is kept.
    """

    needs: str
    fits: Callable[[Any], bool]
    parse: Callable[[str], object]
    keep: Callable[[Any], Value] = lambda value: value

    def read(self, value: object) -> Value:
        """The value as it is kept.

        Raises:
            ValueError: it does not fit; says what is needed and what was found.
        """
        if not self.fits(value):
            raise ValueError(f"needs {self.needs}; found {_found(value)}")
        return self.keep(value)


@dataclass(frozen=True, slots=True)
class Key:
    """One key: its name in a file, what it takes, its default or how the effort decides it, its meaning."""

    name: str
    kind: ValueKind
    default: Value | Callable[[Effort], Value]
    help: str

    @property
    def env(self) -> str:
        """The environment variable that sets it."""
        return f"SQ_{self.name.replace('.', '_').upper()}"


def _whole(least: int) -> ValueKind:
    def fits(value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and least <= value <= _MOST

    return ValueKind(f"a whole number from {least}", fits, _number_in)


def _number(needs: str, *, zero: bool) -> ValueKind:
    def fits(value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return 0 <= value <= _MOST and (zero or value > 0)

    return ValueKind(needs, fits, _number_in, float)


def _or_none(kind: ValueKind) -> ValueKind:
    def keep(value: object) -> Value:
        return None if value == NONE else kind.keep(value)

    return ValueKind(
        f'{kind.needs}, or "{NONE}"', lambda value: value == NONE or kind.fits(value), kind.parse, keep
    )


def _one_of(names: type[StrEnum]) -> ValueKind:
    return ValueKind(f"one of {', '.join(names)}", lambda value: value in list(names), str.strip, names)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_address(value: object) -> bool:
    if not _is_text(value):
        return False
    try:
        found = urlsplit(str(value).strip())
    except ValueError:
        return False
    return found.scheme in {"http", "https"} and bool(found.hostname) and "@" not in found.netloc


def _number_in(text: str) -> object:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text.strip()


def _switch_in(text: str) -> object:
    word = text.strip().lower()
    return word in _YES if word in _YES | _NO else text


def _lines_in(text: str) -> object:
    return [line.strip() for line in text.splitlines() if line.strip()]


_TEXT = ValueKind("a text", _is_text, str.strip, str.strip)
_SWITCH = ValueKind("true or false", lambda value: isinstance(value, bool), _switch_in)
_LINES = ValueKind(
    "a list of texts",
    lambda value: isinstance(value, list | tuple) and all(map(_is_text, value)),
    _lines_in,
    tuple,
)
_SETTING_UP = ValueKind(
    '"auto", "none" or a list of texts',
    lambda value: value in {SetUp.AUTO, SetUp.NONE} if isinstance(value, str) else _LINES.fits(value),
    lambda text: text.strip() if text.strip() in {SetUp.AUTO, SetUp.NONE} else _lines_in(text),
    lambda value: SetUp(value) if isinstance(value, str) else tuple(value) or SetUp.NONE,
)
_BY_ITSELF = ValueKind(
    f'true, false or "{AUTO}"',
    lambda value: isinstance(value, bool) or value == AUTO,
    lambda text: text.strip() if text.strip() == AUTO else _switch_in(text),
)
_ADDRESS = ValueKind("an http or https address without a user", _is_address, str.strip, str.strip)
_VARIABLE = ValueKind('the name of a variable as "env:NAME"', is_variable, str.strip)
_POSITIVE = _number("a number above 0", zero=False)
_AMOUNT = _number("a number from 0", zero=True)


def _model(role: Role) -> Key:
    meaning = f"model that {ROLES[role].work}, `NAME` or `NAME:EFFORT`"
    return Key(f"models.{role}", _TEXT, lambda effort: effort.models[role], meaning)


def _limit(name: str, meaning: str, kind: ValueKind = _POSITIVE) -> Key:
    return Key(f"limits.{name}", kind, getattr(_LIMITS, name), f"seconds {meaning}")


def _ceiling(name: str, meaning: str) -> Key:
    return Key(f"sandbox.limits.{name}", _or_none(_whole(1)), getattr(_CEILINGS, name), meaning)


def _retry(name: str, meaning: str, kind: ValueKind = _AMOUNT) -> Key:
    return Key(f"retries.{name}", kind, getattr(_RETRIES, name), meaning)


_ROWS = (
    Key(
        "effort", _TEXT, "medium", "preset that decides what is not set by itself; own ones: `[efforts.NAME]`"
    ),
    Key("workflow", _one_of(Workflow), Workflow.ORCHESTRATED, "how the spec becomes work: see `--workflow`"),
    Key(
        "questions",
        _one_of(OnQuestion),
        OnQuestion.ANSWER,
        "a question that cannot be undone and that the spec does not cover: `answer` or `park` it",
    ),
    Key("context_window", _whole(0), 10, "newest messages of a session that the Developer sees"),
    Key("worktrees", _SWITCH, True, "tasks are built in git worktrees outside your checkout"),
    Key("max_parallel", _whole(1), 4, "tasks under way at once; without worktrees always 1"),
    Key(
        "worktree.include", _LINES, (), "patterns of files that git ignores and each worktree gets a copy of"
    ),
    Key(
        "worktree.setup",
        _SETTING_UP,
        SetUp.AUTO,
        'how each new worktree is made ready: `"auto"`: by its lock files and manifests (`npm ci`, …); '
        'a list of commands; `"none"`',
    ),
    Key("merge", _SWITCH, True, "at the end your branch is moved forward to the finished work"),
    Key(
        "merge_unverified",
        _SWITCH,
        False,
        "your branch is moved for a run that ends with code 5 too, not for code 0 alone",
    ),
    Key("verify", _LINES, (), "commands that sq runs itself to verify; none: what the repository shows"),
    Key(
        "gateway",
        _SWITCH,
        True,
        "with an API key, sessions ask through a gateway of sq's and do not get the key",
    ),
    Key(
        "gateway.first_party",
        _BY_ITSELF,
        AUTO,
        "Claude Code behaves as at Anthropic's own address: `true`, `false`, or `auto`: if the API is there",
    ),
    Key("max_iterations", _whole(1), _LIMITS.max_iterations, "exchanges with the Worker on one task"),
    Key(
        "budget",
        _or_none(_POSITIVE),
        lambda effort: effort.budget_run_usd,
        'USD for the whole run, every agent counted; `"none"`: no cap, for its tasks neither',
    ),
    Key(
        "budget_task",
        _or_none(_POSITIVE),
        lambda effort: effort.budget_task_usd,
        "USD for one task, never above that of the run",
    ),
    *(_model(role) for role in Role),
    Key(
        "developer_qa_model",
        _TEXT,
        lambda effort: effort.models[Role.DEVELOPER],
        "the same, and it wins over `models.developer`",
    ),
    Key("limits.max_turns", _whole(1), _LIMITS.max_turns, "replies of the model in one exchange"),
    _limit("idle_s", "of silence after which a session is ended"),
    _limit("connect_s", "that Claude Code has to start"),
    _limit("question_s", "for the answers to one call with questions"),
    _limit("verify_s", "for one verification or set-up command"),
    _limit("run_s", "for the whole run", _or_none(_POSITIVE)),
    _retry("tries", "further tries after a call that failed", _whole(0)),
    _retry("first_wait_s", "seconds before the first of them; each next wait is twice as long"),
    _retry("longest_wait_s", "seconds that no wait exceeds"),
    _retry("longest_reset_s", "seconds up to which a reset time that the API names is waited for"),
    Key(
        "sandbox",
        _one_of(Sandbox),
        Sandbox.AUTO,
        "what holds agents and their work: see `--sandbox`; in a table: `sandbox.mode`",
    ),
    Key(
        "sandbox.network",
        _one_of(CommandNetwork),
        CommandNetwork.NONE,
        "network of verification commands in the sandbox: `none`, or `full`, which the report then says",
    ),
    _ceiling("processes", "processes and threads in one sandbox"),
    _ceiling("memory_mb", "MiB of memory of everything in the run's sandboxes"),
    _ceiling("file_mb", "MiB of one file written in a sandbox"),
    Key(
        "bell",
        _SWITCH,
        True,
        "a terminal rings and shows a notice at the end of a run that took more than a minute",
    ),
    Key(
        "telemetry.otlp",
        _or_none(_ADDRESS),
        None,
        "address of an OTLP collector that gets the spans of runs, such as `http://localhost:4318`",
    ),
    Key(
        "telemetry.headers",
        _or_none(_VARIABLE),
        None,
        "`env:NAME`: the variable with the headers that the collector wants, as `name=value,name=value`",
    ),
    Key("policy.protected", _LINES, (), "patterns of further paths that no task may change"),
    Key("policy.allowed", _LINES, (), "names of [rules](../agents/session/policy.yaml) that do not hold"),
)
KEYS: dict[str, Key] = {key.name: key for key in _ROWS}
# Keys that are also tables: their own value inside the table has this name.
IN_TABLE = {"gateway.enabled": "gateway", "sandbox.mode": "sandbox"}

# `[efforts.NAME]`: a preset of the user's own, or other values for a shipped one.
EFFORT_KINDS: dict[str, ValueKind] = {
    "like": _TEXT,
    "review_depth": _one_of(ReviewDepth),
    "review_analysis": _SWITCH,
    "review_plan": _SWITCH,
    "checkpoint_every": _whole(0),
    "block_unproven_tests": _SWITCH,
    "power_steering": _one_of(Steering),
    "stuck_threshold": _whole(1),
    "revisions_per_task": _whole(0),
    "final_review_rounds": _whole(1),
    "budget_task_usd": _POSITIVE,
    "budget_run_usd": _POSITIVE,
    **{f"models.{role}": _TEXT for role in Role},
}

# `[prices.ALIAS]`: a model of the user's own, or another price for a shipped one; USD per million tokens.
_PRICES = dict.fromkeys(("input", "output", "cache_write", "cache_read"), _AMOUNT)
PRICE_KINDS: dict[str, ValueKind] = {
    "id": _TEXT,
    "context": _whole(1),
    **_PRICES,
    "above.prompt_tokens": _whole(1),
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


def _found(value: object) -> str:
    if isinstance(value, str):
        return f'the text "{value}"' if value.strip() else "an empty text"
    if isinstance(value, dict):
        return "a table"
    return json.dumps(value, ensure_ascii=False, default=str)
