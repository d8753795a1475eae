"""What a checkout has and its worktrees lack, found by the names in the output of a failing command."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from language.tables import table

from orchestrator.project.readiness.checkout import (
    Place,
    causes,
    ignored_and_missed,
    siblings_named,
)

CAUSES = table(__file__, "causes")


def _write(folder: Path, files: Any) -> None:
    for name, text in (files if isinstance(files, Mapping) else dict.fromkeys(files or (), "x\n")).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.parametrize("case", CAUSES.values(), ids=CAUSES)
async def test_a_cause_is_named_with_the_setting_that_mends_it(
    case: Mapping[str, Any], repository: Path, tmp_path: Path, shell: Callable[..., str]
) -> None:
    home, place = tmp_path / "home", tmp_path / "places" / "verify.1"
    place = tmp_path / "places" / ("long" * 8) / "verify.1" if "too long" in case["says"] else place
    shell(repository, "git", "worktree", "add", "--quiet", "--detach", str(place))
    (repository / ".git" / "info").mkdir(exist_ok=True)
    bundle = "vendor/bundle"
    ignored = [bundle if name.startswith(bundle) else name.split("/")[0] for name in case.get("has") or ()]
    (repository / ".git" / "info" / "exclude").write_text("\n".join(ignored))
    _write(repository, case.get("has"))
    _write(repository.parent, case.get("beside"))
    _write(home, case.get("home"))
    says = case["says"].replace("{parent}", str(place.parent)).replace("{home}", str(home))
    environ = {"HOME": str(home), "SIGNING_KEY": "s", "PATH": "/usr/bin:/bin"}
    told = await causes(Place(root=repository, folder=place, environ=environ), says)
    assert len(told) == bool(case["told"]), told
    assert all(part in told[0] for part in case["told"])


async def test_folders_beside_the_repository_are_found_in_manifests_and_locks(
    repository: Path, shell: Callable[..., str]
) -> None:
    for name in ("lib", "core", "mono/tool", "gem", "unnamed"):
        (repository.parent / name).mkdir(parents=True)
    files = {
        "package.json": '{"dependencies": {"lib": "file:../lib", "gone": "file:../gone"}}',
        "rust/Cargo.toml": '[dependencies]\ncore = { path = "../../core" }\nown = { path = "../own" }\n',
        "go.mod": "module x\n\nreplace example.org/tool => ../mono/tool\n",
        "Gemfile": 'gem "gem", path: "../gem"\n',
        "notes.txt": "../unnamed\n",
    }
    _write(repository, files)
    shell(repository, "git", "add", "-A")
    shell(repository, "git", "commit", "--quiet", "-m", "Files")
    found = await siblings_named(repository, "HEAD")
    assert found == {
        "../lib": "package.json",
        "../core": "rust/Cargo.toml",
        "../mono/tool": "go.mod",
        "../gem": "Gemfile",
    }


def _sides(repository: Path, tmp_path: Path, shell: Callable[..., str], files: dict[str, str]) -> Place:
    """A repository with these files and a worktree of it."""
    _write(repository, files)
    shell(repository, "git", "add", "-A")
    shell(repository, "git", "commit", "--quiet", "-m", "Files")
    place = tmp_path / "places" / "verify.1"
    shell(repository, "git", "worktree", "add", "--quiet", "--detach", str(place))
    return Place(root=repository, folder=place, environ={"HOME": str(tmp_path / "home")})


@pytest.mark.parametrize("way", ["--skip-worktree", "--assume-unchanged"])
async def test_an_edit_that_git_is_told_to_skip_is_named(
    way: str, repository: Path, tmp_path: Path, shell: Callable[..., str]
) -> None:
    at = _sides(repository, tmp_path, shell, {"config.ini": "mode = off\n", "other.ini": "mode = off\n"})
    shell(repository, "git", "update-index", way, "config.ini", "other.ini")
    assert await causes(at, "1 failed") == []
    (repository / "config.ini").write_text("mode = own\n")
    (told,) = await causes(at, "1 failed")
    assert told.startswith("config.ini has a content of its own in your checkout")
    assert "worktree.setup" in told


async def test_a_mode_that_git_does_not_keep_is_named_and_those_of_a_umask_only_if_an_output_names_them(
    repository: Path, tmp_path: Path, shell: Callable[..., str]
) -> None:
    names = [f"{number}.txt" for number in range(8)]
    at = _sides(repository, tmp_path, shell, {"deploy.key": "secret\n", **dict.fromkeys(names, "x\n")})
    for name in names:
        (repository / name).chmod(0o664)
    assert await causes(at, "1 failed") == []
    (repository / "deploy.key").chmod(0o600)
    (told,) = await causes(at, "1 failed")
    assert told.startswith("deploy.key has the mode 600 in your checkout and 644 in sq's worktree")
    assert "worktree.setup" in told
    assert len(await causes(at, "Permissions 0644 for '3.txt' are too open.")) == 2


async def test_line_ends_by_a_setting_of_git_are_named(
    repository: Path, tmp_path: Path, shell: Callable[..., str]
) -> None:
    at = _sides(repository, tmp_path, shell, {"a.txt": "a\n", "check.sh": "echo a\n"})
    (at.folder / "a.txt").write_bytes(b"a\r\n")
    (at.folder / "check.sh").write_bytes(b"echo a\r\n")
    (told,) = await causes(at, "make: ./check.sh: bad interpreter")
    assert told.startswith("check.sh, a.txt has other line ends in sq's worktree")
    assert "core.autocrlf" in told


@pytest.mark.parametrize(
    ("target", "says"),
    [
        (".git/annex/table.csv", "`worktrees = false`"),
        ("made/table.csv", "worktree.include"),
        ("../shared/table.csv", 'worktree.include_beside = ["../shared"]'),
        ("../{own}", "`worktrees = false`"),
        ("../../{above}", "`worktrees = false`"),
    ],
)
async def test_a_link_that_leads_somewhere_in_the_checkout_alone_is_named(
    target: str, says: str, repository: Path, tmp_path: Path, shell: Callable[..., str]
) -> None:
    (repository / ".gitignore").write_text("made/\n")
    target = target.format(own=repository.name, above=repository.parent.name)
    (repository / "table.csv").symlink_to(target)
    at = _sides(repository, tmp_path, shell, {})
    if target.endswith(".csv"):
        assert await causes(at, "1 failed") == []
        _write(repository, {target: "1,2\n"})
    (told,) = await causes(at, "1 failed")
    assert told.startswith("table.csv is a link that leads nowhere in sq's worktree")
    assert says in told


async def test_a_copied_folder_that_keeps_the_path_of_the_checkout_is_named(
    repository: Path, tmp_path: Path, shell: Callable[..., str]
) -> None:
    (repository / ".gitignore").write_text("build/\n")
    at = _sides(repository, tmp_path, shell, {})
    for folder in (repository, at.folder):
        _write(folder, {"build/CMakeCache.txt": f"CMAKE_HOME_DIRECTORY={repository}\n"})
    (told,) = await causes(at, f"the source {repository}/CMakeLists.txt used to generate cache")
    assert "build/ was copied from there" in told


@pytest.mark.parametrize(
    ("says", "missed"),
    [
        ("Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/places/verify.1/lib/mul.js'", ["lib/mul.js"]),
        ("ModuleNotFoundError: No module named 'lib.sums'", ["lib/sums.py"]),
        ("open lib/mul.js: no such file or directory", ["lib/mul.js"]),
        ("FAILED in 0.2 s, see lib/mul.js", []),
        ("Error: Cannot find module 'left-pad'", []),
    ],
)
async def test_files_of_the_work_that_git_ignores_are_named_if_a_command_does_not_find_them(
    says: str, missed: list[str], repository: Path
) -> None:
    (repository / ".gitignore").write_text("lib/\nnode_modules/\n")
    _write(repository, ["lib/mul.js", "lib/sums.py", "node_modules/left-pad/index.js"])
    assert await ignored_and_missed(repository, says) == missed
