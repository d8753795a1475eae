"""A run goes on from its checkpoint in another folder: with its refs, unfinished files, and objects no ref leads to."""

import re
import subprocess
from pathlib import Path

import pytest
from language.fleets import scenario
from language.played_sq import PLAYED_SQ

from benchmarks.rehearsed import calls, git, reports
from orchestrator.fleet.checkpoint import CONTENT, Checkpoints, SecretInWorkError, restore
from orchestrator.fleet.transport import Workplace, files_at, git_line
from state.journal.events import RunInterrupted
from state.journal.store import Journal, JournalReader, journal_file
from state.redaction.known import Known
from state.redaction.redactor import Redactor

pytestmark = pytest.mark.late  # processes of whole fleets


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    """A place with a complete run."""
    root = tmp_path / "first"
    (root / "repository").mkdir(parents=True)
    git(root / "repository", "init", "--quiet", "--initial-branch=main")
    (root / "repository" / "sq.toml").write_text('verify = ["test -s notes.txt || test ! -e other.txt"]\n')
    git(root / "repository", "add", "--all")
    git(root / "repository", "commit", "--quiet", "--message", "A project")
    (root / "spec.md").write_text("# Notes\n\nWrite notes.txt.\n")
    done = reports("task_complete", summary="Done.", tests="All pass.")
    writes = [
        calls("Write", file_path="{workspace}/other.txt", content="No note.\n"),
        done,  # is refused, so that the journal names a tree that no commit holds
        calls("Write", file_path="{workspace}/notes.txt", content="A long note: q7Xw9ZkLm3Tv5Rb8\n"),
        done,
    ]
    (root / "scenario.yaml").write_bytes(scenario(**{"worker/notes/*": writes}))
    options = ("--no-merge", "--effort", "low", "--state-dir", str(root / "state"), "--quiet", "--plain")
    subprocess.run(
        [
            *PLAYED_SQ,
            "run",
            "--spec",
            str(root / "spec.md"),
            "--rehearse",
            str(root / "scenario.yaml"),
            *options,
        ],
        cwd=root / "repository",
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "XDG_STATE_HOME": str(root / "local")},
        check=True,
    )
    return Workplace(root)


def checkpoints(place: Workplace, *known: str) -> Checkpoints:
    base = git_line(place.repository, "rev-parse", "main")
    redact = Redactor([Known("TOKEN", one) for one in known])
    return Checkpoints(place=place, base=base, branch="main", redact=redact)


def restored(place: Workplace, commit: str) -> tuple[Checkpoints, str]:
    """Make the run of a checkpoint in a place, as a worker that takes it up."""
    taken = checkpoints(place)
    run = restore(files_at(place.repository, commit, *CONTENT), place)
    taken.go_on_from(commit, run)
    return taken, run


def _is_there(place: Workplace, name: str) -> bool:
    asked = ["git", "-C", str(place.repository), "cat-file", "-e", name]
    return subprocess.run(asked, check=False, capture_output=True).returncode == 0


def test_a_run_is_the_same_in_another_folder(place: Workplace, tmp_path: Path) -> None:
    folder = place.run_folder
    assert folder is not None
    commit = checkpoints(place).take("A checkpoint")
    other = Workplace(tmp_path / "second")
    other.root.mkdir()
    git(place.root, "clone", "--quiet", "--no-local", str(place.repository), str(other.repository))
    git(other.repository, "fetch", "--quiet", str(place.repository), commit)

    assert restored(other, commit)[1] == folder.name

    with JournalReader(folder) as before, JournalReader(other.state / "runs" / folder.name) as after:
        told, now = before.read(), after.read()
    assert [one.seq for one in told] == [one.seq for one in now]
    assert str(place.root) not in repr(now)
    assert str(other.repository) in repr(now)
    words = ("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/sq", "refs/heads/sq-tasks")
    assert git(place.repository, *words) == git(other.repository, *words) != ""
    words = re.findall(r"\b[0-9a-f]{40}\b", repr(told))
    kinds = {
        one: git(place.repository, "cat-file", "-t", one).strip() for one in words if _is_there(place, one)
    }
    assert {"commit", "tree"} <= {*kinds.values()}
    for name in kinds:
        git(other.repository, "cat-file", "-e", name)
    transcripts = sorted(one.name for one in folder.glob("claude/*/projects/*/*.jsonl"))
    assert transcripts == sorted(
        one.name for one in other.root.glob("state/runs/*/claude/*/projects/*/*.jsonl")
    )


def test_a_run_whose_journal_is_just_being_made_has_no_checkpoint_yet(
    place: Workplace, tmp_path: Path
) -> None:
    """Its worker looks every moment: while the file has no table, and while the table has no event."""
    other = Workplace(tmp_path / "second")
    folder = other.state / "runs" / "20260131-142501-k3f9"
    folder.mkdir(parents=True)
    git(place.root, "clone", "--quiet", "--no-local", str(place.repository), str(other.repository))
    taken = checkpoints(other)
    assert taken.take("No file") == ""
    journal_file(folder).touch()
    assert taken.take("No table") == ""
    with Journal(folder):
        assert taken.take("No event") == ""
    assert not taken.has_run


def test_a_run_that_moves_twice_names_its_last_folder_alone(place: Workplace, tmp_path: Path) -> None:
    before, commit, taken = place, "", checkpoints(place)
    for name in ("second", "third"):
        commit = taken.take(f"Before {name}")
        other = Workplace(tmp_path / name)
        other.root.mkdir()
        git(place.root, "clone", "--quiet", "--no-local", str(before.repository), str(other.repository))
        git(other.repository, "fetch", "--quiet", str(before.repository), commit)
        taken, _ = restored(other, commit)
        folder = other.run_folder
        assert folder is not None
        with Journal(folder) as journal:
            journal.append(RunInterrupted(by=f"{other.root}/{name}"))
        before = other

    folder = before.run_folder
    assert folder is not None
    with JournalReader(folder) as reader:
        told = repr(reader.read())
    assert str(tmp_path / "third" / "repository") in told
    assert str(place.root) not in told
    assert str(tmp_path / "second") not in told


def test_a_second_checkpoint_of_what_has_not_changed_adds_nothing_but_itself(place: Workplace) -> None:
    taken = checkpoints(place)
    first, second = taken.take("One"), taken.take("Two")

    assert git(place.repository, "rev-parse", f"{second}^1") == first
    assert git(place.repository, "diff", "--stat", first, second, "--", "journal", "files") == ""


def test_a_secret_in_the_work_is_not_put_into_a_checkpoint(place: Workplace) -> None:
    with pytest.raises(SecretInWorkError, match="holds a secret of this host"):
        checkpoints(place, "q7Xw9ZkLm3Tv5Rb8").take("A checkpoint")


def test_a_secret_in_a_conversation_is_taken_out_and_the_conversation_stays_readable(
    place: Workplace,
) -> None:
    import json

    folder = place.run_folder
    assert folder is not None
    file = next(folder.glob("claude/*/projects/*/*.jsonl"))
    file.write_text(json.dumps({"text": 'say "zebra9-Ab3dEf6hIj9kLm2n" aloud'}) + "\n" + file.read_text())
    commit = checkpoints(place, "zebra9-Ab3dEf6hIj9kLm2n").take("A checkpoint")
    path = "files/" + str(file.relative_to(folder)).replace(
        re.sub("[^a-zA-Z0-9]", "-", str(place.root)), "-sq-fleet-work"
    )
    kept = git(place.repository, "show", f"{commit}:{path}").splitlines()[0]
    assert "zebra9" not in kept
    assert json.loads(kept)["text"].startswith('say "')
