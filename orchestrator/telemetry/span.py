"""The records of a trace: spans with their attributes, moments and links. No package of OpenTelemetry's."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

Value = str | int | float | bool
Attributes = Mapping[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanEvent:
    """Something that happened at one time within a span."""

    name: str
    at: datetime
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A finished span. Ids are hexadecimal digits, and `parent_id` is "" for the run's own.

    `asks_model`: it is a request to a model. `error` is a short word of sq's about a bad end, or "". `links`
    are ids of spans of the same trace: of a resumed call, those of its killed tries.
    """

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    began: datetime
    ended: datetime
    asks_model: bool = False
    attributes: Attributes = field(default_factory=dict)
    moments: tuple[SpanEvent, ...] = ()
    links: tuple[str, ...] = ()
    error: str = ""
