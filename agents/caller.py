"""The sender of a request to a model, and the pass with which its session asks."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from state.roles import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The sender of a request: the path of a gateway's URL, and a label everywhere else."""

    role: Role
    task: str
    attempt: int
    values: Mapping[str, str] = field(default_factory=dict)


class CallerPass(Protocol):
    """What one session may use to ask its model while it lives, and what came of it.

    `lacking` names typed tools that its first request did not offer, `exhausted` says that its budget is used
    up. `resets_at` is when the API can be asked again, in seconds since 1970. `partial_calls` were cut, and
    count with the most that they can have cost.
    """

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables for the Claude Code process."""
        ...

    @property
    def spent_usd(self) -> float:
        """The cost of all its calls so far."""
        ...

    @property
    def lacking(self) -> str:
        """Tools that the first request lacks, or ""."""
        ...

    @property
    def exhausted(self) -> str:
        """Why no further call is passed on, or ""."""
        ...

    @property
    def resets_at(self) -> float | None:
        """When the API can be asked again, if its last answer named that."""
        ...

    @property
    def partial_calls(self) -> int:
        """How many answers were cut."""
        ...


Admit = Callable[[float | None], AbstractContextManager[CallerPass]]  # a session's cap in USD → its pass
