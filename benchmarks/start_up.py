"""Measures how long `sq --help` and `sq status` take from start to end.

    python -m benchmarks.start_up

Each is a fresh process, as `bin/sq` starts it, in a repository with one finished run (that of `sq demo`). The
two take turns. The last line is JSON: the medians in seconds.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import click

SQ = [sys.executable, "-I", "-m", "orchestrator.cli"]  # as bin/sq does
COMMANDS = {"help_s": ["--help"], "status_s": ["status"]}


@click.command()
@click.option("--times", default=10, show_default=True, help="Fresh processes of each command.")
def main(times: int) -> None:
    """Measure how quickly sq starts."""
    with tempfile.TemporaryDirectory(prefix="sq-bench-") as folder:
        repository = Path(folder) / "demo"
        environ = {**os.environ, "HOME": folder}
        _sq(["demo", "--plain", "--keep-in", str(repository)], Path(folder), environ)
        spans: dict[str, list[float]] = {name: [] for name in COMMANDS}
        for _ in range(times):
            for name, arguments in COMMANDS.items():
                began = time.perf_counter()
                _sq(arguments, repository, environ)
                spans[name].append(time.perf_counter() - began)
    _report(spans)


def _sq(arguments: list[str], folder: Path, environ: dict[str, str]) -> None:
    """Run sq to its end. A failed run is an error, not a measurement."""
    done = subprocess.run(
        [*SQ, *arguments], cwd=folder, env=environ, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if done.returncode:
        sys.exit(f"sq {' '.join(arguments)} failed: {done.stderr.decode(errors='replace')}")


def _report(spans: dict[str, list[float]]) -> None:
    print(f"{'command':<12} {'median':>8} {'least':>8} {'most':>8}   (seconds)")
    for name, found in spans.items():
        command = f"sq {' '.join(COMMANDS[name])}"
        print(f"{command:<12} {median(found):8.3f} {min(found):8.3f} {max(found):8.3f}")
    print(json.dumps({name: round(median(found), 4) for name, found in spans.items()}))


if __name__ == "__main__":
    main()
