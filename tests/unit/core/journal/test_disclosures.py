"""A disclosure to another host is noted before it happens, and an erasure reports the hosts."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memquorum import topics
from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.journal.rows import Change, Disclosure
from memquorum.core.orders.disclose import DISCLOSURE, SIGNER
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.records import ErasedEpisode, OrderAccepted, SourcesDisclosed
from tests.builders import erasures
from tests.builders import genesis as cluster
from tests.builders.published import POLICY, kinds, publish
from tests.builders.shard import NAMESPACE, Shard, memory_id

ENTITLED = erasures.entitled()
KEYS = {**ENTITLED["agent_keys"], CONSOLIDATOR: cluster.public_key(SIGNER)}
GENESIS = cluster.make(policy=POLICY, **{**ENTITLED, "agent_keys": KEYS})
A, B, NOBODY = memory_id("a"), memory_id("b"), memory_id("nobody")
HOST = "llm.example.org"
ORDER = SourcesDisclosed(GENESIS.cluster, memory_id("d"), NAMESPACE, (A, NOBODY), HOST, CONSOLIDATOR, 1_000)


@pytest.fixture
def shard(codec: Codec) -> Shard:
    made = Shard(codec, GENESIS)
    made.tick(900)
    made.episode("a", 500)
    made.episode("b", 500)
    return made


def disclose(shard: Shard, order: SourcesDisclosed = ORDER) -> Change:
    codec = shard.rules.codec
    data = DISCLOSURE.make(codec, GENESIS, SIGNER, cluster.seed_of(SIGNER), order)
    return shard.protect(
        OrderAccepted(order.order_id, "disclose", NAMESPACE, order.memory_ids, data, 1_000, topics.DISCLOSURES, 0, 7)
    )


def erase(shard: Shard, *recipients: str) -> None:
    order = erasures.ordered(GENESIS, "memory", A, order_id=memory_id("order", "orders"))
    data = erasures.signed(shard.rules.codec, GENESIS, order)
    one = ErasedEpisode(A, shard.rows.memories[A].tier, shard.rows.memories[A].commitment, None, recipients)
    shard.erase(erasures.accepted(order, data, 25_000), [one])


def test_what_is_sent_is_noted_and_an_erasure_names_to_whom(shard: Shard) -> None:
    first = disclose(shard)
    assert first.entry.effect == "disclosed"
    (row,) = first.of(Disclosure)
    assert (row.memory_id, row.recipient, row.sent_at) == (A, HOST, 1_000), "what nobody knows is sent too"
    again = disclose(shard)
    assert again.entry.effect == "repeated" and not again.of(Disclosure)
    erase(shard, HOST)
    late = disclose(shard, replace(ORDER, order_id=memory_id("late"), memory_ids=(A, B)))
    assert [one.memory_id for one in late.of(Disclosure)] == [B], "what was erased is sent"
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


def test_the_audit_knows_the_recipients(shard: Shard) -> None:
    disclose(shard)
    erase(shard)
    assert Kind.EFFECT_UNDECIDED in kinds(publish(shard).audit()), (
        "a receipt that leaves a recipient out is found sound"
    )


def test_nobody_else_says_what_was_sent(codec: Codec) -> None:
    for signer in ("operator", "agent:planner"):
        with pytest.raises(BadOrder, match="only the consolidator"):
            DISCLOSURE.make(codec, GENESIS, signer, cluster.seed_of(signer), ORDER)


@pytest.mark.parametrize(
    "changes", [{"memory_ids": ()}, {"memory_ids": (A, A)}, {"memory_ids": ("x",)}, {"recipient": " "}], ids=str
)
def test_what_is_no_such_word_is_refused(codec: Codec, changes: dict[str, object]) -> None:
    with pytest.raises(BadOrder):
        DISCLOSURE.make(codec, GENESIS, SIGNER, cluster.seed_of(SIGNER), replace(ORDER, **changes))
