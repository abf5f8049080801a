"""Vital facts that nobody reads outlive thirty epochs; small talk beside them goes. In namespaces of any size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from memquorum.core.policy import Policy
from memquorum.core.reading.content import content
from memquorum.core.vote.grounds import MemberContext
from memquorum.core.vote.preview import votes
from memquorum.core.worth import Counts, Ranks, worth_ppm
from memquorum.encoders.hashing import HashingEncoder
from memquorum.ports import Candidate
from tests.builders.genesis import make

POLICY, GENESIS, DAY = Policy(), make(4, agents={"ann": 0}), 86_400_000
BEGAN = 1_700_000_000_000
VITAL = (
    "The door code is 4821.",
    "Maria is allergic to peanuts.",
    "Grandmother's insulin is in the lower fridge.",
    "The backup key of the vault lies with notary Brandt.",
    "Never restart pump 3 while valve 7 is closed.",
    "The emergency number of the plant is 0171 555 0134.",
    "Tom's flight to Oslo leaves on 14 March at 6:40.",
    "The tax return is due on 31 July.",
)
TALK = (
    "Okay.", "Thanks a lot!", "Sounds good to me.", "Good morning!", "How are you?", "I see.", "No problem.",
    "Let me see.", "That's great!", "Yeah, right.", "See you later!", "What do you think?",
)  # fmt: skip


def left(texts: Sequence[str], epochs: int, *, speaks: bool = True, policy: Policy = POLICY) -> set[str]:
    """Returns the memories that live after so many epochs, a day each, without a read.

    `speaks`: the agent's member remembers them as its agent's recent ones; the others have no agent there.
    """
    counts, ranks, worths = Counts(), Ranks(), dict[str, int]()
    for text in texts:
        said = content(text)
        worths[text] = worth_ppm(said, counts.tell(said))
        counts.take(said.stems)
        ranks.add(worths[text])
    vectors: Mapping[str, np.ndarray] = dict(zip(texts, HashingEncoder().encode(list(texts)), strict=True))
    alive = list(texts)
    for epoch in range(1, epochs + 1):
        late = [(text, vectors[text], None) for text in alive[-64:]] if speaks else []
        candidates = [Candidate(text, "n", "short-term", BEGAN, BEGAN, 600_000, False) for text in alive]
        found = votes(
            GENESIS, policy, candidates, as_of=BEGAN + epoch * DAY, vectors=vectors,
            ranks={text: ranks.rank_ppm(worths[text]) for text in alive}, contexts={0: MemberContext.of("n", late)},
        ) if candidates else {}  # fmt: skip
        alive = [text for text in alive if not found[text].let_go]
    return set(alive)


@pytest.mark.parametrize("speaks", [True, False], ids=["its member has context", "nobody has context"])
def test_vital_facts_of_one_agent_live_and_small_talk_goes(speaks: bool) -> None:
    mixed = [text for pair in zip(VITAL + TALK, TALK + VITAL, strict=True) for text in pair]
    assert left(list(dict.fromkeys(mixed)), 30, speaks=speaks) == set(VITAL)


def test_vital_facts_live_for_as_long_as_anybody_looked() -> None:
    assert left([*VITAL, *TALK], 300) == left([*VITAL, *TALK], 300, speaks=False) == set(VITAL)


def test_of_facts_of_equal_worth_some_third_is_left_if_nobody_ever_reads_one() -> None:
    """A rank has to have a lowest. The caps, which are not asked here, make it slow; what is read does not come up."""
    alike = [f"Locker {1000 + number} is empty." for number in range(60)]
    for speaks in (True, False):
        soon, late = left(alike, 30, speaks=speaks), left(alike, 300, speaks=speaks)
        assert late <= soon and len(late) * 4 >= len(alike)


def test_among_a_hundred_thousand_that_were_accepted_the_vital_facts_live() -> None:
    """Ranks are among all that was ever accepted: here pleasantries, and facts that are said over and over."""
    common = [*TALK, *(f"Pump {number} runs." for number in range(8))]
    counts, ranks = Counts(), Ranks()
    said = [content(text) for text in common]
    for number in range(100_000):
        one = said[number % len(said)]
        ranks.add(worth_ppm(one, counts.tell(one)))
        counts.take(one.stems)
    worths = {text: worth_ppm(content(text), counts.tell(content(text))) for text in (*VITAL, *TALK)}
    for worth in worths.values():
        ranks.add(worth)
    vectors = dict(zip(worths, HashingEncoder().encode(list(worths)), strict=True))
    candidates = [Candidate(text, "n", "short-term", BEGAN, BEGAN, 600_000, False) for text in worths]
    context = MemberContext.of("n", [(text, vectors[text], None) for text in worths])
    for contexts in ({}, {0: context}):
        found = votes(
            GENESIS, POLICY, candidates, as_of=BEGAN + 30 * DAY, vectors=vectors,
            ranks={text: ranks.rank_ppm(worth) for text, worth in worths.items()}, contexts=contexts,
        )  # fmt: skip
        assert {text for text, one in found.items() if not one.let_go} == set(VITAL)


@pytest.mark.parametrize("text", VITAL)
def test_a_namespace_of_one_fact_keeps_it(text: str) -> None:
    assert left([text], 30) == {text}


@pytest.mark.parametrize("text", TALK)
def test_a_namespace_of_one_pleasantry_lets_it_go(text: str) -> None:
    assert left([text], 30) == set()


def test_what_is_forgotten_takes_nothing_else_along() -> None:
    """The rank is among all that was accepted: it does not slide as the namespace empties."""
    texts = [*VITAL, *(f"{text} {number}" for number, text in enumerate(TALK * 20))]
    assert left(texts, 150, speaks=False) == left(texts, 300, speaks=False) >= set(VITAL)
