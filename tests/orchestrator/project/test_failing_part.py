"""The failing part of an output: what the Worker reads, beside any number of passing tests."""

import pytest

from orchestrator.project.runners.ability import CUT, failing_part
from orchestrator.project.runners.suite import suite_of

PASSING = "\n".join(f"=== RUN   Test{n}\n    logged {n}\n--- PASS: Test{n} (0.00s)" for n in range(400))
GO = f"""\
=== RUN   TestPrice
    price_test.go:7: got 2, want 1
--- FAIL: TestPrice (0.00s)
{PASSING}
FAIL
FAIL\tshop\t0.004s
"""
PYTEST = """\
tests/test_shop.py::test_price FAILED
=================================== FAILURES ===================================
E       assert 2 == 1
=========================== short test summary info ============================
FAILED tests/test_shop.py::test_price - assert 2 == 1
1 failed, 400 passed in 0.30s
"""
UNITTEST = (
    "test_a ... ok\n" * 400 + "=" * 70 + "\nFAIL: test_price\n" + "-" * 70 + "\nAssertionError: 2 != 1\n"
)
SCRIPT = "checking price\nFAIL price: got 2, want 1\n" + "ok  another check\n" * 400


@pytest.mark.parametrize(
    ("command", "output", "shown", "hidden"),
    [
        (
            "go test ./...",
            GO,
            ["price_test.go:7: got 2, want 1", "--- FAIL: TestPrice", "FAIL\tshop"],
            "logged",
        ),
        (
            "pytest -v",
            f"{PASSING}\n{PYTEST}",
            ["FAILURES", "assert 2 == 1", "1 failed, 400 passed"],
            "logged",
        ),
        ("python -m unittest -v", UNITTEST, ["FAIL: test_price", "AssertionError: 2 != 1"], "... ok"),
        ("sh check.sh", SCRIPT, ["checking price", "FAIL price: got 2, want 1"], "ok  another check\n" * 20),
    ],
)
def test_the_failures_are_shown_and_not_the_tests_that_pass(command, output, shown, hidden, tmp_path):
    part = failing_part(suite_of(command, tmp_path), output, 4_000)
    assert all(words in part for words in shown), part
    assert hidden not in part
    assert len(part) <= 4_000


def test_of_many_failures_the_first_and_the_summary_are_shown(tmp_path):
    many = PYTEST.replace(
        "E       assert", "".join(f"E   line {n}\n" for n in range(2_000)) + "E       assert"
    )
    part = failing_part(suite_of("pytest", tmp_path), many, 1_000)
    assert "E   line 0\n" in part
    assert part.endswith("1 failed, 400 passed in 0.30s")
    assert CUT in part
    assert len(part) <= 1_000
