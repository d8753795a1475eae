"""A database for each kind of test, and a fleet on it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from language.fleets import FleetHere
from language.postgres import PostgresServer, missing, postgres


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    """A PostgreSQL server for all tests of one process."""
    if why := missing():
        pytest.skip(why)
    with postgres() as made:
        yield made


@pytest.fixture
def database(server: PostgresServer, request: pytest.FixtureRequest) -> str:
    """An empty database of that server."""
    return server.new_database(f"t{abs(hash(request.node.nodeid)):x}")


@pytest.fixture
def fleet(database: str, tmp_path: Path) -> Iterator[FleetHere]:
    """A fleet on PostgreSQL."""
    with FleetHere(folder=tmp_path, url=database) as made:
        yield made


@pytest.fixture
def local(tmp_path: Path) -> Iterator[FleetHere]:
    """A fleet on a file of SQLite."""
    with FleetHere(folder=tmp_path, url=f"sqlite:///{tmp_path}/fleet.db") as made:
        yield made
