"""The house keeps its rules: rooms with one sentence each, a short ARCHITECTURE, short chains of imports."""

import ast
import re
from collections import Counter
from pathlib import Path

import grimp
import pytest

from benchmarks import house
from benchmarks.deciders import english_patterns, names_with, weighing_places

ROOT = house.ROOT
MOST_WORDS = 3_500  # of ARCHITECTURE
MOST_FIELDS = 16  # of a record, those of state/settings aside
LONGEST_CHAIN = 11  # modules, each of which imports the next one
SHARED = 3  # files with the same prefix are a room of their own


def sentence_of(room: Path) -> str:
    return (ast.get_docstring(ast.parse((room / "__init__.py").read_text("utf-8"))) or "").split("\n\n")[0]


@pytest.mark.parametrize("room", house.rooms(), ids=lambda room: str(room.relative_to(ROOT)))
def test_a_room_says_in_a_sentence_what_lives_there(room):
    files = [file.stem for file in room.glob("*.py")]
    prefixes = Counter(name.split("_")[0] for name in files if not name.startswith("__"))
    assert [prefix for prefix, count in prefixes.items() if count >= SHARED] == []
    assert sentence_of(room).endswith(".")


@pytest.mark.parametrize("name", ["AGENTS.md", "ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_each_path_that_a_document_for_developers_names_exists(name):
    named = re.findall(
        r"`((?:agents|benchmarks|orchestrator|prompts|state|tests)/[a-z_./]+)`",
        (ROOT / name).read_text("utf-8"),
    )
    assert len(named) > 3
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_architecture_is_short():
    assert len((ROOT / "ARCHITECTURE.md").read_text("utf-8").split()) <= MOST_WORDS


def test_no_record_is_wide():
    assert [name for name, fields in house.records().items() if fields > MOST_FIELDS] == []


def test_no_chain_of_imports_is_long():
    chain = house.longest_chain(grimp.build_graph(*house.TOPS))
    assert len(chain) <= LONGEST_CHAIN, " > ".join(chain)


def test_a_run_and_its_views_name_no_family_of_agents():
    assert house.names_of_claude_in_the_run() == []
    named = ("Claude Code", "claude_agent_sdk", "CLAUDE_CODE_OAUTH_TOKEN", "ClaudeCode", "~/.claude")
    assert [one for one in named if not house.CLAUDE_CODE.search(one)] == []
    assert [one for one in ("claude-opus-5-5", "CLAUDE.md") if house.CLAUDE_CODE.search(one)] == []


def test_objections_are_weighed_in_one_place(tmp_path):
    outcome = ROOT / "orchestrator" / "checks" / "outcome.py"
    assert weighing_places(house.code_files()) == [outcome]
    copy = tmp_path / "finish.py"
    text = (ROOT / "orchestrator" / "run" / "finish.py").read_text("utf-8")
    heavy = "def _heavy(one):\n    return one.weight is Weight.BLOCKS\n\n\n"
    copy.write_text(
        f"{text}\n\n{heavy}def ends(one):\n    return Outcome.FAILED if _heavy(one) else Outcome.COMPLETE\n"
    )
    assert weighing_places([copy, outcome]) == [copy, outcome]
    copy.write_text(f"{text}\n\ndef line(one):\n    return 'x' if one.against else ''\n")
    assert weighing_places([copy]) == [], "words may follow from a weight"


@pytest.mark.parametrize(
    "asks",
    [
        "_W = re.compile('never|leave')\n\ndef wants(spec):\n    return [_W.search(one) for one in spec.split()]\n",
        "def wants(change):\n    line = change.own_words\n    return re.search('no tests?', line)\n",
        "_NO = {'never', 'without'}\n\ndef wants(one):\n    return [w for w in one.quote.split() if w in _NO]\n",
    ],
)
def test_no_english_is_asked_about_what_a_spec_wants(tmp_path, asks):
    assert english_patterns(house.deciding_files()) == []
    copy = tmp_path / "runs_later.py"
    text = (ROOT / "orchestrator" / "checks" / "of_files" / "runs_later.py").read_text("utf-8")
    copy.write_text(f"{text}\n{asks}")
    assert len(english_patterns([copy])) == 1


def test_no_name_has_a_word_that_means_many_things(tmp_path):
    assert names_with("standing", house.code_files()) == []
    (tmp_path / "tasks.py").write_text("class TaskStanding:\n    understanding = 1\n")
    assert names_with("standing", [tmp_path / "tasks.py"]) == [f"{tmp_path / 'tasks.py'}: TaskStanding"]
