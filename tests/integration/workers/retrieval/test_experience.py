"""Searches of experience return admitted memories, and nothing else, in the tenant's own namespaces."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from db.cached import Near
from db.reads import Reads
from db.store import PostgresStore
from memquorum.core.access import Sight
from memquorum.core.avro import Codec
from memquorum.core.policy import PPM
from memquorum.core.records import Proposal
from memquorum.core.retrieval.query import Filters
from memquorum.core.retrieval.ranking import DEFAULTS, Question
from tests.builders import genesis, trials, votes
from tests.builders.formed import ENCODER, FORM, A, B, C, generalise, on_postgres, write
from tests.builders.shard import NAMESPACE, Shard, memory_id

GENESIS = genesis.make(**trials.entitled())
SIGHT = Sight((NAMESPACE,))
POLICY = GENESIS.policy.experience
UNFADED = replace(POLICY, idle_half_ms=0)


@pytest.fixture
async def reads(databases: tuple[str, str], codec: Codec) -> AsyncIterator[Reads]:
    """A is admitted, B rejected, and nobody tried C."""
    shard = Shard(codec, GENESIS)
    for name in "abc":
        shard.episode(name)
    shard.tick(1_000_000_000)
    shard.decide([votes.proposal(C, "promote")], votes.nobody)
    made = trials.agree(shard, A, helped=2)
    trials.agree(shard, B, helped=0, offset=2)
    shard.decide([trials.proposal(A, made)])
    async with on_postgres(databases[0], shard) as (found, _, _):
        yield found


def question(experience: bool) -> Question:
    text = "Which port does the gateway use?"
    vectors = {"hashing": ENCODER.encode([text])[0]}
    return Question(NAMESPACE, text, vectors, Filters(experience=experience))


@pytest.fixture
async def united(databases: tuple[str, str], codec: Codec) -> AsyncIterator[tuple[Reads, Shard, PostgresStore]]:
    """A and B are admitted, and A stands for B."""
    shard = trials.experienced(codec, GENESIS, "ab", outside="c")
    shard.decide([Proposal((A, B), NAMESPACE, "unite", "twins", 0, 0, 0)])
    async with on_postgres(databases[0], shard) as placed:
        yield placed


async def given(reads: Reads) -> set[str]:
    """Returns the memories that experience gives: those with a weight there."""
    found, _ = await reads.candidates(SIGHT, question(True), DEFAULTS)
    names = {one.hit.memory_id for one in found}
    assert set(await reads.weights(SIGHT, [B, *names], POLICY)) == names
    return names


async def test_of_what_became_one_the_one_is_given_while_it_is_alive(
    united: tuple[Reads, Shard, PostgresStore],
) -> None:
    reads, shard, store = united
    assert await given(reads) == {A}
    found, _ = await reads.candidates(SIGHT, question(False), DEFAULTS)
    assert {one.hit.memory_id for one in found} == {A, B, C}, "memories are served as ever"
    told = await reads.admission(SIGHT, B, Filters(), lambda _: GENESIS.policy.experience)
    assert told is not None and told.merged_into == A
    shard.decide([votes.proposal(A, "forget")])
    write(store, shard)
    assert await given(reads) == {B}
    told = await reads.admission(SIGHT, B, Filters(), lambda _: GENESIS.policy.experience)
    assert told is not None and told.merged_into is None


async def search_hits(reads: Reads, *, experience: bool) -> set[str]:
    """Returns the hits of a search in every way, which agree with a list."""
    vector, filters = question(False).vectors["hashing"], Filters(experience=experience)
    hits = await reads.search(SIGHT, NAMESPACE, "hashing", vector, 10, filters=filters)
    named = {one.memory_id for one in hits}
    candidates, _ = await reads.candidates(SIGHT, question(experience), DEFAULTS)
    assert named == {one.hit.memory_id for one in candidates}
    if not experience:
        asked = Near(NAMESPACE, "hashing", vector, 10, 0, 0, 10, sorted(named | {FORM}))
        cached, *_ = await reads.search_cached(SIGHT, asked)
        assert {one.memory_id for one in cached} == named
    return named


async def test_a_general_form_is_found_by_experience_alone_and_goes_with_its_memory(
    united: tuple[Reads, Shard, PostgresStore],
) -> None:
    reads, shard, store = united
    shard.general("form", A)
    write(store, shard)
    assert FORM not in await search_hits(reads, experience=True), "it waits for its vote"
    shard.tick(shard.rows.state.as_of + 1)
    shard.generalise(FORM, A)
    write(store, shard)
    assert await search_hits(reads, experience=True) == {A, FORM} and await search_hits(reads, experience=False) == {
        A,
        B,
        C,
    }
    assert await reads.weights(SIGHT, [FORM], UNFADED) == {FORM: 500_000}
    _, left = await reads.passed(SIGHT, question(False))
    assert not left, "where experience is not asked it is no memory that is left out"
    told = await reads.admission(SIGHT, A, Filters(), lambda _: GENESIS.policy.experience)
    form = await reads.admission(SIGHT, FORM, Filters(), lambda _: GENESIS.policy.experience)
    assert told is not None and (told.general, told.general_of) == (FORM, None)
    assert form is not None and (form.general, form.general_of, form.weight) == (None, A, 0.5)
    assert [vote.kind for vote in form.votes] == ["generalise"]


async def test_what_turned_out_to_be_wrong_does_not_come_back_by_its_general_form(
    united: tuple[Reads, Shard, PostgresStore],
) -> None:
    reads, shard, store = united
    generalise(shard)
    write(store, shard)
    assert FORM in await given(reads)
    shard.decide([votes.proposal(A, "forget")])
    write(store, shard)
    assert FORM in await given(reads), "what was forgotten was not wrong"


@pytest.mark.parametrize("how", ["demoted", "superseded"])
async def test_nor_where_use_or_another_memory_showed_it(united: tuple[Reads, Shard, PostgresStore], how: str) -> None:
    reads, shard, store = united
    generalise(shard)
    if how == "demoted":
        for at in range(7):
            shard.task(f"t{at}", (A,))
            shard.feedback(memory_id(f"t{at}"), (), (A,))
        shard.tick(shard.rows.state.as_of + 1)
        shard.decide([votes.proposal(C, "promote")], votes.nobody)
    else:
        shard.episode("newer", contradicts=(A,))
        shard.decide([Proposal((memory_id("newer"), A), NAMESPACE, "supersede", "contradicted", 0, 0, 0)])
        assert shard.rows.memories[A].tier == "superseded"
    write(store, shard)
    assert FORM not in await given(reads)


async def test_a_large_namespace_counts_no_general_form_as_kept_back(
    united: tuple[Reads, Shard, PostgresStore],
) -> None:
    reads, shard, store = united
    generalise(shard)
    write(store, shard)
    assert await reads._crowds.sizes(SIGHT, NAMESPACE) == {"hashing": (3, 0)}


async def test_where_its_use_took_the_one_below_the_floor_what_it_stands_for_is_given(
    united: tuple[Reads, Shard, PostgresStore],
) -> None:
    reads, shard, store = united
    for at in range(7):
        shard.task(f"t{at}", (A,))
        shard.feedback(memory_id(f"t{at}"), (), (A,))
    shard.tick(shard.rows.state.as_of + 1)
    shard.decide([votes.proposal(C, "promote")], votes.nobody)
    assert shard.rows.admissions[A].status in {"demoted", "removed"} and shard.rows.admissions[B].merged_into == A
    write(store, shard)
    assert await given(reads) == {B}


@pytest.mark.parametrize(("experience", "found"), [(True, {A}), (False, {A, B, C})])
async def test_what_was_admitted_is_experience_and_the_rest_is_not(
    reads: Reads, experience: bool, found: set[str]
) -> None:
    candidates, _ = await reads.candidates(SIGHT, question(experience), DEFAULTS)
    assert {one.hit.memory_id for one in candidates} == found
    _, left = await reads.passed(SIGHT, question(experience))
    assert left.get("experience", 0) == 3 - len(found)


async def test_it_weighs_what_its_trial_found_to_who_may_see_it(reads: Reads) -> None:
    assert await reads.weights(SIGHT, [A, B, C], UNFADED) == {A: GENESIS.policy.experience.first_ppm}
    assert await reads.weights(SIGHT, [], UNFADED) == {}
    assert await reads.weights(Sight(("elsewhere",)), [A], UNFADED) == {}


async def test_what_nobody_uses_counts_less_and_its_next_use_gives_it_all_back(
    united: tuple[Reads, Shard, PostgresStore],
) -> None:
    reads, shard, store = united
    first = (await reads.weights(SIGHT, [A], UNFADED))[A]
    last = shard.rows.strengths[A].last_access
    shard.tick(last + POLICY.idle_half_ms)
    write(store, shard)
    assert await reads.weights(SIGHT, [A], POLICY) == {A: first // 2}
    told = await reads.admission(SIGHT, A, Filters(), lambda _: POLICY)
    assert told is not None and (told.weight, told.counts) == (first / PPM, first / 2 / PPM)
    assert shard.rows.admissions[A].weight_ppm == first, "nothing was written"
    shard.access(A, at=last + POLICY.idle_half_ms)
    write(store, shard)
    assert await reads.weights(SIGHT, [A], POLICY) == {A: first}


async def test_a_general_form_is_given_in_place_of_its_family_until_it_goes(
    united: tuple[Reads, Shard, PostgresStore],
) -> None:
    reads, shard, store = united
    generalise(shard)
    shard.tick(shard.rows.state.as_of + 1)
    shard.decide([Proposal((FORM, A, B), NAMESPACE, "unite", "family", 0, 0, 0)])
    write(store, shard)
    assert await given(reads) == {FORM}
    assert await search_hits(reads, experience=False) == {A, B, C}, "the lessons are served as ever"
    told = await reads.admission(SIGHT, A, Filters(), lambda _: POLICY)
    assert told is not None and told.merged_into == FORM
    shard.decide([votes.proposal(FORM, "forget")])
    write(store, shard)
    assert FORM not in await given(reads) and A in await given(reads)
