"""Reads recorded traces: the history of one memory, as trees with times, and where it waited.

A memory's own trace goes from its publication to its storage. Votes, uses and the destruction of its key are traces of
their own that link to it; they are found by that link and shown after it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from memquorum.core.api.answers import TraceSpan
from memquorum.telemetry.tracing import STAGE

_PRODUCER, _CONSUMER = 4, 5  # OTLP's kinds of span
_MS = 1_000_000
_KEPT = "kept"
# The attributes of a span that a line of the tree shows, in this order; the rest is in the file.
_SHOWN = (
    "memquorum.shard", "memquorum.epoch", "memquorum.proposals", "memquorum.ballots", "memquorum.outcome",
    "memquorum.effect", "memquorum.keys", "memquorum.hits",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Link:
    """A link to another trace, with its attributes."""

    trace_id: str
    told: Mapping[str, str]


@dataclass(slots=True)
class Span:
    """A recorded span; times in nanoseconds since the epoch. `service`: the process, or the stage, that it ran in."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    kind: int
    service: str
    start: int
    end: int
    attributes: Mapping[str, str]
    links: Sequence[Link]
    children: list[Span] = field(default_factory=list)

    def waited_since(self, parent: Span | None) -> int | None:
        """The time that the record was in its topic: from the broker's confirmation to the handling, None if there is
        no record."""
        if parent is None or self.kind != _CONSUMER or parent.kind != _PRODUCER:
            return None
        # The consumer may have it before the producer gets the confirmation.
        return max(0, self.start - parent.end)


@dataclass(frozen=True, slots=True)
class Trace:
    """The spans of one trace in the order of their begin, and the topmost of them."""

    trace_id: str
    spans: tuple[Span, ...]
    roots: tuple[Span, ...]

    @property
    def start(self) -> int:
        """When it began."""
        return min(span.start for span in self.spans)

    @property
    def end(self) -> int:
        """When its last span ended."""
        return max(span.end for span in self.spans)


def normal(given: str) -> str | None:
    """A memory id or trace id as files name it: 32 hexadecimal digits; None if it is neither."""
    digits = given.strip().replace("-", "").lower()
    return digits if len(digits) == 32 and all(c in "0123456789abcdef" for c in digits) else None


def find(folder: Path, trace_id: str) -> list[Trace]:
    """Returns the trace of that id first, then those that link to it, by time. Empty if none of it was recorded."""
    found = list(_spans(folder, [trace_id]))
    own = {trace_id} if any(span.trace_id == trace_id for span in found) else set()
    linking = {s.trace_id for s in found if any(link.trace_id == trace_id for link in s.links)} - {trace_id}
    spans = [s for s in _spans(folder, sorted(linking)) if s.trace_id in linking] if linking else []
    mine = [_tree(i, [s for s in found if s.trace_id == i]) for i in own]
    others = [_tree(i, _concerning([s for s in spans if s.trace_id == i], trace_id)) for i in linking]
    return mine + sorted(others, key=lambda trace: trace.start)


def _concerning(spans: Sequence[Span], trace_id: str) -> list[Span]:
    """Picks those of another trace's spans that link to ours, with all their ancestors and descendants.

    One search uses many memories: the spans of the others do not concern this one.
    """
    parents = {span.span_id: span.parent_id for span in spans}
    linking = {span.span_id for span in spans if any(link.trace_id == trace_id for link in span.links)}

    def above(span_id: str) -> Iterator[str]:
        while span_id in parents:
            yield span_id
            span_id = parents[span_id]

    wanted = {span_id for each in linking for span_id in above(each)}
    return [s for s in spans if s.span_id in wanted or any(a in linking for a in above(s.span_id))]


def _tree(trace_id: str, spans: Iterable[Span]) -> Trace:
    # A record delivered twice may have left the same span twice.
    known = {span.span_id: span for span in spans}
    roots: list[Span] = []
    for span in sorted(known.values(), key=lambda s: (s.start, s.end)):
        parent = known.get(span.parent_id)
        (roots if parent is None else parent.children).append(span)
    return Trace(trace_id, tuple(sorted(known.values(), key=lambda s: (s.start, s.end))), tuple(roots))


def _spans(folder: Path, ids: Sequence[str]) -> Iterator[Span]:
    """Yields the spans of all lines that contain one of the ids."""
    wanted = [trace_id.encode() for trace_id in ids]
    for file in sorted(folder.glob("*.jsonl")):
        try:
            lines = file.read_bytes().splitlines()
        except FileNotFoundError:  # it has just become the earlier one
            continue
        for line in lines:
            if any(trace_id in line for trace_id in wanted):
                yield from (s for s in _line(line) if s.trace_id in ids or any(k.trace_id in ids for k in s.links))


def _line(line: bytes) -> Iterator[Span]:
    try:
        told = json.loads(line)
    except ValueError:  # a process was killed while it wrote
        return
    for resource in told.get("resourceSpans", ()):
        service = _attributes(resource.get("resource", {})).get("service.name", "?")
        for scope in resource.get("scopeSpans", ()):
            for span in scope.get("spans", ()):
                attributes = _attributes(span)
                yield Span(
                    trace_id=span["traceId"],
                    span_id=span["spanId"],
                    parent_id=span.get("parentSpanId", ""),
                    name=span["name"],
                    kind=int(span.get("kind", 0)),
                    service=attributes.get(STAGE, service),
                    start=int(span["startTimeUnixNano"]),
                    end=int(span["endTimeUnixNano"]),
                    attributes=attributes,
                    links=tuple(Link(link["traceId"], _attributes(link)) for link in span.get("links", ())),
                )


def _attributes(holder: Mapping[str, Any]) -> dict[str, str]:
    return {a["key"]: str(next(iter(a["value"].values()), "")) for a in holder.get("attributes", ())}


def plain(span: Span) -> dict[str, Any]:
    """A span as plain JSON values; times in nanoseconds since the epoch."""
    return {
        "trace_id": span.trace_id,
        "span_id": span.span_id,
        "parent_id": span.parent_id or None,
        "name": span.name,
        "process": span.service,
        "start_ns": span.start,
        "end_ns": span.end,
        "attributes": dict(span.attributes),
        "links": [{"trace_id": link.trace_id, "attributes": dict(link.told)} for link in span.links],
    }


def steps(traces: Iterable[Trace], most: int) -> tuple[TraceSpan, ...]:
    """Returns the spans of traces, each behind its parent; times in milliseconds. `most`: so many at most."""

    def below(span: Span, parent: Span | None, depth: int) -> Iterator[TraceSpan]:
        waited = span.waited_since(parent)
        yield TraceSpan(
            trace=span.trace_id,
            name=span.name,
            service=span.service,
            depth=depth,
            start_ms=span.start / _MS,
            took_ms=(span.end - span.start) / _MS,
            waited_ms=None if waited is None else waited / _MS,
            marks={key.rpartition(".")[2]: span.attributes[key] for key in _SHOWN if key in span.attributes},
        )
        for child in span.children:
            yield from below(child, span, depth + 1)

    every = (one for trace in traces for root in trace.roots for one in below(root, None, 0))
    return tuple(islice(every, most))


# In words ----------------------------------------------------------------------------------------------------------


def lines(traces: Sequence[Trace], trace_id: str, whole: bool = False) -> Iterator[str]:
    """The traces in words. `trace_id`: the requested one. Votes that changed nothing for it take one line each, unless
    `whole`."""
    for number, trace in enumerate(traces):
        if number:
            yield ""
        yield _title(trace, trace_id)
        if _outcome(trace, trace_id) == _KEPT and not whole:
            continue
        yield f"  {'at ms':>9} {'waited':>8} {'took':>8}"
        for root in trace.roots:
            yield from _branch(root, None, trace.start, "", "")
        yield from _waits(trace)


def _title(trace: Trace, asked: str) -> str:
    services = sorted({span.service for span in trace.spans})
    counted = f"{len(trace.spans)} spans in {_and(services)}, {_ms(trace.end - trace.start)} ms"
    if trace.trace_id == asked:
        return f"Trace {trace.trace_id}: {counted}"
    outcome = _outcome(trace, asked)
    return f"Linked from trace {trace.trace_id}{f' ({outcome})' if outcome else ''}: {counted}"


def _outcome(trace: Trace, asked: str) -> str:
    """The outcome for our memory in another trace; empty if it has none."""
    told = (link.told for span in trace.spans for link in span.links if link.trace_id == asked)
    return next((t["memquorum.outcome"] for t in told if "memquorum.outcome" in t), "")


def _branch(span: Span, parent: Span | None, origin: int, lead: str, below: str) -> Iterator[str]:
    waited = span.waited_since(parent)
    times = f"{_ms(span.start - origin):>9} {'' if waited is None else _ms(waited):>8} {_ms(span.end - span.start):>8}"
    said = " ".join(f"{key.rpartition('.')[2]}={span.attributes[key]}" for key in _SHOWN if key in span.attributes)
    place = span.attributes.get("messaging.destination.partition.id")
    offset = span.attributes.get("messaging.kafka.offset")
    where = "" if offset is None else f" {place}@{offset}"
    yield f"  {times}  {lead}{span.name}{where}  [{span.service}]{'  ' + said if said else ''}"
    for number, child in enumerate(span.children, 1):
        last = number == len(span.children)
        yield from _branch(child, span, origin, below + ("└ " if last else "├ "), below + ("  " if last else "│ "))


def _waits(trace: Trace) -> Iterator[str]:
    """The waits in topics along the critical path, which leads to the span that ended last."""
    by_id = {span.span_id: span for span in trace.spans}
    at: Span | None = max(trace.spans, key=lambda s: (s.end, s.start))
    waits: list[tuple[int, str]] = []
    while at is not None:
        parent = by_id.get(at.parent_id)
        waited = at.waited_since(parent)
        if waited is not None:
            waits.append((waited, at.name.partition(" ")[2] + f" before {at.service}"))
        at = parent
    if waits:
        total, (most, where) = sum(w for w, _ in waits), max(waits)
        yield (
            f"  Of {_ms(trace.end - trace.start)} ms it waited {_ms(total)} ms in topics; longest, {_ms(most)} ms, in "
            f"{where}."
        )


def _ms(nanoseconds: int) -> str:
    return f"{nanoseconds / _MS:,.1f}"


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
