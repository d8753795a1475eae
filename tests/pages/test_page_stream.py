"""The stream of the page, as bytes: whole at first, then the changed regions alone, never faster than a page needs."""

import re
import socket
import time
from contextlib import contextmanager

import pytest
from dash_served import request, signed_in
from language.large_runs import RUN_ID
from pages_of_runs import REGIONS, RUN

from state.journal import events as e
from state.journal.store import Journal


class Stream:
    """The events of a stream, one after the other."""

    def __init__(self, line):
        self.line, self.raw, self.rest = line, b"", b""

    def next(self, kind="regions"):
        while True:
            event, sign, rest = self.rest.partition(b"\n\n")
            if sign:
                self.rest = rest
                fields = {"data": ""}
                for row in event.decode().splitlines():
                    name, _, value = row.partition(": ")
                    fields[name] = fields.get(name, "") + value if name == "data" else value
                if fields.get("event") == kind:
                    return fields
                continue
            data = self.line.recv(65536)
            assert data, "the stream ended"
            self.raw += data
            self.take_chunks()

    def take_chunks(self):
        """Move whole chunks of HTTP to the text of the stream."""
        while (found := re.match(rb"([0-9a-f]+)\r\n", self.raw)) and (
            len(self.raw) >= (end := found.end() + int(found[1], 16)) + 2
        ):
            self.rest += self.raw[found.end() : end]
            self.raw = self.raw[end + 2 :]


@contextmanager
def stream_of(dash, cookie, path=f"{RUN}/stream", *more):
    with socket.create_connection(("127.0.0.1", dash.port), timeout=30) as line:
        line.sendall(request(dash, path, cookie=cookie, more=more))
        head = b""
        while b"\r\n\r\n" not in head:
            head += line.recv(1)
        assert b" 200 " in head
        assert b"text/event-stream" in head
        yield Stream(line)


def regions_in(event):
    return re.findall(r'<section id="(r-[\w-]+)"', event["data"])


@pytest.mark.parametrize("more", [(), ("Last-Event-ID: 5",), ("Last-Event-ID: 999999",)])
def test_the_first_event_is_the_whole_page_whatever_the_client_saw_before(dash, more):
    with stream_of(dash, signed_in(dash), f"{RUN}/stream", *more) as stream:
        sign = stream.next("sign")
        assert abs(int(sign["data"]) / 1000 - time.time()) < 60
        first = stream.next()
        assert regions_in(first) == list(REGIONS)
        assert int(first["id"]) > 300
        assert int(first["retry"]) > 0


def test_later_events_hold_the_regions_whose_bytes_changed_and_the_place_in_the_journal(dash, state):
    with stream_of(dash, signed_in(dash)) as stream, Journal(state / "runs" / RUN_ID) as journal:
        stream.next()
        [stored] = journal.append(e.TaskStuck(task_id="invoice", reason="no"))
        changed, newest = set(), 0
        while newest < stored.seq:
            event = stream.next()
            changed |= set(regions_in(event))
            newest = int(event["id"])
        assert {"r-needs", "r-tasks", "r-feed"} <= changed
        assert "r-criteria" not in changed


def test_a_storm_of_events_is_sent_a_few_times_a_second(dash, state):
    with stream_of(dash, signed_in(dash)) as stream, Journal(state / "runs" / RUN_ID) as journal:
        stream.next()
        begun, sent = time.monotonic(), 0
        for number in range(300):
            [stored] = journal.append(e.TaskStuck(task_id="invoice", reason=f"reason {number}"))
        while int(stream.next()["id"]) < stored.seq:
            sent += 1
        assert sent <= (time.monotonic() - begun) * 5 + 2


def test_clients_of_one_page_are_sent_the_same_bytes(dash, state):
    cookie = signed_in(dash)
    with stream_of(dash, cookie) as one, stream_of(dash, cookie) as other:
        assert one.next()["data"] == other.next()["data"]
        with Journal(state / "runs" / RUN_ID) as journal:
            [stored] = journal.append(e.TaskStuck(task_id="invoice", reason="no"))
        ends = []
        for stream in (one, other):
            event = {"id": "0"}
            while int(event["id"]) < stored.seq:
                event = stream.next()
            ends.append(event["data"])
        assert ends[0] == ends[1]


def test_a_task_and_the_decisions_have_streams_of_their_own(dash):
    cookie = signed_in(dash)
    with stream_of(dash, cookie, f"{RUN}/stream?page=task&task=mail&attempt=0") as stream:
        assert regions_in(stream.next()) == ["r-head", "r-task", "r-attempt"]
    with stream_of(dash, cookie, f"{RUN}/stream?page=decisions") as stream:
        assert regions_in(stream.next()) == ["r-head", "r-spec_questions", "r-decisions", "r-unchecked"]
    with stream_of(dash, cookie, "/stream") as stream:
        assert regions_in(stream.next()) == ["r-runs"]
