"""What goes wrong in a fleet. `bin/test --late` runs two rows, `--slow` and `python -m benchmarks.fleet` all."""

import pytest
from language.fleet_faults import ROWS, CannotRunError
from language.fleets import FleetHere
from language.postgres import PostgresServer

SAMPLE = {"push_cut_off", "cancelled_while_it_works"}


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.late if one in SAMPLE else pytest.mark.slow) for one in ROWS]
)
def test_a_fault_has_the_outcome_of_its_row(fleet: FleetHere, server: PostgresServer, name: str) -> None:
    try:
        said = ROWS[name](fleet, server)
    except CannotRunError as why:
        pytest.skip(str(why))
    assert said
