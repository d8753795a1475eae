"""A sample of the matrix of `python -m benchmarks.faults`: each fault and each point is in it."""

from pathlib import Path

import pytest

from benchmarks.faults import FAULTS, FOR_GOOD, ONCE, POINTS, run_cell

# fault, point, how often: what has to become of it
IN_EVERY_TEST_RUN = {
    ("401", "question", ONCE): "failed",
    ("cut inside a tool call", "build", ONCE): "complete",
}
LATE = {
    ("hang after headers", "plan", ONCE): "complete",
    ("CLI killed", "question", ONCE): "complete",
}
SLOW = {
    ("529", "build", FOR_GOOD): "failed",
    ("empty reply", "review", FOR_GOOD): "unverified",
    ("CLI exits silently", "review", ONCE): "complete",
    ("400", "plan", FOR_GOOD): "failed",
    ("403", "review", FOR_GOOD): "failed",
    ("429 with retry-after", "plan", ONCE): "complete",
    ("500", "review", ONCE): "complete",
    ("refused connection", "build", ONCE): "complete",
    ("cut stream", "plan", ONCE): "complete",
    ("hang before headers", "question", FOR_GOOD): "failed",
    ("malformed JSON", "question", ONCE): "complete",
    ("refusal", "build", FOR_GOOD): "failed",
    ("max tokens", "plan", FOR_GOOD): "failed",
    ("unknown tool", "build", FOR_GOOD): "limit",
}
SAMPLE = IN_EVERY_TEST_RUN | LATE | SLOW
CELLS = [
    *(pytest.param(cell, id=", ".join(cell)) for cell in IN_EVERY_TEST_RUN),
    *(pytest.param(cell, id=", ".join(cell), marks=pytest.mark.late) for cell in LATE),
    *(pytest.param(cell, id=", ".join(cell), marks=pytest.mark.slow) for cell in SLOW),
]


def test_each_fault_and_each_point_is_in_the_sample() -> None:
    assert {fault for fault, _, _ in SAMPLE} == set(FAULTS)
    assert {point for _, point, _ in SAMPLE} == set(POINTS)


@pytest.mark.parametrize("cell", CELLS)
def test_a_fault_ends_in_success_after_recovery_or_in_a_named_outcome(
    cell: tuple[str, str, str], tmp_path: Path
) -> None:
    became = run_cell(*cell, tmp_path / "cell")
    assert became.wrong == ""
    assert became.outcome == SAMPLE[cell]
    assert became.recovered == (became.outcome == "complete")
    assert became.cause or became.recovered
