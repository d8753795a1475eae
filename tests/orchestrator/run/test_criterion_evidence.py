"""Evidence for a criterion, checked on a real tree with the results of a real pytest."""

import sys
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from language.tables import rows, table

from orchestrator.checks import objecting
from orchestrator.git.trees import sizes
from orchestrator.project.runners.counting import count
from orchestrator.project.runners.reporting import prepare
from orchestrator.project.runners.suite import suite_of
from orchestrator.run.review.checked import CheckedTree, checked
from orchestrator.run.review.criteria import all_checked
from state.journal.events import ProofsTaken, VerificationFinished
from state.journal.events.reviews import proof_of
from state.journal.view import RunView
from state.records.commands import (
    UNCOUNTED,
    BaselineCheck,
    BaselineOutcome,
    CanaryResult,
    CommandRun,
    TestCount,
    TestState,
    WithoutWork,
)
from state.records.objections import Proof, Weight
from state.records.plan import ConstraintKind, Criterion, CriterionKind
from state.records.reviews import Evidence, EvidenceKind, Mark
from state.records.work import ChangeKind, FileChange
from state.settings.presets import usual_settings

TESTS = table(__file__, "tests")
FILES = {
    "shop.py": "def discount():\n    return 5\n\n",
    "docs/guide.md": "# Guide\n\nThe discount is 5 percent.\n",
    "tests/test_shop.py": TESTS,
    "check.sh": "grep -q percent docs/guide.md\n",
}
PYTEST = f"{sys.executable} -m pytest -q -p no:cacheprovider"
SCRIPT, LINTER, MAKE, FAILING = "./check.sh", "ruff check .", "make test", "python3 wrong.py"


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A folder with a commit of it, its tree, and how its tests ended."""
    import os
    import subprocess

    folder, reports = tmp_path_factory.mktemp("shop"), tmp_path_factory.mktemp("reports")
    who = {
        "GIT_AUTHOR_NAME": "O",
        "GIT_AUTHOR_EMAIL": "o@x",
        "GIT_COMMITTER_NAME": "O",
        "GIT_COMMITTER_EMAIL": "o@x",
    }

    def shell(*command, **more):
        environment = {**os.environ, **who, **more}
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )

    shell("git", "init", "--quiet")
    shell("git", "commit", "--quiet", "--allow-empty", "-m", "Empty")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    shell("git", "add", ".")
    shell("git", "commit", "--quiet", "-m", "Shop")
    suite = suite_of(PYTEST, folder)
    prepared = prepare(suite, reports, dict(os.environ))
    done = shell("sh", "-c", prepared.command, **prepared.environment)
    counted = count(suite, done.stdout + done.stderr, done.returncode, reports)
    assert (counted.passed, counted.failed, counted.skipped) == (2, 1, 2)
    return folder, shell("git", "rev-parse", "HEAD^{tree}").stdout.strip(), counted


def ran(command, *, exit_code=0, counted=UNCOUNTED):
    return CommandRun(command=command, exit_code=exit_code, seconds=1.0, output_tail="", count=counted)


def on(tree, *runs, proofs=None, before=None, seen=""):
    """The tree as a run knows it that has verified it with these commands."""
    folder, hash_, counted = tree
    view = RunView()
    view.settings = replace(usual_settings(), verify=(SCRIPT, PYTEST))
    view.whole.tree = hash_
    usual = (ran(PYTEST, exit_code=1, counted=counted), ran(SCRIPT), ran(LINTER), ran(FAILING, exit_code=2))
    verified = VerificationFinished(task_id="", tree=hash_, runs=runs or usual)
    view.evidence.verifications[hash_] = verified
    if proofs:
        view.evidence.proofs["", hash_] = proofs
    if before:
        check = BaselineCheck(run=ran(PYTEST, counted=before), source="", outcome=BaselineOutcome.PASSES)
        view.baseline.checks[PYTEST] = check
    return CheckedTree(
        view=view, repository=folder, tree=hash_, folder=folder, read_in=(str(folder),), seen=seen
    )


def check(tree, kind, ref):
    return anyio.run(checked, tree, Evidence(kind=EvidenceKind(kind), ref=ref))


@pytest.mark.parametrize(*rows(__file__, "references"))
def test_each_piece_of_evidence_is_looked_for_by_sq_itself(tree, kind, ref, holds, general, why):
    ref = ref.replace("{folder}", str(tree[0])).replace("{pytest}", PYTEST)
    found = check(on(tree), kind, ref)
    assert (found.holds, found.general) == (holds, general)
    assert found.why.startswith(why.replace("{pytest}", PYTEST))


def test_a_file_that_git_does_not_have_in_the_tree_is_no_evidence(tree):
    """The folder may hold more, such as ignored files and remains of a command."""
    (tree[0] / "left.md").write_text("The discount is 5 percent.\n")
    assert check(on(tree), "line", "left.md:1").holds is False


def test_a_line_counts_on_a_later_tree_only_in_a_file_that_is_the_same(tree):
    folder, hash_, _ = tree
    empty = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    assert check(on(tree, seen=hash_), "line", "docs/guide.md:3").holds is True
    changed = check(on(tree, seen=empty), "line", "docs/guide.md:3")
    assert (changed.holds, changed.why) == (None, "docs/guide.md has changed since the review")
    assert folder.is_dir()


def test_a_test_that_passes_without_the_work_says_so_and_a_new_one_shows_nothing(tree):
    name = "tests/test_shop.py::test_shown"
    before = TestCount(tests={name: TestState.PASSED}, passed=1)
    old = check(on(tree, before=before), "test", name)
    assert (old.general, old.why.endswith("and a test of this name passed before the work too")) == (
        False,
        True,
    )
    proofs = ProofsTaken(task_id="", tree=tree[1], objections=(objecting.unproven(name),))
    new = check(on(tree, proofs=proofs), "test", name)
    assert (new.general, new.why.endswith("and passes without the work too")) == (True, True)
    assert proof_of([new]) is None


@pytest.mark.parametrize(
    ("asked", "general"),
    [
        ({"functions": ("shop.py: discount",)}, True),
        ({"functions": ("shop.py: discount",), "partly": True}, False),
        ({"small": ("shop.py:2: 5 → 6",), "partly": True}, False),
    ],
)
def test_of_a_question_about_a_part_of_the_work_a_test_that_passed_is_not_said_to_need_none(
    tree, asked, general
):
    """Other tests failed with this part taken out, or with a small change of it. This one may need the rest."""
    without = WithoutWork(command=PYTEST, needed=True, failing=("tests/test_shop.py::test_other",), **asked)
    answers = tuple(objecting.without_work([without]))
    proofs = ProofsTaken(task_id="", tree=tree[1], proofs=answers, all_taken_out=not without.partly)
    found = check(on(tree, proofs=proofs), "test", "tests/test_shop.py::test_shown")
    assert (found.general, "passes without the work" in found.why) == (general, general)


SHOWN = "tests/test_shop.py::test_shown"
FAILED, PASSED = TestCount(tests={SHOWN: TestState.FAILED}), TestCount(tests={SHOWN: TestState.PASSED})


def without(*failing):
    return (Proof(check=objecting.WITHOUT_WORK, command=PYTEST, tests=failing),)


@pytest.mark.parametrize(
    ("before", "base", "proofs", "mark"),
    [
        (None, "", {}, None),
        (None, "", {"proofs": without(SHOWN)}, Mark.TESTED),
        (None, "", {"proofs": without("other")}, None),
        (
            None,
            "",
            {"proofs": (Proof(check=objecting.CODE_BEFORE, command="", tests=(SHOWN,)),)},
            Mark.TESTED,
        ),
        (FAILED, "HEAD", {}, Mark.EXAMINED),
        (FAILED, "HEAD~1", {}, None),
        (PASSED, "HEAD", {}, None),
    ],
)
def test_a_test_shows_what_sq_has_seen_of_it(tree, before, base, proofs, mark):
    """Its author had not seen the work if it failed at the base and nobody has changed its file."""
    here = on(tree, proofs=ProofsTaken(task_id="", tree=tree[1], **proofs), before=before)
    here.view.baseline.tree = f"{base}^{{tree}}"
    found = check(here, "test", SHOWN)
    assert (found.holds, found.mark) == (True, mark)
    assert (proof_of([found]) is found) is (mark is not None)


@pytest.mark.parametrize(
    ("ref", "stood"), [("shop.py:1", True), ("shop.py:4", False), ("shop.py:5-6", False)]
)
def test_a_new_line_with_words_that_stand_elsewhere_did_not_stand_there_before(tree, ref, stood):
    import subprocess

    folder, hash_, _ = tree
    more = FILES["shop.py"] + "def discount():\n    return 5\n"
    blob = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"],
        cwd=folder,
        input=more,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    grown = subprocess.run(
        ["git", "mktree"],
        cwd=folder,
        input=f"100644 blob {blob}\tshop.py\n",
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    here = replace(on(tree), tree=grown)
    here.view.baseline.tree = hash_
    found = check(here, "line", ref)
    assert (found.holds, "before the work too" in found.why) == (True, stood)


@pytest.mark.parametrize(*rows(__file__, "documents"))
def test_of_a_runner_that_names_no_tests_nothing_is_shown(tree, ref, holds, why):
    found = check(on(tree, ran(MAKE, counted=TestCount(passed=3))), "test", ref)
    assert found.holds is holds
    assert found.why.endswith(why)


def test_commands_that_run_no_test_do_not_stand_for_a_test_that_is_missing(tree):
    linter, failed = ran(LINTER), ran(MAKE, exit_code=2)
    assert check(on(tree, linter, failed), "test", "tests/test_shop.py::test_shown").holds is False


@pytest.mark.parametrize(
    ("objection", "why"),
    [
        (objecting.only_here(SCRIPT), "it passes in the checkout only"),
        (
            objecting.canary(CanaryResult(command=SCRIPT, caught=False), counts=True),
            "it passes with an added test",
        ),
    ],
)
def test_a_command_that_sq_found_to_show_nothing_is_no_evidence(tree, objection, why):
    taken = ProofsTaken(task_id="", tree=tree[1], objections=(objection,))
    found = check(on(tree, proofs=taken), "command", SCRIPT)
    assert found.holds is None
    assert found.why.startswith(why)


@pytest.mark.parametrize(
    ("before", "kind", "stays", "mark"),
    [
        (2, None, False, Mark.COMPUTED),
        (0, None, True, Mark.COMPUTED),
        (0, None, False, Mark.CLAIMED),
        (0, ConstraintKind.COMMAND, False, Mark.COMPUTED),
    ],
)
def test_a_command_that_passed_before_shows_no_new_constraint(tree, before, kind, stays, mark):
    criterion = Criterion(
        text="Ruff finds no bare except.", kind=CriterionKind.CONSTRAINT, constraint=kind, stays=stays
    )
    here = on(tree)
    check = BaselineCheck(run=ran(LINTER, exit_code=before), source="", outcome=BaselineOutcome.PASSES)
    here.view.baseline.checks[LINTER] = check
    (found,) = anyio.run(all_checked, here, [Evidence(kind=EvidenceKind.COMMAND, ref=LINTER)], criterion)
    shown = proof_of([found])
    assert (shown.mark if shown else Mark.CLAIMED) is mark


@pytest.mark.parametrize(("name", "mark"), [("discount", Mark.CLAIMED), ("total", Mark.TESTED)])
def test_a_test_shows_nothing_of_a_function_that_has_to_stay_and_does_not(tree, name, mark):
    changed = objecting.other_results_than_before(
        f"shop.py: Shop.{name}", "shop.py:1", ["`discount()`: before `4`, now `5`"], Weight.ONCE, ""
    )
    taken = ProofsTaken(task_id="", tree=tree[1], objections=(changed,), proofs=without(SHOWN))
    criterion = Criterion(text="The discount stays as it is.", stays=True)
    asked = [Evidence(kind=EvidenceKind.TEST, ref=SHOWN)]
    (found,) = anyio.run(all_checked, on(tree, proofs=taken), asked, criterion)
    assert (found.mark or Mark.CLAIMED) is mark
    assert ("discount does not give what it gave before" in found.why) is (mark is Mark.CLAIMED)


def test_a_suite_in_which_no_test_is_known_to_have_run_is_no_evidence(tree):
    none = ran(PYTEST, counted=TestCount(passed=0, failed=0, says_none=True))
    assert check(on(tree, none), "command", PYTEST).holds is None


def test_a_tree_that_sq_has_not_verified_has_no_evidence_but_its_lines(tree):
    bare = on(tree)
    bare.view.evidence.verifications.clear()
    assert check(bare, "test", "test_shown").holds is None
    assert check(bare, "command", SCRIPT).holds is None
    assert check(bare, "line", "docs/guide.md:3").holds is True


def test_the_size_of_a_change_is_told_by_file(tree):
    folder, _, _ = tree
    found = anyio.run(sizes, Path(folder), "HEAD~1", "HEAD")
    assert found[0] == FileChange(path="check.sh", added=1, removed=0, kind=ChangeKind.ADDED)
    assert [one.path for one in found] == sorted(FILES)
    back = anyio.run(sizes, Path(folder), "HEAD", "HEAD~1")
    assert {(one.kind, one.added) for one in back} == {(ChangeKind.REMOVED, 0)}
