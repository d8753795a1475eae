"""An OpenTelemetry collector on loopback that keeps the spans it gets, and the headers they came with."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from gzip import decompress
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from agents.gateway.listeners import listening

_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, kw_only=True)
class Got:
    """A span as it arrived. Ids are hexadecimal digits."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    attributes: dict[str, Any]
    resource: dict[str, Any]
    links: tuple[str, ...]
    began: int
    ended: int


@dataclass
class Collector:
    """What it got. `before` is awaited before each answer, `status` is the answer."""

    spans: list[Got] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    status: int = 200
    before: Callable[[], Awaitable[None]] | None = None
    url: str = ""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        if self.before:
            await self.before()
        if body.startswith(_GZIP):
            body = decompress(body)
        self.paths.append(scope["path"])
        self.headers.append({name.decode(): value.decode() for name, value in scope["headers"]})
        self.bodies.append(body)
        if self.status == 200:
            self.spans += spans_of(body)
        headers = [(b"content-type", b"application/x-protobuf")]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def named(self, name: str) -> list[Got]:
        """The spans of this name, in the order in which they came."""
        return [span for span in self.spans if span.name == name]


def spans_of(body: bytes) -> list[Got]:
    """The spans in the body of an OTLP request."""
    return [
        Got(
            name=span.name,
            trace_id=span.trace_id.hex(),
            span_id=span.span_id.hex(),
            parent_id=span.parent_span_id.hex(),
            attributes={one.key: _value(one.value) for one in span.attributes},
            resource={one.key: _value(one.value) for one in of_resource.resource.attributes},
            links=tuple(link.span_id.hex() for link in span.links),
            began=span.start_time_unix_nano,
            ended=span.end_time_unix_nano,
        )
        for of_resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in of_resource.scope_spans
        for span in scope.spans
    ]


def _value(value: Any) -> Any:
    return getattr(value, value.WhichOneof("value") or "string_value")


@asynccontextmanager
async def collecting(**settings: Any) -> AsyncIterator[Collector]:
    """Serve a collector on a loopback port."""
    collector = Collector(**settings)
    async with listening(collector) as server:
        collector.url = server.base_url
        yield collector
