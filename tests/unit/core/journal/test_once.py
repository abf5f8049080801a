"""An order applies once: whatever is published again, outside or in an internal topic, the state and the journal's
effects are the same, in the store, in a member's view, in the audit and in a rebuild.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import asdict, replace

from db.standing import Clear
from db.view import View
from memquorum import topics
from memquorum.core import ids, intake
from memquorum.core.audit.chain import Record, Source
from memquorum.core.audit.findings import Kind
from memquorum.core.audit.verify import verify_shard
from memquorum.core.avro import Codec
from memquorum.core.commit import applying
from memquorum.core.identity.stamps import Writer
from memquorum.core.intake import Origin
from memquorum.core.journal.effects import DELIVERED_AGAIN, Rules
from memquorum.core.journal.recall import recall
from memquorum.core.journal.replay import CannotReplay, Replay
from memquorum.core.journal.rows import DecisionRow, ErasedRow, LetGo, Living
from memquorum.core.journal.withheld import again
from memquorum.core.orders.envelope import order_digest
from memquorum.core.orders.protect import ENDS
from memquorum.core.policy import ForgetPolicy, Policy
from memquorum.core.records import (
    ClockTicked,
    EpisodeAccepted,
    OrderFound,
    Protected,
    Signed,
)
from tests import examples
from tests.builders import erasures, genesis, protections, votes
from tests.builders.erasures import entitled
from tests.builders.published import kinds, publish, signed_head
from tests.builders.shard import Shard, accepted, memory_id, scored
from tests.inmemory.store import InMemoryStore
from workers.commit.commit_shard import CommitShard
from workers.commit.erasure_turn import Erasing
from workers.replica.stream_follower import Walk

GENESIS = genesis.make(policy=Policy(forget=ForgetPolicy(grace_ms=500)), **entitled(signed=()))
NAMES = "abc"
A = memory_id("a")
NOW = 1_750_000_000_000
STEP = 100
"""Between two offsets of a history there is room for what is published again."""


class Said(Struct, frozen=True):
    """A record of a topic that the commit worker reads. `outside`: the signed bytes that it was made of."""

    topic: str
    offset: int
    data: bytes
    outside: tuple[str, bytes] | None = None


class Cluster:
    """A shard's commit worker and a member's view of it, fed with records."""

    def __init__(self, codec: Codec) -> None:
        self.codec, self.store = codec, InMemoryStore()
        self.line = CommitShard(Rules(codec, GENESIS), self.store.start(GENESIS.cluster, GENESIS.shards)[0])
        self.destroyed: list[str] = []
        self.effects: list[Any] = []
        self.erasing = Erasing(
            self.line.rules, self.store, lambda ids, _: self.destroyed.extend(ids), lambda _: 0,  # type: ignore[arg-type]
            head=lambda *_: b"head", residue_ms=1_000,
        )  # fmt: skip
        self.view = View(Path(":memory:"), GENESIS.cluster, 1)
        self.walk = Walk(codec, self.view, GENESIS, me=1, shard=0)

    def take(self, said: Said) -> None:
        assert self.line.take(said.topic, said.offset, said.data, None) is None
        with self.view.batch():
            if said.topic == topics.ACCEPTED:
                self.walk.accept(said.offset, self.codec.decode(said.data), said.data)
            elif said.topic == topics.SCORED:
                self.walk.score(said.offset, self.codec.decode(said.data), said.data)
            self.walk.go()
        while (batch := self.line.batch(100)) is not None:
            if batch.order is not None:
                net = self.erasing.carry_out(self.line, batch, *batch.order)
            else:
                contents = {i: Clear("text", np.ones(3, np.float32)) for i in batch.sealed()}
                told = self.store.about(self.codec, batch.restores())
                found = {i: recall(self.codec, entries) for i, entries in told.items()}
                batch.recalled = {i: one.restored for i, one in found.items() if one is not None}
                contents |= {i: Clear("text", np.ones(3, np.float32)) for i in batch.recalled}
                wanted = {self.line.state: batch.rows_touched(self.codec, self.line.tombstones, self.line.since)}
                with self.store.transaction(wanted) as transaction:
                    net = batch.apply(self.line.rules, transaction.rows[0], contents, {}, self.line.tombstones)
                    self.destroyed += [one.memory_id for one in net.of(ErasedRow)]
                    transaction.write([net], contents, {})
            self.line.applied(batch, net)
            self.effects += [change.entry for change, _ in batch.changes]

    def due(self) -> None:
        """Destroys the keys whose grace time is over, as the commit worker does after each turn."""
        for due in self.store.keys_due([0]).values():
            self.destroyed += due.ids
            with self.store.transaction({self.line.state: applying.RowKeys(frozenset(due.ids))}) as transaction:
                change = applying.apply_destroyed(self.line.rules, transaction.rows[0], due.ids)
                self.effects.append(change.entry)

    # The same after any repeated publication -----------------------------------------------------------------------

    def shown(self) -> dict[str, Any]:
        """Everything that the store holds, and the effects; journal sequences counted without what was repeated."""
        kept = [entry for entry in self.effects if entry.effect != DELIVERED_AGAIN]
        places = {entry.seq: at for at, entry in enumerate(kept)}
        store = self.store
        rows = {
            "memories": store.memories, "strengths": store.strengths, "events": store.events,
            "dropped": store.dropped, "provenance": store.provenance, "erased": store.erased,
            "erasures": list(store.erasures.values()),
            "living": {name: row.alive for name, row in store.rows[Living].items() if row.alive},
            "let_go": list(store.rows[LetGo].values()),
            "protected": store.protected, "answered": store.answers, "decisions": store.decisions,
            "contents": sorted(store.contents), "destroyed": sorted(set(self.destroyed)),
            "state": replace(self.line.state, seq=0, hash=b""),
            "effects": [replace(entry, seq=entry.seq) for entry in kept],
        }  # fmt: skip
        return {name: _placed(value, places) for name, value in rows.items()}

    def seen(self) -> dict[str, list[Any]]:
        """Everything that a member knows of memories and of orders."""
        tables = ("memory", "place", "recent", "ordered", "answered", "protected", "weight")
        return {name: self.view._db.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in tables}


_SEQS = ("seq", "first_seq", "last_seq")


def _placed(value: Any, places: dict[int, int]) -> Any:
    if isinstance(value, DecisionRow):  # whose own `seq` counts decisions
        return asdict(replace(value, journal_seq=places[value.journal_seq]))
    if isinstance(value, Struct):
        value = asdict(value)
    if isinstance(value, dict):
        return {k: places[v] if k in _SEQS and v in places else _placed(v, places) for k, v in value.items()}
    return [_placed(one, places) for one in value] if isinstance(value, list | tuple) else value


class History(Cluster):
    """Plays steps, and remembers what was said."""

    def __init__(self, codec: Codec) -> None:
        super().__init__(codec)
        self.said: list[Said] = []
        self.offset, self.scored, self.voted, self.number = 0, -1, 0, 0
        self.begun: list[tuple[str, str, int]] = []
        for name in NAMES:
            self.episode(name)
        self.tick(10_000)

    def say(self, topic: str, offset: int, record: object, outside: tuple[str, bytes] | None = None) -> None:
        data = record if isinstance(record, bytes) else self.codec.encode(record)
        self.said.append(Said(topic, offset, data, outside))
        self.take(self.said[-1])

    def next(self) -> int:
        self.offset += STEP
        return self.offset

    def episode(self, name: str) -> None:
        episode, at = accepted(name, 1_000, subject="ada" if name != "c" else "bob"), self.next()
        self.say(topics.ACCEPTED, at, episode)
        self.scored += STEP
        self.say(topics.SCORED, self.scored, scored(episode, at))

    def tick(self, more: int) -> None:
        as_of, at = max(self.line.state.as_of, 9_000) + more, self.next()
        self.say(topics.ACCEPTED, at, ClockTicked(f"tick-{at}", as_of))

    def order(self, topic: str, data: bytes) -> None:
        at = self.next()
        record = intake.accept(self.codec, data, Origin(topic, 0, at, NOW), NOW + at, False, genesis=GENESIS)
        assert not isinstance(record, intake.Refusal), record
        self.say(topics.ACCEPTED, at, record, (topic, data))

    def protect(self, action: str, name: str, signer: str, back: int = 0) -> None:
        self.number += 1
        ends = None
        if action in ENDS:
            known = [n for began, about, n in self.begun if (began, about) == (ENDS[action], name)]
            ends = protections.order_id(known[-1 - back % len(known)]) if known else protections.order_id(0)
        else:
            self.begun.append((action, name, self.number))
        order = protections.wanted(
            action, memory_id(name), self.number, cluster=GENESIS.cluster, ends=ends, reference="sow"
        )
        self.order(topics.PROTECTIONS, protections.signed(self.codec, order, signer))

    def erase(self, selector: str, value: str) -> None:
        self.number += 1
        order = erasures.ordered(GENESIS, selector, value, order_id=ids.memory_id("orders", f"e{self.number}"))
        self.order(topics.ERASURES, erasures.signed(self.codec, GENESIS, order))

    def ask(self, action: str, name: str) -> None:
        self.number += 1
        own = ids.memory_id("orders", f"r{self.number}")
        order = votes.restore(GENESIS, memory_id(name), order_id=own, action=action)
        self.order(topics.RESTORES, votes.signed(self.codec, GENESIS, "operator", order))

    def decide(self, made: tuple[bytes, list[bytes]]) -> None:
        self.voted += STEP
        self.say(topics.PRE_PREPARES, self.voted, made[0])
        for place, commit in enumerate(made[1]):
            self.say(topics.COMMITS, self.voted + place, commit)

    def turn(self) -> dict[str, Any]:
        """Opens a tick for a nomination."""
        self.tick(1)
        state = self.line.state
        turn = {"epoch": state.last_epoch + 1, "seq": state.decided_seq + 1}
        return turn | {"as_of": state.as_of, "accepted_offset": self.offset}

    def vote(self, name: str) -> None:
        wanted = [votes.proposal(memory_id(name), "forget")]
        self.decide(votes.decision(self.codec, self.line.rules.genesis, wanted, **self.turn()))

    def answer(self) -> None:
        """The members vote on the last request that is open, and attest the first erasure that nobody has yet."""
        codec, rules = self.codec, self.line.rules
        asked = [e for e in self.effects if e.effect == "requested"][-1:]
        for entry in asked:
            detail = codec.decode(entry.detail)
            order = codec.decode(codec.decode_as(Signed, detail.order).body)
            found = OrderFound(detail.order, detail.accepted_at, entry.source_offset)
            if order.action == "restore":
                self.decide(votes.restoring(codec, rules.genesis, found, order, **self.turn()))
        for row in [row for row in self.store.erasures.values() if row.epoch is None][:1]:
            order = codec.decode(codec.decode_as(Signed, row.ordered).body)
            found_ = OrderFound(row.ordered, row.accepted_at, row.accepted_offset)
            self.decide(votes.attesting(codec, rules.genesis, found_, order, **self.turn()))

    def members(self, weight: int) -> None:
        made = votes.order(self.line.rules.genesis, "weight", member=2, weight_milli=weight)
        present = self.line.rules.genesis.member(2)
        if present is not None and present.weight_milli != weight:
            self.decide(votes.configuring(self.codec, self.line.rules.genesis, made, **self.turn()))


SIGNERS = st.sampled_from(["operator", "service:erasure"])
STEPS = st.one_of(
    st.tuples(st.just("protect"), st.sampled_from(["pin", "need"]), st.sampled_from(NAMES), SIGNERS),
    st.tuples(
        st.just("protect"), st.sampled_from(["unpin", "spare"]), st.sampled_from(NAMES), SIGNERS, st.integers(0, 2)
    ),
    st.tuples(st.just("protect"), st.just("hold"), st.sampled_from(NAMES), st.just("operator")),
    st.tuples(st.just("protect"), st.just("release"), st.sampled_from(NAMES), st.just("operator"), st.integers(0, 2)),
    st.tuples(st.just("erase"), st.just("subject"), st.sampled_from(["ada", "bob"])),
    st.tuples(st.just("ask"), st.sampled_from(["restore", "forget"]), st.sampled_from(NAMES)),
    st.tuples(st.just("vote"), st.sampled_from(NAMES)),
    st.tuples(st.just("answer")),
    st.tuples(st.just("members"), st.sampled_from([1_100, 1_200])),
    st.tuples(st.just("tick"), st.integers(0, 700)),
    st.tuples(st.just("episode"), st.sampled_from("de")),
)


def repeats(said: Sequence[Said], codec: Codec, again: Sequence[tuple[int, int, bool]]) -> list[Said]:
    """The same with records published again: (which, how many later, whether outside or in their topic)."""
    places: dict[int, list[Said]] = {}
    for which, later, outside in again:
        one = said[which % len(said)]
        at = min(which % len(said) + later, len(said) - 1)
        at += at + 1 < len(said) and said[at + 1].topic == topics.SCORED  # scores come in order
        data = one.data
        if outside and one.outside is not None:
            topic, signed = one.outside
            found = intake.accept(codec, signed, Origin(topic, 0, 7, NOW), NOW + 9_999_999, False, genesis=GENESIS)
            data = codec.encode(found)
        places.setdefault(at, []).append(replace(one, data=data))
    found_all: list[Said] = []
    reached: dict[str, int] = {}
    for at, one in enumerate(said):
        found_all.append(one)
        reached[one.topic] = one.offset
        for extra in places.get(at, ()):
            reached[extra.topic] = place = reached.get(extra.topic, 0) + 1
            found_all.append(replace(extra, offset=place))
            if isinstance(episode := codec.decode(extra.data), EpisodeAccepted):
                # Whatever was let in is scored.
                reached[topics.SCORED] = reached.get(topics.SCORED, -1) + 1
                data = codec.encode(scored(episode, place))
                found_all.append(Said(topics.SCORED, reached[topics.SCORED], data))
    return found_all


@settings(max_examples=examples(40), deadline=None)
@given(
    steps=st.lists(STEPS, max_size=14),
    anew=st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80), st.booleans()), min_size=1, max_size=8),
)
def test_nothing_that_is_published_again_changes_anything(
    codec: Codec, steps: list[tuple[Any, ...]], anew: list[tuple[int, int, bool]]
) -> None:
    once = History(codec)
    for name, *said in steps:
        getattr(once, name)(*said)
    spoken = [one for one in once.said if not isinstance(codec.decode(one.data), ClockTicked)]
    twice = Cluster(codec)
    for one in repeats(once.said, codec, [place for place in anew if once.said[place[0] % len(once.said)] in spoken]):
        twice.take(one)
    assert twice.shown() == once.shown()
    assert twice.seen() == once.seen()
    entries = [codec.encode(link) for _, link in twice.store.entries.get(0, [])]
    replay = Replay(Rules(codec, GENESIS), 0)
    replay.take([replay.read(data) for data in entries])
    assert replay.state == twice.line.state
    state = twice.line.state
    heads = [signed_head(twice.line.rules, state.seq, state.hash, state.as_of)]
    report = verify_shard(
        Rules(codec, GENESIS), 0, entries=_source(entries), heads=_source(heads)
    )  # fmt: skip
    assert kinds(report) == []
    for cluster in (once, twice):
        cluster.view.close()


def _source(data: Sequence[bytes]) -> Source:
    return Source(iter([Record(at, value) for at, value in enumerate(data)]), len(data))


# One by one


@pytest.fixture
def shard(codec: Codec) -> Shard:
    shard = Shard(codec, GENESIS)
    shard.episode("a", subject="ada")
    shard.tick(10_000)
    return shard


@pytest.mark.parametrize(("begin", "end"), [("hold", "release"), ("pin", "unpin"), ("need", "spare")])
def test_an_end_that_is_published_again_ends_nothing(shard: Shard, codec: Codec, begin: str, end: str) -> None:
    said = [protections.accepted(codec, *order, cluster=GENESIS.cluster) for order in _rounds(begin, end)]
    for one in (*said, replace(said[1], accepted_at=6_000), said[0], said[1]):
        shard.protect(one)
    assert [one.order_id for one in shard.rows.protected.values()] == [protections.order_id(3)]
    assert [change.entry.effect for change in shard.changes[2:]] == ["protected"] * 3 + ["repeated"] * 3
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


def test_an_end_ends_what_it_names_and_nothing_else(shard: Shard, codec: Codec) -> None:
    first, _, again = _rounds("pin", "unpin")
    for order in (first, ("unpin", A, 2), again):
        shard.protect(protections.accepted(codec, *order, cluster=GENESIS.cluster))
    late = protections.accepted(codec, "unpin", A, 4, cluster=GENESIS.cluster, ends=protections.order_id(1))
    assert not codec.decode_as(Protected, shard.protect(late).entry.detail).applied
    assert list(shard.rows.protected) == [(A, "pin")]


def test_the_envelope_is_no_part_of_an_order(codec: Codec) -> None:
    data = protections.signed(codec, protections.wanted("pin", A, cluster=GENESIS.cluster))
    written = codec.decode_as(Signed, data)
    other = codec.encode(replace(written, signature=bytes(64)))
    assert order_digest(codec, other) == order_digest(codec, data)
    assert order_digest(codec, codec.encode(replace(written, signer="service:erasure"))) != order_digest(codec, data)
    assert order_digest(codec, b"nonsense") != order_digest(codec, b"")


def test_an_audit_and_a_rebuild_find_a_journal_that_applied_an_order_twice(shard: Shard, codec: Codec) -> None:
    said = [protections.accepted(codec, *order, cluster=GENESIS.cluster) for order in _rounds("hold", "release")]
    for one in (*said, said[1]):
        shard.protect(one)
    public = publish(shard)
    at = len(public.entries) - 1
    public.rewrite(at, effect="protected", detail=codec.encode(replace(public.detail(at), applied=True)))
    assert Kind.ORDER_REPEATED in kinds(public.audit())
    replay = Replay(shard.rules, 0)
    with pytest.raises(CannotReplay, match="applies once"):
        replay.take([replay.read(data) for data in public.entries])
    first = publish(shard)
    first.rewrite(2, effect="repeated", detail=codec.encode(replace(first.detail(2), applied=False)))
    assert Kind.EFFECT_IMPOSSIBLE in kinds(first.audit())


def test_a_withheld_order_is_to_be_given_again_and_not_repeated(codec: Codec) -> None:
    made = History(codec)
    made.protect("hold", "a", "operator")
    made.erase("subject", "ada")
    order = made.said[-1]
    made.protect("release", "a", "operator")
    made.take(replace(order, offset=made.next()))
    assert [entry.effect for entry in made.effects[-4:]] == ["protected", "withheld", "protected", "repeated"]
    assert not made.destroyed and made.line.state.alive == 3
    entries = [link.entry for entry, link in made.store.entries[0] if entry.effect == "withheld"]
    (left,) = again(codec, entries, (), ())
    assert (left.selector, left.value, left.held) == ("subject", "ada", ()) and "nothing holds it" in str(left)
    assert "1 memory held still" in str(again(codec, entries, (), {A})[0])
    made.erase("subject", "ada")
    done = made.store.start(GENESIS.cluster, GENESIS.shards)[0].tombstones
    assert again(codec, entries, done, ()) == [] and made.line.state.alive == 1
    made.view.close()


def test_what_a_stranger_writes_again_into_the_topic_bears_a_genuine_stamp(codec: Codec) -> None:
    """So the stamps keep nobody from it, and the answer has to."""
    record = codec.encode(protections.accepted(codec, "pin", A, cluster=GENESIS.cluster))
    writer = Writer(bytes(32), 4)
    stamp = writer.stamp(topics.ACCEPTED, 0, record)
    assert writer.reader().genuine(topics.ACCEPTED, 0, record, stamp)


def _rounds(begin: str, end: str) -> list[tuple[str, str, int]]:
    return [(begin, A, 1), (end, A, 2), (begin, A, 3)]
