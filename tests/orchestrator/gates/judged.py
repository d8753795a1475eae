"""What tests of the judge have in common: questions, scripted replies, and what was asked."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import anyio
import pytest

from agents.caller import Caller
from orchestrator.gates.power_steering.considerations import consideration_of
from orchestrator.gates.power_steering.judging import SessionLook
from state.roles import Role
from state.settings.presets import model_named
from state.verdicts import Source

TRANSCRIPTS = Path(__file__).parents[2] / "agents" / "transcripts"
MODEL = model_named("haiku")
CALLER = Caller(role=Role.JUDGE, task="notes", attempt=1)
SESSION = '<user turn="1">\nWrite a line.\n</user>\n<assistant turn="1">\nDone.\n</assistant>\n'
TOKENS = {"input_tokens": 1000, "output_tokens": 10}
JUDGE, RULE, NOT_CHECKED = Source.JUDGE, Source.RULE, Source.NOT_CHECKED


def considerations(*ids, **more):
    return [
        consideration_of({"id": id_, "question": f"What of {id_}?", "severity": "blocker", **more})
        for id_ in ids
    ]


def finds(verdict, reason="It was seen.", quote=""):
    return {"verdict": verdict, "reason": reason, "quote": quote}


def says(id_, verdict="not_satisfied", reason="It was seen.", quote="", **more):
    """The judge's reply to the question of one check."""
    return {"structured": finds(verdict, reason, quote), "when": f"What of {id_}?", **more}


SATISFIED = {"structured": finds("satisfied")}


def in_group(*given, **more):
    """The judge's reply to a group: a judgement for each (id, verdict) or whole item."""
    items = [
        one if isinstance(one, dict) else {"id": one[0], **finds(one[1], f"Seen of {one[0]}.")}
        for one in given
    ]
    return {"structured": {"judgements": items}, **more}


@dataclass
class Served:
    """Stands before the gateway: keeps what was asked, in order, and may hold answers back.

    An answer is begun when `begin_at` requests have come, the first one when `first_at` have, and goes on
    behind its beginning when `end_at` have.
    """

    app: object = None
    first_at: int = 0
    begin_at: int = 0
    end_at: int = 0
    bodies: list = field(default_factory=list)
    happened: list = field(default_factory=list)

    def __post_init__(self):
        self._came = anyio.Condition()

    async def __call__(self, scope, receive, send):
        body, number, chunks = b"", None, 0

        async def noted_receive():
            nonlocal body, number
            message = await receive()
            if message["type"] == "http.request":
                body += message["body"]
                if not message.get("more_body"):
                    async with self._came:
                        number = len(self.bodies)
                        self.bodies.append(body)
                        self.happened.append(f"{number} asked")
                        self._came.notify_all()
            return message

        async def noted_send(message):
            nonlocal chunks
            if message["type"] == "http.response.start":
                await self._until(self.begin_at if number else self.first_at)
                self.happened.append(f"{number} begun")
            chunks += message["type"] == "http.response.body"
            if chunks > 1:
                await self._until(self.end_at)
            await send(message)

        await self.app(scope, noted_receive, noted_send)

    async def _until(self, requests):
        async with self._came:
            while len(self.bodies) < requests:
                await self._came.wait()

    @property
    def questions(self):
        """The words of each request behind the shared part."""
        return [json.loads(body)["messages"][0]["content"][-1]["text"] for body in self.bodies]


def looking(ask, session=SESSION, **look):
    """A look at a session; each question has a call of its own unless `together` says otherwise."""
    return SessionLook(session=session, model=MODEL, caller=CALLER, ask=ask, **look)


def rule(*, satisfied=False, reason="the rule saw it", evidence="1 failed", applies=True):
    found = SimpleNamespace(satisfied=satisfied, reason=reason, evidence=evidence, applies=applies)
    return lambda: found


def broken_rule():
    raise ValueError("a rule's own mistake")


def unwanted_rule():
    pytest.fail("nobody was to ask this rule")  # no Exception: nothing of ours takes it for a rule's mistake


def sources(results):
    return {id_: one.source for id_, one in results.items()}
