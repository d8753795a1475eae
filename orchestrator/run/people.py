"""Words of people while a run goes on: read from its inbox, recorded, and then removed there."""

import anyio

from orchestrator.run.record import Run
from state.inbox import Word, WordKind, left_in, problem_of, remove, replaced
from state.journal.events import Event, PersonAnswered, RunContinued, RunPaused, WordRefused, WordSaid
from state.records.questions import Answer, Basis, Confidence, Question, labels_meant

_LOOK_S = 0.2


async def hear_people(run: Run) -> None:
    """Take the words of people as they come. Ends by cancellation, or with the run.

    Raises:
        JournalError: nothing can be recorded any more. The word stays for the next process.
    """
    while run.view.ended is None:
        take_words(run)
        await anyio.sleep(_LOOK_S)


def take_words(run: Run) -> None:
    """Record each word that is left for the run, once, and remove it.

    Raises:
        JournalError: as `hear_people`.
    """
    words = left_in(run.folder)
    old = replaced(words)
    for word in words:
        if word.word_id not in run.view.context.people.taken:
            run.record(_replaced(word) if word.word_id in old else _event(run, word))
        remove(run.folder, word)


def _replaced(word: Word) -> WordRefused:
    reason = f"a newer answer to {word.about} replaces it"
    return WordRefused(text=word.text, reason=reason, word_id=word.word_id, by=word.by)


def _event(run: Run, word: Word) -> Event:
    about = {"word_id": word.word_id, "by": word.by}
    if problem := problem_of(run.view, word):
        return WordRefused(text=word.text, reason=problem, **about)
    match word.kind:
        case WordKind.SAY:
            return WordSaid(text=word.text, task_id=word.about, **about)
        case WordKind.PAUSE:
            return RunPaused(**about)
        case WordKind.CONTINUE:
            return RunContinued(**about)
        case WordKind.ANSWER:
            ask, question = run.view.waiting_questions[word.about]
            return PersonAnswered(ask_id=ask.asked.ask_id, answer=_answer(question, word), **about)


def _answer(question: Question, word: Word) -> Answer:
    """Return a person's answer: options by their numbers or labels, or the words themselves."""
    labels = labels_meant(word.text, question)
    return Answer(
        question=question.text,
        labels=labels,
        free_text="" if labels else word.text,
        reason=f"answered by {word.by}",
        basis=Basis.PERSON,
        reversible=False,
        confidence=Confidence.HIGH,
        beside_options=bool(question.options) and not labels,
    )
