"""Considerations as data: the shipped set, the user's own, and what is wrong with an item."""

from itertools import combinations
from pathlib import Path

import pytest
from language.tables import table

from orchestrator.gates.power_steering.considerations import (
    USERS_FILE,
    PromptKind,
    SessionType,
    Severity,
    consideration_of,
    kind_by_id,
    load_considerations,
)

# id: severity, kind, session types (none: all)
SHIPPED = table(__file__, "shipped")
TYPES = {"D": SessionType.DEVELOPMENT, "I": SessionType.INVESTIGATION, "M": SessionType.MAINTENANCE}


def users(project: Path, text: str) -> Path:
    (project / USERS_FILE).parent.mkdir(parents=True, exist_ok=True)
    (project / USERS_FILE).write_text(text)
    return project


def test_the_shipped_set_has_each_consideration_with_its_severity_kind_and_types():
    loaded = load_considerations(None)
    assert loaded.problems == ()
    found = {one.id: (one.severity, one.kind, set(one.types)) for one in loaded.considerations}
    assert found == {
        id_: (severity, kind, {TYPES[letter] for letter in types})
        for id_, (severity, kind, types) in SHIPPED.items()
    }
    assert [one.id for one in loaded.considerations if not one.enabled] == ["tutorial_needed"]
    assert all(one.question.endswith("?") and one.description for one in loaded.considerations)


def test_a_bad_item_is_reported_and_left_out_and_the_others_still_work(tmp_path: Path):
    users(
        tmp_path,
        """
- {id: mine, question: "Is it mine?", severity: blocker}
- {question: "Without an id?"}
- {id: odd, question: "Odd?", severity: catastrophic}
- {id: typo, question: "Typo?", sevirity: blocker}
- {id: "steers\\x1b[2J", question: "A terminal?", severity: blocker}
- just a text
""",
    )
    loaded = load_considerations(tmp_path)
    assert len(loaded.considerations) == len(SHIPPED) + 1
    assert loaded.considerations[-1].id == "mine"
    problems = "\n".join(loaded.problems)
    assert "\x1b" not in problems
    assert len(loaded.problems) == 5
    assert all(
        words in problems
        for words in ("id and question", "catastrophic", "sevirity", "item 6", "control characters")
    )


@pytest.mark.parametrize("text", ["{", "just words", "3", "\x00"])
def test_a_file_that_cannot_be_read_is_reported_and_the_shipped_set_holds(tmp_path: Path, text: str):
    loaded = load_considerations(users(tmp_path, text))
    assert len(loaded.considerations) == len(SHIPPED)
    assert loaded.problems


def test_a_shipped_one_can_be_changed_in_part(tmp_path: Path):
    loaded = load_considerations(users(tmp_path, "- {id: shortcuts, severity: blocker, enabled: false}"))
    (changed,) = [one for one in loaded.considerations if one.id == "shortcuts"]
    assert (changed.severity, changed.enabled, changed.kind) == (
        Severity.BLOCKER,
        False,
        PromptKind.PHILOSOPHY,
    )
    assert not changed.is_for(SessionType.DEVELOPMENT)


def test_checker_is_another_name_for_the_rule():
    assert consideration_of({"id": "a", "question": "A?", "checker": "local_testing"}).rule == "local_testing"
    assert consideration_of({"id": "a", "question": "A?"}).rule == "a"


@pytest.mark.parametrize(
    ("id_", "kind"),
    [
        ("zero_downtime", PromptKind.GENERIC),
        ("bs_of_zero", PromptKind.GENERIC),
        ("latest", PromptKind.GENERIC),
        ("ätest", PromptKind.GENERIC),
        ("decision", PromptKind.GENERIC),
        ("specific", PromptKind.GENERIC),
        ("workflows", PromptKind.GENERIC),
        ("", PromptKind.GENERIC),
    ],
)
def test_a_part_of_a_piece_of_an_id_says_nothing_of_its_kind(id_: str, kind: PromptKind):
    assert kind_by_id(id_) is kind


# Seed 000 asks in this order, and the first that fits decides.
WORDS = [
    ("todos", PromptKind.TODOS),
    ("todo", PromptKind.TODOS),
    ("philosophy", PromptKind.PHILOSOPHY),
    ("zero-bs", PromptKind.PHILOSOPHY),
    ("test", PromptKind.TESTING),
    ("testing", PromptKind.TESTING),
    ("ci", PromptKind.WORKFLOW),
    ("workflow", PromptKind.WORKFLOW),
]


@pytest.mark.parametrize(("word", "kind"), WORDS)
@pytest.mark.parametrize("id_", ["{}", "my_{}", "{}-of-ours", "The.{}!", "é {} 2"])
@pytest.mark.parametrize("case", [str.lower, str.upper, str.title])
def test_the_kind_follows_from_whole_pieces_of_the_id(word: str, kind: PromptKind, id_: str, case):
    name = case(id_.format(word))
    assert kind_by_id(name) is kind
    assert consideration_of({"id": name, "question": "Is it so?"}).kind is kind


@pytest.mark.parametrize(("one", "other"), list(combinations(WORDS, 2)))
def test_of_two_words_in_an_id_the_one_that_the_seed_asks_for_first_decides(one, other):
    for name in (f"{one[0]}_{other[0]}", f"{other[0]} {one[0]}", f"a-{other[0]}.b.{one[0]}"):
        assert kind_by_id(name) is one[1], name
