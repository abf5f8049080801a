"""A member's proof that a candidate was tried, and helped: only the bytes that count."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.experience.checking import NotBorneOut, borne_out, sampled, stands, tried_again
from memquorum.core.experience.draw import drawn
from memquorum.core.experience.reward import Reach
from memquorum.core.experience.rounds import Round
from memquorum.core.experience.trial import Case, Statistics, tried
from memquorum.core.experience.view import Experience
from memquorum.core.identity.membership import Genesis
from memquorum.core.records import Proposal
from memquorum.schema_files import load_codec
from tests.builders import trials
from tests.builders.experience import context, held, vector
from tests.builders.genesis import make

CODEC = load_codec()
VERIFIERS = ("verifier-1", "verifier-2", "verifier-3")
GENESIS: Genesis = make(shards=2, **trials.entitled(verifiers=VERIFIERS))
POLICY = GENESIS.policy.experience
SPACE = "team"
AT = Round(7, b"n" * 32, 100)
CANDIDATE = held(str(uuid.UUID(int=1)))
CASE = Case(
    CANDIDATE,
    [context(id=str(uuid.UUID(int=at)), vector=vector(0.6 + at / 100, 0.8)) for at in range(10, 15)],
    Experience("mini", 2, [held(str(uuid.UUID(int=2)), "It rains.", 0.5, 0.5)]),
    AT.epoch,
)


def trial_statistics() -> Statistics:
    told = tried(CASE, Reach(), POLICY)
    assert told is not None
    return told


TOLD = trial_statistics()
FIRST, SECOND, THIRD = drawn(CANDIDATE.id, AT.nomination, VERIFIERS, 3)


def signed(who: str, told: Statistics = TOLD, genesis: Genesis = GENESIS, **changed: Any) -> bytes:
    return trials.signed(CODEC, genesis, told, who, **{"namespace": SPACE, **changed})


SIGNED = [signed(who) for who in (FIRST, SECOND)]
PROPOSAL = trials.proposal(CANDIDATE.id, SIGNED, SPACE)


def rounds(epoch: int) -> Round | None:
    return AT if epoch == AT.epoch else None


def holds(proposal: Proposal, genesis: Genesis = GENESIS, shard: int = 0) -> bool:
    try:
        return borne_out(CODEC, genesis, shard, proposal, rounds) == (TOLD, AT)
    except NotBorneOut:
        return False


def proposed(*made: bytes) -> Proposal:
    return replace(PROPOSAL, tried=made)


def test_what_two_who_were_drawn_tell_alike_holds() -> None:
    assert holds(PROPOSAL) and holds(replace(PROPOSAL, tried=PROPOSAL.tried[::-1]))


OTHER = replace(TOLD, experience=b"e" * 32)
CHANGED: dict[str, dict[str, Any]] = {
    "cluster": {"cluster": b"c" * 32},
    "configuration": {"config": 1},
    "shard": {"shard": 1},
    "memory": {"memory_id": str(uuid.UUID(int=2))},
    "namespace": {"namespace": "other"},
    "statistics": {"statistics": OTHER.data},
    "rubbish": {"statistics": b"rubbish"},
}


@pytest.mark.parametrize("changed", CHANGED)
@pytest.mark.parametrize("both", [False, True])
def test_what_a_verifier_signed_otherwise_does_not_hold(changed: str, both: bool) -> None:
    told = [signed(who, **{"signer": f"service:{who}", **CHANGED[changed]}) for who in (FIRST, SECOND)]
    assert not holds(proposed(told[0], told[1] if both else SIGNED[1]))


STATED: dict[str, dict[str, Any]] = {
    "candidate": {"candidate": str(uuid.UUID(int=2))},
    "no digest": {"said": b"short"},
    "reward": {"reward": "model/1"},
    "rules": {"rules": b"r" * 32},
    "runs": {"runs": 1},
    "another position": {"position": 8},
    "no position": {"position": 0},
    "too few judges": {"judged": TOLD.judged[:2]},
    "a judge twice": {"judged": (TOLD.judged[0],) * 3},
    "beyond all bounds": {"judged": (replace(TOLD.judged[0], reward_with=10**9), *TOLD.judged[1:])},
}


@pytest.mark.parametrize("stated", STATED)
def test_statistics_that_cannot_be_hold_for_nobody_though_all_who_were_drawn_sign_them(stated: str) -> None:
    told = replace(TOLD, **STATED[stated])
    made = (signed(who, told, memory_id=CANDIDATE.id) for who in (FIRST, SECOND))
    assert not holds(proposed(*made))


def test_too_few_or_too_many_or_the_same_one_twice_are_not_enough() -> None:
    for some in ([], SIGNED[:1], [SIGNED[0], SIGNED[0]], [*SIGNED, SIGNED[0]], [*SIGNED, *SIGNED]):
        assert not holds(proposed(*some))


def test_one_that_tells_otherwise_spoils_it() -> None:
    assert not holds(proposed(*SIGNED, signed(THIRD, OTHER)))


def test_who_was_drawn_third_may_stand_in() -> None:
    assert holds(proposed(SIGNED[0], signed(THIRD))) and holds(proposed(*SIGNED, signed(THIRD)))


def test_of_more_verifiers_those_count_who_were_drawn() -> None:
    names = [f"verifier-{at}" for at in range(1, 8)]
    genesis = make(shards=2, **trials.entitled(verifiers=names))
    order = drawn(CANDIDATE.id, AT.nomination, names, 3)
    left = [name for name in names if name not in order]

    def by(*who: str) -> Proposal:
        return proposed(*(signed(one, genesis=genesis) for one in who))

    assert holds(by(*order[:2]), genesis) and holds(by(*order[1:]), genesis)
    assert not holds(by(order[0], left[0]), genesis) and not holds(by(*left[:3]), genesis)


def test_of_another_shard_memory_or_namespace_it_proves_nothing() -> None:
    assert not holds(PROPOSAL, shard=1)
    assert not holds(replace(PROPOSAL, namespace="other"))
    assert not holds(replace(PROPOSAL, memory_ids=(str(uuid.UUID(int=2)),)))
    assert not holds(replace(PROPOSAL, memory_ids=(CANDIDATE.id, str(uuid.UUID(int=2)))))


def test_without_verifiers_nothing_is_admitted() -> None:
    assert not holds(PROPOSAL, make(shards=2))


@given(st.integers(0, 1), st.data())
def test_no_byte_of_it_may_be_another(which: int, data: Any) -> None:
    there = bytearray(SIGNED[which])
    there[data.draw(st.integers(0, len(there) - 1))] ^= data.draw(st.integers(1, 255))
    assert not holds(replace(PROPOSAL, tried=(*SIGNED[:which], bytes(there), *SIGNED[which + 1 :])))


@given(st.binary(max_size=200))
def test_rubbish_holds_for_nobody(rubbish: bytes) -> None:
    assert not holds(replace(PROPOSAL, tried=(SIGNED[0], rubbish)))


def test_nobody_may_sign_for_another() -> None:
    assert not holds(proposed(SIGNED[0], signed(SECOND, signer=f"service:{THIRD}")))
    assert not holds(proposed(SIGNED[0], signed("verifier-9", signer=f"service:{SECOND}")))


# Trials of a member -------------------------------------------------------------------------------------------------


def test_members_try_different_contexts_again_and_each_always_the_same() -> None:
    drawn = [sampled(TOLD, member).context for member in range(64)]
    assert drawn == [sampled(TOLD, member).context for member in range(64)]
    assert set(drawn) == {one.context for one in TOLD.judged}


@given(st.integers(0, 99))
def test_what_a_member_tries_again_needs_the_context_that_it_draws_alone(member: int) -> None:
    name = sampled(TOLD, member).context
    own = CASE._replace(contexts=[one for one in CASE.contexts if one.id == name])
    assert tried_again(own, TOLD, member, Reach(), POLICY)
    others = CASE._replace(contexts=[one for one in CASE.contexts if one.id != name])
    assert not tried_again(others, TOLD, member, Reach(), POLICY)


@given(st.integers(0, 4), st.sampled_from(["reward_without", "reward_with", "tokens_with", "given_with"]))
def test_a_lie_about_a_context_is_found_by_whoever_draws_it(at: int, field: str) -> None:
    lied = replace(TOLD.judged[at], **{field: getattr(TOLD.judged[at], field) + 1})
    lie = replace(TOLD, judged=(*TOLD.judged[:at], lied, *TOLD.judged[at + 1 :]))
    for member in range(16):
        assert tried_again(CASE, lie, member, Reach(), POLICY) == (sampled(lie, member).context != lied.context)


def test_who_holds_another_experience_finds_that_it_is_not_the_same() -> None:
    weighed = [replace(one, weight_ppm=one.weight_ppm - 1) for one in CASE.experience.memories]
    other = CASE._replace(experience=Experience("mini", 2, weighed))
    assert not tried_again(other, TOLD, 1, Reach(), POLICY)
    assert not tried_again(CASE._replace(experience=Experience("mini", 2)), TOLD, 1, Reach(), POLICY)
    assert stands(CASE, TOLD) and not stands(other, TOLD)


def test_what_went_of_experience_since_is_told_from_a_lie() -> None:
    lied = replace(TOLD.judged[0], reward_with=TOLD.judged[0].reward_with + 1)
    assert stands(CASE, replace(TOLD, judged=(lied, *TOLD.judged[1:])))
    less = Experience("mini", 2, CASE.experience.memories[1:])
    assert not stands(CASE._replace(experience=less), TOLD)
    # The candidate itself is not there, whether it was admitted before or not.
    with_it = Experience("mini", 2, [*CASE.experience.memories, CASE.candidate])
    assert stands(CASE._replace(experience=with_it), TOLD)
