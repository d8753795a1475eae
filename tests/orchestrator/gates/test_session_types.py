"""The type of a session follows from what was done in the current goal; words only break ties."""

import pytest
from sessions import PASSING, evidence, ran, read, write

from orchestrator.gates.power_steering.considerations import SessionType
from orchestrator.gates.power_steering.examine import session_type_of

READS = [read(f"/project/shop/{name}.py") for name in "abc"]


@pytest.mark.parametrize(
    ("steps", "kind"),
    [
        ([write(), PASSING], SessionType.DEVELOPMENT),
        ([*READS, write("/project/shop/a.py")], SessionType.DEVELOPMENT),
        ([write("/project/pyproject.toml")], SessionType.MAINTENANCE),
        ([write("/project/.github/workflows/ci.yml")], SessionType.MAINTENANCE),
        ([write("/project/README.md")], SessionType.MAINTENANCE),
        ([ran("git push origin topic"), *READS], SessionType.OPERATIONS),
        ([ran("kubectl rollout restart deploy/api", "restarted")], SessionType.OPERATIONS),
        (READS, SessionType.INVESTIGATION),
        ([ran("git log --oneline"), *READS], SessionType.INVESTIGATION),
        (READS[:1], SessionType.SIMPLE),
        ([], SessionType.INFORMATIONAL),
    ],
)
def test_the_type_follows_from_what_was_done(steps, kind):
    assert session_type_of(evidence(*steps)) is kind


@pytest.mark.parametrize(
    "prompt",
    [
        "Make the import async.",
        "Fix the password reset.",
        "Build the checkout page.",
        "What is missing here? Just do the simple thing and explain it.",
        "Investigate why the discount is wrong and fix it.",
    ],
)
def test_words_do_not_turn_changed_code_into_something_simple(prompt):  # lesson 34
    assert session_type_of(evidence(write(), PASSING, prompt=prompt)) is SessionType.DEVELOPMENT


def test_words_break_the_tie_of_a_session_that_only_wrote_documents():
    notes = write("/project/docs/findings.md")
    assert (
        session_type_of(evidence(*READS, notes, prompt="Find out why it is slow."))
        is SessionType.INVESTIGATION
    )
    assert session_type_of(evidence(*READS, notes, prompt="Update the manual.")) is SessionType.MAINTENANCE


def test_a_new_goal_begins_with_the_users_prompt_and_not_with_a_word_that_says_to_go_on():
    done = [write(), PASSING]
    assert session_type_of(evidence(*done, "What does the rate mean?")) is SessionType.INFORMATIONAL
    for words in ("continue", "Yes, go ahead.", "ok thanks", "Go on, please"):
        assert session_type_of(evidence(*done, words)) is SessionType.DEVELOPMENT, words


def test_files_changed_for_a_pull_request_are_development_whatever_they_are():
    flow = write("/project/.github/workflows/ci.yml", "on: push\n")
    assert session_type_of(evidence(flow)) is SessionType.MAINTENANCE
    opened = ran("gh pr create --title ci --body 'Cache the downloads.'", "https://github.com/a/b/pull/9")
    assert session_type_of(evidence(flow, opened)) is SessionType.DEVELOPMENT
