"""Considerations as data: the questions of power steering about a session, and their kinds."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """The effect of an unmet consideration: a blocker holds the session, a warning is only reported."""

    BLOCKER = "blocker"
    WARNING = "warning"


class PromptKind(StrEnum):
    """The prompt for the judge, one of five."""

    TODOS = "todos"
    PHILOSOPHY = "philosophy"
    TESTING = "testing"
    WORKFLOW = "workflow"
    GENERIC = "generic"


class SessionType(StrEnum):
    """The subject of a session."""

    DEVELOPMENT = "development"
    INVESTIGATION = "investigation"
    MAINTENANCE = "maintenance"
    OPERATIONS = "operations"
    SIMPLE = "simple"
    INFORMATIONAL = "informational"


@dataclass(frozen=True, slots=True, kw_only=True)
class Consideration:
    """One yes/no question about a session. Yes is satisfied. Without `types` it is for sessions of any type.

    `rule` names its fallback, by default its own id. `guidance` says what to do if it is not met.
    """

    id: str
    question: str
    category: str = "general"
    kind: PromptKind = PromptKind.GENERIC
    severity: Severity = Severity.WARNING
    types: tuple[SessionType, ...] = ()
    description: str = ""
    guidance: str = ""
    rule: str = ""
    enabled: bool = True

    def is_for(self, kind: SessionType) -> bool:
        """Whether it is asked in a session of this type."""
        return self.enabled and (not self.types or kind in self.types)
