"""A repetition becomes one memory with what it repeats only where an erasure and the gates lose nothing by it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.journal.replay import CannotReplay
from memquorum.core.journal.rows import Memory, Provenance
from memquorum.core.merging import Marks, merges
from memquorum.core.policy import SaliencePolicy
from memquorum.core.salience import EncodedEpisode, Signals, Surroundings
from memquorum.encoders.hashing import HashingEncoder
from tests.builders import genesis
from tests.builders.erasures import NAMESPACE, accepted, among, entitled, ordered, signed
from tests.builders.published import kinds, publish
from tests.builders.repetitions import CASES, A, shard_with
from tests.builders.replayed import replayed
from tests.builders.shard import Shard, memory_id

GENESIS = genesis.make(**entitled(signed=()))
MEMORY_MARKS = Marks("ada", "feed", 500_000, "billing,support", "DE,EU")
APART: dict[str, dict[str, Any]] = {
    "subject": {"subject": "bob"},
    "source": {"source": "mail"},
    "no source": {"source": None},
    "sensitivity": {"sensitivity_ppm": 500_001},
    "purposes": {"purposes": ("billing",)},
    "jurisdiction": {"jurisdiction": "US"},
    "slot": {"slot": "ada/plan", "explicit": True},
}
SAID = {"subject": "ada", "source": "feed", "sensitivity_ppm": 500_000, "purposes": ("billing", "support"),
        "jurisdiction": "DE"}  # fmt: skip


@pytest.mark.parametrize(
    ("newcomer", "expected"),
    [
        ({}, True),
        ({"sensitivity_ppm": 0}, True),
        ({"purposes": None}, True),
        ({"purposes": "billing,research,support"}, True),
        ({"jurisdictions": ""}, True),
        ({"jurisdictions": "EU"}, True),
        ({"subject": "bob"}, False),
        ({"source": None}, False),
        ({"sensitivity_ppm": 500_001}, False),
        ({"purposes": "billing"}, False),
        ({"purposes": ""}, False),
        ({"jurisdictions": "DE,EU,US"}, False),
        ({"slot": "ada/plan"}, False),
    ],
)
def test_subject_and_source_are_equal_and_no_gate_is_stricter(newcomer: dict[str, Any], expected: bool) -> None:
    assert merges(replace(MEMORY_MARKS, **newcomer), MEMORY_MARKS) is expected


@pytest.mark.parametrize(("key", "held", "expected"), [("a", "a", True), ("a", "b", False), (None, "b", True)])
def test_what_fills_a_slot_becomes_one_with_what_fills_it_alone(key: str | None, held: str, expected: bool) -> None:
    assert merges(Marks("ada", slot=key), Marks("ada", slot=held)) is expected


@pytest.mark.parametrize(
    ("newcomer", "memory", "expected"),
    [
        ({"label": "a"}, {"label": "a"}, True),
        ({"label": "a"}, {"label": "b"}, False),
        ({"label": "a"}, {}, False),
        ({}, {"label": "b"}, True),
        ({"slot": "s", "label": "a"}, {"slot": "s", "label": "a"}, True),
        ({"slot": "s"}, {"slot": "s", "label": "b"}, False),
    ],
)
def test_what_is_filed_elsewhere_is_found_there(
    newcomer: dict[str, str], memory: dict[str, str], expected: bool
) -> None:
    assert merges(Marks("ada", **newcomer), Marks("ada", **memory)) is expected


def test_what_names_the_memories_whose_place_it_is_to_take_becomes_one_with_none() -> None:
    assert not merges(Marks("ada", supersedes="x"), Marks("ada"))
    assert merges(Marks("ada"), Marks("ada", supersedes="x"))


def test_for_some_purposes_is_stricter_than_for_any() -> None:
    assert not merges(Marks("ada", None, 0, "billing"), Marks("ada"))


def test_salience_stores_beside_it_what_may_not_become_one_with_what_it_repeats() -> None:
    text, vector = "Ada Lovelace has diabetes.", np.ones(4, np.float32)
    around = Surroundings(SaliencePolicy(), 4)
    said = [
        around.judge(EncodedEpisode(name, agent, text, vector, Signals(), marks))
        for name, agent, marks in (
            ("m1", "planner", Marks("planner")),
            ("m2", "planner", Marks("ada", None, 1_000_000)),
            ("m3", "planner", Marks("ada", None, 1_000_000)),
            ("m4", "reviewer", Marks("reviewer")),
            ("m5", "planner", Marks("planner")),
        )
    ]
    assert [(one.outcome, one.reinforces) for one in said] == [
        ("stored", None), ("stored", "m1"), ("reinforced", "m2"), ("stored", "m1"), ("reinforced", "m1"),
    ]  # fmt: skip
    assert said[1].salience_ppm < 350_000  # it would not have come in as something new


def test_what_is_said_first_of_nobody_and_then_of_somebody_leaves_no_copy(codec: Codec) -> None:
    """A sentence that was said first without a subject, then of somebody, sensitive and for one purpose, became an echo
    of the first. An erasure of that subject destroyed the echo's key alone: the text stayed alive, and the audit was
    content."""
    text, clear = "Ada Lovelace of 12 St James's Square has diabetes.", HashingEncoder()
    around, given = (
        Surroundings(SaliencePolicy(), clear.dimensions),
        Signals(reward_ppm=900_000, confidence_ppm=900_000),
    )
    of_ada = Marks("ada", None, 1_000_000, "medical")
    said = [
        around.judge(EncodedEpisode(name, "planner", text, clear.encode([text])[0], given, marks))
        for name, marks in (("m1", Marks("planner")), ("m2", of_ada))
    ]
    assert [(one.outcome, one.reinforces) for one in said] == [("stored", None), ("stored", "m1")]

    def erased(**was: str) -> Shard:
        shard = Shard(codec, GENESIS)
        shard.episode("a")
        shard.episode(
            "b", outcome="reinforced", reinforces=A, subject="ada", sensitivity_ppm=1_000_000, purposes=("medical",)
        )
        shard.tick(10_000)
        assert [m.subject for m in shard.rows.memories.values()] == ["planner", "ada"]
        order = ordered(GENESIS, "subject", "ada")
        shard.erase(accepted(order, signed(codec, GENESIS, order), 20_000), among(NAMESPACE, was))
        return shard

    whole = erased(a="short-term", b="short-term")
    assert (whole.rows.state.alive, {m.tier for m in whole.rows.memories.values()}) == (0, {"gone"})
    assert kinds(publish(whole).audit(store=True, accepted=True)) == []
    part = erased(b="short-term")
    assert part.rows.state.alive == 1
    assert Kind.ERASURE_INCOMPLETE in kinds(publish(part).audit(store=True, accepted=True))


@pytest.mark.parametrize("said", APART.values(), ids=APART)
def test_whoever_applies_a_score_merges_no_more_than_may_become_one(codec: Codec, said: dict[str, Any]) -> None:
    shard = Shard(codec, GENESIS)
    shard.episode("a", **SAID)
    assert shard.episode("same", outcome="reinforced", reinforces=A, **SAID).entry.effect == "reinforced"
    change = shard.episode("b", outcome="reinforced", reinforces=A, **(SAID | said))
    assert (change.entry.effect, change.entry.memory_id) == ("stored", memory_id("b"))
    (made,) = change.of(Provenance)
    assert (made.parent, made.echo, made.follows, made.agent) == (A, True, False, "planner")
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


def test_what_it_was_made_of_makes_it_stricter(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    shard.episode("secret", sensitivity_ppm=1_000_000)
    shard.episode("a")
    made = shard.episode("b", outcome="reinforced", reinforces=A, derives_from=(memory_id("secret"),))
    assert (made.entry.effect, made.of(Memory)[0].sensitivity_ppm) == ("stored", 1_000_000)


def test_a_journal_that_merges_what_may_not_be_one_is_found_and_not_rebuilt(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    shard.episode("a")
    shard.episode("b", outcome="reinforced", reinforces=A)
    public = publish(shard)
    public.forge(1, replace(public.detail(1), subject="ada"))
    assert Kind.EFFECT_IMPOSSIBLE in kinds(public.audit())
    with pytest.raises(CannotReplay, match="may become one with"):
        replayed(public, [])


# Erasing what says the same ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_audit_knows_what_goes_with_what_says_the_same(codec: Codec, case: Any) -> None:
    first, again, (selector, value), expected = case

    def erased(names: set[str]) -> list[Kind]:
        shard = shard_with(Shard(codec, GENESIS), first, again)
        tiers = {own: m.tier for own, m in shard.rows.memories.items()}
        was = {name: tiers.get(memory_id(name), "reinforced") for name in sorted(names)}
        said = ordered(GENESIS, selector, value)
        shard.erase(accepted(said, signed(codec, GENESIS, said), 20_000), among(NAMESPACE, was))
        return kinds(publish(shard).audit(store=True, accepted=True))

    assert erased(expected) == []
    every = {"a", *again}
    if expected != every:
        assert Kind.EFFECT_UNDECIDED in erased(every)
    if len(expected) > 1:
        assert Kind.ERASURE_INCOMPLETE in erased({min(expected)})
