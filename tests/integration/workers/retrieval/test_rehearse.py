"""A rehearsal by hand on a store with memories: what it concludes, and that a look changes nothing."""

from __future__ import annotations

from contextlib import closing

import psycopg
import pytest

from db.connection import READER
from db.rehearsal_reads import PostgresRehearsals
from infra.rehearse import _tell
from memquorum.core.avro import Codec
from memquorum.core.rehearsal import Verdict
from memquorum.core.tiers import LONG_TERM
from memquorum.schema_files import load_codec
from tests.builders import genesis, protections, votes
from tests.builders.shard import NAMESPACE, memory_id
from tests.support.stores import World, make
from workers.rehearsal.rehearsal_turn import Rehearsed, rehearse

GENESIS = genesis.make()
DAY = 24 * 3_600_000
pytestmark = pytest.mark.parametrize("world", ["postgres"], indirect=True)


@pytest.fixture
def world(request: pytest.FixtureRequest) -> World:
    return make(request)


@pytest.fixture
def store(world: World, codec: Codec) -> str:
    """Stores memories for rehearsals: `old` is long-term, `used` was read, `faint`, `pinned` and `denied` are
    contradicted, and the sources of `orphan` are gone; `half` still has one of two sources. `seems` only seems to
    contradict two of them, which is no doubt.
    """
    shard = world.shard(codec, GENESIS)
    for name in ("old", "used", "source", "kept", "denied"):
        shard.episode(name)
    for name in ("faint", "pinned"):
        shard.episode(name, salience=110_000)
    shard.episode("orphan", derives_from=(memory_id("source"),))
    shard.episode("half", derives_from=(memory_id("source"), memory_id("kept")))
    shard.episode("elsewhere", namespace="elsewhere")
    denied = tuple(memory_id(name) for name in ("denied", "faint", "pinned"))
    shard.episode("denial", explicit=True, supersedes=denied)
    shard.episode("seems", contradicts=(memory_id("kept"), memory_id("half")))
    for name in ("used", "old"):
        shard.access(memory_id(name), 2_000)
    shard.tick(30 * DAY)
    shard.protect(protections.accepted(codec, "pin", memory_id("pinned"), cluster=GENESIS.cluster))
    shard.decide([votes.proposal(memory_id("old"), "promote")])
    shard.decide([votes.proposal(memory_id("source"), "forget")])
    world.flush(shard)
    assert world.dsn is not None
    return world.dsn


def looked(dsn: str, namespace: str | None, seed: int | None = None) -> Rehearsed:
    with closing(PostgresRehearsals(dsn, READER)) as memory:
        return rehearse(memory, load_codec(), GENESIS, budget_ms=60_000, namespace=namespace, seed=seed)


def test_it_judges_what_it_draws(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("old", "used", "kept", "denied", "faint", "pinned", "orphan", "half", "denial", "seems")
    by_id = {memory_id(name): name for name in names}
    found = [looked(store, NAMESPACE, seed) for seed in range(40)]
    # One long-term memory leaves room for two short-term ones.
    assert {len(one.found) for one in found} == {3}
    assert all([c.seen.tier for c in one.found].count(LONG_TERM) == 1 for one in found)
    concluded = [c.conclusion for one in found for c in one.found]
    told = {by_id[c.memory_id]: (c.verdict, c.nominated) for c in concluded}
    expected = {
        "old": (Verdict.HELD, None),
        "used": (Verdict.HELD, "promote"),
        "kept": (Verdict.UNUSED, None),
        "denied": (Verdict.CONTESTED, "forget"),
        "denial": (Verdict.UNUSED, None),
        "faint": (Verdict.CONTESTED, "forget"),
        "pinned": (Verdict.CONTESTED, None),
        "orphan": (Verdict.GROUNDLESS, "forget"),
        "half": (Verdict.UNUSED, None),
        "seems": (Verdict.UNUSED, None),
    }
    assert told == expected
    _tell(concluded[:3])
    out = capsys.readouterr().out
    assert all(one.memory_id in out for one in concluded[:3])


def test_without_a_seed_the_time_of_the_stream_is_one_and_nothing_is_changed(store: str) -> None:
    with psycopg.connect(store) as connection:
        before = connection.execute(
            "SELECT md5(string_agg(s::text, '|' ORDER BY memory_id)) FROM strength s"
        ).fetchone()
        first = looked(store, None)
        assert first.seed == 30 * DAY and first.found == looked(store, None, 30 * DAY).found
        after = connection.execute("SELECT md5(string_agg(s::text, '|' ORDER BY memory_id)) FROM strength s").fetchone()
        assert before == after
    elsewhere = looked(store, "elsewhere")
    assert [c.seen.memory_id for c in elsewhere.found] == [memory_id("elsewhere", "elsewhere")]
    assert looked(store, "nowhere").found == ()
