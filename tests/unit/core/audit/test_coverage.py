"""The accepted stream beside the journal: nothing let in is passed over, and nothing is applied that was not let in."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.records import EpisodeAccepted
from tests.builders.published import GENESIS, Published, kinds, lively, publish
from tests.builders.shard import Shard, accepted


@pytest.fixture(scope="module")
def shard(codec: Codec) -> Shard:
    return lively(Shard(codec, GENESIS))


@pytest.fixture
def public(shard: Shard) -> Published:
    return publish(shard)


def passed_over(codec: Codec, *records: bytes | None) -> Published:
    """A journal of two ticks, and between the two in the accepted stream what it knows nothing of."""
    shard = Shard(codec, GENESIS)
    shard.tick(1_000)
    shard.offset += len(records)
    shard.tick(2_000)
    public = publish(shard)
    public.accepted[1:1] = records
    return public


def test_a_whole_journal_accounts_for_every_record(public: Published) -> None:
    report = public.audit(store=True, accepted=True)
    assert kinds(report) == []
    assert report.counts.records == len(public.accepted) == 14
    assert public.audit(store=True).counts.records == 0


def test_a_record_that_the_journal_passes_over_is_named(codec: Codec) -> None:
    episode = codec.encode(accepted("lost", 1_500))
    found = passed_over(codec, episode, episode).audit(accepted=True).findings
    assert [f.kind for f in found] == [Kind.RECORD_SKIPPED] * 2
    assert (found[0].where, found[0].found) == ("accepted offset 1", "none for EpisodeAccepted lost")


def test_what_cannot_be_applied_may_be_passed_over(codec: Codec, public: Published) -> None:
    episode = accepted("odd", 1_500)
    unfit = [
        b"random", public.entries[0], None, codec.encode(replace(episode, memory_id="no uuid")),
        codec.encode(replace(episode, event_id="a\0b")), codec.encode(replace(episode, occurred_at=-1)),
    ]  # fmt: skip
    assert kinds(passed_over(codec, *unfit).audit(accepted=True)) == []


def test_what_was_let_in_after_the_last_entry_is_on_its_way(codec: Codec, public: Published) -> None:
    public.accepted += [codec.encode(accepted("new", 1_500))] * 3
    assert kinds(public.audit(store=True, accepted=True)) == []


def test_an_entry_without_its_record_is_named(public: Published) -> None:
    public.accepted[5] = None
    found = public.audit(accepted=True).findings
    assert [(f.kind, f.where) for f in found] == [(Kind.RECORD_MISSING, "accepted offset 5")]


def test_a_stream_that_was_cut_is_one_finding(public: Published) -> None:
    del public.accepted[8:]
    found = public.audit(accepted=True).findings
    assert [f.kind for f in found] == [Kind.RECORD_MISSING]
    assert (found[0].where, found[0].expected) == ("accepted offset 8", "6 records from here on")


@pytest.mark.parametrize(
    "change",
    [{"event_id": "x"}, {"namespace": "x"}, {"agent": "x"}, {"subject": "x"}, {"occurred_at": 7}, {"commitment": b"x"}],
)
def test_another_record_than_the_one_that_was_applied_is_named(
    public: Published, codec: Codec, change: dict[str, Any]
) -> None:
    record = codec.decode(public.accepted[1] or b"")
    assert isinstance(record, EpisodeAccepted)
    public.accepted[1] = codec.encode(replace(record, **change))
    found = public.audit(accepted=True).findings
    assert [(f.kind, f.seq, f.where) for f in found] == [(Kind.RECORD_CONTRADICTED, 2, "accepted offset 1")]


def test_records_exchanged_are_named(public: Published) -> None:
    public.accepted[0], public.accepted[1] = public.accepted[1], public.accepted[0]
    assert kinds(public.audit(accepted=True)) == [Kind.RECORD_CONTRADICTED] * 2


def test_an_empty_journal_is_not_whole_where_something_was_let_in(codec: Codec, public: Published) -> None:
    public.accepted[:0] = [b"random", codec.encode(accepted("odd", -1))]
    public.entries.clear()
    public.heads.clear()
    found = public.audit(accepted=True).findings
    assert [(f.kind, f.where) for f in found] == [(Kind.JOURNAL_EMPTY, "accepted offset 2")]
    # Without an accepted record to apply there is nothing to journal.
    del public.accepted[2:]
    assert kinds(public.audit(accepted=True)) == []


def test_an_empty_journal_is_not_whole_where_postgres_holds_rows(public: Published) -> None:
    public.entries.clear()
    public.heads.clear()
    assert Kind.ROWS_UNPUBLISHED in kinds(public.audit(store=True))
    public.tables["shard"].clear()
    assert Kind.ROW_ADDED in kinds(public.audit(store=True))


def test_a_cursor_that_would_pass_over_records_is_named(public: Published) -> None:
    public.tables["shard"][0]["accepted"] += 1
    found = public.audit(store=True, accepted=True).findings
    assert [(f.kind, f.where) for f in found] == [(Kind.ROW_ALTERED, "table shard, shard 0, column accepted")]
