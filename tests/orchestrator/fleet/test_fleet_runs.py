"""Whole runs of a fleet: real workers, a real database, a git server. The model alone is scripted."""

import signal

import pytest
from language.fleets import FleetHere, scenario

from orchestrator.fleet.records import UnitState
from orchestrator.fleet.transport import journal_ref
from state.outcome import Outcome


@pytest.mark.late
def test_a_submission_is_worked_on_and_its_work_is_pushed_to_its_own_branch(local: FleetHere) -> None:
    id_ = local.submit(scenario())
    worker = local.worker("one", "--drain")

    assert worker.process.wait(60) == 0
    report = local.unit(id_).report
    assert report is not None
    assert (report.outcome, report.problem) == (Outcome.COMPLETE, "")
    assert local.branches() == {f"refs/heads/sq/{report.run}": report.commit}
    assert {one.ref for one in local.pushes() if one.worker == "one"} == {
        journal_ref(id_),
        f"refs/heads/sq/{report.run}",
    }


@pytest.mark.late
def test_a_run_whose_worker_is_killed_goes_on_at_another_one(fleet: FleetHere) -> None:
    id_ = fleet.submit(scenario(work_s=4))
    first = fleet.worker("first")
    fleet.until_phase(id_, "working")
    fleet.until(lambda: fleet.ledger.progress([id_])[id_].run)
    second = fleet.worker("second")
    fleet.until(lambda: len(fleet.ledger.workers()) == 2)
    first.kill()

    took = fleet.until_phase(id_, "fetching", "working", worker="second", within_s=20)
    (unit,) = fleet.until_ended(id_)

    assert unit.report is not None
    assert unit.report.outcome is Outcome.COMPLETE, unit.report
    assert len(fleet.branches()) == 1
    assert took < 10
    assert second.end() == 0
    assert fleet.ledger.progress([id_])[id_].claims == 2


@pytest.mark.late
def test_a_worker_that_is_asked_to_end_gives_its_run_back_where_it_was(fleet: FleetHere) -> None:
    id_ = fleet.submit(scenario(work_s=5))
    first = fleet.worker("first")
    fleet.until(lambda: fleet.ledger.progress([id_]).get(id_) and fleet.ledger.progress([id_])[id_].run)

    assert first.end(signal.SIGTERM, within_s=60) == 0
    assert fleet.unit(id_).state is UnitState.QUEUED
    run = fleet.ledger.progress([id_])[id_].run
    fleet.worker("second")
    (unit,) = fleet.until_ended(id_)

    assert unit.report is not None
    assert (unit.report.outcome, unit.report.run) == (Outcome.COMPLETE, run)
    assert fleet.ledger.progress([id_])[id_].deaths == 0
