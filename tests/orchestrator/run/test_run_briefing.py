"""What sq knows reaches the agents that need it: criteria, results, decisions, conventions, suggestions, other tasks."""

from pathlib import Path
from typing import Any

import pytest
from language.scripted import (
    BLUE,
    COLOUR,
    Rehearse,
    answers,
    asks,
    completes,
    finds,
    issue,
    passes,
    plans,
    rules,
    signals,
    whole_run,
    writes,
)

from state.journal import events as e

VERIFY = "echo checked && test -e notes.txt -o -e second.txt"
ANALYSIS = signals(
    "report_analysis",
    spec_findings=[],
    project_type="a list of notes",
    patterns=["one line a note"],
    verification_commands=[],
)
SUGGESTED = "Say in the readme which colour it is."
OWN_DECISION = "Which colour? → blue (The spec says so.)"
DECISION = f"notes: {OWN_DECISION}"
WRONG = issue("notes.txt", 1, "Not blue.", "Make it blue.", task="notes", kind="incorrect-behavior")


def suggests(**expect: Any) -> dict[str, Any]:
    reply = signals("report_review", passed=True, issues=[], suggestions=[SUGGESTED])
    return {**reply, "expect": expect}


@pytest.mark.late
def test_reviewers_builders_and_the_developer_read_what_sq_knows(rehearse: Rehearse, words: Path) -> None:
    assert words.is_dir()  # a repository that holds something to analyze
    everybody = ["a list of notes", "one line a note", SUGGESTED]
    callers = whole_run(
        **{
            "planner/analysis/1": [ANALYSIS],
            "planner/plan/1": [plans("notes", "second", second=["notes"])],
            "reviewer/plan/1": [
                suggests(prompt_contains=["Commands that verify each task", "Depends on: nothing"])
            ],
            "worker/notes/1": [
                asks(COLOUR, expect={"prompt_contains": [*everybody, "- second: Task second"]}),
                writes("notes.txt", "red\n"),
                completes(),
            ],
            "developer/notes/1": [
                answers(
                    BLUE, expect={"prompt_contains": ["- notes is done", f"- `{VERIFY}`", "one line a note"]}
                )
            ],
            "reviewer/notes/1": [
                passes(
                    prompt_contains=[
                        *everybody,
                        DECISION,
                        "checked",
                        "number of tests unknown",
                        "second (Task second)",
                    ]
                )
            ],
            "worker/second/1": [
                writes(
                    "second.txt",
                    "x\n",
                    expect={"prompt_contains": [DECISION, "(merged already, and your task stands on it)"]},
                ),
                completes(),
            ],
            "reviewer/second/*": [passes(prompt_contains=["- second is done"])],
            "reviewer/final/1": [
                {
                    **finds(WRONG),
                    "expect": {
                        "prompt_contains": [
                            "# Final review of the whole",
                            "  - notes is done",
                            "  - second is done",
                            DECISION,
                            SUGGESTED,
                            "checked",
                        ]
                    },
                }
            ],
            "worker/notes/2": [
                writes(
                    "notes.txt",
                    "blue\n",
                    expect={
                        "prompt_contains": ["This task was merged already", "## Attempt: 2", OWN_DECISION]
                    },
                ),
                completes(),
            ],
            "reviewer/notes/2": [
                rules(
                    "fixed",
                    WRONG,
                    expect={"prompt_contains": ["Only this fix is under review", "-red\n+blue"]},
                )
            ],
            "reviewer/final/2": [passes(prompt_lacks=["Not blue."])],
        }
    )
    done = rehearse(callers, verify=(VERIFY,), plan_review=True)
    assert done.of(e.PlanAccepted)[0].suggestions == (SUGGESTED,)
    assert f"suggestion: {SUGGESTED}" in done.output
