"""The promotions of a fleet of four, on cases that were written before the rules: own_promotions.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from memquorum.core.records import BallotCast, NominationProposed, Proposal
from memquorum.core.vote.columns import packed, places_of, read
from memquorum.core.vote.evidence import RULES
from memquorum.core.vote.grounds import Grounds, MemberContext, MemoryFacts
from memquorum.core.vote.judging import judged
from memquorum.core.vote.kinds import PROMOTE
from memquorum.core.vote.tally import tally
from memquorum.encoders.hashing import HashingEncoder
from tests.builders.genesis import make

CASES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "own_promotions.yaml").read_text())
AGENTS = ("ann", "bob", "cy", "dee")
CREATED, NOW = 1_000_000, 2_000_000
ENCODER = HashingEncoder()
GENESIS = make()


def promoted(case: dict[str, Any], grounds: Grounds = RULES) -> bool:
    """Whether four members, each with an agent, promote the case's memory."""
    again, readers = case.get("again", []), case.get("read", [])
    facts = MemoryFacts(
        "m", "n", "ann", CREATED, NOW, 700_000, ENCODER.encode([case["text"]])[0],
        confidence_ppm=case["confidence"] * 10_000 if "confidence" in case else None,
        reinforced=len(again), text=case["text"], witnessed=sum(a != "ann" for a in again), reads=len(readers),
    )  # fmt: skip
    proposal = Proposal(("m",), "n", PROMOTE.name, "salient", NOW, CREATED, 700_000)
    asked = NominationProposed(GENESIS.cluster, GENESIS.config, 0, 1, NOW, 9, "interval", (proposal,))
    ballots = []
    for member, agent in zip(GENESIS.members, AGENTS, strict=True):
        said = [
            (f"{agent}{when}{at}", text, when)
            for when, key in ((CREATED - 1, "before"), (CREATED + 1, "after"))
            for at, text in enumerate(case.get(key, {}).get(agent, []))
        ]
        if agent == "ann":
            said.append(("m", case["text"], CREATED))
        vectors = ENCODER.encode([text for _, text, _ in said])
        context = MemberContext.of(
            "n",
            [(name, vector, text) for (name, text, _), vector in zip(said, vectors, strict=True)],
            {name: (agent, when) for name, _, when in said},
        ) if said else MemberContext("n")  # fmt: skip
        terms = judged(PROMOTE, [(proposal, (facts,))], context, as_of=NOW, policy=GENESIS.policy, grounds=grounds)
        cast = BallotCast(GENESIS.cluster, GENESIS.config, 0, 1, member.id, b"", packed(terms, places_of(asked)))
        ballots.append(read(cast, asked, places_of(asked), GENESIS.policy))
    return tally(GENESIS, asked, ballots)[0].decided


@pytest.mark.parametrize(
    ("case", "promote"),
    [
        ({}, False),
        ({"read": ["ann"] * 5}, False),
        ({"again": ["ann"]}, False),
        ({"again": ["ann"], "read": ["ann"]}, True),
        ({"confidence": 100}, False),
        ({"confidence": 74, "read": ["ann"] * 5}, False),
        ({"confidence": 75, "read": ["ann"] * 2}, True),
        ({"confidence": 75, "again": ["ann"]}, True),
        ({"after": {"ann": ["The door code is 4821, by the way.", "I told Tom that the door code is 4821."]}}, False),
    ],
    ids=["said", "read", "said again", "said again and read", "sure", "less sure and read", "sure and read twice",
         "sure and said again", "said in other words"],
)  # fmt: skip
def test_what_a_fleet_of_one_agent_promotes(case: dict[str, Any], promote: bool) -> None:
    """docs/use/forgetting.md tells it: three of four members have no agent there, and know what the streams tell."""
    assert promoted({"text": "The door code is 4821."} | case) is promote
    assert not promoted({"text": "Thanks a lot!"} | case)


def test_own_cases_are_promoted_or_not() -> None:
    wrong = [case["text"] for case in CASES if promoted(case) is not case["promote"]]
    share = 1 - len(wrong) / len(CASES)
    assert len(CASES) >= 40 and share >= 0.95, f"{share:.3f} of {len(CASES)}; wrong: {wrong}"
