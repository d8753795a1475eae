"""The places of a run share what its set-up made at the base: made once, moved, tried; no task's files reach another."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from language.scripted import (
    Rehearse,
    call,
    completes,
    passes,
    plans,
    says,
    whole_run,
    worker,
    writes,
)
from language.tables import table

from state.journal import events as e

Shell = Callable[..., str]
BACKEND = table(Path(__file__).parents[1] / "project" / "test_project_set_up.py", "backend")
MANIFEST = (
    '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    '[project]\nname = "thing"\nversion = "1"\n'
)


def commit(repository: Path, shell: Shell, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text)
    shell(repository, "git", "add", ".")
    shell(repository, "git", "commit", "--quiet", "-m", "Files")


@pytest.fixture
def environment(repository: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Python project that pip installs in editable form, with a build backend of its own."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    files = {"pyproject.toml": MANIFEST, "backend.py": BACKEND, "src/thing/__init__.py": "WHO = 'base'\n"}
    commit(repository, shell, {**files, ".gitignore": ".venv/\n"})
    return repository


@pytest.mark.late
def test_one_environment_is_made_in_a_run_and_each_place_has_a_copy_that_runs_its_own_code(
    rehearse: Rehearse, environment: Path
) -> None:
    looks = (
        "python3 -c \"import thing, sys; assert thing.WHO == 'work', thing.WHO; "
        "assert thing.__file__.startswith(sys.prefix.removesuffix('.venv'))\" || ! test -e notes.txt"
    )
    named = "{ grep -rl verify.1 .venv; .venv/bin/pip --version | grep -c notes; } > notes.txt"
    work = [says(call("Bash", command=named)), writes("src/thing/__init__.py", "WHO = 'work'\n"), completes()]
    done = rehearse(whole_run(worker=work), verify=(looks,))
    set_ups = done.of(e.WorkspaceSetUp)
    ran = [one.command for set_up in set_ups for one in set_up.runs]
    assert len(ran) == 1, ran
    assert {Path(one.folder).name for one in set_ups} >= {"notes", "verify.1"}
    assert len({one.folder for one in set_ups}) == len(set_ups), "each place is set up once"
    assert [one.again for one in set_ups if one.task_id == "notes"] == [(".venv",)]
    assert (environment / "notes.txt").read_text() == "1\n", "a file of the copy names the first place"


def delivered(repository: Path, shell: Shell, commit: str) -> list[str]:
    return shell(repository, "git", "ls-tree", "-r", "--name-only", commit).split()


EVIL = "import os; os.environ['STOLEN'] = 'yes'\n"


@pytest.mark.late
def test_what_the_tests_of_one_task_write_into_sqs_environment_meets_no_other_task(
    rehearse: Rehearse, environment: Path, shell: Shell
) -> None:
    """One task's tests plant a start-up file and change a package, as far as their sandbox lets them."""
    plants = (
        "import glob, os, pathlib, pip, sys\n"
        "if os.path.exists('good.txt'):\n    sys.exit('STOLEN' in os.environ)\n"
        "site = pathlib.Path(glob.glob('.venv/lib/*/site-packages')[0])\n"
        f"if os.path.exists('evil.txt'):\n    (site / 'evil.pth').write_text({EVIL!r})\n"
        f"    next(site.glob('pip/__init__.py')).write_text({EVIL!r})\n"
    )
    callers = whole_run(
        planner=[plans("first", "second", second=["first"])],
        **worker("first", 1, writes("evil.txt", "1\n"), completes()),
        **worker("second", 1, writes("good.txt", "1\n"), completes()),
        **{"reviewer/first/*": [passes()], "reviewer/second/*": [passes()]},
    )
    commit(environment, shell, {"check.py": plants})
    done = rehearse(callers, verify=("python3 check.py",), ends=None)
    verified = {one.task_id: [run.passed for run in one.runs] for one in done.of(e.VerificationFinished)}
    assert verified.get("second") == [True], done.output
    ran = [run.command for one in done.of(e.WorkspaceSetUp) for run in one.runs]
    assert len(ran) == 1, "the copies come from what was made at the base"


@pytest.mark.slow
def test_a_build_backend_that_one_task_changes_serves_its_tree_alone(
    rehearse: Rehearse, environment: Path, shell: Shell
) -> None:
    evil = BACKEND.replace('os.path.abspath("src")', f'os.path.abspath("src") + {chr(10) + EVIL!r}')
    assert evil != BACKEND
    looks = "import os, sys\nsys.exit(os.path.exists('evil.txt') != ('STOLEN' in os.environ))\n"
    commit(environment, shell, {"check.py": looks})
    sees = "python3 -c \"import os; print('STOLEN' in os.environ)\" > good.txt"
    callers = whole_run(
        planner=[plans("first", "second")],
        **worker("first", 1, writes("backend.py", evil), writes("evil.txt", "1\n"), completes()),
        **worker("second", 1, says(call("Bash", command=sees)), completes()),
        **{"reviewer/first/*": [passes()], "reviewer/second/*": [passes()]},
    )
    done = rehearse(callers, verify=("python3 check.py",), ends=None)
    verified = done.of(e.VerificationFinished)
    assert {one.task_id for one in verified} >= {"first", "second"}, done.output
    assert all(run.passed for one in verified for run in one.runs), done.output
    assert "good.txt" in delivered(environment, shell, done.view.whole.commit), done.output
    assert shell(environment, "git", "show", f"{done.view.whole.commit}:good.txt") == "False"


@pytest.mark.late
def test_a_module_that_is_missing_in_a_place_of_sqs_is_made_anew_before_anybody_is_told(
    rehearse: Rehearse, environment: Path
) -> None:
    """The command removes a package of the environment once, as a person might, and misses it then."""
    once = environment.parent / "once"
    loses = (
        f"test ! -e notes.txt || test -e {once} || {{ touch {once}; rm -r .venv/lib/*/site-packages/pip; }}; "
        "python3 -m pip --version"
    )
    done = rehearse(whole_run(), settings={"sandbox": "off"}, verify=(loses,))
    assert once.exists()
    assert [run.passed for one in done.of(e.VerificationFinished) for run in one.runs].count(False) == 0
    assert "No module named" not in done.output
