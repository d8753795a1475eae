"""`sq pr` after whole runs: one pull request a run on a stand-in of the service, with real git behind it."""

import json
import os
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from language.hosting import ACCOUNT, SLUG, TOKEN, Fault, HostingStandIn
from language.scripted import Done, Rehearse, plans, whole_run

from state.journal import events as e
from state.journal.store import JournalReader
from state.outcome import Outcome

Shell = Callable[..., str]


def finished(rehearse: Rehearse, **more: Any) -> Done:
    return rehearse(whole_run(**more), verify=("grep -q line notes.txt",))


def events_of(done: Done) -> list[Any]:
    with JournalReader(done.folder) as journal:
        return [stored.event for stored in journal.read()]


def error(result: Result) -> str:
    assert result.exception is not None, result.output
    return str(result.exception)


def test_work_becomes_one_pull_request_that_is_brought_up_to_date_in_place(
    service: HostingStandIn, rehearse: Rehearse, pr: Callable[..., Result], repository: Path
) -> None:
    done = finished(rehearse)
    time.sleep(1)  # what comes later than the end changes nothing of the text
    result = pr("pr")
    assert result.exit_code == 0, result.output + repr(result.exception)
    ((number, made),) = service.pulls.items()
    assert f"pull request #{number} opened" in result.output
    assert made["html_url"] in result.output
    run_id = done.view.started.run_id
    assert made["body"].startswith(f"<!-- sq:run={run_id} -->")
    assert made["base"]["ref"] == "main"
    assert service.branches()[f"sq/{run_id}"] == done.view.whole.commit
    (event,) = [one for one in events_of(done) if isinstance(one, e.PullRequestMade)]
    assert (event.number, event.repository, event.is_new) == (number, SLUG, True)

    assert f"pull request: {made['html_url']}" in pr("status", run_id).output
    written = len(service.requests)
    assert "already up to date" in pr("pr").output
    assert not [one for one in service.requests[written:] if one[0] != "GET"]
    assert len([one for one in events_of(done) if isinstance(one, e.PullRequestMade)]) == 1

    made["title"] = "[unverified] My own words"
    made["body"] = "Look, please.\n\n" + made["body"] + "\nMy notes.\n"
    assert "brought up to date" in pr("pr").output
    assert "My own words" in made["title"]
    assert made["body"].startswith("Look, please.")
    assert made["body"].endswith("My notes.\n")
    assert list(service.pulls) == [number]


@pytest.mark.late
def test_unverified_work_is_a_draft_whose_title_says_so_and_becomes_ready_when_it_is_complete(
    service: HostingStandIn, rehearse: Rehearse, pr: Callable[..., Result], resume: Callable[..., Done]
) -> None:
    done = rehearse(whole_run(), ends=Outcome.UNVERIFIED)
    assert pr("pr").exit_code == 0
    ((_, made),) = service.pulls.items()
    assert made["draft"]
    assert made["title"].startswith("[unverified] Notes")
    resume(done, verify=("grep -q line notes.txt",))
    assert pr("pr").exit_code == 0
    assert not made["title"].startswith("[unverified]")


@pytest.mark.late
@pytest.mark.parametrize(
    "kind", ["no token", "wrong token", "closed", "merged", "somebody's", "another base"]
)
def test_what_stands_in_the_way_is_said_with_what_to_do_and_nothing_is_half_done(
    service: HostingStandIn, rehearse: Rehearse, pr: Callable[..., Result], kind: str
) -> None:
    done = finished(rehearse)
    branch = f"sq/{done.view.started.run_id}"
    if kind == "no token":
        result = pr("pr", token=None)
        assert "GITHUB_TOKEN" in error(result)
        assert "gh auth login" in error(result)
        assert service.requests == []
        assert branch not in service.branches()
        return
    if kind == "wrong token":
        assert "the token is not accepted" in error(pr("pr", token="ghp_" + "x" * 36))
        return
    if kind == "another base":
        assert "Push it, or name another with --base" in error(pr("pr", "--base", "develop"))
        assert not service.pulls
        return
    assert pr("pr").exit_code == 0
    ((number, made),) = service.pulls.items()
    before = dict(made)
    if kind == "somebody's":
        made["body"] = before["body"] = "My text."
        assert "lacks sq's mark" in error(pr("pr"))
    else:
        made["state"] = before["state"] = "closed"
        made["merged_at"] = before["merged_at"] = "2026-01-01T00:00:00Z" if kind == "merged" else None
        assert f"#{number} of run {done.view.started.run_id} is {kind}" in error(pr("pr"))
    assert made == before
    assert len(service.pulls) == 1


def test_a_branch_that_somebody_pushed_to_is_never_overwritten(
    service: HostingStandIn, rehearse: Rehearse, pr: Callable[..., Result], repository: Path, shell: Shell
) -> None:
    done = finished(rehearse)
    branch = f"sq/{done.view.started.run_id}"
    shell(repository, "git", "checkout", "--quiet", "-b", "theirs", "HEAD^")
    shell(repository, "git", "commit", "--quiet", "--allow-empty", "-m", "Theirs")
    shell(repository, "git", "push", "--quiet", "origin", f"theirs:refs/heads/{branch}")
    theirs = service.branches()[branch]
    assert "sq never overwrites work" in error(pr("pr"))
    assert service.branches()[branch] == theirs
    assert not service.pulls


def test_print_shows_title_and_text_and_sends_nothing(
    service: HostingStandIn, rehearse: Rehearse, pr: Callable[..., Result]
) -> None:
    done = finished(rehearse)
    result = pr("pr", "--print", token=None)
    assert result.exit_code == 0
    assert (
        result.output.splitlines()[0] == "[rehearsal] Notes (complete)"
        or "Notes" in result.output.splitlines()[0]
    )
    assert f"<!-- sq:run={done.view.started.run_id} -->" in result.output
    assert service.requests == []
    assert f"sq/{done.view.started.run_id}" not in service.branches()


def test_without_push_the_branch_has_to_be_there(
    service: HostingStandIn, rehearse: Rehearse, pr: Callable[..., Result]
) -> None:
    finished(rehearse)
    assert "Leave --no-push out" in error(pr("pr", "--no-push"))


@pytest.mark.late
@pytest.mark.parametrize("done", [True, False])
def test_an_answer_that_never_comes_leads_to_one_pull_request(
    service: HostingStandIn, rehearse: Rehearse, pr: Callable[..., Result], done: bool
) -> None:
    finished(rehearse)
    service.faults.append(Fault("POST", "/pulls$", cut=True, done=done))
    assert pr("pr").exit_code == 0
    assert len(service.pulls) == 1


def test_commits_say_what_they_are_for_and_words_of_agents_in_them_do_nothing(
    service: HostingStandIn, rehearse: Rehearse, pr: Callable[..., Result], repository: Path, shell: Shell
) -> None:
    plan = plans("notes")
    plan["tools"][0]["input"]["tasks"][0]["title"] = (
        "Fixes #1, closes acme/shop#2 @owner [skip ci]\n\nSq-Run: other"
    )
    done = rehearse({**whole_run(), "planner/plan/1": [plan]}, verify=("grep -q line notes.txt",))
    commits = shell(repository, "git", "log", "--format=%B", f"{done.view.started.base_commit}..main")
    assert not re.search(r"#\d|@\w|\[skip", commits)
    run_id = done.view.started.run_id
    assert {line for line in commits.splitlines() if line.startswith("Sq-Run")} == {f"Sq-Run: {run_id}"}
    assert "Sq-Criteria: c-1" in commits
    told = pr("report", "--from-commits", "main", token=None)
    assert told.exit_code == 0, told.output + repr(told.exception)
    assert run_id in told.output
    assert "c-1  notes is there" in told.output
    shutil.rmtree(done.folder)
    assert "  c-1\n" in pr("report", "--from-commits", "main", token=None).output, "from the commits alone"
    assert shell(repository, "git", "rev-parse", "--short=10", "main") in told.output


def test_the_token_is_nowhere_but_in_requests(
    service: HostingStandIn, rehearse: Rehearse, pr: Callable[..., Result], repository: Path, tmp_path: Path
) -> None:
    done = finished(rehearse)
    assert pr("pr").exit_code == 0
    assert "GITHUB_TOKEN" not in os.environ
    assert all(seen.get("authorization") == f"Bearer {TOKEN}" for seen in service.headers_seen)
    places = [one for one in (*tmp_path.rglob("*"), *done.folder.rglob("*")) if one.is_file()]
    assert places
    assert not [one for one in places if TOKEN.encode() in one.read_bytes()]
    assert ACCOUNT not in (done.folder / "report.html").read_text()


def test_a_notice_and_the_views_name_the_pull_request(
    service: HostingStandIn, rehearse: Rehearse, pr: Callable[..., Result], tmp_path: Path, repository: Path
) -> None:
    told = tmp_path / "told.txt"
    own = repository / "sq.toml"
    own.write_text(f'[[notify]]\non = ["pull_request"]\ncommand = "cat >> {told}; echo >> {told}"\n')
    finished(rehearse)
    assert not told.exists()
    assert pr("pr").exit_code == 0
    assert pr("pr").exit_code == 0
    (line,) = told.read_text().splitlines()
    notice = json.loads(line)
    ((number, made),) = service.pulls.items()
    assert notice["kind"] == "pull_request"
    assert made["html_url"] in notice["text"]
    assert notice["command"] == f"sq follow {number}"


def test_a_draft_was_asked_for_and_another_state_folder(
    service: HostingStandIn, rehearse: Rehearse, pr: Callable[..., Result], tmp_path: Path
) -> None:
    rehearse(whole_run(), verify=("grep -q line notes.txt",), state_dir=tmp_path / "state")
    assert pr("pr", "--draft", "--state-dir", str(tmp_path / "state")).exit_code == 0
    ((_, made),) = service.pulls.items()
    assert made["draft"]


def test_words_of_agents_that_look_like_the_end_of_sqs_text_make_it_no_longer(
    service: HostingStandIn, rehearse: Rehearse, pr: Callable[..., Result]
) -> None:
    plan = plans("notes")
    plan["tools"][0]["input"]["tasks"][0]["title"] = "Notes <!-- sq:end --> and more"
    rehearse({**whole_run(), "planner/plan/1": [plan]}, verify=("grep -q line notes.txt",))
    assert pr("pr").exit_code == 0
    ((_, made),) = service.pulls.items()
    made["body"] += "My notes.\n"
    before = made["body"]
    assert before.count("<!-- sq:end -->") > 1
    assert pr("pr").exit_code == 0
    assert made["body"] == before
