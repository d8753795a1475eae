"""`kill -9` right after each stored transaction of a run that owes notices: each is sent once, over all processes.

Where a notice was under way at the kill, it may be lost with it, and the story then says so. It never comes twice.
"""

import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import killed
import pytest
import yaml
from crashes import Bench, environment
from language.scripted import answer, answers, asks, question, signals

from agents.process.containment import Containment
from state.journal.events import NoticeSent
from state.journal.store import JournalReader
from state.outcome import Outcome
from state.settings.sources import user_file

EXPECTED = {"stuck": ["stuck", "ended"], "parked": ["parked", "ended"]}
DROP = question("May I drop it?", "yes", "no")
NO = answers(answer("May I drop it?", "no", reversible=False, basis="judgement"))
CALLERS = {
    "stuck": {"worker/*": [signals("task_stuck", reason="no way")]},
    "parked": {"worker/*": [asks(DROP, then="I wait.")], "developer/*": [NO]},
}
CONFIG = """
[efforts.low]
power_steering = "none"
[[notify]]
on = ["ended", "parked", "stuck", "waiting"]
command = "cat >> told.jsonl; echo >> told.jsonl"
"""
MakeBench = Callable[[str], Bench]


@pytest.fixture
def bench(tmp_path: Path, home: Path, processes: None) -> Iterator[MakeBench]:
    """Makes repositories with a run whose only task is stuck, or waits for a person."""
    made: list[Path] = []

    def make(kind: str) -> Bench:
        user_file().parent.mkdir(parents=True, exist_ok=True)
        user_file().write_text(CONFIG)
        (home / "told.jsonl").unlink(missing_ok=True)
        folder = tmp_path / f"told {len(made)}"
        made.append(folder)
        (folder / "project").mkdir(parents=True)
        git = ["git", "-C", str(folder / "project"), "-c", "user.name=O", "-c", "user.email=o@localhost"]
        for arguments in (["init", "-qb", "main"], ["commit", "-qm", "First", "--allow-empty"]):
            subprocess.run([*git, *arguments], check=True)
        scenario, spec = folder / "scenario.yaml", folder / "spec.md"
        scenario.write_text(yaml.safe_dump({"scenario": 1, "description": "told", "callers": CALLERS[kind]}))
        spec.write_text("# Notes\n\nWrite notes.\n")
        return Bench(
            folder=folder / "project",
            scenario=scenario,
            spec=spec,
            environ=environment(Containment.SUPERVISOR),
            flags={
                "workflow": ("--workflow", "direct"),
                "effort": ("--effort", "low"),
                "verify": ("--verify", ("true",)),
                "questions": ("--questions", "park"),
            },
            outcome=Outcome.STUCK,
        )

    yield make
    for folder in made:
        shutil.rmtree(folder, ignore_errors=True)


def told_at(home: Path) -> list[str]:
    file = home / "told.jsonl"
    return [json.loads(line)["kind"] for line in file.read_text().splitlines()] if file.exists() else []


def crash_at(one: Bench, home: Path, kill_after: int, expected: list[str]) -> str:
    """Kill, resume until the run has ended; what is wrong with its notices, or nothing, or "over"."""
    code = one.begin(kill_after, killed.ALONE)
    if code == one.outcome.exit_code:
        return "over"
    one.resume()
    if (code := one.resume()) != one.outcome.exit_code:  # the second ends the same, and sends what is left
        return f"resume ended with {code}"
    with JournalReader(one.run_folder) as journal:
        sent = [stored.event for stored in journal.read() if isinstance(stored.event, NoticeSent)]
    told = Counter(told_at(home))
    lost = Counter(str(event.kind) for event in sent if not event.ok)
    if twice := [kind for kind, times in told.items() if times > 1]:
        return f"told twice: {twice}"
    recorded = Counter(str(event.kind) for event in sent)
    if recorded != Counter(expected):
        return f"recorded: {recorded}"
    if missing := [kind for kind in expected if not told[kind] and not lost[kind]]:
        return f"neither told nor said to be lost: {missing}"
    return ""


def points(one: Bench, kind: str) -> list[int]:
    """The transactions of a run after which a notice is due, and before and after which it is recorded."""
    with JournalReader(one.run_folder) as journal:
        stored = journal.read()
    times = list(dict.fromkeys(each.at for each in stored))
    (of_seq, seq), *_ = [
        (each.event.of_seq, each.seq)
        for each in stored
        if isinstance(each.event, NoticeSent) and each.event.kind == kind
    ]
    at = {each.seq: times.index(each.at) + 1 for each in stored}
    return [at[of_seq], at[seq]]


@pytest.mark.timeout(240)
@pytest.mark.parametrize("kind", [pytest.param("stuck", marks=pytest.mark.slow), "parked", "ended"])
@pytest.mark.late
def test_a_run_killed_when_a_notice_is_due_and_when_it_was_sent_tells_it_once(
    bench: MakeBench, home: Path, kind: str
) -> None:
    waits = "stuck" if kind == "stuck" else "parked"
    one = bench(waits)
    assert one.begin() == one.outcome.exit_code
    found = points(one, kind)
    assert [crash_at(bench(waits), home, point, EXPECTED[waits]) for point in found] == ["", ""]


@pytest.mark.crash
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("waits", [*EXPECTED])
def test_a_run_killed_after_any_stored_transaction_tells_each_notice_once(
    bench: MakeBench, home: Path, waits: str
) -> None:
    wrong: dict[int, str] = {}
    for kill_after in range(1, 1000):
        problem = crash_at(bench(waits), home, kill_after, EXPECTED[waits])
        if problem == "over":
            break
        if problem:
            wrong[kill_after] = problem
    assert wrong == {}
    assert kill_after > {"stuck": 20, "parked": 18}[waits]
