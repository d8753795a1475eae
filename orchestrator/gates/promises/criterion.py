"""A part of a promise, and how it is checked. Text is never evidence."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath

from state.errors import UsageError

DEADLINE_S = 60.0  # for a command without its own
MOST_DEADLINE_S = 3600.0
MOST_TEXT = 2000  # characters of a promise, a criterion, a command


class CriterionCheck(StrEnum):
    """How a criterion is checked: a command exits with 0, a file exists, or there is a new commit."""

    COMMAND = "command"
    FILE = "file"
    COMMIT = "commit"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromiseCriterion:
    """`target` is the command for `sh -c`, the path below the project, or words of the commit's message."""

    text: str
    kind: CriterionCheck
    target: str
    deadline_s: float = DEADLINE_S

    def refuse_unusable(self) -> None:
        """Raise `UsageError` if the criterion could never be checked."""
        if len(self.text) > MOST_TEXT or len(self.target) > MOST_TEXT or "\0" in self.target:
            raise UsageError(f"a criterion has at most {MOST_TEXT} characters and no NUL: {self.text[:60]!r}")
        if self.kind is CriterionCheck.COMMAND and not self.target.strip():
            raise UsageError(f"criterion {self.text!r} has an empty command")
        if self.kind is CriterionCheck.FILE and not is_plain_path(self.target):
            raise UsageError(
                f"{self.target!r} is no path inside the project: write it from its top, without `..`"
            )
        if not 0 < self.deadline_s <= MOST_DEADLINE_S:
            raise UsageError(
                f"a deadline is above 0 and at most {MOST_DEADLINE_S:g} s, not {self.deadline_s}"
            )


def is_plain_path(path: str) -> bool:
    """Whether a path is relative and without `..`, so that it stays below its folder (apart from links)."""
    parts = PurePosixPath(path).parts
    return bool(parts) and "\0" not in path and not path.startswith("/") and ".." not in parts
