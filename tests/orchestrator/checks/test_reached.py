"""Which of the base's test files a work can reach."""

from pathlib import Path

import pytest

from orchestrator.checks.of_tests.reached import reached
from tests.orchestrator.checks.bench_by_hand import workshop

CALC = "def add(a, b):\n    return a + b\n"
OF_CALC = (
    "import unittest\nfrom calc import add\n\n\nclass Adds(unittest.TestCase):\n    def test_add(self):\n"
    "        found = add(1, 2)\n        self.assertEqual(found, 3)\n"
)
OF_TEXT = (
    "import unittest\n{first}\n\nclass Text(unittest.TestCase):\n    def test_upper(self):\n"
    "        found = {what}\n        self.assertEqual(found, 'A')\n"
)
OF_MORE = OF_CALC.replace("Adds", "More").replace("(1, 2)", "(1.0, 2.0)")


@pytest.mark.parametrize(
    ("first", "what", "also"),
    [
        ("", "'a'.upper()", []),  # it uses a name that another file of tests gives to what it found
        ("import test_calc\n", "'A' if test_calc.Adds else ''", ["test_text.py"]),
    ],
)
async def test_names_that_a_file_of_tests_gives_lead_only_to_those_that_load_it(
    repository: Path, tmp_path: Path, first: str, what: str, also: list[str]
) -> None:
    shop = workshop(repository, tmp_path / "places")
    files = {"calc.py": CALC, "test_calc.py": OF_CALC, "test_text.py": OF_TEXT.format(first=first, what=what)}
    base = shop.commit(files)
    tree = shop.commit({"calc.py": CALC.replace("a + b", "b + a"), "test_more.py": OF_MORE})
    change = await shop.change(base, tree)

    found = await reached(change, await shop.compared(change))

    assert found == ["test_calc.py", *also]


ROUTES = "routes = {}\n\n\ndef route(to):\n    def keep(made):\n        routes[to] = made\n        return made\n    return keep\n"
OF_ROUTES = OF_TEXT.format(
    first="from routes import routes\nimport calc\n", what="'A' * routes['/add'](0, 1)"
)


async def test_a_function_that_a_decorator_hands_on_may_be_called_without_its_name(
    repository: Path, tmp_path: Path
) -> None:
    shop = workshop(repository, tmp_path / "places")
    routed = "from routes import route\n\n\n@route('/add')\n" + CALC
    base = shop.commit({"routes.py": ROUTES, "calc.py": routed, "test_routes.py": OF_ROUTES})
    tree = shop.commit({"calc.py": routed.replace("a + b", "b + a")})
    change = await shop.change(base, tree)

    assert await reached(change, await shop.compared(change)) is None
