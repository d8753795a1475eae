"""`sq fleet` as a user has it."""

import json
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from language.fleets import SPEC, FleetHere, scenario
from language.played_sq import PLAYED_SQ
from language.postgres import PostgresServer
from language.programs import ran
from language.tables import rows

from orchestrator.cli.fleet.submit import open_issues
from orchestrator.fleet.host import WorkerPolicy, widening
from orchestrator.fleet.records import Submission
from state.errors import UsageError

pytestmark = pytest.mark.late  # processes of whole fleets


@pytest.fixture
def files(local: FleetHere) -> FleetHere:
    (local.folder / "spec.md").write_bytes(SPEC)
    (local.folder / "scenario.yaml").write_bytes(scenario())
    return local


def submit(fleet: FleetHere, *more: str, code: int = 0) -> str:
    where = ("--repository", str(fleet.server), "--rehearse", "scenario.yaml", "--effort", "low")
    return fleet.sq("submit", "spec.md", *where, *more, code=code)


def test_two_commands_on_one_host(files: FleetHere) -> None:
    id_ = submit(files).split()[0]  # before the worker, which ends when nothing waits for it
    worker = files.worker("here", "--drain")
    said = submit(files, "--wait")

    assert said.splitlines()[-1] == f"{id_} complete"
    assert worker.process.wait(60) == 0
    (row,) = files.json("list")["submissions"]
    assert (row["id"], row["outcome"], row["exit_code"]) == (id_, "complete", 0)
    assert id_ in files.sq("list")
    shown = files.json("show", id_[:8])
    assert shown["branch"] in files.sq("show", row["run"])
    assert shown["commit"] == files.branches()[f"refs/heads/{shown['branch']}"]
    events = [json.loads(line) for line in files.sq("logs", id_, "-f", "--json").splitlines()]
    assert events[-1]["event"] == "RunEnded"
    assert "complete" in files.sq("logs", id_)


def test_the_same_submission_is_the_same_run_and_a_nonce_makes_another(files: FleetHere) -> None:
    first, again = submit(files), submit(files)
    other = submit(files, "--nonce", "2")

    assert again.split()[0] == first.split()[0] != other.split()[0]
    assert "is known already (queued)" in again
    assert "so there is nothing to try again" in files.sq("retry", first.split()[0], code=2)
    assert len(files.engine.units()) == 2


def test_wait_exits_with_the_worst_code_of_its_runs(files: FleetHere) -> None:
    files.worker("here", "--most", "1")
    said = files.sq(
        *("submit", "spec.md", "--repository", str(files.server), "--budget", "50", "--wait"), code=2
    )
    assert said.splitlines()[-1].endswith("usage")
    (row,) = files.json("list")["submissions"]
    assert "more than this worker's --most $1.00" in row["problem"]


def test_a_budget_that_is_used_up_ends_a_run_before_it_begins(files: FleetHere) -> None:
    files.sq("budget", "default", "3")
    id_ = submit(files, "--budget", "5").split()[0]
    files.worker("here")
    files.until_ended(id_)

    assert files.json("show", id_)["exit_code"] == 4
    assert "sq fleet budget default USD" in files.json("show", id_)["problem"]
    assert files.branches() == {}
    assert "$3.00, $0.00 spent, $0.00 reserved" in files.sq("budget")
    files.sq("budget", "default", "none")
    files.sq("retry", id_)
    files.until_ended(id_)
    assert files.json("show", id_)["outcome"] == "complete"


def test_a_deadline_ends_a_run_with_what_it_has(files: FleetHere) -> None:
    (files.folder / "scenario.yaml").write_bytes(scenario(work_s=60))
    id_ = submit(files, "--deadline", "4s").split()[0]
    files.worker("here")
    files.until_ended(id_)

    shown = files.json("show", id_)
    assert (shown["exit_code"], shown["problem"]) == (4, "the deadline of 4 s has passed")


def test_a_cancelled_submission_is_interrupted_and_cannot_be_cancelled_again(files: FleetHere) -> None:
    id_ = submit(files, "--label", "gpu").split()[0]
    files.sq("cancel", id_)

    assert files.json("show", id_)["exit_code"] == 130
    assert "has ended already" in files.sq("cancel", id_, code=2)
    assert files.json("retry", id_) == {"id": id_, "state": "queued"}
    assert "nothing to try again" in files.sq("retry", id_, code=2)
    assert "no worker has it" in files.sq("doctor", code=1)


def test_limits_are_shown_and_changed(files: FleetHere) -> None:
    assert files.json("limits") == {"repository": 4, "total": None, "per_minute": None}
    assert files.json("limits", "--total", "9", "--per-minute", "30")["total"] == 9
    assert files.json("limits", "--repository", "none", "--total", "none")["repository"] is None
    assert "no limit" in files.sq("limits")
    assert "no number" in files.sq("limits", "--total", "many", code=2)


def test_a_second_worker_of_a_file_of_sqlite_is_refused_by_name(files: FleetHere) -> None:
    first = files.worker("first")
    files.until(files.ledger.workers)
    second = files.worker("second")

    assert second.process.wait(30) == 2
    assert f"process {first.process.pid} on" in second.said
    assert "PostgreSQL" in second.said


def test_a_worker_of_a_shared_database_has_to_name_its_repositories(fleet: FleetHere) -> None:
    done = ran([*PLAYED_SQ, "fleet", "worker"], env=fleet.environment(fleet.folder / "home"), timeout=60)
    assert done.returncode == 2
    assert "--repository" in done.stderr


@pytest.mark.parametrize(*rows(__file__, "refused"))
def test_what_cannot_be_used_is_said(files: FleetHere, arguments: tuple[str, ...], said: str) -> None:
    assert said in files.sq(*arguments, code=2)


def test_a_database_that_does_not_answer_is_said_without_its_password(files: FleetHere) -> None:
    url = "postgresql://me:hunter2@127.0.0.1:1/none"
    said = files.sq("list", code=2, SQ_FLEET_DATABASE=url)
    assert "does not answer" in said
    assert "hunter2" not in said
    for wrong in ("mysql://x", "postgresql://h:port/x", "postgresql://", "sqlite:///", "x", "sqlite:"):
        assert "Write postgresql://USER@HOST/NAME" in files.sq("list", code=2, SQ_FLEET_DATABASE=wrong)
    assert "does not answer" in files.sq("list", code=2, SQ_FLEET_DATABASE="sqlite:////proc/none/x.db")


def test_a_worker_takes_only_what_it_allows() -> None:
    asked = Submission(repository="https://h/team/a", base="b", branch="main", spec="s", title="t")
    assert WorkerPolicy(repositories=("https://h/team/*",)).refusal(asked) == ""
    assert "does not work on" in WorkerPolicy(repositories=("https://h/other/*",)).refusal(asked)


@pytest.mark.parametrize(*rows(__file__, "texts"))
def test_settings_of_a_repository_that_reach_beyond_the_sandbox_are_found(
    text: str, found: list[str]
) -> None:
    assert widening(text.encode()) == found


def test_a_repository_that_opens_the_sandbox_is_refused_unless_it_is_trusted(files: FleetHere) -> None:
    from benchmarks.rehearsed import git

    project = files.folder / "project"
    (project / "sq.toml").write_text('verify = ["true"]\n[sandbox]\nnetwork = "full"\n')
    git(project, "commit", "--quiet", "--all", "--message", "Open")
    git(project, "push", "--quiet", str(files.server), "main")
    id_ = submit(files).split()[0]
    refusing = files.worker("refusing")
    files.until_ended(id_)
    assert "reaches beyond a worker's sandbox" in files.json("show", id_)["problem"]
    refusing.end()
    files.sq("retry", id_)
    files.worker("trusting", "--trust-settings")
    files.until_ended(id_)
    assert files.json("show", id_)["outcome"] == "complete"


@pytest.mark.parametrize(
    "command", [["--help"], ["status"], ["fleet", "--help"], ["config"], ["run", "--help"]]
)
def test_no_other_command_imports_the_engine(tmp_path: Path, command: list[str]) -> None:
    code = (
        "import sys\nfrom orchestrator.cli.main import main\n"
        f"sys.argv = ['sq', *{command!r}]\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print('IMPORTED', sorted({'dbos', 'sqlalchemy', 'psycopg'} & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stderr.splitlines()[-1] == "IMPORTED []"


def test_without_the_extra_each_command_says_how_to_install_it(tmp_path: Path) -> None:
    code = (
        "import sys, importlib.util\nreal = importlib.util.find_spec\n"
        "class Without:\n    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'dbos': raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Without())\n"
        "from orchestrator.cli.main import main\nsys.argv = ['sq', 'fleet', 'list']\nmain()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert "dbos" in done.stderr
    assert "install" in done.stderr


def test_work_with_a_label_priority_and_pool_is_done_by_a_worker_that_has_the_label(files: FleetHere) -> None:
    late = submit(files, "--label", "gpu", "--priority", "200", "--pool", "team").split()[0]
    first = submit(files, "--label", "gpu", "--priority", "50", "--nonce", "2", "--base", files.base).split()[
        0
    ]
    worker = files.worker("gpu", "--label", "gpu", "--drain", "--sandbox", "whole", "--checkpoint", "1")

    assert worker.process.wait(90) == 0
    rows = {one["id"]: one for one in files.json("list", "--all")["submissions"]}
    assert [rows[id_]["outcome"] for id_ in (late, first)] == ["complete"] * 2
    assert worker.said.index(first) < worker.said.index(late)
    assert {one["name"] for one in files.json("budget")["pools"]} == {"team", "default"}
    assert rows[late]["worker"].startswith("gpu-")


def test_a_pull_request_that_cannot_be_opened_is_said_and_the_work_is_kept(files: FleetHere) -> None:
    id_ = submit(files, "--pr").split()[0]
    files.worker("here")
    files.until_ended(id_)

    shown = files.json("show", id_)
    assert shown["outcome"] == "complete"
    assert shown["pull_request"].startswith("none: ")
    assert f"refs/heads/{shown['branch']}" in files.branches()


def test_the_page_of_the_fleet_has_the_runs_of_all_hosts(files: FleetHere) -> None:
    submit(files)
    files.worker("here", "--drain").process.wait(90)
    run = files.json("list")["submissions"][0]["run"]
    with subprocess.Popen(
        [*PLAYED_SQ, "dash", "--fleet"],
        env=files.environment(files.folder / "user"),
        cwd=files.folder,
        stdout=subprocess.PIPE,
        text=True,
    ) as page:
        try:
            assert page.stdout is not None
            address = page.stdout.readline().strip()
            jar = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            assert run in jar.open(address, timeout=30).read().decode()
        finally:
            page.terminate()


async def test_the_open_issues_with_a_label_become_specs(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="gh:OWNER/REPO@LABEL"):
        await open_issues("nothing", "sq")


def test_the_work_begins_where_the_branch_here_was_pushed(files: FleetHere) -> None:
    from benchmarks.rehearsed import git

    project = files.folder / "project"
    git(project, "remote", "add", "origin", "../server.git")
    git(project, "checkout", "--quiet", "-b", "topic")
    (project / "deep").mkdir()

    def here(*more: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = ran(
            [*PLAYED_SQ, "fleet", "submit", str(files.folder / "spec.md"), "--json", *more],
            env=files.environment(files.folder / "user"),
            cwd=project / "deep",
        )
        assert done.returncode == code, done.stderr
        return done

    assert "has no branch topic: push it" in here(code=2).stderr
    git(project, "push", "--quiet", "origin", "topic")
    git(project, "commit", "--quiet", "--allow-empty", "--message", "Not pushed")
    done = here()
    (row,) = json.loads(done.stdout)["submissions"]
    assert (row["repository"], row["base"]) == (str(files.server), files.base)
    assert "topic here is not where it is in" in done.stderr
    here("--base", "main", "--nonce", "2")
    assert {one.submission.branch for one in files.engine.units()} == {"topic", "main"}


def test_a_host_without_credentials_takes_no_work_away_from_others(fleet: FleetHere) -> None:
    (fleet.folder / "spec.md").write_bytes(SPEC)
    id_ = fleet.sq("submit", "spec.md", "--repository", str(fleet.server)).split()[0]
    without = fleet.worker("without", PATH="/usr/bin:/bin", ANTHROPIC_API_KEY="", CLAUDE_CODE_OAUTH_TOKEN="")

    assert without.process.wait(60) == 1
    assert "cannot be worked on here: no credentials" in without.said
    assert fleet.json("show", id_)["state"] == "queued"
    assert fleet.ledger.progress([id_])[id_].deaths == 0
    assert "no credentials" in fleet.sq("doctor", code=1, ANTHROPIC_API_KEY="")


def test_a_host_without_the_sandbox_starts_no_worker(files: FleetHere, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "git").symlink_to("/usr/bin/git")
    refused = files.worker("bare", PATH=str(tools))
    assert refused.process.wait(30) == 2
    assert "bubblewrap" in refused.said
    assert "--sandbox chooses another" in refused.said


def test_a_worker_that_is_gone_is_in_no_list(files: FleetHere) -> None:
    worker = files.worker("here")
    files.until(files.ledger.workers)
    assert [one["executor"] for one in files.json("list")["workers"]] == [files.ledger.workers()[0].executor]
    worker.kill()
    assert files.json("list")["workers"] == []
    checks = {one["check"]: one["ok"] for one in files.json("doctor", code=1)["checks"]}
    assert (checks["database"], checks["workers"]) == (True, False)


def test_a_run_that_was_cancelled_in_the_queue_keeps_no_money(files: FleetHere) -> None:
    id_ = submit(files, "--budget", "5").split()[0]
    files.ledger.reserve(id_, "default", 5.0)  # as a worker did before it gave the run back
    assert "$5.00 reserved" in files.sq("budget")
    files.sq("cancel", id_)
    assert "$0.00 reserved" in files.sq("budget")


def test_waiting_outlives_a_database_and_is_left_with_ctrl_c(
    fleet: FleetHere, server: PostgresServer
) -> None:
    (fleet.folder / "spec.md").write_bytes(SPEC)
    with subprocess.Popen(
        [*PLAYED_SQ, "fleet", "submit", "spec.md", "--repository", str(fleet.server), "--wait"],
        env=fleet.environment(fleet.folder / "user"),
        cwd=fleet.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as waiting:
        assert waiting.stdout
        assert "submitted" in waiting.stdout.readline()
        server.stop("immediate")
        time.sleep(3)
        server.start()
        time.sleep(3)
        assert waiting.poll() is None
        waiting.send_signal(signal.SIGINT)
        _, said = waiting.communicate(timeout=30)
    assert waiting.returncode == 130
    assert "what is submitted goes on" in said


def test_the_sandbox_of_a_run_is_the_one_of_its_worker(files: FleetHere) -> None:
    id_ = submit(files).split()[0]
    files.worker("here", "--sandbox", "off")
    files.until_ended(id_)
    events = [json.loads(line) for line in files.sq("logs", id_, "--json").splitlines()]
    started = next(one for one in events if one["event"] == "RunStarted")
    assert started["settings"]["sandbox"]["mode"] == "off"


def test_each_command_prints_one_object_as_json(files: FleetHere) -> None:
    made = json.loads(submit(files, "--json"))
    assert made["new"] == 1
    id_ = made["submissions"][0]["id"]
    assert files.json("cancel", id_) == {"id": id_, "state": "cancelled"}
    assert {one["check"] for one in files.json("doctor", code=1)["checks"]} >= {
        "database",
        "git",
        "workers",
        "disk",
    }
