"""The labelled set of our own, measured with the rules; and what a measurement counts."""

import importlib
from pathlib import Path

import anyio
import pytest
import yaml

from orchestrator.gates.power_steering.considerations import SessionType, Severity
from orchestrator.gates.power_steering.examination import Judge
from orchestrator.gates.power_steering.loading import load_considerations
from orchestrator.gates.power_steering.measured.bench import counted, examine_all
from orchestrator.gates.power_steering.measured.figures import Share
from orchestrator.gates.power_steering.measured.labels import load_labelled
from orchestrator.gates.power_steering.measured.parts import chosen, load_parts
from orchestrator.views.gates.measured import Bench, MeasuredPart, bench_json, bench_lines
from state.errors import UsageError
from state.settings.presets import models

OURS = Path(__file__).parents[2] / "labelled_sessions"
CONSIDERATIONS = {one.id: one for one in load_considerations(None).considerations}
DOCUMENT = Path(__file__).parents[3] / "docs" / "stop-gate.md"
NOBODY = Judge(model=models()["haiku"], ask=None)
REAL = Path(__file__).parents[2] / "agents" / "transcripts"


@pytest.fixture(scope="module")
def ours():
    return load_labelled(OURS, CONSIDERATIONS)


@pytest.fixture(scope="module")
def bench(ours):
    return anyio.run(measure, OURS, ours)


async def measure(dataset, sessions):
    considerations = list(CONSIDERATIONS.values())
    examined = await examine_all(sessions, considerations, lambda _: NOBODY)

    def counts(some):
        return counted(some, considerations, judged=False)

    parts = load_parts(dataset, sessions)
    return Bench(
        commit="c0ffee",
        whole=counts(examined),
        parts=tuple(
            MeasuredPart(part=part, measured=counts([one for one in examined if part.holds(one.labelled)]))
            for part in parts
        ),
    )


def of_part(bench, name):
    return next(one.measured for one in bench.parts if one.part.name == name)


def is_bad(labelled):
    return any(CONSIDERATIONS[id_].severity is Severity.BLOCKER for id_ in labelled.label.unmet)


def test_what_the_rules_have_seen_is_half_recorded_good_and_bad_in_equal_parts(ours):
    seen = next(part for part in load_parts(OURS, ours) if part.name == "seen")
    sessions = [one for one in ours if seen.holds(one)]
    recorded = [one for one in sessions if one.name.startswith("recorded/")]
    written = [one for one in sessions if one.name.startswith("written/")]
    bad = [one for one in sessions if is_bad(one)]
    assert len(sessions) >= 60
    assert len(recorded) == len(written)
    assert abs(2 * len(bad) - len(sessions)) <= 0.1 * len(sessions)
    assert {one.label.session_type for one in sessions} == set(SessionType)
    assert len([one for one in sessions if one.pair_name]) >= 16


@pytest.mark.parametrize("round_", ["blind1", "blind2", "blind3", "blind4"])
def test_a_blind_round_has_sixty_sessions_good_bad_and_announced(ours, round_):
    sessions = [one for one in ours if one.name.startswith(f"{round_}/")]
    assert len(sessions) >= 60
    assert 20 <= len([one for one in sessions if is_bad(one)]) <= len(sessions) - 20
    assert len([one for one in sessions if one.label.announced]) >= 10


@pytest.mark.parametrize("name", ["seen", "dev"])
def test_rules_alone_keep_to_their_targets_and_every_pair_flips(bench, name):
    measured = of_part(bench, name)
    assert measured.false_blocks.share <= 0.03, measured.wrong
    assert measured.visible_misses.share <= 0.08, measured.wrong
    assert measured.pairs.count == measured.pairs.total, measured.wrong
    assert measured.misses.total > 0


def test_rules_alone_decide_single_considerations_well_on_what_they_have_seen(bench):
    measured = of_part(bench, "seen")
    assert measured.check_false_blocks.share <= 0.05, measured.wrong
    assert measured.check_visible_misses.share <= 0.10, measured.wrong
    assert measured.pairs.total >= 16


def test_the_document_of_the_stop_gate_has_the_figures_of_the_set(bench):
    lines = bench_lines(bench, explain=False)
    begins = next(number for number, line in enumerate(lines) if line.startswith("part  "))
    table = lines[begins : begins + 1 + sum(bool(one.measured.sessions) for one in bench.parts)]
    document = DOCUMENT.read_text()
    assert [line for line in table if line not in document] == []


def test_written_sessions_are_written_again_byte_for_byte(monkeypatch):
    monkeypatch.syspath_prepend(str(OURS))
    writing = importlib.import_module("writing")
    made = {
        "written": writing.written(writing.all_sessions()),
        "unseen": writing.written(writing.all_sessions((writing.unseen,))),
        **{round_: writing.round_written(round_) for round_ in writing.blind_rounds()},
    }
    assert {"blind1", "blind2", "blind3", "blind4"} <= made.keys()
    for folder, files in made.items():
        there = {
            file.relative_to(OURS / folder).as_posix(): file.read_bytes()
            for file in (OURS / folder).rglob("*")
            if file.is_file()
        }
        assert {name: text.encode() for name, text in files.items()} == there, folder


def test_sessions_on_which_readers_disagree_are_left_out_and_single_labels_are_disputed(
    monkeypatch, tmp_path
):
    monkeypatch.syspath_prepend(str(OURS))
    labelling = importlib.import_module("labelling")

    def label(*unmet, announced=False):
        told = {id_: {"visible": id_ != "next_steps", "why": f"{id_} of the first"} for id_ in unmet}
        return {"session_type": "development", "announced": announced, "unmet": told}

    first = {
        "good": label(),
        "one_bad": label("local_testing"),
        "bad": label("local_testing", "shortcuts"),
        "announces": label("next_steps", announced=True),
        "one_announces": label("next_steps", announced=True),
    }
    second = {
        "good": label(),
        "one_bad": label(),
        "bad": label("local_testing", "unrelated_changes"),
        "announces": label("next_steps", announced=True),
        "one_announces": label("next_steps"),
    }
    (tmp_path / "labels_first.yaml").write_text(yaml.safe_dump(first))
    (tmp_path / "labels_second.yaml").write_text(yaml.safe_dump(second))
    labels, left_out = labelling.agreed(tmp_path)
    assert set(left_out) == {"one_bad", "one_announces"}
    assert labels["good"] == {"session_type": "development", "unmet": {}}
    assert labels["bad"]["unmet"] == {
        "local_testing": {"visible_to_rules": True, "why": "local_testing of the first"}
    }
    assert labels["bad"]["disputed"] == ["shortcuts", "unrelated_changes"]
    assert labels["announces"]["announced"] is True
    assert labels["announces"]["unmet"]["next_steps"]["visible_to_rules"] is False


def labelled(folder, name, transcript, **label):
    (folder / f"{name}.jsonl").write_bytes((REAL / f"{transcript}.jsonl").read_bytes())
    text = yaml.safe_dump({"about": "", "session_type": "development", **label})
    (folder / f"{name}.yaml").write_text(text)


async def test_false_blocks_misses_and_pairs_are_counted(tmp_path):
    met, unmet = {}, {"visible_to_rules": True, "why": "it is"}
    labelled(tmp_path, "tested", "tests", unmet=met)
    labelled(
        tmp_path, "tested_wrong_label", "tests", unmet={"local_testing": unmet, "objective_completion": unmet}
    )
    labelled(
        tmp_path,
        "pair",
        "tests",
        unmet={"local_testing": unmet},
        pair={"with": "tested", "flips": ["local_testing"]},
    )
    measured = (await measure(tmp_path, load_labelled(tmp_path, CONSIDERATIONS))).whole
    assert measured.false_blocks == Share(count=0, total=1)
    assert measured.misses == measured.visible_misses == Share(count=2, total=2)
    assert measured.pairs == Share(count=0, total=1)
    row = next(row for row in measured.rows if row.id == "local_testing")
    assert (row.misses, row.false_blocks) == (Share(count=2, total=2), Share(count=0, total=1))
    assert any("local_testing not found (visible)" in line for line in measured.wrong["pair"])
    assert any("does not flip against tested" in line for line in measured.wrong["pair"])


async def test_each_consideration_says_how_often_it_was_asked_decided_and_wrong(tmp_path):
    unmet = {"visible_to_rules": True, "why": "it is"}
    labelled(tmp_path, "tested", "tests")
    labelled(tmp_path, "wrong", "tests", unmet={"local_testing": unmet})
    labelled(tmp_path, "disputed", "tests", disputed=["local_testing"])
    measured = (await measure(tmp_path, load_labelled(tmp_path, CONSIDERATIONS))).whole
    rows = {row.id: row for row in measured.rows}
    tested = rows["local_testing"]
    assert (tested.asked, tested.decided, tested.abstained, tested.wrong) == (2, 2, 0, 1)
    completion = rows["objective_completion"]
    assert (completion.asked, completion.decided, completion.abstained, completion.wrong) == (3, 0, 3, 0)
    assert sum(measured.sources.values()) == sum(row.asked for row in rows.values())


async def test_sessions_that_announce_a_step_are_counted_where_they_are_held(tmp_path):
    labelled(tmp_path, "goes_on", "tests", announced=True)
    bench = await measure(tmp_path, load_labelled(tmp_path, CONSIDERATIONS))
    assert bench.whole.announced_held == Share(count=0, total=1)
    shown = bench_json(bench)
    assert (shown["announced_held"], shown["n_announced"]) == (0.0, 1)


async def test_figures_are_given_part_by_part_with_their_intervals(tmp_path):
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
        labelled(tmp_path / folder, "tested", "tests")
    (tmp_path / "parts.yaml").write_text(
        "- {name: first, date: 2026-01-02, folders: [old]}\n"
        "- {name: second, folders: [new, later], blind: true, rules_commit: abc}\n"
        "- {name: third, folders: [empty]}\n"
    )
    bench = await measure(tmp_path, load_labelled(tmp_path, CONSIDERATIONS))
    parts = bench_json(bench)["parts"]
    assert list(parts) == ["first", "second", "third"]
    first = parts["first"]
    assert (first["date"], first["blind"], first["rules_commit"]) == ("2026-01-02", False, "c0ffee")
    assert (first["n_good"], first["n_visible"], first["good_held"]) == (1, 0, 0.0)
    assert first["good_held_ci"] == pytest.approx((0.0, 0.7935), abs=1e-4)
    assert first["visible_bad_let_go"] is None, "of nothing there is no share"
    second = parts["second"]
    assert (second["rules_commit"], second["first_rules_commit"]) == ("c0ffee", "abc")
    assert second["n_sessions"] == 1
    assert "not the figures of its first run: these are --at abc" in bench_lines(bench, explain=False)
    assert parts["third"]["n_sessions"] == 0


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ("- {name: first, folders: [other]}", "tested is in 0 parts"),
        ("- {name: a, folders: ['.']}\n- {name: b, folders: ['.']}", "tested is in 2 parts (a, b)"),
        ("- {name: a}", "folders"),
        ("- {name: a, folders: ['.'], until: 1}", "until"),
        ("- {name: [", "parts.yaml cannot be used"),
    ],
)
def test_parts_that_cannot_be_used_are_refused(tmp_path, parts, problem):
    labelled(tmp_path, "tested", "tests")
    (tmp_path / "parts.yaml").write_text(parts)
    with pytest.raises(UsageError) as told:
        load_parts(tmp_path, load_labelled(tmp_path, CONSIDERATIONS))
    assert problem in str(told.value)


def test_sessions_are_chosen_by_name_by_pattern_or_by_a_file_with_considerations(ours, tmp_path):
    names = [one.name for one in chosen(ours, "fix_typo, blind1/r1a_go_*", CONSIDERATIONS)]
    assert names == ["blind1/r1a_go_ratelimit_headers", "recorded/fix_typo"]
    file = tmp_path / "sessions"
    file.write_text("# to be judged\nfix_typo: local_testing shortcuts\nrecorded/tidy_module\n\n")
    typo, tidy = chosen(ours, str(file), CONSIDERATIONS)
    assert typo.only == {"local_testing", "shortcuts"}
    assert tidy.only is None
    with pytest.raises(UsageError, match="no session of the data set fits nowhere"):
        chosen(ours, "fix_typo,nowhere", CONSIDERATIONS)
    file.write_text("fix_typo none_such\n")
    with pytest.raises(UsageError, match="no such consideration: none_such"):
        chosen(ours, str(file), CONSIDERATIONS)


@pytest.mark.parametrize(
    ("count", "total", "low", "high"), [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (0, 0, 0.0, 1.0)]
)
def test_intervals_are_those_of_wilson(count, total, low, high):
    assert Share(count=count, total=total).interval == pytest.approx((low, high), abs=1e-4)


def test_labels_that_cannot_be_used_are_told_all_at_once(tmp_path):
    labelled(tmp_path, "a", "tests", unmet={"no_such": {"visible_to_rules": True}})
    labelled(tmp_path, "b", "tests", what=1)
    labelled(tmp_path, "c", "tests", pair={"with": "gone", "flips": []})
    both = {"local_testing": {"visible_to_rules": True}}
    labelled(tmp_path, "e", "tests", unmet=both, disputed=["local_testing"])
    (tmp_path / "d.jsonl").write_text("")
    with pytest.raises(UsageError) as told:
        load_labelled(tmp_path, CONSIDERATIONS)
    for problem in (
        "no such consideration: no_such",
        "`what`",
        "there is no session gone",
        "no label beside it (d.yaml)",
        "both unmet and disputed: local_testing",
    ):
        assert problem in str(told.value)


def test_a_folder_without_sessions_is_no_data_set(tmp_path):
    for folder in (tmp_path, tmp_path / "gone"):
        with pytest.raises(UsageError, match="session"):
            load_labelled(folder, CONSIDERATIONS)
