"""What a worker does not believe: submissions, settings and checkpoints that others have written."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from language.tables import table

from benchmarks.rehearsed import commit, git
from orchestrator.fleet.checkpoint import Checkpoints, SecretInWorkError, restore, write_run
from orchestrator.fleet.host import WorkerPolicy, widening
from orchestrator.fleet.records import Submission
from orchestrator.fleet.transport import GitServer, Workplace, clone, git_line
from orchestrator.hosting.remote import VARIABLES
from state.errors import JournalError
from state.redaction.known import Known
from state.redaction.redactor import Redactor

TEAM = "https://h.example/team/*"
SECRET = "zebra9-Ab3dEf6hIj9kLm2n"


def asked(repository: str, **about: object) -> Submission:
    usual = {"base": "b" * 40, "branch": "main", "spec": "s", "title": "t"}
    return Submission(repository=repository, **{**usual, **about})  # type: ignore[arg-type]


@pytest.mark.parametrize("address", table(__file__, "addresses"))
def test_no_way_of_writing_an_address_gets_round_the_allowed_repositories(address: str) -> None:
    assert WorkerPolicy(repositories=(TEAM,)).refusal(asked(address))


@pytest.mark.parametrize(
    "address", ["--upload-pack=touch x", "ext::sh -c true", "https://h/../x", "-h:x", "a b"]
)
def test_what_is_no_address_is_refused_where_every_repository_is_allowed(address: str) -> None:
    assert "no plain address" in WorkerPolicy(repositories=("*",)).refusal(asked(address))


@pytest.mark.parametrize(
    "address",
    ["https://h.example/team/a", "https://h.example/team/a.git", "https://h.example/team/sub/a/"],
)
def test_a_repository_is_allowed_with_and_without_its_ending(address: str) -> None:
    assert WorkerPolicy(repositories=(TEAM,)).refusal(asked(address)) == ""
    plain = address.rstrip("/").removesuffix(".git")
    assert WorkerPolicy(repositories=(plain,)).refusal(asked(address)) == ""


@pytest.mark.parametrize("address", ["git@h:team/a.git", "ssh://git@h:22/team/a", "/srv/a.git", "h:a"])
def test_usual_addresses_are_plain(address: str) -> None:
    assert WorkerPolicy(repositories=("*",)).refusal(asked(address)) == ""


def test_a_link_to_another_folder_is_that_folder(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "team").mkdir()
    (tmp_path / "team" / "a").symlink_to(tmp_path / "secret")
    rules = WorkerPolicy(repositories=(f"{tmp_path}/team/*",))
    assert "does not work on" in rules.refusal(asked(f"{tmp_path}/team/a"))
    assert "does not work on" in rules.refusal(asked(f"file://{tmp_path}/team/a"))


@pytest.mark.parametrize(
    "about",
    [{"base": "--upload-pack=x"}, {"branch": "-x"}, {"branch": "a..b"}, {"branch": "a b"}, {"branch": "x:y"}],
)
def test_a_base_or_branch_that_git_would_take_for_more_is_refused(about: dict[str, str]) -> None:
    assert "no commit on a branch" in WorkerPolicy(repositories=("*",)).refusal(asked("/r", **about))


@pytest.mark.parametrize("budget", [0.0, 6.0, float("nan"), float("inf"), -1.0])
def test_no_budget_gets_round_the_most_of_a_worker(budget: float) -> None:
    rules = WorkerPolicy(repositories=("*",), most_usd=5.0)
    assert "--most $5.00" in rules.refusal(asked("/r", budget_usd=budget))
    assert rules.refusal(asked("/r", budget_usd=5.0)) == ""


def test_folders_of_the_host_are_no_setting_of_a_repository() -> None:
    assert widening(b'context = ["/home"]') == ["context"]


# --- checkpoints --------------------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    made = Workplace(tmp_path / "claim")
    made.repository.mkdir(parents=True)
    commit(made.repository)
    return made


def facts(**about: object) -> dict[str, bytes]:
    usual = {"run": "20260131-142501-k3f9", "refs": {}, "unfinished": {}}
    return {"checkpoint.json": json.dumps({**usual, **about}).encode()}


@pytest.mark.parametrize(
    "files",
    [
        facts(run="../../x"),
        facts(run=".."),
        facts(refs={"--stdin": "a" * 40}),
        facts(refs={"refs/remotes/origin/main": "a" * 40}),
        facts(unfinished={"../../x": ["refs/heads/main", "a" * 40, "a" * 40]}),
        facts(unfinished={"/x": ["refs/heads/main", "a" * 40, "a" * 40]}),
        facts(unfinished={"local/sq/worktrees/a/b/c": ["--force", "a" * 40, "a" * 40]}),
        facts(unfinished={"local/sq/worktrees/a/../c": ["refs/heads/sq/x", "a" * 40, "a" * 40]}),
        facts() | {"files/../../x": b""},
        facts() | {"files/claude/k/projects/../../../../x.jsonl": b""},
        facts() | {"files/claude/../../../x.jsonl": b""},
        facts() | {"files/git/sq-trusted.json": b""},
    ],
)
def test_a_checkpoint_that_names_places_outside_its_run_is_refused(
    place: Workplace, tmp_path: Path, files: dict[str, bytes]
) -> None:
    before = {one for one in tmp_path.rglob("*") if ".git" not in one.parts}
    with pytest.raises(JournalError, match="which no checkpoint of sq does"):
        restore(files, place)
    made = {one for one in tmp_path.rglob("*") if ".git" not in one.parts} - before
    assert all(one.is_relative_to(place.state) for one in made), made


def test_the_files_of_a_run_are_written(tmp_path: Path) -> None:
    files = facts() | {"files/claude/k/projects/p/s.jsonl": b"{}", "files/notices/one": b"1"}
    write_run(files, tmp_path / "run")
    assert (tmp_path / "run/claude/k/projects/p/s.jsonl").read_text() == "{}"
    assert (tmp_path / "run/notices/one").read_text() == "1"


def checkpoints(place: Workplace) -> Checkpoints:
    base = git_line(place.repository, "rev-parse", "HEAD")
    return Checkpoints(place=place, base=base, branch="main", redact=Redactor([Known("MY_TOKEN", SECRET)]))


def test_a_link_that_an_agent_has_made_is_not_followed(place: Workplace, tmp_path: Path) -> None:
    folder = place.state / "runs" / "r"
    (folder / "claude/k/projects/p").mkdir(parents=True)
    (folder / "claude/k/projects/p/own.jsonl").write_text("{}\n")
    (tmp_path / "private").write_text("the host's own")
    (folder / "claude/k/projects/p/file.jsonl").symlink_to(tmp_path / "private")
    (folder / "claude/k/projects/p/gone.jsonl").symlink_to(tmp_path / "nowhere")
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir" / "x.jsonl").write_text("the host's own")
    (folder / "claude/k/projects/q").symlink_to(tmp_path / "dir")
    taken = checkpoints(place)
    taken._add_files(folder)
    assert list(taken._entries) == ["files/claude/k/projects/p/own.jsonl"]


def _added_and_removed(place: Workplace) -> None:
    (place.repository / "a").write_text(f"{SECRET}\n")
    git(place.repository, "add", "--all")
    git(place.repository, "commit", "--quiet", "--message", "Add")
    (place.repository / "a").write_text("\n")
    git(place.repository, "commit", "--quiet", "--all", "--message", "Remove")


def _in_a_message(place: Workplace) -> None:
    git(place.repository, "commit", "--quiet", "--allow-empty", "--message", f"Title\n\n- {SECRET}")


@pytest.mark.parametrize("leak", [_added_and_removed, _in_a_message])
def test_a_secret_in_the_history_of_the_work_is_found(
    place: Workplace, leak: Callable[[Workplace], None]
) -> None:
    taken = checkpoints(place)
    leak(place)
    with pytest.raises(SecretInWorkError):
        taken._refuse_secrets(git_line(place.repository, "rev-parse", "HEAD"), "commit")


# --- the mirror ---------------------------------------------------------------------------------------------


def test_a_mirror_outlives_a_git_that_was_killed_and_branches_that_are_renamed(tmp_path: Path) -> None:
    server, mirrors = tmp_path / "server", tmp_path / "mirrors"
    server.mkdir()
    base = commit(server)
    branch = git(server, "branch", "--show-current")
    git(server, "branch", "topic")
    remote = GitServer(str(server), patience_s=0.0)
    clone(remote, mirrors, tmp_path / "one", branch=branch, base=base)

    git(server, "branch", "--move", "topic", "topic/a")
    (mirror,) = mirrors.glob("*.git")
    for left in ("config.lock", "packed-refs.lock", f"refs/heads/{branch}.lock"):
        (mirror / left).touch()
    clone(remote, mirrors, tmp_path / "two", branch=branch, base=base)

    assert git(tmp_path / "two", "rev-parse", "HEAD") == base


@pytest.mark.parametrize(
    ("url", "environ", "passed"),
    [
        ("https://github.com/acme/shop", {}, {"GH_TOKEN", "GITHUB_TOKEN", "MY_PASSWORD"}),
        ("git@github.com:acme/shop", {}, {"GH_TOKEN", "GITHUB_TOKEN", "MY_PASSWORD"}),
        ("https://evil.example/acme/shop", {}, set()),
        ("https://github.com@evil.example/acme/shop", {}, set()),
        ("https://github.com:8443/acme/shop", {}, set()),
        ("git@evil.example:acme/shop", {}, set()),
        ("http://127.0.0.1:8080/acme/shop", {}, set()),
        ("ext::sh -c true", {}, set()),
        ("/srv/shop.git", {}, set()),
        ("https://git.firm.example/acme/shop", {"GH_HOST": "git.firm.example"}, {"GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "MY_PASSWORD"}),
        ("https://evil.example/acme/shop", {"GH_HOST": "git.firm.example"}, set()),
    ],
)  # fmt: skip
def test_git_of_a_fleet_has_the_tokens_of_the_servers_own_host_alone(
    url: str, environ: dict[str, str], passed: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (*VARIABLES, "MY_PASSWORD", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, f"{name}-value")
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    program = tmp_path / "git"
    program.write_text(f"#!/bin/sh\nenv > {tmp_path}/environ\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    GitServer(url, patience_s=0.0).refs()
    held = {
        line.partition("=")[0] for line in (tmp_path / "environ").read_text().splitlines() if "-value" in line
    }
    assert held == passed
