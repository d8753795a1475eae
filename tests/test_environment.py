"""`bin/environment`: what a run needs alone, and what tests need beside it."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from language.programs import ran
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
VERSION = re.compile(r"([A-Za-z0-9._-]+)==(\S+)")


def locked(name: str) -> dict[str, str]:
    return dict(VERSION.match(line).groups() for line in (ROOT / name).read_text().splitlines())


def names_of(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=!~;\[( ]", one)[0].lower() for one in requirements}


def test_the_lock_of_a_run_holds_its_packages_and_none_of_tests_or_extras() -> None:
    run, dev = locked("requirements.lock"), locked("requirements-dev.lock")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = names_of(project["dependencies"])
    others = names_of([one for extra in project["optional-dependencies"].values() for one in extra])
    needs = [
        Requirement(need)
        for one in metadata.distributions()
        if one.name.lower() in run
        for need in one.requires or []
    ]
    brought = {one.name.lower() for one in needs if not one.marker or one.marker.evaluate({"extra": ""})}
    assert wanted <= run.keys()
    assert (others - wanted - brought).isdisjoint(run)
    assert others - {"sq-orchestrator"} <= dev.keys()
    assert run.items() <= dev.items(), "adding what tests need changes nothing that a run has"


def wheel(folder: Path, name: str) -> None:
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as file:
        file.writestr(f"{name}.py", "")
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{info}/RECORD", "")


class Checkout:
    """A checkout with two packages, one for runs and one for tests, and no registry."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bin").mkdir(parents=True)
        shutil.copy(ROOT / "bin" / "environment", folder / "bin")
        for name in ("sqruns", "sqtests"):
            wheel(folder.parent, name)
        (folder / "requirements.lock").write_text("sqruns==1.0\n")
        (folder / "requirements-dev.lock").write_text("sqruns==1.0\nsqtests==1.0\n")

    def make(self, *arguments: str) -> str:
        """Run `bin/environment`, and return its words."""
        done = ran(
            [self.folder / "bin" / "environment", *arguments],
            env={
                **{name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "SQ_"))},
                "SQ_NO_UV": "1",
                "SQ_PYTHON": getattr(sys, "_base_executable", sys.executable),
                "PIP_NO_INDEX": "1",
                "PIP_FIND_LINKS": str(self.folder.parent),
                "PIP_CONFIG_FILE": os.devnull,
            },
        )
        assert done.returncode == 0, done.stderr
        return done.stderr

    def has(self, name: str) -> bool:
        """Whether its environment can import this."""
        python = self.folder / ".venv" / "bin" / "python"
        return not subprocess.run(
            [python, "-I", "-c", f"import {name}"], capture_output=True, check=False
        ).returncode


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "a checkout")


@pytest.mark.late
def test_tests_add_to_the_environment_of_runs_and_neither_makes_it_again(checkout: Checkout) -> None:
    assert "making its environment" in checkout.make()
    assert (checkout.has("sqruns"), checkout.has("sqtests")) == (True, False)
    kept = checkout.folder / ".venv" / "lib" / "kept"
    kept.touch()
    assert checkout.make() == ""
    assert "adding what tests need" in checkout.make("--dev")
    assert (checkout.has("sqruns"), checkout.has("sqtests")) == (True, True)
    assert checkout.make("--dev") == checkout.make() == ""
    assert kept.exists()


@pytest.mark.late
def test_a_changed_lock_makes_the_environment_anew(checkout: Checkout) -> None:
    assert "making its environment" in checkout.make("--dev")
    assert checkout.make() == ""
    with (checkout.folder / "requirements.lock").open("a") as lock:
        lock.write("# changed\n")
    assert "making its environment" in checkout.make()
    assert not checkout.has("sqtests")
