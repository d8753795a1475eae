"""The planted faults of specs: their data, and their scores."""

from collections import Counter

import pytest
from language.spec_faults import CaseScore, all_cases, checked, figures_of, scripted

from state.records.spec_check import FaultKind

CASES = {case.name: case for case in all_cases()}


def test_each_kind_is_planted_twice_and_specs_are_of_one_length() -> None:
    faulty = [case for case in CASES.values() if case.faults]
    good = [case for case in CASES.values() if not case.faults]
    planted = Counter(fault.kind for case in faulty for fault in case.faults)
    assert {*planted} == {*FaultKind}
    assert min(planted.values()) >= 2
    assert (len(faulty) >= 16, len(good)) == (True, 8)
    words = [len(case.spec.split()) for case in CASES.values()]
    assert max(words) < 1.6 * min(words)


def test_only_a_finding_at_the_lines_and_of_a_plausible_kind_counts() -> None:
    scores = [CaseScore(case=CASES[name], findings=tuple(found)) for name, found in scripted(CASES).items()]
    assert [len(one.found) for one in scores] == [1, 0, 0, 0]
    figures = figures_of(scores)
    assert figures["found_share"] == pytest.approx(1 / 3)
    assert (figures["alarms_on_good_specs"], figures["most_alarms_on_a_good_spec"]) == (1, 1)
    assert figures["other_findings"] == 2


def test_a_spec_that_could_not_be_checked_counts_as_nothing_found() -> None:
    figures = figures_of([CaseScore(case=CASES["coupon"], error="no credentials")])
    assert (figures["found"], figures["planted"], figures["not_checked"]) == (0, 1, 1)


@pytest.mark.late
@pytest.mark.timeout(240)
def test_what_sq_check_says_of_a_spec_is_scored() -> None:
    answers = scripted(CASES)
    scores = [checked(CASES[name], answers=found) for name, found in answers.items()]
    assert [one.error for one in scores] == [""] * 4
    assert [len(one.found) for one in scores] == [1, 0, 0, 0]
