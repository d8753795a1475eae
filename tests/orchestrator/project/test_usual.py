"""Files of tests by their usual names."""

import pytest

from orchestrator.project.files import is_test_file


@pytest.mark.parametrize(
    "path",
    [
        *(
            "test.js",
            "src/test.ts",
            "calc.test.mjs",
            "calc_test.go",
            "test_calc.py",
            "test-calc.js",
            "spec/calc.rb",
        ),
        *("CalcTest.java", "CalcTests.cs", "TestCalc.swift", "calc.spec.ts", "calc_spec.rb", "t/basic.t"),
        *("tests/rounding.js", "packages/a/__tests__/b.jsx", "tests.py"),
    ],
)
def test_names_and_folders_that_people_give_tests(path: str) -> None:
    assert is_test_file(path)


@pytest.mark.parametrize(
    "path",
    [
        *("calc.js", "contest.py", "latest.js", "attestation.go", "inspect.rb", "specific.py", "testing.md"),
        *(
            "tests/data.json",
            "tests/fixtures/a.js",
            "test/helpers/server.js",
            "test/_setup.js",
            "tests/.eslintrc.js",
        ),
        *("tests/__init__.py", "__snapshots__/a.test.js.snap", "README.md", "docs/test.md"),
    ],
)
def test_all_others_are_none(path: str) -> None:
    assert not is_test_file(path)
