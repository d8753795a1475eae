"""The session of a stop, read from its transcript as far as a step needs it."""

import os.path
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from agents.transcript.read import Transcript, TranscriptError, read_transcript, with_last_message

if TYPE_CHECKING:
    from orchestrator.gates.power_steering.facts.facts import Facts

TAIL_BYTES = 20_000_000  # read of a transcript: a step has to be quick
RECENT_BYTES = 500_000  # enough to see how it ends, more if they hold nothing of the conversation


@dataclass(frozen=True)
class ReadSession:
    """The session in the transcript at `path`. `last_message` may be newer than the file."""

    path: Path | None = None
    last_message: str = ""

    @cached_property
    def transcript(self) -> Transcript | None:
        """The session, with the last message even if the file lacks it yet. None if it cannot be read."""
        return self.end_of_it(TAIL_BYTES)

    @cached_property
    def facts(self) -> "Facts":
        """The facts of the session. Empty without a transcript."""
        return _facts(self.transcript)

    @cached_property
    def recent(self) -> Transcript | None:
        """The session's end only, which is quick to read."""
        return self.end_of_it(RECENT_BYTES)

    @cached_property
    def recent_facts(self) -> "Facts":
        """The facts of the session's end only."""
        return _facts(self.recent)

    def end_of_it(self, tail_bytes: int) -> Transcript | None:
        """Return the session as the last `tail_bytes` show it, or None if it cannot be read."""
        if self.path is None or not os.path.isfile(self.path):  # noqa: PTH113  never raises, and refuses pipes
            return None
        try:
            read = read_transcript(self.path, tail_bytes=tail_bytes)
        except TranscriptError:
            return None
        return with_last_message(read, self.last_message)


def _facts(transcript: Transcript | None) -> "Facts":
    from orchestrator.gates.power_steering.facts.session import facts_of

    return facts_of(transcript or Transcript())
