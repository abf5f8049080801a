"""A rebuild is compared with the store table by table: what follows from the journal and is lost in one is noticed."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import psycopg
import pytest
from psycopg import conninfo, sql

from db.audit_rows import DIGESTED, STANDING, UNCOMPARED, summed
from db.vault import PostgresVault
from infra import checks, settings
from infra.embedded.postgres import Postgres
from infra.settings import SettingsError
from memquorum.core.avro import Codec
from memquorum.core.ids import memory_id
from memquorum.core.records import Comparison, FeedbackAccepted, Link, Lot, Quote, Summary, Task, Weighed
from tests.builders import disclosures, erasures, profiles, protections, reclassified, rollups, trials
from tests.support.commit_process import GENESIS, MASTER
from tests.support.flow import Flow
from tests.support.watch import Worker, await_seq, database
from workers.rebuild.worker import compare

pytestmark = pytest.mark.slow

SHARD = 1
TICK = 1_000_000
OUTSIDE = ("template1", "template0", "postgres")


@pytest.fixture
def lived(installed: settings.Settings, codec: Codec, databases: tuple[str, str]) -> Flow:
    """A shard of which every table has rows."""
    flow = Flow(installed.bootstrap, codec, GENESIS, PostgresVault(installed.vault_dsn, MASTER))
    mine, flow.sentences = flow.namespace(SHARD), True
    with Worker(flow.bootstrap, codec, databases) as worker:
        flow.episodes(SHARD, ["a", "b"])
        linked = (Link("requires", memory_id(mine, "a")),)
        flow.episodes(SHARD, ["c"], subject="ada", contradicts=(memory_id(mine, "a"),), links=linked,
                      denies=(Comparison(memory_id(mine, "a"), (1,)),))  # fmt: skip
        flow.episodes(SHARD, ["echo"], outcome="reinforced", reinforces=memory_id(mine, "a"), at=950)
        said = {"cluster": GENESIS.cluster, "namespace": mine}
        flow.accepted(SHARD, protections.accepted(codec, "pin", memory_id(mine, "a"), 1, **said))
        tick = flow.tick(SHARD, TICK)
        lot = Lot(2, (memory_id(mine, "a"),), 0)
        drawn = Weighed("worth", 0, 64, 90, 9, "episodic", None, (), None, None, "by lot", lot)
        forgets = [msgspec.structs.replace(flow.proposal(SHARD, n, "forget"), weighed=drawn) for n in "ab"]
        proposals = [*forgets, flow.proposal(SHARD, "c", "promote")]
        flow.decide(SHARD, proposals, as_of=TICK, accepted_offset=tick)
        flow.flush()
        await_seq(databases, SHARD, 8, worker)  # decided, and the key of b destroyed
        # Two of those who were drawn tell the same; who else tells it changes nothing.
        found = trials.statistics(GENESIS, memory_id(mine, "a"), 1)
        told = {"namespace": mine, "shard": SHARD}
        made = [trials.signed(codec, GENESIS, found, one, **told) for one in trials.VERIFIERS]
        flow.tried(SHARD, *made)
        flow.flush()
        await_seq(databases, SHARD, 10, worker)
        admits = trials.proposal(memory_id(mine, "a"), made[:2], mine)
        flow.decide(SHARD, [admits], as_of=TICK, accepted_offset=tick)
        flow.flush()
        await_seq(databases, SHARD, 11, worker)
        wanted = erasures.ordered(GENESIS, namespace=mine, order_id=memory_id("orders", "1"))
        flow.accepted(SHARD, erasures.accepted(wanted, erasures.signed(codec, GENESIS, wanted), TICK + 1))
        flow.episodes(SHARD, ["faint"], outcome="below_threshold", at=TICK + 2)
        a = memory_id(mine, "a")
        summary = Summary("extractive/1", "s1", 600_000, b"c" * 32, (Quote(a, 0, 23, "facts", TICK),))
        flow.episodes(SHARD, ["summary"], at=TICK + 2, agent="consolidator", derives_from=(a,), summary=summary)
        patches = rollups.wanted(GENESIS, rollups.patch(a), namespace=mine)
        flow.accepted(SHARD, rollups.accepted(codec, GENESIS, patches))
        flow.accepted(SHARD, disclosures.accepted(codec, GENESIS, a, namespace=mine))
        flow.accepted(SHARD, profiles.accepted(codec, GENESIS, namespace=mine))
        limits = reclassified.wanted(a, namespace=mine, sensitivity_ppm=800_000, purposes=("care",), jurisdiction="DE")
        flow.accepted(SHARD, reclassified.accepted(codec, GENESIS, limits))
        task = {"task": Task("failed", "planner", b"h" * 32, 7), "derives_from": (a,), "type": "task"}
        flow.episodes(SHARD, ["task"], at=TICK + 3, **task)
        given = FeedbackAccepted("f", memory_id(mine, "task"), mine, "planner", (a,), (), TICK + 4)
        flow.accepted(SHARD, given)
        flow.episodes(SHARD, ["old", "new"], at=TICK + 5, explicit=True, slot="s" * 32)
        flow.access(SHARD, memory_id(mine, "new"), TICK + 6)
        flow.flush()
        await_seq(databases, SHARD, 23, worker)
    return flow


def test_what_any_table_lacks_is_noticed(lived: Flow, databases: tuple[str, str], postgres: Postgres) -> None:
    whole = str(conninfo.conninfo_to_dict(databases[0])["dbname"])
    with psycopg.connect(databases[0], autocommit=True) as link:
        tables = [name for (name,) in link.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
    known = {*summed(), *DIGESTED, *STANDING}
    assert {*tables} == known | {*UNCOMPARED} and not known & {*UNCOMPARED}, "compared, or named with a reason"
    with database(postgres, whole) as less:
        assert compare(databases[0], less).equal
    for table in sorted(known):
        with database(postgres, whole) as less:
            with psycopg.connect(less) as link:
                link.execute("SET session_replication_role = replica")  # past the append-only trigger
                statement = sql.SQL("DELETE FROM {0} WHERE ctid = (SELECT max(ctid) FROM {0} WHERE {1})").format(
                    sql.Identifier(table), sql.SQL("shard = 1" if table == "shard" else "true")
                )
                assert link.execute(statement).rowcount == 1, table
            for pair in ((databases[0], less), (less, databases[0])):
                found = compare(*pair)
                assert not found.equal, table
                # Without the shard's row nothing of the shard is summed.
                if table in summed():
                    assert [(one.table, abs(one.left - one.right)) for one in found.tables] == [(table, 1)]


def test_a_rebuild_says_which_table_is_another_one(
    lived: Flow, installed: settings.Settings, databases: tuple[str, str]
) -> None:
    mine, name = lived.namespace(SHARD), "tables_again"
    for namespace in (None, mine):
        told = checks.rebuilt(installed, name, namespace)
        assert (told["equal"], told["tables"]) == (True, [])
    with pytest.raises(SettingsError, match="no such namespace"):
        checks.rebuilt(installed, name, "nosuch")
    for other in OUTSIDE:
        with pytest.raises(SettingsError, match="no rebuild of this cluster made it"):
            checks.rebuilt(installed, other)
    for table in ("protection", "answered"):
        with psycopg.connect(databases[0]) as link:
            lost = link.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table))).rowcount
        assert lost > 0
        for namespace in (None, mine):
            told = checks.rebuilt(installed, name, namespace)
            found = {one["table"]: one["rebuilt"] - one["rows"] for one in told["tables"]}
            assert (told["equal"], found[table]) == (False, lost)
            assert told["store"] == told["rebuilt"], "the memories are all there"
    kept = checks.rebuilt(installed, name, keep=True)
    assert kept["kept"]
    # A database that a rebuild of this cluster made may be rebuilt.
    assert checks.rebuilt(replace(installed), name)["kept"] is False
