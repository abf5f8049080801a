"""The journal's events reach other people's tools on a running installation: each once, in order, across a kill."""

from __future__ import annotations

from confluent_kafka.admin import AdminClient

from memquorum import kafka
from tests.support.events import by_shard, mirrored, telling
from tests.support.sessions import SHARDS, Plant
from tests.support.waiting import until
from workers.events.mirror import GROUP

ENTRIES = "SELECT shard, seq, effect, encode(hash, 'hex') FROM journal ORDER BY shard, seq"


def test_the_mirror_is_the_journal_also_across_kills(fleet: Plant) -> None:
    def seen(effect: str, memory_id: str) -> bool:
        return any(one.type == effect and memory_id in one.memory_ids for one in mirrored(fleet.line, SHARDS))

    with fleet.client("mirrored-a") as memory, fleet.client("mirrored-b", agent="bert") as other:
        first = fleet.live(memory)[0]
        with telling(fleet.line, journal_mirror=True, instance=""):
            until(lambda: seen("stored", first), "nothing was mirrored")
        # As after a week without it: its group is forgotten, and the mirror itself says how far it is.
        admin = AdminClient(kafka.librdkafka(fleet.line.bootstrap))
        admin.delete_consumer_groups([GROUP], request_timeout=10)[GROUP].result()
        before = len(mirrored(fleet.line, SHARDS))
        fleet.live(other)
        with telling(fleet.line, journal_mirror=True) as process:
            until(lambda: len(mirrored(fleet.line, SHARDS)) > before, "the mirror does not go on")
            process.kill()
            process.wait()
        assert memory.erase(memory_id=first, dry_run=False).status == "erased"
        with telling(fleet.line, journal_mirror=True):
            until(lambda: seen("erased", first), "the erasure was not mirrored")
        told = mirrored(fleet.line, SHARDS)
    for shard, seqs in by_shard(told).items():
        assert seqs == list(range(1, len(seqs) + 1)), f"shard {shard}: each entry once, in the journal's order"
    entries = {(shard, seq): (effect, digest) for shard, seq, effect, digest in fleet.rows(ENTRIES)}
    assert [entries[one.shard, one.seq] for one in told] == [(one.type, one.hash) for one in told]
    stored = [one for one in told if one.namespace == "mirrored-b" and one.type == "stored"]
    assert len(stored) == 5 and {one.agent for one in stored} == {"bert"}
