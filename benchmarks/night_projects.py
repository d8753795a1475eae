"""The repositories of `benchmarks.night`, one of Python and one of Node, and their registry on loopback.

Each has a suite that takes so many seconds of processor time, and packages from the registry: 40 made ones
and, for Python, those of the test runner, packed from the environment that runs the benchmark. Commands of a
set-up at the base reach the registry, because inside the sandbox they have the network of the machine.
"""

import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from http.server import BaseHTTPRequestHandler
from importlib.metadata import distribution
from pathlib import Path

import yaml

from benchmarks.figures import of_tests, served

PACKAGES, _MODULES = 40, 25
_RUNNER = ("pytest", "pytest-xdist", "execnet", "pluggy", "iniconfig", "packaging", "pygments")
_FILES, _TESTS = 12, 5  # of the suite: files, and tests in each
_FILES_OF = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
_OF_PYTHON, _OF_NODE = _FILES_OF["python"], _FILES_OF["node"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A repository to make.

    `files` returns its files for a suite of so many seconds and the address of the registry, `work` those
    that a Worker writes for a task: a function, and a test that needs it. `is_suite` and `is_set_up` say
    which of sq's commands run tests, and which make an environment.
    """

    name: str
    programs: tuple[str, ...]
    files: Callable[[float, str], Mapping[str, str]]
    work: Callable[[str], Mapping[str, str]]
    is_suite: Callable[[str], bool]
    is_set_up: Callable[[str], bool]

    @property
    def lacking(self) -> list[str]:
        """The programs that are not on this machine."""
        return [one for one in self.programs if shutil.which(one) is None]


def _python_files(seconds: float, registry: str) -> Mapping[str, str]:
    del registry  # a variable names it
    each = seconds / (_FILES * _TESTS)
    pinned = [f"bulk-{number}==1.0" for number in range(PACKAGES)]
    pinned += [f"{name}=={distribution(name).version}" for name in _RUNNER]
    files = {
        "requirements.txt": "".join(f"{line}\n" for line in pinned),
        "pytest.ini": "[pytest]\naddopts = -n auto\npythonpath = .\ntestpaths = tests\n",
        ".gitignore": ".venv/\n__pycache__/\n.pytest_cache/\n",
        "app/__init__.py": "",
        "tests/busy.py": _OF_PYTHON["busy"],
    }
    for number in range(_FILES):
        files[f"app/part_{number}.py"] = f'def part_{number}(value):\n    return f"{{value}} {number}"\n'
        head = _OF_PYTHON["head"].format(number=number)
        tests = (_OF_PYTHON["test"].format(number=number, test=test, each=each) for test in range(_TESTS))
        files[f"tests/test_part_{number}.py"] = head + "".join(tests)
    return files


def _python_work(task: str) -> Mapping[str, str]:
    return {
        f"app/{task}.py": _OF_PYTHON["product"].format(task=task),
        f"tests/test_{task}.py": _OF_PYTHON["work_test"].format(task=task),
    }


def _node_files(seconds: float, registry: str) -> Mapping[str, str]:
    each = seconds / (_FILES * _TESTS)
    wanted = {f"bulk-{number}": "1.0.0" for number in range(PACKAGES)}
    manifest = {"name": "night", "version": "1.0.0", "private": True, "scripts": {"test": "node --test"}}
    locked = {
        f"node_modules/{name}": {
            "version": "1.0.0",
            "resolved": f"{registry}/{name}/-/{name}-1.0.0.tgz",
            "integrity": json.loads(_packages()[f"/{name}"])["versions"]["1.0.0"]["dist"]["integrity"],
        }
        for name in wanted
    }
    root = {"name": "night", "version": "1.0.0", "dependencies": wanted}
    lock = {"name": "night", "version": "1.0.0", "lockfileVersion": 3, "packages": {"": root, **locked}}
    files = {
        "package.json": json.dumps({**manifest, "dependencies": wanted}, indent=2) + "\n",
        "package-lock.json": json.dumps(lock, indent=2) + "\n",
        ".gitignore": "node_modules/\n",
        "lib/busy.js": _OF_NODE["busy"],
    }
    for number in range(_FILES):
        files[f"lib/part_{number}.js"] = f"exports.part = (value) => `${{value}} {number}`\n"
        tests = (_OF_NODE["test"].format(number=number, test=test, each=each) for test in range(_TESTS))
        files[f"test/part_{number}.test.js"] = _OF_NODE["head"].format(number=number) + "".join(tests)
    return files


def _node_work(task: str) -> Mapping[str, str]:
    return {
        f"lib/{task}.js": _OF_NODE["product"].format(task=task),
        f"test/{task}.test.js": _OF_NODE["work_test"].format(task=task),
    }


PYTHON = Project(
    name="python",
    programs=("python3",),
    files=_python_files,
    work=_python_work,
    is_suite=lambda command: "pytest" in command and " pip " not in command,
    is_set_up=lambda command: "-m venv" in command or " -m pip install" in command,
)
NODE = Project(
    name="node",
    programs=("node", "npm"),
    files=_node_files,
    work=_node_work,
    is_suite=lambda command: (
        "npm test" in command or "node --test" in command or "--test-reporter" in command
    ),
    is_set_up=lambda command: "npm ci" in command or "npm install" in command,
)


# --- the registry -------------------------------------------------------------------------------------------


@contextmanager
def registry(asked: list[datetime] | None = None) -> Iterator[tuple[str, dict[str, str]]]:
    """Serve the packages on loopback. Yields the address, and the variables that lead pip and npm to it.

    `asked` gets the moment of each request.
    """

    class Registry(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Send a page of an index, a wheel or a tarball."""
            if asked is not None:
                asked.append(datetime.now(UTC))
            found = _packages().get(self.path)
            kind = "text/html" if self.path.startswith("/simple/") else "application/octet-stream"
            self.send_response(200 if found is not None else 404)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(found or b"")))
            self.end_headers()
            self.wfile.write(found or b"")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Print nothing."""

    with served(Registry) as address:
        yield (
            address,
            {
                "PIP_INDEX_URL": f"{address}/simple/",
                "PIP_DISABLE_PIP_VERSION_CHECK": "1",
                "npm_config_registry": f"{address}/",
                "npm_config_update_notifier": "false",
            },
        )


@cache
def _packages() -> dict[str, bytes]:
    """Return what the registry holds, by path: the made packages, and the test runner for Python."""
    found: dict[str, bytes] = of_tests("language.registry").many("registry.test", PACKAGES, _MODULES)
    for name in _RUNNER:
        file, wheel = _packed(name)
        link = f'<a href="/files/{file}#sha256={hashlib.sha256(wheel).hexdigest()}">{file}</a>'
        found[f"/simple/{name}/"] = f"<!DOCTYPE html><html><body>{link}</body></html>".encode()
        found[f"/files/{file}"] = wheel
    return found


def _packed(name: str) -> tuple[str, bytes]:
    """Return an installed distribution as a wheel."""
    of = distribution(name)
    paths = [path for path in of.files or () if ".." not in path.parts and path.suffix != ".pyc"]
    info = next(path.parts[0] for path in paths if path.parts[0].endswith(".dist-info"))
    left_out = {f"{info}/{one}" for one in ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")}
    files = {str(path): Path(str(path.locate())).read_bytes() for path in paths if str(path) not in left_out}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files.items():
            wheel.writestr(path, content)
        wheel.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in (*files, f"{info}/RECORD")))
    return f"{info.removesuffix('.dist-info')}-py3-none-any.whl", packed.getvalue()
