"""Events of notices to people outside."""

from dataclasses import dataclass

from state.settings.integrations import NoticeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeSent:
    """A notice was handed to a target, or could not be. It is not tried again.

    `of_seq` is the place of the event that it is about, `to` names the target, as in `command 1` or `env:NAME
    2`. `ok`: the target took it. `problem`: why it did not.
    """

    kind: NoticeKind
    of_seq: int
    to: str
    ok: bool = True
    problem: str = ""


NoticeEvent = NoticeSent
