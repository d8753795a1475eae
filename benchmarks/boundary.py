"""The boundary, measured: which attacks it holds, and what the sandbox and the gateway cost.

    python -m benchmarks.boundary
    python -m benchmarks.boundary --quick    # a pair, a sample of the attacks, no goals

Attacks are the tests of `tests/hostile`: a scripted Worker on the real Claude Code tries each row, and so
does sq's verification, in `whole` and, to prove that a row can succeed, with `off`. The places in which it
finds the API key (`key_hits`) are among them, and so are hosts beside the open ones
(`hosts_reached_beside_the_list`: 0 if none is) and dependencies that are added in three languages
(`honest_dependency_added`). Acts against sq outside of the sandbox (`outside_acts`) got nothing, or are
counted by what they did: `outside_got`, `hangs`, `errors_inside_sq`, `left_behind`. `second_set_up_share` is
the time of a second worktree's set-up beside the first one's, the larger of uv and npm. Costs are ratios of
the same session in `whole` and with `off`, in turn: the time from the start of a session to its first
request, and the time of one Bash call. `runs_later_rows` are those of the list of files that programs start
or obey for their name alone, of `runs_later_tools`. Of a registry's paths (`credential_paths`) and of hosts
(`token_hosts`) those are refused which get no credentials or token, by the tests of each row, and
`…_honest` says whether those get theirs to which they belong. `gateway_fuzz` changed requests went through
the gateway: `gateway_leaks` arrived and are forbidden, `gateway_errors` are errors of sq, and
`honest_refused` were refused though they are as Claude Code's. `secret_hits` are forms of secrets in what sq
stores and shows of a Worker that leaks all that it can read, `redacted_honest` texts of this repository's
history that pass for a token, and `store_ratio` is the time of storing 10,000 events of 2 kB by that with one
alternation of ten secrets. Other figures are those of `benchmarks.gateway` and `benchmarks.door`, and the
`door_exchange_ratio` of `benchmarks.run_overhead`. The last line is JSON. Without bubblewrap or socat it says
so and fails.
"""

import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
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
from benchmarks.figures import ROOT, figures_of, of_tests
from benchmarks.rehearsed import calls, clocked_gateway, commit, exchanged, git, reports, scenario_of, working
from orchestrator.project.runs_later import later_files
from state.journal.events import MessageReceived
from state.journal.store import Journal
from state.records.calls import Message, MessageKind
from state.redaction.known import Known, in_json
from state.redaction.redactor import redactor
from state.settings.records import Sandbox

PAIRS = 7
CHOICES = {SandboxLevel.OFF: Choice(level=SandboxLevel.OFF, reason="for comparison")}
ACTS, SHARE = "outside_acts", "second_set_up_share"  # properties of tests
MOST_SHARE = 0.1
MOST = {
    "first_request_ratio": 1.15,
    "door_exchange_ratio": 1.05,
    "store_ratio": 1.2,
    "secret_hits": 0,
    "redacted_honest": 0,
    "gateway_leaks": 0,
    "gateway_errors": 0,
    "honest_refused": 0,
}
LEAST = {
    ACTS: 60,
    "gateway_fuzz": 10_000,
    "runs_later_rows": 120,
    "runs_later_tools": 25,
    "attempts": 200,
    "index_names": 30,
    "credential_paths": 40,
    "token_hosts": 20,
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
# A figure, the file of its tests, and those of what gets nothing and of what gets its own.
REFUSED = (
    (
        "credential_paths",
        "agents/gateway/hosts/test_credentials.py",
        ("test_no_other_path_goes_out_with_the_credentials",),
        "test_what_the_client_of_an_ecosystem_asks_for_goes_out_with_the_credentials",
    ),
    (
        "token_hosts",
        "orchestrator/hosting/test_names_on_a_service.py",
        (
            "test_no_token_goes_to_a_host_that_it_does_not_belong_to",
            "test_a_push_that_git_would_send_elsewhere_is_refused",
        ),
        "test_a_token_goes_to_the_host_that_it_belongs_to",
    ),
)
FUZZ = 10_000
EVENTS, ROUNDS, SIZE = 10_000, 10, 2_000  # stored, in so many turns, of so many characters
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
    sandbox_policy = SandboxPolicy(
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
            async with working(*about, sandbox_policy=sandbox_policy, socket=socket) as (_, talk):
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


async def costs(repository: Path, pairs: int) -> dict[str, float]:
    """Return the ratios of `whole` to `off`, medians over alternating pairs."""
    firsts, calls = [], []
    for number in range(pairs + 1):
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


def tried_of(*tests: str) -> list[ET.Element]:
    """Run tests and return those that were not skipped."""
    with tempfile.TemporaryDirectory(prefix="sq-") as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", f"--junit-xml={report}", *tests]
        subprocess.run(command, cwd=ROOT, check=False)
        cases = ET.parse(report).getroot().iter("testcase")  # noqa: S314  our own file
        return [case for case in cases if case.find("skipped") is None]


def is_lost(case: ET.Element) -> bool:
    """Whether a test has failed."""
    return case.find("failure") is not None or case.find("error") is not None


def refused(name: str, file: str, nothing: tuple[str, ...], own: str) -> dict[str, Any]:
    """Return the rows that must get nothing, those that got nothing, and whether all others got theirs."""
    cases = [(case.get("name", "").partition("[")[0], is_lost(case)) for case in tried_of(f"tests/{file}")]
    rows = [lost for test, lost in cases if test in nothing]
    honest = [lost for test, lost in cases if test == own]
    whole = {name: len(rows), f"{name}_refused": rows.count(False)}
    return {**whole, f"{name}_honest": bool(honest) and not any(honest)}


def from_the_tests(times: int) -> dict[str, Any]:
    """Return the figures of changed requests and of secrets, which are the tests' own in a larger number."""
    found = anyio.run(of_tests("language.changed_requests").fuzz, times, 1)
    leaking = of_tests("language.leaking")
    with tempfile.TemporaryDirectory() as name:
        hits = leaking.leaks_of(Path(name))
    honest = list(leaking.replaced_in(ROOT))
    for line in (*found.leaks[:10], *found.errors[:10], *found.refused[:10], *hits, *honest):
        print(line[:600])
    return {
        "gateway_fuzz": times,
        "gateway_leaks": len(found.leaks),
        "gateway_errors": len(found.errors),
        "honest_refused": len(found.refused),
        "secret_hits": len(hits),
        "redacted_honest": len(honest),
    }


def store_ratio() -> float:
    """Return the time of storing events with sq's redactor by that with a plain alternation."""
    environ = {f"SERVICE_{number}_TOKEN": secrets.token_urlsafe(30) for number in range(10)}
    files = [Known(f"a file {number}", secrets.token_urlsafe(30)) for number in range(20)]
    plain = re.compile("|".join(re.escape(one) for value in environ.values() for one in in_json(value)))
    ways: list[Callable[[str], str]] = [lambda text: plain.sub("[redacted]", text), redactor(environ, files)]
    times: list[list[float]] = [[], []]
    for number in range(ROUNDS):
        for way in (0, 1) if number % 2 else (1, 0):
            times[way].append(stored_s(ways[way]))
    return round(median(times[1]) / median(times[0]), 3)


def stored_s(redact: Callable[[str], str]) -> float:
    """Return the seconds for storing the events of a turn, each by itself."""
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    texts = [text[at : at + SIZE] for at in range(0, 10 * SIZE, SIZE)]
    events = [
        MessageReceived(call_id="c-1", message=Message(kind=MessageKind.TEXT, text=one)) for one in texts
    ]
    with tempfile.TemporaryDirectory() as name, Journal(Path(name), redact=redact) as journal:
        began = time.perf_counter()
        for number in range(EVENTS // ROUNDS):
            journal.append(events[number % len(events)])
        return time.perf_counter() - began


def attacks(*tests: str) -> dict[str, Any]:
    """Run the hostile rows and return how many there are and were held, and what came of the acts outside."""
    tried = tried_of("-m", "hostile", *tests)
    lost = [case for case in tried if is_lost(case)]
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
    quick = "--quick" in sys.argv
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
        figures: dict[str, Any] = anyio.run(costs, workspace, 1 if quick else PAIRS)
    if quick:
        figures |= attacks("tests/hostile/test_sample.py") | from_the_tests(100) | runs_later_figures()
        print(json.dumps(figures))
        return
    figures |= attacks("tests/hostile")
    figures["key_hits"] = int(not passes(KEY))
    figures["hosts_reached_beside_the_list"] = int(not passes(BESIDE))
    figures["honest_dependency_added"] = passes(ADDED)
    reached = figures["hostile_held"] == figures["hostile_rows"] and figures["honest_dependency_added"]
    reached = reached and not (figures["key_hits"] or figures["hosts_reached_beside_the_list"])
    figures |= runs_later_figures()
    figures |= from_the_tests(FUZZ) | {"store_ratio": store_ratio()}
    for row in REFUSED:
        figures |= refused(*row)
        name, *_ = row
        reached = reached and figures[name] == figures[f"{name}_refused"] and figures[f"{name}_honest"]
    for module in ("gateway", "door"):
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
