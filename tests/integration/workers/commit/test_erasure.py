"""Orders to erase on a real broker and a real Postgres: what goes, what stays out, and what a crash leaves."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping

import psycopg
import pytest

from db.vault import PostgresVault
from infra.embedded.postgres import Postgres
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.identity.messages import open_signed
from memquorum.core.ids import memory_id
from memquorum.core.records import EpisodeAccepted, Erased, JournalHead, OrderAccepted, Signed, Stored
from tests.builders import erasures
from tests.support.commit_process import GENESIS, MASTER
from tests.support.erasing import AT, SHARD, beside, fill, order
from tests.support.flow import Flow, journal_of
from tests.support.waiting import until
from tests.support.watch import Worker, await_seq, check_journal, rows
from tests.support.whole import check_whole


@pytest.fixture
def vault(databases: tuple[str, str]) -> PostgresVault:
    return PostgresVault(databases[1], MASTER)


@pytest.fixture
def flow(fresh_kafka: str, codec: Codec, vault: PostgresVault) -> Flow:
    return Flow(fresh_kafka, codec, GENESIS, vault)


@pytest.fixture
def worker(flow: Flow, databases: tuple[str, str]) -> Iterator[Worker]:
    with Worker(flow.bootstrap, flow.codec, databases) as worker:
        yield worker


def whole(flow: Flow, databases: tuple[str, str], vault: PostgresVault, postgres: Postgres) -> None:
    """The journal redone, audited, and rebuilt."""
    check_journal(databases, flow.codec, SHARD)
    check_whole(flow.bootstrap, GENESIS, flow.codec, databases[0], vault=vault, postgres=postgres)


def test_an_order_takes_what_it_names_and_nothing_else(
    flow: Flow, worker: Worker, databases: tuple[str, str], vault: PostgresVault, postgres: Postgres
) -> None:
    names = fill(flow)
    record = order(flow)
    # Late, on its way when the order came; made of what was erased; new.
    flow.episodes(SHARD, ["late"], subject="ada", at=AT)
    flow.episodes(SHARD, ["made"], derives_from=(names["a"],), at=AT + 1)
    flow.episodes(SHARD, ["new"], subject="ada", at=AT + 1)
    flow.access(SHARD, names["a"], 6_000)
    again = order(flow, at=AT + 2)
    second = order(flow, at=AT + 3, order_id=memory_id("orders", "2"))
    flow.flush()
    await_seq(databases, SHARD, 17, worker)

    entries = journal_of(flow.bootstrap, flow.codec, SHARD, 17)
    assert [entry.effect for entry in entries[10:]] == [
        "erased", "dropped", "dropped", "stored", "accessed", "repeated", "erased",
    ]  # fmt: skip
    erased = flow.codec.decode_as(Erased, entries[10].detail)
    went = {one.memory_id: one.was for one in erased.episodes}
    assert went == {
        names["a"]: "short-term", names["b"]: "short-term", names["c"]: "short-term", names["echo"]: "reinforced",
        names["faint"]: "dropped",
    }  # fmt: skip
    for entry in entries[11:13]:
        assert flow.codec.decode_as(Stored, entry.detail).outcome == "erased"
    # Said again and ordered again: the new one alone went this time.
    new = memory_id(flow.namespace(SHARD), "new")
    assert [one.memory_id for one in flow.codec.decode_as(Erased, entries[16].detail).episodes] == [new]

    mine = flow.namespace(SHARD)
    gone = {*went, names["late"], memory_id(mine, "made"), new}
    assert set(vault.open([*names.values(), *gone])) == {names["d"], names["x"]}
    assert {i for (i,) in rows(databases, "SELECT memory_id::text FROM content")} == {names["d"], names["x"]}
    assert {i for (i,) in rows(databases, "SELECT memory_id::text FROM embedding")} == {names["d"], names["x"]}
    assert rows(databases, "SELECT count(*) FROM dropped") == [(0,)]
    told = "order_id::text, selector, value, memories, episodes, accepted_at, first_seq, last_seq, epoch, ordered"
    done, repeated = rows(databases, f"SELECT {told} FROM erasure ORDER BY first_seq")
    assert done == (record.event_id, "subject", "ada", 3, 5, AT, 11, 11, None, record.order)
    assert repeated[:6] == (second.event_id, "subject", "ada", 1, 1, AT + 3)
    assert again.event_id == record.event_id
    (head,) = rows(databases, "SELECT head FROM erasure WHERE first_seq = 11")
    said = open_signed(flow.codec, GENESIS, head[0], JournalHead)[1]
    assert (said.seq, said.hash) == rows(databases, "SELECT seq, hash FROM journal WHERE seq = 11")[0]
    whole(flow, databases, vault, postgres)


def test_the_receipts_of_a_rebuilt_store_are_signed_anew(flow: Flow, databases: tuple[str, str]) -> None:
    asked = "SELECT e.head, j.seq, j.hash FROM erasure e JOIN journal j ON j.shard = e.shard AND j.seq = e.last_seq"
    with Worker(flow.bootstrap, flow.codec, databases) as worker:
        fill(flow)
        order(flow)
        flow.flush()
        await_seq(databases, SHARD, 11, worker)
        ((before, *_),) = rows(databases, asked)
    with psycopg.connect(databases[0], autocommit=True) as connection:
        connection.execute("UPDATE erasure SET head = NULL")  # a rebuild has none
    with Worker(flow.bootstrap, flow.codec, databases):
        until(lambda: rows(databases, asked)[0][0] is not None, lambda: "no head is signed")
    ((head, seq, hashed),) = rows(databases, asked)
    said, first = (open_signed(flow.codec, GENESIS, one, JournalHead)[1] for one in (head, before))
    assert (said.seq, said.hash) == (seq, hashed) and said == first


def test_an_order_of_many_in_several_entries(
    flow: Flow, worker: Worker, databases: tuple[str, str], vault: PostgresVault, postgres: Postgres
) -> None:
    flow.episodes(SHARD, [f"e{number}" for number in range(2_300)], subject="ada")
    order(flow, "namespace", "")
    flow.flush()
    await_seq(databases, SHARD, 2_303, worker)
    assert rows(databases, "SELECT memories, episodes, first_seq, last_seq FROM erasure") == [
        (2_300, 2_300, 2_301, 2_303)
    ]
    assert rows(databases, "SELECT count(*) FROM content") == [(0,)]
    whole(flow, databases, vault, postgres)


class Dying(PostgresVault):
    """Ends the worker right after keys were destroyed, before anything is journalled."""

    armed = True

    def follow(self, moves: Mapping[int, tuple[int, int]], memory_ids: Iterable[str] = ()) -> int:
        count = super().follow(moves, memory_ids)
        if self.armed and count:
            raise MemoryError("killed")
        return count


@pytest.mark.parametrize("late", [False, True])
def test_a_crash_between_vault_and_journal_is_made_good(
    flow: Flow, databases: tuple[str, str], vault: PostgresVault, postgres: Postgres, late: bool
) -> None:
    names = fill(flow)
    if late:
        order(flow)
        flow.flush()
    with Worker(flow.bootstrap, flow.codec, databases) as worker:
        await_seq(databases, SHARD, 11 if late else 10, worker)
    if late:
        flow.episodes(SHARD, ["late"], subject="ada")
    else:
        order(flow)
    flow.flush()
    own = names["late"] if late else names["a"]
    assert own in vault.open([own])
    with Worker(flow.bootstrap, flow.codec, databases, Dying(databases[1], MASTER)) as worker:
        worker.join()
    assert isinstance(worker.error, MemoryError)
    before = 11 if late else 10
    assert rows(databases, "SELECT seq FROM shard WHERE shard = %s", SHARD) == [(before,)]
    assert vault.open([own]) == {}, "the keys went first"
    with Worker(flow.bootstrap, flow.codec, databases) as worker:
        await_seq(databases, SHARD, before + 1, worker)
    (entry,) = journal_of(flow.bootstrap, flow.codec, SHARD, before + 1)[before:]
    assert entry.effect == ("dropped" if late else "erased")
    if not late:
        assert len(flow.codec.decode_as(Erased, entry.detail).episodes) == 5
    whole(flow, databases, vault, postgres)


def test_an_order_that_does_not_hold_is_passed_over(
    flow: Flow, worker: Worker, databases: tuple[str, str], vault: PostgresVault, postgres: Postgres
) -> None:
    """As only a line that was broken into would let it in."""
    names = fill(flow)
    wanted = erasures.ordered(GENESIS, namespace=flow.namespace(SHARD))
    forged = erasures.signed(flow.codec, GENESIS, wanted, seed=b"x" * 32)
    flow.accepted(SHARD, erasures.accepted(wanted, forged, AT))
    sound = flow.codec.decode_as(Signed, erasures.signed(flow.codec, GENESIS, wanted))
    elsewhere = OrderAccepted(
        wanted.order_id, "erase", beside(flow), (), flow.codec.encode(sound), AT, topics.ERASURES, 0, 0
    )
    flow.accepted(SHARD, elsewhere)
    flow.access(SHARD, names["d"], 3_000)
    flow.flush()
    await_seq(databases, SHARD, 11, worker)
    assert set(vault.open(names.values())) == set(names.values()) - {names["late"]}
    assert rows(databases, "SELECT count(*) FROM erasure") == [(0,)]
    whole(flow, databases, vault, postgres)


def test_a_search_that_runs_meanwhile_finds_it_or_not(
    flow: Flow, worker: Worker, databases: tuple[str, str], vault: PostgresVault
) -> None:
    """Once the erasure is journalled, no question yields the text any more; and none fails."""
    fill(flow)
    await_seq(databases, SHARD, 10, worker)
    stop, wrong = threading.Event(), list[object]()
    texts = "SELECT count(*) FROM content c JOIN memory m ON m.id = c.memory_id"
    seen = f"{texts} WHERE m.subject = 'ada' AND m.namespace = %s"

    def ask() -> None:
        while not stop.is_set():
            # Both answers of one snapshot: the order is carried out and something of it is there.
            found = rows(databases, f"SELECT ({seen}), (SELECT count(*) FROM erasure)", flow.namespace(SHARD))
            if found[0] not in ((2, 0), (0, 1)):
                wrong.append(found)

    asking = threading.Thread(target=ask)
    asking.start()
    order(flow)
    flow.flush()
    await_seq(databases, SHARD, 11, worker)
    stop.set()
    asking.join()
    assert not wrong


def test_a_repetition_of_what_was_erased_changes_nothing(
    flow: Flow, worker: Worker, databases: tuple[str, str], vault: PostgresVault
) -> None:
    """A record that is delivered again, or replayed from the dead letters."""
    names = fill(flow)
    mine = flow.namespace(SHARD)
    order(flow)
    flow.flush()
    await_seq(databases, SHARD, 11, worker)
    # Intake would have no key for it, and refuse it; what was accepted before comes again sealed.
    assert vault.create([(names["a"], mine, "ada")]) == {}
    first = next(
        i.record for i in flow.log[SHARD] if isinstance(i.record, EpisodeAccepted) and i.record.event_id == "a"
    )
    offset = flow.accepted(SHARD, first)
    flow.score(SHARD, first, offset, outcome="below_threshold")
    flow.flush()
    await_seq(databases, SHARD, 12, worker)
    assert journal_of(flow.bootstrap, flow.codec, SHARD, 12)[11].effect == "repeated"
    assert names["a"] not in {i for (i,) in rows(databases, "SELECT memory_id::text FROM content")}
