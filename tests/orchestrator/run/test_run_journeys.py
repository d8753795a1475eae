"""The way of a finding, a question and a claim through a real run: which of our files handle them, in which order.

A profile of the run's thread sees each call of our functions. A file handles an object if a function of it gets the
object, or gives it back. Not counted are the record (store, codec), views and words for people, and the
definitions of records. A claim has no record of its own: its files are those on the call stacks of all that sq does
from the Worker's report to the acceptance, which is every stored event, every call of git and every command.
"""

import sys
from collections.abc import Callable
from dataclasses import is_dataclass
from itertools import groupby
from pathlib import Path
from types import FrameType

import pytest
from language.scripted import (
    Rehearse,
    answer,
    answers,
    asks,
    completes,
    finds,
    id_of,
    question,
    signals,
    whole_run,
    writes,
)

from state.outcome import Outcome
from state.records.questions import Answer, Question
from state.records.reviews import Finding, ReviewIssue, ReviewReport

ROOT = f"{Path(__file__).parents[3]}/"
OURS = tuple(f"{ROOT}{floor}/" for floor in ("agents", "orchestrator", "state"))
_ELSEWHERE = (
    "orchestrator/views",
    "orchestrator/cli",
    "agents/gateway",
    "state/records/",
    "state/words.py",
)
_RECORD = (
    "orchestrator/run/event_log.py",
    "state/journal/store.py",
    "state/journal/codec.py",
    "state/journal/view.py",
    "state/journal/events/",  # with the records of the view
)
NOT_COUNTED = tuple(f"{ROOT}{name}" for name in (*_ELSEWHERE, *_RECORD))
_GIT_AND_COMMANDS = ("orchestrator/git/", "agents/process/", "orchestrator/run/places/door.py")
DOES = tuple(f"{ROOT}{place}" for place in _GIT_AND_COMMANDS)
MARK = "zebra"  # in the words of the finding and of the question
MOST = 6
MOST_OF_A_CLAIM = 16
CHECKS = "orchestrator/checks"  # a file for each question: the claim enters the room once


class Journey:
    """A profile function that collects the files which handle records of these kinds with the mark."""

    def __init__(self, *kinds: type) -> None:
        self.kinds = kinds
        self.files: list[str] = []

    def __call__(self, frame: FrameType, event: str, result: object) -> None:
        code = frame.f_code
        file = code.co_filename
        if event not in {"call", "return"} or not file.startswith(OURS) or file.startswith(NOT_COUNTED):
            return
        given = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        values = [result] if event == "return" else [frame.f_locals.get(name) for name in given]
        if any(map(self._holds, values)):
            self.files.append(file.removeprefix(ROOT))

    def _holds(self, value: object) -> bool:
        """Whether it is one of the records, several of them, or an event with one in a field."""
        if isinstance(value, list | tuple):
            return any(map(self._is_one, value))
        if is_dataclass(value) and type(value).__module__.startswith("state.journal.events"):
            held = [getattr(value, name) for name in value.__dataclass_fields__]
            return any(
                self._is_one(one) for each in held for one in (each if isinstance(each, tuple) else [each])
            )
        return self._is_one(value)

    def _is_one(self, value: object) -> bool:
        return isinstance(value, self.kinds) and MARK in repr(value)

    @property
    def way(self) -> list[str]:
        """The files, each time that the way enters them."""
        return [file for file, _ in groupby(self.files)]


class Stacks:
    """A profile function that collects the files on the call stacks of all that sq does between two events."""

    def __init__(self, first: str, last: str) -> None:
        self.first, self.last = first, last
        self.under_way = False
        self.files: set[str] = set()

    def __call__(self, frame: FrameType, event: str, result: object) -> None:
        del result
        if event != "call":
            return
        kinds = set[str]()
        if frame.f_code.co_qualname == "Recorder.record":
            kinds = {_kind_of(one) for one in frame.f_locals["events"]}
            self.under_way = self.under_way or self.first in kinds
        if self.under_way and (kinds or frame.f_code.co_filename.startswith(DOES)):
            self._take(frame.f_back)
        self.under_way = self.under_way and self.last not in kinds

    def _take(self, frame: FrameType | None) -> None:
        while frame:
            file = frame.f_code.co_filename
            if file.startswith(OURS) and not file.startswith((*NOT_COUNTED, *DOES)):
                self.files.add(file.removeprefix(ROOT))
            frame = frame.f_back


def _kind_of(event: object) -> str:
    return f"{type(event).__name__} {getattr(event, 'name', '')}".strip()


def travelled(rehearse: Rehearse, journey: Journey | Stacks, callers: dict[str, object]) -> None:
    sys.setprofile(journey)
    try:
        done = rehearse(whole_run(**callers), verify=("true",))
    finally:
        sys.setprofile(None)
    assert done.outcome is Outcome.COMPLETE, done.output


@pytest.mark.late
def test_a_finding_gets_from_the_reviewer_to_the_next_prompt_in_six_files_at_most(rehearse: Rehearse) -> None:
    words = f"The {MARK} is unused."
    found = {
        "file": "notes.txt",
        "line": 1,
        "type": "dead-code",
        "description": words,
        "suggestion": "Remove it.",
    }
    ruled = {"id": id_of(found), "state": "fixed", "why": "It is gone."}
    fixed = writes("notes.txt", "Another line.\n", expect={"prompt_contains": [words]})
    callers = {
        "worker/notes/1": [writes("notes.txt", "A line.\n"), completes()],
        "worker/notes/2": [fixed, completes()],
        "reviewer/notes/1": [finds(found)],
        "reviewer/notes/2": [signals("report_review", passed=True, issues=[], earlier=[ruled])],
    }
    journey = Journey(ReviewIssue, Finding, ReviewReport)
    travelled(rehearse, journey, callers)
    end = journey.files.index("orchestrator/run/tasks/steps.py") + 1
    way = list(dict.fromkeys(journey.files[:end]))
    assert way[0] == "agents/roles/reviewer.py"
    assert len(way) <= MOST, way


def test_a_claim_gets_to_its_acceptance_in_few_files(
    rehearse: Rehearse, record_property: Callable[[str, object], None]
) -> None:
    stacks = Stacks("SignalReceived task_complete", "CompletionAccepted")
    travelled(rehearse, stacks, {"worker/notes/1": [writes("notes.txt", "A line.\n"), completes()]})
    files = sorted({CHECKS if file.startswith(CHECKS) else file for file in stacks.files})
    record_property("claim_files", len(files))
    assert {"orchestrator/run/tasks/completion.py", "orchestrator/run/evidence/verification.py"} <= set(files)
    assert len(files) <= MOST_OF_A_CLAIM, "\n".join(files)


@pytest.mark.late
@pytest.mark.claude
def test_a_question_gets_to_its_answer_in_six_files_at_most(
    rehearse: Rehearse, record_property: Callable[[str, object], None]
) -> None:
    callers = {
        "worker/notes/1": [
            asks(question(f"Which {MARK}?", "red", "blue")),
            writes("notes.txt", "A.\n"),
            completes(),
        ],
        "developer/notes/1": [answers(answer(f"Which {MARK}?", "blue"))],
    }
    journey = Journey(Question, Answer)
    travelled(rehearse, journey, callers)
    files = list(dict.fromkeys(journey.files))
    record_property("question_files", len(files))
    assert len(files) <= MOST, files
