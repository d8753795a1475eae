"""What a command printed, for agents and people: its readable end, and the line that says why it failed."""

import re

from state.hidden import without_codes
from state.records.commands import CommandRun

CUT = "[the beginning is left out]"
_LONGEST_CAUSE = 200  # characters
_NAMED_ERROR = re.compile(r"\b\w*(?:error|exception|panic|undefined)\w*(?:\[\w+\])?\s*:\s*\S", re.IGNORECASE)
_SUMS_UP = re.compile(
    r"could not compile|previous error|build failed|complete log of this run", re.IGNORECASE
)
_UNREACHED = re.compile(r"getaddrinfo|could not resolve|name resolution", re.IGNORECASE)
_COMPLAINT = re.compile(r"fail|error|not ok|panic|exception", re.IGNORECASE)
_GROUND = re.compile(r"(?:/[^\s:'\"()/]+)*/verify\.\d+/")


def readable(output: str, limit: int) -> str:
    """Return the end of an output for an agent: whole lines, no terminal codes, paths of the workspace.

    A cut output begins with a mark. sq runs the commands on a copy of the workspace, whose folder means
    nothing to an agent.
    """
    plain = _GROUND.sub("", without_codes(output)).replace("\r", "").strip()
    if len(plain) <= limit:
        return plain
    end = plain[-limit:]
    return f"{CUT}\n" + (end.partition("\n")[2] or end)


def cause_of(done: CommandRun) -> str:
    """Return why a command failed, in a line: its problem, else its exit code and its newest complaint."""
    if done.problem:
        return done.problem
    part = done.failing_part or done.output_tail
    whole = readable(part, len(part)).splitlines()
    newest = [line for line in reversed(whole) if not _SUMS_UP.search(line)]
    complaints = (
        line for sign in (_NAMED_ERROR, _UNREACHED, _COMPLAINT) for line in newest if sign.search(line)
    )
    last = next(complaints, newest[0] if newest else "").strip()
    return f"exit code {done.exit_code}" + (f": {last[:_LONGEST_CAUSE]}" if last else "")
