"""Each end of a run leaves its report, names it, and ends the same if the report cannot be written."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from language.sampled import sampled
from language.scripted import Rehearse, signals, whole_run
from language.tables import table

from orchestrator.views.report.rendering import read_run
from state.journal.store import Journal
from state.outcome import Outcome

STUCK = {"worker/notes/1": [signals("task_stuck", reason="no way")]}


@pytest.mark.parametrize(("callers", "outcome"), [({}, Outcome.COMPLETE), (STUCK, Outcome.STUCK)])
def test_an_end_leaves_a_report_and_a_summary_and_its_last_line_names_the_report(
    rehearse: Rehearse, callers: dict[str, object], outcome: Outcome
) -> None:
    done = rehearse(whole_run(**callers), verify=("true",), ends=None)
    assert done.outcome is outcome
    page = (done.folder / "report.html").read_text("utf-8")
    assert done.output.rstrip().splitlines()[-1] == f"report: {done.folder / 'report.html'}"
    assert f"exit code {outcome.exit_code}" in page
    said = json.loads((done.folder / "summary.json").read_text("utf-8"))
    assert (said["outcome"], said["exit_code"]) == (outcome, outcome.exit_code)
    assert said["rehearsal"]
    assert str(done.folder.parents[2]) not in page


@pytest.mark.late
def test_a_report_that_cannot_be_written_is_told_and_changes_nothing(rehearse: Rehearse) -> None:
    def in_the_way(folder: Path, **given: Any) -> Journal:
        (folder / "report.html").mkdir(exist_ok=True)
        return Journal(folder, **given)

    done = rehearse(whole_run(), verify=("true",), open_journal=in_the_way)
    assert "report: " not in done.output
    assert "report_not_written" in (done.folder / "sq.log").read_text("utf-8")


def test_a_dry_run_leaves_a_report_that_says_so(rehearse: Rehearse) -> None:
    done = rehearse(whole_run(), verify=("true",), dry_run=True)
    assert "Planned only" in (done.folder / "report.html").read_text("utf-8")


def test_a_run_in_the_checkout_has_a_report_with_its_changes_and_where_they_are(rehearse: Rehearse) -> None:
    done = rehearse(whole_run(), verify=("true",), settings={"worktrees": False})
    page = (done.folder / "report.html").read_text("utf-8")
    assert "it is in your checkout, uncommitted" in page
    assert "run it there" in page
    assert 'tr class="added"' in page
    assert "is gone from the repository" not in page


KINDS = table(__file__, "kinds")


@pytest.mark.late
@pytest.mark.parametrize("kind", sampled(KINDS, *list(KINDS)[1:3]))
def test_the_line_to_check_it_yourself_passes_in_a_plain_clone(
    rehearse: Rehearse, repository: Path, shell: Callable[..., str], tmp_path: Path, kind: str
) -> None:
    files, set_up, command = KINDS[kind]
    if not shutil.which(program := command.split()[0]) and program != "cd":
        pytest.skip(f"{program} is not installed")
    for name, text in files.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text)
    shell(repository, "git", "add", "--all")
    shell(repository, "git", "commit", "--quiet", "-m", "Files")
    in_the_root = "test -e .git"
    done = rehearse(whole_run(), verify=(command, in_the_root), settings={"worktree.setup": set_up})
    line = anyio.run(read_run, done.folder).report("1").check.command
    assert line.endswith(f" && {in_the_root}")
    shell(tmp_path, "git", "clone", "--quiet", str(repository), "clone")
    shell(tmp_path / "clone", "sh", "-c", line)
