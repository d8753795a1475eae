"""The project's own commands on the merged work, each beside its result at the base."""

from dataclasses import dataclass

from state.journal.view import RunView
from state.records.commands import UNCOUNTED, BaselineCheck, CommandRun, TestState
from state.words import names_of


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandFacts:
    """One command on the merged tree, and at the base. A number of None is unknown, which is not zero.

    `exit_code` is None if the command did not start or was ended. `names_…` are tests by name, and empty if
    the runner names none: those that failed, those that are new, those of the base that are gone, and those
    that passed at the base and are skipped now.
    """

    command: str
    passed: bool
    exit_code: int | None
    seconds: float
    passed_tests: int | None
    failed: int | None
    skipped: int | None
    names_failed: tuple[str, ...]
    base_passed: int | None
    base_failed: int | None
    base_skipped: int | None
    names_new: tuple[str, ...]
    names_gone: tuple[str, ...]
    names_skipped_now: tuple[str, ...]

    @property
    def more_tests(self) -> int | None:
        """How many more tests there are than at the base, skipped ones included, or None if it is unknown."""
        now = _total(self.passed_tests, self.failed, self.skipped)
        before = _total(self.base_passed, self.base_failed, self.base_skipped)
        return None if now is None or before is None else now - before

    @property
    def more_skipped(self) -> int | None:
        """How many more tests are skipped than at the base, or None if it is unknown."""
        if self.skipped is None or self.base_skipped is None:
            return None
        return self.skipped - self.base_skipped


def facts_of(view: RunView) -> tuple[CommandFacts, ...]:
    """Return the newest verification of the merged tree, a row a command. Empty: there is none."""
    verified = view.evidence.verifications.get(view.whole.tree) if view.whole.tree else None
    if verified is None:
        return ()
    return tuple(_facts(done, view.baseline.checks.get(done.command)) for done in verified.runs)


def verified_seq(view: RunView) -> int:
    """Return the place of the verification of the merged tree, or 0."""
    return view.evidence.verified_at.get(view.whole.tree, 0) if view.whole.tree else 0


def _facts(done: CommandRun, base: BaselineCheck | None) -> CommandFacts:
    before = base.run.count if base else UNCOUNTED
    now = done.count
    both = bool(now.tests and before.tests)
    return CommandFacts(
        command=done.command,
        passed=done.passed,
        exit_code=done.exit_code,
        seconds=done.seconds,
        passed_tests=0 if now.says_none else now.passed,
        failed=0 if now.says_none else now.failed,
        skipped=0 if now.says_none else now.skipped,
        names_failed=tuple(names_of(now, TestState.FAILED)),
        base_passed=0 if before.says_none else before.passed,
        base_failed=0 if before.says_none else before.failed,
        base_skipped=0 if before.says_none else before.skipped,
        names_new=tuple(name for name in now.tests if name not in before.tests) if both else (),
        names_gone=tuple(name for name in before.tests if name not in now.tests) if both else (),
        names_skipped_now=tuple(
            name for name in names_of(now, TestState.SKIPPED) if before.tests.get(name) is TestState.PASSED
        ),
    )


def _total(*numbers: int | None) -> int | None:
    """Return the sum. An unknown number of skipped tests counts as none if the others are known."""
    passed, failed, skipped = numbers
    return None if passed is None and failed is None else (passed or 0) + (failed or 0) + (skipped or 0)
