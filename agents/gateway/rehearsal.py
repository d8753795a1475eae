"""The mode in which the model is a script: each request gets the reply of the scenario that is due."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches, ndiff
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response

from agents.gateway import wire
from agents.gateway.bad_answers import bad_answer
from agents.gateway.call import Call, error_body
from agents.gateway.conversation import ModelRequest, RequestError, read_request
from agents.gateway.ledger import Answered, Ledger, LedgerLine
from agents.gateway.position import Due, Position, ReplyPart, position
from agents.gateway.script import (
    Expectation,
    Misbehave,
    Scenario,
    ScriptReply,
    Values,
    fill_reply,
    unfilled_paths,
)

if TYPE_CHECKING:
    from pydantic import JsonValue

_BYTES_PER_TOKEN = 4  # a usual estimate, on which nothing depends
_QUESTION = re.compile(
    r'<question id="([^"]*)">\n(.*?)\n</question>', re.DOTALL
)  # prompts/judge_questions.md.j2
_SHOWN = 4  # remaining replies that a message about a missing one lists


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Why a request gets an error instead of an answer, with the reply that was `due`, if any."""

    reason: str
    due: Due | None = None


class Rehearsal:
    """Plays `scenario`. Each answered request is written to `ledger`, each problem to `problems`.

    A fault for which the scenario asks is not a problem. It has its own line in the ledger.
    """

    def __init__(self, scenario: Scenario, *, run_id: str, ledger: Ledger) -> None:
        self.problems: list[str] = []
        self._scenario = scenario
        self._run_id = run_id
        self._ledger = ledger
        self._values: dict[str, dict[str, str]] = {}
        self._refused: set[tuple[str, str, str]] = set()

    def register(self, caller: str, values: Values) -> None:
        """Fill in `{name}` for `caller` from now on."""
        self._values.setdefault(caller, {}).update(values)

    def refuses(self, caller: str) -> float:
        """Return for how many seconds from now connections of `caller` are to be refused: 0 to infinity.

        Call it once for each server: a refusal that ends counts as done once this was called.
        """
        first = next(iter(self._scenario.replies(caller) or ()), None)
        misbehave = first.misbehave if first else None
        if misbehave is None or not misbehave.refuses:
            return 0
        if misbehave.seconds is not None and self._ledger.misbehaved(caller, 1):
            return 0
        self._note(caller, None, Answered.MISBEHAVED, Due(number=1), misbehaved=misbehave.kind)
        return misbehave.seconds or math.inf

    async def answer(self, call: Call) -> Response:
        """Return the due reply, well or badly as it says, or HTTP 400 with the reason why none is due."""
        try:
            request = read_request(call.body)
        except RequestError as error:
            return self._refuse(call, None, Refused(reason=f"caller {call.caller}: {error}"))
        replies = self._replies(call)
        if isinstance(replies, Refused):
            return self._refuse(call, request, replies)
        decided = decide(replies, request, caller=call.caller)
        if isinstance(decided, Refused):
            return self._refuse(call, request, decided)
        return self._give(call, request, replies, decided)

    async def count(self, call: Call) -> Response:
        """Return an estimate of the number of tokens."""
        return JSONResponse({"input_tokens": 1 + len(call.body) // _BYTES_PER_TOKEN})

    async def traces(self, call: Call) -> Response:
        """Return HTTP 404 and report a problem: a rehearsal takes no telemetry."""
        return self.stray(f"/{call.run_id}/{call.caller}/{'/'.join(call.endpoint)}")

    def stray(self, path: str) -> Response:
        """Return HTTP 404 and report a problem, since an agent requested a path that does not exist."""
        text = f"sq rehearsal: nothing answers POST {path}, expected /RUN/ROLE/TASK/ATTEMPT/v1/messages"
        self._report(("", "", path), text)
        return JSONResponse(error_body(text), status_code=404)

    def _replies(self, call: Call) -> Sequence[ScriptReply] | Refused:
        if call.run_id != self._run_id:
            return Refused(
                reason=f"caller {call.caller}: asked for run {call.run_id}, this is {self._run_id}"
            )
        found = self._scenario.replies(call.caller)
        if found is None:
            callers = ", ".join(self._scenario.callers) or "none"
            return Refused(reason=f"caller {call.caller} is not in the scenario. Its callers are: {callers}")
        values = self._values.get(call.caller, {})
        return tuple(fill_reply(reply, values) for reply in found)

    def _give(self, call: Call, request: ModelRequest, replies: Sequence[ScriptReply], due: Due) -> Response:
        reply = question_by_question(replies, replies[due.number - 1], request.newest_prompt)
        said = wire.message(
            reply, due, model=request.model, offered=request.tools, usage=self._scenario.usage
        )
        if misbehave := self._misbehaves(call.caller, reply, due):
            self._note(call.caller, request, Answered.MISBEHAVED, due, misbehaved=misbehave.kind)
            return bad_answer(misbehave, said, stream=request.stream)
        self._note(call.caller, request, Answered(due.part), due)
        if request.stream:
            return Response(b"".join(wire.events(said)), media_type="text/event-stream")
        return JSONResponse(wire.body(said))

    def _misbehaves(self, caller: str, reply: ScriptReply, due: Due) -> Misbehave | None:
        misbehave = reply.misbehave
        if misbehave is None or misbehave.refuses or due.part is ReplyPart.THEN:
            return None
        over = misbehave.times is not None and self._ledger.misbehaved(caller, due.number) >= misbehave.times
        return None if over else misbehave

    def _refuse(self, call: Call, request: ModelRequest | None, refused: Refused) -> Response:
        self._note(call.caller, request, Answered.PROBLEM, refused.due)
        text = "\n".join([f"sq rehearsal: {refused.reason}", *_shown(request)])
        # The CLI sends a refused conversation again several times, with fewer features: one problem.
        key = (call.run_id, call.caller, request.digest if request else text)
        self._report(key, text)
        return JSONResponse(error_body(text), status_code=400)

    def _report(self, key: tuple[str, str, str], text: str) -> None:
        if key not in self._refused:
            self._refused.add(key)
            self.problems.append(text)

    def _note(
        self,
        caller: str,
        request: ModelRequest | None,
        part: Answered,
        due: Due | None,
        *,
        misbehaved: str | None = None,
    ) -> None:
        line = LedgerLine(
            caller=caller,
            reply=due.number if due else None,
            part=part,
            repeat=due.repeat if due else 0,
            stream=request.stream if request else False,
            messages=request.messages if request else 0,
            digest=request.digest if request else "",
            misbehaved=misbehaved,
            size=request.size if request else 0,
        )
        self._ledger.append(line)


def question_by_question(replies: Sequence[ScriptReply], due: ScriptReply, prompt: str) -> ScriptReply:
    """Return a judge's reply without ids as one for each question of the prompt, each by its first fit."""
    questions = dict(_QUESTION.findall(prompt))
    if not questions or due.structured is None or "judgements" in due.structured:
        return due
    around = _QUESTION.sub("", prompt)
    judgements: list[JsonValue] = [
        {
            "id": id_,
            **next(
                one.structured
                for one in (*replies, replace(due, when=()))
                if one.structured and all(part in words or part in around for part in one.when)
            ),
        }
        for id_, words in questions.items()
    ]
    return replace(due, structured={"judgements": judgements})


def decide(replies: Sequence[ScriptReply], request: ModelRequest, *, caller: str) -> Due | Refused:
    """Return the reply of the caller that answers `request`, or why none does."""
    here = position(replies, request.entries)
    if here.due is None:
        return Refused(reason=f"caller {caller}: no reply is left for this request\n  {_left(replies, here)}")
    due = here.due
    reply = replies[due.number - 1]
    failed = [] if due.part is ReplyPart.THEN else [*unmet(reply.expect, request, here, due)]
    failed += [
        f"this path holds a placeholder that is not registered: {each}" for each in unfilled_paths(reply)
    ]
    if not failed:
        return due
    reasons = "\n".join(f"  {reason}" for reason in failed)
    return Refused(
        reason=f"caller {caller}, reply {due.number}: the request is not as expected\n{reasons}", due=due
    )


def _left(replies: Sequence[ScriptReply], here: Position) -> str:
    rest = list(enumerate(replies, start=1))[here.last :]
    said = f"the scenario has {len(replies)} replies here, reply {here.last} was given last"
    if not rest:
        return said
    listed = [
        f"reply {number} waits for {' and '.join(map(repr, reply.when))}" for number, reply in rest[:_SHOWN]
    ]
    more = [f"and {len(rest) - _SHOWN} more"] if len(rest) > _SHOWN else []
    return "; ".join([said, *listed, *more])


def _shown(request: ModelRequest | None) -> Iterator[str]:
    if request is None:
        return
    yield f"  the request: model {request.model}, {request.messages} messages"
    yield f"  its newest prompt: {shorten(request.newest_prompt)!r}"
    for text in request.newest_results:
        yield f"  its tool result: {shorten(text)!r}"


_SHORT = 400  # characters of a prompt or a result that a message shows
_ALIKE = 0.4  # similarity from which two lines are shown as a difference


def unmet(expect: Expectation, request: ModelRequest, position: Position, due: Due) -> Iterator[str]:
    """Yield each expectation that does not hold, with the text found instead."""
    results = "\n".join(due.results)
    yield from _lacking("prompt_contains", expect.prompt_contains, position.prompt, "the prompt")
    for words in expect.prompt_lacks:
        if words in position.prompt:
            yield f"prompt_lacks: the prompt holds {words!r}: {shorten(_around(words, position.prompt))!r}"
    yield from _lacking("anywhere_contains", expect.anywhere_contains, request.everything, "the request")
    yield from _lacking("tool_results_contain", expect.tool_results_contain, results, "the tool results")
    for name in expect.tools_offered:
        if name not in request.tools:
            yield f"tools_offered: {name} is not offered, only {', '.join(request.tools) or 'no tool at all'}"
    if expect.model is not None and expect.model not in request.model:
        yield f"model: expected {expect.model!r} in it, found {request.model!r}"
    if expect.effort is not None and expect.effort != request.effort:
        yield f"effort: expected {expect.effort!r}, found {request.effort!r}"
    if expect.task_tokens is not None and expect.task_tokens is not bool(request.task_tokens):
        yield f"task_tokens: expected {expect.task_tokens}, and the model is told {request.task_tokens}"


def shorten(text: str) -> str:
    """Return `text` if it is short, else its head and its end."""
    half = _SHORT // 2
    return text if len(text) <= _SHORT else f"{text[:half]} … {text[-half:]}"


def _lacking(key: str, expected: tuple[str, ...], found: str, where: str) -> Iterator[str]:
    for words in expected:
        if words not in found:
            yield f"{key}: {words!r} is not in {where}{_difference(words, found)}"


def _difference(words: str, found: str) -> str:
    """Return a diff against the most similar line, or the text itself if no line is similar."""
    lines = found.splitlines()
    first = words.splitlines()[0]
    near = get_close_matches(first, lines, n=1, cutoff=_ALIKE)
    if not near:
        return f", which is {shorten(found)!r}"
    start = lines.index(near[0])
    wanted = words.splitlines()
    shown = ndiff(wanted, lines[start : start + len(wanted)])
    return ":\n" + "\n".join(f"      {line.rstrip()}" for line in shown)


def _around(words: str, text: str) -> str:
    start = text.index(words)
    return text[max(0, start - 80) : start + len(words) + 80]
