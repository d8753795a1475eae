"""The headline of a report: the same in each format, true for runs without a usual end, green for proof alone."""

import json
import re
from dataclasses import replace

import pytest
from language.acting_runs import hostile_run
from language.beginnings import run_started
from language.event_strategies import stored, task
from language.large_runs import twelve_tasks
from reports import Page, read, web

from orchestrator.views.models.criteria import CriterionState as Criterion
from orchestrator.views.models.criteria import criteria_of
from orchestrator.views.models.summary import RunState
from orchestrator.views.report.building import headline_of
from orchestrator.views.report.rendering import Format, ending, rendered
from orchestrator.views.run.story import RunStory
from state.errors import UsageError
from state.journal import events as e
from state.outcome import EXIT_CODES, Outcome


def ended(outcome, *, cause="the cause", dry=False):
    begun = run_started()
    from state.settings.presets import usual_settings

    begun = replace(begun, settings=replace(usual_settings("medium", ()), dry_run=dry))
    return stored(
        [begun, e.PlanAccepted(tasks=(task("t1"),), criteria=()), e.RunEnded(outcome=outcome, cause=cause)]
    )


@pytest.mark.parametrize("outcome", Outcome)
def test_exit_code_outcome_headline_title_and_checks_agree(outcome):
    run = read(ended(outcome, cause="" if outcome is Outcome.COMPLETE else "the cause"))
    report = run.report("1")
    assert report.headline.exit_code == EXIT_CODES[outcome]
    assert report.headline.draft is (outcome is not Outcome.COMPLETE)
    assert report.title.startswith("[unverified] ") is (outcome is not Outcome.COMPLETE)
    assert (f"({outcome})" in report.title) is (outcome is not Outcome.COMPLETE)
    head = "".join(Page(web(run)).text)
    assert f"{outcome.capitalize()} exit code {EXIT_CODES[outcome]}" in " ".join(head.split())
    for form in (Format.MARKDOWN, Format.PULL_REQUEST, Format.SUMMARY):
        assert f"**{outcome.capitalize()}** (exit code {EXIT_CODES[outcome]})" in rendered(
            run, form, version="1"
        )
    said = json.loads(ending(report, "1"))
    assert (said["outcome"], said["exit_code"]) == (outcome, EXIT_CODES[outcome])
    assert (said["check_state"] == "success") is (outcome is Outcome.COMPLETE)
    assert ('failures="1"' in rendered(run, Format.JUNIT, version="1")) is (outcome is not Outcome.COMPLETE)
    assert report.headline.tone != "good"  # sq has seen what shows no criterion


@pytest.mark.parametrize(
    ("events", "state", "word", "code"),
    [
        (twelve_tasks(), RunState.ACTIVE, "Under way", None),
        (twelve_tasks(), RunState.KILLED, "Killed", None),
        (twelve_tasks(), RunState.INTERRUPTED, "Interrupted", 130),
        ([], RunState.NEVER_BEGAN, "Never began", None),
        (ended(Outcome.COMPLETE, dry=True), RunState.ENDED, "Planned only", 0),
        (ended(Outcome.LIMIT, dry=True), RunState.ENDED, "Limit", 4),
    ],
)  # fmt: skip
def test_a_run_that_has_no_usual_end_says_so_in_every_format(events, state, word, code):
    run = read(events, state=state)
    report = run.report("1")
    assert (report.headline.word, report.headline.exit_code) == (word, code)
    assert report.headline.draft
    assert report.headline.tone != "good"
    assert report.headline.check != "success"
    for form in set(Format) - {Format.SARIF, Format.IN_TOTO}:
        text = rendered(run, form, version="1")
        assert word.lower() in text.lower()
    if not report.commits.commit:
        with pytest.raises(UsageError, match="no finished work"):
            rendered(run, Format.IN_TOTO, version="1")


def test_a_rehearsal_is_said_in_red_and_proves_nothing():
    events = ended(Outcome.COMPLETE, cause="")
    played = [replace(events[0], event=replace(events[0].event, rehearsal="script.yaml")), *events[1:]]
    run = read(played)
    assert 'class="rehearsal"' in web(run)
    assert "Rehearsal" in rendered(run, Format.MARKDOWN, version="1")
    assert run.report("1").title == "[rehearsal] Spec (complete)"
    assert run.report("1").headline.check == "neutral"
    assert "<failure" not in rendered(run, Format.JUNIT, version="1")
    assert "rehearsal, Complete" in rendered(run, Format.JUNIT, version="1")


def test_only_a_criterion_that_sq_has_seen_is_green_and_only_if_all_are_does_the_run_pass():
    run = read(hostile_run())
    report = run.report("1")
    states = [row.state for row in report.criteria]
    assert set(states) == {Criterion.TESTED, Criterion.CLAIMED, Criterion.NOT_MET, Criterion.NOT_CHECKED}
    page = web(run)
    rows = re.findall(r'<tr id="c-\d">.*?</tr>', page, re.DOTALL)
    for row, state in zip(rows, states, strict=True):
        assert ('class="chip good"' in row) is (state is Criterion.TESTED)
    suites = rendered(run, Format.JUNIT, version="1")
    criteria = re.search(r'<testsuite name="criteria" failures="(\d)" skipped="(\d)" tests="(\d)"', suites)
    assert criteria.groups() == ("1", "2", "4")
    said = json.loads(rendered(run, Format.IN_TOTO, version="1"))["predicate"]
    assert said["result"] == "FAILED"
    assert [len(said[name]) for name in ("passedTests", "warnedTests", "failedTests")] == [2, 2, 1]


def test_a_complete_run_says_of_how_many_criteria_sq_has_seen_what_shows_them():
    story = RunStory()
    story.add_all(hostile_run())
    view = story.view
    view.ended = e.RunEnded(outcome=Outcome.COMPLETE, cause="")
    rows = criteria_of(view)
    said = "sq has seen what shows 1 of 4 criteria. The others are a reviewer's word"
    assert headline_of(view, RunState.ENDED, rows).why == said
    assert headline_of(view, RunState.ENDED, rows).tone == "warn"
    for state in (Criterion.EXAMINED, Criterion.TESTED, Criterion.COMPUTED):
        seen = tuple(replace(row, state=state) for row in rows)
        assert headline_of(view, RunState.ENDED, seen).all_seen
        assert headline_of(view, RunState.ENDED, seen).tone == "good"
