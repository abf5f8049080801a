"""What an account is made of, loaded from Postgres, is what the journal holds."""

from __future__ import annotations

import psycopg
import pytest

from db.explain_rows import load
from db.store import PostgresStore
from memquorum.core.avro import Codec
from memquorum.core.journal.rows import Keys
from tests.contract.stores import clear
from tests.unit.published import GENESIS, A, B, C, D, lively
from tests.unit.shard import Shard, memory_id
from tests.unit.test_explain import facts


@pytest.fixture
def shard(databases: tuple[str, str], codec: Codec) -> Shard:
    store = PostgresStore(databases[0])
    store.start(GENESIS.cluster, GENESIS.shards)
    shard = lively(Shard(codec, GENESIS))
    net = shard.work.net()
    with store.transaction({net.before: Keys()}) as transaction:
        transaction.write([net], {i: clear(i) for i in net.revealed}, {})
    store.close()
    return shard


def test_the_facts_of_every_memory(shard: Shard, databases: tuple[str, str], codec: Codec) -> None:
    with psycopg.connect(databases[0]) as connection:
        for wanted in (A, B, C, D, memory_id("faint")):
            assert load(connection, codec, wanted) == facts(shard, wanted)
        assert load(connection, codec, memory_id("stranger")) is None
