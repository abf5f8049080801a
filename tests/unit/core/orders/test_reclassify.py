"""Orders to reclassify: who may give one, and what follows for the memory and for all that was made of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from db.view import View
from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.facets import Facets, Stated, held
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.reclassify import RECLASSIFICATION, restated
from memquorum.core.records import ReclassificationOrdered, Reclassified
from tests import examples
from tests.builders import erasures, genesis, reclassified, votes
from tests.builders.genesis import seed_of
from tests.builders.published import POLICY, kinds, publish
from tests.builders.shard import Shard, memory_id
from workers.replica.stream_follower import Walk

GENESIS = genesis.make(policy=POLICY, **erasures.entitled())
A, B, C, D = (memory_id(name) for name in "abcd")


@pytest.fixture
def shard(codec: Codec) -> Shard:
    return Shard(codec, GENESIS)


def order(shard: Shard, about: str, number: int = 1, **said: Any) -> Reclassified:
    record = reclassified.accepted(shard.rules.codec, GENESIS, reclassified.wanted(about, number, **said))
    change = reclassified.apply(shard, record)
    return shard.rules.codec.decode_as(Reclassified, change.entry.detail)


def holds(shard: Shard, memory: str) -> tuple[int, str | None, str]:
    row = shard.rows.memories[memory]
    return row.sensitivity_ppm, row.purposes, row.jurisdictions


def viewed(codec: Codec, shard: Shard) -> View:
    """Returns the view of a member that has read what the shard has."""
    view = View(Path(":memory:"), GENESIS.cluster, 1)
    walk, scores = Walk(codec, view, GENESIS, me=1, shard=0), 0
    with view.batch():
        for offset, record in enumerate(shard.accepted):
            walk.accept(offset, record, codec.encode(record))
        for score in shard.scored:
            walk.score(scores, score, codec.encode(score))
            scores += 1
        walk.go()
    return view


def in_view(view: View, memory: str) -> tuple[int, str | None, str]:
    marks = view.known([memory], sealed=True)[memory].marks
    return marks.sensitivity_ppm, marks.purposes, marks.jurisdictions


@pytest.mark.parametrize(
    ("said", "code", "field"),
    [
        ({}, "missing_field", "sensitivity"),
        ({"sensitivity_ppm": 1_000_001}, "out_of_range", "sensitivity"),
        ({"purposes": ("a b",)}, "bad_name", "purposes"),
        ({"purposes": ("a", "a")}, "bad_order", "purposes"),
        ({"jurisdiction": "Germany"}, "bad_name", "jurisdiction"),
        ({"sensitivity_ppm": 1, "memory_id": "7"}, "bad_id", "memory_id"),
        ({"sensitivity_ppm": 1, "namespace": ""}, "bad_name", "namespace"),
    ],
)
def test_an_order_that_says_nothing_or_nonsense_is_refused(said: dict[str, Any], code: str, field: str) -> None:
    with pytest.raises(BadOrder) as wrong:
        RECLASSIFICATION.check(_order(said), POLICY)
    assert (wrong.value.code, wrong.value.field) == (code, field)


def _order(said: dict[str, Any]) -> ReclassificationOrdered:
    return replace(reclassified.wanted(A), **({"purposed": "purposes" in said} | said))


@pytest.mark.parametrize("signer", ["operator", "service:erasure", "agent:planner", "service:other"])
def test_the_operator_and_the_service_alone_may_order(codec: Codec, signer: str) -> None:
    made = replace(reclassified.wanted(A, sensitivity_ppm=1), cluster=GENESIS.cluster)
    if signer in ("operator", "service:erasure"):
        RECLASSIFICATION.make(codec, GENESIS, signer, seed_of(signer), made)
        return
    with pytest.raises(BadOrder, match="ask the operator"):
        RECLASSIFICATION.make(codec, GENESIS, signer, seed_of(signer), made)


def test_a_raise_travels_to_all_that_was_made_of_a_memory(shard: Shard) -> None:
    shard.episode("a")
    shard.episode("b", sensitivity_ppm=300_000, derives_from=(A,))
    shard.summary("c", [B])
    shard.episode("d")
    done = order(shard, A, sensitivity_ppm=800_000, purposes=("care",), jurisdiction="DE")
    assert done.applied and set(done.memory_ids) == {A, B, C}
    assert [holds(shard, one) for one in (A, B, C, D)] == [(800_000, "care", "DE")] * 3 + [(0, None, "")]
    shard.episode("e", derives_from=(C,))
    assert holds(shard, memory_id("e")) == (800_000, "care", "DE"), "what comes later inherits too"


def test_a_lowering_stops_where_another_source_or_the_memory_itself_holds_it_up(shard: Shard) -> None:
    shard.episode("a", sensitivity_ppm=900_000, purposes=("care",), jurisdiction="DE")
    shard.episode("b", sensitivity_ppm=500_000, jurisdiction="FR")
    shard.episode("c", derives_from=(A, B), sensitivity_ppm=200_000)
    shard.episode("d", derives_from=(A,), sensitivity_ppm=300_000)
    order(shard, A, sensitivity_ppm=0, purposes=(), jurisdiction="")
    assert holds(shard, A) == (0, None, "")
    assert holds(shard, C) == (500_000, None, "FR"), "the other source holds it up"
    assert holds(shard, D) == (300_000, None, ""), "what its publisher said holds it up"
    # A source holds up what is stated below it, and what is stated counts once the source lets go.
    order(shard, A, 2, sensitivity_ppm=700_000)
    done = order(shard, D, 3, sensitivity_ppm=100_000)
    assert done.applied and not done.changed and holds(shard, D)[0] == 700_000
    order(shard, A, 4, sensitivity_ppm=0)
    assert holds(shard, D)[0] == 100_000


def test_what_an_order_leaves_out_stays(shard: Shard) -> None:
    shard.episode("a", sensitivity_ppm=900_000, purposes=("care",), jurisdiction="DE")
    order(shard, A, jurisdiction="FR")
    order(shard, A, 2, purposes=("care", "billing"))
    assert holds(shard, A) == (900_000, "billing,care", "FR")


def test_what_is_not_there_or_was_answered_changes_nothing(shard: Shard) -> None:
    shard.episode("a")
    assert not order(shard, B, sensitivity_ppm=1).applied
    order(shard, A, 3, sensitivity_ppm=500_000)
    order(shard, A, 4, sensitivity_ppm=100_000)
    again = reclassified.accepted(shard.rules.codec, GENESIS, reclassified.wanted(A, 3, sensitivity_ppm=500_000))
    assert reclassified.apply(shard, again).entry.effect == "repeated"
    assert holds(shard, A)[0] == 100_000
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


def test_an_order_reaches_no_memory_of_another_namespace(shard: Shard) -> None:
    shard.episode("a", namespace="elsewhere")
    assert not order(shard, memory_id("a", "elsewhere"), sensitivity_ppm=1).applied


def test_more_memories_than_an_order_may_reach_are_left_as_they_are(
    shard: Shard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memquorum.core.audit.reclassified.MOST", 2)
    shard.episode("a")
    shard.episode("b", derives_from=(A,))
    assert order(shard, A, sensitivity_ppm=1).applied
    shard.episode("c", derives_from=(B,))
    assert not order(shard, A, 2, sensitivity_ppm=2).applied


def test_sealed_memories_are_reclassified_and_hand_on(codec: Codec, shard: Shard) -> None:
    shard.episode("a")
    shard.episode("b", derives_from=(A,))
    shard.episode("c", derives_from=(B,))
    shard.tick(1_000_000)
    shard.decide([votes.proposal(B, "forget")])
    assert shard.rows.memories[B].tier == "sealed"
    order(shard, A, sensitivity_ppm=800_000)
    assert {holds(shard, one)[0] for one in (A, B, C)} == {800_000}
    shard.tick(2_000_000)
    shard.destroy(B)
    order(shard, A, 2, sensitivity_ppm=900_000)
    assert holds(shard, C)[0] == 900_000, "a raise goes through what is gone"
    assert not order(shard, B, 3, sensitivity_ppm=1).applied
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


@pytest.mark.parametrize(
    ("what", "found"),
    [
        ("nothing", Kind.EFFECT_IMPOSSIBLE), ("a descendant is left out", Kind.EFFECT_IMPOSSIBLE),
        ("less than ordered", Kind.EFFECT_IMPOSSIBLE), ("another order", Kind.ORDER_INVALID),
    ],
)  # fmt: skip
def test_the_audit_finds_a_commit_worker_that_spares_a_memory(
    codec: Codec, shard: Shard, what: str, found: Kind
) -> None:
    shard.episode("a")
    shard.episode("b", derives_from=(A,))
    done = order(shard, A, sensitivity_ppm=800_000)
    (one,) = done.changed
    unsigned = replace(reclassified.wanted(A, sensitivity_ppm=1), cluster=GENESIS.cluster)
    lies = {
        "nothing": replace(done, applied=False, changed=(), sensitivity_ppm=None),
        "a descendant is left out": replace(done, changed=(replace(one, memory_ids=(A,)),)),
        "less than ordered": replace(done, changed=(replace(one, sensitivity_ppm=100_000),)),
        "another order": replace(done, order=votes.signed(codec, GENESIS, "agent:planner", unsigned)),
    }  # fmt: skip
    public = publish(shard)
    public.rewrite(2, detail=codec.encode(lies[what]))
    assert found in kinds(public.audit())


NAMES = "abcdefgh"
PURPOSES = st.sets(st.sampled_from(["care", "billing", "research", "diffusion"]), max_size=3).map(sorted).map(tuple)
SAYS = st.fixed_dictionaries(
    {
        "sensitivity_ppm": st.none() | st.integers(0, 3).map(lambda n: n * 300_000),
        "purposes": PURPOSES, "jurisdiction": st.sampled_from([None, "DE", "FR"]),
    }
)  # fmt: skip
CHANGES = st.fixed_dictionaries(
    {
        "sensitivity_ppm": st.none() | st.integers(0, 3).map(lambda n: n * 300_000),
        "purposes": st.none() | PURPOSES, "jurisdiction": st.sampled_from([None, "", "DE", "AT"]),
    }
).filter(lambda said: any(value is not None for value in said.values()))  # fmt: skip


@settings(max_examples=examples(60), deadline=None)
@given(
    born=st.lists(st.tuples(SAYS, st.sets(st.integers(0, 6), max_size=3)), min_size=2, max_size=len(NAMES)),
    orders=st.lists(st.tuples(st.integers(0, 7), CHANGES), min_size=1, max_size=6),
    data=st.data(),
)
def test_what_holds_is_always_what_is_stated_and_what_holds_for_the_sources(
    codec: Codec, born: list[tuple[dict[str, Any], set[int]]], orders: list[tuple[int, dict[str, Any]]], data: Any
) -> None:
    """Store, journal, audit and a member's view agree with the definition, in whatever order it all comes."""
    shard = Shard(codec, GENESIS)
    states: dict[str, Stated] = {}
    made: dict[str, list[str]] = {}
    waiting = list(enumerate(orders, start=1))

    def expected(own: str) -> Facets:
        return held(states[own], [expected(one) for one in made[own]])

    def give() -> None:
        number, (which, said) = waiting.pop(0)
        about = list(states)[which % len(states)]
        named = {name: value for name, value in said.items() if value is not None}
        wanted = reclassified.wanted(about, number, **named)
        reclassified.apply(shard, reclassified.accepted(codec, GENESIS, wanted))
        states[about] = restated(wanted, states[about])

    for at, (said, sources) in enumerate(born):
        own = memory_id(NAMES[at])
        made[own] = [memory_id(NAMES[one]) for one in sorted(sources) if one < at]
        shard.episode(NAMES[at], derives_from=tuple(made[own]), **said)
        states[own] = Stated("episodic", said["sensitivity_ppm"], said["purposes"], said["jurisdiction"])
        if waiting and data.draw(st.booleans()):
            give()
    while waiting:
        give()
    view = viewed(codec, shard)
    for own in states:
        want = expected(own)
        assert holds(shard, own) == (want.sensitivity_ppm, want.purposes, want.jurisdictions)
        assert in_view(view, own) == holds(shard, own)
        for source in made[own]:
            assert holds(shard, own)[0] >= holds(shard, source)[0]
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []
