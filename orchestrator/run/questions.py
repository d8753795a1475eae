"""The question bus: a Worker's questions to the Developer model and the answers back, in the same session.

Each question gets its own answer, checked against its options. One AskUserQuestion call, all its questions
together, has 60 s. Asked and answered are events; an answer that was paid for before a crash is not asked
for again.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import anyio

from agents.developer import (
    CONTEXT_WINDOW,
    QUESTION_DEADLINE_S,
    developer_ask,
    questions_in,
    read_answers,
)
from agents.exchange import OnQuestions, Unanswered
from orchestrator.run.record import Run
from state.events import (
    CallEnded,
    CallStarted,
    QuestionsAnswered,
    QuestionsAsked,
    QuestionsFailed,
)
from state.ids import new_call_id
from state.records import Answer, CallEnd, Message, Question, Role

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
        deadline = anyio.current_time() + QUESTION_DEADLINE_S
        problem = ""
        for _ in range(_TRIES):
            call, ended, answers = await self._one_try(questions, problem, deadline)
            if not isinstance(answers, str):
                answered = QuestionsAnswered(ask_id=ask_id, answers=answers, model=call.model)
                self._run.record(ended, answered)
                return answers
            problem = answers
            if ended.end is not CallEnd.UNUSABLE:
                break
            self._run.record(ended)
        failed = QuestionsFailed(ask_id=ask_id, cause=f"{questions[0].text!r}: {problem}")
        self._run.record(*([] if ended.end is CallEnd.UNUSABLE else [ended]), failed)
        return Unanswered(f"The question could not be answered: {problem}", final=True)

    async def _one_try(
        self, questions: Sequence[Question], problem: str, deadline: float
    ) -> tuple[CallStarted, CallEnded, tuple[Answer, ...] | str]:
        run, task = self._run, self._run.task(self._task_id)
        ask = developer_ask(
            run.platform,
            questions=questions,
            spec=run.started.spec_text,
            task=task.task,
            attempt=task.attempt,
            history=self._history(),
            problem=problem,
            deadline_s=max(0.0, deadline - anyio.current_time()),
        )
        call = CallStarted(
            call_id=new_call_id(),
            role=Role.DEVELOPER,
            task_id=self._task_id,
            attempt=task.attempt,
            iteration=task.iteration,
            session_id="",
            model=ask.model.alias,
            prompt=ask.prompt,
            system=ask.system,
        )
        run.record(call)
        reply = await run.platform.asker.ask(ask)
        answers: tuple[Answer, ...] | str = f"{reply.end}: {reply.detail}"
        end = reply.end
        if reply.end is CallEnd.COMPLETED:
            answers = read_answers(reply.answer, questions)
            end = CallEnd.UNUSABLE if isinstance(answers, str) else end
        ended = CallEnded(
            call_id=call.call_id,
            end=end,
            detail=answers if isinstance(answers, str) else "",
            api_status=reply.api_status,
            cost_usd=reply.cost_usd,
            usage=reply.usage,
            seconds=reply.seconds,
            answer=json.dumps(reply.answer, ensure_ascii=False) if reply.answer else "",
        )
        return call, ended, answers

    def _history(self) -> list[Message]:
        return list(self._run.task(self._task_id).history)[-CONTEXT_WINDOW:]

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
