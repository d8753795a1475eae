"""A runner of GitHub Actions as far as `action.yml` needs one: its files, expressions and commands.

It follows the service's public documentation. `run:` steps run as they do there. The other actions are played:
a checkout is a clone, caches and artifacts are folders.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from language.hosting import SLUG, TOKEN
from language.played_sq import PLAYED_SQ

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
RUN_STEPS = frozenset(step["name"] for step in STEPS if "run" in step)
_TOKEN = re.compile(r"\s*(\|\||&&|==|!=|!|\(|\)|'(?:[^']|'')*'|[\w.-]+(?:\(\))?)")
_COMMAND = re.compile(r"^\s*::([\w-]+)(?: ([^:]*(?:%3A[^:]*)*))?::(.*)$")


class Expression:
    """The value of an expression: comparisons, `&&`, `||`, `!`, brackets, strings, and names of contexts."""

    def __init__(self, text: str, value_of: Callable[[str], Any]) -> None:
        self.tokens = _TOKEN.findall(text)
        assert "".join(self.tokens) == re.sub(r"\s+(?=(?:[^']*'[^']*')*[^']*$)", "", text), text
        self.value_of = value_of
        self.value = self._or()
        assert not self.tokens, text

    def _next(self, *wanted: str) -> str | None:
        return self.tokens.pop(0) if self.tokens and self.tokens[0] in wanted else None

    def _or(self) -> Any:
        left = self._and()
        while self._next("||"):
            right = self._and()
            left = left or right
        return left

    def _and(self) -> Any:
        left = self._equal()
        while self._next("&&"):
            right = self._equal()
            left = left and right
        return left

    def _equal(self) -> Any:
        left = self._one()
        while sign := self._next("==", "!="):
            left = (left == self._one()) is (sign == "==")
        return left

    def _one(self) -> Any:
        if self._next("!"):
            return not self._one()
        if self._next("("):
            inner = self._or()
            assert self._next(")")
            return inner
        token = self.tokens.pop(0)
        return token[1:-1].replace("''", "'") if token.startswith("'") else self.value_of(token)


@dataclass
class Job:
    """What became of a job."""

    conclusion: str = "success"
    is_cancelled: bool = False
    outputs: dict[str, str] = field(default_factory=dict)
    log: str = ""
    summary: str = ""
    annotations: list[tuple[str, dict[str, str], str]] = field(default_factory=list)
    artifacts: dict[str, str] = field(default_factory=dict)
    steps: dict[str, dict[str, Any]] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)  # steps with `run:`, and other actions


@dataclass
class Runner:
    """Runners of one repository. Each job has a new machine, at the same place, and the same caches."""

    folder: Path
    api: str
    bare: Path  # the repository as the service has it
    real: bool = False  # sq is the real one, else it plays Claude Code
    caches: dict[str, Path] = field(default_factory=dict)
    jobs: int = 0
    cancel_at: str = ""  # a line of the log at which the job is cancelled
    on_checkout: Callable[[Path], None] = lambda _: None

    def __post_init__(self) -> None:
        self.action = self.folder / "action"
        self.action.mkdir(parents=True)
        (self.action / ".ci").mkdir()
        for name in (".ci/action", "requirements.lock"):
            (self.action / name).symlink_to(ROOT / name)
        (self.action / ".venv").mkdir()  # made already, as `bin/environment` sees it
        (self.action / ".venv/bin").symlink_to(Path(sys.prefix) / "bin")
        shutil.copy(ROOT / "requirements.lock", self.action / ".venv/.sq-lock")
        (self.action / "bin").mkdir()
        (self.action / "bin/environment").symlink_to(ROOT / "bin/environment")
        words = [str(ROOT / "bin/sq")] if self.real else PLAYED_SQ
        (self.action / "bin/sq").write_text(f'#!/bin/sh\nexec {" ".join(words)} "$@"\n')
        (self.action / "bin/sq").chmod(0o755)

    @property
    def workspace(self) -> Path:
        return self.folder / "work"

    def run(self, event_name: str, event: dict[str, Any], **inputs: str) -> Job:
        """Run the action's steps as a job whose only step it is."""
        self.jobs += 1
        self.temp = self.folder / f"machine-{self.jobs}"
        for place in (self.workspace, self.folder / "home", self.temp):
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
        (self.temp / "event.json").write_text(json.dumps(event))
        job = Job()
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        assert not given.keys() - ACTION["inputs"].keys()
        context = {"github.token": TOKEN, "github.run_id": str(1_000 + self.jobs), "github.run_attempt": "1"}
        for name, described in ACTION["inputs"].items():
            context[f"inputs.{name}"] = given.get(name, self._filled(described["default"], context, job))
        environ = self.environment(event_name)
        for step in STEPS:
            if self._wanted(step.get("if", "success()"), context, job):
                self._step(step, context, environ, job)
                job.ran.append(step["name"])
            elif "id" in step:
                job.steps[step["id"]] = {"outcome": "skipped", "outputs": {}}
        job.outputs = {
            name: self._filled(one["value"], context, job) for name, one in ACTION["outputs"].items()
        }
        return job

    def environment(self, event_name: str) -> dict[str, str]:
        """Return the variables of a job."""
        kept = {
            name: os.environ[name] for name in ("PATH", "LANG", "GIT_CONFIG_NOSYSTEM") if name in os.environ
        }
        return kept | {
            "HOME": str(self.folder / "home"),
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": self.api,
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_REPOSITORY": SLUG,
            "GITHUB_RUN_ID": str(1_000 + self.jobs),
            "GITHUB_EVENT_NAME": event_name,
            "GITHUB_EVENT_PATH": str(self.temp / "event.json"),
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_ACTION_PATH": str(self.action),
            "RUNNER_TEMP": str(self.temp),
            "ACTIONS_RUNTIME_TOKEN": "of-the-runner",
        }

    def _value(self, name: str, context: dict[str, str], job: Job) -> Any:
        match name.split("."):
            case ["success()"]:
                return job.conclusion == "success" and not job.is_cancelled
            case ["always()"]:
                return True
            case ["cancelled()"]:
                return job.is_cancelled
            case ["steps", id_, "outputs", output]:
                return job.steps[id_]["outputs"].get(output, "")
            case ["steps", id_, "outcome"]:
                return job.steps[id_]["outcome"]
        return context[name]

    def _filled(self, text: str, context: dict[str, str], job: Job) -> str:
        def value(found: re.Match[str]) -> str:
            return str(Expression(found[1], lambda name: self._value(name, context, job)).value)

        return re.sub(r"\$\{\{(.*?)\}\}", value, str(text))

    def _wanted(self, condition: str, context: dict[str, str], job: Job) -> bool:
        value = bool(Expression(condition, lambda name: self._value(name, context, job)).value)
        asks = re.search(r"\b(?:always|cancelled|success|failure)\(\)", condition)
        return value and (bool(asks) or (job.conclusion == "success" and not job.is_cancelled))

    def _step(self, step: dict[str, Any], context: dict[str, str], environ: dict[str, str], job: Job) -> None:
        outcome, outputs = "success", {}
        if "uses" in step:
            given = {name: self._filled(value, context, job) for name, value in step["with"].items()}
            self._play(step["uses"].split("@")[0], given, job)
        else:
            assert step["shell"] == "bash"
            env = {name: self._filled(value, context, job) for name, value in step["env"].items()}
            code, outputs = self._bash(step["run"], environ, env, job)
            outcome = "success" if code == 0 else "failure"
        if outcome == "failure":
            job.conclusion = "failure"
        if "id" in step:
            job.steps[step["id"]] = {"outcome": outcome, "outputs": outputs}

    def _bash(
        self, script: str, environ: dict[str, str], env: dict[str, str], job: Job
    ) -> tuple[int, dict[str, str]]:
        place = self.temp / f"step-{len(job.ran)}"
        place.mkdir()
        files = {name: place / name for name in ("ENV", "OUTPUT", "PATH", "STEP_SUMMARY")}
        for file in files.values():
            file.touch()
        (place / "script.sh").write_text(script)
        printed = ""
        with subprocess.Popen(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(place / "script.sh")],
            cwd=self.workspace,
            env={**environ, **env, **{f"GITHUB_{name}": str(file) for name, file in files.items()}},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            assert process.stdout
            for line in process.stdout:
                printed += line
                if self.cancel_at and self.cancel_at in line:
                    self.cancel_at, job.is_cancelled = "", True
                    process.send_signal(signal.SIGINT)  # to the step's own process alone, as the service does
        job.log += printed
        self._commands(printed, job)
        job.summary += files["STEP_SUMMARY"].read_text()
        environ.update(_values(files["ENV"].read_text()))
        added = files["PATH"].read_text().splitlines()
        environ["PATH"] = os.pathsep.join([*reversed(added), environ["PATH"]])
        return process.returncode, _values(files["OUTPUT"].read_text())

    def _commands(self, text: str, job: Job) -> None:
        """Obey what is printed, as the runner does: `stop-commands` until its token comes."""
        stopped = ""
        for line in text.splitlines():
            if stopped:
                stopped = "" if line.strip() == f"::{stopped}::" else stopped
                continue
            if not (found := _COMMAND.match(line)):
                assert "##[" not in line, line
                continue
            kind, properties, data = found[1], found[2] or "", found[3]
            if kind == "stop-commands":
                stopped = data
                continue
            named = dict(one.split("=", 1) for one in properties.split(",") if one)
            job.annotations.append((kind, {key: _plain(value) for key, value in named.items()}, _plain(data)))
        assert not stopped

    def _play(self, action: str, given: dict[str, str], job: Job) -> None:  # noqa: C901  one case an action
        match action:
            case "actions/checkout":
                assert given["persist-credentials"] == "False"
                address = f"https://github.com/{SLUG}.git"
                is_pull = given["ref"].startswith("refs/pull/")
                branch = ["--branch", given["ref"]] if given["ref"] and not is_pull else []
                _git(self.folder, "clone", "--quiet", *branch, str(self.bare), str(self.workspace))
                if is_pull:
                    _git(self.workspace, "fetch", "--quiet", "origin", given["ref"])
                    _git(self.workspace, "checkout", "--quiet", "--detach", "FETCH_HEAD")
                _git(self.workspace, "remote", "set-url", "origin", address)
                _git(self.workspace, "config", f"url.{self.bare}.insteadOf", address)
                _git(self.workspace, "config", "user.name", "Owner")
                _git(self.workspace, "config", "user.email", "owner@localhost")
                self.on_checkout(self.workspace)
            case "actions/cache/restore":
                fitting = [one for one in self.caches if one.startswith(given["restore-keys"])]
                for number, place in enumerate(self._places(given)) if fitting else ():
                    if (kept := self.caches[fitting[-1]] / str(number)).exists():
                        shutil.copytree(kept, place, symlinks=True, dirs_exist_ok=True)
            case "actions/cache/save":
                kept = self.folder / f"cache-{len(self.caches)}"
                kept.mkdir()
                for number, place in enumerate(self._places(given)):
                    if place.exists():
                        shutil.copytree(place, kept / str(number), symlinks=True)
                assert given["key"] not in self.caches
                self.caches[given["key"]] = kept
            case "actions/upload-artifact":
                for file in map(Path, given["path"].split()):
                    job.artifacts[file.name] = file.read_text()
            case _:
                raise AssertionError(action)

    def _places(self, given: dict[str, str]) -> list[Path]:
        named = given["path"].split()
        return [
            self.folder / "home" / one[2:] if one.startswith("~/") else self.workspace / one for one in named
        ]


def _plain(text: str) -> str:
    for sign, plain in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(sign, plain)
    return text


def _values(text: str) -> dict[str, str]:
    """Return what a step wrote to one of its files: `name=value`, or `name<<mark`, lines, `mark`."""
    values, lines = {}, iter(text.splitlines())
    for line in lines:
        if "<<" in line and ("=" not in line or line.index("<<") < line.index("=")):
            name, _, mark = line.partition("<<")
            held = []
            for one in lines:
                if one == mark:
                    break
                held.append(one)
            values[name] = "\n".join(held)
        else:
            name, _, values[name] = line.partition("=")[0], "", line.partition("=")[2]
    return values


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)
