"""A role, an event, a figure, a flag, gates, a check and a runner are added to a copy of the code by the lists of CONTRIBUTING, and work there.

Each addition touches as many files as its list has places, and only files that the list names.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from language.tables import table
from scratch_copy import ROOT, Scratch, places

from benchmarks import house

SCOUT = table(__file__, "scout")
TRY_SCOUT = table(__file__, "try_scout")
TRY_EVENT = table(__file__, "try_event")
TRY_FIGURE = table(__file__, "try_figure")
WORDS = table(__file__, "words")
MANNERS = table(__file__, "manners")
SHOUTS = table(__file__, "shouts")
TRY_SHOUTS = table(__file__, "try_shouts")
NAPKIN = table(__file__, "napkin")
SPUD = table(__file__, "spud")
SPADE = "spade:\n  ecosystem: field\n  locks: [spud.lock]\n  command: spade fetch\n"
TRY_SPUD = table(__file__, "try_spud")


Note = Callable[[str, object], None]  # `python -m benchmarks.house` prints them


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    (tmp_path / "code").mkdir()
    return Scratch(tmp_path / "code")


def assert_as_listed(scratch: Scratch, name: str, *, most: int) -> None:
    count, paths = places(name)
    assert len(scratch.touched) == count <= most
    assert [file for file in scratch.touched if not file.startswith(tuple(paths))] == []


def add_role(scratch: Scratch) -> None:
    roles = "state/roles.py"
    scratch.insert(roles, before='    RESOLVER = "resolver"\n', text='    SCOUT = "scout"\n')
    row = 'RoleRow(work="looks around", tools=READ_TOOLS, begins="the scout looks around")'
    scratch.insert(roles, before="    Role.RESOLVER: RoleRow(", text=f"    Role.SCOUT: {row},\n")
    scratch.insert("state/settings/effort.yaml", before="planner: ", text="scout: haiku\n    ", times=4)
    tool = 'SignalTool(name="report_land", description="Report.", model=TaskStuckInput)'
    scratch.insert(
        "agents/session/tools.py", before="    Role.JUDGE: (),\n", text=f"    Role.SCOUT: ({tool},),\n"
    )
    scratch.add("agents/roles/scout.py", SCOUT)
    scratch.add("prompts/scout_system.md.j2", "You are the Scout of sq.\n")


def add_event(scratch: Scratch, *, in_words: bool = True) -> None:
    events = "state/journal/events/run.py"
    praised = (
        "@dataclass(frozen=True, slots=True, kw_only=True)\nclass RunPraised:\n"
        '    """A person praised the run."""\n\n    words: str\n\n\n'
    )
    scratch.insert(events, before="RunNote = ", text=praised)
    scratch.insert(events, before="LimitNear | HostsUsed", text="RunPraised | ")
    if in_words:
        words = "orchestrator/views/descriptions/run.py"
        scratch.insert(words, before="        case e.InstructionsRead():\n", text=WORDS)


def add_flag(scratch: Scratch) -> None:
    scratch.insert(
        "state/settings/records.py",
        before="    merge: Annotated[",
        text='    careful: Annotated[bool, SetBy("look twice")] = False\n',
    )
    scratch.insert("orchestrator/cli/runs/run.py", before='    max_parallel="N",\n', text='    careful="",\n')


def add_gate(scratch: Scratch) -> None:
    scratch.add("orchestrator/run/tasks/manners.py", MANNERS)
    completion = "orchestrator/run/tasks/completion.py"
    scratch.insert(
        completion,
        before="    if results[-1].verdict is Verdict.ALLOW and (steered",
        text="    if results[-1].verdict is Verdict.ALLOW:\n        results.append(manners_gate(folder))\n",
    )
    imported = "from orchestrator.run.tasks.manners import manners_gate\n"
    scratch.insert(completion, before="from orchestrator.run.evidence.summary", text=imported)


def test_an_added_role_has_its_tools_its_prompt_its_line_and_a_model_that_may_be_chosen(
    scratch: Scratch, tmp_path: Path
) -> None:
    add_role(scratch)
    assert_as_listed(scratch, "A role", most=5)
    done = scratch.python("-c", TRY_SCOUT, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    scout = json.loads(done.stdout)
    assert (scout["model"], scout["system"].strip()) == ("haiku", "You are the Scout of sq.")
    assert scout["signals"] == ["report_land"]
    assert scout["reads"] is None
    assert "Write is not one of your tools" in scout["writes"]
    assert scout["lines"] == ["land: the scout looks around (haiku)"]
    assert "judge, scout, resolver" in " ".join(scratch.sq("run", "--help", cwd=tmp_path).stdout.split())


def test_an_added_event_is_stored_and_printed(
    scratch: Scratch, tmp_path: Path, record_property: Note
) -> None:
    add_event(scratch)
    assert_as_listed(scratch, "An event", most=2)
    record_property("change_files event", len(scratch.touched))
    done = scratch.python("-c", TRY_EVENT, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["praised: well done"]


def test_an_added_figure_is_in_the_report(scratch: Scratch, tmp_path: Path, record_property: Note) -> None:
    making = "orchestrator/views/report/making.py"
    fact = 'Fact(name="limits that were near", value=str(near))'
    scratch.insert(making, before='        Fact(name="report written by"', text=f"        {fact},\n")
    count = "    near = sum(isinstance(one.event, e.LimitNear) for one in every)\n"
    scratch.insert(making, before="    return (\n        *_facts(every),", text=count)
    assert_as_listed(scratch, "A figure of the report", most=2)
    record_property("change_files figure", len(scratch.touched))
    done = scratch.python("-c", TRY_FIGURE, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == "2"


def test_an_added_runner_is_found_set_up_counted_and_given_single_files(
    scratch: Scratch, tmp_path: Path, record_property: Note
) -> None:
    rows = "orchestrator/project/runners/rows"
    scratch.add(f"{rows}/spud.yaml", SPUD)
    assert_as_listed(scratch, "A runner", most=1)
    record_property("change_files runner", len(scratch.touched))
    scratch.insert(f"{rows}/set_up.yaml", before="bundle:\n", text=SPADE)
    project = tmp_path / "project"
    project.mkdir()
    done = scratch.python("-c", TRY_SPUD, cwd=project)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "found": ["spud"], "only": "spud a_bed.txt", "set up": ["spade fetch"], "counted": [2, 1],
    }  # fmt: skip


def test_an_agent_of_another_family_is_one_folder_that_no_file_of_ours_knows(record_property: Note) -> None:
    assert places("An agent of another family")[0] == 1
    folder = ROOT / "tests" / "language" / "lines_agent"
    assert {file.name for file in folder.iterdir() if file.is_file()} == {"__init__.py", "reviewer"}
    assert [file for file in house.code_files() if folder.name in file.read_text("utf-8")] == []
    record_property("change_files agent", 1)


def test_an_added_check_is_asked_in_its_order(
    scratch: Scratch, tmp_path: Path, record_property: Note
) -> None:
    order = "orchestrator/checks/order.py"
    scratch.add("orchestrator/checks/of_tests/shouts.py", SHOUTS)
    scratch.insert(
        order,
        before="from orchestrator.checks.of_tests import base_tests",
        text="from orchestrator.checks.of_tests import shouts\n",
    )
    row = '    Check(name="shouts", costs=0, ask=shouts.ask),\n'
    scratch.insert(order, before="    Check(name=objecting.CLEAN_COPY,", text=row)
    assert_as_listed(scratch, "A check of a work", most=2)
    record_property("change_files check", len(scratch.touched))
    done = scratch.python("-c", TRY_SHOUTS, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["LOUD.py shouts"]


def test_mypy_refuses_an_added_event_that_has_no_words(scratch: Scratch) -> None:
    add_event(scratch, in_words=False)
    file = "orchestrator/views/descriptions/run.py"
    mypy = ("-m", "mypy", "--python-version", "3.11", "--no-incremental", "--follow-imports", "silent")
    refused = scratch.python(*mypy, file, cwd=scratch.folder).stdout.splitlines()
    assert [line for line in refused if "RunPraised" in line and line.startswith(file)]
    scratch.insert(file, before="        case e.InstructionsRead():\n", text=WORDS)
    assert scratch.python(*mypy, file, cwd=scratch.folder).returncode == 0


def test_an_added_step_of_the_stop_gate_holds_the_sessions_that_it_applies_to(
    scratch: Scratch, tmp_path: Path
) -> None:
    steps = "orchestrator/gates/stop_gate/steps"
    scratch.add(f"{steps}/napkin.py", NAPKIN)
    scratch.insert(
        "orchestrator/gates/stop_gate/order.py", before="    orchestrator,\n", text="    napkin,\n"
    )
    scratch.insert(
        "orchestrator/gates/stop_gate/order.py", before="    AVAILABLE_WORK = 90\n", text="    NAPKIN = 50\n"
    )
    row = "    Priority.NAPKIN: napkin,\n"
    scratch.insert("orchestrator/gates/stop_gate/order.py", before="    Priority.AVAILABLE_WORK: ", text=row)
    sign = '    if os.path.exists(os.path.join(project, "napkin")):\n        return True\n'
    scratch.insert(
        "orchestrator/gates/stop_gate/probe.py",
        before='    if os.path.isdir(os.path.join(project, ".beads")):\n',
        text=sign,
    )
    assert_as_listed(scratch, "A step of the stop gate", most=3)
    project = tmp_path / "project"
    project.mkdir()
    stop = json.dumps({"session_id": "s-1", "cwd": str(project)})
    assert scratch.sq("hook", "stop", cwd=project, stdin=stop).stdout == ""
    (project / "napkin").touch()
    answer = json.loads(scratch.sq("hook", "stop", cwd=project, stdin=stop).stdout)
    assert answer == {"decision": "block", "reason": "Put the napkin away."}


@pytest.mark.late
def test_an_added_flag_holds_for_a_run_an_added_role_may_be_asked_for_and_an_added_gate_decides(
    scratch: Scratch, repository: Path, tmp_path: Path, scenario: Callable[[], Path]
) -> None:
    add_role(scratch)
    add_flag(scratch.begin())
    assert_as_listed(scratch, "A flag of `sq run` that is a setting", most=2)
    add_gate(scratch.begin())
    assert_as_listed(scratch, "A gate on a Worker's claim", most=3)
    (tmp_path / "spec.md").write_text("# Notes\n\nWrite notes.txt.\n", "utf-8")
    asked = ("--spec", str(tmp_path / "spec.md"), "--rehearse", str(scenario()), "--verify", "true")
    more = ("--workflow", "direct", "--effort", "low", "--careful", "--model", "scout=opus", "--json")
    done = scratch.sq("run", *asked, *more, cwd=repository)
    assert done.returncode == 0, done.stdout + done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    decided = [event for event in events if event["event"] == "GateDecided" and event["gate"] == "manners"]
    assert [event["verdict"] for event in decided] == ["block", "allow"]
    shown = scratch.sq("config", "show", str(events[0]["run_id"]), cwd=repository).stdout.splitlines()
    held = {line.split()[0]: line.split()[1] for line in shown}
    assert (held["careful"], held["models.scout"]) == ("true", "opus")
    usual = scratch.sq("config", "show", cwd=repository).stdout.splitlines()
    assert [line.split()[:2] for line in usual if line.startswith("careful")] == [["careful", "false"]]


@pytest.fixture
def scenario(tmp_path: Path) -> Callable[[], Path]:
    """A Worker whose notes say thanks only when the gate asks for it."""

    def tool(name: str, **given: object) -> dict[str, object]:
        return {"tools": [{"name": name, "input": given}]}

    def written(content: str) -> list[dict[str, object]]:
        note = tool("Write", file_path="{workspace}/notes.txt", content=content)
        return [note, tool("mcp__sq__task_complete", summary="Done.")]

    def made() -> Path:
        callers = {
            "worker/*": [*written("A line.\n"), *written("A line, thanks.\n")],
            "judge/*": [{"structured": {"verdict": "satisfied", "reason": "It is.", "quote": ""}}],
            "reviewer/*": [tool("mcp__sq__report_review", passed=True, issues=[])],
        }
        file = tmp_path / "scenario.yaml"
        file.write_text(yaml.safe_dump({"scenario": 1, "description": "notes", "callers": callers}), "utf-8")
        return file

    return made
