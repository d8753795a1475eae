"""The shipped tables are the product's: section 2, row by row."""

import pytest
from language.tables import table

from state.errors import UsageError
from state.records.calls import Usage
from state.roles import Role
from state.settings.presets import effort_named, efforts, model_named, models

# Product section 2: low, medium, high, max.
TABLE = table(__file__, "table")
MODELS = {
    Role.PLANNER: ("haiku", "sonnet", "opus", "opus"),
    Role.WORKER: ("sonnet", "opus", "opus", "opus"),
    Role.REVIEWER: ("haiku", "sonnet", "opus", "opus"),
    Role.DEVELOPER: ("haiku", "haiku", "haiku", "sonnet"),
    Role.JUDGE: ("haiku", "haiku", "haiku", "sonnet"),
    Role.RESOLVER: ("sonnet", "sonnet", "opus", "opus"),
}
NAMES = ("low", "medium", "high", "max")
MODEL_EFFORTS = ("low", "medium", "high", "xhigh")  # of those who plan, build, review and resolve


def test_there_are_four_presets_mildest_first():
    assert tuple(efforts()) == NAMES
    assert all(effort.name == name for name, effort in efforts().items())


@pytest.mark.parametrize("row", TABLE)
@pytest.mark.parametrize(("column", "name"), tuple(enumerate(NAMES)))
def test_a_preset_has_the_numbers_of_the_product(row, column, name):
    assert getattr(effort_named(name), row) == TABLE[row][column]


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize(("column", "name"), tuple(enumerate(NAMES)))
def test_a_preset_has_the_models_of_the_product(role, column, name):
    plain = MODELS[role][column]
    expected = plain if role in {Role.DEVELOPER, Role.JUDGE} else f"{plain}:{MODEL_EFFORTS[column]}"
    assert effort_named(name).models[role] == expected


def test_every_model_that_a_preset_names_has_an_id_prices_and_a_context():
    named = {alias for effort in efforts().values() for alias in effort.models.values()}
    for alias in named:
        model = model_named(alias)
        assert model.id.startswith(f"claude-{alias.partition(':')[0]}-")
        assert min(model.context, model.prices.input, model.prices.output, model.prices.cache_read) > 0


@pytest.mark.parametrize("ask", [effort_named, model_named])
def test_an_unknown_name_is_a_usage_error_that_lists_the_known_ones(ask):
    known = NAMES if ask is effort_named else tuple(models())
    with pytest.raises(UsageError, match=rf"heroic.*{', '.join(known)}"):
        ask("heroic")


@pytest.mark.parametrize(
    ("alias", "usage", "dollars"),
    [
        ("opus", Usage(input_tokens=1_000_000), 4.00),
        ("opus", Usage(output_tokens=1_000_000), 20.00),
        ("sonnet", Usage(input_tokens=500_000, output_tokens=100_000), 2.00),
        ("sonnet", Usage(cache_write_tokens=1_000_000, cache_read_tokens=1_000_000), 2.60),
        ("haiku", Usage(input_tokens=100_000, output_tokens=10_000), 0.015),
        ("haiku", Usage(input_tokens=100_001, output_tokens=10_000), 0.0750005),
        ("haiku", Usage(input_tokens=1, cache_read_tokens=100_000), 0.0050005),
        ("haiku", Usage(), 0.0),
    ],
)
def test_a_call_costs_what_its_tokens_cost_and_long_prompts_more(alias, usage, dollars):
    assert model_named(alias).cost(usage) == pytest.approx(dollars)
