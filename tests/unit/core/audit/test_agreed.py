"""A quorum's signatures, compared with the journal and the streams: any other record than the members read is found."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.records import ClockTicked
from tests.builders.published import DECIDED, GENESIS, Published, kinds, lively, publish, word
from tests.builders.shard import Shard


@pytest.fixture
def public(codec: Codec) -> Published:
    found = publish(lively(Shard(codec, GENESIS)))
    found.checkpoints = [word(found, member, seq) for seq in (1, 2) for member in (0, 1, 3)]
    return found


def test_what_a_quorum_signed_is_found_again(public: Published) -> None:
    report = public.audit(words=True)
    assert (kinds(report), report.counts.checkpoints) == ([], 2)
    assert public.audit().counts.checkpoints == 0


def test_fewer_than_a_quorum_prove_nothing(public: Published) -> None:
    lies = [word(public, m, 1, decisions=bytes(32)) for m in (0, 3)]
    foreign = [word(public, m, 1, shard=1, decisions=bytes(32)) for m in (0, 1, 3)]
    others = [word(public, 3, 1, stream=b"x"), b"nothing", *foreign]
    public.checkpoints = [lies[0], *lies, *others]
    report = public.audit(words=True)
    assert (kinds(report), report.counts.checkpoints) == ([], 0)


def test_other_decisions_than_a_quorum_signed_are_found(public: Published) -> None:
    public.checkpoints = [word(public, m, 1, decisions=bytes(32)) for m in (0, 1, 3)]
    (found,) = public.audit(words=True).findings
    assert (found.kind, found.seq, found.where) == (Kind.DECISIONS_DISAGREE, DECIDED + 1, "checkpoint of sequence 1")


@pytest.mark.parametrize("what", ["accepted", "scored"])
def test_another_record_than_the_members_read_is_found(public: Published, what: str) -> None:
    records, codec = getattr(public, what), public.rules.codec
    record = codec.decode(records[1])
    records[1] = codec.encode(replace(record, agent="somebody else"))
    found = public.audit(words=True).findings
    assert [f.kind for f in found] == [Kind.STREAM_DISAGREES]
    assert found[0].where.startswith("accepted offset ")


def test_a_record_too_many_is_found(public: Published) -> None:
    public.accepted[1:1] = [public.rules.codec.encode(ClockTicked("another", 2_100))]
    assert Kind.STREAM_DISAGREES in kinds(public.audit(words=True))


def test_a_stream_that_ends_too_soon_is_found(public: Published) -> None:
    del public.accepted[5:]
    (found,) = public.audit(words=True).findings
    assert (found.kind, found.found) == (Kind.STREAM_DISAGREES, "streams that end before, or no such record")


def test_answers_that_come_again_change_nothing(public: Published) -> None:
    public.scored[3:3] = public.scored[:3]
    assert kinds(public.audit(words=True)) == []
