"""The fields that a request may have: those of the Messages API that sessions need, and no others.

What is not listed here is refused. So there are only client tools, images and documents that stand in the
request itself, and one model. There are no tools that run at the provider, no tool servers, and no sources by
address or id. `betas.yaml` lists the features that a request may turn on.

The bytes that were checked go on as they came. They have one reading only: UTF-8 without a byte order mark,
each key once in its object, numbers that are numbers. Encoded anew they could differ from those of the
request before, and the API's prompt cache, which compares bytes, would miss.
"""

import hashlib
import json
import operator
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, reduce
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from agents.gateway.call import MESSAGES, Call, Refusal
from state.decoding import table_beside

_DEEPEST = 100  # objects and lists in one another


def _object(tag: str, /, needs: dict[str, Any] | None = None, *, tagged: str = "type", **may: Any) -> Any:  # noqa: ANN401  types
    """Return the type of objects whose field `tagged` has the value `tag`, if there is one.

    They have the fields `needs` and those of `may`, which may be null too.
    """
    fields: list[Any] = [*(needs or {}).items(), *((name, kind | None, None) for name, kind in may.items())]
    return msgspec.defstruct(
        tag or "object", fields, tag=tag or None, tag_field=tagged if tag else None, **_EXACTLY
    )


def _list(*kinds: Any) -> Any:  # noqa: ANN401
    return list[reduce(operator.or_, kinds)]  # type: ignore[misc]


_EXACTLY: dict[str, Any] = {"forbid_unknown_fields": True, "frozen": True, "kw_only": True}
_NAME = Annotated[str, Meta(min_length=1, max_length=256)]
_COUNT = Annotated[int, Meta(ge=0, le=100_000_000)]
_SHARE = Annotated[float, Meta(ge=0, le=1)]
_FREE = dict[str, Any]  # a schema, or the arguments of a tool
_NONE = Annotated[list[Any], Meta(max_length=0)]

_CACHE: dict[str, Any] = {
    "cache_control": _object("ephemeral", ttl=Literal["5m", "1h"], scope=Literal["global"])
}
_TEXT = _object("text", {"text": str}, citations=_NONE, **_CACHE)
_PICTURE = Literal["image/jpeg", "image/png", "image/gif", "image/webp"]
_IMAGE = _object("image", {"source": _object("base64", {"media_type": _PICTURE, "data": str})}, **_CACHE)
_PDF = _object("base64", {"media_type": Literal["application/pdf"], "data": str})
_PLAIN = _object("text", {"media_type": Literal["text/plain"], "data": str})
_PARTS = _object("content", {"content": str | _list(_TEXT, _IMAGE)})
_DOCUMENT = _object("document", {"source": _PDF | _PLAIN | _PARTS}, title=str, context=str, **_CACHE)
_FOUND = _object("search_result", {"source": str, "title": str, "content": _list(_TEXT)}, **_CACHE)
_REFERENCE = _object("tool_reference", {"tool_name": _NAME}, **_CACHE)
_SHOWN = str | _list(_TEXT, _IMAGE, _DOCUMENT, _FOUND, _REFERENCE)
_BLOCKS = str | _list(
    *(_TEXT, _IMAGE, _DOCUMENT, _FOUND),
    _object("thinking", {"thinking": str, "signature": str}),
    _object("redacted_thinking", {"data": str}),
    _object("tool_use", {"id": _NAME, "name": _NAME, "input": _FREE}, caller=_object("direct"), **_CACHE),
    _object("tool_result", {"tool_use_id": _NAME}, content=_SHOWN, is_error=bool, **_CACHE),
)
_NAMED: dict[str, Any] = {"tool": _object("tool_reference", {"name": _NAME})}
_CHANGES = (_object("tool_addition", _NAMED, **_CACHE), _object("tool_removal", _NAMED, **_CACHE))
_EFFORT: dict[str, Any] = {"effort": Literal["low", "medium", "high", "xhigh", "max"]}
_MESSAGES = _list(
    _object("user", {"content": _BLOCKS}, tagged="role"),
    _object("assistant", {"content": _BLOCKS}, tagged="role"),
    _object(
        "system",
        tagged="role",
        content=str | _list(_TEXT, *_CHANGES),
        output_config=_object("", **_EFFORT),
        clear_at=Literal["next_user_message", "never"],
    ),
)
_TOOL = _object(
    "",
    {"name": _NAME, "input_schema": _FREE},
    description=str,
    type=Literal["custom"],
    defer_loading=bool,
    eager_input_streaming=bool,
    strict=bool,
    input_examples=_list(_FREE),
    allowed_callers=_list(Literal["direct"]),
    **_CACHE,
)
_ALONE: dict[str, Any] = {"disable_parallel_tool_use": bool}
_CHOICES = (_object("auto", **_ALONE), _object("any", **_ALONE), _object("tool", {"name": _NAME}, **_ALONE))
_THOUGHTS: dict[str, Any] = {
    "display": Literal["summarized", "omitted", "updates"],
    "block_binding": _object("", prefix_mismatch_behavior=_NAME),
}
_THINKING = (
    _object("enabled", {"budget_tokens": _COUNT}, **_THOUGHTS)
    | _object("adaptive", **_THOUGHTS)
    | _object("disabled")
    | _object("between_tools")
)
_TOKENS, _USES, _TURNS = (
    _object(unit, {"value": _COUNT}) for unit in ("input_tokens", "tool_uses", "thinking_turns")
)
_EDITS = (
    _object("clear_thinking_20251015", keep=Literal["all"] | _object("all") | _TURNS),
    _object(
        "clear_tool_uses_20250919",
        trigger=_TOKENS | _USES,
        keep=_USES,
        clear_at_least=_TOKENS,
        clear_tool_inputs=bool | _list(_NAME),
        exclude_tools=_list(_NAME),
    ),
)
_OUTPUT = _object(
    "",
    format=_object("json_schema", {"schema": _FREE}),
    task_budget=_object("tokens", {"total": _COUNT}, remaining=_COUNT),
    **_EFFORT,
)
_NEEDS: dict[str, Any] = {"model": Annotated[str, Meta(max_length=256)], "messages": _MESSAGES}
_PROMPT: dict[str, Any] = {
    "system": str | _list(_TEXT),
    "tools": _list(_TOOL),
    "tool_choice": reduce(operator.or_, _CHOICES, _object("none")),
    "thinking": _THINKING,
    "output_config": _OUTPUT,
    "context_management": _object("", edits=_list(*_EDITS)),
    **_CACHE,
}
_COUNT_REQUEST = _object("", _NEEDS, **_PROMPT)
_REQUEST = _object(
    "",
    {**_NEEDS, "max_tokens": _COUNT},
    stream=bool,
    stop_sequences=Annotated[list[str], Meta(max_length=1_000)],
    temperature=_SHARE,
    top_p=_SHARE,
    top_k=_COUNT,
    metadata=_object("", user_id=str),
    diagnostics=_object("", previous_message_id=_NAME),
    service_tier=Literal["auto", "standard_only"],
    **_PROMPT,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRead:
    """What sq itself needs of a request. `offered` are the names of its tools.

    `prefix` is the same for requests that begin alike: by model, tools and system prompt. Empty without one.
    """

    model: str
    offered: frozenset[str]
    max_tokens: int = 0
    stream: bool = False
    prefix: str = ""


_HINT = (
    "A session of sq may send text, images and documents that stand in the request itself, client tools "
    "(name, description, input_schema) and one model. Leave out what is named here"
)
_SAID = re.compile(
    r"\A(?:Object (contains unknown|missing required) field `(.*?)`|(.*?))(?: - at `\$\.?(.*)`)?\Z", re.DOTALL
)
_BILLING = "x-anthropic-billing-header:"
_TOLD = {"contains unknown": "Extra inputs are not permitted", "missing required": "Field required"}


def read_request(call: Call) -> RequestRead:
    """Return what `call` asks, if it has the form of its endpoint.

    Raises:
        Refusal: the query, a header or the body holds something else. It names it.
    """
    if call.query not in {b"", b"beta=true"}:
        raise _refusal(f"the query {_shown(call.query.decode('latin-1'))} is not known, only beta=true is")
    _check_headers(call.headers)
    whole = call.endpoint == MESSAGES
    try:
        found = msgspec.json.decode(call.body, type=_REQUEST if whole else _COUNT_REQUEST)
        _check_text(call.body.decode())
    except msgspec.ValidationError as error:
        raise _refusal(_as_the_api_says(str(error))) from error
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise _refusal(f"not a Messages API request: {_shown(str(error))}. Send a JSON object") from error
    offered = frozenset(tool.name for tool in found.tools or ())
    if not whole:
        return RequestRead(model=found.model, offered=offered)
    return RequestRead(
        model=found.model,
        offered=offered,
        max_tokens=found.max_tokens,
        stream=found.stream is True,
        prefix=_prefix(found),
    )


def _prefix(found: Any) -> str:  # noqa: ANN401  a request, whose type is made above
    if not found.system:
        return ""
    blocks = [found.system] if isinstance(found.system, str) else found.system
    # Claude Code's first block differs by words of the prompt, and is for the bill alone.
    system = [one for one in blocks if not getattr(one, "text", "").startswith(_BILLING)]
    return hashlib.sha256(msgspec.json.encode([found.model, found.tools, system])).hexdigest()


def _check_headers(headers: Iterable[tuple[bytes, bytes]]) -> None:
    for name, value in ((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers):
        if name == "content-type" and not re.fullmatch(r"(?i)application/json(; *charset=utf-8)?", value):
            raise _refusal(f"the content-type {_shown(value)} is not known. Send application/json")
        if name == "content-encoding":
            raise _refusal(f"the content-encoding {_shown(value)} is not known. Send the body as it is")
        if name == "anthropic-beta":
            for beta in filter(None, map(str.strip, value.split(","))):
                if beta not in _betas():
                    raise _refusal(f"Unexpected value `{_shown(beta)}` for the `anthropic-beta` header")


def _check_text(text: str) -> None:
    """Check what the typed reader does not see.

    Raises:
        ValueError: a key stands twice in its object, or objects and lists are too deep in one another.
    """
    level: list[Any] = [json.loads(text, object_pairs_hook=_once)]
    for _ in range(_DEEPEST):
        inner = (one.values() if isinstance(one, dict) else one for one in level)
        level = [part for parts in inner for part in parts if isinstance(part, dict | list)]
        if not level:
            return
    raise ValueError(f"more than {_DEEPEST} objects and lists in one another")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        [(doubled, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the key {doubled} stands more than once in an object")
    return found


def _as_the_api_says(error: str) -> str:
    """Return an error of the reader in the API's words, which Claude Code knows: `tools.0.type: …`."""
    wrong, field, said, place = _SAID.findall(error)[0]
    path = ".".join([*re.findall(r"[^.\[\]]+", place), *([field] if wrong else [])])
    said = _TOLD[wrong] if wrong else _shown(said)
    return f"{_shown(path)}: {said}" if path else f"not a Messages API request: {said}. Send a JSON object"


def _shown(text: str) -> str:
    """Return a session's text for an error: short, and in characters that any reader can show."""
    return text[:200].encode("ascii", "backslashreplace").decode()


def _refusal(why: str) -> Refusal:
    return Refusal(f"{why}. {_HINT}", 400)


@cache
def _betas() -> dict[str, str]:
    listed: dict[str, str] = table_beside(__file__, "betas.yaml")
    return listed
