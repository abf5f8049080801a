"""An explicit write with a key takes the place of what its agent wrote there; what it may not, members vote on."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.commit import applying
from memquorum.core.journal.effects import needs
from memquorum.core.journal.hash_chain import BrokenChain
from memquorum.core.journal.replay import CannotReplay
from memquorum.core.journal.rows import Change, Conflict
from memquorum.core.journal.workset import Workset
from memquorum.core.records import Decided, Proposal, Restored, Stored
from tests.builders import erasures, genesis, protections, votes
from tests.builders.published import POLICY, kinds, publish
from tests.builders.replayed import replayed
from tests.builders.shard import NAMESPACE, Shard, accepted, memory_id

GENESIS = genesis.make(policy=POLICY, **erasures.entitled(signed=()))
A, B, C = memory_id("a"), memory_id("b"), memory_id("c")
SLOT: dict[str, Any] = {"explicit": True, "slot": "ada/dietary"}


@pytest.fixture
def shard(codec: Codec) -> Shard:
    """A fills the slot."""
    made = Shard(codec, GENESIS)
    made.tick(400)
    made.episode("a", 500, **SLOT)
    return made


def detail(shard: Shard, change: Change) -> Stored:
    return shard.rules.codec.decode_as(Stored, change.entry.detail)


def tiers(shard: Shard) -> dict[str, str]:
    return {memory.event_id: memory.tier for memory in shard.rows.memories.values()}


def test_a_later_write_into_the_slot_takes_the_place_of_the_earlier_one_and_so_on(shard: Shard) -> None:
    change = shard.episode("b", 600, **SLOT)
    assert (detail(shard, change).superseded, change.of(Conflict)) == ((A,), ())
    shard.episode("c", 700, **SLOT)
    assert tiers(shard) == {"a": "superseded", "b": "superseded", "c": "short-term"}
    assert (shard.rows.state.alive, set(shard.rows.strengths)) == (1, {C})
    lost = shard.rows.memories[A]
    assert (lost.sealed_until, lost.asks_after, lost.seq) == (None, None, change.entry.seq)
    public = publish(shard)
    assert kinds(public.audit(store=True, accepted=True)) == []
    made, _ = replayed(public, [2, 3])
    assert {m.event_id: m.tier for m in made.memories.values()} == tiers(shard)


@pytest.mark.parametrize(
    "said",
    [
        {"agent": "reviewer"},
        {"slot": "ada/allergies"},
        {"explicit": False},
        {"namespace": "greenhouse2"},
        {"at": 499},
    ],
    ids=["another agent", "another slot", "not explicit", "another namespace", "said earlier"],
)
def test_nothing_else_gives_way_without_a_vote(shard: Shard, said: dict[str, Any]) -> None:
    change = shard.episode("b", **({"at": 600} | SLOT | said))
    assert (detail(shard, change).superseded, shard.rows.memories[A].tier) == ((), "short-term")


@pytest.mark.parametrize("how", ["another agent", "promoted", "pinned", "not proven"])
def test_what_may_not_be_superseded_so_is_contradicted_and_goes_to_a_vote(shard: Shard, how: str) -> None:
    said = SLOT | ({"agent": "reviewer"} if how == "another agent" else {})
    if how == "promoted":
        shard.decide([votes.proposal(A, "promote")])
    if how == "pinned":
        shard.protect(protections.accepted(shard.rules.codec, "pin", A, cluster=GENESIS.cluster))
    change = unproven(shard, said) if how == "not proven" else shard.episode("b", 600, **said)
    (noted,) = change.of(Conflict)
    assert (noted.newer, noted.older, detail(shard, change).superseded) == (B, A, ())
    assert A in shard.rows.strengths


def unproven(shard: Shard, said: dict[str, Any]) -> Change:
    place, episode = applying.RecordPosition("p", 0, 9), accepted("b", 600, **said)
    score = shard.scored[-1]
    score = replace(score, event_id="b", memory_id=B)
    return applying.apply_episode(
        shard.rules, shard.rows, place, episode, scored=applying.Scored(1, score), readable=True, proven=False
    )


def test_what_is_held_gives_way_and_is_not_destroyed(shard: Shard) -> None:
    shard.protect(protections.accepted(shard.rules.codec, "hold", A, cluster=GENESIS.cluster))
    shard.episode("b", 600, **SLOT)
    assert shard.rows.memories[A].tier == "superseded"


def test_an_erasure_of_the_winner_revives_nothing_and_a_vote_may(shard: Shard) -> None:
    shard.episode("b", 600, **SLOT)
    order = erasures.ordered(GENESIS, "memory", B)
    shard.erase(
        erasures.accepted(order, erasures.signed(shard.rules.codec, GENESIS, order), 20_000),
        erasures.among(NAMESPACE, {"b": "short-term"}),
    )
    assert tiers(shard) == {"a": "superseded", "b": "gone"}
    asked = votes.restore(GENESIS, A)
    shard.ask(asked, 200_100)
    shard.tick(200_200)
    shard.restore(asked, Restored(A, 600_000, 0, 0, 1, 0))
    assert tiers(shard) == {"a": "short-term", "b": "gone"}
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


def test_a_journal_that_supersedes_what_may_not_be_is_found_and_not_rebuilt(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    shard.episode("a", agent="reviewer", **SLOT)
    shard.episode("b", 2_000, **SLOT)
    public = publish(shard)
    public.forge(1, replace(public.detail(1), superseded=(A,), contradicts=()))
    assert Kind.EFFECT_IMPOSSIBLE in kinds(public.audit())
    with pytest.raises(CannotReplay, match="gives way"):
        replayed(public, [])


def test_an_audit_notices_what_should_have_given_way(shard: Shard) -> None:
    shard.episode("b", 600, **SLOT)
    public = publish(shard)
    public.forge(2, replace(public.detail(2), superseded=(), contradicts=(A,)))
    assert Kind.EFFECT_IMPOSSIBLE in kinds(public.audit())


GRANTED: dict[str, Any] = SLOT | {"agent": "reviewer", "granted": "9fd12932bb0c"}


def test_an_api_key_takes_its_slot_from_another_agent_and_nothing_more(shard: Shard) -> None:
    change = shard.episode("b", 600, **GRANTED)
    assert (detail(shard, change).superseded, detail(shard, change).granted) == ((A,), "9fd12932bb0c")
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []
    for said in ({"slot": "ada/allergies"}, {"at": 400}, {"namespace": "acme"}):
        assert detail(shard, shard.episode(str(said), **({"at": 700} | GRANTED | said))).superseded == ()
    shard.protect(protections.accepted(shard.rules.codec, "pin", B, cluster=GENESIS.cluster))
    assert B not in detail(shard, shard.episode("c", 800, **GRANTED)).superseded and B in shard.rows.strengths


def test_where_agents_have_to_sign_no_api_key_takes_a_slot(codec: Codec) -> None:
    shard = Shard(codec, genesis.make(policy=POLICY, **erasures.entitled()))
    shard.episode("a", 500, **SLOT)
    with pytest.raises(BrokenChain, match="signed for"):
        shard.episode("b", 600, **GRANTED)


NAMES: dict[str, Any] = {"explicit": True, "agent": "reviewer", "supersedes": (A,)}


@pytest.mark.parametrize("what", ["nothing", "promoted", "hold", "pin"])
def test_what_is_named_stays_until_members_have_voted(shard: Shard, what: str) -> None:
    if what == "promoted":
        shard.tick(100_000)
        shard.decide([votes.proposal(A, "promote")])
    elif what != "nothing":
        shard.protect(protections.accepted(shard.rules.codec, what, A, cluster=GENESIS.cluster))
    change = shard.episode("b", 600, **NAMES)
    (noted,) = change.of(Conflict)
    assert (noted.newer, noted.older, detail(shard, change).superseded) == (B, A, ())
    shard.tick(200_000)
    kind = "overrule" if what == "promoted" else "supersede"
    decided = shard.decide([Proposal((B, A), NAMESPACE, kind, "contradicted", 0, 0, 0)])
    (result,) = shard.rules.codec.decode_as(Decided, decided.entry.detail).results
    assert (result.outcome, result.reason) == (("voided", "pinned") if what == "pin" else ("superseded", "quorum"))
    assert (A in shard.rows.strengths) == (what == "pin")
    public = publish(shard)
    assert kinds(public.audit(store=True, accepted=True)) == []


def test_of_what_is_named_only_what_is_alive_in_the_namespace_is_meant(shard: Shard) -> None:
    shard.episode("x", namespace="acme")
    shard.episode("b", 600, **SLOT)
    named = (A, memory_id("x", "acme"), memory_id("never"), B)
    change = shard.episode("c", 700, contradicts=(memory_id("never"),), **(NAMES | {"supersedes": named}))
    assert [one.older for one in change.of(Conflict)] == [B]
    told = detail(shard, change)
    assert (told.supersedes, told.contradicts) == (named, (B, memory_id("never")))
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


def test_what_is_named_comes_before_what_only_the_rules_find(shard: Shard) -> None:
    others = [f"o{n}" for n in range(9)]
    for event in others:
        shard.episode(event)
    change = shard.episode("b", 600, contradicts=tuple(map(memory_id, others)), **NAMES)
    assert [one.older for one in change.of(Conflict)][:1] == [A] and len(change.of(Conflict)) == 8


def test_what_its_agent_did_not_sign_names_nothing(shard: Shard) -> None:
    assert detail(shard, unproven(shard, NAMES)).contradicts == ()


def test_what_names_others_is_stored_beside_what_it_repeats(shard: Shard) -> None:
    shard.episode("b", 600, explicit=True)
    change = shard.episode("c", 700, "reinforced", reinforces=B, explicit=True, supersedes=(A,))
    assert (change.entry.effect, [one.older for one in change.of(Conflict)]) == ("stored", [A])


def test_an_audit_notices_what_was_named_and_left_out(shard: Shard) -> None:
    shard.episode("b", 600, **NAMES)
    public = publish(shard)
    public.forge(2, replace(public.detail(2), contradicts=()))
    assert Kind.EFFECT_IMPOSSIBLE in kinds(public.audit())


def test_who_loads_rows_is_told_which(shard: Shard) -> None:
    change = shard.episode("b", 600, **SLOT)
    keys = needs(shard.rules.codec, change.entry, detail(shard, change))
    assert A in keys.memories and A in keys.protected
    assert applying.touches(shard.rules.codec, accepted("b", 600, **SLOT)).slots == {(NAMESPACE, "ada/dietary")}
    assert A in applying.touches(shard.rules.codec, accepted("b", 600, **NAMES)).memories
    assert applying.touches(shard.rules.codec, accepted("b", 600, slot="k")).slots == frozenset()


@pytest.mark.parametrize("why", ["contradiction", "anew"])
def test_a_contradiction_waits_for_an_epoch_that_is_not_everybodys(shard: Shard, why: str) -> None:
    shard.tick(500)
    shard.decide([votes.proposal(C, "promote")])
    shard.episode("b", 600, **NAMES)
    before = shard.rows.state
    assert before.standing.contested_at == 500 == before.last_epoch_at
    shard.decide([votes.proposal(C, "promote")], trigger="interval")
    assert shard.rows.state.contested_at == 500, "it was nominated at a tick from before the contradiction"
    shard.tick(600)
    before = shard.rows.state
    shard.decide([Proposal((B, A), NAMESPACE, "supersede", "contradicted", 0, 0, 0)], trigger=why)
    after = shard.rows.state
    assert after.contested_at == 0
    assert (after.last_epoch, after.last_epoch_at, after.interactions) == (
        before.last_epoch + 1, before.last_epoch_at, before.interactions
    )  # fmt: skip


def batch(shard: Shard) -> Workset:
    """A batch that begins where the shard stands."""
    rows = shard.rows
    return Workset(replace(rows, memories=dict(rows.memories), strengths=dict(rows.strengths), loaded=None))


def test_what_is_replaced_is_named_with_what_took_its_place(shard: Shard) -> None:
    assert shard.episode("b", 600, **SLOT).replaced == ((A, B),)
    net = shard.work.net()
    assert (net.replaced, net.back, set(net.revealed)) == (((A, B),), (), {A, B})
    later = batch(shard)
    later.absorb(shard.episode("c", 700, **SLOT))
    net = later.net()
    assert (net.replaced, net.back, net.revealed) == (((B, C),), (), (C,))


def test_a_vote_replaces_and_what_comes_back_is_replaced_no_more(shard: Shard) -> None:
    shard.episode("b", 600, **NAMES)
    shard.tick(100_000)
    change = shard.decide([Proposal((B, A), NAMESPACE, "supersede", "contradicted", 0, 0, 0)])
    assert change.replaced == ((A, B),)
    asked = votes.restore(GENESIS, A)
    shard.ask(asked, 200_100)
    shard.tick(200_200)
    later = batch(shard)
    later.absorb(shard.restore(asked, Restored(A, 600_000, 0, 0, 1, 0)))
    net = later.net()
    assert (net.replaced, net.back, net.revealed) == ((), (A,), (A,))
    assert shard.work.net().replaced == ()
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


def test_an_audit_notices_what_reads_of_the_past_lack_or_have_too_much(shard: Shard) -> None:
    shard.episode("b", 600, **SLOT)
    public = publish(shard)
    (row,) = public.tables["replaced"]
    for rows, found in (([], Kind.ROW_MISSING), ([row | {"newer": C}], Kind.ROW_ALTERED)):
        public.tables["replaced"] = rows
        assert kinds(public.audit(store=True)) == [found]
    public.tables["replaced"] = [row, row | {"memory_id": memory_id("z")}]
    assert kinds(public.audit(store=True)) == [Kind.ROW_ADDED]
    # A memory that was superseded before the store kept such need not be there.
    public.tables["replaced"] = []
    public.tables["shard"][0]["replaced_after"] = shard.rows.state.seq
    assert kinds(public.audit(store=True)) == []
