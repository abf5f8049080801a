"""Pins and holds: who may order them, what they keep, and what goes over them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace
from starlette.testclient import TestClient

from db.view import View
from db.view_rows import Known
from infra import hold
from memquorum import topics
from memquorum.core import ids, intake
from memquorum.core.accounts.telling import WHY
from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.commit import ordering
from memquorum.core.identity import messages
from memquorum.core.intake import Origin, Refusal
from memquorum.core.journal.effects import Rules
from memquorum.core.journal.hash_chain import BrokenChain
from memquorum.core.journal.replay import Replay
from memquorum.core.journal.rows import Change, GoalDue, Protection, RowKeys
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.protect import PROTECTION
from memquorum.core.policy import ForgetPolicy, Policy, ProtectionPolicy
from memquorum.core.records import ClockTicked, Decided, OrderAccepted, Protected, ProtectionOrdered
from tests.builders import erasures, genesis, protections, votes
from tests.builders.erasures import NAMESPACE, among, entitled, ordered
from tests.builders.genesis import seed_of
from tests.builders.protections import order_id, signed
from tests.builders.published import kinds, publish
from tests.builders.served import HERS, THEIRS, Served, client_of
from tests.builders.served import make as serve
from tests.builders.shard import Shard, memory_id
from tests.inmemory.store import InMemoryStore
from workers.commit.commit_shard import CommitShard
from workers.commit.lapsing import Lapsing
from workers.kafka.own_clock import OwnClock
from workers.replica.stream_follower import Walk
from workers.retrieval.configurations import Configurations
from workers.retrieval.door import Door

GENESIS = genesis.make(policy=Policy(forget=ForgetPolicy(grace_ms=500)), **entitled(signed=()))
STRICT = genesis.make(**entitled())
A, B, C = (memory_id(name) for name in "abc")
NOW = 1_750_000_000_000


def wanted(action: str = "pin", about: str = A, number: int = 1, **changes: Any) -> ProtectionOrdered:
    return protections.wanted(action, about, number, **{"cluster": GENESIS.cluster} | changes)


def accepted(codec: Codec, action: str = "pin", about: str = A, number: int = 1, **changes: Any) -> OrderAccepted:
    return protections.accepted(codec, action, about, number, **{"cluster": GENESIS.cluster} | changes)


@pytest.fixture
def shard(codec: Codec) -> Shard:
    shard = Shard(codec, GENESIS)
    for name in "abc":
        shard.episode(name, subject="ada")
    shard.tick(10_000)
    return shard


def forget(shard: Shard, *about: str, **more: Any) -> list[tuple[str, str]]:
    change = shard.decide([votes.proposal(i, "forget") for i in about], **more)
    return [(r.outcome, r.reason) for r in shard.rules.codec.decode_as(Decided, change.entry.detail).results]


# The permitted orders by signer.


@pytest.mark.parametrize(
    ("signer", "action", "fault"),
    [
        ("operator", "pin", None), ("operator", "unpin", None), ("operator", "hold", None),
        ("operator", "release", None), ("service:erasure", "pin", None), ("service:erasure", "unpin", None),
        ("service:erasure", "hold", "action"), ("service:erasure", "release", "action"),
        ("agent:planner", "pin", "namespace"), ("service:journal", "pin", "signer"), ("member:1", "pin", "signer"),
        ("agent:nobody", "pin", "signer"), ("operator", "keep", "action"), ("service:erasure", "need", None),
        ("service:erasure", "spare", None), ("member:1", "need", "signer"),
    ],
)  # fmt: skip
def test_who_may_order_what(codec: Codec, signer: str, action: str, fault: str | None) -> None:
    data = signed(codec, wanted(action), signer)
    if fault is None:
        assert PROTECTION.opened(codec, GENESIS, data)[1].action == action
        return
    with pytest.raises(BadOrder) as wrong:
        PROTECTION.opened(codec, GENESIS, data)
    assert wrong.value.field == fault


def test_an_agent_pins_where_its_name_is_proven_and_holds_nothing(codec: Codec) -> None:
    order = replace(wanted(), cluster=STRICT.cluster)
    assert PROTECTION.make(codec, STRICT, "agent:planner", seed_of("agent:planner"), order)
    with pytest.raises(BadOrder, match="only the operator"):
        PROTECTION.make(codec, STRICT, "agent:planner", seed_of("agent:planner"), replace(order, action="hold"))


@pytest.mark.parametrize(
    "changes",
    [
        {"cluster": b"c" * 32}, {"order_id": "one"}, {"memory_id": "A"}, {"namespace": "-"}, {"ordered_by": ""},
        {"reference": ""}, {"ordered_at": -1}, {"action": "need", "reference": None},
        {"action": "spare", "reference": None}, {"action": "unpin", "ends": None}, {"action": "unpin", "ends": "one"},
        {"ends": A},
    ],
)  # fmt: skip
def test_what_no_order_may_say(codec: Codec, changes: dict[str, Any]) -> None:
    with pytest.raises(BadOrder):
        PROTECTION.opened(codec, GENESIS, signed(codec, wanted(**changes), cluster=GENESIS.cluster))


def test_intake_lets_in_what_holds_and_refuses_the_rest(codec: Codec) -> None:
    origin = Origin(topics.PROTECTIONS, 2, 17, NOW - 5)
    data = signed(codec, wanted())
    expected = OrderAccepted(wanted().order_id, "protect", NAMESPACE, (A,), data, NOW, topics.PROTECTIONS, 2, 17)
    assert intake.accept(codec, data, origin, NOW, False, genesis=GENESIS) == expected
    forged = codec.encode(messages.sign(GENESIS.cluster, "operator", seed_of("member:1"), codec.encode(wanted())))
    refused = intake.accept(codec, forged, origin, NOW, False, genesis=GENESIS)
    assert isinstance(refused, Refusal) and refused.reason == "bad_signature"


# What they keep


def test_a_pin_keeps_a_memory_whatever_is_voted_until_it_is_unpinned(shard: Shard, codec: Codec) -> None:
    shard.protect(accepted(codec, about=A))
    shard.tick(11_000)
    assert forget(shard, A, B) == [("voided", "protected"), ("forgotten", "quorum")]
    assert "protected" in WHY
    shard.protect(accepted(codec, "unpin", A, 2))
    shard.tick(12_000)
    assert forget(shard, A) == [("forgotten", "quorum")]
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


def test_a_pin_voids_what_was_nominated_before_it_as_a_use_does(shard: Shard, codec: Codec) -> None:
    nominated = shard.offset
    shard.protect(accepted(codec, about=A))
    shard.protect(accepted(codec, "unpin", A, 2))
    assert forget(shard, A, accepted_offset=nominated) == [("voided", "touched since")]


def test_what_changes_nothing_is_noted(shard: Shard, codec: Codec) -> None:
    applied = [
        shard.protect(accepted(codec, *order))
        for order in (("unpin", A, 1), ("pin", A, 2), ("pin", A, 3), ("release", A, 4), ("pin", memory_id("x"), 5))
    ]
    assert [codec.decode_as(Protected, c.entry.detail).applied for c in applied] == [False, True, False, False, False]
    elsewhere = accepted(codec, "hold", A, 6, namespace="team-7")
    assert not codec.decode_as(Protected, shard.protect(elsewhere).entry.detail).applied
    assert list(shard.rows.protected) == [(A, "pin")]
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


def test_a_hold_keeps_the_key_of_what_is_sealed_and_a_pin_cannot(shard: Shard, codec: Codec) -> None:
    forget(shard, A)
    shard.protect(accepted(codec, "pin", A, 1))
    shard.protect(accepted(codec, "hold", A, 2))
    assert list(shard.rows.protected) == [(A, "hold")]
    shard.tick(20_000)
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []
    shard.destroy(A)
    assert kinds(publish(shard).audit()) == [Kind.EFFECT_UNDECIDED]


@pytest.mark.parametrize(("as_of", "granted"), [(10_499, True), (10_500, False)])
def test_a_hold_comes_too_late_when_the_grace_time_is_over(
    shard: Shard, codec: Codec, as_of: int, granted: bool
) -> None:
    forget(shard, A)
    assert shard.rows.memories[A].sealed_until == 10_500
    shard.tick(as_of)
    change = shard.protect(accepted(codec, "hold", A))
    assert codec.decode_as(Protected, change.entry.detail).applied == granted
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []
    said = publish(shard)
    said.forge(len(said.entries) - 1, replace(said.detail(-1), applied=not granted))
    assert Kind.EFFECT_IMPOSSIBLE in kinds(said.audit())


def test_an_erasure_goes_over_a_pin_and_not_over_a_hold(shard: Shard, codec: Codec) -> None:
    shard.protect(accepted(codec, "pin", A, 1))
    shard.protect(accepted(codec, "hold", B, 2))
    said = ordered(GENESIS)
    record = erasures.accepted(said, erasures.signed(codec, GENESIS, said), 20_000)
    shard.withhold(record, B)
    assert shard.rows.state.alive == 3
    shard.protect(accepted(codec, "release", B, 3))
    again = ordered(GENESIS, order_id=ids.memory_id("orders", "again"))
    second = erasures.accepted(again, erasures.signed(codec, GENESIS, again), 20_000)
    shard.erase(second, among(NAMESPACE, dict.fromkeys("abc", "short-term")))
    assert (shard.rows.state.alive, shard.rows.protected) == (0, {})
    public = publish(shard)
    assert kinds(public.audit(store=True, accepted=True)) == []
    replay = Replay(shard.rules, 0)
    step = replay.take([replay.read(data) for data in public.entries])
    assert (replay.state, step.net.of(Protection)) == (shard.rows.state, ())


def test_an_audit_finds_what_was_erased_though_it_was_held_and_withheld_though_it_was_not(
    shard: Shard, codec: Codec
) -> None:
    said = ordered(GENESIS)
    record = erasures.accepted(said, erasures.signed(codec, GENESIS, said), 20_000)
    shard.protect(accepted(codec, "hold", B, 2))
    shard.erase(record, among(NAMESPACE, dict.fromkeys("abc", "short-term")))
    assert Kind.EFFECT_IMPOSSIBLE in kinds(publish(shard).audit())
    other = Shard(codec, GENESIS)
    other.episode("a", subject="ada")
    other.protect(accepted(codec, "hold", A, 2))
    other.withhold(record, A)
    public = publish(other)
    public.forge(-1 % len(public.entries), replace(public.detail(-1), held=()))
    assert Kind.EFFECT_IMPOSSIBLE in kinds(public.audit())
    public = publish(other)
    at = len(public.entries) - 2
    public.forge(at, replace(public.detail(at), applied=False))
    assert Kind.EFFECT_IMPOSSIBLE in kinds(public.audit())


def test_members_read_it_in_the_stream_and_follow_no_order_that_does_not_hold(codec: Codec) -> None:
    view = View(Path(":memory:"), GENESIS.cluster, 1)
    walk = Walk(codec, view, GENESIS, me=1, shard=0)
    forged = replace(accepted(codec, "hold", B, 2), order=signed(codec, wanted("hold", B, 2), "service:erasure"))
    foreign = [accepted(codec, "pin", B, 5, namespace="team-7"), accepted(codec, "unpin", A, 6, namespace="team-7")]
    records = [accepted(codec), forged, accepted(codec, "hold", C, 3), accepted(codec, "release", C, 4), *foreign]
    with view.batch():
        for about in (A, B, C):
            view.remember(Known(about, NAMESPACE, "ann", 0, 0, 0, 1, 0, None, None, None, b"", b"", None, ""))
        for offset, record in enumerate(records):
            walk.accept(offset, record, b"bytes")
        walk.go()
    assert view.protected([A, B, C]) == {A}
    view.close()


@pytest.mark.parametrize(
    ("orders", "stands"),
    [
        # Published again, an unpin ends no second pin, and a pin protects no more.
        ([("pin", 1), ("unpin", 2), ("pin", 3), ("unpin", 2)], True), ([("pin", 1), ("unpin", 2), ("pin", 1)], False),
        ([("pin", 1), ("unpin", 3)], True),
        # The journal knows which of two pins is in force; an order that ends one of them ends both.
        ([("pin", 1), ("pin", 2), ("unpin", 3)], False), ([("pin", 2), ("pin", 1), ("unpin", 3)], False),
    ],
)  # fmt: skip
def test_members_follow_an_order_once_and_end_what_it_names(
    codec: Codec, orders: list[tuple[str, int]], stands: bool
) -> None:
    assert (members(codec, [accepted(codec, action, A, number) for action, number in orders]) == {A}) == stands


def members(codec: Codec, records: list[OrderAccepted]) -> set[str]:
    """Returns what a member takes for protected after reading these records."""
    view = View(Path(":memory:"), GENESIS.cluster, 1)
    walk = Walk(codec, view, GENESIS, me=1, shard=0)
    with view.batch():
        view.remember(Known(A, NAMESPACE, "ann", 0, 0, 0, 1, 0, None, None, None, b"", b"", None, ""))
        for offset, record in enumerate(records):
            walk.accept(offset, record, b"bytes")
        walk.go()
    found = view.protected([A])
    view.close()
    return found


def by(codec: Codec, signer: str, action: str, number: int, **changes: Any) -> OrderAccepted:
    record = accepted(codec, action, A, number, **changes)
    return replace(record, order=signed(codec, wanted(action, A, number, **changes), signer))


@pytest.mark.parametrize("begun", [[("operator", "pin", 1)], [("service:erasure", "pin", 0), ("operator", "pin", 1)]])
def test_what_the_operator_pinned_nobody_else_unpins(
    shard: Shard, codec: Codec, begun: list[tuple[str, str, int]]
) -> None:
    """A pin of the operator also replaces another's, which would not keep the memory as long."""
    records = [by(codec, *one) for one in begun] + [by(codec, "service:erasure", "unpin", 2)]
    for record in records:
        shard.protect(record)
    assert [one.signer for one in shard.rows.protected.values()] == ["operator"] and members(codec, records) == {A}
    records.append(by(codec, "operator", "unpin", 3, ends=order_id(1)))
    shard.protect(records[-1])
    assert not shard.rows.protected and members(codec, records) == set()
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


def test_who_else_pinned_it_is_unpinned_by_anyone_with_the_right(shard: Shard, codec: Codec) -> None:
    records = [by(codec, "service:erasure", "pin", 1), by(codec, "service:erasure", "unpin", 2)]
    for record in records:
        shard.protect(record)
    assert not shard.rows.protected and members(codec, records) == set()


def test_what_two_goals_need_is_kept_until_both_have_ended(shard: Shard, codec: Codec) -> None:
    for number, (action, goal) in enumerate([("need", "reap"), ("need", "sow"), ("spare", "sow")], 1):
        shard.protect(accepted(codec, action, A, number, reference=goal))
    shard.protect(accepted(codec, "need", B, 7, reference="sow"))
    shard.protect(accepted(codec, "spare", B, 8, reference="another"))
    shard.tick(11_000)
    assert forget(shard, A, B, C) == [("voided", "protected"), ("voided", "protected"), ("forgotten", "quorum")]
    shard.protect(accepted(codec, "spare", A, 9, reference="reap", ends=order_id(1)))
    shard.protect(accepted(codec, "pin", B, 10))
    shard.protect(accepted(codec, "spare", B, 11, reference="sow", ends=order_id(7)))
    shard.tick(12_000)
    assert forget(shard, A, B) == [("forgotten", "quorum"), ("voided", "protected")]
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


def test_an_erasure_goes_over_goals(shard: Shard, codec: Codec) -> None:
    for number, goal in enumerate(["sow", "reap"]):
        shard.protect(accepted(codec, "need", A, number, reference=goal))
    assert {kind for _, kind in shard.rows.protected} == {"goal:sow", "goal:reap"}
    said = ordered(GENESIS)
    record = erasures.accepted(said, erasures.signed(codec, GENESIS, said), 20_000)
    shard.erase(record, among(NAMESPACE, dict.fromkeys("abc", "short-term")))
    assert not shard.rows.protected
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


# Limits


SMALL = genesis.make(policy=Policy(protection=ProtectionPolicy(pins_max=2, needs_max=2)), **entitled(signed=()))


def of_small(codec: Codec, action: str, about: str, number: int, signer: str = "service:erasure") -> OrderAccepted:
    order = wanted(action, about, number, cluster=SMALL.cluster, reference=f"goal {number}")
    record = protections.accepted(codec, action, about, number, cluster=SMALL.cluster)
    return replace(record, order=signed(codec, order, signer))


def known(name: str) -> Known:
    return Known(memory_id(name), NAMESPACE, "ann", 0, 0, 0, 1, 0, None, None, None, b"", b"", None, "")


@pytest.mark.parametrize("action", ["pin", "need"])
def test_a_namespace_protects_no_more_than_its_limit_but_for_the_operator(codec: Codec, action: str) -> None:
    shard, view = Shard(codec, SMALL), View(Path(":memory:"), SMALL.cluster, 1)
    walk = Walk(codec, view, SMALL, me=1, shard=0)
    for name in "abcd":
        shard.episode(name, subject="ada")
    records = [of_small(codec, action, memory_id(name), number) for number, name in enumerate("abc", 1)]
    records.append(of_small(codec, action, memory_id("d"), 4, "operator"))
    changes = [shard.protect(record) for record in records]
    assert [codec.decode_as(Protected, c.entry.detail).applied for c in changes] == [True, True, False, True]
    with view.batch():
        for name in "abcd":
            view.remember(known(name))
        for offset, record in enumerate(records):
            walk.accept(offset, record, b"bytes")
        walk.go()
    ids_of = [memory_id(name) for name in "abcd"]
    assert view.protected(ids_of) == {memory_id(name) for name in "abd"} == {i for i, _ in shard.rows.protected}
    view.close()
    public = publish(shard)
    assert kinds(public.audit(store=True, accepted=True)) == []
    public.forge(6, replace(public.detail(6), applied=True))
    assert Kind.EFFECT_IMPOSSIBLE in kinds(public.audit())


def test_by_whichever_policy_a_member_reads_a_pin_it_signs_the_same_of_the_stream(codec: Codec) -> None:
    """A member that reads old pins by a later configuration protects other memories; the digest that members compare is
    the same.
    """
    records = [of_small(codec, "pin", memory_id(name), number) for number, name in enumerate("abc", 1)]
    wide = replace(SMALL, policy=replace(SMALL.policy, protection=ProtectionPolicy(pins_max=3)))
    held, signed_of, stands = [], [], []
    for configuration in (SMALL, wide):
        view = View(Path(":memory:"), SMALL.cluster, 1)
        walk = Walk(codec, view, SMALL, me=1, shard=0)
        walk.follow(configuration)
        with view.batch():
            for name in "abc":
                view.remember(known(name))
            for offset, record in enumerate(records):
                walk.accept(offset, record, b"bytes")
            walk.go()
        held.append(len(view.protected([memory_id(name) for name in "abc"])))
        signed_of.append(view.stream(0))
        stands.append([view.order_at(0, offset) for offset in range(3)])
        view.close()
    assert held == [2, 3]
    assert signed_of[0] is not None and signed_of[0] == signed_of[1]
    assert stands[0] == stands[1] and None not in stands[0]


# Goals that nobody ends


LAPSE = Policy(protection=ProtectionPolicy(lapse_ms=1_000), forget=ForgetPolicy(grace_ms=500))
LAPSING = genesis.make(policy=LAPSE, **entitled(signed=()))


def need(codec: Codec, name: str, number: int, at: int, goal: str = "sow") -> OrderAccepted:
    said = {"cluster": LAPSING.cluster, "reference": goal}
    return replace(protections.accepted(codec, "need", memory_id(name), number, **said), accepted_at=at)


class Kept:
    """A shard's store with two goals: one begun at 5,000 and spoken of again at 5,500, the other begun at 5,800."""

    def __init__(self, codec: Codec) -> None:
        self.shard, self.store = Shard(codec, LAPSING), InMemoryStore()
        self.store.start(LAPSING.cluster, LAPSING.shards)
        for name in "abc":
            self.shard.episode(name)
        self.needs = [need(codec, "a", 1, 5_000), need(codec, "b", 2, 5_500), need(codec, "c", 3, 5_800, "reap")]
        for record in self.needs:
            self.shard.protect(record)

    def tick(self, codec: Codec, as_of: int, own_clock: OwnClock | None = None) -> list[Change]:
        """Returns the protections that lapse at a time."""
        self.shard.tick(as_of)
        with self.store.transaction({self.shard.work.net().before: RowKeys()}) as transaction:
            transaction.write([self.shard.work.net()], {}, {})
        line = CommitShard(Rules(codec, LAPSING), self.store.start(LAPSING.cluster, LAPSING.shards)[0])
        lapsing = Lapsing(cast(Any, self.store), own_clock)
        changes = [change for _, change in lapsing.round({0: line})]
        for change in changes:
            self.shard._absorb(change)
        return changes


@pytest.mark.parametrize(("as_of", "lapses"), [(6_499, []), (6_500, [A, B])])
def test_a_goal_that_nobody_speaks_of_lapses_as_a_whole(codec: Codec, as_of: int, lapses: list[str]) -> None:
    kept = Kept(codec)
    changes = kept.tick(codec, as_of)
    assert [sorted(i for i, _ in change.ended(Protection)) for change in changes] == [sorted(lapses)] * bool(lapses)
    assert (C, "goal:reap") in kept.shard.rows.protected and len(kept.shard.rows.protected) == 3 - len(lapses)
    public = publish(kept.shard)
    assert kinds(public.audit(store=True, accepted=True)) == []
    replay = Replay(kept.shard.rules, 0)
    step = replay.take([replay.read(data) for data in public.entries])
    assert {one.memory_id for one in step.net.of(Protection)} == {A, B, C} - set(lapses)
    # Members come to the same, by the same ticks.
    view = View(Path(":memory:"), LAPSING.cluster, 1)
    walk = Walk(codec, view, LAPSING, me=1, shard=0)
    with view.batch():
        for own in (A, B, C):
            view.remember(Known(own, NAMESPACE, "ann", 0, 0, 0, 1, 0, None, None, None, b"", b"", None, ""))
        for offset, record in enumerate([*kept.needs, ClockTicked("t", as_of)]):
            walk.accept(offset, record, b"bytes")
        walk.go()
    assert view.protected([A, B, C]) == {A, B, C} - set(lapses)
    view.close()


def test_what_is_said_again_is_needed_from_then_on(codec: Codec) -> None:
    kept = Kept(codec)
    again = need(codec, "a", 9, 6_000)
    assert codec.decode_as(Protected, kept.shard.protect(again).entry.detail).applied
    assert kept.shard.rows.protected[A, "goal:sow"].accepted_at == 6_000
    assert kept.tick(codec, 6_799) == []
    assert kinds(publish(kept.shard).audit(accepted=True)) == []


def test_no_goal_lapses_by_a_clock_that_runs_away(codec: Codec) -> None:
    assert Kept(codec).tick(codec, 9_000, OwnClock(1, lambda: 1_000)) == []


@pytest.mark.parametrize(
    "changes", [{"used_at": 5_400}, {"memory_ids": (C,)}, {"memory_ids": ()}, {"kind": "pin"}, {"kind": "goal:reap"}]
)
def test_an_audit_finds_what_lapsed_and_should_not_have(codec: Codec, changes: dict[str, Any]) -> None:
    kept = Kept(codec)
    kept.tick(codec, 6_500)
    public = publish(kept.shard)
    at = len(public.entries) - 1
    public.forge(at, replace(public.detail(at), **changes))
    assert {Kind.EFFECT_IMPOSSIBLE, Kind.EFFECT_UNDECIDED} & set(kinds(public.audit()))


def test_a_rebuild_follows_no_journal_in_which_a_goal_lapsed_too_early(codec: Codec) -> None:
    kept = Kept(codec)
    kept.shard.tick(6_499)
    with pytest.raises(BrokenChain, match="was renewed after"):
        ordering.apply_lapsed(kept.shard.rules, kept.shard.rows, GoalDue(NAMESPACE, "goal:sow", 5_500, (A, B)))


# Over HTTP


@pytest.fixture
def service(codec: Codec) -> Served:
    return serve(codec, Door(None))


@pytest.fixture
def client(service: Served) -> TestClient:
    return client_of(service)


def test_a_pin_is_ordered_and_waited_for(client: TestClient, service: Served) -> None:
    asked = {"namespace": "greenhouse", "memory_id": HERS}
    told = client.post("/orders/pin", json=asked | {"reference": "case-3"}).json()
    assert (told["status"], [one["kind"] for one in told["protected_by"]]) == ("pinned", ["pin"])
    assert [(topic, namespace) for topic, namespace, _ in service.sent] == [(topics.PROTECTIONS, "greenhouse")]
    again = client.post("/orders/pin", json=asked).json()
    assert (again["status"], again["order_id"], len(service.sent)) == ("pinned already", told["order_id"], 1)
    assert "no other pin was made, and whoever unpins it ends it for all" in again["detail"]
    assert client.post("/orders/unpin", json=asked).json()["status"] == "unpinned"
    nothing = client.post("/orders/unpin", json=asked).json()
    assert (nothing["status"], nothing["order_id"]) == ("nothing to unpin", None)
    assert (nothing["detail"], len(service.sent)) == (f"no pin stands of {HERS}", 2)
    missing = client.post("/orders/pin", json=asked | {"memory_id": THEIRS})
    assert (missing.status_code, missing.json()["field"]) == (404, "memory_id")
    service.carries_out = False
    late = client.post("/orders/pin?wait_ms=0", json=asked)
    assert (late.status_code, late.json()["status"]) == (202, "ordered")


def test_the_operator_is_told_that_a_memory_is_in_another_namespace(shard: Shard) -> None:
    found = shard.rows.memories[A]
    for action in ("hold", "release", "pin", "unpin"):
        told = hold.wrong(A, found, "mill", action)
        assert told == f"not {action}: {A} is in {NAMESPACE!r}, not in 'mill'"
    assert hold.wrong(A, found, NAMESPACE, "hold") is None


@pytest.mark.parametrize("dry", [True, False])
def test_an_erasure_of_what_is_held_is_refused_and_names_the_hold(
    client: TestClient, service: Served, dry: bool
) -> None:
    store: Any = service.reads
    store.protect(replace(wanted("hold", HERS), namespace="greenhouse"))
    answer = client.post("/orders/erase", json={"namespace": "greenhouse", "subject": "ada", "dry_run": dry})
    assert (answer.status_code, answer.json()["error"]) == (409, "held")
    assert all(
        word in answer.json()["detail"]
        for word in (HERS, "counsel", "case-3", "memquorum admin memories hold --release`")
    )
    assert service.sent == []


def test_what_a_goal_needs_is_kept_until_it_ends(client: TestClient, service: Served) -> None:
    asked = {"namespace": "greenhouse", "goal": "sow"}
    told = client.post("/orders/begin_goal", json=asked | {"memory_ids": [HERS, HERS.upper()]}).json()
    assert told == asked | {"status": "active", "memory_ids": [HERS]}
    kept = client.post("/orders/unpin", json={"namespace": "greenhouse", "memory_id": HERS}).json()
    assert [one["kind"] for one in kept["protected_by"]] == ["goal:sow"]
    assert client.post("/orders/end_goal", json=asked).json() == asked | {"status": "ended", "memory_ids": []}
    sent = len(service.sent)
    assert (
        client.post("/orders/end_goal", json=asked).json()["status"] == "nothing to end" and len(service.sent) == sent
    )
    service.carries_out = False
    late = client.post("/orders/begin_goal?wait_ms=0", json=asked | {"memory_ids": [HERS]})
    assert (late.status_code, late.json()["status"]) == (202, "ordered")
    # The store does not know of it yet, so there is no order to name: ask again.
    early = client.post("/orders/end_goal?wait_ms=0", json=asked | {"memory_ids": [HERS]})
    assert (early.status_code, early.json()["status"], len(service.sent)) == (202, "not yet", sent + 1)
    store: Any = service.reads
    _, begun = PROTECTION.opened(service.codec, service.genesis, service.sent[-1][2])
    store.protect(begun)
    assert client.post("/orders/end_goal?wait_ms=0", json=asked | {"memory_ids": [HERS]}).json()["status"] == "ordered"
    _, last = PROTECTION.opened(service.codec, service.genesis, service.sent[-1][2])
    assert (last.action, last.memory_id, last.reference, last.ends) == ("spare", HERS, "sow", begun.order_id)


def test_what_a_goal_needs_requires_is_needed_too(client: TestClient, service: Served) -> None:
    store: Any = service.reads
    tool, cable = order_id(71), order_id(72)
    store.requires = {HERS: (tool, cable)}
    asked = {"namespace": "greenhouse", "goal": "sow"}
    told = client.post("/orders/begin_goal?wait_ms=0", json=asked | {"memory_ids": [HERS]}).json()
    ordered = {PROTECTION.opened(service.codec, service.genesis, data)[1].memory_id for _, _, data in service.sent}
    assert ordered == {HERS, tool, cable} and told["goal"] == "sow"
    sent = len(service.sent)
    store.requires = {HERS: tuple(order_id(1_000 + i) for i in range(1_000))}
    refused = client.post("/orders/begin_goal", json=asked | {"memory_ids": [HERS]})
    assert (refused.status_code, refused.json()["field"]) == (400, "memory_ids")
    assert "more than 1000 memories" in refused.json()["detail"] and len(service.sent) == sent


def test_a_pin_that_the_operator_set_the_operator_ends(client: TestClient, service: Served) -> None:
    store: Any = service.reads
    store.protect(replace(wanted("pin", HERS), namespace="greenhouse"))
    asked = {"namespace": "greenhouse", "memory_id": HERS}
    refused = client.post("/orders/unpin", json=asked)
    assert (refused.status_code, refused.json()["error"]) == (400, "not_entitled")
    assert "memquorum admin memories hold --unpin" in refused.json()["detail"] and service.sent == []
    told = client.post("/orders/pin", json=asked).json()
    assert (told["status"], told["order_id"], service.sent) == ("pinned already", order_id(1), [])
    whose = f"pinned by counsel (case-3), order {order_id(1)}"
    assert told["detail"] == f"{whose}: no other pin was made, and the operator alone ends it"


@pytest.mark.parametrize(
    ("changes", "status", "field"),
    [
        ({"memory_ids": [THEIRS]}, 404, "memory_ids"), ({"memory_ids": []}, 400, "memory_ids"),
        ({"memory_ids": ["A"]}, 400, "memory_id"), ({"goal": ""}, 400, "goal"),
    ],
)  # fmt: skip
def test_what_no_goal_can_need(client: TestClient, changes: dict[str, Any], status: int, field: str) -> None:
    answer = client.post(
        "/orders/begin_goal", json={"namespace": "greenhouse", "goal": "sow", "memory_ids": [HERS]} | changes
    )
    assert (answer.status_code, answer.json()["field"]) == (status, field)


def test_who_would_go_over_the_limit_is_told_what_to_do(codec: Codec) -> None:
    service = serve(codec, Door(None))
    limited = replace(service.genesis, policy=Policy(protection=ProtectionPolicy(pins_max=0, needs_max=0)))
    service.configurations = Configurations(service.codec, limited)
    client = client_of(service)
    pinned = client.post("/orders/pin", json={"namespace": "greenhouse", "memory_id": HERS})
    assert (pinned.status_code, pinned.json()["error"]) == (400, "too_many") and "unpin" in pinned.json()["detail"]
    needed = client.post("/orders/begin_goal", json={"namespace": "greenhouse", "goal": "sow", "memory_ids": [HERS]})
    assert (needed.status_code, needed.json()["error"]) == (400, "too_many") and "--end" in needed.json()["detail"]
    assert service.sent == []
