"""The mechanical steps of the stop gate: todos, beads, orchestrators' failures, what is ready to be done."""

import json
import os
from pathlib import Path

import pytest
from language.tables import table

from orchestrator.gates.stop_gate.steps import available_work, beads, orchestrator, todos
from orchestrator.gates.stop_gate.stop import ReadSession, Stop, facts_of

CLAUDE = "3b0f6c1e-1111-4222-8333-444455556666"


class Written:
    """A transcript written line by line, in Claude Code's format."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._count = 0
        self.user("Do it.")

    def user(self, text, **more):
        return self._line("user", text, **more)

    def feedback(self, text="Stop hook feedback:\ngo on"):
        return self._line("user", text, isMeta=True)

    def says(self, text):
        return self._line("assistant", [{"type": "text", "text": text}])

    def calls(self, tool, given, output="done", *, error=False, **data):
        id_ = f"toolu_{self._count}"
        self._line("assistant", [{"type": "tool_use", "id": id_, "name": tool, "input": given}])
        result = {"type": "tool_result", "tool_use_id": id_, "content": output, "is_error": error}
        return self._line("user", [result], toolUseResult=data)

    def todos(self, **items):
        listed = [{"content": name, "status": status, "activeForm": name} for name, status in items.items()]
        return self.calls("TodoWrite", {"todos": listed}, "Todos have been modified successfully")

    def _line(self, role, content, **more):
        self._count += 1
        entry = {"type": role, "uuid": f"u{self._count}", "sessionId": CLAUDE, "cwd": "/p", **more}
        with self.file.open("a") as file:
            file.write(
                json.dumps({**entry, "message": {"role": role, "content": content}}, separators=(",", ":"))
                + "\n"
            )
        return self


@pytest.fixture
def session(tmp_path):
    return Written(tmp_path / "session.jsonl")


def stop(session, project=None, session_id="s", **more):
    return Stop(
        session_id=session_id,
        claude_session=CLAUDE,
        project=project or session.file.parent,
        session=ReadSession(facts_of, session.file, str(more.get("last_assistant_message", ""))),
        transcript_path=session.file,
        environ=dict(os.environ),
        **more,
    )


# --- todos ------------------------------------------------------------------------------------------------


def test_an_open_todo_holds_the_session_and_is_named(session):
    session.todos(parser="completed", callers="pending").says("All done.")
    result = todos.check(stop(session))
    assert result.blocks
    assert "callers" in result.reason
    assert "parser" not in result.reason


def test_closed_ones_do_not_and_are_not_looked_at_closely(session):
    session.todos(parser="completed", callers="completed").says("All done.")
    assert not todos.applies(stop(session))
    assert not todos.check(stop(session)).blocks


def test_tasks_are_followed_by_their_updates(session):
    session.calls(
        "TaskCreate",
        {"subject": "A", "description": "a"},
        "Task #1 created successfully: A",
        task={"id": "1"},
    )
    assert todos.applies(stop(session))
    assert todos.check(stop(session)).blocks
    session.calls("TaskUpdate", {"taskId": "1", "status": "completed"}, "Updated task #1 status")
    assert not todos.applies(stop(session))
    assert not todos.check(stop(session)).blocks


def test_task_files_count(session, home):
    folder = home / ".claude" / "tasks" / CLAUDE
    folder.mkdir(parents=True)
    (folder / "1.json").write_text(json.dumps({"id": "1", "subject": "Wire it", "status": "in_progress"}))
    assert todos.applies(stop(session))
    assert "Wire it" in todos.check(stop(session)).reason
    (folder / "1.json").write_text(json.dumps({"id": "1", "subject": "Wire it", "status": "completed"}))
    assert not todos.applies(stop(session))


def test_taking_an_item_off_the_list_after_the_gate_held_it_does_not_pass(session):
    session.todos(parser="completed", callers="pending").says("Done.").feedback().todos(
        parser="completed"
    ).says("Done.")
    assert todos.applies(stop(session))
    assert "callers (taken off the list, not done)" in todos.check(stop(session)).reason
    session.todos(parser="completed", callers="completed").says("Done.")
    assert not todos.check(stop(session)).blocks


def test_what_the_user_took_back_may_go(session):
    session.todos(parser="completed", callers="pending").says("Done.").feedback()
    session.user("Forget the callers.").todos(parser="completed").says("Done.")
    assert not todos.check(stop(session)).blocks


def test_a_session_that_asks_its_user_or_plans_is_not_held(session):
    session.todos(callers="pending").says("Which of the two callers is the public one?")
    assert not todos.check(stop(session)).blocks
    assert not todos.check(stop(session, permission_mode="plan")).blocks
    session.says("The rest is done. Anything else?")
    assert todos.check(stop(session)).blocks


# --- the user's word ---------------------------------------------------------------------------------------

PHASES = {"loader": "completed", "callers": "pending", "cleanup": "pending"}


@pytest.mark.parametrize(
    "word", ["Stop here for today.", "Warte, bis ich es gesehen habe.", "Arrête-toi là.", "先停一下"]
)
def test_a_pause_that_the_user_wants_goes_over_the_list(session, word):
    session.todos(**PHASES).says("One is done.").user(word).says("Understood.")
    assert not todos.check(stop(session)).blocks


def test_a_pause_after_an_item_counts_once_an_item_is_done(session):
    session.user("Do the loader, then stop and wait for me.")
    session.todos(**dict.fromkeys(PHASES, "pending")).says("I begin.")
    assert todos.check(stop(session)).blocks
    session.todos(**PHASES).says("The loader is done.")
    assert not todos.check(stop(session)).blocks


def test_a_question_after_the_list_that_is_answered_in_text_goes_over_it(session):
    session.todos(**PHASES).user("[Request interrupted by user]").user("What does tomllib do with dates?")
    session.calls("Read", {"file_path": "/p/a.py"}).says("It returns datetime objects.")
    assert not todos.check(stop(session)).blocks


@pytest.mark.parametrize(
    "word",
    [
        "Go on.",
        "Don't stop before all is done.",
        "Weiter, bitte.",
        "继续",
        "Do the callers.",
        "Yes",
        "Never pause in between.",
    ],
)
def test_who_is_to_go_on_is_held(session, word):
    session.todos(**PHASES).says("One is done.").user(word).says("All right.")
    assert todos.check(stop(session)).blocks


@pytest.mark.parametrize("kind", ["go_on", "other"])
def test_in_many_languages_who_asks_to_go_on_is_held_and_nobody_else(tmp_path, kind):
    rest = {"Phase 2: move the callers over": "pending", "Phase 3: remove the old loader": "pending"}
    wrong = []
    for number, (word, said) in enumerate(table(__file__, kind)):
        session = Written(tmp_path / f"{number}.jsonl")
        for first in ("in_progress", "completed"):
            session.todos(**{"Phase 1: write the loader": first, **rest})
        session.says("Phase 1 is done.").user(word).says(said)
        wrong += [word] if todos.check(stop(session)).blocks is not (kind == "go_on") else []
    assert wrong == []


def test_an_answer_beside_a_change_or_an_announcement_does_not_go_over_the_list(session):
    session.todos(**PHASES).user("Is the loader typed?").says("Yes. Next I'll move the callers.")
    assert todos.check(stop(session)).blocks
    session.user("Which names has it?").calls("Write", {"file_path": "/p/a.py", "content": "x"}).says("Two.")
    assert todos.check(stop(session)).blocks


# --- beads ------------------------------------------------------------------------------------------------


@pytest.fixture
def tracker(repository, shell):
    folder = repository / ".beads"
    folder.mkdir()
    (folder / "issues.jsonl").write_text(json.dumps({"id": "p-1", "title": "First", "status": "open"}) + "\n")
    shell(repository, "git", "add", ".beads")
    shell(repository, "git", "commit", "-qm", "beads")
    return folder


@pytest.mark.parametrize(
    "command", ["bd close p-1", "cd /p && bd create 'A bug' -p 1", "echo {} >> .beads/issues.jsonl"]
)
def test_changes_of_a_session_in_the_tracker_hold_it_until_git_has_seen_them(
    session, tracker, repository, command
):
    session.calls("Bash", {"command": command}, stdout="")
    assert beads.applies(stop(session, repository))
    assert not beads.check(stop(session, repository)).blocks
    (tracker / "issues.jsonl").write_text("{}\n")
    result = beads.check(stop(session, repository))
    assert result.blocks
    assert "Commit `.beads`." in result.reason


@pytest.mark.parametrize("command", ["bd ready", "bd show p-1 --json", "pytest -q"])
def test_changes_that_a_session_did_not_make_in_the_tracker_do_not_hold_it(
    session, tracker, repository, command
):
    (tracker / "issues.jsonl").write_text("{}\n")
    session.calls("Bash", {"command": command}, stdout="")
    assert not beads.check(stop(session, repository)).blocks


@pytest.mark.parametrize(
    ("has", "says", "not_said"),
    [("dolt/", "bd dolt push", "bd sync"), ("beads.db", "bd sync", "bd dolt"), ("", "", "bd ")],
)
def test_the_commands_named_are_those_of_the_trackers_version(
    session, tracker, repository, has, says, not_said
):
    if has.endswith("/"):
        (tracker / has).mkdir()
    elif has:
        (tracker / has).write_text("")
    session.calls("Edit", {"file_path": str(tracker / "issues.jsonl"), "old_string": "a", "new_string": "b"})
    (tracker / "issues.jsonl").write_text("{}\n")
    reason = beads.check(stop(session, repository)).reason
    assert says in reason
    assert not_said not in reason


def test_other_changes_and_a_tracker_outside_git_hold_nobody(session, tracker, repository, tmp_path):
    (repository / "a.py").write_text("x = 1\n")
    assert not beads.check(stop(session, repository)).blocks
    (tmp_path / ".beads").mkdir()
    assert not beads.check(stop(session, tmp_path)).blocks
    assert not beads.applies(stop(session, tmp_path / "nowhere"))


def test_work_that_waits_for_nothing_is_told_by_its_priority_and_old_ones_do_not_matter(
    session, tracker, repository
):
    rows = [
        {"id": "p-1", "title": "No-code checkout", "status": "open", "priority": 1},
        {"id": "p-2", "title": "Second", "status": "open", "priority": 0,
         "dependencies": [{"issue_id": "p-2", "depends_on_id": "p-1", "type": "blocks"}]},
        {"id": "p-3", "title": "Old", "status": "closed"},
        {"id": "p-4", "title": "Third", "status": "open", "priority": 2,
         "dependencies": [{"issue_id": "p-4", "depends_on_id": "p-3", "type": "blocks"}]},
    ]  # fmt: skip
    (tracker / "issues.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"half')
    result = available_work.check(stop(session, repository))
    assert result.note == "ready to be done: p-1 No-code checkout; p-4 Third"
    assert not result.blocks


# --- orchestrators ----------------------------------------------------------------------------------------


def test_a_failed_worker_that_nobody_handled_holds_an_orchestrator(session):
    session.calls("Agent", {"description": "build", "prompt": "x"}, "the worker crashed", error=True).says(
        "Done."
    )
    result = orchestrator.check(stop(session, session_id="orch-7"))
    assert result.blocks
    assert "the worker crashed" in result.reason
    session.calls("Agent", {"description": "build again", "prompt": "x"}, "built").says("Done.")
    assert not orchestrator.check(stop(session, session_id="orch-7")).blocks


def test_an_error_as_the_last_step_holds_it_and_one_that_was_handled_does_not(session):
    session.calls("Bash", {"command": "make"}, "Exit code 2\nno rule", error=True).says("Done.")
    assert "no rule" in orchestrator.check(stop(session, session_id="orch-7")).reason
    session.calls("TaskList", {}, "none").says("Done, really.")
    assert orchestrator.check(stop(session, session_id="orch-7")).blocks
    session.calls("Bash", {"command": "make all"}, "built").says("Done.")
    assert not orchestrator.check(stop(session, session_id="orch-7")).blocks


def test_errors_of_an_earlier_goal_and_refusals_are_nothing_to_handle(session):
    session.calls("Bash", {"command": "make"}, "Exit code 2", error=True).says("It fails.")
    session.user("Leave it.").says("All right.")
    assert not orchestrator.check(stop(session, session_id="orch-7")).blocks
    session.calls(
        "Bash", {"command": "rm x"}, "The user doesn't want to proceed with this tool use.", error=True
    )
    assert not orchestrator.check(stop(session, session_id="orch-7")).blocks


@pytest.mark.parametrize(
    ("id_", "applies"), [("orch-1", True), ("orchid-1", False), ("", False), ("system3-1", False)]
)
def test_only_orchestrators_are_asked(session, id_, applies):
    assert orchestrator.applies(stop(session, session_id=id_)) is applies
