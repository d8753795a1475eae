"""Models and repositories choose many words that sq shows; no character of theirs steers a terminal or hides."""

import importlib
import io
import json
import pkgutil
import unicodedata
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from language.event_strategies import legal_runs
from rich.console import Console

from orchestrator import views
from orchestrator.cli.clean import cleanable
from orchestrator.cli.clean.cleanable import RunCleaned, cleaned_lines
from orchestrator.cli.doctor import checks
from orchestrator.cli.doctor.checks import check_lines, fail
from orchestrator.gates.power_steering.considerations import load_considerations
from orchestrator.gates.power_steering.examination import Examination, decide
from orchestrator.gates.power_steering.usage import Disagreement, SteeringUsage
from orchestrator.gates.promises import CriterionCheck as CriterionKind
from orchestrator.gates.promises import Promise, PromiseCriterion, StoredPromises
from orchestrator.gates.session_state.records import CheckResults
from orchestrator.git.artifacts import Artifact, ArtifactKind
from orchestrator.git.cleaning import Cleaned
from orchestrator.views.gates import (
    consideration_lines,
    criterion_lines,
    examination_lines,
    promise_lines,
    promises_lines,
    usage_lines,
)
from orchestrator.views.models.decisions import decision_lines, decisions_of
from orchestrator.views.models.summary import summary_of
from orchestrator.views.report.making import held_lines, held_settings
from orchestrator.views.run.console import event_object, task_table
from orchestrator.views.run.details import detail_lines, details_of, overview_lines
from orchestrator.views.run.story import RunStory, lines_of, log_lines, told_in, told_lines
from orchestrator.views.screen import as_json, cell, say, shown, visible
from orchestrator.views.words import columns
from state.journal.events import DependenciesAdded, HostsUsed, Stored
from state.journal.fold.fold import apply
from state.journal.view import RunView
from state.records.commands import AddedPackage, HostUse
from state.verdicts import CheckResult

NOW = datetime(2026, 2, 1, tzinfo=UTC)
HIDING = [
    *map(chr, range(0x20)), "\x7f", *map(chr, range(0x80, 0xA0)), "\x1b[2J", "\x1b]0;owned\x07", "\r\n",
    *map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A)), "\u061c", "\u200e", "\u200f", "\u200b",
    "\u200c", "\u200d", "\u2028", "\u2029", "\u2060", "\u00ad", "\ufeff", "\U000e0041", "\ud800",
]  # fmt: skip
WORDS = st.lists(st.sampled_from([*HIDING, "a", " ", "é", "漢"]), min_size=1, max_size=4).map("".join)


def poisoned(value, words):
    """A record with these words at the end of each of its texts, ids among them, so that they still fit."""
    if isinstance(value, str):
        return value if isinstance(value, StrEnum) or not value else value + words
    if isinstance(value, tuple):
        return tuple(poisoned(part, words) for part in value)
    if isinstance(value, dict):
        return {poisoned(key, words): poisoned(part, words) for key, part in value.items()}
    if is_dataclass(value):
        return replace(
            value, **{one.name: poisoned(getattr(value, one.name), words) for one in fields(value)}
        )
    return value


def hidden_in(text):
    """The characters that nobody sees; the ends of lines and tabs may be there."""
    return [
        one
        for one in text
        if one not in "\n\t" and unicodedata.category(one) in {"Cc", "Cf", "Zl", "Zp", "Cs"}
    ]


def of_a_run(events, words):
    """Every line and table that a run is shown by, from events with these words in all of them."""
    view, told = RunView(), []
    for stored in events:
        hostile = replace(stored, event=poisoned(stored.event, words))
        apply(view, hostile)
        told.append(hostile)
        yield from (lines_of(view, hostile), log_lines(view, hostile))
    summary = summary_of(view, "r", is_active=lambda: False, now=NOW)
    yield detail_lines(details_of(view, summary))
    yield overview_lines([summary])
    yield decision_lines(decisions_of(view))
    yield from map(told_lines, told_in(told))
    yield held_lines(held_settings(told))


def of_other_views(words):
    result = CheckResult(consideration_id=words, satisfied=False, blocker=True, reason=words, evidence=words)
    one = replace(load_considerations(None).considerations[0], id=words, question=words, guidance=words)
    decision = decide([result], {words: one}, CheckResults())
    examination = Examination(
        session_type=words, results=(result,), figures=CheckResults(), decision=decision
    )
    yield examination_lines(examination, waits="", explain=True)
    yield consideration_lines([one], [words])
    yield usage_lines(used(words))
    kept = f"w{words}".replace("\0", "")  # a promise refuses a NUL
    criterion = PromiseCriterion(text=kept, kind=CriterionKind.COMMAND, target=kept)
    promise = Promise.new(text=kept, criteria=(criterion,), owner=kept, base="")
    yield promises_lines(StoredPromises(promises=(promise,), damaged=(words,)))
    yield promise_lines(promise, {1: words})
    yield criterion_lines(promise, 1, {1: words})
    yield check_lines([fail(words, words, words)])
    holding = Artifact(kind=ArtifactKind.REF, name=words, unmerged=words)
    cleaned = Cleaned(holding=holding, removed=False, problem=words, rescued=words)
    use = HostUse(host=words, requests=1, refusals=1, refused=(words,))
    package = AddedPackage(ecosystem=words, name=words, version=words, licence=words)
    for event in (HostsUsed(hosts=(use,)), DependenciesAdded(packages=(package,), more=1)):
        yield lines_of(RunView(), Stored(1, NOW, event))
    yield cleaned_lines(
        [RunCleaned(run_id="r", run_state=words, cleaned=(cleaned,), note=words, state=words)]
    )


def used(words):
    disputed = Disagreement(
        consideration=words, session=words, at=words, judge_satisfied=True, rule_satisfied=False
    )
    given = {
        "checks": 1,
        "judge_share": 1.0,
        "by_source": {words: 1},
        "median_seconds": {words: 1.0},
        "longest_seconds": {words: 1.0},
        "disagreements": (disputed,),
        "target_kept": True,
        "target": 0.95,
    }
    return SteeringUsage(**{one.name: given.get(one.name, 0) for one in fields(SteeringUsage)})


def printed(lines, capsys):
    say(*lines)
    return capsys.readouterr().out


CHECKED = {
    "lines_of", "log_lines", "detail_lines", "overview_lines", "decision_lines", "told_lines", "held_lines",
    "examination_lines", "consideration_lines", "promises_lines", "promise_lines", "criterion_lines",
    "check_lines", "cleaned_lines", "usage_lines",
}  # fmt: skip
PARTS = {
    "issue_lines", "where_lines", "plan_lines", "strength_lines", "spending_lines", "unchecked_lines", "confinement_lines", "git_lines",
    "lacking_lines", "diff_lines", "waiting_lines", "unheard_lines", "resumed_lines", "ending_lines",
    "before_lines", "finding_lines", "forecast_lines", "outlook_lines",
}  # fmt: skip


def test_every_view_with_lines_is_tried_here():
    modules = [
        importlib.import_module(one.name)
        for one in pkgutil.walk_packages(views.__path__, "orchestrator.views.")
    ]
    modules += [cleanable, checks]
    names = {
        name
        for module in modules
        for name, value in vars(module).items()
        if name.endswith(("_lines", "lines_of"))
        and not name.startswith("_")
        and value.__module__ == module.__name__
    }
    assert names == CHECKED | PARTS


@settings(max_examples=30)
@given(events=legal_runs(), words=WORDS)
def test_no_line_of_a_run_holds_a_character_that_is_not_seen(events, words):
    out = io.StringIO()
    for lines in of_a_run(events, words):
        for line in lines:
            print("\n".join(shown(line)), file=out)
    assert hidden_in(out.getvalue()) == []


@settings(max_examples=30)
@given(events=legal_runs(), words=WORDS)
def test_no_cell_of_the_live_table_holds_a_character_that_is_not_seen(events, words):
    story = RunStory()
    story.add_all(replace(stored, event=poisoned(stored.event, words)) for stored in events)
    out = io.StringIO()
    Console(file=out, width=300).print(task_table(story, NOW, width=300, height=99, follow=(words,)))
    assert hidden_in(out.getvalue()) == []


@given(words=WORDS)
def test_no_line_of_any_other_view_holds_one(words):
    text = "\n".join(line for lines in of_other_views(words) for each in lines for line in shown(each))
    assert hidden_in(text) == []


@given(words=WORDS)
@example(words="a\u200cb")
@example(words="\u061c\u200c")
def test_json_says_what_it_was_given(words):
    assert json.loads(as_json({"said": words})) == {"said": words}
    assert hidden_in(as_json({"said": words})) == []


@settings(max_examples=30)
@given(events=legal_runs(), words=WORDS)
def test_no_event_as_json_holds_one_or_ends_its_line(events, words):
    view = RunView()
    for stored in events:
        hostile = replace(stored, event=poisoned(stored.event, words))
        apply(view, hostile)
        value = event_object(view, hostile)
        line = as_json(value)
        assert hidden_in(line) == []
        assert "\n" not in line
        assert json.loads(line)["event"] == value["event"]


def test_text_is_printed_with_its_lines_and_tabs_and_further_lines_cannot_pass_for_lines_of_sq(capsys):
    assert printed(["  a: x\ncomplete (exit code 0)\n\n\tb", "c"], capsys) == (
        "  a: x\n      complete (exit code 0)\n\n      \tb\nc\n"
    )


def test_what_is_hidden_is_shown_by_its_code():
    assert visible("a\x1b[2J\r\x9b\u202e\U000e0041\ud800") == r"a\x1b[2J\r\x9b\u202e\U000e0041\ud800"
    assert cell("a\tb\nc") == r"a\tb\nc"


@pytest.mark.parametrize("text", ["👩‍💻", "می‌خواهم", "क्‍ष", "naïve 漢字 “x”"])
def test_writing_that_needs_a_joiner_stays_as_it_is(text):
    assert visible(text) == text


def test_a_joiner_between_plain_letters_is_shown():
    assert visible("pay\u200dpal pass\u200cword") == r"pay\u200dpal pass\u200cword"


def test_a_table_keeps_its_rows_and_columns_whatever_is_in_its_cells():
    assert columns(("a", "b"), [("x\ny", "z"), ("\u202e", "z")]) == ["a       b", r"x\ny    z", r"\u202e  z"]
