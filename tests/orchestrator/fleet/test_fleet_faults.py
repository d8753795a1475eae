"""What goes wrong in a fleet. Two rows in the suite, all with `bin/test --slow` and in `python -m benchmarks.fleet`."""

import pytest
from language.fleet_faults import ROWS, CannotRunError
from language.fleets import FleetHere
from language.postgres import PostgresServer

SAMPLE = {"push_cut_off", "cancelled_while_it_works"}


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=() if one in SAMPLE else pytest.mark.slow) for one in ROWS]
)
def test_a_fault_has_the_outcome_of_its_row(fleet: FleetHere, server: PostgresServer, name: str) -> None:
    try:
        said = ROWS[name](fleet, server)
    except CannotRunError as why:
        pytest.skip(str(why))
    assert said
