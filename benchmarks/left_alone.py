"""What a run needs that nobody watches: each part measures figures of its own, on rehearsed runs.

`python -m benchmarks.left_alone` prints the figures of all parts and their goals, `--quick` fewer runs, and
`--only PART` one part. A part is a function that takes whether it is quick and returns its figures. It is
added with one line in `PARTS`, and its goals with one line each in `AT_LEAST` or `AT_MOST`.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping

from benchmarks.rehearsed import own_home

Figures = Mapping[str, float]

PARTS: dict[str, Callable[[bool], Figures]] = {}
AT_LEAST: dict[str, float] = {}
AT_MOST: dict[str, float] = {}


def measured(parts: Mapping[str, Callable[[bool], Figures]], *, quick: bool) -> dict[str, float]:
    """Return the figures of these parts, each of which has a home of its own."""
    figures: dict[str, float] = {}
    for part in parts.values():
        with own_home():
            figures |= part(quick)
    return figures


def missed(figures: Figures) -> list[str]:
    """Return the names of the figures that miss their goals."""
    low = [name for name, goal in AT_LEAST.items() if name in figures and figures[name] < goal]
    return low + [name for name, goal in AT_MOST.items() if name in figures and figures[name] > goal]


def main() -> None:
    """Measure, print each figure with its goal, and end with code 1 if a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.left_alone")
    parser.add_argument("--quick", action="store_true", help="fewer runs, in less than a minute")
    parser.add_argument("--only", choices=sorted(PARTS), action="append", help="this part alone. Repeatable")
    given = parser.parse_args()
    chosen = {name: part for name, part in PARTS.items() if name in (given.only or PARTS)}
    figures = measured(chosen, quick=given.quick)
    for name, value in figures.items():
        goal = f"  goal ≥ {AT_LEAST[name]:g}" if name in AT_LEAST else ""
        goal = f"  goal ≤ {AT_MOST[name]:g}" if name in AT_MOST else goal
        print(f"{name:<28} {value:>10.3f}{goal}{': missed' if name in missed(figures) else ''}")
    print(json.dumps(figures))
    sys.exit(bool(missed(figures)))


if __name__ == "__main__":
    main()
