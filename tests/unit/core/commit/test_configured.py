"""All readers of the decisions follow the configurations: collection, commit, audit, rebuild."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.commit.assembly import COMMIT, PRE_PREPARE, Assembly
from memquorum.core.consensus.certificate import check_decision
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import open_any
from memquorum.core.journal.effects import Rules
from memquorum.core.journal.replay import Replay
from memquorum.core.journal.rows import DecisionRow
from memquorum.core.orders.configuration import order_id
from memquorum.core.records import JournalHead, Signed
from tests.builders.configured import carried_out
from tests.builders.genesis import make, public_key
from tests.builders.published import publish, resign, signed_head
from tests.builders.shard import Shard, memory_id
from tests.builders.votes import configuring, decision, nobody, order, proposal

GENESIS = make()
KEY = {"member": 1, "public_key": public_key("member:1'")}


@pytest.fixture
def shard(codec: Codec) -> Shard:
    """A memory is stored, a key replaced, and by the new members the memory forgotten."""
    made = Shard(codec, GENESIS)
    made.episode("a")
    made.tick(200_000)
    carried_out(made, "rotate", **KEY)
    made.decide([proposal(memory_id("a"), "forget")])
    return made


def test_an_order_changes_who_decides_and_nothing_about_memories(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    shard.episode("a")
    before = shard.tick(200_000).state
    kept = carried_out(shard, "weight", nobody, member=2, weight_milli=1200)
    assert kept.configures is None and shard.rules.genesis is GENESIS
    done = carried_out(shard, "weight", member=2, weight_milli=1200)
    assert done.configures is not None and done.configures.begins == 3
    assert [d.outcomes[0].outcome for c in (kept, done) for d in c.of(DecisionRow)] == ["kept", "configured"]
    # An epoch about memories is as due as before.
    state = replace(done.state, seq=before.seq, hash=before.hash, last_epoch=0, decided_seq=0, weighed_to=0)
    assert state == before and shard.rows.strengths.keys() == {memory_id("a")}


def test_an_audit_follows_and_needs_the_genesis_file_alone(shard: Shard, codec: Codec) -> None:
    public = replace(publish(shard), rules=Rules(codec, GENESIS))
    report = public.audit(store=True, accepted=True)
    assert report.findings == () and report.counts.decisions == 2
    # Without the decision between them the last one is by members that nobody made such.
    public = replace(publish(shard), rules=Rules(codec, GENESIS))
    public.remove(2)
    assert Kind.CERTIFICATE_INVALID in {finding.kind for finding in public.audit().findings}


SERVICES = [("nomination", "service:nomination'"), ("journal", "service:journal'")]


@pytest.fixture
def rekeyed(codec: Codec) -> Shard:
    """Both services get another key, then a memory is forgotten."""
    made = Shard(codec, GENESIS)
    made.episode("a")
    made.tick(200_000)
    for name, key in SERVICES:
        carried_out(made, "rotate-service", name=name, public_key=public_key(key))
    made.decide([proposal(memory_id("a"), "forget")])
    return made


def test_an_audit_follows_the_services_keys(rekeyed: Shard, codec: Codec) -> None:
    public = replace(publish(rekeyed), rules=Rules(codec, GENESIS))
    assert [open_any(codec, rekeyed.rules.genesis, head, JournalHead)[0].config for head in public.heads] == [
        0, 0, 1, 2, 2
    ]  # fmt: skip
    report = public.audit(store=True, accepted=True)
    assert report.findings == () and report.counts.decisions == 3
    # The journal's key of before signs no more, nor does it say of itself that it is of before.
    last, entry = public.link(4), public.entry(4)
    old = signed_head(public.rules, entry.seq, last.hash, entry.as_of)
    body = codec.decode_as(Signed, public.heads[4]).body
    for forged in (old, resign(public.rules, "service:journal", "service:journal", body)):
        public.heads[4:] = [forged]
        assert [f.kind for f in public.audit().findings] == [Kind.HEAD_FORGED, Kind.TAIL_UNSIGNED]


def test_heads_that_are_read_before_their_configuration_are_judged_by_it(rekeyed: Shard, codec: Codec) -> None:
    """Heads come after their entries; a tail that is cut leaves some behind."""
    public = replace(publish(rekeyed), rules=Rules(codec, GENESIS))
    del public.entries[4]
    assert [f.kind for f in public.audit().findings] == [Kind.TAIL_CUT]
    del public.entries[2:]  # with the orders, and the keys that heads behind them bear
    assert {f.kind for f in public.audit().findings} == {Kind.HEAD_FORGED}
    # Out of order, ahead of its configuration: it waits for the chain and is proven then.
    public = replace(publish(rekeyed), rules=Rules(codec, GENESIS))
    public.heads.insert(0, public.heads[-1])
    assert public.audit().findings == ()
    public.heads[0] = resign(public.rules, "service:journal", "member:0", codec.decode_as(Signed, public.heads[0]).body)
    assert [f.kind for f in public.audit().findings] == [Kind.HEAD_FORGED]


def test_a_rebuild_follows(shard: Shard, codec: Codec) -> None:
    public, replay = publish(shard), Replay(Rules(codec, GENESIS), 0)
    for data in public.entries:
        replay.take([replay.read(data)])
    assert replay.state == shard.rows.state


def assembled(codec: Codec) -> tuple[Assembly, Genesis, list[tuple[bytes, list[bytes]]]]:
    """An order is decided and applied; the decisions of it and of the sequence behind it."""
    target = Assembly(codec, GENESIS, 0, 0, {})
    first = configuring(codec, GENESIS, order(GENESIS, "rotate", **KEY))
    one = check_decision(codec, GENESIS, *first).configures
    assert one is not None
    later = decision(codec, one, [proposal("m", "forget")], epoch=2)
    target.pre_prepare(10, first[0])
    for at, data in enumerate(first[1]):
        target.commit(20 + at, data)
    # A faster member has sent messages of the next configuration, which is not known yet.
    target.pre_prepare(11, later[0])
    for at, data in enumerate(later[1]):
        target.commit(24 + at, data)
    assert target.refusals == [] and target.rewind() == {}
    certified = target.next(1)
    assert certified is not None
    target.decided(certified)
    return target, one, [first, later]


def test_what_was_said_too_early_is_read_again_and_decides(codec: Codec) -> None:
    target, _, (_, later) = assembled(codec)
    assert target.next(1) is None
    assert target.rewind() == {PRE_PREPARE: 10, COMMIT: 20}
    target.pre_prepare(11, later[0])
    for at, data in enumerate(later[1]):
        target.commit(24 + at, data)
    certified = target.next(1)
    assert certified is not None and certified.checked.body.seq == 2


def test_the_configuration_before_decides_nothing_more_and_cannot_contradict(codec: Codec) -> None:
    target, _, (first, _) = assembled(codec)
    stale = decision(codec, GENESIS, [proposal("m", "forget")], epoch=2)
    target.pre_prepare(12, stale[0])
    for at, data in enumerate(stale[1]):
        target.commit(30 + at, data)
    assert target.next(1) is None
    assert all("configuration 0 does not decide sequence 2" in told for told in target.refusals)
    target.refusals.clear()
    # Agreement with a decision is no fault.
    target.commit(40, first[1][0])
    assert target.refusals == []


def test_a_new_key_decides_nothing_of_before(codec: Codec) -> None:
    target, one, _ = assembled(codec)
    early = decision(codec, one, [proposal("m", "forget")], epoch=1)
    target.commit(41, early[1][0])
    assert "configuration 1 does not decide sequence 1" in target.refusals[0]


def test_the_id_of_an_order_is_its_bodys(codec: Codec) -> None:
    one, other = (codec.encode(order(GENESIS, "weight", member=2, weight_milli=w)) for w in (1100, 1200))
    assert order_id(one) == order_id(one) != order_id(other)
