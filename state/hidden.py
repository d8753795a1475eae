"""Characters that steer a terminal, turn the reading direction, or are invisible, and signs that act.

Models, repositories and programs choose many of the words that sq shows and sends on. Titles and the messages
of commits have no code spans, and a hosting service acts on names after `@`, numbers after `#` or `GH-`,
addresses, and commits named by repository (GitHub, "Autolinked references").
"""

import re

# Control characters except tab; marks, embeddings and isolates of direction; characters without width (soft
# hyphen, spaces, joiners, operators, fillers, tags); line separators; surrogates, which cannot be encoded.
_UNSEEN = (
    "\x00-\x08\x0a-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e0fff"
)
# A joiner is part of the writing after an Arabic or Indic letter or a picture. Elsewhere it only hides.
_JOINER = "(?<![\u0600-\u061b\u061d-\u0dff\ufe0f\u2190-\u2bff\U0001f000-\U0001faff])[\u200c\u200d]"
HIDDEN = re.compile(f"[{_UNSEEN}]|{_JOINER}")
# By these a program colours, moves, clears and sets a title (ECMA-48). None of them is a word of its output.
_CODE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_SHORT_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_ONE_BYTE, _TWO_BYTES = 0x100, 0x10000


def without_codes(output: str) -> str:
    """Return the output of a program without the codes by which it steers a terminal.

    It is for outputs alone: in a name or in words of an agent a code is something that a reader has to see.
    """
    return _CODE.sub("", output).replace("\r\n", "\n")


def visible(text: str) -> str:
    r"""Return a text as one line that can be shown: tabs stay, the end of a line is `\n`, ESC is `\x1b`."""
    return HIDDEN.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    character = found.group()
    code = ord(character)
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    if code < _ONE_BYTE:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < _TWO_BYTES else f"\\U{code:08x}"


_ACTING = re.compile(
    r"[@#!](?=[A-Za-z0-9_-])|(?<=[Gg][Hh])-(?=\d)|(?<=:)//(?=\S)|(?<=[Ww]{3})\.(?=\S)|\[(?=skip|no |ci )",
    re.IGNORECASE,
)
_TRAILER = re.compile(r"^[\s*_>`~#-]+")


def inert(text: str) -> str:
    """Return a text as one line in which no sign acts: a space follows each sign that would."""
    line = " ".join(visible(text.replace("\n", " ").replace("\t", " ")).split())
    return _ACTING.sub(lambda found: f"{found.group()} ", _TRAILER.sub("", line))
