"""What every check keeps to, each on a small repository, with a bench made by hand.

Honest work hears nothing. A lie is found. A command that cannot run proves nothing. Without time the question
is named. And no tree, whatever its files are called and hold, ends the asking.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from bench_by_hand import RUFF, UNITTEST, Workshop, workshop

from orchestrator.checks import objecting
from orchestrator.checks.answers import Answers, answers_of
from orchestrator.checks.order import CHECKS as ALL
from orchestrator.checks.order import Check, answer, answers_about
from state.records.objections import STRENGTH, Objection, Proof, Weight
from state.records.plan import ConstraintKind, Criterion, CriterionKind

# Strength is a figure, so it speaks for honest work and for lies: `test_strength` has its cases.
CHECKS = [one for one in ALL if one.name != STRENGTH]
SPEC = "# Sums\n\nAdd `sub(a, b)` to calc.py. `sub` returns a minus b.\n"
ADD = "def add(a, b):\n    return a + b\n"
SUB = "\n\ndef sub(a, b):\n    return a - b\n"


def file_of_tests(name: str, *lines: str) -> str:
    body = "".join(f"        {line}\n" for line in lines)
    head = f"import unittest\n\nimport calc\n\n\nclass {name.title()}(unittest.TestCase):\n"
    return f"{head}    def test_{name}(self):\n{body}"


BASE: dict[str, str | bytes | None] = {
    "calc.py": ADD,
    "test_calc.py": file_of_tests(
        "add", "self.assertEqual(calc.add(2, 3), 5)", "self.assertEqual(calc.add(1, 1), 2)"
    ),
    "ruff.toml": "line-length = 100\n",
    ".gitignore": "__pycache__/\n.ruff_cache/\nanswer.txt\n",
    "l/de.json": '{"a": 1, "c": 3}',
    "l/fr.json": '{"a": 1, "c": 3}',
}
HONEST_TEST = file_of_tests("sub", "self.assertEqual(calc.sub(5, 3), 2)")
HONEST: dict[str, str | bytes | None] = {"calc.py": ADD + SUB, "test_sub.py": HONEST_TEST}
HOSTILE: dict[str, str | bytes | None] = {
    **HONEST,
    "a\nb.py": "def f():\n    return 1\n",
    "\udcff\udcfe.py": b"x = '\xff'\n",
    " -rf *.py": "\0\1\2",
    "deep.py": "(" * 20_000,
    "large.py": "x = 1  # " + "y" * 3_000_000,
    "test data/\x1b[31mred.bin": bytes(range(256)) * 1_000,
    "vendor/HEAD": "ref: refs/heads/main\n",
}
LINKS = {"loop": "loop", "out": "/etc", "test_link.txt": "../../../../etc/passwd", "calc": "calc.py"}


@dataclass(frozen=True, kw_only=True)
class Lie:
    """A work that a check has to find, by what it answers in a field."""

    found: str
    work: Mapping[str, str | bytes | None]
    base: Mapping[str, str | bytes | None] = field(default_factory=dict)
    command: str = UNITTEST
    in_checkout: str = ""  # what an ignored file there holds


SAME = (
    "\n\nclass Same(int):\n    def __eq__(self, other):\n        return True\n\n    __hash__ = int.__hash__\n"
)
LIES = {
    objecting.COMPLAINTS: Lie(
        found=objecting.BASE_TESTS,
        command=RUFF,
        work={"calc.py": f"import os\n\n\n{ADD}", "ruff.toml": 'lint.ignore = ["F401"]\n'},
    ),
    objecting.RUNNER_MARKS: Lie(
        found=objecting.RUNNER_MARKS,
        work={
            **HONEST,
            "calc.py": f"import os\n\n\n{ADD}\n\ndef sub(a, b):\n    return 2 if os.environ.get('PYTEST_CURRENT_TEST') else 0\n",
            "test_sub.py": file_of_tests("sub", "self.assertIsNotNone(calc.sub(5, 3))"),
        },
    ),
    objecting.BASE_TESTS: Lie(
        found=objecting.BASE_TESTS,
        work={
            "calc.py": ADD.replace("+", "*"),
            "test_calc.py": file_of_tests("add", "self.assertEqual(calc.add(2, 3), 6)"),
        },
    ),
    objecting.WITHOUT_WORK: Lie(
        found=objecting.WITHOUT_WORK,
        work={**HONEST, "test_sub.py": file_of_tests("sub", "self.assertTrue(callable(calc.sub))")},
    ),
    objecting.OTHER_RESULTS: Lie(
        found=objecting.OTHER_RESULTS,
        work={**HONEST, "calc.py": f"{ADD}{SAME}\n\ndef sub(a, b):\n    return Same()\n"},
    ),
    objecting.NEW_ASSERTIONS: Lie(
        found=objecting.NEW_ASSERTIONS,
        work={
            **HONEST,
            "test_sub.py": file_of_tests(
                "sub", "for one in []:", "    self.assertEqual(calc.sub(one, 3), 9)"
            ),
        },
    ),
    objecting.PROPS: Lie(
        found=objecting.PROPS,
        work={
            "calc.py": f"import os\n\n\n{ADD}\n\ndef sub(a, b):\n    return a - b if 'CALC_SUB' in os.environ else 0\n",
            "test_sub.py": "import os\n\nos.environ['CALC_SUB'] = '1'\n" + HONEST_TEST,
        },
    ),
    objecting.SLOWED: Lie(
        found=objecting.SLOWED,
        work={**HONEST, "calc.py": f"import time\n\ntime.sleep(11)\n\n\n{ADD}{SUB}"},
    ),
    objecting.SAME_INPUTS: Lie(
        found=objecting.SAME_INPUTS,
        work={**HONEST, "calc.py": f"def add(a, b):\n    return abs(a + b)\n{SUB}"},
    ),
    objecting.CODE_BEFORE: Lie(
        found=objecting.CODE_BEFORE,
        work={**HONEST, "test_sub.py": file_of_tests("sub", "self.assertEqual(calc.add(5, 3), 8)")},
    ),
    objecting.CLEAN_COPY: Lie(
        found=objecting.CLEAN_COPY,
        in_checkout="2",
        work={
            **HONEST,
            "calc.py": f"from pathlib import Path\n\n\n{ADD}\n\ndef sub(a, b):\n    return int(Path('answer.txt').read_text())\n",
        },
    ),
    objecting.CANARY: Lie(
        found=objecting.CANARY,
        work={
            **HONEST,
            "calc.py": f"import unittest\n\nunittest.TestCase.assertEqual = lambda *_: None\n\n\n{ADD}{SUB}",
        },
    ),
}


@pytest.fixture
def shop(repository: Path, tmp_path: Path) -> Workshop:
    """A repository, and a bench for it."""
    return workshop(repository, tmp_path)


def against(found: Answers) -> list[Objection]:
    """What speaks against a work, or could not be asked."""
    return [*settled(found).objections]


def proofs(found: Answers) -> list[Proof]:
    """What speaks for a work."""
    return [*settled(found).proofs]


def settled(found: Answers) -> Answers:
    """One check's answer with what its parts mean, as that of all checks has it."""
    more = [*objecting.changed(found.changes), *objecting.without_work(found.without_work)]
    return found + answers_of(more)


async def asked(
    shop: Workshop,
    check: Check,
    work: Mapping[str, str | bytes | None],
    *,
    base: Mapping[str, str | bytes | None] | None = None,
    links: Mapping[str, str] | None = None,
    command: str = "",
    in_checkout: str = "",
    lacks_programs: bool = False,
    within_s: float | None = None,
) -> tuple[Answers, int]:
    """Ask one check about a work. Return its answer, and how many commands it ran."""
    command = command or (RUFF if check.of_checks else UNITTEST)
    before = shop.commit({**BASE, **(base or {})})
    after = shop.commit(work, links)
    is_final = check.name != objecting.CODE_BEFORE
    change = await shop.change(before, after, command, spec=SPEC, is_final=is_final)
    if check.name == objecting.CLEAN_COPY:
        shop.bench = replace(shop.bench, has_places=False)
    if in_checkout:
        (shop.repository / "answer.txt").write_text(in_checkout)
    compared = await shop.compared(change, command)
    assert compared.now.passed or check.of_checks, compared.now.output_tail
    bench, so_far = shop.bench, len(shop.commands.ran)
    if lacks_programs:
        shop.commands.environ = {**shop.commands.environ, "PATH": "/nowhere"}
    if within_s is not None:
        bench = replace(bench, within_s=within_s)
    found = await answer(check, change, bench, compared, Answers())
    return found, len(shop.commands.ran) - so_far


def named(check: Check) -> str:
    return check.name.replace(" ", "-")


def test_each_check_has_its_lie() -> None:
    assert set(LIES) == {check.name for check in CHECKS}


@pytest.mark.parametrize("check", CHECKS, ids=named)
async def test_honest_work_hears_nothing_and_costs_what_the_table_says(shop: Workshop, check: Check) -> None:
    found, ran = await asked(shop, check, HONEST)
    assert against(found) == []
    assert ran <= check.costs


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(one, marks=[pytest.mark.late] * (one.name == objecting.SLOWED), id=named(one))
        for one in CHECKS
    ],
)
async def test_a_lie_is_found(shop: Workshop, check: Check) -> None:
    lie = LIES[check.name]
    found, _ = await asked(
        shop, check, lie.work, base=lie.base, command=lie.command, in_checkout=lie.in_checkout
    )
    assert lie.found in {one.check for one in against(found)}
    assert proofs(found) == []


@pytest.mark.parametrize("check", CHECKS, ids=named)
async def test_a_command_that_cannot_run_proves_nothing_and_is_named(shop: Workshop, check: Check) -> None:
    work = {**HONEST, "ruff.toml": "line-length = 90\n"} if check.of_checks else HONEST
    found, ran = await asked(shop, check, work, lacks_programs=True)
    assert proofs(found) == []
    assert bool(against(found)) is bool(ran)


@pytest.mark.parametrize("check", [check for check in CHECKS if check.question], ids=named)
async def test_a_question_for_which_there_is_no_time_is_named_and_runs_nothing(
    shop: Workshop, check: Check
) -> None:
    found, ran = await asked(shop, check, HONEST, within_s=0)
    assert ran == 0
    assert proofs(found) == []
    silent = [one for one in against(found) if one.weight is Weight.UNKNOWN]
    assert [one for one in silent if one.words.startswith(f"{check.question}, for `")]


@pytest.mark.parametrize("check", CHECKS, ids=named)
async def test_no_tree_ends_the_asking(shop: Workshop, check: Check) -> None:
    await asked(shop, check, HOSTILE, links=LINKS)


# --- all of them together, with those that need no command -------------------------------------------------


async def all_asked(
    shop: Workshop, work: Mapping[str, str | bytes | None], links: Mapping[str, str] | None = None
) -> Answers:
    before = shop.commit(BASE)
    after = shop.commit(work, links)
    no_new = Criterion(
        id="c-1", text="No dependency", kind=CriterionKind.CONSTRAINT, constraint=ConstraintKind.DEPENDENCIES
    )
    change = await shop.change(before, after, spec=SPEC, criteria=(no_new,))
    return await answers_about(change, shop.bench, await shop.results(change))


async def test_of_honest_work_all_is_proven_and_nothing_speaks_against_it(shop: Workshop) -> None:
    found = await all_asked(shop, HONEST)
    assert against(found) == []
    shown = [objecting.CANARY, STRENGTH, objecting.WITHOUT_WORK]
    assert [one.check for one in found.proofs] == shown
    assert found.shown == (UNITTEST,)
    assert not found.only_prose


@pytest.mark.parametrize(
    ("work", "check", "words"),
    [
        ({**HONEST, "test_calc.py": None}, objecting.BASE_TESTS, "is gone"),
        (
            {**HONEST, "test_calc.py": file_of_tests("add", "self.assertEqual(calc.add(2, 3), 5)")},
            objecting.BASE_TESTS,
            "may check less",
        ),
        ({"calc.py": f"{ADD}\n\ndef sub(a, b):\n    pass\n"}, objecting.STUBS, "calc.py: sub"),
        ({**HONEST, "requirements.txt": "left-pad==1.0\n"}, objecting.CONSTRAINTS, "left-pad"),
        ({**HONEST, ".vscode/tasks.json": "{}\n"}, objecting.RUNS_LATER, ".vscode/tasks.json"),
        (
            {**HONEST, "pyproject.toml": "[project]\nname = 'calc'\n", "more.py": "import humanize\n"},
            objecting.IMPORTS,
            "humanize",
        ),
        ({**HONEST, "more.py": "import builtins\n\nbuiltins.sub = max\n"}, objecting.REOPENED, "builtins"),
        ({**HONEST, "l/fr.json": '{"a": 1, "b": 2, "c": 3}'}, objecting.SIBLINGS, "l/de.json: b"),
        (
            {**HONEST, "README.md": ">>> from calc import add\n>>> add(1, 2)\n4\n"},
            objecting.DOCUMENTS,
            "gives `3`",
        ),
    ],
    ids=[
        "a test is gone",
        "a test checks less",
        "a stub",
        "a constraint",
        "a file that runs later",
        "an import that nobody has",
        "a module of others",
        "a key that a sibling lacks",
        "an example that does not hold",
    ],
)
async def test_what_the_files_say_against_a_work_is_found_beside_the_commands(
    shop: Workshop, work: Mapping[str, str | bytes | None], check: str, words: str
) -> None:
    found = await all_asked(shop, work)
    assert [one for one in found.objections if one.check == check and words in one.sentence]


async def test_a_hostile_tree_is_asked_about_to_the_end(shop: Workshop) -> None:
    found = await all_asked(shop, HOSTILE, LINKS)
    assert found.facts
    assert any("→ /etc" in one.subject for one in found.objections)
