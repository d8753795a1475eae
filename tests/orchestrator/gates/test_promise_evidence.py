"""What shows that a criterion is met: the present tree, commands, files and commits, as sq itself sees them."""

import os
import subprocess
from dataclasses import replace

import pytest

from orchestrator.gates.promise_evidence import (
    evidence_now,
    keep_out_of_git,
    present_tree,
    promise_base,
    refuse_uncheckable,
    unproven,
)
from orchestrator.gates.promises import FOLDER, CriterionCheck, Promise, PromiseCriterion
from state.errors import UsageError


def command(text, deadline_s=60.0):
    return PromiseCriterion(text="it works", kind=CriterionCheck.COMMAND, target=text, deadline_s=deadline_s)


def commit(words):
    return PromiseCriterion(text="it is committed", kind=CriterionCheck.COMMIT, target=words)


def file(path):
    return PromiseCriterion(text="it is there", kind=CriterionCheck.FILE, target=path)


async def checked(home, *criteria):
    promise = Promise.new(text="A promise", criteria=criteria, owner="s-1", base=await promise_base(home))
    found = await evidence_now(home, promise, range(1, len(criteria) + 1))
    return promise.with_evidence(found)


# --- the tree ---------------------------------------------------------------------------------------------


async def test_the_tree_is_all_that_git_would_commit_whatever_is_staged(repository, shell):
    empty = await present_tree(repository)
    (repository / "shop.py").write_text("price = 1\n")
    added = await present_tree(repository)
    assert added != empty
    shell(repository, "git", "add", "--all")
    assert await present_tree(repository) == added
    shell(repository, "git", "commit", "--quiet", "-m", "Add the shop")
    assert await present_tree(repository) == added
    assert added == f"git:{shell(repository, 'git', 'rev-parse', 'HEAD^{tree}')}"
    (repository / "shop.py").unlink()
    assert await present_tree(repository) == empty


async def test_looking_at_the_tree_leaves_the_repository_as_it_was(repository, shell):
    (repository / "staged.py").write_text("staged = 1\n")
    shell(repository, "git", "add", "staged.py")
    (repository / "new.py").write_text("new = 1\n")
    before = {path: path.read_bytes() for path in repository.rglob("*") if path.is_file()}
    await present_tree(repository)
    assert {path: path.read_bytes() for path in repository.rglob("*") if path.is_file()} == before


async def test_an_edit_that_keeps_size_and_follows_at_once_is_seen(repository, shell):
    path = repository / "shop.py"
    path.write_text("price = 1\n")
    shell(repository, "git", "add", "--all")
    for number in range(2, 8):
        before = await present_tree(repository)
        path.write_text(f"price = {number}\n")
        assert await present_tree(repository) != before


async def test_sqs_own_state_caches_and_what_git_ignores_are_no_part_of_the_tree(repository, shell, home):
    (repository / ".gitignore").write_text("build/\n")
    (home / ".config" / "git").mkdir(parents=True)
    (home / ".config" / "git" / "ignore").write_text(".idea/\n")
    tracked = repository / ".claude" / "runtime" / "counter.json"
    tracked.parent.mkdir(parents=True)
    tracked.write_text("1")
    shell(repository, "git", "add", "--all", "--force")
    before = await present_tree(repository)
    tracked.write_text("2")
    for name in (
        "build/out",
        ".idea/x.xml",
        "pkg/__pycache__/a.pyc",
        f"{FOLDER}/p-1.json",
        ".pytest_cache/v",
    ):
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text("x")
    assert await present_tree(repository) == before
    (repository / ".claude" / "settings.json").write_text("{}")
    assert await present_tree(repository) != before


async def test_a_worktree_with_a_colon_in_its_path_is_a_tree_of_its_own(repository, shell, tmp_path):
    shell(repository, "git", "worktree", "add", "--quiet", str(tmp_path / 'a:"b'), "-b", "other")
    before = await present_tree(tmp_path / 'a:"b')
    assert before == await present_tree(repository)
    (tmp_path / 'a:"b' / "new.py").write_text("x")
    assert await present_tree(tmp_path / 'a:"b') != before
    assert await present_tree(repository) == before


async def test_without_git_the_tree_is_names_sizes_and_times(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "shop.py").write_text("price = 1\n")
    before = await present_tree(tmp_path)
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / FOLDER / "p-1.json").write_text("{}")
    (tmp_path / "src" / "__pycache__").mkdir()
    (tmp_path / "src" / "__pycache__" / "shop.pyc").write_text("x")
    assert await present_tree(tmp_path) == before
    os.utime(tmp_path / "src" / "shop.py", ns=(1, 1))
    touched = await present_tree(tmp_path)
    (tmp_path / "src" / "shop.py").rename(tmp_path / "src" / "store.py")
    assert len({before, touched, await present_tree(tmp_path)}) == 3


# --- commands ---------------------------------------------------------------------------------------------


async def test_a_command_is_evidence_by_its_exit_code_and_its_output_is_kept(repository):
    done = await checked(
        repository, command("echo fine"), command("echo bad; exit 3"), command("no-such-command")
    )
    tree = await present_tree(repository)
    assert [(one.passed, one.exit_code, one.tree) for one in done.evidence] == [
        (True, 0, tree),
        (False, 3, tree),
        (False, 127, tree),
    ]
    assert [one.output for one in done.evidence][:2] == ["fine\n", "bad\n"]
    assert [*await unproven(repository, done, tree)] == [2, 3]


async def test_a_command_that_does_not_end_shows_nothing_and_leaves_nothing_running(repository, tmp_path):
    alive = tmp_path / "alive"
    os.mkfifo(alive)
    done = await checked(repository, command(f"exec 3<>'{alive}'; sleep 600 & sleep 600", deadline_s=0.3))
    assert not done.evidence[0].passed
    assert done.evidence[0].output.startswith("did not end within 0.3 s")
    with pytest.raises(OSError, match="No such device"):  # nobody has the pipe open any more
        os.open(alive, os.O_WRONLY | os.O_NONBLOCK)


async def test_of_a_long_output_the_end_is_kept(repository):
    done = await checked(repository, command("seq 100000; exit 1"))
    assert len(done.evidence[0].output) < 5000
    assert done.evidence[0].output.endswith("100000\n")


async def test_a_command_that_changes_the_tree_shows_nothing_until_it_leaves_it_alone(repository):
    done = await checked(repository, command("echo 1 > coverage.txt"))
    assert not done.evidence[0].passed
    missing = await unproven(repository, done, await present_tree(repository))
    assert "the tree changed while it ran" in missing[1]
    assert (await checked(repository, command("echo 1 > coverage.txt"))).evidence[0].passed


async def test_what_was_shown_before_another_check_changed_the_tree_is_stale(repository):
    done = await checked(repository, command("test ! -e made"), command("touch made"))
    assert done.unproven(await present_tree(repository)) == (1, 2)


async def test_commands_run_at_the_top_without_secrets_or_functions_in_their_place(repository, monkeypatch):
    monkeypatch.setenv("DEPLOY_TOKEN", "a-very-secret-value")
    monkeypatch.setenv("BASH_FUNC_grep%%", "() { true; }")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    (repository / "shop.py").write_text("secret: a-very-secret-value\n")
    done = await checked(
        repository,
        command('test -z "$DEPLOY_TOKEN" && test -d .git && git status'),
        command("grep -q discount shop.py"),
        command("cat shop.py"),
    )
    assert [one.passed for one in done.evidence] == [True, False, True]
    assert done.evidence[2].output == "secret: [redacted: DEPLOY_TOKEN]\n"


# --- files ------------------------------------------------------------------------------------------------


async def test_a_file_is_there_inside_the_project_and_no_link_leads_out(repository, tmp_path):
    (tmp_path / "outside.md").write_text("x")
    (repository / "inside.md").write_text("x")
    (repository / "docs").mkdir()
    (repository / "out.md").symlink_to(tmp_path / "outside.md")
    (repository / "up").symlink_to(tmp_path)
    (repository / "in.md").symlink_to("inside.md")
    names = ("inside.md", "in.md", "docs", "missing.md", "out.md", "up/outside.md")
    done = await checked(repository, *map(file, names))
    assert [one.passed for one in done.evidence] == [True, True, False, False, False, False]
    with pytest.raises(UsageError, match="link"):
        refuse_uncheckable(repository, [file("out.md")])
    refuse_uncheckable(repository, [file("inside.md"), file("later/made.md")])


# --- commits ----------------------------------------------------------------------------------------------


async def test_a_commit_counts_when_it_is_new_and_says_the_words(repository, shell):
    shell(repository, "git", "commit", "--quiet", "--allow-empty", "-m", "Add the discount")
    promise = await checked(repository, commit("discount"), commit("No-code"), commit(""))
    assert [one.passed for one in promise.evidence] == [False, False, False]
    shell(
        repository,
        "git",
        "commit",
        "--quiet",
        "--allow-empty",
        "-m",
        "Show it\n\nThe Discount is on invoices.",
    )
    tree = await present_tree(repository)
    assert [*await unproven(repository, promise, tree)] == [2]


async def test_older_commits_that_are_merged_in_do_not_count(repository, shell):
    shell(repository, "git", "switch", "--quiet", "-c", "other")
    shell(
        repository,
        *("git", "commit", "--quiet", "--allow-empty", "-m", "Add the discount"),
        GIT_COMMITTER_DATE="2020-01-01T00:00:00Z",
    )
    shell(repository, "git", "switch", "--quiet", "main")
    promise = await checked(repository, commit("discount"))
    shell(repository, "git", "merge", "--quiet", "other")
    assert await unproven(repository, promise, await present_tree(repository))


async def test_the_first_commit_of_a_repository_counts(tmp_path, shell):
    shell(tmp_path, "git", "init", "--quiet")
    promise = await checked(tmp_path, commit(""))
    assert not promise.evidence[0].passed
    identity = ("-c", "user.name=Owner", "-c", "user.email=owner@localhost")
    shell(tmp_path, "git", *identity, "commit", "--quiet", "--allow-empty", "-m", "First")
    assert await unproven(tmp_path, promise, await present_tree(tmp_path)) == {}


async def test_a_base_that_is_gone_shows_nothing(repository):
    promise = replace(await checked(repository, commit("")), base="d" * 40)
    promise = replace(promise, id=promise.id_of_definition)
    missing = await unproven(repository, promise, await present_tree(repository))
    assert "the commits cannot be read" in missing[1]


async def test_a_commit_is_refused_as_a_criterion_where_there_is_no_git(tmp_path):
    with pytest.raises(UsageError, match="no git repository"):
        refuse_uncheckable(tmp_path, [commit("x")])
    assert await promise_base(tmp_path) == ""


async def test_git_does_not_see_promises_and_no_file_of_the_user_is_changed(repository, shell):
    for _ in range(2):
        await keep_out_of_git(repository, repository / FOLDER)
    (repository / FOLDER).mkdir(parents=True)
    (repository / FOLDER / "p-1.json").write_text("{}")
    assert shell(repository, "git", "status", "--porcelain") == ""
    assert (repository / ".git" / "info" / "exclude").read_text().count(f"/{FOLDER}/") == 1


async def test_where_git_cannot_be_told_promises_are_made_all_the_same(repository):
    exclude = repository / ".git" / "info" / "exclude"
    exclude.unlink(missing_ok=True)
    exclude.mkdir(parents=True)
    await keep_out_of_git(repository, repository / FOLDER)
    listed = subprocess.run(["git", "-C", repository, "status"], capture_output=True, check=False)
    assert listed.returncode in {0, 128}
