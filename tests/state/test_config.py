"""The configuration: every key in every source, which source wins, presets and prices of one's own, problems."""

import json
import tempfile
from dataclasses import fields
from enum import StrEnum
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from language.tables import rows, table

from state.errors import UsageError
from state.records.calls import Usage
from state.roles import Role
from state.settings.config import load_config
from state.settings.keys import EFFORT_KINDS, KEYS, PRICE_KINDS, documentation
from state.settings.presets import effort_named, efforts, model_named
from state.settings.records import MODEL_EFFORTS, Effort, Limits, Model, Prices, Retries, split_effort
from state.settings.sources import user_file

ROOT = Path(__file__).parents[2]
MODEL_NAMES = ("haiku", "sonnet", "opus")
PRICED = {"input": 1, "output": 2, "cache_write": 3, "cache_read": 4}


class Layers:
    """The sources of one configuration, empty at first."""

    def __init__(self, repository):
        self.repository = repository
        self.environ = {}
        self.flags = {}

    def user(self, text):
        user_file().parent.mkdir(parents=True, exist_ok=True)
        user_file().write_text(text)

    def repo(self, text):
        (self.repository / "sq.toml").write_text(text)

    def put(self, layer, key, value):
        """Set one key in one source and return the name that the source goes by."""
        match layer:
            case "user file":
                self.user(f"{key} = {toml(value)}\n")
                return str(user_file())
            case "sq.toml":
                self.repo(f"{key} = {toml(value)}\n")
                return str(self.repository / "sq.toml")
            case "environment":
                self.environ[KEYS[key].env] = (
                    "\n".join(value) if isinstance(value, tuple) else toml(value).strip('"')
                )
                return KEYS[key].env
            case "flag":
                self.flags[key] = ("--flag", value)
                return "--flag"

    def load(self, **more):
        return load_config(self.repository, self.environ, flags=self.flags, **more)

    def problems(self, **more):
        with pytest.raises(UsageError) as caught:
            self.load(**more)
        return str(caught.value)


SOURCES = ("user file", "sq.toml", "environment", "flag")


@pytest.fixture
def config(tmp_path):
    return Layers(tmp_path)


def toml(value):
    return json.dumps(value, ensure_ascii=False)


def another(key, number=0):
    """A value for a key that is not its default; another one for each number up to 3."""
    default = KEYS[key].default
    if callable(default):
        default = default(effort_named("medium"))
    if key == "effort":
        return ("low", "high", "max", "low")[number]
    if key.startswith("models.") or key == "developer_qa_model":
        others = [f"{name}:max" for name in MODEL_NAMES if name != split_effort(str(default))[0]]
        return others[number % 2]
    own = {
        "sandbox.hosts": ("registries", f"host-{number}.example"),
        "sandbox.services": (f"127.0.0.1:{5432 + number}",),
        "telemetry.otlp": f"http://localhost:{4318 + number}",
        "telemetry.headers": f"env:HEADERS_{number}",
        "deadline": f"0{number}:00",
        "commit.message": (f"[x{number}] {{title}}",)[0],
        "commit.author": f"A Person <a{number}@example.org>",
        "worktree.variables": (f"PORT={number}", "NAME=test_{place}"),
        "gateway.first_party": (True, True, False, True)[number],
    }
    if key in own:
        return own[key]
    if isinstance(default, bool):
        return bool(number % 2) == default
    if isinstance(default, StrEnum):
        others = [str(name) for name in type(default) if name != default]
        return others[number % len(others)]
    if isinstance(default, tuple):
        return (f"command {number}", "second")
    return (default or 4) + 1 + number


# --- sources ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layer", SOURCES)
@pytest.mark.parametrize("key", KEYS)
def test_every_key_can_be_set_in_every_source_with_the_same_effect_on_the_settings(config, key, layer):
    plain = config.load()
    source = config.put(layer, key, another(key))
    resolved = config.load()
    assert (resolved.values[key].value, resolved.values[key].source) == (another(key), source)
    assert resolved.settings != plain.settings
    by_flag = Layers(config.repository)
    by_flag.put("flag", key, another(key))
    assert resolved.settings == by_flag.load().settings


@given(key=st.sampled_from(list(KEYS)), layers=st.sets(st.sampled_from(SOURCES), min_size=1))
def test_of_several_sources_the_last_one_wins_for_every_key(key, layers):
    with tempfile.TemporaryDirectory() as folder:
        config = Layers(Path(folder))
        config.user("")
        for number, layer in enumerate(SOURCES):
            if layer in layers:
                expected = (config.put(layer, key, another(key, number)), another(key, number))
        entry = config.load().values[key]
        assert (entry.source, entry.value) == expected


def test_without_any_source_a_run_keeps_to_the_medium_preset():
    resolved = load_config(None, {})
    settings, medium = resolved.settings, effort_named("medium")
    assert (settings.effort, settings.limits, settings.retries) == (medium, Limits(), Retries())
    assert (settings.budget_run_usd, settings.budget_task_usd) == (40, 8)
    assert settings.models == {role: model_named(alias) for role, alias in medium.models.items()}
    assert resolved.values["budget"].source == "effort medium"
    assert resolved.values["limits.idle_s"].source == "default"
    assert tuple(resolved.values) == tuple(KEYS)
    assert resolved.own == {}


def test_an_effort_decides_only_what_no_source_has_set(config):
    config.user("budget = 33\nmodels.planner = 'haiku'\n")
    config.environ["SQ_EFFORT"] = "max"
    resolved = config.load()
    assert (resolved.settings.budget_run_usd, resolved.settings.models[Role.PLANNER].alias) == (33, "haiku")
    assert resolved.settings.models[Role.DEVELOPER].alias == "sonnet"
    assert resolved.values["models.developer"].source == "effort max"


def test_flags_that_were_not_given_and_empty_variables_set_nothing(config):
    config.flags = {"budget": ("--budget", None), "verify": ("--verify", ())}
    config.environ = {"SQ_EFFORT": "", "SQ_VERIFY": " \n"}
    assert config.load() == load_config(config.repository, {})


def test_lists_in_the_environment_have_one_entry_a_line(config):
    config.environ["SQ_VERIFY"] = "make lint\n\n  make test -k 'a b'\n"
    assert config.load().settings.verify == ("make lint", "make test -k 'a b'")


@pytest.mark.parametrize(("text", "meant"), [("yes", True), ("ON", True), ("0", False), ("False", False)])
def test_switches_in_the_environment_are_words_for_yes_and_no(config, text, meant):
    config.environ["SQ_MERGE"] = text
    assert config.load().settings.merge is meant


# --- budgets ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(*rows(__file__, "layers"))
def test_a_task_may_never_use_more_than_its_run_and_none_lifts_both_caps(config, user, repo, run, task):
    config.user(user)
    config.repo(repo)
    settings = config.load().settings
    assert (settings.budget_run_usd, settings.budget_task_usd) == (run, task)


def test_a_budget_that_was_cut_says_so(config):
    config.flags["budget"] = ("--budget", "5")
    assert config.load().values["budget_task"].source == "effort medium, cut to the run's"


# --- presets of one's own ---------------------------------------------------------------------------------


def test_a_preset_of_ones_own_starts_from_the_one_it_is_like_and_may_be_chosen(config):
    config.user('[efforts.night]\nlike = "high"\nbudget_run_usd = 60\nreview_depth = "comprehensive"\n')
    config.repo('effort = "night"\n[efforts.night]\nmodels.worker = "sonnet"\n')
    resolved = config.load()
    effort, high = resolved.settings.effort, effort_named("high")
    assert (effort.name, effort.budget_run_usd, effort.review_depth) == ("night", 60, "comprehensive")
    assert effort.models == {**high.models, Role.WORKER: "sonnet:high"}
    assert (effort.stuck_threshold, effort.budget_task_usd) == (high.stuck_threshold, high.budget_task_usd)
    assert resolved.settings.models[Role.WORKER].alias == "sonnet"
    assert list(resolved.efforts) == ["low", "medium", "high", "max", "night"]
    assert resolved.own["efforts.night.budget_run_usd"].source == str(user_file())
    assert resolved.own["efforts.night.models.worker"].source == str(config.repository / "sq.toml")
    assert resolved.own["efforts.night.stuck_threshold"].source == "effort high"


def test_without_like_a_new_preset_starts_from_medium_as_the_user_has_it(config):
    config.repo("[efforts.new]\n[efforts.medium]\nstuck_threshold = 9\n")
    assert config.load().efforts["new"].stuck_threshold == 9


def test_a_shipped_preset_can_be_overridden_in_part(config):
    config.repo("effort = 'low'\n[efforts.low]\nrevisions_per_task = 0\n")
    resolved = config.load()
    assert resolved.settings.effort.revisions_per_task == 0
    assert resolved.settings.budget_run_usd == 15
    assert resolved.own["efforts.low.budget_run_usd"].source == "default"
    assert efforts()["low"].revisions_per_task == 2


@pytest.mark.parametrize(*rows(__file__, "presets"))
def test_what_is_wrong_with_a_preset_is_said(config, text, said):
    config.repo(text)
    told = config.problems()
    assert said in told
    assert told.startswith(str(config.repository / "sq.toml"))
    assert told.count("\n") == 0


# --- the effort of models ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preset", "level"), [("low", "low"), ("medium", "medium"), ("high", "high"), ("max", "xhigh")]
)
def test_a_preset_gives_an_effort_to_those_who_plan_build_review_and_resolve(config, preset, level):
    config.flags["effort"] = ("--effort", preset)
    models = config.load().settings.models
    assert {role: model.effort for role, model in models.items()} == {
        Role.PLANNER: level,
        Role.WORKER: level,
        Role.REVIEWER: level,
        Role.RESOLVER: level,
        Role.DEVELOPER: None,
        Role.JUDGE: None,
    }


def test_another_model_keeps_the_presets_effort_unless_it_names_one(config):
    config.repo("models = {worker = 'sonnet', reviewer = 'haiku:max', judge = 'sonnet'}\n")
    config.environ["SQ_DEVELOPER_QA_MODEL"] = "opus:high"
    resolved = config.load()
    models = {role: model.name for role, model in resolved.settings.models.items()}
    assert models[Role.WORKER] == resolved.values["models.worker"].value == "sonnet:medium"
    assert (models[Role.REVIEWER], models[Role.JUDGE]) == ("haiku:max", "sonnet")
    assert (models[Role.DEVELOPER], models[Role.PLANNER]) == ("opus:high", "sonnet:medium")


@given(model=st.text(min_size=1), level=st.sampled_from(MODEL_EFFORTS))
def test_only_an_effort_behind_the_last_colon_is_one(model, level):
    assert split_effort(f"{model}:{level}") == (model, level)
    assert split_effort(f"{model}:?{level}") == (f"{model}:?{level}", None)
    assert split_effort(f":{level}") == (f":{level}", None)


def test_an_id_with_colons_is_a_model_and_a_mistyped_effort_is_named(config):
    config.environ |= {"SQ_MODELS_WORKER": "arn:aws:bedrock:opus-v1:0", "SQ_BUDGET": "none"}
    worker = config.load().settings.models[Role.WORKER]
    assert (worker.id, worker.effort) == ("arn:aws:bedrock:opus-v1:0", "medium")
    config.environ |= {"SQ_MODELS_WORKER": "opus:hihg", "SQ_BUDGET": "3"}
    assert "Efforts behind a colon are low, medium, high, xhigh, max" in config.problems()


# --- models and prices ------------------------------------------------------------------------------------


def test_a_model_of_ones_own_with_prices_can_be_used_within_a_budget(config):
    above = ", ".join(f"{name} = {price * 10}" for name, price in {"prompt_tokens": 1, **PRICED}.items())
    lines = "\n".join(f"{name} = {price}" for name, price in PRICED.items())
    config.repo(f"models.worker = 'fable'\n[prices.fable]\n{lines}\nabove = {{{above}}}\n")
    model = config.load().settings.models[Role.WORKER]
    assert (model.alias, model.id, model.context) == ("fable", "fable", 200_000)
    assert model.prices == Prices(**PRICED)
    assert model.above == Prices(prompt_tokens=10, **{name: price * 10 for name, price in PRICED.items()})
    assert model.cost(Usage(output_tokens=1_000_000)) == 2
    assert model.cost(Usage(input_tokens=1_000_000)) == 10


def test_of_a_shipped_model_only_what_is_said_changes(config):
    config.repo("[prices.haiku]\nid = 'claude-haiku-next'\ninput = 7\nabove.output = 9\n")
    resolved = config.load()
    model, shipped = resolved.settings.models[Role.DEVELOPER], model_named("haiku")
    assert (model.id, model.context, model.prices.input) == ("claude-haiku-next", shipped.context, 7)
    assert (model.prices.output, model.above.output) == (shipped.prices.output, 9)
    assert model.above.prompt_tokens == shipped.above.prompt_tokens
    assert resolved.own["prices.haiku.output"].source == "default"
    assert resolved.own["prices.haiku.input"].value == 7


def test_a_model_without_a_known_price_is_refused_where_a_budget_holds_with_what_to_do(config):
    config.environ["SQ_MODELS_WORKER"] = "fable"
    told = config.problems()
    assert told.startswith('SQ_MODELS_WORKER: the price of "fable" is unknown')
    assert "[prices.fable]" in told
    assert 'budget = "none"' in told


def test_a_model_without_a_known_price_is_refused_where_a_task_alone_has_a_budget(config):
    config.environ |= {"SQ_MODELS_WORKER": "fable", "SQ_BUDGET": "none", "SQ_BUDGET_TASK": "1"}
    assert "fable" in config.problems()


def test_without_any_budget_a_model_of_unknown_price_is_passed_on_as_it_is(config):
    config.environ |= {"SQ_MODELS_WORKER": "fable", "SQ_BUDGET": "none"}
    unknown = Model(alias="fable", id="fable", context=200_000, prices=None, effort="medium")
    assert config.load().settings.models[Role.WORKER] == unknown


def test_the_unpriced_model_of_a_preset_is_refused_with_the_presets_name(config):
    config.repo("effort = 'a'\n[efforts.a]\nmodels.planner = 'fable'\n")
    assert config.problems().startswith('effort a: models.planner: the price of "fable" is unknown')


@pytest.mark.parametrize(*rows(__file__, "prices"))
def test_what_is_wrong_with_a_price_is_said(config, text, said):
    config.repo(text)
    told = config.problems()
    assert said in told
    assert told.startswith(str(config.repository / "sq.toml"))
    assert told.count("\n") == 0


# --- problems ---------------------------------------------------------------------------------------------


def test_all_problems_are_told_at_once_each_with_its_source(config):
    config.user("worktrees = 'perhaps'\nbudgte = 3\n")
    config.repo("max_iterations = 0\nefort = 'low'\n[limits]\nidle = 3\n")
    config.environ = {"SQ_BUDGET": "-3", "SQ_VERFIY": "make", "SQ_POLICY_ALLOWED": "push\npusj"}
    config.flags = {"effort": ("--effort", "heroic"), "retries.tries": ("--tries", 1.5)}
    user, repo = user_file(), config.repository / "sq.toml"
    assert config.problems(rules=("push",)).splitlines() == [
        "the configuration has 10 problems:",
        f'  - {user}: worktrees needs true or false; found the text "perhaps"',
        f"  - {user}: budgte: unknown key, did you mean budget?",
        f"  - {repo}: max_iterations needs a whole number from 1; found 0",
        f"  - {repo}: efort: unknown key, did you mean effort?",
        f"  - {repo}: limits.idle: unknown key, did you mean limits.idle_s?",
        '  - SQ_BUDGET needs a number above 0, or "none"; found -3',
        "  - SQ_VERFIY: unknown variable, did you mean SQ_VERIFY?",
        "  - --tries needs a whole number from 0; found 1.5",
        '  - --effort: there is no preset "heroic", known are low, medium, high, max',
        '  - SQ_POLICY_ALLOWED: the policy has no rule "pusj", did you mean push?',
    ]


@pytest.mark.parametrize(*rows(__file__, "values"))
def test_a_value_that_does_not_fit_is_told_with_what_is_needed_and_what_was_found(config, text, said):
    config.repo(text)
    told = config.problems()
    assert said in told
    assert told.startswith(f"{config.repository / 'sq.toml'}: ")
    assert told.count("\n") == 0


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"merge = true\nbudget 3\n", "line 2"),
        (b"merge = true\n\neffort = 'low", "line 3"),
        (b"verify = ['make'\n", "line 2, the end of the file"),
        (b"merge = true\nmerge = false\n", "line 2"),
        (b"effort = 'n\xe4chtlich'\n", "not UTF-8"),
    ],
)
def test_a_file_that_is_no_toml_is_named_with_the_line(config, data, said):
    (config.repository / "sq.toml").write_bytes(data)
    told = config.problems()
    assert told.startswith(f"{config.repository / 'sq.toml'}: ")
    assert said in told


def test_a_file_that_cannot_be_read_is_a_problem_and_one_that_is_not_there_is_none(config):
    (config.repository / "sq.toml").mkdir()
    assert "sq.toml: cannot be read: Is a directory" in config.problems()
    assert load_config(config.repository / "nowhere", {}) is not None


def test_control_characters_in_a_problem_are_shown_and_do_not_steer_the_terminal(config):
    config.repo('effort = "\\u001b[31mlow\\n"\n"\\u001b[2J" = 1\n')
    told = config.problems()
    assert "\x1b" not in told
    assert "\\x1b[31mlow" in told
    assert told.count("\n") == 2


@pytest.mark.parametrize("name", table(__file__, "names"))
def test_variables_that_are_no_settings_are_left_alone(config, name):
    config.environ[name] = "nonsense"
    assert config.load() == load_config(config.repository, {})


@pytest.mark.parametrize("name", ["SQ_EFFORTS", "SQ_MODEL_WORKER", "SQ_LIMITS_IDLE", "SQ_WORKTREE"])
def test_a_variable_that_is_close_to_a_known_one_is_a_typing_error(config, name):
    config.environ[name] = "3"
    assert config.problems().startswith(f"{name}: unknown variable, did you mean SQ_")


def test_a_flag_for_a_key_that_is_not_there_is_told_with_the_nearest(config):
    config.flags["models.wroker"] = ("--model wroker", "opus")
    assert config.problems() == "--model wroker: unknown key models.wroker, did you mean models.worker?"


def test_rules_of_the_policy_are_checked_where_their_names_are_known(config):
    config.repo("policy.allowed = ['push', 'publsh']")
    assert config.load().settings.allowed == ("push", "publsh")
    assert 'the policy has no rule "publsh", did you mean publish?' in config.problems(
        rules=("push", "publish")
    )


def problem_of(load):
    """What is told about a configuration; empty where nothing is wrong."""
    try:
        load()
    except UsageError as error:
        return str(error)
    return ""


WORDS = st.text(st.characters(min_codepoint=32, max_codepoint=126) | st.just("ä"), max_size=8)
PLAIN = st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS
ANYTHING = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3), max_leaves=4)


NAMES = [*KEYS, *(f"efforts.a.{key}" for key in EFFORT_KINDS), *(f"prices.opus.{key}" for key in PRICE_KINDS)]


@given(key=st.sampled_from(NAMES), value=ANYTHING)
def test_whatever_a_file_holds_is_taken_or_told_with_file_and_key(key, value):
    with tempfile.TemporaryDirectory() as folder:
        config = Layers(Path(folder))
        config.repo(f"{key} = {toml(value)}\n")
        told = problem_of(lambda: config.load(rules=()))
        assert told == "" or f"{folder}/sq.toml: {key.partition('.above')[0]}" in told


@given(st.binary(max_size=30))
def test_whatever_bytes_a_file_holds_a_problem_names_the_file(data):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sq.toml").write_bytes(data)
        told = problem_of(lambda: load_config(Path(folder), {}))
        assert told == "" or f"{folder}/sq.toml: " in told


# --- the table --------------------------------------------------------------------------------------------


def test_the_table_has_every_limit_every_retry_setting_every_role_and_every_field_of_a_preset():
    limits = {f"limits.{one.name}" for one in fields(Limits)} - {"limits.max_iterations", "limits.deadline"}
    retries = {f"retries.{one.name}" for one in fields(Retries)}
    assert limits | retries | {f"models.{role}" for role in Role} <= set(KEYS)
    scalars = {one.name for one in fields(Effort)} - {"name", "models"}
    assert set(EFFORT_KINDS) == {"like"} | scalars | {f"models.{role}" for role in Role}
    prices = {one.name for one in fields(Prices)}
    assert set(PRICE_KINDS) == {"id", "context"} | (prices - {"prompt_tokens"}) | {
        f"above.{one}" for one in prices
    }


def test_the_settings_document_has_every_key_as_the_table_has_it():
    document = (ROOT / "docs" / "settings.md").read_text()
    assert [row for row in documentation().splitlines() if row not in document] == []


@pytest.mark.parametrize(
    ("text", "commands", "by_itself"),
    [
        ("'auto'", (), True),
        ("'none'", (), False),
        ("[]", (), False),
        ("['npm ci', 'make env']", ("npm ci", "make env"), False),
    ],
)
def test_worktrees_are_made_ready_by_themselves_by_a_list_or_not_at_all(config, text, commands, by_itself):
    config.user(f"worktree.setup = {text}\n")
    settings = config.load().settings
    assert (settings.worktree_setup, settings.sets_up_by_itself) == (commands, by_itself)
