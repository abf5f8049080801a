"""Every record's headers, made in one place."""

from __future__ import annotations

from memquorum import cloudevents

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_a_records_headers_are_cloudevents_in_binary_mode() -> None:
    assert dict(cloudevents.headers("Kind", "memquorum/stage", "id")) == {
        "ce_specversion": "1.0", "ce_id": "id", "ce_type": "Kind", "ce_source": "memquorum/stage",
        "content-type": "application/avro",
    }  # fmt: skip


def test_the_parent_of_the_trace_goes_along_where_there_is_one() -> None:
    assert cloudevents.headers("Kind", "s", "id", PARENT, content=cloudevents.JSON)[-2:] == [
        ("content-type", "application/json"), ("traceparent", PARENT)
    ]  # fmt: skip
    assert len(cloudevents.headers("Kind", "s", "id", "")) == 5
