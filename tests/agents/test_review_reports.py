"""A reviewer's words become a report or the reason why not: strictly, and never a pass by accident."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.roles.reviewer import normalize_issue, parse_review_output, types_at, unusable_issue
from agents.session.tools import review_tool
from state.records.reviews import FindingState, IssueType, ReviewIssue, ReviewReport, Ruling
from state.settings.records import ReviewDepth

ISSUE = {
    "taskId": "t1",
    "file": "src/utils.ts",
    "line": 15,
    "type": "over-engineering",
    "description": "Unnecessary wrapper class",
    "suggestion": "Use a plain function instead",
}
FAILED = {"passed": False, "issues": [ISSUE], "suggestions": ["a name"]}
READ = ReviewIssue(
    task_id="t1",
    file="src/utils.ts",
    line=15,
    type=IssueType.OVER_ENGINEERING,
    description="Unnecessary wrapper class",
    suggestion="Use a plain function instead",
)


def fenced(data, language="json"):
    return f"```{language}\n{json.dumps(data, indent=1)}\n```"


@pytest.mark.parametrize(
    "output",
    [
        json.dumps(FAILED),
        fenced(FAILED),
        fenced(FAILED, ""),
        f"I looked at it.\n\n{fenced(FAILED)}\n\nThat is all.",
        f"Here it is: {json.dumps(FAILED)} Done.",
        f"The config `{{}}` is fine.\n\n{fenced(FAILED)}",
        f"It returns this:\n\n{fenced({'count': 1})}\n\nMy report:\n\n{fenced(FAILED)}",
    ],
    ids=["tool", "fenced", "bare fence", "fence in words", "in words", "braces before", "second fence"],
)
def test_a_report_is_found_in_the_tools_json_in_a_fence_and_between_words(output):
    assert parse_review_output(output) == ReviewReport(passed=False, issues=(READ,), suggestions=("a name",))


def test_a_report_whose_text_holds_a_fence_is_found():
    issue = {**ISSUE, "description": "Say\n```\nx = 1\n```\ninstead"}
    report = parse_review_output(fenced({"passed": False, "issues": [issue]}))
    assert report.issues[0].description == issue["description"]


def test_a_pass_is_a_pass():
    assert parse_review_output('{"passed": true, "issues": [], "suggestions": []}') == ReviewReport(
        passed=True
    )
    assert parse_review_output('{"passed": true}') == ReviewReport(passed=True)


@pytest.mark.parametrize("value", ["true", "false", "yes", 1, 0, None, [], {}, [True]])
def test_passed_that_is_no_boolean_is_unusable(value):
    told = parse_review_output(json.dumps({"passed": value, "issues": []}))
    assert isinstance(told, str)
    assert "passed" in told


def test_a_report_without_passed_is_unusable():
    assert "passed" in parse_review_output('{"issues": [], "suggestions": []}')


@pytest.mark.parametrize("issues", [[], None])
def test_a_review_that_does_not_pass_and_names_no_issue_is_unusable(issues):
    assert "names no issue" in parse_review_output(json.dumps({"passed": False, "issues": issues}))


@pytest.mark.parametrize("issues", ["none", {"a": 1}, 5])
def test_issues_that_are_no_list_are_unusable(issues):
    assert "issues" in parse_review_output(json.dumps({"passed": True, "issues": issues}))


@pytest.mark.parametrize(
    "output",
    [
        "",
        "It passed.",
        "passed: true",
        "[]",
        "null",
        "true",
        '"passed"',
        "{",
        '{"passed": true',
        "```json\n```",
        '{"passed": true or false, "issues": []}',
        "All good: {passed: true}",
    ],
)
def test_words_without_a_report_are_unusable_and_never_a_pass(output):
    told = parse_review_output(output)
    assert isinstance(told, str)
    assert told


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ('{"passed": true, "issues": [] "suggestions": []}', "line 1, column 31: Expecting ',' delimiter"),
        (
            'I looked.\n\n```json\n{"passed": false,\n "issues": [{"file": "a.py}]\n```',
            "line 5, column 29: Invalid control character",
        ),
        ('It quotes `{"a": 1}`.\n{passed: true}', "line 2, column 2: "),
        ('Quoted:\n```json\n{"count": 1}\n```\nMine:\n```json\n{"passed": tru}\n```', "line 7, column 12: "),
        ('{"passed": true', "line 1, column 16: "),
        ("{", "line 1, column 2: "),
        ('{"issues":' * 100_000, "line 1: it is nested too deeply"),
    ],
    ids=["comma", "open text", "no quotes", "after another", "cut off", "brace alone", "too deep"],
)
def test_broken_json_is_called_broken_with_its_place(output, said):
    told = parse_review_output(output)
    assert told.startswith(f"Failed to parse review output: its JSON object is broken at {said}")


@pytest.mark.parametrize("output", ["It passed.", "f() { return 1 }", "[]", "The {name} is kept."])
def test_words_without_json_are_not_called_broken_json(output):
    assert parse_review_output(output) == "Failed to parse review output: it holds no JSON object"


def test_issues_beside_a_pass_count():
    report = parse_review_output(json.dumps({**FAILED, "passed": True}))
    assert not report.passed
    assert report.issues == (READ,)


def test_legacy_issues_that_are_plain_strings_are_read_as_the_seed_says():
    report = parse_review_output('{"passed": false, "issues": ["Missing error handling", "No tests"]}')
    assert [issue.description for issue in report.issues] == ["Missing error handling", "No tests"]
    assert report.issues[0] == ReviewIssue(
        task_id="",
        file="unknown",
        type=IssueType.PATTERN_VIOLATION,
        description="Missing error handling",
        suggestion="Review and fix this issue",
    )


@pytest.mark.parametrize("kind", IssueType)
def test_every_known_type_is_kept(kind):
    assert normalize_issue({**ISSUE, "type": kind.value}).type is kind


@pytest.mark.parametrize("kind", ["style", "", None, 7, "Over-Engineering", ["dead-code"]])
def test_an_unknown_or_missing_type_becomes_a_pattern_violation(kind):
    assert normalize_issue({**ISSUE, "type": kind}).type is IssueType.PATTERN_VIOLATION
    without = {key: value for key, value in ISSUE.items() if key != "type"}
    assert normalize_issue(without).type is IssueType.PATTERN_VIOLATION


SHAPE = {
    "over-engineering",
    "missing-error-handling",
    "pattern-violation",
    "dead-code",
    "architecture-concern",
}


@pytest.mark.parametrize("depth", ReviewDepth)
@pytest.mark.parametrize("kind", IssueType)
def test_a_shallow_review_sends_nothing_back_for_its_shape_and_every_other_one_does(depth, kind):
    issue = {**ISSUE, "type": kind.value}
    report = parse_review_output(json.dumps({**FAILED, "issues": [issue]}), depth)
    aside = depth is ReviewDepth.SHALLOW and kind in SHAPE
    assert report.passed is aside
    assert [one.type for one in report.issues] == ([] if aside else [kind])
    told = f"src/utils.ts:15 ({kind}): Unnecessary wrapper class (fix: Use a plain function instead)"
    assert report.suggestions == (("a name", told) if aside else ("a name",))


def test_a_shallow_review_sends_back_what_names_no_type():
    report = parse_review_output('{"passed": false, "issues": ["It crashes"]}', ReviewDepth.SHALLOW)
    assert [one.description for one in report.issues] == ["It crashes"]


@pytest.mark.parametrize("depth", ReviewDepth)
def test_the_tool_of_a_review_offers_the_types_of_its_depth_and_no_other(depth):
    issue = review_tool(types_at(depth)).schema["properties"]["issues"]["items"]
    offered = set(issue["properties"]["type"]["enum"])
    assert offered & SHAPE == (set() if depth is ReviewDepth.SHALLOW else SHAPE)
    assert {"incorrect-behavior", "spec-mismatch"} <= offered


@pytest.mark.parametrize("line", [None, 0, -3, True, "15", 1.5, [15]])
def test_a_line_that_is_no_line_number_is_left_out(line):
    issue = normalize_issue({**ISSUE, "line": line})
    assert issue.line is None
    assert issue.location == "src/utils.ts"


def test_an_empty_issue_gets_the_seeds_defaults():
    assert normalize_issue({}) == ReviewIssue(
        task_id="", file="unknown", description="Unknown issue", suggestion="Review and fix"
    )


def test_the_synthetic_issue_of_an_unusable_report_says_what_was_wrong():
    issue = unusable_issue("Failed to parse review output")
    assert (issue.file, issue.type) == ("unknown", IssueType.PATTERN_VIOLATION)
    assert (issue.description, issue.suggestion) == (
        "Failed to parse review output",
        "Check agent output format",
    )


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def rulings(earlier):
    return parse_review_output(json.dumps({"passed": True, "issues": [], "earlier": earlier})).rulings


@pytest.mark.parametrize(
    ("words", "state"),
    [
        ("fixed", FindingState.FIXED),
        ("Fixed", FindingState.FIXED),
        ("open", FindingState.OPEN),
        ("won't fix", FindingState.WONT_FIX),
        ("won\u2019t fix", FindingState.WONT_FIX),
        ("wont_fix", FindingState.WONT_FIX),
        ("wont-fix", FindingState.WONT_FIX),
        ("WONT FIX", FindingState.WONT_FIX),
        ("wontfix", FindingState.WONT_FIX),
    ],
)
def test_a_ruling_on_an_earlier_finding_is_read_however_its_state_is_spelled(words, state):
    said = {"id": " 0a1b2c3d ", "state": words, "why": "it has two callers"}
    assert rulings([said]) == (Ruling(id="0a1b2c3d", state=state, why="it has two callers"),)


@pytest.mark.parametrize(
    "earlier",
    [
        None,
        "fixed",
        5,
        {},
        [None],
        ["0a1b2c3d"],
        [{"state": "fixed"}],
        [{"id": 7, "state": "fixed"}],
        [{"id": "0a1b2c3d"}],
        [{"id": "0a1b2c3d", "state": "disputed"}],
    ],
)
def test_what_is_no_ruling_is_left_out_and_harms_nothing(earlier):
    assert rulings(earlier) == ()
    assert (
        rulings([*(earlier if isinstance(earlier, list) else []), {"id": "x", "state": "open"}])[-1].id == "x"
    )


def test_a_pass_beside_a_finding_that_is_called_open_is_a_usable_report():
    read = parse_review_output(
        json.dumps({"passed": True, "issues": [], "earlier": [{"id": "x", "state": "open"}]})
    )
    assert read == ReviewReport(passed=True, rulings=(Ruling(id="x", state=FindingState.OPEN),))


def test_a_review_that_does_not_pass_has_to_name_an_issue_whatever_it_says_of_earlier_ones():
    said = {"passed": False, "issues": [], "earlier": [{"id": "x", "state": "open"}]}
    assert "names no issue" in parse_review_output(json.dumps(said))


@given(st.text() | json_values.map(json.dumps))
def test_no_words_make_the_parser_raise(output):
    told = parse_review_output(output)
    assert isinstance(told, str | ReviewReport)


@given(json_values, json_values, json_values)
def test_only_true_without_issues_passes(passed, issues, suggestions):
    told = parse_review_output(json.dumps({"passed": passed, "issues": issues, "suggestions": suggestions}))
    if isinstance(told, ReviewReport) and told.passed:
        assert passed is True
        assert not issues
    if isinstance(told, ReviewReport) and not told.passed:
        assert told.issues


def test_the_schema_requires_the_rulings_that_the_prompt_asks_for() -> None:
    tool = review_tool(IssueType, ("earlier",))
    assert tool.schema
    assert tool.schema["required"] == ["passed", "issues", "earlier"]
    assert review_tool(IssueType).schema == {**tool.schema, "required": ["passed", "issues"]}
