"""`sq promise` as a session and its user meet it: promise, show, check, hand over, end."""

import json
import os
import re
from pathlib import Path

import pytest
from in_process import sq

from orchestrator.gates.promises import FOLDER


@pytest.fixture
def promise(repository):
    """`sq promise …` in the repository, as a command of session s-1."""
    (repository / "shop.py").write_text("price = 1\n")

    def run(*arguments, folder=repository, session="s-1", **environ):
        given = {**os.environ, "CLAUDE_SESSION_ID": session, **environ}
        return sq(["promise", *arguments], folder=folder, environ=given)

    return run


@pytest.fixture
def made(promise):
    """Make a promise and return its id."""

    def make(*arguments, text="Invoices show the discount", **how):
        done = promise("create", text, *arguments, **how)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return make


def shown(promise, promise_id):
    return json.loads(promise("show", promise_id, "--json").stdout)


# --- create -----------------------------------------------------------------------------------------------


def test_a_promise_is_made_with_its_checks_in_the_order_they_were_written(promise, made):
    promise_id = made(
        *("--file", "guide.md", "--criterion", "the check passes", "--command", "true"),
        *("--commit", "discount", "--criterion", "there is a plan", "--file", "plan.md", "--commit", ""),
    )
    assert re.fullmatch("p-[0-9a-f]{12}", promise_id)
    found = shown(promise, promise_id)
    assert (found["state"], found["owner"], found["text"]) == ("open", "s-1", "Invoices show the discount")
    assert [(one["number"], one["kind"], one["target"], one["text"]) for one in found["criteria"]] == [
        (1, "file", "guide.md", "guide.md is there"),
        (2, "command", "true", "the check passes"),
        (3, "commit", "discount", "a commit says discount"),
        (4, "file", "plan.md", "there is a plan"),
        (5, "commit", "", "there is a new commit"),
    ]


def test_words_alone_are_no_criterion(promise, repository):
    for arguments in (
        ("--criterion", "I have checked it"),
        ("--criterion", "I have checked it", "--criterion", "the check passes", "--command", "true"),
        ("--command", "true", "--criterion", "it is done"),
        (),
    ):
        done = promise("create", "It works", *arguments)
        assert done.returncode == 2
        assert "check" in done.stderr
    assert not (repository / FOLDER).exists()


@pytest.mark.parametrize("path", ["../outside.md", "/etc/hostname", "docs/../../x", ""])
def test_a_file_outside_the_project_is_refused(promise, path):
    done = promise("create", "It works", "--file", path)
    assert done.returncode == 2
    assert "no path inside the project" in done.stderr


def test_git_does_not_see_promises(made, repository, shell):
    made("--file", "guide.md")
    assert shell(repository, "git", "status", "--porcelain") == "?? shop.py"


def test_the_session_is_the_one_given_else_that_of_the_environment(promise, made):
    check = ("--file", "guide.md")
    other = {"CLAUDE_CODE_SESSION_ID": "s-code"}
    owners = [
        shown(promise, made(*check, *options, session=session, **other))["owner"]
        for options, session in ((("--session", "s-9"), "s-1"), ((), "s-1"), ((), ""))
    ]
    assert owners == ["s-9", "s-1", "s-code"]


@pytest.mark.parametrize("options", [(), ("--session", ""), ("--session", "  ")])
def test_without_a_session_nothing_is_made(promise, made, options, repository):
    promise_id = made("--file", "guide.md")
    before = (repository / FOLDER / f"{promise_id}.json").read_bytes()
    done = promise("create", "It works", "--file", "x", *options, session="")
    assert done.returncode == 2
    assert "--session ID" in done.stderr
    files = list((repository / FOLDER).glob("*.json"))
    assert [path.read_bytes() for path in files] == [before]


def test_a_deadline_holds_for_each_command(promise, made):
    promise_id = made("--command", "sleep 60", "--deadline", "0.2")
    done = promise("meet", promise_id, 1)
    assert done.returncode == 1
    assert "did not end within 0.2 s" in done.stdout
    assert promise("create", "It works", "--command", "true", "--deadline", "0").returncode == 2


# --- check ------------------------------------------------------------------------------------------------


def test_a_criterion_is_met_when_its_check_says_so_and_unproven_when_the_tree_changes(
    promise, made, repository
):
    promise_id = made("--command", "echo looking; grep discount shop.py", "--file", "shop.py")
    failed = promise("meet", promise_id, 1)
    assert failed.returncode == 1
    assert "failed when it was last checked: exit code 1" in failed.stdout
    assert "| looking" in failed.stdout
    (repository / "shop.py").write_text("discount = 2\n")
    done = promise("meet", promise_id, 1)
    assert (done.returncode, "every criterion is met" in done.stdout) == (0, True)
    assert [one["met"] for one in shown(promise, promise_id)["criteria"]] == [True, True]
    (repository / "shop.py").write_text("discount = 3\n")
    assert [one["met"] for one in shown(promise, promise_id)["criteria"]] == [False, True]
    assert "the tree has changed since it was checked" in promise("show", promise_id).stdout


def test_no_text_meets_a_criterion(promise, made):
    promise_id = made("--command", "false")
    for arguments in (
        ("1", "I have checked it"),
        ("1", "--evidence", "All tests pass"),
        ("It is met",),
        ("2",),
    ):
        assert promise("meet", promise_id, *arguments).returncode == 2
    assert promise("verify", promise_id, "It is met").returncode == 2
    assert shown(promise, promise_id)["criteria"][0]["evidence"] is None


def test_verify_checks_everything_and_closes_a_promise_that_is_kept(promise, made, repository, shell):
    promise_id = made("--command", "grep -q discount shop.py", "--file", "guide.md", "--commit", "discount")
    failed = promise("verify", promise_id)
    assert failed.returncode == 1
    assert "there is no file guide.md" in failed.stdout
    (repository / "shop.py").write_text("discount = 2\n")
    (repository / "guide.md").write_text("x")
    shell(repository, "git", "add", "--all")
    shell(repository, "git", "commit", "--quiet", "-m", "Add the discount")
    done = promise("verify", promise_id, "--json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert found["state"] == "kept"
    assert {one["evidence"]["tree"] for one in found["criteria"]} == {
        f"git:{shell(repository, 'git', 'rev-parse', 'HEAD^{tree}')}"
    }
    (repository / "guide.md").unlink()
    assert promise("verify", promise_id).returncode == 0
    assert promise("meet", promise_id, 1).returncode == 1


def test_meeting_every_criterion_does_not_close_a_promise(promise, made):
    promise_id = made("--file", "shop.py")
    assert "sq promise verify" in promise("meet", promise_id, 1).stdout
    assert shown(promise, promise_id)["state"] == "open"


def test_a_promise_that_was_edited_cannot_be_verified_but_cancelled(promise, made, repository):
    promise_id = made("--command", "false")
    path = repository / FOLDER / f"{promise_id}.json"
    path.write_text(path.read_text().replace('"false"', '"true"'))
    done = promise("verify", promise_id)
    assert done.returncode == 1
    assert "was changed after it was made" in done.stderr
    assert shown(promise, promise_id)["altered"] is True
    assert promise("cancel", promise_id, "--reason", "It was edited.").returncode == 0


# --- look -------------------------------------------------------------------------------------------------


def test_the_list_shows_who_keeps_what_and_what_is_damaged(promise, made, repository):
    mine = made("--file", "guide.md")
    (repository / FOLDER / "x.json").write_text("{")
    listed = promise("list").stdout
    assert re.search(rf"^{mine} +open +s-1 +\S+Z +Invoices show the discount$", listed, re.MULTILINE)
    assert "damaged: " in listed
    found = json.loads(promise("list", "--json").stdout)
    assert [one["id"] for one in found["promises"]] == [mine]
    assert [Path(one["file"]).name for one in found["damaged"]] == ["x.json"]


def test_an_empty_list_says_where_it_looked(promise, repository):
    assert promise("list").stdout == f"there is no promise in {repository / FOLDER}\n"


def test_another_project_is_named_or_that_of_claude_code_is_meant(promise, made, repository, tmp_path):
    promise_id = made("--file", "guide.md")
    inner = repository / "src"
    inner.mkdir()
    project = ("--project", repository)
    assert promise_id in promise("list", folder=inner).stdout
    assert promise_id in promise("list", folder=tmp_path, CLAUDE_PROJECT_DIR=str(repository)).stdout
    assert promise_id not in promise("list", folder=tmp_path, CLAUDE_PROJECT_DIR="").stdout
    assert promise_id in promise("list", *project, folder=tmp_path).stdout
    assert promise("show", promise_id, *project, folder=tmp_path).returncode == 0
    assert promise("meet", promise_id, 1, *project, folder=tmp_path).returncode == 1
    assert promise("verify", promise_id, *project, folder=tmp_path).returncode == 1
    assert promise("cancel", promise_id, "--reason", "Done.", *project, folder=tmp_path).returncode == 0
    other = promise("create", "Another", "--file", "x", *project, folder=tmp_path)
    assert (repository / FOLDER / f"{other.stdout.strip()}.json").is_file()


@pytest.mark.parametrize("promise_id", ["p-000000000000", "../../x", "", "p-*"])
def test_an_unknown_id_is_a_usage_error_for_every_verb(promise, made, promise_id, repository):
    made("--file", "guide.md")
    before = sorted(repository.rglob("*"))
    for verb, *rest in (
        ["show"],
        ["meet", "1"],
        ["verify"],
        ["cancel", "--reason", "x"],
    ):
        done = promise(verb, promise_id, *rest)
        assert done.returncode == 2, done.stdout
        assert "no promise" in done.stderr
    assert sorted(repository.rglob("*")) == before


# --- end --------------------------------------------------------------------------------------------------


def test_a_cancelled_promise_keeps_its_reason_and_is_over(promise, made):
    promise_id = made("--file", "guide.md")
    assert promise("cancel", promise_id).returncode == 2
    assert promise("cancel", promise_id, "--reason", " ").returncode == 2
    assert promise("cancel", promise_id, "--reason", "Not mine.", session="s-2").returncode == 1
    assert (
        promise("cancel", promise_id, "--reason", "No guide is wanted.", "--session", "s-1").returncode == 0
    )
    found = shown(promise, promise_id)
    assert (found["state"], found["reason"]) == ("cancelled", "No guide is wanted.")
    assert "reason: No guide is wanted." in promise("show", promise_id).stdout
    assert promise("verify", promise_id).returncode == 1
