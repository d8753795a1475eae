"""The stop gate with `gate.verify`: a session hears what `sq verify` says of its changes before it stops."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from language.stop_inputs import run_hook
from tests_of_verify import BASE, commits

MUL = "\n\ndef mul(a, b):\n    return a * b\n"
GOOD = {
    "calc.py": BASE["calc.py"] + MUL,
    "test_mul.py": "from calc import mul\n\n\ndef test_mul():\n    assert mul(2, 3) == 6\n    assert mul(4, 5) == 20\n",
}
HOLLOW = {**GOOD, "test_mul.py": "def test_mul():\n    assert True\n"}


@pytest.fixture
def project(repository: Path, shell: Callable[..., str]) -> Path:
    """A repository whose base was committed an hour before the session."""
    then = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_COMMITTER_DATE", then)
        commits(repository, shell, BASE)
    return repository


def stops(project: Path, **environ: str) -> dict[str, str]:
    """A session of some minutes wants to stop."""
    transcript = project.parent / "session.jsonl"
    began = (datetime.now(UTC) - timedelta(minutes=5)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    said = {"role": "user", "content": "Add mul."}
    line = {"type": "user", "uuid": "1", "sessionId": "s-1", "timestamp": began, "message": said}
    transcript.write_text(json.dumps(line, separators=(",", ":")) + "\n")
    given = {"session_id": "s-1", "transcript_path": str(transcript), "cwd": str(project), "prompt_id": "p-1"}
    return run_hook(given, timeout=110, **environ)


def write(project: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (project / name).write_text(text)


def test_a_session_is_held_while_no_test_needs_its_work_committed_or_not(
    project: Path, shell: Callable[..., str], home: Path
) -> None:
    config = home / ".config/sq/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[gate]\nverify = true\n")
    assert stops(project) == {}  # nothing was changed
    write(project, HOLLOW)
    held = stops(project)
    assert held["decision"] == "block"
    assert "no test fails without the work" in held["reason"]
    assert "Write one that calls the real code" in held["reason"]
    base = shell(project, "git", "rev-parse", "HEAD")
    assert f"sq verify {base} --worktree" in held["reason"]
    commits(project, shell, {}, "Hide it in a commit")
    assert stops(project)["decision"] == "block"
    write(project, GOOD)
    assert stops(project) == {}


@pytest.mark.late
@pytest.mark.parametrize(
    ("where", "text", "variable", "holds"),
    [
        ("sq.toml", "[gate]\nverify = true\n", None, True),
        ("sq.toml", "[gate]\nverify = false\n", None, False),
        ("sq.toml", "", "true", True),
        ("sq.toml", "[gate]\nverify = true\n", "false", False),
    ],
)
def test_it_is_off_until_a_setting_asks_for_it(
    where: str, text: str, variable: str | None, holds: bool, project: Path, shell: Callable[..., str]
) -> None:
    commits(project, shell, {where: text + 'effort = "low"\n' if not text else f'effort = "low"\n{text}'})
    write(project, HOLLOW)
    environ = {} if variable is None else {"SQ_GATE_VERIFY": variable}
    assert (stops(project, **environ).get("decision") == "block") is holds


@pytest.mark.late
def test_what_cannot_be_asked_lets_the_session_stop_and_says_so(
    project: Path, shell: Callable[..., str]
) -> None:
    write(project, {"sq.toml": "[gate]\nverify = true\nvreify = 1\n"})
    commits(project, shell, {}, "A setting that is none")
    said = stops(project)
    assert "decision" not in said
    assert "vreify" in said["systemMessage"]


@pytest.mark.late
def test_a_project_without_tests_holds_no_session(repository: Path, shell: Callable[..., str]) -> None:
    commits(repository, shell, {"sq.toml": "[gate]\nverify = true\n"})
    write(repository, {"work.py": "def one():\n    return 1\n"})
    said = stops(repository)
    assert set(said) == {"systemMessage"}
    assert "could not be shown to be right" in said["systemMessage"]
