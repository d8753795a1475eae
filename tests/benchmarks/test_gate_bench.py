"""The labelled sessions, measured with the rules; what a measurement counts; and a judge that answers by files."""

import json
import lzma
import os
import sys
from pathlib import Path

import anyio
import pytest
import yaml
from language.programs import ran

from benchmarks.gate_bench import OURS, by_part, examine_all, summary_lines
from benchmarks.gate_sessions import Share, load_labelled
from orchestrator.gates.power_steering.considerations import SessionType, Severity, load_considerations
from orchestrator.gates.power_steering.examination import Judge
from state.errors import UsageError
from state.settings.presets import models

ROOT = Path(__file__).parents[2]
CONSIDERATIONS = load_considerations(None).considerations
IDS = [one.id for one in CONSIDERATIONS]
DOCUMENT = ROOT / "docs" / "stop-gate.md"
NOBODY = Judge(model=models()["haiku"], ask=None)
TESTED = (ROOT / "tests" / "agents" / "transcripts" / "tests.jsonl").read_text()


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    return load_labelled(OURS, tmp_path_factory.mktemp("sessions"), IDS)


@pytest.fixture(scope="module")
def parts(ours):
    examined = anyio.run(examine_all, ours, CONSIDERATIONS, lambda _: NOBODY)
    return by_part(examined, CONSIDERATIONS, judged=False)


def packed(folder, part, **labels):
    """A part in which every session is the same one, with these labels."""
    folder.mkdir(exist_ok=True)
    lines = (json.dumps({"name": name, "transcript": TESTED}) for name in labels)
    (folder / f"{part}.jsonl.xz").write_bytes(lzma.compress("\n".join(lines).encode()))
    usual = {"about": "", "session_type": "development"}
    text = yaml.safe_dump({name: {**usual, **label} for name, label in labels.items()})
    (folder / f"{part}.yaml").write_text(text)
    return folder


def unmet(*ids, visible=True):
    return {"unmet": {id_: {"visible_to_rules": visible} for id_ in ids}}


def measured(dataset, folder):
    sessions = load_labelled(dataset, folder / "unpacked", IDS)
    examined = anyio.run(examine_all, sessions, CONSIDERATIONS, lambda _: NOBODY)
    return by_part(examined, CONSIDERATIONS, judged=False)


# --- ours -------------------------------------------------------------------------------------------------


@pytest.mark.late
def test_rules_hold_at_most_two_percent_of_the_good_sessions_of_each_part(parts):
    assert len(parts) == 6
    for name, figures in parts.items():
        assert figures.good_held.total >= 60, name
        assert figures.good_held.share <= 0.02, (name, figures.wrong)
        assert figures.bad_held.count > 0, "they still find something"


@pytest.mark.late
def test_the_document_of_the_stop_gate_has_the_figures_of_the_set(parts):
    document = DOCUMENT.read_text()
    assert [line for line in summary_lines(parts) if line not in document] == []


def test_the_set_has_good_and_bad_sessions_of_every_type(ours):
    blockers = {one.id for one in CONSIDERATIONS if one.severity is Severity.BLOCKER}
    bad = [one for one in ours if blockers & one.label.unmet.keys()]
    assert abs(2 * len(bad) - len(ours)) <= 0.1 * len(ours)
    assert {one.label.session_type for one in ours} == set(SessionType)
    assert any((one.transcript.with_suffix("") / "subagents").is_dir() for one in ours)


# --- counts -----------------------------------------------------------------------------------------------


def test_parts_are_counted_apart_and_each_error_is_told(tmp_path):
    packed(tmp_path / "set", "first", good={}, bad=unmet("local_testing"))
    packed(tmp_path / "set", "second", also_good={})
    figures = measured(tmp_path / "set", tmp_path)
    assert list(figures) == ["first", "second"]
    first = figures["first"]
    assert (first.good_held, first.bad_held) == (Share(count=0, total=1), Share(count=0, total=1))
    assert first.visible_held.total == 1
    row = next(row for row in first.rows if row.id == "local_testing")
    assert (row.asked, row.decided, row.found) == (2, 0, Share(count=0, total=1))
    assert any("let go, and it is bad" in line for line in first.wrong["bad"])
    assert not any("FAILED" in line for line in summary_lines(figures))


def test_disputed_considerations_count_nowhere_and_announcements_apart(tmp_path):
    labels = {"disputed": ["local_testing"]}
    packed(
        tmp_path / "set", "part", one=labels, two={**unmet("next_steps", visible=False), "announced": True}
    )
    figures = measured(tmp_path / "set", tmp_path)["part"]
    row = next(row for row in figures.rows if row.id == "local_testing")
    assert row.asked == 1
    assert figures.announced_held == Share(count=0, total=1)
    assert figures.visible_held.total == 0


@pytest.mark.parametrize(
    ("count", "total", "low", "high"), [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (0, 0, 0.0, 1.0)]
)
def test_intervals_are_those_of_wilson(count, total, low, high):
    assert Share(count=count, total=total).interval == pytest.approx((low, high), abs=1e-4)


# --- the packed sessions ----------------------------------------------------------------------------------


def test_labels_that_cannot_be_used_are_told_all_at_once(tmp_path):
    packed(tmp_path, "a", one=unmet("no_such"))
    packed(tmp_path, "b", one={"what": 1})
    packed(tmp_path, "c", one={**unmet("shortcuts"), "disputed": ["shortcuts"]})
    packed(tmp_path, "d", one={}, two={})
    (tmp_path / "d.yaml").write_text("one: {about: '', session_type: development}\n")
    (tmp_path / "e.jsonl.xz").write_bytes(b"not packed")
    (tmp_path / "e.yaml").write_text("{}")
    with pytest.raises(UsageError) as told:
        load_labelled(tmp_path, tmp_path / "unpacked", IDS)
    for problem in (
        "a: one: no such consideration: no_such",
        "`what`",
        "both unmet and disputed: shortcuts",
        "d: two has no label, or no transcript",
        "e: ",
    ):
        assert problem in str(told.value)


def test_sessions_are_chosen_by_name_and_by_pattern(tmp_path):
    names = ["blind1/r1a_go_*", "recorded/fix_typo"]
    chosen = load_labelled(OURS, tmp_path, IDS, named=names)
    assert [one.name for one in chosen] == ["blind1/r1a_go_ratelimit_headers", "recorded/fix_typo"]
    assert {one.part for one in chosen} == {"dev", "seen"}
    with pytest.raises(UsageError, match="no session fits gone"):
        load_labelled(OURS, tmp_path, IDS, named=["gone"])
    with pytest.raises(UsageError, match=r"there is no PART\.jsonl\.xz"):
        load_labelled(tmp_path, tmp_path, IDS)


# --- the command, and a judge by files --------------------------------------------------------------------

SOME = ("--only", "local_testing,objective_completion")


@pytest.fixture
def bench(tmp_path):
    folder = packed(tmp_path / "set", "part", **{"old/good": {}, "new/bad": unmet("local_testing")})

    def run(*arguments):
        return ran(
            [sys.executable, "-m", "benchmarks.gate_bench", str(folder), *map(str, arguments)],
            cwd=ROOT,
            env={**os.environ, "HOME": str(tmp_path), "ANTHROPIC_API_KEY": ""},
        )

    return run


def figures_in(done):
    return json.loads(done.stdout.splitlines()[-1])["part"]


def test_the_command_shows_the_errors_and_ends_with_figures(bench):
    done = bench("--explain")
    assert done.returncode == 0, done.stderr
    assert "new/bad:\n    let go, and it is bad" in done.stdout
    assert figures_in(done)["good_held"] == [0, 1]


def test_a_judge_answers_by_files_and_is_compared_with_the_labels(bench, tmp_path):
    done = bench(*SOME, "--judge-prompts", tmp_path / "prompts")
    assert "4 prompts are in" in done.stdout, done.stderr
    prompt = json.loads((tmp_path / "prompts" / "new.bad.local_testing.json").read_text())
    assert (prompt["session"], prompt["considerations"]) == ("new/bad", ["local_testing"])
    assert "pytest" in prompt["shared"]
    assert set(prompt["schema"]["required"]) == {"verdict", "reason", "quote"}
    replies = tmp_path / "replies"
    replies.mkdir()
    for name, verdict in (
        ("old.good.local_testing", "satisfied"),
        ("new.bad.local_testing", "not_satisfied"),
        ("old.good.objective_completion", "not_satisfied"),
    ):
        answer = {"verdict": verdict, "reason": "The callers are left.", "quote": "12 passed"}
        (replies / f"{name}.json").write_text(json.dumps(answer))
    (replies / "new.bad.objective_completion.json").write_text("{")
    done = bench(*SOME, "--judge-replies", replies, "--explain")
    assert done.returncode == 1, "a good session is held"
    assert "FAILED: part holds more than 2 % of its good sessions" in done.stdout
    assert "objective_completion: labelled met, called unmet: The callers are left." in done.stdout
    figures = figures_in(done)
    assert (figures["agreement"], figures["not_answered"]) == ([2, 3], 1)
    assert (figures["good_held"], figures["bad_held"]) == ([1, 1], [1, 1])


def test_each_question_about_a_session_is_answered_by_a_file_of_its_own(bench, tmp_path):
    bench("--judge-prompts", tmp_path / "prompts")
    asked = [json.loads(file.read_text()) for file in (tmp_path / "prompts").iterdir()]
    of_the_bad = [one["considerations"] for one in asked if one["session"] == "new/bad"]
    assert len({id_ for (id_,) in of_the_bad}) == len(of_the_bad) > 12
    replies = tmp_path / "replies"
    replies.mkdir()
    for one in asked:
        judged = {"verdict": "not_satisfied", "reason": "It is not.", "quote": "12 passed"}
        (replies / f"{one['id']}.json").write_text(json.dumps(judged))
    figures = figures_in(bench("--judge-replies", replies))
    assert figures["not_answered"] == 0
    assert (figures["good_held"], figures["bad_held"]) == ([1, 1], [1, 1])


def test_what_the_command_cannot_use_is_told(bench, tmp_path):
    (tmp_path / "file").write_text("")
    for arguments, problem in (
        (("--judge", "--judge-replies", tmp_path), "exclude each other"),
        (("--only", "gone"), "no such consideration: gone"),
        (("--sessions", "gone"), "no session fits gone"),
        (("--judge-prompts", tmp_path / "file" / "prompts"), "cannot be written"),
    ):
        done = bench(*arguments)
        assert done.returncode == 2
        assert problem in done.stderr
