"""The benchmarks run and end with their figures as JSON; what the figures are is not a test's business."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def figures_of(name, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_overhead_benchmark_ends_with_its_figures():
    figures = figures_of("run_overhead", "--exchanges", "2", "--pairs", "1")
    assert {"wall_ratio", "sq_ms_per_iteration", "bare_ms_per_iteration"} <= set(figures)
    assert figures["wall_ratio"] > 0
    assert (figures["exchanges"], figures["pairs"]) == (2, 1)


def test_the_start_up_benchmark_ends_with_its_figures():
    figures = figures_of("start_up", "--times", "1")
    assert set(figures) == {"help_s", "status_s"}
    assert all(seconds > 0 for seconds in figures.values())
