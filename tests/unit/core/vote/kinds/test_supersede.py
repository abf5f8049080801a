"""A newer memory takes the place of an older one that it contradicts, by a vote, and only so.

Here the policy lets members vote on what was inferred from words; what holds by default is in `test_inferred`.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.avro import Codec
from memquorum.core.journal.rows import Memory, Strength
from memquorum.core.policy import PPM, Policy, PolicyError, from_json
from memquorum.core.records import Decided, NominationProposed, Proposal, Restored
from memquorum.core.tiers import LONG_TERM, SHORT_TERM, SUPERSEDED
from memquorum.core.vote.columns import Ballot
from memquorum.core.vote.doubting import agreed
from memquorum.core.vote.grounds import MemberContext, MemoryFacts, later
from memquorum.core.vote.judging import judged
from memquorum.core.vote.kinds import KINDS, OVERRULE, PROMOTE, SUPERSEDE
from memquorum.core.vote.kinds.kind import Kind, Opinion, Together, opinion_in_words
from memquorum.core.vote.tally import needed_ppm, tally
from tests import examples
from tests.builders import genesis, protections, votes
from tests.builders.shard import NAMESPACE, Shard, memory_id

POLICY: Policy = from_json({"supersede": {"inferred": True}})
GENESIS = genesis.make()
A, B, C = memory_id("a"), memory_id("b"), memory_id("c")
NOW = 1_700_000_000_000
EMPTY = MemberContext("n")


def opinions(
    kind: Kind, asked: Sequence[tuple[Proposal, Together | None]], context: MemberContext = EMPTY
) -> list[Opinion]:
    terms = judged(kind, asked, context, as_of=NOW, policy=POLICY)
    return [votes.following(kind, one, POLICY) for one in terms]


def facts_of(name: str, text: str, at: int, **more: object) -> MemoryFacts:
    made = MemoryFacts(name, "n", "planner", at, at, 600_000, np.ones(4, np.float32), text=text)
    return replace(made, **more)


def proposal(*names: str, kind: Kind = SUPERSEDE) -> Proposal:
    return Proposal(names, "n", kind.name, "contradicted", 0, 0, 0)


def judge(*together: MemoryFacts, kind: Kind = SUPERSEDE, context: MemberContext = EMPTY) -> Opinion:
    asked = proposal(*(one.memory_id for one in together), kind=kind)
    (found,) = opinions(kind, [(asked, together)], context)
    return found


@pytest.mark.parametrize(("first", "second"), [("a", "b"), ("b", "a")])
def test_of_two_of_one_moment_the_later_one_was_accepted_later(first: str, second: str) -> None:
    older = facts_of(first, "The door code is 4821.", 1, accepted=7)
    newer = facts_of(second, "The door code was changed to 9930.", 1, accepted=8)
    assert judge(newer, older).yes
    assert not judge(older, newer).yes


CODE, CHANGED = facts_of("a", "The door code is 4821.", 1), facts_of("b", "The door code was changed to 9930.", 2)


@pytest.mark.parametrize(("first", "second", "both"), [("a", "b", True), ("a", None, False), (None, None, False)])
def test_what_fills_another_slot_contradicts_nothing_by_its_words(
    first: str | None, second: str | None, both: bool
) -> None:
    """ "The door code is 4821" of one door, and another of the next."""
    older, newer = replace(CODE, slot=first), replace(CHANGED, slot=second)
    assert judge(newer, older).yes is not both
    doubting = replace(EMPTY, doubts=lambda old, new: True)
    near = {"text": "The door code of hall 3 is 9930."}
    assert not judge(replace(newer, slot="b", **near), replace(older, slot="a"), context=doubting).yes


def test_what_fills_a_slot_anew_contradicts_what_fills_it_whatever_the_words() -> None:
    older, newer = facts_of("a", "Ada eats no meat.", 1), facts_of("b", "Fish is fine for her.", 2)
    assert not judge(newer, older).yes
    found = judge(replace(newer, slot="ada/dietary"), replace(older, slot="ada/dietary"))
    assert (found.yes, found.score_ppm) == (True, 900_000)
    assert not judge(replace(newer, slot="ada/dietary"), replace(older, slot="ada/allergies")).yes
    assert not judge(replace(older, slot="ada/dietary"), replace(newer, slot="ada/dietary")).yes
    again = replace(older, memory_id="b", created=2)
    assert not judge(replace(again, slot="k"), replace(older, slot="k")).yes


def test_who_names_its_own_memory_says_that_another_holds_whatever_the_words() -> None:
    older, newer = facts_of("a", "Ada eats no meat.", 1), facts_of("b", "Fish is fine for her.", 2, supersedes=("a",))
    for kind in (SUPERSEDE, OVERRULE):
        assert (judge(newer, older, kind=kind).yes, judge(newer, older, kind=kind).score_ppm) == (True, 900_000)
    assert not judge(newer, facts_of("c", "The window is open.", 1)).yes, "which it does not name"
    assert not judge(older, newer).yes
    assert not judge(replace(newer, created=0), older).yes, "said before"
    assert not judge(replace(newer, text=older.text), older).yes, "says nothing else"


def test_naming_another_agents_memory_is_a_claim_that_somebody_has_to_bear_out() -> None:
    older = facts_of("a", "Ada eats no meat.", 1, source="manual")
    newer = facts_of("b", "Fish is fine for her.", 2, agent="other", source="manual", supersedes=("a",))
    found = judge(newer, older)
    assert (found.yes, found.terms[0]) == (False, 0), "nobody else says so"
    again = replace(newer, reinforced=1, witnessed=1)
    assert judge(again, older).yes
    assert not judge(replace(newer, reinforced=1), older).yes, "it repeats itself"
    assert not judge(again, replace(older, reinforced=1)).yes
    other = replace(CHANGED, agent="other", witnessed=1)
    assert judge(replace(other, supersedes=("a",)), CODE).score_ppm == judge(other, CODE).score_ppm, (
        "where the rules find a contradiction, naming adds nothing"
    )


def test_what_a_model_finds_is_a_correction_by_the_same_agent_and_a_claim_by_another() -> None:
    older, newer = facts_of("a", "The shed is locked.", 1), facts_of("b", "Anybody can walk into the shed.", 2)
    doubting = replace(EMPTY, doubts=lambda earlier, later: (earlier, later) == (older.text, newer.text))
    assert not judge(newer, older).yes, "who has no model votes by the rules"
    found = judge(newer, older, context=doubting)
    assert (found.yes, found.score_ppm, found.terms[1]) == (True, 750_000, 0)
    assert not judge(newer, older, kind=OVERRULE, context=doubting).score_ppm * 11 >= 6 * PPM, "too little to overrule"
    assert not judge(replace(newer, agent="other"), older, context=doubting).yes
    assert not judge(older, newer, context=doubting).yes
    far = replace(newer, vector=np.array([1, -1, 1, -1], np.float32))
    assert not judge(far, older, context=doubting).yes, "they lie far from each other"


@pytest.mark.parametrize(("policy", "votes"), [("digest", True), ("another", False), ("", False)])
def test_a_member_asks_the_model_that_the_policy_names_and_no_other(policy: str, votes: bool) -> None:
    class Model:
        digest = hashlib.sha256(b"digest").hexdigest()

        def contradicts_ppm(self, earlier: str, later: str) -> int:
            return 900_000

    named = hashlib.sha256(policy.encode()).hexdigest() if policy else ""
    doubts = agreed(Model(), from_json({"supersede": {"model": named}}))
    assert (doubts is not None) is votes
    assert agreed(None, from_json({"supersede": {"model": named}})) is None
    stricter = agreed(Model(), from_json({"supersede": {"model": named, "model_ppm": 900_001}}))
    assert (doubts is None or doubts("a", "b"), stricter is not None and stricter("a", "b")) == (True, False)


def test_a_policy_names_a_model_by_its_digest() -> None:
    with pytest.raises(PolicyError, match=r"supersede\.model"):
        from_json({"supersede": {"model": "deberta"}})


TUESDAY, FRIDAY = facts_of("a", "The inspection is on Tuesday.", 1), facts_of("b", "The inspection is on Friday.", 2)


def in_words(newer: MemoryFacts | None, older: MemoryFacts) -> str:
    """A member's opinion in words; None: it does not know the newer one."""
    asked = proposal("b" if newer is None else newer.memory_id, older.memory_id)
    (found,) = opinions(SUPERSEDE, [(asked, None if newer is None else (newer, older))])
    terms = dict(zip(SUPERSEDE.terms, found.terms, strict=True))
    return opinion_in_words(SUPERSEDE, terms, (bool(found.yes), found.score_ppm), POLICY)


@pytest.mark.parametrize(
    ("newer", "older", "reason"),
    [
        (None, TUESDAY, "does not know both"),
        (replace(FRIDAY, text=None), TUESDAY, "does not know both"),
        (TUESDAY, FRIDAY, "the one that is to go is the later one"),
        (replace(FRIDAY, slot="k"), replace(TUESDAY, slot="l"), "the two are kept under different keys"),
        (replace(FRIDAY, agent="other"), TUESDAY, "another time of the day or week, of what may come more than once"),
        (replace(FRIDAY, text="The stove is new."), TUESDAY, "finds no contradiction"),
        (
            replace(CHANGED, agent="other"),
            CODE,
            "the older one is another agent's, and nobody else has said what the newer one says",
        ),
    ],
)
def test_a_member_that_finds_no_contradiction_says_the_one_reason(
    newer: MemoryFacts | None, older: MemoryFacts, reason: str
) -> None:
    assert in_words(newer, older) == f"{reason}: both stay"


def test_a_member_that_is_for_another_claim_says_so() -> None:
    third = facts_of("c", "The inspection is on Monday.", 3)
    asked = [(proposal("b", "a"), (FRIDAY, TUESDAY)), (proposal("c", "a"), (third, TUESDAY))]
    first, second = opinions(SUPERSEDE, asked)
    assert (first.yes, second.yes) == (False, True), "at most one of the two is true"
    terms = dict(zip(SUPERSEDE.terms, first.terms, strict=True))
    words = opinion_in_words(SUPERSEDE, terms, (False, 0), POLICY)
    assert words == "is for another claim that says otherwise than the newer: both stay"


def test_of_another_agents_memory_somebody_else_has_to_have_said_the_same() -> None:
    """Neither words that claim to correct something nor a source that is claimed stand for that."""
    correction = facts_of("b", "Correction: the door code is 9930 now.", 2, agent="other", source="manual")
    older = replace(CODE, source="manual")
    assert judge(replace(correction, agent="planner"), older).yes
    for kind in (SUPERSEDE, OVERRULE):
        assert not judge(correction, older, kind=kind).yes
        assert not judge(replace(correction, reinforced=2), older, kind=kind).yes, "it repeats itself"
    assert judge(replace(correction, witnessed=1), older).yes
    near = [("x", np.ones(4, np.float32), "The door code is 9930.")]
    for agent, borne_out in (("third", True), ("other", False)):
        heard = MemberContext.of("n", near, {"x": (agent, 3)})
        plain = replace(correction, text="The door code is 9930.")
        assert judge(plain, older, context=heard).yes is borne_out
    filled = replace(correction, slot="door"), replace(older, slot="door")
    assert judge(*filled).yes, "the key of a slot"


def test_the_later_day_of_one_inspection_takes_the_place_of_the_earlier_one_by_the_same_agent() -> None:
    assert (judge(FRIDAY, TUESDAY).yes, judge(FRIDAY, TUESDAY).score_ppm) == (True, 750_000)
    assert not judge(replace(FRIDAY, agent="other"), TUESDAY).yes


def test_an_explicit_correction_by_the_same_agent_scores_nine_tenths() -> None:
    found = judge(CHANGED, CODE)
    assert found.yes and found.score_ppm >= 900_000
    assert judge(CHANGED, CODE, kind=OVERRULE).score_ppm >= 900_000
    sourced = replace(CHANGED, agent="other", source="manual", witnessed=1), replace(CODE, source="manual")
    assert judge(*sourced).score_ppm >= 900_000


def test_another_agents_word_is_worth_less_and_less_still_against_what_was_promoted() -> None:
    other = replace(CHANGED, agent="other", witnessed=1)
    assert 500_000 < judge(other, CODE).score_ppm < 900_000
    plain = facts_of("b", "The door code is 9930.", 2, agent="other", witnessed=1)
    assert judge(plain, CODE).yes
    assert not judge(plain, CODE, kind=OVERRULE).yes
    repeated = replace(CODE, reinforced=2)
    assert judge(plain, repeated).score_ppm < judge(plain, CODE).score_ppm


def test_the_earlier_one_and_what_does_not_contradict_take_no_place() -> None:
    assert not judge(CODE, CHANGED).yes
    assert not judge(facts_of("b", "The window is open.", 2), CODE).yes
    assert not judge(replace(CHANGED, text=None), CODE).yes
    assert not judge(CHANGED, CODE, facts_of("c", "The window is open.", 1)).yes


@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2), st.integers(0, 2), st.booleans(), st.sampled_from("ab"))
def test_no_member_is_for_both_sides(one: int, two: int, more: int, less: int, cue: bool, agent: str) -> None:  # noqa: PLR0917
    newer = CHANGED.text if cue else "The door code is 9930."
    a = replace(CODE, created=one, reinforced=more, agent="a")
    b = replace(CHANGED, created=two, reinforced=less, text=newer, agent=agent)
    for kind in (SUPERSEDE, OVERRULE):
        assert not (judge(a, b, kind=kind).yes and judge(b, a, kind=kind).yes)


def test_late_episodes_of_the_own_agents_speak_for_a_side() -> None:
    vector = np.ones(4, np.float32)
    heard = MemberContext.of("n", [("x", vector, "The door code is 4821, you know.")])
    other = replace(CHANGED, agent="other", witnessed=1)
    assert judge(other, CODE, context=heard).score_ppm <= judge(other, CODE).score_ppm


# The tally ------------------------------------------------------------------------------------------------------------


def ballots(kind: Kind, scores: list[int | None]) -> list[Ballot]:
    """One of each member that is not None; a score in percent, 0 for a no."""
    found = []
    for member, score in enumerate(scores):
        if score is not None:
            terms = (PPM, 0, score * 10_000, PPM - score * 10_000, 0) if score else (0, 0, 0, 0, 1)
            found.append(votes.ballot(member, votes.following(kind, terms, POLICY)))
    return found


def decided(kind: Kind, scores: list[int | None]) -> bool:
    nomination = NominationProposed(b"", 0, 0, 1, 1_000, 0, "interval", (proposal("a", "b", kind=kind),))
    (outcome,) = tally(GENESIS, nomination, ballots(kind, scores))
    return outcome.decided


def test_a_yes_weighs_as_much_as_its_score() -> None:
    assert decided(SUPERSEDE, [90, 90, 90, None])
    assert not decided(SUPERSEDE, [90, 90, None, None]), "two are no quorum"
    assert not decided(SUPERSEDE, [60, 60, 60, 0]), "1.8 of 4 voices are not the half"
    assert decided(SUPERSEDE, [67, 67, 67, 0])
    assert not decided(OVERRULE, [67, 67, 67, 0]), "2.01 of 4 are less than 6/11"
    assert decided(OVERRULE, [90, 90, 90, 0])
    assert needed_ppm(GENESIS, OVERRULE) * 11 >= GENESIS.voice * 6


def test_how_much_more_it_takes_to_overrule_is_a_setting() -> None:
    """κ/(1+κ) of all weight: ⅔ where a challenger has to have twice the incumbent's share."""
    genesis = replace(GENESIS, policy=from_json({"supersede": {"kappa": "2"}}))
    assert needed_ppm(genesis, OVERRULE) == -(-genesis.voice * 2 // 3)
    assert needed_ppm(genesis, SUPERSEDE) == needed_ppm(GENESIS, SUPERSEDE)
    wanted = NominationProposed(b"", 0, 0, 1, 1_000, 0, "interval", (proposal("a", "b", kind=OVERRULE),))
    three = ballots(OVERRULE, [80, 80, 80, None])
    assert tally(GENESIS, wanted, three)[0].decided and not tally(genesis, wanted, three)[0].decided
    for wrong in ("9/10", "10"):
        with pytest.raises(PolicyError, match=r"supersede\.kappa"):
            from_json({"supersede": {"kappa": wrong}})


@pytest.mark.parametrize("kind", [SUPERSEDE, OVERRULE])
def test_leaving_ballots_out_can_only_delay_it(kind: Kind) -> None:
    for scores in itertools.product([0, 51, 67, 90, 100], repeat=4):
        whole = decided(kind, list(scores))
        for out in range(4):
            fewer = [None if at == out else score for at, score in enumerate(scores)]
            assert whole or not decided(kind, fewer)


# Effects --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def shard(codec: Codec) -> Shard:
    made = Shard(codec, GENESIS)
    made.episode("a")
    made.episode("b", contradicts=(A,))
    made.tick(100_000)
    return made


def vote(shard: Shard, *names: str, kind: Kind = SUPERSEDE) -> tuple[str, str]:
    change = shard.decide([Proposal(names, NAMESPACE, kind.name, "contradicted", 0, 0, 0)])
    (result,) = shard.rules.codec.decode_as(Decided, change.entry.detail).results
    return result.outcome, result.reason


def test_the_loser_is_kept_for_audit_and_the_winner_stays_as_it_is(shard: Shard) -> None:
    before = shard.rows.memories[B], shard.rows.strengths[B]
    assert vote(shard, B, A) == ("superseded", "quorum")
    lost = shard.rows.memories[A]
    assert (lost.tier, lost.sealed_until, lost.asks_after) == (SUPERSEDED, None, None)
    assert A not in shard.rows.strengths and shard.rows.state.alive == 1
    assert (shard.rows.memories[B], shard.rows.strengths[B]) == before


def test_a_chain_leaves_the_last(shard: Shard) -> None:
    shard.episode("c", contradicts=(A, B))
    assert vote(shard, C, A, B) == ("superseded", "quorum")
    assert list(shard.rows.strengths) == [C]
    assert vote(shard, C, B)[0] == "voided"


def test_what_was_promoted_takes_a_vote_to_overrule(shard: Shard) -> None:
    shard.decide([votes.proposal(A, "promote")])
    assert vote(shard, B, A) == ("voided", "promoted since")
    assert shard.rows.memories[A].tier == LONG_TERM
    assert vote(shard, B, A, kind=OVERRULE) == ("superseded", "quorum")


def test_what_is_restored_rests_from_the_same_vote(shard: Shard) -> None:
    vote(shard, B, A)
    order = votes.restore(GENESIS, A)
    shard.ask(order, 100_000)
    shard.restore(order, Restored(A, 600_000, 0, 0, 0, 0))
    assert shard.rows.memories[A].tier == SHORT_TERM
    rest = shard.rows.strengths[A].rest
    assert rest["supersede"] > 10**9 and rest["overrule"] > 10**9


def test_a_pin_keeps_a_memory_where_it_is_and_a_hold_does_not(shard: Shard) -> None:
    codec = shard.rules.codec
    shard.protect(protections.accepted(codec, "hold", A, 1, cluster=GENESIS.cluster))
    shard.protect(protections.accepted(codec, "pin", A, 2, cluster=GENESIS.cluster))
    assert vote(shard, B, A) == ("voided", "pinned")
    shard.protect(protections.accepted(codec, "unpin", A, 3, cluster=GENESIS.cluster))
    assert vote(shard, B, A) == ("superseded", "quorum")


def test_rows_speak_of_all(shard: Shard) -> None:
    change = shard.decide([Proposal((B, A), NAMESPACE, "supersede", "contradicted", 0, 0, 0)])
    assert [one.id for one in change.of(Memory)] == [A]
    assert change.ended(Strength) == (A,)


# P40 ------------------------------------------------------------------------------------------------------------------

CLAIMS = [
    facts_of("a", "The door code is 4821.", 1), facts_of("b", "The door code is 9930.", 2),
    facts_of("c", "The door code was changed to 7777.", 3), facts_of("d", "The window is open.", 4),
]  # fmt: skip


def grown(claim: MemoryFacts) -> MemoryFacts:
    return replace(claim, created=NOW - 10**6 + claim.created, last_access=NOW, salience_ppm=PPM, reinforced=2,
                   uncertainty_ppm=0, sourced=True)  # fmt: skip


def test_a_member_promotes_at_most_one_of_claims_that_contradict() -> None:
    grown_up = [grown(claim) for claim in CLAIMS]
    asked = [(proposal(one.memory_id, kind=PROMOTE), (one,)) for one in grown_up]
    found = opinions(PROMOTE, asked)
    assert [one.yes for one in found] == [False, False, True, True], (
        "the latest of equals, and what nothing contradicts"
    )
    alone = [opinions(PROMOTE, [one])[0].yes for one in asked]
    assert alone == [True] * 4


@pytest.mark.parametrize("how", [{"slot": "k"}, {"supersedes": ("a",)}])
def test_what_takes_a_place_on_purpose_contradicts_it_as_a_claim(how: dict[str, object]) -> None:
    older, newer = (
        grown(facts_of("a", "Ada eats no meat.", 1, slot="k")),
        grown(facts_of("b", "Fish is fine for her.", 2)),
    )
    asked = [(proposal(one.memory_id, kind=PROMOTE), (one,)) for one in (older, newer)]
    assert [one.yes for one in opinions(PROMOTE, asked)] == [True, True]
    asked[1] = asked[1][0], (replace(newer, **how),)
    assert [one.yes for one in opinions(PROMOTE, asked)] == [False, True]


@settings(max_examples=examples(50))
@given(st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=4, max_size=4), st.integers(0, 3))
def test_two_claims_that_contradict_are_never_both_decided(repeated: list[list[int]], liar: int) -> None:
    """Each member has heard other repetitions; one of four says yes to everything."""
    nomination = NominationProposed(
        b"", 0, 0, 1, NOW, 0, "interval", tuple(proposal(one.memory_id, kind=PROMOTE) for one in CLAIMS[:3])
    )
    cast = []
    for member in range(4):
        mine = [replace(grown(one), reinforced=n) for one, n in zip(CLAIMS, repeated[member], strict=False)]
        asked = list(zip(nomination.proposals, [(one,) for one in mine], strict=True))
        honest = opinions(PROMOTE, asked)
        terms = (PPM, PPM, PPM, 0)
        lie = votes.following(PROMOTE, terms, POLICY)
        cast.append(votes.ballot(member, *([lie] * 3 if member == liar else honest)))
    for shown in itertools.chain([cast], itertools.combinations(cast, 3)):
        assert sum(one.decided for one in tally(GENESIS, nomination, list(shown))) <= 1


def test_they_are_kinds_like_others() -> None:
    assert {KINDS[name] for name in ("supersede", "overrule")} == {SUPERSEDE, OVERRULE}


def test_of_two_the_later_one_is_what_was_said_last() -> None:
    first, other = facts_of("a", "The port is 8080.", 1, accepted=1), facts_of("b", "The port is 9090.", 2, accepted=2)
    assert later(other, first) and not later(first, other)
    back = replace(first, again=(2, 3))  # said again in the same moment, and came in later
    assert later(back, other) and not later(other, back)
    assert judge(other, back).terms[-1] == _EARLIER_GROUND
    imported = replace(other, again=(0, 9))
    assert later(first, imported)


_EARLIER_GROUND = 2
