"""A general form is given in other namespaces where its publisher allows it, and goes everywhere at once."""

from __future__ import annotations

from collections.abc import AsyncIterator

import numpy as np
import pytest
from msgspec.structs import replace

from db.reads import Reads
from db.store import PostgresStore
from memquorum.core.access import Sight
from memquorum.core.avro import Codec
from memquorum.core.retrieval import diffusion
from memquorum.core.retrieval.query import ALL, Filters
from memquorum.core.retrieval.ranking import DEFAULTS, Question
from tests.builders import genesis, trials, votes
from tests.builders.formed import ENCODER, FORM, TEXTS, A, generalise, on_postgres, write
from tests.builders.shard import NAMESPACE, Shard, memory_id

ELSEWHERE = "orchard"
AWAY = Sight((ELSEWHERE,))
GENESIS = genesis.make(**trials.entitled())
POLICY = GENESIS.policy.experience
ASKS = Filters(experience=True, diffusion=True)
Placed = tuple[Reads, Shard, PostgresStore]


@pytest.fixture
async def placed(databases: tuple[str, str], codec: Codec, request: pytest.FixtureRequest) -> AsyncIterator[Placed]:
    """A shard with A admitted and a general form of A. The parameter has the publisher's fields of A."""
    said = getattr(request, "param", {"purposes": ("diffusion",)})
    shard = trials.experienced(codec, GENESIS, "ab", outside="c", **said)
    generalise(shard)
    async with on_postgres(databases[0], shard) as found:
        yield found


def question(namespace: str = ELSEWHERE, filters: Filters = ASKS, text: str = TEXTS[FORM]) -> Question:
    return Question(namespace, text, {"hashing": ENCODER.encode([text])[0]}, filters)


async def given(reads: Reads, sight: Sight = AWAY, **asked: object) -> list[str]:
    forms = await reads.diffused(sight, question(**asked), "hashing", POLICY)  # type: ignore[arg-type]
    return [form.candidate.hit.memory_id for form in forms]


async def test_it_is_given_elsewhere_with_nothing_that_says_where_it_is_from(placed: Placed) -> None:
    reads, _, _ = placed
    (form,) = await reads.diffused(AWAY, question(), "hashing", POLICY)
    hit = form.candidate.hit
    assert (hit.memory_id, hit.text, hit.diffused, hit.general_of) == (FORM, TEXTS[FORM], True, A)
    assert (hit.subject, hit.session, hit.agent, form.weight_ppm) == ("", None, "consolidator", 500_000)
    assert hit.score == 1.0 and np.allclose(form.candidate.vector, ENCODER.encode([hit.text])[0], atol=1e-3)
    assert await given(reads, text="Nothing like it at all.") == [], "it has to be near"


async def test_the_memory_itself_is_seen_nowhere_else_and_the_form_by_nobody_who_does_not_ask(placed: Placed) -> None:
    reads, _, _ = placed
    for filters in (ALL, Filters(experience=True)):
        found, _ = await reads.candidates(AWAY, question(filters=filters), DEFAULTS)
        assert found == []
    assert await reads.memory(AWAY, FORM) is None and await reads.memory(AWAY, A) is None
    assert await given(reads, Sight((NAMESPACE,)), namespace=NAMESPACE) == [], "at home it is found as ever"
    assert await given(reads, Sight(("third",))) == [], "who may not read there asks nothing there"


@pytest.mark.parametrize(
    "placed", [{}, {"purposes": ("billing",)}, {"purposes": ("diffusion",), "sensitivity_ppm": 500_000}], indirect=True
)
async def test_what_nobody_allowed_to_cross_or_is_sensitive_stays(placed: Placed) -> None:
    reads, _, _ = placed
    assert await given(reads, filters=replace(ASKS, purpose="billing")) == []


@pytest.mark.parametrize("placed", [{"purposes": ("billing", "diffusion")}], indirect=True)
async def test_what_is_for_a_purpose_beside_is_given_to_who_reads_for_it(placed: Placed) -> None:
    reads, _, _ = placed
    assert await given(reads) == []
    assert await given(reads, filters=replace(ASKS, purpose="billing")) == [FORM]


async def test_what_may_cross_is_for_anything_at_home(placed: Placed) -> None:
    reads, _, _ = placed
    home = Sight((NAMESPACE,))
    vector = ENCODER.encode([TEXTS[A]])[0]
    near = await reads.search(home, NAMESPACE, "hashing", vector, 1)
    filtered = await reads.search(home, NAMESPACE, "hashing", vector, 1, filters=Filters(types=("episodic",)))
    assert [hit.memory_id for hit in near] == [hit.memory_id for hit in filtered] == [A]
    assert near[0].purposes == ("diffusion",)


async def test_where_its_lesson_turned_out_wrong_at_home_it_is_given_nowhere(placed: Placed) -> None:
    reads, shard, store = placed
    for at in range(7):
        shard.task(f"t{at}", (A,))
        shard.feedback(memory_id(f"t{at}"), (), (A,))
    shard.tick(shard.rows.state.as_of + 1)
    shard.decide([votes.proposal(memory_id("c"), "promote")], votes.nobody)
    write(store, shard)
    assert await given(reads) == []


async def test_what_is_gone_at_home_is_gone_everywhere(placed: Placed) -> None:
    reads, shard, store = placed
    shard.decide([votes.proposal(FORM, "forget")])
    write(store, shard)
    assert await given(reads) == []


async def test_tasks_of_a_namespace_say_what_it_weighs_there_and_there_alone(placed: Placed) -> None:
    reads, shard, store = placed
    for at in range(4):
        shard.task(f"t{at}", (FORM,), namespace=ELSEWHERE)
        shard.feedback(memory_id(f"t{at}", ELSEWHERE), (), (FORM,), namespace=ELSEWHERE)
    write(store, shard)
    assert shard.changes[-1].entry.effect == "assessed", "what a task was given may be of another namespace"
    forms = await reads.diffused(AWAY, question(), "hashing", POLICY)
    tasks, feedback = await reads.given(AWAY, ELSEWHERE, [FORM])
    assert len(tasks) == 4
    assert diffusion.weights(forms, tasks, feedback, POLICY)[FORM] < POLICY.floor_ppm
    why = await reads.diffused_one(AWAY, ELSEWHERE, FORM, ALL, POLICY)
    assert why is not None and (why.status, why.general_of, why.weights[0].harm) == ("removed", None, 4)
    third = Sight(("third",))
    why = await reads.diffused_one(third, "third", FORM, ALL, POLICY)
    assert why is not None and (why.status, why.weight, why.weights) == ("diffused", 0.5, ())
    assert await reads.diffused_one(third, "third", A, ALL, POLICY) is None
    tasks, feedback = await reads.given(third, "third", [FORM])
    assert diffusion.weights(forms, tasks, feedback, POLICY) == {FORM: 500_000}
    assert await reads.given(third, ELSEWHERE, [FORM]) == ([], {}), "nobody is told the tasks of others"
    unfaded = replace(POLICY, idle_half_ms=0)
    assert await reads.weights(Sight((NAMESPACE,)), [FORM], unfaded) == {FORM: 500_000}, "at home nothing moved"
