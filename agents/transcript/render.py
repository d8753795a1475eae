"""Renders a session as text for a judge, within a budget, in order and with the newest parts preferred.

Every element of ours is a tag at the start of a line. Its content is escaped, so that nothing in it can pose
as ours. The output for the same transcript and budget is the same, byte for byte.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from agents.transcript.records import Speaker, ToolCall, Transcript, Utterance

TOOL_CHARS = 4_000  # for a tool's input or output when not everything fits
_PINNED_SHARE = 4  # the newest prompt of the user is always shown, in this part of the budget at most
_WORTH_CUTTING = 300  # less than this of a message is useless
_GAP = '<left-out messages="{}"/>\n'
_GAPS_ROOM = 3 * 50
_HALF_ENTITY = re.compile(r"&[a-z]{0,4}$")
_REST_OF_ENTITY = re.compile(r"^[a-z]{0,4};")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Element:
    """A tag and its content: escaped texts, each in a tag of its own unless that is empty."""

    tag: str
    parts: tuple[tuple[str, str], ...]
    is_tool: bool = False
    is_prompt: bool = False

    def shown(self, limit: int | None = None) -> str:
        """Return the element. With `limit`, each part is cut in the middle to that many characters."""
        told = ((tag, text if limit is None else cut_in_the_middle(text, limit)) for tag, text in self.parts)
        body = "".join(_wrapped(tag, text) if tag else f"{text}\n" for tag, text in told)
        return _wrapped(self.tag, body.removesuffix("\n"))


def rendered(transcript: Transcript, budget_chars: int) -> str:
    """Return the session in at most `budget_chars` characters, as elements in order.

    If not everything fits, long inputs and outputs of tools are cut in the middle, and then the oldest
    messages are left out. The end of the session and the user's newest prompt always stay. Notes show how
    much is missing: `<left-out messages="12"/>`, `<left-out bytes="4711"/>`.
    """
    elements = list(_elements(transcript))
    head = f'<left-out bytes="{transcript.left_out_bytes}"/>\n' if transcript.left_out_bytes else ""
    whole = head + "".join(element.shown() for element in elements)
    if len(whole) <= budget_chars:
        return whole
    room = budget_chars - len(head) - _GAPS_ROOM
    if room < _WORTH_CUTTING:
        return cut_in_the_middle(whole, max(budget_chars, 0))
    return head + _fitted(elements, room)


def _fitted(elements: list[_Element], room: int) -> str:
    """Return the newest elements that fit. The user's newest prompt gets its share of the room first."""
    kept: dict[int, str] = {}
    asked = max((number for number, element in enumerate(elements) if element.is_prompt), default=None)
    if asked is not None:
        kept[asked] = _cut(elements[asked], room // _PINNED_SHARE)
        room -= len(kept[asked])
    for number in reversed(range(len(elements))):
        if number == asked:
            if len(better := elements[number].shown()) - len(kept[number]) <= room:
                room -= len(better) - len(kept[number])
                kept[number] = better
            continue
        shown = elements[number].shown(TOOL_CHARS if elements[number].is_tool else None)
        if len(shown) > room >= _WORTH_CUTTING:
            shown = _cut(elements[number], room)
        if len(shown) > room:
            break
        kept[number] = shown
        room -= len(shown)
    return "".join(_with_gaps(kept, len(elements)))


def _with_gaps(kept: dict[int, str], total: int) -> Iterator[str]:
    expected = 0
    for number in [*sorted(kept), total]:
        if number > expected:
            yield _GAP.format(number - expected)
        expected = number + 1
        yield kept.get(number, "")


def _cut(element: _Element, limit: int) -> str:
    """Return the element in at most `limit` characters, with an equal share for each part."""
    frame = len(_Element(tag=element.tag, parts=tuple((tag, "") for tag, _ in element.parts)).shown())
    left = max(limit - frame, 0)
    sizes = sorted(len(text) for _, text in element.parts)
    share = left
    for done, size in enumerate(sizes):  # the short parts leave room for the long ones
        share = left // (len(sizes) - done)
        left -= min(size, share)
    return element.shown(share)


def cut_in_the_middle(text: str, limit: int) -> str:
    """Return `text` in at most `limit` characters: its start, a note of how much is missing, its end."""
    if len(text) <= limit:
        return text
    note = f"\n[… {len(text)} characters, cut in the middle …]\n"
    room = limit - len(note)
    if room <= 0:
        return text[len(text) - limit :] if limit > 0 else ""
    head = _HALF_ENTITY.sub("", text[: room // 2])
    tail = _REST_OF_ENTITY.sub("", text[len(text) - (room - room // 2) :])
    return f"{head}{note}{tail}"


def _elements(transcript: Transcript) -> Iterator[_Element]:
    for turn in transcript.turns:
        if turn.opener is not None:
            yield _said(turn.opener, turn.number)
        for item in turn.items:
            if isinstance(item, Utterance):
                yield _said(item, turn.number)
            else:
                yield from _called(item, turn.number)


def _said(said: Utterance, turn: int) -> _Element:
    return _Element(
        tag=f'{said.speaker} turn="{turn}"',
        parts=(("", _escaped(said.text)),),
        is_prompt=said.speaker is Speaker.USER and said.opens,
    )


def _called(call: ToolCall, turn: int, within: str = "") -> Iterator[_Element]:
    by = f' by="subagent of {within}"' if within else ""
    given = tuple(
        (f'input name="{_attribute(name)}"', _escaped(_words(value))) for name, value in call.input.items()
    )
    tag = f'tool name="{_attribute(call.tool)}" turn="{turn}"{by}'
    yield _Element(tag=tag, parts=(*given, _returned(call)), is_tool=True)
    for inner in call.inner:
        yield from _called(inner, turn, within=_attribute(call.id) or "agent")


def _returned(call: ToolCall) -> tuple[str, str]:
    result = call.result
    if result is None:
        return 'result state="none yet"', ""
    state = (
        "refused, never ran"
        if result.is_refused
        else "interrupted"
        if result.is_interrupted
        else "in the background"
        if result.background_id
        else "error"
        if result.is_error
        else "ok"
    )
    code = f' exit_code="{result.exit_code}"' if result.exit_code is not None else ""
    return f'result state="{state}"{code}', _escaped(result.text)


def _words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _wrapped(tag: str, body: str) -> str:
    return f"<{tag}>\n{body}\n</{tag.split(' ', maxsplit=1)[0]}>\n"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _attribute(text: str) -> str:
    return " ".join(_escaped(text).replace('"', "&quot;").split())[:200]
