"""Facts of real sessions (`transcripts/`), and of calls as such sessions hold them."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from language.tables import rows, table

from agents.transcript.read import read_transcript, transcript_of
from orchestrator.gates.power_steering.facts import RunOutcome, is_question
from orchestrator.gates.power_steering.session_facts import facts_of, outcome_of, summary_of
from orchestrator.project.shell import simple_commands
from state.records.calls import Message, MessageKind

FOLDER = Path(__file__).parents[2] / "agents" / "transcripts"


def facts(name):
    return facts_of(read_transcript(FOLDER / f"{name}.jsonl"))


def did(*steps, final=""):
    """The facts of a live session of (tool, input, output) steps; an output `!…` is an error."""
    return facts_of(live(*steps, final=final))


def live(*steps, final=""):
    """Its transcript."""
    messages = []
    for tool, arguments, output in steps:
        text = json.dumps({"command": arguments} if isinstance(arguments, str) else arguments)
        messages.append(Message(kind=MessageKind.TOOL_CALL, text=text, tool=tool))
        if output is not None:
            told = Message(
                kind=MessageKind.TOOL_RESULT, text=output.removeprefix("!"), is_error=output.startswith("!")
            )
            messages.append(told)
    messages.append(Message(kind=MessageKind.TEXT, text=final))
    return transcript_of(messages, prompt="Do it.", cwd="/project")


def write(path, content="x = 1\n"):
    return ("Write", {"file_path": path, "content": content}, f"File created successfully at: {path}")


def ran(command, output=""):
    return ("Bash", command, output)


# --- edits ------------------------------------------------------------------------------------------------


def test_edits_have_the_lines_that_were_added():
    edits = facts("work").edits
    assert [(edit.path, edit.added) for edit in edits] == [
        ("/project/counter.py", ("def count(n):", "    return n + 1")),
        ("/project/counter.py", ("    # one more",)),
    ]


def test_lines_that_stay_are_not_added():
    edit = {"file_path": "a.py", "old_string": "a\n# TODO\nb", "new_string": "a\n# TODO\nc"}
    several = {"file_path": "a.py", "edits": [{"old_string": "", "new_string": "d"}, {"old_string": "e"}]}
    notebook = {"notebook_path": "n.ipynb", "new_source": "f"}
    found = did(
        ("Edit", edit, "done"), ("MultiEdit", several, "done"), ("NotebookEdit", notebook, "done")
    ).edits
    assert [(each.path, each.added) for each in found] == [
        ("a.py", ("c",)),
        ("a.py", ("d",)),
        ("n.ipynb", ("f",)),
    ]


def test_an_edit_that_failed_was_refused_or_has_no_result_is_none():
    given_ = {"file_path": "a.py", "content": "x"}
    assert (
        did(
            ("Write", given_, "!<tool_use_error>no"), ("Write", given_, "!no disk"), ("Write", given_, None)
        ).edits
        == ()
    )


def test_files_written_by_the_shell_are_edits():
    found = did(
        ran("cat > src/a.py <<'EOF'\n# TODO: it's \"later\"\nEOF\npytest > out.json", "ok"),
        ran("sed -i 's/a/b/' src/b.py c.py && echo done | tee notes.txt"),
        ran("echo x > /tmp/scratch.py 2>/dev/null"),
        ran("echo '> not.py' \"-> b.py\" >&2"),
    ).edits
    assert [(each.path, each.added, each.is_code) for each in found] == [
        ("src/a.py", ('# TODO: it\'s "later"',), True), ("out.json", (), False),
        ("src/b.py", (), True), ("c.py", (), True), ("notes.txt", (), False), ("/tmp/scratch.py", (), False),
    ]  # fmt: skip


@pytest.mark.parametrize(*rows(__file__, "paths"))
def test_files_written_by_a_script_in_the_command_are_edits(line, paths):
    assert [edit.path for edit in did(ran(line, "ok")).edits] == paths


@pytest.mark.parametrize(
    ("path", "code", "document"),
    [
        ("src/a.py", True, False), ("/project/pyproject.toml", True, False), ("README.md", False, True),
        ("docs/conf.py", False, True), ("LICENSE", False, True), ("/home/user/.claude/plans/x.py", False, False),
        ("/project2/a.py", False, False),
    ],
)  # fmt: skip
def test_documents_and_files_elsewhere_are_not_the_projects_code(path, code, document):
    edit = did(write(path)).edits[0]
    assert (edit.is_code, edit.is_document) == (code, document)


def test_what_a_subagent_did_counts():
    found = facts("subagent")
    assert [(edit.path, edit.order) for edit in found.edits] == [("/project/made.py", 2)]
    assert [(each.line, each.exit_code, each.order) for each in found.commands] == [("python3 made.py", 0, 3)]


# --- commands and tests -----------------------------------------------------------------------------------


def test_commands_have_their_exit_codes():
    codes = [(each.line.split()[0], each.exit_code) for each in facts("work").commands]
    assert codes == [("python3", 3), ("cd", 0), ("echo", 0), ("false", 0), ("git", 0), ("seq", 0)]


def test_a_session_that_really_ran_its_tests_is_tested():
    found = facts("tests")
    assert [run.tests for run in found.test_runs] == ["failed", "failed", "passed", "passed"]
    assert found.last_code_edit.added == ("    assert 1 == 1",)


def test_passing_tests_in_tool_results_are_seen():
    found = did(
        write("a.py"),
        ran("pytest -q 2>&1 | tail -5", "............\n12 passed in 0.40s"),
    )
    assert [run.tests for run in found.test_runs] == [RunOutcome.PASSED]


def test_words_about_tests_are_no_tests():
    found = did(
        write("a.py"), ran("echo '12 passed in 0.1s'", "12 passed in 0.1s"), final="All 12 tests pass."
    )
    assert found.test_runs == ()


def test_a_test_run_that_was_refused_is_none():
    refused = ("Bash", "pytest", "!PreToolUse:Bash hook error: not now")
    assert did(refused, ("Bash", "pytest", "!no, thank you")).commands == ()
    assert did(("Bash", "pytest", "![Tool call interrupted: x")).test_runs[0].tests is RunOutcome.UNKNOWN


@pytest.mark.parametrize("line", table(__file__, "lines"))
def test_test_runs_are_known_by_the_command_and_pass_by_its_exit_code(line):
    assert outcome_of(line, 0, "") is RunOutcome.PASSED


@pytest.mark.parametrize(
    "line",
    [
        "pip install pytest", "grep -rn pytest .", "npm install jest", "test -f a && echo ok", "make latest", "which tox",
        "git commit -m 'pytest && npm test'", "pytest --version", "pytest --collect-only", "cargo test --no-run",
        "cat > t.sh <<'EOF'\npytest\nEOF\nls", "# pytest\nls", "echo pytest", "go build ./...", "npm run build", "",
        "./gradlew compileTestKotlin", "cat contest.py", "ls tests", "vim test_a.py",
    ],
)  # fmt: skip
def test_other_commands_are_no_test_runs(line):
    assert outcome_of(line, 0, "done") is None


@pytest.mark.parametrize("line", ["echo '12 passed'", "cat build.log", "git log -1", "grep passed out.txt"])
def test_what_only_prints_words_ran_no_test_whatever_it_prints(line):
    assert outcome_of(line, 0, "12 passed in 0.1s") is None


def test_a_program_that_is_not_known_ran_tests_if_its_output_counts_them():
    crates = "test result: ok. 3 passed; 0 failed; 0 ignored\ntest result: ok. 0 passed; 0 failed; 0 ignored"
    assert outcome_of("just ci", 0, crates) is RunOutcome.PASSED
    assert outcome_of("just ci", 1, f"test result: FAILED. 1 passed; 1 failed\n{crates}") is RunOutcome.FAILED
    assert outcome_of("./everything", 0, "41 tests, 0 failures") is RunOutcome.PASSED
    assert (
        outcome_of("./everything | tail -3", 0, "3 test cases: 2 failed, 1 succeeded in 1.3 s")
        is RunOutcome.FAILED
    )


def test_what_stands_beside_a_known_test_command_is_not_taken_for_one():
    counted = "=== 3 passed in 0.10s ==="
    both = did(ran("./prepare && pytest", counted), ran("./prepare", "ready"))
    assert [run.line for run in both.test_runs] == ["./prepare && pytest"]
    own = did(ran("./everything", counted), ran("./everything", "ready"))
    assert len(own.test_runs) == 2


@pytest.mark.parametrize(*rows(__file__, "words_of_results"))  # fmt: skip
def test_where_the_exit_code_is_hidden_the_summary_counts(line, code, output, outcome):
    assert outcome_of(line, code, output) == outcome


@pytest.mark.parametrize(*rows(__file__, "outcomes"))
def test_summaries_are_read_by_their_lines_and_not_by_words(output, outcome):
    assert summary_of(output) == outcome


@given(st.text(alphabet=st.sampled_from("ab '\"\\$(){}|&;<>\n-#=!EOF"), max_size=60))
def test_no_command_line_is_too_odd(line):
    for simple in simple_commands(line):
        assert simple.words or simple.writes
    outcome_of(line, 0, line)


# --- todos, git, pull requests ----------------------------------------------------------------------------


def test_open_todos_are_those_of_the_last_call():
    assert [(todo.text, todo.status) for todo in facts("todos").todos] == [
        ("A", "completed"),
        ("B", "pending"),
    ]
    todos = [{"content": "A", "status": "completed"}]
    found = did(
        ("TodoWrite", {"todos": [{"content": "B", "status": "pending"}]}, "ok"),
        ("TodoWrite", {"todos": todos}, "ok"),
    )
    assert found.open_todos == ()


def test_tasks_are_followed_by_the_ids_in_their_results():
    found = facts("tasks")
    assert [(todo.id, todo.text, todo.status) for todo in found.todos] == [
        ("1", "Do A", "completed"), ("2", "Do B", "pending"), ("3", "Do C", "deleted"),
    ]  # fmt: skip
    assert [todo.text for todo in found.open_todos] == ["Do B"]


def test_a_todo_list_that_was_refused_is_none():
    todos = {"todos": [{"content": "A", "status": "pending"}]}
    assert did(("TodoWrite", todos, "!<tool_use_error>Error: No such tool available")).todos == ()


# --- what the user wants, and how it ends -----------------------------------------------------------------


def test_goals_are_the_users_own_prompts_and_no_feedback():
    assert [(goal.text, goal.turn) for goal in facts("hook_feedback").goals] == [("Do it.", 1)]
    assert [goal.text for goal in facts("typed_meanwhile").goals] == ["one", "also say hello"]


def test_the_final_message_is_what_stands_after_the_last_call():
    assert facts("work").final_text == "It counts. Shall I add tests?"
    assert facts("work").asks
    assert facts("background").final_text == "ended"
    assert facts("api_error").final_text == "ok"
    assert did(ran("ls"), final="").final_text == ""


@pytest.mark.parametrize(
    ("words", "asks"),
    [
        ("Done.", False), ("Shall I go on?", True), ("**Shall I?**", True), ("Which one?\n\n- red\n- blue", True),
        ("Is it done? Yes.", False), ("I did:\n- one\n- two", False), ("(No follow-up needed.)", False), ("", False),
        ("I need to know:\n1. Who?\n2. When?\n\nYou can answer by numbers.", True),
        ("I asked:\n1. Who?\n2. When?\n\nBoth are in the plan now.", False),
        ("Pick:\n1. Keep it?\n2. Drop it?", True), ("どうしますか？", True),  # noqa: RUF001
    ],
)  # fmt: skip
def test_a_question_is_known_by_how_the_message_ends(words, asks):
    assert is_question(words) is asks


def test_a_question_without_an_answer_is_pending():
    asked = {"questions": [{"question": "Which colour?", "header": "Colour", "options": []}]}
    assert did(("AskUserQuestion", asked, None)).pending_questions == ("Which colour?",)
    assert did(("AskUserQuestion", asked, None)).asks
    assert facts("question").pending_questions == ()


def test_background_work_runs_until_its_end_is_told():
    found = facts("background")
    assert [(task.what, task.status) for task in found.background] == [
        ("sleep 1; exit 3", "failed"), ("sleep 60", "killed"),
    ]  # fmt: skip
    assert found.running == ()
    started = "Command running in background with ID: b1. Output is being written to: /tmp/x"
    assert [task.what for task in did(ran("npm start", started)).running] == ["npm start"]
    assert did(ran("npm start", started), ("TaskStop", {"task_id": "b1"}, "stopped")).running == ()


def test_plan_mode_is_known_in_a_live_session():
    assert live(("EnterPlanMode", {}, "Entered plan mode.")).plan_mode
    assert not live(("EnterPlanMode", {}, "ok"), ("ExitPlanMode", {}, "approved")).plan_mode
    assert live(("EnterPlanMode", {}, "ok"), ("ExitPlanMode", {}, "!rejected")).plan_mode
