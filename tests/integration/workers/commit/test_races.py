"""Records that may overtake each other (DESIGN 8): whichever comes first in the journal, nothing is lost, nothing done
twice.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from db.vault import PostgresVault
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.commit.spine import Item
from memquorum.core.ids import memory_id
from memquorum.core.policy import NO_CAPS, ForgetPolicy
from memquorum.core.records import Accessed, Decided, JournalEntry
from tests.builders import genesis
from tests.builders.policies import by_the_paper
from tests.support.commit_process import MASTER
from tests.support.flow import Flow, journal_of
from tests.support.watch import Worker, await_seq, rows

SHARD = 1
GRACE_MS = 10_000
TICK = 1_000_000
# Sealed memories stay so for a while, as they do in a cluster that can think better of it.
CLUSTER = genesis.make(policy=by_the_paper(forget=ForgetPolicy(grace_ms=GRACE_MS), caps=NO_CAPS))


@pytest.fixture
def flow(fresh_kafka: str, databases: tuple[str, str], codec: Codec) -> Iterator[Flow]:
    yield Flow(fresh_kafka, codec, CLUSTER, PostgresVault(databases[1], MASTER))


@pytest.fixture
def worker(flow: Flow, databases: tuple[str, str]) -> Iterator[Worker]:
    with Worker(flow.bootstrap, flow.codec, databases, genesis=CLUSTER) as found:
        yield found


def touch(flow: Flow, how: str) -> None:
    """Uses memory a: reads it, or says it again."""
    target = memory_id(flow.namespace(SHARD), "a")
    if how == "access":
        flow.access(SHARD, target, TICK + 500)
    else:
        flow.episodes(SHARD, ["again"], outcome="reinforced", reinforces=target, at=TICK + 500)


def applied(flow: Flow, databases: tuple[str, str], worker: Worker, seq: int) -> list[JournalEntry]:
    flow.flush()
    await_seq(databases, SHARD, seq, worker)
    return journal_of(flow.bootstrap, flow.codec, SHARD, seq)


def tier(databases: tuple[str, str], flow: Flow, event_id: str) -> str:
    ((found,),) = rows(databases, "SELECT tier FROM memory WHERE id = %s", memory_id(flow.namespace(SHARD), event_id))
    return str(found)


@pytest.mark.parametrize("how", ["access", "repetition"])
def test_a_use_after_the_nomination_voids_the_forget(
    flow: Flow, worker: Worker, databases: tuple[str, str], how: str
) -> None:
    flow.episodes(SHARD, ["a"])
    tick = flow.tick(SHARD, TICK)
    touch(flow, how)
    applied(flow, databases, worker, 3)
    # All members voted on what they had read up to the tick.
    flow.decide(SHARD, [flow.proposal(SHARD, "a", "forget")], as_of=TICK, accepted_offset=tick)
    *_, decided = applied(flow, databases, worker, 4)
    (result,) = flow.codec.decode_as(Decided, decided.detail).results
    assert (result.outcome, result.reason) == ("voided", "touched since")
    assert tier(databases, flow, "a") == "short-term"


@pytest.mark.parametrize("how", ["access", "repetition"])
def test_a_use_before_the_nomination_was_known_to_the_vote(
    flow: Flow, worker: Worker, databases: tuple[str, str], how: str
) -> None:
    flow.episodes(SHARD, ["a"])
    touch(flow, how)
    tick = flow.tick(SHARD, TICK)
    flow.decide(SHARD, [flow.proposal(SHARD, "a", "forget")], as_of=TICK, accepted_offset=tick)
    *_, decided = applied(flow, databases, worker, 4)
    (result,) = flow.codec.decode_as(Decided, decided.detail).results
    assert (result.outcome, result.reason) == ("forgotten", "quorum")
    assert tier(databases, flow, "a") == "sealed"


def test_a_read_of_what_is_sealed_is_noted_and_opens_nothing(
    flow: Flow, worker: Worker, databases: tuple[str, str]
) -> None:
    flow.episodes(SHARD, ["a"])
    flow.tick(SHARD, TICK)
    flow.decide(SHARD, [flow.proposal(SHARD, "a", "forget")], as_of=TICK)
    applied(flow, databases, worker, 3)
    touch(flow, "access")
    *_, accessed = applied(flow, databases, worker, 4)
    assert accessed.effect == "asked"  # it comes back only if the members vote so
    (used,) = flow.codec.decode_as(Accessed, accessed.detail).used
    assert used.outcome == "asks"
    assert tier(databases, flow, "a") == "sealed"
    assert rows(databases, "SELECT count(*) FROM content") == [(0,)]


def test_what_repeats_a_memory_that_is_being_sealed_is_remembered_anew(
    flow: Flow, worker: Worker, databases: tuple[str, str]
) -> None:
    """Salience judged it when the memory was alive; the decision came between."""
    flow.episodes(SHARD, ["a"])
    flow.tick(SHARD, TICK)
    flow.decide(SHARD, [flow.proposal(SHARD, "a", "forget")], as_of=TICK)
    applied(flow, databases, worker, 3)
    touch(flow, "repetition")
    *_, stored = applied(flow, databases, worker, 4)
    assert (stored.effect, stored.memory_id) == ("stored", memory_id(flow.namespace(SHARD), "again"))
    assert (tier(databases, flow, "a"), tier(databases, flow, "again")) == ("sealed", "short-term")
    assert rows(databases, "SELECT body FROM content") == [("Valve again opens at 4 bar.",)]
    # A repeated memory lives on when the first is destroyed.
    flow.tick(SHARD, TICK + GRACE_MS + 1)
    *_, destroyed = applied(flow, databases, worker, 6)
    assert destroyed.effect == "destroyed"
    keys = PostgresVault(databases[1], MASTER).open([memory_id(flow.namespace(SHARD), e) for e in ("a", "again")])
    assert keys.keys() == {memory_id(flow.namespace(SHARD), "again")}


def test_what_repeated_a_memory_goes_with_it(flow: Flow, worker: Worker, databases: tuple[str, str]) -> None:
    """The repetition came first: it is the memory, and its own sealed words must not outlive it."""
    flow.episodes(SHARD, ["a"])
    touch(flow, "repetition")
    flow.tick(SHARD, TICK)
    flow.decide(SHARD, [flow.proposal(SHARD, "a", "forget")], as_of=TICK)
    applied(flow, databases, worker, 4)
    flow.tick(SHARD, TICK + GRACE_MS + 1)
    *_, destroyed = applied(flow, databases, worker, 6)
    assert destroyed.effect == "destroyed"
    assert PostgresVault(databases[1], MASTER).open([memory_id(flow.namespace(SHARD), e) for e in ("a", "again")]) == {}


def test_everything_that_the_commit_worker_reads_comes_twice(
    flow: Flow, worker: Worker, databases: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    once = flow._send

    def twice(topic: str, shard: int, value: bytes, *more: str) -> None:
        for _ in range(2):
            once(topic, shard, value, *more)
        # The second one has a place of its own.
        counter = {topics.ACCEPTED: flow.offset, topics.SCORED: flow.scored}.get(topic)
        if counter is not None:
            counter[shard] += 1

    monkeypatch.setattr(flow, "_send", twice)
    done = flow.episodes(SHARD, [f"e{i}" for i in range(50)], score=False)
    for episode, second in done:
        flow.log[SHARD].insert(0, Item(second - 1, episode))
        for offset in (second - 1, second):  # salience answers both
            flow.score(SHARD, episode, offset)
    for number in range(10):
        flow.access(SHARD, done[number][0].memory_id, 2_000 + number)
    tick = flow.tick(SHARD, TICK)
    proposals = [flow.proposal(SHARD, f"e{i}", "forget") for i in range(20, 25)]
    flow.decide(SHARD, proposals, as_of=TICK, accepted_offset=tick - 1)
    entries = applied(flow, databases, worker, 2 * 50 + 2 * 10 + 2 + 1)
    effects = [entry.effect for entry in entries]
    assert {effect: effects.count(effect) for effect in set(effects)} == {
        "stored": 50, "accessed": 10, "repeated": 60, "ticked": 2, "decided": 1
    }  # fmt: skip
    assert rows(databases, "SELECT sum(accesses), sum(reinforced) FROM strength") == [(10, 0)]
    assert rows(databases, "SELECT count(*) FROM decision") == [(1,)]
    assert rows(databases, "SELECT tier, count(*) FROM memory GROUP BY 1 ORDER BY 1") == [
        ("sealed", 5), ("short-term", 45)
    ]  # fmt: skip
