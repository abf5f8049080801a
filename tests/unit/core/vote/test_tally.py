"""The decisions of ballots: exhaustively for four members, and by laws for any number."""

from __future__ import annotations

import functools
import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memquorum.core.identity.membership import Genesis, Member
from memquorum.core.policy import PPM, ForgetPolicy, Policy, PolicyError, from_json
from memquorum.core.records import NominationProposed, Proposal
from memquorum.core.vote.columns import Ballot
from memquorum.core.vote.kinds import FORGET, KINDS, PROMOTE
from memquorum.core.vote.kinds.kind import Opinion
from memquorum.core.vote.tally import CONTRADICTED, TOO_FEW, TOO_LIGHT, Outcome, needed_ppm, tally
from tests import examples
from tests.builders.genesis import DEFAULT_WEIGHTS, make
from tests.builders.votes import ballot, following

AS_OF = 1_000_000


def nomination(*kinds: str) -> NominationProposed:
    proposals = tuple(Proposal((f"m{i}",), "space", kind, "test", 0, 0, 0) for i, kind in enumerate(kinds))
    return NominationProposed(b"", 0, 0, 1, AS_OF, 0, "interval", proposals)


def say(yes: bool, score: int = 0, terms: tuple[int, ...] = (0, 0, 0)) -> Opinion:
    return Opinion(yes, score, terms)


@functools.cache
def cluster(weights: tuple[int, ...] = DEFAULT_WEIGHTS) -> Genesis:
    return make(4, weights=weights)


def forget(genesis: Genesis, votes: dict[int, bool]) -> Outcome:
    (found,) = tally(genesis, nomination("forget"), [ballot(m, say(yes)) for m, yes in votes.items()])
    return found


# N = 4, every pattern of yes, no and absent ---------------------------------------------------------------------------


@pytest.mark.parametrize("said", list(itertools.product([True, False, None], repeat=4)))
@pytest.mark.parametrize("weights", [DEFAULT_WEIGHTS, (1000, 1000, 1000, 1000), (1300, 1300, 1300, 1000)])
def test_four_members_forget_iff_three_and_two_thirds_of_all_weight_say_so(
    said: tuple[bool | None, ...], weights: tuple[int, ...]
) -> None:
    found = forget(cluster(weights), {m: yes for m, yes in enumerate(said) if yes is not None})
    yes = tuple(m for m, vote in enumerate(said) if vote)
    weight = Fraction(sum(weights[m] for m in yes), sum(weights))
    assert found.yes == yes
    assert found.decided == (len(yes) >= 3 and weight >= Fraction(2, 3))
    assert found.outcome == ("forgotten" if found.decided else "kept")
    assert found.reason == ("quorum" if found.decided else TOO_FEW if len(yes) < 3 else TOO_LIGHT)


@pytest.mark.parametrize("said", list(itertools.product([True, False], repeat=4)))
@pytest.mark.parametrize("liar", range(4))
def test_no_deletion_without_two_honest_members_whatever_one_liar_says(said: tuple[bool, ...], liar: int) -> None:
    """f = 1: of the three honest members at least two, their majority, must stand behind a deletion."""
    found = forget(cluster(), dict(enumerate(said)))
    honest_yes = [m for m in range(4) if said[m] and m != liar]
    assert not found.decided or len(honest_yes) >= 2


@pytest.mark.parametrize("said", list(itertools.product([True, False], repeat=4)))
def test_leaving_ballots_out_only_delays(said: tuple[bool, ...]) -> None:
    genesis, whole = cluster(), forget(cluster(), dict(enumerate(said)))
    for size in (0, 1, 2, 3):
        for chosen in itertools.combinations(range(4), size):
            part = forget(genesis, {m: said[m] for m in chosen})
            assert not part.decided or whole.decided


# Any N ----------------------------------------------------------------------------------------------------------------


def members(draw: st.DrawFn) -> Genesis:
    n = draw(st.integers(4, 10))
    weights = draw(st.lists(st.tuples(st.integers(1, 3000), st.integers(1, 1000)), min_size=n, max_size=n))
    config = [Member(i, f"m{i}", "r", b"", weight, reliability) for i, (weight, reliability) in enumerate(weights)]
    policy = Policy(forget=ForgetPolicy(alpha=Fraction(draw(st.integers(51, 100)), 100)))
    return Genesis(b"c" * 32, 1, tuple(config), {}, {}, policy)


@st.composite
def elections(draw: st.DrawFn) -> tuple[Genesis, NominationProposed, list[Ballot]]:
    """Any configuration, proposals of any kind, and a ballot of every member."""
    genesis = members(draw)
    kinds = draw(st.sampled_from([("forget",), ("promote",), ("promote", "forget")]))
    scores = st.tuples(*[st.sampled_from([0, 300_000, 590_000, 600_000, 900_000, PPM])] * 4)
    said = iter(draw(st.lists(scores, min_size=genesis.n * len(kinds), max_size=genesis.n * len(kinds))))

    def opinion(kind: str) -> Opinion:
        terms = next(said)[: len(KINDS[kind].terms)]
        return following(KINDS[kind], terms, genesis.policy)

    ballots = [ballot(m, *(opinion(k) for k in kinds)) for m in range(genesis.n)]
    return genesis, nomination(*kinds), ballots


@settings(max_examples=examples(60), deadline=None)
@given(elections(), st.data())
def test_a_further_ballot_never_undoes_a_decision(
    election: tuple[Genesis, NominationProposed, list[Ballot]], data: st.DataObject
) -> None:
    genesis, nominated, ballots = election
    order = data.draw(st.permutations(ballots))
    before: tuple[Outcome, ...] = tally(genesis, nominated, [])
    for count in range(1, len(order) + 1):
        now = tally(genesis, nominated, order[:count])
        for old, new in zip(before, now, strict=True):
            assert not old.decided or new.decided
            assert new.weight_ppm >= old.weight_ppm
            assert old.confidence_ppm is None or (new.confidence_ppm or 0) >= old.confidence_ppm
        before = now


@settings(max_examples=examples(60), deadline=None)
@given(elections(), st.data())
def test_the_order_of_ballots_means_nothing(
    election: tuple[Genesis, NominationProposed, list[Ballot]], data: st.DataObject
) -> None:
    genesis, nominated, ballots = election
    assert tally(genesis, nominated, data.draw(st.permutations(ballots))) == tally(genesis, nominated, ballots)


@settings(max_examples=examples(60), deadline=None)
@given(elections())
def test_nothing_is_decided_without_q_members_and_the_share_of_all_voices(
    election: tuple[Genesis, NominationProposed, list[Ballot]],
) -> None:
    genesis, nominated, ballots = election
    for at, found in enumerate(tally(genesis, nominated, ballots)):
        yes = [b.member for b in ballots if b.opinions[at].yes]
        share = KINDS[found.kind].needed(genesis.policy)
        enough = len(yes) >= genesis.quorum and sum(genesis.members[m].voice for m in yes) >= share * genesis.voice
        assert found.yes == tuple(yes)
        assert not found.decided or enough
        assert found.decided == enough or KINDS[found.kind] is PROMOTE  # which has a gate of its own


def test_the_weighted_quorum_is_exact_at_its_edge() -> None:
    """Five voices, two thirds of them is 3.33…: 3,333,333 millionths do not do, 3,333,334 do."""
    genesis = make()
    assert genesis.voice == 5_000_000
    assert needed_ppm(genesis, FORGET) == 3_333_334
    equal = make(4, weights=(1000, 1000, 1000, 1000), policy=Policy(forget=ForgetPolicy(alpha=Fraction(3, 4))))
    assert needed_ppm(equal, FORGET) == 3_000_000
    assert forget(equal, {0: True, 1: True, 2: True}).decided


def test_where_much_depends_on_it_more_of_the_weight_has_to_be_for_it() -> None:
    """SPEC B, Alg. 14: τ_c is 0.80 in high-stakes domains; each proposal by its own namespace, in one nomination."""
    policy = from_json({"promote": {"high_stakes": "clinic team-*"}})
    genesis = make(7, weights=(1,) * 7, policy=policy)
    spaces = ["clinic", "clinics", "team-7", "n", "team-"]
    proposals = tuple(Proposal((f"m{n}",), name, "promote", "salient", 0, 0, 0) for n, name in enumerate(spaces))
    asked = NominationProposed(b"", 0, 0, 1, AS_OF, 0, "interval", proposals)
    for_it, against = say(True, PPM, (PPM, PPM, PPM, 0)), say(False, 0, (0, 0, 0, PPM))
    for yes, decided in ((5, [False, True, False, True, False]), (6, [True] * 5)):
        ballots = [ballot(member, *(for_it if member < yes else against,) * 5) for member in range(7)]
        assert [one.decided for one in tally(genesis, asked, ballots)] == decided
    for wrong in ({"high_tau": "1/2"}, {"high_stakes": 3}):
        with pytest.raises(PolicyError, match=r"promote\.high_"):
            from_json({"promote": wrong})


def test_the_denominator_counts_members_who_did_not_vote() -> None:
    """Five of seven, all who voted: with a share of three quarters they are too light, because seven are asked."""
    seven = make(7, policy=Policy(forget=ForgetPolicy(alpha=Fraction(3, 4))))
    found = forget(seven, dict.fromkeys(range(2, 7), True))
    assert (found.weight_ppm, found.needed_ppm, found.reason) == (5_000_000, 5_250_000, TOO_LIGHT)
    assert forget(seven, dict.fromkeys(range(1, 7), True)).decided


@pytest.mark.parametrize("weights", [(1200, 1200, 1000, 1000, 1000, 1000, 1000), (1000,) * 7])
def test_f_silent_members_cannot_stop_the_others(weights: tuple[int, ...]) -> None:
    """The genesis refuses a configuration in which the f heaviest hold a third: the others reach two thirds."""
    assert forget(make(7, weights=weights), dict.fromkeys(range(2, 7), True)).decided


def test_promotion_takes_the_quorums_lowest_confidence_and_passes_its_gate() -> None:
    good = [(PPM, 900_000, PPM, 0), (PPM, 800_000, PPM, 0), (PPM, 700_000, PPM, 0), (PPM, 600_000, PPM, 0)]
    genesis, wanted = make(), nomination("promote")

    def vote(member: int, terms: tuple[int, ...]) -> Ballot:
        return ballot(member, following(PROMOTE, terms, genesis.policy))

    ballots = [vote(m, terms) for m, terms in enumerate(good)]
    (found,) = tally(genesis, wanted, ballots)
    assert (found.outcome, found.confidence_ppm) == ("promoted", ballots[2].opinions[0].score_ppm)
    contradicted = [vote(m, (terms[0], terms[1], 100_000, 0)) for m, terms in enumerate(good)]
    (found,) = tally(genesis, wanted, contradicted)
    assert (found.outcome, found.reason) == ("kept", "validity")


@pytest.mark.parametrize("weights", [DEFAULT_WEIGHTS, (1000, 1000, 1000, 1000)])
def test_what_half_of_all_weight_finds_contradicted_is_kept_for_that(weights: tuple[int, ...]) -> None:
    """SPEC B, Alg. 14: REJECTED_CONTRADICTED. A liar alone does not bring it about, nor does leaving ballots out."""
    genesis, wanted = cluster(weights), nomination("promote")
    opinions = {
        "yes": (PPM, PPM, PPM, 0), "found": (0, 0, 499_999, 0), "doubts": (0, 0, 500_000, 0),
        "ignorant": PROMOTE.abstain(AS_OF),
    }  # fmt: skip
    for said in itertools.product([*opinions, None], repeat=4):
        ballots = [
            ballot(member, following(PROMOTE, opinions[one], genesis.policy))
            for member, one in enumerate(said)
            if one is not None
        ]
        (found,) = tally(genesis, wanted, ballots)
        against = sum(weights[member] for member, one in enumerate(said) if one == "found")
        assert (found.reason == CONTRADICTED) == (2 * against >= sum(weights))
        if said.count("found") < 2:  # f + 1
            assert found.reason != CONTRADICTED
        if found.reason == CONTRADICTED:
            assert (found.decided, found.outcome, found.confidence_ppm) == (False, "kept", None)


def test_a_vote_cannot_count_twice() -> None:
    with pytest.raises(ValueError, match="distinct"):
        tally(make(), nomination("forget"), [ballot(0, say(True)), ballot(0, say(True)), ballot(1, say(True))])
    with pytest.raises(ValueError, match="distinct"):
        tally(make(), nomination("forget"), [ballot(4, say(True))])
    with pytest.raises(ValueError, match="one opinion"):
        tally(make(), nomination("forget", "forget"), [ballot(0, say(True))])


def test_ballots_count_by_the_ids_of_their_members() -> None:
    some = (Member(1, "a", "r", b"", 1000), Member(4, "b", "r", b"", 2000), Member(6, "c", "r", b"", 3000))
    genesis = Genesis(b"c" * 32, 1, (*some, Member(9, "d", "r", b"", 4000)), {}, {}, Policy())
    (outcome,) = tally(genesis, nomination("forget"), [ballot(m, say(True)) for m in (4, 6, 9)])
    assert (outcome.yes, outcome.weight_ppm) == ((4, 6, 9), 9_000_000)
    for stranger in (0, 2, 3):
        with pytest.raises(ValueError, match="distinct members"):
            tally(genesis, nomination("forget"), [ballot(stranger, say(True))])
