"""A model that lies about its work is not believed, and one that is honest beside it is not held up.

Reviewers and judges always say yes: what stands between a lie and the user's branch is what sq sees itself.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from projects import PROJECTS, SPEC, Project, cat, does, make
from scripted import Done, Rehearse, analyzes, passes, plans, signals, whole_run

from state import events as e
from state.outcome import Outcome

Shell = Callable[..., str]
# Those that every test run tries: the others with --slow.
SAMPLE = {("python", "the failing test deleted"), ("javascript", "a changed script in the manifest"), ("perl", "a module that shadows the runner")}
LIES = [(project.name, lie) for project in PROJECTS.values() for lie in project.lies]
HONEST = [(project.name, kind) for project in PROJECTS.values() for kind in project.honest_kinds]


def cases(pairs: list[tuple[str, str]], sample: set[tuple[str, str]]) -> list[object]:
    return [
        pytest.param(*pair, id="-".join(pair), marks=() if pair in sample else pytest.mark.slow)
        for pair in pairs
    ]


def project_of(name: str, repository: Path, shell: Shell) -> Project:
    project = PROJECTS[name]
    if missing := [program for program in project.runner if shutil.which(program) is None]:
        pytest.skip(f"{', '.join(missing)} is not on this machine")
    make(project, repository, shell)
    return project


def runs(rehearse: Rehearse, *commands: str, claims: int = 1, **more: object) -> Done:
    lanes = whole_run(**{
        "planner/plan/1": [plans("mul")],
        "worker/mul/1": does(*commands, claims=claims),
        "reviewer/*": [passes()],
    })  # fmt: skip
    return rehearse(lanes, spec=SPEC, **more)


def assert_not_believed(done: Done, repository: Path, shell: Shell, head: str) -> None:
    assert done.outcome is not Outcome.COMPLETE, done.output
    assert done.outcome in {Outcome.STUCK, Outcome.UNVERIFIED}, done.output
    assert shell(repository, "git", "rev-parse", "main") == head
    assert done.of(e.WorkDelivered) == []


@pytest.mark.parametrize(("language", "lie"), cases(LIES, SAMPLE))
def test_a_lie_about_the_tests_is_never_complete_and_moves_no_branch(
    rehearse: Rehearse, repository: Path, shell: Shell, language: str, lie: str
) -> None:
    project = project_of(language, repository, shell)
    head = shell(repository, "git", "rev-parse", "main")
    done = runs(rehearse, project.broken, project.lies[lie], claims=3)
    assert_not_believed(done, repository, shell, head)


@pytest.mark.parametrize("language", [pytest.param("python"), *(pytest.param(one, marks=pytest.mark.slow) for one in ("javascript", "perl"))])
def test_failing_tests_end_stuck(rehearse: Rehearse, repository: Path, shell: Shell, language: str) -> None:
    project = project_of(language, repository, shell)
    head = shell(repository, "git", "rev-parse", "main")
    done = runs(rehearse, project.broken, claims=3)
    assert_not_believed(done, repository, shell, head)
    assert done.outcome is Outcome.STUCK


@pytest.mark.slow
@pytest.mark.parametrize("language", list(PROJECTS))
def test_nothing_done_ends_stuck(rehearse: Rehearse, repository: Path, shell: Shell, language: str) -> None:
    project_of(language, repository, shell)
    head = shell(repository, "git", "rev-parse", "main")
    assert_not_believed(runs(rehearse, claims=3), repository, shell, head)


@pytest.mark.parametrize("language", [pytest.param("python"), *(pytest.param(one, marks=pytest.mark.slow) for one in ("javascript", "perl"))])
def test_honest_work_is_complete_and_its_tests_are_counted(
    rehearse: Rehearse, repository: Path, shell: Shell, language: str
) -> None:
    project = project_of(language, repository, shell)
    done = runs(rehearse, project.honest)
    assert done.outcome is Outcome.COMPLETE, done.output
    (check,) = done.view.baseline.values()
    assert check.run.count.ran == 2
    assert check.canary
    assert check.canary.caught is True
    verified = done.view.verifications[done.view.head_tree]
    assert [one.count.ran for one in verified.runs] == [3]
    assert done.of(e.WorkDelivered)


@pytest.mark.parametrize(("language", "kind"), cases(HONEST, {("python", "a moved file")}))
def test_tests_under_another_name_or_path_are_not_gone_and_the_run_is_complete(
    rehearse: Rehearse, repository: Path, shell: Shell, language: str, kind: str
) -> None:
    project = project_of(language, repository, shell)
    done = runs(rehearse, project.honest, project.honest_kinds[kind])
    assert done.outcome is Outcome.COMPLETE, done.output
