"""Audit and rebuild on a real broker and a real Postgres: whole is whole, a rebuild is equal, tampering is named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import psycopg
import pytest
from confluent_kafka.admin import AdminClient
from msgspec.structs import replace
from psycopg import conninfo

from db.audit_rows import snapshot
from db.vault import PostgresVault
from infra import topic_files as provisioned
from infra.embedded.postgres import Postgres
from memquorum import topics
from memquorum.core.audit.findings import Kind, VerifyReport
from memquorum.core.avro import Codec
from memquorum.core.ids import memory_id
from memquorum.core.journal.replay import CannotReplay
from memquorum.core.records import JournalAppended, JournalEntry
from memquorum.ports import Vault
from tests.support.commit_process import GENESIS, MASTER
from tests.support.flow import Flow, read_topic
from tests.support.watch import Worker, await_seq, database
from workers.audit.auditor import Progress, verify
from workers.kafka import loop
from workers.rebuild.worker import KeysMissing, NotEmpty, compare, rebuild

pytestmark = pytest.mark.slow


@pytest.fixture
def vault(databases: tuple[str, str]) -> PostgresVault:
    return PostgresVault(databases[1], MASTER)


@pytest.fixture
def flow(fresh_kafka: str, codec: Codec, vault: PostgresVault) -> Flow:
    return Flow(fresh_kafka, codec, GENESIS, vault)


@pytest.fixture
def lived(flow: Flow, databases: tuple[str, str]) -> Flow:
    """Two shards in which everything happened that can, journalled and published by the commit worker."""
    with Worker(flow.bootstrap, flow.codec, databases) as worker:
        for shard in (0, 2):
            live(flow, shard, databases, worker)
    return flow


def live(flow: Flow, shard: int, databases: tuple[str, str], worker: Worker) -> None:
    namespace = flow.namespace(shard)
    a, b = memory_id(namespace, "e0"), memory_id(namespace, "e1")
    flow.tick(shard, 1_000)
    flow.episodes(shard, [f"e{i}" for i in range(60)], at=900)
    flow.episodes(shard, ["echo"], outcome="reinforced", reinforces=a, at=950)
    flow.episodes(shard, ["faint"], outcome="below_threshold")
    flow.episodes(shard, ["e7"])
    flow.access(shard, b, 1_100)
    tick = flow.tick(shard, 200_000)
    flow.flush()
    await_seq(databases, shard, 67, worker)  # ticked, the key of `faint` destroyed
    wanted = [("e0", "forget"), ("e1", "promote"), ("e2", "forget"), ("e3", "forget")]
    flow.access(shard, memory_id(namespace, "e3"), 200_000)
    flow.flush()
    await_seq(databases, shard, 68, worker)
    kept = memory_id(namespace, "e2")
    flow.decide(
        shard, [flow.proposal(shard, *one) for one in wanted], lambda _, p: p.memory_ids != (kept,),
        as_of=200_000, accepted_offset=tick,
    )  # fmt: skip
    flow.flush()
    await_seq(databases, shard, 70, worker)  # decided, destroyed
    flow.episodes(shard, ["late"], outcome="reinforced", reinforces=a, at=200_100)
    flow.tick(shard, 300_000)
    flow.flush()
    await_seq(databases, shard, 72, worker)


def audited(flow: Flow, dsn: str | None, vault: PostgresVault | None = None) -> VerifyReport:
    return verify(flow.bootstrap, GENESIS, flow.codec, dsn, vault=vault, patience_s=0.3)


def kinds(report: VerifyReport) -> list[Kind]:
    return [finding.kind for finding in report.findings]


def name(dsn: str) -> str:
    return str(conninfo.conninfo_to_dict(dsn)["dbname"])


def test_what_the_worker_wrote_is_whole_and_can_be_made_again(
    lived: Flow, databases: tuple[str, str], postgres: Postgres, vault: PostgresVault
) -> None:
    live_dsn = databases[0]
    steps: list[Progress] = []
    report = verify(lived.bootstrap, GENESIS, lived.codec, live_dsn, progress=steps.append, patience_s=0.3)
    assert [str(f) for f in report.findings] == []
    counts = report.counts
    assert (counts.entries, counts.decisions, counts.ballots, report.store_compared) == (144, 2, 8, True)
    assert counts.rows > 4 * 120 and {s.seq for s in report.shards} == {0, 72}
    alone = audited(lived, None)
    assert alone.ok and alone.counts.rows == 0 and not alone.store_compared
    # Every accepted record was held against its entry: all but what was decided and destroyed.
    assert counts.records == alone.counts.records == 144 - 2 - 4
    assert (counts.contents, report.unchecked, alone.unchecked) == (0, 120, 0)

    with database(postgres, "template_memory") as other_dsn:
        done = rebuild(lived.bootstrap, GENESIS, lived.codec, other_dsn, vault, progress=steps.append)
        # Two memories were forgotten before this: they came and went, and nobody has their keys.
        assert (done.entries, done.memories, done.contents, done.unreadable) == (144, 122, 120, ())
        assert steps and all(step.total == 144 for step in steps)
        found = compare(live_dsn, other_dsn)
        assert found.equal, found
        assert [(s.memories, s.alive) for s in found.left.shards] == [(61, 60), (61, 60)]
        assert audited(lived, other_dsn).ok  # events, decisions, outcomes and ballots are equal too
        with pytest.raises(NotEmpty, match="rebuild into a new"):
            rebuild(lived.bootstrap, GENESIS, lived.codec, other_dsn, vault)

        # A commit worker goes on from what was rebuilt, as if nothing had been.
        with Worker(lived.bootstrap, lived.codec, (other_dsn, databases[1])) as worker:
            lived.episodes(0, ["after"])
            lived.tick(0, 400_000)
            lived.flush()
            await_seq((other_dsn, ""), 0, 74, worker)
        assert audited(lived, other_dsn).ok
        assert not compare(live_dsn, other_dsn).equal


def test_a_rebuild_of_a_part_or_without_a_key(
    lived: Flow, databases: tuple[str, str], postgres: Postgres, vault: PostgresVault
) -> None:
    with database(postgres, "template_memory") as dsn:
        done = rebuild(lived.bootstrap, GENESIS, lived.codec, dsn, vault, until_as_of=1_999)
        assert done.entries == 2 * 65  # to before the second tick
        gone = sorted(memory_id(lived.namespace(shard), "e0") for shard in (0, 2))
        assert done.unreadable == tuple(
            gone
        )  # alive then; their keys are destroyed since, and nothing brings them back
        with snapshot(dsn) as found:
            assert {k: s.as_of for k, s in found.standing().items()} == {0: 1_000, 1: 0, 2: 1_000, 3: 0}
            assert sum(s.alive for s in found.digest().shards) == 120
    with database(postgres, "template_memory") as dsn:
        rebuild(lived.bootstrap, GENESIS, lived.codec, dsn, vault, until_seq={0: 70, 2: 3})
        with snapshot(dsn) as found:
            assert {k: s.seq for k, s in found.standing().items()} == {0: 70, 1: 0, 2: 3, 3: 0}
    with database(postgres, "template_memory") as dsn:
        namespace = lived.namespace(2)
        rebuild(lived.bootstrap, GENESIS, lived.codec, dsn, vault, namespace=namespace)
        assert compare(databases[0], dsn, namespace).equal
        assert [d.shard for d in compare(databases[0], dsn).differences] == [0]
    # A key that nobody decided to destroy is lost with its memory, and the rebuild says whose.
    lost = memory_id(lived.namespace(2), "e9")
    vault.destroy([lost])
    with (
        database(postgres, "template_memory") as dsn,
        pytest.raises(KeysMissing, match=f"the vault has no keys of live memories, 1 memory: {lost}[.] "),
    ):
        rebuild(lived.bootstrap, GENESIS, lived.codec, dsn, vault)


def test_a_busy_system_is_whole_at_every_moment(flow: Flow, databases: tuple[str, str]) -> None:
    """Heads, entries and database are looked at one after the other while they grow: none of that is a finding."""
    with Worker(flow.bootstrap, flow.codec, databases) as worker:
        seen = []
        for number in range(6):
            flow.tick(1, 1_000 * (number + 1))
            flow.episodes(1, [f"e{number}-{i}" for i in range(120)], at=1_000 * number)
            flow.flush()
            report = verify(flow.bootstrap, GENESIS, flow.codec, databases[0])
            assert report.ok, report.findings
            seen.append(report.shards[1].seq)
        await_seq(databases, 1, 6 * 121, worker)
    assert seen == sorted(seen) and len({0, 6 * 121, *seen}) > 2, f"never met it at work: {seen}"


ALTERATIONS: dict[str, tuple[str, list[Kind]]] = {
    "an altered entry": (
        "UPDATE journal SET entry = set_byte(entry, 30, get_byte(entry, 30) # 1) WHERE shard = 2 AND seq = 9",
        [Kind.ROW_ALTERED],
    ),
    "an altered column": ("UPDATE journal SET effect = 'dropped' WHERE shard = 2 AND seq = 9", [Kind.ROW_ALTERED]),
    "a removed row": ("DELETE FROM journal WHERE shard = 2 AND seq = 9", [Kind.ROW_MISSING]),
    "a cut tail": ("DELETE FROM journal WHERE shard = 2 AND seq > 60", [Kind.ROWS_CUT]),
    "a changed vote": (
        "UPDATE ballot SET yes = NOT yes WHERE shard = 2 AND position = 0 AND member = 1", [Kind.ROW_ALTERED]
    ),
    "a changed outcome": ("UPDATE outcome SET outcome = 'kept' WHERE shard = 2 AND position = 0", [Kind.ROW_ALTERED]),
    "a memory sealed by hand": (
        "UPDATE memory SET tier = 'sealed' WHERE shard = 2 AND event_id = 'e9'", [Kind.EFFECT_UNDECIDED]
    ),
    "content put back": (
        "INSERT INTO content SELECT id, 'x', namespace FROM memory WHERE shard = 2 AND tier = 'gone'", [Kind.ROW_ADDED]
    ),
    "content of another length": (
        "UPDATE content SET body = '' WHERE memory_id = (SELECT id FROM memory WHERE shard = 2 AND event_id = 'e9')",
        [Kind.ROW_ALTERED],
    ),
    "a shard that is not there": (
        "INSERT INTO shard (shard, hash) VALUES (9, '')", [Kind.ROW_ADDED]
    ),
}  # fmt: skip


def test_what_a_superuser_changes_in_postgres_is_named(
    lived: Flow, databases: tuple[str, str], postgres: Postgres, vault: PostgresVault
) -> None:
    for what, (statement, expected) in ALTERATIONS.items():
        with database(postgres, name(databases[0])) as dsn:
            with psycopg.connect(dsn) as connection:
                connection.execute("SET session_replication_role = replica")  # past the append-only trigger
                assert connection.execute(statement).rowcount > 0, what
            report = audited(lived, dsn)
            assert kinds(report) == expected, (what, report.findings)
            assert report.findings[0].shard == (9 if "shard that" in what else 2)

    # The journal holds commitments and no content: another text of that length takes the vault's keys to be seen, and
    # a vector the digest of a rebuild.
    altered = memory_id(lived.namespace(2), "e9")
    for change, seen in (
        ("UPDATE content SET body = reverse(body)", [Kind.CONTENT_ALTERED]),
        ("UPDATE embedding SET vector = vector + vector", []),
    ):
        with database(postgres, name(databases[0])) as dsn:
            with psycopg.connect(dsn) as connection:
                connection.execute(f"{change} WHERE memory_id = %s", [altered])
            assert audited(lived, dsn).ok
            assert [d.shard for d in compare(databases[0], dsn).differences] == [2]
            report = audited(lived, dsn, vault)
            assert kinds(report) == seen
            assert (report.counts.contents, report.unchecked) == (120, 0)
            assert all((f.shard, f.where) == (2, f"table content, memory_id {altered}") for f in report.findings)
    with database(postgres, name(databases[0])) as dsn:
        report = audited(lived, dsn, ForgottenMeanwhile(vault, dsn, memory_id(lived.namespace(2), "e8")))
        assert report.ok and (report.counts.contents, report.unchecked) == (119, 0)
    vault.destroy([altered])
    report = audited(lived, databases[0], vault)
    # This database still has the text of e8.
    assert report.ok and (report.counts.contents, report.unchecked) == (118, 2)


class ForgottenMeanwhile:
    """A vault that is asked while the fleet goes on: a memory of the audit's snapshot loses content and key first."""

    def __init__(self, vault: Vault, dsn: str, memory: str) -> None:
        self.vault, self.dsn, self.memory = vault, dsn, memory

    def create(self, wanted: Sequence[tuple[str, str, str]]) -> dict[str, bytes]:
        return self.vault.create(wanted)

    def open(self, memory_ids: Iterable[str]) -> dict[str, bytes]:
        with psycopg.connect(self.dsn) as connection:
            connection.execute("DELETE FROM content WHERE memory_id = %s", [self.memory])
        self.vault.destroy([self.memory])
        return self.vault.open(memory_ids)

    def destroy(self, memory_ids: Iterable[str]) -> int:
        return self.vault.destroy(memory_ids)


def test_a_record_that_was_passed_over_is_named(flow: Flow, databases: tuple[str, str]) -> None:
    """Somebody moves the commit worker's cursor past a record: it is let in, scored, and never applied."""
    with Worker(flow.bootstrap, flow.codec, databases) as worker:
        flow.episodes(1, ["a", "b"])
        flow.flush()
        await_seq(databases, 1, 2, worker)
    with psycopg.connect(databases[0]) as connection:
        connection.execute("UPDATE cursor SET next_offset = 3 WHERE shard = 1 AND topic = %s", [topics.ACCEPTED])
    assert [(f.kind, f.where) for f in audited(flow, databases[0]).findings] == [
        (Kind.ROW_ALTERED, "table shard, shard 1, column accepted")
    ]
    flow.episodes(1, ["lost", "c"])
    flow.flush()
    with Worker(flow.bootstrap, flow.codec, databases) as worker:
        await_seq(databases, 1, 3, worker)
    for dsn in (databases[0], None):
        assert [(f.kind, f.shard, f.where) for f in audited(flow, dsn).findings] == [
            (Kind.RECORD_SKIPPED, 1, "accepted offset 2")
        ]


def test_an_empty_journal_is_not_whole_where_records_were_let_in(flow: Flow, databases: tuple[str, str]) -> None:
    assert audited(flow, databases[0]).ok
    flow.tick(3, 1_000)
    flow.flush()
    for dsn in (databases[0], None):
        assert [(f.kind, f.shard) for f in audited(flow, dsn).findings] == [(Kind.JOURNAL_EMPTY, 3)]


def _forged_entry(lived: Flow, values: list[bytes]) -> list[bytes]:
    """An entry behind the last, as anybody can chain it who may write to the topic."""
    from memquorum.core.journal.hash_chain import entry_hash

    last = lived.codec.decode_as(JournalAppended, values[-1])
    entry = lived.codec.decode_as(JournalEntry, last.entry)
    data = lived.codec.encode(replace(entry, seq=entry.seq + 1, source_offset=entry.source_offset + 1))
    return [*values, lived.codec.encode(JournalAppended(data, last.hash, entry_hash(last.hash, data)))]


TOPIC: dict[str, tuple[Callable[[Flow, list[bytes]], list[bytes]], list[Kind]]] = {
    "a cut tail": (lambda _, values: values[:-3], [Kind.TAIL_CUT]),
    "a forged entry": (_forged_entry, [Kind.TAIL_UNSIGNED, Kind.RECORD_MISSING]),
    "a removed entry": (lambda _, values: values[:30] + values[31:], [Kind.ENTRY_MISSING]),
}


def test_what_is_changed_in_the_topic_is_named(lived: Flow, vault: PostgresVault, postgres: Postgres) -> None:
    values = read_topic(lived.bootstrap, topics.JOURNAL, 0, 72)
    admin = AdminClient({"bootstrap.servers": lived.bootstrap, "log_level": 0})
    producer = loop.producer(lived.bootstrap)
    for what, (tamper, expected) in TOPIC.items():
        admin.delete_topics([topics.JOURNAL], operation_timeout=10)[topics.JOURNAL].result()
        provisioned.ensure(lived.bootstrap, GENESIS.shards)
        for value in tamper(lived, values):
            producer.produce(topics.JOURNAL, value, b"0", partition=0)
        assert producer.flush(10) == 0
        report = audited(lived, None)
        assert kinds(report) == [*expected, Kind.TAIL_CUT], what  # of shard 2 nothing is left at all
        assert [f.shard for f in report.findings] == [*[0] * len(expected), 2]
    with database(postgres, "template_memory") as dsn, pytest.raises(CannotReplay, match="after sequence 30"):
        rebuild(lived.bootstrap, GENESIS, lived.codec, dsn, vault)
