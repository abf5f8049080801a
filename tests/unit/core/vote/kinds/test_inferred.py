"""By default nothing is taken by inference: what members do with a contradiction that follows from words alone."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.policy import PPM, Policy, PolicyError, from_json, read, to_json, written
from memquorum.core.records import NominationProposed, Proposal
from memquorum.core.vote.grounds import MemberContext, MemoryFacts
from memquorum.core.vote.judging import judged
from memquorum.core.vote.kinds import OVERRULE, PROMOTE, SUPERSEDE
from memquorum.core.vote.kinds.kind import Kind, Opinion, Together, opinion_in_words
from memquorum.core.vote.tally import tally
from tests import examples
from tests.builders import genesis, votes

POLICY, INFERRING = Policy(), from_json({"supersede": {"inferred": True}})
GENESIS = genesis.make()
NOW, DAY_MS = 1_700_000_000_000, 24 * 3600 * 1000
EMPTY = MemberContext("n")
SEEMING, MORE = (
    yaml.safe_load(Path(__file__).with_name(name).read_text()) for name in ("served.yaml", "served_more.yaml")
)
SERVED = SEEMING | MORE
PAIRS = [(kind, pair["first"], pair["second"]) for kind, pairs in SERVED.items() for pair in pairs]


def facts_of(name: str, text: str, at: int, **more: object) -> MemoryFacts:
    made = MemoryFacts(name, "n", "planner", at, at, 600_000, np.ones(4, np.float32), text=text)
    return replace(made, **more)


def judge(kind: Kind, *together: MemoryFacts, context: MemberContext = EMPTY, policy: Policy = POLICY) -> Opinion:
    asked = Proposal(tuple(one.memory_id for one in together), "n", kind.name, "contradicted", 0, 0, 0)
    (found,) = judged(kind, [(asked, together)], context, as_of=NOW, policy=policy)
    return votes.following(kind, found, policy)


def words(kind: Kind, opinion: Opinion) -> str:
    return opinion_in_words(
        kind, dict(zip(kind.terms, opinion.terms, strict=True)), (bool(opinion.yes), opinion.score_ppm), POLICY
    )


def test_there_are_at_least_150_pairs_and_some_of_every_sort() -> None:
    assert len(PAIRS) >= 150 and min(map(len, SERVED.values())) >= 4
    assert len(SERVED) == len(SEEMING) + len(MORE)
    assert len({first for _, first, _ in PAIRS}) == len(PAIRS)


@pytest.mark.parametrize(("sort", "first", "second"), PAIRS)
def test_no_member_lets_a_memory_go_for_words_that_only_seem_to_contradict_it(
    sort: str, first: str, second: str
) -> None:
    doubting = replace(EMPTY, doubts=lambda earlier, later: True)
    for kind in (SUPERSEDE, OVERRULE):
        for agent in ("planner", "other"):
            for context in (EMPTY, doubting):
                newer = facts_of("b", second, 2, agent=agent, witnessed=2, reinforced=2, source="manual")
                found = judge(kind, newer, facts_of("a", first, 1, source="manual"), context=context)
                assert not found.yes and found.score_ppm == 0, sort


def test_a_member_says_that_words_alone_take_nothing() -> None:
    found = judge(
        SUPERSEDE, facts_of("b", "The vault code was changed to 55.", 2), facts_of("a", "The vault code is 41.", 1)
    )
    assert words(SUPERSEDE, found) == (
        "a contradiction that follows from the words alone takes nothing: the newer one neither names the older nor "
        "fills its slot: both stay"
    )
    assert judge(
        SUPERSEDE, facts_of("b", "The vault code was changed to 55.", 2), facts_of("a", "The vault code is 41.", 1),
        policy=INFERRING,
    ).yes  # fmt: skip


@pytest.mark.parametrize("kind", [SUPERSEDE, OVERRULE])
def test_an_act_of_its_own_agent_takes_a_memorys_place(kind: Kind) -> None:
    older, newer = facts_of("a", "The vault code is 41.", 1), facts_of("b", "The vault code was changed to 55.", 2)
    assert judge(kind, replace(newer, supersedes=("a",)), older).yes
    assert judge(kind, replace(newer, slot="vault"), replace(older, slot="vault")).yes
    assert not judge(kind, replace(newer, slot="vault"), replace(older, slot="fence")).yes


def test_who_names_another_agents_memory_has_to_be_borne_out_whatever_its_words() -> None:
    older = facts_of("a", "The vault code is 41.", 1)
    newer = facts_of("b", "Correction: the vault code is 55 now.", 2, agent="other", supersedes=("a",))
    found = judge(SUPERSEDE, newer, older)
    assert words(SUPERSEDE, found) == (
        "the older one is another agent's, and nobody else has said what the newer one says: both stay"
    )
    assert not judge(SUPERSEDE, replace(newer, reinforced=2), older).yes, "it repeats itself"
    assert judge(SUPERSEDE, replace(newer, reinforced=1, witnessed=1), older).yes


# A liar ---------------------------------------------------------------------------------------------------------------


@settings(max_examples=examples(60))
@given(st.sampled_from(PAIRS), st.integers(0, 3), st.lists(st.integers(0, 3), min_size=8, max_size=8), st.booleans())
def test_a_liar_that_proposes_what_was_inferred_gets_no_quorum(
    pair: tuple[str, str, str], liar: int, heard: list[int], promoted: bool
) -> None:
    """Honest members vote against it whoever proposes it, whatever each has read, and whichever ballots are shown, each
    of them always in the same words.
    """
    kind, (_, first, second) = OVERRULE if promoted else SUPERSEDE, pair
    asked = Proposal(("b", "a"), "n", kind.name, "contradicted", 0, 0, 0)
    nomination = NominationProposed(b"", 0, 0, 1, NOW, 0, "interval", (asked,))
    cast = []
    for member in range(4):
        again, too = heard[member], heard[4 + member]
        facts = facts_of("b", second, 2, reinforced=again, witnessed=too), facts_of("a", first, 1)
        late = MemberContext.of("n", [("x", np.ones(4, np.float32), second)], {"x": ("other", 3)})
        honest = [judge(kind, *facts, context=context) for context in (late, late)]
        assert honest[0] == honest[1] and not honest[0].yes
        lie = votes.following(kind, (PPM, PPM, PPM, 0, 0), POLICY)
        assert lie.yes and lie.score_ppm == PPM
        cast.append(votes.ballot(member, lie if member == liar else honest[0]))
    for shown in itertools.chain([cast], itertools.combinations(cast, 3)):
        (outcome,) = tally(GENESIS, nomination, list(shown))
        assert not outcome.decided and len(outcome.yes) <= 1


# Promotions -----------------------------------------------------------------------------------------------------------


def grown(name: str, text: str, age_ms: int, **more: object) -> MemoryFacts:
    return facts_of(name, text, NOW - age_ms, last_access=NOW, salience_ppm=PPM, witnessed=1, sourced=True, **more)


DENIED = MemberContext.of(
    "n", [("x", np.ones(4, np.float32), "The vault code is 55 now.")], {"x": ("stranger", NOW)}
)  # fmt: skip


def test_a_contradiction_by_words_delays_a_promotion_and_prevents_none() -> None:
    alone = judge(PROMOTE, grown("a", "The vault code is 41.", DAY_MS))
    assert alone.yes
    young = judge(PROMOTE, grown("a", "The vault code is 41.", DAY_MS - 1), context=DENIED)
    assert not young.yes and young.terms == PROMOTE.abstain(NOW)
    assert "another text says otherwise while it is younger than 24 h" in words(PROMOTE, young)
    assert not PROMOTE.against([(1, young)]), "it is proposed again"
    old = judge(PROMOTE, grown("a", "The vault code is 41.", DAY_MS), context=DENIED)
    assert (old.yes, old.score_ppm) == (True, alone.score_ppm), "and counts as if nobody had contradicted it"


def test_how_long_it_delays_a_promotion_is_a_setting() -> None:
    memory = grown("a", "The vault code is 41.", 60_000)
    at_once = from_json({"promote": {"disputed_ms": 0}})
    assert judge(PROMOTE, memory, context=DENIED, policy=at_once).yes
    assert not judge(PROMOTE, memory, context=DENIED).yes


def test_where_the_policy_says_so_it_speaks_against_a_promotion_for_ever() -> None:
    found = judge(PROMOTE, grown("a", "The vault code is 41.", 9 * DAY_MS), context=DENIED, policy=INFERRING)
    assert not found.yes and PROMOTE.against([(1, found)])


def promotions(*claims: MemoryFacts) -> list[bool]:
    asked: list[tuple[Proposal, Together | None]] = [
        (Proposal((one.memory_id,), "n", "promote", "salient", 0, 0, 0), (one,)) for one in claims
    ]
    found = judged(PROMOTE, asked, EMPTY, as_of=NOW, policy=POLICY)
    return [bool(votes.following(PROMOTE, one, POLICY).yes) for one in found]


def test_of_two_claims_that_contrast_the_elder_waits_for_a_day_and_not_for_ever() -> None:
    rival = grown("b", "The vault code is 55 now.", 60_000, reinforced=2)
    assert promotions(grown("a", "The vault code is 41.", 120_000), rival) == [False, True]
    assert promotions(grown("a", "The vault code is 41.", DAY_MS), rival) == [True, True]
    filled = replace(rival, slot="vault")
    assert promotions(grown("a", "The vault code is 41.", DAY_MS, slot="vault"), filled) == [False, True], "an act"


# The setting ----------------------------------------------------------------------------------------------------------


def test_the_setting_is_off_by_default_and_is_written() -> None:
    assert not POLICY.supersede.inferred and INFERRING.supersede.inferred
    assert '"inferred":false' in written(POLICY) and '"inferred":true' in written(INFERRING)
    assert read(written(INFERRING)) == INFERRING and from_json(to_json(INFERRING)) == INFERRING


@pytest.mark.parametrize("value", ["true", 1, None])
def test_it_is_on_or_off_and_nothing_else(value: object) -> None:
    with pytest.raises(PolicyError, match=r"supersede\.inferred = .* is not a bool"):
        from_json({"supersede": {"inferred": value}})


def test_members_would_let_many_of_these_go_where_inference_counts() -> None:
    """The pairs are of the sort that the rules take for contradictions, or this file would show nothing."""
    pairs = [pair for pairs in SEEMING.values() for pair in pairs]
    gone = sum(
        bool(judge(SUPERSEDE, facts_of("b", one["second"], 2), facts_of("a", one["first"], 1), policy=INFERRING).yes)
        for one in pairs
    )
    assert gone >= len(pairs) // 4
