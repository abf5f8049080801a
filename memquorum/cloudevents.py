"""The headers that every record of the line bears: CloudEvents in Kafka's binary mode, and the trace's parent."""

from __future__ import annotations

AVRO, JSON = "application/avro", "application/json"
TRACEPARENT = "traceparent"


def headers(
    kind: str, source: str, event_id: str, parent: str | None = None, *, content: str = AVRO
) -> list[tuple[str, str]]:
    """`kind`: the record's name; `event_id`: what it is recognised by when it comes again, `parent` a traceparent."""
    found = [
        ("ce_specversion", "1.0"),
        ("ce_id", event_id),
        ("ce_type", kind),
        ("ce_source", source),
        ("content-type", content),
    ]
    return [*found, (TRACEPARENT, parent)] if parent else found
