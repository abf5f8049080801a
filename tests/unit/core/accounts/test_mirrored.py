"""An event of every entry of a journal: what it tells, what it keeps, and who gets which."""

from __future__ import annotations

import json

import jsonschema
import msgspec
import pytest
from msgspec.structs import replace

from memquorum.core.accounts.mirrored import JournalMirrored, event, seen, written
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.records import JournalAppended, JournalEntry
from memquorum.core.vote.kinds import FORGET, PROMOTE
from tests import asyncapi
from tests.builders import erasures, votes
from tests.builders import genesis as cluster
from tests.builders.shard import Shard, memory_id

GENESIS = cluster.make()
A, B, C = (memory_id(name) for name in "abc")
ELSEWHERE = "attic-1"  # of the same shard


@pytest.fixture
def shard(codec: Codec) -> Shard:
    made = Shard(codec, GENESIS)
    for name in "abc":
        made.episode(name)
    made.episode("d", outcome="reinforced", reinforces=B)
    made.episode("e", outcome="below_threshold")
    made.episode("z", namespace=ELSEWHERE)
    made.access(B, 2_000)
    made.tick(1_000_000_000)
    far = replace(votes.proposal(memory_id("z", ELSEWHERE), FORGET.name), namespace=ELSEWHERE)
    made.decide([votes.proposal(A, FORGET.name), votes.proposal(B, PROMOTE.name), far], lambda _, p: p.kind == "forget")
    made.destroy(A)
    said = erasures.ordered(GENESIS, "memory", C)
    made.erase(
        erasures.accepted(said, erasures.signed(codec, GENESIS, said), 2_000),
        erasures.among(erasures.NAMESPACE, {"c": "short-term"}),
    )
    return made


def links(shard: Shard) -> list[JournalAppended]:
    return [change.appended for change in shard.changes]


def events(codec: Codec, shard: Shard) -> list[JournalMirrored]:
    return [event(codec, link) for link in links(shard)]


def test_each_entry_is_an_event_in_the_order_of_the_journal(codec: Codec, shard: Shard) -> None:
    told = events(codec, shard)
    entries = [codec.decode_as(JournalEntry, link.entry) for link in links(shard)]
    assert [(one.type, one.seq, one.event_id) for one in told] == [(e.effect, e.seq, e.event_id) for e in entries]
    assert [one.id for one in told] == [f"0/{seq}" for seq in range(1, len(told) + 1)]
    assert [one.hash for one in told] == [link.hash.hex() for link in links(shard)]


def test_an_event_says_who_and_which(codec: Codec, shard: Shard) -> None:
    by_type = {one.type: one for one in events(codec, shard)}
    assert (by_type["accessed"].agent, by_type["accessed"].memory_ids) == ("reviewer", (B,))
    assert (by_type["reinforced"].memory_ids, by_type["reinforced"].outcome) == ((B,), "reinforced")
    assert by_type["dropped"].outcome == "below_threshold"
    assert (by_type["destroyed"].memory_ids, by_type["destroyed"].namespace) == ((A,), None)
    assert (by_type["erased"].memory_ids, by_type["erased"].namespace) == ((C,), erasures.NAMESPACE)
    assert by_type["ticked"].timestamp == "1970-01-12T13:46:40.000Z"
    decided = by_type["decided"]
    assert decided.epoch == 1 and decided.namespace is None
    assert {(one.memory_ids, one.namespace, one.outcome) for one in decided.outcomes} >= {
        ((A,), erasures.NAMESPACE, "forgotten"), ((memory_id("z", ELSEWHERE),), ELSEWHERE, "forgotten"),
    }  # fmt: skip


def test_an_event_is_what_its_schema_says_and_holds_nothing_sealed(codec: Codec, shard: Shard) -> None:
    schema = asyncapi.json_schema(JournalMirrored)
    for link in links(shard):
        told = written(event(codec, link))
        jsonschema.validate(json.loads(told), schema)
        assert list(json.loads(told)) == list(JournalMirrored.__struct_fields__)
        assert msgspec.json.decode(told, type=JournalMirrored) == event(codec, link)


def test_a_detail_that_cannot_be_read_leaves_the_rest(codec: Codec, shard: Shard) -> None:
    entry = codec.decode_as(JournalEntry, links(shard)[0].entry)
    bad = replace(links(shard)[0], entry=codec.encode(replace(entry, detail=b"\x00")))
    told = event(codec, bad)
    assert (told.type, told.namespace, told.memory_ids) == ("stored", entry.namespace, (A,))
    assert (told.agent, told.outcome, told.outcomes) == (None, None, ())
    with pytest.raises(DecodeError):
        event(codec, JournalAppended(b"\x00", b"", b""))


def test_a_receiver_gets_its_types_and_no_ticks_unless_it_names_them(codec: Codec, shard: Shard) -> None:
    told = events(codec, shard)
    assert {one.type for one in told if seen(one, (), ())} == {one.type for one in told} - {"ticked"}
    assert {one.type for one in told if seen(one, ("ticked", "erased"), ())} == {"ticked", "erased"}


@pytest.mark.parametrize("wanted", [(ELSEWHERE,), ("attic-*",), ("nowhere", "att*")])
def test_a_receiver_of_one_namespace_learns_nothing_of_another(
    codec: Codec, shard: Shard, wanted: tuple[str, ...]
) -> None:
    got = [found for one in events(codec, shard) if (found := seen(one, (), wanted))]
    assert [one.type for one in got] == ["stored", "decided"]
    others = {A, B, C, memory_id("d"), memory_id("e"), erasures.NAMESPACE}
    assert not [one for one in others if one in b"".join(map(written, got)).decode()]
    assert got[1].memory_ids == (memory_id("z", ELSEWHERE),)
    assert [one for one in events(codec, shard) if seen(one, (), ("nowhere",))] == []
