"""The runs of all hosts in one state folder here, as far as their workers have pushed them."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import structlog

from orchestrator.cli.fleet.opened import Fleet, opened

log = structlog.get_logger(__name__)
_LOOK_S = 5.0
_NEWEST = 50  # runs that have ended


@contextmanager
def followed_runs() -> Iterator[Path]:
    """Provide a state folder with the runs of the fleet, which is kept up to date meanwhile."""
    with opened() as fleet, TemporaryDirectory(prefix="sq-fleet-") as temporary:
        folder, over, ended = Path(temporary), threading.Event(), set[str]()
        (folder / "runs").mkdir()
        _bring(fleet, folder, ended)

        def follow() -> None:
            while not over.wait(_LOOK_S):
                _bring(fleet, folder, ended)

        thread = threading.Thread(target=follow, name="fleet", daemon=True)
        thread.start()
        try:
            yield folder
        finally:
            over.set()
            thread.join()


def _bring(fleet: Fleet, folder: Path, ended: set[str]) -> None:
    """Fetch what is new. A server that does not answer is asked again the next time."""
    from orchestrator.fleet.checkpoint import fetched

    try:
        units = [one for one in fleet.engine.units() if one.id not in ended]
    except Exception as error:  # noqa: BLE001  the page goes on with what it has
        log.warning("fleet.not_followed", error=str(error))
        return
    over = [one for one in units if one.exit_code is not None]
    for unit in reversed([one for one in units if one not in over[:-_NEWEST]]):
        try:
            fetched(unit, folder)
            if unit.exit_code is not None:
                ended.add(unit.id)
        except Exception as error:  # noqa: BLE001  its server is away, or its checkpoint is damaged
            log.warning("fleet.not_followed", id=unit.id, error=str(error))
