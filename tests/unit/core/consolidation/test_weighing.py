"""The memories of a session that are worth keeping, and its three most important ones."""

from __future__ import annotations

import pytest

from memquorum.core.consolidation.importance import importance_ppm
from memquorum.core.consolidation.weighing import Weights, important
from memquorum.core.reading.content import content
from memquorum.core.worth import EarlierCounts, worth_ppm
from memquorum.ports import Source

FACTS = (
    "The door code of hall 3 is 4821.",
    "The part number is KX-88.",
    "Rosa ordered a new gasket for pump 7.",
    "We decided to test pump 7 on Thursday at 14:00.",
    "The supplier is Siegrist.",
    "Anna is on leave.",
    "The heating is off now.",
    "Der Kühlschrank F3 steht auf minus 18 Grad.",
    "La pompe 7 est en panne depuis jeudi.",
)
TALK = (
    "I hope you had a really lovely weekend with your family and that the weather was as nice as it was here.",
    "Good morning everyone, I hope you all slept well, it is so good to see you all again today.",
    "Thank you so much for all the help you have given me this week, I really appreciate it and it means a lot to me.",
    "Well, it was really nice talking to you again and I hope we can do this more often because it is a pleasure.",
    "I am fine, thank you, and I hope that you are too.",
    "Ich hoffe, dass ihr alle ein schönes Wochenende hattet und dass das Wetter auch bei euch so gut war wie bei uns.",
    "Vielen Dank für eure Hilfe in dieser Woche, das hat mir wirklich sehr geholfen und ich weiß das zu schätzen.",
)


def sources(*texts: str) -> list[Source]:
    """A session in this order, with SPEC C's importance of each."""
    ages = range(60_000 * len(texts), 0, -60_000)
    return [
        Source(f"m{at:02}", text, 1_000 + at, importance_ppm(text, age_ms=age, references=0, positive=False))
        for at, (text, age) in enumerate(zip(texts, ages, strict=True))
    ]


@pytest.mark.parametrize("text", FACTS)
def test_a_fact_is_worth_keeping_however_short(text: str) -> None:
    assert Weights([*FACTS, *TALK]).keeps(text)


@pytest.mark.parametrize("text", TALK)
def test_small_talk_is_not_however_long(text: str) -> None:
    assert not Weights([*FACTS, *TALK]).keeps(text)


def test_long_talk_said_last_does_not_take_the_places_of_facts() -> None:
    """SPEC C's importance does not judge a text under 20 tokens, and rates long talk as late."""
    said = sources(*FACTS[:3], *TALK)
    assert min(one.importance_ppm for one in said[3:6]) > max(one.importance_ppm for one in said[:3])
    talk, fact = content(TALK[0]), content(FACTS[1])
    assert worth_ppm(talk, EarlierCounts(0, dict.fromkeys(talk.stems, 0))) > 0.9 * worth_ppm(
        fact, EarlierCounts(0, dict.fromkeys(fact.stems, 0))
    ), "a sum of worths would have told them apart"
    assert important(said) == {"m00", "m01", "m02"}


def test_of_what_says_as_much_the_more_important_comes_first() -> None:
    long = "Tomas measured 3.8 bar at the inlet and 2.1 bar at the outlet of pump 7 before lunch, with the old gauge."
    said = sources(long, *FACTS[:4])
    assert "m00" in important(said, 1), "SPEC C's importance is what decides between them"
    early, late = sources(f"{long} Rosa wrote it down.", f"{long} Petra saw it as well.")
    assert important([early, late], 1) == {late.memory_id}


def test_of_small_talk_alone_nothing_is_important() -> None:
    assert important(sources(*TALK)) == frozenset()
    assert important(sources(*TALK, FACTS[0])) == {"m07"}, "two of talk stand beside the one fact"


def test_late_and_long_is_not_more_important_than_what_says_more() -> None:
    told = "We went swimming at the lake with the kids and had a barbecue in the evening, it was so much fun for us."
    said = sources(FACTS[1], told)
    assert Weights([one.text for one in said]).keeps(told) and said[1].importance_ppm > said[0].importance_ppm
    assert important(said, 1) == {"m00"}
