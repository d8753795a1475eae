"""`sq verify` on small repositories: real commands, real git, the sandbox of this machine, and no model."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from language.programs import ran
from tests_of_verify import BASE, Verified, commits, verified

from state.journal.events import RunStarted
from state.journal.store import JournalReader

GOOD = {
    "calc.py": BASE["calc.py"] + "\n\ndef mul(a, b):\n    return a * b\n",
    "test_mul.py": "from calc import mul\n\n\ndef test_mul():\n    assert mul(2, 3) == 6\n    assert mul(4, 5) == 20\n",
}
HOLLOW = {**GOOD, "test_mul.py": "def test_mul():\n    assert True\n"}
WEAKER = {**GOOD, "test_calc.py": BASE["test_calc.py"].replace("== 5", "in (5, 6)")}
UNTESTED = {"calc.py": "def add(a, b):\n    if b is None:\n        return a\n    return a + b\n"}
REWRITTEN = {"calc.py": "def add(a, b):\n    both = (a, b)\n    return sum(both)\n"}
PASSES_BEFORE = {
    "calc.py": "def add(a, b):\n    return a + (b or 0)\n",
    "test_more.py": "from calc import add\n\n\ndef test_more():\n    assert add(4, 5) == 9\n",
}
SHOWS_IT = {
    **PASSES_BEFORE,
    "test_more.py": PASSES_BEFORE["test_more.py"].replace("(4, 5) == 9", "(4, None) == 4"),
}
BROKEN = {"calc.py": "def add(a, b):\n    return a - b\n"}


@pytest.fixture
def project(repository: Path, shell: Callable[..., str]) -> Path:
    """A repository with a function and its test on main."""
    commits(repository, shell, BASE)
    return repository


def on_branch(project: Path, shell: Callable[..., str], files: dict[str, str], message: str = "Work") -> None:
    shell(project, "git", "switch", "-qc", "work")
    commits(project, shell, files, message)


def open_checks(done: Verified) -> set[str]:
    return {one["check"] for one in done.data["objections"] if one["open"]}


@pytest.mark.parametrize(
    ("files", "code", "checks"),
    [
        (GOOD, 0, set()),
        (HOLLOW, 5, {"work taken out"}),
        pytest.param(WEAKER, 1, {"base tests"}, marks=pytest.mark.late),
        (UNTESTED, 5, {"work taken out"}),
        (PASSES_BEFORE, 5, {"code before"}),
        pytest.param(SHOWS_IT, 0, set(), marks=pytest.mark.late),
        pytest.param(REWRITTEN, 0, set(), marks=pytest.mark.late),
        (BROKEN, 1, {"commands"}),
        pytest.param({"README.md": "# Sums\n"}, 0, set(), marks=pytest.mark.late),
    ],
    ids=[
        "good",
        "hollow test",
        "weaker test",
        "untested branch",
        "test of the old code",
        "fix with its test",
        "rewritten",
        "broken",
        "documents",
    ],
)
def test_a_work_is_judged_by_what_its_tests_show(
    files: dict[str, str], code: int, checks: set[str], project: Path, shell: Callable[..., str]
) -> None:
    on_branch(project, shell, files)
    done = verified(project, "--json")
    assert (done.code, open_checks(done)) == (code, checks), done.out
    assert shell(project, "git", "status", "--porcelain") == ""
    assert shell(project, "git", "worktree", "list", "--porcelain").count("worktree ") == 1


@pytest.mark.late
def test_its_first_lines_say_what_was_found_and_each_reason_says_what_to_do(
    project: Path, shell: Callable[..., str], home: Path
) -> None:
    on_branch(project, shell, WEAKER)
    done = verified(project)
    assert done.code == 1
    first = "\n".join(done.out.splitlines()[:5])
    for told in ("work", "before", "can ask", "`python3 -m pytest`", "1 test"):
        assert told in first
    assert "AGAINST  the test test_calc.py::test_add may check less than it did" in done.out
    assert "do: Let this test, as it is at the base, pass" in done.out
    (kept,) = (home / ".local/state/sq/verify").iterdir()
    assert oct(kept.stat().st_mode & 0o777) == "0o700"


@pytest.mark.late
def test_a_second_call_runs_nothing_and_says_the_same(project: Path, shell: Callable[..., str]) -> None:
    on_branch(project, shell, GOOD)
    first, second = verified(project, "--json"), verified(project, "--json")
    assert first.data == second.data
    assert "the result of an earlier call" in verified(project).out
    runs = next((Path(os.environ["HOME"]) / ".local/state/sq/verify").iterdir()) / "runs"
    assert len(list(runs.iterdir())) == 1
    assert "the result of an earlier call" not in verified(project, "--anew").out
    commits(project, shell, {"notes.txt": "More.\n"})
    assert "the result of an earlier call" not in verified(project).out


@pytest.mark.late
def test_files_in_no_commit_are_asked_about_too(project: Path) -> None:
    (project / "calc.py").write_text(BROKEN["calc.py"])
    done = verified(project, "--worktree", "--json")
    assert done.code == 1
    assert (project / "calc.py").read_text() == BROKEN["calc.py"]


@pytest.mark.late
def test_settings_and_the_spec_are_those_of_the_base(project: Path, shell: Callable[..., str]) -> None:
    commits(project, shell, {"sq.toml": 'verify = ["python3 -m pytest -q"]\n'})
    shell(project, "git", "switch", "-qc", "work")
    commits(project, shell, {**BROKEN, "sq.toml": 'verify = ["true"]\n', "SPEC.md": "Build it.\n"})
    done = verified(project, "main..work", "--json")
    assert [one["command"] for one in done.data["commands"]] == ["python3 -m pytest -q"]
    assert done.code == 1
    refused = verified(project, "--spec", "SPEC.md")
    assert refused.code == 2
    assert "commit it before the work" in refused.err


@pytest.mark.late
def test_a_trailer_explains_and_an_acceptance_lets_go_as_long_as_the_content_stays(
    project: Path, shell: Callable[..., str]
) -> None:
    trailer = "Work\n\nTest-Changes: test_calc.py::test_add, because six is fine too"
    on_branch(project, shell, WEAKER, trailer)
    done = verified(project, "--json")
    (one,) = [one for one in done.data["objections"] if one["open"]]
    assert (done.code, one["explained"]) == (1, "six is fine too")
    assert verified(project, "--accept", one["id"], "--json").code == 0
    commits(project, shell, {"notes.txt": "Another file.\n"})
    assert verified(project, "--accept", one["id"], "--json").code == 0
    commits(project, shell, {"test_calc.py": WEAKER["test_calc.py"] + "\n# more\n"})
    assert verified(project, "--accept", one["id"], "--json").code == 1


@pytest.mark.late
@pytest.mark.parametrize("signed_by", ["owner", "stranger", None])
def test_the_base_may_accept_with_the_signature_of_one_whom_it_allows(
    signed_by: str | None, project: Path, shell: Callable[..., str], tmp_path: Path
) -> None:
    on_branch(project, shell, WEAKER)
    (one,) = [one for one in verified(project, "--json").data["objections"] if one["open"]]
    keys = {name: key(tmp_path / name) for name in ("owner", "stranger")}
    shell(project, "git", "switch", "-q", "main")
    text = f"{one['id']} six is fine too\n"
    (project / "sq.accepted").write_text(text)
    if signed_by:
        shell(
            project,
            "ssh-keygen",
            "-q",
            "-Y",
            "sign",
            "-n",
            "sq-accept",
            "-f",
            str(keys[signed_by]),
            "sq.accepted",
        )
    public = keys["owner"].with_suffix(".pub").read_text()
    commits(project, shell, {"sq.allowed_signers": f"owner@localhost {public}"})
    shell(project, "git", "switch", "-q", "work")
    shell(project, "git", "rebase", "-q", "main")
    done = verified(project, "--json")
    assert done.code == (0 if signed_by == "owner" else 2)
    if signed_by == "owner":
        (same,) = [each for each in done.data["objections"] if each["id"] == one["id"]]
        assert same["accepted_by"] == "owner@localhost, in sq.accepted: six is fine too"


@pytest.mark.late
def test_flags_of_settings_hold_and_time_that_runs_out_is_named(
    project: Path, shell: Callable[..., str]
) -> None:
    on_branch(project, shell, GOOD)
    flags = ["--sandbox", "off", "--effort", "low", "--within", "0.01", "--json"]
    done = verified(project, *flags)
    assert done.code == 0, "what code 0 needs is asked whatever the time"
    unasked = [one["says"] for one in done.data["objections"] if not one["answered"]]
    assert any("left out, because the project's commands took" in one for one in unasked)
    assert all("limits.verify_total_s" in one for one in unasked if "left out, because the" in one)
    (settings,) = (Path(os.environ["HOME"]) / ".local/state/sq/verify").glob("*/runs/*/journal.db")
    with JournalReader(settings.parent) as journal:
        started = journal.read(only=(RunStarted,))[0].event
    assert isinstance(started, RunStarted)
    assert started.settings
    assert (started.settings.effort.name, started.settings.sandbox.mode) == ("low", "off")
    assert verified(project, "--json").code == 0  # what time left out is no result


def test_ctrl_c_ends_it_in_order(project: Path, shell: Callable[..., str]) -> None:
    on_branch(
        project, shell, {**GOOD, "test_slow.py": "import time\n\n\ndef test_slow():\n    time.sleep(60)\n"}
    )
    command = [sys.executable, "-m", "orchestrator.cli", "verify"]
    with subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        for line in process.stdout:
            if line.startswith("can ask"):
                process.send_signal(signal.SIGINT)
                break
        out = process.stdout.read()
    assert process.returncode == 130, out
    assert "it was interrupted" in out
    assert shell(project, "git", "worktree", "list", "--porcelain").count("worktree ") == 1


def key(file: Path) -> Path:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(file)], check=True)
    return file


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere..HEAD"], "'nowhere' names no commit"),
        (["--worktree", "main..HEAD"], "three different works"),
        (["--pr", "7"], "no remote to fetch it from"),
        (["--bundle", "x", "--worktree"], "--worktree asks about files in none"),
        (["--sign", "x"], "add --bundle FILE"),
        (["--verify", "no-such-program"], "no-such-program"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_words(
    arguments: list[str], says: str, project: Path, shell: Callable[..., str]
) -> None:
    on_branch(project, shell, GOOD)
    done = verified(project, *arguments)
    assert done.code == 2, done.out
    assert says in done.err + done.out


@pytest.mark.late
def test_a_pull_request_is_fetched_into_a_ref_of_sqs_own(
    project: Path, shell: Callable[..., str], tmp_path: Path
) -> None:
    on_branch(project, shell, HOLLOW)
    shell(project, "git", "update-ref", "refs/pull/7/head", "work")
    shell(project, "git", "switch", "-q", "main")
    shell(project, "git", "branch", "-qD", "work")
    shell(tmp_path, "git", "clone", "-q", str(project), "clone")
    before = shell(tmp_path / "clone", "git", "branch", "-a")
    done = verified(tmp_path / "clone", "--pr", "7", "--json")
    assert (done.code, open_checks(done)) == (5, {"work taken out"})
    assert shell(tmp_path / "clone", "git", "branch", "-a") == before


@pytest.mark.late
def test_a_ci_gets_a_summary_sarif_and_a_report(
    project: Path, shell: Callable[..., str], tmp_path: Path
) -> None:
    on_branch(project, shell, WEAKER)
    files = {name: tmp_path / name for name in ("a.sarif", "summary.md", "report.html")}
    done = verified(
        project,
        "--sarif",
        files["a.sarif"],
        "--summary",
        files["summary.md"],
        "--report",
        files["report.html"],
    )
    assert done.code == 1
    sarif: Any = json.loads(files["a.sarif"].read_text())
    (result,) = sarif["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "test_calc.py"
    assert "❌ 1 thing speaks against this work" in files["summary.md"].read_text()
    assert "may check less" in files["report.html"].read_text()


@pytest.mark.late
def test_a_bundle_is_repeated_elsewhere_and_a_forged_one_is_refused(
    project: Path, shell: Callable[..., str], tmp_path: Path
) -> None:
    on_branch(project, shell, GOOD)
    owner, stranger = key(tmp_path / "owner"), key(tmp_path / "stranger")
    signers = tmp_path / "signers"
    signers.write_text(f"owner@localhost {owner.with_suffix('.pub').read_text()}")
    bundle = tmp_path / "bundle.json"
    assert verified(project, "--bundle", bundle, "--sign", owner).code == 0
    shell(tmp_path, "git", "clone", "-q", str(project), "elsewhere")
    check = ["--check", bundle, "--signers", signers, "--json"]
    done = verified(tmp_path / "elsewhere", *check)
    assert done.code == 0, done.out + done.err
    assert "signed by owner@localhost, and the same is seen here" in done.data["says"]
    whole = bundle.read_bytes()
    for place in range(0, len(whole), 97):
        bundle.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        refused = verified(tmp_path / "elsewhere", *check)
        assert (refused.code, "the bundle is refused" in refused.data["says"]) == (1, True), place
    assert verified(project, "--bundle", bundle, "--sign", stranger).code == 0
    assert verified(tmp_path / "elsewhere", *check).code == 1
    assert verified(project, "--bundle", bundle).code == 0
    assert "it is not signed" in verified(tmp_path / "elsewhere", *check).data["says"]


@pytest.mark.late
def test_with_the_set_up_of_the_base_nothing_that_the_work_adds_is_installed(
    repository: Path, shell: Callable[..., str], tmp_path: Path
) -> None:
    base = {
        **BASE,
        "sq.toml": '[worktree]\nsetup = ["sh make.sh"]\n',
        "make.sh": "echo base > made.txt\n",
        ".gitignore": "made.txt\n__pycache__\n",
        "test_made.py": "def test_made():\n    assert open('made.txt').read() == 'base\\n'\n",
    }
    commits(repository, shell, base)
    on_branch(repository, shell, {**GOOD, "make.sh": "echo work > made.txt\n"})
    as_it_is = verified(repository, "--json")
    assert "test_made.py::test_made" in as_it_is.data["commands"][0]["failing"], as_it_is.out
    assert verified(repository, "--base-setup", "--json").data["commands"][0]["failing"] == []
    refused = verified(repository, "--base-setup", "--sandbox", "off")
    assert (refused.code, "--base-setup needs a sandbox" in refused.err) == (2, True)


@pytest.mark.late
def test_the_template_for_gitlab_verifies_a_merge_request(
    project: Path, shell: Callable[..., str], tmp_path: Path
) -> None:
    document = (Path(__file__).parents[3] / "docs/verify.md").read_text()
    template = yaml.safe_load(document.split("For GitLab:")[1].split("```yaml\n")[1].split("```")[0])[
        "verify"
    ]
    source = tmp_path / "source"
    (source / "bin").mkdir(parents=True)
    (source / "bin/sq").write_text(f'#!/bin/sh\nexec {sys.executable} -m orchestrator.cli "$@"\n')
    (source / "bin/sq").chmod(0o755)
    shell(source, "git", "init", "-q")
    shell(source, "git", "add", "-A")
    shell(source, "git", "-c", "user.name=A", "-c", "user.email=a@localhost", "commit", "-qm", "sq")
    ends = {}
    base = shell(project, "git", "rev-parse", "HEAD")
    for name, files in {"good": GOOD, "broken": BROKEN}.items():
        shell(project, "git", "switch", "-qc", name, base)
        commits(project, shell, files)
        job = tmp_path / name / "project"
        shell(tmp_path, "git", "clone", "-q", str(project), str(job))
        shell(job, "git", "checkout", "-q", "--detach", f"origin/{name}")
        variables = {
            "CI": "true",
            "CI_PROJECT_DIR": str(job),
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": base,
            "CI_COMMIT_SHA": shell(job, "git", "rev-parse", "HEAD"),
            "CI_JOB_TOKEN": "of-the-job",
            "SOURCE": str(source),
            "COMMIT": shell(source, "git", "rev-parse", "HEAD"),
        }
        done = ran(
            ["bash", "-e", "-c", "\n".join(template["script"])], cwd=job, env={**os.environ, **variables}
        )
        ends[name] = done.returncode
        assert (job / template["artifacts"]["paths"][0]).exists(), done.stdout + done.stderr
    assert ends == {"good": 0, "broken": 1}
