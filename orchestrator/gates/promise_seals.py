"""Seals of stored promises, read without a record of them: a hook looks at every promise at each stop.

It imports modules in C alone, because importing `json` and `hashlib` takes as long as starting Python.
"""

TYPE_CHECKING = False  # typing would be imported
if TYPE_CHECKING:
    from typing import Any

_FIELDS = {
    *("version", "id", "text", "criteria", "created_at", "base", "nonce", "owner", "evidence"),
    *("ended", "ended_at", "reason"),
}
_DEFINED = ("text", "kind", "target", "deadline_s")
_SEALED = ("tree", "passed", "exit_code", "output", "at", "seal")


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
    defined = [value[name] for name in ("nonce", "text", "created_at", "base")]
    defined.append([_row(one, _DEFINED) for one in value["criteria"]])
    evidence, reason = value["evidence"], value["reason"].strip()
    if (
        value.keys() != _FIELDS
        or repr(value["version"]) != "1"
        or not file == f"{value['id']}.json" == f"p-{digest(defined)[:12]}.json"
        or len(evidence) != len(value["criteria"])
        or not all(_is_genuine(one, [defined, number]) for number, one in enumerate(evidence, 1))
        or not (value["owner"].strip() and isinstance(value["ended_at"], str))
    ):
        return False
    proven = all(one and one["passed"] for one in evidence) and len({one["tree"] for one in evidence}) == 1
    ended = {"open": False, "kept": proven, "cancelled": bool(reason)}[value["ended"]]
    return ended or value["owner"] != session


def _is_genuine(evidence: "Any", place: list[object]) -> bool:  # noqa: ANN401  JSON
    if evidence is None:
        return True
    *found, seal = _row(evidence, _SEALED)
    return bool(seal == digest([*place, found]))


def _row(value: "Any", names: tuple[str, ...]) -> list[object]:  # noqa: ANN401  JSON
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
