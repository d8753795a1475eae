"""What benchmarks share: modules of the tests, a server, and what they print: figures and, last, JSON."""

import json
import math
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from math import comb
from pathlib import Path
from statistics import median
from threading import Thread
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def of_tests(name: str) -> Any:  # noqa: ANN401  the tests' language has no types
    """Return a module of the tests, such as `language.terminal`."""
    if (tests := str(ROOT / "tests")) not in sys.path:
        sys.path.append(tests)
    return import_module(name)


@contextmanager
def served(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve requests on loopback, each in a thread. Yields the address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def percentile(values: Sequence[float], percent: int) -> float:
    """Return the least value that so many percent of the values do not exceed. NaN if there are none."""
    return sorted(values)[max(0, -(-len(values) * percent // 100) - 1)] if values else math.nan


def print_spans(spans: Mapping[str, Sequence[float]]) -> None:
    """Print the spread of each kind of span, in milliseconds."""
    print(f"{'ms':<31} {'median':>8} {'least':>8} {'95 %':>8} {'most':>8}")
    for name, ms in spans.items():
        numbers = (median(ms), min(ms), percentile(ms, 95), max(ms))
        print(f"{name:<31} {' '.join(f'{number:8.3f}' for number in numbers)}")


def print_figures(figures: Mapping[str, object], goals: Mapping[str, float] | None = None) -> None:
    """Print the figures as a table, each with its goal if it has one, and as the last line all as JSON."""
    for name, value in figures.items():
        goal = (goals or {}).get(name)
        reached = isinstance(value, int | float) and goal is not None and value <= goal
        said = "" if goal is None else f"  goal ≤ {goal:g}: {'reached' if reached else 'missed'}"
        print(f"{name:<28} {value!s:>10}{said}")
    print(json.dumps(figures))


def bounds(count: int, of: int) -> list[float]:
    """Return the exact bounds of 95 % (Clopper and Pearson) of a share, by halving."""

    def at_most(share: float) -> float:  # the chance of so few or fewer
        return sum(comb(of, one) * share**one * (1 - share) ** (of - one) for one in range(count + 1))

    def at_least(share: float) -> float:
        return 1 - sum(comb(of, one) * share**one * (1 - share) ** (of - one) for one in range(count))

    low, high = 0.0, 1.0
    left, right = (0.0, 0.0) if count == 0 else (low, high), (1.0, 1.0) if count == of else (low, high)
    for _ in range(50):
        middle = sum(left) / 2
        left = (middle, left[1]) if at_least(middle) < 0.025 else (left[0], middle)  # noqa: PLR2004
        middle = sum(right) / 2
        right = (middle, right[1]) if at_most(middle) > 0.025 else (right[0], middle)  # noqa: PLR2004
    return [round(left[0], 4), round(right[1], 4)]


def figures_of(module: str, *arguments: str) -> tuple[dict[str, Any], bool]:
    """Return the last line of another benchmark, and whether it reached its goals."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines()
    if not lines or not lines[-1].startswith("{"):
        sys.exit(f"benchmarks.{module} failed:\n{done.stdout}{done.stderr}")
    print(f"{module}: {lines[-1]}" + (" (a goal is missed)" if done.returncode else ""))
    return json.loads(lines[-1]), done.returncode == 0
