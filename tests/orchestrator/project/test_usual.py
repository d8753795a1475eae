"""Files of tests by their usual names."""

import pytest
from language.tables import table

from orchestrator.project.files import is_test_file


@pytest.mark.parametrize("path", table(__file__, "tests"))
def test_names_and_folders_that_people_give_tests(path: str) -> None:
    assert is_test_file(path)


@pytest.mark.parametrize("path", table(__file__, "others"))
def test_all_others_are_none(path: str) -> None:
    assert not is_test_file(path)
