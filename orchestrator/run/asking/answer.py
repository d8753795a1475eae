"""One structured answer from a model, as a run records it: held, tried, settled.

For agents that answer and do not act: the Developer, judges.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import anyio

from agents.ask.port import MAX_ANSWER_TOKENS, Ask, Reply
from orchestrator.run.asking.budget import Wanted, reserve
from orchestrator.run.asking.people import is_unpaused
from orchestrator.run.asking.retries import persistently, raise_if_hopeless
from orchestrator.run.record import Run
from state.ids import new_call_id
from state.journal.events import CallEnded, CallStarted, call_ended
from state.records.calls import CallEnd
from state.roles import ROLES

T = TypeVar("T")
_SHORTEST_S = 0.05  # a try with less time left is none


async def asked(run: Run, ask: Ask, *, iteration: int) -> tuple[str, Reply]:
    """Ask, and give back `(the call's id, the reply)`; its end is for the caller to record.

    The ask's deadline holds for all tries together; a time until which everybody has to wait does not count.

    Raises:
        BudgetExhausted: the call may not be paid for; it was not made.
    """
    await run.until(is_unpaused)
    caller = ask.caller
    text = ask.system + ask.shared + ask.prompt
    wanted = Wanted(task_id=caller.task, model=ask.model, text=text, answer_tokens=MAX_ANSWER_TOKENS)
    call = CallStarted(
        call_id=new_call_id(),
        role=caller.role,
        task_id=caller.task,
        attempt=caller.attempt,
        iteration=iteration,
        session_id="",
        model=ask.model.name,
        prompt=ask.prompt,
        system=ask.system,
        reserved_usd=reserve(run.view, run.settings, wanted).usd,
    )
    run.record(call)
    asked_s = 0.0
    stored = run.view.calls[call.call_id].started.prompt  # without secrets
    ask = replace(ask, prompt=stored, shared=run.recorder.for_model(ask.shared))

    async def try_once(_number: int) -> Reply:
        nonlocal asked_s
        began = anyio.current_time()
        left = max(_SHORTEST_S, ask.deadline_s - asked_s)
        reply = await run.platform.asker.ask(replace(ask, deadline_s=left))
        asked_s += anyio.current_time() - began
        return reply

    try:
        return call.call_id, await persistently(
            try_once, call_id=call.call_id, view=run.view, retries=run.settings.retries, record=run.record
        )
    except anyio.get_cancelled_exc_class():  # by its caller, or as the run stops: what was held counts
        cut_off = CallEnded(
            call_id=call.call_id,
            end=CallEnd.INTERRUPTED,
            detail="cut off before the answer came",
            cost_usd=call.reserved_usd,
        )
        run.record(cut_off)
        raise


def ended_with(call_id: str, reply: Reply) -> CallEnded:
    """The end of a call that this reply is."""
    detail = "" if reply.end is CallEnd.COMPLETED else reply.detail
    answer = json.dumps(reply.answer, ensure_ascii=False) if reply.answer else ""
    return call_ended(call_id, replace(reply, detail=detail), answer=answer)


async def ask_model(
    run: Run, ask: Ask, read: Callable[[dict[str, Any] | None], T | str], *, iteration: int
) -> tuple[CallEnded, T | str]:
    """Ask, and read the answer: `(the call's end, not yet recorded; what was read, or why it is unusable)`.

    The caller records the end together with what follows from it.

    Raises:
        BudgetExhausted: as `asked`.
        ServiceError: the model cannot be asked at all; the end is recorded.
    """
    call_id, reply = await asked(run, ask, iteration=iteration)
    read_answer: T | str = f"{reply.end}: {reply.detail}"
    ended = ended_with(call_id, reply)
    if reply.end is CallEnd.COMPLETED:
        read_answer = read(reply.answer)
        if isinstance(read_answer, str):
            ended = replace(ended, end=CallEnd.UNUSABLE, detail=read_answer)
    try:
        raise_if_hopeless(reply, run.view)
    except Exception:
        run.record(ended)
        raise
    return ended, read_answer


def close_lost_asks(run: Run) -> None:
    """Close requests for answers that the previous process left open, because they are lost."""
    lost = [
        CallEnded(
            call_id=id_,
            end=CallEnd.INTERRUPTED,
            detail="the process ended before the answer came",
        )
        for id_, call in run.view.calls.items()
        if call.end is None and not ROLES[call.started.role].has_session
    ]
    if lost:
        run.record(*lost)
