"""Failures of consolidation that others report (SPEC C), tried on a whole fleet: none of them may happen here.

Each guard that is tried here is also in tests/guards, with a quicker test that turns red without it.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import Any

from confluent_kafka import TopicPartition
from msgspec.structs import replace

from db.connection import KEYDESTROYER
from db.session_reads import PostgresSessions
from infra import genesis, roles
from memquorum import topics
from memquorum.client import Memory
from memquorum.core import ids
from memquorum.core.consolidation.extractive import SHARE_PPM
from memquorum.core.identity import signatures
from memquorum.core.records import Decided, EpisodeRecorded, JournalEntry, SessionClosed
from memquorum.schema_files import load_codec
from tests.support.sessions import NOTES, Plant
from tests.support.waiting import PATIENCE_S, until
from workers.consolidator import making
from workers.consolidator.extractive import Extractive
from workers.kafka import loop

CODEC = load_codec()
ASKED = "Who measured the inlet of pump 7?"
INLET = "3.8 bar at the inlet"
OTHERS = (
    "The roof of hall 5 leaks above the switchboard since the storm of 3 May.",
    "We decided to shut line 2 down on Sunday 06:00 for the new conveyor belt.",
    "Piotr will order 40 filters from Hansen by Monday.",
    "It is still unclear whether the crane may lift 12 tons after the repair.",
    "Ines counted 17 pallets of resin in the yard, 3 of them open.",
)

LATER = (
    "Yusuf replaced the two lamps above gate 4 with LED ones of 30 watts each.",
    "We decided to keep the old forklift until October because the new one lacks a permit.",
    "Karin will ask the bank for a copy of invoice 2217 next week.",
    "It is still unclear when the water meter in the cellar gets its seal.",
    "The night shift found 6 litres of oil under press 12 and closed valve B.",
)


@contextmanager
def asleep(fleet: Plant, role: str) -> Iterator[None]:
    """A process that does nothing meanwhile, and goes on as if nothing had been."""
    process = fleet.pid(role)
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def drafted(fleet: Plant, namespace: str, session: str = "shift-1", agent: str = "anna") -> EpisodeRecorded:
    """The summary of a session as the consolidator would publish it."""
    shard = ids.shard_of(namespace, genesis.read(fleet.line).shards)
    with closing(PostgresSessions(fleet.line.memory_dsn, CODEC)) as sessions:
        memories = sessions.memories(shard, namespace, agent, session)
    closed = SessionClosed("e", shard, namespace, agent, session, fleet.now, "ended", 2**62)
    (part,) = making.divided(closed, memories, genesis.read(fleet.line).policy.consolidate).parts
    summariser = Extractive()
    said = summariser.summarise(part.sources, SHARE_PPM)
    assert said is not None
    return making.summary(closed, part, summariser.name, *said)


def publish(fleet: Plant, record: EpisodeRecorded) -> str:
    """Publishes it with the consolidator's own key; its memory id."""
    made = genesis.read(fleet.line)
    value, namespace = CODEC.encode(record), record.namespace or ""
    signed = signatures.sign(made.cluster, topics.EPISODES, genesis.consolidator_seed(fleet.line, made), value)
    send(fleet, topics.EPISODES, value, namespace, ((signatures.HEADER, signed),))
    return ids.memory_id(namespace, record.event_id or "")


def send(fleet: Plant, topic: str, value: bytes, namespace: str, headers: Sequence[tuple[str, bytes]] = ()) -> None:
    with closing(loop.producer(fleet.line.bootstrap)) as producer:
        shard = ids.shard_of(namespace, genesis.read(fleet.line).shards)
        producer.produce(topic, value, key=namespace.encode(), partition=shard, headers=[*headers])
        assert producer.flush(10) == 0


def refused(fleet: Plant, sources: Sequence[str]) -> bool:
    """Whether members have voted on a summary of these, and not for it."""
    told = "SELECT bool_and(coalesce((rest ->> 'consolidate')::int, 0) > 0) FROM strength WHERE memory_id = ANY(%(i)s)"
    return bool(fleet.rows(told, i=list(sources))[0][0])


# Stale reads ----------------------------------------------------------------------------------------------------------


class Readers:
    """Reads a namespace by every way, over and over, and keeps each answer that has neither or both."""

    def __init__(self, fleet: Plant, namespace: str, sources: Sequence[str]) -> None:
        self._fleet, self._namespace, self._sources = fleet, namespace, {*sources}
        self._stop = threading.Event()
        self.wrong: list[str] = []
        self.seen: dict[str, set[str]] = {}

    @contextmanager
    def reading(self) -> Iterator[None]:
        ways: dict[str, Callable[[Memory], Any]] = {
            "search": lambda memory: memory.search(ASKED, peek=True),
            "retrieve": lambda memory: memory.retrieve(ASKED, peek=True).items,
            "recall": lambda memory: memory.recall(query=ASKED, peek=True).items,
            "context": lambda memory: memory.context(ASKED, peek=True).items,
        }
        threads = [threading.Thread(target=self._read, args=way) for way in ways.items()]
        threads.append(threading.Thread(target=self._look))
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            for thread in threads:
                thread.join(PATIENCE_S)

    def _read(self, way: str, ask: Callable[[Memory], Any]) -> None:
        with self._fleet.client(self._namespace) as memory:
            while not self._stop.is_set():
                texts = {one.memory_id: one.text for one in ask(memory)}
                told = [i for i, text in texts.items() if INLET in text]
                self._note(way, told)
                if self._sources & texts.keys() and texts.keys() - self._sources:
                    self.wrong.append(f"{way}: sources beside their summary, {sorted(texts)}")

    def _look(self) -> None:
        while not self._stop.is_set():
            told = "SELECT m.id::text FROM memory m JOIN content c ON c.memory_id = m.id WHERE m.namespace = %(n)s "
            told += "AND m.tier = 'short-term' AND c.body LIKE %(t)s"
            self._note("store", [i for (i,) in self._fleet.rows(told, n=self._namespace, t=f"%{INLET}%")])

    def _note(self, way: str, told: Sequence[str]) -> None:
        if len(told) != 1:
            self.wrong.append(f"{way}: {len(told)} memories tell it")
        for one in told:
            self.seen.setdefault(way, set()).add("source" if one in self._sources else "summary")


def test_a_reader_sees_the_sources_or_their_summary_and_never_neither_or_both(fleet: Plant) -> None:
    with fleet.client("swapped") as memory:
        readers = Readers(fleet, "swapped", fleet.live(memory))
        with readers.reading():
            until(lambda: len(readers.seen) == 5, "not all ways were read")
            memory.end_session("shift-1")
            # A crash of who applies the decision, while it is on its way, changes nothing of that.
            until(lambda: fleet.summaries("swapped", "draft"))
            fleet.kill("commit")
            fleet.later(lambda: fleet.summaries("swapped"))
            until(lambda: all("summary" in told for told in readers.seen.values()), "the summary was not served")
    assert readers.wrong == []
    assert all(told == {"source", "summary"} for told in readers.seen.values()), readers.seen


def test_nothing_is_sealed_for_a_summary_that_nobody_can_read_any_more(fleet: Plant) -> None:
    with fleet.client("unread") as memory:
        sources = fleet.live(memory)
        memory.end_session("shift-1")
        (draft,) = until(lambda: fleet.summaries("unread", "draft"))
        roles.vault(fleet.line, KEYDESTROYER).destroy([draft])
        fleet.later(lambda: refused(fleet, sources))
        assert fleet.tiers("unread")["anna short-term"] == len(NOTES)
        assert {hit.memory_id for hit in memory.search(ASKED, peek=True)} == {*sources}


# Writers --------------------------------------------------------------------------------------------------------------


def test_what_several_write_into_a_session_at_once_stands_in_order_and_once(fleet: Plant) -> None:
    said = [f"Crate {n * 7919 % 1000} of lot {n * 31} went to bay {n} with {n * 37} seals." for n in range(20)]
    gate, began = threading.Barrier(2), fleet.now

    def write(mine: Sequence[tuple[int, str]]) -> None:
        with fleet.client("crowded") as memory:
            gate.wait(PATIENCE_S)
            for n, text in mine:
                receipt = memory.add(text, session="shift-1", occurred_at=began + n * 1_000, wait=True)
                assert receipt.outcome == "stored"

    numbered = [*enumerate(said)]
    writers = [threading.Thread(target=write, args=(numbered[first::2],)) for first in (0, 1)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(PATIENCE_S)
        assert not writer.is_alive()
    with fleet.client("crowded") as memory, asleep(fleet, "consolidator"):
        memory.end_session("shift-1")
        until(lambda: ended(fleet, "crowded"))
        fleet.now += 60_000
        late = fleet.live(memory, notes=OTHERS)
    fleet.later(lambda: len(fleet.summaries("crowded")) == 3, "two for the session, one for what came after its end")
    made = {one: fleet.sources(one) for one in fleet.summaries("crowded")}
    assert sum(map(len, made.values())) == len({i for of in made.values() for i in of}), "summed up twice"
    assert sum(map(len, made.values())) == len(said) + len(late)
    assert [{*of} & {*late} for of in made.values()] == [set(), set(), {*late}], "the next session's in the last one's"
    for one in made:
        told = fleet.rows("SELECT section, said_at FROM quote WHERE summary = %(s)s ORDER BY place", s=one)
        for section in {name for name, _ in told}:
            times = [at for name, at in told if name == section]
            assert times == sorted(times) and len(set(times)) == len(times)


def ended(fleet: Plant, namespace: str) -> bool:
    """Whether the end of a session of the namespace stands in the line."""
    shard = ids.shard_of(namespace, genesis.read(fleet.line).shards)
    return any(
        CODEC.decode_as(SessionClosed, message.value() or b"").namespace == namespace
        for message in read(fleet, topics.CLOSED, shard)
    )


def read(fleet: Plant, topic: str, partition: int) -> list[Any]:
    with closing(loop.consumer(fleet.line.bootstrap)) as consumer:
        _, end = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=10)
        consumer.assign([TopicPartition(topic, partition, 0)])
        found: list[Any] = []
        while len(found) < end and (not found or found[-1].offset() + 1 < end):
            found += loop.records(consumer, 100, 0.2)
        return found


# An amplified error ---------------------------------------------------------------------------------------------------


def test_a_summary_that_was_altered_on_its_way_is_voted_down_and_nothing_changes(fleet: Plant) -> None:
    published: dict[str, str] = {}
    with asleep(fleet, "consolidator"):
        for namespace in ("as-made", "another-number", "another-batch"):
            with fleet.client(namespace) as memory:
                fleet.live(memory)
            made = drafted(fleet, namespace)
            told = made.content.split("\n")
            said = made.summary
            assert said is not None and all(NOTES[at] in told for at in (0, 1, 4)), "the most important, whole"
            if namespace == "another-number":
                made = replace(made, content=made.content.replace("3.8 bar", "8.3 bar"))
            if namespace == "another-batch":
                made = replace(made, summary=replace(said, commitment=bytes(32)))
            published[namespace] = publish(fleet, made)
        as_made = published.pop("as-made")
        fleet.later(lambda: as_made in fleet.summaries("as-made"), "what nobody altered is voted for")
        for namespace, summary in published.items():
            until(partial(results, fleet, summary), "it was not voted on")
            assert {*results(fleet, summary)} == {("consolidate", "kept")}
            assert fleet.tiers(namespace) == {"anna short-term": 5, "extractive/1 draft": 1}
    with fleet.client("another-number") as memory:
        found = memory.search(ASKED, peek=True)
        assert len(found) == 5 and not any("8.3 bar" in hit.text for hit in found)


def results(fleet: Plant, memory_id: str) -> list[tuple[str, str]]:
    """The kind and the outcome of each vote on a memory."""
    found = []
    for (entry,) in fleet.rows("SELECT entry FROM journal WHERE effect = 'decided' ORDER BY shard, seq"):
        decided = CODEC.decode_as(Decided, CODEC.decode_as(JournalEntry, entry).detail)
        found += [(one.kind, one.outcome) for one in decided.results if memory_id in one.memory_ids]
    return found


# Tenants --------------------------------------------------------------------------------------------------------------


def test_sessions_of_one_name_in_two_namespaces_have_nothing_to_do_with_each_other(fleet: Plant) -> None:
    with fleet.client("tenant-a") as here, fleet.client("tenant-b") as there:
        mine, theirs = fleet.live(here), fleet.live(there, notes=OTHERS)
        for client in (here, there):
            client.end_session("shift-1")
        fleet.later(lambda: fleet.summaries("tenant-a") and fleet.summaries("tenant-b"))
        for namespace, client, own, other in (("tenant-a", here, mine, OTHERS), ("tenant-b", there, theirs, NOTES)):
            (summary,) = fleet.summaries(namespace)
            assert fleet.sources(summary) == sorted(own)
            hits = client.search("hall", peek=True)
            assert [hit.memory_id for hit in hits] == [summary]
            assert not any(note in hits[0].text for note in other)


def test_a_forged_end_brings_nothing_from_one_namespace_into_another(fleet: Plant) -> None:
    shards = genesis.read(fleet.line).shards
    shard = ids.shard_of("robber", shards)
    robbed = next(name for n in range(99) if ids.shard_of(name := f"robbed-{n}", shards) == shard)
    with fleet.client(robbed) as memory, fleet.client("robber", agent="eve") as robber:
        sources = fleet.live(memory)
        loot = fleet.live(robber, notes=OTHERS)
        made, other = drafted(fleet, "robber", agent="eve"), drafted(fleet, robbed)
        # With the consolidator's own key: what another tenant said, as if it were of the robber's session.
        stolen = replace(
            made, event_id="stolen", content=other.content, derives_from=other.derives_from, summary=other.summary
        )
        taken = publish(fleet, stolen)
        with closing(PostgresSessions(fleet.line.memory_dsn, CODEC)) as sessions:
            applied = sessions.applied(shard)
        forged = SessionClosed("forged", shard, robbed, "anna", "shift-1", fleet.now, "ended", applied)
        send(fleet, topics.CLOSED, CODEC.encode(forged), robbed)  # by no service of the line, so without its stamp
        robber.end_session("shift-1")
        until(lambda: len(fleet.summaries("robber", "draft")) == 2, "its own session is summed up")
        assert fleet.summaries(robbed, "draft") == [], "a stranger ended another tenant's session"
        (own,) = fleet.later(lambda: fleet.summaries("robber"))
        until(lambda: results(fleet, taken), "it was not voted on")
        assert {*results(fleet, taken)} <= {("consolidate", "kept"), ("consolidate", "voided")}
        assert fleet.summaries("robber", "draft") == [taken] and fleet.sources(own) == sorted(loot)
        assert not any(INLET in hit.text for hit in robber.search(ASKED, peek=True))
        found = {hit.memory_id for hit in memory.search(ASKED, peek=True)}
        assert found and found <= {*sources, *fleet.summaries(robbed)}


# Attribution ----------------------------------------------------------------------------------------------------------


def test_a_summary_is_no_agents_word(fleet: Plant) -> None:
    with fleet.client("word") as memory:
        fleet.live(memory)
        posed = EpisodeRecorded(
            "consolidator", "Nobody pays for the second gasket set.", "word", "p", session="shift-1"
        )
        send(fleet, topics.EPISODES, CODEC.encode(posed), "word")
        memory.end_session("shift-1")
        (summary,) = fleet.later(lambda: fleet.summaries("word"))
        told = "SELECT count(*) FROM event WHERE namespace = 'word' AND event_id = 'p'"
        assert fleet.rows(told) == [(0,)], "somebody spoke in the consolidator's name"
        text = memory.get(summary).text
        assert text is not None
        with fleet.client("word", agent="planner") as copying:
            for n in range(3):
                copying.add(text, session=f"copy-{n}", occurred_at=fleet.now, wait=True)
        for _ in range(4):
            fleet.turn()
        assert memory.get(summary).tier == "short-term", "copied, it was promoted"
        assert {*results(fleet, summary)} <= {("consolidate", "consolidated"), ("forget", "kept"), ("promote", "kept")}


# Growth ---------------------------------------------------------------------------------------------------------------


def alive(fleet: Plant, namespace: str) -> tuple[int, int]:
    """Counts the living memories and their characters."""
    told = "SELECT count(*), coalesce(sum(length(c.body)), 0) FROM strength s JOIN memory m ON m.id = s.memory_id "
    told += "JOIN content c ON c.memory_id = m.id WHERE m.namespace = %(n)s"
    ((count, characters),) = fleet.rows(told, n=namespace)
    return int(count), int(characters)


def test_sessions_that_were_summed_up_leave_less_and_not_more(fleet: Plant) -> None:
    chatter = (
        "The coffee machine on floor 2 is out of order and the technician has been told about it by Sabine.",
        "Somebody left a red umbrella at the gate and it is kept in the office until the end of the month.",
    )
    with fleet.client("grown") as memory:
        for n, notes in enumerate(((*NOTES, *chatter), OTHERS, LATER)):
            fleet.live(memory, session=f"shift-{n}", notes=notes)
        before = alive(fleet, "grown")
        for n in range(3):
            for _ in range(2):  # said twice, it is over once
                memory.end_session(f"shift-{n}")
        fleet.kill("consolidator")
        fleet.later(lambda: len(fleet.summaries("grown")) == 3)
        after = alive(fleet, "grown")
        assert (before[0], after[0]) == (17, 3)
        assert after[1] < before[1], "growth instead of shrinkage"
        memory.end_session("shift-0")
        for _ in range(3):
            fleet.turn()  # idle, and ended once more: there is nothing left to be summed up
        assert alive(fleet, "grown") == after
        assert len(fleet.summaries("grown")) == 3 and fleet.summaries("grown", "draft") == []
        for summary in fleet.summaries("grown"):
            lines = (memory.get(summary).text or "").split("\n")
            assert len({*lines}) == len(lines), "it says something twice"
