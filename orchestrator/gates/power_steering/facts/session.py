"""The facts of a session: edits, commands and how tests ended, todos, git, goals, last words.

They rest on tool calls and their results, never on the assistant's own account. Calls that were refused, or
that have no result, are not evidence.
"""

from collections.abc import Iterator, Sequence

from agents.transcript.records import Speaker, ToolCall, Transcript, Turn, Utterance, listed, mapping, string
from orchestrator.gates.power_steering.facts.commands import (
    background_of,
    branch_told,
    commands_of,
    git_actions_of,
    hub_actions_of,
    placed_calls,
)
from orchestrator.gates.power_steering.facts.facts import (
    CalledTool,
    Command,
    Facts,
    GitAction,
    Goal,
    SkillUse,
    TypedCommand,
)
from orchestrator.gates.power_steering.facts.work import TODO_TOOLS, edits_of, readings_of, todos_of


def facts_of(transcript: Transcript) -> Facts:
    """Return the facts of a session, extracted in one pass over its calls."""
    calls = tuple(placed_calls(transcript.turns))
    worked = [(order, turn, call) for order, turn, call in calls if call.result and not call.result.is_error]
    main = [call for turn in transcript.turns for call in turn.calls]  # a subagent's list is its own
    ended = {end.id: end for end in transcript.ended}
    commands = tuple(commands_of(calls, ended))
    edits = tuple(
        edit
        for order, turn, call in calls
        for edit in edits_of(call, order=order, turn=turn, project=transcript.cwd)
    )
    reads = tuple(read for order, turn, call in calls for read in readings_of(call, order=order, turn=turn))
    said = [(turn.number, said) for turn in transcript.turns for said in _users(turn)]
    return Facts(
        goals=tuple(Goal(text=said.text, turn=turn) for turn, said in said if said.opens),
        typed_commands=tuple(
            TypedCommand(name=said.command, text=said.text, turn=turn, is_expanded=said.is_expanded)
            for turn, said in said
            if said.command
        ),
        edits=edits,
        calls=tuple(CalledTool(tool=call.tool, order=order, turn=turn) for order, turn, call in worked),
        reads=reads,
        commands=commands,
        todos=todos_of(main),
        todos_turn=max((turn for _, turn, call in worked if call.tool in TODO_TOOLS), default=0),
        git_actions=tuple(_git_actions(commands)),
        hub_actions=tuple(
            action
            for one in commands
            for action in hub_actions_of(one.line, one.output, one.exit_code, order=one.order, turn=one.turn)
        ),
        skills=tuple(
            SkillUse(name=string(call.input.get("skill")), order=order, turn=turn)
            for order, turn, call in worked
            if call.tool == "Skill"
        ),
        background=tuple(background_of(calls, ended)),
        pending_questions=tuple(_pending_questions(transcript)),
        final_text=_final_text(transcript),
    )


def _users(turn: Turn) -> Iterator[Utterance]:
    for said in (turn.opener, *turn.items):
        if isinstance(said, Utterance) and said.speaker is Speaker.USER:
            yield said


def _git_actions(commands: Sequence[Command]) -> Iterator[GitAction]:
    branch = ""
    for one in commands:
        yield from git_actions_of(
            one.line, one.output, one.exit_code, order=one.order, turn=one.turn, branch=branch
        )
        branch = branch_told(one.line, one.output) or branch


def _pending_questions(transcript: Transcript) -> Iterator[str]:
    newest = transcript.turns[-1].calls if transcript.turns else ()
    for call in newest:
        if call.tool == "AskUserQuestion" and (call.result is None or call.result.is_interrupted):
            yield from (string(mapping(each).get("question")) for each in listed(call.input.get("questions")))


def _final_text(transcript: Transcript) -> str:
    """Return the assistant's words after its last call, without text that the CLI put behind them."""
    words: list[str] = []
    for item in reversed(transcript.turns[-1].items if transcript.turns else ()):
        if isinstance(item, Utterance) and item.speaker is Speaker.ASSISTANT:
            words.append(item.text)
        elif isinstance(item, ToolCall) or words:
            break
    return "\n\n".join(reversed(words))
