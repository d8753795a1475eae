"""The parts of `benchmarks.verify` beside the verdicts: price, network, bundles elsewhere, and forks."""

import base64
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from benchmarks.figures import of_tests
from benchmarks.lies import PROJECTS
from benchmarks.night_projects import PYTHON, registry
from benchmarks.rehearsed import SQ, commit, git, own_home
from state.journal.events import CommandEnded, CommandStarted, Stored
from state.journal.store import JournalReader

LONG_S, SHORT_S = 70.0, 2.0  # of processor time, which is about half of it in seconds on two cores
BUNDLES = 20
_SET_UP = "set-up"
_ALONE = """\
import os
import urllib.request


def test_alone():
    try:
        urllib.request.urlopen(os.environ.get("PIP_INDEX_URL") or "{registry}/simple/", timeout=2).read()
    except OSError:
        pass
"""
# Looks where a job of a CI has secrets, and says which it found.
_THIEF = """\
import glob
import os
import subprocess

SECRETS = {secrets}
NAMES = (".netrc", ".npmrc", ".git/config", ".git-credentials", ".gitconfig")
HOMES = {{os.path.expanduser("~"), os.environ.get("GITHUB_WORKSPACE", "."), "/root", os.getcwd()}}


def seen():
    texts = [repr(dict(os.environ))]
    files = [*glob.glob("/proc/*/environ"), *glob.glob("/proc/*/cmdline")]
    for file in [*files, *(f"{{home}}/{{name}}" for home in HOMES for name in NAMES)]:
        try:
            texts.append(open(file, "rb").read().decode("utf-8", "replace"))
        except OSError:
            pass
    told = subprocess.run("git config --list; git remote -v", shell=True, capture_output=True, text=True)
    texts.append(told.stdout)
    return [name for name, one in SECRETS.items() if bytes.fromhex(one).decode() in "\\n".join(texts)]


def test_add():
    assert "LOOKED " + " ".join(seen()) == "nothing"
"""


def price(*, quick: bool) -> dict[str, object]:
    """Return seconds of commands by those of one suite, and requests of the set-up and of all else."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    figures: dict[str, object] = {}
    for name, seconds in {"commands_ratio": LONG_S, "commands_ratio_short": SHORT_S}.items():
        if quick and seconds == LONG_S:
            continue
        asked: list[datetime] = []
        with registry(asked) as (address, variables), own_home(**variables, PATH=path) as home:
            repository = home / "repository"
            write(
                repository,
                {**PYTHON.files(seconds, address), "tests/test_alone.py": _ALONE.format(registry=address)},
            )
            commit(repository)
            git(repository, "switch", "--quiet", "--create", "work")
            write(repository, PYTHON.work("price"))
            commit(repository)
            done = verified(repository, "main..work")
            events = events_of(home)
        windows = _windows(events)
        suites = [end.seconds for begun, end in _commands(events) if begun.purpose == "baseline"]
        spent = sum(end.seconds for begun, end in _commands(events) if begun.purpose != _SET_UP)
        if done.returncode != 0 or not suites:
            raise RuntimeError(f"an honest work was not accepted: {done.stdout}{done.stderr}")
        figures[name] = round(spent / suites[0], 2)
        in_set_up = sum(any(begin <= one <= end for begin, end in windows) for one in asked)
        figures["network_requests"] = int(str(figures.get("network_requests", 0))) + len(asked) - in_set_up
        figures["set_up_requests"] = int(str(figures.get("set_up_requests", 0))) + in_set_up
    return figures


def bundles(*, quick: bool) -> dict[str, object]:
    """Return how many bundles were repeated in a second home, and how many forged ones were refused there."""
    count, repeated, refused, forged = 1 if quick else BUNDLES, 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        keys = Path(folder)
        for name in ("owner", "stranger"):
            words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(keys / name)]
            subprocess.run(words, check=True)
        signers = keys / "signers"
        signers.write_text(f"owner@localhost {(keys / 'owner.pub').read_text()}")
        for number in range(count):
            file = keys / f"{number}.json"
            with own_home() as home:
                repository = home / "repository"
                _small(repository, number)
                verified(repository, "main..work", "--bundle", file, "--sign", keys / "owner")
                git(keys, "clone", "--quiet", str(repository), f"copy-{number}")
                by_stranger = keys / "by-stranger.json"
                verified(repository, "main..work", "--bundle", by_stranger, "--sign", keys / "stranger")
            with own_home():
                copy = keys / f"copy-{number}"
                check = [*SQ, "verify", "--check", str(file), "--signers", str(signers), "--json"]
                repeated += "the same is seen here" in _ran(check, copy).stdout
                whole = file.read_bytes()
                for one in [*_forged(whole), by_stranger.read_bytes()]:
                    file.write_bytes(one)
                    done = _ran(check, copy)
                    forged += 1
                    refused += done.returncode == 1 and "the bundle is refused" in done.stdout
    return {
        "bundles_repeated": repeated,
        "bundles_not_repeated": count - repeated,
        "forged_refused": refused,
        "forged_accepted": forged - refused,
    }


def fork() -> dict[str, object]:
    """Return how many secrets of a job a fork's work finds when `action.yml` verifies it, and otherwise."""
    hosting, runners = of_tests("language.hosting"), of_tests("language.actions_runner")
    secrets = {"token": hosting.TOKEN, "runner": "of-the-runner", "key": "sk-ant-of-the-job"}
    with hosting.hosting() as service, own_home() as home:
        repository, bare = home / "repository", home / "hosted.git"
        write(repository, {"calc.py": "def add(a, b):\n    return a + b\n", "test_calc.py": _CALC_TEST})
        commit(repository)
        git(home, "clone", "--quiet", "--bare", str(repository), str(bare))
        git(repository, "switch", "--quiet", "--create", "work")
        hidden = {name: one.encode().hex() for name, one in secrets.items()}
        write(repository, {"test_calc.py": _THIEF.format(secrets=hidden)})
        commit(repository)
        git(repository, "push", "--quiet", str(bare), "work:refs/pull/7/head")
        commits = {
            name: git(bare, "rev-parse", ref).strip()
            for name, ref in {"base": "main", "head": "refs/pull/7/head"}.items()
        }
        head = {"sha": commits["head"], "repo": {"full_name": "stranger/shop"}}
        event = {"number": 7, "base": {"sha": commits["base"]}, "head": head}
        runner = runners.Runner(home / "runner", service.address, bare, real=True)
        os.environ["ANTHROPIC_API_KEY"] = secrets["key"]
        job = runner.run("pull_request", {"action": "opened", "pull_request": event}, mode="verify")
        plain = {**runner.environment("pull_request"), "ANTHROPIC_API_KEY": secrets["key"]}
        pytest = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_calc.py"]
        control = subprocess.run(
            pytest, cwd=repository, env=plain, capture_output=True, text=True, check=False
        )
        journals = "".join(json.dumps(str(one.event)) for one in events_of(runner.folder / "home"))
    told = f"{job.log}{job.summary}{json.dumps(job.artifacts)}{job.annotations}{journals}"
    found = _found(told) | {name for name, one in secrets.items() if one in told}
    return {
        "fork_looked": "LOOKED" in told,
        "fork_secrets_seen": len(found),
        "fork_secrets_without_sq": len(_found(control.stdout)),
    }


def _found(told: str) -> set[str]:
    return {name for names in re.findall(r"LOOKED ([a-z ]*)", told) for name in names.split()}


_CALC_TEST = "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"


def _small(repository: Path, number: int) -> None:
    """Make a repository with a work: right, without a test, or wrong, in turn."""
    kind = ("right", "untested", "wrong")[number % 3]
    write(repository, PROJECTS["pytest"].files)
    commit(repository)
    git(repository, "switch", "--quiet", "--create", "work")
    name, expected = f"times_{number}", 3 * (number + 2) + (kind == "wrong")
    files = {f"{name}.py": f"def {name}(a):\n    return a * {number + 2}\n"}
    if kind != "untested":
        test = f"def test_{name}():\n    assert {name}(3) == {expected}\n"
        files[f"test_{name}.py"] = f"from {name} import {name}\n\n\n{test}"
    write(repository, files)
    commit(repository)


def _forged(bundle: bytes) -> list[bytes]:
    """Return a bundle with another byte, another tree, and its statement in another order."""
    envelope = json.loads(bundle)
    payload = base64.b64decode(envelope["payload"])
    statement = json.loads(payload)
    tree = statement["predicate"]["work"]["tree"]
    others = [
        payload.replace(tree.encode(), tree[::-1].encode()),
        json.dumps(dict(reversed(statement.items())), separators=(",", ":")).encode(),
    ]
    changed = [{**envelope, "payload": base64.b64encode(one).decode()} for one in others]
    middle = len(bundle) // 2
    return [
        bundle[:middle] + bytes([bundle[middle] ^ 1]) + bundle[middle + 1 :],
        *(json.dumps(one, indent=1).encode() + b"\n" for one in changed),
    ]


def write(repository: Path, files: Mapping[str, str]) -> None:
    """Write the files of a repository."""
    for name, text in files.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text)


def verified(repository: Path, *words: object) -> "subprocess.CompletedProcess[str]":
    """Ask `sq verify`."""
    return _ran([*SQ, "verify", *map(str, words)], repository)


def _ran(words: list[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


def events_of(home: Path) -> list[Stored]:
    """Return the events of the only verification that a home has."""
    found = []
    for folder in (home / ".local/state/sq/verify").glob("*/runs/*"):
        with JournalReader(folder) as journal:
            found += list(journal.read())
    return found


def _commands(events: list[Stored]) -> list[tuple[CommandStarted, CommandEnded]]:
    begun = {one.event.number: one.event for one in events if isinstance(one.event, CommandStarted)}
    return [(begun[one.event.number], one.event) for one in events if isinstance(one.event, CommandEnded)]


def _windows(events: list[Stored]) -> list[tuple[datetime, datetime]]:
    """Return the times in which a set-up ran, each with its end."""
    found = []
    begun = {}
    for one in events:
        if isinstance(one.event, CommandStarted) and one.event.purpose == _SET_UP:
            begun[one.event.number] = one.at
        elif isinstance(one.event, CommandEnded) and one.event.number in begun:
            found.append((begun.pop(one.event.number), one.at))
    return found
