"""Measures power steering: time for 23 checks, and tokens billed.

    python -m benchmarks.power_steering
    python -m benchmarks.power_steering --floor    # exit code 1 beyond a goal

All parts except the model are real: the Anthropic client asks a loopback gateway in this process, which
answers each request after `--model-s` seconds.

- Wall: one look at 23 considerations with a session of 50,000 tokens, after a first one that is not counted.
  A person waits for it: each question has its call. The model's answer begins at once and ends after its
  seconds (`wall_after_warm_s`), or it begins only then (`wall_late_begin_s`). The others wait until the
  answer to the first call begins, so the latter takes two answers.
- In a run up to five questions share a call (`run_…`). The model takes half of its seconds for a call and
  half for each answer in it, so five answers take three times as long as one.
- Billed: input tokens of these calls, by the bytes that came in, divided by those of 23 whole prompts. The
  part up to the cache mark costs 1.25 in the first call, 0.1 in a call that has the same bytes and came when
  the first answer had begun, and else 1.25. The rest costs 1. A token counts as 4 characters.

The last line is JSON.
"""

import json
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import click

from agents.access import RehearsalConnection
from agents.ask.api import ApiAsker
from agents.caller import Caller
from agents.gateway.script import Hang, Misbehave, Scenario, ScriptReply
from benchmarks.figures import print_figures
from benchmarks.rehearsed import CallerClock, Served, clocked_gateway
from benchmarks.stop_gate import CODE
from orchestrator.gates.power_steering.considerations import load_considerations
from orchestrator.gates.power_steering.judging import TOGETHER, SessionLook, judge_all
from state.roles import Role
from state.settings.presets import model_named
from state.verdicts import Source

if TYPE_CHECKING:
    from pydantic import JsonValue

CHARACTERS_PER_TOKEN = 4
WRITE, READ = 1.25, 0.1  # of the price of an input token
MODEL = "haiku"
GOALS = {
    "wall_after_warm_s": 1.4,
    "billed_token_ratio": 0.16,
    "run_wall_s": 4,
    "run_billed_token_ratio": 0.08,
}
ANSWER: "dict[str, JsonValue]" = {"verdict": "satisfied", "reason": "Seen. " * 20, "quote": "12 passed. " * 4}
DELTAS = -(-len(json.dumps(ANSWER)) // 64)  # the gateway's model pauses before each 64 characters


@dataclass(frozen=True, slots=True, kw_only=True)
class LookCost:
    """One look at a session: its seconds and its requests."""

    seconds: float
    requests: list[Served]


@click.command()
@click.option("--model-s", default=1.0, show_default=True, help="Seconds that the model takes for an answer.")
@click.option("--tokens", default=50_000, show_default=True, help="Tokens of the session that is judged.")
@click.option("--floor", is_flag=True, help="Exit code 1 beyond a goal.")
def main(model_s: float, tokens: int, *, floor: bool) -> None:
    """Measure the costs of power steering."""
    with tempfile.TemporaryDirectory(prefix="sq-bench-") as name:
        figures = anyio.run(_looks, Path(name), model_s, tokens)
    print(f"{model_s:g} s an answer, {tokens} tokens of session")
    print_figures(figures, GOALS)
    # Seconds may be half as many again, because machines are noisy.
    beyond = (figures[name] > goal * (1.5 if "wall" in name else 1) for name, goal in GOALS.items())
    sys.exit(floor and any(beyond))


# --- looks ------------------------------------------------------------------------------------------------


async def _looks(folder: Path, model_s: float, tokens: int) -> dict[str, float]:
    """Measure a person's look with answers that begin at once or late, and a run's."""
    session = _session(tokens * CHARACTERS_PER_TOKEN)
    await _look(folder / "warm", None, session)
    person = await _look(folder / "once", Misbehave(slow=model_s / DELTAS), session)
    late = await _look(folder / "late", Misbehave(hang=Hang.AFTER_HEADERS, seconds=model_s), session)
    each_s = model_s * (1 + TOGETHER) / 2 / TOGETHER
    run = await _look(folder / "run", Misbehave(slow=each_s / DELTAS), session, TOGETHER)
    return {
        "wall_after_warm_s": round(person.seconds, 3),
        "wall_late_begin_s": round(late.seconds, 3),
        "billed_token_ratio": _billed(person.requests),
        "checks": len(load_considerations(None).considerations),
        "calls": len(person.requests),
        "run_wall_s": round(run.seconds, 3),
        "run_billed_token_ratio": _billed(run.requests),
        "run_calls": len(run.requests),
    }


async def _look(folder: Path, misbehave: Misbehave | None, session: str, together: int = 1) -> LookCost:
    scenario = Scenario(
        scenario=1, callers={"judge/*": (ScriptReply(structured=ANSWER, misbehave=misbehave),)}
    )
    considerations = load_considerations(None).considerations
    folder.mkdir()
    async with clocked_gateway(scenario, folder) as (gateway, clock):
        connection = RehearsalConnection(gateway=gateway, config_dir=folder)
        look = SessionLook(
            session=session,
            model=model_named(MODEL),
            caller=Caller(role=Role.JUDGE, task="bench", attempt=1),
            ask=ApiAsker(connection).ask,
            together=together,
        )
        began = time.perf_counter()
        results = await judge_all(considerations, look)
        seconds = time.perf_counter() - began
    if any(one.source is not Source.JUDGE for one in results):
        sys.exit("a check was not judged, so nothing was measured")
    return LookCost(seconds=seconds, requests=_in_order(clock))


def _in_order(clock: CallerClock) -> list[Served]:
    """The requests in the order in which they were in."""
    return sorted((one for served in clock.served.values() for one in served), key=lambda one: one.arrived)


def _session(characters: int) -> str:
    """Text of about this length, like a session's rendering."""
    body = CODE * (characters // len(CODE))
    return f'<tool name="Write" turn="1">\n<input name="content">\n{body}</input>\n</tool>\n'


def _billed(requests: list[Served]) -> float:
    """Billed input tokens, by those of a whole prompt for each check without a cache."""
    first = requests[0]
    cached, _ = _parts(first)
    naive = len(cached) * len(load_considerations(None).considerations) / CHARACTERS_PER_TOKEN
    billed = 0.0
    for request in requests:
        shared, rest = _parts(request)
        hit = request is not first and shared == cached and request.arrived >= first.speaking > 0
        naive += len(rest) / CHARACTERS_PER_TOKEN
        billed += (len(shared) * (READ if hit else WRITE) + len(rest)) / CHARACTERS_PER_TOKEN
    return round(billed / naive, 4)


def _parts(request: Served) -> tuple[str, str]:
    """Split a request into schema, system and message up to the cache mark, and the rest."""
    body: dict[str, Any] = json.loads(request.body)
    (message,) = body["messages"]
    blocks = message["content"]
    marked = max(number for number, block in enumerate(blocks, 1) if "cache_control" in block)
    beginning = [body["output_config"], body["system"], *[block["text"] for block in blocks[:marked]]]
    return json.dumps(beginning, ensure_ascii=False), "".join(block["text"] for block in blocks[marked:])


if __name__ == "__main__":
    main()
