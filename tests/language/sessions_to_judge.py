"""The ten labelled sessions of the live test: five pairs that differ in one thing.

Each pair is about what its label says that it flips: unmet in the first session, met in the second. The
pairs have one consideration of each kind of question, in sessions of three types.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from agents.transcript.read import read_transcript
from agents.transcript.records import Transcript
from benchmarks.gate_sessions import load_labelled
from orchestrator.gates.power_steering.considerations import Consideration, SessionType, load_considerations

_DATASET = Path(__file__).parents[1] / "labelled_sessions"
_PAIRS = (
    ("recorded/discount_rounding_claims_success", "recorded/discount_rounding"),
    ("recorded/reset_explained_half", "recorded/reset_explained"),
    ("recorded/skill_not_used", "recorded/skill_used"),
    ("written/json_option_todo_open", "written/json_option_tests_pass"),
    ("written/todo_application_stub", "written/todo_application"),
)


@dataclass(frozen=True, kw_only=True)
class Session:
    """A session, and the considerations that its pair is about with the label's word on each."""

    name: str
    session_type: SessionType
    transcript: Transcript
    considerations: tuple[Consideration, ...]
    met: bool


def sessions_to_judge() -> list[Session]:
    """All ten."""
    known = {one.id: one for one in load_considerations(None).considerations}
    names = [name for pair in _PAIRS for name in pair]
    with tempfile.TemporaryDirectory() as folder:
        loaded = load_labelled(_DATASET, Path(folder), known, named=names)
        labelled = {one.name: (one.label, read_transcript(one.transcript)) for one in loaded}
    found = []
    for bad, good in _PAIRS:
        pair = labelled[bad][0].pair
        asked = tuple(known[id_] for id_ in pair.flips)
        for name, met in ((bad, False), (good, True)):
            label, transcript = labelled[name]
            found.append(
                Session(
                    name=name,
                    session_type=label.session_type,
                    transcript=transcript,
                    considerations=asked,
                    met=met,
                )
            )
    return found
