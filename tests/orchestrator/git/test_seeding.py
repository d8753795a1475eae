"""Ignored files of the checkout are copied into worktrees; never what sq would take for work, never through links."""

import os
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from run_at_work import write

from orchestrator.git.locks import git_dir
from orchestrator.git.seeding import (
    copy_files,
    files_to_copy,
    not_ignored,
    not_ignored_there,
    refuse_not_ignored,
)
from orchestrator.git.workspace import ensure_worktree, snapshot, tree_of
from state.errors import UsageError


@pytest.fixture
def ignoring(project, shell):
    """The project, ignoring some files, and with some of them there."""
    write(project, {".gitignore": "*.env\n/data/\nconfig/local/\nwt/\nlinks/\n"})
    shell(project, "git", "add", ".gitignore")
    shell(project, "git", "commit", "--quiet", "-m", "Ignore")
    write(
        project,
        {
            ".env": ("KEY=1\n", 0o600),
            "deep/er/.env": "KEY=2\n",
            'data/ü "q".bin': b"\0" * 3_000_000,
            "data/run.sh": ("#!/bin/sh\n", 0o755),
            "config/local/a.json": "{}\n",
            "config/local/b.yaml": "b: 1\n",
        },
    )
    return project


@pytest.fixture
async def worktree(ignoring, tmp_path, shell):
    folder = tmp_path / "worktrees" / "a"
    await ensure_worktree(ignoring, folder, branch="b", commit=shell(ignoring, "git", "rev-parse", "HEAD"))
    return folder


# --- which ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("patterns", "found"),
    [
        ([], []),
        (["nothing"], []),
        ([".env"], [".env", "deep/er/.env"]),
        (["/.env"], [".env"]),
        (["config/local/*.json"], ["config/local/a.json"]),
        (["data/"], ["data/run.sh", 'data/ü "q".bin']),
        (["data/*", "!data/*.bin"], ["data/run.sh"]),
        (["data"], ["data/run.sh", 'data/ü "q".bin']),
        (["README.md"], []),  # it is tracked: every worktree has it
    ],
)
async def test_patterns_are_read_as_in_a_gitignore_file(ignoring, patterns, found):
    assert sorted(await files_to_copy(ignoring, patterns)) == found
    assert await not_ignored(ignoring, patterns) == ()


async def test_files_that_the_repository_does_not_ignore_are_named_and_refused(ignoring, home):
    ignore = home / ".config" / "git" / "ignore"
    ignore.parent.mkdir(parents=True)
    ignore.write_text("*.mine\n")
    write(ignoring, {"plain": "x\n", "a.mine": "x\n", ".venv/bin/python": "x\n"})
    (ignoring / ".git" / "info").mkdir(exist_ok=True)
    (ignoring / ".git" / "info" / "exclude").write_text("*.excluded\n")
    write(ignoring, {"a.excluded": "x\n"})
    patterns = ["plain", "*.mine", "*.excluded", ".venv/", ".env"]
    assert sorted(await not_ignored(ignoring, patterns)) == ["plain"]
    found = [".env", ".venv/bin/python", "a.excluded", "a.mine", "deep/er/.env"]
    assert sorted(await files_to_copy(ignoring, patterns)) == found
    with pytest.raises(UsageError, match=r"`worktree.include` names 1 file.s. .*plain.*\.gitignore"):
        await refuse_not_ignored(ignoring, patterns)
    await refuse_not_ignored(ignoring, [".env", "nothing"])


async def test_neither_gits_own_files_nor_sqs_state_nor_other_worktrees_are_copied(ignoring, shell):
    (ignoring / ".git" / "info" / "exclude").write_text("/.sq/\n/my state/\n")
    shell(ignoring, "git", "worktree", "add", "--quiet", "wt/other")
    shell(ignoring, "git", "init", "--quiet", "data/inner")
    write(ignoring, {".sq/x.env": "x", "my state/x.env": "x", "wt/other/x.env": "x", "data/inner/x.env": "x"})
    found = await files_to_copy(ignoring, ["*.env", ".git/", ".sq/", "wt/"], state=ignoring / "my state")
    assert sorted(found) == [".env", "deep/er/.env"]


async def test_links_are_copied_as_links_where_they_stay_inside(ignoring, worktree, tmp_path):
    (tmp_path / "secret").write_text("secret\n")
    links = {
        "links/inside": Path("../data/run.sh"),
        "links/dangling": Path("../nothing"),
        "links/out": Path("../../secret"),
        "links/absolute": ignoring / "data" / "run.sh",
        "links/out-and-in": Path("../..") / ignoring.name / "data",
        "links/git": Path("../.git"),
        "links/through": Path("chain/secret"),
        "links/chain": Path("../.."),
    }
    write(ignoring, links)
    found = await files_to_copy(ignoring, ["links/"])
    assert sorted(found) == ["links/dangling", "links/inside"]
    assert set(copy_files(ignoring, worktree, found)) == set(found)
    assert (worktree / "links" / "inside").readlink() == Path("../data/run.sh")
    assert not (worktree / "links" / "out").exists()


async def test_an_environment_of_python_is_copied_with_its_interpreter_and_leads_to_the_worktree(
    ignoring, worktree, tmp_path
):
    """Its interpreter is a link that leads out, and its packages may be the checkout's own, by a path."""
    (tmp_path / "python3.11").write_text("#!/bin/sh\n")
    (tmp_path / "python3.11").chmod(0o755)
    (tmp_path / "secret").write_text("secret\n")
    root, package = ignoring, "data/.venv/lib/python3.11/site-packages"
    files = {
        "data/.venv/pyvenv.cfg": f"home = {tmp_path}\ncommand = python -m venv {root}/data/.venv\n",
        "data/.venv/bin/python": tmp_path / "python3.11",
        "data/.venv/bin/python3": Path("python"),
        "data/.venv/bin/pythonic": tmp_path / "secret",
        "data/.venv/bin/tool": (f"#!{root}/data/.venv/bin/python\n", 0o755),
        f"{package}/own.pth": f"{root}/src\n{root}\n{root}-other/src\n",
        f"{package}/__editable___own_finder.py": f"MAPPING = {{'own': '{root}/src/own'}}\n",
        f"{package}/module.py": f"ROOT = '{root}'\n",
    }
    write(ignoring, files)
    found = await files_to_copy(ignoring, ["data/.venv/"])
    assert set(files) - set(found) == {"data/.venv/bin/pythonic"}
    copy_files(ignoring, worktree, found)
    assert (worktree / "data/.venv/bin/python").readlink() == tmp_path / "python3.11"
    texts = {one: (worktree / package / one).read_text() for one in ("own.pth", "module.py")}
    assert texts["own.pth"] == f"{worktree}/src\n{worktree}\n{root}-other/src\n"
    assert texts["module.py"] == files[f"{package}/module.py"]
    assert f"'{worktree}/src/own'" in (worktree / package / "__editable___own_finder.py").read_text()
    tool = worktree / "data/.venv/bin/tool"
    assert tool.read_text() == f"#!{worktree}/data/.venv/bin/python\n"
    assert tool.stat().st_mode & 0o777 == 0o755


# --- copied -----------------------------------------------------------------------------------------------


async def test_copies_have_the_content_mode_and_time_and_are_in_no_snapshot(ignoring, worktree, shell):
    os.utime(ignoring / ".env", (1_000_000_000, 1_000_000_000))
    (ignoring / "data").chmod(0o700)
    paths = await files_to_copy(ignoring, ["*.env", "data/"])
    assert copy_files(ignoring, worktree, paths) == paths
    for path in paths:
        assert (worktree / path).read_bytes() == (ignoring / path).read_bytes()
        assert (worktree / path).stat().st_mode == (ignoring / path).stat().st_mode
    assert (worktree / ".env").stat().st_mtime == 1_000_000_000
    assert (worktree / "data").stat().st_mode == (ignoring / "data").stat().st_mode
    assert await snapshot(worktree) == await tree_of(worktree, "HEAD")
    assert await not_ignored_there(worktree, paths) == ()


async def test_what_a_worktree_has_is_never_overwritten(ignoring, worktree):
    write(worktree, {".env": "KEY=of the worktree\n"})
    assert copy_files(ignoring, worktree, [".env", "config/local/a.json"]) == ("config/local/a.json",)
    assert (worktree / ".env").read_text() == "KEY=of the worktree\n"


async def test_nothing_is_written_through_a_link(ignoring, worktree, tmp_path):
    (tmp_path / "outside").mkdir()
    (worktree / "data").symlink_to(tmp_path / "outside")
    (worktree / "deep").write_text("a file\n")
    (worktree / ".env").symlink_to(tmp_path / "outside" / "new")
    assert copy_files(ignoring, worktree, ["data/run.sh", "deep/er/.env", ".env"]) == ()
    assert list((tmp_path / "outside").iterdir()) == []
    assert await not_ignored_there(worktree, ["data/run.sh", "deep/er/.env"]) == ()


async def test_a_copy_that_was_cut_off_is_made_anew(ignoring, worktree):
    (worktree / ".env").write_text("KE")
    (worktree / ".env").chmod(0)  # so it is until it is whole
    assert copy_files(ignoring, worktree, [".env"]) == (".env",)
    assert (worktree / ".env").read_text() == "KEY=1\n"
    assert copy_files(ignoring, worktree, [".env"]) == ()


async def test_a_file_that_has_gone_since_it_was_listed_is_no_error(ignoring, worktree):
    assert copy_files(ignoring, worktree, ["data/gone", ".env"]) == (".env",)


async def test_what_the_worktree_itself_would_not_ignore_is_told(ignoring, worktree):
    write(ignoring, {".gitignore": "*.env\n*.key\n", "a.key": "x\n"})
    paths = await files_to_copy(ignoring, ["*.key", ".env"])
    assert sorted(paths) == [".env", "a.key", "deep/er/.env"]
    assert await not_ignored_there(worktree, paths) == ("a.key",)


NAMES = st.lists(
    st.sampled_from(["a", "b", "ä b", "c.env", "d.json", "data", "-x", "#y", "!z"]), min_size=1, max_size=3
)
PATTERNS = st.lists(
    st.sampled_from(["*.env", "data", "data/", "/a", "a/b", "**/b", "\\#y", "!*.json", "*", "-x"]), max_size=3
)


def test_whatever_is_copied_no_snapshot_sees_it_and_the_checkout_stays_as_it_is(project, tmp_path, shell):
    @settings(
        max_examples=10,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
    @given(names=st.lists(NAMES, max_size=6), patterns=PATTERNS, ignored=PATTERNS, number=st.uuids(version=4))
    def check(names, patterns, ignored, number):
        anyio.run(copied_and_looked_at, project, tmp_path / str(number), shell, names, patterns, ignored)

    check()


async def copied_and_looked_at(project, folder, shell, names, patterns, ignored):
    write(project, {".gitignore": "".join(f"{one}\n" for one in [*ignored, "/.gitignore"])})
    shell(project, "git", "clean", "-ffdxq", "--exclude=.gitignore")
    for parts in names:
        path = project.joinpath(*parts)
        if not any(parent.is_file() for parent in path.parents) and not path.exists():
            write(project, {"/".join(parts): "x\n"})
    shell(project, "git", "add", "--force", ".gitignore")
    shell(project, "git", "commit", "--quiet", "--allow-empty", "-m", "Ignore")
    before = shell(project, "git", "status", "--porcelain", "--ignored")
    await ensure_worktree(project, folder, branch=None, commit=shell(project, "git", "rev-parse", "HEAD"))
    paths = await files_to_copy(project, patterns)
    seen = await not_ignored(project, patterns)
    assert not {*paths} & {*seen}
    assert await not_ignored_there(folder, paths) == ()
    assert copy_files(project, folder, paths) == paths
    assert await snapshot(folder) == await tree_of(folder, "HEAD")
    assert shell(project, "git", "status", "--porcelain", "--ignored") == before
    assert git_dir(folder).is_dir()


async def test_names_that_git_takes_for_patterns_are_names(ignoring):
    write(ignoring, {":(top)x.env": "KEY=3\n", ":!y.env": "KEY=4\n", "-z.env": "KEY=5\n"})
    assert set(await files_to_copy(ignoring, ["*.env"])) == {
        ".env", "deep/er/.env", ":(top)x.env", ":!y.env", "-z.env",
    }  # fmt: skip
