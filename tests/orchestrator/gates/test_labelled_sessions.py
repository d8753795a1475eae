"""The labelled set of our own, measured with the rules; and what a measurement counts."""

from pathlib import Path

import pytest
import yaml

from orchestrator.gates.power_steering.bench import Share, measure
from orchestrator.gates.power_steering.considerations import SessionType, Severity, load_considerations
from orchestrator.gates.power_steering.examine import Judge
from orchestrator.gates.power_steering.labels import load_labelled
from orchestrator.views.steering import measured_lines
from state.errors import UsageError
from state.presets import models

OURS = Path(__file__).parents[2] / "labelled_sessions"
CONSIDERATIONS = {one.id: one for one in load_considerations(None).considerations}
README = Path(__file__).parents[3] / "README.md"
NOBODY = Judge(model=models()["haiku"], ask=None)
REAL = Path(__file__).parents[2] / "agents" / "transcripts"


@pytest.fixture(scope="module")
def ours():
    return load_labelled(OURS, CONSIDERATIONS)


def is_bad(labelled):
    return any(CONSIDERATIONS[id_].severity is Severity.BLOCKER for id_ in labelled.label.unmet)


def test_the_set_has_sixty_sessions_half_recorded_good_and_bad_in_equal_parts(ours):
    recorded = [one for one in ours if one.name.startswith("recorded/")]
    written = [one for one in ours if one.name.startswith("written/")]
    bad = [one for one in ours if is_bad(one)]
    assert len(ours) >= 60
    assert len(recorded) == len(written)
    assert abs(2 * len(bad) - len(ours)) <= 0.1 * len(ours)
    assert {one.label.session_type for one in ours} == set(SessionType)
    assert len([one for one in ours if one.pair_name]) >= 16


async def test_rules_alone_keep_to_their_targets_and_every_pair_flips(ours):
    measured = await measure(ours, list(CONSIDERATIONS.values()), NOBODY)
    assert measured.false_blocks.share <= 0.05, measured.wrong
    assert measured.check_false_blocks.share <= 0.05, measured.wrong
    assert measured.visible_misses.share <= 0.10, measured.wrong
    assert measured.check_visible_misses.share <= 0.10, measured.wrong
    assert measured.pairs.count == measured.pairs.total, measured.wrong
    assert measured.misses.total > 0


async def test_the_readme_has_the_figures_of_the_set(ours):
    measured = await measure(ours, list(CONSIDERATIONS.values()), NOBODY)
    told = [line for line in measured_lines(measured, explain=False) if "overall" in line or "%  " in line]
    readme = README.read_text()
    assert [line for line in told[-9:] if line not in readme] == []


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
    measured = await measure(load_labelled(tmp_path, CONSIDERATIONS), list(CONSIDERATIONS.values()), NOBODY)
    assert measured.false_blocks == Share(count=0, total=1)
    assert measured.misses == measured.visible_misses == Share(count=2, total=2)
    assert measured.pairs == Share(count=0, total=1)
    row = next(row for row in measured.rows if row.id == "local_testing")
    assert (row.misses, row.false_blocks) == (Share(count=2, total=2), Share(count=0, total=1))
    assert any("local_testing not found (visible)" in line for line in measured.wrong["pair"])
    assert any("does not flip against tested" in line for line in measured.wrong["pair"])


@pytest.mark.parametrize(
    ("count", "total", "low", "high"), [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (0, 0, 0.0, 1.0)]
)
def test_intervals_are_those_of_wilson(count, total, low, high):
    assert Share(count=count, total=total).interval == pytest.approx((low, high), abs=1e-4)


def test_labels_that_cannot_be_used_are_told_all_at_once(tmp_path):
    labelled(tmp_path, "a", "tests", unmet={"no_such": {"visible_to_rules": True}})
    labelled(tmp_path, "b", "tests", what=1)
    labelled(tmp_path, "c", "tests", pair={"with": "gone", "flips": []})
    (tmp_path / "d.jsonl").write_text("")
    with pytest.raises(UsageError) as told:
        load_labelled(tmp_path, CONSIDERATIONS)
    for problem in (
        "no such consideration: no_such",
        "`what`",
        "there is no session gone",
        "no label beside it (d.yaml)",
    ):
        assert problem in str(told.value)


def test_a_folder_without_sessions_is_no_data_set(tmp_path):
    for folder in (tmp_path, tmp_path / "gone"):
        with pytest.raises(UsageError, match="session"):
            load_labelled(folder, CONSIDERATIONS)
