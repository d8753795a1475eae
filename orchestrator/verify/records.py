"""A request to ask about a work, and the work once it was asked about."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.verify.judgement import Judgement
from orchestrator.verify.ranges import Work
from state.journal.view import RunView
from state.settings.sources import Flags


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request for `sq verify`. `flags` are settings: key → (the flag's name, its value).

    `given` are commits by name, `request` is a pull request by number, `worktree` the files as they are.
    `spec` is a path at the base. `base_setup`: nothing that the work changed sets up a place. `anew`: a
    result that is kept does not stand for an answer.
    """

    folder: Path
    given: str = ""
    worktree: bool = False
    request: int = 0
    spec: str = ""
    base_setup: bool = False
    flags: Flags = field(default_factory=dict)
    accepted: Mapping[str, str] = field(default_factory=dict)
    anew: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A work that was tried: the run's folder, its view at the end, and what the checks say."""

    work: Work
    folder: Path
    view: RunView
    judgement: Judgement
    is_kept: bool = False
