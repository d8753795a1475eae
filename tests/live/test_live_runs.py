"""Whole runs with a real model: a spec is built, and a question is answered (seed 004)."""

import json
import sys

import pytest

pytestmark = [pytest.mark.live, pytest.mark.timeout(1800)]

CHEAP = ("--effort", "low", "--budget", "5", "--verify", "python3 -m unittest", "--plain")
COUNTING = """
import counter

seen = [counter.getCount()]
for step in (counter.increment, counter.increment, counter.decrement):
    step()
    seen.append(counter.getCount())
print([count - seen[0] for count in seen])
"""
COLOURS = {"red", "blue", "green"}
SIGN = """# The colour of the sign

Create a module sign.py with one constant, COLOUR, which is a lower-case string, and a unittest for it.

Open point: the colour. It is one of red, blue and green, and nothing in this repository says which. The Worker must not
choose it. Before it writes anything, the Worker asks which colour it is with AskUserQuestion, with red, blue and green
as the options, and then uses the answer.
"""


def test_the_counter_spec_is_built_verified_and_on_the_branch(sq, project, shell):
    done = sq("run", "--spec", "quality-test.md", *CHEAP)
    assert done.returncode == 0, done.stdout + done.stderr
    assert shell(project, sys.executable, "-c", COUNTING) == "[0, 1, 2, 1]"


def test_a_question_of_the_worker_is_answered_and_the_work_follows_the_answer(sq, project, shell, tmp_path):
    spec = tmp_path / "sign.md"
    spec.write_text(SIGN)
    done = sq("run", "--spec", spec, "--workflow", "direct", *CHEAP)
    assert done.returncode == 0, done.stdout + done.stderr
    colour = shell(project, sys.executable, "-c", "import sign; print(sign.COLOUR)")
    assert colour in COLOURS
    shown = sq("decisions", "--json")
    assert shown.returncode == 0, shown.stderr
    decisions = [json.loads(line) for line in shown.stdout.splitlines()]
    answers = [one["answer"] for one in decisions if one["answer"] and not one["rejected"]]
    assert any(colour in words_of(answer) for answer in answers), (colour, decisions)


def words_of(answer):
    """The answer as the Worker reads it, in lower case."""
    return " ".join([*answer["labels"], answer["free_text"]]).lower()
