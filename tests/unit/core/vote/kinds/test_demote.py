"""A long-term memory that has decayed by its own scales goes back to short-term memory, by a vote, and only so."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from msgspec.structs import replace

from memquorum.core import decay
from memquorum.core.accounts.explain import explain
from memquorum.core.accounts.forgetting import Used, standing
from memquorum.core.accounts.restoring import decided
from memquorum.core.accounts.telling import lines
from memquorum.core.avro import Codec
from memquorum.core.decay import crossings, of_tier, span_ms
from memquorum.core.journal.rows import LetGo, Strength
from memquorum.core.policy import DecayPolicy, EpochPolicy, ForgetPolicy, Policy, PolicyError, from_json, to_json
from memquorum.core.records import DecayCrossed, Decided, Standing
from memquorum.core.tiers import LONG_TERM, SHORT_TERM
from memquorum.core.vote import nomination
from memquorum.core.vote.evidence import RULES
from memquorum.core.vote.grounds import MemberContext, MemoryFacts
from memquorum.core.vote.kinds import DEMOTE, FORGET, KINDS, LETS_GO, PROMOTE
from memquorum.core.vote.kinds.kind import Case
from memquorum.ports import Candidate, DueMemory
from tests.builders import genesis, votes
from tests.builders.facts import facts
from tests.builders.shard import Shard, memory_id

POLICY = Policy(forget=ForgetPolicy(grace_ms=500), epoch=EpochPolicy(capacity=10, proposals_max=8))
SLOW = of_tier(POLICY, LONG_TERM)
SPAN, LONG = span_ms(POLICY), span_ms(SLOW)
GENESIS = genesis.make(policy=POLICY)
A, B = memory_id("a"), memory_id("b")
NOW = 1_700_000_000_000


@pytest.fixture
def shard(codec: Codec) -> Shard:
    """A is of long-term memory, B of short-term memory; nobody has used either since 1,000."""
    made = Shard(codec, GENESIS)
    made.episode("a")
    made.episode("b")
    made.tick(100_000)
    made.decide([votes.proposal(A, "promote")])
    made.tick(1_000 + LONG)
    return made


def ended(shard: Shard) -> list[tuple[str, str]]:
    detail = shard.rules.codec.decode_as(Decided, shard.changes[-1].entry.detail)
    return [(result.outcome, result.reason) for result in detail.results]


def some(_: int, __: object) -> bool:
    return _ < GENESIS.f + 1


def test_the_scales_of_long_term_memory_are_ten_times_longer() -> None:
    assert SLOW.decay.scales_s == tuple(10 * scale for scale in POLICY.decay.scales_s)
    assert abs(LONG - 10 * SPAN) <= 10
    assert of_tier(POLICY, SHORT_TERM) is POLICY
    assert of_tier(SLOW, LONG_TERM).decay == SLOW.decay  # once


def test_how_much_longer_is_policy() -> None:
    given = from_json({"decay": {"long_term": 3}})
    assert of_tier(given, LONG_TERM).decay.scales_s[0] == 3 * given.decay.scales_s[0]
    assert from_json(to_json(given)) == given
    with pytest.raises(PolicyError, match=r"decay\.long_term"):
        Policy(decay=DecayPolicy(long_term=0.5))
    with pytest.raises(PolicyError, match="long-term"):
        Policy(decay=DecayPolicy(scales_s=(1e10,), weights=(1.0,)))


def test_the_schedule_counts_by_the_tier() -> None:
    due = [DueMemory("short", "n", NOW - SPAN), DueMemory("long", "n", NOW - SPAN, LONG_TERM)]
    assert [one.memory_id for one in crossings(due, NOW, POLICY)] == ["short"]
    late = NOW - SPAN + LONG
    (_, one) = crossings(due, late, POLICY)
    assert (one.memory_id, one.decay_ppm) == ("long", decay.decay_ppm(NOW - SPAN, late, SLOW))


def candidate(name: str, unused: int, tier: str = LONG_TERM) -> Candidate:
    return Candidate(name, "n", tier, NOW - LONG, NOW - unused, 600_000, early=False)


def built(*crossed: Candidate, alive: int = 10, **more: list[Candidate]) -> list[tuple[str, str, str]]:
    tick = DecayCrossed(shard=0, as_of=NOW, accepted_offset=7, journal_seq=5, crossed=())
    going = nomination.Going(crossed, **more)
    record = nomination.build(
        genesis.make(policy=POLICY), Standing(6, NOW, 0, alive), tick, "interval", nomination.Offers(going)
    )
    return [(p.memory_ids[0], p.kind, p.reason) for p in record.proposals] if record else []


def test_each_tier_has_a_kind_by_which_memories_go() -> None:
    assert {SHORT_TERM: FORGET.name, LONG_TERM: DEMOTE.name} == LETS_GO
    assert FORGET.tiers.isdisjoint(DEMOTE.tiers)


def test_what_has_decayed_by_its_own_scales_is_proposed() -> None:
    assert built(candidate("young", LONG - 1), candidate("old", LONG)) == [("old", "demote", "decayed")]


def test_pressure_and_requests_propose_a_demotion_too() -> None:
    assert built(alive=11, evicted=[candidate("a", 5)]) == [("a", "demote", "pressure")]
    assert built(asked=[candidate("a", 5)]) == [("a", "demote", "asked")]


def test_a_demotion_counts_for_no_cap_and_is_not_starved() -> None:
    # There is room for nothing in the namespace, and yet it is proposed.
    assert built(candidate("old", LONG)) == [("old", "demote", "decayed")]
    falling = [replace(candidate(f"m{i}", SPAN, SHORT_TERM), namespace="free") for i in range(20)]
    made = nomination._share(
        [nomination._proposal(one, KINDS[LETS_GO[one.tier]], "decayed") for one in [*falling, candidate("old", LONG)]],
        POLICY.epoch,
    )
    assert [p.kind for p in made] == ["forget"] * 7 + ["demote"]


def test_one_honest_member_at_least_demotes(shard: Shard) -> None:
    before, alive = shard.rows.memories[A], shard.rows.state.alive
    assert before.confidence_ppm is not None
    change = shard.decide([votes.proposal(A, "demote")], some)
    assert ended(shard) == [("demoted", "quorum")]
    assert shard.rows.memories[A] == replace(
        before, tier=SHORT_TERM, confidence_ppm=None, changed=shard.rows.state.as_of, seq=change.entry.seq
    )
    strength = shard.rows.strengths[A]
    assert (strength.tier, strength.last_access) == (SHORT_TERM, 1_000)
    assert (change.ended(Strength), change.of(LetGo), shard.rows.state.alive) == ((), (), alive)
    shard.decide([votes.proposal(A, "forget")])
    assert ended(shard) == [("forgotten", "quorum")]


def test_f_members_demote_nothing(shard: Shard) -> None:
    shard.decide([votes.proposal(A, "demote")], lambda member, _: member < GENESIS.f)
    assert ended(shard) == [("kept", "too_few_votes")]
    assert DEMOTE.needed(POLICY) == Fraction(1, 3)


def test_what_was_kept_rests_until_it_is_used(shard: Shard) -> None:
    shard.decide([votes.proposal(A, "demote")], votes.nobody)
    assert shard.rows.strengths[A].kept == {"demote": 1}
    shard.access(A, 2_000 + LONG)
    strength = shard.rows.strengths[A]
    assert (strength.kept, strength.rest) == ({}, {})
    assert strength.last_access == 2_000 + LONG


def test_long_term_memory_is_not_forgotten(shard: Shard) -> None:
    assert shard.rows.strengths[A].last_access == 1_000
    shard.decide([votes.proposal(A, "forget")])
    assert ended(shard) == [("voided", "long-term")]
    assert shard.rows.memories[A].tier == LONG_TERM


def test_what_was_used_protected_or_demoted_meanwhile_is_left_alone(shard: Shard) -> None:
    shard.decide([votes.proposal(B, "demote")])
    assert ended(shard) == [("voided", "demoted already")]
    at = shard.offset
    shard.access(A, 2_000 + LONG)
    shard.decide([votes.proposal(A, "demote")], accepted_offset=at)
    assert ended(shard) == [("voided", "touched since")]
    assert shard.rows.memories[A].tier == LONG_TERM


def test_what_would_be_demoted_at_once_is_not_promoted() -> None:
    one = candidate("m", LONG, SHORT_TERM)
    assert PROMOTE.eligible(one, NOW, POLICY) is None
    assert PROMOTE.eligible(replace(one, last_access=NOW - LONG + 1), NOW, POLICY) == "salient"
    known = MemoryFacts("m", "n", "planner", NOW - LONG, NOW - LONG, 600_000, np.ones(2, np.float32), text="x")
    context = MemberContext("n")
    used = replace(known, last_access=NOW)
    assert PROMOTE.judge([(known,), (used,)], Case(context, NOW, POLICY, RULES))[0] is None
    assert PROMOTE.judge([(known,), (used,)], Case(context, NOW, POLICY, RULES))[1] is not None


def test_members_measure_by_the_long_scales() -> None:
    known = MemoryFacts("m", "n", "planner", 0, NOW - SPAN, 0, np.ones(2, np.float32), rank_ppm=7)
    (terms,) = DEMOTE.judge([(known,)], Case(MemberContext("n"), NOW, POLICY, RULES))
    assert terms == (decay.decay_ppm(NOW - SPAN, NOW, SLOW), 7, 7, NOW - SPAN)
    assert terms is not None
    assert DEMOTE.check(terms, NOW, POLICY) is None
    assert FORGET.check(terms, NOW, POLICY) is not None
    columns = np.array([terms], np.int64).T
    assert DEMOTE.sound(columns, NOW, POLICY) and not FORGET.sound(columns, NOW, POLICY)
    assert DEMOTE.fade(np.array([NOW - SPAN]), np.array([7]), np.array([7]), NOW, POLICY).tolist() == columns.tolist()


def test_it_is_told_in_words(shard: Shard, codec: Codec) -> None:
    told = "\n".join(lines(explain(codec, GENESIS, facts(shard, A, codec)), GENESIS))
    assert (
        "It may be proposed to be demoted in the next epoch; the next is epoch 2, as soon as its clock moves on."
        in told
    )
    shard.decide([votes.proposal(A, "demote")], some)
    told = "\n".join(lines(explain(codec, GENESIS, facts(shard, A, codec)), GENESIS))
    assert "vote to demote to short-term memory. Outcome: demoted" in told
    assert "2 of 4 members are for it, 2 are needed" in told
    assert "alive, in short-term memory" in told
    shard.decide([votes.proposal(A, "demote")])
    told = "\n".join(lines(explain(codec, GENESIS, facts(shard, A, codec)), GENESIS))
    assert "Voided: it was in short-term memory already." in told


def test_who_wants_it_forgotten_is_told_that_it_is_demoted_first() -> None:
    (one,) = standing(["m"], [Used("m", LONG_TERM, NOW - SPAN, 0, NOW)], POLICY)
    assert one.decay == decay.decay_ppm(NOW - SPAN, NOW, SLOW) / 1_000_000
    assert "the first vote is on moving it back to short-term memory" in one.detail
    done = decided("m", "demoted", "quorum", action="forget")
    assert (done.status, "ask again" in done.detail) == ("demoted", True)
