"""What sq does outside with what a sandbox leaves: each act of `outside.yaml`, some in one run each kind."""

import shlex
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from hostile_runs import call, callers_of, make_repository, run_sq, says, signals, write

from state.safe_paths import remove_tree

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(600)]
ACTS: dict[str, dict[str, str]] = yaml.safe_load(Path(__file__).with_name("outside.yaml").read_text())
OUTSIDE = "kept-outside-8c1f5d"
AT_ONCE = 5  # acts of one run
LONGEST_S = 240.0


def batches() -> Iterator[tuple[str, list[str]]]:
    for kind, acts in ACTS.items():
        names = list(acts)
        size = 1 if kind == "refused" else AT_ONCE
        yield from ((kind, names[at : at + size]) for at in range(0, len(names), size))


@contextmanager
def server() -> Iterator[tuple[int, list[object]]]:
    reached: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept() -> None:
            while True:
                try:
                    client, at = listening.accept()
                except OSError:
                    return
                reached.append(at)
                client.close()

        threading.Thread(target=accept, daemon=True).start()
        yield listening.getsockname()[1], reached
        listening.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    ("kind", "names"), list(batches()), ids=lambda one: one if isinstance(one, str) else one[0]
)
def test_sq_is_neither_stopped_nor_used_by_what_a_sandbox_leaves(
    tmp_path: Path, home: Path, kind: str, names: list[str], record_property: Callable[[str, object], None]
) -> None:
    repository = make_repository(tmp_path / "project")
    secret, temporary = tmp_path / "outside" / "secret", tmp_path / "temporary"
    secret.parent.mkdir()
    temporary.mkdir()
    secret.write_text(OUTSIDE)
    record_property("outside_acts", len(names))
    try:
        with server() as (port, reached):
            marks = {name: tmp_path / "outside" / f"mark-{number}" for number, name in enumerate(names)}
            lines = [f"export SECRET={shlex.quote(str(secret))} PORT={port}"]
            for number, (name, mark) in enumerate(marks.items()):
                here = "." if kind == "root" else f"act-{number}"
                lines += [
                    f"export MARK={shlex.quote(str(mark))}; mkdir -p {here}",
                    f"( cd {here}\n{ACTS[kind][name]}\n)",
                ]
            work = [
                write("acts.sh", "\n".join(lines) + "\nexit 0\n"),
                says(call("Bash", command="sh acts.sh > acts.txt 2>&1; rm acts.sh; true", timeout=120_000)),
                write("notes.txt", "A line of text.\n"),
                *[signals("task_complete", summary="Done.", tests="All tests pass.")] * 4,
            ]
            began = time.monotonic()
            done = run_sq(
                tmp_path,
                callers_of(*work),
                home=home,
                sandbox="whole",
                verify=("true",),
                TMPDIR=str(temporary),
            )
            took = time.monotonic() - began
        output = done.stdout + done.stderr
        assert "error inside sq" not in output, output
        assert ("git cannot take these into a commit" in output) is (kind == "refused"), output
        # What takes too long to read makes the task fail. What git does not take, and a repository inside the
        # work, the Worker hears of at each claim.
        codes = {"refused": {3}, "sources": {0, 1, 5}}.get(kind, {0, 3, 5})
        assert done.returncode in codes, output
        assert took < LONGEST_S, "it hangs"
        assert [one for one in marks if marks[one].exists()] == []
        assert reached == []
        assert list(temporary.iterdir()) == [], "left behind"
        assert list(repository.glob(".sq/runs/*/sandboxes/*")) == [], "left behind"
        assert OUTSIDE not in output
        told = b"".join(
            one.read_bytes()
            for one in (repository / ".sq").rglob("*")
            if one.is_file() and not one.is_symlink()
        )
        assert OUTSIDE.encode() not in told
        grep = ["git", "-C", str(repository), "grep", "-q", OUTSIDE, "main"]
        assert subprocess.run(grep, check=False).returncode == 1
    finally:
        for folder in (home / ".local", temporary):
            assert remove_tree(folder) == ""
