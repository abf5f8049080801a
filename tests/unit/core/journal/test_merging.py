"""Summaries that say the same become one by an entry of the journal: what goes rests sealed, and can come back."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.journal.naming import Kin
from memquorum.core.journal.recall import recall
from memquorum.core.journal.resting import FOR_GOOD, brought_back
from memquorum.core.journal.rows import Memory, Provenance, Strength
from memquorum.core.policy import ConsolidatePolicy
from memquorum.core.records import Decided, Restored
from tests.builders import erasures, votes
from tests.builders import genesis as cluster
from tests.builders.policies import by_the_paper
from tests.builders.published import POLICY, Published, kinds, publish
from tests.builders.shard import Shard, memory_id

GENESIS = cluster.make(policy=POLICY, **erasures.entitled())
A, B, ONE, TWO, THREE = (memory_id(name) for name in ("a", "b", "one", "two", "three"))


def filled(shard: Shard) -> Shard:
    """Two summaries, each of a memory; one was read twice, what the other was made of once."""
    shard.tick(900)
    shard.episode("a", at=700)
    shard.episode("b", at=800)
    shard.access(B, 850)
    for name, source in (("one", A), ("two", B)):
        shard.summary(name, [source], at=700 if source == A else 800)
        shard.tick(900)
        shard.consolidate(memory_id(name), [source])
    shard.access(ONE, 860)
    shard.access(ONE, 870)
    shard.tick(1_000)
    return shard


@pytest.fixture
def shard(codec: Codec) -> Shard:
    return filled(Shard(codec, GENESIS))


def result(shard: Shard) -> tuple[str, str]:
    (one,) = shard.rules.codec.decode_as(Decided, shard.changes[-1].entry.detail).results
    return one.outcome, one.reason


def recalled(shard: Shard, memory: str) -> Restored:
    """Returns a memory by the journal, as the commit worker asks for it."""
    entries = shard.about(memory)
    found = recall(shard.rules.codec, entries)
    assert found is not None
    return found.restored


def restore(shard: Shard, *memories: str) -> None:
    order = votes.restore(GENESIS, *memories)
    shard.ask(order, shard.rows.state.as_of)
    shard.tick(shard.rows.state.as_of + 100)
    shard.restore(order, *(recalled(shard, memory) for memory in memories))


def test_one_stays_with_the_uses_of_both_and_the_other_rests_sealed(shard: Shard) -> None:
    assert shard.rows.state.alive == 2
    change = shard.merge(ONE, TWO)
    assert result(shard) == ("merged", "quorum")
    kept, gone = shard.rows.memories[ONE], shard.rows.memories[TWO]
    assert (kept.tier, gone.tier) == ("short-term", "sealed")
    assert gone.sealed_until == 1_000 + POLICY.forget.grace_ms
    assert gone.asks_after is None, "a late use of what the other says asks for nothing"
    strength = shard.rows.strengths[ONE]
    assert (strength.last_access, strength.accesses) == (870, 3)
    assert change.ended(Strength) == (TWO,) and shard.rows.state.alive == 1
    assert change.of(Provenance) == (
        Provenance(0, change.entry.seq, kept.namespace, ONE, TWO, False, True, "consolidator", True),
    )


def test_what_stays_takes_over_a_later_use(shard: Shard) -> None:
    shard.access(TWO, 890)
    offset = shard.offset
    shard.merge(ONE, TWO)
    strength = shard.rows.strengths[ONE]
    assert (strength.last_access, strength.touched, strength.accesses) == (890, offset, 4)


def test_voted_down_nothing_has_changed_and_both_rest(shard: Shard) -> None:
    before = [shard.rows.memories[i] for i in (ONE, TWO)]
    shard.merge(ONE, TWO, vote=votes.nobody)
    assert result(shard)[0] == "kept" and not shard.changes[-1].of(Provenance)
    assert [shard.rows.memories[i] for i in (ONE, TWO)] == before
    assert {shard.rows.strengths[i].rest["merge"] for i in (ONE, TWO)} == {shard.rows.state.last_epoch + 2}


def test_what_is_not_alive_or_was_promoted_is_not_merged(shard: Shard) -> None:
    shard.decide([votes.proposal(TWO, "promote")])
    shard.merge(ONE, TWO)
    assert result(shard) == ("voided", "moved since")
    shard.merge(TWO, ONE)
    assert result(shard) == ("voided", "moved since")
    shard.merge(ONE, A)
    assert result(shard) == ("voided", "gone already")
    assert not any(change.of(Provenance) and change.of(Provenance)[0].merged for change in shard.changes)


def test_what_is_protected_does_not_go(shard: Shard, codec: Codec) -> None:
    from tests.builders.protections import accepted

    shard.protect(accepted(codec, "pin", TWO, cluster=GENESIS.cluster))
    shard.merge(ONE, TWO)
    assert result(shard) == ("voided", "protected")
    shard.merge(TWO, ONE)
    assert result(shard) == ("merged", "quorum"), "what is protected may stay"


def test_in_strict_determinism_nothing_is_sealed(codec: Codec) -> None:
    made = Shard(codec, cluster.make(policy=by_the_paper(consolidate=ConsolidatePolicy(strict="green*"))))
    made.episode("a")
    made.episode("b")
    for name, source in (("one", A), ("two", B)):
        made.summary(name, [source])
        made.consolidate(memory_id(name), [source])
    made.merge(ONE, TWO)
    assert {made.rows.memories[i].tier for i in (ONE, TWO)} == {"short-term"}
    assert not made.changes[-1].of(Provenance) and made.rows.state.alive == 4


def test_what_is_restored_is_alive_with_its_own_uses_and_is_not_merged_again(shard: Shard) -> None:
    shard.access(TWO, 880)
    shard.merge(ONE, TWO)
    restore(shard, TWO)
    assert result(shard) == ("restored", "quorum")
    strength = shard.rows.strengths[TWO]
    assert shard.rows.memories[TWO].tier == "short-term"
    assert strength.accesses == 1, "what it had taken over of its source is with the one that stays"
    assert shard.rows.strengths[ONE].accesses == 4 and shard.rows.state.alive == 2
    assert strength.rest == {"merge": FOR_GOOD, "evict": brought_back(shard.rows.state.last_epoch, POLICY)}
    for kept, gone in ((ONE, TWO), (TWO, ONE)):
        shard.merge(kept, gone)
        assert result(shard) == ("voided", "brought back")
    shard.merge(ONE, TWO, vote=votes.nobody)
    shard.merge(ONE, TWO)
    assert result(shard) == ("voided", "brought back"), "a vote in between ends no rest"


def public_of(shard: Shard) -> Published:
    shard.access(TWO, 880)
    shard.tick(1_010)
    shard.merge(ONE, TWO)
    restore(shard, TWO)
    shard.access(TWO, 1_150)
    return publish(shard)


def test_the_audit_finds_a_merging_and_a_return_sound(shard: Shard) -> None:
    assert kinds(public_of(shard).audit(store=True, accepted=True, words=True)) == []


def test_a_forgotten_summary_comes_back_with_its_own_uses(shard: Shard) -> None:
    """The uses of its sources are not its own, for the journal and for the audit."""
    assert shard.rows.strengths[TWO].accesses == 1
    shard.tick(200_000)
    shard.decide([votes.proposal(TWO, "forget")])
    restore(shard, TWO)
    assert shard.rows.strengths[TWO].accesses == 0
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


@pytest.mark.parametrize(
    ("table", "at", "change"), [("provenance", -1, {"merged": False}), ("strength", 0, {"accesses": 9})]
)
def test_altered_rows_are_found(shard: Shard, table: str, at: int, change: dict[str, Any]) -> None:
    public = public_of(shard)
    public.tables[table][at] |= change
    assert Kind.ROW_ALTERED in kinds(public.audit(store=True))


def test_uses_that_nobody_made_do_not_come_back(shard: Shard) -> None:
    shard.merge(ONE, TWO)
    order = votes.restore(GENESIS, TWO)
    shard.ask(order, 1_000)
    shard.tick(1_100)
    shard.restore(order, replace(recalled(shard, TWO), accesses=1))
    assert Kind.RESULTS_WRONG in kinds(publish(shard).audit())


def named(shard: Shard, root: str) -> set[str]:
    kin = Kin()
    for change in shard.changes:
        for made in change.of(Provenance):
            kin.add(made)
    return kin.taken("memory", [root], shard.rows.memories, ())


def test_who_erases_a_source_of_what_went_erases_what_stays(shard: Shard) -> None:
    assert named(shard, B) == {B, TWO}
    shard.merge(ONE, TWO)
    assert named(shard, B) == {B, TWO, ONE}
    assert named(shard, A) == {A, ONE}, "what went says nothing of what stays: it has sources of its own"


def test_a_chain_of_mergings_is_followed_to_its_end(shard: Shard) -> None:
    shard.episode("c", at=800)
    shard.summary("three", [memory_id("c")], at=800)
    shard.consolidate(THREE, [memory_id("c")])
    shard.merge(ONE, TWO)
    shard.merge(THREE, ONE)
    assert named(shard, B) == {B, TWO, ONE, THREE}
    assert {shard.rows.memories[i].tier for i in (ONE, TWO)} == {"sealed"}
    alive = [m for m in shard.rows.memories.values() if isinstance(m, Memory) and m.id in shard.rows.strengths]
    assert [m.id for m in alive] == [THREE] and shard.rows.strengths[THREE].accesses == 3
