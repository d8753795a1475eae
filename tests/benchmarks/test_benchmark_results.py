"""The benchmarks run and end with their figures as JSON; what the figures are is not a test's business."""

import json
import sys
from pathlib import Path

import pytest
from language import postgres
from language.programs import ran

ROOT = Path(__file__).parents[2]
# Each in its smallest size. Those that have a test of their own below, or stand in `.ci/run`, also as a part of
# `benchmarks.quick --floor`, are not among them.
SMALLEST = {
    "boundary": ["--quick"],
    "faults": ["--only", "500", "--at", "question"],
    "field": ["--case", "all_closed"],
    "fleet_growth": ["--hosts", "2", "--runs", "20", "--look-s", "1"],
    "gateway": [],
    "house": ["--quick"],
    "watching": ["--quick"],
}


def figures_of(name, *arguments):
    done = ran([sys.executable, "-m", f"benchmarks.{name}", *arguments], cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.late
def test_the_overhead_benchmark_ends_with_its_figures():
    figures = figures_of("run_overhead", "--exchanges", "2", "--pairs", "1")
    assert {"wall_ratio", "sq_ms_per_iteration", "bare_ms_per_iteration"} <= set(figures)
    assert figures["wall_ratio"] > 0
    assert (figures["exchanges"], figures["pairs"]) == (2, 1)
    assert figures["bare_requests_per_turn"] == figures["sq_requests_per_turn"] == 2
    assert figures["requests_per_turn_saved"] == 1


@pytest.mark.late
def test_the_start_up_benchmark_ends_with_its_figures():
    figures = figures_of("quick", "--only", "start")
    assert set(figures) == {"help_start_s", "status_start_s"}
    assert all(seconds > 0 for seconds in figures.values())


@pytest.mark.late
def test_of_a_sample_no_lie_is_believed_and_no_honest_work_is_stuck():
    figures = figures_of("lies", "--quick")
    assert (figures["believed"], figures["false_lies"], figures["honest_stuck"]) == (0, 0, 0)
    assert figures["lies"] >= 3
    assert figures["honest_right"] == figures["honest"] >= 1


@pytest.mark.late
def test_an_ordinary_stop_takes_at_most_six_starts_of_python():
    figures = figures_of("stop_gate", "--floor", "--times", "5", "--entries", "500")
    assert figures["ordinary_ratio"] <= figures["most"] == 6
    assert {"promise_ratio", "no_key_more_ms"} < set(figures)


@pytest.mark.late
def test_the_benchmark_of_repositories_ends_with_its_figures():
    figures = figures_of("repositories", "--only", "unittest-root")
    assert (figures["skeletons"], figures["runnable"]) == (1, 1)
    assert (figures["found_share"], figures["counted_share"], figures["canary_share"]) == (1.0, 1.0, 1.0)
    assert figures["own_seconds_max"] > 0


@pytest.mark.late
@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", SMALLEST)
def test_a_benchmark_runs_in_its_smallest_size(name):
    if name == "fleet_growth" and postgres.missing():
        pytest.skip(postgres.missing())
    assert figures_of(name, *SMALLEST[name])


def test_each_benchmark_is_started_by_the_ci():
    starting = (Path(__file__), ROOT / ".ci" / "run", ROOT / "benchmarks" / "quick.py")
    started = "".join(one.read_text("utf-8") for one in starting)
    named = (Path(__file__).with_name("test_gate_bench.py")).read_text("utf-8")
    commands = [
        one for one in (ROOT / "benchmarks").glob("*.py") if '__name__ == "__main__"' in one.read_text()
    ]
    assert len(commands) > 15
    missing = [
        one.stem
        for one in commands
        if f'"{one.stem}"' not in started
        and f"benchmarks.{one.stem} " not in started
        and f'"benchmarks.{one.stem}"' not in named
    ]
    assert missing == []
