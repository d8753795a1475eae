"""Considerations as data: the shipped set, the user's own, and what is wrong with an item."""

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
        ("my-todo", PromptKind.TODOS),
        ("zero-bs", PromptKind.PHILOSOPHY),
        ("zero_downtime", PromptKind.GENERIC),
        ("unit_test", PromptKind.TESTING),
        ("latest", PromptKind.GENERIC),
        ("ci_green", PromptKind.WORKFLOW),
        ("decision", PromptKind.GENERIC),
        ("specific", PromptKind.GENERIC),
    ],
)
def test_the_kind_follows_from_whole_pieces_of_the_id(id_: str, kind: PromptKind):
    assert kind_by_id(id_) is kind
