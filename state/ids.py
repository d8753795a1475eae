"""Identifiers: their forms, and how new ones are made.

A run's id is unique in its state folder because its folder is created exclusively (`paths.new_run`).
Everything inside a run is named below that id.
"""

import secrets
import uuid
from datetime import datetime
from typing import NewType

RunId = NewType("RunId", str)
CallId = NewType("CallId", str)
SessionId = NewType("SessionId", str)

_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"  # without characters that are easily confused when typed


def run_id_at(moment: datetime) -> RunId:
    """Return a run id that sorts by time and is short to type: `20260131-142501-k3f9`."""
    tail = "".join(secrets.choice(_ALPHABET) for _ in range(4))
    return RunId(f"{moment:%Y%m%d-%H%M%S}-{tail}")


def new_call_id() -> CallId:
    """Return an id for one exchange with a model."""
    return CallId(f"c-{secrets.token_hex(6)}")


def new_session_id() -> SessionId:
    """Return a UUID, the only form of session id that the Claude Code CLI accepts."""
    return SessionId(str(uuid.uuid4()))
