"""The rows of `benchmarks/field_cases` are many, of many languages, and each report is named; a wrong end is told."""

import pytest

from benchmarks.field import load_cases, try_case

MOST_SHARE = 0.5  # of the cases that nobody reported


def test_at_least_half_of_the_cases_were_reported_and_say_where_and_when():
    cases = [one for one in load_cases() if not one.honest]
    reported = [one for one in cases if one.source]
    assert len(cases) >= 80
    assert len(cases) - len(reported) <= MOST_SHARE * len(cases)
    assert [one.name for one in reported if not one.source.startswith("https://") or not one.month] == []
    assert len({one.language for one in cases}) >= 8


def test_honest_works_are_of_twelve_languages():
    honest = [one for one in load_cases() if one.honest]
    assert len(honest) >= 60
    assert len({one.language for one in honest}) >= 12


@pytest.mark.parametrize(("stop", "wrong"), [("hold", ""), ("allow", "hold: ")])
def test_a_stop_is_compared_with_its_row(stop, wrong):
    (case,) = load_cases(("statement_of_intent_at_the_end",))
    result = try_case(type(case)(name="n", kind="gate", ask="gate", session=case.session, stop=stop))
    assert result.wrong.startswith(wrong)
    assert bool(result.wrong) == bool(wrong)


def test_a_case_that_cannot_be_made_is_said_to_be_broken():
    (case,) = load_cases(("all_closed",))
    result = try_case(type(case)(name="n", kind="gate", ask="gate", session=case.session, check="false"))
    assert result.wrong.startswith("the case itself is broken")
