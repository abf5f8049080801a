"""The contract of every Sessions port: the sources of a first or a new summary, as its maker gets them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from db.standing import Clear
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.journal.rows import RowKeys
from memquorum.core.orders.disclose import SIGNER
from memquorum.core.policy import ConsolidatePolicy, ForgetPolicy, Policy
from memquorum.core.records import ErasedEpisode
from memquorum.ports import SessionMemory
from tests.builders import disclosures, erasures, votes
from tests.builders import genesis as cluster
from tests.builders.protections import accepted as protection
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.support.stores import World, clear

GRACE = 3_600_000
POLICY = Policy(forget=ForgetPolicy(grace_ms=GRACE), consolidate=ConsolidatePolicy(strict="strict-*"))
KEYS = {CONSOLIDATOR: cluster.public_key(SIGNER)}
GENESIS = cluster.make(policy=POLICY, agent_keys=KEYS)
A, B, C, D, SUM = (memory_id(e) for e in ("a", "b", "c", "d", "sum"))
SEALED_AT = 100_000


@pytest.fixture
def shard(world: World, codec: Codec) -> Shard:
    """Four memories of a session, a second apart."""
    made = world.shard(codec, GENESIS)
    for at, event in enumerate("abcd"):
        made.episode(event, 1_000 * (at + 1), session="s1")
    made.tick(9_000)
    world.flush(made)
    return made


def of_session(world: World, session: str = "s1", **other: Any) -> list[str]:
    asked = {"shard": 0, "namespace": NAMESPACE, "agent": "planner"} | other
    return [one.memory_id for one in world.sessions.memories(session=session, **asked)]


def test_without_an_agent_it_is_what_all_of_them_said(world: World, shard: Shard) -> None:
    shard.episode("bert", 7_000, session="s1", agent="bert")
    world.flush(shard)
    assert of_session(world) == [A, B, C, D]
    assert of_session(world, agent=None) == [A, B, C, D, memory_id("bert")]


def test_which_events_have_an_outcome_is_told(world: World, shard: Shard) -> None:
    assert world.sessions.answered(NAMESPACE, ["a", "d", "never"]) == {"a", "d"}
    assert world.sessions.answered("elsewhere", ["a"]) == frozenset() == world.sessions.answered(NAMESPACE, [])


def left(world: World, summary: str = SUM) -> list[str]:
    return [one.memory_id for one in world.sessions.left(0, summary)]


def erase(shard: Shard, codec: Codec, value: str, *more: ErasedEpisode) -> None:
    order = erasures.ordered(GENESIS, "memory", value, order_id=memory_id(value, "orders"))
    found = [ErasedEpisode(value, "sealed", b"c" * 32), *more]
    shard.erase(erasures.accepted(order, erasures.signed(codec, GENESIS, order), SEALED_AT), found)


def consolidated(world: World, shard: Shard, *sources: str) -> None:
    """A summary takes the place of its sources."""
    shard.summary("sum", sources, at=4_000)
    shard.tick(SEALED_AT)
    shard.consolidate(SUM, sources)
    world.flush(shard)


def test_a_session_is_told_the_oldest_first_and_nobody_elses(world: World, shard: Shard) -> None:
    shard.episode("late", 2_500, session="s1")  # said in between, and heard of last
    shard.episode("same", 2_500, session="s1")
    shard.episode("other", 1_000, session="s2")
    shard.episode("hers", 1_000, session="s1", agent="reviewer")
    shard.episode("none", 1_000, session=None)
    shard.episode("theirs", 1_000, session="s1", namespace="elsewhere")
    world.flush(shard)
    assert of_session(world) == [A, B, memory_id("late"), memory_id("same"), C, D]
    assert of_session(world, "s2") == [memory_id("other")]
    assert of_session(world, agent="reviewer") == [memory_id("hers")]
    assert of_session(world, namespace="elsewhere") == [memory_id("theirs", "elsewhere")]
    assert of_session(world, shard=1) == of_session(world, "nothing") == []


def test_a_memory_is_told_with_all_that_a_summary_asks_of_it(world: World, shard: Shard) -> None:
    said: dict[str, Any] = {
        "reward_ppm": 500_000,
        "sensitivity_ppm": 300_000,
        "purposes": ("billing",),
        "jurisdiction": "DE",
    }
    said |= {"session": "s2", "subject": "ada"}
    shard.episode("full", 5_000, rank_ppm=640_000, **said)
    full = memory_id("full")
    shard.access(full, 6_000)
    shard.episode("again", 7_000, "reinforced", reinforces=full, **said)
    shard.episode("plain", 8_000, session="s2", reward_ppm=499_999)
    world.flush(shard)
    assert world.sessions.memories(0, NAMESPACE, "planner", "s2") == [
        SessionMemory(
            full, clear(full).text, 5_000, "planner", "ada", b"c" * 32, 2, 300_000, "billing", "DE",
            positive=True, lies=None, accepted=5, rank_ppm=640_000, said=5_000, confidence_ppm=900_000,
        ),
        SessionMemory(
            memory_id("plain"), clear(memory_id("plain")).text, 8_000, "planner", "planner", b"c" * 32,
            accepted=8, said=8_000, confidence_ppm=900_000,
        ),
    ]  # fmt: skip


def test_what_may_not_be_summed_up_is_left_out(world: World, shard: Shard, codec: Codec) -> None:
    shard.episode("wanted", 5_000, session="s1", explicit=True)
    shard.episode("e", 6_000, session="s1", agent="planner")
    shard.episode("denial", 7_000, session="s1", contradicts=(memory_id("e"),))
    shard.tick(SEALED_AT)
    world.flush(shard)
    assert of_session(world) == [A, B, C, D], "wanted on purpose, or says otherwise than what is alive"
    shard.protect(protection(codec, "pin", A, cluster=GENESIS.cluster))
    shard.decide([votes.proposal(B, "promote"), votes.proposal(memory_id("denial"), "forget")])
    world.flush(shard)
    assert of_session(world) == [C, D, memory_id("e")], "what is forgotten denies nothing any more"
    shard.summary("sum", [C, D])
    world.flush(shard)
    assert of_session(world) == [memory_id("e")], "in a summary that waits for its vote"
    erase(shard, codec, D, ErasedEpisode(SUM, "draft", b"c", "few"))
    world.flush(shard)
    assert of_session(world) == [C, memory_id("e")], "the summary is gone"


def test_what_rests_sealed_for_an_erased_summary_is_left_until_its_grace_time_is_over(
    world: World, shard: Shard, codec: Codec
) -> None:
    shard.access(B, 20_000)
    consolidated(world, shard, A, B, C, D)
    assert of_session(world) == []
    assert left(world) == [], "it is there"
    erase(shard, codec, A, ErasedEpisode(SUM, "short-term", b"c", "anew"))
    world.flush(shard)
    found = world.sessions.left(0, SUM)
    assert [(one.memory_id, one.text, one.lies, one.accepted, one.references) for one in found] == [
        (B, "", 1, 1, 1), (C, "", 2, 2, 0), (D, "", 3, 3, 0),
    ]  # fmt: skip
    assert [one.created for one in found] == [2_000, 3_000, 4_000]
    assert world.sessions.left(1, SUM) == world.sessions.left(0, A) == world.sessions.left(0, memory_id("no")) == []
    shard.tick(SEALED_AT + GRACE - 1)
    world.flush(shard)
    assert left(world) == [B, C, D]
    shard.tick(SEALED_AT + GRACE)
    world.flush(shard)
    assert left(world) == [], "nobody can open them any more"


def test_what_is_made_anew_already_is_not_left_and_what_that_leaves_is(
    world: World, shard: Shard, codec: Codec
) -> None:
    consolidated(world, shard, A, B, C, D)
    erase(shard, codec, A, ErasedEpisode(SUM, "short-term", b"c", "anew"))
    shard.summary("again", [B, C, D], renews=SUM)
    world.flush(shard)
    assert left(world) == []
    again = memory_id("again")
    erase(shard, codec, B, ErasedEpisode(again, "draft", b"c", "few"))
    world.flush(shard)
    assert left(world, again) == [C, D], "sealed because of the one in whose place it was made"
    assert left(world) == [C, D]


def test_of_what_is_alive_what_may_be_summed_up_is_left(world: World, shard: Shard, codec: Codec) -> None:
    shard.episode("e", 5_000, session="s1")
    shard.summary("sum", [A, B, C, D, memory_id("e")])
    shard.tick(SEALED_AT)
    shard.protect(protection(codec, "pin", B, cluster=GENESIS.cluster))
    shard.decide([votes.proposal(C, "promote")])
    shard.episode("denial", 7_000, contradicts=(memory_id("e"),))
    erase(shard, codec, A, ErasedEpisode(SUM, "draft", b"c", "anew"))
    world.flush(shard)
    (one,) = world.sessions.left(0, SUM)
    assert (one.memory_id, one.text, one.lies) == (D, clear(D).text, None)


def test_whose_text_may_be_sent_is_what_the_journal_says_and_is_alive(world: World, shard: Shard, codec: Codec) -> None:
    asked = [A, B, memory_id("nobody")]
    assert world.sessions.disclosed(disclosures.HOST, asked) == frozenset()
    shard.protect(disclosures.accepted(codec, GENESIS, A, B, C))
    world.flush(shard)
    assert world.sessions.disclosed(disclosures.HOST, asked) == {A, B}
    assert world.sessions.disclosed("elsewhere.example.org", asked) == frozenset()
    assert world.sessions.disclosed(disclosures.HOST, []) == frozenset()
    shard.tick(SEALED_AT)
    shard.decide([votes.proposal(A, "promote"), votes.proposal(B, "forget")])
    world.flush(shard)
    assert world.sessions.disclosed(disclosures.HOST, [A, B, C]) == {C}, "promoted, forgotten"


def test_how_far_the_accepted_stream_is_applied_is_told_by_shard(world: World, shard: Shard) -> None:
    shard.episode("e", 5_000)
    net = shard.work.net()
    with world.store.transaction({net.before: RowKeys()}) as transaction:
        places = {(0, topics.ACCEPTED): 70, (0, topics.SCORED): 90}
        transaction.write([net], {i: clear(i) for i in net.revealed}, places)
    assert (world.sessions.applied(0), world.sessions.applied(3)) == (70, 0)


def test_beyond_a_budget_the_episodes_of_any_session_are_told_the_longest_unused_first(
    world: World, shard: Shard, codec: Codec
) -> None:
    shard.episode("none", 1_500, session=None, agent="reviewer")
    shard.episode("fact", 500, session="s1", type="semantic")
    shard.episode("wanted", 500, explicit=True)
    shard.episode("theirs", 500, namespace="elsewhere")
    shard.access(A, 10_000)
    shard.tick(SEALED_AT)
    shard.protect(protection(codec, "pin", B, cluster=GENESIS.cluster))
    shard.summary("sum", [D])
    axis = np.eye(8, dtype=np.float32)[3]
    world.flush(shard, {memory_id("none"): Clear("n", axis)})

    def unused(limit: int = 9) -> list[str]:
        return [one.memory.memory_id for one in world.sessions.unused(0, NAMESPACE, limit)]

    assert unused() == [memory_id("none"), C, A]
    assert unused(2) == [memory_id("none"), C]
    none, _, a = world.sessions.unused(0, NAMESPACE, 9)
    assert (none.memory.text, none.memory.agent, none.encoder) == ("n", "reviewer", a.encoder)
    assert none.vector.tolist() == axis.tolist() != a.vector.tolist()
    assert a.memory == next(one for one in world.sessions.memories(0, NAMESPACE, "planner", "s1"))
    assert world.sessions.unused(1, NAMESPACE, 9) == world.sessions.unused(0, "nowhere", 9) == []
