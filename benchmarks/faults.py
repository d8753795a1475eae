"""Runs with every fault of the model, the API or a process, at every point.

    python -m benchmarks.faults [--only FAULT] [--at POINT]

Each row is a rehearsed run on the real CLI (`benchmarks.fault_cells`). `once`: the fault happens once. `for
good`: it stays. The last line is JSON: the numbers of runs, of completed ones, of ones that ended with a
named cause, and the errors.
"""

import json
import multiprocessing
import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import click

from benchmarks.fault_cells import FAULTS, POINTS, Cell, run_cell

_CAUSE_SHOWN = 90


@click.command()
@click.option("--only", "faults", multiple=True, type=click.Choice(list(FAULTS)), help="These faults alone.")
@click.option("--at", "points", multiple=True, type=click.Choice(list(POINTS)), help="These points alone.")
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True, help="Runs side by side.")
def main(faults: tuple[str, ...], points: tuple[str, ...], jobs: int) -> None:
    """Run the matrix, print a row for each cell, and the figures as JSON."""
    wanted = [
        (fault, point, variant)
        for fault in faults or FAULTS
        for point in points or POINTS
        for variant in FAULTS[fault].variants
    ]
    with tempfile.TemporaryDirectory(prefix="sq-faults-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary)
        os.environ["HOME"] = os.environ["CLAUDE_CONFIG_DIR"] = temporary
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "ANTHROPIC_API_KEY"):
            os.environ.pop(name, None)
        cells = _run_all(wanted, folder, jobs)
    _report(cells)
    sys.exit(any(cell.wrong for cell in cells))


def _run_all(wanted: list[tuple[str, str, str]], folder: Path, jobs: int) -> list[Cell]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        futures = {
            pool.submit(run_cell, *cell, folder / str(number)): number for number, cell in enumerate(wanted)
        }
        done: dict[int, Cell] = {}
        for future in as_completed(futures):
            done[futures[future]] = future.result()
            click.echo(_row(done[futures[future]]))
    return [done[number] for number in range(len(wanted))]


def _row(cell: Cell) -> str:
    what = "complete after recovery" if cell.recovered else cell.outcome
    cause = cell.cause.replace("\n", " ")
    said = f"WRONG: {cell.wrong}" if cell.wrong else cause[:_CAUSE_SHOWN]
    return f"{cell.fault:24} {cell.point:9} {cell.variant:9} {what:24} {cell.seconds:5.1f} s  {said}"


def _report(cells: list[Cell]) -> None:
    result = {
        "cells": len(cells),
        "complete": sum(cell.outcome == "complete" for cell in cells),
        "named": sum(cell.outcome != "complete" and bool(cell.cause) for cell in cells),
        "wrong": [f"{one.fault}, {one.point}, {one.variant}: {one.wrong}" for one in cells if one.wrong],
        "slowest_s": round(max(cell.seconds for cell in cells), 1),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
