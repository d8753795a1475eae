"""A whole run in which agents of two families work: its reviewer is an ordinary program that speaks JSON lines."""

from pathlib import Path

from language.lines_agent import __file__ as lines_agent
from language.lines_agent import reviewing
from language.scripted import Rehearse, completes, whole_run, writes
from language.scripted_agent import played

from state.journal import events as e
from state.records.calls import CallEnd
from state.roles import Role

PROGRAM = Path(lines_agent).with_name("reviewer")


def test_a_program_that_speaks_json_lines_reviews_a_run_and_can_write_nothing(
    rehearse: Rehearse, repository: Path
) -> None:
    callers = whole_run(
        worker=[writes("notes.txt", "A line\n"), completes()],
        **{"worker/notes/2": [writes("notes.txt", "A line.\n"), completes()]},
    )
    asked = {name: replies for name, replies in callers.items() if not name.startswith("reviewer")}
    done = rehearse(asked, verify=("true",), choose=reviewing(PROGRAM, played))
    first, *others = [one for one in done.view.calls.values() if one.started.role is Role.REVIEWER]
    assert [one.description for one in done.of(e.ReviewRecorded)[0].issues] == ["A full stop is missing."]
    assert others
    assert {one.end.end for one in (first, *others) if one.end} == {CallEnd.COMPLETED}
    said = [one.message.text for one in done.of(e.MessageReceived) if one.call_id == first.started.call_id]
    assert any(text.startswith("I cannot write: ") for text in said)
    assert (repository / "notes.txt").read_text() == "A line.\n"
