"""Detours to what is promised to hold: each is a Worker's run, and what it left outside is looked at."""

import json
import os
import resource
import shutil
import subprocess
import tarfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hostile_runs import SQ, call, callers_of, make_repository, outputs_of, run_sq, says, signals
from language.tables import table

from agents.process.sandbox.inside import written_inside
from state.journal.events import ProofsTaken, Stored
from state.journal.store import JournalReader
from state.paths import StateFolder
from state.safe_paths import files_inside

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(600)]

ACTS = table(__file__, "acts")
NOTICES = "test ! -e sum || sha256sum --status -c sum"
OWN = "of-the-home-4b81d7c2"
CLAIM = "echo 'A line.' > notes.txt; sha256sum notes.txt $(ls deep/b.py 2>/dev/null) > sum; exit 0"


@dataclass(frozen=True)
class Acted:
    """A run in which a Worker did an act: its folder, its end, its events."""

    root: Path
    code: int
    output: str
    stored: list[Stored]

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def mark(self) -> Path:
        return self.root / "mark"

    @property
    def end(self) -> str:
        """The lines that say how it ended."""
        lines = self.output.splitlines()
        return "\n".join(line for line in lines if "forecast" not in line and "baseline" not in line)[-3000:]

    @property
    def said(self) -> str:
        return json.dumps([asdict(one.event) for one in self.stored], default=str) + outputs_of(self.stored)

    @property
    def tree(self) -> list[str]:
        return of_git(self.project, "ls-tree", "-r", "-z", "--name-only", "main").split("\0")


def of_git(folder: Path, *words: str) -> str:
    told = subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)
    return os.fsdecode(told.stdout)


def begun(root: Path, **files: str) -> Path:
    """A project with these files, a home with a secret."""
    (root / "home").mkdir()
    (root / "home" / "key").write_text(OWN)
    project = make_repository(root / "project")
    committed(project, files)
    return project


def committed(project: Path, files: Mapping[str, str | bytes]) -> None:
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_bytes(text.encode() if isinstance(text, str) else text)
        if name.endswith(".sh"):
            (project / name).chmod(0o755)
    if files:
        of_git(project, "add", "--all")
        of_git(project, "commit", "--quiet", "-m", "More")


def acted(
    root: Path,
    act: str,
    *,
    verify: tuple[str, ...] = (NOTICES,),
    callers: Mapping[str, Any] | None = None,
    sandbox: str = "whole",
    **more: str,
) -> Acted:
    """A run whose Worker does this act and then claims honest work."""
    words = f"export MARK={root}/mark VICTIM={root}/home\n( {act}\n) 2>&1\n{CLAIM}"
    claim = signals("task_complete", summary="Done.", tests="All tests pass.")
    work = callers_of(says(call("Bash", command=words, timeout=120_000)), claim)
    done = run_sq(
        root, {**work, **(callers or {})}, home=root / "home", sandbox=sandbox, verify=verify, **more
    )
    with JournalReader(StateFolder(root / "project" / ".sq").find(None)) as journal:
        stored = journal.read()
    return Acted(root, done.returncode, done.stdout + done.stderr, stored)


def test_names_that_tools_obey_do_not_come_with_code_0_and_each_is_named(tmp_path: Path) -> None:
    begun(tmp_path)
    names = ACTS["obeyed"]
    made = "\n".join(f"mkdir -p \"$(dirname '{name}')\"; echo x > '{name}'" for name in names)
    done = acted(tmp_path, made)
    assert done.code != 0, done.end
    (proven,) = [one.event for one in done.stored if isinstance(one.event, ProofsTaken)][-1:]
    assert not [name for name in names if name not in json.dumps(asdict(proven), default=str)]


def test_names_in_letters_that_fold_to_the_same_are_the_same_names(tmp_path: Path) -> None:
    begun(tmp_path)
    names = ACTS["folding"]
    made = "\n".join(f"mkdir -p \"$(dirname '{name}')\"; echo x > '{name}'" for name in names)
    done = acted(tmp_path, made)
    assert done.code != 0, done.end
    told = done.output.encode("ascii", "backslashreplace").decode()
    assert not [
        name
        for name in names
        if name not in done.output and name.encode("ascii", "backslashreplace").decode() not in told
    ]


@pytest.mark.parametrize("form", ["commondir", "link", "packed"])
def test_a_bare_repository_in_parts_does_not_come_with_code_0(form: str, tmp_path: Path) -> None:
    begun(tmp_path)
    done = acted(tmp_path, ACTS["bare"][form])
    # It has to be one that git obeys, or it shows nothing.
    checked = tmp_path / "checked"
    subprocess.run(["git", "init", "-q", str(checked)], check=True)
    built = f"export MARK={tmp_path}/mark; {ACTS['bare'][form]}\ncd one && git -c safe.bareRepository=all log >/dev/null 2>&1; git -c safe.bareRepository=all status; exit 0"
    subprocess.run(["bash", "-c", built], cwd=checked, check=True, capture_output=True)
    assert done.mark.exists(), "git does not obey it"
    assert done.code != 0, done.end


@pytest.mark.parametrize("form", ["macro", "quoted", "bom", "tabs", "class", "plain", "bytes", "large"])
def test_attributes_that_hide_by_a_detour_do_not_come_with_code_0(form: str, tmp_path: Path) -> None:
    begun(tmp_path, **{"deep/app.py": "x = 1\n"})
    done = acted(tmp_path, ACTS["attributes"][form])
    assert "deep/.gitattributes" in done.tree or done.code != 0, done.end
    checked = tmp_path / "checked"
    of_git(tmp_path, "init", "-q", str(checked))
    subprocess.run(
        ["bash", "-c", f"mkdir deep; {ACTS['attributes'][form]}"],
        cwd=checked,
        check=True,
        capture_output=True,
    )
    asked = of_git(checked, "check-attr", "diff", "filter", "deep/app.py")
    assert "unset" in asked or "evil" in asked, asked
    assert done.code != 0, done.end


@pytest.mark.parametrize("form", ["through", "later", "dotted", "bytes"])
def test_a_link_that_leads_out_by_way_of_a_link_does_not_come_with_code_0(form: str, tmp_path: Path) -> None:
    begun(tmp_path)
    done = acted(tmp_path, ACTS["links"][form])
    assert done.code != 0, (done.end, done.tree)


def test_programs_of_the_tree_are_not_started_by_a_path_that_is_relative(tmp_path: Path) -> None:
    begun(tmp_path)
    done = acted(tmp_path, ACTS["programs"], PATH=f"./node_modules/.bin:bin::{os.environ['PATH']}")
    assert not done.mark.exists(), done.mark.read_text()
    for words in (["status"], ["report"], ["resume"], ["clean", "--all"]):
        subprocess.run(
            [*SQ, *words], cwd=done.project, capture_output=True, timeout=120, check=False,
            env={**os.environ, "HOME": str(done.home), "PATH": f"./node_modules/.bin:bin::{os.environ['PATH']}"},
        )  # fmt: skip
        assert not done.mark.exists(), (words, done.mark.read_text())


def test_a_folder_of_hooks_that_the_users_settings_name_is_neither_run_nor_silent(tmp_path: Path) -> None:
    project = begun(tmp_path, **{"scripts/h/readme.md": "Our hooks.\n"})
    of_git(project, "config", "core.hooksPath", "scripts/h")
    done = acted(tmp_path, ACTS["hooks"])
    assert not done.mark.exists(), done.mark.read_text()
    assert done.code != 0, done.end


SETTINGS = {
    "filter": ("filter.fmt.smudge", "sh tools/it.sh %f"),
    "clean": ("filter.fmt.clean", "sh tools/it.sh %f"),
    "fsmonitor": ("core.fsmonitor", "tools/it.sh"),
    "sign": ("gpg.program", "tools/it.sh"),
    "diff": ("diff.external", "tools/it.sh"),
    "include": ("include.path", "../tools/it.conf"),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_file_that_the_users_git_settings_name_is_neither_run_nor_silent(
    setting: str, tmp_path: Path
) -> None:
    files = {
        "tools/it.sh": "#!/bin/sh\ncat\n", "tools/it.conf": "[alias]\n\tst = status\n",
        ".gitattributes": "*.txt filter=fmt\n",
    }  # fmt: skip
    project = begun(tmp_path, **files)
    of_git(project, "config", *SETTINGS[setting])
    if setting == "sign":
        of_git(project, "config", "commit.gpgsign", "true")
    done = acted(tmp_path, ACTS["settings"])
    assert not done.mark.exists(), (done.mark.read_text(), done.end)
    subprocess.run([*SQ, "status"], cwd=done.project, capture_output=True, timeout=120, check=False)
    subprocess.run([*SQ, "clean", "--all"], cwd=done.project, capture_output=True, timeout=120, check=False)
    assert not done.mark.exists(), (done.mark.read_text(), "later")
    assert done.code != 0, done.end


def test_no_file_of_a_task_becomes_a_part_of_sqs_state(tmp_path: Path) -> None:
    project = begun(tmp_path)
    done = acted(tmp_path, ACTS["state"])
    assert not [name for name in done.tree if name.lower().startswith(".sq")], done.end
    assert not (project / ".sq" / "runs" / "planted").exists()
    assert (
        "planted"
        not in subprocess.run(
            [*SQ, "status"], cwd=project, capture_output=True, text=True, timeout=120, check=False
        ).stdout
    )


def task(id_: str, *dependencies: str) -> dict[str, Any]:
    return {
        "id": id_, "title": "Task", "description": "Do it.", "acceptance_criteria": ["done"],
        "dependencies": list(dependencies), "estimated_iterations": 1,
    }  # fmt: skip


def test_a_file_that_is_copied_into_each_worktree_is_not_copied_through_a_link_of_the_work(
    tmp_path: Path,
) -> None:
    project = begun(tmp_path, **{"conf/usual.txt": "usual\n", ".gitignore": ".env\nlocal.env\n"})
    (project / "conf" / "local.env").write_text("COLOUR=blue-and-green\n")
    (tmp_path / "home" / "local.env").write_text("mine\n")
    plan = signals(
        "submit_plan", tasks=[task("notes"), task("more", "notes")],
        criteria=[{"text": "it is there", "task_ids": ["notes", "more"]}],
    )  # fmt: skip
    more = says(call("Bash", command="cat conf/* > seen.txt; echo x > more.txt; exit 0"))
    finish = signals("task_complete", summary="Done.", tests="All tests pass.")
    done = acted(
        tmp_path, ACTS["included"],
        callers={"planner/plan/1": [plan], "worker/more/1": [more, finish]},
        SQ_WORKTREE_INCLUDE='["conf/local.env"]',
    )  # fmt: skip
    assert (done.home / "local.env").read_text() == "mine\n"
    assert sorted(path.name for path in done.home.iterdir() if not path.name.startswith(".")) == [
        "key", "local.env",
    ]  # fmt: skip
    assert OWN not in done.said
    assert not any(OWN in of_git(project, "show", f"main:{name}") for name in done.tree if name == "seen.txt")


def test_the_tests_that_sq_puts_into_a_tree_are_not_written_through_a_link_of_the_work(
    tmp_path: Path,
) -> None:
    files = {
        "tests/__init__.py": "", "lib/readme.md": "A library.\n", "app.py": "def one():\n    return 1\n",
        "tests/test_app.py": "import unittest\nimport app\nclass T(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(app.one(), 1)\n",
    }  # fmt: skip
    begun(tmp_path, **files)
    (tmp_path / "home" / "tests").mkdir()
    before = sorted((tmp_path / "home" / "tests").iterdir())
    done = acted(tmp_path, ACTS["tests"], verify=("python3 -m unittest discover -s tests -t .",))
    assert sorted((tmp_path / "home" / "tests").iterdir()) == before, done.end
    assert not of_git(done.project, "status", "--porcelain"), done.end
    assert done.code != 0, done.end


def test_processes_that_wake_each_other_while_git_reads_bring_nothing_and_hold_nothing(
    tmp_path: Path,
) -> None:
    begun(tmp_path)
    began = time.monotonic()
    done = acted(tmp_path, ACTS["waking"])
    assert time.monotonic() - began < 240, done.end
    found = subprocess.run(
        ["git", "-C", str(done.project), "grep", "-l", OWN, *of_git(done.project, "rev-list", "--all").split()],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not found.stdout
    loose = of_git(done.project, "cat-file", "--batch-all-objects", "--batch-check").split("\n")
    blobs = [line.split()[0] for line in loose if " blob " in line]
    assert not [blob for blob in blobs if OWN in of_git(done.project, "cat-file", "blob", blob)]
    assert OWN not in done.said
    assert done.code in (0, 1, 3, 5), done.end


def archive(text: str) -> bytes:
    buffer = BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as made:
        for name, content in {
            "package/package.json": json.dumps({"name": "dep", "version": "1.0.0", "main": "index.js"}),
            "package/index.js": text,
        }.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            made.addfile(info, BytesIO(content.encode()))
    return buffer.getvalue()


@pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed")
def test_what_a_worker_makes_of_a_set_up_is_not_what_a_later_run_gets(tmp_path: Path) -> None:
    project = begun(tmp_path)
    root = {"name": "root", "version": "1.0.0", "dependencies": {"dep": "file:dep.tgz"}}
    lock = {
        "name": "root", "version": "1.0.0", "lockfileVersion": 3,
        "packages": {"": root, "node_modules/dep": {"version": "1.0.0", "resolved": "file:dep.tgz"}},
    }  # fmt: skip
    committed(project, {
        "package.json": json.dumps(root), "package-lock.json": json.dumps(lock),
        "dep.tgz": archive("module.exports = 'honest'\n"), ".gitignore": ".env\nnode_modules/\n",
    })  # fmt: skip
    evil = archive("module.exports = 'planted'\n").hex()
    act = f"python3 -c \"open('dep.tgz','wb').write(bytes.fromhex('{evil}'))\"\n{ACTS['set_up']}"
    check = "node -e \"console.log('found ' + require('dep'))\" && " + NOTICES
    first = acted(tmp_path, act, verify=(check,))
    assert "found honest" in first.said, first.output
    of_git(
        project,
        "reset",
        "-q",
        "--hard",
        of_git(project, "rev-list", "--max-count=1", "main", "--", "package.json").strip(),
    )
    second = acted(tmp_path, "true", verify=(check,))
    assert "found honest" in second.said, second.output
    assert "found planted" not in second.said, second.output


@pytest.mark.parametrize("form", ["odd names", "many below the size"])
def test_names_and_holes_do_not_mislead_the_count_of_large_files(form: str, tmp_path: Path) -> None:
    begun(tmp_path)
    began = time.monotonic()
    done = acted(tmp_path, ACTS["large"][form])
    assert time.monotonic() - began < 280, done.end
    large = [
        name for name in done.tree
        if name and int(of_git(done.project, "cat-file", "-s", f"main:{name}")) > 50_000_000
    ]  # fmt: skip
    assert not large, (large, done.end)
    assert done.code in (0, 1, 3, 5), done.end


OPEN = pytest.param(
    "deleted and open",
    marks=pytest.mark.xfail(reason="a deleted file that is open is not counted (totals.py)"),
)


@pytest.mark.parametrize("form", ["named", OPEN, "old times", "moving"])
def test_what_a_session_writes_where_the_count_does_not_look_counts(form: str, tmp_path: Path) -> None:
    begun(tmp_path)
    done = acted(tmp_path, f"export FORM='{form}'\n{ACTS['written']}", SQ_SANDBOX_LIMITS_TOTAL_MB="300")
    assert any("sandbox.limits.total_mb" in str(one.event) for one in done.stored), done.end


def test_files_of_noise_do_not_fill_sqs_memory_and_do_not_hold_it(tmp_path: Path) -> None:
    begun(tmp_path)
    began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    done = acted(tmp_path, ACTS["noise"])
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert most < max(began, 1_200_000), (most, done.end)  # KiB
    assert done.code == 0, done.end
    assert "noise-0" in done.said


def test_modules_of_the_tree_are_not_imported_by_sq(tmp_path: Path) -> None:
    begun(tmp_path)
    done = acted(tmp_path, ACTS["modules"])
    assert not done.mark.exists(), done.mark.read_text()
    sq = Path(__file__).parents[2] / "bin" / "sq"
    for words in (["status"], ["report"], ["resume"], ["clean", "--all"]):
        subprocess.run(
            [str(sq), *words], cwd=done.project, capture_output=True, timeout=120, check=False,
            env={**os.environ, "HOME": str(done.home)},
        )  # fmt: skip
        assert not done.mark.exists(), (words, done.mark.read_text())


def test_honest_work_in_the_same_frame_comes_with_code_0(tmp_path: Path) -> None:
    """Without it, a code other than 0 would show nothing."""
    begun(tmp_path, **{"deep/app.py": "x = 1\n"})
    done = acted(tmp_path, "echo y = 2 > deep/b.py; ln -s b.py deep/c.py")
    assert done.code == 0, done.end


def test_many_small_files_hide_no_large_one_from_the_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(files_inside.__kwdefaults__, "most", 3)
    for name in "abcdef":
        (tmp_path / name).write_bytes(b"x" * 10_000)
    written, files = written_inside([tmp_path], 0)
    assert files == 6
    assert written >= 60_000
