"""The question bus: a Worker's questions to the Developer model and the answers back, in the same session.

Each question gets its own answer, checked against its options. One AskUserQuestion call, all its questions
together, has a deadline (60 s, `limits.question_s`). Asked and answered are events; an answer that was paid
for before a crash is not asked for again.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import anyio

from agents.ask import Ask
from agents.developer import CONTEXT_WINDOW, developer_ask, questions_in, read_answers
from agents.exchange import OnQuestions, Unanswered
from orchestrator.run.asking import ask_model
from orchestrator.run.record import Run
from state.events import QuestionsAnswered, QuestionsAsked, QuestionsFailed
from state.records import Answer, CallEnd, Question
from state.view import TaskView

_TRIES = 2  # an answer that cannot be used is asked for once more, with what is wrong with it


class QuestionBus:
    """Answers the questions of one task's Worker."""

    def __init__(self, run: Run, task_id: str) -> None:
        self._run = run
        self._task_id = task_id

    def callback(self, call_id: str) -> OnQuestions:
        """The seed's `on_question_callback` for the exchange of this id."""

        async def on_question_callback(
            ask_id: str, arguments: Mapping[str, Any]
        ) -> tuple[Answer, ...] | Unanswered:
            return await self._answer(call_id, ask_id, arguments)

        return on_question_callback

    async def _answer(
        self, call_id: str, ask_id: str, arguments: Mapping[str, Any]
    ) -> tuple[Answer, ...] | Unanswered:
        questions = questions_in(dict(arguments))
        listed = () if isinstance(questions, str) else questions
        asked = QuestionsAsked(ask_id=ask_id, call_id=call_id, task_id=self._task_id, questions=listed)
        if isinstance(questions, str):
            self._run.record(asked, QuestionsFailed(ask_id=ask_id, cause=questions, final=False))
            return Unanswered(questions, final=False)
        if known := self._answered_before_crash(call_id, questions):
            answered = QuestionsAnswered(ask_id=ask_id, answers=known.answers, model=known.model, reused=True)
            self._run.record(asked, answered)
            return known.answers
        self._run.record(asked)
        return await self._ask_developer(ask_id, questions)

    async def _ask_developer(
        self, ask_id: str, questions: Sequence[Question]
    ) -> tuple[Answer, ...] | Unanswered:
        deadline = anyio.current_time() + self._run.limits.question_s
        problem = ""
        for _ in range(_TRIES):
            ask = self._ask(questions, problem, max(0.0, deadline - anyio.current_time()))
            ended, answers = await ask_model(
                self._run, ask, partial(read_answers, questions=questions), iteration=self._task.iteration
            )
            if not isinstance(answers, str):
                answered = QuestionsAnswered(ask_id=ask_id, answers=answers, model=ask.model.alias)
                self._run.record(ended, answered)
                return answers
            problem = answers
            if ended.end is not CallEnd.UNUSABLE:
                break
            self._run.record(ended)
        failed = QuestionsFailed(ask_id=ask_id, cause=f"{questions[0].text!r}: {problem}")
        self._run.record(*([] if ended.end is CallEnd.UNUSABLE else [ended]), failed)
        return Unanswered(f"The question could not be answered: {problem}", final=True)

    def _ask(self, questions: Sequence[Question], problem: str, deadline_s: float) -> Ask:
        return developer_ask(
            self._run.platform,
            questions=questions,
            spec=self._run.started.spec_text,
            task=self._task.task,
            attempt=self._task.attempt,
            history=list(self._task.history)[-CONTEXT_WINDOW:],
            problem=problem,
            deadline_s=deadline_s,
        )

    @property
    def _task(self) -> TaskView:
        return self._run.task(self._task_id)

    def _answered_before_crash(self, call_id: str, questions: Sequence[Question]) -> QuestionsAnswered | None:
        """The answer that this exchange had been given to these questions before its process died."""
        resumed_at = self._run.view.calls[call_id].resumed_at
        return next(
            (
                ask.answered
                for ask in self._run.view.asks.values()
                if ask.answered
                and ask.asked.call_id == call_id
                and ask.seq < resumed_at
                and ask.asked.questions == tuple(questions)
            ),
            None,
        )
