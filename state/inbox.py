"""Words of people to a run, left in its folder: by any process of this machine, taken by the run's own.

Each word is a file that appears whole. The run records it as an event and then removes the file, so it is
taken once, whenever either process is killed. What is left for a run that nobody works on is taken when it
is resumed.
"""

import getpass
import json
import os
import secrets
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

import msgspec

from state.errors import UsageError
from state.journal.events.tasks import ENDED_STAGES
from state.journal.view import RunView
from state.outcome import Outcome
from state.records.questions import why_no_answer

INBOX = "inbox"
LONGEST = 20_000  # characters of a word


class WordKind(StrEnum):
    """What a person wants of a run."""

    SAY = "say"
    ANSWER = "answer"
    PAUSE = "pause"
    CONTINUE = "continue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word: `about` is a task for `say` ("": all), and a question (`q1`) for `answer`."""

    word_id: str
    kind: WordKind
    by: str
    text: str = ""
    about: str = ""


def person(way: str) -> str:
    """Return who speaks, and how: `ann@host (sq say)`."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = str(os.getuid())
    return f"{name}@{socket.gethostname()} ({way})"


def new_word(kind: WordKind, by: str, text: str = "", about: str = "") -> Word:
    """Return a word with an id of its own. Ids sort by time."""
    word_id = f"{time.time_ns():020d}-{secrets.token_hex(4)}"
    return Word(word_id=word_id, kind=kind, by=by, text=text.strip(), about=about)


def problem_of(view: RunView, word: Word) -> str:
    """Return why a run can do nothing with a word, and what could be said, or ""."""
    if len(word.text) > LONGEST:
        return f"it has {len(word.text)} characters, and {LONGEST} are the most"
    if view.ended and view.ended.outcome is Outcome.COMPLETE and word.kind is not WordKind.ANSWER:
        return "it is complete, so nothing goes on in it. Name another run: sq status shows them"
    match word.kind:
        case WordKind.SAY:
            return _say_problem(view, word)
        case WordKind.ANSWER:
            return _answer_problem(view, word)
        case WordKind.PAUSE:
            return "the run is paused already" if view.context.people.paused else ""
        case WordKind.CONTINUE:
            return "" if view.context.people.paused else "the run is not paused"


def _answer_problem(view: RunView, word: Word) -> str:
    waiting, parked = view.waiting_questions, view.parked_questions
    if word.about in waiting:
        return why_no_answer(word.text, waiting[word.about][1])
    if word.about in parked and (given := parked[word.about][0].given.get(parked[word.about][1].text)):
        return f"{word.about} is answered already, and the run has taken the answer: {given.text}"
    if not waiting:
        return (
            "no question of an agent waits for an answer. `sq status` shows the runs that wait for you. "
            "Questions about the spec are answered on the terminal of the run"
        )
    asked = "; ".join(f"{name}: {question.text}" for name, (_, question) in waiting.items())
    if not word.about:
        return f"several questions wait, so name one: {asked}"
    return f"no question {word.about} waits for an answer. These wait: {asked}"


def _say_problem(view: RunView, word: Word) -> str:
    if not word.text:
        return "there are no words to say"
    if not word.about:
        return ""
    if word.about not in view.tasks:
        return f"there is no task {word.about}. The tasks are: {', '.join(view.tasks) or 'not planned yet'}"
    task = view.tasks[word.about]
    ended = task.stage in ENDED_STAGES
    return f"task {word.about} is {task.stage}, so no prompt follows in it" if ended else ""


def replaced(words: Sequence[Word]) -> dict[str, Word]:
    """Return the answers that a newer one to the same question replaces, by id. `words`: oldest first."""
    newest = {word.about: word for word in words if word.kind is WordKind.ANSWER}
    older = (word for word in words if word.kind is WordKind.ANSWER and word is not newest[word.about])
    return {word.word_id: word for word in older}


def answers_left(run_folder: Path) -> dict[str, Word]:
    """Return the answers that the run has not taken yet: the newest one to each question, by its name."""
    return {word.about: word for word in left_in(run_folder) if word.kind is WordKind.ANSWER}


def send(run_folder: Path, view: RunView, word: Word) -> None:
    """Leave a word for a run that can do something with it, also after the words that wait there.

    Raises:
        UsageError: it cannot, or the folder cannot be written.
    """
    before = [one.kind for one in left_in(run_folder) if one.kind in {WordKind.PAUSE, WordKind.CONTINUE}]
    follows = word.kind in {WordKind.PAUSE, WordKind.CONTINUE} and before and before[-1] != word.kind
    if not follows and (problem := problem_of(view, word)):
        raise UsageError(f"run {run_folder.name}: {problem}")
    leave(run_folder, word)


def leave(run_folder: Path, word: Word) -> None:
    """Leave a word for a run.

    Raises:
        UsageError: the folder cannot be written.
    """
    inbox = run_folder / INBOX
    try:
        inbox.mkdir(mode=0o700, exist_ok=True)
        half = inbox / f".{word.word_id}"
        with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(asdict(word), file)
            file.flush()
            os.fsync(file.fileno())
        half.rename(inbox / f"{word.word_id}.json")
    except OSError as error:
        raise UsageError(f"nothing can be left in {inbox}: {error.strerror}. Make it writable") from error


def left_in(run_folder: Path) -> list[Word]:
    """Return the words that are left for a run, oldest first. A file that holds none is set aside."""
    found: list[Word] = []
    for file in sorted((run_folder / INBOX).glob("*.json")):
        try:
            word = msgspec.json.decode(file.read_bytes(), type=Word)
        except FileNotFoundError:
            continue
        except (OSError, msgspec.MsgspecError):
            with suppress(OSError):
                file.rename(file.with_suffix(".unreadable"))
            continue
        if word.word_id == file.stem:
            found.append(word)
    return found


def remove(run_folder: Path, word: Word) -> None:
    """Remove a word that was taken."""
    (run_folder / INBOX / f"{word.word_id}.json").unlink(missing_ok=True)
