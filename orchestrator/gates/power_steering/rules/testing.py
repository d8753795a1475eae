"""The rule on tests: they ran after the last change of the program's behaviour, and passed.

It is unmet if the newest test run failed, if a program was changed after it, or if none ran although the user
asked for it. It is not checked if only some tests ran, or if tests were changed after they had failed. The
user may ask not to run any, or to leave a failure. The words are data: `testing.yaml`.
"""

import re
from pathlib import PurePosixPath

import msgspec

from orchestrator.gates.power_steering.changes_made import is_script
from orchestrator.gates.power_steering.facts import (
    Command,
    Edit,
    RuleOutcome,
    RunOutcome,
    SessionEvidence,
    met,
    not_applicable,
    phrases,
    unmet,
)
from orchestrator.gates.power_steering.session_facts import is_test_run, may_run_tests
from orchestrator.project.files import belongs_to_tests
from orchestrator.project.shell import NOT_STARTED, simple_commands
from state.decoding import table_beside

_COMMENT = re.compile(r"#(?!\[|include|define|if|else|end|pragma)|//|/\*|\*(?:\s|/|$)|--\s|;;|%|\"\"\"|'''")
_SELECTS = re.compile(  # options that leave tests out, or name a part of the project
    r"(?:^|\s)(?:--deselect|--ignore(?:-glob)?|--skip|--exclude\S*|--invert|-DskipTests|-D\S*exclude\S*="
    r"|--testPathIgnorePatterns|-skip|-k\s*['\"]?\s*not\b|-m\s*['\"]?\s*not\b|-x\s+test\b|--grep-invert"
    r"|--tags?\s+['\"]?(?:not |~)|--no-\w*tests?\b|-p|--package|--filter|-F|-w|--workspace[= ]\w|-pl"
    r"|--projects?|--scope)(?=[\s='\"]|$|\b)"
)
_TAKES_TESTS = frozenset({"rm", "mv", "unlink", "git", "sed"})
# Programs whose own words do not say that tests ran, whatever they print.
_NO_TESTS = frozenset({"find", "fd", "python", "python3", "node", "ruby", "php", "perl"})
_STASHES = re.compile(
    r"\bgit stash\b(?! (?:pop|apply|list|drop|show)).*\bgit stash (?:pop|apply)\b", re.DOTALL
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_WORD = re.compile(r"[^\W\d_]{3,}")


class _Words(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of `testing.yaml`."""

    programs: str
    speaks_of_tests: tuple[str, ...]
    asks_for_tests: tuple[str, ...]
    forbids_tests: tuple[str, ...]
    red: tuple[str, ...]
    left: tuple[str, ...]
    ordinary: str


_WORDS = msgspec.convert(table_beside(__file__, "testing.yaml"), _Words)
_PROGRAMS, _ORDINARY = frozenset(_WORDS.programs.split()), frozenset(_WORDS.ordinary.split())
_SPEAKS_OF_TESTS, _ASKS_FOR_TESTS = phrases(*_WORDS.speaks_of_tests), phrases(*_WORDS.asks_for_tests)
_USER_FORBIDS_TESTS = phrases(*_WORDS.forbids_tests)
_IS_RED, _IS_LEFT = phrases(*_WORDS.red), phrases(*_WORDS.left)


def local_testing(evidence: SessionEvidence) -> RuleOutcome | None:
    """Check that the tests ran after the last change to code and passed, by exit code or summary."""
    facts = evidence.facts
    if facts.last_code_edit is None:
        return not_applicable("no code was changed")
    told = [run for run in facts.test_runs if _ran_to_its_end(run) and run.tests is not RunOutcome.UNKNOWN]
    if told and told[-1].tests is RunOutcome.FAILED:
        if _run_unread_since(evidence, told[-1]) or leaves_failing(evidence, told[-1].output):
            return None
        return unmet("the newest test run failed", _result_of(told[-1]))
    changed = _last_change_of_behaviour(evidence)
    since = [run for run in told if changed is None or run.order >= changed.order]
    if since:
        doubtful = any(run.tests is RunOutcome.FAILED or _SELECTS.search(run.line) for run in since)
        if doubtful or _tests_changed_after_failing(evidence):
            return None
        return met("the tests passed after the last change to code", _result_of(since[-1]))
    if changed is None or _may_have_been_tested(evidence, changed):
        return None
    if told:
        return unmet(f"{changed.path} was changed after the last test run", told[-1].line)
    asked = asked_for_tests(evidence)
    return unmet(f"{changed.path} was changed, and no test ran, as was asked", asked) if asked else None


def _last_change_of_behaviour(evidence: SessionEvidence) -> Edit | None:
    """The newest change of a program that tests could notice, so not of comments, data, style or text."""
    edits = reversed(evidence.facts.edits)
    return next((edit for edit in edits if edit.is_code and _changes_behaviour(edit)), None)


def _changes_behaviour(edit: Edit) -> bool:
    if PurePosixPath(edit.path).suffix not in _PROGRAMS and not is_script(edit.path):
        return False
    lines = [line.strip() for line in (*edit.added, *(edit.removed or ())) if line.strip()]
    return not lines or any(not _COMMENT.match(line) for line in lines)  # some edits have no known lines


def _may_have_been_tested(evidence: SessionEvidence, changed: Edit) -> bool:
    """Whether tests may have run since a change, or were not wanted."""
    if tests_are_forbidden(evidence):
        return True
    own = {part.split(".")[0] for edit in evidence.facts.edits for part in PurePosixPath(edit.path).parts}
    for command in evidence.facts.commands:
        if command.order < changed.order:
            continue
        if command.tests is not None and _ran_to_its_end(command):
            return True
        for simple in simple_commands(command.line):
            own_or_plain = simple.name in _NO_TESTS or simple.name.split(".")[0] in own
            unknown = not own_or_plain and may_run_tests(simple)
            if unknown and (simple.writes or _SPEAKS_OF_TESTS.search(command.output)):
                return True
    return False


def _tests_changed_after_failing(evidence: SessionEvidence) -> bool:
    """Whether files of tests were edited, removed or restored after a test run had failed."""
    failed = [run.order for run in evidence.facts.test_runs if run.tests is RunOutcome.FAILED]
    if not failed:
        return False
    edited = any(edit.order > failed[0] and belongs_to_tests(edit.path) for edit in evidence.facts.edits)
    return edited or any(
        command.order > failed[0]
        and any(
            simple.name in _TAKES_TESTS and any(map(belongs_to_tests, simple.plain))
            for simple in simple_commands(command.line)
        )
        for command in evidence.facts.commands
    )


def _run_unread_since(evidence: SessionEvidence, failed: Command) -> bool:
    """Whether tests with an unreadable result ran after a failed run, with their own exit code 0."""
    return any(
        run.order > failed.order
        and run.tests is RunOutcome.UNKNOWN
        and run.exit_code == 0
        and all(simple.decides for simple in simple_commands(run.line) if is_test_run(simple))
        for run in evidence.facts.test_runs
    )


def _ran_to_its_end(run: Command) -> bool:
    """Whether a run started, was not interrupted, and saw the work, which `git stash` hides."""
    if _STASHES.search(run.line):
        return False
    return not run.is_interrupted and run.exit_code not in NOT_STARTED


def _result_of(run: Command) -> str:
    """The command, and the last line of its output."""
    lines = [line.strip() for line in run.output.splitlines() if line.strip()]
    return f"{run.line}: {lines[-1]}" if lines else run.line


def asked_for_tests(evidence: SessionEvidence) -> str:
    """The words in which the user asks for the tests, or ""."""
    return next((found[0] for text in evidence.users_words if (found := _ASKS_FOR_TESTS.search(text))), "")


def leaves_failing(evidence: SessionEvidence, output: str) -> bool:
    """Whether the user says that a failure is known and to be left, with words that are in the output."""
    sentences = (one for words in evidence.users_words for one in _SENTENCE.split(words))
    known = (one for one in sentences if _IS_RED.search(one) and _IS_LEFT.search(one))
    shown = {word.lower() for word in _WORD.findall(output)}
    return any(shown & {word.lower() for word in _WORD.findall(one)} - _ORDINARY for one in known)


def tests_are_forbidden(evidence: SessionEvidence) -> bool:
    """Whether the user does not want tests, or anything, to be run."""
    return any(_USER_FORBIDS_TESTS.search(words) for words in evidence.users_words)
