"""A clean worktree is not the checkout: the difference is brought, or named, and is no fault of the tests."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from language.scripted import Rehearse, call, completes, says, whole_run, writes

from state.journal import events as e
from state.outcome import Outcome
from state.settings.config import user_file

Shell = Callable[..., str]
Commit = Callable[[Mapping[str, str]], Path]
ME = ("-c", "user.name=A", "-c", "user.email=a@example.org")
TESTS_GIT = """
import subprocess, unittest

def git(*words):
    return subprocess.run(["git", *words], capture_output=True, text=True, check=True).stdout.strip()

class GitTest(unittest.TestCase):
    def test_the_tag_is_near(self):
        self.assertTrue(git("describe", "--tags").startswith("v1.0"))
    def test_a_commit_can_be_made(self):
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            git("init", "-q", folder)
            git("-C", folder, "commit", "-q", "--allow-empty", "-m", "x")
"""


def delivered(repository: Path, shell: Shell) -> set[str]:
    return set(shell(repository, "git", "ls-tree", "-r", "--name-only", "main").split())


# --- the user's ignores -----------------------------------------------------------------------------------


def test_files_that_the_user_ignores_everywhere_are_in_no_commit(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    ignored = user_file().parent.parent / "git" / "ignore"
    ignored.parent.mkdir(parents=True, exist_ok=True)
    ignored.write_text("*.local.json\n")
    (repository / ".git" / "info").mkdir(exist_ok=True)
    (repository / ".git" / "info" / "exclude").write_text("scratch/\n")
    junk = says(call("Bash", command="mkdir scratch; touch scratch/it junk.local.json kept.json"))
    rehearse(whole_run(worker=[writes("notes.txt", "A line.\n"), junk, completes()]), verify=("true",))
    assert delivered(repository, shell) & {"junk.local.json", "scratch/it", "kept.json"} == {"kept.json"}


def test_a_repositorys_own_setting_makes_sq_read_no_file_of_the_home(
    rehearse: Rehearse, repository: Path, shell: Shell, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository)
    (home / "secret").write_text("a line that is the user's alone\n")
    shell(repository, "git", "config", "core.excludesFile", str(home / "secret"))
    done = rehearse(whole_run(), verify=("true",))
    copies = [file for file in (done.folder / "git").rglob("*") if file.is_file()]
    assert not [file for file in copies if b"the user's alone" in file.read_bytes()]


# --- git ---------------------------------------------------------------------------------------------------


def test_who_commits_in_tests_is_the_user_whatever_signs_the_name_has(rehearse: Rehearse, home: Path) -> None:
    (home / ".gitconfig").write_text('[user]\n\tname = "José \\"J\\" Müller"\n', "utf-8")
    command = """test "$(git config --global user.name)" = 'José "J" Müller' && git status"""
    done = rehearse(whole_run(), verify=(command,))
    assert [one.run.exit_code for one in done.view.baseline.checks.values()] == [0]


def test_tests_that_read_the_history_and_commit_pass_as_in_the_checkout(
    rehearse: Rehearse, commit: Commit, shell: Shell
) -> None:
    shell(commit({"test_git.py": TESTS_GIT}), "git", "tag", "v1.0")
    done = rehearse(whole_run(), verify=("python3 -m unittest -q",))
    assert [one.run.exit_code for one in done.view.baseline.checks.values()] == [0]
    assert {one.exit_code for found in done.of(e.VerificationFinished) for one in found.runs} == {0}


# --- submodules --------------------------------------------------------------------------------------------


@pytest.mark.late
def test_submodules_are_in_every_place_from_the_objects_that_are_here_and_no_work(
    rehearse: Rehearse, commit: Commit, shell: Shell, tmp_path: Path
) -> None:
    for name, files in (("inner", {"deep.txt": "1\n"}), ("lib", {"data.txt": "1\n", "sub/more.txt": "2\n"})):
        shell(tmp_path, "git", "init", "--quiet", name)
        for file, text in files.items():
            (tmp_path / name / file).parent.mkdir(exist_ok=True)
            (tmp_path / name / file).write_text(text)
        if name == "lib":
            _add_submodule(shell, tmp_path / "lib", tmp_path / "inner", "inner")
        shell(tmp_path / name, "git", "add", "-A")
        shell(tmp_path / name, "git", *ME, "commit", "--quiet", "-m", name)
    root = commit({"a.txt": "a\n"})
    _add_submodule(shell, root, tmp_path / "lib", "vendor/lib")
    commit({"b.txt": "b\n"})
    before = shell(root, "git", "ls-tree", "main", "vendor/lib")
    command = "test -f vendor/lib/data.txt -a -f vendor/lib/sub/more.txt -a -f vendor/lib/inner/deep.txt"
    meddles = says(
        call("Bash", command=f"{command} && echo 2 > vendor/lib/data.txt && touch vendor/lib/made")
    )
    done = rehearse(
        whole_run(worker=[writes("notes.txt", "A line.\n"), meddles, completes()]), verify=(command,)
    )
    assert {one.exit_code for found in done.of(e.VerificationFinished) for one in found.runs} == {0}
    assert shell(root, "git", "ls-tree", "main", "vendor/lib") == before
    assert delivered(root, shell) == {".gitmodules", "a.txt", "b.txt", "notes.txt", "vendor/lib"}
    assert "submodules as at the base, from what is here: vendor/lib" in done.output


def _add_submodule(shell: Shell, root: Path, of: Path, path: str) -> None:
    allowed = ("-c", "protocol.file.allow=always")
    shell(root, "git", *allowed, "submodule", "--quiet", "add", str(of), path)
    shell(root, "git", *allowed, "submodule", "--quiet", "update", "--init", "--recursive")


def test_a_new_repository_inside_the_work_is_refused_and_its_files_come_home_without_its_git_folder(
    rehearse: Rehearse, commit: Commit, repository: Path, shell: Shell
) -> None:
    identity = "-c user.name=A -c user.email=a@b.c"
    lines = (
        "mkdir web",
        "cd web",
        "echo hi > index.html",
        "git init -q",
        "git add -A",
        f"git {identity} commit -qm x",
    )
    commit({"scaffold.sh": " && ".join(lines)})
    makes, mends = (says(call("Bash", command=one)) for one in ("sh scaffold.sh", "rm -rf web/.git"))
    worker = [makes, completes(), mends, completes()]
    done = rehearse(whole_run(worker=worker), verify=("true",))
    (refused,) = done.of(e.CompletionRefused)
    assert "web is a git repository of its own" in refused.feedback
    assert "web/index.html" in delivered(repository, shell)


def test_a_filter_that_writes_beside_the_objects_stops_nothing_if_a_file_has_another_time(
    rehearse: Rehearse, commit: Commit, shell: Shell
) -> None:
    root = commit({".gitattributes": "*.bin filter=big\n", "model.bin": "model\n"})
    (root / ".git" / "lfs").mkdir()
    clean = 'f="$(git rev-parse --path-format=absolute --git-common-dir)/lfs/it"; cat > "$f" && cat "$f"'
    shell(root, "git", "config", "filter.big.clean", clean)
    shell(root, "git", "config", "filter.big.smudge", "cat")
    shell(root, "git", "config", "filter.big.required", "true")
    (root / "model.bin").touch()
    rehearse(whole_run(), verify=("true",))
    assert "notes.txt" in delivered(root, shell)


# --- tests that write --------------------------------------------------------------------------------------


def test_a_tracked_file_that_the_tests_rewrite_at_the_base_is_no_work(
    rehearse: Rehearse, commit: Commit, shell: Shell
) -> None:
    root = commit({"last_run.txt": "0\n", "golden.txt": "0\n", "package-lock.json": "{}\n"})
    runs = "for file in last_run.txt golden.txt package-lock.json; do date +%N > $file; done"
    worker = [writes("notes.txt", "A line.\n"), says(call("Bash", command=runs)), completes()]
    done = rehearse(
        whole_run(worker=worker),
        spec="# Notes\n\nA line in notes.txt, and a golden.txt.\n",
        verify=(runs,),
        settings={"worktree.setup": "none"},
    )
    assert set(shell(root, "git", "diff", "--name-only", "main~1", "main").split()) == {
        "golden.txt",
        "notes.txt",
        "package-lock.json",  # a task may add a package
    }
    assert "the tests rewrite last_run.txt, which git tracks" in done.output


# --- the repository's rules --------------------------------------------------------------------------------


@pytest.mark.late
def test_rules_for_commits_are_said_at_the_start_and_followed_where_asked_for(
    rehearse: Rehearse, commit: Commit, shell: Shell, tmp_path: Path
) -> None:
    root = commit({".husky/commit-msg": "#!/bin/sh\n", "commitlint.config.js": "x\n"})
    signer = tmp_path / "signer"
    signed = "printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n'"
    signer.write_text(f"#!/bin/sh\ncat > /dev/null; {signed}; printf '\\n[GNUPG:] SIG_CREATED \\n' >&2\n")
    signer.chmod(0o755)
    for name, value in (("commit.gpgSign", "true"), ("gpg.program", str(signer)), ("user.name", "Ann")):
        shell(root, "git", "config", name, value)
    done = rehearse(whole_run(), verify=("true",))
    for part in ("writes messages as `feat: …`", "signs commits", "has hooks (commit-msg)", "commit.sign"):
        assert part in done.output
    settings = {"commit.sign": True, "commit.message": "feat: {title}", "commit.author": "user"}
    worker = [writes("notes.txt", "Another line.\n"), completes()]
    done = rehearse(whole_run(worker=worker), verify=("true",), settings=settings)
    told = shell(root, "git", "log", "-1", "--format=%an | %s")
    assert told.startswith("Ann | feat: ")
    assert "gpgsig -----BEGIN PGP SIGNATURE" in shell(root, "git", "cat-file", "commit", "main")
    assert "commits: this repository" not in done.output


def test_a_base_that_is_behind_or_not_the_branch_of_pull_requests_is_said_before_the_first_token(
    rehearse: Rehearse, commit: Commit, shell: Shell, tmp_path: Path
) -> None:
    root = commit({"a.txt": "1\n"})
    shell(tmp_path, "git", "clone", "--quiet", "--bare", str(root), "origin.git")
    shell(root, "git", "remote", "add", "origin", str(tmp_path / "origin.git"))
    commit({"a.txt": "2\n"})
    shell(root, "git", "push", "--quiet", "origin", "main")
    shell(root, "git", "remote", "set-head", "origin", "main")
    shell(root, "git", "switch", "--quiet", "-c", "old", "HEAD~1")
    done = rehearse(whole_run(), verify=("true",))
    assert "the base is 1 commit(s) behind origin/main" in done.output
    assert "the base is old, and the remote's own branch, for pull requests, is main" in done.output


# --- beside the repository ---------------------------------------------------------------------------------


@pytest.mark.parametrize("sandbox", ["auto", "off"])
def test_folders_beside_the_repository_are_where_tests_and_set_up_look_for_them(
    rehearse: Rehearse, commit: Commit, tmp_path: Path, sandbox: str
) -> None:
    root = commit({"go.mod": "module x\n\nreplace example.org/lib => ../lib\n"})
    for name in ("lib", "shared"):
        (root.parent / name).mkdir()
        (root.parent / name / "data.txt").write_text("1\n")
    (root.parent / ".tool-versions").write_text("python 3.12\n")  # a shim looks for it
    command = "test -f ../lib/data.txt -a -f ../shared/data.txt -a -f ../.tool-versions"
    settings = {"sandbox": sandbox, "worktree.include_beside": ("../shared",), "worktree.setup": (command,)}
    done = rehearse(whole_run(), verify=(command,), settings=settings)
    assert {one.exit_code for found in done.of(e.VerificationFinished) for one in found.runs} == {0}
    assert "set-up and verification may read ../lib (go.mod names it), ../shared" in done.output


# --- the environment ---------------------------------------------------------------------------------------


@pytest.mark.late
def test_an_environment_that_is_in_the_checkout_alone_is_named_before_a_token_is_spent_and_may_be_copied(
    rehearse: Rehearse, commit: Commit
) -> None:
    root = commit({".gitignore": ".venv/\n", "Makefile": "test:\n\t.venv/bin/check\n"})
    (root / ".venv" / "bin").mkdir(parents=True)
    (root / ".venv" / "bin" / "check").write_text("#!/bin/sh\n")
    (root / ".venv" / "bin" / "check").chmod(0o755)
    done = rehearse(whole_run(), verify=("make test",), ends=Outcome.USAGE)
    assert ".venv is in your checkout alone" in done.output
    assert not done.of(e.CallStarted)
    rehearse(whole_run(), verify=("make test",), settings={"worktree.include": (".venv/",)})


# --- the path of the place ----------------------------------------------------------------------------------


@pytest.mark.late
def test_tests_that_fail_by_the_path_of_a_worktree_are_told_so_and_those_that_fail_anywhere_are_not(
    rehearse: Rehearse, commit: Commit
) -> None:
    test = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertTrue({})\n"
    commit({"test_path.py": test.format("'worktrees' not in __file__")})
    command = "python3 -m unittest -q"
    done = rehearse(whole_run(), verify=(command,), ends=None)
    begin = done.output.partition("analysis: ")[0]
    assert "your checkout may be green: test_path.T.test_it fails in sq's worktree and passes" in begin
    assert "`worktrees = false`" in begin
    commit({"test_path.py": test.format("False")})
    done = rehearse(whole_run(), verify=(command,), ends=None)
    assert "your checkout may be green" not in done.output


def test_a_command_that_waits_for_changes_is_left_out_by_that_name(
    rehearse: Rehearse, commit: Commit
) -> None:
    commit({"package.json": '{"scripts": {"test": "node --test --watch"}}'})
    done = rehearse(whole_run(), ends=None)
    begin = done.output.partition("analysis: ")[0]
    assert "`npm test` (package.json): never ends" in begin
    assert "too long" not in begin
