"""Only reads of the past find replaced memories, as far as the reader may: on a real Postgres."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import psycopg
import pytest
from msgspec.structs import replace

from db.reads import Reads
from db.standing import Clear
from db.store import PostgresStore
from memquorum.core import ids
from memquorum.core.access import Sight
from memquorum.core.avro import Codec
from memquorum.core.journal.rows import RowKeys
from memquorum.core.journal.workset import Workset
from memquorum.core.labelling import Labels
from memquorum.core.orders.erase import SUBJECT
from memquorum.core.records import ErasedEpisode
from memquorum.core.retrieval.query import ALL, Filters
from memquorum.core.retrieval.ranking import DEFAULTS, Question
from memquorum.core.retrieval.recall import Reach
from memquorum.encoders.hashing import HashingEncoder
from tests.builders import erasures
from tests.builders import genesis as cluster
from tests.builders.shard import Shard

GENESIS = cluster.make(**erasures.entitled(signed=()))
HERS = next(name for name in (f"ada-{i}" for i in range(99)) if ids.shard_of(name, GENESIS.shards) == 0)
THEIRS = next(name for name in (f"mill-{i}" for i in range(99)) if ids.shard_of(name, GENESIS.shards) == 0)
SLOT: dict[str, Any] = {"explicit": True, "slot": "s" * 32}
ASKED = "Which port does the gateway listen on?"


class Encoder(HashingEncoder):
    """As scores name it."""

    @property
    def name(self) -> str:
        return "hashing"


ENCODER = Encoder(64)


class World:
    """A shard and its store; each write is a batch."""

    def __init__(self, dsn: str, codec: Codec) -> None:
        self.dsn, self.codec = dsn, codec
        self.shard, self.texts = Shard(codec, GENESIS), dict[str, str]()
        self.store = PostgresStore(dsn)
        self.store.start(GENESIS.cluster, GENESIS.shards)
        self.state = self.shard.rows.state

    def say(self, name: str, at: int, text: str, namespace: str = HERS, **said: Any) -> str:
        """Writes the slot; the memory's id."""
        self.shard.episode(f"{namespace}.{name}", at, namespace=namespace, **SLOT | said)
        found = ids.memory_id(namespace, f"{namespace}.{name}")
        self.texts[found] = text
        return found

    def flush(self) -> None:
        """Writes what happened since."""
        net = self.shard.work.net()
        labels = Labels("port", "gateway", '{"colour": "red"}')
        clear = {
            i: Clear(self.texts[i], np.atleast_2d(ENCODER.encode([self.texts[i]])), labels=labels) for i in net.revealed
        }
        with self.store.transaction({self.state: RowKeys()}) as transaction:
            transaction.write([net], clear, {})
        rows = self.shard.rows
        self.state = rows.state
        rows = replace(rows, memories=dict(rows.memories), strengths=dict(rows.strengths), loaded=None)
        self.shard.work = Workset(rows)


@pytest.fixture
def world(databases: tuple[str, str], codec: Codec) -> World:
    """A slot of three values in each of two namespaces."""
    made = World(databases[0], codec)
    made.shard.tick(100)
    for namespace in (HERS, THEIRS):
        for name, at in (("a", 1_000), ("b", 2_000), ("c", 3_000)):
            made.say(name, at, f"The gateway listens on port {name}{at}.", namespace, subject="ada")
    return made


@pytest.fixture
async def reads(world: World) -> AsyncIterator[Reads]:
    made = Reads(world.dsn)
    await made.open()
    yield made
    await made.close()


def memory(name: str, namespace: str = HERS) -> str:
    return ids.memory_id(namespace, f"{namespace}.{name}")


async def replaced_by(
    reads: Reads, filters: Filters = ALL, namespace: str = HERS, sight: Sight | None = None
) -> dict[str, tuple[str | None, int]]:
    """By memory that a read of the past finds, what took its place, and when."""
    question = Question(namespace, ASKED, {ENCODER.name: ENCODER.encode([ASKED])[0]}, filters)
    rows = await reads.replaced(sight or Sight((namespace,)), question, DEFAULTS)
    return {one.hit.memory_id: (one.newer, one.since) for one in rows}


async def test_what_was_replaced_is_found_with_what_took_its_place(world: World, reads: Reads) -> None:
    world.flush()
    a, b, c = map(memory, "abc")
    assert await replaced_by(reads) == {a: (b, 2_000), b: (c, 3_000)}
    for as_of, expected in ((999, set()), (1_000, {a}), (1_999, {a}), (2_000, {b}), (2_999, {b}), (3_000, set())):
        assert set(await replaced_by(reads, Filters(as_of=as_of))) == expected, as_of
    question = Question(HERS, ASKED, {ENCODER.name: ENCODER.encode([ASKED])[0]})
    (row, *_) = (one for one in await reads.replaced(Sight((HERS,)), question, DEFAULTS) if one.hit.memory_id == a)
    assert (row.hit.text, row.hit.tier, row.hit.key, row.hit.path, row.hit.attributes, row.agent) == (
        "The gateway listens on port a1000.", "superseded", "port", "gateway", {"colour": "red"}, "planner"
    )  # fmt: skip
    assert row.candidate.near and row.candidate.words is not None and row.candidate.vector.shape == (64,)
    # Other statements have the last alone.
    with psycopg.connect(world.dsn) as link:
        for table in ("content", "embedding"):
            kept = f"SELECT memory_id::text FROM {table} WHERE namespace = %s"
            assert link.execute(kept, [HERS]).fetchall() == [(c,)]  # type: ignore[arg-type]
    (near,) = await reads.search(Sight((HERS,)), HERS, ENCODER.name, ENCODER.encode([ASKED])[0], 9)
    assert near.memory_id == c
    assert [one.hit.memory_id for one in (await reads.candidates(Sight((HERS,)), question, DEFAULTS))[0]] == [c]


async def test_who_does_not_see_the_namespace_finds_nothing(world: World, reads: Reads) -> None:
    world.flush()
    assert await replaced_by(reads, sight=Sight((THEIRS,))) == {}
    assert len(await replaced_by(reads, sight=Sight((HERS, THEIRS)))) == 2
    with psycopg.connect(world.dsn, options="-c role=memquorum_tenant", autocommit=True) as tenant:
        assert tenant.execute("SELECT count(*) FROM replaced").fetchone() == (0,)
        tenant.execute("SELECT set_config('memquorum.namespaces', %s, false)", [HERS])
        assert tenant.execute("SELECT DISTINCT namespace FROM replaced").fetchall() == [(HERS,)]


async def test_a_recall_of_the_past_has_it_among_what_surrounds(world: World, reads: Reads) -> None:
    world.say("between", 2_500, "The gateway was restarted.", session="s", slot=None)
    world.say("d", 5_000, "The gateway listens on port d5000.", session="s")
    world.say("e", 6_000, "The gateway listens on port e6000.", session="s")
    world.flush()
    sight, (c, d, e, between) = Sight((HERS,)), map(memory, ("c", "d", "e", "between"))

    async def around(anchor: str, past: bool, **only: Any) -> dict[str, tuple[str, int, str | None]]:
        found = await reads.around(sight, HERS, [anchor], Reach(5, 1_600, past=past), Filters(**only))
        return {
            one.candidate.hit.memory_id: (one.way, one.apart, None if one.gone is None else one.gone.newer)
            for one in found
        }  # fmt: skip

    assert await around(e, False) == {e: ("anchor", 0, None), between: ("session", -1, None)}
    assert await around(d, False) == {}
    now = {e: ("session", 1, None), between: ("session", -1, None), d: ("anchor", 0, e)}
    assert await around(d, True) == now
    assert await around(between, True) == {
        c: ("time", 500, d), memory("b"): ("time", -500, c), memory("a"): ("time", -1_500, memory("b")),
        between: ("anchor", 0, None), d: ("session", 1, e), e: ("session", 2, None),
    }  # fmt: skip
    assert await around(d, True, as_of=5_500) == {d: ("anchor", 0, e), between: ("session", -1, None)}
    assert await around(d, True, as_of=6_000) == await around(e, True, as_of=5_999) == {}
    assert await around(d, True, purpose="x", sensitivity_max=-1.0) == {}
    assert await reads.around(Sight((THEIRS,)), HERS, [d], Reach(5, 0, past=True), ALL) == []


async def test_the_buffer_of_a_time_has_what_the_agent_had_said_by_then(world: World, reads: Reads) -> None:
    world.say("first", 3_100, "The gateway was restarted.", slot=None)
    world.say("second", 3_200, "The gateway runs.", slot=None)
    world.flush()

    async def said(**only: Any) -> list[str]:
        found = await reads.traces(Sight((HERS,)), HERS, "planner", None, Filters(**only))
        return [one.candidate.hit.memory_id for one in sorted(found, key=lambda one: one.place)]

    first, second, c = map(memory, ("first", "second", "c"))
    assert await said() == await said(as_of=9_000) == [second, first, c]
    assert await said(as_of=3_199) == [first, c]
    assert await said(as_of=2_999) == []


@pytest.mark.parametrize(
    "only",
    [
        {"purpose": "billing"}, {"sensitivity_max": 0}, {"agents": ("nobody",)}, {"keys": ("speed",)},
        {"path": "valve"}, {"since": 2_001, "as_of": 2_500}, {"until": 1_000},
    ],
    ids=str,
)  # fmt: skip
async def test_filters_and_gates_hold_as_for_what_is_in_service(
    world: World, reads: Reads, only: dict[str, Any]
) -> None:  # fmt: skip
    world.flush()
    with psycopg.connect(world.dsn) as link:
        link.execute("UPDATE memory SET purposes = 'shipping', sensitivity_ppm = 1")
    assert await replaced_by(reads) == {}, "what is for certain purposes alone"
    assert len(await replaced_by(reads, Filters(purpose="shipping"))) == 2
    assert await replaced_by(reads, Filters(**{"purpose": "shipping"} | only)) == {}


async def test_what_took_its_place_is_named_to_whom_may_read_it(world: World, reads: Reads) -> None:
    world.flush()
    with psycopg.connect(world.dsn) as link:
        link.execute("UPDATE memory SET purposes = 'billing' WHERE id = %s", [memory("c")])
    assert await replaced_by(reads) == {memory("a"): (memory("b"), 2_000), memory("b"): (None, 3_000)}
    assert (await replaced_by(reads, Filters(purpose="billing")))[memory("b")] == (memory("c"), 3_000)


async def test_an_erasure_and_a_clearing_take_it(world: World, reads: Reads) -> None:
    world.flush()
    assert len(await replaced_by(reads)) == len(await replaced_by(reads, namespace=THEIRS)) == 2
    order = erasures.ordered(GENESIS, SUBJECT, "ada", namespace=THEIRS)
    gone = [ErasedEpisode(memory(name, THEIRS), "superseded", b"c" * 32) for name in "abc"]
    world.shard.erase(erasures.accepted(order, erasures.signed(world.codec, GENESIS, order), 20_000), gone)
    world.shard.episode("nothing", 4_000, "cleared", namespace=HERS, **SLOT | {"clears": True, "characters": 0})
    world.flush()
    assert await replaced_by(reads) == await replaced_by(reads, namespace=THEIRS) == {}
    with psycopg.connect(world.dsn) as link:
        assert link.execute("SELECT count(*) FROM replaced").fetchone() == (0,)
        assert link.execute("SELECT count(*) FROM content").fetchone() == (0,)
