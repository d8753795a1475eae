"""How long it takes to save a session's state, beside a bare `open` and `write` of the same bytes.

    python -m benchmarks.state_save

Both write changing data of the same size, in turn, in one folder; sq's side is `SteeringStore.count_block`:
lock, read, temporary file, fsync, read back, replace, fsync of the folder, and the entry in the log. The last
line is JSON, in milliseconds.
"""

import json
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

import click

from state.steering import SteeringStore
from state.steering_state import CheckResults


@click.command()
@click.option("--times", default=1000, show_default=True, help="Saves of each side.")
@click.option(
    "--folder", type=click.Path(path_type=Path, file_okay=False, exists=True), help="Where to write."
)
def main(times: int, folder: Path | None) -> None:
    """Measure saving a state."""
    with tempfile.TemporaryDirectory(prefix="sq-bench-", dir=folder) as name:
        _report(_measure(Path(name), times))


def _measure(folder: Path, times: int) -> dict[str, list[float]]:
    """The milliseconds of each save."""
    store = SteeringStore(folder, "benchmark", environ={})
    files = tuple(f"package/module_{number}.py" for number in range(20))
    store.record_check(
        CheckResults(files_modified=files, workflow_compliant=True, quality_score=85), ["tests", "workflow"]
    )
    found: dict[str, list[float]] = {"saved": [], "bare": []}
    for number in range(times):
        began = time.perf_counter()
        saved = store.count_block(f"prompt {number}")
        found["saved"].append(1000 * (time.perf_counter() - began))
        if not saved.stored or saved.code:
            raise click.ClickException(f"a state was not saved, so nothing was measured: {saved.error}")
        data = store.file.read_bytes()
        began = time.perf_counter()
        with (folder / "bare.json").open("wb") as file:
            file.write(data)
        found["bare"].append(1000 * (time.perf_counter() - began))
    return found


def _report(found: dict[str, list[float]]) -> None:
    print(f"{'':<22} {'median':>8} {'p99':>8} {'most':>8}   (ms, {len(found['saved'])} saves)")
    for name, title in {"saved": "state saved", "bare": "bare open and write"}.items():
        spans = found[name]
        print(f"{title:<22} {median(spans):8.3f} {_p99(spans):8.3f} {max(spans):8.3f}")
    result = {
        "state_save_ms_median": round(median(found["saved"]), 4),
        "state_save_ms_p99": round(_p99(found["saved"]), 4),
        "bare_ms_median": round(median(found["bare"]), 4),
    }
    print(json.dumps(result))


def _p99(spans: list[float]) -> float:
    return quantiles(spans, n=100)[-1] if len(spans) > 1 else spans[0]


if __name__ == "__main__":
    main()
