"""Why a work is not accepted, and what speaks for it: the answers of checks, for any work and any reader.

Checks make them, `orchestrator.checks.outcome` decides with them, and views read them. (house.md)
"""

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum

STRENGTH = "strength"  # the check whose proof has changes that tests notice, and those that they miss
_LINE = re.compile(r":\d+$")


class Weight(StrEnum):
    """What an objection does to a claim and to the end.

    `blocks`: the claim does not stand. `once`: its builder hears it once, then it counts as `unverified`.
    `unverified`: the end is not code 0. `unknown`: it could not be asked, which costs code 0 where the check
    is needed. `note`: it changes nothing.
    """

    BLOCKS = "blocks"
    ONCE = "once"
    UNVERIFIED = "unverified"
    UNKNOWN = "unknown"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Objection:
    """One reason why a work may not be accepted.

    `subject` is the test, function, file, command or criterion that it is about, and `place` its file, with
    a line if one is known. `parts` are more names that it is about, such as functions that were emptied.
    `words` say what was asked and seen, `remedy` what to do. `evidence` is an excerpt: output, code, a
    result. `against`: it speaks against the work, else something is missing that would speak for it.
    `because` is the line of the spec or the plan by which it is expected.
    """

    check: str
    weight: Weight
    subject: str
    words: str
    remedy: str = ""
    place: str = ""
    evidence: str = ""
    parts: tuple[str, ...] = ()
    against: bool = False
    because: str = ""

    @property
    def sentence(self) -> str:
        """The words with the subject, if they do not name it."""
        return self.words if self.subject in self.words else f"{self.words}: {self.subject}"

    @property
    def id(self) -> str:
        """A name that is the same for the same objection on every tree."""
        about = "\n".join((self.check, self.subject, _LINE.sub("", self.place)))
        return hashlib.sha256(about.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What speaks for a work: a command, or tests of it, that were seen to need it.

    `tests` are those that fail without `functions`, each of them as `file: name`, or else on the code before.
    `small` are changes in the work that the command notices, `missed` those that it does not.
    `by_exit_code`: the tests of the command cannot be counted, and its exit code tells the work from one
    without it. `partly`: only a part of the work was asked about, so other tests may need the rest.
    """

    check: str
    command: str
    tests: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    small: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    by_exit_code: bool = False
    partly: bool = False

    @property
    def needs_work(self) -> bool:
        """Whether it was seen that a test, or the command as a whole, needs the work."""
        return bool(self.tests or self.functions or self.small)

    @property
    def strength(self) -> float:
        """The share of small changes that tests notice, 1 if none was tried."""
        tried = len(self.small) + len(self.missed)
        return len(self.small) / tried if tried else 1
