"""The System 3 judge: has an orchestrator's session followed its closure protocol? For `system3-*` alone.

It is the last step that can block, so that no model is asked while a mechanical one blocks. It has eight
seconds in all. If an answer is late, missing or unusable, the session may stop, with a note (seed 003).
"""

from dataclasses import replace
from time import monotonic

import prompts
from agents.access import ApiAccess
from agents.ask.light import ask_now
from agents.ask.port import Ask, Reply
from agents.caller import Caller
from agents.transcript.records import Transcript
from agents.transcript.render import rendered
from orchestrator.gates.stop_gate import probe
from orchestrator.gates.stop_gate.stop import ALLOWED, JUDGE_S, StepResult, Stop
from state.records.calls import CallEnd
from state.roles import Role
from state.settings.records import Model

TURNS = 5  # the newest ones of the conversation
MODEL = "claude-haiku-4-5-20251001"  # SQ_PS_JUDGE_MODEL names another one, by its full id
_LONGEST = 60_000  # characters of the conversation, whose end is whole
_MORE_BYTES = 4_000_000  # of the transcript, if its end holds less than that
_SCHEMA = {
    "type": "object",
    "properties": {
        "should_continue": {"type": "boolean"},
        "reason": {"type": "string"},
        "suggestion": {"type": "string"},
    },
    "required": ["should_continue", "reason", "suggestion"],
    "additionalProperties": False,
}


def applies(stop: Stop) -> bool:
    """Whether this is a System 3 session."""
    return stop.is_system3


def check(stop: Stop) -> StepResult:
    """Hold the session if the judge says that it should continue, with its reason and its suggestion."""
    began = monotonic()
    key = stop.environ.get("ANTHROPIC_API_KEY", "")
    if not key:
        return StepResult(note=probe.NO_KEY)
    recent = stop.session.recent
    if recent is None or not recent.turns:
        return _skipped("there is no transcript to read")
    if stop.waits:
        return ALLOWED
    ask = Ask(
        caller=Caller(role=Role.JUDGE, task="stop", attempt=1),
        model=_model(stop),
        system=prompts.plain("stop_judge"),
        prompt=f"The newest turns of the session, oldest first:\n\n{_conversation(stop, recent)}",
        schema=_SCHEMA,
        deadline_s=max(0.0, JUDGE_S - (monotonic() - began)),
    )
    access = ApiAccess(key=key, base_url=stop.environ.get("ANTHROPIC_BASE_URL") or None)
    return _answer(ask_now(ask, access))


def _conversation(stop: Stop, recent: Transcript) -> str:
    """The newest turns as text, from the transcript's end, or from more of it if some turns are missing."""
    told = rendered(replace(recent, turns=recent.turns[-TURNS:]), _LONGEST)
    if not recent.left_out_bytes or len(recent.turns) > TURNS or len(told) > _LONGEST // 2:
        return told
    more = stop.session.end_of_it(_MORE_BYTES) or recent
    return rendered(replace(more, turns=more.turns[-TURNS:]), _LONGEST)


def _answer(reply: Reply) -> StepResult:
    if reply.end is not CallEnd.COMPLETED or reply.answer is None:
        return _skipped(f"it gave no answer ({reply.end}: {reply.detail})")
    goes_on = reply.answer.get("should_continue")
    if not isinstance(goes_on, bool):  # the text "false" is not an answer
        return _skipped(f"its answer cannot be used (should_continue is {goes_on!r})")
    if not goes_on:
        return ALLOWED
    reason, suggestion = (_words(reply.answer.get(name)) for name in ("reason", "suggestion"))
    for name, words in (("reason", reason), ("suggestion", suggestion)):
        if not words:  # the agent could not act on it
            return _skipped(f"it would go on with the session and gives no {name} ({name} is empty)")
    told = f"The session has not reached its end yet: {reason}"
    return StepResult(blocks=True, reason=f"{told}\nSuggestion: {suggestion}")


def _words(value: object) -> str:
    from state.truncation import as_written, feedback

    return as_written(feedback(value).text) if isinstance(value, str) else ""


def _skipped(why: str) -> StepResult:
    return StepResult(note=f"the System 3 judge was skipped: {why}")


def _model(stop: Stop) -> Model:
    """The judge's model. Its cost is not counted here, since a person's session has no budget."""
    name = stop.environ.get("SQ_PS_JUDGE_MODEL") or MODEL
    return Model(alias=name, id=name, context=200_000, prices=None)
