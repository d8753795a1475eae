"""Sends changed requests through the forwarding gateway, and reads what arrives with a plain reader.

The requests have the form of Claude Code's and stand in `changed_requests.yaml`. Hostile changes double keys,
change the encoding, the nesting and the lengths, write numbers as text, smuggle tools, sources, models,
fields, queries and headers. Honest ones stay within the form. A reader takes the last of equal keys, and another one
the first.
"""

import copy
import gzip
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import anyio
import httpx2
import yaml
from starlette.requests import Request
from starlette.responses import JSONResponse

from benchmarks.gateway import forwarded
from state.settings.presets import model_named

MODEL = model_named("haiku")
AT_ONCE = 8
Asked = dict[str, Any]
_DATA: Asked = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
OTHER, BETAS = _DATA["other"], _DATA["betas"]
MAIN: Asked = {**_DATA["main"], "model": MODEL.id}
SINGLE: Asked = {**_DATA["single"], "model": MODEL.id}
COUNTED = {name: MAIN[name] for name in _DATA["counted"]}
_LONGEST_NAME = 256


@dataclass(kw_only=True)
class Trial:
    """One request. `honest`: it has to arrive."""

    asked: Any
    honest: bool
    body: bytes = b""
    path: str = "/v1/messages"
    query: str = "beta=true"
    headers: tuple[tuple[str, str], ...] = (("content-type", "application/json"), ("anthropic-beta", BETAS))
    chunked: bool = False
    change: str = ""


def _objects(value: object) -> Iterator[Asked]:
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(part)


def _typed(random_: Random) -> Asked:
    """Return a tool that is no client tool."""
    kind, more = random_.choice(_DATA["tool_types"]), random_.choice(_DATA["tool_fields"])
    fields = [("type", kind), ("name", "web_search"), *more.items()]
    random_.shuffle(fields)
    return dict(fields)


def _say(one: Trial, role: str, content: object) -> None:
    one.asked["messages"].append({"role": role, "content": content})


def _smuggle_a_source(random_: Random, one: Trial) -> None:
    kind = random_.choice(("image", "document"))
    block: Asked = {"type": kind, "source": random_.choice(_DATA["sources"])}
    if random_.randrange(2):
        block = {"type": "tool_result", "tool_use_id": "t", "content": [block]}
    _say(one, "user", [block])


def _smuggle_a_field(random_: Random, one: Trial) -> None:
    formed = [
        found
        for part in (one.asked, *one.asked["messages"], *one.asked.get("tools", ()))
        for found in (part, *(part["content"] if isinstance(part.get("content"), list) else ()))
    ]
    name, value = random_.choice(_DATA["fields"])
    random_.choice(formed)[name] = value


def _write_a_number_as_text(random_: Random, one: Trial) -> None:
    name = random_.choice(("max_tokens", "top_k", "temperature", "stream"))
    if name != "max_tokens" and one.path != "/v1/messages":
        name = "tool_choice"
    one.asked[name] = random_.choice(("5", "true", "1e3", -1, 10**12, 10**400, [5], {"value": 5}))


def _double_a_key(random_: Random, one: Trial) -> None:
    """At any depth, in the arguments and schemas of tools too, with an equal value or another one."""
    found = random_.choice([each for each in _objects(one.asked) if each])
    name = random_.choice(list(found))
    value = random_.choice((found[name], OTHER, None, _typed(random_)))
    mark = f"mark{random_.random()}"
    written = _written_with(one.asked, found, mark, value)
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in name)
    one.body = written.replace(json.dumps(mark), random_.choice((json.dumps(name), f'"{escaped}"'))).encode()


def _written_with(asked: Asked, place: Asked, name: str, value: object) -> str:
    """Return the request as JSON with one more field in `place`, which is as before afterwards."""
    place[name] = value
    written = json.dumps(asked)
    del place[name]
    return written


def _put(random_: Random, one: Trial, text: str) -> dict[str, bytes]:
    """Write `text` as a value into the arguments of a tool, or somewhere else."""
    places = [part for part in _objects(one.asked) if part]
    free = [part["input_schema"] for part in one.asked.get("tools", ()) if part.get("input_schema")]
    place = random_.choice(free if free and random_.randrange(2) else places)
    return {"body": _written_with(one.asked, place, "mark", "MARK").replace('"MARK"', text).encode()}


def _nest(random_: Random, one: Trial) -> dict[str, bytes]:
    depth = random_.choice((101, 500, 5_000, 100_000))
    return _put(
        random_, one, random_.choice(("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth))
    )


def _encode(random_: Random, one: Trial) -> None:
    text = json.dumps(one.asked, ensure_ascii=False)
    bodies = (
        *(text.encode(name) for name in ("utf-16", "utf-16-le", "utf-32", "utf-32-be", "utf-8-sig")),
        text.replace("Build", "B\u00fcild").replace("What", "W\u00e4s").encode("cp1252", "replace"),
        text.replace("B", "\\ud800", 1).replace("W", "\\udc00", 1).encode(),
        text.encode().replace(b"i", b"\xc0\xaf", 1),
        *(text.encode() + b"\x00", text.encode() * 2, b"\xff" + text.encode()),
    )
    one.body = random_.choice(bodies)


def _compress(random_: Random, one: Trial) -> None:
    name = random_.choice(("gzip", "deflate", "br", "identity"))
    one.body = gzip.compress(json.dumps(one.asked).encode()) if name == "gzip" else b""
    one.headers += (("content-encoding", name),)


_MODELS = (OTHER, f"{MODEL.id}[1m]", MODEL.id.upper(), f"{MODEL.id} ", "", [MODEL.id])
# Each changes the request in place, or returns the fields of the trial that change.
_HOSTILE: dict[str, Callable[[Random, Trial], Mapping[str, Any] | None]] = {
    "smuggle_a_tool": lambda random_, one: one.asked.setdefault("tools", []).insert(
        random_.randint(0, 1), _typed(random_)
    ),
    "smuggle_a_source": _smuggle_a_source,
    "smuggle_a_block": lambda random_, one: _say(
        one, random_.choice(("user", "assistant", "system")), [random_.choice(_DATA["blocks"])]
    ),
    "smuggle_a_field": _smuggle_a_field,
    "ask_another_model": lambda random_, one: one.asked.update(model=random_.choice(_MODELS)),
    "write_a_number_as_text": _write_a_number_as_text,
    "lengthen": lambda random_, one: one.asked.setdefault("tools", []).append(
        {"name": "x" * random_.choice((300, 70_000)), "input_schema": {}}
    ),
    "double_a_key": _double_a_key,
    "nest": _nest,
    "write_no_number": lambda random_, one: _put(random_, one, random_.choice(_DATA["no_numbers"])),
    "encode": _encode,
    "compress": _compress,
    "ask_elsewhere": lambda random_, _: {"path": random_.choice(_DATA["paths"])},
    "query": lambda random_, _: {"query": random_.choice(_DATA["queries"])},
    "forge_a_header": lambda random_, one: {"headers": (*one.headers, random_.choice(_DATA["headers"]))},
}
_DRAWN = [name for name in _HOSTILE for _ in range(1 + (name == "double_a_key"))]
_AS_BYTES = {"double_a_key", "nest", "write_no_number", "encode", "compress"}  # after those of the object


def _stay_within(random_: Random, one: Trial) -> None:
    """Change a request so that it keeps its form."""
    asked = one.asked
    for name in random_.sample(sorted(set(asked) - {"model", "messages", "max_tokens"}), 2):
        if name != "tools" and random_.randrange(2):
            asked[name] = None
        else:
            del asked[name]
    if random_.randrange(2):
        asked["messages"] += copy.deepcopy(random_.choice((MAIN["messages"], SINGLE["messages"])))
    _say(one, "user", "".join(map(chr, random_.sample(range(32, 0xD000), 40))))
    deep: Any = 1
    for _ in range(random_.randint(0, 80)):
        deep = {"model": deep, "type": "url"}
    asked.setdefault("tools", []).append({"name": "deep", "input_schema": {"default": deep}})
    fields = list(asked.items())
    random_.shuffle(fields)
    separators = random_.choice(((",", ":"), (", ", ": "), (" ,\n", "\t:  ")))
    as_ascii = random_.choice((True, False))
    one.body = json.dumps(dict(fields), ensure_ascii=as_ascii, separators=separators).encode()
    one.headers += tuple(random_.choice(_DATA["dropped_headers"]))
    one.query = random_.choice(("", one.query))


def attempts(times: int, seed: int) -> Iterator[Trial]:
    """Yield so many requests. One in five is honest."""
    random_ = Random(seed)  # noqa: S311  no secret
    forms = ((MAIN, "/v1/messages"), (SINGLE, "/v1/messages"), (COUNTED, "/v1/messages/count_tokens"))
    for number in range(times):
        asked, path = random_.choice(forms)
        one = Trial(asked=copy.deepcopy(asked), honest=number % 5 == 0, path=path)
        changes = ["stay_within"] if one.honest else random_.sample(_DRAWN, random_.choice((1, 1, 1, 2)))
        for change in sorted(changes, key=_AS_BYTES.__contains__):
            one = replace(one, **(_stay_within if one.honest else _HOSTILE[change])(random_, one) or {})
        body = one.body or json.dumps(one.asked).encode()
        yield replace(one, body=body, chunked=not random_.randrange(5), change="+".join(changes))


def forbidden(path: str, query: str, headers: Iterable[tuple[str, str]], body: bytes) -> Iterator[str]:
    """Yield what a plain reader of an arrived request finds that must not be there."""
    if path not in {"/v1/messages", "/v1/messages/count_tokens"} or query not in {"", "beta=true"}:
        yield f"address {path}?{query}"
    only = {"anthropic-beta": BETAS, "content-type": "application/json"}
    for name, value in headers:
        if not (name.startswith(tuple(_DATA["header_beginnings"])) or name in _DATA["header_names"]):
            yield f"header {name}"
        if value != only.get(name, value):
            yield f"{name} {value}"
    for hook in (dict, lambda pairs: dict(reversed(pairs))):
        try:
            read = json.loads(body.decode(), object_pairs_hook=hook, parse_constant=_no_number)
        except (ValueError, RecursionError) as error:
            yield f"not readable: {error}"
        else:
            yield from _forbidden_in("request", read)


def _no_number(name: str) -> None:
    raise ValueError(name)


def _forbidden_in(kind: str, found: Asked) -> Iterator[str]:
    """Yield the parts of an object that are not in the table of its kind, or too long, or no number."""
    rule = _DATA["reader"][kind]
    yield from (f"{kind} {name}" for name in found.keys() - set(rule["may_have"]))
    yield from (f"{kind} without {name}" for name in set(rule.get("needs", ())) - found.keys())
    for name, values in {"model": [MODEL.id], **rule["only"]}.items():
        if name in rule["may_have"] and found.get(name) not in values:
            yield f"{name} {found.get(name)}"
    if not isinstance(found.get("max_tokens", 1), int) or len(found.get("name") or "") > _LONGEST_NAME:
        yield f"max_tokens or name of a {kind}"
    for name, inner in rule["holds"].items():
        held = found.get(name)
        for one in held if isinstance(held, list) else ():
            yield from _forbidden_in(inner, one)
        if isinstance(held, dict):
            yield from _forbidden_in(inner, held)


@dataclass
class Found:
    """What came of all requests, with examples."""

    leaks: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    arrived: int = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Keep what is forbidden in a request, and answer."""
        request = Request(scope, receive)
        body, query = await request.body(), scope["query_string"].decode("latin-1")
        self.arrived += 1
        self.leaks += forbidden(scope["path"], query, request.headers.items(), body)
        await JSONResponse({"usage": {"input_tokens": 1, "output_tokens": 1}})(scope, receive, send)


async def _pieces(body: bytes) -> AsyncIterator[bytes]:
    for at in range(0, len(body), 700):
        yield body[at : at + 700]


async def fuzz(times: int, seed: int) -> Found:
    """Send so many requests through a gateway, several at once."""
    found, waiting = Found(), attempts(times, seed)
    async with forwarded(found, MODEL) as (_, caller, client), anyio.create_task_group() as tasks:

        async def send_all() -> None:
            for one in waiting:
                try:
                    answer = await client.post(
                        f"{caller.url}{one.path}{'?' * bool(one.query)}{one.query}",
                        content=_pieces(one.body) if one.chunked else one.body,
                        headers=[("x-api-key", caller.token), *one.headers],
                    )
                except httpx2.HTTPError as error:
                    found.errors.append(f"{one.change}: {error!r}")
                    continue
                if answer.is_server_error:
                    found.errors.append(f"{one.change}: {answer.status_code} {answer.text}")
                elif one.honest and answer.status_code != httpx2.codes.OK:
                    found.refused.append(f"{one.change}: {answer.status_code} {answer.text}")

        for _ in range(AT_ONCE):
            tasks.start_soon(send_all)
    return found
