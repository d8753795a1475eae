"""Examines sessions and keeps the answers in plain form, for `bench` to count.

Run as a program it examines the transcripts that a file names, with the rules that its interpreter imports.
They may be from an earlier commit than the program (`at_commit`).
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

import anyio
import msgspec

from agents.transcript.facts.session import facts_of
from agents.transcript.read import read_transcript
from orchestrator.gates.power_steering.considerations import Consideration
from orchestrator.gates.power_steering.evidence import Evidence
from orchestrator.gates.power_steering.examination import Judge
from orchestrator.gates.power_steering.examine import examine, waiting_for
from orchestrator.gates.power_steering.loading import load_considerations
from orchestrator.gates.power_steering.rules import RULES
from state.settings.presets import models

_NOT_CHECKED = "not checked"
_MODEL = "haiku"  # never asked, but a judge needs a model


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer on one consideration. `source` is judge, rule or not checked."""

    consideration_id: str
    satisfied: bool
    source: str
    reason: str
    evidence: str

    @property
    def decided(self) -> bool:
        """Whether the judge or a rule answered."""
        return self.source != _NOT_CHECKED


class Observed(msgspec.Struct, frozen=True, kw_only=True):
    """One examined session. `waits`: why the gate would not judge it, so that it may stop."""

    session_type: str
    waits: str
    allows: bool
    answers: tuple[Answer, ...]
    seconds: float
    cost_usd: float

    @property
    def blocks(self) -> bool:
        """Whether the gate would hold the session."""
        return not self.waits and not self.allows


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A session to examine. `only`: the considerations to ask. None: all."""

    transcript: str
    only: tuple[str, ...] | None = None


async def observe(transcript: Path, considerations: Sequence[Consideration], judge: Judge) -> Observed:
    """Examine one session.

    Raises:
        TranscriptError: the transcript cannot be read.
    """
    began = monotonic()
    read = read_transcript(transcript)
    evidence = Evidence(transcript=read, facts=facts_of(read))
    found = await examine(evidence, considerations, judge, RULES)
    return Observed(
        session_type=str(found.session_type),
        waits=waiting_for(evidence),
        allows=found.decision.allows,
        answers=tuple(
            Answer(
                consideration_id=one.consideration_id,
                satisfied=one.satisfied,
                source=str(one.source),
                reason=one.reason,
                evidence=one.evidence,
            )
            for one in found.results
        ),
        seconds=monotonic() - began,
        cost_usd=found.cost_usd,
    )


async def _observe_alone(tasks: Sequence[Task]) -> list[Observed]:
    considerations = load_considerations(None).considerations
    judge = Judge(model=models()[_MODEL], ask=None)
    return [
        await observe(
            Path(task.transcript),
            [one for one in considerations if task.only is None or one.id in task.only],
            judge,
        )
        for task in tasks
    ]


def main() -> None:
    """Read tasks from a JSON file and write the observations as JSON."""
    tasks = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=list[Task])
    sys.stdout.buffer.write(msgspec.json.encode(anyio.run(_observe_alone, tasks)))


if __name__ == "__main__":
    main()
