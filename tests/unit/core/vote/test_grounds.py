"""Nearness, on vectors whose cosines can be read off."""

from __future__ import annotations

import math

import numpy as np
import pytest
from msgspec.structs import replace

from memquorum.core.vote.grounds import (
    MemberContext,
    MemoryFacts,
    cosines,
)
from memquorum.ports import Vector


def at(cosine: float) -> Vector:
    """A vector with this cosine to the memory's."""
    return np.array([cosine, math.sqrt(1 - cosine * cosine)], np.float32)


FACTS = MemoryFacts("m", "n", "agent", 0, 0, 600_000, at(1.0), text="pressure is 3 bar")


def context(*cosines: float) -> MemberContext:
    return MemberContext.of("n", [(f"e{i}", at(cosine), None) for i, cosine in enumerate(cosines)])


def test_a_memory_is_not_near_to_itself() -> None:
    own = MemberContext.of("n", [("m", at(1.0), None), ("e", at(0.25), None)])
    assert cosines(FACTS, own)[1] == [1]


def test_nothing_is_near_to_a_memory_without_an_embedding() -> None:
    assert len(cosines(replace(FACTS, vector=None), context(0.5))[1]) == 0
    assert cosines(replace(FACTS, vector=np.zeros(2, np.float32)), context(0.5))[0].tolist() == [0.0]


def test_vectors_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="same shape"):
        MemberContext.of("n", [("a", np.ones(2, np.float32), None), ("b", np.ones(3, np.float32), None)])


def test_memories_compared_together_are_judged_as_one_by_one() -> None:
    dice = np.random.default_rng(4)
    vectors = dice.standard_normal((40, 24)).astype(np.float16).astype(np.float32)
    recent = [(f"m{i}", vector, None) for i, vector in enumerate(vectors[:16])]
    # Some of them are themselves among the episodes that they are compared with.
    memories = [
        MemoryFacts(f"m{i}", "n", "ada", 0, 0, 0, vector if i != 20 else None) for i, vector in enumerate(vectors)
    ]
    alone, together = MemberContext.of("n", recent), MemberContext.of("n", recent)
    together.compare(memories)
    assert len(together.compared) == 39
    for one in memories:
        assert cosines(one, together)[0] == pytest.approx(cosines(one, alone)[0], abs=1e-12)
