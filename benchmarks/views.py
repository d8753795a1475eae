"""Measures what watching a run costs, and how soon a reader sees what happened.

    python -m benchmarks.views

Everything is the real thing: journals on disk, `sq dash`, `sq watch` and `sq report` as processes, a headless
Chromium, and another process that writes the journal as a run does. The journals are invented: twelve tasks
in every state, and one of 100,000 events of which 19 of 20 are messages.

`overview_s` is the time from a request for a run's page, which the server has never read, until its table of
tasks is there. `commit_to_dom_p95_ms` and `commit_to_terminal_p95_ms` are from a stored event until the
browser's DOM or the terminal's output holds its line, at one event a second and at a hundred, the worse of
both. `page_kb_gz` is everything that the page loads, `report_kb_gz` the report of twelve tasks, both
compressed. `report_s` is the whole process `sq report` at 100,000 events. `dom_nodes` and `heap_growth_mb`
are of a page that was open while 100,000 events came in. `watchers_cpu_share` is the CPU time of a rehearsed
run's process with eight watchers (four pages, two terminals, two logs), divided by that without: the median
of alternating pairs. `live_equals_fresh`: after the server was killed and started again, the page is as one
that was opened just then. `hostile_texts_acting` counts things that happened in the page or in the report,
such as dialogs, requests and elements, that only one of 10,000 hostile texts can have caused.

The last line is JSON. Needs Chromium (`apt-get install chromium-headless-shell`) and the environment of the
tests.
"""

import json
import sys
import tempfile
from pathlib import Path

import click

from benchmarks.view_browser import in_browser
from benchmarks.view_processes import made_run, report_figures, terminal_latencies
from benchmarks.view_watchers import cpu_share

GOALS = {
    "overview_s": 1.0,
    "commit_to_dom_p95_ms": 250,
    "commit_to_terminal_p95_ms": 150,
    "page_kb_gz": 60,
    "report_kb_gz": 300,
    "report_s": 3,
    "dom_nodes": 5000,
    "heap_growth_mb": 5,
    "watchers_cpu_share": 1.05,
    "foreign_requests": 0,
    "axe_violations": 0,
    "hostile_texts_acting": 0,
}


@click.command()
@click.option("--events", default=100_000, show_default=True, help="Events of the long run.")
@click.option("--pairs", default=15, show_default=True, help="Pairs of runs with and without watchers.")
@click.option("--texts", default=10_000, show_default=True, help="Hostile texts.")
def main(events: int, pairs: int, texts: int) -> None:
    """Measure the page, the terminal and the report."""
    figures: dict[str, object] = {}
    with tempfile.TemporaryDirectory(prefix="sq-views-") as folder:
        place = Path(folder)
        long, twelve = made_run(place / "long", events=events), made_run(place / "twelve", ended=True)
        for part in (
            lambda: report_figures(long, twelve),
            lambda: {"commit_to_terminal_p95_ms": terminal_latencies(place / "terminal")},
            lambda: in_browser(place, long, twelve, events=events, texts=texts),
            lambda: {"watchers_cpu_share": cpu_share(place / "watched", pairs)},
        ):
            for name, value in part().items():
                figures[name] = value
                sys.stdout.write(f"{name:<28} {value!s:>10}  {_goal(name, value)}\n")
                sys.stdout.flush()
    sys.stdout.write(f"{json.dumps(figures)}\n")


def _goal(name: str, value: object) -> str:
    if name not in GOALS or not isinstance(value, int | float):
        return ""
    return f"goal ≤ {GOALS[name]}: {'reached' if value <= GOALS[name] else 'missed'}"


if __name__ == "__main__":
    main()
