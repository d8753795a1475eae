"""By which names of failing tests a canary counts as noticed."""

import pytest

from orchestrator.checks.results.canary import are_noticed
from orchestrator.project.runners.canary import Canary

BOTH = Canary(path="test_wide.py", content="", names=("test_wide", "test_low"), only=("test_wide.py",))


@pytest.mark.parametrize(
    ("failed", "noticed"),
    [
        (["test_wide.Wide.test_wide", "test_wide.Low.test_low"], True),
        (["test_wide.Low.test_low"], False),
        (["test_wide.py::test_low"], False),
        (["test_wide (in a browser)", "test_low (in a browser)"], True),
        (["test_low (in a browser)"], False),
        ([], False),
    ],
)
def test_each_failing_test_is_noticed_by_its_own_name_and_not_by_that_of_its_file(
    failed: list[str], *, noticed: bool
) -> None:
    assert are_noticed(failed, BOTH) is noticed
