"""The ten labelled sessions of the live test: five pairs that differ in one thing.

Each pair is about what its label says that it flips: unmet in the first session, met in the second. The
pairs have one consideration of each kind of question, in sessions of three types.
"""

from dataclasses import dataclass
from pathlib import Path

from agents.transcript.read import Transcript, read_transcript
from orchestrator.gates.power_steering.considerations import Consideration
from orchestrator.gates.power_steering.loading import load_considerations
from orchestrator.gates.power_steering.measured.labels import Labelled, load_labelled

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

    labelled: Labelled
    considerations: tuple[Consideration, ...]
    met: bool

    @property
    def transcript(self) -> Transcript:
        """What happened in it."""
        return read_transcript(self.labelled.transcript)


def sessions_to_judge() -> list[Session]:
    """All ten."""
    known = {one.id: one for one in load_considerations(None).considerations}
    labelled = {one.name: one for one in load_labelled(_DATASET, known)}
    found = []
    for bad, good in _PAIRS:
        asked = tuple(known[id_] for id_ in labelled[bad].label.pair.flips)
        found += [
            Session(labelled=labelled[bad], considerations=asked, met=False),
            Session(labelled=labelled[good], considerations=asked, met=True),
        ]
    return found
