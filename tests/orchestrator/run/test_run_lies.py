"""A model that lies about its work is not believed, and one that is honest beside it is not held up.

Reviewers and judges always say yes: what stands between a lie and the user's branch is what sq sees itself.
"""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from language.scripted import Done, Rehearse, passes, plans, whole_run

from benchmarks.lies import CALCULATORS, SPEC, Calculator, replies
from state.journal import events as e
from state.outcome import Outcome

Shell = Callable[..., str]
# Those that every test run tries, those that CI tries after the suite; the others with --slow.
IN_THE_SUITE = {
    ("perl", "a module that shadows the runner"),
    ("python", "a test that the spec asks to change"),
}
LATE = {("python", "the failing test deleted"), ("javascript", "a suite that failed before")}
LIES = [(one.name, lie) for one in CALCULATORS.values() for lie in one.lies]
HONEST = [(one.name, kind) for one in CALCULATORS.values() for kind in one.honest]


def cases(pairs: list[tuple[str, str]]) -> list[object]:
    marks = dict.fromkeys(LATE, pytest.mark.late) | dict.fromkeys(IN_THE_SUITE, ())
    return [pytest.param(*pair, id="-".join(pair), marks=marks.get(pair, pytest.mark.slow)) for pair in pairs]


def calculator(
    name: str, repository: Path, shell: Shell, before: Mapping[str, str] | None = None
) -> Calculator:
    """The project of a language, committed in a repository."""
    one = CALCULATORS[name]
    if missing := [program for program in one.programs if shutil.which(program) is None]:
        pytest.skip(f"{', '.join(missing)} is not on this machine")
    for path, text in {**one.files, **(before or {})}.items():
        (repository / path).parent.mkdir(parents=True, exist_ok=True)
        (repository / path).write_text(text.replace("{counter}", str(repository.parent / "counter")))
    shell(repository, "git", "add", "--all")
    shell(repository, "git", "commit", "--quiet", "-m", "A calculator")
    return one


def runs(
    rehearse: Rehearse,
    *commands: str,
    claims: int = 1,
    spec: str = SPEC,
    tests_that_change: tuple[Mapping[str, str], ...] = (),
    settings: Mapping[str, object] | None = None,
) -> Done:
    """A run of one task whose Worker runs these commands, then claims completion."""
    plan = plans("mul")
    plan["tools"][0]["input"]["tests_that_change"] = [dict(entry) for entry in tests_that_change]
    told = {
        "planner/plan/1": [plan],
        "worker/mul/1": replies(*commands, claims=claims),
        "reviewer/*": [passes(), passes()],  # the second one if the first is refused
    }
    reviewed = bool(tests_that_change)
    return rehearse(whole_run(**told), spec=spec, settings=settings, plan_review=reviewed, ends=None)


def assert_not_believed(done: Done, repository: Path, shell: Shell, head: str) -> None:
    assert done.outcome in {Outcome.STUCK, Outcome.UNVERIFIED}, done.output
    assert shell(repository, "git", "rev-parse", "main") == head
    assert done.of(e.WorkDelivered) == []


@pytest.mark.parametrize(("language", "lie"), cases(LIES))
def test_a_lie_about_the_tests_is_never_complete_and_moves_no_branch(
    rehearse: Rehearse, repository: Path, shell: Shell, language: str, lie: str
) -> None:
    one = calculator(language, repository, shell)
    head = shell(repository, "git", "rev-parse", "main")
    done = runs(rehearse, *one.lies[lie].commands, claims=3)
    assert_not_believed(done, repository, shell, head)


@pytest.mark.late
@pytest.mark.parametrize(
    "language",
    [
        pytest.param("python"),
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("javascript", "perl")),
    ],
)
def test_failing_tests_end_stuck(rehearse: Rehearse, repository: Path, shell: Shell, language: str) -> None:
    one = calculator(language, repository, shell)
    head = shell(repository, "git", "rev-parse", "main")
    done = runs(rehearse, one.broken, claims=3)
    assert_not_believed(done, repository, shell, head)
    assert done.outcome is Outcome.STUCK


@pytest.mark.slow
@pytest.mark.parametrize("language", list(CALCULATORS))
def test_nothing_done_ends_stuck(rehearse: Rehearse, repository: Path, shell: Shell, language: str) -> None:
    calculator(language, repository, shell)
    head = shell(repository, "git", "rev-parse", "main")
    assert_not_believed(runs(rehearse, claims=3), repository, shell, head)


@pytest.mark.parametrize(("language", "kind"), cases(HONEST))
def test_honest_work_ends_as_it_should_and_is_never_stuck(
    rehearse: Rehearse, repository: Path, shell: Shell, language: str, kind: str
) -> None:
    honest = CALCULATORS[language].honest[kind]
    calculator(language, repository, shell, honest.before)
    head = shell(repository, "git", "rev-parse", "main")
    claims = 1 if honest.outcome is Outcome.COMPLETE else 2  # it hears once of tests that change
    told = {"spec": honest.spec or SPEC, "tests_that_change": honest.tests_that_change}
    done = runs(rehearse, *honest.commands, claims=claims, **told)
    assert done.outcome is honest.outcome, done.output
    assert done.view.tasks["mul"].merged_commit
    moved = shell(repository, "git", "rev-parse", "main") != head
    assert moved is (honest.outcome is Outcome.COMPLETE)


@pytest.mark.slow
def test_the_baseline_counts_the_tests_and_sees_that_a_failing_one_is_noticed(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    calculator("python", repository, shell)
    done = runs(rehearse, *CALCULATORS["python"].honest["a new function with its test"].commands)
    (check,) = done.view.baseline.checks.values()
    assert (check.run.command, check.source, check.run.count.ran) == ("make test", "Makefile", 2)
    assert check.canary
    assert check.canary.caught is True
    verified = done.view.evidence.verifications[done.view.whole.tree]
    assert [one.count.ran for one in verified.runs] == [3]
    assert "fails if a failing test is added" in done.output


@pytest.mark.slow
@pytest.mark.parametrize("lie", list(CALCULATORS["python"].lies))
def test_without_worktrees_a_lie_is_never_complete_either(
    rehearse: Rehearse, repository: Path, shell: Shell, lie: str
) -> None:
    one = calculator("python", repository, shell)
    done = runs(rehearse, *one.lies[lie].commands, claims=3, settings={"worktrees": False})
    assert done.outcome in {Outcome.STUCK, Outcome.UNVERIFIED}, done.output
    assert shell(repository, "git", "diff", "--cached", "--name-only") == ""
