"""The conclusions on a run as records: its headline, findings, and places to look at."""

from dataclasses import KW_ONLY, dataclass
from enum import IntEnum, StrEnum

from orchestrator.views.descriptions.description import Tone
from state.outcome import Outcome
from state.records.reviews import Finding

UNVERIFIED = "[unverified] "  # before the title of a pull request
RUNS_LATER = "runs later"  # the kind of points for which a pull request asks for changes


class CheckState(StrEnum):
    """The conclusion of a check in a CI, as GitHub spells it. `PENDING` while the run goes on."""

    SUCCESS = "success"
    FAILURE = "failure"
    NEUTRAL = "neutral"
    ACTION_REQUIRED = "action_required"
    CANCELLED = "cancelled"
    PENDING = "pending"


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """The headline of one run.

    `word` is its state, `sentence` the meaning, `why` sq's cause if it is not complete. `exit_code` is None
    as long as there is no outcome. `title_prefix` goes before the title of a pull request, which is a draft
    if `draft`. `proven`: it is complete, no rehearsal, and each criterion is proven.
    """

    word: str
    sentence: str
    why: str = ""
    outcome: Outcome | None = None
    exit_code: int | None = None
    tone: Tone = Tone.WARN
    check: CheckState = CheckState.FAILURE
    title_prefix: str = UNVERIFIED
    draft: bool = True
    rehearsal: bool = False
    proven: bool = False

    def title(self, subject: str) -> str:
        """Return the title of a pull request about `subject`."""
        if not self.draft:
            return subject
        return f"{self.title_prefix}{subject} ({self.word.lower()})"


class Urgency(IntEnum):
    """The order of points: a decision of the user's first, then gaps in the proof, then things to know."""

    DECIDE = 1
    UNPROVEN = 2
    KNOW = 3


@dataclass(frozen=True, slots=True)
class Point:
    """One thing to look at. `what` is sq's sentence, `words` an agent's, `seq` the place in the journal.

    `kind` is equal for points of the same sort, so that a view can count them.
    """

    urgency: Urgency
    kind: str
    what: str
    _: KW_ONLY
    words: str = ""
    task_id: str = ""
    seq: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRow:
    """A finding with its task ("" for the whole) and the event that holds its newest state."""

    task_id: str
    finding: Finding
    seq: int
