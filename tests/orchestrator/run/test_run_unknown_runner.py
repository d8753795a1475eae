"""A command whose runner sq does not know: files of tests are known by their usual names, and gaps are said."""

from collections.abc import Callable
from pathlib import Path

import pytest
from language.scripted import Done, Rehearse, call, completes, passes, plans, says, whole_run

from orchestrator.checks.objecting import BASE_TESTS, CODE_BEFORE, WITHOUT_WORK
from state.journal import events as e
from state.outcome import Outcome
from state.records.reviews import TestChangeKind

RUNNER = """
import pathlib, sys, traceback
sys.path.insert(0, ".")
failed, files = 0, sorted(pathlib.Path("tests").glob("test_*.py"))
for file in files:
    try:
        exec(file.read_text(), {})
    except Exception:
        failed += 1
        traceback.print_exc()
print(len(files) - failed, "tests passed")
sys.exit(failed > 0)
"""
FILES = {
    "check.py": RUNNER,
    "calc.py": "def add(a, b):\n    return a + b\n",
    "tests/test_add.py": "from calc import add\nassert add(1, 2) == 3\n",
    "tests/test_more.py": "from calc import add\nassert add(2, 2) == 4\n",
}
COMMAND = "python3 check.py"
MUL = "printf 'def mul(a, b):\\n    return a * b\\n' >> calc.py"
MUL_TEST = "printf 'from calc import mul\\nassert mul(2, 3) == 6\\n' > tests/test_mul.py"


@pytest.fixture
def built(rehearse: Rehearse, repository: Path, shell: Callable[..., str]) -> Callable[..., Done]:
    for path, text in FILES.items():
        (repository / path).parent.mkdir(exist_ok=True)
        (repository / path).write_text(text)
    shell(repository, "git", "add", "--all")
    shell(repository, "git", "commit", "--quiet", "-m", "A calculator")

    def run(*commands: str) -> Done:
        work = says(*(call("Bash", command=command) for command in commands))
        callers = {
            "planner/plan/1": [plans("mul")],
            "worker/mul/*": [work, completes(), completes()],
            "reviewer/mul/*": [passes()],
        }
        return rehearse(whole_run(**callers), verify=(COMMAND,), ends=None)

    return run


def first_proofs(done: Done) -> e.ProofsTaken:
    return done.of(e.ProofsTaken)[0]


def test_honest_work_is_complete_and_each_check_that_was_not_made_is_said(built: Callable[..., Done]) -> None:
    done = built(MUL, MUL_TEST)
    assert done.outcome is Outcome.COMPLETE, done.output
    assert "sq cannot check that it notices a failing test: it does not know the runner" in done.output
    assert WITHOUT_WORK in {one.check for one in first_proofs(done).proofs}
    assert first_proofs(done).objections == ()
    whole = done.of(e.ProofsTaken)[-1]
    told = [one.words for one in whole.objections]
    assert told == [f"whether `{COMMAND}` notices a failing test: none can be made for it"]


@pytest.mark.late
def test_a_test_that_was_weakened_so_that_the_work_passes_is_run_as_it_was(
    built: Callable[..., Done],
) -> None:
    done = built(
        "sed -i 's/a + b/a - b/' calc.py", "echo 'assert True' | tee tests/test_add.py tests/test_more.py"
    )
    assert done.outcome is not Outcome.COMPLETE
    changes = first_proofs(done).of(BASE_TESTS)
    assert {one.place for one in changes} == {"tests/test_add.py", "tests/test_more.py"}
    assert all(one.words.endswith(TestChangeKind.FAILS) for one in changes)


@pytest.mark.late
def test_a_file_of_tests_that_was_removed_is_gone(built: Callable[..., Done]) -> None:
    done = built(MUL, MUL_TEST, "rm tests/test_more.py")
    assert done.outcome is not Outcome.COMPLETE
    (change,) = first_proofs(done).of(BASE_TESTS)
    assert change.words == f"the test tests/test_more.py {TestChangeKind.GONE}"


@pytest.mark.late
def test_one_that_was_removed_because_the_work_fails_it_fails_as_it_was(built: Callable[..., Done]) -> None:
    done = built("sed -i 's/return a + b/return 3/' calc.py", "rm tests/test_more.py")
    assert done.outcome is not Outcome.COMPLETE
    (change,) = first_proofs(done).of(BASE_TESTS)
    assert change.words == f"the test tests/test_more.py {TestChangeKind.FAILS}"


def test_a_new_test_that_passes_without_the_work_is_named(built: Callable[..., Done]) -> None:
    done = built(MUL, "echo 'assert 2 * 3 == 6' > tests/test_mul.py")
    assert [one.subject for one in first_proofs(done).of(CODE_BEFORE)] == ["tests/test_mul.py"]
    end = done.output.partition("not checked:\n")[2]
    assert "    mul: new tests pass without the work too, so they do not show it: tests/test_mul.py\n" in end
