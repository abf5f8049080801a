"""The episodic buffer of a real store: what an agent said last, by the rules of the commit worker, and nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator

import psycopg
import pytest

from db.found_rows import filters_of
from db.queries import QUERIES
from db.reads import Reads
from memquorum.core import ids
from memquorum.core.access import EVERYONE, READ, Sight
from memquorum.core.avro import Codec
from memquorum.core.records import ErasedEpisode
from memquorum.core.retrieval.buffer import PLACES, ring
from memquorum.core.retrieval.query import ALL
from tests.builders import erasures, genesis, votes
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.support.stores import World, make

GENESIS = genesis.make(**erasures.entitled(signed=()))
BESIDE = next(name for name in (f"mill-{i}" for i in range(99)) if ids.shard_of(name, GENESIS.shards) == 0)
SIGHT = EVERYONE.sight(READ)


@pytest.fixture
def world(request: pytest.FixtureRequest) -> World:
    request.param = "postgres"  # type: ignore[attr-defined]
    return make(request)


@pytest.fixture
def shard(world: World, codec: Codec) -> Shard:
    shard = world.shard(codec, GENESIS)
    shard.tick(1_000)
    return shard


@pytest.fixture
async def reads(databases: tuple[str, str]) -> AsyncIterator[Reads]:
    found = Reads(databases[0])
    await found.open()
    yield found
    await found.close()


async def memories_by_place(
    reads: Reads, session: str | None = None, *, agent: str = "planner", namespace: str = NAMESPACE,
    sight: Sight = SIGHT,
) -> dict[int, str]:  # fmt: skip
    """Place → memory."""
    traces = ring(await reads.traces(sight, namespace, agent, session))
    return {trace.place: trace.candidate.hit.memory_id for trace in traces}


def by_name(*names: str) -> dict[int, str]:
    """The memories of these events by their places; the newest is the last."""
    return {place: memory_id(name) for place, name in enumerate(reversed(names), 1)}


async def test_it_holds_what_the_agent_said_in_the_order_of_acceptance(
    reads: Reads, world: World, shard: Shard
) -> None:
    shard.episode("a", at=5_000)
    shard.episode("late", at=2_000)
    shard.episode("other session", session="s2")
    shard.episode("no session", session=None)
    shard.episode("other agent", agent="reviewer")
    shard.episode("other place", namespace=BESIDE)
    shard.episode("faint", outcome="below_threshold")
    shard.access(memory_id("a"), 6_000)
    world.flush(shard)
    assert await memories_by_place(reads) == by_name("a", "late", "other session", "no session")
    assert await memories_by_place(reads, "s1") == by_name("a", "late")
    assert await memories_by_place(reads, "s2") == by_name("other session")
    assert await memories_by_place(reads, "s3") == {}
    assert await memories_by_place(reads, agent="reviewer") == by_name("other agent")
    assert await memories_by_place(reads, agent="nobody") == {}
    assert await memories_by_place(reads, namespace=BESIDE) == {1: memory_id("other place", BESIDE)}
    assert await memories_by_place(reads, sight=Sight((BESIDE,))) == {}
    (trace,) = await reads.traces(SIGHT, NAMESPACE, "reviewer", None)
    assert trace.candidate.hit.text == f"text of {memory_id('other agent')}, 100 %\n\\N"
    assert (trace.candidate.encoder, trace.candidate.vector.tolist().count(1.0)) == ("hashing", 1)


async def test_what_repeats_a_memory_is_a_trace_of_it(reads: Reads, world: World, shard: Shard) -> None:
    shard.episode("a", agent="reviewer", session="s0")
    shard.episode("b")
    shard.episode("again", outcome="reinforced", reinforces=memory_id("a"), subject="reviewer")
    world.flush(shard)
    assert await memories_by_place(reads, "s1") == await memories_by_place(reads) == by_name("b", "a")
    assert await memories_by_place(reads, "s0", agent="reviewer") == by_name("a")
    shard.episode("once more", outcome="reinforced", reinforces=memory_id("b"))
    world.flush(shard)
    # Two places are one memory's: the ring has it once.
    assert await memories_by_place(reads, "s1") == {1: memory_id("b"), 2: memory_id("a")}


async def test_the_ring_has_its_places_and_no_more(reads: Reads, world: World, shard: Shard) -> None:
    for number in range(PLACES + 9):
        shard.episode(f"e{number}")
    world.flush(shard)
    assert await memories_by_place(reads, "s1") == by_name(*(f"e{number}" for number in range(9, PLACES + 9)))


async def test_what_is_forgotten_leaves_its_place_empty(reads: Reads, world: World, shard: Shard) -> None:
    for number in range(PLACES + 1):
        shard.episode(f"e{number}")
    shard.tick(60_000)
    shard.decide([votes.proposal(memory_id("e9"), "forget"), votes.proposal(memory_id("e8"), "promote")])
    world.flush(shard)
    whole = by_name(*(f"e{number}" for number in range(1, PLACES + 1)))
    assert await memories_by_place(reads) == {place: held for place, held in whole.items() if held != memory_id("e9")}


async def test_what_a_summary_says_has_that_in_its_place(reads: Reads, world: World, shard: Shard) -> None:
    for name in ("a", "b", "c", "d", "e"):
        shard.episode(name)
    shard.episode("hers", agent="reviewer")
    for name, sources in (("one", ("a", "b")), ("two", ("d", "e"))):
        shard.summary(name, [memory_id(source) for source in sources])
    world.flush(shard)
    before = by_name("a", "b", "c", "d", "e")
    assert await memories_by_place(reads, "s1") == before, "a draft says nothing yet"
    shard.consolidate(memory_id("one"), [memory_id("a"), memory_id("b")])
    shard.consolidate(memory_id("two"), [memory_id("d"), memory_id("e")])
    world.flush(shard)
    assert await memories_by_place(reads, "s1") == {1: memory_id("two"), 3: memory_id("c"), 4: memory_id("one")}
    assert await memories_by_place(reads) == await memories_by_place(reads, "s1")
    assert await memories_by_place(reads, agent="reviewer") == by_name("hers")
    assert await memories_by_place(reads, sight=Sight((BESIDE,))) == {}
    shard.merge(memory_id("one"), memory_id("two"))
    world.flush(shard)
    assert await memories_by_place(reads, "s1") == {1: memory_id("one"), 3: memory_id("c")}
    shard.decide([votes.proposal(memory_id("one"), "forget")])
    world.flush(shard)
    assert await memories_by_place(reads, "s1") == {3: memory_id("c")}


async def test_what_is_erased_is_gone_from_it_and_so_is_what_only_repeated(
    reads: Reads, world: World, shard: Shard, codec: Codec
) -> None:
    shard.episode("a", agent="reviewer")
    shard.episode("b")
    shard.episode("again", outcome="reinforced", reinforces=memory_id("a"), subject="reviewer")
    shard.episode("c")
    said = erasures.ordered(GENESIS, "agent", "planner")
    record = erasures.accepted(said, erasures.signed(codec, GENESIS, said), 1_500)
    # The planner's echo goes, and the reviewer's memory stays.
    shard.erase(
        record, [ErasedEpisode(memory_id("again"), "reinforced"), *erasures.among(NAMESPACE, {"b": "short-term"})]
    )
    world.flush(shard)
    assert await memories_by_place(reads) == by_name("c")
    assert await memories_by_place(reads, agent="reviewer") == by_name("a")


@pytest.mark.parametrize(("session", "index"), [(None, "event_agent"), ("s1", "event_session")])
def test_it_is_found_by_its_index_however_much_there_is(
    databases: tuple[str, str], session: str | None, index: str
) -> None:
    wanted = {"namespace": "n", "agent": "a7", "session": session, "places": PLACES} | filters_of(ALL)
    with psycopg.connect(databases[0], autocommit=True) as connection:
        connection.execute(
            """INSERT INTO memory (id, shard, namespace, agent, subject, event_id, tier, created, characters,
                   commitment,
                   encoder, early, changed, seq, session)
               SELECT md5(i::text)::uuid, 0, 'n', 'a' || i % 50, 's', 'e' || i,
               'short-term', 0, 1, 'x', 'h', false, 0, i, 's' || i % 3 FROM generate_series(1, 20000) i;
               INSERT INTO content SELECT id, 'text', namespace FROM memory;
               INSERT INTO strength SELECT id, 0, 'short-term', 1, 0, 0, 0, 0 FROM memory;
               INSERT INTO embedding SELECT id, namespace, ('[1,0,0,0,0,0,0,' || seq || ']')::halfvec, 'h'
               FROM memory;
               INSERT INTO event (namespace, event_id, shard, outcome, memory_id, seq, agent, session)
               SELECT namespace, event_id, 0, 'stored', id, seq, agent, session FROM memory;
               INSERT INTO provenance (shard, seq, namespace, child, parent, echo, follows, agent, merged)
               SELECT 0, seq, namespace, md5(seq / 8 || 'sum')::uuid, id, false, false, 'consolidator', false
               FROM memory;
               ANALYZE"""
        )
    with psycopg.connect(databases[0], options="-c role=memquorum_tenant") as connection:
        connection.execute("SELECT set_config('memquorum.namespaces', 'n', false)")
        (plan,) = connection.execute("EXPLAIN (FORMAT JSON) " + QUERIES["traces"], wanted).fetchone() or ({},)
        found = connection.execute(QUERIES["traces"], wanted).fetchall()
    told = str(plan)
    assert index in told and "Seq Scan" not in told and len(found) == PLACES, told
