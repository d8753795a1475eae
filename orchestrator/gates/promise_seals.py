"""Seals of stored promises, read without a record of them: a hook looks at every promise at each stop.

It imports modules in C alone, because importing `json` and `hashlib` takes as long as starting Python.
"""

TYPE_CHECKING = False  # typing would be imported
if TYPE_CHECKING:
    from typing import Any

_DEFINED = ("nonce", "text", "created_at", "base")
_STATE = ("version", "id", "owner", "ended", "ended_at", "reason")
_CRITERION = ("text", "kind", "target", "deadline_s")
_EVIDENCE = ("tree", "passed", "exit_code", "output", "at", "seal")


def digest(value: object) -> str:
    """Return the SHA-256 of a value of JSON, as `json.dumps` writes it with the shortest separators."""
    try:
        from _sha2 import sha256  # type: ignore[import-not-found]  # CPython's, from 3.12 on
    except ImportError:
        try:
            from _sha256 import sha256  # type: ignore[import-not-found]  # that of 3.11
        except ImportError:
            from hashlib import sha256
    return str(sha256(_text(value).encode()).hexdigest())


def is_settled(value: "Any", file: str, session: str) -> bool:  # noqa: ANN401  JSON
    """Whether the step of promises neither holds this session for a file of this content nor reports it.

    The content is as sq wrote it, and of another session or ended. In doubt it is not settled. What is no
    promise may raise `LookupError`, `TypeError` or `AttributeError`.
    """
    criteria = [_row(one, _CRITERION) for one in value["criteria"]]
    defined = [*(value[name] for name in _DEFINED), criteria]
    found = [None if one is None else _row(one, _EVIDENCE) for one in value["evidence"]]
    version, id_, owner, ended, ended_at, reason = (value[name] for name in _STATE)
    if (
        len(value) != len(_DEFINED) + len(_STATE) + 2
        or repr(version) != "1"
        or not file == f"{id_}.json" == f"p-{digest(defined)[:12]}.json"
        or len(found) != len(criteria)
        or any(one and one[-1] != digest([defined, place, one[:-1]]) for place, one in enumerate(found, 1))
        or not (owner.strip() and isinstance(ended_at, str))
    ):
        return False
    proven = all(one and one[1] for one in found) and len({one[0] for one in found if one}) == 1
    return {"open": False, "kept": proven, "cancelled": bool(reason.strip())}[ended] or owner != session


def _row(value: "Any", names: tuple[str, ...]) -> "list[Any]":  # noqa: ANN401  JSON
    if len(value) != len(names):
        raise LookupError(value)
    return [value[name] for name in names]


def _text(value: object) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, list):
        return f"[{','.join(map(_text, value))}]"
    if isinstance(value, str):
        try:
            from _json import encode_basestring_ascii as quoted  # CPython's
        except ImportError:
            from json.encoder import encode_basestring_ascii as quoted
        return quoted(value)
    return repr(value)
