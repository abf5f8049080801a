"""The commit worker carries out an order: alone, in its turn, the keys first."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.commit.spine import Item
from memquorum.core.journal.effects import Rules
from memquorum.core.journal.rows import RowKeys
from memquorum.core.policy import ForgetPolicy, Policy
from memquorum.core.records import Erased, ErasureOrdered, OrderAccepted
from tests.builders import genesis, protections
from tests.builders.erasures import NAMESPACE, accepted, entitled, ordered, signed
from tests.builders.shard import Shard, memory_id
from tests.inmemory.store import InMemoryStore, InMemoryVault
from workers.commit.commit_shard import Batch, CommitShard
from workers.commit.erasure_turn import Erasing

GENESIS = genesis.make(policy=Policy(forget=ForgetPolicy(grace_ms=500)), **entitled(signed=()))
A, B, FAINT = (memory_id(name) for name in ("a", "b", "faint"))


@pytest.fixture
def store(codec: Codec) -> InMemoryStore:
    shard, made = Shard(codec, GENESIS), InMemoryStore()
    made.start(GENESIS.cluster, GENESIS.shards)
    shard.tick(900)
    shard.episode("a", subject="ada")
    shard.episode("b")
    shard.episode("faint", outcome="below_threshold", subject="ada")
    net = shard.work.net()
    with made.transaction({net.before: RowKeys()}) as transaction:
        transaction.write([net], {}, {})
    return made


@pytest.fixture
def vault() -> InMemoryVault:
    made = InMemoryVault()
    made.create([(own, NAMESPACE, "ada") for own in (A, B, FAINT)])
    return made


def line_of(store: InMemoryStore, codec: Codec) -> CommitShard:
    return CommitShard(Rules(codec, GENESIS), store.start(GENESIS.cluster, GENESIS.shards)[0])


def order(codec: Codec) -> OrderAccepted:
    said = ordered(GENESIS)
    return accepted(said, signed(codec, GENESIS, said), 5_000)


def carry_out(
    store: InMemoryStore,
    codec: Codec,
    destroy: Callable[[list[str], Mapping[int, int]], object],
    asked: Callable[[ErasureOrdered], int] = lambda _: 0,
) -> tuple[CommitShard, Batch]:
    line, record = line_of(store, codec), order(codec)
    batch = Batch(None, [Item(4, record)])
    erasing = Erasing(
        Rules(codec, GENESIS), store, destroy, asked,  # type: ignore[arg-type]
        head=lambda state, _: b"head" + state.hash, residue_ms=1_000,
    )  # fmt: skip
    line.applied(batch, erasing.carry_out(line, batch, 4, record))
    return line, batch


def test_the_keys_go_first(store: InMemoryStore, vault: InMemoryVault, codec: Codec) -> None:
    seen, orders = list[tuple[str, bool]](), list[ErasureOrdered]()

    def destroy(ids: list[str], through: Mapping[int, int]) -> None:
        seen.extend((one, one in store.erased) for one in ids)
        vault.destroy(ids)
        told.update(through)

    before, told = store.states[0].seq, dict[int, int]()

    def asked(order: ErasureOrdered) -> int:
        assert not store.erased, "what was asked loses its keys before the journal tells of it"
        orders.append(order)
        return 0

    line, batch = carry_out(store, codec, destroy, asked)
    assert [(one.selector, one.value) for one in orders] == [("subject", "ada")]
    assert told == {0: before + 1} and line.state.seq == before + 1
    assert sorted(seen) == sorted([(A, False), (FAINT, False)])
    assert set(vault.open([A, B, FAINT])) == {B}
    assert set(store.erased) == {A, FAINT} and not store.dropped
    ((change, _),) = batch.changes
    detail = codec.decode_as(Erased, change.entry.detail)
    assert (detail.residue_until, change.entry.source_topic) == (6_000, topics.ACCEPTED)
    (row,) = store.erasures.values()
    assert row.head == b"head" + line.state.hash
    # A late record is refused from the next batch on.
    assert line.tombstones.stand_in(NAMESPACE)


def test_without_the_keys_gone_nothing_is_journalled(store: InMemoryStore, codec: Codec) -> None:
    def destroy(_: list[str], __: Mapping[int, int]) -> None:
        raise RuntimeError("the vault is away")

    before = store.states[0]
    with pytest.raises(RuntimeError):
        carry_out(store, codec, destroy)
    assert store.states[0] == before and not store.erasures
    assert store.taken(NAMESPACE, "subject", "ada")


def test_the_same_order_again_destroys_nothing(store: InMemoryStore, vault: InMemoryVault, codec: Codec) -> None:
    carry_out(store, codec, lambda ids, _: vault.destroy(ids))
    _, batch = carry_out(store, codec, lambda ids, _: pytest.fail("again"), lambda _: pytest.fail("again"))
    assert [change.entry.effect for change, _ in batch.changes] == ["repeated"]


def test_what_is_held_is_not_erased_nor_anything_else_of_the_order(
    store: InMemoryStore, vault: InMemoryVault, codec: Codec
) -> None:
    line = line_of(store, codec)
    held = protections.accepted(codec, "hold", A, cluster=GENESIS.cluster)
    batch = Batch(None, [Item(4, held)])
    with store.transaction({line.state: batch.rows_touched(codec, line.tombstones, line.since)}) as transaction:
        net = batch.apply(line.rules, transaction.rows[0], {}, {}, line.tombstones)
        transaction.write([net], {}, {})
    line, batch = carry_out(store, codec, lambda ids, _: vault.destroy(ids), lambda _: pytest.fail("withheld"))
    ((change, _),) = batch.changes
    assert (change.entry.effect, codec.decode(change.entry.detail).held) == ("withheld", (A,))
    assert set(vault.open([A, B, FAINT])) == {A, B, FAINT} and not store.erasures
    assert not line.tombstones.stand_in(NAMESPACE)


def test_an_order_waits_for_what_stands_before_it_and_goes_alone(store: InMemoryStore, codec: Codec) -> None:
    line, made = line_of(store, codec), Shard(codec, GENESIS)
    made.access(B, 1_000)
    read = made.accepted[0]
    for offset, record in ((4, read), (5, order(codec)), (6, read)):
        assert line.take(topics.ACCEPTED, offset, codec.encode(record), None) is None
    kinds = []
    while (batch := line.batch(100)) is not None:
        kinds.append([type(item.record).__name__ for item in batch.items])
        line.spine.applied(batch.items[-1].offset)
    assert kinds == [["AccessAccepted"], ["OrderAccepted"], ["AccessAccepted"]]


def test_an_order_that_does_not_hold_is_refused_with_its_reason(store: InMemoryStore, codec: Codec) -> None:
    said = ordered(GENESIS)
    forged = accepted(said, signed(codec, GENESIS, said, seed=b"x" * 32), 5_000)
    told = line_of(store, codec).take(topics.ACCEPTED, 4, codec.encode(forged), None)
    assert told is not None and "the signature is not operator" in told
