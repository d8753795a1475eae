"""Sends changed requests through the forwarding gateway, and reads what arrives with a plain reader.

    python -m benchmarks.gateway_fuzz [--times 10000] [--seed 1]

The requests have the form of Claude Code's. Hostile changes double keys, change the encoding, the nesting and
the lengths, write numbers as text, smuggle tools, sources, models, fields, queries and headers. Honest ones
stay within the form. The last line is JSON: `gateway_leaks` counts what arrived and is forbidden, in the eyes
of a reader that takes the last of equal keys and of one that takes the first. `honest_refused` counts honest
requests that were refused, `gateway_errors` answers that are errors of sq.
"""

import copy
import gzip
import json
import random
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import click
import httpx2

from agents.gateway.forward.serve import serve_forward
from agents.gateway.forward.upstream import Upstream
from agents.gateway.listeners import listening
from state.settings.presets import model_named

MODEL = model_named("haiku")
OTHER = "claude-opus-5-5"
AT_ONCE = 8
BETAS = "claude-code-20250219,interleaved-thinking-2025-05-14,effort-2025-11-24"

_CACHE = {"type": "ephemeral", "ttl": "1h", "scope": "global"}
_IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
_PDF = {"type": "base64", "media_type": "application/pdf", "data": "aGk="}
_SCHEMA = {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}
CONVERSATION: list[dict[str, Any]] = [
    {"role": "user", "content": 'Build it. The word mcp_servers and a "model" may stand in a text.'},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "c2ln"},
            {"type": "text", "text": "Reading.", "citations": None},
            {
                "type": "tool_use",
                "id": "toolu_1",
                "name": "mcp__sq__note",
                "input": {
                    "source": {"type": "url", "url": "http://x"},
                    "model": OTHER,
                    "tools": [{"type": "y"}],
                },
                "caller": {"type": "direct"},
            },
        ],
    },
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "toolu_1",
                "is_error": False,
                "content": [
                    {"type": "text", "text": "a line"},
                    _IMAGE,
                    {"type": "document", "source": _PDF, "title": "a.pdf"},
                    {"type": "tool_reference", "tool_name": "Grep"},
                ],
            },
            {"type": "text", "text": "Go on.", "cache_control": _CACHE},
        ],
    },
    {
        "role": "system",
        "content": [{"type": "tool_addition", "tool": {"type": "tool_reference", "name": "Grep"}}],
        "output_config": {"effort": "low"},
    },
]
_TOOLS: list[dict[str, Any]] = [
    {"name": "Grep", "description": "Searches.", "input_schema": _SCHEMA, "defer_loading": True},
    {"name": "mcp__sq__note", "input_schema": {"type": "object"}, "type": "custom", "cache_control": _CACHE},
]
MAIN: dict[str, Any] = {
    "model": MODEL.id,
    "messages": CONVERSATION,
    "system": [{"type": "text", "text": "You build.", "cache_control": _CACHE}],
    "tools": _TOOLS,
    "tool_choice": {"type": "auto"},
    "metadata": {"user_id": '{"device_id":"d","session_id":"s"}'},
    "max_tokens": 32_000,
    "thinking": {
        "type": "adaptive",
        "display": "updates",
        "block_binding": {"prefix_mismatch_behavior": "drop"},
    },
    "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
    "output_config": {"effort": "medium"},
    "diagnostics": {"previous_message_id": None},
    "stream": True,
}
SINGLE: dict[str, Any] = {
    "model": MODEL.id,
    "messages": [{"role": "user", "content": "What is it? \\ \u00e9 \U0001f642"}],
    "max_tokens": 512,
    "temperature": 0.5,
    "stop_sequences": ["</x>"],
    "thinking": {"type": "enabled", "budget_tokens": 1_024},
    "output_config": {"format": {"type": "json_schema", "schema": _SCHEMA}},
}
COUNTED = {name: MAIN[name] for name in ("model", "messages", "system", "tools", "thinking")}


@dataclass(frozen=True, kw_only=True)
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


def _objects(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(part)


def _typed(random_: random.Random) -> dict[str, Any]:
    """Return a tool that is no client tool."""
    kind = random_.choice(
        (
            *("web_search_20250305", "web_search_20260318", "web_fetch_20260318", "code_execution_20260521"),
            *("bash_20250124", "computer_20251124", "text_editor_20250728", "memory_20250818", "mcp_toolset"),
            *(
                "advisor_20260301",
                "tool_search_tool_regex_20251119",
                "tool_search_tool_bm25_20251119",
                "CUSTOM",
            ),
        )
    )
    more: dict[str, Any] = random_.choice(
        ({}, {"max_uses": 3}, {"input_schema": {}}, {"mcp_server_name": "m"}, {"model": OTHER})
    )
    fields = [("type", kind), ("name", "web_search"), *more.items()]
    random_.shuffle(fields)
    return dict(fields)


def _source(random_: random.Random) -> dict[str, Any]:
    return random_.choice(
        (
            {"type": "url", "url": "https://example.org/x.png"},
            {"type": "file", "file_id": "file_1"},
            {"type": "base64", "media_type": "image/png", "data": "aGk=", "url": "https://example.org"},
            {
                "type": "content",
                "content": [{"type": "image", "source": {"type": "url", "url": "https://x"}}],
            },
            {"url": "https://example.org/x.png"},
        )
    )


_FIELDS: tuple[tuple[str, object], ...] = (
    ("mcp_servers", [{"type": "url", "url": "https://example.org", "name": "m"}]),
    ("container", {"id": "container_1", "skills": [{"type": "anthropic", "skill_id": "pdf"}]}),
    ("fallbacks", [{"model": OTHER}]),
    ("thread", {"type": "continue", "previous_message_id": "msg_1"}),
    ("Model", OTHER),
    ("MODEL", OTHER),
    ("model ", OTHER),
    ("betas", ["files-api-2025-04-14"]),
    ("anthropic_beta", ["code-execution-2025-05-22"]),
    ("speed", "fast"),
    ("workspace_id", "w"),
    ("extra_body", {"model": OTHER}),
    ("url", "https://example.org"),
    ("file_id", "file_1"),
    ("", 1),
)
_BLOCKS: tuple[dict[str, Any], ...] = (
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
    {"type": "mcp_tool_use", "id": "m", "name": "n", "server_name": "s", "input": {}},
    {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
    {"type": "container_upload", "file_id": "file_1"},
    {"type": "compaction", "encrypted_content": "x"},
    {"type": "fallback", "to": {"model": OTHER}},
    {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": {"type": "mcp_toolset"}}},
    {"type": "tool_addition", "tool": {"type": "mcp_toolset_reference", "server_name": "s"}},
)


def _smuggle_a_tool(random_: random.Random, one: Trial) -> Trial:
    one.asked.setdefault("tools", []).insert(random_.randint(0, 1), _typed(random_))
    return one


def _smuggle_a_source(random_: random.Random, one: Trial) -> Trial:
    block: dict[str, Any] = {"type": random_.choice(("image", "document")), "source": _source(random_)}
    if random_.randrange(2):
        block = {"type": "tool_result", "tool_use_id": "t", "content": [block]}
    one.asked["messages"].append({"role": "user", "content": [block]})
    return one


def _smuggle_a_block(random_: random.Random, one: Trial) -> Trial:
    role = random_.choice(("user", "assistant", "system"))
    one.asked["messages"].append({"role": role, "content": [random_.choice(_BLOCKS)]})
    return one


def _smuggle_a_field(random_: random.Random, one: Trial) -> Trial:
    formed = [
        found
        for part in (one.asked, *one.asked["messages"], *one.asked.get("tools", ()))
        for found in (part, *(part["content"] if isinstance(part.get("content"), list) else ()))
    ]
    name, value = random_.choice(_FIELDS)
    random_.choice(formed)[name] = value
    return one


def _ask_another_model(random_: random.Random, one: Trial) -> Trial:
    one.asked["model"] = random_.choice(
        (OTHER, f"{MODEL.id}[1m]", MODEL.id.upper(), f"{MODEL.id} ", "", [MODEL.id])
    )
    return one


def _write_a_number_as_text(random_: random.Random, one: Trial) -> Trial:
    name = random_.choice(("max_tokens", "top_k", "temperature", "stream"))
    if name in {"top_k", "temperature", "stream"} and one.path != "/v1/messages":
        name = "tool_choice"
    one.asked[name] = random_.choice(("5", "true", "1e3", -1, 10**12, 10**400, [5], {"value": 5}))
    return one


def _lengthen(random_: random.Random, one: Trial) -> Trial:
    tool = {"name": "x" * random_.choice((300, 70_000)), "input_schema": {}}
    one.asked["tools"] = [*one.asked.get("tools", ()), tool]
    return one


def _double_a_key(random_: random.Random, one: Trial) -> Trial:
    """At any depth, in the arguments and schemas of tools too, with an equal value or another one."""
    found = random_.choice([each for each in _objects(one.asked) if each])
    name = random_.choice(list(found))
    value = random_.choice((found[name], OTHER, None, _typed(random_)))
    mark = f"mark{random_.random()}"
    found[mark] = value
    written = json.dumps(one.asked)
    spelt = random_.choice(
        (json.dumps(name), '"' + "".join(f"\\u{ord(letter):04x}" for letter in name) + '"')
    )
    del found[mark]
    return replace(one, body=written.replace(json.dumps(mark), spelt).encode())


def _nest(random_: random.Random, one: Trial) -> Trial:
    depth = random_.choice((101, 500, 5_000, 100_000))
    deep = random_.choice(("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth))
    return replace(one, body=_put(one.asked, random_, deep))


def _put(asked: dict[str, Any], random_: random.Random, text: str) -> bytes:
    """Write `text` as a value into the arguments of a tool, or somewhere else."""
    places = [part for part in _objects(asked) if part]
    free = [part["input_schema"] for part in asked.get("tools", ()) if part.get("input_schema")]
    place = random_.choice(free if free and random_.randrange(2) else places)
    place["mark"] = "MARK"
    written = json.dumps(asked).replace('"MARK"', text)
    del place["mark"]
    return written.encode()


def _write_no_number(random_: random.Random, one: Trial) -> Trial:
    wrong = random_.choice(
        ("NaN", "Infinity", "-Infinity", "1e999", "+1", "01", "0x10", "1.", "'a'", "/**/1", "1,")
    )
    return replace(one, body=_put(one.asked, random_, wrong))


def _encode(random_: random.Random, one: Trial) -> Trial:
    text = json.dumps(one.asked, ensure_ascii=False)
    body = random_.choice(
        (
            *(text.encode(name) for name in ("utf-16", "utf-16-le", "utf-32", "utf-32-be", "utf-8-sig")),
            text.replace("Build", "B\u00fcild").replace("What", "W\u00e4s").encode("cp1252", "replace"),
            text.replace("B", "\\ud800", 1).replace("W", "\\udc00", 1).encode(),
            text.encode().replace(b"i", b"\xc0\xaf", 1),
            text.encode() + b"\x00",
            text.encode() + text.encode(),
            b"\xff" + text.encode(),
        )
    )
    return replace(one, body=body)


def _compress(random_: random.Random, one: Trial) -> Trial:
    name = random_.choice(("gzip", "deflate", "br", "identity"))
    body = gzip.compress(json.dumps(one.asked).encode()) if name == "gzip" else b""
    return replace(one, body=body, headers=(*one.headers, ("content-encoding", name)))


def _ask_elsewhere(random_: random.Random, one: Trial) -> Trial:
    path = random_.choice(
        (
            *(
                "/v1/messages/batches",
                "/v1/files",
                "/v1/models",
                "/v1/messages/../files",
                "/v1/messages%2fbatches",
            ),
            *("/v1//messages", "/v1/messages/", "/v1/skills", "/v1/agents", "/v1/complete", "/v1/Messages"),
        )
    )
    return replace(one, path=path)


def _query(random_: random.Random, one: Trial) -> Trial:
    tricks = (
        "beta=true&model=" + OTHER,
        "beta=false",
        "beta=true&beta=true",
        "x=1",
        "beta=true%00",
        "BETA=true",
    )
    return replace(one, query=random_.choice((*tricks, "beta=true;x", "beta=%74rue", "anthropic-beta=x")))


def _forge_a_header(random_: random.Random, one: Trial) -> Trial:
    forged = random_.choice(
        (
            *(
                ("anthropic-beta", one_)
                for one_ in ("files-api-2025-04-14", "mcp-client-2026-09-15", "x\t,y")
            ),
            ("anthropic-beta", f"{BETAS}, code-execution-2025-05-22"),
            ("anthropic-beta", "Effort-2025-11-24"),
            ("content-type", "multipart/form-data; boundary=x"),
            ("content-type", "application/json; charset=utf-16"),
            ("content-type", "application/x-ndjson"),
        )
    )
    return replace(one, headers=(*one.headers, forged))


_HOSTILE: tuple[Callable[[random.Random, Trial], Trial], ...] = (
    *(_smuggle_a_tool, _smuggle_a_source, _smuggle_a_block, _smuggle_a_field, _ask_another_model),
    *(_write_a_number_as_text, _lengthen, _double_a_key, _double_a_key, _nest, _write_no_number, _encode),
    *(_compress, _ask_elsewhere, _query, _forge_a_header),
)


def _stay_within(random_: random.Random, one: Trial) -> Trial:
    """Change a request so that it keeps its form."""
    asked = one.asked
    for name in random_.sample(sorted(set(asked) - {"model", "messages", "max_tokens"}), 2):
        if name != "tools" and random_.randrange(2):
            asked[name] = None
        else:
            del asked[name]
    if random_.randrange(2):
        asked["messages"] += copy.deepcopy(random_.choice((CONVERSATION, SINGLE["messages"])))
    asked["messages"].append(
        {"role": "user", "content": "".join(map(chr, random_.sample(range(32, 0xD000), 40)))}
    )
    deep: Any = 1
    for _ in range(random_.randint(0, 80)):
        deep = {"model": deep, "type": "url"}
    asked.setdefault("tools", []).append({"name": "deep", "input_schema": {"default": deep}})
    fields = list(asked.items())
    random_.shuffle(fields)
    separators = random_.choice(((",", ":"), (", ", ": "), (" ,\n", "\t:  ")))
    body = json.dumps(
        dict(fields), ensure_ascii=random_.choice((True, False)), separators=separators
    ).encode()
    more = random_.choice(
        (
            (),
            (("x-stainless-retry-count", "0"), ("x-claude-code-session-id", "s")),
            (("x-http-method-override", "DELETE"), ("x-forwarded-host", "example.org"), ("cookie", "a=b")),
            (("anthropic-workspace-id", "w"), ("anthropic-user-profile-id", "u"), ("x-model", OTHER)),
        )
    )
    return replace(one, body=body, query=random_.choice(("", one.query)), headers=(*one.headers, *more))


def attempts(times: int, seed: int) -> Iterator[Trial]:
    """Yield so many requests. One in five is honest."""
    random_ = random.Random(seed)  # noqa: S311  no secret
    forms = ((MAIN, "/v1/messages"), (SINGLE, "/v1/messages"), (COUNTED, "/v1/messages/count_tokens"))
    for number in range(times):
        asked, path = random_.choice(forms)
        one = Trial(asked=copy.deepcopy(asked), honest=number % 5 == 0, path=path)
        changes = [_stay_within] if one.honest else random_.sample(_HOSTILE, random_.choice((1, 1, 1, 2)))
        for change in sorted(changes, key=lambda one: one in _AS_BYTES):
            one = change(random_, one)
        body = one.body or json.dumps(one.asked).encode()
        yield replace(
            one,
            body=body,
            chunked=not random_.randrange(5),
            change="+".join(change.__name__.strip("_") for change in changes),
        )


_AS_BYTES = (_double_a_key, _nest, _write_no_number, _encode, _compress)  # after those of the object


# A reader of its own, that shares nothing with the gateway's.
_TOP = {
    *("model", "messages", "system", "tools", "tool_choice", "metadata", "max_tokens", "thinking", "stream"),
    *(
        "context_management",
        "output_config",
        "diagnostics",
        "temperature",
        "top_p",
        "top_k",
        "stop_sequences",
    ),
    *("cache_control", "service_tier"),
}
_TOOL = {
    *("name", "description", "input_schema", "type", "cache_control", "defer_loading", "strict"),
    *("eager_input_streaming", "input_examples", "allowed_callers"),
}
_OF_MESSAGES = {"role", "content", "output_config", "clear_at"}
_OF_BLOCKS = {
    *(
        "type",
        "text",
        "citations",
        "cache_control",
        "source",
        "title",
        "context",
        "thinking",
        "signature",
        "data",
    ),
    *("id", "name", "input", "caller", "tool_use_id", "content", "is_error", "tool_name", "tool"),
}
_LONGEST_NAME = 256
_KINDS = {
    *(
        "text",
        "image",
        "document",
        "thinking",
        "redacted_thinking",
        "tool_use",
        "tool_result",
        "tool_reference",
    ),
    *("search_result", "tool_addition", "tool_removal"),
}
_HEADERS = (
    "x-stainless-",
    "x-claude-code-",
    "accept",
    "anthropic-version",
    "user-agent",
    "host",
    "x-api-key",
)
_HEADERS_TOO = {"anthropic-beta", "content-type", "content-length", "connection", "transfer-encoding"}


def forbidden(path: str, query: str, headers: list[tuple[str, str]], body: bytes) -> Iterator[str]:
    """Yield what a plain reader of an arrived request finds that must not be there."""
    if path not in {"/v1/messages", "/v1/messages/count_tokens"} or query not in {"", "beta=true"}:
        yield f"address {path}?{query}"
    for name, value in headers:
        if not (name.startswith(_HEADERS) or name in _HEADERS_TOO):
            yield f"header {name}"
        if name == "anthropic-beta" and value != BETAS:
            yield f"beta {value}"
        if name == "content-type" and value != "application/json":
            yield f"type {value}"
    for hook in (dict, lambda pairs: dict(reversed(pairs))):
        try:
            read = json.loads(body.decode(), object_pairs_hook=hook, parse_constant=_no_number)
            yield from _forbidden_in(read)
        except (ValueError, RecursionError) as error:
            yield f"not readable: {error}"


def _no_number(name: str) -> None:
    raise ValueError(name)


def _forbidden_in(asked: dict[str, Any]) -> Iterator[str]:
    yield from (f"field {name}" for name in asked.keys() - _TOP)
    if asked.get("model") != MODEL.id:
        yield f"model {asked.get('model')}"
    if not isinstance(asked.get("max_tokens", 1), int):
        yield f"max_tokens {asked['max_tokens']}"
    for tool in asked.get("tools") or ():
        if tool.keys() - _TOOL or tool.get("type", "custom") not in {"custom", None}:
            yield f"tool {tool}"
        if len(tool["name"]) > _LONGEST_NAME:
            yield "name"
    for message in asked["messages"]:
        yield from (f"message {name}" for name in message.keys() - _OF_MESSAGES)
        yield from _in_blocks(message.get("content"))


def _in_blocks(content: object) -> Iterator[str]:
    for block in content if isinstance(content, list) else ():
        if block.keys() - _OF_BLOCKS or block.get("type") not in _KINDS:
            yield f"block {block}"
        source = block.get("source")
        if isinstance(source, dict):
            if source["type"] not in {"base64", "text", "content"} or source.keys() - {
                "type",
                "media_type",
                "data",
                "content",
            }:
                yield f"source {source}"
            yield from _in_blocks(source.get("content"))
        if isinstance(block.get("tool"), dict) and block["tool"].keys() != {"type", "name"}:
            yield f"tool {block['tool']}"
        yield from _in_blocks(block.get("content"))


@dataclass
class Found:
    """What came of all requests, with examples."""

    leaks: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    arrived: int = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401  an ASGI app
        """Keep what is forbidden in a request, and answer."""
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        self.arrived += 1
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        self.leaks += forbidden(scope["path"], scope["query_string"].decode("latin-1"), headers, body)
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send(
            {"type": "http.response.body", "body": b'{"usage": {"input_tokens": 1, "output_tokens": 1}}'}
        )

    def hear(self, one: Trial, status: int, said: str) -> None:
        """Keep the answer to a request."""
        if status >= httpx2.codes.INTERNAL_SERVER_ERROR:
            self.errors.append(f"{one.change}: {status} {said}")
        elif one.honest and status != httpx2.codes.OK:
            self.refused.append(f"{one.change}: {status} {said}")


async def _pieces(body: bytes) -> AsyncIterator[bytes]:
    for at in range(0, len(body), 700):
        yield body[at : at + 700]


async def fuzz(times: int, seed: int) -> Found:
    """Send so many requests through a gateway, several at once."""
    found, waiting = Found(), attempts(times, seed)
    async with listening(found) as api, httpx2.AsyncClient(trust_env=False, timeout=60) as client:
        upstream = Upstream(base_url=api.base_url, headers={"x-api-key": "benchmark"})
        async with serve_forward(upstream, run_id="benchmark") as gateway:
            with gateway.admit(("worker", "t1", "1"), MODEL) as caller:

                async def send_all() -> None:
                    for one in waiting:
                        try:
                            answer = await client.post(
                                f"{caller.url}{one.path}{'?' * bool(one.query)}{one.query}",
                                content=_pieces(one.body) if one.chunked else one.body,
                                headers=[("x-api-key", caller.token), *one.headers],
                            )
                            found.hear(one, answer.status_code, answer.text)
                        except httpx2.HTTPError as error:
                            found.errors.append(f"{one.change}: {error!r}")

                async with anyio.create_task_group() as tasks:
                    for _ in range(AT_ONCE):
                        tasks.start_soon(send_all)
    return found


@click.command()
@click.option("--times", default=10_000, help="How many requests.")
@click.option("--seed", default=1, help="Another seed makes other requests.")
def main(times: int, seed: int) -> None:
    """Print examples of what went wrong and, as the last line, JSON."""
    found = anyio.run(fuzz, times, seed)
    for name, those in (("leak", found.leaks), ("error", found.errors), ("refused", found.refused)):
        for one in those[:10]:
            print(f"{name}: {one[:600]}")
    figures = {
        "gateway_fuzz": times,
        "gateway_leaks": len(found.leaks),
        "gateway_errors": len(found.errors),
        "honest_refused": len(found.refused),
        "arrived": found.arrived,
    }
    print(json.dumps(figures))
    sys.exit(1 if found.leaks or found.errors or found.refused else 0)


if __name__ == "__main__":
    main()
