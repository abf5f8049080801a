"""A forgotten memory is restored by a vote while it is sealed, and never after its key is destroyed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from db.standing import Clear
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import BadCertificate, check_nomination
from memquorum.core.intake import Origin, Refusal, accept
from memquorum.core.journal.effects import redo
from memquorum.core.journal.recall import recall
from memquorum.core.journal.rows import DecisionRow, RowKeys, Strength
from memquorum.core.journal.workset import Workset
from memquorum.core.orders import restore as orders
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.restore import REQUEST
from memquorum.core.policy import EpochPolicy, ForgetPolicy, Policy
from memquorum.core.records import (
    Accessed,
    DecayCrossed,
    ErasedEpisode,
    JournalEntry,
    NominationProposed,
    OrderAccepted,
    OrderFound,
    Restored,
    RestoreOrdered,
    Signed,
    Standing,
)
from memquorum.core.vote import asking
from streams.order_queue import OpenOrders
from tests.builders import erasures, genesis, votes
from tests.builders.genesis import seed_of
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.builders.votes import nobody, proposal
from tests.inmemory.store import InMemoryStore, InMemoryStoredOrders

GENESIS = genesis.make(policy=Policy(forget=ForgetPolicy(grace_ms=500)), **erasures.entitled())
A, B, ELSEWHERE = memory_id("a"), memory_id("b"), memory_id("a", "elsewhere")
ORDER = votes.restore(GENESIS, A)
KEPT = Restored(A, 700_000, 1, 1, 0, 0)


@pytest.fixture
def shard(codec: Codec) -> Shard:
    """A was read once and said again once, and B was not. Both are forgotten, until 1,500."""
    made = Shard(codec, GENESIS)
    made.episode("a", 100)
    made.episode("b", 100)
    made.episode("a again", 120, "reinforced", reinforces=A, salience=700_000)
    made.access(A, 130)
    made.tick(1_000)
    made.decide([proposal(A, "promote")], nobody)
    made.decide([proposal(A, "forget"), proposal(B, "forget")])
    assert {made.rows.memories[i].tier for i in (A, B)} == {"sealed"}
    return made


def outcome(change: Any) -> list[tuple[str, str]]:
    return [(o.outcome, o.reason) for o in change.one(DecisionRow).outcomes]


def test_it_is_again_what_it_was_as_if_used_just_now(shard: Shard, codec: Codec) -> None:
    before, alive = shard.rows.memories[A], shard.rows.state.alive
    assert shard.ask(ORDER, 1_100).entry.effect == "requested"
    shard.tick(1_200)
    change = shard.restore(ORDER, KEPT)
    assert outcome(change) == [("restored", "quorum")]
    memory, strength = shard.rows.memories[A], shard.rows.strengths[A]
    assert memory == replace(
        before, tier="short-term", sealed_until=None, asks_after=None, changed=1_200, seq=change.entry.seq
    )
    assert (strength.tier, strength.last_access, strength.salience_ppm) == ("short-term", 1_100, 700_000)
    assert (strength.accesses, strength.reinforced, strength.created) == (1, 1, 100)
    # Last epoch was 2: for want of room it does not go before 3 + 1 + `epoch.rest_epochs_max`.
    assert strength.rest == {"evict": 3 + 1 + 64}
    assert shard.rows.state.alive == alive + 1 and A in shard.work.net().revealed
    # An epoch about a request does not count for memories: theirs is as due as before.
    assert shard.rows.state.last_epoch_at == 1_000
    assert shard.access(A, 1_300).of(Strength)[0].accesses == 2


def test_what_came_back_does_not_go_for_want_of_room_before_its_rest_is_over(codec: Codec) -> None:
    by = genesis.make(policy=Policy(epoch=EpochPolicy(rest_epochs_max=2)), **erasures.entitled())
    made, order = Shard(codec, by), votes.restore(by, A)
    made.episode("a", 100)
    made.episode("b", 100)
    made.tick(1_000)
    made.decide([proposal(A, "evict")])
    assert made.rows.memories[A].tier == "sealed"
    made.ask(order, 1_100)
    made.restore(order, Restored(A, 600_000, 0, 0, 0, 0))
    made.access(A, 1_150)  # a use speaks for it, and does not end its rest
    for _ in range(2):
        assert outcome(made.decide([proposal(A, "evict")], accepted_offset=made.offset)) == [("voided", "rested")]
    assert outcome(made.decide([proposal(A, "evict")])) == [("forgotten", "quorum")]


def test_what_a_vote_kept_goes_by_a_later_vote_though_it_rests(codec: Codec) -> None:
    made = Shard(codec, GENESIS)
    made.episode("a", 100)
    made.tick(1_000)
    made.decide([proposal(A, "evict")], nobody)
    assert made.rows.strengths[A].rest["evict"] > made.rows.state.last_epoch + 1
    assert outcome(made.decide([proposal(A, "evict")])) == [("forgotten", "quorum")]


def test_what_came_back_may_be_let_go_for_another_reason(shard: Shard) -> None:
    shard.ask(ORDER, 1_100)
    shard.restore(ORDER, KEPT)
    shard.tick(1_200)
    assert outcome(shard.decide([proposal(A, "forget")])) == [("forgotten", "quorum")]


def test_what_was_never_promoted_comes_back_to_short_term_memory(shard: Shard) -> None:
    order = votes.restore(GENESIS, B)
    shard.ask(order, 1_100)
    shard.restore(order, Restored(B, 600_000, 0, 0, 1, 1))
    assert shard.rows.memories[B].tier == shard.rows.strengths[B].tier == "short-term"


def test_who_is_refused_stays_sealed_and_may_ask_again(shard: Shard) -> None:
    before = shard.rows.memories[A]
    shard.ask(ORDER, 1_100)
    change = shard.restore(ORDER, vote=nobody)
    assert outcome(change) == [("kept", "too_few_votes")]
    assert shard.rows.memories[A] == before and A not in shard.rows.strengths
    again = replace(ORDER, order_id=memory_id("again"))
    shard.ask(again, 1_200)
    assert outcome(shard.restore(again, KEPT)) == [("restored", "quorum")]


@pytest.mark.parametrize(
    ("said_yes", "expected"),
    [((3,), "kept"), ((1, 2), "restored"), ((0, 1), "restored")],
)
def test_one_liar_restores_nothing_and_withholds_nothing(
    shard: Shard, said_yes: tuple[int, ...], expected: str
) -> None:
    shard.ask(ORDER, 1_100)
    change = shard.restore(ORDER, KEPT, vote=lambda member, _: member in said_yes)
    assert outcome(change)[0][0] == expected


def test_an_erasure_that_lands_between_request_and_decision_has_the_last_word(shard: Shard, codec: Codec) -> None:
    shard.ask(ORDER, 1_100)
    said = erasures.ordered(GENESIS, "memory", A)
    shard.erase(erasures.accepted(said, erasures.signed(codec, GENESIS, said), 1_150), [ErasedEpisode(A, "sealed")])
    change = shard.restore(ORDER, KEPT)
    assert outcome(change) == [("voided", "key gone")] and not change.restored
    assert shard.rows.memories[A].tier == "gone" and A not in shard.rows.strengths
    assert shard.ask(replace(ORDER, ordered_at=7), 1_200).entry.effect == "declined"


def test_after_the_grace_time_nothing_comes_back(shard: Shard) -> None:
    shard.ask(ORDER, 1_100)
    shard.tick(1_500)
    # Its key may be gone by now, whether that is journalled already or not.
    assert outcome(shard.restore(ORDER, KEPT)) == [("voided", "grace over")]
    shard.destroy(A, B)
    assert shard.ask(replace(ORDER, ordered_at=7), 1_600).entry.effect == "declined"
    assert outcome(shard.restore(ORDER, KEPT)) == [("voided", "key gone")]


def test_what_cannot_be_opened_stays_sealed(shard: Shard) -> None:
    shard.ask(ORDER, 1_100)
    assert outcome(shard.restore(ORDER)) == [("voided", "unreadable")]
    assert shard.rows.memories[A].tier == "sealed"


def test_what_is_alive_elsewhere_or_unknown_is_left_alone(shard: Shard) -> None:
    shard.episode("alive", 100)
    alive = memory_id("alive")
    order = votes.restore(GENESIS, alive, ELSEWHERE, memory_id("nowhere"))
    assert shard.ask(order, 1_100).entry.effect == "declined"
    change = shard.restore(order, replace(KEPT, memory_id=alive))
    # There is no row of a memory that the asker does not have: it may be another tenant's.
    assert outcome(change) == [("voided", "not forgotten")]
    assert [o.memory_id for o in change.one(DecisionRow).outcomes] == [alive]  # type: ignore[union-attr]


def test_it_can_be_forgotten_again_and_restored_again(shard: Shard) -> None:
    shard.ask(ORDER, 1_100)
    shard.restore(ORDER, KEPT)
    shard.tick(1_200)
    shard.decide([proposal(A, "forget")])
    assert (shard.rows.memories[A].tier, shard.rows.memories[A].sealed_until) == ("sealed", 1_700)
    again = replace(ORDER, order_id=memory_id("again"))
    shard.ask(again, 1_600)
    assert outcome(shard.restore(again, KEPT)) == [("restored", "quorum")]


def test_whoever_walks_the_journal_reaches_the_same(shard: Shard, codec: Codec) -> None:
    shard.ask(ORDER, 1_100)
    shard.restore(ORDER, KEPT)
    walked = Workset(replace(Shard(codec, GENESIS).rows))
    for change in shard.changes:
        walked.absorb(redo(shard.rules, walked.rows, change.appended))
    assert walked.rows == shard.rows


def test_the_journal_recalls_what_use_had_made_of_a_memory(shard: Shard, codec: Codec) -> None:
    shard.access(A, 1_050)  # came too late to count
    about = shard.about(A)
    past = recall(codec, about)
    assert past is not None and past.restored == KEPT and past.encoded is None
    assert recall(codec, about[1:]) is None


# Late uses -----------------------------------------------------------------------------------------------------------


def open_requests(shard: Shard, codec: Codec) -> list[tuple[OrderFound, RestoreOrdered]]:
    """Returns the requests that would be nominated at the next tick, by the journal."""
    store = InMemoryStore()
    shard_rows = store.start(GENESIS.cluster, GENESIS.shards)[0]
    with store.transaction({shard_rows.state: RowKeys()}) as transaction:
        transaction.write([shard.work.net()], {i: Clear("", np.ones(3, np.float32)) for i in shard.rows.strengths}, {})
    state = shard.rows.state
    tick = DecayCrossed(0, state.as_of, shard.offset + 1, state.seq, (), state.standing)
    due = OpenOrders(codec, GENESIS, InMemoryStoredOrders(store)).due(state.standing, tick, GENESIS.policy)
    return [(found, order) for _, found, order in due]


def test_a_use_that_comes_after_its_memory_was_forgotten_is_put_to_the_vote_once(shard: Shard, codec: Codec) -> None:
    asked = shard.access(A, 1_001)
    assert asked.entry.effect == "asked" and not asked.of(Strength) and shard.rows.state.asked_at == 1_000
    assert shard.rows.memories[A].tier == "sealed" and A not in shard.rows.strengths
    # A repeated use makes no further votes.
    assert [shard.access(A, at).entry.effect for at in (1_001, 1_400)] == ["accessed", "accessed"]
    assert shard.access(A, 1_002, asked.entry.event_id).entry.effect == "repeated"
    ((found, order),) = open_requests(shard, codec)
    assert (order.memory_ids, order.ordered_by, found.accepted_at) == ((A,), "reviewer", 1_001)
    change = shard.restore_used(found, KEPT)
    assert outcome(change) == [("restored", "quorum")]
    strength = shard.rows.strengths[A]
    assert strength.last_access == 1_001
    assert shard.rows.memories[A].asks_after is None and open_requests(shard, codec) == []


def test_a_use_asks_for_all_that_was_forgotten_and_keeps_alive_what_is_there(shard: Shard, codec: Codec) -> None:
    shard.episode("alive", at=1_000)
    alive = memory_id("alive")
    asked = shard.access((A, alive, ELSEWHERE, B), 1_001)
    told = codec.decode_as(Accessed, asked.entry.detail)
    assert [one.outcome for one in told.used] == ["asks", "applied", "missed", "asks"]
    assert (asked.entry.effect, shard.rows.strengths[alive].accesses) == ("asked", 1)
    ((found, order),) = open_requests(shard, codec)
    assert order.memory_ids == (A, B)
    assert outcome(shard.restore_used(found, KEPT, replace(KEPT, memory_id=B))) == [("restored", "quorum")] * 2
    assert open_requests(shard, codec) == []


def test_a_use_asks_for_no_more_than_one_epoch_votes_on(codec: Codec) -> None:
    policy = replace(GENESIS.policy, epoch=replace(GENESIS.policy.epoch, proposals_max=1))
    shard = Shard(codec, replace(GENESIS, policy=policy))
    for name in "ab":
        shard.episode(name)
    shard.tick(1_000)
    for one in (A, B):
        shard.decide([proposal(one, "forget")])
    first, second = (codec.decode_as(Accessed, shard.access((A, B), at).entry.detail) for at in (1_001, 1_002))
    assert [one.outcome for one in first.used] == ["asks", "missed"]
    assert [one.outcome for one in second.used] == ["missed", "asks"], "the next use asks for the other"


def test_what_the_members_refused_no_further_use_asks_for(shard: Shard, codec: Codec) -> None:
    shard.access(A, 1_001)
    ((found, _),) = open_requests(shard, codec)
    assert outcome(shard.restore_used(found, vote=nobody)) == [("kept", "too_few_votes")]
    assert shard.access(A, 1_100).entry.effect == "accessed" and open_requests(shard, codec) == []
    # An entitled agent may still ask for it; and a memory that is restored and forgotten once more can be asked for by
    # a use again.
    shard.ask(ORDER, 1_200)
    assert outcome(shard.restore(ORDER, KEPT)) == [("restored", "quorum")]
    shard.tick(1_300)
    shard.decide([proposal(A, "forget")])
    assert [shard.access(A, at).entry.effect for at in (1_300, 1_301)] == ["accessed", "asked"]


@pytest.mark.parametrize(
    ("named", "at", "namespace"), [(A, 1_000, NAMESPACE), (ELSEWHERE, 1_001, NAMESPACE), (A, 1_001, "elsewhere")]
)
def test_no_use_asks_that_the_vote_could_know_of_or_of_what_is_not_there(
    shard: Shard, codec: Codec, named: str, at: int, namespace: str
) -> None:
    assert shard.access(named, at, namespace=namespace).entry.effect == "accessed"
    assert open_requests(shard, codec) == [] and shard.rows.state.asked_at == 0


def test_after_the_grace_time_no_use_asks(shard: Shard) -> None:
    shard.tick(1_500)
    assert shard.access(A, 1_400).entry.effect == "accessed"
    shard.destroy(A, B)
    assert shard.access(B, 1_400).entry.effect == "accessed" and shard.rows.memories[B].asks_after is None


def test_whoever_walks_a_journal_with_late_uses_reaches_the_same(shard: Shard, codec: Codec) -> None:
    shard.access(A, 1_001)
    shard.access(B, 1_002)
    shard.restore_used(open_requests(shard, codec)[0][0], KEPT)
    walked = Workset(replace(Shard(codec, GENESIS).rows))
    for change in shard.changes:
        walked.absorb(redo(shard.rules, walked.rows, change.appended))
    assert walked.rows == shard.rows


@pytest.mark.parametrize(
    "changes",
    [
        {"accepted_at": 1_002},
        {"offset": 8},
        {"memory_ids": (B,)},
        {"namespace": "elsewhere"},
        {"memory_ids": ("none",)},
    ],
)
def test_a_nomination_of_a_late_use_says_nothing_else_than_the_use(
    shard: Shard, codec: Codec, changes: dict[str, Any]
) -> None:
    shard.access(A, 1_001)
    ((found, order),) = open_requests(shard, codec)
    tick = DecayCrossed(0, 1_000, 9, 20, ())
    sound = asking.build(codec, GENESIS, Standing(0, 0, 0, 0), tick, (REQUEST, found, order))
    assert asking.check(codec, GENESIS, sound) == (found, order)
    use = codec.decode(found.order)
    told = {name: value for name, value in changes.items() if hasattr(found, name)}
    said = {name: value for name, value in changes.items() if not hasattr(found, name)}
    other = replace(found, **told, order=codec.encode(replace(use, **said)))
    with pytest.raises(BadOrder):
        asking.check(codec, GENESIS, replace(sound, order=codec.encode(other)))


# Requests ------------------------------------------------------------------------------------------------------------


def test_who_may_ask(codec: Codec) -> None:
    made = {name: REQUEST.make(codec, GENESIS, name, seed_of(name), ORDER) for name in ("operator", "service:erasure")}
    for name, data in made.items():
        signed, order = REQUEST.opened(codec, GENESIS, data)
        assert (signed.signer, order) == (name, ORDER)
    for name, code in (("member:1", "not_entitled"), ("service:journal", "not_entitled"), ("agent:x", "not_entitled")):
        with pytest.raises(BadOrder) as refused:
            REQUEST.make(codec, GENESIS, name, seed_of(name), ORDER)
        assert refused.value.code == code


def test_nobody_asks_with_another_key_or_in_other_words(codec: Codec) -> None:
    with pytest.raises(BadOrder, match="signature"):
        REQUEST.make(codec, GENESIS, "operator", seed_of("service:journal"), ORDER)
    sound = codec.decode_as(Signed, REQUEST.make(codec, GENESIS, "operator", seed_of("operator"), ORDER))
    other = codec.encode(replace(ORDER, memory_ids=(B,)))
    with pytest.raises(BadOrder, match="signature"):
        REQUEST.opened(codec, GENESIS, codec.encode(replace(sound, body=other)))


def test_an_agent_may_ask_where_its_name_is_proven(codec: Codec) -> None:
    REQUEST.make(codec, GENESIS, "agent:reviewer", seed_of("agent:reviewer"), ORDER)
    with pytest.raises(BadOrder, match="name is only proven"):
        unsigned = replace(ORDER, namespace="elsewhere")
        REQUEST.make(codec, GENESIS, "agent:reviewer", seed_of("agent:reviewer"), unsigned)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"memory_ids": ()}, "memory_ids"),
        ({"memory_ids": (A, A)}, "memory_ids"),
        ({"memory_ids": (A.upper(),)}, "memory_ids"),
        ({"memory_ids": tuple(memory_id(str(n)) for n in range(101))}, "memory_ids"),
        ({"namespace": ""}, "namespace"),
        ({"order_id": "1"}, "order_id"),
        ({"ordered_at": -1}, "ordered_at"),
        ({"cluster": b"another"}, "cluster"),
        ({"action": "promote"}, "action"),
    ],
)
def test_what_no_request_may_say(codec: Codec, changes: dict[str, Any], field: str) -> None:
    with pytest.raises(BadOrder) as refused:
        REQUEST.make(codec, GENESIS, "operator", seed_of("operator"), replace(ORDER, **changes))
    assert refused.value.field == field


def test_a_request_names_no_more_than_an_epoch_takes() -> None:
    small = Policy(epoch=EpochPolicy(proposals_max=2))
    orders.check(votes.restore(GENESIS, A, B), small)
    with pytest.raises(BadOrder, match="at most 2 at once"):
        orders.check(votes.restore(GENESIS, A, B, ELSEWHERE), small)


def test_intake_lets_a_request_in_and_nothing_else(codec: Codec) -> None:
    data = votes.signed(codec, GENESIS, "operator", ORDER)
    origin, now = Origin(topics.RESTORES, 2, 17), 1_750_000_000_000
    expected = OrderAccepted(ORDER.order_id, "restore", NAMESPACE, (A,), data, now, topics.RESTORES, 2, 17)
    assert accept(codec, data, origin, now, False, genesis=GENESIS) == expected
    erasure = votes.signed(codec, GENESIS, "operator", erasures.ordered(GENESIS))
    for wrong in (b"{}", erasure, votes.signed(codec, GENESIS, "member:1", ORDER), b""):
        assert isinstance(accept(codec, wrong, origin, now, False, genesis=GENESIS), Refusal)
    assert isinstance(accept(codec, data, origin, now, False), Refusal)


def nominated(codec: Codec, **changes: Any) -> NominationProposed:
    data = votes.signed(codec, GENESIS, "operator", ORDER)
    tick = DecayCrossed(0, 1_200, 9, 9, ())
    made = asking.build(codec, GENESIS, Standing(0, 0, 0, 0), tick, (REQUEST, OrderFound(data, 1_100, 8), ORDER))
    return replace(made, **changes)


def test_a_nomination_of_a_request_is_the_request_and_nothing_else(codec: Codec) -> None:
    sound = nominated(codec)
    assert asking.check(codec, GENESIS, sound)[1] == ORDER
    check_nomination(codec, GENESIS, votes.signed(codec, GENESIS, "service:nomination", sound))
    (one,) = sound.proposals
    forged = codec.encode(OrderFound(votes.signed(codec, GENESIS, "member:1", ORDER), 1_100, 8))
    for wrong in (
        {"proposals": (replace(one, last_access=1_101),)},
        {"proposals": (one, replace(one, memory_ids=(B,)))},
        {"proposals": (replace(one, kind="forget"),)},
        {"proposals": (replace(one, namespace="elsewhere"),)},
        {"trigger": asking.trigger(A)},
        {"trigger": "interval"},
        {"accepted_offset": 8},
        {"shard": 1},
        {"order": b"garbage"},
        {"order": forged},
        {"order": None},
    ):
        with pytest.raises(BadCertificate):
            data = votes.signed(codec, GENESIS, "service:nomination", nominated(codec, **wrong))
            check_nomination(codec, GENESIS, data)


class Shelf:
    """The journal's entries of requests."""

    def __init__(self, shard: Shard) -> None:
        self._entries = [c.appended.entry for c in shard.changes if c.entry.effect == "requested"]
        self.asked: list[tuple[int, int, int]] = []

    def requests(self, _: int, *, since: int, before: int, through: int) -> list[bytes]:
        self.asked.append((since, before, through))
        return self._entries


def test_the_first_request_that_nobody_has_voted_on_is_nominated(shard: Shard, codec: Codec) -> None:
    shard.ask(ORDER, 1_100)
    shelf, tick = Shelf(shard), DecayCrossed(0, 1_200, 9, 9, ())
    standing = shard.rows.state.standing
    assert standing.asked_at == 1_000
    (found,) = OpenOrders(codec, GENESIS, shelf).due(standing, tick, GENESIS.policy)  # type: ignore[arg-type]
    assert found[2] == ORDER
    assert (found[1].accepted_at, found[1].offset) == (1_100, shard.offset)
    assert shelf.asked == [(700, 9, 2)]
    for late in (replace(standing, asked_at=0), replace(standing, asked_at=699)):
        assert list(OpenOrders(codec, GENESIS, shelf).due(late, tick, GENESIS.policy)) == []  # type: ignore[arg-type]
    assert len(shelf.asked) == 1


def test_a_request_that_nobody_would_vote_on_keeps_nobody_waiting(
    shard: Shard, codec: Codec, caplog: pytest.LogCaptureFixture
) -> None:
    astray = votes.restore(GENESIS, A, order_id=memory_id("astray"), namespace="n1")  # of another shard
    assert shard.ask(astray, 1_100).entry.effect == "declined"
    shard.ask(ORDER, 1_100)
    entry = codec.decode_as(JournalEntry, shard.changes[-2].appended.entry)
    shelf = Shelf(shard)
    shelf._entries.insert(0, codec.encode(replace(entry, effect="requested")))
    (found,) = OpenOrders(codec, GENESIS, shelf).due(
        shard.rows.state.standing, DecayCrossed(0, 1_200, 9, 9, ()), GENESIS.policy
    )  # type: ignore[arg-type]
    assert found[2] == ORDER
    assert "cannot be voted on" in caplog.text


# To forget -----------------------------------------------------------------------------------------------------------


def test_a_request_to_forget_is_voted_on_if_something_that_it_names_is_alive(shard: Shard) -> None:
    shard.episode("alive", 900)
    alive = memory_id("alive")
    for ids, effect in (((A, alive), "requested"), ((A,), "declined"), ((ELSEWHERE, memory_id("nobody")), "declined")):
        order = votes.restore(GENESIS, *ids, action="forget", order_id=memory_id(str(ids)))
        assert shard.ask(order, 1_100).entry.effect == effect
    assert shard.rows.state.asked_at == 1_000


def test_a_request_to_forget_makes_no_epoch_of_kind_restore(codec: Codec) -> None:
    order = replace(ORDER, action="forget")
    data = votes.signed(codec, GENESIS, "operator", order)
    tick = DecayCrossed(0, 1_200, 9, 9, ())
    made = asking.build(codec, GENESIS, Standing(0, 0, 0, 0), tick, (REQUEST, OrderFound(data, 1_100, 8), order))
    with pytest.raises(BadOrder, match="names another order"):
        asking.check(codec, GENESIS, made)
