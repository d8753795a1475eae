"""A pytest plugin: a test that leaves a database connection, a file, a socket or a process open fails and names it.

What a fixture of a wider scope than one test opens as it is made may stay.
"""

import gc
import sqlite3
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

_NO_FILES = ("/dev/", "anon_inode:", "/proc/", "/memfd:")  # terminals, event loops
_connections: list[tuple[str, sqlite3.Connection]] = []  # as they were opened, until they are looked at
_asked_for = threading.local()
_may_stay: set[str] = set()


def _note_connections(event: str, arguments: tuple[object, ...]) -> None:
    """Keep each connection: one that nothing refers to would be closed by chance."""
    if event == "sqlite3.connect":
        _asked_for.database = str(arguments[0])
    elif event == "sqlite3.connect/handle":
        _connections.append((_asked_for.database, arguments[0]))  # type: ignore[arg-type]


sys.addaudithook(_note_connections)


@dataclass(frozen=True)
class Open:
    """What this process holds open, each with words that name it."""

    things: dict[str, str]


def open_now() -> Open:
    """Connections, file descriptors and child processes of this process."""
    return Open({**_connections_open(), **_files_open(), **_processes()})


def left_open(before: Open) -> list[str]:
    """The names of what is open now and was not before, after what only the collector frees is gone."""
    if not _new(before):
        return []
    gc.collect()
    return _new(before)


def _new(before: Open) -> list[str]:
    known = before.things.keys() | _may_stay
    return sorted(words for key, words in open_now().things.items() if key not in known)


def _connections_open() -> dict[str, str]:
    _connections[:] = [(database, one) for database, one in _connections if _is_open(one)]
    return {f"connection {id(one)}": f"connection to {database}" for database, one in _connections}


def _is_open(connection: sqlite3.Connection) -> bool:
    try:
        connection.total_changes  # noqa: B018  it asks whether the connection is closed, in any thread
    except sqlite3.ProgrammingError:
        return False
    return True


def _files_open() -> dict[str, str]:
    found = {}
    for entry in Path("/proc/self/fd").iterdir():
        try:
            target = str(entry.readlink())
        except OSError:  # the one that lists them
            continue
        if not target.startswith(_NO_FILES):
            found[f"fd {entry.name} {target}"] = f"file {target}" if target.startswith("/") else target
    return found


def _processes() -> dict[str, str]:
    found = {}
    for thread in Path("/proc/self/task").iterdir():
        try:
            children = (thread / "children").read_text().split()
        except OSError:  # the thread has ended meanwhile
            continue
        for pid in children:
            found[f"process {pid}"] = f"process {pid}: {_command_of(pid)}"
    return found


def _command_of(pid: str) -> str:
    try:
        words = Path("/proc", pid, "cmdline").read_bytes().split(b"\0")
    except OSError:
        return "?"
    return b" ".join(words).decode(errors="replace").strip() or "ended, and never waited for"


_BEFORE = pytest.StashKey[Open]()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """Note what is open before any fixture of the test is made."""
    item.stash[_BEFORE] = open_now()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
    """Let what a fixture of a wider scope opens stay."""
    if fixturedef.scope == "function":
        return (yield)
    before = open_now()
    made = yield
    _may_stay.update(open_now().things.keys() - before.things.keys())
    return made


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Fail if something is open after all fixtures of the test are gone."""
    result = yield
    if left := left_open(item.stash[_BEFORE]):
        pytest.fail("the test leaves open:\n" + "\n".join(f"  {one}" for one in left), pytrace=False)
    return result
