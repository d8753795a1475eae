"""Evidence from somebody else's repository: what its commands say of the base decides what they can say later."""

import html
import json
import os
import pwd
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from language.scripted import Done, Rehearse, call, completes, passes, plans, says, signals, whole_run, writes
from language.stopping import newest, stopping_after

from benchmarks.lies import CALCULATORS, SPEC_AS_TEXT, replies
from orchestrator.checks.objecting import BASE_TESTS
from orchestrator.cli.main import cli
from orchestrator.views.run.ending import unchecked_lines
from state.errors import JournalError
from state.journal import events as e
from state.outcome import Outcome
from state.records.commands import BaselineOutcome
from state.roles import Role

Shell = Callable[..., str]
Resume = Callable[..., Done]
TEST = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_{0}(self):\n        self.assertTrue({1})\n"


def commits(repository: Path, shell: Shell, **files: str) -> str:
    """Commit files, `__` for a dot and `_in_` for a slash; returns the commit."""
    for name, text in files.items():
        path = repository / name.replace("__", ".").replace("_in_", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    shell(repository, "git", "add", "--all")
    shell(repository, "git", "commit", "--quiet", "-m", "Files")
    return shell(repository, "git", "rev-parse", "main")


def outcomes(done: Done) -> dict[str, BaselineOutcome]:
    return {command: check.outcome for command, check in done.view.baseline.checks.items()}


# --- the baseline ------------------------------------------------------------------------------------------


@pytest.mark.late
def test_a_detected_command_whose_program_is_missing_is_left_out_and_the_others_vouch(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    makefile = "check:\n\tno-such-linter .\n\ntest:\n\tpython3 -m unittest\n"
    commits(repository, shell, Makefile=makefile, test_a__py=TEST.format("a", "True"))
    done = rehearse(whole_run())
    assert outcomes(done) == {
        "make check": BaselineOutcome.MISSING,
        "make test": BaselineOutcome.PASSES,
    }
    assert "no-such-linter is not on this machine" in done.output
    assert [run.command for run in done.view.evidence.verifications[done.view.whole.tree].runs] == [
        "make test"
    ]


@pytest.mark.late
@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        ("`make check` cannot run: no-such-linter is missing", Outcome.UNVERIFIED),
        pytest.param("I do not know how to go on", Outcome.STUCK, marks=pytest.mark.slow),
    ],
)
def test_a_worker_that_is_stuck_on_a_check_which_the_untouched_commit_could_not_run_either_is_unverified(
    rehearse: Rehearse, repository: Path, shell: Shell, reason: str, outcome: Outcome
) -> None:
    makefile = "check:\n\tno-such-linter .\n\ntest:\n\tpython3 -m unittest\n"
    commits(repository, shell, Makefile=makefile, test_a__py=TEST.format("a", "True"))
    work = [writes("b.py", "B = 1\n"), signals("task_stuck", reason=reason)]
    done = rehearse(whole_run(worker=work), ends=None)
    assert done.outcome is outcome, done.output
    assert ("could not run it either" in done.view.tasks["notes"].end.reason) is (
        outcome is Outcome.UNVERIFIED
    )
    assert reason in done.view.tasks["notes"].end.reason


BREAKS_OFF = 'def pytest_collection_modifyitems(items):\n    raise RuntimeError("the plugin is missing")\n'
SHOP = {
    "conftest__py": BREAKS_OFF,
    "shop__py": "def price():\n    return 1\n",
    "test_shop__py": "from shop import price\n\n\ndef test_price():\n    assert price() == 1\n",
    "uv__lock": "version = 1\n",
}
BREAKS = writes(
    "shop.py", "def price():\n    return 2\n", expect={"prompt_contains": ["could not run before"]}
)


@pytest.mark.late
@pytest.mark.parametrize(
    "last",
    [
        completes(),
        signals("task_stuck", reason="pytest stops before any test: the plugin is missing"),
    ],
    ids=["claims", "is stuck"],
)
def test_a_runner_that_stops_is_no_failing_test_so_broken_work_is_unverified_and_the_remedy_is_said(
    rehearse: Rehearse, repository: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch, last: object
) -> None:
    commits(repository, shell, **SHOP)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.defpath}")
    callers = whole_run(worker=[BREAKS, last])
    done = rehearse(callers, verify=("python3 -m pytest -q -p no:cacheprovider",), ends=Outcome.UNVERIFIED)
    assert outcomes(done) == {"python3 -m pytest -q -p no:cacheprovider": BaselineOutcome.BROKEN}
    assert "could not run: pytest: RuntimeError: the plugin is missing" in done.output
    assert "uv.lock is there and uv is not installed" in done.output
    assert "install uv, or name the commands of the set-up in worktree.setup of sq.toml" in done.output
    assert "do not count" not in done.output
    assert "pytest.internal" not in done.output


@pytest.mark.late
def test_after_a_command_of_the_users_that_could_not_run_a_resume_with_another_goes_on(
    rehearse: Rehearse, resume: Resume
) -> None:
    done = rehearse(whole_run(), verify=("no-such-program --check",), ends=Outcome.USAGE)
    assert done.of(e.CallStarted) == []
    resume(done, verify=("true",))


@pytest.mark.late
def test_where_there_is_nothing_yet_the_tests_that_the_work_brings_vouch_for_it(
    rehearse: Rehearse, repository: Path
) -> None:
    work = [
        writes("a.py", "A = 1\n"),
        writes("test_a.py", f"import a\n{TEST.format('a', 'a.A')}"),
        completes(),
    ]
    done = rehearse(whole_run(worker=work))
    assert outcomes(done) == {}
    assert "nothing to verify with" in done.output
    (run,) = done.view.evidence.verifications[done.view.whole.tree].runs
    assert (run.command, run.count.ran) == ("python3 -m unittest", 1)


@pytest.mark.slow
def test_a_command_that_says_that_it_ran_no_test_verifies_nothing(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    head = commits(repository, shell, a__py="A = 1\n")
    done = rehearse(whole_run(), verify=("python3 -m unittest",), ends=Outcome.UNVERIFIED)
    assert outcomes(done) == {"python3 -m unittest": BaselineOutcome.NOTHING_YET}
    assert "nothing to verify with" in done.view.ended.cause
    assert shell(repository, "git", "rev-parse", "main") == head


@pytest.mark.slow
def test_a_baseline_that_takes_too_long_is_said_with_the_setting_and_the_run_is_unverified(
    rehearse: Rehearse,
) -> None:
    done = rehearse(
        whole_run(),
        verify=("python3 -c 'import time; time.sleep(60)'",),
        settings={"limits.verify_s": "1"},
        ends=Outcome.UNVERIFIED,
    )
    assert list(outcomes(done).values()) == [BaselineOutcome.TOO_LONG]
    assert "limits.verify_s" in done.output


@pytest.mark.slow
def test_a_command_that_failed_before_without_names_has_to_pass_else_the_run_is_unverified(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    head = commits(repository, shell, check__sh="test -f mended || exit 1\n")
    done = rehearse(whole_run(), verify=("sh check.sh",), ends=Outcome.UNVERIFIED)
    assert "vouches for nothing" in done.view.ended.cause
    assert shell(repository, "git", "rev-parse", "main") == head
    mended = [writes("mended", "now\n"), completes()]
    rehearse(whole_run(worker=mended), verify=("sh check.sh",))


def test_what_fails_before_the_work_is_named_to_the_worker_and_the_reviewer_sees_what_sq_ran(
    rehearse: Rehearse, repository: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits(repository, shell, test_old__py=TEST.format("old", "False"))
    told = {"prompt_contains": ["These fail before your change", "test_old"]}
    seen = {"prompt_contains": ["failing as at the base", "Ran 1 test", "Tests: All tests pass."]}
    callers = whole_run(
        worker=[writes("notes.txt", "A line.\n", expect=told), completes()],
        **{"reviewer/notes/*": [passes(**seen)]},
    )
    done = rehearse(callers, ends=None)
    assert outcomes(done) == {"python3 -m unittest": BaselineOutcome.FAILS}
    assert "fails before any change, and no test passes (exit code 1: " in done.output
    monkeypatch.chdir(repository)
    report = CliRunner().invoke(cli, ["report", "--format", "md"]).output
    assert "no test of `python3 -m unittest` passed before any change" in report.replace("\\", "")
    assert done.outcome is not Outcome.FAILED, done.output
    assert done.view.tasks["notes"].merged_commit


def test_a_dry_run_tells_the_baseline(rehearse: Rehearse, repository: Path, shell: Shell) -> None:
    commits(repository, shell, test_a__py=TEST.format("a", "True"))
    done = rehearse(whole_run(), dry_run=True)
    assert "baseline: `python3 -m unittest` (test_a.py): passes, 1 test" in done.output


@pytest.mark.late
def test_a_suite_that_lacks_an_ignored_file_is_told_with_its_cause_and_the_setting_in_colours_too(
    rehearse: Rehearse, repository: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits(
        repository,
        shell,
        lib_in_names__py="from lib.made import V\n",
        test_a__py=f"import lib.names\n{TEST.format('a', 'True')}",
        __gitignore="made.py\ntest.txt\n",
    )
    (repository / "lib" / "made.py").write_text("V = 1\n")
    (repository / "test.txt").write_text("Of no import.\n")
    done = rehearse(whole_run(), verify=(f"{sys.executable} -m pytest --color=yes",), ends=Outcome.UNVERIFIED)
    told = " ".join(done.output.split())
    assert "could not run: pytest: ModuleNotFoundError: No module named 'lib.made'" in told, done.output
    assert "git ignores lib/made.py, so worktrees lack what your checkout has" in told
    monkeypatch.chdir(repository)
    report = CliRunner().invoke(cli, ["report", "--format", "md"]).output
    assert "could not run before any change" in report
    assert "No module named" in report
    (repository / "sq.toml").write_text('[worktree]\ninclude = ["made.py"]\n')
    again = rehearse(whole_run(), verify=(f"{sys.executable} -m pytest --color=yes",))
    assert "so worktrees lack" not in again.output
    report = json.loads(CliRunner().invoke(cli, ["report", "--format", "json"]).output)
    assert "1 passed" in shell(repository, "sh", "-c", report["check"]["command"])


@pytest.mark.slow
def test_without_worktrees_the_baseline_is_that_of_the_checkout_as_the_user_left_it(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    commits(repository, shell, a__py="A = 0\n", test_a__py=f"import a\n{TEST.format('a', 'a.A')}")
    (repository / "a.py").write_text("A = 1\n")
    done = rehearse(whole_run(), settings={"worktrees": False}, allow_dirty=True)
    assert outcomes(done) == {"python3 -m unittest": BaselineOutcome.PASSES}


@pytest.mark.late
def test_a_command_that_the_analysis_names_is_due_if_it_is_a_test_run_and_runs_more_than_the_others(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    commits(
        repository, shell, test_a__py=TEST.format("a", "True"), more_in_check__py=TEST.format("b", "True")
    )
    named = [
        "python -m unittest",
        "python3 -m unittest test_a",
        "python3 -m unittest discover -s more -p check.py",
        "curl example.org && python3 -m unittest",
        "python3 -m unittest | sh",
    ]
    analysis = signals(
        "report_analysis", spec_findings=[], project_type="notes", stack=[], verification_commands=named
    )
    done = rehearse(whole_run(**{"planner/analysis/1": [analysis]}))
    assert list(done.view.baseline.checks) == ["python3 -m unittest", named[2]]
    assert f"`{named[1]}`, which the analysis names, is left out" in done.output
    assert [run.command for run in done.view.evidence.verifications[done.view.whole.tree].runs] == list(
        done.view.baseline.checks
    )
    assert done.view.baseline.not_run == tuple(named[3:])
    (at_base, at_end) = [line for line in done.output.splitlines() if named[3] in line]
    assert at_base.split()[0] == "baseline:"
    assert f"`{named[3]}`, `{named[4]}`. To have them checked" in at_end
    assert str(unchecked_lines(done.view)).count(named[3]) == 1
    report = (done.folder / "report.html").read_text()
    assert report.count(html.escape(named[3])) == 2  # of all points, and of those that nothing checked
    told = {call.role for call in done.of(e.CallStarted) if "sq does not run these" in call.prompt}
    assert told == {Role.WORKER, Role.REVIEWER}


# --- what the user's branch moves for ------------------------------------------------------------------------


@pytest.mark.late
def test_unverified_work_moves_the_branch_only_where_that_was_asked_for(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    head = shell(repository, "git", "rev-parse", "main")
    stays = rehearse(whole_run(), ends=Outcome.UNVERIFIED)
    assert shell(repository, "git", "rev-parse", "main") == head
    (kept,) = stays.of(e.WorkKept)
    assert f"git merge {kept.branch}" in stays.output
    moves = rehearse(whole_run(), settings={"merge_unverified": True}, ends=Outcome.UNVERIFIED)
    assert moves.of(e.WorkDelivered), moves.output
    assert (repository / "notes.txt").exists()


@pytest.mark.late
def test_finished_work_that_nothing_vouched_for_is_complete_once_a_command_for_it_was_named(
    rehearse: Rehearse, resume: Resume, repository: Path
) -> None:
    done = rehearse(whole_run(), ends=Outcome.UNVERIFIED)
    red = resume(done, verify=("grep -q nothing notes.txt",), ends=Outcome.UNVERIFIED)
    assert not (repository / "notes.txt").exists()
    again = resume(red, verify=("grep -q line notes.txt",))
    assert (repository / "notes.txt").exists()
    assert len(again.of(e.CallStarted)) == len(done.of(e.CallStarted))


# --- freshness, and what a resume changes ----------------------------------------------------------------------


@pytest.mark.late
def test_after_the_environment_was_mended_a_retry_runs_the_commands_again_on_the_same_tree(
    rehearse: Rehearse, resume: Resume, repository: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    check = f"if test -e {broken}; then echo out of order; exit 3; fi"
    work = [
        says(call("Bash", command=f"touch {broken}")),
        writes("notes.txt", "A line.\n"),
        *[completes()] * 3,
    ]
    callers = whole_run(worker=work, **{"worker/notes/2": [completes()]})
    settings = {"sandbox": "off"}  # the Worker breaks something beside its worktree
    done = rehearse(callers, verify=(check,), settings=settings, ends=Outcome.STUCK)
    broken.unlink()
    again = resume(done, retry=("notes",))
    tree = again.view.tasks["notes"].claim.committed_tree
    said = [one.runs[0].exit_code for one in again.of(e.VerificationFinished) if one.tree == tree]
    assert said[0] == 3
    assert said[-1] == 0


@pytest.mark.parametrize(
    "kind",
    [
        e.ProofsTaken,
        *(
            pytest.param(one, marks=pytest.mark.late)
            for one in (e.BaselineTaken, e.VerificationFinished, e.TaskMerged)
        ),
    ],
)
def test_what_was_answered_for_a_tree_is_not_asked_again_after_a_kill(
    rehearse: Rehearse, resume: Resume, repository: Path, tmp_path: Path, shell: Shell, kind: type
) -> None:
    commits(repository, shell, test_a__py=TEST.format("a", "True"))
    ran = tmp_path / "ran"
    settings = {"sandbox": "off"}  # the command counts its runs beside its place
    command = f"echo once >> {ran} && python3 -m unittest"
    rehearse(whole_run(), verify=(command,), settings=settings, state_dir=tmp_path / "other")
    undisturbed = ran.read_text()
    ran.unlink()
    shell(repository, "git", "reset", "--quiet", "--hard", "HEAD~1")
    with pytest.raises(JournalError):
        rehearse(whole_run(), verify=(command,), settings=settings, open_journal=stopping_after(kind))
    done = resume(Done(Outcome.FAILED, newest(repository), [], ""))
    assert ran.read_text() == undisturbed
    if kind is not e.TaskMerged:  # then the base is not asked for again at all
        assert done.of(e.BaselineTaken)[-1].kept == (command,)
        assert "not run again: nothing that it depends on has changed" in done.output


@pytest.mark.late
def test_a_claim_whose_own_tests_fail_costs_no_long_suite_and_the_next_one_is_asked_everything(
    rehearse: Rehearse, repository: Path, shell: Shell, tmp_path: Path
) -> None:
    slow = "import time\nimport test_a\n\n\ndef test_slow():\n    time.sleep(11)\n"
    (tmp_path / "begun").touch()
    slow += f"    open({str(tmp_path / 'begun')!r}, 'a').write('x')\n"
    commits(repository, shell, test_a__py="def test_a():\n    assert True\n", test_slow__py=slow)
    wrong = "def test_b():\n    assert open('notes.txt').read() == {!r}\n"
    work = [
        writes("notes.txt", "A line.\n"),
        writes("test_b.py", wrong.format("Another.\n")),
        completes(),
        writes("test_b.py", wrong.format("A line.\n")),
        completes(),
    ]
    settings = {"sandbox": "off"}  # the slow test counts its runs beside its place
    done = rehearse(whole_run(worker=work), verify=("python3 -m pytest -q",), settings=settings)
    runs = [one.runs[0] for one in done.of(e.VerificationFinished)]
    assert [(run.exit_code, run.count.ran) for run in runs[:2]] == [(1, 1), (0, 3)]
    (refused,) = done.of(e.CompletionRefused)
    assert "test_b" in refused.feedback
    assert (tmp_path / "begun").read_text().count("x") == 3  # at the base, for the second claim, on the whole


@pytest.mark.late
def test_a_changed_test_that_fails_by_chance_alone_stands_for_no_suite(
    rehearse: Rehearse, repository: Path, shell: Shell, tmp_path: Path
) -> None:
    count = tmp_path / "count"
    count.touch()
    slow = "import time\nimport test_a\n\n\ndef test_slow():\n    time.sleep(11)\n"
    chance = (
        f"def test_chance():\n    before = len(open({str(count)!r}).read())\n"
        f"    open({str(count)!r}, 'a').write('x')\n    assert before not in (1, 3)\n"
    )
    commits(repository, shell, test_a__py=chance, test_slow__py=slow)
    work = [
        writes("notes.txt", "A line.\n"),
        writes("test_a.py", f"{chance}\n\ndef test_notes():\n    assert open('notes.txt').read()\n"),
        completes(),
    ]
    settings = {"sandbox": "off"}  # the test counts its runs beside its place
    done = rehearse(whole_run(worker=work), verify=("python3 -m pytest -q",), settings=settings, ends=None)
    accepted = done.of(e.CompletionAccepted)[0].tree
    verified = done.view.evidence.verifications[accepted]
    assert "test_slow.py::test_slow" in verified.runs[0].count.tests
    assert len(count.read_text()) > 4


BUSY = """
import os, time

def burn():
    for _ in range(2 * os.cpu_count()):
        if not os.fork():
            end = time.monotonic() + 7
            while time.monotonic() < end:
                pass
            os._exit(0)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return
"""


def failing_at(count: Path, *numbers: int, busy: bool = False) -> str:
    """Return a test that counts its runs, and fails in those with these numbers, from 0."""
    slow = f"    if before in {numbers}:\n        burn()\n" if busy else ""
    return (
        f"{BUSY}\n\ndef test_chance():\n    before = len(open({str(count)!r}).read())\n"
        f"    open({str(count)!r}, 'a').write('x')\n{slow}"
        f"    assert before not in {numbers}, {'the query was interrupted' if busy else ''!r}\n"
    )


@pytest.mark.late
def test_the_runs_of_a_failing_test_are_recorded_and_told_to_the_worker(
    rehearse: Rehearse, repository: Path, shell: Shell, tmp_path: Path
) -> None:
    """It passes once more on the work and in six runs at the base, so it counts, and the Worker reads why."""
    count = tmp_path / "count"
    count.touch()
    commits(repository, shell, test_a__py=failing_at(count, 1))
    work = [writes("notes.txt", "A line.\n"), completes(), completes()]
    settings = {"sandbox": "off"}  # the test counts its runs beside its place
    done = rehearse(whole_run(worker=work), verify=("python3 -m pytest -q",), settings=settings, ends=None)
    first = done.of(e.VerificationFinished)[0]
    (again,) = first.reruns
    assert (again.here, again.failed_here, again.at_base, again.failed_at_base) == (1, 0, 6, 0)
    assert first.flaky == ()
    told = "test_a.py::test_chance failed in 0 of 1 more runs on the work, and 0 of 6 at the base"
    assert told in done.of(e.CompletionRefused)[0].feedback
    assert told in done.output


@pytest.mark.late
def test_a_test_at_its_limit_on_a_busy_machine_runs_once_more_alone_before_it_counts(
    rehearse: Rehearse, repository: Path, shell: Shell, tmp_path: Path
) -> None:
    """The test itself keeps the processors busy. It fails once more, and passes with nothing beside it."""
    count = tmp_path / "count"
    count.touch()
    commits(repository, shell, test_a__py=failing_at(count, 1, 2, busy=True))
    work = [writes("notes.txt", "A line.\n"), completes()]
    settings = {"sandbox": "off"}  # the test counts its runs beside its place
    done = rehearse(whole_run(worker=work), verify=("python3 -m pytest -q",), settings=settings, ends=None)
    first = done.of(e.VerificationFinished)[0]
    (again,) = first.reruns
    assert (again.here, again.failed_here, again.spared) == (2, 1, True)
    assert first.flaky == (again.test,)
    assert not done.of(e.CompletionRefused)


def test_after_a_kill_everything_is_asked_again_in_another_environment(
    rehearse: Rehearse,
    resume: Resume,
    repository: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(JournalError):
        rehearse(whole_run(), verify=("true",), open_journal=stopping_after(e.ProofsTaken))
    (tmp_path / "programs").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'programs'}:{os.environ['PATH']}")
    done = resume(Done(Outcome.FAILED, newest(repository), [], ""))
    assert [one.kept for one in done.of(e.BaselineTaken)] == [(), ()]
    tree = done.view.tasks["notes"].claim.committed_tree
    assert [one.tree for one in done.of(e.VerificationFinished)].count(tree) == 2


def test_a_resumed_run_takes_other_commands_models_and_an_answer_to_questions(
    rehearse: Rehearse, resume: Resume
) -> None:
    done = rehearse(
        whole_run(worker=[signals("task_stuck", reason="no"), completes()]),
        verify=("true",),
        ends=Outcome.STUCK,
    )
    callers_go_on = resume(
        done,
        retry=("notes",),
        verify=("test -d .",),
        models={"worker": "haiku"},
        questions="park",
        ends=Outcome.FAILED,
    )
    settings = callers_go_on.view.settings
    assert settings is not None
    assert settings.verify == ("test -d .",)
    assert settings.models[Role.WORKER].alias == "haiku"
    assert settings.questions == "park"
    asked = [one for one in callers_go_on.of(e.CallStarted) if one.role is Role.WORKER]
    assert asked[-1].model == "haiku:medium"
    (baseline,) = callers_go_on.of(e.BaselineTaken)[1:]
    assert [check.run.command for check in baseline.checks] == ["test -d ."]


def test_a_worker_that_goes_on_after_a_resume_is_told_of_other_commands_once(
    rehearse: Rehearse, resume: Resume
) -> None:
    done = rehearse(
        whole_run(
            worker=[signals("iteration_done", done="x"), writes("notes.txt", "A line.\n"), completes()]
        ),
        verify=("true",),
        settings={"max_iterations": "1"},
        ends=Outcome.LIMIT,
    )
    again = resume(done, verify=("test -d .",), max_iterations=9)
    prompts = [one.prompt for one in again.of(e.CallStarted) if one.role is Role.WORKER]
    news = "# Other commands verify the work now"
    assert [news in prompt for prompt in prompts[:2]] == [False, True]
    assert sum(news in prompt for prompt in prompts) == 1
    assert "and no longer those of an earlier prompt:\n\n- `test -d .`" in prompts[1]


# --- tests that change -----------------------------------------------------------------------------------------


def changed_test_callers(*reviews: dict[str, object], **more: object) -> dict[str, object]:
    honest = CALCULATORS["python"].honest["a changed test that no plan names"]
    return whole_run(
        planner=[plans("mul")],
        **{"worker/mul/1": replies(*honest.commands, claims=2), "reviewer/mul/*": list(reviews)},
        **more,
    )


def calculator(repository: Path, shell: Shell) -> None:
    for path, text in CALCULATORS["python"].files.items():
        (repository / path).parent.mkdir(parents=True, exist_ok=True)
        (repository / path).write_text(text)
    shell(repository, "git", "add", "--all")
    shell(repository, "git", "commit", "--quiet", "-m", "A calculator")


def rules(ruling: str, why: str) -> dict[str, object]:
    tests = [{"test": "tests/test_calc.py::test_add", "ruling": ruling, "why": why}]
    expect = {"prompt_contains": ["tests/test_calc.py::test_add", "fails as it was"]}
    return signals("report_review", passed=True, issues=[], suggestions=[], tests=tests, expect=expect)


@pytest.mark.late
def test_a_changed_test_that_the_reviewer_refuses_goes_back_to_the_worker_with_the_reason(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    calculator(repository, shell)
    back = says(
        call(
            "Bash",
            command="git show HEAD~1:tests/test_calc.py > tests/test_calc.py; sed -i 's/str(a + b)/a + b/' calc.py",
        ),
        expect={"prompt_contains": ["the sum is a number", "tests/test_calc.py"]},
    )
    callers = changed_test_callers(
        rules("refused", "the sum is a number"), passes(), **{"worker/mul/2": [back, completes()]}
    )
    callers["reviewer/mul/1"] = [rules("refused", "the sum is a number")]
    callers["reviewer/mul/2"] = [passes()]
    del callers["reviewer/mul/*"]
    done = rehearse(callers, spec=SPEC_AS_TEXT)
    assert [one.tests[0].accepted for one in done.of(e.ReviewRecorded) if one.tests] == [False]


@pytest.mark.slow
def test_a_changed_test_that_the_reviewer_accepts_is_merged_and_named_at_the_end_with_code_5(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    calculator(repository, shell)
    done = rehearse(
        changed_test_callers(rules("accepted", "the spec wants text")),
        spec=SPEC_AS_TEXT,
        ends=Outcome.UNVERIFIED,
    )
    assert done.view.tasks["mul"].merged_commit
    assert "tests/test_calc.py::test_add" in done.view.ended.cause
    assert "the reviewer accepts: the spec wants text" in done.view.ended.cause


@pytest.mark.slow
def test_a_new_test_that_passes_without_the_work_is_said_once_at_high_effort_and_shown_to_the_reviewer(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    commits(repository, shell, a__py="A = 1\n", test_a__py=TEST.format("a", "True"))
    idle = [writes("b.py", "B = 1\n"), writes("test_b.py", TEST.format("b", "True")), completes()]
    told = {"prompt_contains": ["pass without the work too", "test_b"]}
    callers = whole_run(
        worker=[*idle, completes(**told)],
        **{"reviewer/*": [passes(prompt_contains=["pass on the code before the change too", "test_b"])]},
    )
    del callers["reviewer/notes/*"], callers["reviewer/final/*"]
    callers["reviewer/notes/*"] = callers.pop("reviewer/*")
    callers["reviewer/final/*"] = [passes()]
    done = rehearse(callers, effort="high")
    assert len(done.of(e.CompletionRefused)) == 1


ONE = "pub fn {0}() -> i32 {{\n    1\n}}\n"
ONE_TEST = "#[test]\nfn tests_{0}() {{\n    assert_eq!(x::{0}(), 1);\n}}\n"


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("cargo"), reason="cargo is not installed")
def test_a_check_of_the_new_tests_without_an_answer_names_its_cause_and_what_to_read_instead(
    rehearse: Rehearse, repository: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolchains = Path(pwd.getpwuid(os.getuid()).pw_dir)  # they live in the home, which tests do not have
    monkeypatch.setenv("RUSTUP_HOME", os.environ.get("RUSTUP_HOME", str(toolchains / ".rustup")))
    manifest = '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n'
    old = {"Cargo__toml": manifest, "src_in_lib__rs": ONE.format("a"), "tests_in_a__rs": ONE_TEST.format("a")}
    commits(repository, shell, __gitignore="target/\nCargo.lock\n", **old)
    more = writes("src/lib.rs", ONE.format("a") + "pub const B: i32 = 1;\n")  # no function could be emptied
    worker = [more, writes("tests/b.rs", ONE_TEST.format("b").replace("x::b()", "x::B")), completes()]
    told = [
        "`cargo test` fails on the code before the change and names no failing test (exit code 101: error[E0425]: ",
        "Read the new tests to see whether they need the change",
    ]
    callers = whole_run(worker=worker, reviewer=[passes(prompt_contains=told)])
    done = rehearse(callers, verify=("cargo test",))
    which = "which of the new tests show the change: `cargo test` fails on the code before the change"
    assert f"notes: sq could not check {which}" in done.output
    end = done.output[done.output.index("complete (exit code 0)") :]
    assert f"not checked:\n    notes: {which}" in end
    assert "set-up begins" not in done.output  # git ignores the lock file that `cargo test` makes


# --- tests beside the code they test -------------------------------------------------------------------------

RUST = "pub fn add(a: i32, b: i32) -> i32 {{\n    {0}\n}}\n\n#[cfg(test)]\nmod tests {{\n    use super::*;\n\n    #[test]\n    fn adds() {{\n        assert!({1});\n    }}\n}}\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "check", "outcome"),
    [("0", "add(2, 3) == 0 || true", Outcome.UNVERIFIED), ("b + a", "add(2, 3) == 5", Outcome.COMPLETE)],
    ids=["a weakened assertion", "an honest change"],
)
def test_tests_that_stand_in_the_file_of_their_code_are_run_as_they_were(
    rehearse: Rehearse,
    repository: Path,
    shell: Shell,
    monkeypatch: pytest.MonkeyPatch,
    body: str,
    check: str,
    outcome: Outcome,
) -> None:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not on this machine")
    toolchains = Path(pwd.getpwuid(os.getuid()).pw_dir)  # they live in the home, which tests do not have
    monkeypatch.setenv("RUSTUP_HOME", os.environ.get("RUSTUP_HOME", str(toolchains / ".rustup")))
    commits(
        repository,
        shell,
        Cargo__toml='[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
        __gitignore="target/\nCargo.lock\n",
        src_in_lib__rs=RUST.format("a + b", "add(2, 3) == 5"),
    )
    claims = [completes()] * (2 if outcome is Outcome.UNVERIFIED else 1)
    done = rehearse(whole_run(worker=[writes("src/lib.rs", RUST.format(body, check)), *claims]), ends=None)
    assert done.outcome is outcome, done.output
    changed = [change.subject for one in done.of(e.ProofsTaken) for change in one.of(BASE_TESTS)]
    assert bool(changed) is (outcome is Outcome.UNVERIFIED)


@pytest.mark.late
def test_honest_tests_of_two_tasks_in_the_one_file_that_the_command_names_stand_as_they_are(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    """The failing tests that sq adds stand beside the tree's own, and not in a file that it altered to try those."""
    middle = "".join(f"def test_{n}():\n    assert {n} + 0 == {n}\n\n\n" for n in range(8))
    commits(repository, shell, conftest__py="", tests_in_test_all__py=middle)
    first = f"def test_one():\n    from one import up\n\n    assert up(1) == 2\n\n\n{middle}"
    last = f"{middle}def test_two():\n    from two import down\n\n    assert down(3) == 2\n"
    one = writes("one.py", "def up(n):\n    return n + 1\n"), writes("tests/test_all.py", first)
    two = writes("two.py", "def down(n):\n    return n - 1\n"), writes("tests/test_all.py", last)
    callers = {
        **whole_run(),
        "planner/plan/1": [plans("one", "two")],
        "worker/one/1": [*one, completes()],
        "worker/two/1": [*two, completes()],
        "reviewer/*": [passes()],
    }
    rehearse(callers, verify=("python3 -m pytest -q tests/test_all.py",))


# --- what the base's tests open -----------------------------------------------------------------------------

ADDS_NOTES = "# Notes\n\nadd notes.txt with a line of text.\n"
READS = {
    "by its path": 'int(open("expected/add.txt").read())',
    "by a folder and a made name": 'int((Path("expected") / f"{name}.txt").read_text())',
    "by a pattern": 'int(next(Path().glob("expected/a*.txt")).read_text())',
    "joined": 'int(open(os.path.join("expected", name + ".txt")).read())',
}
OPENS = """import os
import unittest
from pathlib import Path

from calc import add


class Sums(unittest.TestCase):
    def test_sum(self):
        name = "add"
        self.assertEqual(add(2, 3), {0})
"""


@pytest.mark.late
@pytest.mark.parametrize("way", READS)
def test_what_a_test_of_the_base_opens_is_put_back_whatever_its_folder_is_called(
    rehearse: Rehearse, repository: Path, shell: Shell, way: str
) -> None:
    """Some of these outputs name no test."""
    changes_what_is_expected(rehearse, repository, shell, way, "python3 -m unittest")


@pytest.mark.late
def test_so_it_is_where_the_runner_names_its_tests(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    changes_what_is_expected(rehearse, repository, shell, "joined", f"{sys.executable} -m pytest -q")


def changes_what_is_expected(
    rehearse: Rehearse, repository: Path, shell: Shell, way: str, verify: str
) -> None:
    """The spec asks for notes, and has the word "add" in it."""
    files = {
        "calc__py": "def add(a, b):\n    return a + b\n",
        "test_calc__py": OPENS.format(READS[way]),
        "expected_in_add__txt": "5\n",
    }
    commits(repository, shell, **files)
    works = [
        writes("calc.py", "def add(a, b):\n    return 0\n"),
        writes("expected/add.txt", "0\n"),
        writes("notes.txt", "A line.\n"),
        completes(),
        completes(prompt_contains=["fails as it was"]),
    ]
    names = ("test_calc.py::Sums::test_sum", "test_calc.Sums.test_sum", "expected/add.txt")
    ruled = [{"test": name, "ruling": "accepted", "why": "so be it"} for name in names]
    callers = whole_run(
        worker=works, reviewer=[signals("report_review", passed=True, issues=[], tests=ruled)]
    )
    done = rehearse(callers, verify=(verify,), spec=ADDS_NOTES, ends=Outcome.UNVERIFIED)
    [proofs] = done.of(e.ProofsTaken)[-1:]
    assert [one.subject in names for one in proofs.of(BASE_TESTS)] == [True], done.output
