"""The benchmarks run and end with their figures as JSON; what the figures are is not a test's business."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.gates.power_steering.judging import TOGETHER

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


@pytest.mark.late
def test_the_overhead_benchmark_ends_with_its_figures():
    figures = figures_of("run_overhead", "--exchanges", "2", "--pairs", "1")
    assert {"wall_ratio", "sq_ms_per_iteration", "bare_ms_per_iteration"} <= set(figures)
    assert figures["wall_ratio"] > 0
    assert (figures["exchanges"], figures["pairs"]) == (2, 1)
    assert figures["bare_requests_per_turn"] == figures["sq_requests_per_turn"] == 2
    assert figures["requests_per_turn_saved"] == 1


@pytest.mark.slow
def test_the_start_up_benchmark_ends_with_its_figures():
    figures = figures_of("quick", "--only", "start")
    assert set(figures) == {"help_start_s", "status_start_s"}
    assert all(seconds > 0 for seconds in figures.values())


@pytest.mark.slow
def test_the_question_benchmark_ends_with_its_figures():
    figures = figures_of("question_round_trip", "--questions", "3")
    assert set(figures) == {"median_ms", "p95_ms", "questions"}
    assert 0 < figures["median_ms"] <= figures["p95_ms"]
    assert figures["questions"] == 3


@pytest.mark.late
def test_the_steering_benchmark_ends_with_its_figures():
    small = ["--model-s", "0.05", "--tokens", "2000", "--entries", "200", "--saves", "20"]
    figures = figures_of("power_steering", *small)
    assert set(figures) == {
        *("wall_after_warm_s", "wall_late_begin_s", "billed_token_ratio", "facts_s"),
        *("state_save_ms_median", "state_save_ms_p99", "bare_write_ms_median", "checks", "calls"),
        *("run_wall_s", "run_billed_token_ratio", "run_calls"),
    }
    assert (figures["checks"], figures["calls"], figures["run_calls"]) == (23, 23, -(-23 // TOGETHER))
    assert figures["wall_after_warm_s"] >= 0.05
    assert figures["wall_late_begin_s"] >= 2 * 0.05
    assert 0.05 < figures["run_billed_token_ratio"] < figures["billed_token_ratio"] < 0.5
    assert figures["run_wall_s"] >= 0.05
    assert figures["facts_s"] > 0
    assert figures["bare_write_ms_median"] > 0
    assert 0 < figures["state_save_ms_median"] <= figures["state_save_ms_p99"]


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
    assert figures["words_go_on"] >= 20
    assert figures["words_wrong"] == 0


@pytest.mark.late
def test_the_stop_gate_benchmark_ends_with_its_figures():
    figures = figures_of("stop_gate", "--times", "1", "--model-s", "0.05", "--entries", "200")
    ratios = {"ordinary_ratio", "promise_ratio", "judge_ratio"}
    assert {*ratios, "ordinary_ms", "judge_ms", "judge_slow_model_s", "rss_mb"} <= set(figures)
    assert set(figures) <= {
        *ratios,
        "judge_tls_ratio",
        "no_key_more_ms",
        "ordinary_ms",
        "judge_ms",
        "judge_slow_model_s",
        "rss_mb",
        *(words := {"words_go_on", "words_other", "words_wrong"}),
    }
    assert all(figure > 0 for name, figure in figures.items() if name not in {"no_key_more_ms", *words})
    assert figures["judge_slow_model_s"] >= 0.05


@pytest.mark.slow
def test_the_benchmark_of_many_tasks_ends_with_its_figures():
    small = ["--tasks", "2", "--reply-s", "0.05", "--graphs", "5", "--events", "2000", "--appends", "20"]
    figures = figures_of("parallel", *small)
    assert {"makespan_ratio", "schedule_ratio", "fold_s", "append_growth"} <= set(figures)
    assert (figures["tasks"], figures["graphs"], figures["events"]) == (2, 5, 2000)
    assert 1 <= figures["schedule_ratio"] <= figures["schedule_worst"]
    assert figures["one_s"] >= 5 * 0.05
    assert figures["makespan_ratio"] > 0
    assert 0 < figures["read_s"] <= figures["fold_s"]
    assert figures["append_growth"] > 0


def test_the_benchmark_of_many_tasks_measures_only_what_is_asked_for():
    figures = figures_of("parallel", "--only", "schedule", "--graphs", "3")
    assert set(figures) == {"schedule_ratio", "schedule_worst", "graphs"}


@pytest.mark.slow
def test_runs_leave_no_file_process_or_task_behind_also_when_they_are_cancelled_or_lose_their_cli():
    fates = ["--evaluations", "3", "--cancel-every", "2", "--kill-every", "3"]
    figures = figures_of("leaks", *fates, "--only-disturbed")
    assert set(figures) == {"fds_delta", "children_delta", "tasks_delta", "rss_growth_mb"}
    assert (figures["fds_delta"], figures["children_delta"], figures["tasks_delta"]) == (0, 0, 0)


@pytest.mark.slow
def test_the_benchmark_of_repositories_ends_with_its_figures():
    figures = figures_of("repositories", "--only", "unittest-root")
    assert (figures["skeletons"], figures["runnable"]) == (1, 1)
    assert (figures["found_share"], figures["counted_share"], figures["canary_share"]) == (1.0, 1.0, 1.0)
    assert figures["own_seconds_max"] > 0
