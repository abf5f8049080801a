"""The decay stage without Kafka: one answer per tick, nothing decoded in vain, nothing lost when the store is down."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pytest
from msgspec.structs import replace

from memquorum import topics
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.decay import span_ms
from memquorum.core.identity.membership import Genesis
from memquorum.core.policy import DecayPolicy, EpochPolicy, Policy, written
from memquorum.core.records import Crossing, DecayCrossed, JournalAppended, JournalEntry, Standing, Ticked
from memquorum.ports import DueMemory, ShardStatus, StoreUnavailable
from memquorum.schema_files import load_codec
from streams.decay_stage import Decay
from streams.stage import Arrival
from tests.builders import genesis
from tests.builders.configured import vote
from tests.builders.shelf import Shelf
from tests.builders.votes import order

NOW = 1_700_000_000_000
POLICY = Policy()
GENESIS = genesis.make(policy=POLICY)
SPAN = span_ms(POLICY)
STANDING = Standing(last_epoch=4, last_epoch_at=NOW - 5, interactions=7, alive=20)
TICK = JournalEntry(
    shard=1, seq=9, as_of=NOW, effect="ticked", event_id="e", source_topic=topics.ACCEPTED, source_partition=1,
    source_offset=33, detail=load_codec().encode(Ticked(NOW, STANDING)),
)  # fmt: skip
OLD = DueMemory("old", "n", NOW - SPAN)


def decay(codec: Codec, configured: Genesis, shelf: Shelf) -> Decay:
    return Decay(codec, configured, shelf, shelf)


def arrival(codec: Codec, entry: JournalEntry, *, partition: int = 1) -> Arrival:
    appended = JournalAppended(codec.encode(entry), b"p" * 32, b"h" * 32)
    return Arrival(partition, entry.seq, codec.encode(appended), traceparent="00-trace")


def test_a_tick_is_answered_with_what_crossed(codec: Codec) -> None:
    shelf = Shelf(due_memories=[OLD])
    (output,) = decay(codec, GENESIS, shelf).process([arrival(codec, TICK)])
    assert (output.topic, output.partition, output.key) == (topics.CROSSED, 1, b"1")
    assert (output.kind, output.event_id, output.traceparent) == ("DecayCrossed", "crossed/1/9", "00-trace")
    crossing = Crossing("old", NOW - SPAN, 299_999)
    assert codec.decode(output.value) == DecayCrossed(1, NOW, 33, 9, (crossing,), STANDING)
    assert shelf.asked == [("decided", 1), ("due", 1, NOW - SPAN, POLICY.epoch.proposals_max)]


def test_every_tick_is_answered_also_when_nothing_crossed(codec: Codec) -> None:
    ticks = [arrival(codec, replace(TICK, seq=seq, as_of=NOW + seq)) for seq in (9, 10, 11)]
    answers = [codec.decode(output.value) for output in decay(codec, GENESIS, Shelf()).process(ticks)]
    assert [(answer.journal_seq, answer.crossed) for answer in answers] == [(9, ()), (10, ()), (11, ())]


def test_a_tick_that_comes_again_stands_where_it_stood(codec: Codec) -> None:
    # As after a kill of the commit worker, which publishes again what it cannot know to be published.
    shelf = Shelf(status_of={1: ShardStatus(1, 9, NOW, 4, NOW - 5, 7, 20)}, due_memories=[OLD])
    stage = decay(codec, GENESIS, shelf)
    (first,) = stage.process([arrival(codec, TICK)])
    shelf.status_of[1] = ShardStatus(1, 60, NOW, 4, NOW - 5, interactions_since_epoch=57, alive=70)
    assert stage.process([arrival(codec, TICK)]) == [first]


def test_other_entries_ask_nothing_and_are_not_decoded(codec: Codec) -> None:
    shelf = Shelf()
    stored = arrival(codec, replace(TICK, effect="stored", memory_id="m"))
    not_even_avro = Arrival(1, 1, b"anything")
    named_so = arrival(codec, replace(TICK, effect="stored", event_id="it ticked"))
    assert decay(codec, GENESIS, shelf).process([stored, not_even_avro, named_so]) == []
    assert shelf.asked == []


class RunsAhead(Shelf):
    """A schedule that has more than was asked for."""

    def due(
        self,
        shard: int,
        unused_since: Mapping[str, int],
        limit: int,
        without: Collection[str] = (),
        *,
        room: bool = False,
    ) -> list[DueMemory]:
        return self.due_memories


def test_the_schedule_is_not_believed(codec: Codec) -> None:
    early = DueMemory("early", "n", NOW - SPAN + 1)
    (output,) = decay(codec, GENESIS, RunsAhead(due_memories=[early])).process([arrival(codec, TICK)])
    assert codec.decode(output.value).crossed == ()


def test_an_answer_is_bounded_by_what_an_epoch_can_propose(codec: Codec) -> None:
    policy = Policy(epoch=EpochPolicy(proposals_max=2))
    shelf = Shelf(due_memories=[replace(OLD, memory_id=f"m{i}") for i in range(5)])
    (output,) = decay(codec, genesis.make(policy=policy), shelf).process([arrival(codec, TICK)])
    assert [crossing.memory_id for crossing in codec.decode(output.value).crossed] == ["m0", "m1"]


def test_a_store_that_is_down_is_the_stages_to_wait_for(codec: Codec) -> None:
    shelf = Shelf(due_memories=[OLD], down={"due"})
    stage = decay(codec, GENESIS, shelf)
    with pytest.raises(StoreUnavailable):
        stage.process([arrival(codec, TICK)])
    shelf.down.clear()
    assert len(stage.process([arrival(codec, TICK)])) == 1


@pytest.mark.parametrize("value", [b"ticked", b"\xc3\x01\x00ticked\x00"])
def test_a_poisoned_entry_is_left_out_with_a_line(codec: Codec, value: bytes, caplog: pytest.LogCaptureFixture) -> None:
    stage, poison = decay(codec, GENESIS, Shelf()), Arrival(1, 4, value)
    with pytest.raises(DecodeError) as caught:
        stage.process([poison])
    assert stage.poisoned(poison, caught.value) == []
    assert "journal offset 4 of shard 1 left out" in caplog.text


def test_an_entry_of_another_shard_is_poison(codec: Codec) -> None:
    with pytest.raises(ValueError, match="shard 1 in partition 2"):
        decay(codec, GENESIS, Shelf()).process([arrival(codec, TICK, partition=2)])


def test_what_is_asked_for_follows_from_the_policy_that_was_decided(codec: Codec) -> None:
    slow = replace(POLICY, decay=DecayPolicy(scales_s=(10.0, 60.0, 7_200.0)), epoch=EpochPolicy(proposals_max=300))
    decided = vote(codec, GENESIS, order(GENESIS, "policy", 1, policy=written(slow)), 4, done=True)
    shelf, before = Shelf(votes=[decided]), Shelf()
    for schedule in (shelf, before):
        decay(codec, GENESIS, schedule).process([arrival(codec, TICK)])
    assert ("due", 1, NOW - span_ms(slow), 300) in shelf.asked
    assert ("due", 1, NOW - SPAN, POLICY.epoch.proposals_max) in before.asked
