"""Measures sq in situations that people reported: their repositories, commands, sessions and stops.

    python -m benchmarks.field [--kind K] [--case NAME] [--quick] [--floor] [--at-once 2] [--logs FOLDER]

Each case is a row of `field_cases`: how the repository is made, what is asked of the real `sq` in a process
of its own with the real Claude Code and a scripted model, and what has to hold of its end. `source` and
`month` are those of the public report, and rows without a source are variations of the same kind. A row
whose programs are not on this machine is named and left out.

- `ask: run` (the usual one), `plan` (`--dry-run`: baseline and plan), `doctor`, `gate` (`sq hook stop`).
- `check` is a command that passes in the checkout before sq is asked. If sq's baseline is red all the same
  and it does not say each of `names` before a token is spent, that is false blame.
- Honest works are generated from the languages of `honest.yaml`: each has to end with its code.

The last line is JSON: `cases`, `right`, `wrong`, `false_blame`, `honest`, `honest_stuck`, `languages`. With
`--floor` the exit code is 1 unless wrong, false_blame and honest_stuck are 0. `--quick` takes a sample.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from sysconfig import get_path
from typing import Any

import click
import msgspec
import yaml

from benchmarks.figures import of_tests, print_figures
from benchmarks.rehearsed import SQ, Callers, Reply, agreeing, calls, reports, toolchains

_CASES = Path(__file__).parent / "field_cases"
_RED = re.compile(r"^baseline: `.*(: fails|could not run|too long)", re.MULTILINE)
_LIMIT_S = 240
_CLAIMS = 3
_QUICK, _QUICK_GATES = 2, 6  # cases of a sample of each way to ask
_SESSION = "3f0c2a52-1b7e-4d5c-9a55-0a8f6f1f2b10"
_UNSET = ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "XDG_CONFIG_HOME", "CI", "CLAUDE_PROJECT_DIR")


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row. Shell lines run in the repository, with `TOP`, the folder above it, in their environment.

    `make` runs before the first commit, `then` after it, `background` until the case is over. `work` are the
    Worker's commands by task, and `callers` whole replies that replace those of a caller. `ends` are exit
    codes that may be. Each of `says` is in the output and none of `never`, by regular expression, and `after`
    passes at the end. `session` are the entries of a gate's transcript (`_add_entry`), and `stop` is what
    the gate has to do: allow, hold, or say (let go, with a message).
    """

    name: str = ""
    kind: str
    language: str = "python"
    source: str = ""
    month: str = ""
    needs: tuple[str, ...] = ()
    ask: str = "run"
    project: str = ""
    files: Mapping[str, str | None] = {}
    make: str = ""
    then: str = ""
    check: str = ""
    background: str = ""
    variables: Mapping[str, str] = {}
    spec: str = ""
    flags: tuple[str, ...] = ()
    criterion: str = "behaviour"
    work: Mapping[str, str | tuple[str, ...]] = {}
    callers: Mapping[str, list[Any]] = {}
    ends: tuple[int, ...] = (0,)
    names: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    after: str = ""
    session: tuple[Any, ...] = ()
    hook: Mapping[str, Any] = {}
    place: str = ""
    stop: str = "allow"
    honest: bool = False

    @property
    def lacks(self) -> list[str]:
        """Programs that it needs and that are not on this machine."""
        return [program for program in self.needs if shutil.which(program) is None]


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """Files that rows share, and the Worker's usual commands on them."""

    language: str
    needs: tuple[str, ...] = ()
    files: Mapping[str, str] = {}
    work: str = ""
    works: Mapping[str, Any] = {}  # honest works: shell lines, or fields of a case


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What was wrong with a case, "" if nothing was, and what sq printed."""

    case: Case
    wrong: str
    blamed: bool
    seconds: float
    shown: str


def load_cases(names: tuple[str, ...] = ()) -> list[Case]:
    """Read all rows, the honest works among them."""
    shared = dict(_rows("projects.yaml"))
    projects = {name: msgspec.convert(one, Project) for name, one in shared.items()}
    files = sorted(path.name for path in _CASES.glob("*.yaml") if path.stem not in {"projects", "honest"})
    cases = [_case(name, row, projects) for file in files for name, row in _rows(file)]
    for name, one in _rows("honest.yaml"):
        projects[name] = msgspec.convert({**shared.get(one.get("like"), {}), **one}, Project)
        cases += [
            _case(f"honest: {name}: {work}", _honest(name, told), projects)
            for work, told in projects[name].works.items()
        ]
    return [one for one in cases if not names or any(fnmatch(one.name, f"*{each}*") for each in names)]


def _rows(file: str) -> list[tuple[str, Any]]:
    found = yaml.safe_load((_CASES / file).read_text("utf-8"))
    return [(name, row) for name, row in found.items() if not name.startswith("_")]


def _honest(project: str, told: Any) -> dict[str, Any]:  # noqa: ANN401
    given = {"work": {"mul": told}} if isinstance(told, str) else told
    return {"kind": "honest", "honest": True, "project": project, **given}


def _case(name: str, row: Mapping[str, Any], projects: Mapping[str, Project]) -> Case:
    given = {"project": "python", **row} if row.get("ask") != "gate" else dict(row)
    if project := projects.get(given.get("project", "")):
        files = {**project.files, **given.get("files", {})}
        needs = (*project.needs, *given.get("needs", ()))
        work = given.get("work") or {"mul": project.work}
        given = {"language": project.language, **given, "files": files, "needs": needs, "work": work}
    return msgspec.convert({**given, "name": name}, Case)


# --- one case -----------------------------------------------------------------------------------------------


def try_case(case: Case, logs: Path | None = None) -> Result:
    """Make the case in a temporary folder, ask sq, and look at its end."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="sq-field-", ignore_cleanup_errors=True) as folder:
        place = _Place(case, Path(folder))
        try:
            place.make()
            code, shown = place.gate() if case.ask == "gate" else place.command()
            wrong, blamed = place.judge(code, shown)
        except subprocess.CalledProcessError as error:
            code, shown, blamed = -1, f"{error.stdout}{error.stderr}", False
            wrong = f"the case itself is broken: {error.cmd[-1][:80]}: {shown.strip()[-200:]}"
        finally:
            place.end()
    if logs:
        logs.mkdir(parents=True, exist_ok=True)
        file = (logs / re.sub(r"\W+", "-", case.name)).with_suffix(".txt")
        file.write_text(f"{shown}\n== {code}\n== {wrong}\n", "utf-8")
    return Result(case=case, wrong=wrong, blamed=blamed, seconds=time.monotonic() - began, shown=shown)


class _Place:
    """The folder of one case: home, state and repository."""

    def __init__(self, case: Case, top: Path) -> None:
        self._case = case
        self._top = top
        self._folder = top / "r"
        home = top / "home"
        for each in (self._folder, home, top / "bin"):
            each.mkdir()
        inherited = {key: value for key, value in os.environ.items() if key not in _UNSET}
        identity = {"HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / ".claude"), "TOP": str(top)}
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        self._environ = {**inherited, **toolchains(), **identity, "PATH": path}
        self._environ |= {"XDG_STATE_HOME": str(top / "state"), "FIELD_SITE": get_path("purelib")}
        self._environ |= {key: self._filled(value) for key, value in case.variables.items()}
        self._behind: subprocess.Popen[bytes] | None = None

    def make(self) -> None:
        """Make repository, commit and whatever runs beside it, and see that the checkout is green."""
        case = self._case
        self._shell(
            "git config --global user.name 'A Person'; git config --global user.email person@example.org;"
            " git config --global init.defaultBranch main; git init -q ."
        )
        for path, text in case.files.items():
            if text is not None:
                (self._folder / path).parent.mkdir(parents=True, exist_ok=True)
                (self._folder / path).write_text(text, "utf-8")
                (self._folder / path).chmod(0o755 if text.startswith("#!") else 0o644)
        self._shell(case.make)
        self._shell("git add -A && git commit -q --allow-empty -m 'chore: the project as it is'")
        self._shell(case.then)
        if case.background:
            command = ["bash", "-c", case.background]
            self._behind = subprocess.Popen(
                command, cwd=self._folder, env=self._environ, start_new_session=True
            )
            time.sleep(1)
        self._shell(case.check)

    def command(self) -> tuple[int, str]:
        """Run or plan by a rehearsal, or ask the doctor. Returns exit code and output."""
        case = self._case
        if case.ask == "doctor":
            return self._sq("doctor", *case.flags)
        spec = (
            case.spec or "# Calculator\n\n- Add mul(a, b), which multiplies.\n- add(a, b) goes on adding.\n"
        )
        (self._top / "spec.md").write_text(spec, "utf-8")
        scenario = {"scenario": 1, "usage": {"input_tokens": 1000, "output_tokens": 100}}
        told = yaml.safe_dump({**scenario, "callers": _callers(case)})
        (self._top / "scenario.yaml").write_text(told, "utf-8")
        flags = [*(["--dry-run"] if case.ask == "plan" else []), *map(self._filled, case.flags)]
        paths = ["--spec", str(self._top / "spec.md"), "--rehearse", str(self._top / "scenario.yaml")]
        return self._sq("run", *paths, "--effort", "low", "--plain", *flags)

    def gate(self) -> tuple[int, str]:
        """Give the hook its input. Returns 0 and the hook's words."""
        case = self._case
        lines = of_tests("language.stop_inputs").Lines(compact=False)
        for entry in case.session:
            _add_entry(lines, entry)
        file = self._top / "session.jsonl" if not case.place else Path(self._filled(case.place))
        file.parent.mkdir(parents=True, exist_ok=True)
        text = lines.data.decode().replace("3b0f6c1e-1111-4222-8333-444455556666", _SESSION)
        file.write_text(self._filled(text), "utf-8")
        told = {
            "session_id": _SESSION,
            "transcript_path": str(self._top / "session.jsonl"),
            "cwd": str(self._folder),
            "permission_mode": "default",
            "hook_event_name": "Stop",
            "stop_hook_active": False,
            **case.hook,
        }
        self._environ["CLAUDE_PROJECT_DIR"] = str(self._folder)
        return self._sq("hook", "stop", given=self._filled(msgspec.json.encode(told).decode()))

    def judge(self, code: int, shown: str) -> tuple[str, bool]:
        """Return what is wrong, and whether sq's own place was told as a fault of the tests."""
        case = self._case
        if case.ask == "gate":
            did = "hold" if '"block"' in shown else "say" if '"systemMessage"' in shown else "allow"
            wrong = (
                [] if did == case.stop or (case.stop, did) == ("allow", "say") else [f"{did}: {shown[:160]}"]
            )
        else:
            wrong = [] if code in case.ends else [f"ended with {code}"]
        unnamed = [each for each in case.names if not _found(each, _before_the_model(shown))]
        blamed = bool(case.names and unnamed and _RED.search(shown))
        wrong += [f"red, and nothing on {each}" for each in unnamed if blamed]
        wrong += [f"lacks {each}" for each in case.says if not _found(each, shown)]
        wrong += [f"says {each}" for each in case.never if _found(each, shown)]
        if case.after:
            done = self._run(case.after)
            wrong += [f"after: {(done.stdout + done.stderr).strip()[-160:]}"] if done.returncode else []
        return "; ".join(wrong), blamed

    def end(self) -> None:
        """End what runs beside the case, and let its files be removed."""
        if self._behind:
            os.killpg(self._behind.pid, signal.SIGKILL)
            self._behind.wait()
        subprocess.run(["chmod", "-R", "u+w", str(self._top)], check=False, capture_output=True)

    def _filled(self, text: str) -> str:
        values = {"TOP": str(self._top), "CWD": str(self._folder), "HOME": self._environ["HOME"]}
        for key, value in {**values, "PATH": self._environ["PATH"]}.items():
            text = text.replace(f"{{{key}}}", value)
        return text

    def _run(self, command: str) -> subprocess.CompletedProcess[str]:
        arguments = ["bash", "-c", command]
        return subprocess.run(
            arguments, cwd=self._folder, env=self._environ, capture_output=True, text=True, check=False
        )

    def _shell(self, command: str) -> None:
        if command:
            self._run(f"set -e\n{command}").check_returncode()

    def _sq(self, *arguments: str, given: str = "") -> tuple[int, str]:
        process = subprocess.Popen(
            [*SQ, *arguments],
            cwd=self._folder,
            env=self._environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            shown, _ = process.communicate(given, timeout=_LIMIT_S)
        except subprocess.TimeoutExpired:
            process.terminate()
            shown, _ = process.communicate()
            return -1, f"{shown}\nstopped after {_LIMIT_S} s"
        return process.returncode, shown


def _before_the_model(shown: str) -> str:
    """Return what sq said before a token was spent, without its first line and the names of failing tests."""
    early = re.split(r"^analysis:", shown, maxsplit=1, flags=re.MULTILINE)[0]
    return re.sub(r", failing: .*|^run .*", "", early, flags=re.MULTILINE)


def _found(pattern: str, shown: str) -> bool:
    return re.search(pattern, shown, re.MULTILINE | re.IGNORECASE) is not None


def _callers(case: Case) -> Callers:
    tasks = list(case.work)
    planned = [{"id": id_, "title": id_, "description": f"Do the part {id_}."} for id_ in tasks]
    lines = [line[2:] for line in case.spec.splitlines() if line.startswith("- ")] or ["mul multiplies"]
    criteria = [
        {"text": line, "task_ids": [tasks[min(number, len(tasks) - 1)]], "kind": case.criterion}
        for number, line in enumerate(lines)
    ]
    for id_ in tasks[len(lines) :]:
        criteria[-1]["task_ids"].append(id_)  # type: ignore[attr-defined]
    callers: Callers = {
        **agreeing(*tasks, tasks=planned, criteria=criteria),
        "resolver/*": [reports("task_complete", summary="Done.", tests="")],
        "developer/*": [{"structured": {"guidance": ""}}],
    }
    callers["reviewer/*"] = callers["reviewer/*"] * _CLAIMS
    for id_, told in case.work.items():
        callers[f"worker/{id_}/*"] = _worker((told,) if isinstance(told, str) else told)
    return {**callers, **case.callers}


def _worker(commands: tuple[str, ...]) -> list[Reply]:
    """Commands of shell, each followed by a claim, and then more claims."""
    claim = reports("task_complete", summary="Done.", tests="All pass.")
    said = [reply for one in commands for reply in (calls("Bash", command=one, description="Work"), claim)]
    return [*said, *[claim] * _CLAIMS]


_MARKS = {"x": "completed", ">": "in_progress", "-": "pending"}


def _add_entry(lines: Any, entry: dict[str, Any]) -> None:  # noqa: ANN401  the tests' language has no types
    """Add an entry to a transcript: one key, such as {user: …} or {list: [x done, "> begun", "- open"]}."""
    kind, told = next(iter(entry.items()))
    number = str(entry.get("number", ""))
    match kind:
        case "user":
            lines.user(told)
        case "interrupted":
            lines.user([{"type": "text", "text": told or "[Request interrupted by user]"}])
        case "say":
            lines.assistant({"type": "text", "text": told})
        case "line":
            lines.add(told["type"], **{key: value for key, value in told.items() if key != "type"})
        case "list":
            todos = [{"content": one[2:], "status": _MARKS[one[0]], "activeForm": one[2:]} for one in told]
            lines.call("TodoWrite", {"todos": todos}, output="Todos have been modified successfully.")
        case "task":
            said = f"Task #{number} created successfully: {told[2:]}"
            lines.call("TaskCreate", {"subject": told[2:]}, output=said, data={"task": {"id": number}})
        case "status":
            lines.call(
                "TaskUpdate", {"taskId": number, "status": told}, output=f"Updated task #{number} status"
            )
        case _:
            tool, given = _TOOLS[kind]
            lines.call(tool, {**given, next(iter(given)): told}, output=entry.get("prints", "done"))


_TOOLS: Mapping[str, tuple[str, dict[str, str]]] = {
    "write": ("Write", {"file_path": "", "content": "x = 1\n"}),
    "read": ("Read", {"file_path": ""}),
    "run": ("Bash", {"command": ""}),
}


# --- all cases ----------------------------------------------------------------------------------------------


@click.command()
@click.option("--kind", multiple=True, help="Cases of this kind alone.")
@click.option("--case", "names", multiple=True, metavar="NAME", help="Cases with it in their names.")
@click.option("--quick", is_flag=True, help="A sample, at most two minutes.")
@click.option("--floor", is_flag=True, help="Exit code 1 if something is wrong.")
@click.option("--at-once", default=2, help="How many cases at a time.")
@click.option("--logs", type=click.Path(path_type=Path), help="Keep the text of each case in this folder.")
def main(
    kind: tuple[str, ...], names: tuple[str, ...], quick: bool, floor: bool, at_once: int, logs: Path | None
) -> None:
    """Try the cases, and say which end as they have to."""
    # A job in the background ignores interrupts, and so would the programs of each case.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    wanted = [one for one in load_cases(names) if not kind or one.kind in kind]
    for one in wanted:
        if one.lacks:
            print(f"{one.name}: not tried, it lacks {', '.join(one.lacks)}")
    here = [one for one in wanted if not one.lacks]
    with ThreadPoolExecutor(at_once) as pool:
        results = []
        for result in pool.map(partial(try_case, logs=logs), list(_sample(here)) if quick else here):
            results.append(result)
            word = "right" if not result.wrong else "FALSE BLAME" if result.blamed else "WRONG"
            one = result.case
            head = f"{one.kind:16} {one.language:11} {one.name:62} {result.seconds:5.1f} s"
            print(f"{head}  {word}  {result.wrong}", flush=True)
    figures = _figures(results)
    print_figures(figures)
    if floor and any(figures[key] for key in ("wrong", "false_blame", "honest_stuck")):
        sys.exit(1)


def _sample(cases: list[Case]) -> Iterator[Case]:
    """A few of each kind of question, those of the stop gate, which take a second, the most."""
    gates, runs = ([one for one in cases if one.ask == ask and not one.honest] for ask in ("gate", "run"))
    plans = [one for one in cases if one.ask not in {"gate", "run"}]
    honest = [one for one in cases if one.honest]
    for part, most in ((gates, _QUICK_GATES), (plans, _QUICK), (runs, _QUICK), (honest, _QUICK)):
        yield from part[:: max(1, -(-len(part) // most))]


def _figures(results: list[Result]) -> dict[str, int]:
    cases = [one for one in results if not one.case.honest]
    honest = [one for one in results if one.case.honest]
    return {
        "cases": len(cases),
        "reported": sum(bool(one.case.source) for one in cases),
        "right": sum(not one.wrong for one in cases),
        "wrong": sum(bool(one.wrong) for one in cases),
        "false_blame": sum(one.blamed for one in cases),
        "honest": len(honest),
        "honest_stuck": sum(bool(one.wrong) for one in honest),
        "languages": len(_languages(results)),
        "honest_languages": len(_languages(honest)),
    }


def _languages(results: list[Result]) -> set[str]:
    return {one.case.language for one in results} - {"gate", "text"}


if __name__ == "__main__":
    main()
