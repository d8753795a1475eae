"""What a checkout has and its worktrees lack, found by the names in the output of a failing command."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from language.tables import table

from orchestrator.project.readiness.checkout import Place, causes, siblings_named

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
