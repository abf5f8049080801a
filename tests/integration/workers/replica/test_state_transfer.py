"""A member that was away longer than the logs reach: it follows the journal, and votes again."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from confluent_kafka import TopicPartition
from msgspec.structs import replace

from db.store import PostgresStore
from db.view import View
from infra import admin_commands
from infra.settings import Settings
from memquorum import topics
from memquorum.core.audit.agreed import stable
from memquorum.core.avro import Codec
from memquorum.core.consensus.checkpoints import INTERVAL
from memquorum.core.consensus.events import Progress
from memquorum.core.identity.membership import Genesis, load
from memquorum.core.records import Decided, JournalAppended, JournalEntry
from tests.builders.genesis import make_bytes
from tests.support.replicas import HOUR, START, Decisions, Replicas, World
from tests.support.waiting import PATIENCE_S, until
from workers.kafka import loop
from workers.kafka.partition import Partition
from workers.upkeep import prune

pytestmark = pytest.mark.slow
EPOCHS = INTERVAL + 2
# Beside members, the commit worker reads these.
APPLIED = {topics.PRE_PREPARES, topics.COMMITS}


def journal(world: World, decisions: Decisions, epochs: int) -> None:
    """Writes the decisions into the journal as the commit worker does; its chain is not checked here."""
    for seq in range(1, epochs + 1):
        checked, commits = decisions.found[0, seq], decisions.commits(0, seq)
        detail = world.codec.encode(Decided(checked.body.epoch, checked.body.view, seq, checked.data, commits, ()))
        entry = JournalEntry(0, seq, START, "decided", f"d{seq}", topics.PRE_PREPARES, 0, seq, detail)
        world.send(topics.JOURNAL, 0, JournalAppended(world.codec.encode(entry), b"", b""))


def awaited_checkpoint(bootstrap: str, codec: Codec, genesis: Genesis) -> None:
    """Returns once the first checkpoint is stable."""
    with closing(Partition(bootstrap, topics.CHECKPOINTS, 0)) as partition:
        records = partition.records(PATIENCE_S)
        seen = []
        for record in records:
            seen.append(record)
            if INTERVAL in stable(codec, genesis, 0, iter(seen)):
                return
    raise AssertionError(f"no stable checkpoint among {len(seen)} words")


def first(bootstrap: str, topic: str) -> int:
    with closing(loop.consumer(bootstrap)) as reader:
        low, _ = reader.get_watermark_offsets(TopicPartition(topic, 0), timeout=10)
        return int(low)


def read_on(dsn: str, genesis: Genesis) -> None:
    """As if the commit worker had applied everything."""
    with closing(PostgresStore(dsn)) as store:
        store.start(genesis.cluster, genesis.shards)
    with psycopg.connect(dsn) as connection:
        for topic in APPLIED:
            connection.execute("INSERT INTO cursor VALUES (0, %s, 1000000)", (topic,))


def pruned(settings: Settings, capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    """`memquorum admin kafka prune`: for each shard, topic → its first offset and from where it is kept."""
    parsed = admin_commands.parser().parse_args(["kafka", "prune", "--json", *arguments])
    assert parsed.command(settings, parsed) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert all((each["sequence"], each["deleted"]) == (INTERVAL, not arguments) for each in told)
    return [each["topics"] for each in told]


def standing(run_dir: Path, genesis: Genesis, member: int) -> tuple[Progress, bytes | None]:
    """Returns a member's progress by its view, without the commits, which may differ; and what it has read."""
    with closing(View(run_dir / f"replica-{member}" / "view.db", genesis.cluster, member)) as view:
        return replace(view.progress(0), commits=()), view.stream(0)


def test_who_was_away_longer_than_the_logs_reach_follows_the_journal(
    fresh_kafka: str, databases: tuple[str, str], codec: Codec, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = make_bytes(agents={f"agent-{i}": i for i in range(4)})
    genesis = load(made)
    replicas = Replicas(fresh_kafka, made, tmp_path)
    world, decisions = World(fresh_kafka, genesis, codec), Decisions(fresh_kafka, genesis, codec)
    late = START + 10 * HOUR
    settings = Settings(
        run_dir=tmp_path, bootstrap=fresh_kafka, genesis_file=tmp_path / "genesis.json", memory_dsn=databases[0]
    )
    settings.genesis_file.write_bytes(made)
    try:
        memories = [world.episode(0, f"event-{i}", f"agent-{i % 4}", START + i) for i in range(4)]
        world.tick(0, late)
        replicas.start(0, 1, 2, 3)
        for epoch in range(1, EPOCHS + 1):
            world.nominate(0, epoch, late, [memories[epoch % 4]])
        decisions.wait(*((0, seq) for seq in range(1, EPOCHS + 1)))
        awaited_checkpoint(fresh_kafka, codec, genesis)
        assert pruned(settings, capsys) == []  # the journal does not know of the decisions yet
        journal(world, decisions, EPOCHS)
        replicas.kill(3)
        (tmp_path / "replica-3" / "view.db").unlink()

        (held,) = pruned(settings, capsys)
        assert {topic for topic, at in held.items() if at["keeps_from"] == 0} == APPLIED  # nobody has applied them
        read_on(databases[0], genesis)
        (dry,) = pruned(settings, capsys, "--dry-run")
        assert first(fresh_kafka, topics.COMMITS) == 0
        (gone,) = pruned(settings, capsys)
        assert gone == dry
        for topic in prune.PRUNED:
            assert first(fresh_kafka, topic) == gone[topic]["keeps_from"] > 0
        (again,) = pruned(settings, capsys)
        assert all(at["first"] == at["keeps_from"] for at in again.values())

        replicas.start(3)
        replicas.kill(1)  # without the one that came late there is no quorum
        world.nominate(0, EPOCHS + 1, late, memories[:1])
        (decided,) = decisions.wait((0, EPOCHS + 1))
        assert {ballot.member for ballot in decided.ballots} == {0, 2, 3}
        # The commits of a decision are on the topic before each member has read them.
        until(lambda: all(standing(tmp_path, genesis, member)[0].seq == EPOCHS + 2 for member in (0, 3)))
        assert replicas.stop() == {0: 0, 1: -9, 2: 0, 3: 0}
        # It went through every decision: the hash of all of them is that of a member that was never away.
        came, stayed = (standing(tmp_path, genesis, member) for member in (3, 0))
        assert came == stayed
        assert (came[0].seq, came[0].stable) == (EPOCHS + 2, INTERVAL)
    finally:
        replicas.clean_up()
        world.close()
        decisions.close()
