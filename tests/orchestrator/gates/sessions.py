"""Live sessions in short: steps of (tool, input, output), in turns that prompts open."""

import json
from collections.abc import Iterable

from agents.transcript.read import transcript_of
from agents.transcript.records import Transcript
from orchestrator.gates.power_steering.facts import SessionEvidence
from orchestrator.gates.power_steering.session_facts import facts_of
from state.records.calls import Message, MessageKind

PROJECT = "/project"
Step = tuple[str, dict, str]


def session(
    *parts: Step | str, prompt: str = "Add the discount.", final: str = "The discount is there."
) -> Transcript:
    """A session of steps; a text among them is a further prompt of the user. An output `!…` is an error."""
    messages: list[Message] = []
    for part in parts:
        if isinstance(part, str):
            messages.append(Message(kind=MessageKind.PROMPT, text=part))
        else:
            messages += _called(*part)
    messages.append(Message(kind=MessageKind.TEXT, text=final))
    return transcript_of(messages, prompt=prompt, cwd=PROJECT)


def evidence(*parts: Step | str, **words: str) -> SessionEvidence:
    """What rules see of it."""
    transcript = session(*parts, **words)
    return SessionEvidence(transcript=transcript, facts=facts_of(transcript))


def _called(tool: str, given: dict, output: str) -> Iterable[Message]:
    yield Message(kind=MessageKind.TOOL_CALL, text=json.dumps(given), tool=tool)
    yield Message(
        kind=MessageKind.TOOL_RESULT, text=output.removeprefix("!"), is_error=output.startswith("!")
    )


def write(path: str = "/project/shop/price.py", content: str = "RATE = 10\n") -> Step:
    return "Write", {"file_path": path, "content": content}, f"File created successfully at: {path}"


def edit(path: str, old: str, new: str) -> Step:
    return (
        "Edit",
        {"file_path": path, "old_string": old, "new_string": new},
        f"The file {path} has been updated.",
    )


def ran(command: str, output: str = "") -> Step:
    return "Bash", {"command": command}, output


def read(path: str, text: str = "x") -> Step:
    return "Read", {"file_path": path}, f"     1→{text}"


def todos(**items: str) -> Step:
    listed = [{"content": name, "status": status, "activeForm": name} for name, status in items.items()]
    return "TodoWrite", {"todos": listed}, "Todos have been modified successfully."


PASSING = ran("pytest -q", "4 passed in 0.02s")
FAILING = ran("pytest -q", "!Exit code 1\nFAILED tests/test_price.py::test_rate\n1 failed, 3 passed in 0.02s")
