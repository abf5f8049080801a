"""`forget --dry-run` on a store with memories: it tells what is due, and changes nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import psycopg
import pytest
from psycopg.types.json import Json

from db.preview_rows import moment
from db.queries import QUERIES
from db.standing import Clear
from db.store import PostgresStore
from infra.policy_preview import look
from memquorum.core.avro import Codec
from memquorum.core.decay import span_ms
from memquorum.core.journal.rows import RowKeys
from tests.builders import genesis, protections, votes
from tests.builders.shard import NAMESPACE, Shard, memory_id

GENESIS = genesis.make()
SPAN = span_ms(GENESIS.policy)


@pytest.fixture
def store(databases: tuple[str, str], codec: Codec) -> str:
    """Twelve memories that nobody used; one rests, one is pinned, and what was forgotten is gone."""
    shard = Shard(codec, GENESIS)
    for number in range(13):
        shard.episode(f"m{number}", 1_000)
    shard.tick(2_000)
    shard.protect(protections.accepted(codec, "pin", memory_id("m0"), cluster=GENESIS.cluster))
    shard.tick(1_000 + 50 * SPAN)
    proposed = [votes.proposal(memory_id(name), "forget") for name in ("m1", "m12")]
    shard.decide(proposed, lambda _, proposal: proposal.memory_ids != (memory_id("m1"),))
    net = shard.work.net()
    made = PostgresStore(databases[0])
    made.start(GENESIS.cluster, GENESIS.shards)
    vector = np.array([1, 0, 0], np.float32)
    with made.transaction({net.before: RowKeys()}) as transaction:
        transaction.write([net], {i: Clear(f"text of {i}", vector) for i in net.revealed}, {})
    made.close()
    return databases[0]


def test_it_tells_what_is_due_and_changes_nothing(store: str, tmp_path: Path) -> None:
    with moment(store) as read:
        (found,) = look(read, GENESIS, dict.fromkeys(range(GENESIS.shards), GENESIS.policy), None, 0)
        assert look(read, GENESIS, dict.fromkeys(range(GENESIS.shards), GENESIS.policy), "elsewhere", 0) == []
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            pin = {"memory_id": memory_id("m0"), "kind": "pin"}
            read._connection.execute(QUERIES["protection_delete"], {"rows": Json([pin])})
    assert (found.namespace, found.living, found.due) == (NAMESPACE, 12, 12)
    assert (found.protected, found.resting, found.judged) == (1, 1, 10)
    # One of 13 went today: three may in a day.
    assert (found.room, found.day_left, found.nominated) == (2, 2, 2)
    # Its one agent's memories are all alike, so that none is nearer than the rest.
    assert (found.let_go, found.forgotten) == (10, 2)
    assert {example.vote.yes for example in found.examples} == {4}
