"""The epoch that members vote on now, read from a real broker: ballots and phases as they come."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from db.standing import Clear
from db.store import PostgresStore
from memquorum import topics
from memquorum.core import access
from memquorum.core.access import Keys
from memquorum.core.avro import Codec
from memquorum.core.journal.rows import RowKeys
from memquorum.core.records import BallotCast, NominationProposed
from tests.builders import votes
from tests.builders.core import terms
from tests.builders.published import GENESIS
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.support.kept import Encoder
from tests.support.waiting import until
from workers.kafka import loop
from workers.retrieval import balloting
from workers.retrieval.app import app
from workers.retrieval.door import Door

OPEN, SECRET = memory_id("open"), memory_id("secret")


@pytest.fixture
def asking(
    databases: tuple[str, str], kafka: str, codec: Codec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[TestClient, dict[str, dict[str, str]]]]:
    """The service over two memories, one of them for billing alone, and headers of keys by their rights."""
    monkeypatch.setattr(balloting, "_GOOD_S", 0.0)
    shard, encoder = Shard(codec, GENESIS), Encoder()
    shard.tick(1_000)
    shard.episode("open", at=900)
    shard.episode("secret", at=900, purposes=("billing",))
    store = PostgresStore(databases[0])
    store.start(GENESIS.cluster, GENESIS.shards)
    net = shard.work.net()
    clear = {one: Clear(one, encoder.encode([one])) for one in net.revealed}
    with store.transaction({net.before: RowKeys()}) as transaction:
        transaction.write([net], clear, {})
    store.close()
    made = {
        name: access.make(bytes([at] * 6), bytes([at] * 32), name=name, namespaces=[space], rights=[right], now_ms=1)
        for at, (name, space, right) in enumerate(
            [("read", NAMESPACE, "read"), ("audit", NAMESPACE, "audit"), ("admin", NAMESPACE, "admin"),
             ("other", "mill", "read"), ("all", "*", "audit")], 1,
        )
    }  # fmt: skip
    (tmp_path / "keys.json").write_bytes(access.dump(Keys(key for _, key in made.values())))
    built = app(
        memory_dsn=databases[0], bootstrap=kafka, genesis=GENESIS, codec=codec, encoder=encoder,
        door=Door(tmp_path / "keys.json"),
    )  # fmt: skip
    with TestClient(built, base_url="http://127.0.0.1") as client:
        yield client, {name: {"Authorization": f"Bearer {told}"} for name, (told, _) in made.items()}


def test_an_open_epoch_is_told_as_ballots_come(
    asking: tuple[TestClient, dict[str, dict[str, str]]], kafka: str, codec: Codec
) -> None:
    client, keys = asking

    def told(name: str = "read", **gates: str) -> dict[str, Any]:
        answer = client.get(f"/epochs/{NAMESPACE}/open", headers=keys[name], params=gates)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    assert told()["epoch"] is None
    proposals = (votes.proposal(OPEN, "forget"), votes.proposal(SECRET, "forget"))
    record = NominationProposed(GENESIS.cluster, 0, 0, 1, 1_000_000_000, 7, "interval", proposals)
    nomination = votes.signed(codec, GENESIS, "service:nomination", record)
    named = votes.messages.digest(codec.encode(record))
    producer = loop.producer(kafka)

    def send(topic: str, data: bytes) -> None:
        producer.produce(topic, data, partition=0)
        assert producer.flush(30) == 0

    send(topics.NOMINATIONS, b"a stranger's")
    send(topics.NOMINATIONS, nomination)
    until(lambda: told()["epoch"] == 1)
    assert [one["at"] for one in told()["ballots"]] == [None] * GENESIS.n
    for member in range(2):
        cast = BallotCast(GENESIS.cluster, 0, 0, 1, member, named, terms())
        send(topics.BALLOTS, votes.signed(codec, GENESIS, f"member:{member}", cast))
        until(lambda: sum(one["at"] is not None for one in told()["ballots"]) == member + 1)  # noqa: B023 - within it
    found = told()
    assert [one["memory_ids"] for one in found["proposals"]] == [[OPEN]], "of what the reader may see"
    assert (found["proposals"][0]["yes"], found["ballots"][0]["yes"]) == (2, [0])
    assert len(told(purpose="billing")["proposals"]) == 2
    assert told("audit")["epoch"] == 1
    of_shard = client.get("/shards/0/open", headers=keys["all"]).json()
    assert (of_shard["namespace"], of_shard["epoch"]) == (None, 1)
    assert [(one["namespace"], one["memory_ids"]) for one in of_shard["proposals"]] == [(NAMESPACE, [OPEN])]
    assert client.get("/shards/1/open", headers=keys["all"]).json()["epoch"] is None
    assert client.get("/shards/0/open", headers=keys["audit"]).status_code == 403
    for shard in ("99", "-1", "x", "\u0661"):
        assert client.get(f"/shards/{shard}/open", headers=keys["all"]).json()["field"] == "shard"
    for name, field in (("admin", "right"), ("other", "namespace")):
        refused = client.get(f"/epochs/{NAMESPACE}/open", headers=keys[name])
        assert (refused.status_code, refused.json()["field"]) == (403, field)
    assert client.get("/epochs/mill/open", headers=keys["other"]).json()["epoch"] is None
