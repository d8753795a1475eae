"""Measures how long `sq --help` and `sq status` take from start to end.

    python -m benchmarks.start_up

Each is a fresh process, as `bin/sq` starts it, in a repository with one finished run (that of `sq demo`). The
two take turns. The last line is JSON: the medians in seconds.
"""

import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import click

from benchmarks.figures import print_figures, print_spans
from benchmarks.rehearsed import SQ, own_home

COMMANDS = {"help_s": ["--help"], "status_s": ["status"]}


@click.command()
@click.option("--times", default=10, show_default=True, help="Fresh processes of each command.")
def main(times: int) -> None:
    """Measure how quickly sq starts."""
    with own_home() as folder:
        _sq(["demo", "--plain", "--keep-in", str(folder / "demo")], folder)
        spans: dict[str, list[float]] = {name: [] for name in COMMANDS}
        for _ in range(times):
            for name, arguments in COMMANDS.items():
                began = time.perf_counter()
                _sq(arguments, folder / "demo")
                spans[name].append(time.perf_counter() - began)
    print_spans(
        {f"sq {' '.join(COMMANDS[name])}": [1000 * one for one in ones] for name, ones in spans.items()}
    )
    print_figures({name: round(median(found), 4) for name, found in spans.items()})


def _sq(arguments: list[str], folder: Path) -> None:
    """Run sq to its end. A failed run is an error, not a measurement."""
    done = subprocess.run(
        [*SQ, *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if done.returncode:
        sys.exit(f"sq {' '.join(arguments)} failed: {done.stderr.decode(errors='replace')}")


if __name__ == "__main__":
    main()
