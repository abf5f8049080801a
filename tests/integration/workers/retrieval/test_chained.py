"""A check of a shard's journal by the service: what was altered, removed, cut or signed otherwise is found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from db.standing import Clear
from db.store import PostgresStore
from memquorum import topics
from memquorum.core import access
from memquorum.core.access import Keys
from memquorum.core.avro import Codec
from memquorum.core.journal.rows import RowKeys
from tests.builders.published import GENESIS, signed_head
from tests.builders.shard import NAMESPACE, Shard
from tests.support.kept import Encoder
from workers.kafka import loop
from workers.retrieval.app import app
from workers.retrieval.door import Door

STORED = 5


class Asked:
    """A service over the journal of some episodes, and a broker for its signed heads."""

    def __init__(self, client: TestClient, shard: Shard, dsn: str, kafka: str, keys: dict[str, dict[str, str]]) -> None:
        self._client, self._shard, self._dsn, self._producer = client, shard, dsn, loop.producer(kafka)
        self._keys = keys

    def checked(self, name: str = "all", **asked: Any) -> dict[str, Any]:
        answer = self._client.post("/journal/verify", json=asked, headers=self._keys[name])
        return {"status": answer.status_code, **answer.json()}

    def pages(self, limit: int) -> list[dict[str, Any]]:
        found = [self.checked(limit=limit)]
        while "next" in found[-1]:
            found.append(self.checked(limit=limit, cursor=found[-1]["next"]))
        return found

    def sign(self, seq: int, digest: bytes) -> None:
        self.send(signed_head(self._shard.rules, seq, digest, 1))

    def send(self, data: bytes) -> None:
        self._producer.produce(topics.HEADS, data, partition=0)
        assert self._producer.flush(30) == 0

    def hash(self, seq: int) -> bytes:
        with psycopg.connect(self._dsn) as store:
            (found,) = store.execute("SELECT hash FROM journal WHERE shard = 0 AND seq = %s", [seq]).fetchone() or (
                b"",
            )
        return bytes(found)

    def tamper(self, statement: str) -> None:
        """Changes the journal as who owns the database could."""
        with psycopg.connect(self._dsn, autocommit=True) as store:
            store.execute("ALTER TABLE journal DISABLE TRIGGER USER")
            store.execute(statement)


@pytest.fixture
def asked(databases: tuple[str, str], kafka: str, codec: Codec, tmp_path: Path) -> Iterator[Asked]:
    shard, encoder = Shard(codec, GENESIS), Encoder()
    for at in range(STORED):
        shard.episode(f"e{at}", at=900 + at)
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
            [("all", "*", "audit"), ("one", NAMESPACE, "audit"), ("read", "*", "read")], 1
        )
    }
    (tmp_path / "keys.json").write_bytes(access.dump(Keys(key for _, key in made.values())))
    built = app(
        memory_dsn=databases[0], bootstrap=kafka, genesis=GENESIS, codec=codec, encoder=encoder,
        door=Door(tmp_path / "keys.json"),
    )  # fmt: skip
    with TestClient(built, base_url="http://127.0.0.1") as client:
        keys = {name: {"Authorization": f"Bearer {told}"} for name, (told, _) in made.items()}
        yield Asked(client, shard, databases[0], kafka, keys)


def test_a_whole_journal_is_checked_page_by_page_up_to_its_signed_end(asked: Asked) -> None:
    asked.send(b"a stranger's")
    asked.sign(4, asked.hash(4))
    found = asked.pages(limit=2)
    assert [(one["first"], one["last"], one["ends"]) for one in found] == [(1, 2, 5), (3, 4, 5), (5, 5, 5)]
    assert [one["head"]["agrees"] for one in found] == [None, True, None]
    assert (found[1]["head"]["signed_by"], found[1]["head"]["seq"]) == ("service:journal", 4)
    assert found[-1]["hash"] == asked.hash(5).hex() and not any("problem" in one for one in found)
    (all_of_it,) = asked.pages(limit=100)
    assert (all_of_it["last"], all_of_it["head"]["agrees"], all_of_it["shards"]) == (5, True, GENESIS.shards)
    assert asked.checked(shard=1)["last"] == 0


@pytest.mark.parametrize(
    ("statement", "last", "why"),
    [
        ("UPDATE journal SET entry = entry || '\\x00' WHERE seq = 3", 2, "do not have the hash"),
        ("UPDATE journal SET previous_hash = hash WHERE seq = 2", 1, "follows"),
        ("DELETE FROM journal WHERE seq = 3", 2, "follows"),
    ],
)
def test_an_entry_that_does_not_follow_is_named(asked: Asked, statement: str, last: int, why: str) -> None:
    asked.tamper(statement)
    for limit in (2, 100):
        found = asked.pages(limit)[-1]
        assert found["last"] == last and why in found["problem"], found


def test_an_end_that_was_cut_or_signed_otherwise_does_not_agree(asked: Asked) -> None:
    asked.sign(5, asked.hash(5))
    asked.tamper("DELETE FROM journal WHERE seq = 5")
    cut = asked.pages(limit=100)[-1]
    assert "problem" not in cut and cut["head"]["agrees"] is False
    asked.sign(6, bytes(32))
    assert asked.pages(limit=100)[-1]["head"]["agrees"] is False


def test_a_page_follows_the_hash_that_the_one_before_ended_in(asked: Asked) -> None:
    first = asked.checked(limit=2)
    asked.tamper("UPDATE journal SET previous_hash = '\\x00' WHERE seq = 3")
    assert "follows" in asked.checked(limit=2, cursor=first["next"])["problem"]


def test_who_does_not_audit_everything_and_who_sends_nonsense_is_refused(asked: Asked) -> None:
    for name in ("one", "read"):
        assert asked.checked(name)["status"] == 403
    for wrong in ({"shard": 99}, {"shard": -1}, {"limit": 0}, {"limit": 10_001}, {"cursor": "1/2/3"}):
        assert asked.checked(**wrong)["status"] == 400, wrong
    other = asked.checked(limit=2)["next"]
    assert asked.checked(shard=1, cursor=other)["status"] == 400, "a cursor of another shard"
