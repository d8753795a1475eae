"""From a run to a pull request and back: wrong answers, kills at each request, hostile words, the token.

The service is a stand-in on loopback, the repository behind it is a real one, and one round of `sq follow` runs the real
Claude Code. `bin/test --late` takes every fourth wrong answer and request, `--slow` each of them.
"""

import contextlib
import io
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from language.acting_runs import hostile_run, saying, words_in
from language.hosting import OWNER, SLUG, TOKEN, Fault, HostingStandIn, hosting
from language.sampled import sampled
from language.scripted_agent import played
from language.tables import table

from benchmarks.rehearsed import SQ, agreeing, calls, git, own_home, rehearse, reports, request_for
from orchestrator.cli.main import cli
from orchestrator.cli.runs.plans import taken_over
from orchestrator.views.report.rendering import Format, rendered
from state.errors import SqError
from state.outcome import Outcome
from state.paths import StateFolder
from tests.orchestrator.views.reports import read

ISSUE = 12
POINT = "Say who wrote it."
LOOKS = "env > looked.txt; cat /proc/[0-9]*/environ >> looked.txt 2>/dev/null; echo done"
EVERY = pytest.mark.parametrize("every", sampled([1, 4], 4))

pytestmark = [pytest.mark.late, pytest.mark.timeout(900)]


class Play:
    """A repository with a finished run, hosted by the stand-in, that every row begins with anew."""

    def __init__(self, home: Path, service: HostingStandIn) -> None:
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
        address = f"https://github.com/{SLUG}.git"
        git(self.repository, "remote", "add", "origin", address)
        git(self.repository, "config", f"url.{self.bare}.insteadOf", address)
        git(self.repository, "push", "--quiet", "origin", "main")
        done = rehearse(request, played)
        assert done.outcome is Outcome.COMPLETE, done.shown
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

    def branch(self) -> str:
        """Return the branch of the finished run."""
        return f"sq/{StateFolder(self.repository / '.sq').run_ids()[0]}"

    def _said(self) -> tuple[list[Any], ...]:
        return self.service.comments, self.service.lines, self.service.reviews

    def sq(self, *words: str) -> str:
        """Call a command in this process and return what it said, an error last."""
        os.environ["GITHUB_TOKEN"], os.environ["GITHUB_API_URL"] = TOKEN, self.service.address
        shown = io.StringIO()
        with contextlib.chdir(self.repository), contextlib.redirect_stdout(shown):
            try:
                cli.main(list(words), prog_name="sq", standalone_mode=False, obj=played)
            except SqError as error:
                shown.write(f"ERROR {error}")
        return shown.getvalue()

    def issue(self) -> str:
        """Take the issue over as a spec, and return what sq said."""
        os.environ["GITHUB_TOKEN"], os.environ["GITHUB_API_URL"] = TOKEN, self.service.address
        with contextlib.chdir(self.repository):
            try:
                return str(taken_over(f"gh:#{ISSUE}", self.repository / ".sq"))
            except SqError as error:
                return f"ERROR {error}"

    def answers(self) -> list[str]:
        """Return the answers of sq."""
        said = [*self.service.comments, *self.service.lines]
        return [one["body"] for one in said if "sq:answers=" in one["body"]]

    def process(self, *words: str) -> int:
        """Call a command as a process, and return its exit code."""
        environ = {**os.environ, "GITHUB_TOKEN": TOKEN, "GITHUB_API_URL": self.service.address}
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


@pytest.fixture(scope="module")
def stage() -> Iterator[Play]:
    """A pull request of a finished run, with a round of the real Claude Code that has not answered yet."""
    with own_home() as home, hosting() as service:
        stage = Play(home, service)
        service.add_issue("Keep notes", "Keep notes in `notes.txt`.", number=ISSUE)
        stage.keep("fresh")
        stage.sq("pr")
        (number,) = service.pulls
        assert "already up to date" in stage.sq("pr")
        assert [*service.pulls] == [number]
        service.pulls[number]["body"] = service.pulls[number]["body"].replace("sq:end", "sq:was")
        stage.keep("opened")
        _round(stage, number)
        stage.keep("worked on")
        yield stage


def _round(stage: Play, number: int) -> None:
    """Work on one point with the real Claude Code. The answer is held back, so that tests can give it."""
    stage.service.say(number, "owner", POINT)
    callers = agreeing("points") | {
        "worker/points/1": [
            calls("Bash", command=LOOKS),
            calls("Write", file_path="{workspace}/notes.txt", content="A line by its author.\n"),
            _done("F1 changed: its author stands there"),
        ]
    }
    scenario = stage.home / "round.yaml"
    scenario.write_text(yaml.safe_dump({"scenario": 1, "callers": callers}), "utf-8")
    stage.service.faults.append(Fault("POST", "/comments", 403, {"message": "Forbidden"}, {}, 1_000))
    stage.process("follow", str(number), "--rehearse", str(scenario), "--plain")
    stage.service.faults.clear()
    stage.service.pulls[number]["head"]["sha"] = stage.branches()[stage.branch()]
    assert len(StateFolder(stage.repository / ".sq").run_ids()) == 2  # the first run, and the round


@pytest.mark.claude
def test_the_token_is_in_no_file_though_the_agent_looks_for_it(stage: Play) -> None:
    files = [one for one in stage.home.rglob("*") if one.is_file() and not one.is_symlink()]
    assert [one for one in files if TOKEN.encode() in one.read_bytes()] == []
    assert "PATH=" in git(stage.bare, "show", f"{stage.branch()}:looked.txt")


@dataclass(frozen=True, kw_only=True)
class Asking:
    """A command of sq with the request that goes wrong, where it begins, and whether its effect is whole."""

    method: str
    path: str
    begins: str
    run: Callable[[Play], str]
    is_done: Callable[[Play], bool]
    target: Callable[[Play], str]  # the address below the repository's


def _number(stage: Play) -> int:
    return next(iter(stage.service.pulls), 0)


ASKED = {
    "pr: look": Asking(
        method="GET", path="/pulls$", begins="fresh", run=lambda stage: stage.sq("pr"),
        is_done=lambda stage: len(stage.service.pulls) == 1,
        target=lambda stage: f"pulls?head={OWNER}:{stage.branch()}&state=all&per_page=100",
    ),
    "pr: open": Asking(
        method="POST", path="/pulls$", begins="fresh", run=lambda stage: stage.sq("pr"),
        is_done=lambda stage: len(stage.service.pulls) == 1, target=lambda _: "pulls",
    ),
    "pr: change": Asking(
        method="PATCH", path=r"/pulls/\d+$", begins="opened", run=lambda stage: stage.sq("pr"),
        is_done=lambda stage: "sq:end" in stage.service.pulls[_number(stage)]["body"],
        target=lambda stage: f"pulls/{_number(stage)}",
    ),
    "spec: issue": Asking(
        method="GET", path=rf"/issues/{ISSUE}$", begins="fresh", run=Play.issue, is_done=lambda _: True,
        target=lambda _: f"issues/{ISSUE}",
    ),
    "follow: answer": Asking(
        method="POST", path="/comments$", begins="worked on",
        run=lambda stage: stage.sq("follow", str(_number(stage))),
        is_done=lambda stage: len(stage.answers()) == 1,
        target=lambda stage: f"issues/{_number(stage)}/comments",
    ),
}  # fmt: skip


@EVERY
@pytest.mark.claude
def test_after_a_wrong_answer_sq_recovers_or_says_what_to_do_and_does_nothing_twice(
    stage: Play, every: int
) -> None:
    rows = [(name, wrong) for name in ASKED for wrong in table(__file__, "wrong")][::every]
    said = {
        (name, wrong): _is_wrong(stage, ASKED[name], table(__file__, "wrong")[wrong]) for name, wrong in rows
    }
    assert {row: what for row, what in said.items() if what} == {}


def _is_wrong(stage: Play, asking: Asking, wrong: dict[str, Any]) -> str:
    stage.reset(asking.begins)
    renamed = f"{stage.service.address}/repositories/7/{asking.target(stage)}"
    headers = {
        name: renamed if value == "RENAMED" else value for name, value in wrong.get("headers", {}).items()
    }
    answer = {name: wrong[name] for name in ("body", "cut", "done") if name in wrong}
    times, says = wrong.get("times", 1_000), wrong.get("says", "")
    fault = Fault(
        asking.method, asking.path, status=wrong.get("status", 0), headers=headers, times=times, **answer
    )
    stage.service.faults.append(fault)
    said = asking.run(stage)
    stage.service.faults.clear()
    failed = said.partition("ERROR ")[2]
    if fault.times == times:
        return f"the fault was never met: {said!r}"
    if says and not re.search(says, failed):
        return f"it said {failed or said!r}"
    if not says and (failed or not asking.is_done(stage)):
        return f"it did not recover: {failed or said!r}"
    again = asking.run(stage)
    if "ERROR" in again or not asking.is_done(stage):
        return f"repeated, it said {again!r}"
    return "something was done twice" if len(stage.service.pulls) > 1 or len(stage.answers()) > 1 else ""


@EVERY
@pytest.mark.claude
@pytest.mark.parametrize(("begins", "word"), [("fresh", "pr"), ("opened", "pr"), ("worked on", "follow")])
def test_a_kill_at_a_request_before_or_after_its_effect_doubles_nothing(
    stage: Play, begins: str, word: str, every: int
) -> None:
    points: list[str] = []
    stage.reset(begins)
    words = [word, *([str(_number(stage))] if word == "follow" else [])]
    stage.service.on_request = lambda method, path: points.append(f"{method} {path}")
    stage.process(*words)
    kills = 0
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
            assert len(stage.service.pulls) == 1, (hook, points[at])
            assert len(stage.answers()) <= 1, (hook, points[at])
    assert kills


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


def test_no_hostile_text_acts_in_a_pull_request(hostile: tuple[str, ...]) -> None:
    import cmarkgfm

    events = hostile_run()
    number = words_in(events)
    for start in range(0, len(hostile), number):
        part = [*hostile[start : start + number]]
        run = read(saying(events, (part * number)[:number]))
        page = cmarkgfm.github_flavored_markdown_to_html(rendered(run, Format.PULL_REQUEST, version="1"))
        spoken = _Spoken()
        spoken.feed(page)
        assert (spoken.links, _ACTS.findall(spoken.text)) == (0, [])
