"""The boundary, measured: which attacks it holds, and what the sandbox and the gateway cost.

    python -m benchmarks.boundary

Attacks are the tests of `tests/hostile`: a scripted Worker on the real Claude Code tries each row, and so
does sq's verification, in `whole` and, to prove that a row can succeed, with `off`. The places in which it
finds the API key (`key_hits`) are among them, and so are hosts beside the open ones
(`hosts_reached_beside_the_list`: 0 if none is) and dependencies that are added in three languages
(`honest_dependency_added`). Acts against sq outside of the sandbox (`outside_acts`) got nothing, or are
counted by what they did: `outside_got`, `hangs`, `errors_inside_sq`, `left_behind`. `second_set_up_share` is
the time of a second worktree's set-up beside the first one's, the larger of uv and npm. Costs are ratios of
the same session in `whole` and with `off`, in turn: the time from the start of a session to its first
request, and the time of one Bash call. `runs_later_rows` are those of the list of files that programs start
or obey for their name alone, of `runs_later_tools`. Other figures are those of `benchmarks.gateway`,
`benchmarks.gateway_fuzz`, `benchmarks.secrets`, `benchmarks.credentials` and `benchmarks.door`, and the
`door_exchange_ratio` of `benchmarks.run_overhead`. The last line is JSON. Without bubblewrap or socat it says
so and fails.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any
from xml.etree import ElementTree as ET

import anyio

from agents.claude_code.executable import find_cli
from agents.gateway.script import Scenario
from agents.process.containment import Containment, detect_containment
from agents.process.sandbox.choice import Choice, SandboxLevel, choose_sandbox, why_not_whole
from agents.process.sandbox.needs import GatewaySocket
from agents.process.sandbox.policy import SandboxPolicy
from agents.sdks import import_sdks
from agents.session.tools import ITERATION_DONE
from benchmarks.figures import ROOT, figures_of
from benchmarks.rehearsed import calls, clocked_gateway, commit, exchanged, git, reports, scenario_of, working
from orchestrator.project.runs_later import later_files
from state.settings.records import Sandbox

PAIRS = 7
CHOICES = {SandboxLevel.OFF: Choice(level=SandboxLevel.OFF, reason="for comparison")}
ACTS, SHARE = "outside_acts", "second_set_up_share"  # properties of tests
MOST_SHARE = 0.1
MOST = {"first_request_ratio": 1.15, "door_exchange_ratio": 1.05}
LEAST = {
    ACTS: 60,
    "gateway_fuzz": 10_000,
    "runs_later_rows": 120,
    "runs_later_tools": 25,
    "attempts": 200,
    "index_names": 30,
}
CALLS = 10  # of the Bash tool in each session
KEY = "test_key.py::test_in_whole_the_key_is_nowhere_and_the_token_opens_its_own_caller_only"
BESIDE = "test_hosts.py::test_no_act_from_a_sandbox_reaches_anything_beside_reading"
BULK = ("uv", "npm")  # whose shares are measured
WRONG = {  # what a failed test of acts says, the first that it says
    "hangs": "it hangs|TimeoutExpired|Timeout ",
    "errors_inside_sq": "error inside sq, in|Traceback of sq",
    "left_behind": "left behind",
    "outside_got": "",
}
ADDED = "test_hosts.py::test_a_worker_adds_a_dependency_and_the_checks_have_it_without_a_network"


@dataclass(frozen=True, slots=True)
class SessionTiming:
    """Seconds of one session: from its start to its first request, and of one Bash call."""

    first: float
    call: float


def scenario() -> Scenario:
    """A Worker that calls Bash some times and reports."""
    turns = [calls("Bash", command=f"true {number}", description="Check") for number in range(CALLS)]
    return scenario_of({"worker/*": [*turns, reports(ITERATION_DONE, done="All.")]})


async def timed(repository: Path, level: SandboxLevel, number: int) -> SessionTiming:
    """Run one session and return its times."""
    boundary = SandboxPolicy(
        choice=CHOICES[level],
        environ=os.environ,
        own_processes=detect_containment() is not Containment.NAMESPACES,
        programs=(find_cli(), Path(sys.executable)),
    )
    with tempfile.TemporaryDirectory(prefix="sq-") as name:
        folder = Path(name)
        async with clocked_gateway(scenario(), folder) as (gateway, clock):
            gateway.listen_on(folder / "socket")
            socket = GatewaySocket(path=folder / "socket", port=gateway.port)
            about = folder / "run", gateway, repository, "bench", number
            async with working(*about, boundary=boundary, socket=socket) as (_, talk):
                began = time.perf_counter()
                await exchanged(talk, 1, "Work.")
    (served,) = clock.served.values()
    arrived = [one.arrived for one in served]
    gaps = [later - earlier for earlier, later in pairwise(arrived)]
    return SessionTiming(first=arrived[0] - began, call=median(gaps))


def passes(test: str) -> bool:
    """Whether a test of `tests/hostile` passes."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", f"tests/hostile/{test}"]
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


async def costs(repository: Path) -> dict[str, float]:
    """Return the ratios of `whole` to `off`, medians over alternating pairs."""
    firsts, calls = [], []
    for number in range(PAIRS + 1):
        order = (
            (SandboxLevel.OFF, SandboxLevel.WHOLE) if number % 2 else (SandboxLevel.WHOLE, SandboxLevel.OFF)
        )
        times = {level: await timed(repository, level, number + 1) for level in order}
        if number:  # the first pair warms the caches
            firsts.append(times[SandboxLevel.WHOLE].first / times[SandboxLevel.OFF].first)
            calls.append(times[SandboxLevel.WHOLE].call / times[SandboxLevel.OFF].call)
            print(
                f"pair {number}: first request {times[SandboxLevel.OFF].first * 1000:.0f} ms off, "
                f"{times[SandboxLevel.WHOLE].first * 1000:.0f} ms whole; a Bash call "
                f"{times[SandboxLevel.OFF].call * 1000:.0f} and "
                f"{times[SandboxLevel.WHOLE].call * 1000:.0f} ms"
            )
    return {"first_request_ratio": round(median(firsts), 3), "bash_call_ratio": round(median(calls), 3)}


def attacks() -> dict[str, Any]:
    """Run the hostile rows and return how many there are and were held, and what came of the acts outside."""
    with tempfile.TemporaryDirectory(prefix="sq-") as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-m", "hostile", f"--junit-xml={report}"]
        subprocess.run([*command, "tests/hostile"], cwd=ROOT, check=False)
        cases = list(ET.parse(report).getroot().iter("testcase"))  # noqa: S314  our own file
    tried = [case for case in cases if case.find("skipped") is None]
    lost = [case for case in tried if case.find("failure") is not None or case.find("error") is not None]
    outside = [case for case in tried if case.find(f".//property[@name='{ACTS}']") is not None]
    wrong = ["".join(case.itertext()) for case in lost if case in outside]
    kinds = [next((name for name, said in WRONG.items() if re.search(said, text)), "") for text in wrong]
    acts, shares = (
        [
            float(one.get("value", ""))
            for case in tried
            for one in case.iterfind(f".//property[@name='{name}']")
        ]
        for name in (ACTS, SHARE)
    )
    return {
        "hostile_rows": len(tried),
        "hostile_held": len(tried) - len(lost),
        ACTS: int(sum(acts)),
        **{name: kinds.count(name) for name in WRONG},
        SHARE: max(shares) if len(shares) == len(BULK) else None,
    }


def runs_later_figures() -> dict[str, int]:
    """Return how long the list of files that run later is."""
    rows = [row.file for row in later_files()]
    return {"runs_later_rows": len(rows), "runs_later_tools": len({row.tool for row in rows})}


def main() -> None:
    """Print the figures, and as the last line all of them as JSON."""
    if why := why_not_whole(detect_containment(), os.environ):
        sys.exit(f"the boundary cannot be measured here: {why}")
    import_sdks()
    CHOICES[SandboxLevel.WHOLE] = choose_sandbox(
        Sandbox.WHOLE, containment=detect_containment(), login=False, environ=os.environ
    )
    with tempfile.TemporaryDirectory(prefix="sq-") as folder:
        repository, workspace = Path(folder) / "repository", Path(folder) / "workspace"
        commit(repository)
        git(repository, "worktree", "add", "--quiet", str(workspace))
        figures: dict[str, Any] = anyio.run(costs, workspace)
    figures |= attacks()
    figures["key_hits"] = int(not passes(KEY))
    figures["hosts_reached_beside_the_list"] = int(not passes(BESIDE))
    figures["honest_dependency_added"] = passes(ADDED)
    reached = figures["hostile_held"] == figures["hostile_rows"] and figures["honest_dependency_added"]
    reached = reached and not (figures["key_hits"] or figures["hosts_reached_beside_the_list"])
    figures |= runs_later_figures()
    for module in ("gateway", "secrets", "gateway_fuzz", "credentials", "door"):
        found, well = figures_of(module)
        figures |= found
        reached = reached and well
    overhead, _ = figures_of("run_overhead")  # its other goals are not those of the boundary
    figures["door_exchange_ratio"] = overhead["door_exchange_ratio"]
    reached = reached and all(figures[name] >= least for name, least in LEAST.items())
    reached = reached and all(figures[name] <= most for name, most in MOST.items())
    reached = reached and not any(figures[name] for name in WRONG) and (figures[SHARE] or 1) <= MOST_SHARE
    print(json.dumps(figures))
    if not reached:
        sys.exit(1)


if __name__ == "__main__":
    main()
