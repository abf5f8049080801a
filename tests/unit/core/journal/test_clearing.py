"""A write of nothing into a slot: what gives way to a later write gives way to it, and it becomes no memory."""

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
from memquorum.core.journal.rows import Change, Conflict, Dropped, Event
from memquorum.core.records import ErasedEpisode, Restored, Stored
from tests.builders import erasures, genesis, protections, votes
from tests.builders.published import POLICY, kinds, publish
from tests.builders.replayed import replayed
from tests.builders.shard import NAMESPACE, Shard, accepted, memory_id

GENESIS = genesis.make(policy=POLICY, **erasures.entitled(signed=()))
A, B = memory_id("a"), memory_id("b")
SLOT: dict[str, Any] = {"explicit": True, "slot": "ada/dietary"}
NOTHING: dict[str, Any] = SLOT | {"clears": True, "characters": 0}


@pytest.fixture
def shard(codec: Codec) -> Shard:
    """A fills the slot."""
    made = Shard(codec, GENESIS)
    made.tick(400)
    made.episode("a", 500, **SLOT)
    return made


def detail(shard: Shard, change: Change) -> Stored:
    return shard.rules.codec.decode_as(Stored, change.entry.detail)


def clear(shard: Shard, event_id: str = "b", at: int = 600, **said: Any) -> Change:
    """Applies a clearing; its salience score changes nothing."""
    return shard.episode(event_id, at, "cleared", **(NOTHING | said))


def tiers(shard: Shard) -> dict[str, str]:
    return {memory.event_id: memory.tier for memory in shard.rows.memories.values()}


def test_it_supersedes_what_fills_the_slot_and_is_no_memory(shard: Shard) -> None:
    change = clear(shard)
    told = detail(shard, change)
    assert (change.entry.effect, told.outcome, told.superseded, told.contradicts) == ("cleared", "cleared", (A,), ())
    assert (tiers(shard), shard.rows.state.alive, set(shard.rows.strengths)) == ({"a": "superseded"}, 0, set())
    (event,) = change.of(Event)
    assert (event.outcome, event.memory_id, change.revealed, change.of(Conflict)) == ("cleared", B, None, ())
    # The names of the slot lie under its key, for as long as what is forgotten may come back.
    assert change.of(Dropped) == (Dropped(B, shard.rows.state.shard, NAMESPACE, 600 + POLICY.forget.grace_ms),)
    lost = shard.rows.memories[A]
    assert (lost.sealed_until, lost.seq) == (None, change.entry.seq)
    public = publish(shard)
    assert kinds(public.audit(store=True, accepted=True)) == []
    made, _ = replayed(public, [2, 3])
    assert {m.event_id: m.tier for m in made.memories.values()} == tiers(shard)


def test_a_later_write_fills_the_slot_again(shard: Shard) -> None:
    clear(shard)
    change = shard.episode("c", 700, **SLOT)
    assert (detail(shard, change).superseded, tiers(shard)) == ((), {"a": "superseded", "c": "short-term"})


def test_what_says_again_what_was_cleared_is_a_memory_of_its_own(shard: Shard) -> None:
    clear(shard)
    change = shard.episode("c", 700, "reinforced", reinforces=A, **SLOT)
    assert (change.entry.effect, tiers(shard)["c"]) == ("stored", "short-term")


@pytest.mark.parametrize("how", ["nothing was there", "once more"])
def test_an_empty_slot_is_told_so(shard: Shard, how: str) -> None:
    if how == "once more":
        clear(shard)
    change = clear(shard, "again", 700, **({} if how == "once more" else {"slot": "ada/allergies"}))
    assert (change.entry.effect, detail(shard, change).outcome, detail(shard, change).superseded) == (
        "cleared", "empty", ()
    )  # fmt: skip
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


def test_what_was_promoted_its_own_agent_may_take_from_its_slot(shard: Shard) -> None:
    shard.tick(100_000)
    shard.decide([votes.proposal(A, "promote")])
    told = detail(shard, clear(shard))
    assert (told.outcome, told.superseded, tiers(shard)) == ("cleared", (A,), {"a": "superseded"})
    public = publish(shard)
    assert kinds(public.audit(store=True, accepted=True)) == []
    made, _ = replayed(public, [2, 3])
    assert {m.event_id: m.tier for m in made.memories.values()} == tiers(shard)


@pytest.mark.parametrize("how", ["another agent", "pinned", "said later"])
def test_what_may_not_be_superseded_so_stays_and_is_named(shard: Shard, how: str) -> None:
    said = {"agent": "reviewer"} if how == "another agent" else {"at": 499} if how == "said later" else {}
    if how == "pinned":
        shard.protect(protections.accepted(shard.rules.codec, "pin", A, cluster=GENESIS.cluster))
    change = clear(shard, **said)
    told = detail(shard, change)
    assert (told.outcome, told.superseded, told.contradicts, A in shard.rows.strengths) == ("contested", (), (A,), True)
    assert change.of(Conflict) == (), "there is nothing that members could hold against it"
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


def test_what_its_agent_did_not_sign_clears_nothing(codec: Codec) -> None:
    shard = Shard(codec, genesis.make(policy=POLICY, **erasures.entitled()))
    shard.episode("a", 500, **SLOT)
    record, score = accepted("b", 600, **NOTHING), replace(shard.scored[-1], event_id="b", memory_id=B)
    change = applying.apply_episode(
        shard.rules, shard.rows, applying.RecordPosition("memory.accepted.v1", 0, 9), record,
        scored=applying.Scored(1, score), readable=True, proven=False,
    )  # fmt: skip
    assert (detail(shard, change).superseded, detail(shard, change).contradicts) == ((), (A,))
    with pytest.raises(BrokenChain, match="signed for"):
        clear(shard, granted="9fd12932bb0c")


def test_delivered_twice_it_counts_once(shard: Shard) -> None:
    clear(shard)
    shard.episode("c", 600, **SLOT)
    assert clear(shard).entry.effect == "repeated" and tiers(shard)["c"] == "short-term"


def test_a_vote_brings_back_what_was_cleared(shard: Shard) -> None:
    clear(shard)
    asked = votes.restore(GENESIS, A)
    shard.ask(asked, 200_100)
    shard.tick(200_200)
    shard.restore(asked, Restored(A, 600_000, 0, 0, 1, 0))
    assert tiers(shard) == {"a": "short-term"}
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


def test_an_erasure_takes_what_was_cleared_and_the_write_that_cleared_it(shard: Shard) -> None:
    clear(shard)
    order = erasures.ordered(GENESIS, "subject", "planner")
    shard.erase(
        erasures.accepted(order, erasures.signed(shard.rules.codec, GENESIS, order), 20_000),
        [ErasedEpisode(A, "superseded", b"c" * 32), ErasedEpisode(B, "dropped")],
    )
    assert tiers(shard) == {"a": "gone"}
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


def test_a_journal_that_clears_what_may_not_be_is_found_and_not_rebuilt(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    shard.episode("a", agent="reviewer", **SLOT)
    clear(shard, at=2_000)
    public = publish(shard)
    public.forge(1, replace(public.detail(1), superseded=(A,), contradicts=(), outcome="cleared"))
    assert Kind.EFFECT_IMPOSSIBLE in kinds(public.audit())
    with pytest.raises(CannotReplay, match="gives way"):
        replayed(public, [])


@pytest.mark.parametrize(
    "altered",
    [
        {"superseded": (), "contradicts": (A,), "outcome": "contested"},
        {"superseded": (), "outcome": "empty"},
        {"outcome": "empty"},
        {"contradicts": (B,)},
    ],
)
def test_an_audit_notices_a_clearing_that_is_told_otherwise(shard: Shard, altered: dict[str, Any]) -> None:
    clear(shard)
    public = publish(shard)
    public.forge(2, replace(public.detail(2), **altered))
    assert Kind.EFFECT_IMPOSSIBLE in kinds(public.audit())


def test_what_says_something_is_not_taken_for_a_clearing(shard: Shard) -> None:
    shard.episode("c", 600)
    public = publish(shard)
    public.rewrite(2, effect="cleared")
    assert Kind.EFFECT_IMPOSSIBLE in kinds(public.audit())
    with pytest.raises(CannotReplay):
        replayed(public, [])


@pytest.mark.parametrize("altered", [{"slot": None}, {"explicit": False}])
def test_a_record_that_clears_no_slot_is_passed_over(altered: dict[str, Any]) -> None:
    assert applying.storable(accepted("b", 600, **NOTHING)) is None
    assert (
        applying.storable(accepted("b", 600, **(NOTHING | altered))) == "it clears, but names no slot and no memories"
    )


TAKEN_BACK: dict[str, Any] = {"explicit": True, "clears": True, "characters": 0, "supersedes": (B,)}


def test_an_agent_takes_back_what_it_alone_has_said(shard: Shard) -> None:
    shard.episode("b", 600)
    change = shard.episode("c", 700, "cleared", **TAKEN_BACK)
    told = detail(shard, change)
    assert (change.entry.effect, told.outcome, told.superseded) == ("cleared", "cleared", (B,))
    assert tiers(shard) == {"a": "short-term", "b": "superseded"}
    again = detail(shard, shard.episode("d", 800, "cleared", **TAKEN_BACK))
    assert (again.outcome, again.superseded) == ("empty", ())
    public = publish(shard)
    assert kinds(public.audit(store=True, accepted=True)) == []
    made, _ = replayed(public, [2, 3])
    assert {m.event_id: m.tier for m in made.memories.values()} == tiers(shard)
    assert B in applying.touches(shard.rules.codec, accepted("c", 700, **TAKEN_BACK)).protected


@pytest.mark.parametrize("how", ["another agent", "said again", "promoted", "pinned", "said later", "elsewhere"])
def test_what_others_have_a_say_in_nobody_takes_back_alone(shard: Shard, how: str) -> None:
    shard.episode("b", 600, namespace="acme" if how == "elsewhere" else NAMESPACE)
    named = memory_id("b", "acme") if how == "elsewhere" else B
    said = {"agent": "reviewer"} if how == "another agent" else {"at": 599} if how == "said later" else {}
    if how == "said again":
        shard.episode("echo", 650, "reinforced", reinforces=B, agent="reviewer", subject="planner")
        assert shard.rows.strengths[B].reinforced == 1
    if how == "promoted":
        shard.tick(100_000)
        shard.decide([votes.proposal(B, "promote")])
    if how == "pinned":
        shard.protect(protections.accepted(shard.rules.codec, "pin", B, cluster=GENESIS.cluster))
    change = shard.episode("c", **({"at": 700, "outcome": "cleared"} | TAKEN_BACK | {"supersedes": (named,)} | said))
    told = detail(shard, change)
    expected = ("empty", (), ()) if how == "elsewhere" else ("contested", (), (B,))
    assert (told.outcome, told.superseded, told.contradicts) == expected
    assert named in shard.rows.strengths
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


def test_who_loads_rows_is_told_which(shard: Shard) -> None:
    change = clear(shard)
    keys = needs(shard.rules.codec, change.entry, detail(shard, change))
    assert A in keys.memories and A in keys.protected
    assert applying.touches(shard.rules.codec, accepted("b", 600, **NOTHING)).slots == {(NAMESPACE, "ada/dietary")}


def told_of(shard: Shard) -> list[str]:
    """Returns the memories that reads of the past find, as the store is written."""
    return [row["memory_id"] for row in publish(shard).tables["replaced"]]


def test_what_is_cleared_is_not_told_of_nor_what_its_agent_had_there_before(shard: Shard) -> None:
    shard.episode("c", 510, **SLOT | {"slot": "ada/allergies"})
    shard.episode("d", 520, **SLOT | {"slot": "ada/allergies"})
    shard.episode("e", 530, **SLOT)
    assert told_of(shard) == sorted([A, memory_id("c")])
    change = clear(shard)
    assert change.emptied is not None and change.replaced == ()
    assert told_of(shard) == [memory_id("c")], "of another slot nothing goes"
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []
    shard.episode("f", 700, **SLOT)
    shard.episode("g", 710, **SLOT)
    assert told_of(shard) == sorted([memory_id("c"), memory_id("f")]), "what filled it since is told of"
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


@pytest.mark.parametrize(
    ("said", "kept"),
    [({}, []), ({"agent": "reviewer"}, [A]), ({"agent": "reviewer", "granted": "9fd12932bb0c"}, [])],
    ids=["its agent", "another agent", "an API key"],
)
def test_of_an_empty_slot_goes_what_its_agent_had_there(shard: Shard, said: dict[str, Any], kept: list[str]) -> None:
    shard.episode("c", 510, **SLOT)
    shard.tick(100_000)
    shard.decide([votes.proposal(memory_id("c"), "forget")])
    assert told_of(shard) == [A]
    change = clear(shard, at=200_000, **said)
    assert detail(shard, change).outcome == "empty"
    assert told_of(shard) == kept
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


def test_who_may_not_clear_a_slot_empties_it_of_nothing(shard: Shard) -> None:
    shard.episode("c", 510, **SLOT)
    assert clear(shard, agent="reviewer").emptied is None
    assert told_of(shard) == [A]
