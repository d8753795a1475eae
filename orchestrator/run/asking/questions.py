"""The question bus: a Worker's questions to the Developer model and the answers back, in the same session.

Each question gets its own answer, checked against its options. One call, all its questions together, has a
deadline (60 s, `limits.question_s`). Asked and answered are events; an answer that was paid for before a
crash, or for the same question of another session, is not asked for again.

An answer that the Worker rejects (`orchestrator.run.asking.rejections`) is made once more with the whole
history, and the next rejection ends the task (seed 004).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import anyio

from agents.ask.port import Ask
from agents.roles.developer import developer_ask, questions_in, read_answers
from agents.session.port import OnQuestions, Unanswered
from orchestrator.git.trees import contents_at, files_in
from orchestrator.run.asking.answer import ask_model
from orchestrator.run.asking.briefing import conventions, decisions, without_place
from orchestrator.run.asking.conversation import whole_history
from orchestrator.run.asking.rejections import delivered_in, interrupted_at, rejection_by
from orchestrator.run.evidence.summary import seen_of
from orchestrator.run.evidence.verification import commands_on
from orchestrator.run.record import Run
from state.journal.events import (
    CallEnded,
    QuestionsAnswered,
    QuestionsAsked,
    QuestionsFailed,
    QuestionsParked,
)
from state.journal.events.questions import AskView
from state.journal.events.tasks import TaskView
from state.records.calls import CallEnd, Message
from state.records.questions import Answer, Basis, Question
from state.settings.presets import RETRY_LIMITS
from state.settings.records import OnQuestion
from state.words import question_key

_PATH = re.compile(r"[\w./-]*\w\.\w+")  # a word that may be a file
_FILES_SHOWN, _CODE_SHOWN = 4, 4_000  # files that a question names, and characters of each

Answers = tuple[Answer, ...]


class QuestionBus:
    """Answers the questions of one task's Worker."""

    def __init__(self, run: Run, task_id: str) -> None:
        self._run = run
        self._task_id = task_id

    def callback(self, call_id: str) -> OnQuestions:
        """The seed's `on_question_callback` for the exchange of this id."""

        async def on_question_callback(
            tool_use_id: str, arguments: Mapping[str, Any]
        ) -> Answers | Unanswered:
            ask_id = f"{call_id}/{tool_use_id}"  # a tool call's id is unique in its session at most
            questions = questions_in(dict(arguments))
            if isinstance(questions, str):  # the Worker may ask better
                asked = QuestionsAsked(ask_id=ask_id, call_id=call_id, task_id=self._task_id, questions=())
                self._run.record(asked, QuestionsFailed(ask_id=ask_id, cause=questions, final=False))
                return Unanswered(questions, final=False)
            return await self._answer(call_id, ask_id, questions)

        return on_question_callback

    async def answer_plain(self, call_id: str, question: Question) -> None:
        """Answer a question that the last words of this exchange ask, and record what became of it.

        If there is no answer, the Worker reads that in its next prompt and decides how it goes on.
        """
        await self._answer(call_id, f"text-{call_id}", (question,), plain=True)

    async def _answer(
        self, call_id: str, ask_id: str, questions: tuple[Question, ...], *, plain: bool = False
    ) -> Answers | Unanswered:
        deadline = anyio.current_time() + self._run.limits.question_s
        tree = await self._run.places.snapshot(Path(self._task.place.worktree))
        await self._wait_for_the_same(questions, deadline)  # and nothing is awaited until it is recorded
        rejection = rejection_by(self._run.view, self._task, questions, call_id=call_id, tree=tree)
        asked = QuestionsAsked(
            ask_id=ask_id,
            call_id=call_id,
            task_id=self._task_id,
            questions=questions,
            plain=plain,
            again=tuple(rejection.by_question),
            rejects=tuple(given for given, _ in rejection.answers),
            tree=tree,
        )
        known = self._answered_before_resume(call_id, questions, tree) or self._answered_elsewhere(questions)
        if known and known.answered and not asked.again:
            return self._reuse(asked, known)
        self._run.record(asked)
        if rejected := rejection.more_than(RETRY_LIMITS.rejected_answers):
            return self._rejected_for_good(asked, [answer.text for _, answer in rejected])
        return await self._ask_developer(asked, [answer for _, answer in rejection.answers], deadline)

    async def _ask_developer(
        self, asked: QuestionsAsked, rejected: Sequence[Answer], deadline: float
    ) -> Answers | Unanswered:
        ask_id, problem = asked.ask_id, ""
        code = await self._code_named(asked)
        questions = tuple(_for_model(self._run, question) for question in asked.questions)
        for _ in range(RETRY_LIMITS.answer_tries):
            left_s = max(0.0, deadline - anyio.current_time())
            ask = self._ask(questions, rejected, problem, asked.tree, left_s, code)
            ended, answers = await ask_model(
                self._run, ask, partial(read_answers, questions=questions), iteration=self._task.iteration
            )
            if not isinstance(answers, str):
                answers = tuple(map(_as_asked, answers, questions, asked.questions))
                return self._deliver(ask_id, ended, answers, ask.model.name)
            problem = answers
            if ended.end is not CallEnd.UNUSABLE:
                break
            self._run.record(ended)
        cause = f"{questions[0].text!r}: {problem}"
        if self._run.settings.questions is OnQuestion.PARK:
            return self._park(asked, () if ended.end is CallEnd.UNUSABLE else (ended,))
        failed = QuestionsFailed(ask_id=ask_id, cause=cause, final=not asked.plain)
        self._run.record(*([] if ended.end is CallEnd.UNUSABLE else [ended]), failed)
        return Unanswered(f"The question could not be answered: {problem}", final=failed.final)

    def _deliver(self, ask_id: str, ended: CallEnded, answers: Answers, model: str) -> Answers | Unanswered:
        """Hand the answers over, or leave the question to a person where the run was asked to."""
        open_ = any(not answer.is_covered for answer in answers)
        if open_ and self._run.settings.questions is OnQuestion.PARK:
            return self._park(self._run.view.asks[ask_id].asked, (ended,), answers)
        answered = QuestionsAnswered(ask_id=ask_id, answers=answers, model=model, by=ended.call_id)
        self._run.record(ended, answered)
        return answers

    def _park(
        self, asked: QuestionsAsked, before: Sequence[CallEnded] = (), answers: Answers = ()
    ) -> Unanswered:
        """Leave questions to a person. `answers` are those that the Developer would give."""
        open_ = [answer.question for answer in answers if not answer.is_covered]
        question = open_[0] if open_ else asked.questions[0].text
        self._run.record(*before, QuestionsParked(ask_id=asked.ask_id, question=question, answers=answers))
        return Unanswered("This question is left to a person. Your task waits for the answer.", final=True)

    def _reuse(self, asked: QuestionsAsked, known: AskView) -> Answers:
        assert known.answered is not None  # noqa: S101  that is how it was found
        other = known.asked.call_id != asked.call_id
        texts = [question.text for question in asked.questions]
        answers = tuple(_renamed(known.answered.answers, texts))
        answered = QuestionsAnswered(
            ask_id=asked.ask_id,
            answers=answers,
            model=known.answered.model,
            reused=True,
            reused_from=known.asked.ask_id if other else "",
            by=known.answered.by,
        )
        self._run.record(asked, answered)
        return answers

    def _rejected_for_good(self, asked: QuestionsAsked, answers: Sequence[str]) -> Unanswered:
        if self._run.settings.questions is OnQuestion.PARK:
            return self._park(asked)
        texts = " and ".join(map(repr, answers))
        cause = f"{asked.again[0]!r}: the Worker did not accept the answers {texts} and asks again"
        self._run.record(QuestionsFailed(ask_id=asked.ask_id, cause=cause))
        return Unanswered(f"The question was answered {len(answers)} times: {texts}.", final=True)

    def _ask(
        self,
        questions: Sequence[Question],
        rejected: Sequence[Answer],
        problem: str,
        tree: str,
        deadline_s: float,
        code: Mapping[str, str],
    ) -> Ask:
        return developer_ask(
            self._run.platform,
            questions=questions,
            spec=self._run.started.spec_text,
            task=self._task.task,
            attempt=self._task.attempt,
            history=whole_history(self._run, self._task) if rejected else self._newest(),
            verification=commands_on(self._run, self._task, tree),
            seen=seen_of(self._run, self._task),
            conventions=conventions(self._run.view),
            code=code,
            decisions=decisions(self._run.view),
            rejected=rejected,
            problem=problem,
            deadline_s=deadline_s,
        )

    async def _code_named(self, asked: QuestionsAsked) -> dict[str, str]:
        """Return the beginnings of the files that the questions or the task name, as the project has them."""
        task, run = self._task.task, self._run
        told = [task.description, *task.acceptance_criteria]
        for one in asked.questions:
            told += [one.text, *(f"{option.label} {option.description}" for option in one.options)]
        base = run.view.baseline.tree
        if not base:
            return {}
        words = {word.strip("./`'\"()") for text in told for word in _PATH.findall(text)}
        names = [
            path for path in await files_in(run.repository, base) if words & {path, PurePosixPath(path).name}
        ]
        held = await contents_at(run.repository, base, names[:_FILES_SHOWN]) if names else {}
        return {path: content.decode("utf-8", "replace")[:_CODE_SHOWN] for path, content in held.items()}

    @property
    def _task(self) -> TaskView:
        return self._run.task(self._task_id)

    def _newest(self) -> list[Message]:
        window = self._run.settings.context_window
        return without_place(list(self._task.history)[-window:] if window else [], self._task)

    def _answered_before_resume(
        self, call_id: str, questions: Sequence[Question], tree: str
    ) -> AskView | None:
        """The same questions, answered before the session was resumed: in this exchange, or on this tree."""
        view = self._run.view
        resumed_at = interrupted_at(view, call_id)
        same = [
            ask
            for ask in delivered_in(view, self._task, since=0)
            if ask.seq < resumed_at
            and (ask.asked.call_id == call_id or ask.asked.tree == tree)
            and _signature(ask.asked.questions) == _signature(questions)
        ]
        return same[-1] if same else None

    async def _wait_for_the_same(self, questions: Sequence[Question], deadline: float) -> None:
        """Wait while another session has the same question open, so that both get the same answer."""
        with anyio.CancelScope(deadline=deadline):
            while self._is_open_elsewhere(questions):
                await self._run.changed.wait()

    def _is_open_elsewhere(self, questions: Sequence[Question]) -> bool:
        view = self._run.view
        return any(
            ask.seq > view.process.resumed_seq  # what an earlier process left open is answered by nobody
            and not (ask.answered or ask.failed or ask.parked)
            and view.calls[ask.asked.call_id].end is None
            and ask.asked.call_id not in self._task.open.calls
            and _signature(ask.asked.questions) == _signature(questions)
            for ask in view.asks.values()
        )

    def _answered_elsewhere(self, questions: Sequence[Question]) -> AskView | None:
        """What another session was answered to the same, if that rests on nothing of that session alone."""
        asks = self._run.view.asks.values()
        rejected = {question_key(text) for ask in asks for text in (*ask.asked.again, *ask.rejected)}
        return next(
            (
                ask
                for ask in self._run.view.asks.values()
                if ask.answered
                and ask.asked.call_id not in self._task.open.calls
                and _signature(ask.asked.questions) == _signature(questions)
                and all(answer.basis is not Basis.SESSION for answer in ask.answered.answers)
                and not any(question_key(question.text) in rejected for question in ask.asked.questions)
            ),
            None,
        )


def _for_model(run: Run, question: Question) -> Question:
    """Return a question without the secrets in it."""
    plain = run.recorder.for_model
    options = tuple(
        replace(one, label=plain(one.label), description=plain(one.description)) for one in question.options
    )
    return replace(question, text=plain(question.text), header=plain(question.header), options=options)


def _as_asked(answer: Answer, shown: Question, question: Question) -> Answer:
    """Return an answer to a question as it was shown in the words of the question as it was asked."""
    labels = {one.label: other.label for one, other in zip(shown.options, question.options, strict=True)}
    return replace(
        answer, question=question.text, labels=tuple(labels.get(label, label) for label in answer.labels)
    )


def _signature(questions: Sequence[Question]) -> list[tuple[str, tuple[str, ...], bool]]:
    return [
        (
            question_key(question.text),
            tuple(option.label for option in question.options),
            question.multi_select,
        )
        for question in questions
    ]


def _renamed(answers: Sequence[Answer], texts: Sequence[str]) -> Sequence[Answer]:
    """The same answers to questions that are spelled so: the CLI finds an answer by its question's text."""
    return [replace(answer, question=text) for answer, text in zip(answers, texts, strict=True)]
