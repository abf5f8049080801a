"""A member is for one memory of experience in place of those that say the same; for no other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from memquorum.core.merging import Marks
from memquorum.core.policy import PPM, ExperiencePolicy, Policy
from memquorum.core.vote.evidence import RULES
from memquorum.core.vote.grounds import MemberContext, MemoryFacts
from memquorum.core.vote.kinds import UNITE, UNITES
from memquorum.core.vote.kinds.kind import Case, MemoryState, opinion_in_words

NOW = 1_700_000_000_000
SAID = "The gateway uses port 8443."


def memory(memory_id: str, **changes: Any) -> MemoryFacts:
    made = MemoryFacts(
        memory_id, "plant", "ann", NOW - 1_000, NOW, 600_000, np.array([1, 0], np.float32), text=SAID,
        marks=Marks("anna"), admitted=True,
    )  # fmt: skip
    return replace(made, **changes)


KEPT = memory("a")


def vote(*memories: MemoryFacts, policy: Policy | None = None) -> bool:
    policy = policy or Policy()
    (terms,) = UNITE.judge([memories], Case(MemberContext("plant"), NOW, policy, RULES))
    return bool(UNITE.yes(UNITE.score(terms or UNITE.abstain(NOW), policy), policy))


def test_memories_that_say_the_same_have_its_yes_whichever_stays() -> None:
    near = memory("b", text=SAID.replace("port 8443", "port  8443"), vector=np.array([1, 0.1], np.float32))
    assert vote(KEPT, near, memory("c", agent="ben", salience_ppm=900_000)) and vote(near, KEPT)
    (terms,) = UNITE.judge([(KEPT, near)], Case(MemberContext("plant"), NOW, Policy(), RULES))
    assert terms is not None and terms[0] == PPM and 994_000 < terms[1] < 996_000
    told = opinion_in_words(UNITE, dict(zip(UNITE.terms, terms, strict=True)), (True, terms[1]), Policy())
    assert "they say the same; the lowest cosine of two is 0.995" in told and told.endswith("≥ 0.92: unite")


@pytest.mark.parametrize(
    "changes",
    [
        {"text": SAID.replace("8443", "8080")},
        {"text": SAID.replace("gateway", "Gateway Lyon")},
        {"text": SAID.replace("uses", "does not use")},
        {"text": None},
        {"vector": np.array([np.cos(0.5), np.sin(0.5)], np.float32)},
        {"vector": None},
        {"sourced": False},
        {"admitted": False},
        {"memory_id": "a"},
        {"marks": Marks("ben")},
        {"marks": Marks("anna", source="manual.pdf")},
        {"marks": Marks("anna", sensitivity_ppm=500_000)},
        {"marks": Marks("anna", purposes="billing")},
        {"marks": None},
    ],
    ids=[
        "a number", "a name", "a negation", "sealed", "too far", "no embedding", "not accepted so", "not in experience",
        "itself", "subject", "source", "sensitivity", "purposes", "unknown marks",
    ],
)  # fmt: skip
def test_what_differs_has_none(changes: dict[str, Any]) -> None:
    other = replace(memory("b"), **changes)
    assert not vote(KEPT, other)
    assert not vote(KEPT, memory("aa"), other), "a third that agrees makes no difference"


def test_one_alone_and_no_ground_are_no_yes() -> None:
    assert not vote(KEPT)
    nothing = Policy(experience=ExperiencePolicy(merge_ppm=0))
    assert not UNITE.yes(UNITE.score(UNITE.abstain(NOW), nothing), nothing), "who knows nothing says no"
    told = opinion_in_words(UNITE, {"same": 0, "cosine": 0}, (False, 0), Policy())
    assert told.endswith("all stay in it")


def test_nothing_becomes_of_the_memories_and_what_is_not_in_experience_is_not_voted_on() -> None:
    assert UNITES == {"short-term": "unite", "long-term": "unite"}
    assert UNITE.effect([], None, NOW, Policy()) == []
    assert not (UNITE.seals or UNITE.capped or UNITE.revives)
    stands = MemoryState("short-term", alive=True, admitted=True)
    assert UNITE.absent(stands, NOW) is None
    assert UNITE.absent(MemoryState("short-term", alive=True), NOW) == "not all in experience"
    assert UNITE.absent(MemoryState("gone", alive=False, admitted=True), NOW) == "gone already"
