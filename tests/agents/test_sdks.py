"""The advice for a missing SDK works where it is printed."""

import os
import shlex
import subprocess
import venv
import zipfile
from pathlib import Path

import pytest

from agents.sdks import PythonPlace, extra_command, install_command, requirement

ROOT = Path(__file__).parents[2]
PLACE = {"executable": "/an env/bin/python", "prefix": Path("/an env")}
ASK = (
    f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    "from agents.sdks import import_sdks, install_command, this_place\n"
)


@pytest.mark.parametrize(
    ("place", "again", "command"),
    [
        ({"has_pip": True}, False, "'/an env/bin/python' -m pip install anthropic"),
        ({"has_pip": True, "has_uv": True}, True, "'/an env/bin/python' -m pip install --force-reinstall anthropic"),
        ({"has_pip": True, "managed": True}, False,
         "'/an env/bin/python' -m pip install --break-system-packages anthropic"),
        ({"has_uv": True}, False, "uv pip install --python '/an env/bin/python' anthropic"),
        ({"has_uv": True}, True, "uv pip install --python '/an env/bin/python' --reinstall anthropic"),
        ({}, False, "'/an env/bin/python' -m ensurepip && '/an env/bin/python' -m pip install anthropic"),
        ({"made_by_checkout": True, "has_pip": True}, True,
         f"rm -f '/an env/.sq-lock' && SQ_VENV='/an env' {ROOT}/bin/environment"),
        ({"made_by_checkout": True, "prefix": ROOT / ".venv"}, True,
         f"rm -f {ROOT}/.venv/.sq-lock && {ROOT}/bin/environment"),
    ],
    ids=["pip", "again", "managed", "uv", "uv again", "neither", "checkout", "checkout's own"],
)  # fmt: skip
def test_the_command_fits_the_environment_that_sq_runs_in(place, again, command):
    assert install_command("anthropic", PythonPlace(**{**PLACE, **place}), again=again) == command.replace(
        "anthropic", shlex.quote(requirement("anthropic"))
    )


def test_an_extra_is_installed_by_name_and_in_a_checkout_by_its_packages_and_lock():
    installed = extra_command("notify", PythonPlace(**PLACE, has_pip=True))
    assert installed == "'/an env/bin/python' -m pip install 'sq-orchestrator[notify]'"
    checkout = extra_command("notify", PythonPlace(**PLACE, made_by_checkout=True, has_uv=True))
    lock = f"-c {ROOT}/requirements-dev.lock"
    assert checkout == f"uv pip install --python '/an env/bin/python' {lock} 'apprise>=1.9,<3'"


def wheel(folder, name="anthropic"):
    """A package of one empty module, as pip installs it."""
    info = f"{name}-9.9.dist-info"
    with zipfile.ZipFile(folder / f"{name}-9.9-py3-none-any.whl", "w") as file:
        file.writestr(f"{name}.py", "")
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.9\n")
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{info}/RECORD", f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")


def asked(python, code):
    return subprocess.run([python, "-I", "-c", ASK + code], capture_output=True, text=True, check=False)


@pytest.mark.late
def test_the_advised_command_typed_as_printed_makes_the_import_work(tmp_path):
    venv.create(tmp_path / "env", with_pip=True, symlinks=True)
    python = tmp_path / "env" / "bin" / "python"
    where = asked(python, "import sysconfig; print(sysconfig.get_path('purelib'))").stdout.strip()
    wheel(tmp_path)
    environ = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    for said in ("is not installed", "is installed and cannot be imported (ZeroDivisionError"):
        done = asked(python, "import_sdks('anthropic')")
        assert said in done.stderr
        command = done.stderr.rsplit("`", 2)[1]
        assert shlex.split(command)[0] == str(python)
        subprocess.run(["/bin/sh", "-c", command], env=environ, cwd=tmp_path, capture_output=True, check=True)
        assert asked(python, "import_sdks('anthropic')").returncode == 0
        Path(where, "anthropic.py").write_text("1 / 0\n")
