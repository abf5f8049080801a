"""The contract of every grounds term, whoever supplies it: the rules are the default, a model may replace them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.policy import PPM
from memquorum.core.vote.evidence import NAMED, rules
from memquorum.core.vote.grounds import Grounds, MemberContext, MemoryFacts, Term
from memquorum.ports import Vector
from tests import examples

DIMENSIONS = 4
TEXTS = ("the valve is at 3 bar", "the valve is at 4 bar", "the valve is not open", "it rained", "", None)

ADAPTERS: dict[str, Grounds] = {
    **NAMED,
    "rules that see contradiction everywhere": rules(lambda earlier, later, same: earlier != later),
}
TERMS = [
    (f"{name}: {term}", getattr(grounds, term)) for name, grounds in ADAPTERS.items() for term in grounds.__slots__
]

components = st.lists(st.floats(-1, 1, width=16), min_size=DIMENSIONS, max_size=DIMENSIONS)
vectors = components.map(lambda values: np.array(values, np.float32))
optional_ppm = st.none() | st.integers(0, PPM)
facts = st.builds(
    MemoryFacts,
    memory_id=st.just("self"),
    namespace=st.just("n"),
    agent=st.sampled_from(["agent", ""]),
    created=st.just(0),
    last_access=st.just(0),
    salience_ppm=st.integers(0, PPM),
    vector=st.none() | vectors,
    reward_ppm=optional_ppm,
    confidence_ppm=optional_ppm,
    uncertainty_ppm=optional_ppm,
    reinforced=st.integers(0, 9),
    text=st.sampled_from(TEXTS),
    sourced=st.booleans(),
)
episodes = st.lists(st.tuples(st.sampled_from(["self", "a", "b", "c"]), vectors, st.sampled_from(TEXTS)), max_size=5)

every_term = pytest.mark.parametrize("term", [term for _, term in TERMS], ids=[name for name, _ in TERMS])


def context(recent: list[tuple[str, Vector, str | None]]) -> MemberContext:
    return MemberContext.of("n", recent)


def test_every_adapter_supplies_the_four_terms() -> None:
    assert len(TERMS) == 4 * len(ADAPTERS)


@every_term
@settings(max_examples=examples(60))
@given(facts=facts, recent=episodes, data=st.data())
def test_a_term_is_a_number_of_millionths_and_a_function_of_what_is_known(
    term: Term, facts: MemoryFacts, recent: list[tuple[str, Vector, str | None]], data: st.DataObject
) -> None:
    answer = term(facts, context(recent))
    assert type(answer) is int
    assert 0 <= answer <= PPM
    assert term(facts, context(recent)) == answer
    shuffled = data.draw(st.permutations(recent))
    assert abs(term(facts, context(shuffled)) - answer) <= 1


@every_term
@settings(max_examples=examples(60))
@given(facts=facts, recent=episodes, self_vector=vectors)
def test_a_memory_is_no_evidence_about_itself(
    term: Term, facts: MemoryFacts, recent: list[tuple[str, Vector, str | None]], self_vector: Vector
) -> None:
    others = [episode for episode in recent if episode[0] != "self"]
    with_itself = [*others, ("self", self_vector, "the valve is at 4 bar")]
    assert abs(term(facts, context(with_itself)) - term(facts, context(others))) <= 1


@every_term
def test_a_term_answers_where_nothing_is_known(term: Term) -> None:
    bare = MemoryFacts("self", "n", "agent", 0, 0, 0, np.ones(DIMENSIONS, np.float32))
    assert 0 <= term(bare, MemberContext("n")) <= PPM
    assert 0 <= term(replace(bare, vector=None, sourced=False), MemberContext("n")) <= PPM
