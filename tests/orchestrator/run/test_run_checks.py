"""Checks that are no tests: new complaints count, and old ones do not. Every reviewer says yes."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from language.scripted import Rehearse, completes, criterion, plans, signals, whole_run, writes

from orchestrator.checks.objecting import BASE_TESTS
from state.journal import events as e
from state.outcome import Outcome
from state.records.commands import BaselineOutcome
from state.records.reviews import EvidenceKind, Mark

Shell = Callable[..., str]
TESTS = "import unittest\n\nfrom shop import price\n\n\nclass T(unittest.TestCase):\n    def test_price(self):\n        self.assertEqual(price(), 3)\n"
OLD = 'def price():\n    return 3\n\n\ndef name() -> int:\n    return "shop"\n'
HALF = "\n\ndef half(n: int) -> int:\n    return n // 2\n"
TEST_HALF = "import unittest\n\nfrom shop import half\n\n\nclass H(unittest.TestCase):\n    def test_half(self):\n        self.assertEqual(half(4), 2)\n"
HONEST = OLD.replace("def price", "KINDS = 3\n\n\ndef price") + HALF
WRONG = OLD + HALF.replace("-> int", "-> str")
RUFF = {"ruff.toml": "line-length = 100\n", "old.py": "import os\n"}
UNUSED = "import sys\n\n\n" + OLD + HALF
MAKE = {
    "Makefile": "test:\n\tpython3 -m unittest\n\nlint:\n\tmypy --cache-dir=/dev/null --no-site-packages shop.py\n"
}


@pytest.fixture(autouse=True)
def tools_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.defpath}")


def begins_with(repository: Path, shell: Shell, files: dict[str, str]) -> None:
    for name, text in {"shop.py": OLD, "test_shop.py": TESTS, ".gitignore": ".*_cache\n", **files}.items():
        (repository / name).write_text(text)
    shell(repository, "git", "add", "--all")
    shell(repository, "git", "commit", "--quiet", "-m", "Files")


def work_of(files: dict[str, str], *, claims: int = 1) -> list[object]:
    return [*(writes(name, text) for name, text in files.items()), *[completes()] * claims]


@pytest.mark.parametrize(
    ("files", "command", "work", "complaint"),
    [
        (RUFF, "ruff check .", UNUSED, "shop.py:1: `sys` imported but unused [F401]"),
        pytest.param(RUFF, "ruff check .", HONEST, "", marks=pytest.mark.late),
        pytest.param(MAKE, "make lint", WRONG, "Incompatible return value type", marks=pytest.mark.late),
        pytest.param(MAKE, "make lint", HONEST, "", marks=pytest.mark.late),
    ],
    ids=["ruff, a new one", "ruff, old ones", "make and mypy, a new one", "make and mypy, old ones"],
)
def test_a_new_complaint_of_a_check_goes_to_the_worker_and_an_old_one_holds_up_nothing(
    rehearse: Rehearse,
    repository: Path,
    shell: Shell,
    files: dict[str, str],
    command: str,
    work: str,
    complaint: str,
) -> None:
    begins_with(repository, shell, files)
    worker = work_of({"shop.py": work, "test_half.py": TEST_HALF})
    worker += work_of({"shop.py": HONEST}) if complaint else []
    done = rehearse(whole_run(worker=worker), settings={"max_iterations": 3})
    assert done.view.baseline.checks[command].outcome is BaselineOutcome.FAILS
    refusals = done.of(e.CompletionRefused)
    assert len(refusals) == bool(complaint)
    if complaint:
        assert complaint in refusals[0].feedback
        assert "old.py" not in refusals[0].feedback
        assert 'got "str"' not in refusals[0].feedback
    whole = done.view.evidence.verifications[done.view.whole.tree]
    assert {run.command: run.exit_code for run in whole.runs}[command]


PROJECT = '{"require": {"x/a": "1"}}'
ADDED = '{"require": {"x/a": "1", "x/left-pad": "1"}}'
NONE_ADDED = {
    **criterion("no dependency is added", "notes"),
    "kind": "constraint",
    "constraint": "dependencies",
}
NAMES_STAY = {**criterion("the public functions stay", "notes"), "kind": "constraint"}
VERIFY = ("python3 -m unittest",)
LINE = [{"kind": "line", "ref": "composer.json:1"}]


def met(*criteria: dict[str, object]) -> dict[str, object]:
    said = [
        {"id": f"c-{number}", "verdict": "met", "reason": "it is", "evidence": LINE}
        for number in range(1, len(criteria) + 1)
    ]
    return signals("report_review", passed=True, issues=[], suggestions=[], criteria=said)


@pytest.mark.late
@pytest.mark.parametrize("again", [PROJECT, ADDED], ids=["taken out again", "left in"])
def test_a_constraint_that_sq_computes_is_shown_by_that_alone_and_broken_costs_code_0(
    rehearse: Rehearse, repository: Path, shell: Shell, again: str
) -> None:
    begins_with(repository, shell, {"composer.json": PROJECT})
    criteria = [NONE_ADDED, NAMES_STAY]
    worker = work_of({"shop.py": HONEST, "test_half.py": TEST_HALF, "composer.json": ADDED})
    worker += work_of({"composer.json": again}, claims=3)
    callers = whole_run(
        planner=[plans("notes", criteria=criteria)],
        worker=worker,
        **{f"reviewer/{of}/*": [met(*criteria)] for of in ("notes", "final")},
    )
    done = rehearse(callers, verify=VERIFY, ends=None)
    assert "x/left-pad" in done.of(e.CompletionRefused)[0].feedback
    kinds = [type(stored.event) for stored in done.stored]
    before = kinds[: kinds.index(e.CompletionRefused)]
    assert e.VerificationStarted not in before, "the files alone say it, so no command runs before"
    if again == ADDED:
        assert done.outcome is not Outcome.COMPLETE
        return
    assert done.outcome is Outcome.COMPLETE, done.output
    judged = [done.view.whole.judged[id_].event for id_ in ("c-1", "c-2")]
    assert [one.mark for one in judged] == [Mark.COMPUTED, Mark.CLAIMED]
    assert judged[0].proof
    assert judged[0].proof.kind is EvidenceKind.COMPUTED
    facts = done.view.evidence.proofs["", done.view.whole.tree].facts
    assert facts
    assert (facts.added, facts.names_added) == ((), ("shop.py: KINDS", "shop.py: half"))


@pytest.mark.late
@pytest.mark.parametrize(
    ("config", "outcome"),
    [
        ('line-length = 100\nlint.ignore = ["F401"]\n', Outcome.UNVERIFIED),
        ("line-length = 90\n", Outcome.COMPLETE),
    ],
    ids=["switched off", "an honest change"],
)
def test_a_check_whose_configuration_changes_is_run_with_that_of_the_base_too(
    rehearse: Rehearse, repository: Path, shell: Shell, config: str, outcome: Outcome
) -> None:
    begins_with(repository, shell, RUFF)
    code = UNUSED if outcome is Outcome.UNVERIFIED else HONEST
    worker = work_of({"ruff.toml": config, "shop.py": code, "test_half.py": TEST_HALF}, claims=2)
    done = rehearse(whole_run(worker=worker), ends=None)
    assert done.outcome is outcome, done.output
    named = [(one.subject, one.place) for one in done.of(e.ProofsTaken)[0].of(BASE_TESTS)]
    assert named == (
        [("`ruff check .` with ruff.toml of the base", "ruff.toml")] if outcome is Outcome.UNVERIFIED else []
    )
