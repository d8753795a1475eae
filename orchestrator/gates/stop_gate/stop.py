"""A session that wants to stop, as its hook describes it, and the gate: the first step that blocks wins.

A step is a module with `applies(stop)` and `check(stop)`. After too many blocks the session is let go.
Settings of several scopes may each start a hook, and only the first one acts. A hook from shared settings has
`--shared` in its command. The same input from the same kind of settings is a new stop. From the other kind it
is a stop that was already taken.
"""

import hashlib
import json
import os
import os.path
import re
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Protocol

from agents.transcript.read import TranscriptError, read_transcript, with_last_message
from agents.transcript.records import Speaker, Transcript, Turn, Utterance
from orchestrator.gates.session_state.diagnostics import Diagnostics, has_control
from orchestrator.gates.session_state.records import MOST_BLOCKS
from orchestrator.gates.session_state.store import SteeringStore
from orchestrator.gates.stop_gate import probe
from state.atomic_files import (
    DamagedFileError,
    LockTimeoutError,
    WriteFailedError,
    encoded,
    read_json,
    replace_file,
)

if TYPE_CHECKING:
    from orchestrator.gates.power_steering.facts import Facts


TAIL_BYTES = 20_000_000  # read of a transcript: a step has to be quick
RECENT_BYTES = 500_000  # enough to see how it ends, more if they hold nothing of the conversation
_BY_THE_API = re.compile(
    r"\b(?:limit (?:was )?reached|(?:hit|reached|exceeded) your \w[\w -]* limit|usage limit|api error|"
    r"credit balance|overloaded|rate.limit\w*|prompt is too long|invalid api key|please run /login)\b",
    re.IGNORECASE,
)
_SAID = 200  # characters of an error
_QUESTION_SIGNS = "?\uff1f"


@dataclass(frozen=True)
class ReadSession:
    """The session in the transcript at `path`, whose facts `facts_of` finds.

    `last_message` may be newer than the file.
    """

    facts_of: "Callable[[Transcript], Facts]"
    path: Path | None = None
    last_message: str = ""

    @cached_property
    def transcript(self) -> Transcript | None:
        """The session, with the last message even if the file lacks it yet. None if it cannot be read."""
        return self.end_of_it(TAIL_BYTES)

    @cached_property
    def facts(self) -> "Facts":
        """The facts of the session. Empty without a transcript."""
        return self.facts_of(self.transcript or Transcript())

    @cached_property
    def recent(self) -> Transcript | None:
        """The session's end only, which is quick to read."""
        return self.end_of_it(RECENT_BYTES)

    @cached_property
    def recent_facts(self) -> "Facts":
        """The facts of the session's end only."""
        return self.facts_of(self.recent or Transcript())

    def end_of_it(self, tail_bytes: int) -> Transcript | None:
        """Return the session as the last `tail_bytes` show it, or None if it cannot be read."""
        if self.path is None or not os.path.isfile(self.path):  # noqa: PTH113  never raises, and refuses pipes
            return None
        try:
            read = read_transcript(self.path, tail_bytes=tail_bytes)
        except TranscriptError:
            return None
        return with_last_message(read, self.last_message)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """The answer of a step. `reason` is for the agent if the step blocks, `note` for people in any case.

    `is_counted`: the step has counted this block itself.
    """

    blocks: bool = False
    reason: str = ""
    note: str = ""
    is_counted: bool = False


ALLOWED = StepResult()


@dataclass(frozen=True, kw_only=True)
class Stop:
    """A stop, with all that the hook knows about it.

    `session_id` is the one that people may give their session (CLAUDE_SESSION_ID), else Claude Code's own,
    which is `claude_session`. An empty one matches nothing. `with_steering`: power steering was asked for.
    `lost_transcript`: the hook names this transcript, and there is none.
    `project` is where Claude Code began. `is_shared`: the hook is in settings that others share.
    """

    session_id: str
    claude_session: str = ""
    project: Path
    session: ReadSession
    transcript_path: Path | None = None
    lost_transcript: str = ""
    prompt_id: str = ""
    permission_mode: str = ""
    stop_hook_active: bool = False
    last_assistant_message: str = ""
    with_steering: bool = False
    is_shared: bool = False
    environ: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def prompt(self) -> str:
        """The user's newest prompt, by its id or else by its turn. Blocks are counted for it."""
        return self.prompt_id or f"turn-{max((goal.turn for goal in self.session.facts.goals), default=0)}"

    @property
    def is_system3(self) -> bool:
        """Whether this is a session of a System 3 orchestrator (seed 003)."""
        return self.session_id.startswith("system3-")

    @property
    def is_orchestrator(self) -> bool:
        """Whether this session runs workers of its own."""
        return self.session_id.startswith("orch-")

    @cached_property
    def ended_by(self) -> str:
        """The error of the API that ended the newest turn, such as a limit, in Claude Code's words, or ""."""
        last = [item for turn in (self.session.recent or Transcript()).turns[-1:] for item in turn.items][-1:]
        for said in last:
            if (
                isinstance(said, Utterance)
                and said.speaker is Speaker.INJECTED
                and _BY_THE_API.search(said.text)
            ):
                return " ".join(said.text.split())[:_SAID]
        return ""

    @cached_property
    def waits(self) -> bool:
        """Whether the session plans, or has asked its user a question that needs an answer."""
        recent = self.session.recent or Transcript()
        if self.permission_mode == "plan" or recent.plan_mode:
            return True
        if not any(_may_ask(turn) for turn in recent.turns[-1:]):
            return False
        from orchestrator.gates.power_steering.facts import waits_for_user

        return bool(waits_for_user(self.session.recent_facts))


def _may_ask(turn: Turn) -> bool:
    """Whether the turn has any sign of a question. Only then are the facts worth their time."""
    return any(call.tool == "AskUserQuestion" for call in turn.calls) or any(
        sign in text for text in turn.texts for sign in _QUESTION_SIGNS
    )


class GateStep(Protocol):
    """A step: a module with these two functions."""

    def applies(self, stop: Stop, /) -> bool:
        """Whether the step has anything to check at this stop."""
        ...

    def check(self, stop: Stop, /) -> StepResult:
        """Return the step's answer."""
        ...


Steps = Iterable[tuple[IntEnum, GateStep]]  # each with its name, in the order of the gate


MECHANICAL_S = 6.0  # for all steps without a model together, a slow git included
JUDGE_S = 8.0  # the judge's step, the transcript included (seed 003)
VERIFY_S = 90.0  # for `sq verify`, with its set-up and its start
VERIFY_ENDS_S = 10.0  # then it takes its worktrees away
STEERING_S = 64.0  # power steering: 60 s for its checks, and its start
_FILE = "stop.json"  # in the session's folder
_STEERING = "P3_2_STEERING"  # the only step of the part with that name
_LATER_S = 0.5  # between the two ways to end the process


class RemainingSteps(StrEnum):
    """Which steps are left for this hook."""

    ALL = "all"
    STEERING = "steering"  # the first hook was installed without it
    NONE = "none"


def answer(stop: Stop, steps: Callable[[], Steps]) -> dict[str, str]:
    """Return the hook's answer: nothing or a message to allow the stop, a reason to block it.

    `steps` returns the steps in their order, each with its name. It is called only if one is left to do.
    """
    store = SteeringStore.of_project(stop.project, stop.session_id, environ=stop.environ)
    part = part_of(stop, store)
    if part is RemainingSteps.NONE:
        store.diagnostics.log("stop_taken", is_shared=stop.is_shared)
        return {}
    if limit := stop.ended_by:
        store.diagnostics.log("stop_ended_by_api", reason=limit)
        return _told([f"the turn was ended by an error of the API, so the session may stop: {limit}"])
    lost = f"the session's transcript is not there, so its list was not read: {stop.lost_transcript}"
    notes = [lost] if stop.lost_transcript and not stop.is_system3 else []
    for priority, result in results(stop, steps(), store.diagnostics, part):
        if result.note:
            notes.append(result.note)
        if result.blocks:
            return _held(stop, store, priority, result, notes)
    return _told(notes)


class Mouth:
    """Answers Claude Code once: one JSON object, or nothing."""

    def __init__(self) -> None:
        self._open = threading.Lock()

    def say(self, words: Mapping[str, str]) -> None:
        """Write this answer, unless there was one before."""
        if self._open.acquire(blocking=False) and words:
            os.write(1, json.dumps(words).encode() + b"\n")


def watch(stop: Stop, mouth: Mouth) -> None:
    """End this process at its deadline, even if something hangs. The stop is allowed, with a message."""
    deadline_s = (
        MECHANICAL_S
        + (JUDGE_S if stop.is_system3 else 0)
        + (STEERING_S if stop.with_steering else 0)
        + (VERIFY_S + VERIFY_ENDS_S if probe.may_verify(str(stop.project), stop.environ) else 0)
    )

    def give_up(*_: object) -> NoReturn:
        mouth.say(
            {"systemMessage": f"the stop gate had no answer within {deadline_s:g} s, so the session may stop"}
        )
        os._exit(0)

    timer = threading.Timer(deadline_s, give_up)  # for a system call that no signal interrupts
    timer.daemon = True
    timer.start()
    signal.signal(signal.SIGALRM, give_up)  # for a slow regex, which lets no thread run
    signal.setitimer(signal.ITIMER_REAL, deadline_s + _LATER_S)


def refused(given: Mapping[str, object], environ: Mapping[str, str]) -> str:
    """Return why the hook's input cannot be used (an id has control characters), or "" if it can."""
    ids = {name: given.get(name) for name in ("session_id", "prompt_id")}
    ids["CLAUDE_SESSION_ID"] = environ.get("CLAUDE_SESSION_ID")
    bad = [name for name, text in ids.items() if isinstance(text, str) and has_control(text)]
    return f"{bad[0]} has control characters, so the session may stop. Give a plain id" if bad else ""


def stop_of(
    given: Mapping[str, object],
    environ: Mapping[str, str],
    *,
    with_steering: bool,
    is_shared: bool = False,
) -> Stop:
    """Return the stop in the hook's input. Fields that are missing or of another type are left empty.

    `is_shared`: the hook is in settings that others share.
    """

    def text(name: str) -> str:
        value = given.get(name)
        return value if isinstance(value, str) else ""

    named, last_message = probe.transcript_of(given, environ), text("last_assistant_message")
    transcript = Path(named) if named else None
    return Stop(
        session_id=environ.get("CLAUDE_SESSION_ID") or text("session_id"),
        claude_session=text("session_id"),
        project=Path(probe.project_of(given, environ)),
        session=ReadSession(facts_of, transcript, last_message),
        transcript_path=transcript,
        lost_transcript="" if named else text("transcript_path"),
        prompt_id=text("prompt_id"),
        permission_mode=text("permission_mode"),
        stop_hook_active=given.get("stop_hook_active") is True,
        last_assistant_message=last_message,
        with_steering=with_steering,
        is_shared=is_shared,
        environ=environ,
    )


def facts_of(transcript: Transcript) -> "Facts":
    """The facts of a session, by a module that is imported only when a step asks for them."""
    from orchestrator.gates.power_steering import session_facts

    return session_facts.facts_of(transcript)


def results(
    stop: Stop,
    steps: Steps,
    diagnostics: Diagnostics | None = None,
    part: RemainingSteps = RemainingSteps.ALL,
) -> Iterator[tuple[IntEnum, StepResult]]:
    """Yield the answer of each step that applies, with its name. An error of a step is a note.

    None applies after a turn that an error of the API ended. Without `diagnostics` nothing is logged.
    """
    log = diagnostics.log if diagnostics else lambda *_, **__: None
    for priority, step in steps if not stop.ended_by else ():
        try:
            if not step.applies(stop) or (part is RemainingSteps.STEERING and priority.name != _STEERING):
                continue
            result = step.check(stop)
        except Exception as error:  # noqa: BLE001  an error of ours is reported and traps no session
            log("stop_step", success=False, step=priority.name, error=repr(error))
            result = StepResult(note=f"{priority.name} could not be checked: {type(error).__name__}: {error}")
        log("stop_step", step=priority.name, blocks=result.blocks, note=result.note)
        yield priority, result


def _held(
    stop: Stop, store: SteeringStore, priority: IntEnum, result: StepResult, notes: list[str]
) -> dict[str, str]:
    """Hold the session, unless it was held too often since the user's prompt, or that cannot be counted."""
    let_go = "" if result.is_counted else _why_let_go(stop, store)
    if let_go:
        store.diagnostics.log("stop_let_go", step=priority.name, reason=let_go)
        return _told([f"The session stops although it is not done: {let_go}.", result.reason, *notes])
    return {"decision": "block", "reason": _fit(result.reason), **_told(notes)}


def _why_let_go(stop: Stop, store: SteeringStore) -> str:
    """Count one more block and return "", or return why the session is let go. Both are under one lock."""
    uncounted = "how often it was held cannot be counted"
    try:
        with store.alone():
            if store.load().state.blocks_for(stop.prompt) >= MOST_BLOCKS:
                return f"it was held {MOST_BLOCKS} times"
            is_stored = store.count_held(stop.prompt).stored
    except LockTimeoutError:  # so many hooks at once: the limit comes first
        return uncounted
    except WriteFailedError:
        is_stored = False
    return uncounted if stop.stop_hook_active and not is_stored else ""


def _told(notes: Iterable[str]) -> dict[str, str]:
    """The notes as a message for people. Empty if there are none."""
    said = "\n".join(notes)
    return {"systemMessage": _fit(said)} if said else {}


def _fit(text: str) -> str:
    """Cut the text to a length that Claude Code accepts, and remove control characters."""
    from state.truncation import MAX_RESPONSE_LENGTH, smart_truncate

    plain = "".join(each if each.isprintable() or each in "\n\t" else " " for each in text)
    return smart_truncate(plain, MAX_RESPONSE_LENGTH)


def part_of(stop: Stop, store: SteeringStore) -> RemainingSteps:
    """Take this stop, or the part that another hook has left. Take all of it if that cannot be stored."""
    file = store.file.with_name(_FILE)
    key = hashlib.sha256(repr(_named(stop)).encode("utf-8", "surrogatepass")).hexdigest()
    me = "shared" if stop.is_shared else "own"
    try:
        with store.alone(tries=1):
            taken = _read(store)
            others = taken.get("by") if taken.get("stop") == key else None
            is_new = not isinstance(others, list) or me in others
            by = [me] if is_new or not isinstance(others, list) else [*others, me]
            steered = not is_new and taken.get("steering") is True
            now = {"stop": key, "by": by, "steering": steered or stop.with_steering}
            replace_file(file, encoded(now), sync=False, verify=False)
    except (LockTimeoutError, WriteFailedError):
        return RemainingSteps.ALL
    if is_new:
        return RemainingSteps.ALL
    return RemainingSteps.STEERING if stop.with_steering and not steered else RemainingSteps.NONE


def _named(stop: Stop) -> tuple[object, ...]:
    """Equal for all hooks of one stop."""
    return (
        stop.claude_session,
        stop.prompt_id,
        stop.stop_hook_active,
        stop.last_assistant_message,
        str(stop.transcript_path),
    )


def _read(store: SteeringStore) -> dict[str, object]:
    try:
        return read_json(store.file.with_name(_FILE)) or {}
    except DamagedFileError:
        return {}
