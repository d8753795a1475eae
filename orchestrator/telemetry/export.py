"""Sends spans to a collector by OpenTelemetry's exporter. Its packages are imported only here.

The SDK would choose ids of its own, so finished spans are made with the ids that sq has computed.
"""

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from orchestrator.telemetry.conventions import SCHEMA

if TYPE_CHECKING:
    from orchestrator.telemetry.span_tracker import Span

TIMEOUT_S = 5.0  # for one batch, with the exporter's own retries
logging.getLogger("opentelemetry").addHandler(logging.NullHandler())  # sq says itself how it ended
_SAMPLED = TraceFlags(TraceFlags.SAMPLED)


class Exporter:
    """Sends batches of spans to one collector. `headers` may hold a credential."""

    def __init__(self, url: str, headers: Mapping[str, str], *, version: str) -> None:
        self._exporter = OTLPSpanExporter(endpoint=url, headers=dict(headers), timeout=TIMEOUT_S)
        self._resource = Resource({"service.name": "sq", "service.version": version}, SCHEMA)
        self._scope = InstrumentationScope("sq", version, SCHEMA)

    def send(self, spans: "Sequence[Span]") -> bool:
        """Send spans and wait for the answer. Returns whether the collector took them."""
        try:
            made = [self._readable(span) for span in spans]
            return self._exporter.export(made) is SpanExportResult.SUCCESS
        except Exception:  # noqa: BLE001  whatever the exporter raises, the run goes on
            return False

    def stop(self) -> None:
        """Give up what is under way."""
        self._exporter.shutdown()  # type: ignore[no-untyped-call]

    def _readable(self, span: "Span") -> ReadableSpan:
        return ReadableSpan(
            name=span.name,
            context=_context(span.trace_id, span.span_id),
            parent=_context(span.trace_id, span.parent_id) if span.parent_id else None,
            resource=self._resource,
            attributes=span.attributes,
            events=[Event(one.name, one.attributes, _nanoseconds(one.at)) for one in span.moments],
            links=[Link(_context(span.trace_id, one)) for one in span.links],
            kind=SpanKind.CLIENT if span.asks_model else SpanKind.INTERNAL,
            status=Status(StatusCode.ERROR, span.error) if span.error else Status(StatusCode.UNSET),
            start_time=_nanoseconds(span.began),
            end_time=_nanoseconds(span.ended),
            instrumentation_scope=self._scope,
        )


def _context(trace_id: str, span_id: str) -> SpanContext:
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=False, trace_flags=_SAMPLED)


def _nanoseconds(at: datetime) -> int:
    whole = int(at.replace(microsecond=0).timestamp())
    return whole * 1_000_000_000 + at.microsecond * 1_000
