"""The configuration: shipped defaults, user file, `sq.toml`, `SQ_*`, flags. Later ones win.

Every value keeps its source, for `sq config show`. All problems are reported at once.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

import msgspec

from state.roles import ROLES, Role
from state.settings.keys import EFFORT_KINDS, KEYS, PRICE_KINDS
from state.settings.kinds import Value
from state.settings.presets import efforts as shipped_efforts
from state.settings.presets import models as shipped_models
from state.settings.records import MODEL_EFFORTS, Effort, Model, Prices, Settings, split_effort
from state.settings.sources import (
    NOTIFY,
    REPOSITORY_FILE,
    Flags,
    GivenTarget,
    OwnTable,
    Sources,
    nearest,
    user_file,
)

DEVELOPER_QA_MODEL = "developer_qa_model"  # the seed's name (004)
_DEFAULT = "default"
_MEDIUM = "medium"
_CONTEXT = 200_000  # tokens, of a model without a description
_PRICES = ("input", "output", "cache_write", "cache_read")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One value and where it came from: `default`, `effort high`, a file, `SQ_BUDGET`, `--budget`."""

    value: Value
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedConfig:
    """A valid configuration: the settings of a run, and each value with its source.

    `values` has every key of the table, in its order. `own` has every field of the user's presets, prices and
    notices (`efforts.NAME.FIELD`, `prices.ALIAS.FIELD`, `notify.NUMBER.FIELD`), `efforts` all presets,
    shipped ones first, and `files` the files looked for, whether they exist or not.
    """

    settings: Settings
    values: Mapping[str, Entry]
    own: Mapping[str, Entry]
    efforts: Mapping[str, Effort]
    files: tuple[Path, ...]


def load_config(
    repository: Path | None,
    environ: Mapping[str, str],
    *,
    flags: Flags | None = None,
    rules: Collection[str] | None = None,
) -> ResolvedConfig:
    """Read every source and put the settings together.

    Args:
        repository: the folder that may hold an `sq.toml`, or None outside a repository.
        environ: where `SQ_*` are looked for.
        flags: key → (name of the flag, its value). None and () stand for a flag that was not given.
        rules: the names that `policy.allowed` may hold, or None to leave them unchecked.

    Raises:
        UsageError: a value cannot be used. Names every problem, each with its source.
    """
    files = (user_file(), *([repository / REPOSITORY_FILE] if repository else []))
    sources = Sources()
    for file in files:
        sources.add_file(file)
    sources.add_environment(environ)
    sources.add_flags(flags or {})
    own: dict[str, Entry] = {}
    efforts = _efforts(sources, own)
    models = shipped_models() | _own_models(sources, own)
    values = _values(sources, efforts)
    _check_rules(sources, values, rules)
    chosen = _chosen_models(sources, values, models)
    sources.raise_problems()
    own |= _targets(sources)
    effort = efforts[str(values["effort"].value)]
    settings = _settings(values, effort, chosen, sources.notify)
    return ResolvedConfig(settings=settings, values=values, own=own, efforts=efforts, files=files)


def _efforts(sources: Sources, own: dict[str, Entry]) -> dict[str, Effort]:
    """Return all presets. One of the user's starts from `like`, else its shipped namesake, else medium."""
    done = {name: row for name, row in shipped_efforts().items() if name not in sources.efforts}

    def named(name: str, waiting: tuple[str, ...]) -> Effort:
        if name not in done:
            table = sources.efforts[name]
            done[name] = _effort(name, table, base_of(name, table, (*waiting, name)), own)
        return done[name]

    def base_of(name: str, table: OwnTable, waiting: tuple[str, ...]) -> Effort:
        namesake = shipped_efforts().get(name)
        like = table.values.get("like")
        base = str(like.value) if like else _MEDIUM
        if namesake and (like is None or base == name):
            return namesake
        if base not in done and base not in sources.efforts:
            known = ", ".join(shipped_efforts() | sources.efforts)
            problem = f'there is no preset "{base}", known are {known}'
        elif base in waiting:
            problem = f"a circle: {' → '.join((*waiting[waiting.index(base) :], base))}"
        else:
            return named(base, waiting)
        place = like.place if like else f"{table.file}: efforts.{name}"
        sources.problems.append(f"{place}: {problem}")
        return shipped_efforts()[_MEDIUM]

    return {name: named(name, ()) for name in shipped_efforts() | sources.efforts}


def _effort(name: str, table: OwnTable, base: Effort, own: dict[str, Entry]) -> Effort:
    row: dict[str, Any] = {key: one.value for key, one in table.values.items() if key != "like"}
    given = {role: str(row.pop(f"models.{role}", name)) for role, name in base.models.items()}
    models = {role: _with_effort(one, role, base) for role, one in given.items()}
    effort = replace(base, name=name, models=models, **row)
    fields = {**asdict(effort), **{f"models.{role}": name for role, name in models.items()}}
    inherited = _DEFAULT if base.name == name else f"effort {base.name}"
    _show(
        own, f"efforts.{name}", table, {key: fields[key] for key in EFFORT_KINDS if key != "like"}, inherited
    )
    return effort


def _with_effort(name: str, role: Role, preset: Effort) -> str:
    """Return a model's name with the preset's effort for this role, if the name has none of its own.

    A model that sq does not know is given it in sessions only: the agent leaves it out where the model has
    none, and the API refuses it.
    """
    effort = split_effort(preset.models[role])[1]
    fits = name in shipped_models() or ROLES[role].has_session
    return f"{name}:{effort}" if effort and fits and not split_effort(name)[1] else name


def _own_models(sources: Sources, own: dict[str, Entry]) -> dict[str, Model]:
    """Return the models of `[prices]`. Values that are not given for a shipped one stay unchanged."""
    models = {}
    for alias, table in sources.prices.items():
        row: dict[str, Any] = {"id": alias, "context": _CONTEXT}
        if shipped := shipped_models().get(alias):
            row |= {"id": shipped.id, "context": shipped.context, **asdict(cast("Prices", shipped.prices))}
            row |= {
                f"above.{key}": one for key, one in (asdict(shipped.above) if shipped.above else {}).items()
            }
        row |= {key: one.value for key, one in table.values.items()}
        above = [key for key in PRICE_KINDS if key.startswith("above.")]
        if not any(key in row for key in above):
            above = []
        missing = [key for key in (*_PRICES, *above) if key not in row]
        if missing:
            if untold := [key for key in missing if f"prices.{alias}.{key}" not in sources.unfit]:
                sources.problems.append(f"{table.file}: prices.{alias} needs {', '.join(untold)} too")
            row |= dict.fromkeys(missing, 0)
        models[alias] = Model(
            alias=alias,
            id=row["id"],
            context=row["context"],
            prices=Prices(**{key: row[key] for key in _PRICES}),
            above=Prices(**{key.partition(".")[2]: row[key] for key in above}) if above else None,
        )
        _show(own, f"prices.{alias}", table, {key: row[key] for key in PRICE_KINDS if key in row}, _DEFAULT)
    return models


def _targets(sources: Sources) -> dict[str, Entry]:
    """Return the fields of `[[notify]]`, numbered over all files."""
    return {
        f"{NOTIFY}.{number}.{name}": Entry(value=value, source=str(one.file))
        for number, one in enumerate(sources.notify, start=1)
        for name, value in asdict(one.target).items()
        if value
    }


def _show(
    own: dict[str, Entry], prefix: str, table: OwnTable, fields: Mapping[str, Value], inherited: str
) -> None:
    for key, value in fields.items():
        source = table.values[key].source if key in table.values else inherited
        own[f"{prefix}.{key}"] = Entry(value=value, source=source)


def _values(sources: Sources, efforts: Mapping[str, Effort]) -> dict[str, Entry]:
    given = sources.values
    preset = str(given["effort"].value if "effort" in given else KEYS["effort"].default)
    if preset not in efforts:
        sources.problems.append(
            f'{given["effort"].place}: there is no preset "{preset}", known are {", ".join(efforts)}'
        )
    effort = efforts.get(preset, efforts[_MEDIUM])
    values = {}
    for key in KEYS.values():
        if key.name in given:
            values[key.name] = Entry(value=given[key.name].value, source=given[key.name].source)
        elif callable(key.default):
            values[key.name] = Entry(value=key.default(effort), source=f"effort {effort.name}")
        else:
            values[key.name] = Entry(value=key.default, source=_DEFAULT)
    for name, role in [*((f"models.{role}", role) for role in Role), (DEVELOPER_QA_MODEL, Role.DEVELOPER)]:
        values[name] = replace(values[name], value=_with_effort(str(values[name].value), role, effort))
    if DEVELOPER_QA_MODEL not in given:
        values[DEVELOPER_QA_MODEL] = values[f"models.{Role.DEVELOPER}"]
    values["budget_task"] = _task_budget(sources, values["budget"], values["budget_task"])
    return values


def _task_budget(sources: Sources, run: Entry, task: Entry) -> Entry:
    """Return a task's budget: at most the run's. It is none if the run has none, unless it was set later."""
    if run.value is None:
        ranks = {key: one.rank for key, one in sources.values.items()}
        return task if ranks.get("budget_task", 0) >= ranks["budget"] else run
    if task.value is None or cast("float", task.value) > cast("float", run.value):
        return Entry(value=run.value, source=f"{task.source}, cut to the run's")
    return task


def _check_rules(sources: Sources, values: Mapping[str, Entry], rules: Collection[str] | None) -> None:
    for name in cast("tuple[str, ...]", values["policy.allowed"].value):
        if rules is not None and name not in rules:
            place = sources.values["policy.allowed"].place
            sources.problems.append(f'{place}: the policy has no rule "{name}", {nearest(name, list(rules))}')


def _chosen_models(
    sources: Sources, values: Mapping[str, Entry], models: Mapping[str, Model]
) -> dict[Role, Model]:
    capped = [key for key in ("budget", "budget_task") if values[key].value is not None]
    chosen = {}
    for role in Role:
        key = DEVELOPER_QA_MODEL if role is Role.DEVELOPER else f"models.{role}"
        alias, thinking = split_effort(str(values[key].value))
        row = models.get(alias) or Model(alias=alias, id=alias, context=_CONTEXT, prices=None)
        chosen[role] = replace(row, effort=thinking)
        if alias not in models and capped and not sources.unfit & {"budget", "budget_task"}:
            key = key if key in sources.values else f"models.{role}"
            place = sources.values[key].place if key in sources.values else f"{values[key].source}: {key}"
            sources.problems.append(
                f'{place}: the price of "{alias}" is unknown, so no budget can hold. Known are '
                f'{", ".join(models)}. Add [prices.{alias}] with {", ".join(_PRICES)}, or set budget = "none"'
                + (f". Efforts behind a colon are {', '.join(MODEL_EFFORTS)}" if ":" in alias else "")
            )
    return chosen


def _settings(
    values: Mapping[str, Entry],
    effort: Effort,
    models: Mapping[Role, Model],
    notify: Sequence[GivenTarget],
) -> Settings:
    notices = {"notify": [one.target for one in notify]}
    row: dict[str, Any] = {"effort": effort, "models": models, "integrations": notices}
    for key in KEYS.values():
        if key.path:
            *folders, name = key.path
            section = row
            for folder in folders:
                section = section.setdefault(folder, {})
            section[name] = key.kind.store(values[key.name].value)
    return msgspec.convert(row, Settings, from_attributes=True)
