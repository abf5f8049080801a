r"""Two tenants of one shard, decided upon in one epoch: no query of one finds anything of the other.

Tested are row security, as the tenants' role, and the service that uses it. Each probe is compared with its result
without the protection, so that none is green because it cannot be red.
"""

from __future__ import annotations

import asyncio
import re
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import conninfo, errors, sql
from starlette.testclient import TestClient

from db.pool import Pool
from db.queries import QUERIES
from db.reads import Reads
from db.standing import Clear
from db.store import PostgresStore
from memquorum.core import access, ids
from memquorum.core.access import Keys, Sight
from memquorum.core.accounts.pages import LISTS
from memquorum.core.api.answers import Explained, Shown
from memquorum.core.avro import Codec
from memquorum.core.experience.texts import Texts
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.journal.rows import Change, RowKeys
from memquorum.core.orders.patch import SIGNER
from memquorum.core.records import ErasedEpisode, Link, Proposal
from memquorum.core.retrieval.bounds import Bounds
from memquorum.core.retrieval.paging import cursor
from memquorum.encoders.hashing import HashingEncoder
from memquorum.ports import StoreUnavailable
from tests.builders import disclosures, erasures, profiles, protections, rollups, trials, votes
from tests.builders import genesis as cluster
from tests.builders.published import POLICY
from tests.builders.shard import NAMESPACE as HERS
from tests.builders.shard import Shard
from tests.support.waiting import PATIENCE_S
from workers.retrieval.app import app
from workers.retrieval.door import Door

GENESIS = cluster.make(policy=POLICY, agent_keys={CONSOLIDATOR: cluster.public_key(SIGNER)}, **trials.entitled())
THEIRS = next(name for name in (f"mill-{i}" for i in range(99)) if ids.shard_of(name, GENESIS.shards) == 0)
TENANTS = (HERS, THEIRS)
NAMES = ("kept", "forgotten", "promoted")
DROPPED = "dropped"
REPLACED = ("blue", "green")
"""The memory that filled a slot, and the one that fills it now."""
SERVED = ("kept", "promoted", REPLACED[1])
UNKNOWN = "00000000-0000-5000-8000-000000000000"
UNUSED = UNKNOWN.replace("5", "6")

# The tenant's rows in every relation that its role may read.
_MINE = "IN (SELECT id FROM memory WHERE namespace = %(namespace)s)"
OWN = {
    **dict.fromkeys(
        (
            "memory",
            "content",
            "embedding",
            "sentence",
            "replaced",
            "experience",
            "task",
            "feedback",
            "event",
            "dropped",
            "used",
            "journal",
        ),
        "namespace = %(namespace)s",
    ),
    **dict.fromkeys(("audit_votes", "audit_forgotten", "audit_kept", "audit_weights"), "namespace = %(namespace)s"),
    **dict.fromkeys(
        (
            "audit_journal",
            "audit_promotions",
            "audit_supersessions",
            "audit_marks",
            "audit_restores",
            "audit_erasures",
            "audit_erased",
            "audit_destructions",
            "audit_consolidations",
            "audit_orders",
            "audit_uses",
            "audit_members",
            "audit_agreement",
            "audit_footprint",
        ),
        "namespace = %(namespace)s",
    ),
    **dict.fromkeys(("provenance", "conflict", "contradiction"), "namespace = %(namespace)s"),
    **dict.fromkeys(("link", "erased", "erasure", "profile_now"), "namespace = %(namespace)s"),
    **dict.fromkeys(
        ("protection", "living", "let_go", "reward", "quote", "patch", "disclosure", "trial", "admission", "weight"),
        "namespace = %(namespace)s",
    ),
    **dict.fromkeys(("strength", "outcome"), f"memory_id {_MINE}"),
    "forgotten": f"id {_MINE}",
    "ballot": f"(shard, epoch, position) IN (SELECT shard, epoch, position FROM outcome WHERE memory_id {_MINE})",
    "decision": f"(shard, epoch) IN (SELECT shard, epoch FROM outcome WHERE memory_id {_MINE})",
}
TABLES = tuple(name for name in OWN if not name.startswith("audit") and name not in ("contradiction", "forgotten"))


class Encoder(HashingEncoder):
    @property
    def name(self) -> str:
        return "hashing"


def event(name: str, namespace: str) -> str:
    return f"{namespace}.{name}"


def memory(name: str, namespace: str) -> str:
    return ids.memory_id(namespace, event(name, namespace))


def text(name: str, namespace: str) -> str:
    return f"{namespace}: the water tank was {name}"


def erase(shard: Shard, codec: Codec, namespace: str, own: str) -> None:
    """An order of the operator, carried out."""
    said = erasures.ordered(GENESIS, "memory", own, namespace=namespace, order_id=ids.memory_id("orders", namespace))
    record = erasures.accepted(said, erasures.signed(codec, GENESIS, said), 950)
    shard.erase(record, [ErasedEpisode(own, "dropped")])


def tried(shard: Shard, codec: Codec, namespace: str) -> Proposal:
    """Two verifiers agree that a memory helps; what is proposed then."""
    kept = memory("kept", namespace)
    told = trials.statistics(GENESIS, kept, 1)
    made = [trials.signed(codec, GENESIS, told, one, namespace=namespace) for one in trials.drawn(shard, kept, 1)[:2]]
    for data in made:
        change = trials.tell(shard, data, sum(each.entry.effect == "tried" for each in shard.changes))
        assert isinstance(change, Change), change
    return trials.proposal(kept, made, namespace)


@pytest.fixture
def store(databases: tuple[str, str], codec: Codec) -> str:
    """The dsn of a store in which both tenants have one of everything."""
    shard, encoder, texts = Shard(codec, GENESIS), Encoder(), {}
    shard.tick(1_000)
    for namespace in TENANTS:
        for name in NAMES:
            said = () if name == NAMES[0] else (memory(NAMES[0], namespace),)
            links = tuple(Link("requires", one) for one in said)
            shard.episode(event(name, namespace), at=900, namespace=namespace, contradicts=said, links=links)
            texts[memory(name, namespace)] = text(name, namespace)
        for name in REPLACED:
            shard.episode(event(name, namespace), at=900, namespace=namespace, explicit=True, slot="tank")
            texts[memory(name, namespace)] = text(name, namespace)
        shard.episode(event(DROPPED, namespace), at=900, outcome="below_threshold", namespace=namespace)
        shard.access(memory("kept", namespace), 950, f"{namespace}.read", namespace)
        shard.summary(event("summary", namespace), [memory("kept", namespace)], namespace=namespace, at=900)
        shard.task(event("task", namespace), [memory("kept", namespace)], namespace=namespace, at=900)
        shard.feedback(memory("task", namespace), [memory("kept", namespace)], namespace=namespace)
        texts[memory("task", namespace)] = Texts(text("task", namespace)).content
    # She names memories of theirs in accesses of her own: the journal notes what she said, in her namespace.
    for name in NAMES:
        shard.access(memory(name, THEIRS), 950, event(f"spies-{name}", HERS), HERS)
    shard.access(UNUSED, 950, event("spies-nothing", HERS), HERS)
    shard.tick(60_000)
    kinds = (("forgotten", "forget"), ("promoted", "promote"))
    shard.decide([votes.proposal(memory(name, n), kind, namespace=n) for n in TENANTS for name, kind in kinds])
    # An epoch of theirs alone.
    shard.decide([votes.proposal(memory("kept", THEIRS), "forget", namespace=THEIRS)], votes.nobody)
    shard.decide([votes.proposal(memory("kept", n), "promote", namespace=n) for n in TENANTS], votes.nobody)
    shard.decide([tried(shard, codec, n) for n in TENANTS])
    for namespace in TENANTS:
        own = event("erased", namespace)
        derived = {"derives_from": (memory("kept", namespace),)}
        shard.episode(own, at=900, outcome="below_threshold", namespace=namespace, **derived)
        erase(shard, codec, namespace, ids.memory_id(namespace, own))
        said = {"cluster": GENESIS.cluster, "namespace": namespace, "order_id": ids.memory_id("pins", namespace)}
        shard.protect(protections.accepted(codec, "pin", memory("kept", namespace), **said))
        needs = said | {"order_id": ids.memory_id("goals", namespace), "reference": f"goal of {namespace}"}
        shard.protect(protections.accepted(codec, "need", memory("promoted", namespace), **needs))
        patches = rollups.wanted(GENESIS, rollups.patch(memory("kept", namespace)), namespace=namespace)
        shard.protect(rollups.accepted(codec, GENESIS, patches))
        shard.protect(disclosures.accepted(codec, GENESIS, memory("kept", namespace), namespace=namespace))
        shard.protect(profiles.accepted(codec, GENESIS, namespace=namespace))
        said = {"namespace": namespace, "order_id": ids.memory_id("requests", namespace)}
        shard.ask(votes.restore(GENESIS, memory("forgotten", namespace), **said), 60_000)
    made = PostgresStore(databases[0])
    made.start(GENESIS.cluster, GENESIS.shards)
    net = shard.work.net()
    # Each as a summary has its vectors: its own, and below it one of each sentence.
    clear = {i: Clear(texts[i], encoder.encode([texts[i], texts[i]])) for i in net.revealed}
    with made.transaction({net.before: RowKeys()}) as transaction:
        transaction.write([net], clear, {})
    made.close()
    return databases[0]


@contextmanager
def tenant(dsn: str, namespaces: str | None) -> Iterator[psycopg.Connection]:
    """SQL as the tenants' role, with a sight or none."""
    with psycopg.connect(dsn, autocommit=True, options="-c role=memquorum_tenant") as connection:
        if namespaces is not None:
            connection.execute("SELECT set_config('memquorum.namespaces', %s, false)", [namespaces])
        yield connection


def columns(connection: psycopg.Connection) -> dict[str, list[str]]:
    """Returns the columns that the role may read: relation → columns."""
    found: dict[str, list[str]] = {}
    for relation, column in connection.execute(
        """SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
           WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'v', 'm', 'p', 'f', 'S')
           AND NOT a.attisdropped AND has_column_privilege('memquorum_tenant', c.oid, a.attnum, 'SELECT')
           ORDER BY c.relname, a.attnum"""
    ):
        found.setdefault(relation, []).append(column)
    return found


def rows(connection: psycopg.Connection, relation: str, where: str = "true", **given: str) -> set[str]:
    readable = sql.SQL(", ").join(map(sql.Identifier, columns(connection)[relation]))
    question = sql.SQL("SELECT ROW({})::text FROM {} WHERE {}").format(
        readable, sql.Identifier(relation), sql.SQL(where)
    )  # type: ignore[arg-type]
    return {row[0] for row in connection.execute(question, given)}


def strange(dsn: str, namespace: str) -> dict[str, set[str]]:
    """Rows that the tenant sees and that are not its own, by relation; and its own must be there."""
    found = {}
    with psycopg.connect(dsn) as all_seeing, tenant(dsn, namespace) as connection:
        for relation, mine in OWN.items():
            own, seen = rows(all_seeing, relation, mine, namespace=namespace), rows(connection, relation)
            assert own and own <= seen, f"{namespace} lacks rows of {relation}"
            if seen - own:
                found[relation] = seen - own
    return found


def test_sql_as_the_tenants_role_finds_a_tenants_own_rows_and_no_others(store: str) -> None:
    with tenant(store, None) as connection:
        readable = columns(connection)
        # The time, and when members voted last; not how much goes on.
        assert readable.pop("shard") == ["shard", "as_of", "last_epoch", "last_epoch_at"]
        # How records are written is no secret.
        assert readable.pop("record_schema") == ["mark", "name", "shape"]
        assert set(readable) == set(OWN)  # a relation that is new here needs its line in OWN
        assert {name: rows(connection, name) for name in OWN} == {name: set() for name in OWN}
    assert [strange(store, namespace) for namespace in TENANTS] == [{}, {}]
    with psycopg.connect(store) as all_seeing:
        seen = {n: rows(all_seeing, n, OWN[n], namespace=HERS) for n in OWN}
    for sight, expected in (
        ("green*", seen), (f"nowhere,{HERS}", seen), ("", {}), ("greenhous", {}), ("greenhouse_", {}),
        ("gre_nhouse", {}), ("%", {}), ("greenhouses*", {}), ("*house", {}), ("Greenhouse", {}),
    ):  # fmt: skip
        with tenant(store, sight) as connection:
            assert {n: rows(connection, n) for n in OWN} == {n: expected.get(n, set()) for n in OWN}, sight
    with tenant(store, "*") as connection:
        for name in set(OWN) - {"journal", "decision", "audit_journal"}:
            assert len(rows(connection, name)) > len(seen[name])
        assert connection.execute("SELECT count(*) FROM journal WHERE namespace IS NULL").fetchone() == (0,)


@pytest.mark.parametrize("table", TABLES)
def test_without_row_security_the_probe_finds_something(store: str, table: str) -> None:
    with psycopg.connect(store, autocommit=True) as connection:
        connection.execute(sql.SQL("ALTER TABLE {} DISABLE ROW LEVEL SECURITY").format(sql.Identifier(table)))
    assert table in strange(store, HERS)


def test_tricks_of_sql_find_nothing_either(store: str) -> None:
    with psycopg.connect(store, autocommit=True) as connection:
        connection.execute("ANALYZE")
    with tenant(store, HERS) as connection:
        heard: list[str] = []
        connection.add_notice_handler(lambda notice: heard.append(str(notice.message_primary)))
        # A function that costs nothing is asked before the policy would be, if it were allowed to.
        connection.execute(
            """CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS
               $$ BEGIN RAISE NOTICE '%', $1; RETURN true; END $$"""
        )
        connection.execute("SELECT count(*) FROM memory WHERE pg_temp.leak(namespace)")
        connection.execute("SELECT count(*) FROM content WHERE pg_temp.leak(body)")
        assert heard and not [line for line in heard if THEIRS in line]
        # So would an error be that a row of theirs raises.
        connection.execute(
            "SELECT count(*) FROM memory WHERE 1 / (CASE WHEN namespace = %s THEN 0 ELSE 1 END) = 1", [THEIRS]
        )
        for view in ("pg_stats", "pg_stats_ext", "pg_stat_activity", "pg_prepared_statements"):
            told = str(connection.execute(sql.SQL("SELECT v::text FROM {} v").format(sql.Identifier(view))).fetchall())
            assert THEIRS not in told and text("kept", THEIRS) not in told, view
        with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
            connection.execute("SET row_security = off; TABLE memory")
        for change in (
            "INSERT INTO content VALUES (gen_random_uuid(), 'x', 'greenhouse')",
            "UPDATE memory SET namespace = 'greenhouse'",
            "DELETE FROM strength",
            "TRUNCATE embedding",
            "CREATE TABLE mine ()",
            "CREATE POLICY mine ON memory USING (true)",
            "ALTER TABLE memory DISABLE ROW LEVEL SECURITY",
        ):
            with pytest.raises(errors.InsufficientPrivilege):
                connection.execute(change)


def test_every_table_is_closed_or_secured_and_the_role_owns_nothing(databases: tuple[str, str]) -> None:
    with psycopg.connect(databases[0]) as connection:
        secured = connection.execute(
            """SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity, array_agg(p.roles::text ORDER BY 1)
               FROM pg_class c LEFT JOIN pg_policies p ON p.tablename = c.relname
               WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' GROUP BY 1, 2"""
        ).fetchall()
        readable = columns(connection)
        assert {name for name, *_ in secured if name in readable} == {*TABLES, "shard", "record_schema"}
        for name, forced, roles in secured:
            if name in TABLES:
                # The counter learns by its rights on columns how many memories a namespace has, and what is kept out.
                counted = {"memquorum_counter"} if name in {"living", "profile_now"} else set()
                # The rehearser learns what of a memory holds, by its rights on columns, and nothing that has content.
                without = {"content", "embedding", "replaced", "journal"}
                rehearsed = set() if name in without else {"memquorum_rehearser"}
                # The verifier reads texts, and of what surrounds them the columns that trials need.
                others = {"memquorum_tenant", "memquorum_verifier", "memquorum_writer"} | counted | rehearsed
                readers = {each.strip("{}") for each in roles} - others
                # Without content the service's cache and accounts see all rows, and nothing of what has content.
                assert forced and readers <= {"memquorum_reader", "memquorum_accounts,memquorum_reader"}, name
                assert name not in {"content", "replaced"} or readers == {"memquorum_reader"}
        owned = "SELECT count(*) FROM pg_shdepend WHERE refobjid = 'memquorum_tenant'::regrole AND deptype = 'o'"
        assert connection.execute(owned).fetchone() == (0,)
        attributes = "rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication"
        assert connection.execute(
            f"SELECT {attributes} FROM pg_roles WHERE rolname = 'memquorum_tenant'"
        ).fetchone() == (*(False,) * 6,)
        # Views ask with the rights of who reads them, or they would see for the owner.
        assert connection.execute(
            """SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'v'
               AND NOT coalesce(reloptions @> '{security_invoker=true}', false)"""
        ).fetchone() == (0,)


@pytest.mark.parametrize("role", ["memquorum_writer", "memquorum_reader"])
def test_the_stages_see_everything_and_the_owner_nothing(store: str, role: str) -> None:
    def count(options: str, table: str) -> Any:
        with psycopg.connect(store, options=options) as connection:
            return connection.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))).fetchone()

    for table in TABLES:
        whole = count("", table)
        assert count(f"-c role={role}", table) == whole != (0,), table
        kept = ("content", "embedding", "sentence", "replaced", "experience", "profile_now")
        owner = "memquorum_keeper" if table in kept else "memquorum_owner"
        assert count(f"-c role={owner}", table) == (0,), table


async def test_the_service_needs_a_login_of_two_roles_and_no_more(store: str, codec: Codec) -> None:
    with psycopg.connect(store, autocommit=True) as connection:
        connection.execute(
            "CREATE ROLE serves LOGIN PASSWORD 'x' NOINHERIT; GRANT memquorum_tenant, memquorum_accounts TO serves"
        )
        reads = Reads(conninfo.make_conninfo(store, user="serves", password="x"))
        try:
            await reads.open()
            for namespace, shown in ((HERS, True), (THEIRS, False)):
                sight, wanted = Sight((namespace,)), memory("promoted", HERS)
                assert (await reads.memory(sight, wanted) is not None) == shown
                facts = await reads.facts(sight, codec, wanted)
                assert (facts is not None) == shown
                assert facts is None or (len(facts.decisions), facts.as_of) == (1, 60_000)
        finally:
            await reads.close()
            connection.execute("DROP ROLE serves")


def key(number: int) -> dict[str, str]:
    given = bytes([number] * 6), bytes([number] * 32)
    told, _ = access.make(*given, name="k", namespaces=["x"], rights=["read"], now_ms=1)
    return {"Authorization": f"Bearer {told}"}


HER_KEY, THEIR_KEY, PUBLISHING, AUDIT_HERS, AUDIT_THEIRS = map(key, range(1, 6))


@pytest.fixture
def client(store: str, kafka: str, codec: Codec, tmp_path: Path) -> Iterator[TestClient]:
    file = tmp_path / "api-keys.json"
    bound = (
        (1, HERS, "read"), (2, THEIRS, "read"), (3, "*", "publish"), (4, HERS, "audit"), (5, THEIRS, "audit"),
    )  # fmt: skip
    made = [
        access.make(bytes([n] * 6), bytes([n] * 32), name="k", namespaces=[space], rights=[right], now_ms=1)[1]
        for n, space, right in bound
    ]
    file.write_bytes(access.dump(Keys(made)))
    built = app(
        memory_dsn=store, bootstrap=kafka, genesis=GENESIS, codec=codec, encoder=Encoder(), door=Door(file)
    )  # fmt: skip
    with TestClient(built, base_url="http://127.0.0.1") as found:
        yield found


def search(client: TestClient, namespace: str, headers: dict[str, str]) -> Any:
    asked = {"namespace": namespace, "query": text("kept", THEIRS), "peek": True, "k": 100}
    return client.post("/search", json=asked, headers=headers)


def context(client: TestClient, namespace: str, headers: dict[str, str]) -> Any:
    """Both tenants have an agent of that name, who says the same in a session of the same name."""
    asked = {"namespace": namespace, "agent": "planner", "session": "s1", "query": text("kept", THEIRS), "peek": True}
    return client.post("/context", json=asked, headers=headers)


def test_over_http_a_tenant_finds_its_own_and_nothing_of_the_other(client: TestClient) -> None:
    for namespace, other, headers in ((HERS, THEIRS, HER_KEY), (THEIRS, HERS, THEIR_KEY)):
        found = search(client, namespace, headers).json()["hits"]
        assert {hit["memory_id"] for hit in found} == {memory(n, namespace) for n in SERVED}
        prompt = context(client, namespace, headers).json()
        assert {one["memory_id"]: one["why"] for one in prompt["items"]} == {
            memory(n, namespace): "buffer" for n in SERVED
        }
        assert other not in prompt["text"] and text("kept", namespace) in prompt["text"]
        assert context(client, other, headers).json() == search(client, other, headers).json()
        refused = search(client, other, headers)
        assert (refused.status_code, refused.json()["field"]) == (403, "namespace")
        assert refused.text == search(client, "nobodys", headers).text.replace("nobodys", other)
        assert (
            client.get(f"/events/{namespace}/{event('kept', namespace)}", headers=headers).json()["outcome"] == "stored"
        )
        for name in (*NAMES, DROPPED):
            assert client.get(f"/events/{other}/{event(name, other)}?wait_ms=1", headers=headers).status_code == 403
            for way in ("", "/explain"):
                own = client.get(f"/memories/{memory(name, namespace)}{way}", headers=headers)
                # A dropped episode never was a memory: it has an account and is not shown.
                assert own.status_code == (404 if name == DROPPED and not way else 200), own.text
                assert other not in own.text and not [n for n in (*NAMES, DROPPED) if memory(n, other) in own.text]
                if own.status_code == 200:
                    shape = Explained if way else Shown
                    assert set(own.json()) == set(shape.__struct_fields__)
                theirs = client.get(f"/memories/{memory(name, other)}{way}", headers=headers)
                unknown = client.get(f"/memories/{UNKNOWN}{way}", headers=headers)
                assert (theirs.status_code, theirs.headers) == (404, unknown.headers)
                assert theirs.text == unknown.text.replace(UNKNOWN, memory(name, other))


def test_of_what_was_replaced_a_tenant_finds_its_own(client: TestClient) -> None:
    for namespace, other, headers in ((HERS, THEIRS, HER_KEY), (THEIRS, HERS, THEIR_KEY)):
        asked = {"namespace": namespace, "query": "Which colour did the tank have before?", "peek": True}
        for path, where in (("/search", "hits"), ("/retrieve", "items")):
            found = client.post(path, json=asked, headers=headers)
            assert memory(REPLACED[0], namespace) in {one["memory_id"] for one in found.json()[where]}
            assert not [name for name in (*NAMES, *REPLACED) if memory(name, other) in found.text]
            assert client.post(path, json=asked | {"namespace": other}, headers=headers).status_code == 403


def decided(client: TestClient, namespace: str, headers: dict[str, str], **more: Any) -> Any:
    return client.post("/decisions/list", json={"namespace": namespace, **more}, headers=headers)


def test_of_an_epoch_of_both_a_tenant_is_told_what_was_decided_about_its_own(client: TestClient) -> None:
    for namespace, other, headers in ((HERS, THEIRS, HER_KEY), (THEIRS, HERS, THEIR_KEY)):
        told = decided(client, namespace, headers)
        assert told.status_code == 200, told.text
        named = [[one["memory_id"] for one in each["memories"]] for each in told.json()["decisions"]]
        theirs = [[memory("kept", THEIRS)]] if namespace == THEIRS else []  # an epoch of theirs alone
        own = [[memory(name, namespace)] for name in ("kept", "promoted", "forgotten")]
        assert named == [own[0], own[0], *theirs, *own[1:]]
        assert other not in told.text and not [n for n in NAMES if memory(n, other) in told.text]
        assert decided(client, other, headers).status_code == 403
        assert decided(client, namespace, headers, memory_id=memory("kept", other)).json()["decisions"] == []
        # A cursor of the other is refused, and no place in this one's list.
        page = decided(client, other, THEIR_KEY if other == THEIRS else HER_KEY, limit=1).json()
        refused = decided(client, namespace, headers, cursor=page["next"])
        assert (refused.status_code, refused.json()["field"]) == (400, "cursor")


def test_what_stands_is_ordered_and_was_voted_on_is_told_each_tenant_of_its_own(client: TestClient) -> None:
    def listed(what: str, namespace: str, headers: dict[str, str], **more: Any) -> Any:
        return client.post(f"/{what}/list", json={"namespace": namespace, **more}, headers=headers)

    for namespace, other, headers in ((HERS, THEIRS, HER_KEY), (THEIRS, HERS, THEIR_KEY)):
        pins = listed("pins", namespace, headers)
        assert [one["memory_id"] for one in pins.json()["pins"]] == [memory("kept", namespace)]
        goals = listed("goals", namespace, headers)
        assert [(one["goal"], one["memory_ids"]) for one in goals.json()["goals"]] == [
            (f"goal of {namespace}", [memory("promoted", namespace)])
        ]
        epochs = listed("epochs", namespace, headers)
        alone = [{"kept": 1}] if namespace == THEIRS else []  # an epoch of theirs alone
        ended = [one["outcomes"] for one in epochs.json()["epochs"]]
        assert ended == [{"admitted": 1}, {"kept": 1}, *alone, {"forgotten": 1, "promoted": 1}]
        for answer in (pins, goals, epochs):
            assert other not in answer.text and not [n for n in NAMES if memory(n, other) in answer.text]
        for what in LISTS:
            # To audit, for which orders are told, is to look at one's own alone, too.
            own, away = (AUDIT_HERS, AUDIT_THEIRS) if namespace == HERS else (AUDIT_THEIRS, AUDIT_HERS)
            assert listed(what, namespace, own).status_code == 200
            assert (listed(what, other, own).status_code, listed(what, other, own).json()["field"]) == (
                403, "namespace",
            )  # fmt: skip
            assert other not in listed(what, namespace, own).text
            place = listed(what, other, away, limit=1).json().get("next") or cursor(what, other, 1)
            refused = listed(what, namespace, own, cursor=place)
            assert (refused.status_code, refused.json()["field"]) == (400, "cursor")
        named = listed("pins", namespace, headers, memory_id=memory("kept", other)).json()["pins"]
        assert named == listed("goals", namespace, headers, memory_id=memory("promoted", other)).json()["goals"] == []
        audited = listed("orders", namespace, own).json()["orders"]
        assert {one["kind"] for one in audited} == {"erase", "protect", "profile", "restore"} and {
            o["namespace"] for o in audited
        } == {namespace}
        assert listed("orders", namespace, headers).json()["field"] == "right"
        for what in ("epochs", "members"):
            assert client.post(f"/{what}/list", json={"shard": 0}, headers=own).status_code == 403
    for what in LISTS:
        assert listed(what, HERS, PUBLISHING).status_code == 403


def test_who_names_an_id_in_an_access_has_no_account_of_it_for_that(client: TestClient) -> None:
    for memory_id in (UNUSED, *(memory(name, THEIRS) for name in NAMES)):
        told = client.get(f"/memories/{memory_id}/explain", headers=HER_KEY)
        assert (told.status_code, told.json()["field"]) == (404, "memory_id"), told.text


def test_a_key_without_the_right_gets_nowhere(client: TestClient) -> None:
    for answer in (
        search(client, HERS, PUBLISHING),
        context(client, HERS, PUBLISHING),
        client.get(f"/memories/{memory('kept', HERS)}", headers=PUBLISHING),
        client.get(f"/memories/{memory('kept', HERS)}/explain", headers=PUBLISHING),
    ):
        assert (answer.status_code, answer.json()["field"]) == (403, "right")
    assert search(client, HERS, {}).status_code == search(client, HERS, key(9)).status_code == 401


def test_an_id_of_the_other_takes_the_way_and_the_time_of_an_unknown_one(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    ask = Pool.ask

    async def noted(self: Pool, name: str, *rest: Any, **given: Any) -> Any:
        asked.append(name)
        return await ask(self, name, *rest, **given)

    monkeypatch.setattr(Pool, "ask", noted)
    wanted = {"theirs": memory("kept", THEIRS), "unknown": UNKNOWN}
    took: dict[str, list[float]] = {name: [] for name in wanted}
    ways: dict[str, list[str]] = {}
    for _ in range(60):
        for name, memory_id in wanted.items():
            asked.clear()
            began = time.perf_counter()
            assert client.get(f"/memories/{memory_id}", headers=HER_KEY).status_code == 404
            took[name].append(time.perf_counter() - began)
            ways[name] = [one for one in asked if one != "ping"]
    assert ways["theirs"] == ways["unknown"] == ["memory_shown", "echoed"]
    theirs, unknown = (statistics.median(took[name]) for name in wanted)
    assert abs(theirs - unknown) < max(0.5 * unknown, 0.002), f"{theirs * 1e3:.2f} ms, {unknown * 1e3:.2f} ms"


def test_the_service_sees_nothing_that_it_does_not_ask_a_sight_for(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check at the door and row security each hold alone: here the check lets everything pass."""
    monkeypatch.setattr(access, "covers", lambda *_: True)
    monkeypatch.setattr(access.Caller, "at", lambda caller, _, *rights: caller.sight(*rights))
    assert search(client, THEIRS, HER_KEY).json()["hits"] == []
    assert context(client, THEIRS, HER_KEY).json()["items"] == []
    assert client.get(f"/events/{THEIRS}/{event('kept', THEIRS)}", headers=HER_KEY).json()["outcome"] is None


def test_the_services_own_check_holds_where_row_security_is_away(store: str, client: TestClient) -> None:
    with psycopg.connect(store, autocommit=True) as connection:
        for table in TABLES:
            connection.execute(sql.SQL("ALTER TABLE {} DISABLE ROW LEVEL SECURITY").format(sql.Identifier(table)))
    assert client.get(f"/memories/{memory('kept', HERS)}", headers=HER_KEY).status_code == 200
    for name in (*NAMES, DROPPED):
        for way in ("", "/explain"):
            theirs = client.get(f"/memories/{memory(name, THEIRS)}{way}", headers=HER_KEY)
            assert theirs.status_code == 404, (name, way)
        assert client.get(f"/events/{THEIRS}/{event(name, THEIRS)}", headers=HER_KEY).status_code == 403


async def test_questions_that_take_too_long_leave_their_connections_to_others(
    databases: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Reads(databases[0], Bounds(store_ms=500))
    await asked.open()
    try:
        with monkeypatch.context() as slow:
            # Longer than anybody waits here: they are free again only where the server gives it up.
            slow.setitem(QUERIES._statements, "ping", "SELECT pg_sleep(600)")  # type: ignore[attr-defined]
            late = await asyncio.gather(*(asked.ping() for _ in range(8)), return_exceptions=True)
            assert [type(each) for each in late] == [StoreUnavailable] * 8
        async with asyncio.timeout(PATIENCE_S):
            while isinstance((await asyncio.gather(asked.ping(), return_exceptions=True))[0], StoreUnavailable):
                pass
        await asyncio.gather(*(asked.ping() for _ in range(2)))
    finally:
        await asked.close()


async def test_a_tenant_with_many_slow_questions_leaves_connections_to_the_others(
    databases: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bounds = Bounds(store_ms=60_000, answer_ms=120_000)
    asked = Reads(databases[0], bounds)
    await asked.open()
    statement = "SELECT 'h', 1 FROM pg_advisory_xact_lock_shared(7)"
    monkeypatch.setitem(QUERIES._statements, "encoded", statement)  # type: ignore[attr-defined]
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    try:
        async with await psycopg.AsyncConnection.connect(databases[0], autocommit=True) as holder:
            await holder.execute("SELECT pg_advisory_lock(7)")
            slow = [asyncio.ensure_future(asked.encoded(Sight((THEIRS,)), THEIRS)) for _ in range(32)]
            async with asyncio.timeout(PATIENCE_S):
                while await (await holder.execute(waiting)).fetchone() != (bounds.store_connections_of_one,):
                    await asyncio.sleep(0.01)
            for _ in range(4):
                assert await asked.outcomes(Sight((HERS,)), [(HERS, "e")]) == {}
            assert not any(one.done() and one.exception() is None for one in slow), "theirs came first"
        # Theirs are answered as far as that goes within the patience with a store that has no connection left.
        told = await asyncio.gather(*slow, return_exceptions=True)
        assert {"h": 1} in told and {type(each) for each in told} <= {dict, StoreUnavailable}
    finally:
        await asked.close()


def test_a_tenants_search_goes_by_the_index_of_namespaces(databases: tuple[str, str]) -> None:
    """Row security leaves a search its plan, and nearly its price: it reads the rows of its namespace, not all."""
    wanted = {"namespace": "n7", "encoder": "h", "vector": "[1,0,0,0,0,0,0,0]", "k": 10}
    with psycopg.connect(databases[0], autocommit=True) as connection:
        connection.execute(
            """INSERT INTO memory (id, shard, namespace, agent, subject, event_id, tier, created, characters,
                   commitment,
                   encoder, early, changed, seq)
               SELECT md5(i::text)::uuid, 0, 'n' || i % 50, 'a', 'a', 'e' || i,
               'short-term', 0, 1, 'x', 'h', false, 0, i FROM generate_series(1, 5000) i;
               INSERT INTO content SELECT id, 'text', namespace FROM memory;
               INSERT INTO strength SELECT id, 0, 'short-term', 1, 0, 0, 0, 0 FROM memory;
               INSERT INTO embedding SELECT id, namespace, ('[1,0,0,0,0,0,0,' || seq || ']')::halfvec, 'h' FROM memory;
               INSERT INTO sentence SELECT memory_id, 0, namespace, vector, 'h' FROM embedding;
               ANALYZE"""
        )
    costs, plans = {}, {}
    for role in ("memquorum_reader", "memquorum_tenant"):
        with psycopg.connect(databases[0], autocommit=True, options=f"-c role={role}") as connection:
            connection.execute("SELECT set_config('memquorum.namespaces', 'n7', false)")
            (plan,) = connection.execute("EXPLAIN (FORMAT JSON) " + QUERIES["search"], wanted).fetchone() or ({},)
            costs[role], plans[role] = plan[0]["Plan"]["Total Cost"], str(plan)
            whole = set(re.findall(r"'Node Type': 'Seq Scan'.*?'Relation Name': '(\w+)'", plans[role]))
            # A table without rows is read whole.
            assert whole.isdisjoint({"memory", "content", "strength", "embedding", "sentence"}), whole
            assert "embedding_namespace" in plans[role]
            assert len(connection.execute(QUERIES["search"], wanted).fetchall()) == 10
    assert costs["memquorum_tenant"] < 1.5 * costs["memquorum_reader"], costs
