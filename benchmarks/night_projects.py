"""The repositories of `benchmarks.night`, one of Python and one of Node, and their registry on loopback.

Each has a suite that takes so many seconds of processor time, and packages from the registry: 40 made ones
and, for Python, those of the test runner, packed from the environment that runs the benchmark. Commands of a
set-up at the base reach the registry, because inside the sandbox they have the network of the machine.
"""

import base64
import hashlib
import io
import json
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from importlib.metadata import distribution
from pathlib import Path

from benchmarks.figures import served

PACKAGES, _MODULES = 40, 25
_RUNNER = ("pytest", "pytest-xdist", "execnet", "pluggy", "iniconfig", "packaging", "pygments")
_FILES, _TESTS = 12, 5  # of the suite: files, and tests in each
_PYTHON_BUSY = '''\
"""Work that takes so many seconds of processor time."""

import time


def busy(seconds):
    """Return a sum after so many seconds of processor time."""
    until, total = time.process_time() + seconds, 0
    while time.process_time() < until:
        total += sum(range(1000))
    return total
'''
_NODE_BUSY = """\
// Work that takes so many seconds of processor time.
exports.busy = (seconds) => {
  const until = process.cpuUsage().user / 1e6 + seconds
  let total = 0
  while (process.cpuUsage().user / 1e6 < until) for (let i = 0; i < 10000; i++) total += i
  return total
}
"""

_PYTHON_TEST = """

def test_part_{number}_{test}():
    busy({each})
    assert part_{number}("{test}") == "{test} {number}"
"""
_PYTHON_PRODUCT = '''\
def {task}(value):
    """Return the value and the name of the task."""
    return f"{{value}} {task}"
'''
_PYTHON_WORK_TEST = """\
from app.{task} import {task}


def test_{task}():
    assert {task}("a") == "a {task}"
    assert {task}("") == " {task}"
"""
_NODE_TEST = """
test('part {number} of {test}', () => {{
  busy({each})
  assert.equal(part('{test}'), '{test} {number}')
}})
"""
_NODE_HEAD = """\
const test = require('node:test')
const assert = require('node:assert')
require('made-00')
const {{ busy }} = require('../lib/busy')
const {{ part }} = require('../lib/part_{number}')
"""
_NODE_PRODUCT = """\
exports.{task} = function {task}(value) {{
  return `${{value}} {task}`
}}
"""
_NODE_WORK_TEST = """\
const test = require('node:test')
const assert = require('node:assert')
const {{ {task} }} = require('../lib/{task}')

test('{task}', () => {{
  assert.equal({task}('a'), 'a {task}')
  assert.equal({task}(''), ' {task}')
}})
"""


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
    pinned = [f"{_name(number)}==1.0" for number in range(PACKAGES)]
    pinned += [f"{name}=={distribution(name).version}" for name in _RUNNER]
    files = {
        "requirements.txt": "".join(f"{line}\n" for line in pinned),
        "pytest.ini": "[pytest]\naddopts = -n auto\npythonpath = .\ntestpaths = tests\n",
        ".gitignore": ".venv/\n__pycache__/\n.pytest_cache/\n",
        "app/__init__.py": "",
        "tests/busy.py": _PYTHON_BUSY,
    }
    for number in range(_FILES):
        files[f"app/part_{number}.py"] = f'def part_{number}(value):\n    return f"{{value}} {number}"\n'
        head = f"import made_00\nfrom busy import busy\n\nfrom app.part_{number} import part_{number}\n"
        tests = (_PYTHON_TEST.format(number=number, test=test, each=each) for test in range(_TESTS))
        files[f"tests/test_part_{number}.py"] = f"{head}\nassert made_00.NUMBER == 0\n{''.join(tests)}"
    return files


def _python_work(task: str) -> Mapping[str, str]:
    return {
        f"app/{task}.py": _PYTHON_PRODUCT.format(task=task),
        f"tests/test_{task}.py": _PYTHON_WORK_TEST.format(task=task),
    }


def _node_files(seconds: float, registry: str) -> Mapping[str, str]:
    each = seconds / (_FILES * _TESTS)
    wanted = {_name(number): "1.0.0" for number in range(PACKAGES)}
    manifest = {"name": "night", "version": "1.0.0", "private": True, "scripts": {"test": "node --test"}}
    locked = {
        f"node_modules/{name}": {
            "version": "1.0.0",
            "resolved": f"{registry}/npm/{name}/-/{name}-1.0.0.tgz",
            "integrity": _integrity(_tarball(name)),
        }
        for name in wanted
    }
    root = {"name": "night", "version": "1.0.0", "dependencies": wanted}
    lock = {"name": "night", "version": "1.0.0", "lockfileVersion": 3, "packages": {"": root, **locked}}
    files = {
        "package.json": json.dumps({**manifest, "dependencies": wanted}, indent=2) + "\n",
        "package-lock.json": json.dumps(lock, indent=2) + "\n",
        ".gitignore": "node_modules/\n",
        "lib/busy.js": _NODE_BUSY,
    }
    for number in range(_FILES):
        files[f"lib/part_{number}.js"] = f"exports.part = (value) => `${{value}} {number}`\n"
        tests = (_NODE_TEST.format(number=number, test=test, each=each) for test in range(_TESTS))
        files[f"test/part_{number}.test.js"] = _NODE_HEAD.format(number=number) + "".join(tests)
    return files


def _node_work(task: str) -> Mapping[str, str]:
    return {
        f"lib/{task}.js": _NODE_PRODUCT.format(task=task),
        f"test/{task}.test.js": _NODE_WORK_TEST.format(task=task),
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
    wheels = {**dict(map(_made_wheel, range(PACKAGES))), **dict(map(_packed, _RUNNER))}
    tarballs = {_name(number): _tarball(_name(number)) for number in range(PACKAGES)}

    class Registry(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Send a page of an index, a wheel or a tarball."""
            if asked is not None:
                asked.append(datetime.now(UTC))
            kind, _, rest = self.path.strip("/").partition("/")
            name = rest.partition("/")[0]
            found = {
                "simple": lambda: _page(wheels, name),
                "files": lambda: wheels.get(name),
                "npm": lambda: tarballs.get(name) if rest.endswith(".tgz") else _document(tarballs, name),
            }.get(kind, lambda: None)()
            self.send_response(200 if found is not None else 404)
            self.send_header("content-type", "text/html" if kind == "simple" else "application/octet-stream")
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
                "npm_config_registry": f"{address}/npm/",
                "npm_config_update_notifier": "false",
            },
        )


def _name(number: int) -> str:
    return f"made-{number:02}"


def _page(wheels: Mapping[str, bytes], name: str) -> bytes | None:
    """Return the page of a package in the form of PEP 503, None if there is none."""
    files = [file for file in wheels if file.partition("-")[0].replace("_", "-").lower() == name]
    links = (
        f'<a href="/files/{file}#sha256={hashlib.sha256(wheels[file]).hexdigest()}">{file}</a>'
        for file in files
    )
    return f"<!DOCTYPE html><html><body>{''.join(links)}</body></html>".encode() if files else None


def _document(tarballs: Mapping[str, bytes], name: str) -> bytes | None:
    if name not in tarballs:
        return None
    one = {"name": name, "version": "1.0.0", "dist": {"integrity": _integrity(tarballs[name])}}
    return json.dumps({"name": name, "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": one}}).encode()


def _made_wheel(number: int) -> tuple[str, bytes]:
    module = _name(number).replace("-", "_")
    files = {f"{module}/part_{one}.py": f"PART = {one}\n" * 40 for one in range(_MODULES)}
    files[f"{module}/__init__.py"] = f"NUMBER = {number}\n"
    info = f"{module}-1.0.dist-info"
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {_name(number)}\nVersion: 1.0\n"
    files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    return f"{module}-1.0-py3-none-any.whl", _wheel(
        {path: text.encode() for path, text in files.items()}, info
    )


def _packed(name: str) -> tuple[str, bytes]:
    """Return an installed distribution as a wheel."""
    of = distribution(name)
    paths = [path for path in of.files or () if ".." not in path.parts and path.suffix != ".pyc"]
    info = next(path.parts[0] for path in paths if path.parts[0].endswith(".dist-info"))
    left_out = {f"{info}/{one}" for one in ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")}
    files = {str(path): Path(str(path.locate())).read_bytes() for path in paths if str(path) not in left_out}
    return f"{info.removesuffix('.dist-info')}-py3-none-any.whl", _wheel(files, info)


def _wheel(files: Mapping[str, bytes], info: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files.items():
            wheel.writestr(path, content)
        wheel.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in (*files, f"{info}/RECORD")))
    return packed.getvalue()


def _tarball(name: str) -> bytes:
    """Return a package of npm, the same bytes each time."""
    files = {f"package/part_{one}.js": f"exports.part = {one}\n" * 40 for one in range(_MODULES)}
    files["package/package.json"] = json.dumps({"name": name, "version": "1.0.0", "main": "part_0.js"})
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for path, text in files.items():
            one = tarfile.TarInfo(path)
            one.size = len(text.encode())
            tar.addfile(one, io.BytesIO(text.encode()))
    return packed.getvalue()


def _integrity(content: bytes) -> str:
    return f"sha512-{base64.b64encode(hashlib.sha512(content).digest()).decode()}"
