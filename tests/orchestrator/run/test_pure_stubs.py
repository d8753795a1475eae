"""When the words of a spec want a function to do something."""

import pytest

from orchestrator.run.evidence.without_work import wants


@pytest.mark.parametrize(
    "spec",
    [
        "- Implement `half(n)`, a stub so far: it returns the half of n.",
        "- `half(n)` in shop.py returns the half of n, or None if n is odd.",
        "1. half raises ValueError for a text",
        "Fill in half and third.",
        "`half` must round up.",
        "Add a field.\n\nThe placeholder half() becomes real.",
    ],
)
def test_a_function_that_was_there_is_wanted(spec):
    assert wants(spec, "half", is_new=False)


@pytest.mark.parametrize(
    "spec",
    [
        "- Call `half(n)` after each item.",
        "- Add third(n), which is like half.",
        "- `half` stays a stub.\n- Implement third.",
        "- Implement third.\n- half is not changed.",
        "- half() does nothing by default.",
        "Implement halves.",
    ],
)
def test_a_function_that_was_there_may_stay(spec):
    assert not wants(spec, "half", is_new=False)


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ("- Add half(n) beside third.", True),
        ("- Add `half`, which returns None if n is odd.", True),
        ("- Add half(n): it gives the half, and an empty text for nothing.", True),
        ("- Add half() as a no-op.", False),
        ("- Add a stub `half(n)` for later.", False),
        ("- Add supports_half, and half returns False.", False),
        ("- half is always 0.", False),
        ("- Add third(n).", False),
    ],
)
def test_a_new_function_is_wanted_if_it_is_named_and_not_empty_by_the_spec(spec, wanted):
    assert wants(spec, "half", is_new=True) is wanted
