"""A run with telemetry: Claude Code's own spans below the attempt, and no secret of the collector near an agent."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
import yaml
from language.collector import Collector, Got, collecting
from language.scripted import SPEC, Rehearse, call, completes, passes, says, whole_run, writes

from agents.gateway.scenario import load_scenario
from agents.gateway.server import serve_scenario
from orchestrator.telemetry.spans import spans_in
from state.ids import conversation_key, span_id
from state.journal.store import JournalReader
from state.outcome import Outcome
from state.paths import StateFolder
from state.settings.sources import user_file

KEY = f"sk-ant-a-key-that-no-agent-may-find-{os.getpid():010}"  # its own: others run beside this process
SECRET = "a-secret-of-the-collector-0123456789"
SHOWS = "env > environment.txt; echo 'A line.' > notes.txt"


async def run_with_key(repository: Path, tmp_path: Path, collector: Collector) -> str:
    """Run sq with an API key whose API is a script, and return its output."""
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text('[efforts.low]\npower_steering = "none"\n')
    (tmp_path / "spec.md").write_text(SPEC)
    builds = "Build one task"
    caller = [
        {**says(call("Bash", command=SHOWS)), "when": builds},
        {**completes(), "when": builds},
        {**passes(), "when": "# Review"},
    ]
    scenario = tmp_path / "model.yaml"
    scenario.write_text(yaml.safe_dump({"scenario": 1, "callers": {"any/any/1": caller}}))
    command = [sys.executable, "-P", "-m", "orchestrator.cli", "--spec", str(tmp_path / "spec.md"), "--plain"]
    command += ["--workflow", "direct", "--effort", "low", "--verify", "true"]
    environ = {
        **os.environ,
        "ANTHROPIC_API_KEY": KEY,
        "SQ_TELEMETRY_OTLP": collector.url,
        "SQ_TELEMETRY_HEADERS": "env:MY_COLLECTOR",
        "MY_COLLECTOR": f"authorization=Bearer%20{SECRET}",
        "OTEL_EXPORTER_OTLP_HEADERS": f"authorization=Bearer%20{SECRET}",
        "CLAUDE_CODE_ENABLE_TELEMETRY": "0",
        "OTEL_LOG_USER_PROMPTS": "1",
    }
    served = serve_scenario(load_scenario(scenario), run_id="r", ledger=tmp_path / "model.jsonl")
    with anyio.fail_after(100):
        async with served as model:
            environ["ANTHROPIC_BASE_URL"] = model.caller_url("any", "any", 1, {"workspace": "."})
            done = await anyio.run_process(
                command, cwd=repository, env=environ, check=False, stderr=subprocess.STDOUT
            )
            assert done.returncode == 0, (done.stdout.decode(), model.problems)
    return done.stdout.decode()


def above(span: Got, spans: list[Got]) -> list[str]:
    """The names of a span's parents, the nearest first."""
    by_id = {one.span_id: one for one in spans}
    names = []
    while span.parent_id in by_id:
        span = by_id[span.parent_id]
        names.append(span.name)
    return names


@pytest.mark.claude
@pytest.mark.late
async def test_the_spans_of_claude_code_are_children_of_the_attempt_and_no_agent_has_the_collectors_secret(
    repository: Path, tmp_path: Path
) -> None:
    async with collecting() as collector:
        output = await run_with_key(repository, tmp_path, collector)
    assert "did not reach the collector" not in output
    folder = StateFolder(repository / ".sq").find(None)
    with JournalReader(folder) as journal:
        events = journal.read()
    # sq's own spans, with the ids that the journal gives
    expected = {(span.span_id, span.parent_id) for span in spans_in(folder.name, events)}
    ours = {
        (span.span_id, span.parent_id) for span in collector.spans if span.resource["service.name"] == "sq"
    }
    assert ours == expected
    # Claude Code's
    (attempt,) = collector.named("invoke_agent worker")
    assert attempt.span_id == span_id(
        folder.name, *conversation_key("worker", attempt.attributes["sq.task.id"], 1)
    )
    interactions = collector.named("claude_code.interaction")
    (worker,) = [span for span in interactions if span.resource["sq.role"] == "worker"]
    assert worker.parent_id == attempt.span_id
    assert worker.trace_id == attempt.trace_id
    assert worker.resource["sq.run.id"] == folder.name
    assert above(worker, collector.spans) == ["invoke_agent worker", "task", "invoke_workflow sq"]
    (reviewer,) = [span for span in interactions if span.resource["sq.role"] == "reviewer"]
    assert above(reviewer, collector.spans)[0] == "invoke_agent reviewer"
    assert collector.named("claude_code.llm_request")
    assert "Create notes.txt" not in b"".join(collector.bodies).decode(
        "utf-8", "replace"
    )  # no words of prompts
    # the secret
    assert {headers["authorization"] for headers in collector.headers} == {f"Bearer {SECRET}"}
    variables = (repository / "environment.txt").read_text()
    assert "TRACEPARENT=00-" in variables
    for secret in (SECRET, KEY, "MY_COLLECTOR", "OTEL_LOG_USER_PROMPTS"):
        assert secret not in variables
    assert SECRET.encode() not in (folder / "journal.db").read_bytes() + (folder / "sq.log").read_bytes()
    assert SECRET not in output


@pytest.fixture
def black_hole() -> Iterator[socket.socket]:
    """A collector that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(1)
        yield server


@pytest.mark.late
def test_a_collector_that_never_answers_changes_nothing_of_a_run(
    rehearse: Rehearse, repository: Path, black_hole: socket.socket
) -> None:
    address = f"http://127.0.0.1:{black_hole.getsockname()[1]}"
    (repository / "sq.toml").write_text(f'[telemetry]\notlp = "{address}"\n')
    assert rehearse(whole_run(), verify=("true",)).outcome is Outcome.COMPLETE
    black_hole.accept()[0].close()  # it was tried
    black_hole.close()  # what waits for an answer still is cut off
    for thread in threading.enumerate():
        if thread.name == "sq telemetry":
            thread.join(10)
            assert not thread.is_alive()  # nothing is sent after the run's end


def test_without_an_address_nothing_of_telemetry_is_on(rehearse: Rehearse, repository: Path) -> None:
    shows = says(call("Bash", command="env > variables.txt"))
    callers = whole_run(worker=[shows, writes("notes.txt", "A line.\n"), completes()])
    assert rehearse(callers, verify=("true",)).outcome is Outcome.COMPLETE
    variables = (repository / "variables.txt").read_text()
    assert "OTEL_" not in variables
    assert "CLAUDE_CODE_ENABLE_TELEMETRY" not in variables
