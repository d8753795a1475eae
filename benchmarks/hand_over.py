"""From a run to a pull request and back: wrong answers, kills at each request, hostile words, the token, CI.

`python -m benchmarks.hand_over` prints a row for each fault and the figures. The service is a stand-in on
loopback, the repository behind it is a real one, and one round of `sq follow` runs the real Claude Code.
"""

import argparse
import contextlib
import io
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import yaml

from benchmarks.figures import ROOT, of_tests, print_figures
from benchmarks.rehearsed import SQ, agreeing, calls, git, own_home, rehearse, reports, request_for
from orchestrator.cli.main import cli
from orchestrator.cli.runs.plans import taken_over
from orchestrator.views.report.rendering import Format, rendered
from state.errors import SqError
from state.outcome import Outcome
from state.paths import StateFolder

_hosting = of_tests("language.hosting")
_acting = of_tests("language.acting_runs")
_texts = of_tests("language.hostile_texts")
sys.path.append(str(ROOT / "tests/orchestrator/views"))
_reports = of_tests("reports")
_scripted = of_tests("language.scripted_agent")
_actions = of_tests("language.actions_runner")

_ISSUE = 12
_POINT = "Say who wrote it."
_LOOKS = "env > looked.txt; cat /proc/[0-9]*/environ >> looked.txt 2>/dev/null; echo done"


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """A wrong answer: what the service says, and what sq's error says then, "" if it recovers."""

    name: str
    says: str
    status: int = 0
    body: object = None
    headers: tuple[tuple[str, str], ...] = ()
    times: int = 1_000
    cut: bool = False
    done: bool = False


def _message(text: str) -> dict[str, str]:
    return {"message": text}


_WRONG = (
    Wrong(name="token refused", status=401, body=_message("Bad credentials"), says="token is not accepted"),
    Wrong(
        name="token without a scope",
        status=403,
        body=_message("Resource not accessible by personal access token"),
        headers=(("x-accepted-github-permissions", "pull_requests=write"),),
        says=r"lacks a permission \(pull_requests=write\)",
    ),
    Wrong(
        name="single sign-on",
        status=403,
        body=_message("Resource protected by organization SAML"),
        says="single sign",
    ),
    Wrong(
        name="archived",
        status=403,
        body=_message("Repository was archived so is read-only."),
        says="archived",
    ),
    Wrong(name="forbidden", status=403, body=_message("Forbidden"), says="Ask an owner"),
    Wrong(
        name="limit used up",
        status=403,
        body=_message("API rate limit exceeded"),
        headers=(("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "9999999999")),
        says="limit of requests is used up",
    ),
    Wrong(
        name="secondary limit, once",
        status=403,
        body=_message("You have exceeded a secondary rate limit"),
        headers=(("retry-after", "1"),),
        times=1,
        says="",
    ),
    Wrong(name="too many, once", status=429, headers=(("retry-after", "0"),), times=1, says=""),
    Wrong(name="not found", status=404, body=_message("Not Found"), says="no such thing"),
    Wrong(name="conflict", status=409, body=_message("Conflict"), says="Try again"),
    Wrong(name="gone", status=410, body=_message("Gone"), says="it is gone"),
    Wrong(name="not valid", status=422, body=_message("Validation Failed"), says="cannot use the request"),
    Wrong(name="blocked", status=451, body=_message("Repository access blocked"), says="legal reasons"),
    Wrong(name="failed once", status=500, times=1, says=""),
    Wrong(name="failed once, done", status=502, times=1, done=True, says=""),
    Wrong(name="failed for good", status=503, body="<html>busy</html>", says="Try again later"),
    Wrong(name="cut once", cut=True, times=1, says=""),
    Wrong(name="cut once, done", cut=True, times=1, done=True, says=""),
    Wrong(
        name="portal",
        status=200,
        body="<html>log in</html>",
        says="no JSON|not what the service documents|no list",
    ),
    Wrong(name="renamed", status=307, headers=(("location", "RENAMED"),), times=1, says=""),
    Wrong(
        name="led elsewhere", status=302, headers=(("location", "http://127.0.0.2:9/x"),), says="another host"
    ),
)


class Play:
    """A repository with a finished run, hosted by the stand-in, that every row begins with anew."""

    def __init__(self, home: Path, service: Any) -> None:  # noqa: ANN401  a module of the tests
        self.service = service
        self.home = home
        self.repository = home / "repository"
        self.bare = home / "hosted.git"
        callers = agreeing("notes") | {
            "worker/notes/1": [
                calls("Write", file_path="{workspace}/notes.txt", content="A line.\n"),
                _done(),
            ]
        }
        request = request_for(
            home, callers, {"verify": ("grep -q line notes.txt",)}, spec="# Notes\n\nKeep notes.\n"
        )
        subprocess.run(
            ["git", "init", "--quiet", "--bare", "--initial-branch=main", str(self.bare)], check=True
        )
        address = f"https://github.com/{_hosting.SLUG}.git"
        git(self.repository, "remote", "add", "origin", address)
        git(self.repository, "config", f"url.{self.bare}.insteadOf", address)
        git(self.repository, "push", "--quiet", "origin", "main")
        done = rehearse(request, _scripted.played)
        if done.outcome is not Outcome.COMPLETE:
            sys.exit(f"the run of this benchmark ended {done.outcome}:\n{done.shown}")
        service.branches = self.branches
        self._kept: dict[str, tuple[dict[int, Any], list[list[Any]]]] = {}

    def branches(self) -> dict[str, str]:
        """Return the heads of the hosted repository."""
        lines = git(self.bare, "show-ref", "--heads").splitlines()
        return {name.removeprefix("refs/heads/"): commit for commit, name in map(str.split, lines)}

    def keep(self, name: str) -> None:
        """Keep what is there now, for `reset`."""
        pulls = {number: deepcopy(one) for number, one in self.service.pulls.items()}
        self._kept[name] = pulls, [list(one) for one in self._said()]
        for place in (self.repository, self.bare):
            shutil.copytree(place, self.home / f"kept {name} {place.name}", symlinks=True)

    def reset(self, name: str) -> None:
        """Put back what was kept."""
        for place in (self.repository, self.bare):
            shutil.rmtree(place)
            shutil.copytree(self.home / f"kept {name} {place.name}", place, symlinks=True)
        pulls, said = self._kept[name]
        self.service.pulls = {number: deepcopy(one) for number, one in pulls.items()}
        self.service.comments, self.service.lines, self.service.reviews = (list(one) for one in said)
        self.service.faults.clear()

    def _said(self) -> tuple[list[Any], ...]:
        return self.service.comments, self.service.lines, self.service.reviews

    def sq(self, *words: str) -> str:
        """Call a command in this process and return what it said, an error last."""
        os.environ["GITHUB_TOKEN"], os.environ["GITHUB_API_URL"] = _hosting.TOKEN, self.service.address
        shown = io.StringIO()
        with contextlib.chdir(self.repository), contextlib.redirect_stdout(shown):
            try:
                cli.main(list(words), prog_name="sq", standalone_mode=False, obj=_scripted.played)
            except SqError as error:
                shown.write(f"ERROR {error}")
        return shown.getvalue()

    def issue(self) -> str:
        """Take the issue over as a spec, and return what sq said."""
        os.environ["GITHUB_TOKEN"], os.environ["GITHUB_API_URL"] = _hosting.TOKEN, self.service.address
        with contextlib.chdir(self.repository):
            try:
                return str(taken_over(f"gh:#{_ISSUE}", self.repository / ".sq"))
            except SqError as error:
                return f"ERROR {error}"

    def answers(self) -> list[str]:
        """Return the answers of sq."""
        said = [*self.service.comments, *self.service.lines]
        return [one["body"] for one in said if "sq:answers=" in one["body"]]

    def process(self, *words: str) -> int:
        """Call a command as a process, and return its exit code."""
        environ = {**os.environ, "GITHUB_TOKEN": _hosting.TOKEN, "GITHUB_API_URL": self.service.address}
        self.child = subprocess.Popen(
            [*SQ, *words],
            cwd=self.repository,
            env=environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return self.child.wait()


def _done(notes: str = "") -> dict[str, Any]:
    return reports("task_complete", summary="Done.", tests="They pass.", notes=notes)


# --- faults -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Asking:
    """A command of sq with the request that goes wrong, where it begins, and whether its effect is whole."""

    name: str
    method: str
    path: str
    begins: str
    run: Callable[[Play], str]
    is_done: Callable[[Play], bool]


def _commands(number: int) -> list[Asking]:
    one = lambda stage: len(stage.service.pulls) == 1  # noqa: E731
    body = lambda stage: "sq:end" in next(iter(stage.service.pulls.values()))["body"]  # noqa: E731
    pr = lambda stage: stage.sq("pr")  # noqa: E731
    follow = lambda stage: stage.sq("follow", str(number))  # noqa: E731
    answered = lambda stage: len(stage.answers()) == 1  # noqa: E731
    return [
        Asking(name="pr: look", method="GET", path="/pulls$", begins="fresh", run=pr, is_done=one),
        Asking(name="pr: open", method="POST", path="/pulls$", begins="fresh", run=pr, is_done=one),
        Asking(
            name="pr: change", method="PATCH", path=r"/pulls/\d+$", begins="opened", run=pr, is_done=body
        ),
        Asking(
            name="spec: issue", method="GET", path=rf"/issues/{_ISSUE}$", begins="fresh", run=Play.issue,
            is_done=lambda _: True,
        ),
        Asking(
            name="follow: answer", method="POST", path="/comments$", begins="worked on", run=follow,
            is_done=answered,
        ),
    ]  # fmt: skip


def _is_right(stage: Play, command: Asking, wrong: Wrong) -> str:
    """Return "" if a fault ends as it should and nothing is doubled, else what is wrong."""
    stage.reset(command.begins)
    headers = {
        name: f"{stage.service.address}/repositories/7/{_target(command, stage)}"
        if value == "RENAMED"
        else value
        for name, value in wrong.headers
    }
    fault = _hosting.Fault(
        command.method, command.path, wrong.status, wrong.body, headers, wrong.times, wrong.cut, wrong.done
    )
    stage.service.faults.append(fault)
    said = command.run(stage)
    used = fault.times < wrong.times
    stage.service.faults.clear()
    failed = said.partition("ERROR ")[2]
    if not used:
        return f"the fault was never met: {said!r}"
    if wrong.says and not re.search(wrong.says, failed):
        return f"it said {failed or said!r}"
    if not wrong.says and (failed or not command.is_done(stage)):
        return f"it did not recover: {failed or said!r}"
    again = command.run(stage)
    if "ERROR" in again or not command.is_done(stage):
        return f"repeated, it said {again!r}"
    if len(stage.service.pulls) > 1 or len(stage.answers()) > 1:
        return "something was done twice"
    return ""


def _target(command: Asking, stage: Play) -> str:
    number = next(iter(stage.service.pulls), 0)
    places = {
        "pr: look": "pulls?head=" + f"{_hosting.OWNER}:{_branch(stage)}&state=all&per_page=100",
        "pr: open": "pulls",
        "pr: change": f"pulls/{number}",
        "spec: issue": f"issues/{_ISSUE}",
        "follow: answer": f"issues/{number}/comments",
    }
    return places[command.name]


def _branch(stage: Play) -> str:
    return f"sq/{StateFolder(stage.repository / '.sq').run_ids()[0]}"


# --- the round, with the real Claude Code -------------------------------------------------------------------


def _open(stage: Play) -> int:
    said = stage.sq("pr")
    if len(stage.service.pulls) != 1:
        sys.exit(f"no pull request was opened: {said}")
    return int(next(iter(stage.service.pulls)))


def _round(stage: Play, number: int) -> None:
    """Work on one point with the real Claude Code. The answer is held back, so that rows can give it."""
    stage.service.say(number, "owner", _POINT)
    callers = agreeing("points") | {
        "worker/points/1": [
            calls("Bash", command=_LOOKS),
            calls("Write", file_path="{workspace}/notes.txt", content="A line by its author.\n"),
            _done("F1 changed: its author stands there"),
        ]
    }
    scenario = stage.home / "round.yaml"
    scenario.write_text(yaml.safe_dump({"scenario": 1, "callers": callers}), "utf-8")
    stage.service.faults.append(_hosting.Fault("POST", "/comments", 403, {"message": "Forbidden"}, {}, 1_000))
    stage.process("follow", str(number), "--rehearse", str(scenario), "--plain")
    stage.service.faults.clear()
    stage.service.pulls[number]["head"]["sha"] = stage.branches()[_branch(stage)]
    if len(StateFolder(stage.repository / ".sq").run_ids()) != 2:  # noqa: PLR2004  the first run, and the round
        sys.exit("the round did not run")


# --- kills --------------------------------------------------------------------------------------------------


def _kills(stage: Play, begins: str, *words: str, every: int) -> tuple[int, int]:
    """Kill a command at each of its requests, before and after the effect, and count what was done twice."""
    points: list[str] = []
    stage.reset(begins)
    stage.service.on_request = lambda method, path: points.append(f"{method} {path}")
    stage.process(*words)
    doubled, kills = 0, 0
    for hook in ("on_request", "on_done"):
        for at in range(0, len(points), every):
            stage.reset(begins)
            stage.service.on_request = stage.service.on_done = lambda _method, _path: None
            left = [at]

            def kill(_method: str, _path: str, left: list[int] = left) -> None:
                if left[0] == 0:
                    stage.child.send_signal(signal.SIGKILL)
                left[0] -= 1

            setattr(stage.service, hook, kill)
            kills += stage.process(*words) == -signal.SIGKILL
            setattr(stage.service, hook, lambda _method, _path: None)
            stage.process(*words)
            doubled += abs(len(stage.service.pulls) - 1) + max(0, len(stage.answers()) - 1)
    return kills, doubled


# --- hostile words ------------------------------------------------------------------------------------------


class _Spoken(HTMLParser):
    """The text of a page outside code, with its links."""

    def __init__(self) -> None:
        super().__init__()
        self.inside, self.text, self.links = 0, "", 0

    def handle_starttag(self, tag: str, _attrs: object) -> None:
        self.inside += tag in {"code", "pre"}
        self.links += tag in {"a", "img"}

    def handle_endtag(self, tag: str) -> None:
        self.inside -= tag in {"code", "pre"}

    def handle_data(self, data: str) -> None:
        self.text += "" if self.inside else data


_ACTS = re.compile(r"(?<![\w`])@[A-Za-z0-9]|(?<!\w)#\d|\bGH-\d|\w/[\w.-]+#\d|https?://|www\.", re.IGNORECASE)


def _mentions() -> tuple[int, int]:
    """Return how many hostile texts were put into runs, and how many acted in the text of a pull request."""
    import cmarkgfm  # type: ignore[import-untyped]

    texts = _texts.hostile_texts(1_000)
    events = _acting.hostile_run()
    number = _acting.words_in(events)
    acting = 0
    for start in range(0, len(texts), number):
        part = [*texts[start : start + number]]
        run = _reports.read(_acting.saying(events, (part * number)[:number]))
        page = cmarkgfm.github_flavored_markdown_to_html(rendered(run, Format.PULL_REQUEST, version="1"))
        spoken = _Spoken()
        spoken.feed(page)
        acting += spoken.links + len(_ACTS.findall(spoken.text))
    return len(texts), acting


# --- the action ---------------------------------------------------------------------------------------------


def _action_steps(stage: Play) -> int:
    """Run `action.yml` for a label on the issue. Return how many of its scripts ran, 0 if the job failed."""
    stage.reset("fresh")
    scenario = stage.home / "action.yaml"
    callers = agreeing("notes") | {
        "worker/notes/1": [calls("Write", file_path="{workspace}/notes.txt", content="A line.\n"), _done()]
    }
    scenario.write_text(yaml.safe_dump({"scenario": 1, "callers": callers}), "utf-8")
    runner = _actions.Runner(stage.home / "runner", stage.service.address, stage.bare, real=True)
    event = {
        "action": "labeled",
        "label": {"name": "sq"},
        "sender": {"login": "owner"},
        "issue": {"number": _ISSUE},
    }
    given = {"verify": "grep -q line notes.txt", "sandbox": "auto", "rehearse": str(scenario)}
    job = runner.run("issues", event, **given)
    if job.conclusion != "success" or len(stage.service.pulls) != 1:
        print(f"the action ended in {job.conclusion}:\n{job.log}")
        return 0
    return len(_actions.RUN_STEPS & set(job.ran))


# --- all of it ----------------------------------------------------------------------------------------------


def _token_hits(*folders: Path) -> int:
    needle = _hosting.TOKEN.encode()
    files = [one for folder in folders for one in folder.rglob("*") if one.is_file() and not one.is_symlink()]
    return sum(needle in one.read_bytes() for one in files)


def main() -> None:
    """Measure, print each row that is not right, and end with code 1 if a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hand_over")
    parser.add_argument(
        "--quick", action="store_true", help="every fourth fault, and a kill at every fourth request"
    )
    every = 4 if parser.parse_args().quick else 1
    with own_home() as home, _hosting.hosting() as service:
        stage = Play(home, service)
        service.add_issue("Keep notes", "Keep notes in `notes.txt`.", number=_ISSUE)
        stage.keep("fresh")
        number = _open(stage)
        in_place = "already up to date" in stage.sq("pr") and list(service.pulls) == [number]
        service.pulls[number]["body"] = service.pulls[number]["body"].replace("sq:end", "sq:was")
        stage.keep("opened")
        stage.reset("opened")
        _round(stage, number)
        hits, looked = _token_hits(home), git(stage.bare, "show", f"{_branch(stage)}:looked.txt")
        stage.keep("worked on")
        wrong = [(command, one) for command in _commands(number) for one in _WRONG][::every]
        found = []
        for command, one in wrong:
            found.append(_is_right(stage, command, one))
            print(f"{command.name:<15} {one.name:<22} {found[-1] or 'right'}", flush=True)
        counted = [
            _kills(stage, "fresh", "pr", every=every),
            _kills(stage, "opened", "pr", every=every),
            _kills(stage, "worked on", "follow", str(number), every=every),
        ]
        texts, acting = _mentions()
        steps = _action_steps(stage)
        figures: dict[str, object] = {
            "faults": len(found),
            "faults_right": sum(not what for what in found),
            "kills": sum(kills for kills, _ in counted),
            "doubled": sum(doubled for _, doubled in counted),
            "in_place": in_place,
            "texts": texts,
            "mentions_acting": acting,
            "action_steps": len(_actions.RUN_STEPS),
            "action_steps_run": steps,
            "token_hits": hits,
            "agent_saw_its_environment": "PATH=" in looked,
        }
    print_figures(figures, {"doubled": 0, "mentions_acting": 0, "token_hits": 0})
    right = figures["faults"] == figures["faults_right"] and not (figures["doubled"] or acting or hits)
    right = right and steps == len(_actions.RUN_STEPS)
    sys.exit(not (right and in_place and figures["agent_saw_its_environment"]))


if __name__ == "__main__":
    main()
