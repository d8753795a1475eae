"""The event store: what is appended is there, all or none, for any number of readers and one writer."""

import gc
import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import aclosing, closing, contextmanager
from pathlib import Path

import anyio
import pytest
from language.beginnings import call_started

from state.errors import JournalError, RunActiveError, UsageError
from state.journal.codec import NO_MESSAGE
from state.journal.events import MessageReceived, RunInterrupted, RunResumed, SignalReceived
from state.journal.store import Journal, JournalReader, is_active, journal_file
from state.records.calls import Message, MessageKind
from state.redaction.redactor import redactor

WRITER = Path(__file__).with_name("journal_writer.py")
LOOKING = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from state.journal.store import is_active
print("looking", flush=True)
while True:
    is_active(Path(sys.argv[1]))
"""
FIRST, SECOND = RunInterrupted(by="SIGTERM"), RunResumed()


@pytest.fixture
def folder(tmp_path):
    run = tmp_path / "20260131-142501-k3f9"
    run.mkdir()
    return run


class Other:
    """Another process that writes a run."""

    def __init__(self, process):
        self.process = process

    def append(self, text):
        self.process.stdin.write(f"{text}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


@contextmanager
def other_writer(folder):
    command = [sys.executable, str(WRITER), str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            yield Other(process)
        finally:
            process.kill()


def events_in(folder):
    with JournalReader(folder) as reader:
        return [stored.event for stored in reader.read()]


async def first_of(events, number):
    """The first `number` events of something that is followed."""
    found = []
    with anyio.fail_after(10):
        async with aclosing(events) as following:
            async for stored in following:
                found.append(stored.event)
                if len(found) == number:
                    return found
    return found


def test_events_are_read_as_they_were_appended_numbered_from_one_without_gaps(folder):
    with Journal(folder) as journal:
        journal.append(FIRST)
        journal.append(SECOND, FIRST)
        read = journal.read()
    assert [(stored.seq, stored.event) for stored in read] == [(1, FIRST), (2, SECOND), (3, FIRST)]
    assert all(stored.at.utcoffset().total_seconds() == 0 for stored in read)


def test_what_append_returns_is_what_is_read(folder):
    with Journal(folder) as journal:
        assert [*journal.append(FIRST, SECOND), *journal.append(FIRST)] == journal.read()


def test_only_the_events_behind_a_place_are_read_from_there(folder):
    with Journal(folder) as journal:
        journal.append(FIRST, SECOND, FIRST)
        assert [stored.seq for stored in journal.read(after=2)] == [3]
        assert journal.read(after=3) == []


def test_a_reader_can_leave_out_messages_or_other_kinds_and_stop_after_some(folder):
    said = MessageReceived(call_id="c", message=Message(kind=MessageKind.TEXT, text="a"))
    with Journal(folder) as journal:
        journal.append(FIRST, SECOND, FIRST, SECOND, said)
    with JournalReader(folder) as reader:
        assert [one.seq for one in reader.read(messages=False)] == [1, 2, 3, 4]
        assert [one.seq for one in reader.read(after=1, only=[RunResumed])] == [2, 4]
        assert [one.seq for one in reader.read(after=1, limit=2)] == [2, 3]


def test_views_pass_over_messages_by_an_index_also_in_a_journal_that_had_none(folder):
    with Journal(folder) as journal:
        journal.append(FIRST)
    with closing(sqlite3.connect(journal_file(folder))) as db:
        db.execute("DROP INDEX other_than_messages")
    with JournalReader(folder) as reader:
        assert [one.seq for one in reader.read_for_views()] == [1]
    Journal(folder).close()
    select = f"SELECT body FROM events WHERE seq > ? AND {NO_MESSAGE}"  # noqa: S608  no value is put in
    with closing(sqlite3.connect(journal_file(folder))) as db:
        (plan,) = db.execute(f"EXPLAIN QUERY PLAN {select}", (0,)).fetchall()
    assert "INDEX other_than_messages" in plan[-1]


async def test_a_reader_notices_when_another_process_has_written(folder):
    with other_writer(folder) as other, JournalReader(folder) as reader:
        count = reader.change_count()
        with anyio.move_on_after(0.2) as scope:
            await reader.changed_since(count)
        assert scope.cancelled_caught
        other.append("one")
        with anyio.fail_after(5):
            await reader.changed_since(count)
        assert len(reader.read()) == 1


def test_reading_leaves_the_garbage_collector_as_it_was_also_where_the_journal_is_damaged(folder):
    with Journal(folder) as journal:
        journal.append(FIRST, SECOND)
        journal.read()
        assert gc.isenabled()
    db = sqlite3.connect(journal_file(folder))
    db.execute("UPDATE events SET body = '{'")
    db.commit()
    db.close()
    with JournalReader(folder) as reader, pytest.raises(JournalError):
        reader.read()
    assert gc.isenabled()


def test_a_journal_opened_again_goes_on_where_it_ended(folder):
    with Journal(folder) as journal:
        journal.append(FIRST)
    with Journal(folder) as journal:
        assert journal.append(SECOND)[0].seq == 2
    assert events_in(folder) == [FIRST, SECOND]


def refusing(body):
    if "poison" in body:
        raise ValueError(body)
    return body


def test_of_several_events_one_that_cannot_be_stored_leaves_none_and_does_no_harm(folder):
    with Journal(folder, redact=refusing) as journal:
        journal.append(FIRST)
        with pytest.raises(ValueError, match="poison"):
            journal.append(SECOND, RunInterrupted(by="poison"))
        assert journal.append(SECOND)[0].seq == 2
    assert events_in(folder) == [FIRST, SECOND]


def test_a_full_disk_is_a_journal_error_and_nothing_was_stored(folder):
    big = RunInterrupted(by="x" * 4_000_000)
    with Journal(folder) as journal:
        journal.append(FIRST)
        with _size_limit(1_000_000), pytest.raises(JournalError, match="disk full"):
            journal.append(SECOND, big)
        assert [stored.event for stored in journal.read()] == [FIRST]
        assert journal.append(SECOND)[0].seq == 2
    assert events_in(folder) == [FIRST, SECOND]


@contextmanager
def _size_limit(size):
    """The kernel refuses to let a file of this process grow beyond `size`."""
    import resource

    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)


async def test_a_follower_in_the_same_process_sees_old_and_new_events_in_order(folder):
    with Journal(folder) as journal:
        journal.append(FIRST)
        found = []
        async with anyio.create_task_group() as tasks:

            async def follow():
                found.extend(await first_of(journal.follow(), 3))

            tasks.start_soon(follow)
            await anyio.lowlevel.checkpoint()
            journal.append(SECOND)
            await anyio.lowlevel.checkpoint()
            journal.append(FIRST)
    assert found == [FIRST, SECOND, FIRST]


async def test_a_reader_follows_what_another_process_writes(folder):
    with other_writer(folder) as other:
        other.append("one")
        with JournalReader(folder) as reader:
            found = []
            async with anyio.create_task_group() as tasks:

                async def follow():
                    found.extend(await first_of(reader.follow(), 3))

                tasks.start_soon(follow)
                other.append("two")
                await anyio.lowlevel.checkpoint()
                other.append("three")
    assert found == [RunInterrupted(by=text) for text in ("one", "two", "three")]


def test_an_appended_event_survives_kill_9_right_after_it(folder):
    with other_writer(folder) as other:
        for number in range(1, 6):
            assert other.append(f"event {number}") == number
        os.kill(other.process.pid, signal.SIGKILL)
        other.process.wait()
    assert [event.by for event in events_in(folder)] == [f"event {number}" for number in range(1, 6)]
    with Journal(folder) as journal:  # and the lock is free
        assert journal.append(FIRST)[0].seq == 6


def test_a_second_writer_is_refused_with_the_name_of_the_run(folder):
    with other_writer(folder):
        assert is_active(folder)
        with pytest.raises(RunActiveError, match=folder.name):
            Journal(folder)
    assert not is_active(folder)


def test_a_second_writer_in_the_same_process_is_refused_too(folder):
    with Journal(folder):
        assert is_active(folder)
        with pytest.raises(RunActiveError, match=folder.name):
            Journal(folder)
    assert not is_active(folder)


def test_readers_do_not_keep_a_writer_out(folder):
    with Journal(folder) as journal:
        journal.append(FIRST)
    with JournalReader(folder) as reader, Journal(folder) as journal:
        journal.append(SECOND)
        assert [stored.event for stored in reader.read()] == [FIRST, SECOND]


def test_a_folder_without_a_journal_is_a_usage_error_that_names_it(folder):
    with pytest.raises(UsageError, match=folder.name):
        JournalReader(folder)


def test_a_journal_whose_writer_has_not_made_the_table_yet_is_empty(folder):
    journal_file(folder).touch()
    assert events_in(folder) == []


def test_a_relative_run_folder_can_be_read(folder, monkeypatch):
    with Journal(folder) as journal:
        journal.append(FIRST)
    monkeypatch.chdir(folder.parent)
    assert events_in(Path(folder.name)) == [FIRST]


def test_a_path_with_spaces_and_signs_can_be_read(tmp_path):
    folder = tmp_path / "a run? #1 100% 'ä'"
    folder.mkdir()
    with Journal(folder) as journal:
        journal.append(FIRST)
    assert events_in(folder) == [FIRST]


def test_a_file_that_is_no_journal_is_a_journal_error_and_leaves_the_run_free(folder):
    journal_file(folder).write_bytes(b"this is not a database, " * 200)
    with pytest.raises(JournalError, match="journal"):
        Journal(folder)
    assert not is_active(folder)
    with JournalReader(folder) as reader, pytest.raises(JournalError, match="journal"):
        reader.read()


def test_a_journal_damaged_in_the_middle_is_a_journal_error(folder):
    with Journal(folder) as journal:
        journal.append(*(RunInterrupted(by="x" * 1000) for _ in range(200)))
    file = journal_file(folder)
    content = bytearray(file.read_bytes())
    content[8192 : len(content) // 2] = b"\xaa" * (len(content) // 2 - 8192)
    file.write_bytes(content)
    with JournalReader(folder) as reader, pytest.raises(JournalError, match="journal"):
        reader.read()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("name", "TaskTeleported"),
        ("version", 99),
        ("body", "{"),
        ("body", b"\xff\xff"),
        ("body", None),
        ("at", "yesterday"),
    ],
)
def test_a_stored_row_that_cannot_be_read_is_a_journal_error(folder, column, value):
    with Journal(folder) as journal:
        journal.append(FIRST)
    db = sqlite3.connect(journal_file(folder))
    db.execute("PRAGMA writable_schema = 1")
    db.execute("UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '')")
    db.commit()
    db.close()
    db = sqlite3.connect(journal_file(folder))
    db.execute(f"UPDATE events SET {column} = ?", (value,))  # noqa: S608  a literal of this test
    db.commit()
    db.close()
    with JournalReader(folder) as reader, pytest.raises(JournalError):
        reader.read()


SECRETS = [
    "plain-secret-1234",
    'with "quotes" and \\backslashes\\',
    "two\nlines and a\ttab",
    "ünïcödé-пароль-秘密の鍵",
    "an-emoji-🔑-in-it",
    "</script>&amp;-secret",
    "control\x01character",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_never_reaches_the_file_however_it_has_to_be_quoted(folder, secret):
    redact = redactor({"SERVICE_TOKEN": secret})
    said = MessageReceived(call_id="c-1", message=Message(kind=MessageKind.TEXT, text=f"it is {secret}!"))
    payload = json.dumps({"summary": secret})
    with Journal(folder, redact=redact) as journal:
        journal.append(said, SignalReceived(call_id="c-1", name="task_complete", payload=payload))
        read = [stored.event for stored in journal.read()]
    assert read[0].message.text == "it is [redacted: SERVICE_TOKEN]!"
    assert json.loads(read[1].payload) == {"summary": "[redacted: SERVICE_TOKEN]"}
    for file in folder.iterdir():
        assert secret.encode() not in file.read_bytes()


@pytest.mark.parametrize(
    "secret", ["session_id", "call_id: ", '"call_id":', "12345678", "redacted:", "[redacted: DB_PASSWORD]"]
)
def test_a_secret_that_looks_like_a_part_of_the_record_leaves_it_readable(folder, secret):
    from state.journal.events import CallEnded
    from state.records.calls import CallEnd
    from state.roles import Role

    started = call_started("c-1", Role.DEVELOPER, prompt=f"The secret is {secret}.")
    ended = CallEnded(call_id="c-1", end=CallEnd.COMPLETED, seconds=1.12345678)
    with Journal(folder, redact=redactor({"DB_PASSWORD": secret})) as journal:
        told = journal.append(started, ended)
        assert [stored.event for stored in told] == [stored.event for stored in journal.read()]
        first, second = [stored.event for stored in journal.read()]
    assert first.role is Role.DEVELOPER
    assert first.prompt == "The secret is [redacted: DB_PASSWORD]."
    assert second == ended


def test_somebody_who_only_looks_whether_a_run_is_active_does_not_keep_its_writer_out(folder):
    looking = [sys.executable, "-c", LOOKING, str(folder)]
    with subprocess.Popen(looking, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"looking\n"
            for _ in range(40):
                Journal(folder).close()
        finally:
            process.kill()


def test_a_token_of_the_work_stays_in_a_prompt_and_is_taken_out_of_other_texts(folder):
    from state.journal.events import CallStarted
    from state.roles import Role

    token = f"glpa{'t-'}aB3dE5fG7hJ9kL1mN3pQ"
    started = CallStarted(
        call_id="c-1", role=Role.REVIEWER, task_id="t1", attempt=1, iteration=1, session_id="s", model="haiku",
        prompt=f"+{token} and a-known-secret-1",
    )  # fmt: skip
    said = MessageReceived(call_id="c-1", message=Message(kind=MessageKind.TEXT, text=f"it is {token}"))
    with Journal(folder, redact=redactor({"A_TOKEN": "a-known-secret-1"})) as journal:
        first, second = [stored.event for stored in journal.append(started, said)]
        assert journal.for_model("a-known-secret-1") == "[redacted: A_TOKEN]"
    assert first.prompt == f"+{token} and [redacted: A_TOKEN]"
    assert second.message.text == "it is [redacted: GitLab token]"


def test_the_newest_messages_of_one_call_are_read_in_order_and_no_others(folder):
    with Journal(folder) as journal:
        for number in range(6):
            text = Message(kind=MessageKind.TEXT, text=str(number))
            journal.append(MessageReceived(call_id=f"c{number % 2}", message=text), RunInterrupted(by="x"))
    with JournalReader(folder) as reader:
        newest = reader.messages("c1", after=0, until=99, newest=2)
        assert [one.event.message.text for one in newest] == ["3", "5"]
        assert [one.seq for one in reader.messages("c1", after=3, until=9, newest=99)] == [7]
        assert reader.messages("c2", after=0, until=99, newest=99) == []
