"""The distribution: what is in the wheel, and that the demo works from it alone."""

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from language.sampled import slow

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of the sources that git knows, built without the network."""
    sources, target = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("wheel")
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (sources / name).parent.mkdir(parents=True, exist_ok=True)
            (sources / name).write_bytes((ROOT / name).read_bytes())
    command = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(target),
        str(sources),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(target.glob("*.whl"))


def test_the_wheel_holds_the_four_packages_with_their_data_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info" not in name}
    assert tops == {"orchestrator", "agents", "prompts", "state"}
    for needed in (
        "state/settings/effort.yaml",
        "state/settings/models.yaml",
        "agents/session/policy.yaml",
        "orchestrator/project/runs_later.yaml",
        "prompts/stop_judge.md",
        "orchestrator/gates/power_steering/considerations.yaml",
        "orchestrator/gates/stop_gate/plugin/.claude-plugin/plugin.json",
        "orchestrator/gates/stop_gate/plugin/hooks/hooks.json",
        "prompts/build.md.j2",
        "orchestrator/git/junk.gitignore",
        "orchestrator/views/page/assets/live.js",
        "orchestrator/views/page/assets/page.css",
        "orchestrator/views/page/assets/vendor/idiomorph.min.js",
        "orchestrator/views/page/assets/vendor/VENDOR.toml",
        "orchestrator/views/page/templates/tasks.html.j2",
        "orchestrator/views/html/base.css",
        "orchestrator/cli/rehearsal/quality-test.yaml",
        "orchestrator/cli/rehearsal/quality-test.md",
        "orchestrator/cli/rehearsal/repository/greeting.py",
    ):
        assert needed in names


@pytest.mark.late
@pytest.mark.timeout(200)
@pytest.mark.parametrize("folders", [("one",), slow(("one", "two"), single=True)], ids=["once", "twice"])
def test_the_demo_works_from_an_installed_wheel_as_often_as_it_is_run(
    wheel: Path, tmp_path: Path, folders: tuple[str, ...]
) -> None:
    place = tmp_path / "installed here"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    python = place / "bin" / "python"
    install = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        str(wheel),
    ]
    subprocess.run(install, check=True, env={**os.environ, "PIP_NO_INPUT": "1"}, stderr=subprocess.DEVNULL)
    # The libraries of this environment, without the path file that points to the checkout.
    site = next((place / "lib").glob("python3*/site-packages"))
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for folder in folders:
        command = [str(place / "bin" / "sq"), "demo", "--plain", "--keep-in", str(tmp_path / folder)]
        done = subprocess.run(command, cwd=elsewhere, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        first, second = done.stdout.splitlines()[:2]
        assert first == f"The demo makes a small repository in {tmp_path / folder}"
        assert second.startswith("The model is a script")
    where = "import orchestrator; print(orchestrator.__file__)"
    found = subprocess.run(
        [str(python), "-I", "-c", where], capture_output=True, text=True, check=True
    ).stdout
    assert str(place) in found
    wanted = "from agents.sdks import requirement; print(requirement('anthropic'))"
    asked = subprocess.run([str(python), "-I", "-c", wanted], capture_output=True, text=True, check=True)
    assert {">", "<"} < set(asked.stdout), "advice names the versions that sq works with"
