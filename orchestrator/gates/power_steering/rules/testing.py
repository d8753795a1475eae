"""Rules about running things after the last change: tests, the project's checks, the program itself."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from agents.facts import Command, Edit, Outcome
from agents.transcript_checks import is_test_run
from agents.transcript_shell import simple_commands
from agents.transcript_tests import is_test_file, leaves_out
from orchestrator.gates.power_steering.evidence import Evidence
from orchestrator.gates.power_steering.rules.found import Found, met, not_applicable, unmet
from orchestrator.gates.power_steering.rules.phrases import APOSTROPHE, phrases
from orchestrator.gates.power_steering.rules.programs import is_check, is_no_test, runs_program

_USER_FORBIDS_TESTS = phrases(
    rf"(?:do not|don{APOSTROPHE}t|no need to|without|skip(?:ping)?"
    rf"|never)(?: \w+){{0,2}}? (?:run(?:ning)? )?"
    r"(?:the |any |all )?tests?",
    rf"(?:do not|don{APOSTROPHE}t|without|never|no need to) (?:\w+ (?:or|and) )?(?:run(?:ning)?"
    rf"|execut(?:e|ing)|build) "
    r"(?:or \w+ )?(?:anything|any ?thing|any commands?|commands|it|them|code|the code|stuff|here|on)",
    rf"(?:do not|don{APOSTROPHE}t|must not|cannot|can{APOSTROPHE}t|not to|nothing may be) (?:build"
    rf"|built|flash|flashed|compile)",
    rf"I(?:{APOSTROPHE}ll| will) (?:run|execute|test|build) (?:the tests|it|them|everything"
    rf"|that) ?(?:myself|later|tonight)?",
)
_SPEAKS_OF_TESTS = phrases(
    "tests?", "pass(?:ed|es)?", "fail(?:ed|ures?)?", "ok", "specs?", "examples?", "assertions?"
)
_SPEAKS_OF_TAKING = phrases(
    r"(?:remove|delete|drop|skip|disable|rename|move|rewrite|replace|obsolete|outdated|quarantine"
    r"|xfail|flaky"
    r"|ignore|get rid of|clean up|retire)\b[^.\n]{0,60}\b(?:tests?|specs?)",
    r"(?:tests?|specs?)\b[^.\n]{0,60}\b(?:remove|removed|delete|deleted|drop|dropped|skip|skipped|disable"
    r"|disabled|rename|renamed|obsolete|outdated|go away|wrong|out of date|not needed)",
)
_ASKS_FOR_CHECKS = phrases(
    r"(?:run|runs|running)\b[^.\n]{0,60}\b(?:tests?|test suite|checks?|lint\w*|make|pytest|tox|pre-commit)",
    r"(?:tests?|checks?|lint\w*|make \w+|`[^`\n]+`) (?:must|ha(?:ve|s) to|should|needs? to) (?:pass"
    r"|run|be)",
    r"(?:before|after) (?:each|every|a|any|the|you) (?:commit|change|push|finish\w*)\b"
    r"[^.\n]{0,60}\b(?:run|tests?|checks?|make)",
    r"(?:make sure|ensure)\b[^.\n]{0,40}\btests?\b[^.\n]{0,20}\bpass",
)
_ASKS_FOR_TESTS = phrases(
    r"(?:run|runs|rerun|execute)\b[^.\n]{0,30}\b(?:tests?|test suite|specs?)",
    r"tests?\b[^.\n]{0,30}\b(?:were not|was not|not been|have to be|must be|should be"
    r"|need to be) (?:run|passed)",
)
_COUNTED_FAILURES = re.compile(r"\b[1-9]\d* (?:failed|failing|failures?)\b")
_SUCCESS = phrases("pass(?:ed|es|ing)?", "ok", "green", "success(?:ful|fully)?", "succeeded", "all good")
_NOT_STARTED = (126, 127)  # the shell's own exit codes
_ENTRY_POINT = re.compile(
    r"if __name__ == ['\"]__main__['\"]|^#!|argparse\.ArgumentParser|@click\.command|\bfunc main\(\)"
    r"|\bfn main\(\)|process\.argv|public static void main",
)
_PROGRAMS = frozenset({
    ".py", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".go", ".rs", ".java", ".kt", ".kts", ".scala", ".c",
    ".h", ".cc", ".cpp", ".cxx", ".hpp", ".cs", ".fs", ".vb", ".rb", ".php", ".swift", ".ex", ".exs", ".erl",
    ".hs", ".ml", ".mli", ".lua", ".dart", ".pl", ".pm", ".r", ".R", ".jl", ".clj", ".cljs", ".cljc", ".elm",
    ".zig", ".nim", ".cr", ".vue", ".svelte", ".groovy", ".m", ".mm", ".sol", ".gd", ".ps1", ".psm1", ".d",
    ".sh", ".bash", ".t",
})  # fmt: skip
_LANGUAGES = {
    "js": {".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".vue", ".svelte"},
    "c": {".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".m", ".mm"},
    "jvm": {".java", ".kt", ".kts", ".scala", ".groovy"},
    "clj": {".clj", ".cljs", ".cljc"},
    "net": {".cs", ".fs", ".vb"},
    "elixir": {".ex", ".exs"},
    "sh": {".sh", ".bash", ".bats"},
    "perl": {".pl", ".pm", ".t"},
    "ml": {".ml", ".mli"},
    "ps": {".ps1", ".psm1"},
}
_COMMENT = re.compile(r"#(?!\[|include|define|if|else|end|pragma)|//|/\*|\*(?:\s|/|$)|--\s|;;|%|\"\"\"|'''")
_PACKAGE = re.compile(r"(?:^|[\s/=\"'])(?:packages|apps|crates|services|plugins)/([\w@-]+)")
_WHOLE = re.compile(r"(?:--workspace|--all|--recursive|\s-r\b|\./\.\.\.|\*)")
_NAME = re.compile(r"[\w@-]+")
_TEST_SCRIPT = re.compile(r'"test"\s*:\s*"(?!echo \\"Error: no test specified)')
_PATH = re.compile(r"[\w./@+-]*[\w-]\.\w{1,5}\b")
_LOOKED_AT = 20_000  # characters of an output that are searched for names of files


def local_testing(evidence: Evidence) -> Found | None:
    """The tests were run after the last change to code, and passed: by exit code, else by their summary.

    It says no only on evidence: a test or another check failed and was not run again, tests were kept from
    failing, or code that the project shows tests for was changed after their last run.
    """
    facts = evidence.facts
    if facts.last_code_edit is None:
        return not_applicable("no code was changed")
    against = _failed_and_left(evidence) or _failed_check(evidence) or _taken_without_being_asked(evidence)
    if against:
        return against
    runs = [run for run in facts.tests_since_edit if _ran_to_its_end(run)]
    if elsewhere := _only_elsewhere(evidence, runs):
        return elsewhere
    if runs and all(_claims_a_pass(run, evidence.facts.commands) for run in runs):
        return unmet(
            "what the tests printed was thrown away, and the command itself says that they pass",
            runs[-1].line,
        )
    if any(run.tests is Outcome.PASSED for run in runs):
        return met("the tests passed after the last change to code", _result_of(runs))
    return None if runs else _untested(evidence)


def dev_workflow_complete(evidence: Evidence) -> Found | None:
    """After the last change to code a test or another check ran, where the project or user asks for it."""
    last = evidence.facts.last_code_edit
    if last is None:
        return not_applicable("no code was changed")
    for command in _after(evidence, last):
        if command.tests is not None or any(is_check(simple) for simple in simple_commands(command.line)):
            return met("the change was checked after it was made", command.line)
    said = [*evidence.instructions, *evidence.users_words, *evidence.hooks_words]
    asks = next((found[0] for text in said if (found := _ASKS_FOR_CHECKS.search(text))), "")
    if not asks or _tests_are_forbidden(evidence):
        return None
    return unmet(f"{last.path} was changed, and no test or other check ran since, as it should", asks)


def interactive_testing(evidence: Evidence) -> Found | None:
    """The program was run after the last change; a change of an entry point shows that it could have been."""
    last = evidence.facts.last_code_edit
    if last is None:
        return not_applicable("no code was changed")
    if not _after(evidence, last):
        return unmet(f"nothing ran after the last change to {last.path}")
    own = _own_names(evidence)
    for command in _after(evidence, last):
        if any(runs_program(simple, own) for simple in simple_commands(command.line)):
            return met("the program was run after the last change", command.line)
    for path, lines in evidence.written_code.items():
        if any(_ENTRY_POINT.search(line) for line in lines) and not is_test_file(last.path):
            return unmet(f"{path} can be run, and was not run after the last change")
    return None


def _untested(evidence: Evidence) -> Found | None:
    """No test ran since the last change: what that says."""
    facts, changed = evidence.facts, _last_change_of_behaviour(evidence)
    if changed is None:
        return None
    if any(run.order >= changed.order and run.tests is Outcome.PASSED for run in facts.test_runs):
        return met("the tests passed, and nothing that they could notice was changed since")
    if _tests_are_forbidden(evidence) or _may_have_been_tested(evidence, changed):
        return None
    if facts.test_runs:
        return unmet(f"{changed.path} was changed after the last test run", facts.test_runs[-1].line)
    shown = _shows_tests(evidence, changed) or _asked_for_tests(evidence)
    return unmet(f"{changed.path} was changed and no test ran at all", shown) if shown else None


def _failed_and_left(evidence: Evidence) -> Found | None:
    """A test run that failed, and of which no later run shows that its tests pass."""
    told = [
        run for run in evidence.facts.test_runs if _ran_to_its_end(run) and run.tests is not Outcome.UNKNOWN
    ]
    if told and told[-1].tests is Outcome.FAILED:
        if _run_unread_since(evidence, told[-1]):
            return None
        return unmet("the newest test run failed", _result_of([told[-1]]))
    since = [run for run in evidence.facts.tests_since_edit if _ran_to_its_end(run)]
    if failed := _left_failing(since):
        return unmet("tests failed, and only some of them were run again", _result_of([failed]))
    if elsewhere := _failed_in_a_folder(told):
        return unmet(
            "tests failed in one folder, and only those of others ran since", _result_of([elsewhere])
        )
    failed = next((run for run in reversed(told) if run.tests is Outcome.FAILED), None)
    later = [run for run in told if failed and run.order > failed.order]
    if failed and later and all(map(_leaves_out, later)) and not _leaves_out(failed):
        return unmet("tests failed, and were left out of the runs after that", later[-1].line)
    return None


def _failed_in_a_folder(told: Sequence[Command]) -> Command | None:
    """A failed run in a folder that its line goes to, if no later run goes there or names it."""
    for at, run in enumerate(told):
        folder = _folder_of(run)
        later = [one for one in told[at + 1 :] if one.tests is Outcome.PASSED]
        elsewhere = bool(later) and all(_folder_of(one) and folder not in one.line for one in later)
        if run.tests is Outcome.FAILED and folder and elsewhere:
            return run
    return None


def _folder_of(run: Command) -> str:
    """The folder that a command line goes to before it runs anything; empty: it stays where it is."""
    first = simple_commands(run.line)[:1]
    return first[0].plain[0] if first and first[0].name in {"cd", "pushd"} and first[0].plain else ""


def _leaves_out(run: Command) -> bool:
    """Whether an option of the test command itself leaves tests out."""
    return any(
        leaves_out(" ".join(simple.words)) for simple in simple_commands(run.line) if is_test_run(simple)
    )


def _only_elsewhere(evidence: Evidence, runs: Sequence[Command]) -> Found | None:
    """A package of the project that was changed, while the runs since name only other packages."""
    changed: dict[str, Edit] = {}
    for edit in evidence.facts.edits:
        if edit.is_code and _changes_behaviour(edit) and (found := _PACKAGE.search(edit.path)):
            changed[found[1]] = edit
    seen = [*(one.path for one in evidence.facts.reads), *(one.line for one in evidence.facts.commands)]
    known = {*changed, *(found[1] for text in seen for found in _PACKAGE.finditer(text))}
    whole = {run.order for run in evidence.facts.test_runs if _WHOLE.search(run.line)}
    named = [
        (run, {word for word in _NAME.findall(run.line) if word in known}) for run in evidence.facts.test_runs
    ]
    for package, edit in changed.items():
        since = [names for run, names in named if run.order >= edit.order and run in runs]
        if any(run.order >= edit.order and run.order in whole for run in runs):
            continue
        if since and all(names and package not in names for names in since):
            return unmet(f"{edit.path} was changed, and only the tests of other packages ran", runs[-1].line)
    return None


def _claims_a_pass(run: Command, commands: Sequence[Command]) -> bool:
    """Whether a run hides how its tests ended, and it or a later command prints words of success."""
    hidden = run.tests is Outcome.UNKNOWN and any(
        not simple.decides for simple in simple_commands(run.line) if is_test_run(simple)
    )
    echoed = " ".join(
        " ".join(simple.words[1:])
        for one in commands
        if one.order >= run.order
        for simple in simple_commands(one.line)
        if simple.name in {"echo", "printf"}
    )
    return hidden and bool(_SUCCESS.search(echoed))


def _run_unread_since(evidence: Evidence, failed: Command) -> bool:
    """Whether tests ran after a failed run with exit code 0 of their own, and cannot be read."""
    return any(
        run.order > failed.order
        and run.tests is Outcome.UNKNOWN
        and run.exit_code == 0
        and all(simple.decides for simple in simple_commands(run.line) if is_test_run(simple))
        for run in evidence.facts.test_runs
    )


def _failed_check(evidence: Evidence) -> Found | None:
    """A build, validation or lint after the last change that failed and was not run again with success."""
    last = evidence.facts.last_code_edit
    newest: dict[str, Command] = {}
    for command in _after(evidence, last) if last else ():
        for simple in simple_commands(command.line):
            is_one = is_check(simple) and not is_test_run(simple)
            if is_one and simple.is_last and command.exit_code is not None:
                newest[" ".join([simple.name, *simple.plain[:1]])] = command
    failed = [one for one in newest.values() if one.exit_code not in {0, *_NOT_STARTED}]
    return unmet("a check after the last change failed", _result_of_check(failed[-1])) if failed else None


def _taken_without_being_asked(evidence: Evidence) -> Found | None:
    """Tests that failed and were then deleted, skipped or emptied, though the user did not ask for that."""
    failed = [run.order for run in evidence.facts.test_runs if run.tests is Outcome.FAILED]
    if not failed or any(_SPEAKS_OF_TAKING.search(words) for words in evidence.users_words):
        return None
    after = [one for one in evidence.facts.taken if one.order > failed[0]]
    if not after:
        return None
    return unmet(f"tests failed, and were then {after[-1].how}, in {after[-1].path}", after[-1].quote)


def _last_change_of_behaviour(evidence: Evidence) -> Edit | None:
    """The newest change of a program that tests could notice: no comment, no data, no style, no text."""
    edits = reversed(evidence.facts.edits)
    return next((edit for edit in edits if edit.is_code and _changes_behaviour(edit)), None)


def _changes_behaviour(edit: Edit) -> bool:
    """Whether an edit changes what a program does, and not only its comments or blank lines."""
    if not _is_program(edit.path):
        return False
    lines = [line.strip() for line in (*edit.added, *(edit.removed or ())) if line.strip()]
    return not lines or any(
        not _COMMENT.match(line) for line in lines
    )  # of some edits only the file is known


def _may_have_been_tested(evidence: Evidence, last: Edit) -> bool:
    """Whether a program that is not known ran after the change and may have run the tests, as it sounds."""
    own = _own_names(evidence)
    return any(
        command.exit_code in {0, None}
        and (simple.writes or _SPEAKS_OF_TESTS.search(command.output))
        and not (is_no_test(simple) or is_test_run(simple) or simple.name.split(".")[0] in own)
        for command in _after(evidence, last)
        for simple in simple_commands(command.line)
    )


def _shows_tests(evidence: Evidence, changed: Edit) -> str:
    """What shows that the project has tests for such a file: a test in its language, a script; else empty."""
    facts = evidence.facts
    seen = [*(edit.path for edit in facts.edits), *(reading.path for reading in facts.reads)]
    printed = [word for command in facts.commands for word in _PATH.findall(command.output[:_LOOKED_AT])]
    scripts = [
        reading.path
        for reading in facts.reads
        if reading.path.endswith("package.json") and _TEST_SCRIPT.search(reading.text)
    ]
    language = _language(changed.path)
    files = (path for path in [*seen, *printed] if is_test_file(path) and _language(path) == language)
    return next(files, "") or (next(iter(scripts), "") if language == "js" else "")


def _language(path: str) -> str:
    """The kind of program that a file is, by its ending; its tests are of the same kind."""
    suffix = PurePosixPath(path).suffix
    return next((name for name, suffixes in _LANGUAGES.items() if suffix in suffixes), suffix)


def _asked_for_tests(evidence: Evidence) -> str:
    """The words with which the user or a hook asks for the tests; empty if neither does."""
    said = [*evidence.users_words, *evidence.hooks_words]
    return next((found[0] for text in said if (found := _ASKS_FOR_TESTS.search(text))), "")


def _is_program(path: str) -> bool:
    return PurePosixPath(path).suffix in _PROGRAMS


def _own_names(evidence: Evidence) -> set[str]:
    """The names of folders and files that were changed: `python -m NAME` comes as NAME alone."""
    paths = (PurePosixPath(edit.path) for edit in evidence.facts.edits)
    return {part.split(".")[0] for path in paths for part in path.parts}


def _after(evidence: Evidence, last: Edit) -> list[Command]:
    return [command for command in evidence.facts.commands if command.order >= last.order]


def _ran_to_its_end(run: Command) -> bool:
    return not run.is_interrupted and run.exit_code not in _NOT_STARTED


def _left_failing(runs: Sequence[Command]) -> Command | None:
    """The newest run with failed tests of which no later run that passed ran the same ones again."""
    for at in range(len(runs) - 1, -1, -1):
        if runs[at].tests is Outcome.FAILED and _COUNTED_FAILURES.search(runs[at].output):
            later = [run for run in runs[at + 1 :] if run.tests is Outcome.PASSED]
            return None if any(_covers(run, runs[at]) for run in later) else runs[at]
    return None


def _covers(run: Command, other: Command) -> bool:
    """Whether a run names no tests, or all that the other one names; another runner is believed."""
    mine, theirs = (_named_tests(one) for one in (run, other))
    if mine.keys() != theirs.keys():
        return True
    return all(not mine[name] or (theirs[name] and theirs[name] <= mine[name]) for name in mine)


def _named_tests(run: Command) -> dict[str, set[str]]:
    tests = (simple for simple in simple_commands(run.line) if is_test_run(simple))
    return {simple.name: set(simple.plain) for simple in tests}


def _tests_are_forbidden(evidence: Evidence) -> bool:
    return any(_USER_FORBIDS_TESTS.search(words) for words in evidence.users_words)


def _result_of(runs: Sequence[Command]) -> str:
    """The newest run that told something, and the last line of its output."""
    return _result_of_check(next(run for run in reversed(runs) if run.tests is not Outcome.UNKNOWN))


def _result_of_check(command: Command) -> str:
    """The command, and the last line of its output."""
    lines = [line.strip() for line in command.output.splitlines() if line.strip()]
    return f"{command.line}: {lines[-1]}" if lines else command.line
