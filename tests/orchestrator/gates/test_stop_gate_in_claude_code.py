"""The stop gate in the settings of the real Claude Code: sessions that stop too early go on, and all of them end."""

import json
import subprocess
import sys

import pytest
from hooked_claude import FIND_TASKS, HOOK, Claude, calls, does, judged, says

from orchestrator.gates.stop_gate.stop import MOST_BLOCKS

SYSTEM3 = "system3-20260101T000000Z-0a1b2c3d"
EARLY = judged(
    True,
    "The orchestrator orch-7 is still active, and no reflection was stored.",
    "End orch-7 with tmux kill-session, then store the reflection in Hindsight.",
)
CLOSED = judged(False, when="Reflection stored in Hindsight.")


@pytest.fixture
def claude(tmp_path, home):
    project = tmp_path / "here"
    project.mkdir()
    return Claude(project=project, home=home)


@pytest.fixture
def claude_in_git(repository, home):
    return Claude(project=repository, home=home)


def ended_well(ended):
    return ended.result["subtype"] == "success" and not ended.result["is_error"] and ended.problems == []


# --- the System 3 judge (seed 003) ------------------------------------------------------------------------


async def test_a_session_that_stops_too_early_is_told_why_and_what_to_do_and_goes_on(claude):
    answer = EARLY["structured"]
    ended = await claude(
        [
            says("The orchestrator has the work. I am done."),
            {
                **calls("Bash", command="echo reflection > memory.txt"),
                "expect": {"prompt_contains": ["Stop hook feedback", answer["reason"], answer["suggestion"]]},
            },
            says("Reflection stored in Hindsight."),
        ],
        judge=[CLOSED, EARLY],
        session=SYSTEM3,
    )
    assert ended_well(ended)
    assert len(ended.held) == 1
    assert ended.result["result"] == "Reflection stored in Hindsight."
    assert (claude.project / "memory.txt").read_text() == "reflection\n"
    assert ended.asked("judge") == 2


async def test_a_session_that_has_closed_properly_ends_without_a_word(claude):
    ended = await claude([says("Reflection stored in Hindsight.")], judge=[CLOSED], session=SYSTEM3)
    assert ended_well(ended)
    assert (ended.held, ended.messages) == ([], "")
    assert ended.asked("judge") == 1


async def test_other_sessions_are_not_judged(claude):
    ended = await claude([says("I am done.")], judge=[EARLY])
    assert ended_well(ended)
    assert (ended.held, ended.messages, ended.asked("judge")) == ([], "", 0)
    assert not (claude.project / ".claude").exists()


async def test_the_mechanical_steps_answer_first_and_no_model_is_asked_meanwhile(claude):
    ended = await claude(
        [
            *writes(todo("callers", "pending"), then="I am done."),
            *writes(todo("callers", "completed"), then="Now I am done."),
        ],
        judge=[judged(False)],
        session=SYSTEM3,
        CLAUDE_CODE_ENABLE_TASKS="0",
    )
    assert ended_well(ended)
    (reason,) = ended.held
    assert "callers" in reason
    assert ended.asked("judge") == 1


async def test_a_refused_connection_lets_the_session_end_and_is_told(claude):
    ended = await claude(
        [says("I am done.")], judge=[{"misbehave": {"connection": "refused"}}], session=SYSTEM3
    )
    assert ended_well(ended)
    assert ended.held == []
    assert "the System 3 judge was skipped: it gave no answer" in ended.messages
    assert "refused" in ended.messages
    assert any("skipped" in entry.get("note", "") for entry in claude.diagnostics())


async def test_without_a_key_the_judge_is_skipped_and_that_is_told(claude):
    ended = await claude(
        [says("I am done.")],
        judge=[EARLY],
        session=SYSTEM3,
        without=["ANTHROPIC_API_KEY"],
        ANTHROPIC_AUTH_TOKEN="rehearsal",  # noqa: S106  none
    )
    assert ended_well(ended)
    assert (ended.held, ended.asked("judge")) == ([], 0)
    assert "the System 3 judge was skipped: ANTHROPIC_API_KEY is not set" in ended.messages


async def test_without_a_transcript_the_judge_is_skipped_and_that_is_told(claude):
    flags = ["--no-session-persistence"]
    ended = await claude([says("I am done.")], judge=[EARLY], session=SYSTEM3, flags=flags)
    assert ended_well(ended)
    assert (ended.held, ended.asked("judge")) == ([], 0)
    assert "the System 3 judge was skipped: there is no transcript to read" in ended.messages


@pytest.mark.late
async def test_a_judge_that_does_not_answer_in_time_lets_the_session_end_and_is_told(claude):  # takes its 8 s
    hang = {"misbehave": {"hang": "after-headers"}}
    ended = await claude([says("I am done.")], judge=[hang], session=SYSTEM3)
    assert ended_well(ended)
    assert ended.held == []
    assert "the System 3 judge was skipped: it gave no answer (timed out" in ended.messages
    assert ended.asked("judge") == 1


async def test_a_promise_made_in_the_agents_shell_is_that_sessions_own(claude):
    sq = f'"{sys.executable}" -I -m orchestrator.cli promise'
    ended = await claude(
        [
            calls("Bash", command=f"{sq} create 'Notes are there' --file notes.txt"),
            says("All done."),
            calls(
                "Bash",
                command=f"echo x > notes.txt; {sq} verify $({sq} list | grep -o 'p-[0-9a-f]*' | head -1)",
            ),
            says("The notes are there."),
        ],
        without=("CLAUDE_SESSION_ID",),
    )
    assert ended_well(ended)
    assert len(ended.held) == 1
    assert "Notes are there" in ended.held[0]


async def test_an_input_that_is_no_stop_lets_the_session_end_and_the_diagnostics_say_so(claude):
    ended = await claude([says("I am done.")], session=SYSTEM3, hook=f"echo {{ | {HOOK}")
    assert ended_well(ended)
    assert ended.held == []
    (entry,) = claude.diagnostics()
    assert (entry["operation"], entry["success"]) == ("stop_input", False)


# --- stubborn sessions ------------------------------------------------------------------------------------


def todo(text, status):
    return {"content": text, "status": status, "activeForm": text}


def writes(*todos, then):
    return does("TodoWrite", then, todos=list(todos))


OPEN = todo("callers", "pending")
STARTED = writes(OPEN, then="All is done.")
TASKS = [FIND_TASKS, calls("TaskCreate", subject="Wire the callers", description="All of them.")]
TURNS = range(MOST_BLOCKS + 3)


def each(make):
    return [reply for number in TURNS for reply in make(number)]


def talks(*texts):
    return [says(texts[number % len(texts)]) for number in TURNS]


ORCHESTRATOR = {"session": "orch-7"}
JUDGED = {"session": SYSTEM3, "judge": [EARLY]}
TODOS = {"CLAUDE_CODE_ENABLE_TASKS": "0"}
# What each says and does, how it is started, and what of it has to be in the reason.
STUBBORN = {
    "always claims to be done": ([*STARTED, *each(lambda n: [says(f"All is done, see {n}.")])], TODOS, "callers"),
    "repeats itself": ([*STARTED, *talks("All is done.")], TODOS, "callers"),
    "only talks": ([*STARTED, *talks("Let me explain.", "I see.", "Thank you.")], TODOS, "callers"),
    "makes one tool call between stops": (
        [*STARTED, *each(lambda n: does("Bash", f"Done {n}.", command=f"echo {n}"))],
        TODOS,
        "callers",
    ),
    "empties its list": ([*STARTED, *writes(then="Done."), *talks("Done.", "Really.")], TODOS, "callers"),
    "empties its list again and again": ([*STARTED, *each(lambda n: writes(then=f"Done {n}."))], TODOS, "callers"),
    "puts other items on its list": (
        [*STARTED, *each(lambda n: writes(todo(f"other {n}", "completed"), then=f"Done {n}."))],
        TODOS,
        "callers",
    ),
    "adds an item each time": (
        [*STARTED, *each(lambda n: writes(OPEN, todo(f"more {n}", "pending"), then=f"Done {n}."))],
        TODOS,
        "callers",
    ),
    "says that it is blocked": ([*STARTED, *talks("I am blocked: there is no network.")], TODOS, "callers"),
    "alternates two excuses": ([*STARTED, *talks("The disk is full.", "The tests are slow.")], TODOS, "callers"),
    "asks rhetorical questions": (
        [*STARTED, *talks("Why go on? All is done.", "Is it not finished? It is.")],
        TODOS,
        "callers",
    ),
    "offers more instead": ([*STARTED, *talks("All is done. Anything else?")], TODOS, "callers"),
    "deletes its task": (
        [*TASKS, says("Done."), *does("TaskUpdate", "Done.", taskId="1", status="deleted"), *talks("Done!")],
        {},
        "Wire the callers",
    ),
    "begins its task each time": (
        [*TASKS, *each(lambda n: does("TaskUpdate", f"Done {n}.", taskId="1", status="in_progress"))],
        {},
        "Wire the callers",
    ),
    "keeps a promise open": (talks("The invoices are described."), {"promise": "--file=invoices.md"}, "invoices"),
    "ticks off a promise in its file": (
        each(lambda n: does("Bash", f"Kept {n}.", command="sed -i s/open/kept/ .claude/completion-state/promises/*")),
        {"promise": "--command=false"},
        "promise",
    ),
    "leaves its tracker unsynced": (
        each(lambda n: does("Bash", f"Synced {n}.", command=f"echo {n} >> .beads/issues.jsonl")),
        {"git": True},
        "Commit `.beads`",
    ),
    "leaves a failed step as it is": (
        [*does("Bash", "That is done.", command="echo no rule; exit 2"), *talks("It is fine.", "Done.")],
        ORCHESTRATOR,
        "no rule",
    ),
    "fails again each time": (
        each(lambda n: does("Bash", f"Done {n}.", command=f"echo no rule {n}; exit 2")),
        ORCHESTRATOR,
        "no rule",
    ),
    "is never at its end for the judge": (talks("I am done.", "All is closed."), JUDGED, "orch-7 is still active"),
    "works a little for the judge": (
        each(lambda n: does("Bash", f"Done {n}.", command=f"echo {n}")),
        JUDGED,
        "orch-7 is still active",
    ),
}  # fmt: skip
SAMPLE = [
    "makes one tool call between stops",
    "is never at its end for the judge",
]


@pytest.mark.late
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in SAMPLE else pytest.mark.slow) for name in STUBBORN]
)
async def test_a_stubborn_session_is_held_and_ends_within_the_counter_with_the_reason_shown(
    claude, claude_in_git, name
):
    replies, how, words = STUBBORN[name]
    how = dict(how)
    here = claude_in_git if how.pop("git", False) else claude
    if here is claude_in_git:
        (here.project / ".beads").mkdir()
    if criterion := how.pop("promise", ""):
        how["session"] = "s-1"
        make = ["promise", "create", "Invoices are described.", criterion, "--session", "s-1"]
        command = [sys.executable, "-I", "-m", "orchestrator.cli", *make]
        subprocess.run(command, cwd=here.project, check=True, capture_output=True)
    ended = await here(replies, **how)
    assert ended_well(ended)
    assert 2 <= len(ended.held) <= MOST_BLOCKS
    assert all(words in reason for reason in ended.held), ended.held
    assert "The session stops although it is not done: it was held 7 times." in ended.messages
    assert words in ended.messages
    assert "consecutive" not in json.dumps(ended.lines)  # Claude Code's own cap was not needed
