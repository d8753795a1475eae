"""The spans of a trace, and those of a run that are open, by their keys. No package of OpenTelemetry's."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from state.ids import RUN, span_id, trace_id

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


Key = tuple[str, ...]
RUN_KEY: Key = (RUN,)


@dataclass(slots=True)
class Open:
    """A span under way. `seen_at` is its newest event."""

    span_id: str
    parent_id: str
    name: str
    began: datetime
    seen_at: datetime
    asks_model: bool = False
    attributes: dict[str, Value] = field(default_factory=dict)
    moments: list[SpanEvent] = field(default_factory=list)
    links: tuple[str, ...] = ()

    def note(self, name: str, at: datetime, attributes: Attributes) -> None:
        """Add something that happened at one time."""
        self.seen_at = at
        self.moments.append(SpanEvent(name=name, at=at, attributes=attributes))


class SpanTracker:
    """Opens and closes spans. A key that is opened again gets an id of its own, by its number."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.trace_id = trace_id(run_id)
        self._open: dict[Key, Open] = {}
        self._times: Counter[Key] = Counter()
        self.attempts: dict[str, Key] = {}  # the newest one of each task
        self.newest: datetime | None = None  # event
        self.words: set[str] = set()  # commands that no agent named

    def __contains__(self, key: object) -> bool:
        return key in self._open

    def get(self, key: Key) -> Open | None:
        return self._open.get(key)

    def open(
        self,
        key: Key,
        at: datetime,
        name: str,
        *,
        parent: Key | None,
        attributes: Attributes,
        asks_model: bool = False,
        links: tuple[str, ...] = (),
    ) -> Open:
        """Open a span unless it is open. Without an open `parent` it is a child of the run."""
        if found := self._open.get(key):
            found.seen_at = at
            return found
        self._times[key] += 1
        self._open[key] = Open(
            span_id=self.id_of(key),
            parent_id="" if key == RUN_KEY else self.nearest(parent),
            name=name,
            began=at,
            seen_at=at,
            asks_model=asks_model,
            attributes=dict(attributes),
            links=links,
        )
        return self._open[key]

    def nearest(self, *keys: Key | None) -> str:
        """Return the id of the first of these spans that is open, or else of the run."""
        found = next((self._open[key] for key in keys if key in self._open), None)
        return found.span_id if found else self.id_of(RUN_KEY)

    def id_of(self, key: Key) -> str:
        """Return the id that the newest span of a key has."""
        times = self._times[key]
        return span_id(self.run_id, *key, *([f"#{times}"] if times > 1 else []))

    def close(
        self, key: Key, at: datetime | None = None, error: str = "", attributes: Attributes | None = None
    ) -> list[Span]:
        """Close a span at a time, or at its newest event. Returns it, or nothing if it is not open."""
        found = self._open.pop(key, None)
        if found is None:
            return []
        found.attributes |= attributes or {}
        return [
            Span(
                trace_id=self.trace_id,
                span_id=found.span_id,
                parent_id=found.parent_id,
                name=found.name,
                began=found.began,
                ended=max(at or found.seen_at, found.began),
                asks_model=found.asks_model,
                attributes=found.attributes,
                moments=tuple(found.moments),
                links=found.links,
                error=error,
            )
        ]

    def close_all(self, kind: str, *about: str, at: datetime | None = None, error: str = "") -> list[Span]:
        """Close all open spans whose key begins so, at a time or each at its newest event."""
        start = (kind, *about)
        keys = [key for key in self._open if key[: len(start)] == start]
        return [span for key in reversed(keys) for span in self.close(key, at, error=error)]
